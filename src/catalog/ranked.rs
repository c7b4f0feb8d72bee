//! Rows that fit a text or a record best, cached, because all pages and filters of a list share them.

use std::sync::Arc;

use crate::{Catalog, Ranking, Resource, Similar};
use data::Table;
use search::{DescriptionMatches, RankedRows};

const MAX_RANKED: usize = 10_000;

/// The rows that fit best.
pub struct Ranked {
    /// The rows that have everything that is searched for.
    pub(crate) complete: RankedRows,
    /// Rows that have a part of it, best first.
    pub(crate) partial: Vec<u32>,
    /// For [`Ranking::Like`]: the same rows with their points, and the distinctive words of the record's description.
    pub(crate) similar: Vec<Similar>,
    pub(crate) distinctive: Vec<String>,
}

impl Ranked {
    /// The rows that fit best, best first.
    pub fn first(&self, max: usize) -> Vec<u32> {
        let mut rows = self.complete.first(max);
        rows.extend(self.partial.iter().take(max - rows.len()));
        rows
    }

    /// Number of rows, including those that have a part of what is searched for.
    pub fn total(&self) -> usize {
        self.complete.len() + self.partial.len()
    }
}

impl Catalog {
    /// Number of records with all words in descriptions, sectors, places or titles; at most [`MAX_RANKED`].
    pub fn count_described(&self, resource: Resource, text: &str) -> usize {
        let ranking = Ranking::Described(text.to_owned());
        resource.parameter("text").map_or(0, |_| self.ranked(resource.table(), &ranking).complete.len())
    }

    /// The best rows, at most [`MAX_RANKED`].
    pub fn ranked(&self, table: Table, ranking: &Ranking) -> Arc<Ranked> {
        self.cached.rankings.get_or_insert_with((table, ranking.clone()), || {
            Arc::new(match ranking {
                Ranking::Described(text) => {
                    let names = self.snapshot().names(table);
                    let found = self.text_index(table).map(|index| index.descriptions.search(&names, text, MAX_RANKED));
                    let DescriptionMatches { complete, partial } = found.unwrap_or_default();
                    Ranked { complete, partial, similar: Vec::new(), distinctive: Vec::new() }
                }
                Ranking::Like(row) => {
                    let distinctive = self.distinctive_words(table, *row);
                    let similar = self.similar(table, *row, &distinctive, MAX_RANKED);
                    let complete = RankedRows::in_order(similar.iter().map(|similar| similar.row));
                    Ranked { complete, partial: Vec::new(), similar, distinctive }
                }
            })
        })
    }
}
