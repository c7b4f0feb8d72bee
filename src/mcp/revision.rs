//! Protocol revisions: determines the revision of a request, and checks its headers against its body.
//!
//! Up to 2025-11-25 a client negotiates the revision with `initialize` and repeats it in a header. From 2026-07-28 on
//! there is no handshake: each request names its revision in `_meta`, and its headers repeat the values that proxies
//! route by.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::error::{HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use crate::message::JsonRpcMessage;
use crate::{JsonRpcError, RpcResult};

/// The supported revisions, oldest first. As ISO dates they compare as text.
pub(crate) const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", STATELESS];
const NEWEST_NEGOTIATED: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// The revision whose clients may send batches; it has no header for itself.
const WITH_BATCHES: &str = REVISIONS[0];

pub(crate) fn admit_batch(headers: &HeaderMap) -> RpcResult<()> {
    match single(headers, "MCP-Protocol-Version")?.unwrap_or(WITH_BATCHES) {
        WITH_BATCHES => Ok(()),
        version => Err(JsonRpcError::invalid(format!("{version} has no batches: send one message per request"))),
    }
}

/// The id of an error if the request's id is unknown: null in JSON-RPC, absent from 2026-07-28 on.
pub(crate) fn unknown_id(headers: &HeaderMap) -> Option<Value> {
    let is_stateless =
        headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= STATELESS.as_bytes());
    if is_stateless { None } else { Some(Value::Null) }
}

pub(crate) fn negotiate(proposed: &str) -> &'static str {
    REVISIONS.into_iter().find(|known| *known == proposed && *known < STATELESS).unwrap_or(NEWEST_NEGOTIATED)
}

/// Checks the headers against the message. Returns true if the request itself names a revision without a handshake.
pub(crate) fn is_stateless(headers: &HeaderMap, message: &JsonRpcMessage) -> RpcResult<bool> {
    let version = single(headers, "MCP-Protocol-Version")?;
    if message.method == "initialize" {
        return check_handshake(version, message).map(|()| false);
    }
    let named = message.revision();
    if let (Some(version), None) = (version.filter(|version| !REVISIONS.contains(version)), named) {
        return Err(unsupported(version));
    }
    let needs_headers = version.is_some_and(|version| version >= STATELESS);
    if needs_headers {
        check_repeated(headers, "Mcp-Method", &message.method)?;
        let parameter = match message.method.as_str() {
            "tools/call" | "prompts/get" => Some("name"),
            "resources/read" => Some("uri"),
            _ => None,
        };
        if let Some(Value::String(name)) = parameter.and_then(|parameter| message.params.get(parameter)) {
            check_repeated(headers, "Mcp-Name", name)?;
        }
    }
    if message.id.is_none() {
        return Ok(false);
    }
    let is_discover = message.method == "server/discover";
    let Some(named) = named else {
        return if needs_headers || is_discover { Err(missing_meta(message)) } else { Ok(false) };
    };
    let Some(version) = version else {
        return Err(mismatch("a request whose `_meta` names a revision needs `MCP-Protocol-Version`"));
    };
    if version != named {
        let detail = format!("`MCP-Protocol-Version` is {version}, but `_meta` names the revision {named}");
        return Err(mismatch(detail));
    }
    if !REVISIONS.contains(&named) {
        return Err(unsupported(named));
    }
    if (needs_headers || is_discover) && !message.meta("clientCapabilities").is_some_and(Value::is_object) {
        return Err(missing_meta(message));
    }
    Ok(needs_headers)
}

fn check_handshake(version: Option<&str>, message: &JsonRpcMessage) -> RpcResult<()> {
    if message.revision().is_some_and(|revision| revision >= STATELESS) {
        let detail = "the revision in `_meta` has no `initialize`: send `server/discover` or call any method directly";
        return Err(JsonRpcError::new(StatusCode::NOT_FOUND, METHOD_NOT_FOUND, detail));
    }
    match version.zip(message.params.get("protocolVersion").and_then(Value::as_str)) {
        Some((version, proposed)) if proposed != version => Err(JsonRpcError::invalid(format!(
            "`MCP-Protocol-Version` is {version}, but `params.protocolVersion` is {proposed}"
        ))),
        _ => Ok(()),
    }
}

/// Checks a header that repeats a text of the body, so that proxies can route by it.
fn check_repeated(headers: &HeaderMap, name: &'static str, text: &str) -> RpcResult<()> {
    let header = single(headers, name)?.ok_or_else(|| mismatch(format!("the `{name}` header is missing")))?;
    // Texts that are not valid header values are sent as `=?base64?…?=`.
    let encoded = header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let is_equal = match encoded.map(|encoded| BASE64_STANDARD.decode(encoded)) {
        Some(Ok(decoded)) => decoded == text.as_bytes(),
        Some(Err(_)) => return Err(mismatch(format!("`{name}` is not valid Base64"))),
        None => header == text,
    };
    if is_equal { Ok(()) } else { Err(mismatch(format!("the header `{name}: {header}` does not match the body"))) }
}

/// The value of a header that may be present at most once.
fn single<'h>(headers: &'h HeaderMap, name: &'static str) -> RpcResult<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (_, Some(_)) => Err(mismatch(format!("more than one `{name}` header"))),
        (Some(Err(_)), None) => Err(mismatch(format!("`{name}` is not ASCII text"))),
        (Some(Ok(value)), None) => Ok(Some(value)),
        (None, None) => Ok(None),
    }
}

fn mismatch(message: impl Into<std::borrow::Cow<'static, str>>) -> JsonRpcError {
    JsonRpcError::new(StatusCode::BAD_REQUEST, HEADER_MISMATCH, message)
}

fn unsupported(revision: &str) -> JsonRpcError {
    let message = format!("unsupported protocol revision: send one of {}", REVISIONS.join(", "));
    JsonRpcError::new(StatusCode::BAD_REQUEST, UNSUPPORTED_VERSION, message)
        .with_data(json!({ "requested": revision, "supported": REVISIONS }))
}

fn missing_meta(message: &JsonRpcMessage) -> JsonRpcError {
    let required = [
        ("protocolVersion", message.revision().is_some()),
        ("clientCapabilities", message.meta("clientCapabilities").is_some_and(Value::is_object)),
    ];
    let missing = required.iter().filter(|(_, is_present)| !is_present);
    let missing: Vec<String> = missing.map(|(name, _)| format!("io.modelcontextprotocol/{name}")).collect();
    let detail = format!("`params._meta` lacks required fields, or they are malformed: {}", missing.join(", "));
    JsonRpcError::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, detail)
}
