//! JSON-RPC errors: what is answered where a message cannot be, with its HTTP status.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

/// JSON that cannot be read.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// Not a message of JSON-RPC 2.0, or one that this endpoint does not take.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// A method that is not served.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// Parameters that the method cannot take.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// A fault of the server.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// A protocol revision that is not spoken here.
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// A refusal of the service itself (key, quota, load); `data.code` tells which.
pub(crate) const REFUSED: i32 = -32000;

/// Why a request was not answered by its method.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonRpcError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The code of JSON-RPC.
    pub code: i32,
    /// What is wrong, and the mend.
    pub message: Cow<'static, str>,
    /// The stable code of the service and what belongs to it.
    pub data: Option<Value>,
}

impl JsonRpcError {
    pub(crate) fn new(status: StatusCode, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }

    /// A message that cannot be taken: 400, −32600.
    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, message)
    }

    /// The same with the service's own code, as in the errors of REST.
    pub(crate) fn with_code(self, code: &str) -> Self {
        Self { data: Some(serde_json::json!({ "code": code })), ..self }
    }

    /// The body: a JSON-RPC error to the request `id`.
    pub(crate) fn body(&self, id: ErrorId<'_>) -> Bytes {
        let id = match id {
            ErrorId::Of(id) => Some(Some(id)),
            ErrorId::Null => Some(None),
            ErrorId::Absent => None,
        };
        let error = ErrorObject { code: self.code, message: &self.message, data: self.data.as_ref() };
        Bytes::from(serde_json::to_vec(&ErrorMessage { jsonrpc: "2.0", id, error }).unwrap_or_default())
    }
}

/// The id of an error: that of its request, or what stands for one that could not be read. JSON-RPC wants a null there,
/// MCP from 2026-07-28 on wants nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorId<'a> {
    Of(&'a Value),
    Null,
    Absent,
}

#[derive(Serialize)]
struct ErrorMessage<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<&'a Value>>,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_id_that_it_answers() {
        let fault = JsonRpcError::invalid("no").with_code("invalid_json");
        let id = Value::from("a");
        let rest = r#""error":{"code":-32600,"message":"no","data":{"code":"invalid_json"}}}"#;
        for (id, head) in [
            (ErrorId::Of(&id), r#"{"jsonrpc":"2.0","id":"a","#),
            (ErrorId::Null, r#"{"jsonrpc":"2.0","id":null,"#),
            (ErrorId::Absent, r#"{"jsonrpc":"2.0","#),
        ] {
            assert_eq!(fault.body(id), format!("{head}{rest}"));
        }
    }
}
