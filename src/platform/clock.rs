//! The clock of the machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Current time in Unix seconds; 0 if the clock is set to a time before 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Processor time that this thread has used. Only differences on one thread have a meaning.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(used.tv_sec).ok(), u32::try_from(used.tv_nsec).ok());
    Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
}

/// Time since the first call: this platform does not tell the processor time of a thread to safe code.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Runs `work` and returns its result with the processor time that it took on this thread.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let result = work();
    (result, thread_time().saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_processor_time_of_the_own_thread_is_measured() {
        let ((), idle) = measure(|| std::thread::sleep(Duration::from_millis(30)));
        let mut sum = 0_u64;
        let ((), busy) = measure(|| {
            let start = thread_time();
            while thread_time() - start < Duration::from_millis(30) {
                sum = sum.wrapping_add(std::hint::black_box(1));
            }
        });
        assert!(busy >= Duration::from_millis(30), "{busy:?}");
        if cfg!(unix) {
            assert!(idle < busy, "{idle:?} {busy:?}");
        }
    }
}
