//! Lists: a window of rows with the pagination that the version writes.

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use crate::catalog::{
    Asked, BoardPage, Catalog, CoInvestorPage, FitPage, Page, ParameterError, Place, Request, Resource, Rules,
};
use crate::dataset::vocabulary::Vocabulary;
use crate::dataset::{Metric, Table};
use crate::search::Explanation;
use crate::web::problem::{Code, Problem};

use super::cursor::Cursor;
use super::fields::{self, Fields};
use super::further;
use super::records;
use super::shape::Shape;
use super::version::{DEFAULT_LIMIT, Start, Version, Window, single};
use super::{Answer, Call};

/// A list's pagination, in the shape of each version.
#[derive(Serialize)]
#[serde(untagged)]
enum Pagination {
    V1 { total: u64, limit: u64, offset: u64 },
    V2 { page: u64, total_pages: u64, total: u64, limit: u64 },
    V3 { next_cursor: Option<String>, has_more: bool, total: u64, limit: u64 },
}

/// What stands beside the data.
#[derive(Serialize)]
pub(super) struct Meta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub warnings: &'a [ParameterError],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub did_you_mean: &'a [Reference],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub explain: &'a [Explained],
}

/// Why a row answers a search.
#[derive(Serialize)]
pub(super) struct Explained {
    slug: String,
    #[serde(flatten)]
    explanation: Explanation,
}

/// A record that was probably meant.
#[derive(Serialize)]
pub(super) struct Reference {
    slug: String,
    name: String,
}

/// The rows of a page, from a table or a list that is made for the request.
enum Rows {
    Plain(Page),
    Ranked(BoardPage),
    CoInvestors(CoInvestorPage),
    Fits(FitPage),
}

impl Rows {
    fn total(&self) -> u64 {
        match self {
            Self::Plain(page) => page.total,
            Self::Ranked(page) => page.total,
            Self::CoInvestors(page) => page.total,
            Self::Fits(page) => page.total,
        }
    }

    fn is_capped(&self) -> bool {
        matches!(self, Self::Plain(Page { capped: true, .. }))
    }

    fn next(&self) -> Option<Place> {
        match self {
            Self::Plain(page) => page.next,
            Self::Ranked(page) => page.next,
            Self::CoInvestors(page) => page.next,
            Self::Fits(page) => page.next,
        }
    }
}

/// Answers a list of `resource`. `given` are further conditions that the path makes (`vcs/acme/rounds`).
pub(super) fn answer(call: &Call<'_>, resource: Resource, given: &[(&str, &str)]) -> Result<Answer, Problem> {
    let version = call.version;
    let mut warnings = Vec::new();
    let mut faults = Faults::default();
    let opened = match version {
        Version::V3 => faults.of(Opened::read(call))?,
        Version::V1 | Version::V2 => None,
    };
    let opened = opened.flatten();
    let values = opened.as_ref().map_or(Cow::Borrowed(call.values), |opened| opened.window(call.values));
    let window = faults.of(Window::read(version, &values, &mut warnings).map_err(Problem::of_parameters))?;
    let fields = faults.of(match version {
        Version::V3 => Fields::read(&values, shape(resource)).map_err(Problem::of_parameters),
        Version::V1 | Version::V2 => Ok(Fields::Default),
    })?;
    let explains = faults.of(explains(version, &values))?;
    let offset = window.as_ref().map_or(0, Window::offset);
    let walk = faults.of(Walk::begin(call, resource, given, opened, offset))?;
    let (window, fields, explains, walk) = match (window, fields, explains, walk) {
        (Some(window), Some(fields), Some(explains), Some(walk)) if faults.0.is_empty() => {
            (window, fields, explains, walk)
        }
        _ => return Err(faults.all()),
    };
    let asked = walk.asked;
    let rows = match &asked.request {
        Request::List(query) => Rows::Plain(walk.catalog.list(query, walk.place, window.limit as usize)),
        Request::Board(query) => Rows::Ranked(walk.catalog.leaderboard(query, walk.place, window.limit as usize)),
        Request::CoInvestors(firm) => {
            Rows::CoInvestors(walk.catalog.co_investors(*firm, walk.place, window.limit as usize))
        }
        Request::Match(query) => Rows::Fits(walk.catalog.fits(query, walk.place, window.limit as usize)),
    };
    warnings.extend(asked.warnings);
    if rows.is_capped() {
        warnings.push(ParameterError::total_capped(rows.total()));
    }

    let next_cursor = match version {
        Version::V3 => rows.next().map(|place| -> Result<String, Problem> {
            let mut query = carried(version, resource, &asked.canonical);
            query.extend(carried_window(&values, window.limit, explains));
            let (snapshot, content) = (walk.catalog.version(), walk.catalog.snapshot().content());
            let cursor = Cursor { snapshot, content, path: call.path.to_ascii_lowercase(), query, place };
            cursor.seal(call.state.access.cursor_secret()).ok_or_else(|| {
                let detail = "these filters are too long for a cursor to carry: ask for fewer values at a time";
                Problem::new(Code::UrlTooLong, detail)
            })
        }),
        Version::V1 | Version::V2 => None,
    };
    let next_cursor = next_cursor.transpose()?;
    let next_link = next_cursor.as_ref().map(|cursor| next_link(call, cursor));
    let (total, limit) = (rows.total(), window.limit);
    let pagination = match &window.start {
        Start::Offset(offset) => Pagination::V1 { total, limit, offset: *offset },
        Start::Page(page) => Pagination::V2 { page: *page, total_pages: total.div_ceil(limit), total, limit },
        Start::Cursor(_) => Pagination::V3 { has_more: next_cursor.is_some(), next_cursor, total, limit },
    };

    let table = resource.table();
    let mut body = Vec::with_capacity(16 * 1024);
    body.extend_from_slice(b"{\"data\":[");
    let mut meant = Vec::new();
    let mut explained = Vec::new();
    match &rows {
        Rows::Plain(page) => {
            for (index, row) in page.rows.iter().enumerate() {
                if index > 0 {
                    body.push(b',');
                }
                records::write(&mut body, &walk.catalog, table, *row, &fields, false);
            }
            let snapshot = walk.catalog.snapshot();
            if explains {
                explained = explain(&walk.catalog, &asked.request, &page.rows);
            }
            meant.extend(page.did_you_mean.iter().take(5).map(|row| Reference {
                slug: snapshot.slug(table, *row).to_owned(),
                name: snapshot.name(table, *row).to_owned(),
            }));
        }
        Rows::Ranked(page) => further::write_ranked(&mut body, &walk.catalog, page, &fields),
        Rows::CoInvestors(page) => further::write_co_investors(&mut body, &walk.catalog, page, &fields),
        Rows::Fits(page) => further::write_fits(&mut body, &walk.catalog, page, &fields),
    }
    body.extend_from_slice(b"],\"pagination\":");
    append(&mut body, &pagination)?;
    let snapshot = (version == Version::V3).then(|| walk.catalog.version().to_string());
    if version == Version::V1 || version == Version::V2 {
        meant.clear();
    }
    if snapshot.is_some() || !warnings.is_empty() {
        body.extend_from_slice(b",\"meta\":");
        append(&mut body, &Meta { snapshot, warnings: &warnings, did_you_mean: &meant, explain: &explained })?;
    }
    body.push(b'}');
    Ok(Answer { body, snapshot: walk.catalog.version(), next_link })
}

/// What is wrong with a request: all of it at once, so that it is mended in one go.
#[derive(Default)]
struct Faults(Vec<ParameterError>);

impl Faults {
    /// What was read, or nothing where parameters are at fault; what else is wrong ends the reading.
    fn of<T>(&mut self, read: Result<T, Problem>) -> Result<Option<T>, Problem> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(problem) if problem.errors.is_empty() || problem.code.status() != StatusCode::BAD_REQUEST => {
                Err(problem)
            }
            Err(problem) => {
                self.0.extend(problem.errors);
                Ok(None)
            }
        }
    }

    fn all(self) -> Problem {
        Problem::of_parameters(self.0)
    }
}

/// Whether a search is to explain its matches (`explain=true`).
fn explains(version: Version, values: &[(String, String)]) -> Result<bool, Problem> {
    let mut errors = Vec::new();
    let given = if version == Version::V3 { single(values, "explain", &mut errors) } else { None };
    let explains = match given {
        None | Some("0" | "false") => false,
        Some("1" | "true") => true,
        Some(other) => {
            errors.push(ParameterError::invalid("explain", format!("`{other}` is neither `true` nor `false`")));
            false
        }
    };
    if errors.is_empty() { Ok(explains) } else { Err(Problem::of_parameters(errors)) }
}

/// The parts of the rows' scores, where they answer a search.
fn explain(catalog: &Catalog, request: &Request, rows: &[u32]) -> Vec<Explained> {
    let Request::List(query) = request else { return Vec::new() };
    let Some((text, index)) = query.text.as_deref().zip(catalog.text_index(query.table)) else { return Vec::new() };
    let snapshot = catalog.snapshot();
    let names = snapshot.names(query.table);
    let explained = rows.iter().map(|row| Explained {
        slug: snapshot.slug(query.table, *row).to_owned(),
        explanation: index.explain(&names, text, *row),
    });
    explained.collect()
}

/// The fields that rows of a list can have.
fn shape(resource: Resource) -> Shape<'static> {
    match resource {
        Resource::Leaderboard => Shape::with(Table::Firms, further::RANKED),
        Resource::CoInvestors => Shape::with(Table::Firms, further::CO_INVESTOR),
        Resource::Match => Shape::with(Table::Firms, further::FIT),
        _ => Shape::of(resource.table()),
    }
}

pub(super) fn append(body: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Problem> {
    serde_json::to_writer(body, value).map_err(|_| Problem::new(Code::InternalError, "the answer could not be written"))
}

/// The address of the next page: the cursor says all.
fn next_link(call: &Call<'_>, cursor: &str) -> String {
    format!("{}/api/v3/{}?cursor={cursor}", call.state.public_url, call.path)
}

/// A cursor that was given, with the release that it began on.
struct Opened {
    catalog: Arc<Catalog>,
    cursor: Cursor,
}

/// Parameters of the window and the form that a cursor carries; another value may stand beside it.
const WINDOW: [&str; 3] = ["limit", "fields", "explain"];

impl Opened {
    /// Opens the cursor of a request, where there is one.
    fn read(call: &Call<'_>) -> Result<Option<Self>, Problem> {
        let mut errors = Vec::new();
        let text = single(call.values, "cursor", &mut errors);
        if !errors.is_empty() {
            return Err(Problem::of_parameters(errors));
        }
        let Some(text) = text else { return Ok(None) };
        let cursor = Cursor::open(text, call.state.access.cursor_secret())
            .filter(|cursor| cursor.path.eq_ignore_ascii_case(call.path));
        let cursor = cursor.ok_or_else(|| {
            let detail = "this is no cursor of this list: take `pagination.next_cursor` whole, or leave `cursor` out";
            Problem::of_parameter(Code::InvalidCursor, "cursor", detail)
        })?;
        let held = call.state.live.held(cursor.snapshot);
        let catalog = held.filter(|catalog| catalog.snapshot().content() == cursor.content).ok_or_else(|| {
            let detail = format!("the release {} is not held any more: begin again without `cursor`", cursor.snapshot);
            Problem::of_parameter(Code::CursorExpired, "cursor", detail)
        })?;
        Ok(Some(Self { catalog, cursor }))
    }

    /// The values of a request with those of the cursor's window that the request leaves out.
    fn window<'v>(&self, values: &'v [(String, String)]) -> Cow<'v, [(String, String)]> {
        let is_given = |name: &str| values.iter().any(|(known, value)| known == name && !value.trim().is_empty());
        let carried = self.cursor.query.iter().filter(|(name, _)| WINDOW.contains(&name.as_str()) && !is_given(name));
        Cow::Owned(values.iter().chain(carried).cloned().collect())
    }

    /// The conditions and the order that the cursor carries.
    fn conditions(&self) -> Vec<(String, String)> {
        self.cursor.query.iter().filter(|(name, _)| !WINDOW.contains(&name.as_str())).cloned().collect()
    }
}

/// What a cursor carries of the window and the form, where they are not what holds anyway.
fn carried_window(values: &[(String, String)], limit: u64, explains: bool) -> impl Iterator<Item = (String, String)> {
    let pairs = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields = fields::canonical(pairs).unwrap_or_default();
    let carried = [
        ("limit", (limit != DEFAULT_LIMIT).then(|| limit.to_string())),
        ("fields", Some(fields).filter(|fields| !fields.is_empty())),
        ("explain", explains.then(|| "true".to_owned())),
    ];
    carried.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
}

/// A request for a list, on the release that it walks.
struct Walk {
    catalog: Arc<Catalog>,
    asked: Asked,
    place: Place,
}

impl Walk {
    /// `offset` is where a walk without a cursor begins.
    fn begin(
        call: &Call<'_>,
        resource: Resource,
        given: &[(&str, &str)],
        opened: Option<Opened>,
        offset: u64,
    ) -> Result<Self, Problem> {
        let searches = resource.parameter("q").is_some();
        let rules = Rules {
            strict: call.version.is_strict(),
            review_statuses: call.version.review_statuses(),
            others: call.version.window_parameters(searches),
        };
        let values = match given {
            [] => Cow::Borrowed(call.values),
            given => {
                let fixed = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                Cow::Owned(call.values.iter().cloned().chain(fixed).collect())
            }
        };
        for (name, _) in given {
            if call.values.iter().any(|(known, _)| known == name) {
                let detail = format!("the path already says which `{name}`");
                return Err(Problem::of_parameters(vec![ParameterError::invalid(name, detail)]));
            }
        }
        let Some(opened) = opened else {
            let asked = call.catalog.ask(resource, &values, rules);
            let asked = asked.map_err(|errors| refused(errors, given))?;
            if resource == Resource::Match && asked.canonical.is_empty() {
                return Err(Problem::of_parameters(vec![ParameterError::invalid(
                    "stage",
                    "tell something about the startup: at least one of `stage`, `sector`, `country` and `raise_usd`",
                )]));
            }
            return Ok(Self { catalog: Arc::clone(&call.catalog), asked, place: Place::after(offset) });
        };

        let carried = opened.conditions();
        let Opened { catalog, cursor } = opened;
        let beside = catalog.ask(resource, &values, rules).map_err(|errors| refused(errors, given))?;
        for (name, value) in &beside.canonical {
            let known = carried.iter().find(|(known, _)| known == name).map(|(_, carried)| carried.clone());
            let searches = carried.iter().any(|(known, _)| known == "q");
            let known = known.or_else(|| default_of(call.version, resource, name, searches));
            if known.as_ref() != Some(value) {
                let detail = format!("`{name}` is not what the cursor was made with: leave it out, or begin again");
                return Err(Problem::of_parameter(Code::CursorMismatch, name, detail));
            }
        }
        let asked = catalog.ask(resource, &carried, rules).map_err(Problem::of_parameters)?;
        Ok(Self { catalog, asked, place: cursor.place })
    }
}

/// A problem of parameters that does not offer those which the path gives.
fn refused(mut errors: Vec<ParameterError>, given: &[(&str, &str)]) -> Problem {
    let is_given = |name: &String| given.iter().any(|(known, _)| known == name);
    for error in errors.iter_mut().filter(|error| error.code == "unknown_parameter") {
        error.accepted.iter_mut().for_each(|accepted| accepted.retain(|name| !is_given(name)));
        error.did_you_mean.take_if(|name| is_given(name));
    }
    Problem::of_parameters(errors)
}

/// What a cursor carries of a query: all of it but what holds anyway, so that a default that is spelt out makes no
/// other cursor.
fn carried(version: Version, resource: Resource, canonical: &[(&'static str, String)]) -> Vec<(String, String)> {
    let searches = canonical.iter().any(|(name, _)| *name == "q");
    let counts = |name: &str, value: &String| default_of(version, resource, name, searches).as_ref() != Some(value);
    let kept = canonical.iter().filter(|(name, value)| counts(name, value));
    kept.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// What a parameter means where it is not given, in canonical words; `None`: no condition.
pub(super) fn default_of(version: Version, resource: Resource, name: &str, searches: bool) -> Option<String> {
    match name {
        "sort" if searches => Some("relevance".to_owned()),
        "sort" => Some(resource.table().default_sort().to_owned()),
        "metric" => Some(Metric::HealthScore.name().to_owned()),
        "status" if resource == Resource::Reviews => {
            let mut names: Vec<&str> = version.review_statuses().iter().map(|status| status.name()).collect();
            names.sort_unstable();
            Some(names.join(","))
        }
        _ => None,
    }
}
