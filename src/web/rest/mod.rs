//! REST v1, v2, v3: one filter in, one response out.
//!
//! The checks run in the order that the contract gives (key in the address, key, `If-None-Match`, quota, then route,
//! method and parameters), so the path is taken apart here and not by a chain of filters.

mod cursor;
mod endpoint;
mod fields;
mod list;
mod records;
mod single;
mod version;

use std::sync::Arc;

use http::{HeaderMap, Method, Response, StatusCode};
use xxhash_rust::xxh3::Xxh3;

use crate::access::{Caller, Quota, Refused};
use crate::catalog::{Catalog, Resource};
use crate::dataset::{SnapshotVersion, Table};

use super::encoding::{accepts_gzip, gzip};
use super::headers::{self, set};
use super::problem::{Code, Problem, UsedUp};
use super::state::State;

pub use endpoint::{Content, Endpoint};
pub use single::SUGGESTIONS;
pub use version::{DEFAULT_LIMIT, MAX_LIMIT, Version};

/// Bodies from this size on are compressed for those who accept it, bytes.
const COMPRESS_FROM: usize = 1_024;
/// Methods that every path takes.
const ALLOW: &str = "GET, HEAD, OPTIONS";

/// A request that passed the gate.
struct Call<'a> {
    state: &'a State,
    catalog: Arc<Catalog>,
    version: Version,
    /// The path below the version, without a slash at either end.
    path: &'a str,
    values: Vec<(String, String)>,
    quota: Quota,
}

/// A good answer.
struct Answer {
    body: Vec<u8>,
    snapshot: SnapshotVersion,
    next_link: Option<String>,
    cacheable: bool,
}

/// A request as it came.
pub struct Arrival<'a> {
    /// The method.
    pub method: &'a Method,
    /// The whole path.
    pub path: &'a str,
    /// The query, as it was written.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The request's id.
    pub id: String,
}

/// The paths of a version, as they are shown.
fn routes(version: Version) -> Vec<&'static str> {
    Endpoint::of(version).map(|endpoint| endpoint.path).collect()
}

/// Takes the version and what follows it from a path under `/api`, or straight under `/`.
fn split(path: &str) -> (Option<Version>, &str) {
    let below = path.strip_prefix("/api").unwrap_or(path).trim_start_matches('/');
    let (first, rest) = below.split_once('/').unwrap_or((below, ""));
    match Version::read(first) {
        Some(version) => (Some(version), rest.trim_end_matches('/')),
        None => (None, below.trim_end_matches('/')),
    }
}

/// Answers a request under `/api/v1`, `/api/v2`, `/api/v3` or the same without `/api`.
///
/// A key that is not known yet is looked up in the store off the runtime, so this waits in that case only.
pub async fn answer(state: &State, arrival: Arrival<'_>) -> Response<Vec<u8>> {
    let caller = if *arrival.method == Method::OPTIONS {
        Err(Refused::Missing)
    } else {
        let authorization = arrival.headers.get(http::header::AUTHORIZATION);
        let authorization = authorization.map(|value| value.to_str().unwrap_or("not text"));
        state.access.authenticate_fresh(authorization).await
    };
    respond(state, &arrival, caller)
}

/// The rest of [`answer`], which never waits.
fn respond(state: &State, arrival: &Arrival<'_>, caller: Result<Caller, Refused>) -> Response<Vec<u8>> {
    let catalog = state.live.current();
    let (now, today) = (state.now(), state.today());
    let (version, path) = split(arrival.path);
    let mut quota = Quota::none(today);
    let served = catalog.version();
    let outcome = admit(state, arrival, &catalog, caller, &mut quota).and_then(|admitted| match admitted {
        Admitted::NotModified(etag) => Ok(Outcome::NotModified(etag)),
        Admitted::Preflight => Ok(Outcome::Preflight),
        Admitted::Caller(caller) => {
            let values = form_urlencoded::parse(arrival.query.as_bytes()).into_owned().collect();
            let Some(version) = version else {
                let detail = format!("there is no `{}`: the versions are /api/v1, /api/v2 and /api/v3", arrival.path);
                return Err(Problem::new(Code::UnknownRoute, detail));
            };
            let call = Call { state, catalog: Arc::clone(&catalog), version, path, values, quota };
            let answer = route(&call, arrival.method);
            if let Err(problem) = &answer
                && problem.code.status().is_server_error()
            {
                quota = state.access.give_back(&caller, quota.day);
            }
            answer.map(Outcome::Answer)
        }
    });

    let mut response = match outcome {
        Ok(Outcome::Answer(answer)) => good(arrival, &catalog, answer),
        Ok(Outcome::NotModified(etag)) => {
            let mut response = Response::new(Vec::new());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            set(response.headers_mut(), "etag", &etag);
            cache(response.headers_mut());
            response
        }
        Ok(Outcome::Preflight) => preflight(),
        Err(problem) => failed(state, arrival, &problem, &quota, now),
    };
    let headers = response.headers_mut();
    headers::write_quota(headers, &quota, now);
    headers::write_cors(headers);
    set(headers, "x-request-id", &arrival.id);
    if !headers.contains_key("x-snapshot") {
        set(headers, "x-snapshot", &served.to_string());
    }
    if let Some(version) = version {
        set(headers, "x-api-version", version.number());
        if version != Version::V3 {
            let link = format!("<{}/api/v3/{path}>; rel=\"successor-version\"", state.public_url);
            set(headers, "link", &link);
        }
    }
    response
}

enum Admitted {
    Preflight,
    NotModified(String),
    Caller(Caller),
}

enum Outcome {
    Answer(Answer),
    NotModified(String),
    Preflight,
}

/// Runs the checks that come before the route, in their order; `quota` is what the answer's headers tell.
fn admit(
    state: &State,
    arrival: &Arrival<'_>,
    catalog: &Catalog,
    caller: Result<Caller, Refused>,
    quota: &mut Quota,
) -> Result<Admitted, Problem> {
    if form_urlencoded::parse(arrival.query.as_bytes()).any(|(_, value)| value.starts_with("vdx_")) {
        let detail = "the address holds an API key, which logs and histories keep: revoke it, and send keys in the \
                      `Authorization` header only";
        return Err(Problem::new(Code::KeyInUrl, detail));
    }
    if *arrival.method == Method::OPTIONS {
        return Ok(Admitted::Preflight);
    }
    let caller = caller.map_err(|refused| {
        Problem::new(Code::named(refused.code()).unwrap_or(Code::InvalidApiKey), refused.to_string())
    })?;
    let today = state.today();
    *quota = state.access.peek(&caller, today);
    let (version, path) = split(arrival.path);
    let is_usage = version == Some(Version::V3) && path == "usage";
    let reads = matches!(*arrival.method, Method::GET | Method::HEAD);
    if reads && !is_usage {
        let etag = etag(catalog, arrival);
        let given = arrival.headers.get_all(http::header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let known = given.flat_map(|value| value.split(',')).map(str::trim);
        if known.into_iter().any(|known| known == etag || format!("W/{known}") == etag) {
            return Ok(Admitted::NotModified(etag));
        }
    }
    if is_usage {
        return Ok(Admitted::Caller(caller));
    }
    match state.access.take(&caller, today) {
        Ok(taken) => {
            *quota = taken;
            Ok(Admitted::Caller(caller))
        }
        Err(denied) => {
            *quota = denied;
            let resets_at = headers::instant(denied.resets_at);
            let limit = denied.limit.unwrap_or(0);
            let tier = denied.tier.map(|tier| tier.name());
            let detail = format!("all {limit} requests of this key's day are used; it starts anew at {resets_at}");
            let quota = Some(Box::new(UsedUp { limit, resets_at, tier }));
            Err(Problem { quota, ..Problem::new(Code::QuotaExceeded, detail) })
        }
    }
}

/// Finds the path's answer.
fn route(call: &Call<'_>, method: &Method) -> Result<Answer, Problem> {
    let segments: Vec<&str> = call.path.split('/').collect();
    let v3 = call.version == Version::V3;
    let answer: Box<dyn FnOnce() -> Result<Answer, Problem> + '_> = match segments.as_slice() {
        ["vcs"] => Box::new(|| list::answer(call, Resource::Firms, &[])),
        ["vcs", slug] => {
            let slug = decoded(slug);
            Box::new(move || single::answer(call, Table::Firms, &slug))
        }
        ["reviews"] => Box::new(|| list::answer(call, Resource::Reviews, &[])),
        ["sectors"] => Box::new(|| list::answer(call, Resource::Sectors, &[])),
        ["leaderboard"] => Box::new(|| list::answer(call, Resource::Leaderboard, &[])),
        ["vcs", slug, part] if v3 => {
            let (resource, parameter) = match *part {
                "reviews" => (Resource::Reviews, "vc"),
                "portfolio" => (Resource::Startups, "investor"),
                "rounds" => (Resource::Rounds, "investor"),
                // A startup may have the firm's slug.
                "people" => (Resource::People, "organization"),
                _ => return Err(single::unknown_route(call)),
            };
            let slug = decoded(slug);
            Box::new(move || {
                let row = single::find(&call.catalog, Table::Firms, &slug)?;
                let slug = call.catalog.snapshot().slug(Table::Firms, row);
                match resource {
                    Resource::People => list::answer(call, resource, &[(parameter, slug), ("kind", "firm")]),
                    _ => list::answer(call, resource, &[(parameter, slug)]),
                }
            })
        }
        ["startups"] if v3 => Box::new(|| list::answer(call, Resource::Startups, &[])),
        ["startups", slug] if v3 => {
            let slug = decoded(slug);
            Box::new(move || single::answer(call, Table::Startups, &slug))
        }
        ["funding-rounds"] if v3 => Box::new(|| list::answer(call, Resource::Rounds, &[])),
        ["people"] if v3 => Box::new(|| list::answer(call, Resource::People, &[])),
        ["people", slug] if v3 => {
            let slug = decoded(slug);
            Box::new(move || single::answer(call, Table::People, &slug))
        }
        ["stats"] if v3 => Box::new(|| single::stats(call)),
        ["snapshots"] if v3 => Box::new(|| single::snapshots(call)),
        ["suggest"] if v3 => Box::new(|| single::suggest(call)),
        ["usage"] if v3 => Box::new(|| single::usage(call)),
        _ => return Err(single::unknown_route(call)),
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        let detail = format!("`/{}` only reads: use GET or HEAD, not {method}", call.path);
        return Err(Problem { allow: Some(ALLOW), ..Problem::new(Code::MethodNotAllowed, detail) });
    }
    answer()
}

/// A path segment without its percent-encoding.
fn decoded(segment: &str) -> String {
    // A segment is no form: a plus stands for itself.
    let pair = format!("s={}", segment.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

/// The weak validator of an answer: program, release, path and query (parameters in any order), never the key.
fn etag(catalog: &Catalog, arrival: &Arrival<'_>) -> String {
    let (snapshot, content) = (catalog.version(), catalog.snapshot().content());
    let pairs = form_urlencoded::parse(arrival.query.as_bytes());
    let counts = |name: &str, value: &str| !value.is_empty() && name != "_" && !name.starts_with("utm_");
    let mut pairs: Vec<_> = pairs.filter(|(name, value)| counts(name, value)).collect();
    pairs.sort();
    let path = arrival.path.strip_prefix("/api").unwrap_or(arrival.path).trim_end_matches('/');
    let mut hash = Xxh3::new();
    hash.update(&content.to_le_bytes());
    for part in [env!("CARGO_PKG_VERSION"), &snapshot.to_string(), path] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    for (name, value) in &pairs {
        hash.update(name.as_bytes());
        hash.update(&[1]);
        hash.update(value.as_bytes());
        hash.update(&[2]);
    }
    format!("W/\"{:032x}\"", hash.digest128())
}

fn cache(headers: &mut HeaderMap) {
    set(headers, "cache-control", "private, max-age=60");
    set(headers, "vary", "Accept-Encoding");
}

fn good(arrival: &Arrival<'_>, catalog: &Catalog, answer: Answer) -> Response<Vec<u8>> {
    let (body, compressed) = match accepts_gzip(arrival.headers) && answer.body.len() >= COMPRESS_FROM {
        true => match gzip(&answer.body) {
            Ok(packed) => (packed, true),
            Err(_) => (answer.body, false),
        },
        false => (answer.body, false),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    set(headers, "content-type", "application/json");
    if compressed {
        set(headers, "content-encoding", "gzip");
    }
    if answer.cacheable {
        set(headers, "etag", &etag(catalog, arrival));
        cache(headers);
    } else {
        set(headers, "cache-control", "no-store");
        set(headers, "vary", "Accept-Encoding");
    }
    set(headers, "x-snapshot", &answer.snapshot.to_string());
    if let Some(link) = answer.next_link {
        set(headers, "link", &format!("<{link}>; rel=\"next\""));
    }
    response
}

fn failed(state: &State, arrival: &Arrival<'_>, problem: &Problem, quota: &Quota, now: i64) -> Response<Vec<u8>> {
    let mut response = Response::new(problem.body(&state.public_url, arrival.path, &arrival.id));
    *response.status_mut() = problem.code.status();
    let headers = response.headers_mut();
    set(headers, "content-type", "application/problem+json");
    set(headers, "cache-control", "no-store");
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

fn preflight() -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    set(headers, "allow", ALLOW);
    set(headers, "access-control-allow-methods", ALLOW);
    set(headers, "access-control-allow-headers", headers::ALLOWED);
    set(headers, "access-control-max-age", "86400");
    response
}
