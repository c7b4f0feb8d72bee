//! All sectors as a tree.

use askama::Template;

use crate::layout::PageLayout;
use crate::records::record;
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::Catalog;
use data::Table;
use data::model::Sector;
use view::format;

/// Maximum number of sectors on the page, so that it stays readable if a dataset has thousands.
const MAX_SECTORS: usize = 250;

#[derive(Template)]
#[template(path = "sectors.html")]
struct SectorsPage {
    layout: PageLayout,
    /// Each top-level sector with its subsectors and their depth, from 0.
    trees: Vec<(Sector, Vec<(usize, Sector)>)>,
    hidden_count: usize,
    api: String,
}

/// `/sectors`, with the sectors that have the most firms first.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let snapshot = catalog.snapshot();
    // Rows are sorted by the number of firms, descending.
    let rows = snapshot.rows(Table::Sectors);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); rows as usize];
    let mut roots = Vec::new();
    for row in 0..rows {
        match snapshot.sector_parent(row) {
            Some(parent) => children[parent as usize].push(row),
            None => roots.push(row),
        }
    }
    let mut shown = 0;
    let mut trees: Vec<(Sector, Vec<(usize, Sector)>)> = Vec::new();
    // The next sector is last; `None` is the depth of a top-level sector.
    let mut stack: Vec<(Option<usize>, u32)> = roots.into_iter().rev().map(|row| (None, row)).collect();
    while shown < MAX_SECTORS
        && let Some((depth, row)) = stack.pop()
    {
        let below = depth.map_or(0, |depth| depth + 1);
        stack.extend(children[row as usize].iter().rev().map(|row| (Some(below), *row)));
        let sector = record(catalog, Table::Sectors, row)?;
        match (depth, trees.last_mut()) {
            (Some(depth), Some((_, subsectors))) => subsectors.push((depth, sector)),
            _ => trees.push((sector, Vec::new())),
        }
        shown += 1;
    }
    let description = "All sectors, with the number of firms and startups and the average health score.";
    render(&SectorsPage {
        layout: PageLayout::new(snapshot, "Sectors", description, request.path).with_twins(request.state, ""),
        trees,
        hidden_count: rows as usize - shown,
        api: request.api("sectors"),
    })
}
