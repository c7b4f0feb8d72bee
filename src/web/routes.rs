//! All routes as one filter.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{self, Either};
use http::{HeaderMap, Method, Response};
use serde_json::json;
use warp::filters::BoxedFilter;
use warp::path::FullPath;
use warp::{Filter, Reply};

use super::State;
use super::arrival::RequestId;
use super::callers::Callers;
use super::headers::{READS, set};
use super::library::Library;
use super::mcp::{self, DoorsError};
use super::pages::{self, Visit};
use super::problem::{Code, Problem};
use super::rest::{self, Arrival, Version};

/// The routes of the service.
///
/// # Errors
/// Where the settings of the tool endpoint name no host, or an origin that is none.
pub fn routes(
    state: &Arc<State>,
    callers: Callers,
    settings: &mcp::Settings,
) -> Result<BoxedFilter<(warp::reply::Response,)>, DoorsError> {
    let tools = Arc::new(mcp::Source::new(Arc::clone(&state.live), &state.public_url));
    let tool_endpoint = mcp::routes(settings, tools, Arc::new(callers))?;
    let api = warp::path("api");
    let version = warp::path::param::<Version>().map(drop).untuple_one();
    let rest = api.and(version).or(version).unify().and(request()).then(rest_of(state));
    let no_version = api.and(request()).then(rest_of(state));
    let (state, library) = (Arc::clone(state), Arc::new(Library::new(&state.public_url)));
    let others = request().map(move |incoming: Incoming| answer_other(&state, &incoming, &library));
    // The most asked first; each request copies what it may have to go on with, so that is one thing.
    let others = tool_endpoint.or(no_version).unify().or(others).unify().boxed();
    Ok(rest.or(others).unify().boxed())
}

/// What a request to the REST API comes to: an answer, nearly always at once.
type Answering =
    Either<future::Ready<warp::reply::Response>, Pin<Box<dyn Future<Output = warp::reply::Response> + Send>>>;

/// A request without its body.
struct Incoming {
    method: Method,
    path: FullPath,
    query: String,
    headers: HeaderMap,
    id: Option<RequestId>,
}

fn request() -> impl Filter<Extract = (Incoming,), Error = Infallible> + Copy {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::method()
        .and(warp::ext::optional::<RequestId>())
        .and(query)
        .and(warp::path::full())
        .and(warp::header::headers_cloned())
        .map(|method, id, query, path, headers| Incoming { method, path, query, headers, id })
}

impl Incoming {
    fn id(&self, state: &State) -> RequestId {
        self.id.unwrap_or_else(|| state.ids.next())
    }

    fn arrival(&self, state: &State) -> Arrival<'_> {
        let id = self.id(state);
        Arrival { method: &self.method, path: self.path.as_str(), query: &self.query, headers: &self.headers, id }
    }
}

/// Answers requests to the REST API; only one whose key is not known yet takes the state along, to wait with it.
fn rest_of(state: &Arc<State>) -> impl Fn(Incoming) -> Answering + Clone + use<> {
    let state = Arc::clone(state);
    move |incoming| match rest::answer_known(&state, &incoming.arrival(&state)) {
        Some(answer) => Either::Left(future::ready(answer.into_response())),
        None => {
            let state = Arc::clone(&state);
            Either::Right(Box::pin(
                async move { rest::answer(&state, &incoming.arrival(&state)).await.into_response() },
            ))
        }
    }
}

/// Answers what is neither REST nor MCP: health, the documents and the docs, the pages, and the unknown.
fn answer_other(state: &State, incoming: &Incoming, library: &Library) -> warp::reply::Response {
    let reads = matches!(incoming.method, Method::GET | Method::HEAD);
    let path = match incoming.path.as_str() {
        "/" => "/",
        path => path.trim_end_matches('/'),
    };
    let invented = state.live.current().snapshot().is_invented();
    if let Some(response) = library.answer(&incoming.method, path, &incoming.headers, invented) {
        return response.into_response();
    }
    let visit = Visit { state, path, query: &incoming.query, headers: &incoming.headers };
    let answer = match path {
        "/healthz" if reads => text("text/plain; charset=utf-8", "ok\n".to_owned()),
        "/readyz" if reads => ready(state),
        _ if pages::is_page(path) && reads => pages::answer(visit).unwrap_or_else(|| pages::unknown(visit)),
        _ if ["/healthz", "/readyz"].contains(&path)
            || pages::is_page(path)
            || Library::paths().any(|known| known == path) =>
        {
            let detail = format!("`{path}` only reads: use GET or HEAD");
            let problem = Problem { allow: Some(READS), ..Problem::new(Code::MethodNotAllowed, detail) };
            failed(state, incoming, &problem)
        }
        _ if reads && wants_page(&incoming.headers) => pages::unknown(visit),
        _ => {
            let detail = format!(
                "there is nothing at `{path}`; the API is below /api/v3, the tool endpoint is /api/mcp, and /docs explains them"
            );
            failed(state, incoming, &Problem::new(Code::UnknownRoute, detail))
        }
    };
    answer.into_response()
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

fn failed(state: &State, incoming: &Incoming, problem: &Problem) -> Response<Vec<u8>> {
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
