//! Rows of the catalog as records, and lists of them that several pages show.

use serde::de::DeserializeOwned;

use crate::PageResult;
use crate::error_page::PageError;
use crate::lists::list_path;
use crate::record_table::TableCell;
use catalog::similar::Similarity;
use catalog::{Catalog, Filter, ListPosition, Query, Ranking};
use data::Table;
use platform::pause;
use view::link::Link;

pub(crate) fn record<R: DeserializeOwned>(catalog: &Catalog, table: Table, row: u32) -> PageResult<R> {
    serde_json::from_slice(&catalog.snapshot().record(table, row).json())
        .map_err(|_| PageError::Undecodable(table, row))
}

pub(crate) fn records<'r, R: DeserializeOwned>(
    catalog: &Catalog,
    table: Table,
    rows: impl IntoIterator<Item = &'r u32>,
) -> PageResult<Vec<R>> {
    pause::every(16, rows).map(|row| record(catalog, table, *row)).collect()
}

/// Name and path of each sector; the path is `above` and the slug.
pub(crate) fn sector_links<'a>(
    catalog: &'a Catalog,
    slugs: &'a [String],
    above: &'static str,
) -> impl Iterator<Item = (String, String)> + 'a {
    slugs.iter().filter_map(move |slug| {
        let row = catalog.snapshot().find(Table::Sectors, slug)?;
        Some((catalog.snapshot().name(Table::Sectors, row).to_owned(), format!("{above}{slug}")))
    })
}

/// Sectors named in a cell, at most.
const MAX_SECTORS: usize = 2;

/// The first sectors of a record, in a table.
pub(crate) fn sector_cell(catalog: &Catalog, slugs: &[String]) -> TableCell {
    sectors_in_cell(catalog, slugs, Some)
}

/// As [`sector_cell`], without links: in a table of few rows they would be most of the stops of a page.
pub(crate) fn sector_names_cell(catalog: &Catalog, slugs: &[String]) -> TableCell {
    sectors_in_cell(catalog, slugs, |_| None)
}

fn sectors_in_cell(catalog: &Catalog, slugs: &[String], link: fn(String) -> Option<String>) -> TableCell {
    let named = sector_links(catalog, slugs, "/sectors/").take(MAX_SECTORS);
    TableCell::names(named.map(|(name, path)| (name, link(path), "")), slugs.len())
}

/// The first rows of a table, in its order, that match a filter, and the number of all.
pub(crate) fn first_rows(catalog: &Catalog, table: Table, filter: Filter, max: usize) -> (Vec<u32>, u64) {
    let query = Query { filters: vec![filter], ..Query::all(table) };
    let found = catalog.list(&query, ListPosition::default(), max);
    (found.rows, found.total)
}

pub(crate) struct SimilarRecords {
    /// The most similar records, best first, each with what it has in common with the given one, in words.
    pub rows: Vec<(u32, String)>,
    pub total: u64,
    pub list: String,
}

impl SimilarRecords {
    pub(crate) fn load(catalog: &Catalog, table: Table, row: u32, max: usize) -> Self {
        let ranked = catalog.ranked(table, &Ranking::Like(row));
        let first = ranked.first(max);
        let similarities = catalog.similarities(table, row, &first);
        let in_common = similarities.iter().map(Similarity::in_words);
        Self {
            rows: first.iter().copied().zip(in_common).collect(),
            total: ranked.total() as u64,
            list: Link::new(list_path(table), Vec::new()).with("like", catalog.snapshot().slug(table, row)).href(),
        }
    }
}
