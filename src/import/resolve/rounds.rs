//! Joins rounds of one startup that several sources report. Otherwise the startup would have raised each of them twice.

use std::collections::{BTreeMap, HashSet};

use crate::sources::EntityId;
use data::vocabulary::Vocabulary as _;
use data::{PartialDate, Stage};

/// Tolerance, because sources date a round by its filing, its closing or its announcement.
const MAX_DAYS_APART: i32 = 14;

/// Tolerance as a share of the larger amount: sources round amounts, or convert them at the rate of another day.
const MAX_DIFFERENCE: f64 = 0.1;

/// A round as one source describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRound {
    /// Such as `sec-form-d/round:…`.
    pub id: String,
    pub source: u32,
    /// Id of the startup's record.
    pub startup: String,
    pub stage: Option<Stage>,
    pub announced_on: Option<PartialDate>,
    pub amount_usd: Option<u64>,
}

/// A round as its statements say, with references to entities of its source.
#[derive(Default)]
pub(super) struct RoundStatements {
    pub round: SourceRound,
    pub startup: Option<EntityId>,
    pub investors: Vec<EntityId>,
    /// Last field. The first value counts for a field that takes one value, as in the view.
    field: String,
}

impl RoundStatements {
    pub(super) fn new(id: String, source: u32) -> Self {
        Self { round: SourceRound { id, source, ..SourceRound::default() }, ..Self::default() }
    }

    pub(super) fn add(&mut self, field: String, value: &str) {
        let is_first = self.field != field;
        self.field = field;
        match self.field.as_str() {
            "investors" | "lead_investors" => self.investors.extend(value.parse::<EntityId>()),
            _ if !is_first => {}
            "startup" => self.startup = value.parse().ok(),
            "announced_on" => self.round.announced_on = value.parse().ok(),
            "amount_usd" => self.round.amount_usd = value.parse().ok(),
            "stage" => self.round.stage = Stage::read(value),
            _ => {}
        }
    }
}

impl SourceRound {
    /// Distance of two rounds: whether an amount is missing, whether the stages differ, the days between them, and the
    /// difference of the amounts in thousandths. `None` if they are different.
    fn distance(&self, other: &Self) -> Option<(bool, bool, i32, u64)> {
        if self.source == other.source {
            return None;
        }
        let (date, other_date) = (self.announced_on?, other.announced_on?);
        let (first, second) =
            if date.first_day() <= other_date.first_day() { (date, other_date) } else { (other_date, date) };
        let days = (second.first_day().days() - first.last_day().days()).max(0);
        let has_one_stage = self.stage.is_some() && self.stage == other.stage;
        let may_be_one_stage =
            has_one_stage || [self.stage, other.stage].iter().any(|stage| matches!(stage, None | Some(Stage::Other)));
        let amounts = self.amount_usd.zip(other.amount_usd);
        let is_near =
            |(left, right): (u64, u64)| left.abs_diff(right) as f64 <= MAX_DIFFERENCE * left.max(right) as f64;
        // Without both amounts, the stages must be equal.
        let is_one = amounts.map_or(has_one_stage, is_near) && may_be_one_stage && days <= MAX_DAYS_APART;
        let thousandths =
            |(left, right): (u64, u64)| left.abs_diff(right).saturating_mul(1_000) / left.max(right).max(1);
        is_one.then_some((amounts.is_none(), !has_one_stage, days, amounts.map_or(0, thousandths)))
    }
}

/// Groups reports of the same round, by index, at most one of each source. Startups are equal by their clusters.
pub(super) fn cluster_rounds(rounds: &[SourceRound], cluster_of: impl Fn(&str) -> Option<u32>) -> Vec<Vec<usize>> {
    let mut by_startup: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, round) in rounds.iter().enumerate() {
        if let Some(startup) = cluster_of(&round.startup) {
            by_startup.entry(startup).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for own in by_startup.values() {
        let mut pairs = Vec::new();
        for (at, left) in own.iter().enumerate() {
            for right in &own[at + 1..] {
                let distance = rounds[*left].distance(&rounds[*right]);
                let (first, second) = if rounds[*left].id < rounds[*right].id { (left, right) } else { (right, left) };
                pairs.extend(
                    distance.map(|distance| (distance, &rounds[*first].id, &rounds[*second].id, *first, *second)),
                );
            }
        }
        pairs.sort_unstable();
        let mut groups: Vec<Vec<usize>> = own.iter().map(|index| vec![*index]).collect();
        for (.., left, right) in pairs {
            let group_of = |round: usize| groups.iter().position(|group| group.contains(&round));
            let (Some(left), Some(right)) = (group_of(left), group_of(right)) else { continue };
            let sources: HashSet<u32> = groups[left].iter().map(|round| rounds[*round].source).collect();
            let is_free = groups[right].iter().all(|round| !sources.contains(&rounds[*round].source));
            if left != right && is_free {
                let moved = std::mem::take(&mut groups[right]);
                groups[left].extend(moved);
            }
        }
        found.extend(groups.into_iter().filter(|group| group.len() > 1));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(id: &str, source: u32, on: &str, amount_usd: Option<u64>, stage: Option<Stage>) -> SourceRound {
        SourceRound {
            id: id.to_owned(),
            source,
            startup: "s".to_owned(),
            stage,
            announced_on: on.parse().ok(),
            amount_usd,
        }
    }

    #[test]
    fn a_round_that_two_sources_report_is_one() {
        let seed = Some(Stage::Seed);
        let first = || round("a/round:1", 0, "2024-05-17", Some(1_000_000), seed);
        for (other, is_one) in [
            (round("b/round:1", 1, "2024-05-24", Some(1_080_000), seed), true),
            (round("b/round:1", 1, "2024-05", Some(1_000_000), None), true),
            (round("b/round:1", 1, "2024-05-17", None, seed), true),
            (round("b/round:1", 1, "2024-05-17", None, None), false),
            (round("b/round:1", 1, "2024-05-17", Some(1_000_000), Some(Stage::Debt)), false),
            (round("b/round:1", 1, "2024-05-17", Some(1_150_000), seed), false),
            (round("b/round:1", 1, "2024-06-17", Some(1_000_000), seed), false),
            (round("b/round:1", 1, "", Some(1_000_000), seed), false),
            (round("a/round:2", 0, "2024-05-17", Some(1_000_000), seed), false),
        ] {
            let rounds = [first(), other];
            assert_eq!(!cluster_rounds(&rounds, |_| Some(0)).is_empty(), is_one, "{:?}", rounds[1]);
            assert!(cluster_rounds(&rounds, |_| None).is_empty(), "of two startups");
        }
        // Only the nearest round of a source is joined.
        let rounds = [
            first(),
            round("b/round:1", 1, "2024-05-25", Some(1_000_000), seed),
            round("b/round:2", 1, "2024-05-18", Some(1_000_000), seed),
        ];
        assert_eq!(cluster_rounds(&rounds, |_| Some(0)), [[0, 2]]);
        // A round of the same stage is nearer than one of an unknown stage, and of these the one with the nearest amount.
        let other = Some(Stage::Other);
        let rounds = [
            first(),
            round("a/round:2", 0, "2024-05-17", Some(970_000), other),
            round("b/round:1", 1, "2024-05-17", Some(980_000), other),
            round("b/round:2", 1, "2024-05-18", Some(1_050_000), seed),
            round("b/round:3", 1, "2024-05-18", Some(1_010_000), seed),
        ];
        assert_eq!(cluster_rounds(&rounds, |_| Some(0)), [[0, 4], [1, 2]]);
    }
}
