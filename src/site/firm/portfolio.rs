//! A firm's portfolio: its startups, and counts of them by property.

use crate::PageResult;
use crate::error_page::path_of;
use crate::filters::value_of;
use crate::lists::amount_cell;
use crate::record_table::{TableCell, TableConfig, TableRow};
use crate::records::{record, sector_names_cell};
use catalog::{Catalog, Filter, Query, ValueCount};
use data::model::Startup;
use data::vocabulary::Vocabulary;
use data::{Facet, Stage, Table};
use view::charts::{Bars, ChartHead, ChartItem, ChartUnit};
use view::columns::{number, words};
use view::format;

const MAX_BARS: usize = 5;

pub(super) static PORTFOLIO: TableConfig = TableConfig {
    label: "Portfolio",
    name: "Startup",
    columns: &[
        words("sectors", "Sectors", 4),
        words("country", "Country", 5),
        words("stage", "Last round joined", 3),
        number("amount_usd", "Amount", "", 1),
        number("announced_on", "Date", "", 2),
    ],
    pick: "",
};

/// A startup of the portfolio, with the last round that the firm joined.
pub(super) fn portfolio_row(catalog: &Catalog, firm: u32, startup: u32, round: u32) -> PageResult<TableRow> {
    let snapshot = catalog.snapshot();
    let startup: Startup = record(catalog, Table::Startups, startup)?;
    let led = snapshot.round_investors(round).any(|(investor, lead)| investor == firm && lead);
    let called = format::round(snapshot.round_stage(round).map(Stage::name));
    Ok(TableRow {
        href: format!("/startups/{}", startup.slug),
        about: startup.status.as_deref().filter(|status| *status != "operating").map(format::word).unwrap_or_default(),
        remark: Vec::new(),
        cells: vec![
            sector_names_cell(catalog, &startup.sectors),
            TableCell::text(startup.country.as_deref().map(format::country).unwrap_or_default()),
            TableCell::names([(called, None, if led { "led" } else { "" })], 1),
            amount_cell(snapshot.round_amount(round)),
            TableCell::day(snapshot.round_date(round)),
        ],
        slug: startup.slug,
        name: startup.name,
    })
}

pub(crate) struct PortfolioCounts<'a> {
    catalog: &'a Catalog,
    slug: &'a str,
    /// In the order of [`PROPERTIES`].
    counts: Vec<Vec<ValueCount>>,
}

/// Properties that a portfolio is counted by: parameter, label, facet.
const PROPERTIES: [(&str, &str, Facet); 4] = [
    ("stage", "Stage", Facet::Stage),
    ("sector", "Sector", Facet::Sector),
    ("country", "Country", Facet::Country),
    ("status", "Status", Facet::Status),
];
/// Properties with few values, which are listed above the portfolio; the others are shown as bars.
const LISTED: [Facet; 2] = [Facet::Stage, Facet::Status];

/// The label of a property, and its values: label, path of the list, number of startups.
pub(super) type PortfolioProperty = (&'static str, Vec<(String, String, u64)>);

impl<'a> PortfolioCounts<'a> {
    pub(super) fn new(catalog: &'a Catalog, firm: u32) -> Self {
        let filters = vec![Filter::AnyOf(Facet::Investor, vec![firm])];
        let query = Query { filters, ..Query::all(Table::Startups) };
        let counts = catalog.counts_by(&query, &PROPERTIES.map(|(.., facet)| facet));
        Self { catalog, slug: catalog.snapshot().slug(Table::Firms, firm), counts }
    }

    pub(super) fn counts_of(&self, facet: Facet) -> (&'static str, &[ValueCount]) {
        let mut properties = PROPERTIES.iter().zip(&self.counts);
        let found = properties.find(|((.., known), _)| *known == facet);
        found.map_or_else(Default::default, |((name, ..), counts)| (*name, counts.as_slice()))
    }

    /// Label, path of the list, and number of startups of a value.
    fn linked(&self, name: &str, facet: Facet, counted: &ValueCount) -> Option<(String, String, u64)> {
        let (value, label) = value_of(self.catalog, Table::Startups, facet, counted.value)?;
        Some((label, format!("/startups?investor={}&{name}={value}", self.slug), counted.count))
    }

    /// The listed properties that have more than one value.
    pub(super) fn properties(&self) -> Vec<PortfolioProperty> {
        let listed = PROPERTIES.iter().zip(&self.counts).filter(|((.., facet), _)| LISTED.contains(facet));
        let properties = listed.map(|((name, label, facet), counts)| {
            (*label, counts.iter().filter_map(|counted| self.linked(name, *facet, counted)).collect::<Vec<_>>())
        });
        properties.filter(|(_, values)| values.len() > 1).collect()
    }

    pub(crate) fn by_sector(&self) -> Option<Bars> {
        self.breakdown("portfolio-sectors", ["Portfolio by sector", "Sector"], Facet::Sector)
    }

    pub(crate) fn by_country(&self) -> Option<Bars> {
        self.breakdown("portfolio-countries", ["Portfolio by country", "Country"], Facet::Country)
    }

    fn breakdown(&self, chart: &'static str, [title, head]: [&'static str; 2], facet: Facet) -> Option<Bars> {
        let (name, counts) = self.counts_of(facet);
        let linked = counts.iter().take(MAX_BARS).filter_map(|counted| self.linked(name, facet, counted));
        let items = linked.map(|(label, href, count)| ChartItem::linked(label, Some(count), href));
        let more = counts.len().saturating_sub(MAX_BARS);
        let rest = (more > 0).then(|| (format!("{more} more"), format!("/startups?investor={}", self.slug)));
        let summary = if more > 0 { format!("The {MAX_BARS} largest of {}.", counts.len()) } else { String::new() };
        let head = ChartHead::new(chart, title, summary)
            .table([head, "Startups"], ChartUnit::Count("startup", "startups"))
            .on_page(&path_of(Table::Firms, self.slug), "");
        Bars::breakdown(head, &items.collect::<Vec<_>>(), rest)
    }
}
