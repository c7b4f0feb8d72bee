//! Browsing a table: filters with the number of rows each would leave, a sort order, pages, and the same query as an API
//! URL.

use askama::Template;

use crate::catalog::{
    Catalog, Filter, Issues, ListPosition, ParameterError, ParseOptions, ParsedRequest, Query, Request, Resource,
    ValueCount,
};
use crate::data::fold::fold;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, Facet, FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};
use crate::http::State;
use crate::site::error_page::{PageError, named, sentence};
use crate::site::format;
use crate::site::link::Link;

pub(crate) const PER_PAGE: u64 = 25;
/// Rows of a page to choose from.
const PAGE_SIZES: [u64; 3] = [PER_PAGE, 50, 100];
/// The parameter for the number of rows of a page.
pub(crate) const SIZE: &str = "per_page";
/// Options of a filter that are shown at once; the others are shown on click.
const VISIBLE_OPTIONS: usize = 8;
const MAX_OPTIONS: usize = 60;

pub(crate) struct BrowseConfig {
    pub resource: Resource,
    pub path: &'static str,
    /// Filters whose values are offered with their counts: parameter, heading, facet.
    pub facets: &'static [(&'static str, &'static str, Facet)],
    /// Filters with a text field: parameter, label, placeholder.
    pub bounds: &'static [(&'static str, &'static str, &'static str)],
    /// The value of `sort` and its label; the first is the default.
    pub sort_options: &'static [(&'static str, &'static str)],
}

pub(crate) struct FacetGroup {
    pub title: &'static str,
    /// The most frequent values, selected ones first.
    pub options: Vec<FacetOption>,
    pub more_options: Vec<FacetOption>,
}

pub(crate) struct FacetOption {
    pub label: String,
    /// The link that adds or removes the value.
    pub href: String,
    pub count: String,
    pub is_selected: bool,
}

pub(crate) struct Bound {
    pub name: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
    pub value: String,
    /// What is wrong with the value, which the list ignores.
    pub error: Option<String>,
}

/// The heading of a column, which sorts the list.
#[derive(Template)]
#[template(path = "heading.html")]
pub(crate) struct Heading {
    label: &'static str,
    class: &'static str,
    href: String,
    /// `ascending` or `descending`; empty if another column sorts the list.
    direction: &'static str,
}

/// A part of the query that was ignored.
pub(crate) struct Warning {
    pub text: String,
    /// The closest valid value and the link that uses it.
    pub suggestion: Option<(String, String)>,
}

/// A table with filters, as the template `browse.html` shows it.
pub(crate) struct Browse {
    pub path: &'static str,
    /// Whether the records have names to search for.
    pub is_searchable: bool,
    pub q: String,
    pub total: u64,
    /// What to say about the matches of a search.
    pub search_notes: Vec<String>,
    /// Whether more rows match the name than are counted.
    pub groups: Vec<FacetGroup>,
    pub bounds: Vec<Bound>,
    /// The value of `sort`, its label, and whether it is selected.
    pub sort_options: Vec<(String, &'static str, bool)>,
    /// Hidden fields of the search form.
    pub search_fields: Vec<(String, String)>,
    /// Hidden fields of the sort form.
    pub sort_fields: Vec<(String, String)>,
    /// The label of each filter and the link that removes it.
    pub active_filters: Vec<(String, String)>,
    pub warnings: Vec<Warning>,
    /// The name and path of records with a similar name.
    pub suggestions: Vec<(String, String)>,
    pub pager: Pager,
    /// The URL of the same query in the API.
    pub api: String,
    /// The page that saves the query.
    pub save: String,
    /// The list as a file.
    pub csv: String,
    /// The rows of a page to choose from: their number, the link, and whether it is chosen.
    pub sizes: Vec<(u64, String, bool)>,
    /// The query in its canonical form, with the page.
    pub query: String,
    link: Link,
    /// The keys of the list's order, as in `sort`.
    order: String,
}

pub(crate) struct Pager {
    /// From 1.
    pub page: u64,
    pub pages: u64,
    pub previous: Option<String>,
    pub next: Option<String>,
    pub path: String,
    /// The parameter of the page.
    pub name: String,
    /// Hidden fields of the form that goes to a page.
    pub fields: Vec<(String, String)>,
}

/// The number of rows of a page of a list.
pub(crate) fn page_size(link: &Link) -> u64 {
    let size = link.text(SIZE).parse().ok();
    size.filter(|size| PAGE_SIZES.contains(size)).unwrap_or(PER_PAGE)
}

impl Pager {
    /// The pages of a list of `total` rows; `link` is the list.
    pub(crate) fn new(link: &Link, page: u64, total: u64) -> Self {
        let pages = total.div_ceil(page_size(link));
        let at = |page: u64| at_page(link, page).href();
        // From past the end, the previous page is the last one.
        let previous = (page > 1).then(|| at((page - 1).min(pages.max(1))));
        let (path, fields) = (link.path().to_owned(), link.others(&["page"]));
        Self {
            page,
            pages,
            previous,
            next: (page < pages).then(|| at(page + 1)),
            path,
            name: "page".to_owned(),
            fields,
        }
    }
}

/// A page of the list.
pub(crate) fn at_page(link: &Link, page: u64) -> Link {
    link.with("page", &if page > 1 { page.to_string() } else { String::new() })
}

/// The parameters of a query, and its page.
pub(crate) fn read_page(query: &str) -> (Vec<(String, String)>, u64) {
    let params: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let page = params.iter().find(|(name, _)| name == "page").and_then(|(_, page)| page.trim().parse().ok());
    (params, page.unwrap_or(1).max(1))
}

/// Pages ignore unknown parameters and values, with a warning.
const PARSE_OPTIONS: ParseOptions =
    ParseOptions { strict: false, review_statuses: &[ReviewStatus::Approved], other_names: &["page", SIZE] };

/// Parses the query of the page at `path`. Returns also the link to this query and the number of the page.
pub(crate) fn parse(
    catalog: &Catalog,
    resource: Resource,
    path: &str,
    query: &str,
) -> Result<(ParsedRequest, Link, u64), PageError> {
    let (params, page) = read_page(query);
    let parsed = catalog.parse(resource, &params, PARSE_OPTIONS);
    let parsed = parsed.map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
    let link = link_of(path, &parsed, &params);
    Ok((parsed, link, page))
}

/// The link to a parsed query, with the number of rows of a page.
fn link_of(path: &str, parsed: &ParsedRequest, params: &[(String, String)]) -> Link {
    let mut pairs: Vec<(String, String)> =
        parsed.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let size = params
        .iter()
        .find(|(name, _)| name == SIZE)
        .filter(|(_, size)| PAGE_SIZES[1..].iter().any(|known| known.to_string() == *size));
    pairs.extend(size.cloned());
    Link::new(path, pairs)
}

pub(crate) fn position_of(link: &Link, page: u64) -> ListPosition {
    ListPosition::after((page - 1).saturating_mul(page_size(link)))
}

impl Browse {
    /// The table filtered by the query of a request, and the rows of its page.
    pub(crate) fn read(
        state: &State,
        catalog: &Catalog,
        config: &BrowseConfig,
        query: &str,
    ) -> Result<(Self, Vec<u32>), PageError> {
        let (mut params, page) = read_page(query);
        // A list without the conditions that are wrong, which are marked, is more use than an error.
        let mut errors: Vec<ParameterError> = Vec::new();
        let given = params.clone();
        let parsed = catalog.parse(config.resource, &params, PARSE_OPTIONS).or_else(|issues| {
            errors = issues.report(catalog);
            params.retain(|(name, _)| !errors.iter().any(|error| error.parameter == *name));
            catalog.parse(config.resource, &params, PARSE_OPTIONS)
        });
        let parsed = parsed.map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
        let link = link_of(config.path, &parsed, &params);
        let canonical = parsed.canonical;
        let Request::List(query) = parsed.request else { unreachable!("{:?} is a list", config.resource) };
        let found = catalog.list(&query, position_of(&link, page), page_size(&link) as usize);
        let bound_names: Vec<&str> = config.bounds.iter().map(|(name, ..)| *name).collect();
        let bound = |(name, label, hint): &(&'static str, &'static str, &'static str)| Bound {
            name,
            label,
            hint,
            value: match errors.iter().any(|error| error.parameter == *name) {
                true => {
                    given.iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, value)| value.clone())
                }
                false => link.text(name).to_owned(),
            },
            error: errors.iter().find(|error| error.parameter == *name).map(|error| sentence(&error.detail)),
        };
        let mut warnings = warnings(catalog, &parsed.warnings, &parsed.notes, &link);
        warnings.extend(errors.iter().map(|error| Warning { text: error.detail.clone(), suggestion: None }));
        if found.total == 0 {
            let relaxation = catalog.relaxation(config.resource, &canonical, PARSE_OPTIONS, |_| true);
            warnings.extend(relaxation.map(|relaxation| {
                let counted = format!("{} without it", format::number(relaxation.total));
                let href = link.with(relaxation.parameter, "").href();
                Warning { text: relaxation.detail(relaxation.parameter), suggestion: Some((counted, href)) }
            }));
        }
        let browse = Self {
            path: config.path,
            is_searchable: config.resource.is_searchable(),
            q: link.text("q").to_owned(),
            total: found.total,
            search_notes: found.notes.iter().map(|note| sentence(&note.detail)).collect(),
            groups: groups(catalog, config, &query, &link),
            bounds: config.bounds.iter().map(bound).collect(),
            sort_options: sort_options(config, &query, link.text("sort")),
            search_fields: link.others(&[&["q"], bound_names.as_slice()].concat()),
            sort_fields: link.others(&["sort"]),
            active_filters: active_filters(catalog, &link),
            warnings,
            suggestions: found.did_you_mean.iter().take(5).map(|row| named(catalog, query.table, *row)).collect(),
            pager: Pager::new(&link, page, found.total),
            query: at_page(&link, page).query(),
            save: saving(config.resource, &link).href(),
            api: link.with(SIZE, "").at(&format!("{}/api/v3/{}", state.public_url, config.resource.path())).href(),
            csv: link.with(SIZE, "").at(&format!("{}.csv", config.path)).href(),
            sizes: PAGE_SIZES
                .iter()
                .map(|size| {
                    let text = if *size == PER_PAGE { String::new() } else { size.to_string() };
                    (*size, link.with(SIZE, &text).href(), page_size(&link) == *size)
                })
                .collect(),
            order: match link.text("sort") {
                "" if query.text.is_none() => config.sort_options[0].0.to_owned(),
                sort => sort.to_owned(),
            },
            link,
        };
        Ok((browse, found.rows))
    }

    /// The heading of a column that sorts by a key, first in the direction that its default begins with.
    pub(crate) fn heading(&self, label: &'static str, class: &'static str, default: &'static str) -> Heading {
        let key = default.trim_start_matches('-');
        let first = self.order.split(',').next().unwrap_or_default();
        let direction = match first.strip_prefix('-') {
            Some(first) if first == key => "descending",
            None if first == key => "ascending",
            _ => "",
        };
        let next = match direction {
            "ascending" => format!("-{key}"),
            "descending" => key.to_owned(),
            _ => default.to_owned(),
        };
        Heading { label, class, href: self.link.with("sort", &next).href(), direction }
    }

    /// The number of rows in words.
    pub(crate) fn counted(&self, one: &str, many: &str) -> String {
        format::counted(self.total, one, many)
    }
}

/// The page that saves the filters of a list; their order is not saved.
fn saving(resource: Resource, link: &Link) -> Link {
    let table = ("table".to_owned(), resource.path().to_owned());
    Link::new("/account/saved/new", std::iter::once(table).chain(link.others(&["sort", SIZE])).collect())
}

pub(crate) fn warnings(catalog: &Catalog, issues: &Issues, notes: &[ParameterError], link: &Link) -> Vec<Warning> {
    let warning = |ParameterError { parameter, code, detail, did_you_mean, .. }| {
        let suggestion = did_you_mean.map(|suggestion: String| {
            let link = if code == "unknown_value" { &link.toggled(&parameter, &suggestion) } else { link };
            (suggestion, link.href())
        });
        Warning { text: detail, suggestion }
    };
    issues.report(catalog).into_iter().chain(notes.iter().cloned()).map(warning).collect()
}

fn sort_options(config: &BrowseConfig, query: &Query, sort: &str) -> Vec<(String, &'static str, bool)> {
    let is_search = query.text.is_some();
    let mut options = Vec::new();
    if is_search {
        options.push((String::new(), "Best match", sort.is_empty()));
    }
    for (index, (value, label)) in config.sort_options.iter().enumerate() {
        let is_selected = sort == *value || (sort.is_empty() && !is_search && index == 0);
        options.push(((*value).to_owned(), *label, is_selected));
    }
    if !options.iter().any(|(.., is_selected)| *is_selected) {
        options.push((sort.to_owned(), "Custom order", true));
    }
    options
}

/// The options of each facet. If an option is selected, its alternatives are counted as if it were not.
fn groups(catalog: &Catalog, config: &BrowseConfig, query: &Query, link: &Link) -> Vec<FacetGroup> {
    let facets: Vec<Facet> = config.facets.iter().map(|(.., facet)| *facet).collect();
    let counts = catalog.counts_by(query, &facets);
    let group = |((name, title, facet), counts): (&(&'static str, &'static str, Facet), Vec<ValueCount>)| {
        let is_selection = |filter: &Filter| matches!(filter, Filter::AnyOf(known, _) if known == facet);
        let counts = if query.filters.iter().any(is_selection) {
            let filters = query.filters.iter().filter(|filter| !is_selection(filter)).cloned().collect();
            let mut counts = catalog.counts_by(&Query { filters, ..query.clone() }, &[*facet]);
            counts.pop().expect("one facet is counted")
        } else {
            counts
        };
        let mut options: Vec<FacetOption> = Vec::new();
        for counted in counts.iter().take(MAX_OPTIONS) {
            let Some((value, label)) = value_of(catalog, query.table, *facet, counted.value) else { continue };
            let is_selected = link.values(name).any(|known| known == value);
            let href = link.toggled(name, &value).href();
            options.push(FacetOption { label, href, count: format::number(counted.count), is_selected });
        }
        // In the order of a company's life.
        if *facet == Facet::Stage {
            options = stages_in_order(options, counts.iter().map(|counted| counted.value));
        }
        // Selected options come first, so that they can be removed.
        options.sort_by_key(|option| !option.is_selected);
        let more_options = options.split_off(options.len().min(VISIBLE_OPTIONS));
        FacetGroup { title, options, more_options }
    };
    config.facets.iter().zip(counts).map(group).filter(|group| !group.options.is_empty()).collect()
}

/// Options of stages in the order of the vocabulary, whose indexes are given in the same order as the options.
fn stages_in_order(options: Vec<FacetOption>, indexes: impl Iterator<Item = u32>) -> Vec<FacetOption> {
    let mut indexed: Vec<(u32, FacetOption)> = indexes.zip(options).collect();
    indexed.sort_by_key(|(index, _)| *index);
    indexed.into_iter().map(|(_, option)| option).collect()
}

/// A value of a facet as its parameter takes it, and its label.
pub(crate) fn value_of(catalog: &Catalog, table: Table, facet: Facet, value: u32) -> Option<(String, String)> {
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

/// The label of each filter and the link that removes it.
pub(crate) fn active_filters(catalog: &Catalog, link: &Link) -> Vec<(String, String)> {
    let mut filters = Vec::new();
    for (name, text) in link.others(&["sort", "metric", SIZE]) {
        if name == "q" {
            filters.push((format!("“{text}”"), link.with("q", "").href()));
            continue;
        }
        for value in link.values(&name) {
            filters.push((label_of(catalog, &name, value), link.toggled(&name, value).href()));
        }
    }
    filters
}

pub(crate) fn label_of(catalog: &Catalog, name: &str, value: &str) -> String {
    let snapshot = catalog.snapshot();
    let name_of = |table: Table| snapshot.find(table, value).map_or(value, |row| snapshot.name(table, row));
    let usd = || value.parse::<u64>().map_or_else(|_| value.to_owned(), |usd| format::usd(&usd));
    match name {
        "stage" | "kind" | "status" => format::word(value),
        "sector" | "parent" => name_of(Table::Sectors).to_owned(),
        "country" => format::country(value).to_owned(),
        "investor" => format!("backed by {}", name_of(Table::Firms)),
        "organization" => match snapshot.find(Table::Firms, value) {
            Some(firm) => format!("at {}", snapshot.name(Table::Firms, firm)),
            None => format!("at {}", name_of(Table::Startups)),
        },
        "min_health_score" => format!("score {value} or more"),
        "max_ghosting_rate" => format!("ghosting rate up to {value} %"),
        "min_reviews" => format!("{value} reviews or more"),
        "ghosted" => format::response(&Some(value == "true")).to_owned(),
        "min_rating" => format!("{value} stars or more"),
        "max_rating" => format!("{value} stars or fewer"),
        "check_usd" => format!("check size {}", usd()),
        "active_since" => format!("active since {}", format::day(value)),
        "city" => {
            let city = snapshot.find_term(Facet::City, &fold(value)).and_then(|city| snapshot.city_name(city));
            format!("in {}", city.unwrap_or_else(|| format::word(value)))
        }
        _ => format!("{}: {value}", format::word(name)),
    }
}
