//! Counts of the rows that match a query, by facet and by ranges of values.

use std::cmp::Reverse;
use std::ops::Range;

use crate::aggregate::GroupBy;
use crate::groups::{GroupColumn, Rows, ValueRows, common_count};
use crate::{Catalog, ParameterError, Query};
use data::archive::facet_column::RowSet;
use data::{Facet, Table};

/// The number of firms that match a query, and of those with each value of each facet.
///
/// A count is the `total` of the same query with that value as one more filter. A facet's own filter applies to it too:
/// under `stage=seed` the count of `series-a` is that of firms with both stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FacetCounts {
    pub total: u64,
    /// What a client should know about the matches of a search.
    pub notes: Vec<ParameterError>,
    /// Values are indexes of the vocabulary.
    pub stages: Vec<ValueCount>,
    /// Values are rows of sectors. A firm counts for its sectors and their ancestors.
    pub sectors: Vec<ValueCount>,
    /// Values are indexes of the country table.
    pub countries: Vec<ValueCount>,
    /// Values are indexes of the vocabulary.
    pub kinds: Vec<ValueCount>,
}

/// A value of a facet with the number of rows that have it, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCount {
    pub value: u32,
    pub count: u64,
}

impl Catalog {
    /// Counts the firms that match `query` by facet, the most frequent value first. The order of the query is ignored.
    pub fn facet_counts(&self, query: &Query) -> FacetCounts {
        let (rows, notes) = self.rows_of(query);
        let counts = |facet| self.counts_of(query.table, facet, &rows);
        FacetCounts {
            total: rows.count(self.snapshot().rows(query.table)),
            notes,
            stages: counts(Facet::Stage),
            sectors: counts(Facet::Sector),
            countries: counts(Facet::Country),
            kinds: counts(Facet::Kind),
        }
    }

    /// Counts the rows that match `query` by each of `facets`, the most frequent value first.
    pub fn counts_by(&self, query: &Query, facets: &[Facet]) -> Vec<Vec<ValueCount>> {
        let (rows, _) = self.rows_of(query);
        facets.iter().map(|facet| self.counts_of(query.table, *facet, &rows)).collect()
    }

    /// Counts the rows whose value of a sort key is within each of `ranges`, by their first and last value. These are ascending
    /// and apart; of dates, whole years.
    pub fn counts_within(&self, table: Table, key: usize, ranges: &[(i64, i64)], rows: &Rows) -> Vec<u64> {
        let snapshot = self.snapshot();
        let values = snapshot.values(table, key);
        let rank = |value: i64| values.partition_point(|known| *known < value) as u32;
        let ranges = ranges.iter().map(|(first, last)| rank(*first)..rank(last.saturating_add(1)));
        let ranges: Vec<Range<u32>> = ranges.collect();
        let rows_of = |range: &Range<u32>| snapshot.rows_of_ranks(table, key, range.clone());
        match rows {
            Rows::All => ranges.iter().map(|range| rows_of(range).len() as u64).collect(),
            Rows::Many(bits) => ranges.iter().map(|range| common_count(RowSet::Sparse(rows_of(range)), bits)).collect(),
            Rows::Few(rows) => {
                let ranks = snapshot.ranks(table, key);
                let mut counts = vec![0; ranges.len()];
                for rank in rows.iter().map(|row| ranks[*row as usize]) {
                    let place = ranges.partition_point(|range| range.end <= rank);
                    if ranges.get(place).is_some_and(|range| range.contains(&rank)) {
                        counts[place] += 1;
                    }
                }
                counts
            }
        }
    }

    /// Counts the firms that invested in a year.
    pub fn active_count(&self, year: i32, rows: &Rows) -> u64 {
        let active = self.active_firms(year);
        match rows {
            Rows::All => active.len() as u64,
            Rows::Many(bits) => common_count(RowSet::Sparse(active), bits),
            Rows::Few(rows) => rows.iter().filter(|row| active.binary_search(row).is_ok()).count() as u64,
        }
    }

    pub fn counts_of(&self, table: Table, facet: Facet, rows: &Rows) -> Vec<ValueCount> {
        let column = GroupColumn::of(self.snapshot(), table, GroupBy::Facet(facet));
        let mut places = Vec::new();
        let groups = column.groups(rows, &mut places).into_iter();
        let mut counts: Vec<ValueCount> =
            groups.map(|ValueRows { value, count, .. }| ValueCount { value, count }).collect();
        // Ties stay in the order of the vocabulary.
        counts.sort_by_key(|counted| Reverse(counted.count));
        counts
    }
}
