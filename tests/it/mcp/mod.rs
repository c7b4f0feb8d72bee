//! The MCP endpoint: its protocol and its tools.

mod docs;
mod endpoint;
mod hostile;
mod manifest;
mod protocol;
mod quota;
mod request;
mod tools;
mod usefulness;
