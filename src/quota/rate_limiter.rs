//! Throttles: at most so many of something in a window of time, for each client address or account; in memory only, and
//! bounded.
//!
//! A window begins with the first that is counted in it, so that who is refused knows when it ends. Whoever is counted is
//! kept as a [`ClientHasher`] name. The table has [`CAPACITY`] places; while it is full, those who have none count together
//! with all others of their network: nobody is let by without being counted, and who rents a network to fill the table
//! crowds out strangers of that network only.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use crate::quota::client_hasher::ClientHasher;

/// Who is counted on their own by one throttle; about 5 MB when full.
pub const CAPACITY: usize = 1 << 16;

/// Networks are told apart by so many values.
const CROWDS: usize = 1 << 10;

/// When to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// Whole seconds from now, at least 1; the value of a `Retry-After` header.
    pub seconds: u64,
}

impl fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            1 => f.write_str("wait 1 second and try again"),
            seconds @ 2..120 => write!(f, "wait {seconds} seconds and try again"),
            seconds => write!(f, "wait {} minutes and try again", seconds.div_ceil(60)),
        }
    }
}

/// Who is counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    own: u128,
    /// With whom they are counted where there is no place for them alone.
    crowd: u128,
}

impl Counted {
    /// A client address: IPv4 /32, IPv6 /64.
    pub fn address(names: &ClientHasher, address: IpAddr) -> Self {
        Self { own: names.of_address(b'a', address, 32, 64), crowd: names.of_address(b'n', address, 16, 32) }
    }

    /// A text, such as the address of an account.
    pub fn text(names: &ClientHasher, text: &str) -> Self {
        let own = names.of(b't', text.as_bytes());
        Self { own, crowd: own }
    }
}

/// One that was counted, to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    began: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct RateWindow {
    began: i64,
    count: u32,
}

/// At most `allowed` in `window` seconds.
#[derive(Debug)]
pub struct RateLimiter {
    allowed: u32,
    window: u32,
    windows: DashMap<u128, RateWindow>,
    places: AtomicUsize,
    capacity: usize,
    crowds: Box<[Mutex<RateWindow>]>,
}

impl RateLimiter {
    /// At most `allowed` in a window of so many seconds.
    #[must_use]
    pub fn new(allowed: u32, window: u32) -> Self {
        Self::with_capacity(allowed, window, CAPACITY)
    }

    fn with_capacity(allowed: u32, window: u32, capacity: usize) -> Self {
        let crowds = (0..CROWDS).map(|_| Mutex::default()).collect();
        Self { allowed, window, windows: DashMap::new(), places: AtomicUsize::new(0), capacity, crowds }
    }

    /// Counts one of `who`; `now` is Unix seconds.
    ///
    /// # Errors
    /// When the window ends, where it is full.
    pub fn take(&self, who: Counted, now: i64) -> Result<Taken, RetryAfter> {
        match self.windows.entry(who.own) {
            Entry::Occupied(mut window) => self.count(window.get_mut(), now),
            Entry::Vacant(place) => {
                let more = |places: usize| (places < self.capacity).then(|| places + 1);
                if self.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok() {
                    return self.count(&mut place.insert(RateWindow::default()), now);
                }
                self.count(&mut self.crowd(who).lock().unwrap_or_else(PoisonError::into_inner), now)
            }
        }
    }

    /// Gives back one that was counted, unless its window is over.
    pub fn give_back(&self, who: Counted, taken: Taken) {
        let less = |window: &mut RateWindow| {
            if window.began == taken.began {
                window.count = window.count.saturating_sub(1);
            }
        };
        match self.windows.get_mut(&who.own) {
            Some(mut window) => less(&mut window),
            None => less(&mut self.crowd(who).lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Drops the windows that are over.
    pub fn forget(&self, now: i64) {
        self.windows.retain(|_, window| {
            let stays = !self.is_over(window, now);
            if !stays {
                self.places.fetch_sub(1, Ordering::Relaxed);
            }
            stays
        });
    }

    fn count(&self, window: &mut RateWindow, now: i64) -> Result<Taken, RetryAfter> {
        if window.count == 0 || self.is_over(window, now) {
            *window = RateWindow { began: now, count: 0 };
        }
        if window.count >= self.allowed {
            let end = window.began.saturating_add(i64::from(self.window));
            return Err(RetryAfter { seconds: u64::try_from(end.saturating_sub(now)).unwrap_or(0).max(1) });
        }
        window.count += 1;
        Ok(Taken { began: window.began })
    }

    /// A clock that was set back by more than a window begins anew.
    fn is_over(&self, window: &RateWindow, now: i64) -> bool {
        window.began.abs_diff(now) >= u64::from(self.window)
    }

    fn crowd(&self, who: Counted) -> &Mutex<RateWindow> {
        &self.crowds[(who.crowd % CROWDS as u128) as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use proptest::prelude::*;

    use super::*;

    const NOON: i64 = 1_795_262_400;

    fn names() -> ClientHasher {
        ClientHasher::under(&[9; 32])
    }

    fn address(text: &str) -> Counted {
        Counted::address(&names(), text.parse().unwrap())
    }

    #[test]
    fn so_many_are_let_by_in_a_window_and_then_told_when_to_come_again() {
        let throttle = RateLimiter::new(3, 60);
        for second in 0..3 {
            assert!(throttle.take(address("192.0.2.1"), NOON + second).is_ok());
        }
        assert_eq!(throttle.take(address("192.0.2.1"), NOON + 3), Err(RetryAfter { seconds: 57 }));
        assert_eq!(throttle.take(address("192.0.2.1"), NOON + 59), Err(RetryAfter { seconds: 1 }));
        assert!(throttle.take(address("192.0.2.2"), NOON + 3).is_ok(), "another has their own");
        assert!(throttle.take(address("192.0.2.1"), NOON + 60).is_ok());
    }

    #[test]
    fn an_ipv6_client_is_its_first_64_bits() {
        let throttle = RateLimiter::new(1, 60);
        assert!(throttle.take(address("2001:db8:0:1::1"), NOON).is_ok());
        assert!(throttle.take(address("2001:db8:0:1:ffff::9"), NOON).is_err());
        assert!(throttle.take(address("2001:db8:0:2::1"), NOON).is_ok());
        assert!(throttle.take(address("192.0.2.1"), NOON).is_ok());
        assert!(throttle.take(address("::ffff:192.0.2.1"), NOON).is_err());
    }

    #[test]
    fn what_is_given_back_is_not_counted_unless_its_window_is_over() {
        let throttle = RateLimiter::new(2, 60);
        let who = Counted::text(&names(), "ada@example.com");
        let first = throttle.take(who, NOON).unwrap();
        for _ in 0..10 {
            let taken = throttle.take(who, NOON + 1).unwrap();
            throttle.give_back(who, taken);
        }
        assert!(throttle.take(who, NOON + 1).is_ok());
        assert!(throttle.take(who, NOON + 1).is_err());
        let later = throttle.take(who, NOON + 60).unwrap();
        throttle.give_back(who, first);
        assert!(throttle.take(who, NOON + 61).is_ok());
        assert!(throttle.take(who, NOON + 61).is_err());
        throttle.give_back(who, later);
        throttle.give_back(who, later);
        assert!(throttle.take(who, NOON + 61).is_ok());
    }

    #[test]
    fn a_clock_a_little_behind_counts_in_the_window_and_one_that_was_set_back_begins_anew() {
        let throttle = RateLimiter::new(1, 60);
        assert!(throttle.take(address("192.0.2.1"), NOON).is_ok());
        assert_eq!(throttle.take(address("192.0.2.1"), NOON - 1), Err(RetryAfter { seconds: 61 }));
        assert!(throttle.take(address("192.0.2.1"), NOON - 3_600).is_ok());
    }

    #[test]
    fn a_full_table_counts_strangers_by_their_network_until_windows_end() {
        let throttle = RateLimiter::with_capacity(1, 60, 2);
        for host in 1..=2 {
            assert!(throttle.take(address(&format!("192.0.2.{host}")), NOON).is_ok());
        }
        assert!(throttle.take(address("192.0.2.3"), NOON).is_ok());
        assert!(throttle.take(address("192.0.2.4"), NOON).is_err(), "counted with the one before");
        assert!(throttle.take(address("198.51.100.1"), NOON).is_ok(), "of another network");
        assert!(throttle.take(address("192.0.2.1"), NOON).is_err());
        throttle.forget(NOON + 59);
        assert_eq!(throttle.windows.len(), 2);
        throttle.forget(NOON + 60);
        assert_eq!((throttle.windows.len(), throttle.places.load(Ordering::Relaxed)), (0, 0));
        assert!(throttle.take(address("192.0.2.4"), NOON + 60).is_ok());
        assert_eq!(throttle.windows.len(), 1);
    }

    #[test]
    fn many_at_once_get_exactly_what_is_allowed() {
        let throttle = RateLimiter::with_capacity(5, 60, 8);
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for host in 0..40 {
                        for _ in 0..3 {
                            let who = address(&format!("192.0.2.{host}"));
                            passed.fetch_add(u32::from(throttle.take(who, NOON).is_ok()), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(throttle.windows.len(), 8);
        assert_eq!(passed.into_inner(), 8 * 5 + 5, "eight of their own and one crowd");
    }

    #[test]
    fn waiting_is_told_in_words() {
        for (seconds, words) in [
            (1, "wait 1 second and try again"),
            (59, "wait 59 seconds and try again"),
            (120, "wait 2 minutes and try again"),
            (841, "wait 15 minutes and try again"),
        ] {
            assert_eq!(RetryAfter { seconds }.to_string(), words);
        }
    }

    proptest! {
        #[test]
        fn who_waits_as_long_as_told_is_let_by(steps in prop::collection::vec(0_i64..40, 1..60)) {
            let throttle = RateLimiter::new(3, 60);
            let mut now = NOON;
            for step in steps {
                now += step;
                if let Err(wait) = throttle.take(address("192.0.2.1"), now) {
                    prop_assert!((1..=60).contains(&wait.seconds));
                    now += wait.seconds as i64;
                    prop_assert!(throttle.take(address("192.0.2.1"), now).is_ok());
                }
            }
        }
    }
}
