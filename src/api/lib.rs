//! The REST API, v1 to v3, and its OpenAPI documents.
//!
//! Every request passes the same pipeline ([`Pipeline::run`]), in the order of the contract: key in the URL,
//! authentication, `If-None-Match`, quota, route, method, parameters, execution. A cached response skips routing,
//! parsing and execution. A conditional request is charged only if its `ETag` differs: a cached response is compared
//! before the quota, another one after execution.
#![warn(unreachable_pub)]

pub(crate) mod asked;
mod endpoint;
mod endpoints;
mod envelope;
mod etag;
mod export;
mod include;
mod limits;
pub mod openapi;
pub mod options;
mod other_meaning;
mod pagination;
pub(crate) mod pin;
mod present;
mod request;
pub mod routes;
mod submission;
mod version;
pub mod window;

pub use export::ROWS_PER_REQUEST;
pub use limits::{RequestLimit, request_limits};
pub use routes::Route;
pub use version::Version;
pub use window::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PAID_LIMIT};

use std::cell::LazyCell;
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use auth::account::AccountId;
use auth::quota::{Denied, Overloaded, Quota, Tier, WorkCaller};
use auth::{AuthError, Caller};
use catalog::Catalog;
use catalog::json::{FieldSet, Fields};
use catalog::param_error::shortened;
use data::{Date, SnapshotVersion};

use platform::clock::measure;
use platform::metrics::panics;
use service::State;
use transport::body::Payload;
use transport::headers::{self, Caching, CommonHeaders, READS, Vary, authorization, fails_if_match, set};
use transport::negotiation::{Format, accepts_json, preferred_format};
use transport::problem::{Code, Problem};
use transport::response_cache::{CacheKey, CachedResponse};
use transport::telemetry::{Api, RouteGroup, RouteLabel};
use transport::url::{KEY_IN_URL, has_key, with_slug};
use transport::{RequestParts, RequestTrace};

use crate::endpoint::ParsedOperation;
use crate::endpoints::submit_review;
use crate::etag::FileETag;
use crate::export::{Export, quota_exceeded, split_format};
use crate::pin::{Pin, find_release};
use crate::present::write_successor;
use crate::request::{RequestError, RequestUrl, panicked};
use crate::routes::{split_version, unknown_path};

const MAX_HEADERS: usize = 24;

pub(crate) struct ApiRequest<'a> {
    state: &'a State,
    catalog: Arc<Catalog>,
    version: Version,
    /// The path below the version, without a slash at either end.
    path: &'a str,
    values: &'a [(String, String)],
    quota: Quota,
    /// The account of the key; `None` for a demo key.
    account: Option<AccountId>,
}

pub(crate) struct ApiResponse {
    body: Vec<u8>,
    /// The bytes of the body that name the release and do not count for the `ETag`.
    release: Range<usize>,
    snapshot: SnapshotVersion,
    next_link: Option<String>,
}

/// Responds to a request under `/api`, `/v1`, `/v2` or `/v3`. `None` if the key is not cached and must be looked up in
/// the store, or if the response needs a search or is a file.
pub fn respond(state: &Arc<State>, request: &RequestParts<'_>) -> Option<Response<Bytes>> {
    let caller = state.auth.authenticate(authorization(request.headers), state.now());
    if caller == Err(AuthError::Invalid) && *request.method != Method::OPTIONS {
        return None;
    }
    let served = state.releases.serving();
    // Cached responses are JSON.
    let may_find = caller.is_ok() && request.is_read() && preferred_format(request.headers) == Format::Json;
    let find = |catalog: &Catalog| match may_find {
        true => state.response_cache.get(CacheKey::new(catalog.identity(), request.path, request.query)),
        false => None,
    };
    // A request that names another release is not cached under the served one.
    let cached = find(&served);
    let pin = if cached.is_some() { Ok(None) } else { find_release(state, request) };
    let cached = cached.or_else(|| find(pin.as_ref().ok()?.as_deref()?));
    let pipeline = Pipeline::new(state, request, &served, &pin, cached);
    if pipeline.is_batch() || pipeline.submission().is_some() {
        return None;
    }
    let response = pipeline.respond(caller, false)?;
    Some(response.map(|payload| match payload {
        Payload::Whole(body) => body,
        Payload::Stream(_) => unreachable!("a file waits for its turn in the queue"),
    }))
}

/// Responds to a request that may wait: to look up the key in the store, to search, or to read a body.
pub async fn respond_later<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
    state: &Arc<State>,
    request: &RequestParts<'_>,
    body: impl Stream<Item = Result<B, E>> + Send + 'static,
) -> Response<Payload> {
    let now = state.now();
    let mut caller = state.auth.authenticate(authorization(request.headers), now);
    let is_unknown = caller == Err(AuthError::Invalid);
    if is_unknown {
        let address = state.client(request.peer, request.headers);
        caller = state.auth.authenticate_fresh(authorization(request.headers), address, now).await;
    }
    let (served, pin) = (state.releases.serving(), find_release(state, request));
    let pipeline = Pipeline::new(state, request, &served, &pin, None);
    if let Some(submission) = pipeline.submission() {
        let mut quota = Quota::zero(Date::from_unix(pipeline.now));
        let outcome = pipeline.run_submission(submission, caller, body, &mut quota).await;
        pipeline.forgive_error(&outcome, caller, &mut quota);
        return pipeline.present(outcome, &quota);
    }
    if pipeline.is_batch() {
        let mut quota = Quota::zero(Date::from_unix(pipeline.now));
        let outcome = pipeline.run_batch(caller, body, &mut quota).await;
        pipeline.forgive_error(&outcome, caller, &mut quota);
        return pipeline.present(outcome, &quota);
    }
    // With a known caller, the request is here because it must search.
    if is_unknown && let Some(response) = pipeline.respond(caller, false) {
        return response;
    }
    // The request is parsed again, at a hundredth of the cost of a search.
    let asker = match caller {
        Ok(caller) => caller.of_work(),
        Err(_) => WorkCaller::Address(state.client(request.peer, request.headers)),
    };
    match state.work.run(asker, request.trace.work(), || pipeline.respond(caller, true)).await {
        Ok(response) => response.expect("a request that may search has its response"),
        Err(Overloaded) => pipeline.overloaded(caller),
    }
}

enum PipelineOutcome {
    Preflight(&'static str),
    Found(Arc<CachedResponse>),
    NotModified(Arc<CachedResponse>),
    /// The client already has the file with this `ETag`.
    FileNotModified(HeaderValue),
    File(Response<Payload>),
    /// The request must search and may not do so yet.
    Queue,
}

struct Pipeline<'a> {
    state: &'a Arc<State>,
    request: &'a RequestParts<'a>,
    /// The release that the request names, otherwise the served one.
    catalog: &'a Arc<Catalog>,
    pin_error: Option<&'a RequestError>,
    version: Option<Version>,
    /// The path below the version, without the extension that names a format.
    path: &'a str,
    /// Format of a list: the one that the path names, otherwise the one that the client prefers.
    format: Format,
    cached: Option<Arc<CachedResponse>>,
    now: i64,
}

struct Parsed {
    route: &'static Route,
    format: Format,
    operation: ParsedOperation,
    /// The `ETag` of a file. Other responses get theirs once they are computed.
    file_etag: Option<FileETag>,
}

impl Parsed {
    fn export(&self) -> Option<&Arc<Export>> {
        self.operation.as_ref().ok()?.export()
    }

    /// True if the response needs a search of names, for its records or for suggestions.
    fn searches(&self) -> bool {
        self.operation.as_ref().map_or(true, |operation| operation.searches())
    }
}

impl<'a> Pipeline<'a> {
    fn new(
        state: &'a Arc<State>,
        request: &'a RequestParts<'a>,
        served: &'a Arc<Catalog>,
        pin: &'a Pin,
        cached: Option<Arc<CachedResponse>>,
    ) -> Self {
        let (version, path) = split_version(request.path);
        let (path, format) = split_format(version, path);
        let format = format.unwrap_or_else(|| match version {
            Some(Version::V3) => preferred_format(request.headers),
            _ => Format::Json,
        });
        let catalog = pin.as_ref().ok().and_then(Option::as_ref).unwrap_or(served);
        Self { state, request, catalog, pin_error: pin.as_ref().err(), version, path, format, cached, now: state.now() }
    }

    /// `None` if the request must search and `may_search` is false.
    fn respond(&self, caller: Result<Caller, AuthError>, may_search: bool) -> Option<Response<Payload>> {
        let mut quota = Quota::zero(Date::from_unix(self.now));
        match self.run(caller, may_search, &mut quota) {
            Ok(PipelineOutcome::Queue) => None,
            outcome => {
                self.forgive_error(&outcome, caller, &mut quota);
                Some(self.present(outcome, &quota))
            }
        }
    }

    /// Gives back what an error of the caller was charged, if few of the day were errors.
    fn forgive_error(
        &self,
        outcome: &Result<PipelineOutcome, Problem>,
        caller: Result<Caller, AuthError>,
        quota: &mut Quota,
    ) {
        let is_fault = outcome.as_ref().is_err_and(|problem| {
            problem.code.status().is_client_error() && problem.code.status() != StatusCode::TOO_MANY_REQUESTS
        });
        if let (true, Ok(caller)) = (is_fault, caller) {
            *quota = self.state.auth.forgive_error(&caller, *quota);
        }
    }

    /// The response to a request that the full queue rejected; it is not counted.
    fn overloaded(&self, caller: Result<Caller, AuthError>) -> Response<Payload> {
        let mut quota = Quota::zero(Date::from_unix(self.now));
        if let Ok(caller) = caller {
            quota = self.state.auth.peek(&caller, quota.day);
        }
        let detail = "too many searches are waiting; retry in a second";
        self.present(Err(Problem::new(Code::Overloaded, detail)), &quota)
    }

    /// Runs the stages in the order of the contract; sets `quota` to the one that the response reports.
    fn run(
        &self,
        caller: Result<Caller, AuthError>,
        may_search: bool,
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        let (request, route) = (self.request, self.begin(&caller)?);
        if *request.method == Method::OPTIONS {
            // Browsers send a preflight without a key.
            if let Ok(caller) = caller {
                *quota = self.state.auth.peek(&caller, quota.day);
            }
            let methods = route.as_ref().map_or(READS, |(route, _)| self.methods(route));
            return Ok(PipelineOutcome::Preflight(methods));
        }
        if self.version.is_none() {
            // Clients that look for the MCP endpoint would take a 401 for a request to authenticate.
            *quota = caller.map_or(*quota, |caller| self.state.auth.peek(&caller, quota.day));
            return Err(unknown_version(request.path));
        }
        let caller = self.admit(caller)?;
        let values: LazyCell<Vec<(String, String)>, _> =
            LazyCell::new(|| form_urlencoded::parse(request.query.as_bytes()).into_owned().collect());
        let parsed = LazyCell::new(|| {
            let ((route, slug), version) = route.as_ref().zip(self.version)?;
            Some(self.parse(version, route, slug.as_deref(), &values, max_limit(version, caller.tier)))
        });

        let fails_if_match = request.is_read() && fails_if_match(request.headers);
        let is_conditional = request.is_read() && request.headers.contains_key(IF_NONE_MATCH) && !fails_if_match;
        if is_conditional {
            let known = self.cached.as_ref().filter(|cached| is_known(cached, request.headers)).cloned();
            let known = known.filter(|_| accepts_json(request.headers));
            let file = parsed.as_ref().and_then(|parsed| parsed.file_etag.as_ref());
            let file = file.filter(|etag| etag.matches(request.headers)).map(|etag| etag.value.clone());
            if let Some(outcome) =
                known.map(PipelineOutcome::NotModified).or(file.map(PipelineOutcome::FileNotModified))
            {
                *quota = self.state.auth.peek(&caller, quota.day);
                return Ok(outcome);
            }
        }
        if !may_search && parsed.as_ref().is_some_and(Parsed::searches) {
            return Ok(PipelineOutcome::Queue);
        }
        if let Some((parsed, export)) = parsed.as_ref().and_then(|parsed| Some((parsed, parsed.export()?)))
            && request.is_read()
            && !fails_if_match
        {
            return self.send_file(&caller, parsed, export, &values, quota);
        }
        if let Some(cached) = &self.cached {
            *quota = self.charge_quota(&caller, 1, quota)?;
            return match (accepts_json(request.headers), fails_if_match) {
                (true, false) => Ok(PipelineOutcome::Found(Arc::clone(cached))),
                (true, true) => Err(precondition_failed()),
                (false, _) => Err(not_acceptable()),
            };
        }
        let mut compute = || self.compute(&caller, parsed.as_ref(), &values, is_conditional, quota);
        // Requests that take no turn are cheap, so measuring their processor time is not worth its own.
        let (response, work) = if may_search { measure(compute) } else { (compute(), Duration::ZERO) };
        self.charge_work(&caller, work, quota);
        let response = response?;
        if is_conditional && is_known(&response, request.headers) {
            return Ok(PipelineOutcome::NotModified(response));
        }
        if fails_if_match { Err(precondition_failed()) } else { Ok(PipelineOutcome::Found(response)) }
    }

    /// Executes the request and counts it. A conditional request is counted after its execution, if the client turns
    /// out not to have the response. Without any quota left, requests that wait in the queue are not executed.
    fn compute(
        &self,
        caller: &Caller,
        parsed: Option<&Parsed>,
        values: &[(String, String)],
        is_conditional: bool,
        quota: &mut Quota,
    ) -> Result<Arc<CachedResponse>, Problem> {
        let left = self.state.auth.peek(caller, quota.day);
        let is_free = parsed.is_some_and(|parsed| !parsed.route.endpoint.is_counted);
        let is_open = is_conditional && parsed.is_some_and(|parsed| left.remaining != Some(0) || !parsed.searches());
        *quota = if is_free || is_open { left } else { self.charge_quota(caller, 1, quota)? };
        let response = catch_panic(self.request.trace, panicked, || self.execute(caller, parsed, values, *quota));
        let is_known = response.as_ref().is_ok_and(|response| is_known(response, self.request.headers));
        if is_open && !is_free && !is_known {
            *quota = self.charge_quota(caller, 1, quota)?;
        }
        self.refund_failure(&response, caller, 1, quota);
        response
    }

    /// Charges what the work of a counted request costs above the requests that are charged already.
    pub(crate) fn charge_work(&self, caller: &Caller, work: Duration, quota: &mut Quota) {
        *quota = self.state.charge_work(&caller.into(), work, *quota);
    }

    /// Finds the route and rejects a key in the URL. The URL of a cached response was checked when it was computed.
    fn begin(&self, caller: &Result<Caller, AuthError>) -> Result<Option<(&'static Route, Option<String>)>, Problem> {
        let RequestParts { trace, path, query, .. } = *self.request;
        let route = match (&self.cached, self.version) {
            (None, Some(version)) => Route::find(version, self.path),
            _ => None,
        };
        trace.set_route(match &self.cached {
            Some(cached) => cached.route,
            None => label(self.version, route.as_ref().map(|(route, _)| *route)),
        });
        if let Ok(caller) = caller {
            trace.set_tier(caller.tier);
        }
        match self.cached.is_none() && has_key(path, query) {
            true => Err(Problem::new(Code::KeyInUrl, KEY_IN_URL)),
            false => Ok(route),
        }
    }

    /// Gives back the requests that were charged, if the server failed.
    fn refund_failure<T>(&self, outcome: &Result<T, Problem>, caller: &Caller, requests: u32, quota: &mut Quota) {
        if outcome.as_ref().is_err_and(|problem| problem.code.status().is_server_error()) {
            *quota = self.state.auth.give_back_several(caller, requests, quota.day);
        }
    }

    /// The value of `Allow`.
    fn methods(&self, route: &Route) -> &'static str {
        if self.takes_review(route) { submit_review::METHODS } else { route.methods() }
    }

    fn takes_review(&self, route: &Route) -> bool {
        self.version == Some(Version::V3) && route.path == submit_review::PATH && self.state.operator.takes_reviews()
    }

    fn is_batch(&self) -> bool {
        let takes_body = |(route, _): (&Route, _)| route.endpoint.post.is_some();
        *self.request.method == Method::POST
            && self.version.and_then(|version| Route::find(version, self.path)).is_some_and(takes_body)
    }

    fn api_request<'r>(
        &'r self,
        version: Version,
        path: &'r str,
        values: &'r [(String, String)],
        quota: Quota,
        account: Option<AccountId>,
    ) -> ApiRequest<'r> {
        ApiRequest { state: self.state, catalog: Arc::clone(self.catalog), version, path, values, quota, account }
    }

    fn admit(&self, caller: Result<Caller, AuthError>) -> Result<Caller, Problem> {
        caller.map_err(|error| {
            self.state.auth.audit_rejected_key(error, || self.state.origin(self.request));
            Problem::from(error)
        })
    }

    /// Charges requests to the caller's quota; on an error, sets `quota` to the one to report.
    fn charge_quota(&self, caller: &Caller, requests: u32, quota: &mut Quota) -> Result<Quota, Problem> {
        self.state.auth.take_several(caller, requests, quota.day).map_err(|denied| {
            *quota = denied.quota();
            match denied {
                Denied::Exceeded(used_up) => {
                    self.state.auth.audit_quota(caller, || self.state.origin(self.request));
                    quota_exceeded(&used_up, requests, &self.state.auth.used_by_others(caller, &used_up))
                }
                Denied::Unchecked(_) => Problem::slow_down(),
                Denied::Unknown(_) => Problem::quota_unknown(),
            }
        })
    }

    /// Parses the parameters of a route; `slug` comes from the path.
    fn parse(
        &self,
        version: Version,
        route: &'static Route,
        slug: Option<&str>,
        values: &[(String, String)],
        max_limit: u64,
    ) -> Parsed {
        let (state, catalog, path, query) = (self.state, self.catalog, self.path, self.request.query);
        let format = if route.list().is_some() { self.format } else { Format::Json };
        let max_limit = if format == Format::Json { max_limit } else { u64::MAX };
        let url = RequestUrl { state, catalog, version, route, slug, path, query, values, format, max_limit };
        let operation = catch_panic(self.request.trace, || RequestError::Panic, || url.parse());
        let operation = match self.pin_error {
            Some(error) => Err(error.joined(operation.err())),
            None => operation,
        };
        let file = operation.as_ref().ok().and_then(|operation| operation.export());
        let file_etag = file.map(|file| FileETag::new(&url, file.canonical().as_ref()));
        Parsed { route, format, operation, file_etag }
    }

    /// Checks route, method and parameters, executes the request and caches the response.
    fn execute(
        &self,
        caller: &Caller,
        parsed: Option<&Parsed>,
        values: &[(String, String)],
        quota: Quota,
    ) -> Result<Arc<CachedResponse>, Problem> {
        let (request, path) = (self.request, self.path);
        let Some(version) = self.version else { return Err(unknown_version(request.path)) };
        let api_request = self.api_request(version, path, values, quota, caller.account);
        let Some(parsed) = parsed else { return Err(unknown_path(version, path)) };
        if !request.is_read() {
            let methods = self.methods(parsed.route);
            let known = match methods {
                READS => "is read-only: use GET or HEAD".to_owned(),
                methods => format!("takes {}", methods.trim_end_matches(", OPTIONS")),
            };
            let detail = format!("`/{}` {known}, not {}", shortened(path), request.method);
            return Err(Problem { allow: Some(methods), ..Problem::new(Code::MethodNotAllowed, detail) });
        }
        if parsed.format == Format::Json && !accepts_json(request.headers) {
            return Err(not_acceptable());
        }
        let operation = parsed.operation.as_ref().map_err(|error| {
            let location = match error {
                RequestError::Moved(_, from, to) => Some(with_slug(request.path, request.query, from, to).into()),
                _ => None,
            };
            Problem { location, ..api_request.reject(parsed.route, error) }
        })?;
        let response = operation.respond(&api_request)?;
        let is_cacheable = parsed.route.endpoint.is_cacheable;
        let cached = Arc::new(api_request.finish(request.trace.route(), is_cacheable, response));
        // The release of a cursor may be unloaded at any time, so such responses are not cached.
        let is_shared = is_cacheable && !operation.depends_on_tier();
        if is_shared && !values.iter().any(|(name, _)| name == "cursor") {
            self.state
                .response_cache
                .insert(CacheKey::new(self.catalog.identity(), request.path, request.query), &cached);
        }
        Ok(cached)
    }
}

impl ApiRequest<'_> {
    fn reject(&self, route: &Route, error: &RequestError) -> Problem {
        // Errors of `fields` are reported together with the others.
        let of_fields = route.list().filter(|_| self.version == Version::V3);
        let of_fields = of_fields.and_then(|resource| Fields::parse(self.values, FieldSet::of_list(resource)).err());
        let of_fields = of_fields.unwrap_or_default();
        match error {
            RequestError::Parameters(issues) => {
                Problem::of_parameters(issues.report(&self.catalog).into_iter().chain(of_fields).collect())
            }
            _ => match error.gone_parameter().filter(|_| !of_fields.is_empty()) {
                Some(gone) => Problem::of_parameters(of_fields.into_iter().chain([gone]).collect()),
                None => error.problem(&self.catalog),
            },
        }
    }

    /// The response, with all headers that do not depend on the caller.
    fn finish(&self, route: RouteLabel, is_cacheable: bool, response: ApiResponse) -> CachedResponse {
        let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if is_cacheable {
            headers.insert(ETAG, etag::of_body(&response.body, response.release));
        }
        if let Some(link) = response.next_link {
            set(&mut headers, "link", &format!("<{link}>; rel=\"next\""));
        }
        write_successor(&mut headers, self.version, self.state, self.path);
        let caching = if is_cacheable { Caching::Private } else { Caching::Never };
        shared_headers(self.state, Some(self.version), response.snapshot, Some(caching)).write(&mut headers);
        headers::reserve(&mut headers, self.quota.limit.is_some());
        CachedResponse::new(response.body, headers, route)
    }
}

/// Headers of a response that do not depend on the caller.
fn shared_headers(
    state: &State,
    version: Option<Version>,
    snapshot: SnapshotVersion,
    caching: Option<Caching>,
) -> CommonHeaders<'_> {
    CommonHeaders {
        snapshot: Some(snapshot),
        api_version: version.map(Version::number),
        caching,
        varies: caching.map(|_| Vary::Type),
        is_cross_origin: true,
        public_url: Some(&state.public_url),
        ..CommonHeaders::default()
    }
}

/// The error for a path below `/api` without a version.
fn unknown_version(path: &str) -> Problem {
    let detail = format!(
        "there is nothing at `{}`; the versions of the API are /api/v1, /api/v2 and /api/v3, and the MCP endpoint is \
         /api/mcp",
        shortened(path)
    );
    Problem::new(Code::UnknownRoute, detail)
}

fn max_limit(version: Version, tier: Tier) -> u64 {
    match (version, tier) {
        (Version::V3, Tier::Pro | Tier::Enterprise) => MAX_PAID_LIMIT,
        _ => MAX_LIMIT,
    }
}

fn not_acceptable() -> Problem {
    let detail = "responses are `application/json`, lists of v3 also `text/csv` and `application/x-ndjson`; omit `Accept` or \
                  accept one of these types or `*/*`";
    Problem::new(Code::NotAcceptable, detail)
}

fn precondition_failed() -> Problem {
    let detail = "`If-Match` is met only by `*`, because the `ETag` of a response is weak; use `If-None-Match` to fetch what \
                  has changed";
    Problem::new(Code::PreconditionFailed, detail)
}

/// Runs a function and turns a panic into an error, so that the quota is refunded and the client gets a response.
fn catch_panic<T, E>(
    trace: &RequestTrace,
    panicked: impl FnOnce() -> E,
    run: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    // Unwind safe: the catalog is immutable, and counters are protected by their own locks.
    panics::catch(run).unwrap_or_else(|panic| {
        trace.set_failure(&panic);
        Err(panicked())
    })
}

fn label(version: Option<Version>, route: Option<&Route>) -> RouteLabel {
    let Some(version) = version else { return RouteLabel::new(RouteGroup::Rest, "/api/unknown") };
    let api = Some(match version {
        Version::V1 => Api::V1,
        Version::V2 => Api::V2,
        Version::V3 => Api::V3,
    });
    let group = route.map_or(RouteGroup::Rest, |route| route.endpoint.group);
    RouteLabel { group, api, path: route.map_or("unknown", |route| route.path) }
}

fn is_known(response: &CachedResponse, headers: &HeaderMap) -> bool {
    response.etag().is_some_and(|etag| etag::matches(etag, headers, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_while_a_request_is_executed_is_an_internal_error() {
        let trace = RequestTrace::default();
        let executed: Result<(), Problem> = catch_panic(&trace, panicked, || panic!("a bug in a route"));
        let problem = executed.unwrap_err();
        assert!(trace.failure().is_some());
        assert!(problem.code.status().is_server_error());
        assert!(!problem.detail.contains("bug"));
    }

    #[test]
    fn json_is_accepted_unless_the_client_excludes_it() {
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
