//! Groups the rows of a query by a property. Of few rows, the values are read and sorted: the cost grows with the rows
//! found. Of many, the rows of each value are intersected with them: the cost grows with the table.

use crate::aggregate::GroupBy;
use crate::param_error::search_warnings;
use crate::{Catalog, ParameterError, Query, RowFilter};
use data::archive::facet_column::{Bits, RowSet, RowValues, bit_words};
use data::{Direction, Facet, NONE_U32, PartialDate, Snapshot, Table};
use platform::pause;

/// A query finds few rows if it finds at most one row in this many of the table.
const FEW: u32 = 8;
/// Number of bits sorted by at a time.
const DIGIT: u32 = 11;

/// The rows of a query. For [`MatchedRows::Few`], groups and bits refer to a row by its index in the list.
#[derive(Debug)]
pub enum MatchedRows {
    All,
    /// Rows, ascending.
    Few(Vec<u32>),
    /// A bit for each row of the table.
    Many(Vec<u64>),
}

pub(crate) struct ValueRows<'a> {
    pub value: u32,
    /// Number of these rows that the query found, at least 1.
    pub count: u64,
    /// The rows in any order; for [`MatchedRows::Many`] also those that the query did not find.
    pub rows: RowSet<'a>,
}

/// A property of the rows of a table. Each group of a sort key is a range of its values.
#[derive(Clone, Copy)]
pub(crate) enum GroupColumn<'a> {
    Facet { snapshot: &'a Snapshot, table: Table, facet: Facet },
    Key { snapshot: &'a Snapshot, table: Table, key: usize, group_of: fn(i64) -> Option<u32> },
}

impl Catalog {
    /// Finds the rows that match a query, with notes on the matches of a search.
    pub fn rows_of(&self, query: &Query) -> (MatchedRows, Vec<ParameterError>) {
        pause::point();
        let table_rows = self.snapshot().rows(query.table);
        let few = (table_rows / FEW) as usize;
        let filter = RowFilter::new(self, query.table, &query.filters);
        if let Some(text) = &query.text {
            let matches = self.all_matches(query.table, text);
            let mut rows: Vec<u32> = matches.rows.iter().copied().filter(|row| filter.contains(*row)).collect();
            let notes = if rows.is_empty() { Vec::new() } else { search_warnings(&matches.found) };
            if rows.len() > few {
                let mut bits = vec![0; bit_words(table_rows)];
                rows.iter().for_each(|row| bits[*row as usize / 64] |= 1 << (row % 64));
                return (MatchedRows::Many(bits), notes);
            }
            rows.sort_unstable();
            return (MatchedRows::Few(rows), notes);
        }
        if filter.is_everything() {
            return (MatchedRows::All, Vec::new());
        }
        let rows = filter.list_or_bits(few).map_or_else(MatchedRows::Many, MatchedRows::Few);
        // The list of the same rows needs this count.
        self.cached.counts.get_or_insert_with((query.table, query.filters.clone()), || rows.count(table_rows));
        (rows, Vec::new())
    }
}

impl MatchedRows {
    /// Number of rows that groups and bits refer to.
    pub(crate) fn domain(&self, table_rows: u32) -> u32 {
        match self {
            Self::All | Self::Many(_) => table_rows,
            Self::Few(rows) => rows.len() as u32,
        }
    }

    pub fn count(&self, table_rows: u32) -> u64 {
        match self {
            Self::All => u64::from(table_rows),
            Self::Few(rows) => rows.len() as u64,
            Self::Many(bits) => RowSet::Dense(bits).count(),
        }
    }

    pub(crate) fn bits(&self, table_rows: u32) -> Vec<u64> {
        if let Self::Many(bits) = self {
            return bits.clone();
        }
        let rows = self.domain(table_rows);
        let mut bits = vec![u64::MAX; bit_words(rows)];
        if let Some(last) = bits.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last = (1 << (rows % 64)) - 1;
        }
        bits
    }
}

impl<'a> GroupColumn<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, table: Table, by: GroupBy) -> Self {
        let of_key = |key, group_of| Self::Key { snapshot, table, key, group_of };
        match by {
            GroupBy::Facet(facet) => Self::Facet { snapshot, table, facet },
            GroupBy::Year(key) => of_key(key, |code| Some(PartialDate::from_code(code as i32).year() as u32)),
            GroupBy::Quarter(key) => of_key(key, quarter),
            GroupBy::Number(key) => of_key(key, |number| Some(number as u32)),
        }
    }

    /// The non-empty groups, in the order of values. For few rows, fills `places` with their list indexes by group.
    pub(crate) fn groups<'g>(self, rows: &MatchedRows, places: &'g mut Vec<u32>) -> Vec<ValueRows<'g>>
    where
        'a: 'g,
    {
        match rows {
            MatchedRows::Few(rows) => {
                let pairs = self.sorted_places(rows);
                places.extend(pairs.iter().map(|(_, place)| *place));
                let mut rest = places.as_slice();
                let group = pairs.chunk_by(|(value, _), (other, _)| value == other).map(|pairs| {
                    let (rows, after) = rest.split_at(pairs.len());
                    rest = after;
                    ValueRows { value: pairs[0].0, count: pairs.len() as u64, rows: RowSet::Sparse(rows) }
                });
                group.collect()
            }
            MatchedRows::All => self.sets(),
            MatchedRows::Many(bits) => {
                let mut sets = self.sets();
                sets.iter_mut().for_each(|group| group.count = common_count(group.rows, bits));
                sets.retain(|group| group.count > 0);
                sets
            }
        }
    }

    /// Pairs each value with the list index of its row, ordered by value and index.
    fn sorted_places(self, rows: &[u32]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::with_capacity(rows.len());
        match self {
            Self::Facet { snapshot, table, facet } => {
                let values: RowValues<'_> = snapshot.row_values(table, facet);
                for (place, row) in (0..).zip(rows) {
                    pairs.extend(values.of(*row).iter().map(|value| (*value, place)));
                }
            }
            Self::Key { snapshot, table, key, group_of } => {
                let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
                let group = |row: u32| values.get(ranks[row as usize] as usize).and_then(|value| group_of(*value));
                pairs.extend((0..).zip(rows).filter_map(|(place, row)| Some((group(*row)?, place))));
            }
        }
        sort_by_value(&mut pairs);
        pairs
    }

    /// Returns the rows of each value that any row has, in the order of values.
    fn sets(self) -> Vec<ValueRows<'a>> {
        let (snapshot, table, key, group_of) = match self {
            Self::Facet { snapshot, table, facet } => {
                let set = |value| ValueRows {
                    value,
                    count: u64::from(snapshot.facet_count(table, facet, value)),
                    rows: snapshot.facet_rows(table, facet, value),
                };
                return (0..snapshot.facet_values(table, facet)).map(set).filter(|set| set.count > 0).collect();
            }
            Self::Key { snapshot, table, key, group_of } => (snapshot, table, key, group_of),
        };
        let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let order = snapshot.order(table, key, Direction::Ascending);
        let end_of = |rank: usize| order.partition_point(|row| (ranks[*row as usize] as usize) < rank);
        let mut groups = Vec::new();
        let (mut first, mut start) = (0, 0);
        while let Some(group) = values.get(first).map(|value| group_of(*value)) {
            // A date with only a known year sorts before the quarters of its year and belongs to none of them.
            let is_of_group = |other: &i64| group_of(*other).is_some_and(|other| Some(other) <= group);
            let next = (first + values[first..].partition_point(is_of_group)).max(first + 1);
            let rows = &order[start..end_of(next)];
            (first, start) = (next, start + rows.len());
            let group = group.filter(|_| !rows.is_empty());
            groups.extend(group.map(|value| ValueRows { value, count: rows.len() as u64, rows: RowSet::Sparse(rows) }));
        }
        groups
    }

    /// Returns a bit for each row with a known property; `groups` are all groups of `rows`.
    pub(crate) fn known(self, rows: &MatchedRows, groups: &[ValueRows<'_>]) -> Vec<u64> {
        match (self, rows) {
            (_, MatchedRows::Few(rows)) => {
                let mut bits = vec![0; bit_words(rows.len() as u32)];
                let places = groups.iter().flat_map(|group| group.rows.iter());
                places.for_each(|place| bits[place as usize / 64] |= 1 << (place % 64));
                bits
            }
            (Self::Facet { snapshot, table, facet }, _) => match snapshot.known_rows(table, facet) {
                RowSet::Dense(words) => words.to_vec(),
                RowSet::Sparse(_) => vec![0; bit_words(snapshot.rows(table))],
            },
            (Self::Key { snapshot, table, key, group_of }, _) => {
                let word = |ranks: &[u32]| {
                    ranks.iter().enumerate().fold(0, |word, (bit, rank)| word | u64::from(*rank != NONE_U32) << bit)
                };
                let mut bits: Vec<u64> = snapshot.ranks(table, key).chunks(64).map(word).collect();
                // Rows with a date known only to the year are in no quarter.
                let values = (0..).zip(snapshot.values(table, key)).filter(|(_, value)| group_of(**value).is_none());
                values.for_each(|(rank, _)| {
                    remove(&mut bits, RowSet::Sparse(snapshot.rows_of_ranks(table, key, rank..rank + 1)));
                });
                bits
            }
        }
    }
}

/// Four times the year plus the quarter, from 0, for the code of a date; `None` if only the year is known.
fn quarter(code: i64) -> Option<u32> {
    let date = PartialDate::from_code(code as i32);
    Some(date.year() as u32 * 4 + u32::from(date.quarter()?) - 1)
}

/// Sorts pairs by their first number, stably. A pass for each digit costs less than comparisons.
fn sort_by_value(pairs: &mut Vec<(u32, u32)>) {
    let max = pairs.iter().map(|(value, _)| *value).max().unwrap_or(0);
    let mut sorted = vec![(0, 0); pairs.len()];
    for shift in (0..u32::BITS).step_by(DIGIT as usize).take_while(|shift| max >> shift > 0) {
        let digit = |value: u32| (value >> shift) as usize % (1 << DIGIT);
        let mut next = [0_usize; 1 << DIGIT];
        pairs.iter().for_each(|(value, _)| next[digit(*value)] += 1);
        let mut start = 0;
        next.iter_mut().for_each(|count| (*count, start) = (start, start + *count));
        for pair in &*pairs {
            let place = &mut next[digit(pair.0)];
            sorted[*place] = *pair;
            *place += 1;
        }
        std::mem::swap(pairs, &mut sorted);
    }
}

pub(crate) fn common_count(set: RowSet<'_>, bits: &[u64]) -> u64 {
    match set {
        RowSet::Dense(words) => words.iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
        RowSet::Sparse(rows) => rows.iter().filter(|row| RowSet::Dense(bits).contains(**row)).count() as u64,
    }
}

pub(crate) fn each_common<'b>(words: &'b [u64], bits: &'b [u64]) -> impl Iterator<Item = u32> + 'b {
    words.iter().zip(bits).enumerate().flat_map(|(index, (a, b))| Bits(a & b).map(move |bit| index as u32 * 64 + bit))
}

pub(crate) fn remove(bits: &mut [u64], rows: RowSet<'_>) {
    match rows {
        RowSet::Dense(words) => bits.iter_mut().zip(words).for_each(|(bits, word)| *bits &= !word),
        RowSet::Sparse(rows) => rows.iter().for_each(|row| bits[*row as usize / 64] &= !(1 << (row % 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_filter::RowLimits;
    use crate::{Filter, bundled};
    use proptest::prelude::*;

    #[test]
    fn the_rows_of_a_filter_are_the_same_as_a_list_and_as_bits() {
        let catalog = bundled().unwrap();
        let (snapshot, table) = (catalog.snapshot(), Table::Startups);
        for facet in table.facets() {
            for value in 0..snapshot.facet_values(table, *facet).min(40) {
                let filters = [Filter::AnyOf(*facet, vec![value, value / 2])];
                let limits = RowLimits { merged: 128, ..RowLimits::DEFAULT };
                let filter = RowFilter::with_limits(&catalog, table, &filters, limits);
                let expected: Vec<u32> = (0..snapshot.rows(table)).filter(|row| filter.contains(*row)).collect();
                assert_eq!(filter.list_or_bits(expected.len()).unwrap(), expected);
                if let Some(max) = expected.len().checked_sub(1) {
                    assert!(RowSet::Dense(&filter.list_or_bits(max).unwrap_err()).iter().eq(expected));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn pairs_are_sorted_by_value_and_keep_their_order(
            values in proptest::collection::vec((any::<u32>(), 0_u32..32), 0..300),
        ) {
            let values = values.into_iter().map(|(value, shift)| value >> shift);
            let mut pairs: Vec<(u32, u32)> = values.zip(0..).collect();
            let mut expected = pairs.clone();
            expected.sort_unstable();
            sort_by_value(&mut pairs);
            prop_assert_eq!(pairs, expected);
        }
    }
}
