//! The MCP endpoint: its protocol and its tools.

mod batches;
mod bundle;
mod docs;
mod endpoint;
mod hostile;
mod manifest;
mod paging;
mod protocol;
mod quota;
mod reference;
mod request;
pub mod tools;
mod usefulness;
