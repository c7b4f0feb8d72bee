//! What counts and measures. Each module counts what it does; `app::metrics` reads all of it for Prometheus.

mod histogram;
pub mod panics;
mod per_thread;

pub use histogram::{BOUNDS, Histogram, Observations};
pub use per_thread::PerThread;
