//! `/data`: coverage of each field, known gaps, sources, changes of the release, bulk files.

use std::collections::BTreeSet;

use askama::Template;

use crate::feeds::{self, ReleaseChanges};
use crate::field_years::{CoveredYears, FieldYears};
use crate::layout::PageLayout;
use crate::lists::list_path;
use crate::market::rounds_by_year;
use crate::{PageRequest, PageResult, PathValues, linked_data, render};
use catalog::{BulkFile, Catalog, Property, Totals};
use data::Table;
use data::coverage::{Markets, spans};
use service::{BulkAccess, bulk};
use view::charts::{Bars, ChartFigure, Heatmap};
use view::format;

#[derive(Template)]
#[template(path = "data.html")]
struct DataPage<'a> {
    layout: PageLayout,
    totals: &'a Totals,
    tables: Vec<TableCoverage>,
    years: Option<Bars>,
    field_years: Option<Heatmap>,
    gaps: Vec<String>,
    /// The changes of the release; `None` if no previous release is loaded.
    changes: Option<ReleaseChanges>,
    files: Vec<(String, &'a BulkFile)>,
    needs_key: bool,
    api: String,
}

struct TableCoverage {
    table: Table,
    heading: &'static str,
    rows: u32,
    fields: Vec<FieldCoverage>,
}

struct FieldCoverage {
    name: &'static str,
    known: u32,
    /// Percentage of the rows, rounded down.
    percent: u32,
    /// Path of the list of records that have a value; `None` if no list can be limited to them.
    href: Option<String>,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let totals = catalog.totals();
    let coverage = &totals.coverage;
    let tables = [
        (Table::Firms, "Firms", totals.firms, &coverage.firms),
        (Table::Startups, "Startups", totals.startups, &coverage.startups),
        (Table::Rounds, "Funding rounds", totals.funding_rounds, &coverage.funding_rounds),
        (Table::People, "People", totals.people, &coverage.people),
    ];
    let tables = tables.into_iter().filter(|(_, _, rows, _)| *rows > 0).map(|(table, heading, rows, known)| {
        let field = |(name, known): (&&'static str, &u32)| FieldCoverage {
            name,
            known: *known,
            percent: (u64::from(*known) * 100 / u64::from(rows)) as u32,
            href: list_of_known(catalog, table, name, *known),
        };
        let mut fields: Vec<FieldCoverage> = known.iter().map(field).collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.known));
        TableCoverage { table, heading, rows, fields }
    });
    let tables: Vec<TableCoverage> = tables.collect();
    let years = FieldYears::all(catalog);
    let snapshot = catalog.snapshot();
    let releases = feeds::loaded_releases(request);
    let before = releases.iter().find(|other| other.version() < catalog.version());
    let description = "Coverage, years and sources of the data, with their licenses.";
    let (base, publisher) = (&request.state.public_url, &request.state.operator.brand.name);
    let dataset = linked_data::dataset(catalog, base, publisher, request.state.bulk != BulkAccess::Off);
    let layout = PageLayout::new(snapshot, "About the data", description, request.path);
    let by_year = rounds_by_year(catalog);
    let layout = layout.canonical(request.state).with_chart(request.state, by_year.as_ref().map(ChartFigure::head));
    render(&DataPage {
        layout: PageLayout { linked_data: Some(dataset), ..layout },
        totals,
        gaps: gaps(catalog, &tables, &years),
        tables,
        years: by_year,
        field_years: FieldYears::heatmap(catalog, &years),
        changes: feeds::changes(catalog, before),
        files: match request.state.bulk {
            BulkAccess::Off => Vec::new(),
            _ => catalog.bulk_files().iter().map(|file| (bulk::path_of(catalog.version(), file), &**file)).collect(),
        },
        needs_key: request.state.bulk == BulkAccess::Key,
        api: request.api("stats"),
    })
}

/// Path of the list of records with a value of a field, if it shows exactly these. Filters ignore suspect amounts.
fn list_of_known(catalog: &Catalog, table: Table, field: &str, known: u32) -> Option<String> {
    let (property, of) = Property::named(table, field)?;
    let listed = catalog.known_rows(table, of);
    (known > 0 && listed == known).then(|| format!("{}?known={property}", list_path(table)))
}

fn gaps(catalog: &Catalog, tables: &[TableCoverage], years: &[FieldYears]) -> Vec<String> {
    let mut gaps = Vec::new();
    let uncovered = CoveredYears::of_rounds(catalog).rounds().into_iter().filter(|(_, rounds)| rounds.is_none());
    let uncovered: BTreeSet<i32> = uncovered.map(|(year, _)| year).collect();
    if !uncovered.is_empty() {
        let few = "has few rounds, compared with the years around it or with most";
        gaps.push(format!("Rounds of {} are hardly covered: each year {few}.", spans(&uncovered)));
    }
    let coverage = catalog.round_coverage();
    for (countries, years) in coverage.partial_years(None, &Markets::All) {
        gaps.push(format!("Rounds of {} are covered for {countries} only.", spans(&years)));
    }
    gaps.extend(years.iter().flat_map(FieldYears::gaps));
    let by_year = coverage.years_without_days();
    if !by_year.is_empty() {
        gaps.push(format!("Most rounds of {} are dated by year only.", spans(&by_year)));
    }
    for table in tables {
        // For rounds, gaps by year are already listed.
        let is_listed =
            |field: &FieldCoverage| table.table == Table::Rounds && years.iter().any(|of| of.field == field.name);
        let unknown = table.fields.iter().filter(|field| field.known == 0 && !is_listed(field)).map(|field| field.name);
        let unknown: Vec<&str> = unknown.collect();
        if !unknown.is_empty() {
            gaps.push(format!("{}: no record has a value of {}.", table.heading, unknown.join(", ")));
        }
    }
    if catalog.totals().reviews == 0 {
        gaps.push("There are no reviews, so that peer scores and ghosting rates are unknown.".to_owned());
    }
    let amount = Property::Key(Table::Rounds.sort_key("amount_usd"));
    let known = catalog.snapshot().known_values(Table::Rounds, Table::Rounds.field_index("amount_usd"));
    let suspect = known.saturating_sub(catalog.known_rows(Table::Rounds, amount));
    if suspect > 0 {
        gaps.push(format!(
            "The amount of {} is suspect: over ten times the 99th percentile of its stage, or of all rounds if the stage is \
             unknown. It is shown, but left out of sums, orders and bounds.",
            format::counted(suspect, "round", "rounds")
        ));
    }
    gaps
}
