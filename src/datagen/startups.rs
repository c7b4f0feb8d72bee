//! Startups and their rounds, written in one pass.

use std::io;
use std::path::Path;

use crate::data::Stage;
use crate::data::import;
use crate::data::import::csv_writer::TableWriter;
use crate::data::vocabulary::Vocabulary;
use crate::datagen::GenConfig;
use crate::datagen::firms::{joined, website};
use crate::datagen::geography::{PLACES, draw_place, set_place};
use crate::datagen::market::{Market, Wanted};
use crate::datagen::naming::{Given, Naming};
use crate::datagen::people::People;
use crate::datagen::profile_text::startup_description;
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::rounds::{Planned, RoundPath};
use crate::datagen::sectors::{BY_GROUP, GROUPS, SECTORS};
use crate::datagen::share::Share;
use crate::datagen::startup_names::{SET_STARTUP_COUNTRIES, startup_name};

/// Most investors of a round at each stage of `Stage::ALL`.
const MOST_INVESTORS: [u64; 11] = [4, 6, 7, 8, 9, 12, 6, 2, 2, 8, 3];

/// Weight of startup `row` when rounds are shared out: a quarter has none, a few have many.
fn weight(seed: u64, row: u32) -> u64 {
    let random = &mut Random::of(seed, RandomStream::RoundCount, u64::from(row));
    [0, 3, 5, 8, 12, 16, 22][random.weighted(&[22, 28, 20, 15, 9, 4, 2])]
}

/// Writes `startups.csv`, `funding_rounds.csv` and the people of the startups.
pub(crate) fn write(plan: &GenConfig, folder: &Path, market: &Market<'_>, people: &mut People) -> io::Result<()> {
    let mut table = TableWriter::create(folder, "startups.csv", import::STARTUP_COLUMNS)?;
    let mut rounds = TableWriter::create(folder, "funding_rounds.csv", import::ROUND_COLUMNS)?;
    let mut share = Share::of(plan.rounds, (0..plan.startups).map(|row| weight(plan.seed, row)).sum());
    let mut given = Given::default();
    let mut next_round = 1;
    let weights: Vec<u32> = GROUPS.iter().map(|group| group.weight).collect();
    for row in 0..plan.startups {
        let random = &mut Random::of(plan.seed, RandomStream::Startup, u64::from(row));
        let place = set_place(&SET_STARTUP_COUNTRIES, row).unwrap_or(draw_place(random));
        let group = random.weighted(&weights);
        let (slug, naming) = claim_name(plan.seed, row, place, group, &mut given);
        let sectors = draw_sectors(random, group);
        let count = share.next(weight(plan.seed, row));
        let random = &mut Random::of(plan.seed, RandomStream::Rounds, u64::from(row));
        let way = RoundPath::draw(random, count, plan.release());
        table.row(&fields(plan, row, &slug, &naming, place, &sectors, &way))?;
        let mut earlier: Vec<u32> = Vec::new();
        for round in &way.rounds {
            let wanted = Wanted { region: PLACES[place].region, group, stage: round.stage, year: round.day.year() };
            let investors = draw_investors(random, market, &wanted, &mut earlier);
            rounds.row(&round_fields(random, next_round, &slug, round, market, &investors))?;
            next_round += 1;
        }
        people.of_startup(plan, row, &slug, place)?;
    }
    table.finish()?;
    rounds.finish()
}

fn claim_name(seed: u64, row: u32, place: usize, group: usize, given: &mut Given) -> (String, Naming) {
    let mut attempt = 0;
    loop {
        let (naming, slug) = startup_name(seed, u64::from(row), place, group, attempt);
        let own = given.claim(&naming.name);
        if let Some(slug) = slug {
            // A set slug is given away too, so that no later name can arrive at it.
            given.claim(&slug.replace('-', " "));
            return (slug.to_owned(), naming);
        }
        if let Some(slug) = own {
            return (slug, naming);
        }
        attempt += 1;
    }
}

/// One to three sectors, the first one in the startup's group; none for one in fourteen.
fn draw_sectors(random: &mut Random, group: usize) -> Vec<usize> {
    let members = &BY_GROUP[group];
    let mut sectors = vec![members[random.early(members.len())]];
    if random.chance(480) {
        sectors.push(members[random.early(members.len())]);
    }
    if random.chance(220) {
        let other = &BY_GROUP[random.below(BY_GROUP.len() as u64) as usize];
        sectors.push(other[random.early(other.len())]);
    }
    let mut distinct: Vec<usize> = Vec::new();
    for sector in sectors {
        if !distinct.contains(&sector) {
            distinct.push(sector);
        }
    }
    distinct
}

fn fields(
    plan: &GenConfig,
    row: u32,
    slug: &str,
    naming: &Naming,
    place: usize,
    sectors: &[usize],
    way: &RoundPath,
) -> [String; 11] {
    let random = &mut Random::of(plan.seed, RandomStream::StartupText, u64::from(row));
    let place = &PLACES[place];
    let (country, city) = match random.below(100) {
        0..5 => ("", ""),
        5..14 => (place.code, ""),
        _ => (place.code, place.draw_city(random)),
    };
    let website = website(random, slug, 820);
    let first = sectors.first().copied().unwrap_or(0);
    let description = startup_description(random, &naming.name, &SECTORS[first], city);
    let kept =
        |random: &mut Random, per_mille, text: String| if random.chance(per_mille) { text } else { String::new() };
    let stage = way
        .stage
        .or((random.chance(500)).then_some(Stage::PreSeed))
        .map_or_else(String::new, |stage| stage.name().to_owned());
    [
        slug.to_owned(),
        naming.name.clone(),
        naming.aliases.join("|"),
        website,
        kept(random, 880, description),
        country.to_owned(),
        city.to_owned(),
        kept(random, 880, way.founded.to_string()),
        kept(random, 930, stage),
        kept(random, 930, joined(sectors.iter().map(|sector| SECTORS[*sector].slug))),
        kept(random, 970, way.status.to_string()),
    ]
}

/// The known investors of a round. Some of the earlier ones follow, so that the list grows from round to round.
fn draw_investors(random: &mut Random, market: &Market<'_>, wanted: &Wanted, earlier: &mut Vec<u32>) -> Vec<u32> {
    if random.chance(150) {
        return Vec::new();
    }
    let most = MOST_INVESTORS[wanted.stage.index()];
    let count = 1 + random.below(most).min(random.below(most)) + (earlier.len() as u64 / 4).min(most / 4);
    let mut investors = market.investors(random, wanted, earlier, count as usize);
    let equity = !matches!(wanted.stage, Stage::Debt | Stage::Grant);
    for row in earlier.iter().copied() {
        if equity && investors.len() < 16 && !investors.contains(&row) && market.follows(random, row, wanted) {
            investors.push(row);
        }
    }
    for row in &investors {
        if !earlier.contains(row) {
            earlier.push(*row);
        }
    }
    investors
}

fn round_fields(
    random: &mut Random,
    id: u64,
    startup: &str,
    round: &Planned,
    market: &Market<'_>,
    investors: &[u32],
) -> [String; 7] {
    let leads = match random.below(100) {
        0..68 => 1,
        68..78 => 2,
        _ => 0,
    };
    let leads = &investors[..leads.min(investors.len())];
    // Sources differ in whether they list a lead among the investors again.
    let others = if random.chance(600) { investors } else { &investors[leads.len()..] };
    let slugs = |rows: &[u32]| joined(rows.iter().map(|row| market.slug(*row)));
    let kept =
        |random: &mut Random, per_mille, text: String| if random.chance(per_mille) { text } else { String::new() };
    [
        format!("r-{id:07}"),
        startup.to_owned(),
        round.stage.name().to_owned(),
        kept(random, 860, round.amount.to_string()),
        kept(random, 975, round.day.to_string()),
        slugs(leads),
        slugs(others),
    ]
}
