//! The filters of a list as one form: checkboxes with counts, ranges with histograms, and text fields.

use crate::browse::{BrowseConfig, LIST_OPTIONS, PageQuery, problem_of};
use crate::conditions::label_of;
use crate::field_years::CoveredYears;
use crate::lists::nouns;
use catalog::coverage::markets_of;
use catalog::params::ParamType;
use catalog::{Catalog, Filter, ListPosition, MatchedRows, ParseOptions, Query, Request, Resource, WantedPage};
use data::{Date, Facet, PartialDate, Table};
use view::charts::{Bars, ChartHead, ChartItem, ChartUnit};
use view::format;
use view::link::Link;

/// Options that are visible at once; the others are shown on click.
const VISIBLE_OPTIONS: usize = 8;
/// Up to this many options are all visible at once.
const FEW_OPTIONS: usize = 12;
const MAX_OPTIONS: usize = 60;
/// Maximum number of years in a histogram; the latest are kept.
const YEARS: i32 = 20;
/// Lower bounds of the bars of amounts, in US dollars.
const AMOUNTS: [u64; 10] =
    [0, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000, 300_000_000, 1_000_000_000];

pub(crate) struct FieldConfig {
    pub name: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
}

pub(crate) struct RangeConfig {
    pub label: &'static str,
    pub from: FieldConfig,
    pub to: FieldConfig,
    pub bins: Bins,
}

/// The bars above a range, with the sort key that they count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bins {
    Years(&'static str),
    /// Years of rounds; the data may not cover some of them.
    RoundYears(&'static str),
    /// Years in which firms invested.
    ActiveYears,
    Amounts(&'static str),
}

pub(crate) struct Filters {
    pub groups: Vec<FacetGroup>,
    pub ranges: Vec<RangeFilter>,
    pub fields: Vec<TextField>,
    /// Hidden fields for the other parameters of the query.
    pub kept: Vec<(String, String)>,
}

pub(crate) struct FacetGroup {
    pub name: &'static str,
    pub title: &'static str,
    pub options: Vec<FacetOption>,
    pub more_options: Vec<FacetOption>,
    pub error: Option<String>,
}

pub(crate) struct FacetOption {
    pub value: String,
    pub label: String,
    /// Number of rows of the list with this value alone.
    pub count: String,
    pub is_selected: bool,
}

pub(crate) struct RangeFilter {
    pub label: &'static str,
    pub histogram: Option<Bars>,
    pub ends: [TextField; 2],
}

pub(crate) struct TextField {
    pub config: &'static FieldConfig,
    pub value: String,
    pub error: Option<String>,
}

impl Filters {
    pub(crate) fn new(catalog: &Catalog, config: &BrowseConfig, given: &PageQuery, query: &Query) -> Self {
        // Most filters are not selected and share the rows of the list.
        let all = FilteredRows::new(catalog, query.clone());
        let field = |config: &'static FieldConfig| TextField::new(config, given);
        let groups = config.facets.iter().filter_map(|facet| group(catalog, config, *facet, given, &all));
        let ranges = config.ranges.iter().filter_map(|range| {
            let ends = [field(&range.from), field(&range.to)];
            let is_given = ends.iter().any(|field| !field.value.is_empty());
            let histogram = histogram(catalog, config, range, given, &all);
            // A range over a field that no record has a value of would find nothing.
            let is_shown = is_given || is_known(catalog, config.resource, range.from.name);
            is_shown.then_some(RangeFilter { label: range.label, histogram, ends })
        });
        let is_shown =
            |field: &TextField| !field.value.is_empty() || is_known(catalog, config.resource, field.config.name);
        let fields = config.fields.iter().map(field).filter(is_shown);
        let groups: Vec<FacetGroup> = groups.collect();
        let (ranges, fields): (Vec<RangeFilter>, Vec<TextField>) = (ranges.collect(), fields.collect());
        let names = groups.iter().map(|group| group.name);
        let own = ranges.iter().flat_map(|range| &range.ends).chain(&fields).map(|field| field.config.name);
        let own: Vec<&str> = names.chain(own).chain(["q", "sort"]).collect();
        Self { kept: given.link.others(&own), groups, ranges, fields }
    }

    /// True if a value of any field or group is invalid.
    pub(crate) fn has_error(&self) -> bool {
        let fields = self.ranges.iter().flat_map(|range| &range.ends).chain(&self.fields);
        self.groups.iter().any(|group| group.error.is_some()) || fields.into_iter().any(|field| field.error.is_some())
    }
}

impl TextField {
    /// Shows an invalid value as given, any other in canonical form.
    pub(crate) fn new(config: &'static FieldConfig, query: &PageQuery) -> Self {
        let name = config.name;
        let error = problem_of(&query.problems, name);
        let written = || query.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let value = match error {
            Some(_) => written().unwrap_or_default(),
            None => query.link.text(name).to_owned(),
        };
        Self { config, value, error }
    }
}

/// True if any record has a value of the field that a parameter filters by.
fn is_known(catalog: &Catalog, resource: Resource, name: &str) -> bool {
    let Some(parameter) = resource.parameter(name) else { return true };
    let table = parameter.table(resource);
    match Some(parameter.kind) {
        Some(ParamType::Range { key, .. }) => !catalog.snapshot().values(table, table.sort_key(key)).is_empty(),
        Some(ParamType::Number { .. }) => {
            let any = Query { filters: vec![Filter::CheckRange { min: 0, max: u64::MAX }], ..Query::all(table) };
            catalog.list(&any, ListPosition::default(), 0).total > 0
        }
        _ => true,
    }
}

struct FilteredRows {
    query: Query,
    rows: MatchedRows,
}

impl FilteredRows {
    fn new(catalog: &Catalog, query: Query) -> Self {
        let (rows, _) = catalog.rows_of(&query);
        Self { query, rows }
    }

    /// The rows of the query without some parameters; `None` if it has none of them, or if the rest is not a list.
    fn without(catalog: &Catalog, resource: Resource, link: &Link, names: &[&str]) -> Option<Self> {
        if names.iter().all(|name| link.text(name).is_empty()) {
            return None;
        }
        let parsed = catalog.parse(resource, &link.others(names), LIST_OPTIONS).ok()?;
        let Request::List(query) = parsed.request else { return None };
        Some(Self::new(catalog, query))
    }
}

/// The options of a facet. Their counts ignore the selected options of the same facet.
fn group(
    catalog: &Catalog,
    config: &BrowseConfig,
    (name, title, facet): (&'static str, &'static str, Facet),
    given: &PageQuery,
    all: &FilteredRows,
) -> Option<FacetGroup> {
    let (table, link) = (config.resource.table(), &given.link);
    let others = FilteredRows::without(catalog, config.resource, link, &[name]);
    let mut counts = catalog.counts_of(table, facet, &others.as_ref().unwrap_or(all).rows);
    counts.truncate(MAX_OPTIONS);
    if facet == Facet::Stage {
        // In the order of a company's life.
        counts.sort_by_key(|counted| counted.value);
    }
    let mut options: Vec<FacetOption> = Vec::new();
    for counted in counts {
        let Some((value, label)) = value_of(catalog, table, facet, counted.value) else { continue };
        let is_selected = link.values(name).any(|known| known == value);
        options.push(FacetOption { value, label, count: format::number(counted.count), is_selected });
    }
    // A selected value can be removed even if no row has it.
    for value in link.values(name) {
        if !options.iter().any(|option| option.value == value) {
            let label = label_of(catalog, name, value);
            let count = format::number(total(catalog, config.resource, &link.with(name, value), LIST_OPTIONS));
            options.push(FacetOption { value: value.to_owned(), label, count, is_selected: true });
        }
    }
    if facet != Facet::Stage {
        options.sort_by_key(|option| !option.is_selected);
    }
    let visible = if options.len() <= FEW_OPTIONS { FEW_OPTIONS } else { VISIBLE_OPTIONS };
    let more_options = options.split_off(options.len().min(visible));
    let error = problem_of(&given.problems, name);
    (!options.is_empty()).then_some(FacetGroup { name, title, options, more_options, error })
}

/// Number of rows of a list with the parameters of a link; 0 if they are invalid.
pub(crate) fn total(catalog: &Catalog, resource: Resource, link: &Link, options: ParseOptions) -> u64 {
    let Ok(parsed) = catalog.parse(resource, &link.others(&[]), options) else { return 0 };
    catalog.answer(&WantedPage::rows(resource, &parsed.request, ListPosition::default(), 0)).total
}

/// A facet value as its parameter accepts it, and its label; `None` if it is unknown.
pub(crate) fn value_of(catalog: &Catalog, table: Table, facet: Facet, value: u32) -> Option<(String, String)> {
    let (text, name) = catalog.facet_label(table, facet, value);
    let label = if matches!(facet, Facet::Stage | Facet::Kind | Facet::Status) { format::word(&name) } else { name };
    (!text.is_empty()).then_some((text, label))
}

/// A bar: its label, the texts for both fields, and its first and last value.
struct Bin {
    label: String,
    texts: [String; 2],
    values: (i64, i64),
    is_covered: bool,
}

fn histogram(
    catalog: &Catalog,
    config: &BrowseConfig,
    range: &RangeConfig,
    given: &PageQuery,
    all: &FilteredRows,
) -> Option<Bars> {
    let (table, link) = (config.resource.table(), &given.link);
    let [from, to] = [range.from.name, range.to.name];
    let covered = match range.bins {
        Bins::ActiveYears => CoveredYears::of_investors(catalog),
        _ => CoveredYears::new(catalog, None, markets_of(table, &all.query.filters)),
    };
    let bins = bins(catalog, table, range.bins, &covered)?;
    let others = FilteredRows::without(catalog, config.resource, link, &[from, to]);
    let rows = &others.as_ref().unwrap_or(all).rows;
    let counts: Vec<u64> = match range.bins {
        Bins::ActiveYears => {
            let year = |bin: &Bin| PartialDate::day_of_code(bin.values.0 as i32).year();
            bins.iter().map(|bin| catalog.active_count(year(bin), rows)).collect()
        }
        Bins::Years(key) | Bins::RoundYears(key) | Bins::Amounts(key) => {
            let values: Vec<(i64, i64)> = bins.iter().map(|bin| bin.values).collect();
            catalog.counts_within(table, table.sort_key(key), &values, rows)
        }
    };
    let (low, high) = selected(&all.query, table, range.bins);
    let items = bins.into_iter().zip(counts).map(|(bin, count)| {
        let is_inside = bin.values.0 <= high && bin.values.1 >= low;
        let [first, last] = &bin.texts;
        let href = link.with(from, first).with(to, last).href();
        (ChartItem::linked(bin.label, bin.is_covered.then_some(count), href), is_inside)
    });
    let nouns = nouns(table);
    let title = format!("{} by {}", format::word(nouns.1), range.label.to_lowercase());
    let heads = [range.label, &format::word(nouns.1)];
    let bars = Bars::range(ChartHead::new(from, title, "").table(heads, ChartUnit::Count(nouns.0, nouns.1)), items)?;
    let is_of_rounds = matches!(range.bins, Bins::ActiveYears | Bins::RoundYears(_));
    Some(if is_of_rounds { bars.partly_covered(|year| covered.is_part_named(year)) } else { bars })
}

/// The range of the bars' key that the query selects.
fn selected(query: &Query, table: Table, kind: Bins) -> (i64, i64) {
    let key = match kind {
        Bins::ActiveYears => "last_investment_on",
        Bins::Years(key) | Bins::RoundYears(key) | Bins::Amounts(key) => key,
    };
    let key = table.sort_key(key);
    let bounds = query.filters.iter().filter_map(|filter| match filter {
        Filter::Range { key: known, min, max } if *known == key => Some((*min, *max)),
        Filter::HasRound(filters) if kind == Bins::ActiveYears => match filters.as_slice() {
            [Filter::Range { min, max, .. }] => Some((*min, *max)),
            _ => None,
        },
        _ => None,
    });
    bounds.fold((i64::MIN, i64::MAX), |(low, high), (min, max)| (low.max(min), high.min(max)))
}

/// The bars of a range; `None` if no record has a value.
fn bins(catalog: &Catalog, table: Table, kind: Bins, covered: &CoveredYears<'_>) -> Option<Vec<Bin>> {
    let of_dates = || -> Option<Vec<Bin>> {
        let (first, last) = covered.period()?;
        let years = first.max(last - YEARS + 1)..=last;
        let bin = |year: i32| {
            let day = |text: String| text.parse::<Date>().ok();
            let (first, last) = (day(format!("{year:04}-01-01"))?, day(format!("{year:04}-12-31"))?);
            let values = (PartialDate::first_code(first).into(), PartialDate::last_code(last).into());
            Some(Bin { values, is_covered: covered.covers(year), ..Bin::of_year(year) })
        };
        Some(years.filter_map(bin).collect())
    };
    Some(match kind {
        Bins::ActiveYears | Bins::RoundYears(_) => of_dates()?,
        Bins::Years(key) => {
            let values = catalog.snapshot().values(table, table.sort_key(key));
            let year = |value: &i64| i32::try_from(*value).ok();
            let last = year(values.last()?)?.min(catalog.snapshot().released_on().year());
            (year(values.first()?)?.max(last - YEARS + 1)..=last).map(Bin::of_year).collect()
        }
        Bins::Amounts(key) => {
            let values = catalog.snapshot().values(table, table.sort_key(key));
            let (least, most) = (*values.first()?, *values.last()?);
            let ends = AMOUNTS[1..].iter().map(|end| Some(end - 1)).chain([None]);
            let bins = AMOUNTS.iter().zip(ends).map(|(start, end)| Bin::of_amounts(*start, end));
            bins.filter(|bin| bin.values.1 >= least && bin.values.0 <= most).collect()
        }
    })
}

impl Bin {
    fn of_year(year: i32) -> Self {
        let (text, value) = (year.to_string(), i64::from(year));
        Self { label: text.clone(), texts: [text.clone(), text], values: (value, value), is_covered: true }
    }

    /// Amounts from `start` to `end`; the last bar has no end.
    fn of_amounts(start: u64, end: Option<u64>) -> Self {
        let label = match end {
            Some(end) if start == 0 => format!("under {}", format::usd(&(end + 1))),
            Some(end) => format!("{} to {}", format::usd(&start), format::usd(&(end + 1))),
            None => format!("{} or more", format::usd(&start)),
        };
        let first = if start == 0 { String::new() } else { start.to_string() };
        let values = (start as i64, end.map_or(i64::MAX, |end| end as i64));
        Self { label, texts: [first, end.map_or_else(String::new, |end| end.to_string())], values, is_covered: true }
    }
}
