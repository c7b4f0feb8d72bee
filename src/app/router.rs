//! The router: a table from paths to front ends, and the warp filter that reads bodies and waits.

mod entry;
mod gate;

pub(crate) use gate::Gate;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::json;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::path::FullPath;

use api::Version;
use auth::audit;
use auth::quota::{Allowance, Quota};
use catalog::param_error::shortened;
use data::SnapshotVersion;
use mcp::{McpEndpoint, McpPath, McpQuota};
use service::{Bill, Operator, State, bulk, security_txt};
use site::static_pages::StaticPages;
use site::{PageCharge, PageRequest, PageRoute};
use transport::body::{self, BodyReadError, Payload};
use transport::handler::{reply, run_filter};
use transport::headers::{CommonHeaders, READS, authorization, set};
use transport::negotiation::{names_file, requests_html};
use transport::problem::{Code, Problem};
use transport::server::{RequestBody, ResponseBody};
use transport::telemetry::{Api, RouteGroup, RouteLabel};
use transport::{ErrorContext, Handler, Peer, RequestId, RequestParts, RequestTrace, Telemetry};

enum AppRoute<'a> {
    Api,
    Mcp(McpPath),
    Health,
    Readiness,
    SecurityTxt,
    /// `/.well-known/change-password`, where password managers look for the page to change a password.
    ChangePassword,
    /// Index into [`StaticPages`]; `is_page` is false for files such as style sheets.
    Static {
        position: usize,
        is_page: bool,
    },
    Bulk,
    Page(PageRoute<'a>),
    /// `*`, the service as a whole; only responds to OPTIONS.
    Service,
    Unknown,
}

fn trimmed(path: &str) -> &str {
    if path == "/" { path } else { path.trim_end_matches('/') }
}

impl<'a> AppRoute<'a> {
    fn parse(path: &'a str) -> Self {
        if let Some(path) = McpPath::parse(path) {
            return Self::Mcp(path);
        }
        // The API is served without `/api`, too.
        if path == "/api" || path.starts_with("/api/") || Version::of_path(path).is_some() {
            return Self::Api;
        }
        if path.len() > bulk::PREFIX.len() && path.starts_with(bulk::PREFIX) {
            return Self::Bulk;
        }
        match trimmed(path) {
            "*" => Self::Service,
            "/healthz" => Self::Health,
            "/readyz" => Self::Readiness,
            "/.well-known/security.txt" => Self::SecurityTxt,
            "/.well-known/change-password" => Self::ChangePassword,
            path => {
                let file = StaticPages::position(path).map(|position| {
                    let is_page = path == "/docs" || (path.starts_with("/docs/") && !path.contains('.'));
                    Self::Static { position, is_page }
                });
                file.or_else(|| PageRoute::parse(path).map(Self::Page)).unwrap_or(Self::Unknown)
            }
        }
    }

    /// Nothing is at the pages of reviews where the service takes none.
    fn offered_by(self, operator: &Operator) -> Self {
        let is_of_reviews = match self {
            Self::Page(page) => page.is_of_reviews(),
            Self::Static { position, .. } => StaticPages::is_of_reviews(position),
            _ => false,
        };
        if is_of_reviews && !operator.takes_reviews() { Self::Unknown } else { self }
    }

    /// The destination of a request, which is noted in its trace.
    fn of_request(request: &RequestParts<'a>) -> Self {
        let route = Self::parse(request.path);
        if let Some(label) = route.label() {
            request.trace.set_route(label);
        }
        route
    }

    /// Label of the path in logs and metrics; `None` for REST, which labels its own routes, and for unknown paths.
    fn label(&self) -> Option<RouteLabel> {
        let (group, path) = match *self {
            Self::Api | Self::Unknown => return None,
            Self::Mcp(path) => (RouteGroup::Mcp, path.label()),
            Self::Health => (RouteGroup::Health, "/healthz"),
            Self::Readiness => (RouteGroup::Health, "/readyz"),
            Self::SecurityTxt => (RouteGroup::Static, "/.well-known/security.txt"),
            Self::ChangePassword => (RouteGroup::Account, "/.well-known/change-password"),
            Self::Static { position, .. } => (RouteGroup::Static, StaticPages::path(position)),
            Self::Bulk => (RouteGroup::Static, "/data/{version}/{file}"),
            Self::Page(page) => (page.group(), page.label()),
            Self::Service => (RouteGroup::Unknown, "*"),
        };
        let api = (group == RouteGroup::Mcp).then_some(Api::Mcp);
        Some(RouteLabel { group, api, path })
    }

    /// The value of `Allow`; `None` if the path does not exist.
    fn methods(&self) -> Option<&'static str> {
        match self {
            Self::Page(page) => Some(page.methods()),
            Self::Service => Some("OPTIONS"),
            Self::Unknown => None,
            _ => Some(READS),
        }
    }
}

pub(crate) fn is_own_path(path: &str) -> bool {
    !matches!(AppRoute::parse(path), AppRoute::Unknown)
}

#[derive(Clone)]
pub struct Router {
    front_ends: Arc<FrontEnds>,
    /// Handles requests that need their body or have to wait for the store.
    filter: BoxedFilter<(warp::reply::Response,)>,
}

struct FrontEnds {
    state: Arc<State>,
    mcp: McpEndpoint,
    static_pages: StaticPages,
}

impl Router {
    pub fn new(state: &Arc<State>, quota: McpQuota, settings: &mcp::Settings) -> Self {
        let tools = mcp::ToolBackend::new(Arc::clone(&state.releases), &state.public_url, *state.auth.cursor_secret());
        let front_ends = Arc::new(FrontEnds {
            state: Arc::clone(state),
            mcp: McpEndpoint::new(settings, tools, quota),
            static_pages: StaticPages::new(state),
        });
        let shared = Arc::clone(&front_ends);
        let query = warp::query::raw().or(warp::any().map(String::new)).unify();
        let filter = warp::method()
            .and(warp::path::full())
            .and(query)
            .and(warp::header::headers_cloned())
            .and(warp::ext::get::<Peer>())
            .and(warp::ext::get::<RequestId>())
            .and(warp::ext::get::<Arc<RequestTrace>>())
            .and(warp::body::stream())
            .then(
                move |method: Method,
                      path: FullPath,
                      query: String,
                      headers: HeaderMap,
                      peer: Peer,
                      id: RequestId,
                      trace: Arc<RequestTrace>,
                      body| {
                    let shared = Arc::clone(&shared);
                    async move {
                        let (method, path, query, headers) = (&method, path.as_str(), &*query, &headers);
                        let request = RequestParts { method, path, query, headers, peer, id, trace: &trace };
                        reply(shared.respond_later(&request, body).await)
                    }
                },
            )
            .boxed();
        Self { front_ends, filter }
    }
}

impl Handler for Router {
    type Pending = ();

    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        self.front_ends.respond(request)
    }

    async fn respond_later(&self, (): (), request: Request<RequestBody>) -> Response<ResponseBody> {
        run_filter(&self.filter, request).await
    }

    fn is_health_check(&self, path: &str) -> bool {
        is_health_check(path)
    }

    fn admits_host(&self, path: &str, headers: &HeaderMap) -> bool {
        // Health probes use the machine's address; MCP has its own error.
        self.front_ends.state.hosts.admit(headers).is_ok()
            || self.is_health_check(path)
            || McpPath::parse(path).is_some()
    }

    fn begin_shutdown(&self) {
        self.front_ends.state.stopping.store(true, Ordering::Relaxed);
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        Some(&self.front_ends.state.telemetry)
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_> {
        let state = &self.front_ends.state;
        let release = (!state.operator.access.is_private()).then(|| state.releases.serving().version());
        error_context(path, &state.public_url, release, state.now())
    }
}

fn is_health_check(path: &str) -> bool {
    matches!(AppRoute::parse(path), AppRoute::Health | AppRoute::Readiness)
}

fn error_context<'a>(path: &str, public_url: &'a str, snapshot: Option<SnapshotVersion>, now: i64) -> ErrorContext<'a> {
    ErrorContext { public_url, snapshot, api_version: Version::of_path(path).map(Version::number), now }
}

impl FrontEnds {
    fn page_request<'a>(&'a self, request: &RequestParts<'a>) -> PageRequest<'a> {
        let RequestParts { path, query, headers, peer, id, trace, .. } = *request;
        PageRequest { state: &self.state, path: trimmed(path), query, headers, peer, id, trace, bill: None }
    }

    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        let response = match AppRoute::of_request(request).offered_by(&self.state.operator) {
            AppRoute::Api => api::respond(&self.state, request).ok_or(())?,
            AppRoute::Mcp(_) | AppRoute::Bulk => return Err(()),
            route if self.is_closed(&route, request) => return Err(()),
            route => {
                let response = match self.count_page(&route, request) {
                    Ok(()) => self.respond_site(&route, request)?,
                    Err(refused) => *refused,
                };
                self.site_response(response, request.id)
            }
        };
        Ok(self.keep_private(request, response))
    }

    /// Counts a page for its address; the error is the refusal.
    fn count_page(&self, route: &AppRoute<'_>, request: &RequestParts<'_>) -> Result<(), Box<Response<Bytes>>> {
        let state = self.state.as_ref();
        let is_page = matches!(route, AppRoute::Page(_) | AppRoute::Static { is_page: true, .. });
        if !(request.is_read() && is_page || sends_form(route, request)) {
            return Ok(());
        }
        if !state.auth.offers_pages() {
            let detail = "this service has no pages; its API is below /api/v3, and the MCP endpoint is /api/mcp";
            return Err(Box::new(refusal(self.page_request(request), Problem::new(Code::UnknownRoute, detail))));
        }
        let address = state.client(request.peer, request.headers);
        let admitted = state.auth.admit_page(address, state.now());
        admitted.map_err(|wait| Box::new(site::too_many(self.page_request(request), wait).map(Bytes::from)))?;
        self.count_rows(route, request, address)
    }

    /// Counts what the page shows for its address. Only those whom a private service admits read its pages.
    fn count_rows(
        &self,
        route: &AppRoute<'_>,
        request: &RequestParts<'_>,
        address: IpAddr,
    ) -> Result<(), Box<Response<Bytes>>> {
        let state = self.state.as_ref();
        let (AppRoute::Page(page), false) = (route, state.operator.access.is_private()) else { return Ok(()) };
        let (allowance, count) = match page.charge(request.query, !request.is_read()) {
            PageCharge::Rows(rows) => (Allowance::Rows, rows),
            PageCharge::Names(names) => (Allowance::Names, names),
            _ => return Ok(()),
        };
        state.auth.count_shown(allowance, address, count, state.today()).map_err(|quota| {
            let mut refused = refusal(self.page_request(request), state.shown_exceeded(&quota));
            write_wait(&mut refused, &quota, state.now());
            Box::new(refused)
        })
    }

    /// The bill of a program that reads a page in another form, after its first request; and the refusal, if that is one too
    /// many. `None` if the page has no price, or a session opened it.
    async fn open_bill(&self, route: PageRoute<'_>, request: &RequestParts<'_>) -> (Option<Bill>, Result<(), Problem>) {
        let state = &self.state;
        let charge = route.charge(request.query, !request.is_read());
        if !matches!(charge, PageCharge::Request | PageCharge::Items) {
            return (None, Ok(()));
        }
        let (address, header) = (state.client(request.peer, request.headers), authorization(request.headers));
        let caller = match state.auth.authenticate_optional(header, address, state.now()).await {
            Ok(None) if state.operator.access.is_private() => return (None, Ok(())),
            Ok(caller) => caller,
            Err(error) => {
                state.auth.audit_rejected_key(error, || state.origin(request));
                return (None, Err(Problem::from(error)));
            }
        };
        if let Some(caller) = &caller {
            request.trace.set_tier(caller.tier);
        }
        let bill = Bill::new(request.id, address, caller);
        let charged = if charge == PageCharge::Request { bill.charge(state, 1) } else { Ok(()) };
        (Some(bill), charged)
    }

    async fn answer_page<B: Buf + Send + 'static>(
        &self,
        route: PageRoute<'_>,
        request: &RequestParts<'_>,
        body: impl Stream<Item = Result<B, warp::Error>> + Send + 'static,
    ) -> Response<Bytes> {
        let state = &self.state;
        let (bill, charged) = self.open_bill(route, request).await;
        let page = PageRequest { bill: bill.as_ref(), ..self.page_request(request) };
        if let Err(problem) = charged {
            return with_bill(refusal(page, problem), bill.as_ref(), state);
        }
        let form = match *request.method == Method::POST {
            true => match route.form_limit(request.headers) {
                Ok(limit) => body::read(request.headers, body, limit).await.map(Some).map_err(unreadable),
                Err(refused) => Err(refused),
            },
            false => Ok(None),
        };
        let response = match form {
            Ok(form) => {
                let origin = state.origin(request);
                let answer = site::answer(route, page, form, origin.address);
                audit::scope(origin, answer).await
            }
            Err((status, detail)) => site::bad_form(page, status, detail),
        };
        with_bill(response.map(Bytes::from), bill.as_ref(), state)
    }

    /// Responds to everything except REST and MCP: health, static files, the docs, pages, errors.
    fn respond_site(&self, route: &AppRoute<'_>, request: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        let state = self.state.as_ref();
        let page = self.page_request(request);
        let is_read = request.is_read();
        let sends_form = sends_form(route, request);
        if let (AppRoute::Unknown, Some(file)) =
            (route, state.well_known.answer(page.path, request.method, request.headers))
        {
            request.trace.set_route(RouteLabel::new(RouteGroup::Static, "/.well-known/"));
            return Ok(file.unwrap_or_else(|| refusal(page, method_not_allowed(page.path, READS))));
        }
        if let (AppRoute::Unknown, true, Some(moved)) = (route, is_read, site::redirect_by_other_name(page)) {
            return Ok(moved.map(Bytes::from));
        }
        match *route {
            AppRoute::Page(route) if is_read && route.is_read() => site::cached(route, page).ok_or(()),
            AppRoute::Page(_) if sends_form => Err(()),
            // Whoever opens the address of a form again, or reloads what it answered, gets to the page that has it.
            AppRoute::Page(_) if is_read && requests_html(request.headers) => {
                Ok(site::redirect(site::page_above(page.path)).map(Bytes::from))
            }
            AppRoute::Health if is_read => Ok(plain_response("ok\n")),
            AppRoute::Readiness if is_read => {
                if state.stopping.load(Ordering::Relaxed) {
                    request.trace.set_failure(&"the server is stopping");
                }
                Ok(readiness(state))
            }
            AppRoute::SecurityTxt if is_read => Ok(match &state.operator.contact {
                Some(contact) => plain_response(security_txt::text(contact, &state.public_url, state.today())),
                None => {
                    let detail = "the operator has not set a contact (`--contact`)";
                    refusal(self.page_request(request), Problem::new(Code::UnknownRoute, detail))
                }
            }),
            AppRoute::ChangePassword if is_read => Ok(site::redirect("/account").map(Bytes::from)),
            AppRoute::Static { position, .. } => {
                let response = self.static_pages.answer(position, request.method, page);
                Ok(response.unwrap_or_else(|| refusal(page, method_not_allowed(page.path, READS))))
            }
            _ => Ok(match route.methods() {
                Some(methods) if *request.method == Method::OPTIONS => options_response(methods),
                Some(methods) => refusal(page, method_not_allowed(page.path, methods)),
                None if is_read && requests_html(request.headers) && !names_file(page.path) => {
                    site::unknown(page).map(Bytes::from)
                }
                None => {
                    let detail = format!(
                        "there is nothing at `{}`; the API is below /api/v3, the MCP endpoint is /api/mcp, and /docs \
                         explains them",
                        shortened(page.path)
                    );
                    refusal(self.page_request(request), Problem::new(Code::UnknownRoute, detail))
                }
            }),
        }
    }

    async fn respond_later<B: Buf + Send + 'static>(
        &self,
        request: &RequestParts<'_>,
        body: impl Stream<Item = Result<B, warp::Error>> + Send + 'static,
    ) -> Response<Payload> {
        let route = AppRoute::parse(request.path).offered_by(&self.state.operator);
        if self.is_closed(&route, request) {
            if let Err(refused) = self.admit(&route, request).await {
                return self.keep_private(request, self.site_response(*refused, request.id)).map(Payload::Whole);
            }
            if !matches!(route, AppRoute::Bulk)
                && let Ok(response) = self.respond_site(&route, request)
            {
                return self.keep_private(request, self.site_response(response, request.id)).map(Payload::Whole);
            }
        }
        let response = match route {
            AppRoute::Api => return self.keep_private(request, api::respond_later(&self.state, request, body).await),
            AppRoute::Bulk => return self.keep_private(request, bulk::respond(&self.state, request).await),
            AppRoute::Mcp(path) => self.mcp.respond(path, request, body).await,
            AppRoute::Page(route) => {
                let response = self.answer_page(route, request, body).await;
                self.site_response(response, request.id)
            }
            _ => unreachable!("no other route waits"),
        };
        self.keep_private(request, response).map(Payload::Whole)
    }

    fn site_response(&self, response: Response<impl Into<Bytes>>, id: RequestId) -> Response<Bytes> {
        with_site_headers(response.map(Into::into), id, &self.state.public_url)
    }
}

fn sends_form(route: &AppRoute<'_>, request: &RequestParts<'_>) -> bool {
    *request.method == Method::POST && matches!(route, AppRoute::Page(page) if page.takes_forms())
}

fn with_site_headers(mut response: Response<Bytes>, id: RequestId, public_url: &str) -> Response<Bytes> {
    let common = CommonHeaders { id: Some(id), public_url: Some(public_url), ..CommonHeaders::default() };
    common.write(response.headers_mut());
    response
}

/// Settles the bill of a response, and says on it what is left.
fn with_bill(mut response: Response<Bytes>, bill: Option<&Bill>, state: &State) -> Response<Bytes> {
    let Some(bill) = bill else { return response };
    bill.settle(state, response.status());
    if let Some(quota) = bill.quota() {
        let now = state.now();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            write_wait(&mut response, &quota, now);
        }
        CommonHeaders { quota: Some((&quota, now)), ..CommonHeaders::default() }.write(response.headers_mut());
    }
    response
}

/// Says when the limit of a day resets, unless the response names a shorter time.
fn write_wait(response: &mut Response<Bytes>, quota: &Quota, now: i64) {
    response.headers_mut().entry(RETRY_AFTER).or_insert_with(|| HeaderValue::from(quota.seconds_left(now).max(1)));
}

fn unreadable(error: BodyReadError) -> (StatusCode, &'static str) {
    match error {
        BodyReadError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "The form is larger than any form of this site."),
        BodyReadError::Timeout(_) => (StatusCode::REQUEST_TIMEOUT, "The form did not arrive in time. Send it again."),
        BodyReadError::Incomplete => (StatusCode::BAD_REQUEST, "The form is incomplete. Send it again."),
    }
}

fn response(status: StatusCode, content_type: &str, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    set(response.headers_mut(), "content-type", content_type);
    response
}

fn plain_response(body: impl Into<Bytes>) -> Response<Bytes> {
    response(StatusCode::OK, "text/plain; charset=utf-8", body)
}

fn readiness(state: &State) -> Response<Bytes> {
    let catalog = state.releases.current();
    let held: Vec<String> = state.releases.all().iter().map(|catalog| catalog.version().to_string()).collect();
    // 200 without account database or object store: known keys and pages are served; no other server does better.
    let behind = state.releases.replica().and_then(|replica| match replica.fault() {
        Some(fault) => Some(fault.to_string()),
        None => replica.is_failing().then(|| "new releases cannot be read from the object store".into()),
    });
    let is_damaged = state.releases.is_damaged();
    let damaged = is_damaged.then_some("the release is damaged, and there is no older one: see the log");
    let reason = damaged.or(state.auth.degraded()).map(str::to_owned).or(behind);
    let (code, status) = match &reason {
        _ if state.stopping.load(Ordering::Relaxed) => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        // Another server may have an undamaged copy.
        Some(_) if is_damaged => (StatusCode::SERVICE_UNAVAILABLE, "damaged"),
        Some(_) => (StatusCode::OK, "degraded"),
        None => (StatusCode::OK, "ready"),
    };
    let snapshot = catalog.version().to_string();
    let mut body = json!({ "status": status, "snapshot": snapshot, "bundled": catalog.is_bundled(), "held": held });
    if let Some(reason) = reason {
        body["reason"] = reason.into();
    }
    readiness_response(code, &body)
}

fn readiness_response(code: StatusCode, body: &serde_json::Value) -> Response<Bytes> {
    response(code, "application/json", format!("{body}\n"))
}

/// Response to `OPTIONS` on a path that scripts of other origins may not read.
fn options_response(methods: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    set(response.headers_mut(), "allow", methods);
    response
}

fn method_not_allowed(path: &str, methods: &'static str) -> Problem {
    let detail = format!("`{}` accepts only {methods}", shortened(path));
    Problem { allow: Some(methods), ..Problem::new(Code::MethodNotAllowed, detail) }
}

/// A refusal in the form that the client requests.
fn refusal(page: PageRequest<'_>, problem: Problem) -> Response<Bytes> {
    site::refuse(page, problem).map(Bytes::from)
}
