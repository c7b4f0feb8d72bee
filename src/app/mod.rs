//! Settings, router, startup and shutdown.

pub mod router;
pub mod serve;
pub mod settings;

pub use router::{Routes, routes};
pub use serve::{ServeError, serve};
