//! The front doors: the only user of warp.

pub mod arrival;
pub mod headers;
pub mod mcp;
pub mod problem;
pub mod rest;
pub mod state;

pub use state::State;
