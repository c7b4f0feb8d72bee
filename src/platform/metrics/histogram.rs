//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in seconds; a final bucket is unbounded.
pub const BOUNDS: [f64; 8] = [0.000_1, 0.000_5, 0.002_5, 0.01, 0.05, 0.25, 1.0, 5.0];

#[derive(Debug, Default)]
pub struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    /// In nanoseconds.
    sum: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observations {
    /// In the order of [`BOUNDS`]; not cumulative.
    pub counts: [u64; BOUNDS.len() + 1],
    pub seconds: f64,
}

impl Histogram {
    pub const fn new() -> Self {
        Self { counts: [const { AtomicU64::new(0) }; BOUNDS.len() + 1], sum: AtomicU64::new(0) }
    }

    pub fn observe(&self, duration: Duration) {
        let (nanoseconds, seconds) = (u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX), duration.as_secs_f64());
        let bucket = BOUNDS.iter().filter(|bound| seconds > **bound).count();
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub fn observations(&self) -> Observations {
        let counts = std::array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed));
        Observations { counts, seconds: self.sum.load(Ordering::Relaxed) as f64 / 1e9 }
    }
}

impl std::iter::Sum for Observations {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, next| Self {
            counts: std::array::from_fn(|bucket| sum.counts[bucket] + next.counts[bucket]),
            seconds: sum.seconds + next.seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_of_the_lowest_bound_that_is_not_below_it() {
        let histogram = Histogram::default();
        for (position, bound) in BOUNDS.iter().enumerate() {
            let bound = Duration::from_secs_f64(*bound);
            let before = histogram.observations();
            histogram.observe(bound);
            histogram.observe(bound + Duration::from_nanos(1));
            let after = histogram.observations();
            assert_eq!(after.counts[position], before.counts[position] + 1);
            assert_eq!(after.counts[position + 1], before.counts[position + 1] + 1);
        }
        let all = histogram.observations();
        let expected = 2.0 * BOUNDS.iter().sum::<f64>();
        assert!((all.seconds - expected).abs() < 1e-6);
        let twice: Observations = [all, all].into_iter().sum();
        assert_eq!(twice.counts.iter().sum::<u64>(), 4 * BOUNDS.len() as u64);
        assert!((twice.seconds - 2.0 * all.seconds).abs() < 1e-9);
    }
}
