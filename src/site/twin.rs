//! Twins of pages: the same record or list as JSON, in the format of the API, as Markdown for assistants, or as CSV.
//!
//! The Markdown is generated from the JSON. A list twin has the rows of one page; the API has more. Each costs a request of the
//! caller's key, or of what its address has for a day.

use std::fmt::Write;

use http::header::{CONTENT_DISPOSITION, LINK};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::browse::{MAX_FILE_ROWS, MAX_PER_PAGE, PageQuery, Pager, page_size, position_of};
use crate::embed::{self, ChartEntry};
use crate::error_page::{PageError, path_of};
use crate::{PageRequest, PageResult, PageRoute, admit_pages, find, respond_unless_known, respond_with};
use auth::quota::ROWS_OF_REQUEST;
use catalog::flat::{CsvWriter, list_columns};
use catalog::json::{ComposedRecord, Fields};
use catalog::{Catalog, Interpretation, ParameterError, Query, Request, Resource, SearchReading, WantedPage};
use data::Table;
use transport::headers::set;
use transport::warnings::write_warnings;
use view::format;
use view::format::ACCEPTS;
use view::link::Link;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TwinFormat {
    Markdown,
    Json,
    /// Only for lists and charts.
    Csv,
    /// Only for charts.
    Svg,
    Png,
}

impl TwinFormat {
    const ALL: [Self; 5] = [Self::Markdown, Self::Json, Self::Csv, Self::Svg, Self::Png];

    /// The extension of the path.
    pub(crate) fn extension(self) -> &'static str {
        [".md", ".json", ".csv", ".svg", ".png"][self as usize]
    }

    /// The path in logs and metrics.
    pub(crate) fn label(self) -> &'static str {
        ["/{page}.md", "/{page}.json", "/{page}.csv", "/{page}.svg", "/{page}.png"][self as usize]
    }

    /// Splits the path of a twin into the path of its page and the format.
    pub(crate) fn split(path: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|format| Some((path.strip_suffix(format.extension())?, format)))
    }
}

#[derive(Clone, Copy)]
pub(crate) enum TwinSubject {
    Record(Table),
    /// Of reviews, the approved ones of the firm with the slug in the path.
    List(Resource),
    /// In the formats of [`crate::embed`].
    Chart(&'static ChartEntry),
}

impl TwinSubject {
    pub(crate) fn has(self, format: TwinFormat) -> bool {
        match self {
            Self::Chart(_) => format != TwinFormat::Markdown,
            _ => matches!(format, TwinFormat::Markdown | TwinFormat::Json | TwinFormat::Csv),
        }
    }

    pub(crate) fn extensions(self) -> impl Iterator<Item = &'static str> {
        TwinFormat::ALL.into_iter().filter(move |format| self.has(*format)).map(TwinFormat::extension)
    }
}

#[derive(Serialize)]
struct Twin<'a> {
    data: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<TwinPagination>,
    meta: TwinMeta<'a>,
}

#[derive(Serialize)]
struct TwinPagination {
    page: u64,
    total_pages: u64,
    total: u64,
    limit: u64,
}

#[derive(Serialize)]
pub(crate) struct TwinMeta<'a> {
    snapshot: String,
    invented: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    license: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Interpretation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<ParameterError>,
}

impl<'a> TwinMeta<'a> {
    pub(crate) fn new(catalog: &'a Catalog, warnings: Vec<ParameterError>) -> Self {
        let snapshot = catalog.snapshot();
        Self {
            snapshot: snapshot.version().to_string(),
            invented: snapshot.is_invented(),
            source: snapshot.source(),
            license: snapshot.license(),
            question: None,
            warnings,
        }
    }
}

pub(crate) fn respond(
    catalog: &Catalog,
    request: PageRequest<'_>,
    route: PageRoute<'_>,
    (subject, format): (TwinSubject, TwinFormat),
    slug: &str,
) -> PageResult {
    let (path, _) = TwinFormat::split(request.path).unwrap_or((request.path, format));
    if let TwinSubject::Chart(chart) = subject {
        return embed::file(catalog, request, route, chart, format);
    }
    if format == TwinFormat::Csv {
        return csv_response(catalog, request, subject, path);
    }
    let (twin, link) = match subject {
        TwinSubject::Record(table) => {
            let row = find(catalog, table, slug)?;
            let mut json = Vec::new();
            ComposedRecord::new(catalog, table, row).write(&mut json, &Fields::Default, true);
            let link = Link::new(&path_of(table, catalog.snapshot().slug(table, row)), Vec::new());
            let mut warnings = route.unknown_parameters(catalog, request.query);
            warnings.extend(catalog.notes_on_record(table, row));
            (Twin { data: raw(json), pagination: None, meta: TwinMeta::new(catalog, warnings) }, link)
        }
        TwinSubject::List(resource) => list_twin(catalog, request, resource, path, slug)?,
        TwinSubject::Chart(_) => return Err(PageError::UnknownPage),
    };
    let (body, content_type) = if format == TwinFormat::Json {
        (serde_json::to_vec(&twin).expect("a twin has a JSON form"), "application/json")
    } else {
        let base = &request.state.public_url;
        (markdown(&twin, subject, &link, base).into_bytes(), "text/markdown; charset=utf-8")
    };
    let mut response = respond_unless_known(request, body, content_type);
    // Search engines index the page instead.
    let page = format!("<{}{}>; rel=\"canonical\"", request.state.public_url, link.href());
    if let Ok(page) = HeaderValue::try_from(page) {
        response.headers_mut().insert(LINK, page);
    }
    Ok(response)
}

/// At most [`MAX_FILE_ROWS`] rows, charged as pages of [`MAX_PER_PAGE`] rows, and as a file of the API.
fn csv_response(catalog: &Catalog, request: PageRequest<'_>, subject: TwinSubject, path: &str) -> PageResult {
    let TwinSubject::List(resource) = subject else { return Err(PageError::UnknownPage) };
    if resource == Resource::Reviews {
        return Err(PageError::UnknownPage);
    }
    let (asked, search) = PageQuery::parse_meaning(catalog, resource, path, request.query)?;
    if !matches!(asked.parsed.request, Request::List(_)) {
        return Err(PageError::UnknownPage);
    }
    let mut warnings = warnings_of(&asked, search.as_ref());
    let position = position_of(&asked.link, asked.page);
    let found = catalog.answer(&WantedPage::rows(resource, &asked.parsed.request, position, MAX_FILE_ROWS as usize));
    warnings.extend(found.notes);
    request.charge(found.rows.len().div_ceil(ROWS_OF_REQUEST as usize))?;
    let address = request.state.client(request.peer, request.headers);
    admit_pages(request, address, found.rows.len().div_ceil(MAX_PER_PAGE as usize))?;
    let fields = Fields::Default;
    let columns = list_columns(resource, &fields);
    let mut csv = CsvWriter::new(&columns);
    csv.header();
    for index in 0..found.rows.len() {
        csv.row(&found.rows.record(catalog, resource.table(), index));
    }
    let mut response = respond_with(request, StatusCode::OK, csv.into_text(), "text/csv; charset=utf-8");
    write_warnings(response.headers_mut(), &warnings);
    let name = format!("attachment; filename=\"{}-{}.csv\"", resource.path(), catalog.version());
    set(response.headers_mut(), CONTENT_DISPOSITION, &name);
    set(response.headers_mut(), TOTAL_COUNT, &found.total.to_string());
    Ok(response)
}

const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");

fn raw(json: Vec<u8>) -> Box<RawValue> {
    let text = String::from_utf8(json).expect("records are JSON");
    RawValue::from_string(text).expect("records are JSON")
}

/// Notes about a request: values that were ignored or interpreted, and the reading of its text.
fn warnings_of(asked: &PageQuery, search: Option<&SearchReading>) -> Vec<ParameterError> {
    let of_search = search.into_iter().flat_map(|search| {
        let notes = search.notes("q").into_iter();
        notes.map(|note| ParameterError::no_name(note, search.is_partly_named))
    });
    asked.problems.iter().chain(&asked.parsed.notes).cloned().chain(of_search).collect()
}

/// The twin of a page of a list, and the link to the list. Reviews are those of the firm with the slug.
fn list_twin<'c>(
    catalog: &'c Catalog,
    request: PageRequest<'_>,
    resource: Resource,
    path: &str,
    slug: &str,
) -> PageResult<(Twin<'c>, Link)> {
    let firm = (resource == Resource::Reviews).then(|| find(catalog, Table::Firms, slug)).transpose()?;
    let (mut asked, search) = PageQuery::parse_meaning(catalog, resource, path, request.query)?;
    if let (Request::List(query), Some(firm)) = (&mut asked.parsed.request, firm) {
        query.filters.extend(Query::approved_reviews(firm).filters);
    }
    let mut warnings = warnings_of(&asked, search.as_ref());
    let PageQuery { parsed, link, page, .. } = asked;
    let (position, limit) = (position_of(&link, page), page_size(&link));
    let found = catalog.answer(&WantedPage::rows(resource, &parsed.request, position, limit as usize));
    warnings.extend(found.notes);
    let mut json = vec![b'['];
    found.rows.write_all(&mut json, catalog, resource.table(), &Fields::Default);
    json.push(b']');
    let total = found.total;
    let pagination = TwinPagination { page, total_pages: total.div_ceil(limit), total, limit };
    let question = search.as_ref().and_then(SearchReading::as_question).cloned();
    let meta = TwinMeta { question, ..TwinMeta::new(catalog, warnings) };
    Ok((Twin { data: raw(json), pagination: Some(pagination), meta }, link))
}

fn markdown(twin: &Twin<'_>, subject: TwinSubject, link: &Link, base: &str) -> String {
    let mut text = String::new();
    let data: Value = serde_json::from_str(twin.data.get()).expect("records are JSON");
    match subject {
        TwinSubject::Record(table) => {
            write_record(&mut text, &ordered(data.as_object().expect("a record is an object"), table));
        }
        TwinSubject::List(resource) => {
            writeln!(text, "# {}\n", format::word(resource.path())).expect(ACCEPTS);
            if let Some(TwinPagination { page, total_pages, total, .. }) = &twin.pagination {
                let total = format::counted(*total, "record", "records");
                writeln!(text, "{total}, page {page} of {total_pages}.\n").expect(ACCEPTS);
            }
            write_table(&mut text, data.as_array().map_or(&[], Vec::as_slice), resource.table());
        }
        // Charts have no Markdown.
        TwinSubject::Chart(_) => {}
    }
    if let Some(question) = &twin.meta.question {
        let read = question.parts.iter().map(|part| format!("“{}” as {} {}", part.text, part.parameter, part.value));
        let unread = question.unread.iter().map(|words| format!("“{words}” not understood"));
        let read: Vec<String> = read.chain(unread).collect();
        writeln!(text, "> Question: {}.\n", escaped(&read.join("; "))).expect(ACCEPTS);
    }
    for warning in &twin.meta.warnings {
        writeln!(text, "> {}\n", escaped(&warning.detail)).expect(ACCEPTS);
    }
    if let Some(pagination) = &twin.pagination {
        let pager = Pager::new(&link.at(&format!("{}.md", link.path)), pagination.page, pagination.total);
        if let Some(next) = pager.next {
            writeln!(text, "Next page: {base}{next}\n").expect(ACCEPTS);
        }
    }
    let TwinMeta { snapshot, invented, license, .. } = &twin.meta;
    let invented = if *invented { " **Invented data: nothing here is real.**" } else { "" };
    let license = if license.is_empty() { String::new() } else { format!(", {}", escaped(license)) };
    writeln!(
        text,
        "---\nPage: {base}{} · snapshot {snapshot}{license}.{invented} What is not listed is unknown.",
        link.href()
    )
    .expect(ACCEPTS);
    text
}

/// The members of a record in the order of the table's fields; computed members come first.
fn ordered(record: &Map<String, Value>, table: Table) -> Vec<(&str, &Value)> {
    let place = |name: &str| table.model().fields.iter().position(|field| field.name == name);
    let mut members: Vec<(&str, &Value)> = record.iter().map(|(name, value)| (name.as_str(), value)).collect();
    members.sort_by_key(|(name, _)| place(name));
    members
}

/// Writes a record: known values as a list, nested lists of records as tables.
fn write_record<'r>(text: &mut String, record: &[(&'r str, &'r Value)]) {
    let title = record.iter().find(|(name, _)| *name == "name").and_then(|(_, name)| name.as_str());
    writeln!(text, "# {}\n", escaped(title.unwrap_or_default())).expect(ACCEPTS);
    let mut tables: Vec<(&str, &[Value])> = Vec::new();
    let mut write_member = |name: &'r str, label: &str, value: &'r Value| match value {
        Value::Array(items) if items.iter().any(Value::is_object) => tables.push((name, items)),
        value => {
            let value = cell(value);
            if !value.is_empty() {
                writeln!(text, "- {}: {value}", format::word(label)).expect(ACCEPTS);
            }
        }
    };
    for (name, value) in record.iter().copied().filter(|(name, _)| *name != "name") {
        match value {
            Value::Object(parts) if !parts.contains_key("name") => {
                parts.iter().for_each(|(part, value)| write_member(part, &format!("{name} {part}"), value));
            }
            value => write_member(name, name, value),
        }
    }
    text.push('\n');
    for (name, items) in tables {
        writeln!(text, "## {}\n", format::word(name)).expect(ACCEPTS);
        let table = match name {
            "rounds" => Table::Rounds,
            "people" => Table::People,
            _ => Table::Firms,
        };
        write_table(text, items, table);
    }
}

/// Only columns that have any value. Names of firms, startups and people link to their twins.
fn write_table(text: &mut String, items: &[Value], table: Table) {
    let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    let Some(first) = rows.first() else { return };
    let is_known = |name: &str| rows.iter().any(|row| row.get(name).is_some_and(|value| !cell(value).is_empty()));
    let names: Vec<&str> =
        ordered(first, table).into_iter().map(|(name, _)| name).filter(|name| is_known(name)).collect();
    let mut line = |cells: Vec<String>| writeln!(text, "| {} |", cells.join(" | ")).expect(ACCEPTS);
    line(names.iter().map(|name| format::word(name)).collect());
    line(names.iter().map(|_| "---".to_owned()).collect());
    for row in rows {
        let slug = row.get("slug").and_then(Value::as_str);
        let slug = slug.filter(|_| matches!(table, Table::Firms | Table::Startups | Table::People));
        let page = slug.map(|slug| format!("{}.md", path_of(table, slug)));
        let shown = |name: &&str| match (&page, row.get(*name)) {
            (Some(page), Some(value)) if *name == "name" => format!("[{}]({page})", cell(value)),
            (_, value) => value.map_or_else(String::new, cell),
        };
        line(names.iter().map(shown).collect());
    }
    text.push('\n');
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => escaped(text),
        Value::Array(items) => items.iter().map(cell).filter(|item| !item.is_empty()).collect::<Vec<_>>().join(", "),
        Value::Object(parts) => match parts.get("name") {
            Some(name) => cell(name),
            None => parts.values().map(cell).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
        },
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' => escaped.extend(['\\', char]),
            char if char.is_control() => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}
