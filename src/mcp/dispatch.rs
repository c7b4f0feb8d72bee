//! The methods: `initialize`, `server/discover`, `ping`, `tools/list` and `tools/call`.
//!
//! They are few and without state, so they are served here instead of by an SDK: an SDK would parse the message a second
//! time, and copy the result of a tool several times.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::mcp::arg_error::explain;
use crate::mcp::backend::ToolRelease;
use crate::mcp::error::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::mcp::message::{self, Message};
use crate::mcp::revision::{REVISIONS, negotiate};
use crate::mcp::tool::TOOLS;
use crate::mcp::{JsonRpcError, Tool, ToolCall};
use crate::search::nearest;

const METHODS: [&str; 5] = ["initialize", "server/discover", "ping", "tools/list", "tools/call"];

/// How long clients may cache the list of tools and the discovery (2026-07-28).
const CACHE_MS: u32 = 60 * 60 * 1_000;

/// Runs the request `id` and returns the response, a JSON-RPC message. `is_stateless`: the request names a revision without
/// a handshake, whose results are tagged and whose unknown methods are a 404.
pub(crate) fn dispatch(
    message: &Message,
    id: &Value,
    is_stateless: bool,
    release: &ToolRelease,
) -> Result<Vec<u8>, JsonRpcError> {
    let params = &message.params;
    match message.method.as_str() {
        "initialize" => Ok(response(id, false, MethodResult::of(initialize(params, release)?))),
        // Without a revision in `_meta` it was rejected by `is_stateless`.
        "server/discover" => {
            let discovery = json!({
                "supportedVersions": REVISIONS,
                "capabilities": { "tools": {} },
                "instructions": release.instructions(),
            });
            Ok(response(id, true, MethodResult::of(discovery).cacheable()))
        }
        "ping" if !is_stateless => Ok(response(id, false, MethodResult::of(json!({})))),
        "tools/list" => {
            if params.get("cursor").is_some_and(Value::is_string) {
                return Err(invalid_params("unknown `cursor`: all tools are on one page; omit it"));
            }
            let list = MethodResult { tools: Some(&TOOLS), ..MethodResult::default() };
            Ok(response(id, is_stateless, if is_stateless { list.cacheable() } else { list }))
        }
        "tools/call" => call_tool(params, id, is_stateless, release),
        method => {
            let status = if is_stateless { StatusCode::NOT_FOUND } else { StatusCode::OK };
            let unknown = unknown("method", method, &METHODS);
            let detail = format!("{unknown} This server has tools only: see tools/list and tools/call");
            Err(JsonRpcError::new(status, METHOD_NOT_FOUND, detail))
        }
    }
}

fn initialize(params: &Map<String, Value>, release: &ToolRelease) -> Result<Value, JsonRpcError> {
    let proposed = params.get("protocolVersion").and_then(Value::as_str);
    let client = params.get("clientInfo").map(|client| [&client["name"], &client["version"]]);
    let is_complete = params.get("capabilities").is_some_and(Value::is_object)
        && client.is_some_and(|texts| texts.into_iter().all(Value::is_string));
    let Some(proposed) = proposed.filter(|_| is_complete) else {
        return Err(invalid_params("`params` of initialize need `protocolVersion`, `capabilities` and `clientInfo`"));
    };
    Ok(json!({
        "protocolVersion": negotiate(proposed),
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
        "instructions": release.instructions(),
    }))
}

fn call_tool(
    params: &Map<String, Value>,
    id: &Value,
    is_stateless: bool,
    release: &ToolRelease,
) -> Result<Vec<u8>, JsonRpcError> {
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Some(&none),
        Some(arguments) => arguments.as_object(),
    };
    let (Some(name), Some(arguments)) = (params.get("name").and_then(Value::as_str), arguments) else {
        return Err(invalid_params("`params` of tools/call need `name` (text), and `arguments` must be an object"));
    };
    let names = Tool::ALL.map(Tool::name);
    let unknown = || invalid_params(format!("{} Tools: {}", unknown("tool", name, &names), names.join(", ")));
    let tool = Tool::named(name).ok_or_else(unknown)?;
    let outcome = ToolCall::parse(tool, arguments).and_then(|call| release.call(&call));
    let is_error = outcome.is_err();
    let text = outcome.unwrap_or_else(|errors| explain(tool, &errors));
    let json = || serde_json::from_str(&text).expect("the result of a tool is JSON");
    let result = MethodResult {
        content: Some([TextContent { r#type: "text", text: &text }]),
        structured_content: (!is_error).then(json),
        ..MethodResult::of(json!({ "isError": is_error }))
    };
    Ok(response(id, is_stateless, result))
}

fn invalid_params(message: impl Into<Cow<'static, str>>) -> JsonRpcError {
    JsonRpcError::new(StatusCode::OK, INVALID_PARAMS, message)
}

/// A text about an unknown name, with the nearest accepted one.
fn unknown(what: &str, name: &str, accepted: &[&'static str]) -> String {
    let short: String = name.chars().take(60).collect();
    let nearest = nearest(name, accepted.iter().copied()).filter(|nearest| *nearest != name);
    let suggestion = nearest.map_or_else(|| ".".to_owned(), |nearest| format!("; did you mean `{nearest}`?"));
    format!("unknown {what} `{short}`{suggestion}")
}

fn server_info() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "title": "VentureDex", "version": env!("CARGO_PKG_VERSION") })
}

/// The result of a method. What is large is embedded without a copy.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct MethodResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<[TextContent<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl MethodResult<'_> {
    fn of(fields: Value) -> Self {
        let Value::Object(others) = fields else { unreachable!("results are objects") };
        Self { others, ..Self::default() }
    }

    fn cacheable(mut self) -> Self {
        self.others.insert("ttlMs".to_owned(), CACHE_MS.into());
        self.others.insert("cacheScope".to_owned(), "public".into());
        self
    }
}

/// The response to the request `id`. From 2026-07-28 on, results are tagged with their type and the server's name.
fn response(id: &Value, is_tagged: bool, mut result: MethodResult<'_>) -> Vec<u8> {
    if is_tagged {
        let meta = json!({ "io.modelcontextprotocol/serverInfo": server_info() });
        result.others.insert("resultType".to_owned(), "complete".into());
        result.others.insert("_meta".to_owned(), meta);
    }
    message::response(Some(id), Ok(result))
}
