//! REST v1, v2, v3: a request in, a response out.
//!
//! One pipeline, [`respond`]: a response that is cached skips the execution only. The checks run in the order that the contract gives (key in the address, key, `If-None-Match`, quota, then route,
//! method and parameters), so the path is taken apart here and not by a chain of filters.

pub mod computed_fields;
pub mod cursor;
pub mod endpoint;
pub mod envelope;
pub mod etag;
pub mod facets;
pub mod field_mask;
pub mod fields;
pub mod list;
pub mod pagination;
pub mod record;
pub mod record_json;
pub mod routes;
pub mod schema;
pub mod version;

pub use record::SUGGESTIONS;
pub use routes::{EndpointKind, Route};
pub use version::{DEFAULT_LIMIT, MAX_LIMIT, Version};

use std::cell::LazyCell;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::auth::{AuthError, Caller};
use crate::catalog::param_schema::MOST_PARAMETERS;
use crate::catalog::{Catalog, ParameterError, Resource};
use crate::data::{Date, SnapshotVersion, Table};
use crate::quota::Quota;

use crate::http::headers::{self, Caching, CommonHeaders, READS, set};
use crate::http::negotiation::{accepts_gzip, accepts_json, compressed};
use crate::http::problem::{Code, Problem, UsedUp};
use crate::http::server::panic_message;
use crate::http::url::{KEY_IN_URL, has_key};
use crate::http::{RequestId, RequestParts, State};

use crate::api::endpoint::{Endpoint, split};
use crate::api::etag::ETag;
use crate::http::response_cache::{CacheKey, CachedResponse};

/// More headers than an answer has.
const MOST_HEADERS: usize = 24;

/// A request that passed the gate.
pub(crate) struct ApiRequest<'a> {
    state: &'a State,
    catalog: Arc<Catalog>,
    version: Version,
    /// The path below the version, without a slash at either end.
    path: &'a str,
    values: &'a [(String, String)],
    quota: Quota,
}

/// A good answer.
pub(crate) struct ApiResponse {
    body: Vec<u8>,
    snapshot: SnapshotVersion,
    next_link: Option<String>,
}

/// The value of `Authorization`; if there are several or it is not text, a value that is not a key.
fn authorization(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(http::header::AUTHORIZATION).iter();
    let value = values.next()?;
    let is_one = values.all(|other| other == value);
    Some(if is_one { value.to_str().unwrap_or("not text") } else { "several" })
}

/// Responds to a request under `/api`, `/v1`, `/v2` or `/v3`; `None` if the key is unknown here and the store may know it.
pub(crate) fn respond(state: &State, request: &RequestParts<'_>) -> Option<Response<Bytes>> {
    let caller = state.access.authenticate(authorization(request.headers));
    if caller == Err(AuthError::Invalid) && *request.method != Method::OPTIONS {
        return None;
    }
    let catalog = state.live.serving();
    let cached = match caller.is_ok() && request.is_read() {
        true => state.kept.get(CacheKey::of(&catalog, request.path, request.query)),
        false => None,
    };
    Some(answer(state, request, caller, &catalog, cached))
}

/// The same after looking up the key in the store.
pub(crate) async fn respond_after_lookup(state: &State, request: &RequestParts<'_>) -> Response<Bytes> {
    let caller = state.access.authenticate_fresh(authorization(request.headers)).await;
    answer(state, request, caller, &state.live.serving(), None)
}

/// The pipeline after authentication; `kept` is the cached response.
fn answer(
    state: &State,
    arrival: &RequestParts<'_>,
    caller: Result<Caller, AuthError>,
    catalog: &Arc<Catalog>,
    kept: Option<Arc<CachedResponse>>,
) -> Response<Bytes> {
    let now = state.now();
    let today = Date::from_unix(now);
    let (version, path) = split(arrival.path);
    let mut quota = Quota::zero(today);
    let values: LazyCell<Vec<_>, _> =
        LazyCell::new(|| form_urlencoded::parse(arrival.query.as_bytes()).into_owned().collect());
    let validator = LazyCell::new(|| match &kept {
        Some(kept) => kept.etag().cloned().map(ETag::of_kept),
        None => ETag::of(catalog, arrival.path, &values),
    });
    let admitted = admit(state, arrival, catalog, caller, kept.is_some(), &validator, &mut quota);
    let outcome = admitted.and_then(|admitted| match (admitted, &kept) {
        (Admitted::NotModified(etag), _) => Ok(Outcome::NotModified(etag)),
        (Admitted::Preflight, _) => Ok(Outcome::Preflight),
        (Admitted::Caller(_), Some(kept)) if accepts_json(arrival.headers) => {
            Ok(Outcome::CachedResponse(Arc::clone(kept)))
        }
        (Admitted::Caller(caller), _) => {
            let Some(version) = version else {
                let detail = format!("there is no `{}`: the versions are /api/v1, /api/v2 and /api/v3", arrival.path);
                return Err(Problem::new(Code::UnknownRoute, detail));
            };
            let call = ApiRequest { state, catalog: Arc::clone(catalog), version, path, values: &values, quota };
            let answer = caught(arrival.id, || route(&call, arrival));
            if let Err(problem) = &answer
                && problem.code.status().is_server_error()
            {
                quota = state.access.give_back(&caller, quota.day);
            }
            answer.map(|answer| {
                let ready = Arc::new(ready(&call, (*validator).as_ref(), answer));
                // What a cursor goes on with is of the release that it began on, which may not be held for long.
                if ready.etag().is_some() && !call.values.iter().any(|(name, _)| name == "cursor") {
                    state.kept.insert(CacheKey::of(catalog, arrival.path, arrival.query), &ready);
                }
                Outcome::CachedResponse(ready)
            })
        }
    });

    let is_ready = matches!(&outcome, Ok(Outcome::CachedResponse(_)));
    let caching = match &outcome {
        Ok(Outcome::Preflight) => None,
        Ok(_) => Some(Caching::Private),
        Err(_) => Some(Caching::Never),
    };
    let is_named = !matches!(&outcome, Err(problem) if problem.code == Code::KeyInUrl);
    let mut response = match outcome {
        Ok(Outcome::CachedResponse(ready)) => good(arrival, &ready),
        Ok(Outcome::NotModified(etag)) => {
            let mut response = empty(StatusCode::NOT_MODIFIED);
            response.headers_mut().insert(ETAG, etag);
            response
        }
        Ok(Outcome::Preflight) => preflight(),
        Err(problem) => failed(state, arrival, &problem, &quota, now),
    };
    let mut common = CommonHeaders { id: Some(arrival.id), quota: Some((&quota, now)), ..CommonHeaders::default() };
    let headers = response.headers_mut();
    if !is_ready {
        common = CommonHeaders {
            snapshot: Some(catalog.version()),
            api_version: version.map(Version::number),
            caching,
            varies: caching.is_some(),
            is_cross_origin: true,
            ..common
        };
        if let Some(version) = version.filter(|_| is_named) {
            write_successor(headers, version, state, path);
        }
    }
    common.write(headers);
    response
}

/// Links v1 and v2 to the same path of v3.
fn write_successor(headers: &mut HeaderMap, version: Version, state: &State, path: &str) {
    if version != Version::V3 {
        set(headers, "link", &format!("<{}/api/v3/{path}>; rel=\"successor-version\"", state.public_url));
    }
}

enum Admitted {
    Preflight,
    NotModified(HeaderValue),
    Caller(Caller),
}

enum Outcome {
    CachedResponse(Arc<CachedResponse>),
    NotModified(HeaderValue),
    Preflight,
}

/// Runs the checks that come before the route, in their order; `quota` is what the answer's headers tell.
fn admit(
    state: &State,
    arrival: &RequestParts<'_>,
    catalog: &Catalog,
    caller: Result<Caller, AuthError>,
    is_kept: bool,
    validator: &LazyCell<Option<ETag>, impl FnOnce() -> Option<ETag>>,
    quota: &mut Quota,
) -> Result<Admitted, Problem> {
    // What is kept was asked before, without a key in the address.
    if !is_kept && has_key(arrival.path, arrival.query) {
        return Err(Problem::new(Code::KeyInUrl, KEY_IN_URL));
    }
    let today = quota.day;
    if *arrival.method == Method::OPTIONS {
        // Browsers send it without a key; who sends one is told its quota.
        if let Ok(caller) = caller {
            *quota = state.access.peek(&caller, today);
        }
        return Ok(Admitted::Preflight);
    }
    let caller = caller.map_err(|refused| {
        Problem::new(Code::named(refused.code()).unwrap_or(Code::InvalidApiKey), refused.to_string())
    })?;
    let is_usage = !is_kept && split(arrival.path) == (Some(Version::V3), "usage");
    if arrival.is_read()
        && arrival.headers.contains_key(http::header::IF_NONE_MATCH)
        && let Some(validator) = &**validator
        && validator.is_known_to(arrival.headers, catalog)
    {
        *quota = state.access.peek(&caller, today);
        return Ok(Admitted::NotModified(validator.text.clone()));
    }
    if is_usage {
        *quota = state.access.peek(&caller, today);
        return Ok(Admitted::Caller(caller));
    }
    match state.access.take(&caller, today) {
        Ok(taken) => {
            *quota = taken;
            Ok(Admitted::Caller(caller))
        }
        Err(denied) => {
            *quota = denied;
            let resets_at = headers::rfc3339(denied.resets_at);
            let limit = denied.limit.unwrap_or(0);
            let tier = denied.tier.map(|tier| tier.name());
            let detail = format!("all {limit} requests of this key's day are used; it starts anew at {resets_at}");
            let quota = Some(Box::new(UsedUp { limit, resets_at, tier }));
            Err(Problem { quota, ..Problem::new(Code::QuotaExceeded, detail) })
        }
    }
}

/// Makes an answer; a panic on the way becomes an error like any other, so that its quota is given back.
fn caught(id: RequestId, make: impl FnOnce() -> Result<ApiResponse, Problem>) -> Result<ApiResponse, Problem> {
    // What is read here does not change: the catalog is immutable, and counts are taken under locks of their own.
    std::panic::catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        tracing::error!("request {id} panicked: {}", panic_message(panic.as_ref()));
        let detail = "the request failed; please report it with its request id";
        Err(Problem::new(Code::InternalError, detail))
    })
}

/// Finds the path's answer.
fn route(call: &ApiRequest<'_>, arrival: &RequestParts<'_>) -> Result<ApiResponse, Problem> {
    let Some(endpoint) = Endpoint::find(call.version, call.path) else { return Err(record::unknown_route(call)) };
    if !arrival.is_read() {
        let detail = format!("`/{}` only reads: use GET or HEAD, not {}", call.path, arrival.method);
        return Err(Problem { allow: Some(READS), ..Problem::new(Code::MethodNotAllowed, detail) });
    }
    if !accepts_json(arrival.headers) {
        let detail = "answers are `application/json`: leave `Accept` out, or name that type or `*/*`";
        return Err(Problem::new(Code::NotAcceptable, detail));
    }
    if let Some((name, _)) = call.values.get(MOST_PARAMETERS) {
        let detail = format!("an address has at most {MOST_PARAMETERS} parameters, {} are given", call.values.len());
        return Err(Problem::of_parameters(vec![ParameterError::invalid(name, detail)]));
    }
    if let Some(name) = not_text(arrival.query, call.values) {
        let detail = "the value is not UTF-8: percent-encode the bytes of its UTF-8 text";
        return Err(Problem::of_parameters(vec![ParameterError::invalid(name, detail)]));
    }
    match endpoint {
        Endpoint::List(resource) => list::answer(call, resource, &[]),
        Endpoint::OfFirm(resource, parameter, slug) => {
            let row = record::find(&call.catalog, Table::Firms, &slug)?;
            let slug = call.catalog.snapshot().slug(Table::Firms, row);
            match resource {
                // A startup may have the firm's slug.
                Resource::People => list::answer(call, resource, &[(parameter, slug), ("kind", "firm")]),
                _ => list::answer(call, resource, &[(parameter, slug)]),
            }
        }
        Endpoint::Single(table, slug) => record::answer(call, table, &slug),
        Endpoint::Facets => facets::answer(call),
        Endpoint::Stats => record::stats(call),
        Endpoint::Snapshots => record::snapshots(call),
        Endpoint::Suggest => record::suggest(call),
        Endpoint::Usage => record::usage(call),
    }
}

/// The parameter whose value is not UTF-8, if one is: what cannot be read becomes U+FFFD, which hardly anybody sends.
fn not_text<'v>(query: &str, values: &'v [(String, String)]) -> Option<&'v str> {
    let (name, _) = values.iter().find(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER))?;
    (!query.to_ascii_lowercase().contains("%ef%bf%bd")).then_some(name)
}

/// An answer as it goes out, with the headers that are the same for every caller.
fn ready(call: &ApiRequest<'_>, validator: Option<&ETag>, answer: ApiResponse) -> CachedResponse {
    let mut headers = HeaderMap::with_capacity(MOST_HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(validator) = validator {
        headers.insert(ETAG, validator.text.clone());
    }
    if let Some(link) = answer.next_link {
        set(&mut headers, "link", &format!("<{link}>; rel=\"next\""));
    }
    write_successor(&mut headers, call.version, call.state, call.path);
    let common = CommonHeaders {
        snapshot: Some(answer.snapshot),
        api_version: Some(call.version.number()),
        caching: Some(if validator.is_some() { Caching::Private } else { Caching::Never }),
        varies: true,
        is_cross_origin: true,
        ..CommonHeaders::default()
    };
    common.write(&mut headers);
    headers::reserve(&mut headers, call.quota.limit.is_some());
    CachedResponse::new(answer.body, headers)
}

fn good(arrival: &RequestParts<'_>, ready: &CachedResponse) -> Response<Bytes> {
    let packed = if accepts_gzip(arrival.headers) { ready.gzipped() } else { None };
    let is_packed = packed.is_some();
    let mut response = Response::new(packed.unwrap_or_else(|| ready.body.clone()));
    *response.headers_mut() = ready.headers.clone();
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

fn failed(state: &State, arrival: &RequestParts<'_>, problem: &Problem, quota: &Quota, now: i64) -> Response<Bytes> {
    // A key in the path is not said again.
    let instance = if problem.code == Code::KeyInUrl { "/" } else { arrival.path };
    let body = problem.body(&state.public_url, instance, &arrival.id.to_string());
    let packed = compressed(&body, arrival.headers);
    let is_packed = packed.is_some();
    let mut response = Response::new(Bytes::from(packed.unwrap_or(body)));
    *response.status_mut() = problem.code.status();
    let headers = response.headers_mut();
    set(headers, "content-type", "application/problem+json");
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if problem.code.status() == StatusCode::UNAUTHORIZED {
        set(headers, "www-authenticate", "Bearer");
    }
    if let Some(allow) = problem.allow {
        set(headers, "allow", allow);
    }
    if problem.code.status() == StatusCode::TOO_MANY_REQUESTS {
        set(headers, "retry-after", &quota.seconds_left(now).max(1).to_string());
    }
    response
}

fn preflight() -> Response<Bytes> {
    let mut response = empty(StatusCode::NO_CONTENT);
    headers::write_preflight(response.headers_mut(), READS);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::RequestIds;

    #[test]
    fn a_panic_on_the_way_to_an_answer_is_an_error_that_costs_nothing() {
        let caught = caught(RequestIds::new(1).next(), || panic!("a fault in a route"));
        let problem = caught.err().unwrap();
        assert!(problem.code.status().is_server_error());
        assert!(!problem.detail.contains("fault"));
    }

    #[test]
    fn json_is_accepted_by_those_who_do_not_say_otherwise() {
        let accepts = |accept: &str| {
            let mut headers = HeaderMap::new();
            set(&mut headers, "accept", accept);
            accepts_json(&headers)
        };
        assert!(accepts_json(&HeaderMap::new()));
        for accept in
            ["*/*", "application/json", "Application/JSON; charset=utf-8", "text/html, */*;q=0.1", "application/*"]
        {
            assert!(accepts(accept), "{accept}");
        }
        for accept in ["text/html", "application/json;q=0", "application/json;q=0, */*", "application/xml, text/*"] {
            assert!(!accepts(accept), "{accept}");
        }
    }
}
