//! Browsing a table: filters with the number of rows each would leave, a sort order, pages, and the same query as an API
//! URL.

use std::collections::HashMap;

use askama::Template;
use form_urlencoded::Serializer;

use crate::PageRequest;
use crate::conditions::{self, active_filters, title};
use crate::error_page::{PageError, named, sentence};
use crate::filters::{FieldConfig, Filters, Given, RangeConfig};
use crate::format;
use crate::layout::PageLayout;
use crate::link::Link;
use crate::question::{Question, list_of};
use catalog::{
    Catalog, Issues, ListPosition, ParameterError, ParseOptions, ParsedRequest, Query, Reading, Request, Resource,
    SearchReading,
};
use data::{Facet, ReviewStatus};
use service::State;

pub(crate) const PER_PAGE: u64 = 25;
/// Rows of a page to choose from.
const PAGE_SIZES: [u64; 3] = [PER_PAGE, 50, MAX_PER_PAGE];
pub(crate) const MAX_PER_PAGE: u64 = 100;
/// Conditions of a list that search engines may know: of more there are too many.
const MAX_INDEXED: usize = 2;
/// Rows of a list as a file.
pub(crate) const MAX_FILE_ROWS: u64 = 5_000;
/// The parameter for the number of rows of a page.
pub(crate) const SIZE: &str = "per_page";

pub(crate) struct BrowseConfig {
    pub resource: Resource,
    pub path: &'static str,
    /// Filters whose values are offered with their counts: parameter, heading, facet.
    pub facets: &'static [(&'static str, &'static str, Facet)],
    pub ranges: &'static [RangeConfig],
    pub fields: &'static [FieldConfig],
    /// The value of `sort` and its label; the first is the default.
    pub sort_options: &'static [(&'static str, &'static str)],
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
    pub filters: Filters,
    /// The value of `sort`, its label, and whether it is selected.
    pub sort_options: Vec<(String, &'static str, bool)>,
    /// The label of each filter and the link that removes it.
    pub active_filters: Vec<(String, String)>,
    pub warnings: Vec<Warning>,
    /// The name and path of records with a similar name.
    pub suggestions: Vec<(String, String)>,
    /// By slug, why records are in the list, in parts, each with whether it is a word looked for: what they have in common with
    /// the one that they are like, or what their descriptions say.
    remarks: HashMap<String, Vec<(String, bool)>>,
    /// The text as a question, if it is no name.
    pub question: Option<Question>,
    /// The records whose descriptions have the words of a name that none has, if they are not the list: their number in words,
    /// and their list.
    pub described: Option<(String, String)>,
    pub pager: Pager,
    /// The URL of the same query in the API.
    pub api: String,
    /// The page that saves the query.
    pub save: String,
    /// The list as a file, and the number of its rows.
    pub csv: String,
    pub csv_rows: String,
    /// The rows of a page to choose from: their number, the link, and whether it is chosen.
    pub sizes: Vec<(u64, String, bool)>,
    /// The list in words.
    pub title: String,
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
pub(crate) const PARSE_OPTIONS: ParseOptions =
    ParseOptions { strict: false, review_statuses: &[ReviewStatus::Approved], other_names: &["page", SIZE] };

/// A query without the values that are wrong. These are marked at their fields: a page is more use than an error.
pub(crate) struct Understood {
    pub parsed: ParsedRequest,
    /// From 1.
    pub page: u64,
    /// The parameters that were given.
    pub given: Vec<(String, String)>,
    /// What is wrong with them: invalid values first, then what was ignored.
    pub problems: Vec<ParameterError>,
}

impl Understood {
    pub(crate) fn read(
        catalog: &Catalog,
        resource: Resource,
        options: ParseOptions,
        query: &str,
    ) -> Result<Self, PageError> {
        let (given, page) = read_page(query);
        let mut problems: Vec<ParameterError> = Vec::new();
        let parsed = catalog.parse(resource, &given, options).or_else(|issues| {
            problems = issues.report(catalog);
            let is_valid = |name: &String| !problems.iter().any(|problem| problem.parameter == *name);
            let valid: Vec<(String, String)> = given.iter().filter(|(name, _)| is_valid(name)).cloned().collect();
            catalog.parse(resource, &valid, options)
        });
        let parsed = parsed.map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
        problems.extend(parsed.warnings.report(catalog));
        Ok(Self { parsed, page, given, problems })
    }

    /// The link to the query, with the number of rows of a page.
    pub(crate) fn link(&self, path: &str) -> Link {
        link_of(path, &self.parsed, &self.given)
    }

    /// What to say about the query.
    pub(crate) fn warnings(&self, link: &Link) -> Vec<Warning> {
        self.problems.iter().chain(&self.parsed.notes).cloned().map(|problem| Warning::new(problem, link)).collect()
    }
}

/// What is wrong with the value of a field.
pub(crate) fn problem_of(problems: &[ParameterError], name: &str) -> Option<String> {
    problems.iter().find(|problem| problem.parameter == name).map(|problem| sentence(&problem.detail))
}

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

/// As [`parse`], with the meaning of a text that is no name in place of it.
pub(crate) fn parse_meaning(
    catalog: &Catalog,
    resource: Resource,
    path: &str,
    query: &str,
) -> Result<(ParsedRequest, Link, u64, Option<SearchReading>), PageError> {
    let (parsed, link, page) = parse(catalog, resource, path, query)?;
    let (given, _) = read_page(query);
    match read_search(catalog, resource, &parsed, &given) {
        Some((search, Some(meaning))) => {
            let (parsed, link, page) = parse(catalog, resource, path, &meaning)?;
            Ok((parsed, link, page, Some(search)))
        }
        search => Ok((parsed, link, page, search.map(|(search, _)| search))),
    }
}

/// The meaning of a query's text that is no name, and the query with it in place of the text, if this differs.
fn read_search(
    catalog: &Catalog,
    resource: Resource,
    parsed: &ParsedRequest,
    given: &[(String, String)],
) -> Option<(SearchReading, Option<String>)> {
    let Request::List(query) = &parsed.request else { return None };
    let names = given.iter().filter(|(_, value)| !value.trim().is_empty()).map(|(name, _)| name.as_str());
    let search = catalog.read_search(resource, &names.collect::<Vec<_>>(), query)?;
    let is_text = |name: &str| resource.parameter(name).is_some_and(|parameter| parameter.name == "q");
    // A page of a list has its own number of rows.
    let meaning = search.values().into_iter().filter(|(name, _)| name != "limit");
    let pairs = given.iter().filter(|(name, _)| !is_text(name)).cloned().chain(meaning);
    let meaning =
        (search.reading != Reading::Name).then(|| Serializer::new(String::new()).extend_pairs(pairs).finish());
    Some((search, meaning))
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
        let by_name = Understood::read(catalog, config.resource, PARSE_OPTIONS, query)?;
        let without_text = by_name.link(config.path).with("q", "");
        let (search, meaning) = read_search(catalog, config.resource, &by_name.parsed, &by_name.given).unzip();
        let understood = match meaning.flatten() {
            Some(meaning) => Understood::read(catalog, config.resource, PARSE_OPTIONS, &meaning)?,
            None => by_name,
        };
        let link = understood.link(config.path);
        let mut warnings = understood.warnings(&link);
        let Understood { parsed, page, given, problems } = understood;
        let canonical = parsed.canonical;
        let Request::List(query) = parsed.request else { unreachable!("{:?} is a list", config.resource) };
        let found = catalog.list(&query, position_of(&link, page), page_size(&link) as usize);
        let mut filters =
            Filters::new(catalog, config, &Given { params: &given, problems: &problems, query: &query, link: &link });
        let by_words = search.as_ref().filter(|search| search.reading == Reading::Text);
        if by_words.is_some() {
            // The field keeps the words, and a filter that is added to them leaves them there.
            filters.kept.retain(|(name, _)| name != "text");
        }
        let said = search.as_ref().map(|search| SearchWords::of(catalog, config.resource, search, &without_text));
        let said = said.transpose()?.unwrap_or_default();
        let similar = found.did_you_mean.iter().chain(search.iter().flat_map(|search| &search.similar));
        let suggestions = similar.take(5).map(|row| named(catalog, query.table, *row)).collect();
        if found.total == 0 {
            let relaxation = catalog.relaxation(config.resource, &canonical, PARSE_OPTIONS, |_| true);
            warnings.extend(relaxation.map(|relaxation| {
                let counted = format!("{} without it", format::number(relaxation.total));
                let href = link.with(relaxation.parameter, "").href();
                Warning { text: relaxation.detail(relaxation.parameter), suggestion: Some((counted, href)) }
            }));
        }
        let snippets = catalog.snippets_of(&query, &found.rows).into_iter();
        let snippets = snippets.map(|snippet| (snippet.slug.clone(), snippet.parts()));
        let similarities = catalog.similarities_of(&query, &found.rows);
        let similarities = similarities.iter().map(|one| (one.slug.to_owned(), vec![(one.in_words(), false)]));
        let browse = Self {
            question: said.question,
            described: said.described,
            remarks: snippets.chain(similarities).collect(),
            path: config.path,
            is_searchable: config.resource.is_searchable(),
            q: by_words.map_or_else(|| link.text("q").to_owned(), |search| search.text.clone()),
            total: found.total,
            search_notes: said.note.into_iter().chain(found.notes.iter().map(|note| sentence(&note.detail))).collect(),
            filters,
            sort_options: sort_options(catalog, config, &query, link.text("sort")),
            active_filters: active_filters(catalog, &link),
            warnings,
            suggestions,
            pager: Pager::new(&link, page, found.total),
            title: title(catalog, config.resource, &link),
            query: at_page(&link, page).query(),
            save: saving(config.resource, &link).href(),
            api: link.with(SIZE, "").at(&format!("{}/api/v3/{}", state.public_url, config.resource.path())).href(),
            csv: link.with(SIZE, "").at(&format!("{}.csv", config.path)).href(),
            csv_rows: match found.total {
                total if total <= MAX_FILE_ROWS => format::counted(total, "row", "rows"),
                total => format!("first {} of {} rows", format::number(MAX_FILE_ROWS), format::number(total)),
            },
            sizes: PAGE_SIZES
                .iter()
                .map(|size| {
                    let text = if *size == PER_PAGE { String::new() } else { size.to_string() };
                    (*size, link.with(SIZE, &text).href(), page_size(&link) == *size)
                })
                .collect(),
            order: match link.text("sort") {
                "" if !query.is_ranked() => config.sort_options[0].0.to_owned(),
                sort => sort.to_owned(),
            },
            link,
        };
        Ok((browse, found.rows))
    }

    /// Why a record is in the list, in parts, each with whether it is a word looked for.
    pub(crate) fn remark(&self, slug: &str) -> &[(String, bool)] {
        self.remarks.get(slug).map_or(&[], Vec::as_slice)
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

    /// The layout of the page with a description of the list.
    pub(crate) fn layout(&self, catalog: &Catalog, request: PageRequest<'_>, about: &str) -> PageLayout {
        let title = match self.pager.page {
            1 => self.title.clone(),
            page => format!("{} · page {}", self.title, format::number(page)),
        };
        let description = match conditions::count(&self.link) {
            0 => about.to_owned(),
            _ => format!("{}: {} found. {about}", self.title, format::number(self.total)),
        };
        let layout = PageLayout::of(catalog.snapshot(), &title, &description, request.path);
        let layout =
            layout.with_twins(request.state, &self.query).at_address(&request.state.public_url, &self.address().href());
        let is_page = self.total > 0 && self.pager.page <= self.pager.pages && self.q.is_empty();
        if is_page && conditions::count(&self.link) <= MAX_INDEXED { layout } else { layout.not_indexed() }
    }

    /// The address that search engines are to know: without order and number of rows. Another order or size has other pages, so
    /// that only its first one is the same list.
    fn address(&self) -> Link {
        let plain = self.link.with("sort", "").with(SIZE, "");
        let is_plain = plain.query() == self.link.query();
        at_page(&plain, if is_plain { self.pager.page } else { 1 })
    }

    /// The number of rows in words.
    pub(crate) fn counted(&self, one: &str, many: &str) -> String {
        format::counted(self.total, one, many)
    }
}

/// What a page says of a search text that is no name.
#[derive(Default)]
struct SearchWords {
    note: Option<String>,
    question: Option<Question>,
    /// As [`Browse::described`].
    described: Option<(String, String)>,
}

impl SearchWords {
    /// `without_text` is the list without the text.
    fn of(
        catalog: &Catalog,
        resource: Resource,
        search: &SearchReading,
        without_text: &Link,
    ) -> Result<Self, PageError> {
        let (_, one, many) = list_of(resource.table());
        let text = &search.text;
        let counted = format::counted(search.described as u64, one, many);
        let question = Question::read(catalog, resource, search, without_text, 0)?;
        let of_text = || without_text.with("text", text).href();
        let (note, described) = match search.reading {
            Reading::Text => {
                let having = "With all of its words in descriptions, sectors or places";
                (Some(format!("No {one} is named “{text}”. {having}: {counted}.")), None)
            }
            reading => {
                let note = format!("No {one} is named “{text}”. It was read as a question.");
                let note = (reading == Reading::Question).then_some(note);
                (note, (search.described > 0).then(|| (counted, of_text())))
            }
        };
        Ok(Self { note, question, described })
    }
}

/// The page that saves the filters of a list; their order is not saved.
fn saving(resource: Resource, link: &Link) -> Link {
    let table = ("table".to_owned(), resource.path().to_owned());
    Link::new("/account/saved/new", std::iter::once(table).chain(link.others(&["sort", SIZE])).collect())
}

pub(crate) fn warnings(catalog: &Catalog, issues: &Issues, notes: &[ParameterError], link: &Link) -> Vec<Warning> {
    let problems = issues.report(catalog).into_iter().chain(notes.iter().cloned());
    problems.map(|problem| Warning::new(problem, link)).collect()
}

impl Warning {
    fn new(problem: ParameterError, link: &Link) -> Self {
        let ParameterError { parameter, code, detail, did_you_mean, .. } = problem;
        let suggestion = did_you_mean.map(|suggestion: String| {
            let link = if code == "unknown_value" { &link.toggled(&parameter, &suggestion) } else { link };
            (suggestion, link.href())
        });
        Self { text: detail, suggestion }
    }
}

/// The orders to choose from: those by what the data has. The default one has no value, so that the address says nothing of it.
fn sort_options(
    catalog: &Catalog,
    config: &BrowseConfig,
    query: &Query,
    sort: &str,
) -> Vec<(String, &'static str, bool)> {
    let is_search = query.is_ranked();
    let mut options = Vec::new();
    let is_ordered = |key: &str| {
        let (table, key) = (config.resource.table(), key.trim_start_matches('-'));
        key == "name" || catalog.snapshot().values(table, table.sort_key(key)).len() > 1
    };
    // The default order without the keys that all records have alike.
    let default: Vec<&str> = config.sort_options[0].0.split(',').skip_while(|key| !is_ordered(key)).collect();
    let default = default.join(",");
    if is_search {
        options.push((String::new(), "Best match", sort.is_empty()));
    }
    for (index, (value, label)) in config.sort_options.iter().enumerate() {
        let is_first = if default.is_empty() { index == 0 } else { *value == default };
        if !is_first && !value.split(',').next().is_some_and(is_ordered) {
            continue;
        }
        let is_default = !is_search && is_first;
        let is_selected = sort == *value || (sort.is_empty() && is_default);
        options.push((if is_default { String::new() } else { (*value).to_owned() }, *label, is_selected));
    }
    if !options.iter().any(|(.., is_selected)| *is_selected) {
        options.push((sort.to_owned(), "Custom order", true));
    }
    options
}
