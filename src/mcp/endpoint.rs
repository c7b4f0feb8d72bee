//! HTTP of the endpoint. The order of checks: host and origin (403), media types (415, 406), body (413, 408), message
//! (400), protocol revision and headers (400), caller (401, 429). Then the method runs. Every error is JSON-RPC.

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
    VARY, WWW_AUTHENTICATE,
};
use http::{Method, StatusCode};
use serde_json::json;

use crate::backend::ToolRelease;
use crate::dispatch::{CallContext, dispatch, records_of};
use crate::error::INTERNAL_ERROR;
use crate::manifest::McpManifest;
use crate::message::{self, JsonRpcMessage, RpcBody};
use crate::quota::Admission;
use crate::revision::{admit_batch, is_stateless, unknown_id};
use crate::{JsonRpcError, McpQuota, RpcResult, Settings, ToolBackend, completion};
use auth::quota::{Overloaded, Quota};
use platform::metrics::panics;
use transport::RequestParts;
use transport::body::{self, BodyReadError};
use transport::headers::{CommonHeaders, READS, preflight, set};
use transport::negotiation::{accepts_json, compress, has_content_type};
use transport::origin_policy::OriginPolicy;
use transport::problem::{Code, Problem, SLOW_DOWN_SECONDS};
use transport::static_asset::StaticAsset;

const POST_ONLY: &str = "POST, OPTIONS";

/// The path of the endpoint's metadata, by the rule of RFC 9728.
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/api/mcp";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpPath {
    Endpoint,
    Manifest,
    Card,
    Index,
    /// Metadata of the endpoint as a protected resource (RFC 9728), if it needs a key.
    Resource,
}

impl McpPath {
    pub fn parse(path: &str) -> Option<Self> {
        Some(match path.strip_suffix('/').unwrap_or(path) {
            "/api/mcp" => Self::Endpoint,
            "/api/mcp/.well-known" => Self::Manifest,
            "/api/mcp/server-card" | "/.well-known/mcp/server-card.json" => Self::Card,
            "/.well-known/ai-catalog.json" => Self::Index,
            "/.well-known/oauth-protected-resource" | RESOURCE_METADATA => Self::Resource,
            _ => return None,
        })
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Endpoint => "/api/mcp",
            Self::Manifest => "/api/mcp/.well-known",
            Self::Card => "/api/mcp/server-card",
            Self::Index => "/.well-known/ai-catalog.json",
            Self::Resource => RESOURCE_METADATA,
        }
    }
}

type Response = http::Response<Bytes>;

pub struct McpEndpoint {
    origins: OriginPolicy,
    body_limit: usize,
    manifest: McpManifest,
    tools: ToolBackend,
    quota: McpQuota,
}

impl McpEndpoint {
    pub fn new(settings: &Settings, tools: ToolBackend, quota: McpQuota) -> Self {
        let hosts = quota.state.hosts.clone();
        let manifest = McpManifest::new(settings, &hosts.public, &quota.state.operator);
        let origins = OriginPolicy::new(hosts, settings.on_loopback, settings.allowed_origins.as_deref());
        Self { origins, body_limit: settings.body_limit, manifest, tools, quota }
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
                let (mut response, quota) = self.post(request, body, &release).await;
                response.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
                compress(&mut response, request.headers);
                (response, quota)
            }
            (path, method) => {
                let Admission { quota, charge } = self.quota.admit(request, None).await;
                let is_open = path == McpPath::Resource || method == Method::OPTIONS;
                let response = match charge {
                    Err(error) if self.quota.is_private() && !is_open => error_response(request, &error),
                    _ => self.serve_document(path, request, &release),
                };
                (response, quota)
            }
        };
        let (status, headers) = (response.status(), response.headers_mut());
        let now = self.quota.state.now();
        if status == StatusCode::UNAUTHORIZED {
            let mut challenge = "Bearer".to_owned();
            if self.quota.needs_key() {
                challenge += &format!(" resource_metadata=\"{}{RESOURCE_METADATA}\"", self.quota.state.public_url);
                if request.headers.contains_key(AUTHORIZATION) {
                    challenge += ", error=\"invalid_token\"";
                }
            }
            set(headers, WWW_AUTHENTICATE, &challenge);
        } else if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        } else if status == StatusCode::TOO_MANY_REQUESTS {
            // Calls are left; the quota only could not be checked.
            let is_unchecked = quota.remaining.is_some_and(|remaining| remaining > 0);
            let seconds = if is_unchecked { SLOW_DOWN_SECONDS } else { quota.seconds_left(now).max(1) };
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let common = CommonHeaders {
            id: Some(request.id),
            quota: Some((&quota, now)),
            snapshot: Some(release.catalog.version()),
            is_cross_origin: true,
            public_url: Some(&self.quota.state.public_url),
            ..CommonHeaders::default()
        };
        common.write(headers);
        response
    }

    fn serve_document(&self, path: McpPath, request: &RequestParts<'_>, release: &ToolRelease) -> Response {
        let answer = |asset: &StaticAsset| asset.answer(request.method, request.headers);
        let answered = match path {
            McpPath::Endpoint if request.method == Method::OPTIONS => return preflight(POST_ONLY),
            McpPath::Endpoint => None,
            McpPath::Manifest => answer(&self.manifest.manifest(release)),
            McpPath::Card => answer(self.manifest.card(request.headers)),
            McpPath::Index => answer(&self.manifest.index),
            McpPath::Resource if self.quota.needs_key() => answer(&self.manifest.resource),
            McpPath::Resource => {
                let message = "this endpoint needs no key, so it has no metadata of a protected resource";
                return error_response(request, &JsonRpcError::http(StatusCode::NOT_FOUND, "unknown_route", message));
            }
        };
        let Some(mut response) = answered else { return method_not_allowed(request, path) };
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
        response
    }

    async fn post(&self, request: &RequestParts<'_>, body: impl Body, release: &ToolRelease) -> (Response, Quota) {
        match self.parse(request.headers, body).await {
            Ok(RpcBody::Message(message)) => {
                let (outcome, quota) = self.answer(request, message, release).await;
                (outcome.unwrap_or_else(|error| error_response(request, &error)), quota)
            }
            Ok(RpcBody::Batch(messages)) => self.answer_batch(request, messages, release).await,
            Err(error) => (error_response(request, &error), self.quota.admit(request, None).await.quota),
        }
    }

    /// The list of the responses to the requests of a batch. Their status is 200, unless all failed with the same other
    /// one.
    async fn answer_batch(
        &self,
        request: &RequestParts<'_>,
        messages: Vec<RpcResult<JsonRpcMessage>>,
        release: &ToolRelease,
    ) -> (Response, Quota) {
        let mut quota = Quota::zero(self.quota.state.today());
        let (mut bodies, mut statuses) = (Vec::new(), Vec::new());
        for message in messages {
            let outcome = match message {
                Ok(message) if message.method == "initialize" => {
                    let error = JsonRpcError::invalid("`initialize` must not be part of a batch");
                    Err(JsonRpcError { id: message.id, ..error })
                }
                Ok(message) => {
                    let cost = quota.cost;
                    let (outcome, after) = self.answer(request, message, release).await;
                    quota = Quota { cost: cost + after.cost, ..after };
                    outcome
                }
                Err(error) => Err(error),
            };
            let answer = outcome.unwrap_or_else(|error| error_response(request, &error));
            // The key is the same for all of them.
            if answer.status() == StatusCode::UNAUTHORIZED {
                return (answer, quota);
            }
            if !answer.body().is_empty() {
                statuses.push(answer.status());
                bodies.push(answer.into_body());
            }
        }
        let status = match statuses.split_first() {
            None => return (response(StatusCode::ACCEPTED, None), quota),
            Some((first, others)) if others.iter().all(|status| status == first) => *first,
            Some(_) => StatusCode::OK,
        };
        (response(status, Some([&b"["[..], &bodies.join(&b','), b"]"].concat())), quota)
    }

    /// The response to one message, or the error with its id, and the quota after it.
    async fn answer(
        &self,
        request: &RequestParts<'_>,
        message: JsonRpcMessage,
        release: &ToolRelease,
    ) -> (RpcResult<Response>, Quota) {
        let is_stateless = match is_stateless(request.headers, &message) {
            Ok(is_stateless) => is_stateless,
            Err(error) => {
                let quota = self.quota.admit(request, None).await.quota;
                return (Err(JsonRpcError { id: message.id, ..error }), quota);
            }
        };
        let Admission { quota, charge } = self.quota.admit(request, records_of(&message)).await;
        let charge = match charge {
            Ok(charge) => charge,
            Err(error) => return (Err(JsonRpcError { id: message.id, ..error }), quota),
        };
        let completes_names = message.id.is_some() && completion::completes_names(&message);
        if completes_names && let Err(error) = self.quota.count_names(request, completion::MAX_VALUES) {
            return (Err(JsonRpcError { id: message.id, ..error }), quota);
        }
        let note = charge.as_ref().and_then(|charge| self.quota.note(&quota, charge));
        let work_before = request.trace.work().total();
        let method = || {
            let context = CallContext { release, is_stateless, note };
            message.id.as_ref().map(|id| dispatch(&message, id, context)).transpose()
        };
        let outcome = match message.calls_tool() {
            true => {
                let caller = self.quota.work_caller(request, charge.as_ref());
                let work = || catch_panic(request, method);
                self.quota.state.work.run(caller, request.trace.work(), work).await.unwrap_or_else(|Overloaded| {
                    let detail = "too many tool calls are waiting; retry in a second";
                    Err(Problem::new(Code::Overloaded, detail).into())
                })
            }
            false => catch_panic(request, method),
        };
        // Only executed calls are counted.
        let is_refunded = outcome.as_ref().map_or(true, |reply| reply.as_ref().is_some_and(|reply| reply.is_refused));
        let quota = match charge {
            Some(charge) if is_refunded => self.quota.refund(charge),
            Some(charge) => {
                let work = request.trace.work().total().saturating_sub(work_before);
                self.quota.charge_work(&charge, work, quota)
            }
            None => quota,
        };
        let answer = match outcome {
            Ok(Some(reply)) => Ok(response(StatusCode::OK, Some(reply.body))),
            Ok(None) => Ok(response(StatusCode::ACCEPTED, None)),
            Err(error) => Err(JsonRpcError { id: message.id, ..error }),
        };
        (answer, quota)
    }

    /// Runs all checks that need neither a message nor the caller.
    async fn parse(&self, headers: &HeaderMap, body: impl Body) -> RpcResult<RpcBody> {
        self.origins.admit(headers)?;
        check_media_types(headers)?;
        let body = RpcBody::parse(&body.await?)?;
        if let RpcBody::Batch(_) = body {
            admit_batch(headers)?;
        }
        Ok(body)
    }
}

fn catch_panic<T>(request: &RequestParts<'_>, method: impl FnOnce() -> RpcResult<T>) -> RpcResult<T> {
    panics::catch(method).unwrap_or_else(|panic| {
        request.trace.set_failure(&panic);
        let message = "internal error; please report it with its request id";
        Err(JsonRpcError::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, message)
            .with_data(json!({ "code": "internal_error", "request_id": request.id.to_string() })))
    })
}

/// A body that is read once it is awaited.
trait Body: Future<Output = Result<Bytes, BodyReadError>> + Send {}

impl<F: Future<Output = Result<Bytes, BodyReadError>> + Send> Body for F {}

fn check_media_types(headers: &HeaderMap) -> RpcResult<()> {
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
        McpPath::Manifest | McpPath::Card | McpPath::Index | McpPath::Resource => {
            (READS, "the manifest is read with GET")
        }
    };
    let error = JsonRpcError::http(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    let mut response = error_response(request, &error);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
