//! Records similar to a given one.

use crate::link::Link;
use crate::lists::list_path;
use catalog::similar::Similarity;
use catalog::{Catalog, Ranking};
use data::Table;

pub(crate) struct SimilarRecords {
    /// The most similar records, best first, each with what it has in common with the given one, in words.
    pub rows: Vec<(u32, String)>,
    /// Number of all similar records.
    pub total: u64,
    pub list: String,
}

impl SimilarRecords {
    pub(crate) fn load(catalog: &Catalog, table: Table, row: u32, max: usize) -> Self {
        let ranked = catalog.ranked(table, &Ranking::Like(row));
        let first: Vec<u32> = ranked.rows().take(max).collect();
        let similarities = catalog.similarities(table, row, &first);
        let in_common = similarities.iter().map(Similarity::in_words);
        Self {
            rows: first.iter().copied().zip(in_common).collect(),
            total: ranked.len() as u64,
            list: Link::new(list_path(table), Vec::new()).with("like", catalog.snapshot().slug(table, row)).href(),
        }
    }
}
