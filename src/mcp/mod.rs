//! The tool endpoint: MCP over Streamable HTTP at `POST /api/mcp`, and its manifest.
//!
//! Without state in every protocol revision: rmcp speaks the protocol for one request at a time; the bridge around it checks what rmcp leaves open. Where tools get their answers is behind [`Tools`], who
//! may call behind [`McpAdmission`].

pub mod answer;
pub mod args;
pub mod backend;
pub mod endpoint;
pub mod error;
pub mod gate;
pub mod handler;
pub mod manifest;
pub mod message;
pub mod origin_policy;
pub mod output_schema;
pub mod profile;
pub mod quota;
pub mod structured;
pub mod tool;
pub mod tool_result;

pub use answer::{Release, ToolAnswer, Tools};
pub use args::{ArgError, Argument, ToolCall};
pub use backend::ToolBackend;
pub use endpoint::{McpEndpoint, McpPath};
pub use error::JsonRpcError;
pub use gate::{Admission, Admitting, McpAdmission};
pub use origin_policy::{OriginPolicy, OriginPolicyError};
pub use quota::McpQuota;
pub use tool::Tool;
pub use tool_result::{LONGEST, ToolResult};

use crate::http::origin::Origin;

/// How the endpoint is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address that clients reach the service at, such as `https://api.example.com`.
    pub public_url: String,
    /// True where the server listens on a loopback address only.
    pub on_loopback: bool,
    /// Origins that may call from browsers; `None`: see [`OriginPolicy::new`].
    pub allowed_origins: Option<Vec<Origin>>,
    /// Bytes of a request's body; above it the answer is 413.
    pub body_limit: usize,
    /// Calls of tools that a caller without a key has per UTC day, as the manifest tells it; `None`: unlimited.
    pub calls_per_day: Option<u32>,
}

impl Settings {
    /// The settings of a server that is reached at `public_url`.
    #[must_use]
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
