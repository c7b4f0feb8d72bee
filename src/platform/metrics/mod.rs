//! Counters and histograms. Each crate counts its own work; `app::metrics` exports all of it to Prometheus.

mod histogram;
pub mod panics;
mod per_thread;

pub use histogram::{BOUNDS, Histogram, Observations};
pub use per_thread::PerThread;
