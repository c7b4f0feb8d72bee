//! The front doors: the only user of warp.

pub mod address;
pub mod arrival;
mod assets;
pub mod callers;
pub mod docs;
pub mod encoding;
pub mod fixed;
pub mod frame;
pub mod headers;
pub mod library;
pub mod mcp;
pub mod openapi;
pub mod pages;
pub mod problem;
mod records;
pub mod rest;
pub mod routes;
pub mod state;

pub use callers::Callers;
pub use rest::Kept;
pub use routes::{Routes, routes};
pub use state::State;
