//! Startups and their rounds, written in one pass.

use std::io;
use std::path::Path;

use crate::datagen::GenConfig;
use crate::datagen::firms::{joined, website};
use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::market::{FirmMarket, RoundProfile};
use crate::datagen::naming::{Naming, UsedNames, fixed_home, startup_name};
use crate::datagen::people::People;
use crate::datagen::profile_text::startup_description;
use crate::datagen::random::{Random, RandomStream, Share};
use crate::datagen::rounds::{PlannedRound, RoundPath};
use crate::datagen::sectors::{BY_GROUP, GROUP_WEIGHTS, SECTORS};
use data::Stage;
use data::import::csv_writer::TableWriter;
use data::import::rows;
use data::vocabulary::Vocabulary;

/// Maximum number of new investors of a round at each stage of `Stage::ALL`.
const MAX_INVESTORS: [u64; 11] = [4, 6, 7, 8, 9, 12, 6, 2, 2, 8, 3];

/// Weight of startup `row` when rounds are divided among startups. A quarter has no rounds, a few have many.
fn weight(seed: u64, row: u32) -> u64 {
    let random = &mut Random::new(seed, RandomStream::RoundCount, u64::from(row));
    [0, 3, 5, 8, 12, 16, 22][random.weighted(&[22, 28, 20, 15, 9, 4, 2])]
}

/// Writes `startups.csv`, `funding_rounds.csv` and the people of the startups.
pub(crate) fn write(config: &GenConfig, folder: &Path, market: &FirmMarket<'_>, people: &mut People) -> io::Result<()> {
    let mut table = TableWriter::create::<rows::DatasetStartup>(folder)?;
    let mut rounds = TableWriter::create::<rows::DatasetRound>(folder)?;
    let mut share = Share::new(config.rounds, (0..config.startups).map(|row| weight(config.seed, row)).sum());
    let mut used_names = UsedNames::default();
    let mut next_round = 1;
    for row in 0..config.startups {
        let random = &mut Random::new(config.seed, RandomStream::Startup, u64::from(row));
        let home = fixed_home("fixed startups", row).unwrap_or(draw_home(random));
        let group = random.weighted(&GROUP_WEIGHTS);
        let (slug, naming) = claim_name(config.seed, row, home, group, &mut used_names);
        let sectors = draw_sectors(random, group);
        let count = share.next(weight(config.seed, row));
        let random = &mut Random::new(config.seed, RandomStream::Rounds, u64::from(row));
        let path = RoundPath::draw(random, count, config.release());
        table.row(&fields(config, row, &slug, &naming, home, &sectors, &path))?;
        let mut earlier: Vec<u32> = Vec::new();
        for round in &path.rounds {
            let profile =
                RoundProfile { region: HOMES[home].region, group, stage: round.stage, year: round.day.year() };
            let investors = draw_investors(random, market, &profile, &mut earlier);
            rounds.row(&round_fields(random, next_round, &slug, round, market, &investors))?;
            next_round += 1;
        }
        people.of_startup(config, row, &slug, home)?;
    }
    table.finish()?;
    rounds.finish()
}

fn claim_name(seed: u64, row: u32, home: usize, group: usize, used_names: &mut UsedNames) -> (String, Naming) {
    let mut attempt = 0;
    loop {
        let (naming, slug) = startup_name(seed, u64::from(row), home, group, attempt);
        let own = used_names.claim(&naming.name);
        if let Some(slug) = slug {
            // A fixed slug is claimed too, so that no later name results in it.
            used_names.claim(&slug.replace('-', " "));
            return (slug.to_owned(), naming);
        }
        if let Some(slug) = own {
            return (slug, naming);
        }
        attempt += 1;
    }
}

/// One to three sectors, the first one in the startup's group.
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
    config: &GenConfig,
    row: u32,
    slug: &str,
    naming: &Naming,
    home: usize,
    sectors: &[usize],
    path: &RoundPath,
) -> [String; 11] {
    let random = &mut Random::new(config.seed, RandomStream::StartupText, u64::from(row));
    let home = &HOMES[home];
    let (country, city) = match random.below(100) {
        0..5 => ("", ""),
        5..14 => (home.code, ""),
        _ => (home.code, home.draw_city(random)),
    };
    let website = website(random, slug, 820);
    let description = startup_description(random, &naming.name, &SECTORS[sectors[0]], city);
    let stage = path
        .stage
        .or((random.chance(500)).then_some(Stage::PreSeed))
        .map_or_else(String::new, |stage| stage.name().to_owned());
    [
        slug.to_owned(),
        naming.name.clone(),
        naming.aliases.join("|"),
        website,
        random.keep(880, description),
        country.to_owned(),
        city.to_owned(),
        random.keep(880, path.founded.to_string()),
        random.keep(930, stage),
        random.keep(930, joined(sectors.iter().map(|sector| SECTORS[*sector].slug))),
        random.keep(970, path.status.to_string()),
    ]
}

/// Draws the known investors of a round. Some earlier investors follow on, so that the list grows from round to round.
fn draw_investors(
    random: &mut Random,
    market: &FirmMarket<'_>,
    profile: &RoundProfile,
    earlier: &mut Vec<u32>,
) -> Vec<u32> {
    if random.chance(150) {
        return Vec::new();
    }
    let max = MAX_INVESTORS[profile.stage.index()];
    let count = 1 + random.below(max).min(random.below(max)) + (earlier.len() as u64 / 4).min(max / 4);
    let mut investors = market.investors(random, profile, earlier, count as usize);
    let equity = !matches!(profile.stage, Stage::Debt | Stage::Grant);
    for row in earlier.iter().copied() {
        if equity && investors.len() < 16 && !investors.contains(&row) && market.follows(random, row, profile) {
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
    round: &PlannedRound,
    market: &FirmMarket<'_>,
    investors: &[u32],
) -> [String; 7] {
    let leads = match random.below(100) {
        0..68 => 1,
        68..78 => 2,
        _ => 0,
    };
    let leads = &investors[..leads.min(investors.len())];
    // Some sources repeat the leads among the investors.
    let others = if random.chance(600) { investors } else { &investors[leads.len()..] };
    let slugs = |rows: &[u32]| joined(rows.iter().map(|row| market.slug(*row)));
    [
        format!("r-{id:07}"),
        startup.to_owned(),
        round.stage.name().to_owned(),
        random.keep(860, round.amount.to_string()),
        random.keep(975, round.day.to_string()),
        slugs(leads),
        slugs(others),
    ]
}
