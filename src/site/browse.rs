//! Browsing a table: conditions with how many rows each would leave, an order, pages, and the same query for the API.

use crate::catalog::{
    Catalog, Filter, ListPosition, ParameterError, ParseOptions, Query, Request, Resource, ValueCount,
};
use crate::data::fold::fold;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, Facet, FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};
use crate::http::State;

use crate::site::error_page::{PageError, named};
use crate::site::format;
use crate::site::link::Link;

/// Rows on a page.
pub(crate) const PER_PAGE: u64 = 25;
/// Values of a condition that are offered at once; further ones wait behind a click.
const OFFERED: usize = 8;
/// Values of a condition that are offered at all.
const MOST_OFFERED: usize = 60;

/// How a table is browsed.
pub(crate) struct BrowseConfig {
    /// What is listed.
    pub resource: Resource,
    /// The page's path.
    pub path: &'static str,
    /// Conditions that are offered with their counts: parameter, heading, facet.
    pub facets: &'static [(&'static str, &'static str, Facet)],
    /// Conditions that are typed in: parameter, label, hint.
    pub bounds: &'static [(&'static str, &'static str, &'static str)],
    /// Orders that are offered: the value of `sort`, label.
    pub orders: &'static [(&'static str, &'static str)],
}

/// A condition's values.
pub(crate) struct Group {
    /// What they are.
    pub title: &'static str,
    /// The most frequent ones.
    pub values: Vec<FacetOption>,
    /// Further ones.
    pub more: Vec<FacetOption>,
}

/// A value of a condition.
pub(crate) struct FacetOption {
    /// What it is.
    pub label: String,
    /// The address that puts it in, or takes it out.
    pub href: String,
    /// How many rows have it.
    pub count: String,
    /// Whether it is chosen.
    pub is_on: bool,
}

/// A condition that is typed in.
pub(crate) struct Bound {
    /// The parameter.
    pub name: &'static str,
    /// What it is.
    pub label: &'static str,
    /// What is written there.
    pub hint: &'static str,
    /// What stands there.
    pub value: String,
}

/// Something that was not understood and left out.
pub(crate) struct Warning {
    /// What it is.
    pub text: String,
    /// What may have been meant, with its address.
    pub meant: Option<(String, String)>,
}

/// A table as it is browsed.
pub(crate) struct Browse {
    /// The page's path.
    pub path: &'static str,
    /// The name that is searched for.
    pub q: String,
    /// How many rows there are.
    pub total: u64,
    /// Whether more rows match the name than are counted.
    pub capped: bool,
    /// Conditions with their counts.
    pub groups: Vec<Group>,
    /// Conditions that are typed in.
    pub bounds: Vec<Bound>,
    /// Orders: value, label, whether it holds.
    pub orders: Vec<(String, &'static str, bool)>,
    /// What the search form carries along.
    pub kept_by_search: Vec<(String, String)>,
    /// What the choice of an order carries along.
    pub kept_by_order: Vec<(String, String)>,
    /// The conditions that hold, each with the address that takes it out.
    pub chosen: Vec<(String, String)>,
    /// What was not understood.
    pub warnings: Vec<Warning>,
    /// Names that may have been meant, with their paths.
    pub near: Vec<(String, String)>,
    /// The pages.
    pub pager: Pager,
    /// The same query for the API.
    pub api: String,
}

/// Where a page stands among the others.
pub(crate) struct Pager {
    /// The page, from 1.
    pub page: u64,
    /// How many there are.
    pub pages: u64,
    /// The address of the one before.
    pub before: Option<String>,
    /// The address of the next one.
    pub next: Option<String>,
}

impl Pager {
    /// The pages of a list of `total` rows whose addresses are those of `link`.
    pub(crate) fn new(link: &Link, page: u64, total: u64) -> Self {
        let pages = total.div_ceil(PER_PAGE);
        let at = |page: u64| link.with("page", &if page > 1 { page.to_string() } else { String::new() }).href();
        // From beyond the end the way back leads to the last page.
        let before = (page > 1).then(|| at((page - 1).min(pages.max(1))));
        Self { page, pages, before, next: (page < pages).then(|| at(page + 1)) }
    }
}

/// The named values of a query, with the page that they ask for.
pub(crate) fn read_page(query: &str) -> (Vec<(String, String)>, u64) {
    let values: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let page = values.iter().find(|(name, _)| name == "page").and_then(|(_, page)| page.trim().parse().ok());
    (values, page.unwrap_or(1).max(1))
}

/// The rules by which pages read a query: what is not known is told and left out.
pub(crate) const RULES: ParseOptions<'static> =
    ParseOptions { strict: false, review_statuses: &[ReviewStatus::Approved], others: &["page"] };

/// The place where a page of a list begins.
pub(crate) fn place_of(page: u64) -> ListPosition {
    ListPosition::after((page - 1).saturating_mul(PER_PAGE))
}

impl Browse {
    /// The table under a request's query, with the rows of its page.
    pub(crate) fn read(
        state: &State,
        catalog: &Catalog,
        spec: &BrowseConfig,
        query: &str,
    ) -> Result<(Self, Vec<u32>), PageError> {
        let (values, page) = read_page(query);
        let asked = catalog.ask(spec.resource, &values, RULES).map_err(PageError::Wrong)?;
        let Request::List(query) = asked.request else { return Err(PageError::Broken) };
        let pairs = asked.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let link = Link::new(spec.path, pairs);
        let found = catalog.list(&query, place_of(page), PER_PAGE as usize);
        let bound_names: Vec<&str> = spec.bounds.iter().map(|(name, ..)| *name).collect();
        let sort = link.text("sort");
        let api = link.at(&format!("{}/api/v3/{}", state.public_url, spec.resource.path())).href();
        let browse = Self {
            path: spec.path,
            q: link.text("q").to_owned(),
            total: found.total,
            capped: found.capped,
            groups: groups(catalog, spec, &query, &link),
            bounds: spec
                .bounds
                .iter()
                .map(|(name, label, hint)| Bound { name, label, hint, value: link.text(name).to_owned() })
                .collect(),
            orders: orders(spec, &query, sort),
            kept_by_search: link.others(&[&["q"], bound_names.as_slice()].concat()),
            kept_by_order: link.others(&["sort"]),
            chosen: chosen(catalog, &link),
            warnings: asked.warnings.iter().map(|warning| told(warning, &link)).collect(),
            near: found.did_you_mean.iter().take(5).map(|row| named(catalog, query.table, *row)).collect(),
            pager: Pager::new(&link, page, found.total),
            api,
        };
        Ok((browse, found.rows))
    }

    /// The number of rows in words.
    pub(crate) fn counted(&self, one: &str, many: &str) -> String {
        let counted = format::counted(self.total, one, many);
        if self.capped { format!("the best {counted}") } else { counted }
    }
}

/// Something that was left out, with what may have been meant.
pub(crate) fn told(warning: &ParameterError, link: &Link) -> Warning {
    let meant = warning.did_you_mean.as_ref().map(|meant| {
        let href = match warning.code {
            "unknown_value" => link.toggled(&warning.parameter, meant).href(),
            _ => link.href(),
        };
        (meant.clone(), href)
    });
    Warning { text: warning.detail.clone(), meant }
}

fn orders(spec: &BrowseConfig, query: &Query, sort: &str) -> Vec<(String, &'static str, bool)> {
    let mut orders = Vec::new();
    if query.text.is_some() {
        orders.push((String::new(), "Best match", sort.is_empty()));
    }
    let searching = query.text.is_some();
    for (place, (value, label)) in spec.orders.iter().enumerate() {
        // The first one is the order that holds where none is asked for.
        let is_on = sort == *value || (sort.is_empty() && !searching && place == 0);
        orders.push(((*value).to_owned(), *label, is_on));
    }
    if !orders.iter().any(|(.., is_on)| *is_on) {
        orders.push((sort.to_owned(), "As in the address", true));
    }
    orders
}

/// The values of each facet. Where one is chosen, its alternatives are counted as if it were not.
fn groups(catalog: &Catalog, spec: &BrowseConfig, query: &Query, link: &Link) -> Vec<Group> {
    let all: Vec<Facet> = spec.facets.iter().map(|(.., facet)| *facet).collect();
    let under_all = catalog.counts_by(query, &all);
    let group = |((name, title, facet), counts): (&(&'static str, &'static str, Facet), Vec<ValueCount>)| {
        let is_chosen = |clause: &Filter| matches!(clause, Filter::AnyOf(known, _) if known == facet);
        let counts = if query.clauses.iter().any(is_chosen) {
            let clauses = query.clauses.iter().filter(|clause| !is_chosen(clause)).cloned().collect();
            let without = Query { clauses, ..query.clone() };
            catalog.counts_by(&without, &[*facet]).into_iter().next().unwrap_or_default()
        } else {
            counts
        };
        let mut offers: Vec<FacetOption> = Vec::new();
        for counted in counts.iter().take(MOST_OFFERED) {
            let Some((value, label)) = value_of(catalog, query.table, *facet, counted.value) else { continue };
            let is_on = link.values(name).any(|known| known == value);
            let href = link.toggled(name, &value).href();
            offers.push(FacetOption { label, href, count: format::number(counted.count), is_on });
        }
        // What is chosen stands first, so that it can be taken out.
        offers.sort_by_key(|offer| !offer.is_on);
        let more = offers.split_off(offers.len().min(OFFERED));
        Group { title, values: offers, more }
    };
    spec.facets.iter().zip(under_all).map(group).filter(|group| !group.values.is_empty()).collect()
}

/// A facet's value as its parameter takes it, and as people call it.
fn value_of(catalog: &Catalog, table: Table, facet: Facet, value: u32) -> Option<(String, String)> {
    fn word<V: Vocabulary>(value: u32) -> Option<(String, String)> {
        let name = V::at(value as usize)?.name();
        Some((name.to_owned(), format::word(name)))
    }
    let snapshot = catalog.snapshot();
    match facet {
        Facet::Stage => word::<Stage>(value),
        Facet::Kind if table == Table::People => word::<OrganizationKind>(value),
        Facet::Kind => word::<FirmKind>(value),
        Facet::Status => word::<StartupStatus>(value),
        Facet::Country => {
            let country = Country::at(value as usize)?;
            Some((country.alpha2().to_owned(), country.name().to_owned()))
        }
        Facet::Sector => {
            let (slug, name) = (snapshot.slug(Table::Sectors, value), snapshot.name(Table::Sectors, value));
            Some((slug.to_owned(), name.to_owned()))
        }
        _ => None,
    }
}

/// The conditions that hold, in words, each with the address that takes it out.
pub(crate) fn chosen(catalog: &Catalog, link: &Link) -> Vec<(String, String)> {
    let mut chosen = Vec::new();
    for (name, text) in link.others(&["sort", "metric"]) {
        if name == "q" {
            chosen.push((format!("“{text}”"), link.with("q", "").href()));
            continue;
        }
        for value in link.values(&name) {
            chosen.push((condition(catalog, &name, value), link.toggled(&name, value).href()));
        }
    }
    chosen
}

fn condition(catalog: &Catalog, name: &str, value: &str) -> String {
    let snapshot = catalog.snapshot();
    let called = |table: Table| snapshot.find(table, value).map_or(value, |row| snapshot.name(table, row));
    let usd = || value.parse::<u64>().map_or_else(|_| value.to_owned(), format::usd);
    match name {
        "stage" | "kind" | "status" => format::word(value),
        "sector" | "parent" => called(Table::Sectors).to_owned(),
        "country" => format::country(value).to_owned(),
        "investor" => format!("backed by {}", called(Table::Firms)),
        "organization" => match snapshot.find(Table::Firms, value) {
            Some(firm) => format!("at {}", snapshot.name(Table::Firms, firm)),
            None => format!("at {}", called(Table::Startups)),
        },
        "min_health_score" => format!("score from {value}"),
        "max_ghosting_rate" => format!("ghosting up to {value} %"),
        "min_reviews" => format!("{value} reviews or more"),
        "check_usd" => format!("writes {}", usd()),
        "active_since" => format!("invested since {}", format::day(value)),
        "city" => {
            let city = snapshot.city(&fold(value)).and_then(|city| snapshot.city_name(city));
            format!("in {}", city.unwrap_or_else(|| format::word(value)))
        }
        _ => format!("{}: {value}", format::word(name)),
    }
}
