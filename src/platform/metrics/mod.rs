//! Counters and histograms. Each crate counts its own work; `app::metrics` exports all of it to Prometheus.

use std::sync::atomic::{AtomicU64, Ordering};

mod histogram;
pub mod panics;
mod per_thread;

pub use histogram::{BOUNDS, Histogram, Observations};
pub use per_thread::PerThread;

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, events: u64) {
        self.0.fetch_add(events, Ordering::Relaxed);
    }

    /// Counters that are read afterwards are not read from an earlier time.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
