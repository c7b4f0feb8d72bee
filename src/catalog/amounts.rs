//! Sums, means and medians of the amounts that a set of rows raised.

use serde::Serialize;

use crate::{Catalog, Filter, RowFilter};
use data::field::model;
use data::{NONE_U32, Table};
use platform::pause;

/// Number of ranges of ranks that are counted.
const RANGES: usize = 512;
/// Maximum number of amounts that are all sorted.
const FEW: usize = 128;

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

/// The amounts of a table.
pub(crate) struct AmountCounter<'a> {
    /// The distinct amounts, ascending.
    amounts: &'a [i64],
    /// The rank of each row's amount; above all others if the amount is unknown.
    ranks: &'a [u32],
}

/// The amounts of a list of rows.
pub(crate) struct RowAmounts<'a> {
    pub counter: &'a AmountCounter<'a>,
    /// For each row of the list its rank.
    pub ranks: Vec<u32>,
}

impl RowAmounts<'_> {
    pub(crate) fn summarize(&self) -> Amounts {
        self.counter.summarize_ranks(&self.ranks)
    }
}

impl<'a> AmountCounter<'a> {
    pub(crate) fn new(amounts: &'a [i64], ranks: &'a [u32]) -> Self {
        Self { amounts, ranks }
    }

    pub(crate) fn of_rows(&self, rows: &[u32]) -> RowAmounts<'_> {
        RowAmounts { counter: self, ranks: rows.iter().map(|row| self.ranks[*row as usize]).collect() }
    }

    /// Summarizes the amounts of all rows.
    pub(crate) fn summarize(&self) -> Amounts {
        self.summarize_ranks(self.ranks)
    }

    pub(crate) fn summarize_rows(&self, rows: impl Iterator<Item = u32>) -> Amounts {
        let ranks: Vec<u32> = rows.map(|row| self.ranks[row as usize]).collect();
        self.summarize_ranks(&ranks)
    }

    /// Summarizes amounts by their ranks: counts them in ranges of ranks, of which then only those with the middle are sorted.
    pub(crate) fn summarize_ranks(&self, ranks: &[u32]) -> Amounts {
        if ranks.len() <= FEW {
            return self.summarize_few(ranks);
        }
        pause::point();
        let width = self.amounts.len() / RANGES + 1;
        let shift = width.next_power_of_two().trailing_zeros();
        let range_of = |rank: u32| ((rank >> shift) as usize).min(RANGES);
        let mut counts = [0_u32; RANGES + 1];
        let (mut sum, mut known, mut max) = (0_u128, 0, 0);
        for rank in ranks {
            if let Some(amount) = self.amounts.get(*rank as usize) {
                counts[range_of(*rank)] += 1;
                sum += u128::from(*amount as u64);
                known += 1;
                max = max.max(*rank);
            }
        }
        let unknown = (ranks.len() - known) as u64;
        let amount = |rank: u32| self.amounts.get(rank as usize).map_or(0, |amount| *amount as u64);
        let [low, high] = self.middle_of(ranks, &counts, known, range_of).map(amount);
        Amounts::new(known, unknown, sum, low.midpoint(high), if known > 0 { amount(max) } else { 0 })
    }

    fn summarize_few(&self, ranks: &[u32]) -> Amounts {
        let mut known: Vec<u64> =
            ranks.iter().filter_map(|rank| self.amounts.get(*rank as usize)).map(|amount| *amount as u64).collect();
        known.sort_unstable();
        let [low, high] = middle(known.len()).map(|place| known.get(place).copied().unwrap_or(0));
        let sum = known.iter().map(|amount| u128::from(*amount)).sum();
        let (unknown, max) = ((ranks.len() - known.len()) as u64, known.last().copied().unwrap_or(0));
        Amounts::new(known.len(), unknown, sum, low.midpoint(high), max)
    }

    /// The middle two of the known ranks; the same rank twice if their number is odd.
    fn middle_of(&self, ranks: &[u32], counts: &[u32], known: usize, range_of: impl Fn(u32) -> usize) -> [u32; 2] {
        let (mut sorted, mut sorted_range) = (Vec::new(), None);
        middle(known).map(|place| {
            let (mut before, mut range) = (0, 0);
            while before + (counts[range] as usize) <= place && range + 1 < counts.len() {
                before += counts[range] as usize;
                range += 1;
            }
            if sorted_range.replace(range) != Some(range) {
                let is_known = |rank: &u32| (*rank as usize) < self.amounts.len();
                sorted = ranks.iter().copied().filter(|rank| range_of(*rank) == range && is_known(rank)).collect();
            }
            let place = place - before;
            if place < sorted.len() { *sorted.select_nth_unstable(place).1 } else { NONE_U32 }
        })
    }
}

/// Indexes of the middle two values of a sorted list; the same index twice if the length is odd.
fn middle(count: usize) -> [usize; 2] {
    [count.saturating_sub(1) / 2, count / 2]
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
            let mut rows = Vec::new();
            rounds.each(|round| rows.push(round));
            self.amount_counter(Table::Rounds).map(|counter| counter.of_rows(&rows).summarize()).unwrap_or_default()
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
        fn amounts_are_summed_up_as_a_sorted_list(
            rows in proptest::collection::vec(proptest::option::weighted(0.8, 0_u64..1_500), 0..200),
            padding in 0_i64..2_000,
        ) {
            let mut distinct: Vec<i64> = rows.iter().flatten().map(|usd| *usd as i64).collect();
            distinct.extend((0..padding).map(|extra| 500 + extra));
            distinct.sort_unstable();
            distinct.dedup();
            let rank = |usd: &Option<u64>| match usd {
                Some(usd) => distinct.binary_search(&(*usd as i64)).unwrap() as u32,
                None => u32::MAX,
            };
            let ranks: Vec<u32> = rows.iter().map(rank).collect();
            let found = AmountCounter::new(&distinct, &ranks).summarize();
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
        let amounts = AmountCounter::new(&[i64::MAX], &[0, 0, 0]).summarize();
        assert_eq!((amounts.known, amounts.sum_usd, amounts.max_usd), (3, Some(u64::MAX), Some(i64::MAX as u64)));
        assert_eq!(AmountCounter::new(&[], &[]).summarize(), Amounts::default());
    }
}
