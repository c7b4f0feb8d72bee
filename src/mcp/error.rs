//! JSON-RPC errors with their HTTP status.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

/// The body is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// Not a JSON-RPC 2.0 message, or one that this endpoint does not accept.
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// A header that does not match the body (2026-07-28).
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Rejected by the service itself (API key, quota); the reason is in `data.code`.
pub(crate) const REJECTED: i32 = -32000;

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonRpcError {
    pub(crate) status: StatusCode,
    pub(crate) code: i32,
    /// What is wrong and how to fix it.
    pub(crate) message: Cow<'static, str>,
    /// The service's own code, as in REST errors, and its details.
    pub(crate) data: Option<Value>,
}

impl JsonRpcError {
    pub(crate) fn new(status: StatusCode, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }

    /// 400 with −32600.
    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, message)
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Adds the service's own code, as in REST errors.
    pub(crate) fn with_code(self, code: &str) -> Self {
        self.with_data(json!({ "code": code }))
    }

    /// The JSON-RPC message. `id` is that of the request, null if it could not be read, or absent.
    pub(crate) fn body(&self, id: Option<&Value>) -> Bytes {
        #[derive(Serialize)]
        struct Body<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a Value>,
            error: ErrorObject<'a>,
        }
        #[derive(Serialize)]
        struct ErrorObject<'a> {
            code: i32,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Value>,
        }
        let error = ErrorObject { code: self.code, message: &self.message, data: self.data.as_ref() };
        let body = serde_json::to_vec(&Body { jsonrpc: "2.0", id, error });
        body.expect("text, numbers and JSON values always serialize").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_carries_the_id_of_its_request() {
        let error = JsonRpcError::invalid("no").with_code("invalid_json");
        let rest = r#""error":{"code":-32600,"message":"no","data":{"code":"invalid_json"}}}"#;
        for (id, head) in [
            (Some(Value::from("a")), r#"{"jsonrpc":"2.0","id":"a","#),
            (Some(Value::Null), r#"{"jsonrpc":"2.0","id":null,"#),
            (None, r#"{"jsonrpc":"2.0","#),
        ] {
            assert_eq!(error.body(id.as_ref()), format!("{head}{rest}"));
        }
    }
}
