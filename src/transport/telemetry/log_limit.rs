//! Rate limit for log lines of one kind, so that a storm does not fill the disk.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Admits a number of lines per window and counts the others.
pub(crate) struct LogLimit {
    lines: u32,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    start: Option<Instant>,
    admitted: u32,
    suppressed: u64,
}

const WINDOW: Duration = Duration::from_secs(10);

impl LogLimit {
    /// Admits `lines` per ten seconds.
    pub(crate) const fn new(lines: u32) -> Self {
        Self { lines, window: Mutex::new(Window { start: None, admitted: 0, suppressed: 0 }) }
    }

    /// Admits a line and returns the number suppressed since the last one; `None` if this one is suppressed too.
    pub(crate) fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window.start.is_none_or(|start| now.saturating_duration_since(start) >= WINDOW) {
            (window.start, window.admitted) = (Some(now), 0);
        }
        if window.admitted == self.lines {
            window.suppressed += 1;
            return None;
        }
        window.admitted += 1;
        Some(std::mem::take(&mut window.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted_in_the_next_window() {
        let (limit, start) = (LogLimit::new(2), Instant::now());
        let admit = |seconds| limit.admit_at(start + Duration::from_secs(seconds));
        assert_eq!([0, 1, 2, 9].map(admit), [Some(0), Some(0), None, None]);
        assert_eq!([10, 11, 12, 30].map(admit), [Some(2), Some(0), None, Some(1)]);
    }
}
