//! The processor time of one request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Sum and maximum of the pieces of work of a request, in nanoseconds.
#[derive(Debug, Default)]
pub struct WorkMeter {
    total: AtomicU64,
    longest: AtomicU64,
}

impl WorkMeter {
    pub fn add(&self, piece: Duration) {
        let nanoseconds = u64::try_from(piece.as_nanos()).unwrap_or(u64::MAX);
        self.total.fetch_add(nanoseconds, Ordering::Relaxed);
        self.longest.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn add_pieces(&self, pieces: &Self) {
        self.total.fetch_add(pieces.total.load(Ordering::Relaxed), Ordering::Relaxed);
        self.longest.fetch_max(pieces.longest.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.total.load(Ordering::Relaxed))
    }

    pub fn longest_piece(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Ordering::Relaxed))
    }
}

/// Price of processor time in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkPrice {
    /// Processor time that one request pays for.
    pub of_request: Duration,
}

impl WorkPrice {
    /// Each started [`of_request`](Self::of_request) is a request; no work is one, too.
    pub fn requests(self, work: Duration) -> u32 {
        let price = work.as_nanos().div_ceil(self.of_request.as_nanos().max(1)).max(1);
        u32::try_from(price).unwrap_or(u32::MAX)
    }
}

impl Default for WorkPrice {
    /// Several times the work of the dearest single search, so that only large requests cost more than one.
    fn default() -> Self {
        Self { of_request: Duration::from_millis(25) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_started_unit_of_work_costs_a_request() {
        let price = WorkPrice { of_request: Duration::from_millis(25) };
        let requests =
            [0, 1, 25, 26, 50, 3_363].map(|milliseconds| price.requests(Duration::from_millis(milliseconds)));
        assert_eq!(requests, [1, 1, 1, 2, 2, 135]);
        assert_eq!(WorkPrice { of_request: Duration::ZERO }.requests(Duration::from_secs(5)), u32::MAX);
    }

    #[test]
    fn a_meter_knows_the_sum_and_the_longest_piece() {
        let meter = WorkMeter::default();
        [3, 7, 2].into_iter().for_each(|milliseconds| meter.add(Duration::from_millis(milliseconds)));
        assert_eq!((meter.total(), meter.longest_piece()), (Duration::from_millis(12), Duration::from_millis(7)));
    }
}
