//! The endpoint over the bundled release, without a network.

use std::sync::Arc;

use mcp::{McpEndpoint, McpQuota, Settings, ToolBackend};
use tempfile::TempDir;

use crate::support::harness::{bundled, state};

/// Tool calls a day of the only client.
pub const LIMIT: u32 = 100;

const PUBLIC_URL: &str = "http://127.0.0.1:8080";

pub struct Endpoint {
    pub mcp: McpEndpoint,
    _data: TempDir,
}

impl Endpoint {
    pub fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let state = state(bundled(), data.path(), PUBLIC_URL);
        let settings = Settings { body_limit: 4_096, ..Settings::new(PUBLIC_URL) };
        let tools = ToolBackend::new(Arc::clone(&state.releases), PUBLIC_URL, [7; 32]);
        let quota = McpQuota { state, daily_limit: LIMIT, pools: Arc::new([]) };
        Self { mcp: McpEndpoint::new(&settings, tools, quota), _data: data }
    }
}
