//! Counts of the rows that match a query, by facet.

use crate::data::archive::facet_column::{RowSet, bit_words};
use crate::data::{Facet, Table};

use crate::catalog::{Catalog, Query, RowFilter};

/// The number of firms that match a query, and of those with each value of each facet.
///
/// A count is the `total` of the same query with that value as one more filter. A facet's own filter applies to it too:
/// under `stage=seed` the count of `series-a` is that of firms with both stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FacetCounts {
    pub total: u64,
    /// Whether more names match than a search returns; the counts are then those of the best matches.
    pub capped: bool,
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
        let (rows, capped) = self.rows_of(query);
        let counts = |facet| self.counts_of(query.table, facet, &rows);
        FacetCounts {
            total: self.count_rows(query.table, &rows),
            capped,
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

    /// The rows that match a query, and whether a search has more matches.
    pub(crate) fn rows_of(&self, query: &Query) -> (Rows, bool) {
        let filter = RowFilter::of(self.snapshot(), query.table, &query.filters);
        match &query.text {
            Some(text) => {
                let found = self.search(query.table, text, &|row| filter.contains(row));
                let mut bits = vec![0; bit_words(self.snapshot().rows(query.table))];
                found.hits.iter().for_each(|hit| bits[hit.row as usize / 64] |= 1 << (hit.row % 64));
                (Rows::Some(bits), found.capped)
            }
            None if filter.is_everything() => (Rows::All, false),
            None => (Rows::Some(filter.bits()), false),
        }
    }

    pub(crate) fn count_rows(&self, table: Table, rows: &Rows) -> u64 {
        match rows {
            Rows::All => u64::from(self.snapshot().rows(table)),
            Rows::Some(bits) => RowSet::Dense(bits).count(),
        }
    }

    fn counts_of(&self, table: Table, facet: Facet, rows: &Rows) -> Vec<ValueCount> {
        let snapshot = self.snapshot();
        let mut counts: Vec<ValueCount> = (0..snapshot.facet_values(table, facet))
            .map(|value| {
                let count = match rows {
                    Rows::All => u64::from(snapshot.facet_count(table, facet, value)),
                    Rows::Some(bits) => common_count(snapshot.facet_rows(table, facet, value), bits),
                };
                ValueCount { value, count }
            })
            .filter(|counted| counted.count > 0)
            .collect();
        // Ties stay in the order of the vocabulary.
        counts.sort_by_key(|counted| std::cmp::Reverse(counted.count));
        counts
    }
}

pub(crate) enum Rows {
    All,
    /// A bit for each row: cheaper to intersect with every value of every facet than a list.
    Some(Vec<u64>),
}

/// The number of rows that a set has in common with `bits`.
pub(crate) fn common_count(set: RowSet<'_>, bits: &[u64]) -> u64 {
    match set {
        RowSet::Dense(words) => words.iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
        RowSet::Sparse(rows) => rows.iter().filter(|row| RowSet::Dense(bits).contains(**row)).count() as u64,
    }
}
