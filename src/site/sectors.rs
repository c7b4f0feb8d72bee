//! All sectors, each below the one that it is part of.

use askama::Template;

use crate::catalog::Catalog;
use crate::data::Table;
use crate::openapi::model;
use crate::openapi::model::Sector;
use crate::site::layout::PageLayout;

use crate::site::error_page::PageError;
use crate::site::{PageRequest, format};

/// Sectors on one page, so that a dataset with thousands stays readable; the others are a search away.
const MOST: usize = 250;

#[derive(Template)]
#[template(path = "sectors.html")]
struct SectorsPage {
    frame: PageLayout,
    /// Top sectors with all below them: how deep each stands, and the sector.
    trees: Vec<(Sector, Vec<(usize, Sector)>)>,
    /// Sectors that are not shown.
    left_out: usize,
    api: String,
}

/// `/sectors`: the sectors, the ones with most firms first.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    // Rows stand in the order of their firms, the most first.
    let rows = snapshot.rows(Table::Sectors);
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); rows as usize];
    let mut tops = Vec::new();
    for row in 0..rows {
        match snapshot.sector_parent(row).and_then(|parent| below.get_mut(parent as usize)) {
            Some(children) => children.push(row),
            None => tops.push(row),
        }
    }
    let mut shown = 0;
    let mut trees = Vec::new();
    for top in tops {
        if shown >= MOST {
            break;
        }
        let Some(sector) = model::read(catalog, Table::Sectors, top) else { continue };
        shown += 1;
        let mut tree = Vec::new();
        let children = |row: u32| below.get(row as usize).into_iter().flatten().rev().copied();
        let mut waiting: Vec<(usize, u32)> = children(top).map(|row| (0, row)).collect();
        while let Some((depth, row)) = waiting.pop() {
            if shown >= MOST {
                break;
            }
            waiting.extend(children(row).map(|row| (depth + 1, row)));
            tree.extend(model::read(catalog, Table::Sectors, row).map(|sector| (depth, sector)));
            shown += 1;
        }
        trees.push((sector, tree));
    }
    let about =
        "All sectors, with how many firms invest there, how many startups there are, and the mean health score.";
    let page = SectorsPage {
        frame: PageLayout::of(snapshot, "Sectors", about, visit.path),
        trees,
        left_out: (rows as usize).saturating_sub(shown),
        api: format!("{}/api/v3/sectors", visit.state.public_url),
    };
    Ok(page.render()?)
}
