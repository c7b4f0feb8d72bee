//! Walks through lists: where one begins, and what a cursor carries on.

use std::borrow::Cow;
use std::sync::Arc;

use crate::catalog::{Catalog, ListPosition, ParameterError, ParseOptions, ParsedRequest, Resource};
use crate::data::Metric;
use crate::data::vocabulary::Vocabulary;
use crate::http::problem::{Code, Problem};

use crate::api::ApiRequest;
use crate::api::cursor::Cursor;
use crate::api::fields;
use crate::api::version::single;
use crate::api::{DEFAULT_LIMIT, Version};

/// A cursor that was given, with the release that it began on.
pub(crate) struct DecodedCursor {
    catalog: Arc<Catalog>,
    cursor: Cursor,
}

/// Parameters of the window and the form that a cursor carries; another value may stand beside it.
const WINDOW: [&str; 3] = ["limit", "fields", "explain"];

impl DecodedCursor {
    /// Opens the cursor of a request, where there is one.
    pub(crate) fn read(call: &ApiRequest<'_>) -> Result<Option<Self>, Problem> {
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
        let held = call.state.live.loaded(cursor.snapshot);
        let catalog = held.filter(|catalog| catalog.snapshot().content() == cursor.content).ok_or_else(|| {
            let detail = format!("the release {} is not held any more: begin again without `cursor`", cursor.snapshot);
            Problem::of_parameter(Code::CursorExpired, "cursor", detail)
        })?;
        Ok(Some(Self { catalog, cursor }))
    }

    /// The values of a request with those of the cursor's window that the request leaves out.
    pub(crate) fn window<'v>(&self, values: &'v [(String, String)]) -> Cow<'v, [(String, String)]> {
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
pub(crate) fn carried_window(
    values: &[(String, String)],
    limit: u64,
    explains: bool,
) -> impl Iterator<Item = (String, String)> {
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
pub(crate) struct ListRequest {
    pub catalog: Arc<Catalog>,
    pub asked: ParsedRequest,
    pub place: ListPosition,
}

impl ListRequest {
    /// `offset` is where a walk without a cursor begins.
    pub(crate) fn begin(
        call: &ApiRequest<'_>,
        resource: Resource,
        given: &[(&str, &str)],
        opened: Option<DecodedCursor>,
        offset: u64,
    ) -> Result<Self, Problem> {
        let searches = resource.parameter("q").is_some();
        let rules = ParseOptions {
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
            return Ok(Self { catalog: Arc::clone(&call.catalog), asked, place: ListPosition::after(offset) });
        };

        let carried = opened.conditions();
        let DecodedCursor { catalog, cursor } = opened;
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
pub(crate) fn carried(
    version: Version,
    resource: Resource,
    canonical: &[(&'static str, String)],
) -> Vec<(String, String)> {
    let searches = canonical.iter().any(|(name, _)| *name == "q");
    let counts = |name: &str, value: &String| default_of(version, resource, name, searches).as_ref() != Some(value);
    let kept = canonical.iter().filter(|(name, value)| counts(name, value));
    kept.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// What a parameter means where it is not given, in canonical words; `None`: no condition.
pub(crate) fn default_of(version: Version, resource: Resource, name: &str, searches: bool) -> Option<String> {
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
