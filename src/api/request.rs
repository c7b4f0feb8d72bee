//! The URL of a request, parsed once: routing, validation, cursors and execution use the result.
//!
//! Parsing happens before the quota is charged, because the cost of a file depends on its rows. It runs no searches:
//! suggestions for unknown names and values are computed when an error is reported ([`RequestError::problem`]).

use std::sync::Arc;

use catalog::params::MAX_PARAMETERS;
use catalog::parse::{is_empty_list, is_ignored};
use catalog::{
    AggregateOptions, Catalog, Issue, Issues, ParameterError, ParseOptions, ParsedRequest, Query, Request, Resource,
    Suggestion, TextIndexes,
};
use data::vocabulary::Vocabulary;
use data::{SnapshotVersion, Table};
use service::State;
use transport::negotiation::Format;
use transport::problem::{Code, Problem};

use crate::changes::{ChangesRequest, FROM};
use crate::export::Export;
use crate::include::{self, INCLUDE, Include};
use crate::look_up::LookUpRequest;
use crate::options::{self, AMOUNTS, EXPLAIN};
use crate::pagination::ListRequest;
use crate::routes::{EndpointKind, Route};
use crate::saved::AlertsRequest;
use crate::window::{MAX_LIMIT, PageWindow, single_value};
use crate::{SUGGESTIONS, Version, record};
use catalog::json::fields;
use catalog::param_error::shortened;

/// A request in canonical names and values, without defaults.
pub(crate) type Canonical = Vec<(&'static str, String)>;

pub(crate) struct RequestUrl<'a> {
    pub state: &'a State,
    pub catalog: &'a Arc<Catalog>,
    pub version: Version,
    /// The path below the version, without a slash at either end.
    pub path: &'a str,
    /// The query as sent.
    pub query: &'a str,
    /// The decoded parameters.
    pub values: &'a [(String, String)],
    /// Format of a list.
    pub format: Format,
    /// Maximum `limit` of a list as JSON; it depends on the tier.
    pub max_limit: u64,
}

pub(crate) enum ApiOperation {
    List(Box<ListRequest>),
    /// A list as a file.
    Export(Arc<Export>),
    Record {
        table: Table,
        row: u32,
        include: Vec<Include>,
        warnings: Issues,
    },
    /// Counts of the firms that match a query, by facet.
    Facets {
        query: Query,
        notes: Vec<ParameterError>,
        /// `None` if a note quotes a value as written.
        canonical: Option<Canonical>,
    },
    /// Counts and amounts of the records that match a query, by group.
    Aggregate {
        query: Query,
        options: AggregateOptions,
        notes: Vec<ParameterError>,
        /// As for `Facets`.
        canonical: Option<Canonical>,
        /// True if it reads so many rows that it must wait in the queue.
        is_expensive: bool,
    },
    Stats,
    Snapshots,
    Suggest {
        text: String,
        /// The kinds of records, each once.
        tables: Vec<Table>,
        window: PageWindow,
    },
    Usage,
    Changes(Box<ChangesRequest>),
    LookUp(Box<LookUpRequest>),
    Saved,
    Alerts(AlertsRequest),
}

pub(crate) enum RequestError {
    /// No record has this slug or id.
    NotFound(Table, String),
    /// The record with the first slug was merged into the one with the second.
    Moved(Table, String, String),
    Parameters(Issues),
    CursorExpired(SnapshotVersion),
    /// Another replica already serves the release of the cursor.
    NotYetHeld(SnapshotVersion),
    /// A parameter names a release that is not loaded.
    SnapshotNotHeld {
        parameter: &'static str,
        /// The version of the release, or a day ("of …").
        named: String,
        held: Vec<SnapshotVersion>,
    },
    Panic,
}

impl From<Issues> for RequestError {
    fn from(issues: Issues) -> Self {
        Self::Parameters(issues)
    }
}

impl From<Vec<ParameterError>> for RequestError {
    fn from(errors: Vec<ParameterError>) -> Self {
        Self::Parameters(errors.into())
    }
}

impl ApiOperation {
    /// Parses a request for a route; `slug` comes from the path.
    pub(crate) fn parse(url: &RequestUrl<'_>, route: &Route, slug: Option<&str>) -> Result<Self, RequestError> {
        check_values(url)?;
        let mut empty = empty_values(url, route);
        let parsed = Self::parse_known(url, route, slug);
        match (parsed, url.version.is_strict()) {
            (Err(RequestError::Parameters(issues)), true) => {
                empty.extend(issues);
                Err(empty.into())
            }
            (Ok(_), true) if !empty.is_empty() => Err(empty.into()),
            (parsed, _) => parsed.map(|operation| operation.with_warnings(empty)),
        }
    }

    /// Only operations of v1 and v2 have warnings about their parameters.
    fn with_warnings(mut self, issues: Issues) -> Self {
        match &mut self {
            Self::List(list) => list.parsed.warnings.extend(issues),
            Self::Record { warnings, .. } => warnings.extend(issues),
            _ => {}
        }
        self
    }

    fn parse_known(url: &RequestUrl<'_>, route: &Route, slug: Option<&str>) -> Result<Self, RequestError> {
        match route.content {
            EndpointKind::List(resource, names) => {
                let mut fixed: Vec<(&'static str, String)> = Vec::new();
                if let Some(slug) = slug {
                    let row = find_row(url, Table::Firms, slug)?;
                    let slug = url.catalog.snapshot().slug(Table::Firms, row);
                    // The people of the firm only: a startup may have the same slug.
                    fixed.extend(names.iter().zip([slug, "firm"]).map(|(name, value)| (*name, value.to_owned())));
                }
                let list = ListRequest::parse(url, resource, &fixed)?;
                Ok(match url.format {
                    Format::Json => Self::List(Box::new(list)),
                    format => Self::Export(Arc::new(Export::parse(url, list, format)?)),
                })
            }
            EndpointKind::Record(table) => {
                let row = find_row(url, table, slug.expect("the path of a record has a slug"))?;
                let mut issues = Issues::default();
                let warnings = issues.collect(unknown_names(url, route));
                let include = match url.version {
                    Version::V3 => issues.collect(include::parse(url.values, table)),
                    Version::V1 | Version::V2 => Some(Vec::new()),
                };
                match warnings.zip(include) {
                    Some((warnings, include)) => Ok(Self::Record { table, row, include, warnings }),
                    None => Err(issues.into()),
                }
            }
            EndpointKind::Facets => parse_facets(url),
            EndpointKind::Aggregate(resource) => parse_aggregate(url, resource),
            EndpointKind::Stats => Ok(unknown_names(url, route).map(|_| Self::Stats)?),
            EndpointKind::Snapshots => Ok(unknown_names(url, route).map(|_| Self::Snapshots)?),
            EndpointKind::Usage => Ok(unknown_names(url, route).map(|_| Self::Usage)?),
            EndpointKind::Suggestions => parse_suggest(url, route),
            EndpointKind::LookUp => {
                unknown_names(url, route)?;
                Ok(Self::LookUp(Box::new(LookUpRequest::parse(url)?)))
            }
            EndpointKind::Saved => Ok(unknown_names(url, route).map(|_| Self::Saved)?),
            EndpointKind::Alerts => {
                unknown_names(url, route)?;
                Ok(Self::Alerts(AlertsRequest::parse(url)?))
            }
            EndpointKind::Changes => {
                unknown_names(url, route)?;
                Ok(Self::Changes(Box::new(ChangesRequest::parse(url)?)))
            }
        }
    }

    /// True if the response needs a search of names, for its records or for suggestions in its warnings, reads many
    /// rounds, or waits for the store.
    pub(crate) fn searches(&self) -> bool {
        match self {
            Self::List(list) => {
                let searches = match &list.parsed.request {
                    Request::List(Query { text: Some(text), table, .. }) => {
                        list.is_set(EXPLAIN) || !list.catalog.has_names(*table, text)
                    }
                    Request::List(query) => query.is_ranked(),
                    Request::Match(_) => true,
                    Request::Leaderboard(_) | Request::CoInvestors(_) => false,
                };
                let reads_many_rounds = match &list.parsed.request {
                    Request::List(query) => list.is_set(AMOUNTS) || query.reads_rounds(),
                    _ => false,
                };
                searches || reads_many_rounds || !list.parsed.warnings.is_empty()
            }
            // Each part of a file is a job of the queue.
            Self::Export(_) => true,
            Self::Facets { query, .. } => query.is_ranked(),
            Self::Aggregate { query, is_expensive, .. } => query.is_ranked() || *is_expensive,
            Self::Record { warnings, .. } => !warnings.is_empty(),
            Self::Suggest { .. } | Self::LookUp(_) | Self::Saved | Self::Alerts(_) => true,
            Self::Changes(changes) => changes.is_expensive(),
            Self::Stats | Self::Snapshots | Self::Usage => false,
        }
    }

    /// True if keys of some tiers get another response: free ones have shorter pages.
    pub(crate) fn depends_on_tier(&self) -> bool {
        match self {
            Self::List(list) => list.window.depends_on_tier(),
            Self::Changes(changes) => changes.depends_on_tier(),
            _ => false,
        }
    }

    /// The request in canonical names and values; `None` if it was not fully understood.
    pub(crate) fn canonical(&self, url: &RequestUrl<'_>) -> Option<Canonical> {
        let mut canonical = match self {
            Self::List(list) => return list.canonical(url.version),
            Self::Export(export) => return export.canonical(),
            Self::Record { warnings, .. } if !warnings.is_empty() => return None,
            // Ids may differ by letter case alone.
            Self::Record { table, row, include, .. } => {
                let id = matches!(table, Table::Rounds | Table::Reviews)
                    .then(|| ("id", url.catalog.snapshot().slug(*table, *row).to_owned()));
                let names: Vec<&str> = include.iter().map(|include| include.name()).collect();
                let include = (!names.is_empty()).then(|| (INCLUDE, names.join(",")));
                id.into_iter().chain(include).collect()
            }
            Self::Stats | Self::Snapshots | Self::Usage | Self::Saved => Canonical::new(),
            Self::Alerts(alerts) => alerts.canonical(),
            Self::Changes(changes) => changes.canonical(),
            Self::LookUp(request) => request.canonical(),
            Self::Facets { canonical, .. } | Self::Aggregate { canonical, .. } => canonical.clone()?,
            Self::Suggest { text, tables, window } => {
                let text = std::iter::once(("q", text.clone()));
                let kinds: Vec<&str> = tables.iter().map(|table| table.noun()).collect();
                let kinds = (*tables != TextIndexes::TABLES).then(|| ("kind", kinds.join(",")));
                text.chain(kinds).chain(window.canonical(SUGGESTIONS)).collect()
            }
        };
        if url.version == Version::V3 {
            let pairs = url.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let fields = fields::canonical(pairs)?;
            canonical.extend((!fields.is_empty()).then_some(("fields", fields)));
        }
        Some(canonical)
    }
}

impl RequestError {
    /// The error that `version`, named by `parameter`, is not loaded.
    pub(crate) fn not_held(state: &State, parameter: &'static str, version: SnapshotVersion) -> Self {
        let held = state.releases.all().iter().map(|catalog| catalog.version()).collect();
        Self::SnapshotNotHeld { parameter, named: version.to_string(), held }
    }

    /// Adds errors of a parameter to those of the others.
    pub(crate) fn joined(errors: Vec<ParameterError>, other: Option<Self>) -> Self {
        match other {
            Some(Self::Parameters(mut issues)) => {
                issues.extend(errors.into());
                Self::Parameters(issues)
            }
            _ => errors.into(),
        }
    }

    /// The error response, with suggestions.
    pub(crate) fn problem(&self, catalog: &Catalog) -> Problem {
        match self {
            Self::NotFound(table, slug) => record::not_found(catalog, *table, slug),
            Self::Moved(table, from, to) => {
                let detail =
                    format!("the {} `{}` was merged into `{to}`; use this slug", table.noun(), shortened(from));
                Problem { did_you_mean: vec![to.clone()], ..Problem::new(Code::Moved, detail) }
            }
            Self::Parameters(issues) => Problem::of_parameters(issues.report(catalog)),
            Self::CursorExpired(version) => {
                let detail = format!("snapshot {version} has expired; restart without `cursor`");
                Problem::of_parameter(Code::CursorExpired, "cursor", detail)
            }
            Self::NotYetHeld(version) => {
                let detail =
                    format!("snapshot {version} is not loaded here yet; send the same request again in a second");
                Problem::new(Code::NotReady, detail)
            }
            Self::SnapshotNotHeld { parameter, named, held } => {
                let held: Vec<String> = held.iter().map(ToString::to_string).collect();
                let remedy = match *parameter {
                    FROM => "fetch the whole lists once, then the changes since",
                    _ => "omit it for the one that is served",
                };
                let detail = format!("snapshot {named} is not held; held are {}; {remedy}", held.join(", "));
                let mut problem = Problem::of_parameter(Code::SnapshotNotHeld, parameter, detail);
                problem.errors[0].accepted = Some(held);
                problem
            }
            Self::Panic => {
                let detail = "the request could not be processed; please report it with its request ID";
                Problem::new(Code::InternalError, detail)
            }
        }
    }
}

/// Checks the number of parameters and their encoding.
fn check_values(url: &RequestUrl<'_>) -> Result<(), RequestError> {
    if let Some((name, _)) = url.values.get(MAX_PARAMETERS) {
        let detail = format!("a URL has at most {MAX_PARAMETERS} parameters, {} are given", url.values.len());
        return Err(vec![ParameterError::invalid(name, detail)].into());
    }
    // Decoding replaces invalid bytes by U+FFFD, which clients hardly ever send themselves.
    let replaced = url.values.iter().find(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER));
    if let Some((name, _)) = replaced
        && !url.query.to_ascii_lowercase().contains("%ef%bf%bd")
    {
        let detail = "the value is not UTF-8; percent-encode the bytes of its UTF-8 form";
        return Err(vec![ParameterError::invalid(name, detail)].into());
    }
    Ok(())
}

/// Known parameters without a value: errors in v3, otherwise warnings. A client with an empty variable would mistake
/// all records for the result of its filter. Only an empty search text is common, as the usual state of an input field.
fn empty_values(url: &RequestUrl<'_>, route: &Route) -> Issues {
    let is_known = |name: &str| route.parameters(url.version).contains(&name);
    let empty = url.values.iter().filter(|(name, value)| is_empty_list(value) && name != "q" && is_known(name));
    let strict = url.version.is_strict();
    empty.map(|(name, _)| Issue::Invalid(ParameterError::empty_value(name, strict))).collect()
}

/// Finds the published record with a slug or id.
fn find_row(url: &RequestUrl<'_>, table: Table, key: &str) -> Result<u32, RequestError> {
    let row = url.catalog.find(table, key).filter(|row| url.catalog.is_published(table, *row));
    let row = row.ok_or_else(|| RequestError::NotFound(table, key.to_owned()))?;
    match url.catalog.moved_to(table, row, key) {
        Some(slug) => Err(RequestError::Moved(table, key.to_owned(), slug.to_owned())),
        None => Ok(row),
    }
}

/// Unknown parameters of an endpoint without filters: an error in v3, otherwise warnings.
fn unknown_names(url: &RequestUrl<'_>, route: &Route) -> Result<Issues, Issues> {
    let accepted = route.parameters(url.version);
    let names = url.values.iter().map(|(name, _)| name);
    let unknown = names.filter(|name| !is_ignored(name) && !accepted.contains(&name.as_str()));
    let unknown = unknown.map(|name| Issue::UnknownParameter { name: name.clone(), accepted: accepted.clone() });
    let issues: Issues = unknown.collect();
    if url.version.is_strict() && !issues.is_empty() { Err(issues) } else { Ok(issues) }
}

/// Facets take the filters of `/vcs`. Counts have no order, so `sort` is unknown.
fn parse_facets(url: &RequestUrl<'_>) -> Result<ApiOperation, RequestError> {
    let other_names = options::names(url.version, EndpointKind::Facets);
    let options = ParseOptions { strict: true, review_statuses: &[], other_names };
    let sort = url.values.iter().filter(|(name, _)| name == "sort");
    let names = Resource::Firms.parameters().iter().map(|parameter| parameter.name).chain(other_names.iter().copied());
    let mut issues: Issues = sort
        .map(|(name, _)| Issue::UnknownParameter { name: name.clone(), accepted: names.clone().collect() })
        .collect();
    let parsed = issues.collect(url.catalog.parse(Resource::Firms, url.values, options));
    match parsed {
        Some(ParsedRequest { request: Request::List(query), canonical, notes, .. }) if issues.is_empty() => {
            let canonical = (!notes.iter().any(ParameterError::depends_on_spelling)).then_some(canonical);
            Ok(ApiOperation::Facets { query, notes, canonical })
        }
        _ => Err(issues.not_accepting(&["sort"]).into()),
    }
}

/// Number of rows below which a table is aggregated in less than a millisecond.
const EXPENSIVE_ROWS: u32 = 1 << 15;

/// Aggregates take the filters of a list; their `sort` and `limit` apply to groups.
fn parse_aggregate(url: &RequestUrl<'_>, resource: Resource) -> Result<ApiOperation, RequestError> {
    let is_option = |name: &str| AggregateOptions::NAMES.contains(&name);
    let filters: Vec<_> = url.values.iter().filter(|(name, _)| !is_option(name)).cloned().collect();
    let parse_options = ParseOptions {
        strict: true,
        review_statuses: url.version.review_statuses(),
        other_names: options::names(url.version, EndpointKind::Aggregate(resource)),
    };
    let mut issues = Issues::default();
    let options = issues.collect(AggregateOptions::parse(resource, url.values));
    let parsed = issues.collect(url.catalog.parse(resource, &filters, parse_options));
    match (parsed, options) {
        (Some(ParsedRequest { request: Request::List(query), mut canonical, notes, .. }), Some(options))
            if issues.is_empty() =>
        {
            canonical.extend(options.canonical());
            let canonical = (!notes.iter().any(ParameterError::depends_on_spelling)).then_some(canonical);
            let is_expensive = url.catalog.snapshot().rows(query.table) > EXPENSIVE_ROWS;
            Ok(ApiOperation::Aggregate { query, options, notes, canonical, is_expensive })
        }
        _ => Err(issues.into()),
    }
}

fn parse_suggest(url: &RequestUrl<'_>, route: &Route) -> Result<ApiOperation, RequestError> {
    unknown_names(url, route)?;
    let mut errors = Vec::new();
    let text = single_value(url.values, "q", &mut errors);
    if text.is_none() {
        errors.push(ParameterError::invalid("q", "`q` is required: the text typed so far"));
    }
    let kinds = single_value(url.values, "kind", &mut errors);
    let tables = Suggestion::tables(kinds.unwrap_or_default()).unwrap_or_else(|error| {
        errors.push(error);
        Vec::new()
    });
    let mut window = PageWindow::parse(Version::V1, url.values, MAX_LIMIT)?;
    if !url.values.iter().any(|(name, value)| name == "limit" && !value.trim().is_empty()) {
        window.limit = SUGGESTIONS;
    }
    match text {
        Some(text) if errors.is_empty() => Ok(ApiOperation::Suggest { text: text.to_owned(), tables, window }),
        _ => Err(errors.into()),
    }
}
