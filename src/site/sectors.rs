//! All sectors as a tree.

use askama::Template;

use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::records::record;
use crate::{PageRequest, format};
use catalog::Catalog;
use data::Table;
use data::model::Sector;

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
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
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
    let mut trees = Vec::new();
    for root in roots {
        if shown >= MAX_SECTORS {
            break;
        }
        shown += 1;
        let mut subsectors = Vec::new();
        let below = |row: u32| children[row as usize].iter().rev().copied();
        let mut stack: Vec<(usize, u32)> = below(root).map(|row| (0, row)).collect();
        while let Some((depth, row)) = stack.pop() {
            if shown >= MAX_SECTORS {
                break;
            }
            stack.extend(below(row).map(|row| (depth + 1, row)));
            subsectors.push((depth, record(catalog, Table::Sectors, row)?));
            shown += 1;
        }
        trees.push((record(catalog, Table::Sectors, root)?, subsectors));
    }
    let description = "All sectors, with the number of firms and startups and the average health score.";
    let page = SectorsPage {
        layout: PageLayout::new(snapshot, "Sectors", description, request.path).with_twins(request.state, ""),
        trees,
        hidden_count: rows as usize - shown,
        api: format!("{}/api/v3/sectors", request.state.public_url),
    };
    Ok(page.render()?)
}
