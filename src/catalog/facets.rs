//! Counts of the rows that match a query, by facet and by ranges of values.

use std::cmp::Reverse;
use std::ops::Range;

use crate::aggregate::GroupBy;
use crate::aggregate::row_groups::{ListGroups, RowGroups};
use crate::groups::{GroupColumn, MatchedRows, common_count};
use crate::{Catalog, Query};
use data::archive::facet_column::RowSet;
use data::{Facet, Table};
use platform::pause;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCount {
    pub value: u32,
    pub count: u64,
}

impl Catalog {
    /// Counts the rows that match `query` by each of `facets`, most frequent value first.
    pub fn counts_by(&self, query: &Query, facets: &[Facet]) -> Vec<Vec<ValueCount>> {
        let (rows, _) = self.rows_of(query);
        facets.iter().map(|facet| self.counts_of(query.table, *facet, &rows)).collect()
    }

    /// Counts the rows within ranges of a sort key (first, last): ascending, disjoint, of whole years for dates.
    pub fn counts_within(&self, table: Table, key: usize, ranges: &[(i64, i64)], rows: &MatchedRows) -> Vec<u64> {
        pause::point();
        let snapshot = self.snapshot();
        let values = snapshot.values(table, key);
        let rank = |value: i64| values.partition_point(|known| *known < value) as u32;
        let ranges = ranges.iter().map(|(first, last)| rank(*first)..rank(last.saturating_add(1)));
        let ranges: Vec<Range<u32>> = ranges.collect();
        let rows_of = |range: &Range<u32>| snapshot.rows_of_ranks(table, key, range.clone());
        match rows {
            MatchedRows::All => ranges.iter().map(|range| rows_of(range).len() as u64).collect(),
            MatchedRows::Many(bits) => {
                ranges.iter().map(|range| common_count(RowSet::Sparse(rows_of(range)), bits)).collect()
            }
            MatchedRows::Few(rows) => {
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

    pub fn active_count(&self, year: i32, rows: &MatchedRows) -> u64 {
        let active = self.active_firms(year);
        match rows {
            MatchedRows::All => active.len() as u64,
            MatchedRows::Many(bits) => common_count(RowSet::Sparse(active), bits),
            MatchedRows::Few(rows) => rows.iter().filter(|row| active.binary_search(row).is_ok()).count() as u64,
        }
    }

    /// Counts rows by a facet, for each of their values: with `stage=seed`, `series-a` counts the firms with both.
    pub fn counts_of(&self, table: Table, facet: Facet, rows: &MatchedRows) -> Vec<ValueCount> {
        pause::point();
        let column = GroupColumn::new(self.snapshot(), table, GroupBy::Facet(facet));
        let mut counts: Vec<ValueCount> = match rows {
            MatchedRows::Few(rows) => {
                let groups = ListGroups::new(column, rows, None).counts().into_iter();
                groups.map(|group| ValueCount { value: group.value, count: group.count }).collect()
            }
            MatchedRows::All | MatchedRows::Many(_) => {
                let groups = column.sets_within(rows).into_iter();
                groups.map(|group| ValueCount { value: group.value, count: group.count }).collect()
            }
        };
        // Ties keep the order of the vocabulary.
        counts.sort_by_key(|counted| Reverse(counted.count));
        counts
    }
}
