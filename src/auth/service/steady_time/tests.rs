//! The time to act by and the time of purges, with clocks that are set in all ways.

use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;

use super::*;

const NOON: i64 = 1_795_262_400;
const DAY: i64 = 86_400;
const YEAR: i64 = 365 * DAY;

/// A steady time, and the seconds that passed since its start.
fn steady(clock: i64, stored: i64) -> (SteadyTime, Arc<AtomicI64>) {
    let passed = Arc::new(AtomicI64::new(0));
    let shown = Arc::clone(&passed);
    let time = SteadyTime::new(Arc::new(move || Duration::from_secs(shown.load(Ordering::Relaxed).cast_unsigned())));
    time.begin(clock, stored);
    (time, passed)
}

#[test]
fn a_jump_of_years_for_seconds_changes_nothing() {
    for jump in [401 * DAY, -401 * DAY, 30 * YEAR, -50 * YEAR, i64::MAX - NOON, i64::MIN] {
        let (time, passed) = steady(NOON, NOON);
        assert_eq!((time.follow(NOON), time.purge_time(NOON)), (NOON, NOON));
        for second in 1..=2 {
            passed.store(second, Ordering::Relaxed);
            let now = time.follow(jump.saturating_add(NOON + second));
            assert_eq!((now, time.purge_time(now)), (NOON + second, NOON + second), "{jump}");
        }
        passed.store(3, Ordering::Relaxed);
        assert_eq!((time.follow(NOON + 3), time.purge_time(NOON + 3)), (NOON + 3, NOON + 3), "{jump}");
        assert_eq!(time.jumps(), 1, "one jump is noted once");
        let stored = time.to_store(false).unwrap();
        assert_eq!(stored.jump.map(|jump| jump.at), Some(NOON + 1));
        time.set_stored(stored);
        assert_eq!(time.to_store(false), None);
    }
}

#[test]
fn a_clock_that_stays_is_followed_after_ten_minutes_and_deletes_nothing_for_a_week() {
    let (time, passed) = steady(NOON, NOON);
    let at = |second: i64| {
        passed.store(second, Ordering::Relaxed);
        let now = time.follow(NOON + YEAR + second);
        (now, time.purge_time(now))
    };
    assert_eq!(at(1), (NOON + 1, NOON + 1));
    assert_eq!(at(600), (NOON + 600, NOON + 600));
    assert_eq!(at(601), (NOON + YEAR + 601, NOON + 601));
    assert_eq!(at(7 * DAY), (NOON + YEAR + 7 * DAY, NOON + 7 * DAY), "a day's worth in a day");
    let trusted = NOON + YEAR + 7 * DAY + 1;
    assert_eq!(at(7 * DAY + 1), (trusted, trusted));
}

#[test]
fn a_jump_within_a_day_is_followed_at_once_and_purges_wait() {
    let (time, passed) = steady(NOON, NOON);
    assert_eq!((time.follow(NOON + DAY), time.purge_time(NOON + DAY)), (NOON + DAY, NOON));
    passed.store(DAY, Ordering::Relaxed);
    assert_eq!((time.follow(NOON + DAY), time.purge_time(NOON + DAY)), (NOON + DAY, NOON + DAY));
    assert_eq!((time.follow(NOON), time.purge_time(NOON)), (NOON, NOON + DAY), "a purge never goes back");
    assert_eq!(time.jumps(), 0);
}

#[test]
fn a_start_with_a_clock_behind_the_store_goes_on_with_the_stored_time() {
    let (time, passed) = steady(NOON - YEAR, NOON);
    assert_eq!(time.follow(NOON - YEAR), NOON);
    passed.store(5, Ordering::Relaxed);
    assert_eq!((time.follow(NOON + 5), time.purge_time(NOON + 5)), (NOON + 5, NOON + 5));
    let (time, _) = steady(NOON + YEAR, NOON);
    assert_eq!(time.follow(NOON + YEAR), NOON + YEAR, "it may have been stopped for a year");
    assert_eq!(time.purge_time(NOON + YEAR), NOON, "or not");
}

#[test]
fn time_that_a_server_was_stopped_is_caught_up_with_after_a_week() {
    let (time, passed) = steady(NOON + 30 * DAY, NOON);
    passed.store(7 * DAY - 1, Ordering::Relaxed);
    let now = time.follow(NOON + 37 * DAY - 1);
    assert_eq!(time.purge_time(now), NOON + 7 * DAY - 1);
    passed.store(7 * DAY, Ordering::Relaxed);
    let now = time.follow(NOON + 37 * DAY);
    assert_eq!(time.purge_time(now), NOON + 37 * DAY);
}

proptest! {
    #[test]
    fn the_time_of_purges_never_passes_the_true_time(
        steps in prop::collection::vec((0_i64..2 * DAY, -20 * YEAR..20 * YEAR, any::<bool>(), any::<bool>()), 1..40)
    ) {
        let (mut time, mut passed) = steady(NOON, NOON);
        let (mut truth, mut apart_for, mut purged) = (NOON, 0, NOON);
        for (seconds, error, is_wrong, restarts) in steps {
            truth += seconds;
            passed.fetch_add(seconds, Ordering::Relaxed);
            // A wrong clock is set within a week.
            let error = if is_wrong && apart_for + seconds < TRUSTED_AFTER { error } else { 0 };
            apart_for = if error == 0 { 0 } else { apart_for + seconds };
            let now = time.follow(truth + error);
            let due = time.purge_time(now);
            prop_assert!(due <= truth && due >= purged, "{due} at {truth} after {purged}");
            purged = due;
            if restarts {
                let stored = time.to_store(true).map_or(purged, |stored| stored.purge_time);
                (time, passed) = steady(truth + error, stored);
            }
        }
    }
}
