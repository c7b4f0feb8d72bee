//! Settings, router, startup and shutdown, logs, metrics.

mod alerting;
pub mod metrics;
pub mod router;
pub mod serve;
pub mod settings;
mod telemetry;

pub use metrics::MetricsEndpoint;
pub use router::Router;
pub use serve::{ServeError, serve};
