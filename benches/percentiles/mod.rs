//! Percentiles of measured times.

use std::time::Duration;

/// The median, the 99th percentile and the maximum in microseconds; 0 without times.
pub fn times(times: &mut [Duration]) -> (f64, f64, f64) {
    times.sort_unstable();
    let at = |share: f64| {
        times.get((times.len() as f64 * share) as usize).or(times.last()).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    (at(0.5), at(0.99), at(1.0))
}
