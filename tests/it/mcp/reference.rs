//! The tools, resources and prompts of the conformance suite's reference server, behind the endpoint of this service, so that
//! the suite also checks what the service itself does not have: images, audio, embedded resources, errors, and requests for
//! input (2026-07-28).

use serde_json::{Map, Value, json};

use crate::harness::Server;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A WAV without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Serves them until standard input ends, for `.ci/full mcp`.
#[test]
#[ignore = "serves until standard input ends"]
fn serve() {
    let server = Server::with_methods(result_of);
    println!("reference server at {}/api/mcp", server.anonymous().base);
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn result_of(method: &str, params: &Map<String, Value>) -> Option<Result<Value, String>> {
    let params = &Value::Object(params.clone());
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    match method {
        "tools/list" => Some(Ok(json!({ "tools": [schema_tool()], "ttlMs": 0, "cacheScope": "public" }))),
        "tools/call" => tool(text("name"), params),
        "resources/read" => {
            Some(Ok(json!({ "contents": [resource(text("uri"))?], "ttlMs": 0, "cacheScope": "public" })))
        }
        "prompts/get" => prompt(text("name"), params),
        "completion/complete" if params["ref"]["name"] == "test_prompt_with_arguments" => {
            Some(Ok(json!({ "completion": { "values": ["test"], "total": 1, "hasMore": false } })))
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

fn tool(name: &str, params: &Value) -> Option<Result<Value, String>> {
    let contents = match name.strip_prefix("test_")? {
        "simple_text" | "logging_tool" => json!([text("This is a simple text response for testing.")]),
        "image_content" => json!([image()]),
        "audio_content" => json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]),
        "embedded_resource" => json!([embedded("test://embedded-resource")]),
        "multiple_content_types" => {
            json!([text("Multiple content types test:"), image(), embedded("test://mixed-content-resource")])
        }
        "error_handling" => {
            return Some(Ok(json!({ "isError": true, "content": [text("This tool always returns an error.")] })));
        }
        "streaming_elicitation" => return asks("elicitation", params),
        name => return asks(name.strip_prefix("input_required_result_")?, params),
    };
    Some(Ok(json!({ "content": contents })))
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
fn asks(name: &str, params: &Value) -> Option<Result<Value, String>> {
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
        Some(None) => return Some(Err("`requestState` was changed".to_owned())),
        Some(Some(round)) => round,
        None => 0,
    };
    let answers = |keys: &&&[&str]| keys.iter().all(|key| given[*key].is_object());
    let next = rounds.iter().enumerate().skip(round).find(|(_, keys)| !answers(keys));
    Some(Ok(match next {
        Some((round, keys)) => {
            json!({ "resultType": "input_required", "inputRequests": inputs(keys), "requestState": format!("round-{round}") })
        }
        None => json!({ "content": [text(format!("state-ok {given}"))] }),
    }))
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

fn prompt(name: &str, params: &Value) -> Option<Result<Value, String>> {
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
            return Some(Ok(json!({ "resultType": "input_required", "inputRequests": inputs(&["user_context"]) })));
        }
        "input_required_result_prompt" => vec![text("A prompt in the context given.")],
        _ => return None,
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({ "role": "user", "content": content })).collect();
    Some(Ok(json!({ "messages": messages })))
}
