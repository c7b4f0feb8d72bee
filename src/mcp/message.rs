//! One JSON-RPC 2.0 request or notification.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{INVALID_PARAMS, PARSE_ERROR};
use crate::resource::firm_of;
use crate::{JsonRpcError, RpcResult};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonRpcMessage {
    /// A string or an integer; `None` for a notification.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// A body: a message, or several as a list (a batch, in the revision 2025-03-26).
#[derive(Debug)]
pub(crate) enum RpcBody {
    Message(JsonRpcMessage),
    Batch(Vec<RpcResult<JsonRpcMessage>>),
}

/// Maximum number of messages in a batch.
const MAX_BATCH: usize = 50;

impl RpcBody {
    /// Fails with −32700 if the body is not JSON, otherwise as [`JsonRpcMessage::from_value`]; of a batch each message
    /// by itself.
    pub(crate) fn parse(body: &[u8]) -> RpcResult<Self> {
        let value = serde_json::from_slice(body).map_err(|error| {
            let message = match body {
                [] => "the body is empty".to_owned(),
                _ => format!("the body is not JSON: {error}"),
            };
            JsonRpcError::new(StatusCode::BAD_REQUEST, PARSE_ERROR, message).with_code("invalid_json")
        })?;
        match value {
            Value::Array(values) if !(1..=MAX_BATCH).contains(&values.len()) => {
                let message = format!("a batch has 1 to {MAX_BATCH} messages, this one has {}", values.len());
                Err(JsonRpcError::invalid(message))
            }
            Value::Array(values) => Ok(Self::Batch(values.into_iter().map(JsonRpcMessage::from_value).collect())),
            value => JsonRpcMessage::from_value(value).map(Self::Message),
        }
    }
}

/// The `id` is that of the request; if that could not be read, it is null, or absent from 2026-07-28 on.
pub(crate) fn response(id: Option<&Value>, outcome: Result<impl Serialize, &JsonRpcError>) -> Vec<u8> {
    #[derive(Serialize)]
    struct JsonRpcResponse<'a, R> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<R>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a JsonRpcError>,
    }
    let (result, error) = match outcome {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    let response = JsonRpcResponse { jsonrpc: "2.0", id, result, error };
    serde_json::to_vec(&response).expect("text, numbers and JSON values always serialize")
}

fn invalid<T>(message: &'static str) -> RpcResult<T> {
    Err(JsonRpcError::invalid(message))
}

impl JsonRpcMessage {
    /// Fails with −32600 if the value is not a JSON-RPC 2.0 message, and with −32602 if `params` or its `_meta` is not
    /// an object.
    pub(crate) fn from_value(value: Value) -> RpcResult<Self> {
        let Value::Object(mut fields) = value else {
            return invalid("the body is not a JSON-RPC message: it must be an object");
        };
        let id = fields.remove("id");
        if !id.as_ref().is_none_or(|id| id.is_string() || id.is_i64()) {
            return invalid("`id` must be a string or an integer");
        }
        match Self::method_and_params(fields) {
            Ok((method, params)) => Ok(Self { id, method, params }),
            Err(error) => Err(JsonRpcError { id, ..error }),
        }
    }

    fn method_and_params(mut fields: Map<String, Value>) -> RpcResult<(String, Map<String, Value>)> {
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(r#"`jsonrpc` must be "2.0""#);
        }
        let is_response = fields.contains_key("result") || fields.contains_key("error");
        let method = match fields.remove("method") {
            Some(Value::String(_)) if is_response => return invalid("a request must not have `result` or `error`"),
            Some(Value::String(method)) => method,
            Some(_) => return invalid("`method` must be a string"),
            None if is_response => return invalid("this server sends no requests and accepts no responses"),
            None => return invalid("`method` is missing"),
        };
        let invalid_params = |message| JsonRpcError::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, message);
        let params = match fields.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid_params("`params` must be an object")),
        };
        match params.get("_meta") {
            None | Some(Value::Null | Value::Object(_)) => Ok((method, params)),
            Some(_) => Err(invalid_params("`params._meta` must be an object")),
        }
    }

    /// A field of the request's metadata in MCP's own namespace.
    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(format!("io.modelcontextprotocol/{name}"))
    }

    /// The protocol revision named by the request itself (2026-07-28 and later).
    pub(crate) fn revision(&self) -> Option<&str> {
        self.meta("protocolVersion")?.as_str()
    }

    /// True if the message runs a tool, or reads a firm, which is the same work; both count towards the quota.
    pub(crate) fn calls_tool(&self) -> bool {
        let reads_firm = || self.params.get("uri").and_then(Value::as_str).and_then(firm_of).is_some();
        let works = self.method == "tools/call" || self.method == "resources/read" && reads_firm();
        works && self.id.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::INVALID_REQUEST;

    #[test]
    fn invalid_messages_have_different_codes() {
        for (body, code, id) in [
            ("", PARSE_ERROR, None),
            ("{", PARSE_ERROR, None),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1}x", PARSE_ERROR, None),
            ("\"ping\"", INVALID_REQUEST, None),
            ("[]", INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST, Some(1)),
            (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, INVALID_PARAMS, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":"x"}}"#, INVALID_PARAMS, Some(1)),
        ] {
            let error = RpcBody::parse(body.as_bytes()).unwrap_err();
            assert_eq!((error.code, error.id), (code, id.map(Value::from)), "{body}");
            assert_eq!(error.status, 400, "{body}");
        }
    }

    #[test]
    fn a_batch_has_a_limit_and_each_of_its_messages_an_outcome() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let RpcBody::Batch(messages) = RpcBody::parse(format!("[{ping},7]").as_bytes()).unwrap() else {
            panic!("a list is a batch");
        };
        assert!(matches!(&*messages, [Ok(_), Err(_)]), "{messages:?}");
        for (messages, is_accepted) in [(0, false), (MAX_BATCH, true), (MAX_BATCH + 1, false)] {
            let body = format!("[{}]", vec![ping; messages].join(","));
            assert_eq!(RpcBody::parse(body.as_bytes()).is_ok(), is_accepted, "{messages}");
        }
    }

    #[test]
    fn a_message_is_parsed() {
        let body = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":null}"#;
        let message = JsonRpcMessage::from_value(serde_json::from_str(body).unwrap()).unwrap();
        assert_eq!((&message.id, message.method.as_str()), (&Some(Value::from("a")), "tools/call"));
        assert!(message.calls_tool() && message.params.is_empty());
        let notification = serde_json::json!({ "jsonrpc": "2.0", "method": "tools/call" });
        let notification = JsonRpcMessage::from_value(notification).unwrap();
        assert!(!notification.calls_tool());
    }
    #[test]
    fn an_error_carries_the_id_of_its_request() {
        let error = JsonRpcError::invalid("no").with_code("invalid_json");
        let rest = r#""error":{"code":-32600,"message":"no","data":{"code":"invalid_json"}}}"#;
        for (id, head) in [
            (Some(Value::from("a")), r#"{"jsonrpc":"2.0","id":"a","#),
            (Some(Value::Null), r#"{"jsonrpc":"2.0","id":null,"#),
            (None, r#"{"jsonrpc":"2.0","#),
        ] {
            let text = response(id.as_ref(), Err::<(), _>(&error));
            assert_eq!(String::from_utf8(text).unwrap(), format!("{head}{rest}"));
        }
    }
}
