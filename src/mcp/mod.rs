//! The tool endpoint: MCP over Streamable HTTP at `POST /api/mcp`, and its manifest.
//!
//! Without state in every protocol revision: rmcp speaks the protocol for one request at a time, mounted as one warp
//! filter; the bridge around it checks what rmcp leaves open. Where tools get their answers is behind [`Tools`], who
//! may call behind [`McpAdmission`].

pub mod answer;
pub mod args;
pub mod backend;
pub mod endpoint;
pub mod error;
pub mod gate;
pub mod handler;
pub mod manifest;
pub mod message;
pub mod origin_policy;
pub mod output_schema;
pub mod profile;
pub mod quota;
pub mod structured;
pub mod tool;
pub mod tool_result;

pub use answer::{Release, ToolAnswer, Tools};
pub use args::{ArgError, Argument, ToolCall};
pub use backend::ToolBackend;
pub use error::JsonRpcError;
pub use gate::{Admission, Admitting, McpAdmission};
pub use origin_policy::{OriginPolicy, OriginPolicyError};
pub use quota::McpQuota;
pub use tool::Tool;
pub use tool_result::{LONGEST, ToolResult};

use std::convert::Infallible;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, Request};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::path::FullPath;
use warp::reply::Response;

use crate::http::{Peer, RequestId};
use crate::mcp::endpoint::{McpEndpoint, McpPath};

/// How the endpoint is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address that clients reach the service at, such as `https://api.example.com`.
    pub public_url: String,
    /// True where the server listens on a loopback address only.
    pub on_loopback: bool,
    /// Origins that may call from browsers; `None`: see [`OriginPolicy::new`].
    pub allowed_origins: Option<Vec<String>>,
    /// Bytes of a request's body; above it the answer is 413.
    pub body_limit: usize,
    /// Calls of tools that a caller without a key has per UTC day, as the manifest tells it; `None`: unlimited.
    pub calls_per_day: Option<u32>,
}

impl Settings {
    /// The settings of a server that is reached at `public_url`.
    #[must_use]
    pub fn new(public_url: impl Into<String>) -> Self {
        Self {
            public_url: public_url.into(),
            on_loopback: true,
            allowed_origins: None,
            body_limit: 128 * 1024,
            calls_per_day: Some(100),
        }
    }
}

/// The endpoint at `/api/mcp`, its manifest at `/api/mcp/.well-known`, and the same as a server card at
/// `/api/mcp/server-card` and `/.well-known/mcp/server-card.json`, to which `/.well-known/ai-catalog.json` leads. Other
/// paths are rejected as not found.
///
/// # Errors
/// Where the settings name no host, or an origin that is none.
pub fn routes(
    settings: &Settings,
    tools: Arc<dyn Tools>,
    gate: Arc<dyn McpAdmission>,
) -> Result<BoxedFilter<(Response,)>, OriginPolicyError> {
    let bridge = Arc::new(McpEndpoint::new(settings, tools, gate)?);
    let endpoint = warp::path!("api" / "mcp").map(|| McpPath::Endpoint);
    let manifest = warp::path!("api" / "mcp" / ".well-known")
        .or(warp::path!("api" / "mcp" / "server-card"))
        .unify()
        .or(warp::path!(".well-known" / "mcp" / "server-card.json"))
        .unify()
        .map(|| McpPath::Manifest);
    let index = warp::path!(".well-known" / "ai-catalog.json").map(|| McpPath::Index);
    let place = endpoint.or(manifest).unify().or(index).unify();
    let answer = place.and(head()).and(warp::body::stream()).then(move |place, parts, body| {
        let bridge = Arc::clone(&bridge);
        async move { bridge.answer(place, parts, body).await }
    });
    Ok(answer.boxed())
}

/// A request without its body.
fn head() -> impl Filter<Extract = (Parts,), Error = Infallible> + Clone {
    let query = warp::query::raw().map(Some).or(warp::any().map(|| None)).unify();
    warp::method()
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<Peer>())
        .and(warp::ext::optional::<RequestId>())
        .map(|method: Method, path: FullPath, query: Option<String>, headers: HeaderMap, peer, id| {
            let target = query.map_or_else(|| path.as_str().to_owned(), |query| format!("{}?{query}", path.as_str()));
            let (mut parts, ()) = Request::new(()).into_parts();
            parts.method = method;
            parts.uri = target.parse().unwrap_or_default();
            parts.headers = headers;
            if let Some(peer) = peer {
                parts.extensions.insert::<Peer>(peer);
            }
            if let Some(id) = id {
                parts.extensions.insert::<RequestId>(id);
            }
            parts
        })
}
