//! Rows that fit a text or a record best, cached, because all pages and filters of a list share them.

use std::sync::Arc;

use crate::{Catalog, Ranking, Resource, Similar};
use data::Table;
use search::DescriptionMatches;

const MAX_RANKED: usize = 10_000;

/// Rows, best first.
pub enum Ranked {
    Described(DescriptionMatches),
    Like(Vec<Similar>),
}

impl Ranked {
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let (described, similar): (&[u32], &[Similar]) = match self {
            Self::Described(described) => (&described.rows, &[]),
            Self::Like(similar) => (&[], similar),
        };
        described.iter().copied().chain(similar.iter().map(|similar| similar.row))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Described(described) => described.rows.len(),
            Self::Like(similar) => similar.len(),
        }
    }

    /// Number of leading rows that have everything that is searched for.
    pub(crate) fn complete(&self) -> usize {
        match self {
            Self::Described(described) => described.complete,
            Self::Like(similar) => similar.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn ascending(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.rows().collect();
        rows.sort_unstable();
        rows
    }
}

impl Catalog {
    /// Number of records with all words in descriptions, sectors, places or titles; at most [`MAX_RANKED`].
    pub fn count_described(&self, resource: Resource, text: &str) -> usize {
        let ranking = Ranking::Described(text.to_owned());
        resource.parameter("text").map_or(0, |_| self.ranked(resource.table(), &ranking).complete())
    }

    /// The best rows, at most [`MAX_RANKED`].
    pub fn ranked(&self, table: Table, ranking: &Ranking) -> Arc<Ranked> {
        self.rankings.get_or_insert_with((table, ranking.clone()), || {
            Arc::new(match ranking {
                Ranking::Described(text) => {
                    let index = self.text_index(table);
                    let found =
                        index.map(|index| index.descriptions.search(&self.snapshot().names(table), text, MAX_RANKED));
                    Ranked::Described(found.unwrap_or_default())
                }
                Ranking::Like(row) => Ranked::Like(self.similar(table, *row, MAX_RANKED)),
            })
        })
    }
}
