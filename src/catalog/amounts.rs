//! Sums, means and medians of the amounts that a set of rows raised.

use std::borrow::Cow;

use serde::Serialize;

use crate::{Catalog, Filter, RowFilter};
use data::Table;
use data::field::model;
use platform::pause;

model! {
    /// Known amounts, US dollars. All but the counts are `null` if no amount is known.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Amounts {
        /// Number of records of known amount.
        pub known: u64,
        /// Number of records of unknown amount, which the other values leave out.
        pub unknown: u64,
        /// Sum of the known amounts.
        pub sum_usd: Option<u64>,
        /// Median of the known amounts: of an even number the mean of the middle two, rounded down.
        pub median_usd: Option<u64>,
        /// Mean of the known amounts, rounded to whole dollars.
        pub mean_usd: Option<u64>,
        /// Largest known amount.
        pub max_usd: Option<u64>,
    }
}

/// Summarizes amounts given as ranks among the distinct amounts of a table; its buffers are reused.
pub(crate) struct AmountCounter<'a> {
    /// The distinct amounts, ascending.
    amounts: &'a [i64],
    /// The rank of each row's amount; above all others if the amount is unknown.
    ranks: Cow<'a, [u32]>,
    counts: Vec<u32>,
    few: Vec<u32>,
}

impl<'a> AmountCounter<'a> {
    pub(crate) fn new(amounts: &'a [i64], ranks: &'a [u32]) -> Self {
        Self { amounts, ranks: ranks.into(), counts: Vec::new(), few: Vec::new() }
    }

    /// Limits the counter to a list of rows, which are then referred to by their index in it.
    pub(crate) fn among(self, rows: &[u32]) -> Self {
        let ranks = rows.iter().map(|row| self.ranks[*row as usize]).collect();
        Self { ranks, ..self }
    }

    /// Summarizes the amounts of `count` rows: counts those of each amount if they are many, else selects the middle ones.
    pub(crate) fn summarize(&mut self, rows: impl Iterator<Item = u32>, count: u64) -> Amounts {
        pause::point();
        self.few.clear();
        let ranks = &*self.ranks;
        if count < self.amounts.len() as u64 / 4 {
            self.few.extend(rows.map(|row| ranks[row as usize]));
            let all = self.few.len();
            self.few.retain(|rank| (*rank as usize) < self.amounts.len());
            let unknown = (all - self.few.len()) as u64;
            let amount = |rank: u32| self.amounts[rank as usize] as u64;
            let sum = self.few.iter().map(|rank| u128::from(amount(*rank))).sum();
            let max = self.few.iter().copied().max().map_or(0, amount);
            let [low, high] = middle_of(&mut self.few).map_or([0; 2], |ranks| ranks.map(amount));
            return Amounts::new(self.few.len(), unknown, sum, low.midpoint(high), max);
        }
        self.counts.clear();
        self.counts.resize(self.amounts.len() + 1, 0);
        let last = self.amounts.len();
        rows.for_each(|row| self.counts[(ranks[row as usize] as usize).min(last)] += 1);
        let unknown = u64::from(self.counts[last]);
        let known = count.saturating_sub(unknown) as usize;
        let places = middle(known);
        let (mut before, mut sum, mut max, mut at_places) = (0, 0, 0, [0; 2]);
        for (amount, count) in self.amounts.iter().zip(&self.counts).filter(|(_, count)| **count > 0) {
            let (amount, through) = (*amount as u64, before + *count as usize);
            sum += u128::from(amount) * u128::from(*count);
            for (found, place) in at_places.iter_mut().zip(places) {
                if (before..through).contains(&place) {
                    *found = amount;
                }
            }
            (before, max) = (through, amount);
        }
        let [low, high] = at_places;
        Amounts::new(known, unknown, sum, low.midpoint(high), max)
    }
}

/// Indexes of the middle two values of a sorted list; the same index twice if the length is odd.
fn middle(count: usize) -> [usize; 2] {
    [count.saturating_sub(1) / 2, count / 2]
}

/// The middle two ranks of an unsorted list; the same rank twice if the length is odd.
fn middle_of(ranks: &mut [u32]) -> Option<[u32; 2]> {
    let [low, high] = middle(ranks.len());
    // Startups are already in this order.
    if ranks.is_sorted_by(|a, b| a >= b) {
        return Some([*ranks.get(high)?, *ranks.get(low)?]);
    }
    let (below, high_rank, _) = ranks.select_nth_unstable(high);
    let low_rank = if low == high { *high_rank } else { below.iter().copied().max()? };
    Some([low_rank, *high_rank])
}

impl Amounts {
    fn new(known: usize, unknown: u64, sum: u128, median: u64, max: u64) -> Self {
        if known == 0 {
            return Self { unknown, ..Self::default() };
        }
        Self {
            known: known as u64,
            unknown,
            sum_usd: Some(u64::try_from(sum).unwrap_or(u64::MAX)),
            median_usd: Some(median),
            mean_usd: Some(((sum + known as u128 / 2) / known as u128) as u64),
            max_usd: Some(max),
        }
    }
}

/// The field with the amounts of a table's records.
pub(crate) fn amount_field(table: Table) -> Option<&'static str> {
    match table {
        Table::Rounds => Some("amount_usd"),
        Table::Startups => Some("total_raised_usd"),
        _ => None,
    }
}

impl Catalog {
    /// Summarizes the amounts of the rounds that match all filters; cached for the life of the release.
    pub fn amounts(&self, filters: &[Filter]) -> Amounts {
        self.cached.amounts.get_or_insert_with(filters.to_vec(), || {
            let rounds = RowFilter::new(self, Table::Rounds, filters);
            let counter = self.amount_counter(Table::Rounds);
            counter.map(|mut counter| counter.summarize(rounds.rows_from(0), rounds.count())).unwrap_or_default()
        })
    }

    pub(crate) fn amount_counter(&self, table: Table) -> Option<AmountCounter<'_>> {
        let key = table.sort_key(amount_field(table)?);
        Some(AmountCounter::new(self.snapshot().values(table, key), self.snapshot().ranks(table, key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_and_many_rows_are_summed_up_alike(
            rows in proptest::collection::vec(proptest::option::weighted(0.8, 0_u64..50), 0..200),
            padding in 0_i64..2_000,
        ) {
            let mut distinct: Vec<i64> = rows.iter().flatten().map(|usd| *usd as i64).collect();
            distinct.extend((0..padding).map(|extra| 1_000 + extra));
            distinct.sort_unstable();
            distinct.dedup();
            let rank = |usd: &Option<u64>| match usd {
                Some(usd) => distinct.binary_search(&(*usd as i64)).unwrap() as u32,
                None => u32::MAX,
            };
            let ranks: Vec<u32> = rows.iter().map(rank).collect();
            let found = AmountCounter::new(&distinct, &ranks).summarize(0..rows.len() as u32, rows.len() as u64);
            let mut known: Vec<u64> = rows.iter().flatten().copied().collect();
            known.sort_unstable();
            let count = known.len() as u64;
            let sum: u64 = known.iter().sum();
            let mean = (sum + count / 2).checked_div(count);
            prop_assert_eq!((found.known, found.unknown), (count, rows.len() as u64 - count));
            if count > 0 {
                let middle = (known[(known.len() - 1) / 2] + known[known.len() / 2]) / 2;
                prop_assert_eq!(found.median_usd, Some(middle));
                prop_assert_eq!((found.sum_usd, found.mean_usd), (Some(sum), mean));
                prop_assert_eq!(found.max_usd, known.last().copied());
            } else {
                prop_assert_eq!((found.sum_usd, found.median_usd, found.max_usd), (None, None, None));
            }
        }
    }
    #[test]
    fn a_sum_beyond_the_range_is_the_largest_number() {
        let amounts = AmountCounter::new(&[i64::MAX], &[0, 0, 0]).summarize(0..3, 3);
        assert_eq!((amounts.known, amounts.sum_usd, amounts.max_usd), (3, Some(u64::MAX), Some(i64::MAX as u64)));
        assert_eq!(AmountCounter::new(&[], &[]).summarize(0..0, 0), Amounts::default());
    }
}
