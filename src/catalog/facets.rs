//! Counts of the firms under a query, by stage, sector, country and kind.

use crate::dataset::facet::RowSet;
use crate::dataset::{Facet, Table};

use super::Catalog;
use super::query::Query;
use super::selection::Selection;

/// How many firms a query finds, and how many of them have each value of each facet.
///
/// A count is the `total` of the same query with that value as one more condition: the query's own condition on the
/// facet holds for its counts too. So under `stage=seed` the count of `series-a` is that of the firms that do both; who
/// wants the alternatives to a choice leaves that choice out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// All firms that the query finds.
    pub total: u64,
    /// By stage: places in its vocabulary.
    pub stages: Vec<ValueCount>,
    /// By sector: rows of the sectors. A firm counts for its sectors and all above them.
    pub sectors: Vec<ValueCount>,
    /// By country: places in its table.
    pub countries: Vec<ValueCount>,
    /// By kind of firm: places in its vocabulary.
    pub kinds: Vec<ValueCount>,
}

/// A value of a facet with the number of firms that have it, which is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCount {
    /// The value.
    pub value: u32,
    /// How many firms have it.
    pub count: u64,
}

impl Catalog {
    /// Counts the firms that `query` finds by their facets, in each the most frequent value first; its order is of no
    /// account.
    #[must_use]
    pub fn facet_counts(&self, query: &Query) -> FacetCounts {
        let snapshot = self.snapshot();
        let selection = Selection::of(snapshot, Table::Firms, &query.clauses);
        let rows = match &query.text {
            Some(text) => {
                let found = self.search(Table::Firms, text, &|row| selection.contains(row));
                let mut bits = vec![0; (snapshot.rows(Table::Firms) as usize).div_ceil(64)];
                for hit in &found.hits {
                    if let Some(word) = bits.get_mut(hit.row as usize / 64) {
                        *word |= 1 << (hit.row % 64);
                    }
                }
                Rows::Some(bits)
            }
            None if selection.is_everything() => Rows::All,
            None => Rows::Some(selection.bits()),
        };
        let total = match &rows {
            Rows::All => u64::from(snapshot.rows(Table::Firms)),
            Rows::Some(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
        };
        FacetCounts {
            total,
            stages: self.counts_of(Facet::Stage, &rows),
            sectors: self.counts_of(Facet::Sector, &rows),
            countries: self.counts_of(Facet::Country, &rows),
            kinds: self.counts_of(Facet::Kind, &rows),
        }
    }

    fn counts_of(&self, facet: Facet, rows: &Rows) -> Vec<ValueCount> {
        let snapshot = self.snapshot();
        let mut counts: Vec<ValueCount> = (0..snapshot.facet_values(Table::Firms, facet))
            .map(|value| {
                let count = match rows {
                    Rows::All => u64::from(snapshot.facet_count(Table::Firms, facet, value)),
                    Rows::Some(bits) => common(snapshot.facet_rows(Table::Firms, facet, value), bits),
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

/// The firms that are counted.
enum Rows {
    All,
    /// A bit for each firm: every value of every facet is held against it, which costs less than a list.
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
