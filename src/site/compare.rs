//! Up to four firms or startups side by side.

use std::collections::BTreeSet;

use askama::Template;

use crate::error_page::{name_and_path, path_of};
use crate::layout::PageLayout;
use crate::matching::count_led;
use crate::records::{records, sector_links};
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::Catalog;
use catalog::param_error::shortened;
use data::Table;
use data::model::{Firm, Investor, Startup};
use view::format;
use view::link::Link;

pub(crate) const MAX: usize = 4;
/// Records named in a cell; the others are counted.
const NAMED: usize = 8;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    layout: PageLayout,
    noun: &'static str,
    parameter: &'static str,
    given: Vec<String>,
    warnings: Vec<String>,
    columns: Vec<SelectedRecord>,
    rows: Vec<ComparisonRow>,
}

/// A record of a selection in the URL.
pub(crate) struct SelectedRecord {
    pub(crate) name: String,
    pub(crate) href: String,
    /// Path of the page without this record.
    pub(crate) remove: String,
}

impl SelectedRecord {
    /// `parameter` of `link` has the slugs of the selection.
    pub(crate) fn new(catalog: &Catalog, table: Table, row: u32, link: &Link, parameter: &str) -> Self {
        let (name, href) = name_and_path(catalog, table, row);
        Self { name, href, remove: link.toggled(parameter, catalog.snapshot().slug(table, row)).href() }
    }
}

type ComparisonRow = (&'static str, Vec<ComparisonCell>);

/// The known facts about a record: the first texts, with links, and the number of others; empty if nothing is known.
struct ComparisonCell {
    parts: Vec<LinkedText>,
    more: usize,
}

type LinkedText = (String, Option<String>);

/// A text without a link; none if it is empty.
fn plain(text: impl Into<Option<String>>) -> Vec<LinkedText> {
    let text: Option<String> = text.into();
    text.filter(|text| !text.is_empty()).map(|text| (text, None)).into_iter().collect()
}

/// The texts, or "none", where absence is a known fact.
fn or_none(texts: Vec<LinkedText>) -> Vec<LinkedText> {
    if texts.is_empty() { plain("none".to_owned()) } else { texts }
}

/// `/compare?firm=a,b`, `/compare?startup=a,b`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let params: Vec<(String, String)> = form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
    let values = |table: Table, name: &str| -> Vec<&str> {
        let given = params.iter().filter(|(known, _)| known == name);
        given.flat_map(|(_, value)| catalog.listed_names(table, value)).collect()
    };
    let (table, parameter, given) = match values(Table::Startups, "startup") {
        startups if startups.is_empty() => (Table::Firms, "firm", values(Table::Firms, "firm")),
        startups => (Table::Startups, "startup", startups),
    };
    let mut warnings = Vec::new();
    let mut found: Vec<u32> = Vec::new();
    for text in &given {
        match find_row(catalog, table, text) {
            Ok(row) if found.contains(&row) => {}
            Ok(_) if found.len() == MAX => warnings.push(format!("At most {MAX} are compared; “{text}” is left out.")),
            Ok(row) => found.push(row),
            Err(warning) => warnings.push(warning),
        }
    }
    let slugs: Vec<&str> = found.iter().map(|row| catalog.snapshot().slug(table, *row)).collect();
    let link = Link::new("/compare", vec![(parameter.to_owned(), slugs.join(","))]);
    let column = |row: &u32| SelectedRecord::new(catalog, table, *row, &link, parameter);
    let columns: Vec<SelectedRecord> = found.iter().map(column).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let (title, which) = match names.join(", ") {
        names if names.is_empty() => ("Compare".to_owned(), "Firms or startups".to_owned()),
        names => (format!("Compare {names}"), names),
    };
    let description = format!("{which} side by side.");
    let rows = match table {
        Table::Firms => firms(catalog, &found)?,
        _ => startups(catalog, &found)?,
    };
    render(&ComparePage {
        layout: PageLayout::new(catalog.snapshot(), &title, &description, request.path)
            .not_indexed()
            .with_operator(&request.state.operator),
        noun: table.noun(),
        parameter,
        given: slugs.iter().map(|slug| (*slug).to_owned()).collect(),
        warnings,
        columns,
        rows,
    })
}

/// The row of a slug, or of a name that exactly one record has. The error is a message.
fn find_row(catalog: &Catalog, table: Table, text: &str) -> Result<u32, String> {
    if let Some(row) = catalog.find(table, text) {
        return Ok(row);
    }
    match catalog.rows_named(table, text).as_slice() {
        [row] => Ok(*row),
        _ => {
            let nearest = catalog.search(table, text).hits.first().map(|hit| catalog.snapshot().name(table, hit.row));
            let nearest = nearest.map_or_else(String::new, |name| format!("; did you mean “{name}”?"));
            Err(format!("No {} is named “{}”{nearest}", table.noun(), shortened(text)))
        }
    }
}

/// A row of cells; `None` if no record has a value.
fn row<R>(label: &'static str, records: &[R], texts: impl Fn(&R) -> Vec<LinkedText>) -> Option<ComparisonRow> {
    let cell = |record: &R| {
        let mut parts = texts(record);
        let more = parts.len().saturating_sub(NAMED);
        parts.truncate(NAMED);
        ComparisonCell { parts, more }
    };
    let cells: Vec<ComparisonCell> = records.iter().map(cell).collect();
    cells.iter().any(|cell| !cell.parts.is_empty()).then_some((label, cells))
}

fn firms(catalog: &Catalog, found: &[u32]) -> PageResult<Vec<ComparisonRow>> {
    let snapshot = catalog.snapshot();
    let firms: Vec<Firm> = records(catalog, Table::Firms, found)?;
    let firms: Vec<(u32, Firm)> = found.iter().copied().zip(firms).collect();
    let portfolios: Vec<BTreeSet<u32>> = found
        .iter()
        .map(|firm| catalog.history(*firm).portfolio.iter().map(|(startup, _)| *startup).collect())
        .collect();
    let shared = |(own, _): &(u32, Firm)| {
        let (own, others): (Vec<_>, Vec<_>) = found.iter().zip(&portfolios).partition(|(firm, _)| *firm == own);
        let own = own.into_iter().flat_map(|(_, startups)| startups);
        let common = own.filter(|startup| others.iter().any(|(_, startups)| startups.contains(startup)));
        let linked = common.map(|startup| name_and_path(catalog, Table::Startups, *startup));
        or_none(linked.map(|(name, path)| (name, Some(path))).collect())
    };
    let sectors = |(own, _): &(u32, Firm)| -> Vec<LinkedText> {
        let sector = |(sector, count): &(u32, u32)| {
            let name = format!("{} ({})", snapshot.name(Table::Sectors, *sector), format::number(*count));
            (name, Some(format!("/sectors/{}", snapshot.slug(Table::Sectors, *sector))))
        };
        catalog.history(*own).sectors.iter().take(5).map(sector).collect()
    };
    let rows = [
        row("Kind", &firms, |(_, firm)| plain(firm.kind.as_deref().map(format::word))),
        row("Place", &firms, |(_, firm)| plain(format::place(&firm.city, &firm.country))),
        row("Founded", &firms, |(_, firm)| plain(firm.founded_year.map(|year| year.to_string()))),
        row("Check size", &firms, |(_, firm)| plain(format::usd_range(&firm.check_min_usd, &firm.check_max_usd))),
        row("Assets under management", &firms, |(_, firm)| plain(firm.aum_usd.as_ref().map(format::usd))),
        row("Stages", &firms, |(_, firm)| firm.stages.iter().map(|stage| (format::word(stage), None)).collect()),
        row("Sectors of the portfolio", &firms, sectors),
        row("Portfolio", &firms, |(_, firm)| plain(format::counted_known(firm.portfolio_count, "startup", "startups"))),
        row("Rounds joined", &firms, |(_, firm)| {
            plain(format::counted_known(firm.investment_count, "round", "rounds"))
        }),
        row("Rounds led", &firms, |(own, _)| {
            plain(count_led(catalog, *own, &[]).map(|(led, named)| {
                format!("{} of {} that name their leads", format::number(led), format::number(named))
            }))
        }),
        row("Last investment", &firms, |(_, firm)| plain(firm.last_investment_on.as_ref().map(format::day))),
        row("Investments known up to", &firms, |(own, _)| {
            plain(catalog.coverage_until(Table::Firms, *own).map(format::day))
        }),
        row("Health score", &firms, |(_, firm)| {
            plain(firm.health_score.map(|score| match (firm.score.low, firm.score.high) {
                (Some(low), Some(high)) => format!("{score} of 100, 90 % interval {low} to {high}"),
                _ => format!("{score} of 100"),
            }))
        }),
        row("Ghosting rate", &firms, |(_, firm)| {
            plain(firm.ghosting_rate.as_ref().map(|rate| format!("{} %", format::tenths(rate))))
        }),
        row("Startups shared with the others", &firms, shared),
    ];
    Ok(rows.into_iter().flatten().collect())
}

fn startups(catalog: &Catalog, found: &[u32]) -> PageResult<Vec<ComparisonRow>> {
    let startups: Vec<Startup> = records(catalog, Table::Startups, found)?;
    let backs = |startup: &Startup, slug: &str| startup.investors.iter().any(|investor| investor.slug == slug);
    let linked = |firm: &Investor| (firm.name.clone(), Some(path_of(Table::Firms, &firm.slug)));
    let rows = [
        row("Status", &startups, |startup| plain(startup.status.as_deref().map(format::word))),
        row("Place", &startups, |startup| plain(format::place(&startup.city, &startup.country))),
        row("Founded", &startups, |startup| plain(startup.founded_year.map(|year| year.to_string()))),
        row("Sectors", &startups, |startup| {
            sector_links(catalog, &startup.sectors, "/sectors/").map(|(name, href)| (name, Some(href))).collect()
        }),
        row("Stage", &startups, |startup| plain(startup.stage.as_deref().map(format::word))),
        row("Raised", &startups, |startup| plain(startup.total_raised_usd.as_ref().map(format::usd))),
        row("Rounds", &startups, |startup| plain(format::number(startup.round_count))),
        row("Last round", &startups, |startup| plain(startup.last_round_on.as_ref().map(format::day))),
        row("Rounds known up to", &startups, |startup| {
            let row = catalog.snapshot().find(Table::Startups, &startup.slug);
            plain(row.and_then(|row| catalog.coverage_until(Table::Startups, row)).map(format::day))
        }),
        row("Investors", &startups, |startup| startup.investors.iter().map(linked).collect()),
        row("Investors shared with the others", &startups, |startup| {
            let others = || startups.iter().filter(|other| other.slug != startup.slug);
            let shared = startup.investors.iter().filter(|firm| others().any(|other| backs(other, &firm.slug)));
            or_none(shared.map(linked).collect())
        }),
    ];
    Ok(rows.into_iter().flatten().collect())
}
