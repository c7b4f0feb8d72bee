//! Up to four firms or startups side by side.

use std::collections::BTreeSet;

use askama::Template;

use crate::error_page::{PageError, path_of};
use crate::layout::PageLayout;
use crate::link::Link;
use crate::matching::count_led;
use crate::records::{record, sector_links};
use crate::{PageRequest, format};
use catalog::Catalog;
use catalog::param_error::shortened;
use data::Table;
use data::model::{Firm, Startup};

/// Maximum number of compared records.
pub(crate) const MAX: usize = 4;
/// Records named in a cell; the others are counted.
const NAMED: usize = 8;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    layout: PageLayout,
    /// Noun for the records that the form asks for.
    noun: &'static str,
    parameter: &'static str,
    given: Vec<String>,
    warnings: Vec<String>,
    columns: Vec<ComparedRecord>,
    rows: Vec<ComparisonRow>,
}

struct ComparedRecord {
    name: String,
    href: String,
    /// Path of the page without this record.
    remove: String,
}

struct ComparisonRow {
    label: &'static str,
    cells: Vec<ComparisonCell>,
}

/// The known facts about a record: texts, with links; empty if nothing is known.
#[derive(Default)]
struct ComparisonCell {
    parts: Vec<(String, Option<String>)>,
    more: usize,
}

impl ComparisonCell {
    fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { parts: if text.is_empty() { Vec::new() } else { vec![(text, None)] }, more: 0 }
    }

    fn known(text: Option<String>) -> Self {
        text.map_or_else(Self::default, Self::text)
    }

    /// Shows an empty cell as "none", where absence is a known fact.
    fn or_none(self) -> Self {
        if self.parts.is_empty() { Self::text("none") } else { self }
    }

    /// The first entries of a list.
    fn list(parts: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut parts: Vec<_> = parts.into_iter().collect();
        let more = parts.len().saturating_sub(NAMED);
        parts.truncate(NAMED);
        Self { parts, more }
    }
}

/// `/compare?firm=a,b`, `/compare?startup=a,b`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
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
    let columns = found.iter().zip(&slugs).map(|(row, slug)| ComparedRecord {
        name: catalog.snapshot().name(table, *row).to_owned(),
        href: path_of(table, slug),
        remove: link.toggled(parameter, slug).href(),
    });
    let columns: Vec<ComparedRecord> = columns.collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let title = if names.is_empty() { "Compare".to_owned() } else { format!("Compare {}", names.join(", ")) };
    let description =
        format!("{} side by side.", if names.is_empty() { "Firms or startups".to_owned() } else { names.join(", ") });
    let rows = match table {
        Table::Firms => firms(catalog, &found)?,
        _ => startups(catalog, &found)?,
    };
    let page = ComparePage {
        layout: PageLayout::new(catalog.snapshot(), &title, &description, request.path)
            .not_indexed()
            .with_operator(&request.state.operator),
        noun: table.noun(),
        parameter,
        given: slugs.iter().map(|slug| (*slug).to_owned()).collect(),
        warnings,
        columns,
        rows,
    };
    Ok(page.render()?)
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

fn row<R>(label: &'static str, records: &[R], cell: impl Fn(&R) -> ComparisonCell) -> ComparisonRow {
    ComparisonRow { label, cells: records.iter().map(cell).collect() }
}

/// Rows that have a value for at least one record.
fn known_rows(rows: Vec<ComparisonRow>) -> Vec<ComparisonRow> {
    rows.into_iter().filter(|row| row.cells.iter().any(|cell| !cell.parts.is_empty())).collect()
}

fn firms(catalog: &Catalog, found: &[u32]) -> Result<Vec<ComparisonRow>, PageError> {
    let snapshot = catalog.snapshot();
    let firms = found.iter().map(|row| Ok((*row, record(catalog, Table::Firms, *row)?)));
    let firms: Vec<(u32, Firm)> = firms.collect::<Result<_, PageError>>()?;
    let portfolios: Vec<BTreeSet<u32>> = found
        .iter()
        .map(|firm| catalog.history(*firm).portfolio.iter().map(|(startup, _)| *startup).collect())
        .collect();
    let portfolio_of = |row: u32| &portfolios[found.iter().position(|known| *known == row).unwrap_or(0)];
    let shared = |(own, _): &(u32, Firm)| {
        let others = found.iter().filter(|other| *other != own);
        let common = portfolio_of(*own)
            .iter()
            .filter(|startup| others.clone().any(|other| portfolio_of(*other).contains(startup)));
        ComparisonCell::list(common.map(|startup| {
            let path = path_of(Table::Startups, snapshot.slug(Table::Startups, *startup));
            (snapshot.name(Table::Startups, *startup).to_owned(), Some(path))
        }))
        .or_none()
    };
    let sectors = |(own, _): &(u32, Firm)| {
        ComparisonCell::list(catalog.history(*own).sectors.iter().take(5).map(|(sector, count)| {
            let name = format!("{} ({})", snapshot.name(Table::Sectors, *sector), format::number(*count));
            (name, Some(format!("/sectors/{}", snapshot.slug(Table::Sectors, *sector))))
        }))
    };
    Ok(known_rows(vec![
        row("Kind", &firms, |(_, firm)| ComparisonCell::known(firm.kind.as_deref().map(format::word))),
        row("Place", &firms, |(_, firm)| ComparisonCell::text(format::place(&firm.city, &firm.country))),
        row("Founded", &firms, |(_, firm)| ComparisonCell::known(firm.founded_year.map(|year| year.to_string()))),
        row("Check size", &firms, |(_, firm)| {
            ComparisonCell::text(format::usd_range(&firm.check_min_usd, &firm.check_max_usd))
        }),
        row("Assets under management", &firms, |(_, firm)| {
            ComparisonCell::known(firm.aum_usd.as_ref().map(format::usd))
        }),
        row("Stages", &firms, |(_, firm)| {
            ComparisonCell::list(firm.stages.iter().map(|stage| (format::word(stage), None)))
        }),
        row("Sectors of the portfolio", &firms, sectors),
        row("Portfolio", &firms, |(_, firm)| {
            ComparisonCell::text(format::counted(firm.portfolio_count, "startup", "startups"))
        }),
        row("Rounds joined", &firms, |(_, firm)| ComparisonCell::text(format::number(firm.investment_count))),
        row("Rounds led", &firms, |(own, _)| {
            ComparisonCell::known(count_led(catalog, *own, &[]).map(|(led, named)| {
                format!("{} of {} that name their leads", format::number(led), format::number(named))
            }))
        }),
        row("Last investment", &firms, |(_, firm)| {
            ComparisonCell::known(firm.last_investment_on.as_ref().map(format::day))
        }),
        row("Health score", &firms, |(_, firm)| {
            ComparisonCell::known(firm.health_score.map(|score| match (firm.score.low, firm.score.high) {
                (Some(low), Some(high)) => format!("{score} of 100, 90 % interval {low} to {high}"),
                _ => format!("{score} of 100"),
            }))
        }),
        row("Ghosting rate", &firms, |(_, firm)| {
            ComparisonCell::known(firm.ghosting_rate.as_ref().map(|rate| format!("{} %", format::tenths(rate))))
        }),
        row("Startups shared with the others", &firms, shared),
    ]))
}

fn startups(catalog: &Catalog, found: &[u32]) -> Result<Vec<ComparisonRow>, PageError> {
    let startups = found.iter().map(|row| record(catalog, Table::Startups, *row));
    let startups: Vec<Startup> = startups.collect::<Result<_, PageError>>()?;
    let backs = |startup: &Startup, slug: &str| startup.investors.iter().any(|investor| investor.slug == slug);
    let investor = |slug: &str, name: &str| (name.to_owned(), Some(path_of(Table::Firms, slug)));
    Ok(known_rows(vec![
        row("Status", &startups, |startup| ComparisonCell::known(startup.status.as_deref().map(format::word))),
        row("Place", &startups, |startup| ComparisonCell::text(format::place(&startup.city, &startup.country))),
        row("Founded", &startups, |startup| ComparisonCell::known(startup.founded_year.map(|year| year.to_string()))),
        row("Sectors", &startups, |startup| {
            ComparisonCell::list(sector_links(catalog, &startup.sectors).map(|(name, href)| (name, Some(href))))
        }),
        row("Stage", &startups, |startup| ComparisonCell::known(startup.stage.as_deref().map(format::word))),
        row("Raised", &startups, |startup| ComparisonCell::known(startup.total_raised_usd.as_ref().map(format::usd))),
        row("Rounds", &startups, |startup| ComparisonCell::text(format::number(startup.round_count))),
        row("Last round", &startups, |startup| ComparisonCell::known(startup.last_round_on.as_ref().map(format::day))),
        row("Investors", &startups, |startup| {
            ComparisonCell::list(startup.investors.iter().map(|firm| investor(&firm.slug, &firm.name)))
        }),
        row("Investors shared with the others", &startups, |startup| {
            let others = || startups.iter().filter(|other| other.slug != startup.slug);
            let shared = startup.investors.iter().filter(|firm| others().any(|other| backs(other, &firm.slug)));
            ComparisonCell::list(shared.map(|firm| investor(&firm.slug, &firm.name))).or_none()
        }),
    ]))
}
