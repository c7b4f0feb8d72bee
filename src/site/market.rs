//! Markets: the rounds of a sector, a country, a city, a stage, or of all, by year and stage, and who invests in them.

use std::sync::Arc;

use askama::Template;

use crate::catalog::aggregate::{Aggregate, AggregateOptions, GroupBy, Grouping, group_bys};
use crate::catalog::{Catalog, Filter, ListPosition, ParseOptions, Query, Request, Resource, RowFilter};
use crate::data::model::FundingRound;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Stage, Table};
use crate::http::url::decoded;
use crate::site::browse::label_of;
use crate::site::charts::{BarChart, BreakdownChart};
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::link::Link;
use crate::site::matching::led;
use crate::site::records::records;
use crate::site::{PageRequest, format};

/// Years of the charts: the latest.
const YEARS: usize = 20;
/// Groups of a breakdown, and investors.
const GROUPS: usize = 12;
const NEWEST: usize = 10;

const OPTIONS: ParseOptions = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };

/// What a market page is about, by the segments of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Market<'a> {
    All,
    Sector(&'a str, Option<&'a str>),
    Country(&'a str, Option<&'a str>),
    City(&'a str, Option<&'a str>),
}

impl<'a> Market<'a> {
    /// The path without names.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::All => "/markets",
            Self::Sector(_, None) => "/sectors/{slug}",
            Self::Sector(..) => "/sectors/{slug}/{stage}",
            Self::Country(_, None) => "/countries/{code}",
            Self::Country(..) => "/countries/{code}/{stage}",
            Self::City(_, None) => "/cities/{name}",
            Self::City(..) => "/cities/{name}/{stage}",
        }
    }

    /// Its conditions, as parameters of `/funding-rounds`.
    fn conditions(self) -> Vec<(String, String)> {
        let (place, stage) = match self {
            Self::All => (None, None),
            Self::Sector(slug, stage) => (Some(("sector", slug)), stage),
            Self::Country(code, stage) => (Some(("country", code)), stage),
            Self::City(name, stage) => (Some(("city", name)), stage),
        };
        let stage = stage.map(|stage| ("stage", stage));
        place.into_iter().chain(stage).map(|(name, value)| (name.to_owned(), decoded(value))).collect()
    }
}

#[derive(Template)]
#[template(path = "market.html")]
struct MarketPage {
    layout: PageLayout,
    /// The pages above it: path and name.
    crumbs: Vec<(String, String)>,
    rounds: u64,
    startups: u64,
    firms: u64,
    raised: Option<u64>,
    median: Option<u64>,
    /// Rounds whose amount is not known.
    undisclosed: u64,
    charts: Vec<BarChart>,
    stages: Vec<StageRow>,
    investors: Vec<Investor>,
    breakdowns: Vec<BreakdownChart>,
    newest: Vec<FundingRound>,
    all_rounds: String,
    all_startups: String,
    all_firms: String,
    feed: String,
    api: String,
}

struct StageRow {
    name: String,
    href: String,
    rounds: u64,
    raised: Option<u64>,
    median: Option<u64>,
}

struct Investor {
    slug: String,
    name: String,
    rounds: u64,
    /// Of the rounds that name their leads those that it led, and how many these are; `None` if none names them.
    led: Option<(u64, u64)>,
}

/// `/markets`, `/sectors/{slug}`, `/countries/{code}`, `/cities/{name}`, each with a stage.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, market: Market<'_>) -> Result<String, PageError> {
    let conditions = market.conditions();
    // A name that nothing has is a page that does not exist.
    let parsed = catalog.parse(Resource::Rounds, &conditions, OPTIONS).map_err(|_| PageError::UnknownPage)?;
    let Request::List(query) = parsed.request else { unreachable!("rounds are a list") };
    let pairs: Vec<(String, String)> =
        parsed.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    if pairs.iter().any(|(_, value)| value.contains(',')) {
        return Err(PageError::UnknownPage);
    }
    let link = Link::new("/rounds", pairs);
    let names: Vec<String> = ["stage", "sector", "country", "city"]
        .iter()
        .filter(|name| !link.text(name).is_empty())
        .map(|name| label_of(catalog, name, link.text(name)))
        .collect();
    let title = if names.is_empty() { "Markets".to_owned() } else { names.join(" · ") };

    let rounds = aggregate(catalog, Resource::Rounds, &query.filters, &["stage", "investor"], GROUPS);
    let years = aggregate(catalog, Resource::Rounds, &query.filters, &["year"], 100);
    let total_of = |resource: Resource| total(catalog, resource, &link.others(&[]));
    let newest = catalog.list(&query, ListPosition::default(), NEWEST);
    let description = description(&title, names.is_empty(), &rounds);
    let page = MarketPage {
        layout: PageLayout::of(catalog.snapshot(), &title, &description, &canonical_path(market, &link))
            .at(&request.state.public_url)
            .by(&request.state.operator),
        crumbs: crumbs(catalog, market, &link),
        rounds: rounds.total,
        startups: total_of(Resource::Startups),
        firms: total_of(Resource::Firms),
        raised: rounds.amounts.and_then(|amounts| amounts.sum_usd),
        median: rounds.amounts.and_then(|amounts| amounts.median_usd),
        undisclosed: rounds.amounts.map_or(0, |amounts| amounts.unknown),
        charts: charts(catalog, &years),
        stages: stages(&rounds, market, &link),
        investors: investors(catalog, &rounds, &query.filters),
        breakdowns: breakdowns(catalog, &query.filters, market, &link),
        newest: records(catalog, Table::Rounds, &newest.rows)?,
        all_rounds: link.href(),
        all_startups: link.at("/startups").href(),
        all_firms: link.at("/vcs").href(),
        feed: link.at("/rounds.atom").href(),
        api: link
            .at(&format!("{}/api/v3/funding-rounds/aggregate", request.state.public_url))
            .with("group_by", "year,stage,investor")
            .href(),
    };
    Ok(page.render()?)
}

fn description(title: &str, is_all: bool, rounds: &Aggregate) -> String {
    let count = format::counted(rounds.total, "funding round", "funding rounds");
    let raised =
        rounds.amounts.and_then(|amounts| amounts.sum_usd).map(|usd| format!(", {} raised", format::usd(&usd)));
    let of = if is_all { String::new() } else { format!("{title}: ") };
    format!("{of}{count}{}, by year and stage, with the most active investors.", raised.unwrap_or_default())
}

/// One address for each market, however its names were written.
fn canonical_path(market: Market<'_>, link: &Link) -> String {
    let stage = match link.text("stage") {
        "" => String::new(),
        stage => format!("/{stage}"),
    };
    let escaped = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    match market {
        Market::All => "/markets".to_owned(),
        Market::Sector(..) => format!("/sectors/{}{stage}", link.text("sector")),
        Market::Country(..) => format!("/countries/{}{stage}", link.text("country").to_ascii_lowercase()),
        Market::City(..) => format!("/cities/{}{stage}", escaped(link.text("city"))),
    }
}

fn crumbs(catalog: &Catalog, market: Market<'_>, link: &Link) -> Vec<(String, String)> {
    let mut crumbs = Vec::new();
    if market != Market::All {
        crumbs.push(("/markets".to_owned(), "Markets".to_owned()));
    }
    if !link.text("stage").is_empty() {
        let above = link.with("stage", "");
        for name in ["sector", "country", "city"].into_iter().filter(|name| !above.text(name).is_empty()) {
            crumbs.push((canonical_path(market, &above), label_of(catalog, name, above.text(name))));
        }
    }
    crumbs
}

fn aggregate(catalog: &Catalog, resource: Resource, filters: &[Filter], by: &[&str], limit: usize) -> Arc<Aggregate> {
    let known = group_bys(resource);
    let group_by: Vec<(&'static str, GroupBy)> = known.into_iter().filter(|(name, _)| by.contains(name)).collect();
    let options = AggregateOptions { group_by, order: None, limit, is_clamped: false };
    let query = Query { filters: filters.to_vec(), ..Query::all(resource.table()) };
    catalog.aggregate(&query, &options).0
}

fn grouping<'a>(aggregate: &'a Aggregate, by: &str) -> Option<&'a Grouping> {
    aggregate.groups.iter().find(|grouping| grouping.by == by)
}

/// The number of rows of a list with the same conditions.
fn total(catalog: &Catalog, resource: Resource, values: &[(String, String)]) -> u64 {
    let parsed = catalog.parse(resource, values, OPTIONS);
    let Ok(Request::List(query)) = parsed.map(|parsed| parsed.request) else { return 0 };
    RowFilter::of(catalog.snapshot(), query.table, &query.filters).count()
}

/// Rounds and what they raised, by year. A year that the data does not cover is not drawn as empty.
fn charts(catalog: &Catalog, years: &Aggregate) -> Vec<BarChart> {
    let Some(by_year) = grouping(years, "year") else { return Vec::new() };
    let group = |year: i32| by_year.values.iter().find(|group| group.value == year.to_string());
    let known: Vec<i32> = by_year.values.iter().filter_map(|group| group.value.parse().ok()).collect();
    let (Some(first), Some(last)) = (known.iter().min(), known.iter().max()) else { return Vec::new() };
    let shown: Vec<i32> = (*first..=*last).rev().take(YEARS).collect();
    let values = |value: &dyn Fn(i32) -> Option<u64>| -> Vec<(String, Option<u64>)> {
        shown.iter().rev().map(|year| (year.to_string(), value(*year))).collect()
    };
    let count = |year: i32| match group(year) {
        Some(group) => Some(group.count),
        None => catalog.covers(year).then_some(0),
    };
    let raised = |year: i32| match group(year) {
        // Rounds of unknown amount are not worth nothing.
        Some(group) => group.amounts.and_then(|amounts| amounts.sum_usd),
        None => catalog.covers(year).then_some(0),
    };
    let (counts, sums) = (values(&count), values(&raised));
    let total: u64 = counts.iter().filter_map(|(_, count)| *count).sum();
    let usd: u64 = sums.iter().filter_map(|(_, usd)| *usd).sum();
    vec![
        BarChart::new(
            "Rounds per year",
            format!("{} in the years shown.", format::counted(total, "round", "rounds")),
            ("Year", "Rounds"),
            &counts,
        ),
        BarChart::new(
            "Raised per year, US dollars",
            format!("{} of known amounts in the years shown.", format::usd(&usd)),
            ("Year", "US dollars"),
            &sums,
        ),
    ]
}

fn stages(rounds: &Aggregate, market: Market<'_>, link: &Link) -> Vec<StageRow> {
    let Some(by_stage) = grouping(rounds, "stage").filter(|_| link.text("stage").is_empty()) else {
        return Vec::new();
    };
    let row = |stage: &Stage| {
        let group = by_stage.values.iter().find(|group| group.value == stage.name())?;
        let with_stage = link.with("stage", stage.name());
        Some(StageRow {
            name: format::word(stage.name()),
            href: if market == Market::All { with_stage.href() } else { canonical_path(market, &with_stage) },
            rounds: group.count,
            raised: group.amounts.and_then(|amounts| amounts.sum_usd),
            median: group.amounts.and_then(|amounts| amounts.median_usd),
        })
    };
    Stage::ALL.iter().filter_map(row).collect()
}

fn investors(catalog: &Catalog, rounds: &Aggregate, filters: &[Filter]) -> Vec<Investor> {
    let snapshot = catalog.snapshot();
    let investor = |slug: &String, rounds: u64, name: &String| {
        let row = snapshot.find(Table::Firms, slug)?;
        let led = led(catalog, row, filters);
        Some(Investor { slug: slug.clone(), name: name.clone(), rounds, led })
    };
    let groups = grouping(rounds, "investor").into_iter().flat_map(|grouping| &grouping.values);
    groups.filter_map(|group| investor(&group.value, group.count, &group.name)).collect()
}

/// Startups by what the page is not about: sectors and countries.
fn breakdowns(catalog: &Catalog, filters: &[Filter], market: Market<'_>, link: &Link) -> Vec<BreakdownChart> {
    let all = [("sector", "Sectors", "Sector"), ("country", "Countries", "Country")];
    let open = all.into_iter().filter(|(name, ..)| link.text(name).is_empty());
    let open = open.filter(|(name, ..)| *name == "sector" || !matches!(market, Market::City(..)));
    open.filter_map(|(name, title, head)| {
        let rounds = aggregate(catalog, Resource::Rounds, filters, &[name], GROUPS);
        let href = |value: &str| match (name, market) {
            ("sector", Market::All) => format!("/sectors/{value}"),
            ("country", Market::All) => format!("/countries/{}", value.to_ascii_lowercase()),
            _ => link.with(name, value).href(),
        };
        let values: Vec<(String, String, u64)> = grouping(&rounds, name)?
            .values
            .iter()
            .map(|group| (group.name.clone(), href(&group.value), group.count))
            .collect();
        BreakdownChart::new(title, (head, "Rounds"), values)
    })
    .collect()
}
