//! Rows that fit a text or a record best, cached, because all pages and filters of a list share them.

use std::sync::Arc;

use crate::{Catalog, Ranking, Resource, Similar};
use data::Table;
use search::DescriptionMatches;

const MAX_RANKED: usize = 10_000;

/// The rows that fit best, best first.
pub struct Ranked {
    pub rows: Vec<u32>,
    /// Number of leading rows that have everything that is searched for.
    pub(crate) complete: usize,
    /// For [`Ranking::Like`]: the same rows with their points, and the distinctive words of the record's description.
    pub(crate) similar: Vec<Similar>,
    pub(crate) distinctive: Vec<String>,
}

impl Ranked {
    /// The rows that have everything that is searched for, best first.
    pub(crate) fn complete_rows(&self) -> &[u32] {
        self.rows.get(..self.complete).unwrap_or(&self.rows)
    }

    /// The rows that have a part of it.
    pub(crate) fn partial_rows(&self) -> &[u32] {
        self.rows.get(self.complete..).unwrap_or_default()
    }
}

impl Catalog {
    /// Number of records with all words in descriptions, sectors, places or titles; at most [`MAX_RANKED`].
    pub fn count_described(&self, resource: Resource, text: &str) -> usize {
        let ranking = Ranking::Described(text.to_owned());
        resource.parameter("text").map_or(0, |_| self.ranked(resource.table(), &ranking).complete)
    }

    /// The best rows, at most [`MAX_RANKED`].
    pub fn ranked(&self, table: Table, ranking: &Ranking) -> Arc<Ranked> {
        self.cached.rankings.get_or_insert_with((table, ranking.clone()), || {
            Arc::new(match ranking {
                Ranking::Described(text) => {
                    let names = self.snapshot().names(table);
                    let found = self.text_index(table).map(|index| index.descriptions.search(&names, text, MAX_RANKED));
                    let DescriptionMatches { rows, complete } = found.unwrap_or_default();
                    Ranked { rows, complete, similar: Vec::new(), distinctive: Vec::new() }
                }
                Ranking::Like(row) => {
                    let distinctive = self.distinctive_words(table, *row);
                    let similar = self.similar(table, *row, &distinctive, MAX_RANKED);
                    let rows = similar.iter().map(|similar| similar.row).collect();
                    Ranked { rows, complete: similar.len(), similar, distinctive }
                }
            })
        })
    }
}
