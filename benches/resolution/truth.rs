//! A truth to measure resolution with: real records, split over three sources, perturbed and joined with others.
//!
//! Each record of the dataset is an entity. A *directory* has 70 % of them, an *export* 55 % and a *register* 30 %, each
//! chosen independently; the records of one entity are the pairs to be found. Every source changes what it has:
//!
//! - names: letters mistyped (5 %), legal forms added (40 % of the register), generic words added or left out (5 % of
//!   firms), letter case (8 %), another script (2 %), renamed with the old name as alias (2 %), words abbreviated (2 %);
//! - values: unknown (website 20 %, city 15 %, country 5 %, founded year 30 %,
//!   sectors 30 %, and each sector 30 %), moved to another city (3 %), founded a year
//!   earlier or later (5 %), another spelling of the website (20 %) or another domain (2 %);
//! - rounds: each is in a source with 60 %, another day with 10 %, a rounded amount with 10 %;
//! - identifiers: the register has an LEI of its own for each record, 30 % of the directory's and export's records have it,
//!   too, and 1 % of those the placeholder `0`;
//! - within a source: 1 % of the records are there twice, each with a part of the values.
//!
//! Traps are entities of their own that are like another: `Fund II`, `Fund III`, an SPV and a regional firm of 5 % of the
//! firms with the domain of the firm; a subsidiary of 1 % of the startups with its domain; a namesake of 2 % of the startups
//! elsewhere; and what the real data has.
//!
//! Two real records with one name and one website or city may be one entity, which nobody knows: their pairs do not count.
//! Entities belong to one of two halves by a hash, so that one half can be held back while rules are changed.

use std::collections::HashMap;

use data::fold::fold;
use data::import::{Dataset, website};
use data::vocabulary::capitalized;
use data::{OrganizationKind, PartialDate, Table};
use import::resolve::SourceRecord;
use import::resolve::record::records_of_dataset;

use crate::random::Random;

/// Records with their entities.
pub struct Truth {
    pub records: Vec<SourceRecord>,
    /// The entity of each record, by its id.
    pub entities: HashMap<String, Entity>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity {
    pub number: u32,
    /// Entities of one group may be one.
    pub group: u32,
    /// Whether it is in the half that is held back.
    pub is_held: bool,
}

/// What is true of an entity.
#[derive(Clone, Debug)]
struct Original {
    table: Table,
    slug: String,
    name: String,
    aliases: Vec<String>,
    website: Option<String>,
    country: Option<data::Country>,
    city: Option<String>,
    founded_year: Option<u16>,
    sectors: Vec<String>,
    /// Day, amount and investors by name.
    rounds: Vec<(Option<PartialDate>, Option<u64>, Vec<String>)>,
    /// The startups of a firm, the members of an organization, by name.
    links: Vec<(Table, String)>,
    organization_website: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Directory,
    Export,
    Register,
}

const SOURCES: [(SourceKind, &str, usize); 3] = [
    (SourceKind::Directory, "directory", 70),
    (SourceKind::Export, "export", 55),
    (SourceKind::Register, "register", 30),
];

const LEGAL_FORMS: [&str; 9] = ["Inc.", "LLC", "Ltd", "Limited", "GmbH", "S.A.", "B.V.", "Pvt. Ltd.", "Corp."];
const GENERIC: [&str; 5] = ["Capital", "Ventures", "Partners", "Group", "Management"];
const CITIES: [&str; 8] =
    ["London", "Berlin", "New York", "San Francisco", "Bengaluru", "Paris", "Singapore", "Toronto"];
const ABBREVIATIONS: [(&str, &str); 6] = [
    ("Technologies", "Tech"),
    ("International", "Intl"),
    ("Management", "Mgmt"),
    ("Capital", "Cap"),
    ("University", "Univ"),
    ("Laboratories", "Labs"),
];
/// Letters of another script that are read as these.
const CYRILLIC: [(char, char); 22] = [
    ('a', 'а'),
    ('b', 'б'),
    ('d', 'д'),
    ('e', 'е'),
    ('f', 'ф'),
    ('g', 'г'),
    ('i', 'и'),
    ('k', 'к'),
    ('l', 'л'),
    ('m', 'м'),
    ('n', 'н'),
    ('o', 'о'),
    ('p', 'п'),
    ('r', 'р'),
    ('s', 'с'),
    ('t', 'т'),
    ('u', 'у'),
    ('v', 'в'),
    ('z', 'з'),
    ('c', 'к'),
    ('h', 'х'),
    ('w', 'в'),
];

/// Makes the truth of a dataset. `copies`: how many times each entity is in it, as another one with another name.
pub fn make(dataset: &Dataset, seed: u64, copies: usize) -> Truth {
    let mut random = Random(seed);
    let mut originals = originals(dataset);
    add_traps(&mut originals, &mut random);
    let groups = groups(&originals);
    let mut truth = Truth { records: Vec::new(), entities: HashMap::new() };
    for copy in 0..copies {
        for (number, original) in originals.iter().enumerate() {
            let number = number + copy * originals.len();
            let group = groups[number % originals.len()] + (copy * originals.len()) as u32;
            let entity = Entity { number: number as u32, group, is_held: is_held(group) };
            let mut original = original.clone();
            if copy > 0 {
                rename(&mut original, copy);
            }
            add_records(&mut truth, &original, entity, &mut random);
        }
    }
    truth
}

/// A copy has other words and no values that identify it.
fn rename(original: &mut Original, copy: usize) {
    let shift = |text: &str| {
        let letters = text.chars().map(|char| match char {
            'a'..='z' => char::from(b'a' + (char as u8 - b'a' + copy as u8) % 26),
            'A'..='Z' => char::from(b'A' + (char as u8 - b'A' + copy as u8) % 26),
            other => other,
        });
        letters.collect::<String>()
    };
    original.slug = format!("{}-{copy}", original.slug);
    original.name = shift(&original.name);
    original.aliases.iter_mut().for_each(|alias| *alias = shift(alias));
    if let Some(address) = &original.website {
        let host = website::host(address);
        let (label, ending) = host.rsplit_once('.').unwrap_or((&host, "com"));
        original.website = Some(format!("http://{}.{ending}", shift(label)));
    }
    for (_, _, investors) in &mut original.rounds {
        investors.iter_mut().for_each(|name| *name = shift(name));
    }
    original.links.iter_mut().for_each(|(_, name)| *name = shift(name));
    original.organization_website = None;
}

fn is_held(group: u32) -> bool {
    (u64::from(group) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1
}

/// The firms, startups and people of a dataset, in this order.
fn originals(dataset: &Dataset) -> Vec<Original> {
    let original = |record: SourceRecord| Original {
        table: record.table,
        slug: record.id,
        name: record.name,
        aliases: record.aliases,
        website: record.website,
        country: record.country,
        city: record.city,
        founded_year: record.founded_year,
        sectors: record.sectors,
        rounds: Vec::new(),
        links: Vec::new(),
        organization_website: None,
    };
    let mut originals: Vec<Original> = records_of_dataset(dataset).into_iter().map(original).collect();
    let (firms, others) = originals.split_at_mut(dataset.firms.len());
    let (startups, people) = others.split_at_mut(dataset.startups.len());
    for round in &dataset.rounds {
        let startup = &mut startups[round.startup as usize];
        let investors = round.investors.iter().map(|investor| {
            firms[investor.firm as usize].links.push((Table::Startups, startup.name.clone()));
            firms[investor.firm as usize].name.clone()
        });
        let investors = investors.collect();
        startup.rounds.push((round.announced_on, round.amount_usd, investors));
    }
    for (row, person) in dataset.people.iter().zip(people) {
        let organizations = if row.organization_kind == OrganizationKind::Firm { &mut *firms } else { &mut *startups };
        let organization = &mut organizations[row.organization as usize];
        organization.links.push((Table::People, person.name.clone()));
        person.links = vec![(organization.table, organization.name.clone())];
        person.organization_website = organization.website.clone();
    }
    originals
}

fn add_traps(originals: &mut Vec<Original>, random: &mut Random) {
    let mut traps = Vec::new();
    for original in originals.iter() {
        let like = |name: String| Original {
            slug: format!("{}-{}", original.slug, fold(&name).replace(' ', "-")),
            name,
            aliases: Vec::new(),
            rounds: Vec::new(),
            links: Vec::new(),
            ..original.clone()
        };
        let name = &original.name;
        match original.table {
            Table::Firms if random.below(100) < 5 => {
                traps.extend([format!("{name} Fund II"), format!("{name} Fund III LP")].map(like));
                traps.push(like(format!("{name} SPV 4, a series of {name} LLC")));
                let mut regional = like(format!("{name} India"));
                regional.country = data::Country::read("IN");
                regional.city = Some("Mumbai".to_owned());
                traps.push(regional);
            }
            Table::Startups => match random.below(100) {
                0 => traps.push(like(format!("{name} Health"))),
                1 | 2 => {
                    let mut namesake = like(name.clone());
                    namesake.slug = format!("{}-namesake", original.slug);
                    namesake.website =
                        original.website.as_ref().map(|_| format!("http://the{}.net", fold(name).replace(' ', "")));
                    namesake.city = Some((*random.pick(&CITIES)).to_owned());
                    namesake.country = if random.below(2) == 0 { original.country } else { data::Country::read("GB") };
                    namesake.sectors.truncate(1);
                    namesake.founded_year = original.founded_year.map(|year| year - 3);
                    if namesake.city.as_deref().map(fold) != original.city.as_deref().map(fold) {
                        traps.push(namesake);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    originals.extend(traps);
}

/// Words that two spellings of one name may differ in.
const LEFT_OUT: &str = "inc llc ltd limited corp corporation company co gmbh com the pvt private";

/// Equal numbers: real records of one name, as far as the real data is concerned, that have something else in common.
fn groups(originals: &[Original]) -> Vec<u32> {
    let mut first: HashMap<String, u32> = HashMap::new();
    let mut groups: Vec<u32> = (0..originals.len() as u32).collect();
    let mut teams: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, original) in originals.iter().enumerate() {
        if original.table == Table::People {
            // Of one organization under two names, both have the team.
            let organization = fold(&original.links[0].1);
            let word = organization.split(' ').next().unwrap_or_default().to_owned();
            teams.entry(word).or_default().push(number);
            continue;
        }
        let folded = fold(&original.name);
        let words = folded.split(' ').filter(|word| !LEFT_OUT.split(' ').any(|left_out| left_out == *word));
        let name = format!("{} {}", original.table.name(), words.collect::<String>());
        let rounds = original.rounds.iter().flat_map(|(date, amount, investors)| {
            let round = date.zip(*amount).map(|(date, amount)| format!("{date} {amount}"));
            round.into_iter().chain(investors.iter().cloned())
        });
        let website = original.website.as_deref().map(website::host);
        let city = original.city.as_deref().map(fold);
        for key in website.into_iter().chain(city).chain(rounds) {
            let known = *first.entry(format!("{name} {key}")).or_insert(groups[number]);
            groups[number] = groups[known as usize].min(groups[number]);
        }
    }
    for team in teams.values() {
        for (index, person) in team.iter().enumerate() {
            let like =
                team[..index].iter().find(|other| are_spellings(&originals[**other].name, &originals[*person].name));
            if let Some(other) = like {
                groups[*person] = groups[*other];
            }
        }
    }
    groups
}

/// Whether at most two letters of two names differ, by a plain edit distance, or each word begins with the other's.
fn are_spellings(left: &str, right: &str) -> bool {
    let (words, others) = (fold(left), fold(right));
    let begins = |(word, other): (&str, &str)| word.starts_with(other) || other.starts_with(word);
    if words.split(' ').count() == others.split(' ').count() && words.split(' ').zip(others.split(' ')).all(begins) {
        return true;
    }
    let (left, right) = (fold(left).replace(' ', "").into_bytes(), fold(right).replace(' ', "").into_bytes());
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, letter) in left.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, other) in right.iter().enumerate() {
            let cost = (before + usize::from(letter != other)).min(row[j] + 1).min(row[j + 1] + 1);
            before = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[right.len()] <= 2
}

fn add_records(truth: &mut Truth, original: &Original, entity: Entity, random: &mut Random) {
    let has_lei = random.below(100) < 30;
    for (number, (kind, source, share)) in SOURCES.into_iter().enumerate() {
        if random.below(100) >= share {
            continue;
        }
        let count = if random.below(100) == 0 { 2 } else { 1 };
        for copy in 0..count {
            let noun = original.table.noun();
            let id = format!("{source}/{noun}:{}{}", original.slug, if copy == 0 { "" } else { "~2" });
            let mut record = SourceRecord::new(original.table, id.clone(), number as u32);
            fill(&mut record, original, kind, count == 2, random);
            if original.table != Table::People && (kind == SourceKind::Register || has_lei) {
                let value = if random.below(100) == 0 { "0".to_owned() } else { format!("{:020}", entity.number) };
                record.identifiers.push(("lei".to_owned(), value));
            }
            truth.entities.insert(id, entity);
            truth.records.push(record);
        }
    }
}

/// Fills a record with what a source has. `is_part`: about half of the values.
fn fill(record: &mut SourceRecord, original: &Original, kind: SourceKind, is_part: bool, random: &mut Random) {
    record.name = name(original, kind, random);
    if random.below(100) < 2 && original.table != Table::People {
        record.aliases.push(std::mem::replace(&mut record.name, invented(random)));
    }
    if random.below(2) == 0 {
        record.aliases.extend(original.aliases.iter().cloned());
    }
    let [website, city, country, year, sectors] =
        [80, 85, 95, 70, 70].map(|percent| random.below(100) < if is_part { percent / 2 } else { percent });
    record.website = original.website.as_deref().filter(|_| website && kind != SourceKind::Register).map(|address| {
        let host = website::host(address);
        match random.below(100) {
            0 | 1 => format!("https://{}.io", host.split('.').next().unwrap_or_default()),
            2..=12 => format!("https://www.{host}/en"),
            13..=21 => format!("HTTP://{}", host.to_uppercase()),
            _ => address.to_owned(),
        }
    });
    record.country = original.country.filter(|_| country);
    record.city = original
        .city
        .as_deref()
        .filter(|_| city)
        .map(|city| if random.below(100) < 3 { (*random.pick(&CITIES)).to_owned() } else { city.to_owned() });
    record.founded_year = original.founded_year.filter(|_| year).map(|year| match random.below(100) {
        0..=2 => year - 1,
        3 | 4 => year + 1,
        _ => year,
    });
    if sectors {
        record.sectors.extend(original.sectors.iter().cloned());
        record.sectors.retain(|_| random.below(100) < 70);
    }
    for (date, amount, investors) in &original.rounds {
        if random.below(100) >= 60 {
            continue;
        }
        record.size += 1;
        let date = if random.below(10) == 0 { None } else { *date };
        let amount = amount.map(|amount| if random.below(10) == 0 { amount / 100_000 * 100_000 } else { amount });
        record.links.add_round(date, amount);
        investors.iter().for_each(|name| record.links.add_name(Table::Firms, name));
    }
    for (table, name) in &original.links {
        if original.table == Table::People || random.below(100) < 60 {
            record.links.add_name(*table, name);
        }
    }
    original.organization_website.iter().for_each(|address| record.links.add_website(address));
}

fn name(original: &Original, kind: SourceKind, random: &mut Random) -> String {
    let mut name = original.name.clone();
    if original.table != Table::People {
        if original.table == Table::Firms && random.below(100) < 5 {
            let cut = GENERIC.iter().find_map(|word| name.strip_suffix(word)).map(|rest| rest.trim_end().to_owned());
            name = cut.filter(|rest| rest.len() > 4).unwrap_or_else(|| format!("{name} {}", random.pick(&GENERIC)));
        }
        if random.below(100) < 2 {
            for (long, short) in ABBREVIATIONS {
                name = name.replace(long, short);
            }
        }
        let may_have_form = !name.contains(" Fund ") && !name.contains(" SPV ");
        if may_have_form && random.below(100) < if kind == SourceKind::Register { 40 } else { 4 } {
            name = format!("{name} {}", random.pick(&LEGAL_FORMS));
        }
    }
    if random.below(100) < 5 {
        name = mistyped(&name, random);
    }
    match random.below(100) {
        0..=7 => name.to_uppercase(),
        8 | 9 if name.is_ascii() => {
            let letters = name.to_lowercase();
            let letter = |char: char| CYRILLIC.iter().find(|(latin, _)| *latin == char).map_or(char, |found| found.1);
            letters.chars().map(letter).collect()
        }
        _ => name,
    }
}

/// A name that nobody else has: of four syllables, some of the thousands that a large truth needs would be equal.
fn invented(random: &mut Random) -> String {
    const SYLLABLES: [&str; 12] = ["ba", "cor", "den", "fi", "gal", "ho", "ka", "lum", "mi", "nor", "ta", "vex"];
    capitalized(&(0..7).map(|_| *random.pick(&SYLLABLES)).collect::<String>())
}

fn mistyped(name: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    if letters.len() < 6 {
        return name.to_owned();
    }
    let at = 1 + random.below(letters.len() - 2);
    if !letters[at].is_alphabetic() || !letters[at - 1].is_alphabetic() {
        return name.to_owned();
    }
    match random.below(4) {
        0 => {
            letters.remove(at);
        }
        1 => letters.insert(at, letters[at]),
        2 => letters.swap(at, at - 1),
        _ => letters[at] = *random.pick(&['a', 'e', 'i', 'o', 'n', 's', 't', 'r']),
    }
    letters.into_iter().collect()
}
