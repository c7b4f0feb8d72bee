//! The rows of a query, and the values of a property that groups them.

use std::ops::Range;

use crate::aggregate::GroupBy;
use crate::param_error::search_warnings;
use crate::row_filter::distinct;
use crate::{Catalog, ParameterError, Query, RowFilter};
use data::archive::facet_column::{Bits, RowSet, RowValues, bit_words};
use data::{Direction, Facet, NONE_U32, PartialDate, Snapshot, Table};
use platform::pause;

/// A query finds few rows if it finds at most one row in this many of the table.
const FEW: u32 = 8;
/// Values are counted in an array of all values, unless there are more than this many for each row.
const SPARSE: usize = 32;

/// The rows of a query.
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
    /// The rows in any order, also those that the query did not find.
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
    pub fn count(&self, table_rows: u32) -> u64 {
        match self {
            Self::All => u64::from(table_rows),
            Self::Few(rows) => rows.len() as u64,
            Self::Many(bits) => RowSet::Dense(bits).count(),
        }
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

    pub(crate) fn table_rows(self) -> u32 {
        match self {
            Self::Facet { snapshot, table, .. } | Self::Key { snapshot, table, .. } => snapshot.rows(table),
        }
    }

    /// Calls `each` with the groups of each row, and returns the value of each group, ascending: some may have no row.
    pub(crate) fn read(self, rows: &[u32], mut each: impl FnMut(&[u32])) -> Vec<u32> {
        match self {
            Self::Facet { snapshot, table, facet } => {
                let values: RowValues<'_> = snapshot.row_values(table, facet);
                let count = snapshot.facet_values(table, facet);
                if count as usize <= rows.len().saturating_mul(SPARSE) {
                    rows.iter().for_each(|row| each(values.of(*row)));
                    return (0..count).collect();
                }
                let known = distinct(rows.iter().flat_map(|row| values.of(*row)).copied());
                let mut groups = Vec::new();
                for row in rows {
                    groups.clear();
                    groups.extend(values.of(*row).iter().map(|value| place_of(&known, *value)));
                    each(&groups);
                }
                known
            }
            Self::Key { snapshot, table, key, group_of } => {
                let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
                let rank_of = |row: &u32| ranks[*row as usize] as usize;
                if values.len() <= rows.len() {
                    let of_ranks: Vec<Option<u32>> = values.iter().map(|value| group_of(*value)).collect();
                    let known = distinct(of_ranks.iter().copied().flatten());
                    let place = |value: &Option<u32>| value.map(|value| place_of(&known, value));
                    let places: Vec<Option<u32>> = of_ranks.iter().map(place).collect();
                    rows.iter().for_each(|row| each(places.get(rank_of(row)).map_or(&[], Option::as_slice)));
                    return known;
                }
                let of_rows = rows.iter().map(|row| values.get(rank_of(row)).and_then(|value| group_of(*value)));
                let of_rows: Vec<Option<u32>> = of_rows.collect();
                let known = distinct(of_rows.iter().copied().flatten());
                let place = |value: &Option<u32>| value.map(|value| place_of(&known, value));
                of_rows.iter().for_each(|value| each(place(value).as_slice()));
                known
            }
        }
    }

    /// The parts of a list of rows whose rows follow each other, with the value of their group; `None` if the table is not in
    /// the order of the property.
    pub(crate) fn runs(self, rows: &[u32]) -> Option<Vec<(Option<u32>, Range<usize>)>> {
        let Self::Key { snapshot, table, key, group_of } = self else { return None };
        if !is_row_order(table, key) {
            return None;
        }
        let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let rank_of = |row: u32| ranks[row as usize] as usize;
        let (mut runs, mut start) = (Vec::new(), 0);
        while let Some(rank) = rows.get(start).map(|row| rank_of(*row)) {
            let group = values.get(rank).map(|value| group_of(*value));
            let length = match group {
                // The rows descend by value, and those without one are last.
                Some(Some(group)) => {
                    let is_of_group =
                        |rank: usize| values.get(rank).is_some_and(|value| group_of(*value) == Some(group));
                    rows[start..].partition_point(|row| is_of_group(rank_of(*row)))
                }
                // Values without a group, such as years among quarters, lie between those of groups.
                Some(None) => rows[start..].partition_point(|row| rank_of(*row) == rank),
                None => rows.len() - start,
            };
            runs.push((group.flatten(), start..start + length));
            start += length;
        }
        Some(runs)
    }

    /// The groups of a table with rows that are among those of a query, in the order of values; `rows` is no list.
    pub(crate) fn sets_within(self, rows: &MatchedRows) -> Vec<ValueRows<'a>> {
        let mut sets = self.sets();
        if let MatchedRows::Many(bits) = rows {
            sets.iter_mut().for_each(|group| group.count = common_count(group.rows, bits));
            sets.retain(|group| group.count > 0);
        }
        sets
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

    /// Returns a bit for each row of the table with a known property.
    pub(crate) fn known(self) -> Vec<u64> {
        match self {
            Self::Facet { snapshot, table, facet } => match snapshot.known_rows(table, facet) {
                RowSet::Dense(words) => words.to_vec(),
                RowSet::Sparse(_) => vec![0; bit_words(snapshot.rows(table))],
            },
            Self::Key { snapshot, table, key, group_of } => {
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

/// True if a table is sorted by a key, the largest value first.
pub(crate) fn is_row_order(table: Table, key: usize) -> bool {
    let first = table.default_sort().split(',').next().and_then(|key| key.strip_prefix('-'));
    first == Some(table.sort_keys()[key])
}

/// The place of a value in a list of all.
fn place_of(known: &[u32], value: u32) -> u32 {
    known.partition_point(|other| *other < value) as u32
}

/// Four times the year plus the quarter, from 0, for the code of a date; `None` if only the year is known.
fn quarter(code: i64) -> Option<u32> {
    let date = PartialDate::from_code(code as i32);
    Some(date.year() as u32 * 4 + u32::from(date.quarter()?) - 1)
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
}
