//! Markets: the rounds of a sector, country, city or stage, or all, by year and stage, with the most active investors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use askama::Template;

use crate::conditions::label_of;
use crate::error_page::PageError;
use crate::field_years::CoveredYears;
use crate::filters::total;
use crate::layout::PageLayout;
use crate::matching::count_led;
use crate::record_table::RecordTable;
use crate::round_table;
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::aggregate::{Aggregate, AggregateGroup, AggregateOptions, GroupBy, Grouping, Rest, group_bys};
use catalog::coverage::markets_of;
use catalog::{Amounts, Catalog, Filter, ListPosition, ParseOptions, Query, Request, Resource, RowFilter, ValueCount};
use data::vocabulary::Vocabulary;
use data::{Country, Facet, Stage, Table};
use platform::pause;
use transport::url::{decoded, encoded_segment};
use view::charts::{
    Bars, ChartFigure, ChartHead, ChartItem, ChartMark, ChartRow, ChartUnit, Heatmap, Network, NetworkTie, TileMap,
    Timeline, TimelineEvent, Treemap,
};
use view::format;
use view::link::Link;

/// Maximum number of years in charts; the latest are kept.
const YEARS: i32 = 20;
/// Maximum number of groups in a breakdown, and of investors.
const GROUPS: usize = 12;
const NEWEST: usize = 10;
/// Rounds that are counted before other requests get their turn.
const ROUNDS_OF_PIECE: usize = 1 << 12;
pub(crate) const MAX_SECTORS: usize = 24;
const MAX_CITIES: usize = 24;
/// Rounds on the timeline of a market: the largest, and the least for which it is drawn; how many have names.
const MAX_LARGEST: usize = 60;
const MIN_LARGEST: usize = 5;
const NAMED: usize = 14;
/// Firms of the network of a market: the most, and the least for which it is drawn.
const MAX_FIRMS: usize = 36;
const MIN_FIRMS: usize = 4;

const ROUNDS: ChartUnit = ChartUnit::Count("round", "rounds");
const STARTUPS: ChartUnit = ChartUnit::Count("startup", "startups");

const OPTIONS: ParseOptions = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };

/// The scope of a market: parameter of lists, first segment of the path. `None` for all markets.
type MarketScope = Option<(&'static str, &'static str)>;

const SCOPES: [(&str, &str); 3] = [("sector", "sectors"), ("country", "countries"), ("city", "cities")];

#[derive(Template)]
#[template(path = "market.html")]
struct MarketPage {
    layout: PageLayout,
    /// The parent pages: path and name.
    crumbs: Vec<(String, String)>,
    rounds: u64,
    startups: u64,
    firms: u64,
    amounts: Amounts,
    by_year: Option<(Bars, Bars)>,
    by_stage_and_year: Option<Heatmap>,
    sectors: Option<Treemap>,
    countries: Option<TileMap>,
    cities: Option<Treemap>,
    largest: Option<Timeline>,
    network: Option<Network>,
    /// Path of the rounds of each stage, and last of those of unknown stage; the stage in words, and their counts.
    stages: Vec<(String, String, Rest)>,
    /// Investors, each with the rounds that it led and those that name their leads; `None` if no round names them.
    investors: Vec<(AggregateGroup, Option<(u64, u64)>)>,
    /// True if the number of rounds led is known for any of the investors.
    shows_led: bool,
    breakdowns: Vec<Bars>,
    newest: RecordTable,
    link: Link,
    api: String,
}

/// The market that a path means.
pub(crate) struct Market {
    scope: MarketScope,
    query: Query,
    link: Link,
    title: String,
    is_all: bool,
}

impl Market {
    /// The market of a page's path and its values; an error if there is none.
    pub(crate) fn parse(catalog: &Catalog, path: &str, [name, stage]: PathValues<'_>) -> PageResult<Self> {
        let scope = SCOPES.into_iter().find(|(_, above)| path.split('/').nth(1) == Some(*above));
        let place = scope.map(|(parameter, _)| (parameter, name));
        let stage = (!stage.is_empty()).then_some(("stage", stage));
        let conditions: Vec<(String, String)> =
            place.into_iter().chain(stage).map(|(name, value)| (name.to_owned(), decoded(value))).collect();
        let parsed = catalog.parse(Resource::Rounds, &conditions, OPTIONS).map_err(|_| PageError::UnknownPage)?;
        let link = Link::canonical("/rounds", &parsed);
        let Request::List(query) = parsed.request else { unreachable!("rounds are a list") };
        if parsed.canonical.iter().any(|(_, value)| value.contains(',')) {
            return Err(PageError::UnknownPage);
        }
        let named = ["stage", "sector", "country", "city"].into_iter().filter(|name| !link.text(name).is_empty());
        let names: Vec<String> = named.map(|name| name_of(catalog, name, link.text(name))).collect();
        let title = if names.is_empty() { "Markets".to_owned() } else { names.join(" · ") };
        Ok(Self { scope, query, link, title, is_all: names.is_empty() })
    }

    fn path(&self) -> String {
        canonical_path(self.scope, &self.link)
    }

    /// The rounds of each year.
    fn years<'a>(&'a self, catalog: &'a Catalog) -> MarketYears<'a> {
        let years = aggregate(catalog, Resource::Rounds, &self.query.filters, &["year"], 100);
        let covered = CoveredYears::new(catalog, None, markets_of(Table::Rounds, &self.query.filters));
        MarketYears { shown: shown_years(&covered, &years), covered, years, market: self }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn rounds_by_year(&self, catalog: &Catalog) -> Option<Bars> {
        Some(self.years(catalog).charts()?.0)
    }

    pub(crate) fn raised_by_year(&self, catalog: &Catalog) -> Option<Bars> {
        Some(self.years(catalog).charts()?.1)
    }

    pub(crate) fn stages_by_year(&self, catalog: &Catalog) -> Option<Heatmap> {
        self.years(catalog).stages(catalog)
    }

    /// Startups by city; `None` unless the market is a country.
    pub(crate) fn cities(&self, catalog: &Catalog) -> Option<Treemap> {
        let ("country", _) = self.scope? else { return None };
        let startups = self.link.at("/startups");
        let filters = startup_filters(catalog, &startups)?;
        let groups = aggregate(catalog, Resource::Startups, &filters, &["city"], MAX_CITIES);
        let groups = grouping(&groups, "city")?;
        let item = |group: &AggregateGroup| {
            let href = startups.with("city", &group.value).href();
            ChartItem::linked(&group.name, Some(group.count), href)
        };
        let known: u64 = groups.values.iter().map(|group| group.count).sum();
        let known = format::counted(known, "startup", "startups");
        let mut summary = match groups.values.len() {
            MAX_CITIES => format!("The {MAX_CITIES} cities with most startups, which have {known}."),
            count => format!("{known} in {}.", format::counted(count, "city", "cities")),
        };
        if groups.unknown.count > 0 {
            summary +=
                &format!(" The city of {} is not known.", format::counted(groups.unknown.count, "startup", "startups"));
        }
        let head = ChartHead::new("cities", "Startups by city", summary)
            .table(["City", "Startups"], STARTUPS)
            .on_page(&self.path(), "");
        Treemap::new(head, groups.values.iter().map(item).collect())
    }

    /// The largest rounds of the market on a time axis. `None` for all markets together, or if few have an amount and a date.
    pub(crate) fn timeline(&self, catalog: &Catalog) -> Option<Timeline> {
        self.scope?;
        let snapshot = catalog.snapshot();
        let rounds = RowFilter::new(catalog, Table::Rounds, &self.query.filters);
        let mut rounds: Vec<(u64, u32)> = pause::every(ROUNDS_OF_PIECE, rounds.rows_from(0))
            .filter_map(|round| Some((snapshot.round_amount(round)?, round)))
            .filter(|(_, round)| snapshot.round_date(*round).is_some())
            .collect();
        let known = rounds.len();
        if known < MIN_LARGEST {
            return None;
        }
        // Of equal amounts, the latest come first, as in lists.
        rounds.sort_by_key(|(amount, round)| (Reverse(*amount), *round));
        rounds.truncate(MAX_LARGEST);
        let event = |(amount, round): &(u64, u32)| {
            let startup = snapshot.round_startup(*round);
            let (of, id) = (snapshot.slug(Table::Startups, startup), snapshot.slug(Table::Rounds, *round));
            Some(TimelineEvent {
                label: snapshot.name(Table::Startups, startup).to_owned(),
                lane: Stage::place(snapshot.round_stage(*round)),
                date: snapshot.round_date(*round)?,
                amount: Some(*amount),
                href: format!("/startups/{of}#round-{id}"),
            })
        };
        let covered = CoveredYears::new(catalog, None, markets_of(Table::Rounds, &self.query.filters));
        let which = if known > rounds.len() {
            format!("each of the {} largest rounds", rounds.len())
        } else {
            "each round of known amount".to_owned()
        };
        let years = || rounds.iter().filter_map(|(_, round)| Some(snapshot.round_date(*round)?.year()));
        let gaps = years().min().zip(years().max()).map(|(first, last)| covered.gaps(first, last)).unwrap_or_default();
        let summary = format!("A dot for {which}; its area is the amount. The largest have names.{gaps}");
        let head = ChartHead::new("largest", "Largest rounds", summary)
            .table(["Startup", "Stage", "Date", "Amount"], ChartUnit::Usd)
            .with_gap_reason(covered.gap_reason())
            .on_page(&self.path(), "");
        let stages: Vec<String> = Stage::places().map(format::stage).collect();
        let rest = (known > rounds.len()).then(|| {
            let smaller = format::counted(known - rounds.len(), "smaller round", "smaller rounds");
            (smaller, self.link.href())
        });
        Timeline::new(
            head,
            &stages,
            rounds.iter().filter_map(event).collect(),
            |year| covered.covers(year),
            rest,
            NAMED,
        )
    }

    /// Firms that join rounds of the market together. `None` for all markets together, or if few do.
    pub(crate) fn network(&self, catalog: &Catalog) -> Option<Network> {
        self.scope?;
        let snapshot = catalog.snapshot();
        let rounds = RowFilter::new(catalog, Table::Rounds, &self.query.filters);
        let all = || pause::every(ROUNDS_OF_PIECE, rounds.rows_from(0));
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for (firm, _) in all().flat_map(|round| snapshot.round_investors(round)) {
            *counts.entry(firm).or_default() += 1;
        }
        let investors = counts.len();
        let slugs = snapshot.slug_ranks(Table::Firms);
        let mut firms: Vec<(u32, u32)> = counts.into_iter().collect();
        firms.sort_unstable_by_key(|(firm, rounds)| (Reverse(*rounds), slugs[*firm as usize]));
        firms.truncate(MAX_FIRMS);
        let places: HashMap<u32, usize> = firms.iter().enumerate().map(|(place, (firm, _))| (*firm, place)).collect();
        let mut shared: BTreeMap<[usize; 2], u32> = BTreeMap::new();
        for round in all() {
            let joined: Vec<usize> =
                snapshot.round_investors(round).filter_map(|(firm, _)| places.get(&firm).copied()).collect();
            for (index, one) in joined.iter().enumerate() {
                for other in joined[..index].iter().filter(|other| *other != one) {
                    *shared.entry([*one.min(other), *one.max(other)]).or_default() += 1;
                }
            }
        }
        let ties: Vec<NetworkTie> =
            shared.into_iter().map(|(between, shared)| NetworkTie { between, shared }).collect();
        if firms.len() < MIN_FIRMS || ties.len() < MIN_FIRMS {
            return None;
        }
        let item = |(firm, rounds): &(u32, u32)| {
            let (name, slug) = (snapshot.name(Table::Firms, *firm), snapshot.slug(Table::Firms, *firm));
            ChartItem::linked(name, Some(u64::from(*rounds)), format!("/vcs/{slug}"))
        };
        let which = if investors > firms.len() {
            format!("The {} firms with most rounds here", firms.len())
        } else {
            format::counted(firms.len(), "firm", "firms")
        };
        let summary = format!(
            "{which}: the larger a dot, the more rounds; the thicker a line, the more of them shared. \
             Rounds whose investors are not known do not count."
        );
        let head = ChartHead::new("network", "Who invests together", summary)
            .table(["Firm", "Rounds here", "Most with", "Shared"], ROUNDS)
            .on_page(&self.path(), "");
        Network::new(head, firms.iter().map(item).collect(), ties)
    }

    pub(crate) fn by_sector(&self, catalog: &Catalog) -> Option<Bars> {
        self.breakdown(catalog, &BREAKDOWNS[0])
    }

    pub(crate) fn by_country(&self, catalog: &Catalog) -> Option<Bars> {
        self.breakdown(catalog, &BREAKDOWNS[1])
    }

    /// Rounds by sector or country; `None` if the market is limited to one. All markets together have maps instead.
    fn breakdown(&self, catalog: &Catalog, (name, chart, title, head): &Breakdown) -> Option<Bars> {
        let (parameter, _) = self.scope?;
        if !self.link.text(name).is_empty() || (*name == "country" && parameter == "city") {
            return None;
        }
        let rounds = aggregate(catalog, Resource::Rounds, &self.query.filters, &[name], GROUPS);
        let groups = grouping(&rounds, name)?.values.iter();
        let items = groups
            .map(|group| ChartItem::linked(&group.name, Some(group.count), self.link.with(name, &group.value).href()));
        let head = ChartHead::new(chart, *title, "").table([head, "Rounds"], ROUNDS).on_page(&self.path(), "");
        Bars::breakdown(head, &items.collect::<Vec<_>>(), None)
    }
}

/// Parameter, name of the chart, title, heading.
type Breakdown = (&'static str, &'static str, &'static str, &'static str);

const BREAKDOWNS: [Breakdown; 2] =
    [("sector", "by-sector", "Rounds by sector", "Sector"), ("country", "by-country", "Rounds by country", "Country")];

/// The conditions of a list of startups; `None` if its parameters are not those of startups.
fn startup_filters(catalog: &Catalog, link: &Link) -> Option<Vec<Filter>> {
    let parsed = catalog.parse(Resource::Startups, &link.others(&[]), OPTIONS).ok()?;
    match parsed.request {
        Request::List(query) => Some(query.filters),
        _ => None,
    }
}

struct MarketYears<'a> {
    market: &'a Market,
    covered: CoveredYears<'a>,
    years: Arc<Aggregate>,
    shown: Option<(i32, i32)>,
}

impl MarketYears<'_> {
    fn charts(&self) -> Option<(Bars, Bars)> {
        Some(by_year(&self.covered, &self.years, self.shown?, &self.market.link, &self.market.path()))
    }

    fn stages(&self, catalog: &Catalog) -> Option<Heatmap> {
        let Market { query, link, .. } = self.market;
        by_stage_and_year(catalog, &self.covered, query, self.shown?, link, &self.market.path())
    }
}

/// `/markets`, `/sectors/{slug}`, `/countries/{code}`, `/cities/{name}`; the last three optionally with a stage.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, values: PathValues<'_>) -> PageResult<String> {
    let of_market = Market::parse(catalog, request.path, values)?;
    let Market { scope: market, query, link, title, is_all } = &of_market;
    let rounds = aggregate(catalog, Resource::Rounds, &query.filters, &["stage", "investor"], GROUPS);
    let years = of_market.years(catalog);
    let total_of = |resource: Resource| total(catalog, resource, link, OPTIONS);
    let newest = catalog.list(query, ListPosition::default(), NEWEST);
    let investors = investors(catalog, &rounds, &query.filters);
    let description = description(title, *is_all, &rounds);
    let by_year = years.charts();
    let layout = PageLayout::new(catalog.snapshot(), title, &description, &of_market.path()).canonical(request.state);
    render(&MarketPage {
        layout: layout.with_chart(request.state, by_year.as_ref().map(|(rounds, _)| rounds.head())),
        crumbs: crumbs(catalog, *market, link),
        rounds: rounds.total,
        startups: total_of(Resource::Startups),
        firms: total_of(Resource::Firms),
        amounts: rounds.amounts.unwrap_or_default(),
        by_year,
        by_stage_and_year: years.stages(catalog),
        sectors: if market.is_none() { sectors(catalog, MAX_SECTORS, "/markets") } else { None },
        countries: if market.is_none() { countries(catalog) } else { None },
        cities: of_market.cities(catalog),
        largest: of_market.timeline(catalog),
        network: of_market.network(catalog),
        stages: stages(&rounds, *market, link),
        shows_led: investors.iter().any(|(_, led)| led.is_some()),
        investors,
        breakdowns: BREAKDOWNS.iter().filter_map(|breakdown| of_market.breakdown(catalog, breakdown)).collect(),
        newest: round_table::table_of(catalog, &newest.rows)?,
        api: link.at(&request.api("funding-rounds/aggregate")).with("group_by", "year,stage,investor").href(),
        link: link.clone(),
    })
}

fn description(title: &str, is_all: bool, rounds: &Aggregate) -> String {
    let count = format::counted(rounds.total, "funding round", "funding rounds");
    let raised =
        rounds.amounts.and_then(|amounts| amounts.sum_usd).map(|usd| format!(", {} raised", format::usd(&usd)));
    let of = if is_all { String::new() } else { format!("{title}: ") };
    format!("{of}{count}{}, by year and stage, with the most active investors.", raised.unwrap_or_default())
}

/// The canonical path of a market, independent of the spelling in the request.
fn canonical_path(market: MarketScope, link: &Link) -> String {
    let Some((parameter, above)) = market else { return "/markets".to_owned() };
    let name = match (parameter, link.text(parameter)) {
        ("country", code) => code.to_ascii_lowercase(),
        (_, name) => encoded_segment(name),
    };
    match link.text("stage") {
        "" => format!("/{above}/{name}"),
        stage => format!("/{above}/{name}/{stage}"),
    }
}

/// The name of a market: `London` instead of the condition `in London`.
fn name_of(catalog: &Catalog, parameter: &str, value: &str) -> String {
    label_of(catalog, parameter, value).trim_start_matches("in ").to_owned()
}

fn crumbs(catalog: &Catalog, market: MarketScope, link: &Link) -> Vec<(String, String)> {
    let Some((parameter, _)) = market else { return Vec::new() };
    let mut crumbs = vec![("/markets".to_owned(), "Markets".to_owned())];
    if !link.text("stage").is_empty() && !link.text(parameter).is_empty() {
        let above = canonical_path(market, &link.with("stage", ""));
        crumbs.push((above, name_of(catalog, parameter, link.text(parameter))));
    }
    crumbs
}

pub(crate) fn aggregate(
    catalog: &Catalog,
    resource: Resource,
    filters: &[Filter],
    by: &[&str],
    limit: usize,
) -> Arc<Aggregate> {
    let known = group_bys(resource);
    let group_by: Vec<(&'static str, GroupBy)> = known.into_iter().filter(|(name, _)| by.contains(name)).collect();
    let options = AggregateOptions { group_by, order: None, limit, is_clamped: false };
    let query = Query { filters: filters.to_vec(), ..Query::all(resource.table()) };
    pause::point();
    catalog.aggregate(&query, &options).0
}

fn grouping<'a>(aggregate: &'a Aggregate, by: &str) -> Option<&'a Grouping> {
    aggregate.groups.iter().find(|grouping| grouping.by == by)
}

/// All rounds by year; a year that the data does not cover is unknown.
pub(crate) fn rounds_by_year(catalog: &Catalog) -> Option<Bars> {
    let covered = CoveredYears::of_rounds(catalog);
    let years = covered.rounds();
    let (first, last) = (years.first()?.0, years.last()?.0);
    if first == last {
        return None;
    }
    let rounds: u64 = years.iter().filter_map(|(_, rounds)| *rounds).sum();
    let summary =
        format!("{} from {first} to {last}.{}", format::counted(rounds, "round", "rounds"), covered.gaps(first, last));
    let item = |(year, rounds): (i32, Option<u64>)| {
        ChartItem::linked(year.to_string(), rounds, format!("/rounds?since={year}&until={year}"))
    };
    let items = years.into_iter().map(item).collect();
    let head = ChartHead::new("rounds-by-year", "Funding rounds by year", summary)
        .with_gap_reason(covered.gap_reason())
        .on_page("/data", "");
    Some(Bars::new(head, ["Year", "Rounds"], ROUNDS, items).partly_covered(|year| covered.is_part_named(year)))
}

/// First and last year of the charts: years that the data covers and that have rounds.
fn shown_years(covered: &CoveredYears<'_>, years: &Aggregate) -> Option<(i32, i32)> {
    let by_year = grouping(years, "year")?;
    let known = || {
        let years = by_year.values.iter().filter_map(|group| group.value.parse::<i32>().ok());
        years.filter(|year| covered.covers(*year))
    };
    let last = known().max()?;
    Some((known().min()?.max(last - YEARS + 1), last))
}

fn year_href(link: &Link, year: i32) -> String {
    link.with("since", &year.to_string()).with("until", &year.to_string()).href()
}

/// Charts of rounds and of amounts raised. A year that the data does not cover is unknown, not zero.
fn by_year(
    covered: &CoveredYears<'_>,
    years: &Aggregate,
    (first, last): (i32, i32),
    link: &Link,
    page: &str,
) -> (Bars, Bars) {
    let group = |year: i32| grouping(years, "year")?.values.iter().find(|group| group.value == year.to_string());
    let items = |value: &dyn Fn(i32) -> Option<u64>| -> Vec<ChartItem> {
        (first..=last).map(|year| ChartItem::linked(year.to_string(), value(year), year_href(link, year))).collect()
    };
    let count = |year: i32| covered.covers(year).then(|| group(year).map_or(0, |group| group.count));
    let raised = |year: i32| match group(year) {
        _ if !covered.covers(year) => None,
        // A year that has only rounds of unknown amount is unknown, not zero.
        Some(group) => group.amounts.and_then(|amounts| amounts.sum_usd),
        None => Some(0),
    };
    let rounds: u64 = (first..=last).filter_map(count).sum();
    let usd: u64 = (first..=last).filter_map(raised).sum();
    let period = format!("from {first} to {last}.{}", covered.gaps(first, last));
    let rounds = format!("{} {period}", format::counted(rounds, "round", "rounds"));
    let head = |name, title, summary: String| {
        ChartHead::new(name, title, summary).with_gap_reason(covered.gap_reason()).on_page(page, "")
    };
    let rounds = head("rounds", "Rounds per year", rounds);
    let usd = head("raised", "Raised per year", format!("{} of known amounts {period}", format::usd(&usd)));
    let rounds = Bars::new(rounds, ["Year", "Rounds"], ROUNDS, items(&count));
    let usd = Bars::new(usd, ["Year", "US dollars"], ChartUnit::Usd, items(&raised));
    let is_part = |year: &str| covered.is_part_named(year);
    (rounds.partly_covered(is_part), usd.partly_covered(is_part))
}

/// Rounds by stage and year; `None` if the page is limited to one stage or there is only one year.
fn by_stage_and_year(
    catalog: &Catalog,
    covered: &CoveredYears<'_>,
    query: &Query,
    (first, last): (i32, i32),
    link: &Link,
    page: &str,
) -> Option<Heatmap> {
    if !link.text("stage").is_empty() || first == last {
        return None;
    }
    pause::point();
    let snapshot = catalog.snapshot();
    let years = (last - first + 1) as usize;
    let mut counts = vec![[0_u64; Stage::PLACES]; years];
    let rounds = RowFilter::new(catalog, Table::Rounds, &query.filters);
    for round in pause::every(ROUNDS_OF_PIECE, rounds.rows_from(0)) {
        let year = snapshot.round_date(round).map(|date| date.year() - first);
        if let Some(counts) = year.and_then(|year| counts.get_mut(usize::try_from(year).ok()?)) {
            counts[Stage::place(snapshot.round_stage(round))] += 1;
        }
    }
    let is_known = |year: usize| covered.covers(first + year as i32);
    let row = |stage: Option<Stage>| {
        let of_stage = link.of_stage(stage);
        let cell = |year: usize| {
            let count = counts[year][Stage::place(stage)];
            let href = (count > 0).then(|| year_href(&of_stage, first + year as i32));
            ChartMark { value: is_known(year).then_some(count), href }
        };
        let cells = (0..years).map(cell).collect();
        ChartRow { label: format::stage(stage), href: Some(of_stage.href()), cells }
    };
    let is_used = |stage: &Option<Stage>| counts.iter().any(|counts| counts[Stage::place(*stage)] > 0);
    let rows: Vec<ChartRow> = Stage::places().filter(is_used).map(row).collect();
    let gaps = covered.gaps(first, last);
    let summary = format!("The number of rounds of each stage, by year from {first} to {last}.{gaps}");
    let columns = (first..=last).map(|year| year.to_string()).collect();
    let head = ChartHead::new("stages", "Rounds by stage and year", summary)
        .table(["Stage"], ROUNDS)
        .with_gap_reason(covered.gap_reason())
        .on_page(page, "");
    (!rows.is_empty()).then(|| Heatmap::new(head, columns, rows))
}

/// The `max` largest sectors by number of startups, for a page.
pub(crate) fn sectors(catalog: &Catalog, max: usize, page: &str) -> Option<Treemap> {
    let groups = aggregate(catalog, Resource::Startups, &[], &["sector"], max);
    let groups = &grouping(&groups, "sector")?.values;
    let item =
        |group: &AggregateGroup| ChartItem::linked(&group.name, Some(group.count), format!("/sectors/{}", group.value));
    let which = match groups.len() {
        count if count == max => format!("The {max} largest sectors"),
        count => format::counted(count, "sector", "sectors"),
    };
    let summary = format!("{which} by the number of their startups; a startup can be in several.");
    let head = ChartHead::new("sectors", "Startups by sector", summary)
        .table(["Sector", "Startups"], STARTUPS)
        .on_page(page, "");
    Treemap::new(head, groups.iter().map(item).collect())
}

pub(crate) fn countries(catalog: &Catalog) -> Option<TileMap> {
    pause::point();
    let counts = catalog.counts_by(&Query::all(Table::Startups), &[Facet::Country]).pop()?;
    let mark = |counted: &ValueCount| {
        let country = Country::at(counted.value as usize)?;
        let href = format!("/countries/{}", country.alpha2().to_ascii_lowercase());
        Some((country, ChartMark { value: Some(counted.count), href: Some(href) }))
    };
    let marks: BTreeMap<Country, ChartMark> = counts.iter().filter_map(mark).collect();
    let summary = format!("Startups of {}.", format::counted(marks.len(), "country", "countries"));
    let head = ChartHead::new("countries", "Startups by country", summary)
        .table(["Country", "Startups"], STARTUPS)
        .on_page("/markets", "");
    (!marks.is_empty()).then(|| TileMap::new(head, &marks))
}

fn stages(rounds: &Aggregate, market: MarketScope, link: &Link) -> Vec<(String, String, Rest)> {
    let Some(by_stage) = grouping(rounds, "stage").filter(|_| link.text("stage").is_empty()) else {
        return Vec::new();
    };
    let row = |stage: Option<Stage>| {
        let of_stage = link.of_stage(stage);
        let Some(known) = stage else {
            let unknown = by_stage.unknown.clone();
            return (unknown.count > 0).then(|| (of_stage.href(), format::stage(None), unknown));
        };
        let group = by_stage.values.iter().find(|group| group.value == known.name())?;
        let href = if market.is_none() { of_stage.href() } else { canonical_path(market, &of_stage) };
        Some((href, format::stage(stage), Rest { count: group.count, amounts: group.amounts }))
    };
    Stage::places().filter_map(row).collect()
}

fn investors(catalog: &Catalog, rounds: &Aggregate, filters: &[Filter]) -> Vec<(AggregateGroup, Option<(u64, u64)>)> {
    let investor = |group: &AggregateGroup| {
        let row = catalog.snapshot().find(Table::Firms, &group.value)?;
        Some((group.clone(), count_led(catalog, row, filters)))
    };
    let groups = grouping(rounds, "investor").into_iter().flat_map(|grouping| &grouping.values);
    pause::every(1, groups).filter_map(investor).collect()
}
