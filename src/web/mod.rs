//! The front doors: the only user of warp.

pub mod address;
pub mod arrival;
pub mod callers;
pub mod docs;
pub mod encoding;
pub mod fixed;
pub mod headers;
pub mod mcp;
pub mod openapi;
pub mod problem;
pub mod rest;
pub mod routes;
pub mod state;

pub use callers::Callers;
pub use rest::Kept;
pub use routes::routes;
pub use state::State;
