//! What the data has: how many records with a value of each field, the years of its rounds, its sources.

use askama::Template;

use crate::catalog::{Catalog, Totals};
use crate::data::{NONE_U32, Table};
use crate::http::{BulkAccess, bulk};
use crate::site::charts::Bars;
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::market::rounds_by_year;
use crate::site::{PageRequest, format, linked_data};

#[derive(Template)]
#[template(path = "data.html")]
struct DataPage<'a> {
    layout: PageLayout,
    totals: &'a Totals,
    tables: Vec<TableCoverage>,
    years: Option<Bars>,
    /// Number of rounds whose amount is suspect.
    suspect: usize,
    files: Vec<FileRow>,
    /// Whether a download needs an API key.
    needs_key: bool,
    api: String,
}

/// A bulk file of the release.
struct FileRow {
    path: String,
    name: String,
    bytes: u64,
    checksum: String,
}

struct TableCoverage {
    heading: &'static str,
    rows: u32,
    fields: Vec<FieldCoverage>,
}

struct FieldCoverage {
    name: &'static str,
    known: u32,
    /// Percentage of the rows, rounded down.
    percent: u32,
}

/// `/data`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
    let totals = catalog.totals();
    let coverage = &totals.coverage;
    let tables = [
        ("Firms", totals.firms, &coverage.firms),
        ("Startups", totals.startups, &coverage.startups),
        ("Funding rounds", totals.funding_rounds, &coverage.funding_rounds),
        ("People", totals.people, &coverage.people),
    ];
    let tables = tables.into_iter().filter(|(_, rows, _)| *rows > 0).map(|(heading, rows, known)| {
        let percent = |known: u32| (u64::from(known) * 100 / u64::from(rows)) as u32;
        let mut fields: Vec<FieldCoverage> =
            known.iter().map(|(name, known)| FieldCoverage { name, known: *known, percent: percent(*known) }).collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.known));
        TableCoverage { heading, rows, fields }
    });
    let snapshot = catalog.snapshot();
    let ranks = snapshot.ranks(Table::Rounds, Table::Rounds.sort_key("amount_usd"));
    let known = snapshot.known_values(Table::Rounds, Table::Rounds.field_index("amount_usd")) as usize;
    let description = "Coverage, years and sources of the data, with their licenses.";
    let page = DataPage {
        layout: PageLayout::of(snapshot, "About the data", description, request.path)
            .at(&request.state.public_url)
            .about(linked_data::dataset(
                catalog,
                &request.state.public_url,
                &request.state.operator.brand.name,
                request.state.bulk != BulkAccess::Off,
            ))
            .by(&request.state.operator),
        totals,
        tables: tables.collect(),
        years: rounds_by_year(catalog),
        suspect: known - ranks.iter().filter(|rank| **rank != NONE_U32).count(),
        files: match request.state.bulk {
            BulkAccess::Off => Vec::new(),
            _ => catalog
                .bulk_files()
                .iter()
                .map(|file| FileRow {
                    path: bulk::path_of(catalog.version(), file),
                    name: file.name.clone(),
                    bytes: file.bytes,
                    checksum: file.checksum(),
                })
                .collect(),
        },
        needs_key: request.state.bulk == BulkAccess::Key,
        api: format!("{}/api/v3/stats", request.state.public_url),
    };
    Ok(page.render()?)
}
