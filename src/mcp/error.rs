//! JSON-RPC errors with their HTTP status.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use transport::body::BodyReadError;
use transport::origin_policy::OriginRejected;
use transport::problem::Problem;

pub(crate) const PARSE_ERROR: i32 = -32700;
/// Not a JSON-RPC 2.0 message, or one that this endpoint does not accept.
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// A header that does not match the body (2026-07-28).
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Base of the codes of the service's own errors (API key, quota, load); the HTTP status is added to it. They lie
/// outside the range that JSON-RPC reserves. The reason is in `data.code`.
const SERVICE_ERRORS: i32 = 1_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct JsonRpcError {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    #[serde(skip)]
    pub(crate) id: Option<Value>,
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    /// The service's own code, as in REST errors, and its details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

pub(crate) type RpcResult<T> = Result<T, JsonRpcError>;

impl JsonRpcError {
    pub(crate) fn new(status: StatusCode, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, id: None, code, message: message.into(), data: None }
    }

    /// 400 with −32600.
    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, message)
    }

    /// −32600 with an HTTP status, and the service's own code as in REST errors.
    pub(crate) fn http(status: StatusCode, code: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, INVALID_REQUEST, message).with_code(code)
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    pub(crate) fn with_code(self, code: &str) -> Self {
        self.with_data(json!({ "code": code }))
    }
}

impl From<Problem> for JsonRpcError {
    fn from(problem: Problem) -> Self {
        let status = problem.code.status();
        let code = SERVICE_ERRORS + i32::from(status.as_u16());
        Self::new(status, code, problem.detail).with_code(problem.code.name())
    }
}

impl From<OriginRejected> for JsonRpcError {
    fn from(rejected: OriginRejected) -> Self {
        let message = rejected.to_string();
        match rejected {
            OriginRejected::NoHost => Self::invalid(message),
            OriginRejected::Host(_) => Self::http(StatusCode::FORBIDDEN, "host_not_allowed", message),
            OriginRejected::Origin => Self::http(StatusCode::FORBIDDEN, "origin_not_allowed", message),
        }
    }
}

impl From<BodyReadError> for JsonRpcError {
    fn from(error: BodyReadError) -> Self {
        let message = error.to_string();
        match error {
            BodyReadError::TooLarge(_) => Self::http(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message),
            BodyReadError::Timeout(_) => Self::http(StatusCode::REQUEST_TIMEOUT, "request_timeout", message),
            BodyReadError::Incomplete => Self::invalid(message),
        }
    }
}
