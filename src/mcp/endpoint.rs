//! From HTTP to rmcp and back: what is checked before a method runs, and what every answer carries.
//!
//! The order of checks: host and origin 403, media types 415 and 406, body 413 and 408, message 400, protocol revision
//! 400, caller (key, quota) 401 and 429; only then the method. Each refusal is a JSON-RPC error, also where rmcp would
//! answer plain text.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;

use crate::http::headers::{ALLOWED, write_cors};
use crate::http::static_asset::StaticAsset;
use crate::http::{BodyTimeout, RequestId};
use crate::mcp::JsonRpcError;
use crate::mcp::McpAdmission;
use crate::mcp::Settings;
use crate::mcp::error::{ErrorId, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use crate::mcp::handler::{Methods, Outcome, RequestRelease, VERSIONS};
use crate::mcp::manifest::Manifest;
use crate::mcp::message::{Message, Unreadable};
use crate::mcp::structured::structured;
use crate::mcp::{OriginPolicy, OriginPolicyError};
use crate::mcp::{Release, Tools};

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const SNAPSHOT: HeaderName = HeaderName::from_static("x-snapshot");

/// How long an answer may take; rmcp itself waits for ever, also for a method that is no more.
const PATIENCE: Duration = Duration::from_secs(30);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ENDPOINT_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const MANIFEST_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

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

/// The endpoint: one for the life of the server.
pub struct McpEndpoint {
    doors: OriginPolicy,
    body_limit: usize,
    manifest: Manifest,
    tools: Arc<dyn Tools>,
    gate: Arc<dyn McpAdmission>,
    rmcp: StreamableHttpService<Methods, NeverSessionManager>,
}

impl McpEndpoint {
    /// # Errors
    /// If the public URL has no host.
    pub fn new(
        settings: &Settings,
        tools: Arc<dyn Tools>,
        gate: Arc<dyn McpAdmission>,
    ) -> Result<Self, OriginPolicyError> {
        let doors = OriginPolicy::new(&settings.public_url, settings.on_loopback, settings.allowed_origins.as_deref())?;
        // Host, origin and size are checked by the bridge, which answers them as JSON-RPC and before the quota.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        Ok(Self {
            manifest: Manifest::new(settings, doors.host()),
            doors,
            body_limit: settings.body_limit,
            tools,
            gate,
            rmcp: StreamableHttpService::new(|| Ok(Methods), Arc::new(NeverSessionManager::default()), config),
        })
    }

    /// Answers one request.
    pub async fn answer<S, B, E>(&self, place: McpPath, parts: Parts, body: S) -> Response
    where
        S: Stream<Item = Result<B, E>> + Send,
        B: Buf,
        E: std::error::Error + 'static,
    {
        let release = self.tools.current();
        let id = parts.extensions.get::<RequestId>().copied();
        let (mut answer, mut headers) = match (place, &parts.method) {
            (McpPath::Endpoint, &Method::POST) => self.post(parts, body, Arc::clone(&release)).await,
            (_, &Method::OPTIONS) => (preflight(place), self.gate.admit(&parts, false).await.headers),
            (McpPath::Manifest, &Method::GET | &Method::HEAD) => {
                (fixed(self.manifest.card(&parts.headers), &parts), self.gate.admit(&parts, false).await.headers)
            }
            (McpPath::Index, &Method::GET | &Method::HEAD) => {
                (fixed(self.manifest.index(), &parts), self.gate.admit(&parts, false).await.headers)
            }
            _ => (method_not_allowed(place), self.gate.admit(&parts, false).await.headers),
        };
        if let Some(id) = id.and_then(|id| HeaderValue::try_from(id.to_string()).ok()) {
            headers.insert(REQUEST_ID, id);
        }
        if let Ok(snapshot) = HeaderValue::try_from(release.snapshot()) {
            headers.insert(SNAPSHOT, snapshot);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        write_cors(&mut headers);
        answer.headers_mut().extend(headers);
        answer
    }

    async fn post<S, B, E>(&self, parts: Parts, body: S, release: Arc<dyn Release>) -> (Response, HeaderMap)
    where
        S: Stream<Item = Result<B, E>> + Send,
        B: Buf,
        E: std::error::Error + 'static,
    {
        let unknown_id = match parts.headers.get(VERSION_HEADER) {
            Some(version) if *version.as_bytes() >= *b"2026-07-28".as_slice() => ErrorId::Absent,
            _ => ErrorId::Null,
        };
        let message = match self.read(&parts.headers, body).await {
            Ok(message) => message,
            Err(Unreadable { fault, id }) => {
                let id = id.as_ref().map_or(unknown_id, ErrorId::Of);
                return (refused(&fault, id), self.gate.admit(&parts, false).await.headers);
            }
        };
        let mut admission = self.gate.admit(&parts, message.calls_a_tool()).await;
        let id = message.id().map_or(unknown_id, ErrorId::Of);
        let answer = match admission.refusal {
            Some(refusal) => refused(&refusal, id),
            None => {
                let answer = self.forward(parts, &message, id, release).await;
                if let (true, Some(refund)) = (answer.status().is_server_error(), admission.refund) {
                    admission.headers = refund();
                }
                answer
            }
        };
        (answer, admission.headers)
    }

    /// Everything that can be wrong before the caller is looked up.
    async fn read<S, B, E>(&self, headers: &HeaderMap, body: S) -> Result<Message, Unreadable>
    where
        S: Stream<Item = Result<B, E>> + Send,
        B: Buf,
        E: std::error::Error + 'static,
    {
        self.doors.admit(headers)?;
        check_media_types(headers)?;
        let text = self.collect(headers, body).await?;
        let message = Message::read(&text)?;
        match check_version(headers, &message).and_then(|()| check_handshake(&message)) {
            Ok(()) => Ok(message),
            Err(fault) => Err(Unreadable { fault, id: message.id().cloned() }),
        }
    }

    async fn collect<S, B, E>(&self, headers: &HeaderMap, body: S) -> Result<Bytes, JsonRpcError>
    where
        S: Stream<Item = Result<B, E>> + Send,
        B: Buf,
        E: std::error::Error + 'static,
    {
        let limit = self.body_limit;
        let told = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if told.is_some_and(|told| told > limit as u64) {
            return Err(too_large(limit));
        }
        let mut body = std::pin::pin!(body);
        let mut text = BytesMut::new();
        while let Some(part) = body.next().await {
            match part {
                Ok(part) if part.remaining() > limit - text.len() => return Err(too_large(limit)),
                Ok(mut part) => {
                    while part.has_remaining() {
                        let chunk = part.chunk();
                        let length = chunk.len();
                        text.extend_from_slice(chunk);
                        part.advance(length);
                    }
                }
                Err(error) if BodyTimeout::caused(&error) => {
                    let fault =
                        JsonRpcError::new(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, BodyTimeout.to_string());
                    return Err(fault.with_code("request_timeout"));
                }
                Err(_) => return Err(JsonRpcError::invalid("the body ended before its end")),
            }
        }
        Ok(text.freeze())
    }

    /// Lets rmcp answer; what it answers as plain text becomes a JSON-RPC error.
    async fn forward(
        &self,
        mut parts: Parts,
        message: &Message,
        id: ErrorId<'_>,
        release: Arc<dyn Release>,
    ) -> Response {
        let outcome = Arc::new(Mutex::new(Outcome::Plain));
        let request_id = parts.extensions.get::<RequestId>().copied();
        // A client may leave out `Accept`; rmcp wants both types in it.
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        parts.extensions.insert(RequestRelease { release, outcome: Arc::clone(&outcome) });
        let answered = async {
            let request = Request::from_parts(parts, Full::new(message.text()));
            let (head, body) = self.rmcp.handle(request).await.into_parts();
            let Ok(body) = body.collect().await;
            (head, body.to_bytes())
        };
        let Ok((head, body)) = tokio::time::timeout(PATIENCE, answered).await else {
            return refused(&internal_error(request_id), id);
        };
        let outcome = std::mem::take(&mut *outcome.lock().unwrap_or_else(PoisonError::into_inner));
        let body = match outcome {
            Outcome::Plain if !head.status.is_server_error() => Some(body),
            Outcome::Structured(text) => structured(&body, &text),
            _ => None,
        };
        let Some(body) = body else {
            return refused(&internal_error(request_id), id);
        };
        if head.headers.get(CONTENT_TYPE) == Some(&JSON) || head.status == StatusCode::ACCEPTED {
            let mut answer = Response::new(body.into());
            *answer.status_mut() = head.status;
            answer.headers_mut().extend(head.headers);
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            return answer;
        }
        let words = String::from_utf8_lossy(&body).into_owned();
        refused(&JsonRpcError::new(head.status, INVALID_REQUEST, words), id)
    }
}

/// A body that stays the same, or 304 to who has it.
fn fixed(fixed: &StaticAsset, parts: &Parts) -> Response {
    let Some(answer) = fixed.answer(&parts.method, &parts.headers) else {
        return method_not_allowed(McpPath::Manifest);
    };
    let mut answer = answer.map(Into::into);
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    answer
}

fn check_media_types(headers: &HeaderMap) -> Result<(), JsonRpcError> {
    let unsupported = |message: &'static str| {
        Err(JsonRpcError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, message)
            .with_code("unsupported_media_type"))
    };
    let essence = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let content = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(essence);
    if content.as_deref() != Some("application/json") {
        return unsupported("the body must be JSON: send `Content-Type: application/json`");
    }
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return unsupported("the body must not be compressed: leave out `Content-Encoding`");
    }
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if accepted.peek().is_none() {
        return Ok(());
    }
    let fits = |range: &str| {
        let wanted =
            matches!(essence(range).as_str(), "application/json" | "application/*" | "*/*" | "text/event-stream");
        let weight = range.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("q="));
        wanted && weight.and_then(|weight| weight.trim().parse::<f32>().ok()) != Some(0.0)
    };
    if accepted.flat_map(|value| value.split(',')).any(fits) {
        return Ok(());
    }
    let message = "answers are JSON: send `Accept: application/json, text/event-stream`";
    Err(JsonRpcError::new(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, message).with_code("not_acceptable"))
}

/// A revision in the header that is not spoken here. `initialize`, which negotiates one, and requests that name their
/// own are rmcp's to check.
fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), JsonRpcError> {
    let mut versions = headers.get_all(VERSION_HEADER).iter();
    let Some(version) = versions.next() else {
        return Ok(());
    };
    if versions.next().is_some() {
        return Err(JsonRpcError::invalid("more than one `MCP-Protocol-Version` header"));
    }
    let spoken = VERSIONS.iter().any(|spoken| spoken.as_str().as_bytes() == version.as_bytes());
    if spoken || message.method() == "initialize" || message.version().is_some() {
        return Ok(());
    }
    let supported: Vec<&str> = VERSIONS.iter().map(|version| version.as_str()).collect();
    let requested = String::from_utf8_lossy(version.as_bytes());
    let message = format!("unsupported `MCP-Protocol-Version`: send one of {}", supported.join(", "));
    let data = json!({ "requested": requested, "supported": supported });
    Err(JsonRpcError { data: Some(data), ..JsonRpcError::new(StatusCode::BAD_REQUEST, UNSUPPORTED_VERSION, message) })
}

/// A handshake by a client whose revision has none; rmcp answers it as if it were an older one's.
fn check_handshake(message: &Message) -> Result<(), JsonRpcError> {
    if message.method() == "initialize" && message.is_modern() {
        let message = "`initialize` is no method of the revision this request names: ask `server/discover`, or call \
                       any method at once";
        return Err(JsonRpcError::new(StatusCode::NOT_FOUND, METHOD_NOT_FOUND, message));
    }
    Ok(())
}

fn too_large(limit: usize) -> JsonRpcError {
    let message = format!("the body is larger than {limit} bytes");
    JsonRpcError::new(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, message).with_code("body_too_large")
}

fn internal_error(id: Option<RequestId>) -> JsonRpcError {
    let message = "internal error; please report it with its request id";
    let fault = JsonRpcError::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, message);
    JsonRpcError { data: Some(json!({ "code": "internal_error", "request_id": id.map(|id| id.to_string()) })), ..fault }
}

fn refused(fault: &JsonRpcError, id: ErrorId<'_>) -> Response {
    let mut answer = Response::new(fault.body(id).into());
    *answer.status_mut() = fault.status;
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn allowed(place: McpPath) -> HeaderValue {
    match place {
        McpPath::Endpoint => ENDPOINT_METHODS,
        McpPath::Manifest | McpPath::Index => MANIFEST_METHODS,
    }
}

fn preflight(place: McpPath) -> Response {
    let mut answer = Response::new(Bytes::new().into());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ALLOW, allowed(place));
    headers.insert(http::header::ACCESS_CONTROL_ALLOW_METHODS, allowed(place));
    headers.insert(http::header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED));
    headers.insert(http::header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    answer
}

fn method_not_allowed(place: McpPath) -> Response {
    let message = match place {
        McpPath::Endpoint => "send JSON-RPC messages by POST; what they can be stands at /api/mcp/.well-known",
        McpPath::Manifest | McpPath::Index => "the manifest is read by GET",
    };
    let fault =
        JsonRpcError::new(StatusCode::METHOD_NOT_ALLOWED, INVALID_REQUEST, message).with_code("method_not_allowed");
    let mut answer = refused(&fault, ErrorId::Null);
    answer.headers_mut().insert(ALLOW, allowed(place));
    answer
}
