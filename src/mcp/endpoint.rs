//! HTTP of the endpoint.
//!
//! The order of checks: host and origin (403), media types (415, 406), body (413, 408), message (400), protocol revision
//! and headers (400), caller (401, 429). Then the method runs. Every error is a JSON-RPC error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, VARY,
    WWW_AUTHENTICATE,
};
use http::{Method, StatusCode};
use serde_json::json;

use crate::http::body::{self, BodyReadError};
use crate::http::headers::{CommonHeaders, READS, preflight};
use crate::http::negotiation::{accepts_json, has_content_type};
use crate::http::origin_policy::{OriginPolicy, OriginPolicyError};
use crate::http::server::panic_message;
use crate::http::{RequestId, RequestParts};
use crate::mcp::backend::ToolRelease;
use crate::mcp::dispatch::dispatch;
use crate::mcp::error::INTERNAL_ERROR;
use crate::mcp::manifest::Manifest;
use crate::mcp::message::{self, Message};
use crate::mcp::quota::Admission;
use crate::mcp::revision::{is_stateless, unknown_id};
use crate::mcp::{JsonRpcError, McpQuota, Settings, ToolBackend};
use crate::quota::Quota;

const POST_ONLY: &str = "POST, OPTIONS";

/// A path of the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpPath {
    Endpoint,
    Manifest,
    Index,
}

impl McpPath {
    /// The manifest is also served as a server card, to which the index leads.
    pub fn of(path: &str) -> Option<Self> {
        Some(match path.strip_suffix('/').unwrap_or(path) {
            "/api/mcp" => Self::Endpoint,
            "/api/mcp/.well-known" | "/api/mcp/server-card" | "/.well-known/mcp/server-card.json" => Self::Manifest,
            "/.well-known/ai-catalog.json" => Self::Index,
            _ => return None,
        })
    }
}

type Response = http::Response<Bytes>;

pub struct McpEndpoint {
    origins: OriginPolicy,
    body_limit: usize,
    manifest: Manifest,
    tools: ToolBackend,
    quota: McpQuota,
}

impl McpEndpoint {
    pub fn new(settings: &Settings, tools: ToolBackend, quota: McpQuota) -> Result<Self, OriginPolicyError> {
        let allowed = settings.allowed_origins.as_deref();
        let origins = OriginPolicy::new(&settings.public_url, settings.on_loopback, allowed)?;
        let manifest = Manifest::new(settings, origins.host());
        Ok(Self { origins, body_limit: settings.body_limit, manifest, tools, quota })
    }

    pub async fn respond<B, E>(
        &self,
        path: McpPath,
        request: &RequestParts<'_>,
        body: impl Stream<Item = Result<B, E>> + Send,
    ) -> Response
    where
        B: Buf,
        E: std::error::Error + 'static,
    {
        let release = self.tools.current();
        let (mut response, quota) = match (path, request.method) {
            (McpPath::Endpoint, &Method::POST) => {
                let body = body::read(request.headers, body, self.body_limit);
                self.post(request, body, &release).await
            }
            _ => (self.read(path, request), self.quota.admit(request, false).await.quota),
        };
        let (status, headers) = (response.status(), response.headers_mut());
        let now = self.quota.state.now();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        } else if status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from(quota.seconds_left(now).max(1)));
        }
        let common = CommonHeaders {
            id: Some(request.id),
            quota: Some((&quota, now)),
            snapshot: Some(release.catalog.version()),
            nosniff: true,
            is_cross_origin: true,
            ..CommonHeaders::default()
        };
        common.write(headers);
        response
    }

    /// The manifest, or what `OPTIONS` and other methods get.
    fn read(&self, path: McpPath, request: &RequestParts<'_>) -> Response {
        let asset = match path {
            McpPath::Endpoint if request.method == Method::OPTIONS => return preflight(POST_ONLY),
            McpPath::Endpoint => None,
            McpPath::Manifest => Some(self.manifest.card(request.headers)),
            McpPath::Index => Some(self.manifest.index()),
        };
        let Some(mut response) = asset.and_then(|asset| asset.answer(request.method, request.headers)) else {
            return method_not_allowed(request, path);
        };
        if request.method != Method::OPTIONS {
            response.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
        }
        response
    }

    async fn post(&self, request: &RequestParts<'_>, body: impl Body, release: &ToolRelease) -> (Response, Quota) {
        let (message, is_stateless) = match self.parse(request.headers, body).await {
            Ok(parsed) => parsed,
            Err(error) => return (error_response(request, &error), self.quota.admit(request, false).await.quota),
        };
        let admission = self.quota.admit(request, message.calls_tool()).await;
        let (outcome, quota) = self.run(request.id, admission, || {
            message.id.as_ref().map(|id| dispatch(&message, id, is_stateless, release)).transpose()
        });
        let response = match outcome {
            Ok(Some(body)) => response(StatusCode::OK, Some(body)),
            Ok(None) => response(StatusCode::ACCEPTED, None),
            Err(error) => error_response(request, &JsonRpcError { id: message.id, ..error }),
        };
        (response, quota)
    }

    /// All checks that do not need the caller. True: see [`is_stateless`].
    async fn parse(&self, headers: &HeaderMap, body: impl Body) -> Result<(Message, bool), JsonRpcError> {
        self.origins.admit(headers)?;
        check_media_types(headers)?;
        let message = Message::parse(&body.await?)?;
        match is_stateless(headers, &message) {
            Ok(is_stateless) => Ok((message, is_stateless)),
            Err(error) => Err(JsonRpcError { id: message.id, ..error }),
        }
    }

    /// Runs an admitted request. A panic is a 500 and its call is refunded.
    fn run<T>(
        &self,
        request: RequestId,
        Admission { quota, charge }: Admission,
        method: impl FnOnce() -> Result<T, JsonRpcError>,
    ) -> (Result<T, JsonRpcError>, Quota) {
        let charge = match charge {
            Ok(charge) => charge,
            Err(error) => return (Err(error), quota),
        };
        match catch_unwind(AssertUnwindSafe(method)) {
            Ok(outcome) => (outcome, quota),
            Err(panic) => {
                tracing::error!("request {request}: a tool panicked: {}", panic_message(panic.as_ref()));
                let message = "internal error; please report it with its request id";
                let error = JsonRpcError::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, message)
                    .with_data(json!({ "code": "internal_error", "request_id": request.to_string() }));
                (Err(error), charge.map_or(quota, |charge| self.quota.refund(charge)))
            }
        }
    }
}

/// A body that is read when it is awaited.
trait Body: Future<Output = Result<Bytes, BodyReadError>> + Send {}

impl<F: Future<Output = Result<Bytes, BodyReadError>> + Send> Body for F {}

fn check_media_types(headers: &HeaderMap) -> Result<(), JsonRpcError> {
    let unsupported = |message: &'static str| {
        Err(JsonRpcError::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
    };
    if !has_content_type(headers, "application/json") {
        return unsupported("the body must be JSON: send `Content-Type: application/json`");
    }
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return unsupported("the body must not be compressed: omit `Content-Encoding`");
    }
    let accepts_events = |accept: &HeaderValue| accept.to_str().is_ok_and(|text| text.contains("text/event-stream"));
    if accepts_json(headers) || headers.get_all(ACCEPT).iter().any(accepts_events) {
        return Ok(());
    }
    let message = "responses are JSON: send `Accept: application/json, text/event-stream`";
    Err(JsonRpcError::http(StatusCode::NOT_ACCEPTABLE, "not_acceptable", message))
}

fn response(status: StatusCode, json: Option<Vec<u8>>) -> Response {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(json) = json {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *response.body_mut() = json.into();
    }
    response
}

fn error_response(request: &RequestParts<'_>, error: &JsonRpcError) -> Response {
    let id = error.id.clone().or_else(|| unknown_id(request.headers));
    response(error.status, Some(message::response(id.as_ref(), Err::<(), _>(error))))
}

fn method_not_allowed(request: &RequestParts<'_>, path: McpPath) -> Response {
    let (allowed, message) = match path {
        McpPath::Endpoint => (POST_ONLY, "send JSON-RPC messages with POST; /api/mcp/.well-known describes them"),
        McpPath::Manifest | McpPath::Index => (READS, "the manifest is read with GET"),
    };
    let error = JsonRpcError::http(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    let mut response = error_response(request, &error);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::AuthService;
    use crate::http::{Peer, RequestIds, State};
    use crate::quota::RateLimitConfig;
    use crate::release::ActiveRelease;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_and_its_call_is_refunded() {
        let data = tempfile::tempdir().unwrap();
        let limits = RateLimitConfig { pages_per_minute: 10, sign_ups_per_hour: 10 };
        let url = "http://127.0.0.1:8080";
        let live = Arc::new(ActiveRelease::new(Arc::new(crate::catalog::bundled().unwrap()), 3));
        let state = Arc::new(State {
            releases: Arc::clone(&live),
            auth: AuthService::open_with(data.path(), limits, 0).unwrap(),
            public_url: url.to_owned(),
            contact: None,
            response_cache: Default::default(),
            trusted_proxies: Vec::new(),
            clock: || 0,
        });
        let quota = McpQuota { state, daily_limit: 2, pools: Arc::new([]) };
        let endpoint = McpEndpoint::new(&Settings::new(url), ToolBackend::new(live, url), quota).unwrap();
        let (headers, peer) = (HeaderMap::new(), Peer("192.0.2.1:1".parse().unwrap()));
        let id = RequestIds::new(7).next();
        let request = RequestParts { method: &Method::POST, path: "/api/mcp", query: "", headers: &headers, peer, id };
        let admission = endpoint.quota.admit(&request, true).await;
        assert_eq!(admission.quota.remaining, Some(1));
        let (outcome, quota) = endpoint.run::<()>(id, admission, || panic!("a defect in a tool"));
        assert_eq!(quota.remaining, Some(2));
        let error = outcome.unwrap_err();
        assert_eq!((error.status, error.code), (StatusCode::INTERNAL_SERVER_ERROR, -32603));
        assert_eq!(error.data, Some(json!({ "code": "internal_error", "request_id": id.to_string() })));
    }
}
