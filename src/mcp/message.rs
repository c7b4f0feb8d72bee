//! One message of JSON-RPC 2.0, as far as it must be understood before a method sees it.
//!
//! rmcp reads a body into its own types at once and answers whatever does not fit with 415; the shape is checked here
//! first, so that each fault has its own code. What passes is written anew for rmcp: both read the same text then, also
//! where a key stood twice.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value};

use crate::mcp::JsonRpcError;
use crate::mcp::error::{INVALID_PARAMS, PARSE_ERROR};

/// A message that has the shape of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    fields: Map<String, Value>,
}

/// A fault, and the id it is answered to where one could be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unreadable {
    pub fault: JsonRpcError,
    pub id: Option<Value>,
}

impl From<JsonRpcError> for Unreadable {
    fn from(fault: JsonRpcError) -> Self {
        Self { fault, id: None }
    }
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// −32700 where the text is not JSON, −32600 where it is no message of JSON-RPC 2.0 or a batch of them, −32602
    /// where `params` is not an object.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Unreadable> {
        let value = serde_json::from_slice(text).map_err(|error| {
            let what =
                if text.is_empty() { "the body is empty".to_owned() } else { format!("the body is not JSON: {error}") };
            JsonRpcError::new(StatusCode::BAD_REQUEST, PARSE_ERROR, what).with_code("invalid_json")
        })?;
        let mut fields = match value {
            Value::Object(fields) => fields,
            Value::Array(_) => {
                return Err(JsonRpcError::invalid("batches are not taken: send one message per request").into());
            }
            _ => return Err(JsonRpcError::invalid("the body is not a JSON-RPC message: it must be an object").into()),
        };
        let id = match fields.get("id") {
            None => None,
            Some(id @ Value::String(_)) => Some(id.clone()),
            Some(Value::Number(number)) if number.is_i64() => Some(Value::Number(number.clone())),
            Some(_) => return Err(JsonRpcError::invalid("`id` must be a string or a whole number").into()),
        };
        let unreadable = |fault| Unreadable { fault, id: id.clone() };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(unreadable(JsonRpcError::invalid(r#"`jsonrpc` must be "2.0""#)));
        }
        match fields.get("method") {
            Some(Value::String(_)) => {}
            Some(_) => return Err(unreadable(JsonRpcError::invalid("`method` must be a string"))),
            None if fields.contains_key("result") || fields.contains_key("error") => {
                return Err(unreadable(JsonRpcError::invalid("this server asks nothing, so it takes no responses")));
            }
            None => return Err(unreadable(JsonRpcError::invalid("`method` is missing"))),
        }
        if fields.contains_key("result") || fields.contains_key("error") {
            return Err(unreadable(JsonRpcError::invalid("a request has neither `result` nor `error`")));
        }
        match fields.get("params") {
            None | Some(Value::Object(_)) => {}
            Some(Value::Null) => {
                fields.remove("params");
            }
            Some(_) => {
                let fault = JsonRpcError::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, "`params` must be an object");
                return Err(unreadable(fault));
            }
        }
        Ok(Self { fields })
    }

    /// The id; `None` for a notification.
    pub(crate) fn id(&self) -> Option<&Value> {
        self.fields.get("id")
    }

    /// The method.
    pub(crate) fn method(&self) -> &str {
        self.fields.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    /// The protocol revision that the request itself names (2026-07-28 and later).
    pub(crate) fn version(&self) -> Option<&str> {
        let meta = self.fields.get("params")?.get("_meta")?;
        meta.get("io.modelcontextprotocol/protocolVersion")?.as_str()
    }

    /// True where the request itself names a revision without a handshake (2026-07-28 and later).
    pub(crate) fn is_modern(&self) -> bool {
        self.version().is_some_and(|version| version >= "2026-07-28")
    }

    /// True where a tool is to be called, which is what the quota counts.
    pub(crate) fn calls_a_tool(&self) -> bool {
        self.method() == "tools/call" && self.id().is_some()
    }

    /// The message as JSON.
    pub(crate) fn text(&self) -> Bytes {
        Bytes::from(serde_json::to_vec(&self.fields).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::error::INVALID_REQUEST;

    #[test]
    fn what_is_no_message_is_told_apart() {
        for (text, code, id) in [
            ("", PARSE_ERROR, None),
            ("{", PARSE_ERROR, None),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1}x", PARSE_ERROR, None),
            ("\"ping\"", INVALID_REQUEST, None),
            ("[]", INVALID_REQUEST, None),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST, None),
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
        ] {
            let unreadable = Message::read(text.as_bytes()).unwrap_err();
            assert_eq!((unreadable.fault.code, unreadable.id), (code, id.map(Value::from)), "{text}");
            assert_eq!(unreadable.fault.status, 400, "{text}");
        }
    }

    #[test]
    fn a_message_is_read() {
        let text = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":null}"#;
        let message = Message::read(text.as_bytes()).unwrap();
        assert_eq!((message.id(), message.method()), (Some(&Value::from("a")), "tools/call"));
        assert!(message.calls_a_tool() && !message.text().windows(6).any(|part| part == b"params"));
        let notification = Message::read(br#"{"jsonrpc":"2.0","method":"tools/call"}"#).unwrap();
        assert!(!notification.calls_a_tool());
    }
}
