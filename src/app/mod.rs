//! Settings, router, startup and shutdown, logs, metrics.

mod alerting;
pub(crate) mod limits;
mod memory;
pub(crate) mod metrics;
pub(crate) mod router;
pub(crate) mod serve;
pub mod settings;

pub use metrics::MetricsEndpoint;
pub use router::Router;
pub use serve::{ServeError, serve};
