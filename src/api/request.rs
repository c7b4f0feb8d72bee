//! The URL of a request, parsed once by its endpoint: validation, cursors and execution use the result.
//!
//! Parsing happens before the quota is charged, because the cost of a file depends on its rows. It runs no searches:
//! suggestions for unknown names and values are computed when an error is reported ([`RequestError::problem`]).

use std::cell::LazyCell;
use std::fmt::Display;
use std::sync::Arc;

use catalog::param_error::shortened;
use catalog::params::MAX_PARAMETERS;
use catalog::parse::{is_empty_list, is_ignored};
use catalog::{Catalog, CursorFault, Issue, Issues, ParameterError};
use data::{SnapshotVersion, Table};
use service::State;
use transport::negotiation::Format;
use transport::problem::{Code, Problem};

use crate::Version;
use crate::endpoint::ParsedOperation;
use crate::endpoints::changes::FROM;
use crate::routes::Route;

/// A request in canonical names and values, without defaults.
pub(crate) type Canonical = Vec<(&'static str, String)>;

pub(crate) struct RequestUrl<'a> {
    pub state: &'a State,
    pub catalog: &'a Arc<Catalog>,
    pub version: Version,
    pub route: &'static Route,
    pub slug: Option<&'a str>,
    /// The path below the version, without a slash at either end.
    pub path: &'a str,
    pub query: &'a str,
    pub values: &'a [(String, String)],
    pub format: Format,
    /// Maximum `limit` of a list as JSON; it depends on the tier.
    pub max_limit: u64,
}

#[derive(Clone)]
pub(crate) enum RequestError {
    NotFound(Table, String),
    /// The record is no longer in the data, as the sentence says. The code depends on the version.
    Gone(Code, String),
    /// The record with the first slug was merged into the one with the second.
    Moved(Table, String, String),
    Parameters(Issues),
    Cursor(CursorFault),
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

impl From<CursorFault> for RequestError {
    fn from(fault: CursorFault) -> Self {
        Self::Cursor(fault)
    }
}

impl From<Vec<ParameterError>> for RequestError {
    fn from(errors: Vec<ParameterError>) -> Self {
        Self::Parameters(errors.into())
    }
}

impl RequestUrl<'_> {
    pub(crate) fn parse(&self) -> ParsedOperation {
        self.check_values()?;
        let mut empty = self.empty_values();
        let parsed = (self.route.endpoint.parse)(self);
        match (parsed, self.version.is_strict()) {
            (Err(RequestError::Parameters(issues)), true) => {
                empty.extend(issues);
                Err(empty.into())
            }
            (Ok(_), true) if !empty.is_empty() => Err(empty.into()),
            (parsed, _) => parsed.map(|mut operation| {
                operation.add_warnings(empty);
                operation
            }),
        }
    }

    fn check_values(&self) -> Result<(), RequestError> {
        if let Some((name, _)) = self.values.get(MAX_PARAMETERS) {
            let detail = format!("a URL has at most {MAX_PARAMETERS} parameters, {} are given", self.values.len());
            return Err(vec![ParameterError::invalid(name, detail)].into());
        }
        // Decoding replaces invalid bytes by U+FFFD, which clients hardly ever send themselves.
        let replaced = self.values.iter().find(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER));
        if let Some((name, _)) = replaced
            && !self.query.to_ascii_lowercase().contains("%ef%bf%bd")
        {
            let detail = "the value is not UTF-8; percent-encode the bytes of its UTF-8 form";
            return Err(vec![ParameterError::invalid(name, detail)].into());
        }
        Ok(())
    }

    /// Known parameters without a value: errors in v3, otherwise warnings. A client with an empty variable would mistake
    /// all records for the result of its filter. Only an empty search text is usual, from an input field.
    fn empty_values(&self) -> Issues {
        let known = LazyCell::new(|| self.route.parameters(self.version));
        let is_known = |name: &str| known.contains(&name);
        let empty = self.values.iter().filter(|(name, value)| is_empty_list(value) && name != "q" && is_known(name));
        let strict = self.version.is_strict();
        empty.map(|(name, _)| Issue::Invalid(ParameterError::empty_value(name, strict))).collect()
    }

    /// Unknown parameters of an endpoint without filters: an error in v3, otherwise warnings.
    pub(crate) fn unknown_names(&self) -> Result<Issues, Issues> {
        let accepted = self.route.parameters(self.version);
        let names = self.values.iter().map(|(name, _)| name);
        let unknown = names.filter(|name| !is_ignored(name) && !accepted.contains(&name.as_str()));
        let unknown = unknown.map(|name| Issue::UnknownParameter { name: name.clone(), accepted: accepted.clone() });
        let issues: Issues = unknown.collect();
        if self.version.is_strict() && !issues.is_empty() { Err(issues) } else { Ok(issues) }
    }

    pub(crate) fn find_row(&self, table: Table, key: &str) -> Result<u32, RequestError> {
        let row = self.catalog.find(table, key).filter(|row| self.catalog.snapshot().is_published(table, *row));
        let row = row.ok_or_else(|| match self.catalog.gone(table, key) {
            Some(sentence) if self.version == Version::V3 => RequestError::Gone(Code::Gone, sentence),
            Some(sentence) => RequestError::Gone(Code::NotFound, sentence),
            None => RequestError::NotFound(table, key.to_owned()),
        })?;
        match self.catalog.moved_to(table, row, key) {
            Some(slug) => Err(RequestError::Moved(table, key.to_owned(), slug.to_owned())),
            None => Ok(row),
        }
    }
}

impl RequestError {
    /// The error for a release that is not loaded; `parameter` gave it as `named`.
    pub(crate) fn not_held(state: &State, parameter: &'static str, named: impl Display) -> Self {
        let held = state.releases.all().iter().map(|catalog| catalog.version()).collect();
        Self::SnapshotNotHeld { parameter, named: named.to_string(), held }
    }

    /// The error of the release that a request names, with those of other parameters, parsed against the served one: a
    /// release that is not held hides no fault that would remain with another one.
    pub(crate) fn joined(&self, others: Option<Self>) -> Self {
        let Some(Self::Parameters(others)) = others else { return self.clone() };
        let (mut issues, own) = match self {
            Self::Parameters(own) => (others, own.clone()),
            _ => (others.of_any_release(), self.gone_parameter().into_iter().collect::<Vec<_>>().into()),
        };
        if issues.is_empty() || own.is_empty() {
            return self.clone();
        }
        issues.extend(own);
        issues.into()
    }

    /// The parameter that names a release which is not held, and how to go on.
    pub(crate) fn gone_parameter(&self) -> Option<ParameterError> {
        match self {
            Self::Cursor(CursorFault::Expired(version)) => Some(expired_cursor(*version)),
            Self::SnapshotNotHeld { parameter, named, held } => Some(not_held(parameter, named, held)),
            _ => None,
        }
    }

    pub(crate) fn problem(&self, catalog: &Catalog) -> Problem {
        match self {
            Self::NotFound(table, slug) => not_found(catalog, *table, slug),
            Self::Gone(code, sentence) => Problem::new(*code, sentence.clone()),
            Self::Moved(table, from, to) => {
                let detail =
                    format!("the {} `{}` was merged into `{to}`; use this slug", table.noun(), shortened(from));
                Problem { did_you_mean: vec![to.clone()], ..Problem::new(Code::Moved, detail) }
            }
            Self::Parameters(issues) => Problem::of_parameters(issues.report(catalog)),
            Self::Cursor(CursorFault::NotYetHeld(version)) => {
                let detail =
                    format!("snapshot {version} is not loaded here yet; send the same request again in a second");
                Problem::new(Code::NotReady, detail)
            }
            Self::Cursor(CursorFault::Expired(version)) => Problem::of_parameter(expired_cursor(*version)),
            Self::SnapshotNotHeld { parameter, named, held } => Problem::of_parameter(not_held(parameter, named, held)),
            Self::Panic => panicked(),
        }
    }
}

fn expired_cursor(version: SnapshotVersion) -> ParameterError {
    let detail = format!("snapshot {version} has expired; restart without `cursor`");
    with_code(Code::CursorExpired, "cursor", detail)
}

fn not_held(parameter: &str, named: &str, held: &[SnapshotVersion]) -> ParameterError {
    let held: Vec<String> = held.iter().map(ToString::to_string).collect();
    let remedy = match parameter {
        FROM => "fetch the whole lists once, then the changes since",
        _ => "omit it for the one that is served",
    };
    let detail = format!("snapshot {named} is not held; held are {}; {remedy}", held.join(", "));
    let error = with_code(Code::SnapshotNotHeld, parameter, detail);
    ParameterError { accepted: Some(held), ..error }
}

pub(crate) fn with_code(code: Code, parameter: &str, detail: impl Into<String>) -> ParameterError {
    ParameterError { code: code.name(), ..ParameterError::invalid(parameter, detail) }
}

pub(crate) fn panicked() -> Problem {
    let detail = "the request could not be processed; please report it with its request ID";
    Problem::new(Code::InternalError, detail)
}

/// The error for an unknown slug or id, with the most similar ones.
fn not_found(catalog: &Catalog, table: Table, slug: &str) -> Problem {
    let (noun, key) = (table.noun(), table.key());
    let did_you_mean = catalog.nearest_slugs(table, slug, 3);
    let slug = shortened(slug);
    let detail = match did_you_mean.first() {
        Some(nearest) => format!("no {noun} has the {key} `{slug}`; did you mean `{nearest}`?"),
        None => format!("no {noun} has the {key} `{slug}`"),
    };
    Problem { did_you_mean, ..Problem::new(Code::NotFound, detail) }
}
