//! Protocol revisions: which one a request uses, and whether its headers match its body.
//!
//! Up to 2025-11-25 a client negotiates the revision with `initialize` and repeats it in a header. From 2026-07-28 on
//! there is no handshake: each request names its revision in `_meta`, and the headers repeat what proxies route by.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, StatusCode};
use serde_json::{Value, json};

use crate::mcp::JsonRpcError;
use crate::mcp::error::{HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use crate::mcp::message::Message;

/// The supported revisions, oldest first. As ISO dates they compare as text.
pub(crate) const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", STATELESS];
/// The newest revision with a handshake.
const NEWEST_NEGOTIATED: &str = "2025-11-25";
/// The first revision without a handshake.
const STATELESS: &str = "2026-07-28";

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How a request is to be processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lifecycle {
    /// The request names its revision itself; an unknown method is then a 404.
    pub(crate) is_named: bool,
    /// The revision is 2026-07-28 or later.
    pub(crate) is_stateless: bool,
}

/// The id of an error if that of its request is unknown: null in JSON-RPC, absent from 2026-07-28 on.
pub(crate) fn unknown_id(headers: &HeaderMap) -> Option<Value> {
    let is_stateless = headers.get(VERSION_HEADER).is_some_and(|version| version.as_bytes() >= STATELESS.as_bytes());
    if is_stateless { None } else { Some(Value::Null) }
}

/// The revision that `initialize` returns to a client that proposes one.
pub(crate) fn negotiate(proposed: &str) -> &'static str {
    let known = REVISIONS.into_iter().find(|revision| *revision == proposed && *revision < STATELESS);
    known.unwrap_or(NEWEST_NEGOTIATED)
}

/// Rejects an unsupported `MCP-Protocol-Version`. The revision of `initialize`, and one in `_meta`, are checked by
/// [`Lifecycle::of`].
pub(crate) fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), JsonRpcError> {
    let mut versions = headers.get_all(VERSION_HEADER).iter();
    let Some(version) = versions.next() else { return Ok(()) };
    if versions.next().is_some() {
        return Err(JsonRpcError::invalid("more than one `MCP-Protocol-Version` header"));
    }
    let is_supported = REVISIONS.iter().any(|revision| version == revision);
    if is_supported || message.method == "initialize" || message.revision().is_some() {
        return Ok(());
    }
    Err(unsupported(&String::from_utf8_lossy(version.as_bytes())))
}

impl Lifecycle {
    /// Checks the headers against the message.
    pub(crate) fn of(headers: &HeaderMap, message: &Message) -> Result<Self, JsonRpcError> {
        let version = match headers.get(VERSION_HEADER).map(|version| version.to_str()) {
            Some(Err(_)) => return Err(JsonRpcError::invalid("`MCP-Protocol-Version` is not ASCII text")),
            Some(Ok(version)) => Some(version),
            None => None,
        };
        let needs_headers = version.is_some_and(|version| version >= STATELESS);
        if message.method == "initialize" {
            return check_handshake(headers, version, message).map(|()| Self::default());
        }
        if needs_headers {
            check_standard_headers(headers, message)?;
        }
        if message.id.is_none() {
            return Ok(Self::default());
        }
        let is_discover = message.method == "server/discover";
        let Some(named) = message.revision() else {
            return if needs_headers || is_discover { Err(missing_meta(message)) } else { Ok(Self::default()) };
        };
        match version {
            None => return Err(mismatch("a request whose `_meta` names a revision needs `MCP-Protocol-Version`")),
            Some(version) if version != named => {
                return Err(mismatch(format!(
                    "`MCP-Protocol-Version` is {version}, but `_meta` names the revision {named}"
                )));
            }
            Some(_) if !REVISIONS.contains(&named) => return Err(unsupported(named)),
            Some(_) => {}
        }
        let is_stateless = named >= STATELESS;
        let has_capabilities = message.meta("clientCapabilities").is_some_and(Value::is_object);
        if (is_stateless || is_discover) && !has_capabilities {
            return Err(missing_meta(message));
        }
        Ok(Self { is_named: true, is_stateless })
    }
}

fn check_handshake(headers: &HeaderMap, version: Option<&str>, message: &Message) -> Result<(), JsonRpcError> {
    if message.revision().is_some_and(|revision| revision >= STATELESS) {
        let detail = "the revision in `_meta` has no `initialize`: send `server/discover` or call any method directly";
        return Err(JsonRpcError::new(StatusCode::NOT_FOUND, METHOD_NOT_FOUND, detail));
    }
    let Some(version) = version else { return Ok(()) };
    match message.params.get("protocolVersion").and_then(Value::as_str) {
        Some(proposed) if proposed != version => {
            let detail = format!("`MCP-Protocol-Version` is {version}, but `params.protocolVersion` is {proposed}");
            return Err(JsonRpcError::invalid(detail));
        }
        _ => {}
    }
    match single(headers, "Mcp-Method")? {
        Some(method) if version >= STATELESS && method != message.method => Err(not_equal("Mcp-Method", method)),
        _ => Ok(()),
    }
}

/// Checks `Mcp-Method` and `Mcp-Name`, which repeat the method and the name of the tool.
fn check_standard_headers(headers: &HeaderMap, message: &Message) -> Result<(), JsonRpcError> {
    match single(headers, "Mcp-Method")? {
        None => return Err(mismatch("the `Mcp-Method` header is missing")),
        Some(method) if method != message.method => return Err(not_equal("Mcp-Method", method)),
        Some(_) => {}
    }
    let name = message.params.get("name").and_then(Value::as_str);
    let Some(name) = name.filter(|_| message.method == "tools/call") else { return Ok(()) };
    let Some(header) = single(headers, "Mcp-Name")? else {
        return Err(mismatch("the `Mcp-Name` header is missing"));
    };
    // Names that are not valid header values are sent as `=?base64?…?=`.
    let encoded = header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let is_equal = match encoded.map(|encoded| BASE64_STANDARD.decode(encoded)) {
        Some(Ok(decoded)) => decoded == name.as_bytes(),
        Some(Err(_)) => return Err(mismatch("`Mcp-Name` is not valid Base64")),
        None => header == name,
    };
    if is_equal { Ok(()) } else { Err(not_equal("Mcp-Name", header)) }
}

/// The value of a header that may be present at most once.
fn single<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<Option<&'h str>, JsonRpcError> {
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

fn not_equal(name: &str, value: &str) -> JsonRpcError {
    mismatch(format!("the header `{name}: {value}` does not match the body"))
}

fn unsupported(revision: &str) -> JsonRpcError {
    let message = format!("unsupported protocol revision: send one of {}", REVISIONS.join(", "));
    JsonRpcError::new(StatusCode::BAD_REQUEST, UNSUPPORTED_VERSION, message)
        .with_data(json!({ "requested": revision, "supported": REVISIONS }))
}

fn missing_meta(message: &Message) -> JsonRpcError {
    let required = [
        ("protocolVersion", message.revision().is_some()),
        ("clientCapabilities", message.meta("clientCapabilities").is_some_and(Value::is_object)),
    ];
    let missing = required.iter().filter(|(_, is_present)| !is_present);
    let missing: Vec<String> = missing.map(|(name, _)| format!("io.modelcontextprotocol/{name}")).collect();
    let detail = format!("`params._meta` lacks required fields, or they are malformed: {}", missing.join(", "));
    JsonRpcError::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, detail)
}
