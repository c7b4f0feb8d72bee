//! Startups and their rounds, written in one pass.

use std::io;
use std::path::Path;

use crate::datagen::GenConfig;
use crate::datagen::firms::{joined, round, website};
use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::market::{FirmMarket, RoundProfile};
use crate::datagen::naming::{Naming, UsedNames, fixed_home, startup_name};
use crate::datagen::people::People;
use crate::datagen::profile_text::startup_description;
use crate::datagen::random::{Random, RandomStream, Share};
use crate::datagen::sectors::{BY_GROUP, GROUP_WEIGHTS, SECTORS};
use data::import::csv_row::distinct;
use data::import::csv_writer::TableWriter;
use data::import::rows;
use data::vocabulary::Vocabulary;
use data::{Date, OrganizationKind, Stage, StartupStatus};

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
        let path = RoundPath::draw(random, count, config.version.date);
        table.row(&fields(config, row, &slug, &naming, home, &sectors, &path))?;
        let mut earlier: Vec<u32> = Vec::new();
        for round in &path.rounds {
            let traits = RoundProfile { region: HOMES[home].region, group, stage: round.stage, year: round.day.year() };
            let investors = draw_investors(random, market, &traits, &mut earlier);
            rounds.row(&round_fields(random, next_round, &slug, round, market, &investors))?;
            next_round += 1;
        }
        people.of_organization(OrganizationKind::Startup, row, &slug, home, None)?;
    }
    table.finish()?;
    rounds.finish()
}

fn claim_name(seed: u64, row: u32, home: usize, group: usize, used_names: &mut UsedNames) -> (String, Naming) {
    let mut attempt = 0;
    loop {
        let naming = startup_name(seed, u64::from(row), home, group, attempt);
        let own = used_names.claim(&naming.name);
        if let Some(slug) = naming.slug {
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
    distinct(sectors.into_iter())
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
    let stage = path.stage.or(random.chance(500).then_some(Stage::PreSeed)).map_or("", Stage::name).to_owned();
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

struct PlannedRound {
    stage: Stage,
    amount: u64,
    day: Date,
}

struct RoundPath {
    rounds: Vec<PlannedRound>,
    status: StartupStatus,
    founded: i32,
    /// The highest stage reached; `None` before the first round.
    stage: Option<Stage>,
}

const LADDER: [Stage; 7] =
    [Stage::PreSeed, Stage::Seed, Stage::SeriesA, Stage::SeriesB, Stage::SeriesC, Stage::SeriesDPlus, Stage::Growth];

/// Usual amounts at each stage of `Stage::ALL`: the minimum in thousands of dollars, and the number of times it may double.
const MIN_AMOUNTS: [u64; 11] = [60, 400, 2_500, 9_000, 22_000, 50_000, 40_000, 300, 25, 60_000, 80];
const DOUBLINGS: [u64; 11] = [4, 4, 3, 3, 3, 3, 4, 6, 6, 4, 6];

impl RoundPath {
    /// Draws the `count` rounds of a startup, none later than `release`.
    fn draw(random: &mut Random, count: u32, release: Date) -> Self {
        let mut stages = draw_stages(random, count as usize);
        let status = draw_status(random, &stages);
        if status == StartupStatus::Ipo
            && let Some(last) = stages.last_mut()
        {
            *last = Stage::Ipo;
        }
        let stage = highest(&stages, status);
        let mut back = 1 + random.small(4_000) as i32;
        if status == StartupStatus::Closed {
            back += 300 + random.below(900) as i32;
        }
        let mut days: Vec<i32> = Vec::with_capacity(stages.len());
        let mut day = release.days() - back;
        for _ in &stages {
            days.push(day);
            // Many rounds follow each other closely, so that they never span more than a few decades.
            let longest = (9_000 / (u64::from(count) + 1)).clamp(20, 620);
            day -= random.between(longest / 3, longest) as i32;
        }
        days.reverse();
        let first = days.first().copied().unwrap_or(day);
        let founded = Date::from_days(first - random.between(20, 900) as i32).year();
        let rounds = with_amounts(random, &stages, &days);
        Self { rounds, status, founded, stage }
    }
}

fn draw_stages(random: &mut Random, count: usize) -> Vec<Stage> {
    let mut step = random.weighted(&[400, 470, 110, 20]);
    let mut stages = Vec::with_capacity(count);
    for index in 0..count {
        let side_stage = match random.below(1000) {
            0..60 if index > 0 => Some(Stage::Debt),
            60..130 => Some(Stage::Grant),
            130..170 => Some(Stage::Other),
            _ => None,
        };
        stages.push(side_stage.unwrap_or(LADDER[step]));
        if side_stage.is_none() {
            // Mostly one step up; sometimes an extension of the same stage, or a jump.
            step = (step + [1, 1, 1, 1, 1, 1, 1, 1, 0, 2][random.below(10) as usize]).min(LADDER.len() - 1);
        }
    }
    stages
}

fn draw_status(random: &mut Random, stages: &[Stage]) -> StartupStatus {
    use StartupStatus::*;
    let late = stages.iter().any(|stage| (Stage::SeriesB..=Stage::Growth).contains(stage));
    let weights = match stages.len() {
        0 => [80, 6, 0, 14],
        _ if late && stages.len() > 2 => [66, 15, 14, 5],
        1 => [76, 8, 0, 16],
        _ => [76, 12, 1, 11],
    };
    [Operating, Acquired, Ipo, Closed][random.weighted(&weights)]
}

fn highest(stages: &[Stage], status: StartupStatus) -> Option<Stage> {
    if status == StartupStatus::Ipo {
        return Some(Stage::Ipo);
    }
    LADDER.iter().rev().copied().find(|stage| stages.contains(stage)).or(stages.last().copied())
}

fn with_amounts(random: &mut Random, stages: &[Stage], days: &[i32]) -> Vec<PlannedRound> {
    let mut largest = 0;
    let mut round_of = |stage: &Stage, day: &i32| {
        let octave = (MIN_AMOUNTS[stage.index()] * 1_000) << random.below(DOUBLINGS[stage.index()]);
        let mut amount = octave + random.below(octave);
        let climbs = !matches!(stage, Stage::Debt | Stage::Grant | Stage::Other);
        if climbs && amount < largest && random.chance(900) {
            amount = largest + largest * random.between(5, 60) / 100;
        }
        // One in eight amounts is exact to the dollar, as if converted from another currency.
        let amount = if random.chance(125) { amount } else { round(amount) };
        if climbs {
            largest = amount;
        }
        PlannedRound { stage: *stage, amount, day: Date::from_days(*day) }
    };
    stages.iter().zip(days).map(|(stage, day)| round_of(stage, day)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_climb_in_stage_date_and_amount() {
        let release = Date::from_days(20_777);
        let mut climbs = 0;
        let mut steps = 0;
        for row in 0..2_000 {
            let path = RoundPath::draw(&mut Random::new(9, RandomStream::Rounds, row), (row % 9) as u32, release);
            assert_eq!(path.rounds.len(), (row % 9) as usize);
            assert!(
                path.rounds
                    .iter()
                    .all(|round| round.day <= release && round.day.year() >= path.founded && round.amount > 0)
            );
            assert!(path.rounds.windows(2).all(|pair| pair[0].day < pair[1].day));
            let has_ipo = path.rounds.iter().any(|round| round.stage == Stage::Ipo);
            assert_eq!(path.status == StartupStatus::Ipo, has_ipo);
            let ladder: Vec<_> = path.rounds.iter().filter(|round| LADDER.contains(&round.stage)).collect();
            assert!(ladder.windows(2).all(|pair| pair[0].stage <= pair[1].stage));
            steps += ladder.len().saturating_sub(1);
            climbs += ladder.windows(2).filter(|pair| pair[0].amount < pair[1].amount).count();
        }
        assert!(climbs * 100 > steps * 90, "{climbs} of {steps}");
    }

    #[test]
    fn even_very_many_rounds_span_only_decades() {
        let path = RoundPath::draw(&mut Random::new(9, RandomStream::Rounds, 0), 200, Date::from_days(20_777));
        assert!(path.founded > 1_950, "{}", path.founded);
    }
}
