//! The front doors: the only user of warp.

pub mod arrival;
pub mod mcp;
