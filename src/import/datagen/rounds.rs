//! Rounds of one startup, with climbing stages, amounts and dates.

use crate::datagen::firms::round;
use crate::datagen::random::Random;
use data::vocabulary::Vocabulary;
use data::{Date, Stage, StartupStatus};

/// A round before its investors are known.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRound {
    pub(crate) stage: Stage,
    pub(crate) amount: u64,
    pub(crate) day: Date,
}

#[derive(Clone, Debug)]
pub(crate) struct RoundPath {
    pub(crate) rounds: Vec<PlannedRound>,
    pub(crate) status: StartupStatus,
    pub(crate) founded: i32,
    /// The highest stage reached; `None` before the first round.
    pub(crate) stage: Option<Stage>,
}

const LADDER: [Stage; 7] =
    [Stage::PreSeed, Stage::Seed, Stage::SeriesA, Stage::SeriesB, Stage::SeriesC, Stage::SeriesDPlus, Stage::Growth];

/// Usual amounts at each stage of `Stage::ALL`: the minimum in thousands of dollars, and the number of times it may double.
const AMOUNTS: [(u64, u64); 11] = [
    (60, 4),
    (400, 4),
    (2_500, 3),
    (9_000, 3),
    (22_000, 3),
    (50_000, 3),
    (40_000, 4),
    (300, 6),
    (25, 6),
    (60_000, 4),
    (80, 6),
];

impl RoundPath {
    /// Draws the `count` rounds of a startup, none later than `release`.
    pub(crate) fn draw(random: &mut Random, count: u32, release: Date) -> Self {
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
        let (min, doublings) = AMOUNTS[stage.index()];
        let octave = (min * 1_000) << random.below(doublings);
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
    use crate::datagen::random::RandomStream;

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
