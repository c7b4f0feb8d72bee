//! Browsing a table: filters with counts, a sort order, pages, and the same query as an API URL.

use std::collections::HashMap;

use askama::Template;
use form_urlencoded::Serializer;

use crate::conditions::{self, active_filters, title};
use crate::error_page::{PageError, name_and_path, sentence};
use crate::filters::{FieldConfig, Filters, RangeConfig};
use crate::layout::PageLayout;
use crate::question::SearchQuestion;
use crate::record_table::TableConfig;
use crate::{PageRequest, PageResult};
use catalog::{
    Catalog, Issues, ListParts, ListPosition, ParameterError, ParseOptions, ParsedRequest, Query, ReadingKind,
    Relaxable, Request, Resource, SearchReading, WantedPage,
};
use data::{Facet, ReviewStatus};
use view::columns::{COLUMNS, Column, ColumnChoice};
use view::format;
use view::link::Link;

pub(crate) const PER_PAGE: u64 = 25;
const PAGE_SIZES: [u64; 3] = [PER_PAGE, 50, MAX_PER_PAGE];
pub(crate) const MAX_PER_PAGE: u64 = 100;
/// Lists with more conditions are not indexed by search engines: there are too many combinations.
const MAX_INDEXED: usize = 2;
pub(crate) const MAX_FILE_ROWS: u64 = 5_000;
/// The parameter for the page size in rows.
pub(crate) const SIZE: &str = "per_page";
/// Parameters of a list that are no conditions: its order, its page size and its columns.
pub(crate) const VIEW: [&str; 3] = ["sort", SIZE, COLUMNS];

pub(crate) struct BrowseConfig {
    pub resource: Resource,
    pub path: &'static str,
    pub nouns: (&'static str, &'static str),
    pub about: &'static str,
    /// Filters that offer values with counts: parameter, heading, facet.
    pub facets: &'static [(&'static str, &'static str, Facet)],
    pub ranges: &'static [RangeConfig],
    pub fields: &'static [FieldConfig],
    /// The value of `sort` and its label; the first is the default.
    pub sort_options: &'static [(&'static str, &'static str)],
    pub table: TableConfig,
}

/// The heading of a column; a click sorts the list, if it has an order by the column.
#[derive(Template)]
#[template(path = "heading.html")]
pub(crate) struct Heading {
    pub label: &'static str,
    class: String,
    /// Empty for a column that no order sorts by.
    href: String,
    note: &'static str,
    /// HTML of a drawing that explains those of the rows; empty if there is none.
    legend: String,
    /// `ascending` or `descending`; empty if another column sorts the list.
    direction: &'static str,
}

/// A part of the query that was ignored.
pub(crate) struct Warning {
    pub text: String,
    /// The closest valid value and the link that uses it.
    pub suggestion: Option<(String, String)>,
}

pub(crate) struct Browse {
    pub config: &'static BrowseConfig,
    pub columns: ColumnChoice,
    pub is_searchable: bool,
    pub q: String,
    pub total: u64,
    /// True if the page has no row: one of a text may have rows that no total counts.
    pub is_empty: bool,
    pub search_notes: Vec<String>,
    pub filters: Filters,
    pub sort_options: Vec<SortOption>,
    pub active_filters: Vec<(String, String)>,
    pub warnings: Vec<Warning>,
    pub suggestions: Vec<(String, String)>,
    /// By slug: what a record has in common with the one it is like, or an excerpt in parts; true marks a matched word.
    remarks: HashMap<String, Vec<(String, bool)>>,
    /// The text read as a question, if it is not a name.
    pub question: Option<SearchQuestion>,
    /// If no record has the name: those with its words in their descriptions, as count in words and path of the list.
    pub described: Option<(String, String)>,
    pub pager: Pager,
    pub api: String,
    pub save: String,
    /// Path of the list as CSV, and its number of rows in words.
    pub csv: String,
    pub csv_rows: String,
    /// Page sizes: number of rows, link; true for the current one.
    pub sizes: [(u64, String, bool); 3],
    pub title: String,
    /// The canonical query, with the page number.
    pub query: String,
    pub link: Link,
    /// The order of the list, as in `sort`.
    order: String,
}

pub(crate) struct Pager {
    /// From 1.
    pub page: u64,
    pub pages: u64,
    pub previous: Option<String>,
    pub next: Option<String>,
    pub path: String,
    /// Hidden fields of the form that jumps to a page.
    pub fields: Vec<(String, String)>,
}

pub(crate) fn page_size(link: &Link) -> u64 {
    let size = link.text(SIZE).parse().ok();
    size.filter(|size| PAGE_SIZES.contains(size)).unwrap_or(PER_PAGE)
}

impl Pager {
    pub(crate) fn new(link: &Link, page: u64, total: u64) -> Self {
        Self::with_size(link, page, total, page_size(link))
    }

    pub(crate) fn with_size(link: &Link, page: u64, total: u64, size: u64) -> Self {
        let pages = total.div_ceil(size);
        let at = |page: u64| at_page(link, page).href();
        // Past the end, the previous page is the last one.
        let previous = (page > 1).then(|| at((page - 1).min(pages.max(1))));
        let next = (page < pages).then(|| at(page + 1));
        Self { page, pages, previous, next, path: link.path.clone(), fields: link.others(&["page"]) }
    }
}

/// The link to a page of the list; page 1 has no parameter.
pub(crate) fn at_page(link: &Link, page: u64) -> Link {
    link.with("page", &if page > 1 { page.to_string() } else { String::new() })
}

/// The parameters of a query, and the page number, from 1.
pub(crate) fn read_page(query: &str) -> (Vec<(String, String)>, u64) {
    let params: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let page = params.iter().find(|(name, _)| name == "page").and_then(|(_, page)| page.trim().parse().ok());
    (params, page.unwrap_or(1).max(1))
}

/// Pages ignore unknown parameters and values, with a warning.
pub(crate) const PARSE_OPTIONS: ParseOptions =
    ParseOptions { strict: false, review_statuses: &[ReviewStatus::Approved], other_names: &["page", SIZE] };
/// As [`PARSE_OPTIONS`], for pages whose columns can be chosen.
pub(crate) const LIST_OPTIONS: ParseOptions = ParseOptions { other_names: &["page", SIZE, COLUMNS], ..PARSE_OPTIONS };

pub(crate) struct PageQuery {
    pub parsed: ParsedRequest,
    /// The link to the query in its canonical form, with the page size.
    pub link: Link,
    /// From 1.
    pub page: u64,
    pub given: Vec<(String, String)>,
    /// Invalid values, then ignored ones.
    pub problems: Vec<ParameterError>,
}

impl PageQuery {
    pub(crate) fn parse(catalog: &Catalog, resource: Resource, path: &str, query: &str) -> PageResult<Self> {
        let (given, page) = read_page(query);
        let parsed = catalog.parse(resource, &given, PARSE_OPTIONS);
        Self::new(catalog, path, parsed, given, page, Vec::new())
    }

    /// Leaves out invalid values. They are marked at their fields, which is more useful than an error page.
    pub(crate) fn lenient(
        catalog: &Catalog,
        resource: Resource,
        path: &str,
        query: &str,
        options: ParseOptions,
    ) -> PageResult<Self> {
        let (given, page) = read_page(query);
        let mut problems: Vec<ParameterError> = Vec::new();
        let parsed = catalog.parse(resource, &given, options).or_else(|issues| {
            problems = issues.report(catalog);
            let is_valid = |name: &String| !problems.iter().any(|problem| problem.parameter == *name);
            let valid: Vec<(String, String)> = given.iter().filter(|(name, _)| is_valid(name)).cloned().collect();
            catalog.parse(resource, &valid, options)
        });
        Self::new(catalog, path, parsed, given, page, problems)
    }

    fn new(
        catalog: &Catalog,
        path: &str,
        parsed: Result<ParsedRequest, Issues>,
        given: Vec<(String, String)>,
        page: u64,
        mut problems: Vec<ParameterError>,
    ) -> PageResult<Self> {
        let parsed = parsed.map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
        problems.extend(parsed.warnings.report(catalog));
        let size = given.iter().find(|(name, _)| name == SIZE).map_or("", |(_, size)| size.as_str());
        let is_other = PAGE_SIZES[1..].iter().any(|known| known.to_string() == size);
        let link = Link::canonical(path, &parsed).with(SIZE, if is_other { size } else { "" });
        Ok(Self { parsed, link, page, given, problems })
    }

    /// As [`Self::parse`], but a text that is not a name is replaced by its meaning, which is also returned.
    pub(crate) fn parse_meaning(
        catalog: &Catalog,
        resource: Resource,
        path: &str,
        query: &str,
    ) -> PageResult<(Self, Option<SearchReading>)> {
        let asked = Self::parse(catalog, resource, path, query)?;
        let (search, meaning) = asked.read_search(catalog, resource).unzip();
        match meaning.flatten() {
            Some(meaning) => Ok((Self::parse(catalog, resource, path, &meaning)?, search)),
            None => Ok((asked, search)),
        }
    }

    /// The reading of a query's text, and the query with the text replaced by its meaning, unless the text is a name.
    fn read_search(&self, catalog: &Catalog, resource: Resource) -> Option<(SearchReading, Option<String>)> {
        let Request::List(query) = &self.parsed.request else { return None };
        let names = self.given.iter().filter(|(_, value)| !value.trim().is_empty()).map(|(name, _)| name.as_str());
        let search = catalog.read_search(resource, &names.collect::<Vec<_>>(), query)?;
        let is_text = |name: &str| resource.parameter(name).is_some_and(|parameter| parameter.name == "q");
        // A list page has its own page size, so `limit` is dropped.
        let meaning = search.values().into_iter().filter(|(name, _)| name != "limit");
        let pairs = self.given.iter().filter(|(name, _)| !is_text(name)).cloned().chain(meaning);
        let meaning =
            (search.reading != ReadingKind::Name).then(|| Serializer::new(String::new()).extend_pairs(pairs).finish());
        Some((search, meaning))
    }

    pub(crate) fn warnings(&self, link: &Link) -> Vec<Warning> {
        self.problems.iter().chain(&self.parsed.notes).cloned().map(|problem| Warning::new(problem, link)).collect()
    }
}

pub(crate) fn problem_of(problems: &[ParameterError], name: &str) -> Option<String> {
    problems.iter().find(|problem| problem.parameter == name).map(|problem| sentence(&problem.detail))
}

pub(crate) fn position_of(link: &Link, page: u64) -> ListPosition {
    ListPosition::after((page - 1).saturating_mul(page_size(link)))
}

impl Browse {
    /// The layout of a list, the table filtered by the query of a request, and the rows of its page.
    pub(crate) fn load(
        catalog: &Catalog,
        page_request: PageRequest<'_>,
        config: &'static BrowseConfig,
    ) -> PageResult<(PageLayout, Self, Vec<u32>)> {
        let (given, _) = read_page(page_request.query);
        let (columns, unknown_columns) = ColumnChoice::parse(&given, config.table.columns);
        let read = |query: &str| -> PageResult<PageQuery> {
            let mut asked = PageQuery::lenient(catalog, config.resource, config.path, query, LIST_OPTIONS)?;
            asked.link = asked.link.with(COLUMNS, &columns.text());
            asked.problems.extend(unknown_columns.iter().cloned());
            Ok(asked)
        };
        let by_name = read(page_request.query)?;
        let without_text = by_name.link.with("q", "");
        let (search, meaning) = by_name.read_search(catalog, config.resource).unzip();
        let asked = match meaning.flatten() {
            Some(meaning) => read(&meaning)?,
            None => by_name,
        };
        let PageQuery { parsed: ParsedRequest { request, canonical, .. }, link, page, .. } = &asked;
        let (page, mut warnings) = (*page, asked.warnings(link));
        let Request::List(query) = request else { unreachable!("{:?} is a list", config.resource) };
        let may_drop = |_: &str| true;
        let parts = ListParts {
            meaning_of: search.as_ref(),
            relaxation: Some(Relaxable { canonical, options: LIST_OPTIONS, may_drop: &may_drop }),
            snippets: true,
            similarities: true,
            ..ListParts::default()
        };
        let (start, limit) = (position_of(link, page), page_size(link) as usize);
        let found = catalog.answer(&WantedPage { resource: config.resource, request, start, limit, parts });
        let mut filters = Filters::new(catalog, config, &asked, query);
        let by_words = search.as_ref().filter(|search| search.reading == ReadingKind::Text);
        if by_words.is_some() {
            // The words stay in the search field, so they are not also sent as a hidden field.
            filters.kept.retain(|(name, _)| name != "text");
        }
        let as_question = |search| SearchQuestion::from_search(catalog, config.resource, search, &without_text, 0);
        let question = search.as_ref().map(as_question).transpose()?;
        let (note, described) = search.as_ref().map(|search| search_words(config, search, &without_text)).unzip();
        let similar = found.did_you_mean.iter().take(5);
        let suggestions = similar.map(|row| name_and_path(catalog, query.table, *row)).collect();
        warnings.extend(found.relaxation.as_ref().map(|relaxation| {
            let (value, how) = relaxation.instead.as_ref().map_or(("", "without it"), |value| (value, "with it"));
            let counted = format!("{} {how}", format::number(relaxation.total));
            let href = link.with(relaxation.parameter, value).href();
            Warning { text: relaxation.detail(relaxation.parameter), suggestion: Some((counted, href)) }
        }));
        let snippets = found.snippets.iter().map(|snippet| (snippet.slug.clone(), snippet.parts()));
        let similarities = found.similarities.iter().map(|one| (one.slug.to_owned(), vec![(one.in_words(), false)]));
        let notes = found.notes.iter().map(|note| sentence(&note.detail));
        let mut saved = vec![("table".to_owned(), config.resource.path().to_owned())];
        saved.extend(link.others(&VIEW));
        let data = link.with(SIZE, "").with(COLUMNS, "");
        let with_link = |size: u64| {
            let text = if size == PER_PAGE { String::new() } else { size.to_string() };
            (size, link.with(SIZE, &text).href(), page_size(link) == size)
        };
        let browse = Self {
            question: question.flatten(),
            described: described.flatten(),
            remarks: snippets.chain(similarities).collect(),
            config,
            columns,
            is_searchable: config.resource.is_searchable(),
            q: by_words.map_or_else(|| link.text("q").to_owned(), |search| search.text.clone()),
            total: found.total,
            is_empty: found.rows.is_empty(),
            search_notes: note.flatten().into_iter().chain(notes).collect(),
            filters,
            sort_options: sort_options(catalog, config, query, link.text("sort")),
            active_filters: active_filters(catalog, link),
            warnings,
            suggestions,
            pager: Pager::new(link, page, found.total),
            title: title(catalog, config.resource, link),
            query: at_page(&link.with(COLUMNS, ""), page).query(),
            save: Link::new("/account/saved/new", saved).href(),
            api: data.at(&page_request.api(config.resource.path())).href(),
            csv: data.at(&format!("{}.csv", config.path)).href(),
            csv_rows: match found.total {
                total if total <= MAX_FILE_ROWS => format::counted(total, "row", "rows"),
                total => format!("first {} of {} rows", format::number(MAX_FILE_ROWS), format::number(total)),
            },
            sizes: PAGE_SIZES.map(with_link),
            order: match link.text("sort") {
                "" if !query.is_ranked() => config.sort_options[0].0.to_owned(),
                sort => sort.to_owned(),
            },
            link: link.clone(),
        };
        Ok((browse.layout(catalog, page_request, config.about), browse, found.rows.to_vec()))
    }

    pub(crate) fn remark(&self, slug: &str) -> &[(String, bool)] {
        self.remarks.get(slug).map_or(&[], Vec::as_slice)
    }

    /// The heading of a column that sorts by a key. `default` is the `sort` value of the first click.
    pub(crate) fn heading(&self, label: &'static str, class: String, default: &'static str) -> Heading {
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
        Heading { href: self.link.with("sort", &next).href(), direction, ..Heading::plain(label, class) }
    }

    /// True if a visitor can select the order.
    pub(crate) fn has_order(&self, key: &str) -> bool {
        self.config.sort_options.iter().any(|(value, _)| *value == key)
    }

    /// The list with other columns; an empty text chooses those that fit.
    pub(crate) fn with_columns(&self, columns: &str) -> Link {
        at_page(&self.link.with(COLUMNS, columns), self.pager.page)
    }

    /// The list with a column that is shown before the others.
    pub(crate) fn with_first_column(&self, column: &'static str) -> Link {
        self.with_columns(&self.columns.with_first(column, self.config.table.columns))
    }

    fn layout(&self, catalog: &Catalog, request: PageRequest<'_>, about: &str) -> PageLayout {
        let title = match self.pager.page {
            1 => self.title.clone(),
            page => format!("{} · page {}", self.title, format::number(page)),
        };
        let description = match conditions::count(&self.link) {
            0 => about.to_owned(),
            _ => format!("{}: {} found. {about}", self.title, format::number(self.total)),
        };
        let layout = PageLayout::new(catalog.snapshot(), &title, &description, request.path);
        let layout = layout
            .with_twins(request.state, &self.query)
            .with_canonical(&request.state.public_url, &self.address().href());
        let is_page = self.total > 0 && self.pager.page <= self.pager.pages && self.q.is_empty();
        if is_page && conditions::count(&self.link) <= MAX_INDEXED { layout } else { layout.not_indexed() }
    }

    /// The canonical address for search engines: page 1 under another order or size, which make other pages.
    fn address(&self) -> Link {
        let plain = VIEW.iter().fold(self.link.clone(), |link, name| link.with(name, ""));
        let is_plain = plain.query() == self.link.query();
        at_page(&plain, if is_plain { self.pager.page } else { 1 })
    }

    pub(crate) fn counted(&self) -> String {
        let (one, many) = self.config.nouns;
        format::counted(self.total, one, many)
    }
}

/// The remark on a search text, and [`Browse::described`]. `without_text` is the list without the text.
fn search_words(
    config: &BrowseConfig,
    search: &SearchReading,
    without_text: &Link,
) -> (Option<String>, Option<(String, String)>) {
    let (one, many) = config.nouns;
    let text = &search.text;
    let counted = format::counted(search.described as u64, one, many);
    if search.reading == ReadingKind::Text {
        let having = "With all of its words in descriptions, sectors or places";
        return (Some(format!("No {one} is named “{text}”. {having}: {counted}.")), None);
    }
    let note = format!("No {one} is named “{text}”. It was read as a question.");
    let described = (search.described > 0).then(|| (counted, without_text.with("text", text).href()));
    ((search.reading == ReadingKind::Question).then_some(note), described)
}

impl Heading {
    pub(crate) fn plain(label: &'static str, class: String) -> Self {
        Self { label, class, href: String::new(), note: "", legend: String::new(), direction: "" }
    }

    /// Adds what explains the values of a column.
    pub(crate) fn explained(self, column: &Column) -> Self {
        let legend = column.legend.map(|(draw, _)| draw()).unwrap_or_default();
        Self { note: column.note, legend, ..self }
    }
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

/// An offered order: value of `sort`, label; true if it is selected.
type SortOption = (String, &'static str, bool);

/// Orders without differing values are left out. The default has an empty value, so that it is not in the URL.
fn sort_options(catalog: &Catalog, config: &BrowseConfig, query: &Query, sort: &str) -> Vec<SortOption> {
    let is_search = query.is_ranked();
    let mut options = Vec::new();
    let is_ordered = |key: &str| {
        let (table, key) = (config.resource.table(), key.trim_start_matches('-'));
        key == "name" || catalog.snapshot().values(table, table.sort_key(key)).len() > 1
    };
    // The default order without leading keys that do not distinguish records.
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
