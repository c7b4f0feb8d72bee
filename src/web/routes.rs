//! All routes as one filter.

use std::convert::Infallible;
use std::sync::Arc;

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
use super::rest::{self, Arrival};

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
    let versions = warp::path("v3").or(warp::path("v1")).unify().or(warp::path("v2")).unify();
    let rest = api.and(versions).or(versions).unify().and(request(state)).then(answer_rest).boxed();
    let no_version = api.and(request(state)).then(answer_rest).boxed();
    let library = Arc::new(Library::new(&state.public_url));
    let others = request(state).map(move |incoming| answer_other(&incoming, &library)).boxed();
    // The most asked first.
    Ok(rest.or(tool_endpoint).unify().or(no_version).unify().or(others).unify().boxed())
}

/// A request without its body, and what it is answered from.
struct Incoming {
    state: Arc<State>,
    method: Method,
    path: FullPath,
    query: String,
    headers: HeaderMap,
    id: Option<RequestId>,
}

fn request(state: &Arc<State>) -> impl Filter<Extract = (Incoming,), Error = Infallible> + Clone + use<> {
    let state = Arc::clone(state);
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::method()
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<RequestId>())
        .map(move |method, path, query, headers, id| {
            let state = Arc::clone(&state);
            Incoming { state, method, path, query, headers, id }
        })
}

impl Incoming {
    fn id(&self) -> String {
        self.id.unwrap_or_else(|| self.state.ids.next()).to_string()
    }
}

async fn answer_rest(incoming: Incoming) -> warp::reply::Response {
    let arrival = Arrival {
        method: &incoming.method,
        path: incoming.path.as_str(),
        query: &incoming.query,
        headers: &incoming.headers,
        id: incoming.id.unwrap_or_else(|| incoming.state.ids.next()),
    };
    rest::answer(&incoming.state, arrival).await.into_response()
}

/// Answers what is neither REST nor MCP: health, the documents and the docs, the pages, and the unknown.
fn answer_other(incoming: &Incoming, library: &Library) -> warp::reply::Response {
    let state = &incoming.state;
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
            failed(incoming, &problem)
        }
        _ if reads && wants_page(&incoming.headers) => pages::unknown(visit),
        _ => {
            let detail = format!(
                "there is nothing at `{path}`; the API is below /api/v3, the tool endpoint is /api/mcp, and /docs explains them"
            );
            failed(incoming, &Problem::new(Code::UnknownRoute, detail))
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

fn failed(incoming: &Incoming, problem: &Problem) -> Response<Vec<u8>> {
    let id = incoming.id();
    let mut response = Response::new(problem.body(&incoming.state.public_url, incoming.path.as_str(), &id));
    *response.status_mut() = problem.code.status();
    set(response.headers_mut(), "content-type", "application/problem+json");
    set(response.headers_mut(), "x-request-id", &id);
    if let Some(allow) = problem.allow {
        set(response.headers_mut(), "allow", allow);
    }
    response
}
