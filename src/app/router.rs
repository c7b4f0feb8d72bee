//! All routes as one filter.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_util::future::{self, Either};
use futures_util::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;
use warp::filters::BoxedFilter;
use warp::path::FullPath;
use warp::{Filter, Reply};

use crate::data::SnapshotVersion;

use crate::api;
use crate::api::{RequestParts, Version};
use crate::http::State;
use crate::http::headers::{READS, set};
use crate::http::problem::{Code, Problem};
use crate::http::{BodyTimeout, Peer, RequestId};
use crate::mcp;
use crate::mcp::McpQuota;
use crate::mcp::OriginPolicyError;
use crate::site;
use crate::site::PageRequest;
use crate::site::account;
use crate::site::account::form::FormData;
use crate::site::static_pages::StaticPages;

/// All routes, and what stands before them.
pub struct Routes {
    /// The way that every request can take.
    pub filter: BoxedFilter<(warp::reply::Response,)>,
    /// What is asked first.
    pub entrance: FastPath,
}

impl From<BoxedFilter<(warp::reply::Response,)>> for Routes {
    /// Routes with nothing before them.
    fn from(filter: BoxedFilter<(warp::reply::Response,)>) -> Self {
        Self { filter, entrance: FastPath(None) }
    }
}

/// What stands before the routes: answers that are kept, and what is told of the service where no route answers.
#[derive(Clone)]
pub struct FastPath(Option<Arc<State>>);

impl FastPath {
    /// The answer to a request, where it was made before and the request's key is known.
    #[must_use]
    pub fn kept_answer<B>(&self, request: &Request<B>, id: RequestId) -> Option<Response<Bytes>> {
        let state = self.0.as_ref()?;
        let (address, headers) = (request.uri(), request.headers());
        let query = address.query().unwrap_or_default();
        api::answer_kept(state, &RequestParts { method: request.method(), path: address.path(), query, headers, id })
    }

    /// The release that is served.
    #[must_use]
    pub fn snapshot(&self) -> Option<SnapshotVersion> {
        self.0.as_ref().map(|state| state.live.serving().version())
    }

    /// Unix seconds now; 0 without a service.
    #[must_use]
    pub fn now(&self) -> i64 {
        self.0.as_ref().map_or(0, |state| state.now())
    }

    /// The address of the service in links; empty where it is not known.
    #[must_use]
    pub fn public_url(&self) -> &str {
        self.0.as_ref().map_or("", |state| &state.public_url)
    }
}

/// The routes of the service.
///
/// # Errors
/// Where the settings of the tool endpoint name no host, or an origin that is none.
pub fn routes(state: &Arc<State>, callers: McpQuota, settings: &mcp::Settings) -> Result<Routes, OriginPolicyError> {
    let tools = Arc::new(mcp::ToolBackend::new(Arc::clone(&state.live), &state.public_url));
    let tool_endpoint = mcp::routes(settings, tools, Arc::new(callers))?;
    let api = warp::path("api");
    let version = warp::path::param::<Version>().map(drop).untuple_one();
    let rest = api.and(version).or(version).unify().and(request()).then(rest_of(state));
    let no_version = api.and(request()).then(rest_of(state));
    let site = Arc::new(Site { state: Arc::clone(state), library: StaticPages::new(&state.public_url) });
    let peer = warp::ext::optional::<Peer>();
    let takes_forms = Arc::clone(&site);
    let forms = warp::post().and(request()).and(peer).and(warp::body::stream()).then(move |incoming, peer, body| {
        let site = Arc::clone(&takes_forms);
        async move { site.take(&incoming, peer, body).await.into_response() }
    });
    let others = request().and(peer).then(move |incoming, peer| {
        let site = Arc::clone(&site);
        async move { site.answer(&incoming, peer).await.into_response() }
    });
    let site = forms.boxed().or(others.boxed()).unify();
    // The most asked first; each request copies what it may have to go on with, so that is one thing.
    let others = tool_endpoint.or(no_version).unify().or(site).unify().boxed();
    Ok(Routes { filter: rest.or(others).unify().boxed(), entrance: FastPath(Some(Arc::clone(state))) })
}

/// What a request to the REST API comes to: an answer, nearly always at once.
type Answering =
    Either<future::Ready<warp::reply::Response>, Pin<Box<dyn Future<Output = warp::reply::Response> + Send>>>;

/// A request without its body.
struct OwnedRequest {
    method: Method,
    path: FullPath,
    query: String,
    headers: HeaderMap,
    id: Option<RequestId>,
}

fn request() -> impl Filter<Extract = (OwnedRequest,), Error = Infallible> + Copy {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::method()
        .and(warp::ext::optional::<RequestId>())
        .and(query)
        .and(warp::path::full())
        .and(warp::header::headers_cloned())
        .map(|method, id, query, path, headers| OwnedRequest { method, path, query, headers, id })
}

impl OwnedRequest {
    fn id(&self, state: &State) -> RequestId {
        self.id.unwrap_or_else(|| state.ids.next())
    }

    fn visit<'a>(&'a self, state: &'a State) -> PageRequest<'a> {
        let path = match self.path.as_str() {
            "/" => "/",
            path => path.trim_end_matches('/'),
        };
        PageRequest { state, path, query: &self.query, headers: &self.headers }
    }

    fn arrival(&self, state: &State) -> RequestParts<'_> {
        let id = self.id(state);
        RequestParts { method: &self.method, path: self.path.as_str(), query: &self.query, headers: &self.headers, id }
    }
}

/// Answers requests to the REST API; only one whose key is not known yet takes the state along, to wait with it.
fn rest_of(state: &Arc<State>) -> impl Fn(OwnedRequest) -> Answering + Clone + use<> {
    let state = Arc::clone(state);
    move |incoming| match api::answer_known(&state, &incoming.arrival(&state)) {
        Some(answer) => Either::Left(future::ready(answer.into_response())),
        None => {
            let state = Arc::clone(&state);
            Either::Right(Box::pin(async move { api::answer(&state, &incoming.arrival(&state)).await.into_response() }))
        }
    }
}

/// What is neither REST nor MCP: health, the documents and the docs, the pages, and the unknown.
struct Site {
    state: Arc<State>,
    library: StaticPages,
}

impl Site {
    async fn answer(&self, incoming: &OwnedRequest, peer: Option<Peer>) -> Response<Vec<u8>> {
        let state = self.state.as_ref();
        let visit = incoming.visit(state);
        let path = visit.path;
        let reads = matches!(incoming.method, Method::GET | Method::HEAD);
        let address = state.client(peer, &incoming.headers);
        if reads
            && is_page(path)
            && let Err(wait) = state.access.admit_page(address, state.now())
        {
            return site::too_many(visit, wait);
        }
        let invented = state.live.current().snapshot().is_invented();
        if let Some(response) = self.library.answer(&incoming.method, path, &incoming.headers, invented) {
            return response;
        }
        if reads && let Some(page) = account::answer(visit, None, address).await.or_else(|| site::answer(visit)) {
            return page;
        }
        match path {
            "/healthz" if reads => text("text/plain; charset=utf-8", "ok\n".to_owned()),
            "/readyz" if reads => ready(state),
            _ => match methods(path) {
                Some(methods) => {
                    let detail = format!("`{path}` takes {methods} and nothing else");
                    let problem = Problem { allow: Some(methods), ..Problem::new(Code::MethodNotAllowed, detail) };
                    failed(state, incoming, &problem)
                }
                None if reads && wants_page(&incoming.headers) => site::unknown(visit),
                None => {
                    let detail = format!(
                        "there is nothing at `{path}`; the API is below /api/v3, the tool endpoint is /api/mcp, and /docs \
                         explains them"
                    );
                    failed(state, incoming, &Problem::new(Code::UnknownRoute, detail))
                }
            },
        }
    }

    /// Takes a form, where one can be sent to the path.
    async fn take<B: Buf>(
        &self,
        incoming: &OwnedRequest,
        peer: Option<Peer>,
        body: impl Stream<Item = Result<B, warp::Error>>,
    ) -> Response<Vec<u8>> {
        let state = self.state.as_ref();
        let visit = incoming.visit(state);
        if !account::takes_forms(visit.path) {
            return self.answer(incoming, peer).await;
        }
        let address = state.client(peer, &incoming.headers);
        if let Err(wait) = state.access.admit_page(address, state.now()) {
            return site::too_many(visit, wait);
        }
        match read_form(&incoming.headers, body).await {
            Ok(form) => account::answer(visit, Some(form), address).await.unwrap_or_else(|| site::unknown(visit)),
            Err((status, detail)) => site::bad_form(visit, status, detail),
        }
    }
}

/// Reads a form; otherwise says with which status it is refused, and why.
async fn read_form<B: Buf>(
    headers: &HeaderMap,
    body: impl Stream<Item = Result<B, warp::Error>>,
) -> Result<FormData, (StatusCode, &'static str)> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let detail = "Forms are sent as application/x-www-form-urlencoded.";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let mut body = std::pin::pin!(body);
    let mut bytes = Vec::new();
    while let Some(part) = body.next().await {
        let mut part = part.map_err(|error| match BodyTimeout::caused(&error) {
            true => (StatusCode::REQUEST_TIMEOUT, "The form did not arrive in time. Send it again."),
            false => (StatusCode::BAD_REQUEST, "The form did not arrive whole. Send it again."),
        })?;
        if bytes.len() + part.remaining() > account::form::MOST_BYTES {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, "The form is larger than any of this site."));
        }
        bytes.extend_from_slice(&part.copy_to_bytes(part.remaining()));
    }
    Ok(FormData::new(bytes))
}

/// Whether what is at a path counts as a page; the files beside pages do not.
fn is_page(path: &str) -> bool {
    let is_docs = path == "/docs" || (path.starts_with("/docs/") && !path.contains('.'));
    is_docs || site::is_page(path) || account::methods(path).is_some()
}

/// The methods that a path takes, where something is there.
fn methods(path: &str) -> Option<&'static str> {
    if let Some(methods) = account::methods(path) {
        return Some(methods);
    }
    let is_known = ["/healthz", "/readyz"].contains(&path)
        || site::is_page(path)
        || StaticPages::paths().any(|known| known == path);
    is_known.then_some(READS)
}

/// Whether an error is best told to a person: browsers name HTML first.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(http::header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.trim_start().starts_with("text/html"))
}

fn text(kind: &str, body: String) -> Response<Vec<u8>> {
    let mut response = Response::new(body.into_bytes());
    set(response.headers_mut(), "content-type", kind);
    set(response.headers_mut(), "x-content-type-options", "nosniff");
    response
}

fn ready(state: &State) -> Response<Vec<u8>> {
    let catalog = state.live.current();
    let held: Vec<String> = state.live.all().iter().map(|catalog| catalog.version().to_string()).collect();
    let body = json!({ "status": "ready", "snapshot": catalog.version().to_string(), "held": held });
    text("application/json", format!("{body}\n"))
}

fn failed(state: &State, incoming: &OwnedRequest, problem: &Problem) -> Response<Vec<u8>> {
    let id = incoming.id(state).to_string();
    let mut response = Response::new(problem.body(&state.public_url, incoming.path.as_str(), &id));
    *response.status_mut() = problem.code.status();
    set(response.headers_mut(), "content-type", "application/problem+json");
    set(response.headers_mut(), "x-request-id", &id);
    if let Some(allow) = problem.allow {
        set(response.headers_mut(), "allow", allow);
    }
    response
}
