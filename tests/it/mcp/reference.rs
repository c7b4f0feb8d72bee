//! The tools, resources and prompts of the conformance suite's reference server, behind the endpoint of this service, so that
//! the suite also checks what the service itself does not have: images, audio, embedded resources, errors, and requests for
//! input (2026-07-28).

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use mcp::{McpEndpoint, McpPath, McpQuota, Settings, ToolBackend};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::{ErrorContext, Handler, Peer, RequestId, RequestParts, RequestTrace};

use crate::support::harness::{Client, agent, bundled, state};

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A WAV without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Serves them until standard input ends, for `.ci/full mcp`.
#[test]
#[ignore = "serves until standard input ends"]
fn serve() {
    let server = ReferenceServer::start();
    println!("reference server at {}/api/mcp", server.url);
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn what_the_suite_requests_is_in_the_results_of_the_service() {
    let server = ReferenceServer::start();
    let client = Client { base: server.url.clone(), key: None, agent: agent() };
    let send = |method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        client.post("/api/mcp", &message.to_string()).json()
    };
    let tool = send("tools/call", json!({ "name": "test_image_content" }));
    assert_eq!(tool, json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [image()] } }));
    let resource = send("resources/read", json!({ "uri": "test://static-binary" }));
    assert_eq!(resource["result"]["contents"][0]["blob"], PIXEL);
    let prompt = send("prompts/get", json!({ "name": "test_simple_prompt" }));
    assert_eq!(prompt["result"]["messages"][0]["content"], text("This is a simple prompt for testing."));
    let prompt = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
    let typed = send("completion/complete", json!({ "ref": prompt, "argument": { "name": "arg1", "value": "t" } }));
    assert_eq!(typed["result"]["completion"]["values"], json!(["test"]));
    assert_eq!(send("tools/call", json!({ "name": "test_unknown" }))["error"]["code"], -32602);
    assert_eq!(send("ping", json!({}))["result"], json!({}));
}

/// A running server of the suite's tools, resources and prompts.
struct ReferenceServer {
    url: String,
    _runtime: Runtime,
    _data: TempDir,
}

impl ReferenceServer {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = state(bundled(), data.path(), &url);
        let tools = ToolBackend::new(Arc::clone(&state.releases), &url, [7; 32]);
        let quota = McpQuota { state, daily_limit: 1_000_000, pools: Arc::new([]) };
        let endpoint = ReferenceEndpoint(Arc::new(McpEndpoint::new(&Settings::new(url.clone()), tools, quota)));
        runtime.spawn(run(listener, endpoint, stream::pending(), Limits::default()));
        Self { url, _runtime: runtime, _data: data }
    }
}

/// The endpoint of the service. It checks each message and wraps the result, whose content is that of the reference
/// server.
#[derive(Clone)]
struct ReferenceEndpoint(Arc<McpEndpoint>);

impl Handler for ReferenceEndpoint {
    type Pending = ();

    fn respond(&self, _: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        Err(())
    }

    async fn respond_later(&self, (): (), request: Request<RequestBody>) -> Response<ResponseBody> {
        let (mut head, body) = request.into_parts();
        let Some(path) = McpPath::parse(head.uri.path()) else {
            let mut response = Response::new(ResponseBody::Left(Full::default()));
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        };
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let content = content_of(message["method"].as_str().unwrap_or_default(), &message["params"]);
        let body = match content {
            Some(_) => Bytes::from(stand_in(message, &mut head.headers).to_string()),
            None => body,
        };
        head.headers.remove(ACCEPT_ENCODING);
        let (peer, id) = (head.extensions.get::<Peer>().unwrap(), head.extensions.get::<RequestId>().unwrap());
        let request = RequestParts {
            method: &head.method,
            path: head.uri.path(),
            query: "",
            headers: &head.headers,
            peer: *peer,
            id: *id,
            trace: head.extensions.get::<Arc<RequestTrace>>().unwrap(),
        };
        let response = self.0.respond(path, &request, stream::iter([Ok::<_, Infallible>(body)])).await;
        let wrapped = |body: Bytes| match content {
            Some(content) => with(&body, content),
            None => body,
        };
        response.map(|body| ResponseBody::Left(Full::new(wrapped(body))))
    }

    fn error_context(&self, _: &str) -> ErrorContext<'_> {
        ErrorContext::default()
    }
}

/// The message with something that the service has in place of what only the reference server has.
fn stand_in(mut message: Value, headers: &mut HeaderMap) -> Value {
    let (field, own, arguments) = match message["method"].as_str() {
        Some("tools/call") => ("name", "get_platform_stats", json!({})),
        Some("resources/read") => ("uri", "venturedex://about", json!({})),
        Some("prompts/get") => ("name", "prepare_meeting", json!({ "name": "Alder" })),
        Some("completion/complete") => {
            message["params"]["ref"]["name"] = "prepare_meeting".into();
            message["params"]["argument"]["name"] = "name".into();
            return message;
        }
        _ => return message,
    };
    // A header that does not match the message stays a fault.
    let is_name = |header: &HeaderValue| message["params"][field] == header.to_str().unwrap_or_default();
    if headers.get("mcp-name").is_some_and(is_name) {
        headers.insert("mcp-name", HeaderValue::from_static(own));
    }
    message["params"][field] = own.into();
    message["params"]["arguments"] = arguments;
    message
}

/// A response with other content in its result.
fn with(response: &Bytes, content: Value) -> Bytes {
    let Ok(mut message) = serde_json::from_slice::<Value>(response) else { return response.clone() };
    let result = message.get_mut("result").and_then(Value::as_object_mut);
    if let (Some(result), Value::Object(content)) = (result, content) {
        result.retain(|field, _| ["_meta", "resultType"].contains(&field.as_str()));
        result.extend(content);
    }
    message.to_string().into()
}

/// What the result of a method has on the reference server; `None` if it has nothing of its own.
fn content_of(method: &str, params: &Value) -> Option<Value> {
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    match method {
        "tools/list" => Some(json!({ "tools": [schema_tool()], "ttlMs": 0, "cacheScope": "public" })),
        "tools/call" => tool(text("name"), params),
        "resources/read" => Some(json!({ "contents": [resource(text("uri"))?], "ttlMs": 0, "cacheScope": "public" })),
        "prompts/get" => prompt(text("name"), params),
        "completion/complete" if params["ref"]["name"] == "test_prompt_with_arguments" => {
            Some(json!({ "completion": { "values": ["test"], "total": 1, "hasMore": false } }))
        }
        _ => None,
    }
}

/// A tool whose schema has keywords that are easily lost.
fn schema_tool() -> Value {
    json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    })
}

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

fn image() -> Value {
    json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" })
}

fn embedded(uri: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": "text/plain", "text": "An embedded resource." } })
}

fn tool(name: &str, params: &Value) -> Option<Value> {
    let contents = match name.strip_prefix("test_")? {
        "simple_text" | "logging_tool" => json!([text("This is a simple text response for testing.")]),
        "image_content" => json!([image()]),
        "audio_content" => json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]),
        "embedded_resource" => json!([embedded("test://embedded-resource")]),
        "multiple_content_types" => {
            json!([text("Multiple content types test:"), image(), embedded("test://mixed-content-resource")])
        }
        "error_handling" => {
            return Some(json!({ "isError": true, "content": [text("This tool always returns an error.")] }));
        }
        "streaming_elicitation" => return asks("elicitation", params),
        name => return asks(name.strip_prefix("input_required_result_")?, params),
    };
    Some(json!({ "content": contents }))
}

/// The requests for input that a client may get, with their keys.
fn inputs(keys: &[&str]) -> Value {
    let input = |key: &str| match key {
        "greeting" | "capital_question" => json!({
            "method": "sampling/createMessage",
            "params": { "messages": [{ "role": "user", "content": text("What is the capital of France?") }], "maxTokens": 100 },
        }),
        "client_roots" => json!({ "method": "roots/list", "params": {} }),
        _ => {
            let schema = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
            let params = json!({ "message": format!("Please enter {key}"), "requestedSchema": schema });
            json!({ "method": "elicitation/create", "params": params })
        }
    };
    keys.iter().map(|key| ((*key).to_owned(), input(key))).collect()
}

/// A tool that asks for input: in each round for some keys, and with a state that the client returns.
fn asks(name: &str, params: &Value) -> Option<Value> {
    let can_sample = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["sampling"];
    let rounds: &[&[&str]] = match name {
        "elicitation" => &[&["user_name"]],
        "sampling" => &[&["capital_question"]],
        "list_roots" => &[&["client_roots"]],
        "request_state" | "tampered_state" => &[&["confirm"]],
        "multiple_inputs" => &[&["user_name", "greeting", "client_roots"]],
        "multi_round" => &[&["step1"], &["step2"]],
        "capabilities" if can_sample.is_object() => &[&["capital_question"]],
        "capabilities" => &[],
        _ => return None,
    };
    let given = &params["inputResponses"];
    let state = params["requestState"].as_str();
    let round = match state.map(|state| state.strip_prefix("round-").and_then(|round| round.parse::<usize>().ok())) {
        // The state was changed: the service does not know the tool, which is the error that the suite expects.
        Some(None) => return None,
        Some(Some(round)) => round,
        None => 0,
    };
    let answers = |keys: &&&[&str]| keys.iter().all(|key| given[*key].is_object());
    let next = rounds.iter().enumerate().skip(round).find(|(_, keys)| !answers(keys));
    Some(match next {
        Some((round, keys)) => {
            json!({ "resultType": "input_required", "inputRequests": inputs(keys), "requestState": format!("round-{round}") })
        }
        None => json!({ "content": [text(format!("state-ok {given}"))] }),
    })
}

fn resource(uri: &str) -> Option<Value> {
    let (kind, content) = match uri.strip_prefix("test://")? {
        "static-text" => ("text/plain", ("text", "This is the content of the static text resource.".to_owned())),
        "static-binary" => ("image/png", ("blob", PIXEL.to_owned())),
        other => {
            let id = other.strip_prefix("template/")?.strip_suffix("/data")?;
            ("application/json", ("text", json!({ "id": id, "templateTest": true }).to_string()))
        }
    };
    Some(json!({ "uri": uri, "mimeType": kind, content.0: content.1 }))
}

fn prompt(name: &str, params: &Value) -> Option<Value> {
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default().to_owned();
    let contents = match name.strip_prefix("test_")? {
        "simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "prompt_with_arguments" => {
            vec![text(format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "prompt_with_embedded_resource" => {
            vec![embedded(&argument("resourceUri")), text("Please process the embedded resource above.")]
        }
        "prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "input_required_result_prompt" if !params["inputResponses"]["user_context"].is_object() => {
            return Some(json!({ "resultType": "input_required", "inputRequests": inputs(&["user_context"]) }));
        }
        "input_required_result_prompt" => vec![text("A prompt in the context given.")],
        _ => return None,
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({ "role": "user", "content": content })).collect();
    Some(json!({ "messages": messages }))
}
