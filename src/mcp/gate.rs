//! The seam to the access room: who calls, and what is left of their quota.

use std::pin::Pin;

use http::HeaderMap;
use http::request::Parts;

use crate::mcp::JsonRpcError;
use crate::mcp::error::REFUSED;

/// Decides about callers. Asked once per request.
pub trait McpAdmission: Send + Sync + 'static {
    /// Looks up the caller of a request, by its key or its client address. `charged` requests are taken from the quota;
    /// of others the standing is told only.
    fn admit<'a>(&'a self, request: &'a Parts, charged: bool) -> Admitting<'a>;
}

/// An admission that is being decided.
pub type Admitting<'a> = Pin<Box<dyn Future<Output = Admission> + Send + 'a>>;

/// What the gate says of one request.
#[derive(Default)]
pub struct Admission {
    /// The headers that every answer to the caller carries: `X-RateLimit-*` and their kin.
    pub headers: HeaderMap,
    /// Why the request is not answered, if it is not.
    pub refusal: Option<JsonRpcError>,
    /// Gives back what was taken, for an answer that is the server's own fault; tells the headers as they are then.
    pub refund: Option<Box<dyn FnOnce() -> HeaderMap + Send>>,
}

impl JsonRpcError {
    /// A refusal of the service itself, such as 429 `quota_exceeded` with its `limit` and `resets_at` in `data`.
    #[must_use]
    pub fn refused(status: http::StatusCode, message: String, data: serde_json::Value) -> Self {
        Self { data: Some(data), ..Self::new(status, REFUSED, message) }
    }
}
