//! HTTP of the endpoint.
//!
//! The order of checks: host and origin (403), media types (415, 406), body (413, 408), message (400), protocol revision
//! (400), caller (401, 429), headers against the message (400). Then the method runs. Every error is a JSON-RPC error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    VARY,
};
use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::http::headers::{CommonHeaders, READS, write_preflight};
use crate::http::negotiation::accepts_json;
use crate::http::static_asset::StaticAsset;
use crate::http::{BodyTimeout, RequestId};
use crate::mcp::backend::ToolRelease;
use crate::mcp::dispatch::dispatch;
use crate::mcp::error::{INTERNAL_ERROR, INVALID_REQUEST};
use crate::mcp::manifest::Manifest;
use crate::mcp::message::{Message, MessageError};
use crate::mcp::quota::Admission;
use crate::mcp::revision::{Lifecycle, check_version, unknown_id};
use crate::mcp::{JsonRpcError, McpQuota, OriginPolicy, OriginPolicyError, Settings, ToolBackend};

const SNAPSHOT: HeaderName = HeaderName::from_static("x-snapshot");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
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

    pub async fn respond<S, B, E>(&self, path: McpPath, parts: Parts, body: S) -> Response
    where
        S: Stream<Item = Result<B, E>> + Send,
        B: Buf,
        E: std::error::Error + 'static,
    {
        let body = collect(&parts.headers, body, self.body_limit);
        let release = self.tools.current();
        let (mut response, mut headers) = match (path, &parts.method) {
            (McpPath::Endpoint, &Method::POST) => self.post(&parts, body, &release).await,
            _ => (self.read(path, &parts), self.quota.admit(&parts, false).await.headers),
        };
        headers.insert(SNAPSHOT, HeaderValue::from_str(release.snapshot()).expect("a version is ASCII"));
        let id = parts.extensions.get::<RequestId>().copied();
        let common = CommonHeaders { id, nosniff: true, is_cross_origin: true, ..CommonHeaders::default() };
        common.write(&mut headers);
        response.headers_mut().extend(headers);
        response
    }

    /// The manifest, or what `OPTIONS` and other methods get.
    fn read(&self, path: McpPath, parts: &Parts) -> Response {
        let asset = match path {
            McpPath::Endpoint if parts.method == Method::OPTIONS => return preflight(),
            McpPath::Endpoint => None,
            McpPath::Manifest => Some(self.manifest.card(&parts.headers)),
            McpPath::Index => Some(self.manifest.index()),
        };
        match asset.and_then(|asset: &StaticAsset| asset.answer(&parts.method, &parts.headers)) {
            Some(response) => {
                let mut response = response.map(Into::into);
                if parts.method != Method::OPTIONS {
                    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
                }
                response
            }
            None => method_not_allowed(path),
        }
    }

    async fn post(&self, parts: &Parts, body: impl Body, release: &ToolRelease) -> (Response, HeaderMap) {
        let message = match self.parse(&parts.headers, body).await {
            Ok(message) => message,
            Err(MessageError { error, id }) => {
                let id = id.or_else(|| unknown_id(&parts.headers));
                return (error_response(&error, id.as_ref()), self.quota.admit(parts, false).await.headers);
            }
        };
        let id = message.id.clone().or_else(|| unknown_id(&parts.headers));
        let admission = self.quota.admit(parts, message.calls_tool()).await;
        self.run(parts, admission, id.as_ref(), || {
            let lifecycle = Lifecycle::of(&parts.headers, &message)?;
            message.id.as_ref().map(|id| dispatch(&message, id, lifecycle, release)).transpose()
        })
    }

    /// All checks that do not need the caller.
    async fn parse(&self, headers: &HeaderMap, body: impl Body) -> Result<Message, MessageError> {
        self.origins.admit(headers)?;
        check_media_types(headers)?;
        let message = Message::parse(&body.await?)?;
        match check_version(headers, &message) {
            Ok(()) => Ok(message),
            Err(error) => Err(MessageError { error, id: message.id }),
        }
    }

    /// Runs an admitted request. A panic is a 500 and its call is refunded.
    fn run(
        &self,
        parts: &Parts,
        admission: Admission,
        id: Option<&Value>,
        method: impl FnOnce() -> Result<Option<Vec<u8>>, JsonRpcError>,
    ) -> (Response, HeaderMap) {
        let Admission { headers, charge } = admission;
        let charge = match charge {
            Ok(charge) => charge,
            Err(error) => return (error_response(&error, id), headers),
        };
        match catch_unwind(AssertUnwindSafe(method)) {
            Ok(Ok(Some(body))) => (response(StatusCode::OK, Some(body.into())), headers),
            Ok(Ok(None)) => (response(StatusCode::ACCEPTED, None), headers),
            Ok(Err(error)) => (error_response(&error, id), headers),
            Err(_) => {
                let request_id = parts.extensions.get::<RequestId>().map(ToString::to_string);
                tracing::error!("request {}: a tool panicked", request_id.as_deref().unwrap_or("without id"));
                let message = "internal error; please report it with its request id";
                let error = JsonRpcError::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, message)
                    .with_data(json!({ "code": "internal_error", "request_id": request_id }));
                (error_response(&error, id), charge.map_or(headers, |charge| self.quota.refund(charge)))
            }
        }
    }
}

/// A body that is received when it is awaited.
trait Body: Future<Output = Result<Bytes, JsonRpcError>> + Send {}

impl<F: Future<Output = Result<Bytes, JsonRpcError>> + Send> Body for F {}

async fn collect<S, B, E>(headers: &HeaderMap, body: S, limit: usize) -> Result<Bytes, JsonRpcError>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
    E: std::error::Error + 'static,
{
    let too_large = || {
        let message = format!("the body is larger than {limit} bytes");
        JsonRpcError::new(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, message).with_code("body_too_large")
    };
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|announced| announced > limit as u64) {
        return Err(too_large());
    }
    let mut body = std::pin::pin!(body);
    let mut collected = BytesMut::new();
    while let Some(part) = body.next().await {
        match part {
            Ok(part) if part.remaining() > limit - collected.len() => return Err(too_large()),
            Ok(part) => collected.put(part),
            Err(error) if BodyTimeout::caused(&error) => {
                let message = BodyTimeout.to_string();
                return Err(JsonRpcError::new(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, message)
                    .with_code("request_timeout"));
            }
            Err(_) => return Err(JsonRpcError::invalid("the body is incomplete")),
        }
    }
    Ok(collected.freeze())
}

fn check_media_types(headers: &HeaderMap) -> Result<(), JsonRpcError> {
    let unsupported = |message: &'static str| {
        Err(JsonRpcError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, message)
            .with_code("unsupported_media_type"))
    };
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
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
    Err(JsonRpcError::new(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, message).with_code("not_acceptable"))
}

fn response(status: StatusCode, json: Option<Bytes>) -> Response {
    let is_json = json.is_some();
    let mut response = Response::new(json.unwrap_or_default());
    *response.status_mut() = status;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if is_json {
        response.headers_mut().insert(CONTENT_TYPE, JSON);
    }
    response
}

fn error_response(error: &JsonRpcError, id: Option<&Value>) -> Response {
    response(error.status, Some(error.body(id)))
}

fn preflight() -> Response {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    write_preflight(response.headers_mut(), POST_ONLY);
    response
}

fn method_not_allowed(path: McpPath) -> Response {
    let (allowed, message) = match path {
        McpPath::Endpoint => (POST_ONLY, "send JSON-RPC messages with POST; /api/mcp/.well-known describes them"),
        McpPath::Manifest | McpPath::Index => (READS, "the manifest is read with GET"),
    };
    let error = JsonRpcError::new(StatusCode::METHOD_NOT_ALLOWED, INVALID_REQUEST, message);
    let mut response = error_response(&error.with_code("method_not_allowed"), Some(&Value::Null));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::AuthService;
    use crate::http::{Peer, State};
    use crate::quota::RateLimitConfig;
    use crate::release::ActiveRelease;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_and_its_call_is_refunded() {
        let data = tempfile::tempdir().unwrap();
        let limits = RateLimitConfig { pages_per_minute: 10, sign_ups_per_hour: 10 };
        let url = "http://127.0.0.1:8080";
        let releases = Arc::new(ActiveRelease::new(Arc::new(crate::catalog::bundled().unwrap()), 3));
        let state = Arc::new(State {
            releases: Arc::clone(&releases),
            auth: AuthService::open_with(data.path(), limits, 0).unwrap(),
            public_url: url.to_owned(),
            response_cache: Default::default(),
            trusted_proxies: Vec::new(),
            clock: || 0,
        });
        let quota = McpQuota { state, daily_limit: 2, pools: Arc::new([]) };
        let endpoint = McpEndpoint::new(&Settings::new(url), ToolBackend::new(releases, url), quota).unwrap();
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.extensions.insert(Peer("192.0.2.1:1".parse().unwrap()));
        let admission = endpoint.quota.admit(&parts, true).await;
        assert_eq!(admission.headers["x-ratelimit-remaining"], "1");
        let id = Value::from(7);
        let (response, headers) = endpoint.run(&parts, admission, Some(&id), || panic!("a defect in a tool"));
        assert_eq!(
            (response.status(), &headers["x-ratelimit-remaining"]),
            (StatusCode::INTERNAL_SERVER_ERROR, &"2".parse().unwrap())
        );
        let error: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!((&error["id"], &error["error"]["code"]), (&id, &json!(-32603)));
        assert_eq!(error["error"]["data"]["code"], "internal_error");
    }
}
