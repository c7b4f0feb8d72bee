//! Counts of the rows that a query finds, by the values of their facets.

use crate::data::archive::facet_column::RowSet;
use crate::data::{Facet, Table};

use crate::catalog::Catalog;
use crate::catalog::Query;
use crate::catalog::RowFilter;

/// How many firms a query finds, and how many of them have each value of each facet.
///
/// A count is the `total` of the same query with that value as one more condition: the query's own condition on the
/// facet holds for its counts too. So under `stage=seed` the count of `series-a` is that of the firms that do both; who
/// wants the alternatives to a choice leaves that choice out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// All firms that the query finds.
    pub total: u64,
    /// True where more names match than a search gives: the counts are then those of the best ones.
    pub capped: bool,
    /// By stage: places in its vocabulary.
    pub stages: Vec<ValueCount>,
    /// By sector: rows of the sectors. A firm counts for its sectors and all above them.
    pub sectors: Vec<ValueCount>,
    /// By country: places in its table.
    pub countries: Vec<ValueCount>,
    /// By kind of firm: places in its vocabulary.
    pub kinds: Vec<ValueCount>,
}

/// A value of a facet with the number of rows that have it, which is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCount {
    /// The value.
    pub value: u32,
    /// How many rows have it.
    pub count: u64,
}

impl Catalog {
    /// Counts the firms that `query` finds by their facets, in each the most frequent value first; its order is of no
    /// account.
    #[must_use]
    pub fn facet_counts(&self, query: &Query) -> FacetCounts {
        let (rows, capped) = self.rows_of(query);
        let counts = |facet| self.counts_of(query.table, facet, &rows);
        FacetCounts {
            total: self.number_of(query.table, &rows),
            capped,
            stages: counts(Facet::Stage),
            sectors: counts(Facet::Sector),
            countries: counts(Facet::Country),
            kinds: counts(Facet::Kind),
        }
    }

    /// Counts the rows of any table that `query` finds by each of `facets`, the most frequent value first.
    #[must_use]
    pub fn counts_by(&self, query: &Query, facets: &[Facet]) -> Vec<Vec<ValueCount>> {
        let (rows, _) = self.rows_of(query);
        facets.iter().map(|facet| self.counts_of(query.table, *facet, &rows)).collect()
    }

    /// The rows that a query finds, and whether more names match than these.
    fn rows_of(&self, query: &Query) -> (Rows, bool) {
        let selection = RowFilter::of(self.snapshot(), query.table, &query.clauses);
        match &query.text {
            Some(text) => {
                let found = self.search(query.table, text, &|row| selection.contains(row));
                let mut bits = vec![0; (self.snapshot().rows(query.table) as usize).div_ceil(64)];
                for hit in &found.hits {
                    if let Some(word) = bits.get_mut(hit.row as usize / 64) {
                        *word |= 1 << (hit.row % 64);
                    }
                }
                (Rows::Some(bits), found.capped)
            }
            None if selection.is_everything() => (Rows::All, false),
            None => (Rows::Some(selection.bits()), false),
        }
    }

    fn number_of(&self, table: Table, rows: &Rows) -> u64 {
        match rows {
            Rows::All => u64::from(self.snapshot().rows(table)),
            Rows::Some(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
        }
    }

    fn counts_of(&self, table: Table, facet: Facet, rows: &Rows) -> Vec<ValueCount> {
        let snapshot = self.snapshot();
        let mut counts: Vec<ValueCount> = (0..snapshot.facet_values(table, facet))
            .map(|value| {
                let count = match rows {
                    Rows::All => u64::from(snapshot.facet_count(table, facet, value)),
                    Rows::Some(bits) => common(snapshot.facet_rows(table, facet, value), bits),
                };
                ValueCount { value, count }
            })
            .filter(|counted| counted.count > 0)
            .collect();
        // Equally frequent values stay in the order of their vocabulary.
        counts.sort_by_key(|counted| std::cmp::Reverse(counted.count));
        counts
    }
}

/// The rows that are counted.
enum Rows {
    All,
    /// A bit for each row: every value of every facet is held against it, which costs less than a list.
    Some(Vec<u64>),
}

/// How many rows a set has in common with `bits`.
fn common(set: RowSet<'_>, bits: &[u64]) -> u64 {
    match set {
        RowSet::Dense(words) => words.iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
        RowSet::Sparse(rows) => {
            let has = |row: u32| bits.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
            rows.iter().filter(|row| has(**row)).count() as u64
        }
    }
}
