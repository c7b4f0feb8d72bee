//! The methods, see [`METHODS`].
//!
//! They are few and stateless, so they are served here instead of by an SDK, which would parse the message a second
//! time and copy the result of a tool several times.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::arg_error::explain;
use crate::backend::ToolRelease;
use crate::error::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::manifest::NAME;
use crate::message::{self, JsonRpcMessage};
use crate::revision::{REVISIONS, negotiate};
use crate::tool::{MAX_ITEMS, TOOLS};
use crate::{JsonRpcError, RpcResult, Tool, ToolCall, completion, prompt, resource};
use search::nearest;

const METHODS: [&str; 11] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

/// Milliseconds for which clients may cache the discovery and lists (2026-07-28).
const CACHE_MS: u32 = 60 * 60 * 1_000;
/// The same for a resource, which changes with the release.
const READ_CACHE_MS: u32 = 60 * 1_000;

pub(crate) struct CallContext<'a> {
    pub(crate) release: &'a ToolRelease,
    /// True for a revision without a handshake: its results are tagged, and its unknown methods are a 404.
    pub(crate) is_stateless: bool,
    pub(crate) note: Option<String>,
}

pub(crate) struct JsonRpcReply {
    pub(crate) body: Vec<u8>,
    /// True if a tool refused its arguments; the call is then not counted.
    pub(crate) is_refused: bool,
}

pub(crate) fn dispatch(message: &JsonRpcMessage, id: &Value, context: CallContext<'_>) -> RpcResult<JsonRpcReply> {
    let is_stateless = context.is_stateless;
    let params = &message.params;
    let plain =
        |result: MethodResult<'_>| Ok(JsonRpcReply { body: response(id, is_stateless, result), is_refused: false });
    let cacheable = |result: MethodResult<'_>, ms| plain(if is_stateless { result.cacheable(ms) } else { result });
    let listed = |list: Value| cacheable(MethodResult::new(list), CACHE_MS);
    match message.method.as_str() {
        "initialize" => plain(MethodResult::new(initialize(params, context.release)?)),
        // A request without a revision in `_meta` was rejected by `is_stateless`.
        "server/discover" => {
            let discovery = json!({
                "supportedVersions": REVISIONS,
                "capabilities": capabilities(),
                "instructions": context.release.instructions(),
            });
            let result = MethodResult::new(discovery).cacheable(CACHE_MS);
            Ok(JsonRpcReply { body: response(id, true, result), is_refused: false })
        }
        "ping" if !is_stateless => plain(MethodResult::new(json!({}))),
        list if list.ends_with("/list")
            && METHODS.contains(&list)
            && params.get("cursor").is_some_and(Value::is_string) =>
        {
            Err(invalid_params("unknown `cursor`: the list has one page; omit it"))
        }
        "tools/list" => cacheable(MethodResult { tools: Some(&TOOLS), ..MethodResult::default() }, CACHE_MS),
        "tools/call" => call_tool(params, id, context),
        "resources/list" => listed(resource::list()),
        "resources/templates/list" => listed(resource::templates()),
        "resources/read" => {
            let contents = resource::read(params, context.release, is_stateless)?;
            cacheable(MethodResult::new(contents), READ_CACHE_MS)
        }
        "prompts/list" => listed(prompt::list()),
        "prompts/get" => plain(MethodResult::new(prompt::get(params)?)),
        "completion/complete" => plain(MethodResult::new(completion::complete(params, context.release)?)),
        method => {
            let status = if is_stateless { StatusCode::NOT_FOUND } else { StatusCode::OK };
            Err(JsonRpcError::new(status, METHOD_NOT_FOUND, unknown("method", method, &METHODS)))
        }
    }
}

pub(crate) fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} })
}

fn initialize(params: &Map<String, Value>, release: &ToolRelease) -> RpcResult<Value> {
    let proposed = params.get("protocolVersion").and_then(Value::as_str);
    let client = params.get("clientInfo").map(|client| [&client["name"], &client["version"]]);
    let is_complete = params.get("capabilities").is_some_and(Value::is_object)
        && client.is_some_and(|texts| texts.into_iter().all(Value::is_string));
    let Some(proposed) = proposed.filter(|_| is_complete) else {
        return Err(invalid_params("`params` of initialize need `protocolVersion`, `capabilities` and `clientInfo`"));
    };
    Ok(json!({
        "protocolVersion": negotiate(proposed),
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": release.instructions(),
    }))
}

/// The records that a call is for, at most; `None` if it runs no tool.
pub(crate) fn records_of(message: &JsonRpcMessage) -> Option<usize> {
    message.calls_tool().then(|| {
        // A firm is read as its profile.
        if message.method == "resources/read" {
            return MAX_ITEMS;
        }
        let named = named_call("tools/call", &message.params).ok();
        let call = named.and_then(|(name, arguments)| ToolCall::parse(Tool::from_name(name)?, &arguments).ok());
        // What is refused is given back.
        call.map_or(1, |call| call.records())
    })
}

fn call_tool(params: &Map<String, Value>, id: &Value, context: CallContext<'_>) -> RpcResult<JsonRpcReply> {
    let (name, arguments) = named_call("tools/call", params)?;
    let names = Tool::ALL.map(Tool::name);
    let unknown = || invalid_params(format!("{} Tools: {}", unknown("tool", name, &names), names.join(", ")));
    let tool = Tool::from_name(name).ok_or_else(unknown)?;
    let outcome = ToolCall::parse(tool, &arguments).and_then(|mut call| {
        call.notes.extend(context.note);
        context.release.call(&call)
    });
    let is_refused = outcome.is_err();
    let text = outcome.unwrap_or_else(|errors| explain(tool, &errors));
    let json = || serde_json::from_str(&text).expect("the result of a tool is JSON");
    let result = MethodResult {
        content: Some([TextContent { r#type: "text", text: &text }]),
        structured_content: (!is_refused).then(json),
        ..MethodResult::new(json!({ "isError": is_refused }))
    };
    Ok(JsonRpcReply { body: response(id, context.is_stateless, result), is_refused })
}

type CallArguments<'p> = Cow<'p, Map<String, Value>>;

/// The parameters of a method that runs something by its name. Absent arguments are none; some clients send arguments
/// as JSON text, and no arguments as an empty list or text.
pub(crate) fn named_call<'p>(method: &str, params: &'p Map<String, Value>) -> RpcResult<(&'p str, CallArguments<'p>)> {
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Some(Cow::Owned(Map::new())),
        Some(Value::Array(list)) if list.is_empty() => Some(Cow::Owned(Map::new())),
        Some(Value::String(text)) if text.trim().is_empty() => Some(Cow::Owned(Map::new())),
        Some(Value::String(text)) => serde_json::from_str(text).ok().map(Cow::Owned),
        Some(arguments) => arguments.as_object().map(Cow::Borrowed),
    };
    params.get("name").and_then(Value::as_str).zip(arguments).ok_or_else(|| {
        invalid_params(format!("`params` of {method} need `name` (text), and `arguments` must be an object"))
    })
}

pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> JsonRpcError {
    JsonRpcError::new(StatusCode::OK, INVALID_PARAMS, message)
}

pub(crate) fn unknown(what: &str, name: &str, accepted: &[&'static str]) -> String {
    let short: String = name.chars().take(60).collect();
    let nearest = nearest(name, accepted.iter().copied()).filter(|nearest| *nearest != name);
    let suggestion = nearest.map_or_else(|| ".".to_owned(), |nearest| format!("; did you mean `{nearest}`?"));
    format!("unknown {what} `{short}`{suggestion}")
}

fn server_info() -> Value {
    json!({ "name": NAME, "title": "VentureDex", "version": env!("CARGO_PKG_VERSION") })
}

/// The result of a method. Large parts are embedded without a copy.
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
    fn new(fields: Value) -> Self {
        let Value::Object(others) = fields else { unreachable!("results are objects") };
        Self { others, ..Self::default() }
    }

    fn cacheable(mut self, ms: u32) -> Self {
        self.others.insert("ttlMs".to_owned(), ms.into());
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
