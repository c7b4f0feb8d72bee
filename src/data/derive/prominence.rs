//! Prominence: the rank of a record's activity among its kind, from 0 to 1.
//!
//! A measure ranks the `n` records with a known value, the highest first; equal records share the mean of their ranks.
//! The value at rank `r` is `ln(n / r) / ln(n)`, and 0 for a measure of 0. As a share, it is comparable between kinds.
//!
//! | kind | measures |
//! |---|---|
//! | firm | rounds joined, approved reviews |
//! | startup | money raised, rounds |
//! | person | prominence of the organization, and number of records of this name (roles) |
//! | sector | firms, startups |
//!
//! For a firm, startup or sector, the larger of its two values counts; unknown money is not estimated. For a person,
//! the two are added, because every role is one more. The result is ranked by the same formula, in units of 1 /
//! [`MAX_PROMINENCE`].

use std::collections::HashMap;

use crate::OrganizationKind;
use crate::derive::score::FirmScore;
use crate::derive::{FirmStats, SectorStats, StartupStats};
use crate::fold::fold;
use crate::import::Dataset;
use crate::names::MAX_PROMINENCE;

pub(crate) struct Prominence {
    pub firms: Vec<u32>,
    pub startups: Vec<u32>,
    pub people: Vec<u32>,
    pub sectors: Vec<u32>,
}

impl Prominence {
    pub(crate) fn compute(
        dataset: &Dataset,
        assessments: &[FirmScore],
        firms: &[FirmStats],
        startups: &[StartupStats],
        sectors: &[SectorStats],
    ) -> Self {
        let investments = counts(firms, |stats| stats.investment_count);
        let of_firms = larger(investments, counts(assessments, |assessed| assessed.score.review_count));
        #[expect(clippy::cast_precision_loss, reason = "amounts are only compared")]
        let raised = values(startups.iter().map(|stats| stats.total_raised_usd.map(|usd| usd as f64)));
        let of_startups = larger(raised, counts(startups, |stats| stats.round_count));
        let of_sectors = larger(counts(sectors, |stats| stats.vc_count), counts(sectors, |stats| stats.startup_count));
        let (firms, startups) = (ranked(of_firms), ranked(of_startups));
        let people = ranked(of_people(dataset, &firms, &startups));
        Self { firms, startups, people, sectors: ranked(of_sectors) }
    }
}

fn of_people(dataset: &Dataset, firms: &[u32], startups: &[u32]) -> Vec<f64> {
    let organizations = values(dataset.people.iter().map(|person| {
        let of_kind = match person.organization_kind {
            OrganizationKind::Firm => firms,
            OrganizationKind::Startup => startups,
        };
        Some(f64::from(of_kind[person.organization as usize]))
    }));
    let key = |name: &String| Some(fold(name)).filter(|folded| !folded.is_empty()).unwrap_or_else(|| name.clone());
    let names: Vec<String> = dataset.people.iter().map(|person| key(&person.name)).collect();
    let mut roles: HashMap<&str, u32> = HashMap::new();
    names.iter().for_each(|name| *roles.entry(name).or_default() += 1);
    let roles = values(names.iter().map(|name| Some(f64::from(roles[name.as_str()]))));
    organizations.into_iter().zip(roles).map(|(organization, roles)| organization + roles).collect()
}

fn counts<T>(rows: &[T], count: impl Fn(&T) -> u32) -> Vec<f64> {
    values(rows.iter().map(|row| Some(f64::from(count(row)))))
}

fn larger(one: Vec<f64>, other: Vec<f64>) -> Vec<f64> {
    one.into_iter().zip(other).map(|(one, other)| one.max(other)).collect()
}

/// Value of each record by a measure; 0 if the measure is 0 or unknown.
fn values(measure: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let measure: Vec<Option<f64>> = measure.collect();
    let mut known: Vec<(f64, usize)> =
        measure.iter().enumerate().filter_map(|(row, value)| Some(((*value)?, row))).collect();
    known.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2³² rows")]
    let (count, rank_of) = (known.len() as f64, |ahead: usize, equal: usize| ahead as f64 + (equal as f64 + 1.0) / 2.0);
    let mut values = vec![0.0; measure.len()];
    let mut ahead = 0;
    for equal in known.chunk_by(|left, right| left.0 == right.0) {
        let rank = rank_of(ahead, equal.len());
        let value = if count > 1.0 { (count / rank).ln() / count.ln() } else { 1.0 };
        equal.iter().filter(|(measured, _)| *measured > 0.0).for_each(|(_, row)| values[*row] = value);
        ahead += equal.len();
    }
    values
}

/// Ranks values again, in the unit that prominence is stored in.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are from 0 to 1")]
fn ranked(of: Vec<f64>) -> Vec<u32> {
    let values = values(of.into_iter().map(Some));
    values.into_iter().map(|value| (value * f64::from(MAX_PROMINENCE)).round() as u32).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_is_the_logarithm_of_the_share_that_is_as_high() {
        let measure: Vec<Option<f64>> = (0..100).map(|row| Some(f64::from(row))).collect();
        let values = values(measure.into_iter());
        assert_eq!(values[99], 1.0);
        assert!((values[90] - 0.5).abs() < 1e-12, "ten of a hundred are as high: {}", values[90]);
        assert!(values[50] < 0.16 && values[1] < 0.003 && values[0] == 0.0, "{values:?}");
    }

    #[test]
    fn equal_records_share_the_mean_of_their_ranks() {
        let values = values([4.0, 2.0, 2.0, 2.0, 1.0].into_iter().map(Some));
        let expected = (5.0_f64 / 3.0).ln() / 5.0_f64.ln();
        assert!(values[1..4].iter().all(|value| (value - expected).abs() < 1e-12), "{values:?}");
    }

    #[test]
    fn what_is_not_known_is_not_compared() {
        let known = values([9.0, 7.0, 5.0].into_iter().map(Some));
        let with_unknown = values([Some(9.0), None, Some(7.0), None, Some(5.0), None].into_iter());
        assert_eq!(with_unknown, [known[0], 0.0, known[1], 0.0, known[2], 0.0]);
        assert_eq!(values([Some(3.0)].into_iter()), [1.0]);
        assert_eq!(values([None].into_iter()), [0.0]);
        assert_eq!(larger(vec![0.0, 0.4], vec![0.3, 0.0]), [0.3, 0.4]);
    }

    proptest! {
        #[test]
        fn a_higher_measure_never_has_a_lower_value(measure in prop::collection::vec(prop::option::of(0_u16..50), 1..60)) {
            let values = values(measure.iter().map(|value| value.map(f64::from)));
            for (left, one) in measure.iter().zip(&values) {
                prop_assert!((0.0..=1.0).contains(one));
                for (right, other) in measure.iter().zip(&values).filter(|(right, _)| left.is_some() && right.is_some()) {
                    prop_assert_eq!(left.cmp(right), one.total_cmp(other));
                }
            }
            let stored = ranked(values.clone());
            for (index, one) in values.iter().enumerate() {
                for (other_index, other) in values.iter().enumerate() {
                    prop_assert!(one < other || stored[index] >= stored[other_index]);
                }
            }
        }
    }
}
