//! CPU time: what else the machine does stays out.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment in the CPU time of this thread.
pub struct Moment(Duration);

impl Moment {
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Self(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    pub fn elapsed(&self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}
