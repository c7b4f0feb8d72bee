//! Settings, router, startup and shutdown.

pub mod router;
pub mod serve;
pub mod settings;

pub use router::Router;
pub use serve::{ServeError, serve};
