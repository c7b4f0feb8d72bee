//! The MCP endpoint for assistants: Streamable HTTP at `POST /api/mcp`, and its manifest.
//!
//! It keeps no state between requests, in any protocol revision. Each tool is a query of the catalog.
#![warn(unreachable_pub)]

mod arg_error;
mod args;
mod backend;
mod completion;
mod dispatch;
mod endpoint;
mod error;
mod list_call;
pub mod manifest;
mod message;
mod output_schema;
mod profile;
mod prompt;
mod quota;
mod resource;
mod revision;
mod third_party;
mod tool;
mod tool_result;

pub use args::{Argument, ToolCall};
pub use backend::{ToolBackend, ToolRelease};
pub use endpoint::{McpEndpoint, McpPath};
pub(crate) use error::{JsonRpcError, RpcResult};
pub use quota::McpQuota;
pub use tool::Tool;
pub use tool_result::MAX_RESULT_BYTES;
pub(crate) use tool_result::ToolResult;

use transport::origin::Origin;

#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL under which clients reach the service, such as `https://api.example.com`.
    pub public_url: String,
    pub on_loopback: bool,
    /// Origins of web pages that may call it; `None`: see [`OriginPolicy`](transport::origin_policy::OriginPolicy).
    pub allowed_origins: Option<Vec<Origin>>,
    pub body_limit: usize,
    /// Daily tool calls of a caller without a key, as stated in the manifest; `None`: unlimited.
    pub calls_per_day: Option<u32>,
}

impl Settings {
    pub fn new(public_url: impl Into<String>) -> Self {
        Self {
            public_url: public_url.into(),
            on_loopback: true,
            allowed_origins: None,
            body_limit: 128 * 1024,
            calls_per_day: Some(100),
        }
    }
}
