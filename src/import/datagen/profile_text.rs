//! Descriptions of firms and startups.

use once_cell::sync::Lazy;

use crate::datagen::firms::InventedFirm;
use crate::datagen::geography::{HOMES, REGIONS};
use crate::datagen::lists::{Lists, fill};
use crate::datagen::naming::person_name;
use crate::datagen::random::Random;
use crate::datagen::sectors::{BY_GROUP, GROUPS, InventedSector, SECTORS};
use data::Stage;
use data::vocabulary::{Vocabulary, capitalized, enumerated};

static PROFILES: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/profiles.txt")));

fn stage_phrase(firm: &InventedFirm) -> &'static str {
    let key = match firm.stage_list().as_slice() {
        [Stage::PreSeed] => "beginning",
        [Stage::Grant] => "grants",
        [Stage::Debt] => "debt",
        [Stage::PreSeed | Stage::Seed, .., Stage::Grant] => "first-and-grants",
        [Stage::PreSeed | Stage::Seed, .., Stage::PreSeed | Stage::Seed] | [Stage::Seed] => "first",
        [Stage::PreSeed | Stage::Seed, ..] => "seed",
        [Stage::SeriesA, ..] => "scale",
        _ => "growth",
    };
    PROFILES.value("stages", key).expect("a phrase for every stage band")
}

fn topic(firm: &InventedFirm) -> String {
    if firm.is_generalist() {
        return "all sectors".to_owned();
    }
    let names: Vec<_> = firm.groups.iter().map(|group| group_name(usize::from(*group))).collect();
    enumerated(&names)
}

fn group_name(group: usize) -> String {
    let name = SECTORS[BY_GROUP[group][0]].name;
    if name == "Artificial Intelligence" || name == "Web3" { name.to_owned() } else { name.to_lowercase() }
}

/// Joins `first` and `more`, which is a further sentence or paragraph.
fn join(first: String, more: String) -> String {
    if more.is_empty() || more.starts_with('\n') { first + &more } else { format!("{first} {more}") }
}

pub(crate) fn firm_description(random: &mut Random, firm: &InventedFirm, name: &str, city: &str) -> String {
    let home = &HOMES[firm.home];
    let region = REGIONS[home.region];
    let (stage, topic) = (stage_phrase(firm), topic(firm));
    let founder = person_name(random, home.culture, 0);
    let n = random.between(3, 40);
    let who = random.pick(&PROFILES["who"]);
    let first = PROFILES.get(&format!("firm {}", firm.kind.name())).map(|list| list[0]);
    let first = first.unwrap_or_else(|| random.pick(&PROFILES["firm"]));
    let more = PROFILES["firm more"].get(random.below(12) as usize).copied().unwrap_or("");
    let value = |random: &mut Random, slot: &str| match slot {
        "name" => name.to_owned(),
        "who" => who.to_owned(),
        "stage" => stage.to_owned(),
        "topic" => topic.clone(),
        "region" => region.to_owned(),
        "from" => if city.is_empty() { region } else { city }.to_owned(),
        "founder" => founder.clone(),
        "n" => n.to_string(),
        "members" => (n * 9).to_string(),
        "backers" => (n * 1_300).to_string(),
        "exits" => (n / 4).to_string(),
        "city" => HOMES[random.below(20) as usize].draw_city(random).to_owned(),
        "other city" => HOMES[20 + random.below(20) as usize].draw_city(random).to_owned(),
        "br" => "\n".to_owned(),
        list => random.pick(&PROFILES[list]).to_owned(),
    };
    let first = fill(first, |slot| value(random, slot));
    join(first, fill(more, |slot| value(random, slot)))
}

pub(crate) fn startup_description(random: &mut Random, name: &str, sector: &InventedSector, city: &str) -> String {
    let products: Vec<&str> = sector.products.split(';').collect();
    let product = random.pick(&products);
    let customers = random.pick(&GROUPS[sector.group].customers);
    let n = random.between(2, 60);
    let verb = random.pick(&PROFILES["verb"]);
    let templates = &PROFILES["startup"];
    let mut first = templates[random.below(templates.len() as u64) as usize];
    if city.is_empty() && first.contains("{city}") {
        first = templates[templates.len() - 1];
    }
    let value = |random: &mut Random, slot: &str| match slot {
        "name" => name.to_owned(),
        "verb" => verb.to_owned(),
        "product" => product.to_owned(),
        "Product" => capitalized(product),
        "customers" => customers.to_owned(),
        "sector" => sector.name.to_owned(),
        "city" => city.to_owned(),
        "from" => if city.is_empty() { "everywhere" } else { city }.to_owned(),
        "n" => n.to_string(),
        "users" => (n * 37).to_string(),
        "founders" => random.between(2, 4).to_string(),
        "pilots" => random.between(2, 12).to_string(),
        "br" => "\n".to_owned(),
        list => random.pick(&PROFILES[list]).to_owned(),
    };
    let first = fill(first, |slot| value(random, slot));
    let more = PROFILES["startup more"].get(random.below(16) as usize).copied().unwrap_or("");
    join(first, fill(more, |slot| value(random, slot)))
}
