//! The time by which the service acts, on a machine whose clock may jump.
//!
//! A clock that is wrong for some seconds must not give a used-up key another quota, and must never delete data: what is
//! deleted does not come back when the clock is right again. So the clock is compared with one that cannot be set, the
//! monotonic clock of the system, and with the time in the store.
//!
//! **Quotas, sessions, time stamps** follow the clock. After a jump of more than a day, in either direction, they go on
//! with the time before, and follow the clock if it stays for [`FOLLOWED_AFTER`]: a clock that was wrong and has been
//! set must not leave the service in the past for long.
//!
//! **Purges** use a time of their own, which the store keeps. It advances with the monotonic clock, never passes the
//! clock of the machine and never goes back. So in a day a purge deletes no more than a day's worth, whatever the clock
//! says: as long as the stored time was right, no row is deleted before its time. While no server runs, it does not advance;
//! it catches up once a server has run for [`TRUSTED_AFTER`] and its clock was not set. Until then data is kept for longer.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data::rfc3339;
use platform::metrics::Counter;

/// Time since some moment in the past: it never goes back, and is not changed when the clock of the machine is set.
pub type MonotonicClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Seconds. A smaller change of the clock is followed at once: it leads to a neighboring day, whose usage is in memory.
const JUMP: u64 = 86_400;

/// Seconds for which the clock must run on after a jump to be followed.
const FOLLOWED_AFTER: i64 = 600;

/// Seconds in which the clock was not set, after which purges follow it: an operator has had a week to notice a wrong one.
const TRUSTED_AFTER: i64 = 7 * 86_400;

/// Seconds between two lines of the log about jumps.
const LOGGED_EVERY: i64 = 60;

/// Seconds after which the time of purges is stored again.
const STORED_EVERY: i64 = 3_600;

/// Seconds by which the clock may differ from the followed time without having been set.
const DRIFT: u64 = 30;

/// A change of the clock of a server that the monotonic clock contradicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockJump {
    /// Time of the jump by the clock before it, in Unix seconds.
    pub at: i64,
    /// Negative if the clock went back.
    pub seconds: i64,
}

pub(crate) struct SteadyTime {
    monotonic: MonotonicClock,
    /// Seconds by which the followed time is ahead of the monotonic one.
    ahead: AtomicI64,
    /// True while the clock is too far from the followed time.
    is_apart: AtomicBool,
    state: Mutex<SteadyState>,
    jumps: Counter,
}

/// Times without a remark are seconds of the monotonic clock.
#[derive(Default)]
struct SteadyState {
    /// The jump that is not yet followed: the seconds by which the clock is ahead of the monotonic one, and its time.
    unfollowed: Option<(i64, i64)>,
    /// Time at which the clock was last set.
    steady_since: i64,
    logged_at: Option<i64>,
    /// The time of purges in Unix seconds, and when that was.
    purge_base: (i64, i64),
    /// The latest time of purges in Unix seconds, and the one in the store.
    purge_time: i64,
    stored: i64,
    /// The last jump, if it is not stored yet.
    unstored_jump: Option<ClockJump>,
}

/// Times that the store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeToStore {
    /// Unix seconds.
    pub(crate) purge_time: i64,
    pub(crate) jump: Option<ClockJump>,
}

pub(crate) fn system_monotonic() -> MonotonicClock {
    let started = Instant::now();
    Arc::new(move || started.elapsed())
}

impl SteadyTime {
    pub(crate) fn new(monotonic: MonotonicClock) -> Self {
        Self {
            monotonic,
            ahead: AtomicI64::default(),
            is_apart: AtomicBool::default(),
            state: Mutex::default(),
            jumps: Counter::default(),
        }
    }

    /// Starts with the clock and the time of purges in the store, both in Unix seconds. A clock that is behind the store
    /// has jumped back while no server ran.
    pub(crate) fn begin(&self, clock: i64, stored: i64) {
        let passed = self.passed();
        let is_behind = clock < stored && clock.abs_diff(stored) > JUMP;
        let followed = if is_behind { stored } else { clock };
        self.ahead.store(followed.saturating_sub(passed), Ordering::Relaxed);
        *self.state() = SteadyState {
            steady_since: passed,
            purge_base: (stored, passed),
            purge_time: stored,
            // It is stored at once, because it may come from events.
            ..SteadyState::default()
        };
    }

    /// The time to act by, when the clock shows `clock` (both in Unix seconds).
    pub(crate) fn follow(&self, clock: i64) -> i64 {
        let passed = self.passed();
        let expected = self.ahead.load(Ordering::Relaxed).saturating_add(passed);
        let difference = clock.abs_diff(expected);
        if difference > JUMP {
            return self.without_clock(clock, passed, expected);
        }
        if self.is_apart.load(Ordering::Relaxed) {
            self.state().unfollowed = None;
            self.is_apart.store(false, Ordering::Relaxed);
        }
        if difference > 0 {
            self.ahead.store(clock.saturating_sub(passed), Ordering::Relaxed);
        }
        if difference > DRIFT {
            self.state().steady_since = passed;
        }
        clock
    }

    /// The time to act by while the clock is far from it.
    fn without_clock(&self, clock: i64, passed: i64, expected: i64) -> i64 {
        let mut state = self.state();
        let ahead = clock.saturating_sub(passed);
        match state.unfollowed {
            Some((known, since)) if known.abs_diff(ahead) <= JUMP => {
                if passed.saturating_sub(since) < FOLLOWED_AFTER {
                    return expected;
                }
                state.unfollowed = None;
                self.ahead.store(ahead, Ordering::Relaxed);
                self.is_apart.store(false, Ordering::Relaxed);
                tracing::warn!("the server follows the clock, which has run on from {} since its jump", rfc3339(clock));
                clock
            }
            _ => {
                state.unfollowed = Some((ahead, passed));
                state.steady_since = passed;
                state.unstored_jump = Some(ClockJump { at: expected, seconds: clock.saturating_sub(expected) });
                self.is_apart.store(true, Ordering::Relaxed);
                self.jumps.add(1);
                if state.logged_at.is_none_or(|logged_at| passed.saturating_sub(logged_at) >= LOGGED_EVERY) {
                    state.logged_at = Some(passed);
                    tracing::warn!(
                        "the clock jumped from {} to {}: the server goes on with the time before, and follows the clock if it \
                         stays for {} minutes; set it, and keep it with a time service",
                        rfc3339(expected),
                        rfc3339(clock),
                        FOLLOWED_AFTER / 60
                    );
                }
                expected
            }
        }
    }

    /// The time of purges in Unix seconds, when `now` is the time to act by: what expired before it may be deleted.
    pub(crate) fn purge_time(&self, now: i64) -> i64 {
        let passed = self.passed();
        let mut state = self.state();
        if state.unfollowed.is_none() && passed.saturating_sub(state.steady_since) >= TRUSTED_AFTER {
            state.purge_base = (now, passed);
        }
        let (base, since) = state.purge_base;
        let due = base.saturating_add(passed.saturating_sub(since)).min(now);
        state.purge_time = state.purge_time.max(due);
        state.purge_time
    }

    /// The times to store now: once an hour and after a jump; with `is_last`, all that are not stored.
    pub(crate) fn to_store(&self, is_last: bool) -> Option<TimeToStore> {
        let state = self.state();
        let (purge_time, jump) = (state.purge_time, state.unstored_jump);
        let age = purge_time.saturating_sub(state.stored);
        (jump.is_some() || age >= if is_last { 1 } else { STORED_EVERY }).then_some(TimeToStore { purge_time, jump })
    }

    pub(crate) fn set_stored(&self, stored: TimeToStore) {
        let mut state = self.state();
        state.stored = stored.purge_time;
        state.unstored_jump = state.unstored_jump.filter(|jump| Some(*jump) != stored.jump);
    }

    pub(crate) fn jumps(&self) -> u64 {
        self.jumps.get()
    }

    /// Seconds of the monotonic clock.
    pub(crate) fn passed(&self) -> i64 {
        i64::try_from((self.monotonic)().as_secs()).unwrap_or(i64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, SteadyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
