//! Counts clients in windows of a fixed length, in a table of fixed size.
//!
//! A client's window begins with its first request, so that the end of the window is known when a request is rejected.
//! Clients are stored as keyed hashes. One network may take only a share of the table. Clients that find no free entry share
//! one count with all others of their network: no request is admitted without being counted, and whoever fills the table
//! from a large network only affects clients of that network.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use crate::quota::Client;
use crate::quota::client_hasher::ClientHasher;

#[derive(Clone, Copy, Debug)]
pub(crate) struct TableSize {
    /// Clients counted individually; pools are not limited.
    pub(crate) entries: usize,
    /// Entries that one network may take.
    pub(crate) network_share: u32,
    /// Networks are distinguished by their hash modulo this number.
    pub(crate) networks: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Unix seconds of the first request.
    pub(crate) start: i64,
    pub(crate) count: u32,
    /// The network whose share the entry takes.
    network: Option<u16>,
}

#[derive(Debug)]
pub(crate) struct WindowCounter {
    seconds: u32,
    hasher: ClientHasher,
    size: TableSize,
    windows: DashMap<u128, Window>,
    /// Entries of `windows` that count towards `size`.
    used_entries: AtomicUsize,
    /// Locked after an entry of `windows`, never before one.
    networks: Box<[Mutex<Network>]>,
}

#[derive(Debug, Default)]
struct Network {
    used_entries: u32,
    /// The shared count of the clients without an entry.
    overflow: Window,
}

impl WindowCounter {
    pub(crate) fn new(seconds: u32, hasher: ClientHasher, size: TableSize) -> Self {
        let networks = (0..size.networks).map(|_| Mutex::default()).collect();
        Self { seconds, hasher, size, windows: DashMap::new(), used_entries: AtomicUsize::new(0), networks }
    }

    /// Counts one request at `now` (Unix seconds), unless `limit` is reached. Both results hold the client's window.
    pub(crate) fn take(&self, client: &Client, limit: u32, now: i64) -> Result<Window, Window> {
        match self.windows.entry(self.hasher.client(client)) {
            Entry::Occupied(mut window) => self.count(window.get_mut(), limit, now),
            Entry::Vacant(entry) => {
                let Some(index) = self.network_index(client) else {
                    return self.count(&mut entry.insert(Window::default()), limit, now);
                };
                let mut network = self.network(index);
                let claim = |used: usize| (used < self.size.entries).then(|| used + 1);
                if network.used_entries < self.size.network_share
                    && self.used_entries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).is_ok()
                {
                    network.used_entries += 1;
                    self.count(&mut entry.insert(Window { network: Some(index), ..Window::default() }), limit, now)
                } else {
                    self.count(&mut network.overflow, limit, now)
                }
            }
        }
    }

    /// The client's count at `now`, without taking an entry of the table.
    pub(crate) fn peek(&self, client: &Client, now: i64) -> u32 {
        let own = self.windows.get(&self.hasher.client(client)).map(|window| *window);
        let window = own.or_else(|| {
            let network = self.network(self.network_index(client)?);
            let is_full = network.used_entries >= self.size.network_share
                || self.used_entries.load(Ordering::Relaxed) >= self.size.entries;
            is_full.then_some(network.overflow)
        });
        window.filter(|window| !self.is_over(window, now)).map_or(0, |window| window.count)
    }

    /// Uncounts one request that was counted in the window that began at `start`; no effect if that window is over.
    pub(crate) fn give_back(&self, client: &Client, start: i64) {
        let uncount = |window: &mut Window| {
            if window.start == start {
                window.count = window.count.saturating_sub(1);
            }
        };
        if let Some(mut window) = self.windows.get_mut(&self.hasher.client(client)) {
            uncount(&mut window);
        } else if let Some(index) = self.network_index(client) {
            uncount(&mut self.network(index).overflow);
        }
    }

    /// Seconds from `now` to the end of `window`.
    pub(crate) fn seconds_left(&self, window: &Window, now: i64) -> u64 {
        let end = window.start.saturating_add(i64::from(self.seconds));
        u64::try_from(end.saturating_sub(now)).unwrap_or(0)
    }

    pub(crate) fn remove_expired(&self, now: i64) {
        self.windows.retain(|_, window| {
            let is_over = self.is_over(window, now);
            if let (true, Some(index)) = (is_over, window.network) {
                self.used_entries.fetch_sub(1, Ordering::Relaxed);
                self.network(index).used_entries -= 1;
            }
            !is_over
        });
    }

    #[cfg(test)]
    pub(crate) fn hasher(&self) -> &ClientHasher {
        &self.hasher
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.windows.len()
    }

    fn count(&self, window: &mut Window, limit: u32, now: i64) -> Result<Window, Window> {
        if window.count == 0 || self.is_over(window, now) {
            (window.start, window.count) = (now, 0);
        }
        if window.count >= limit {
            return Err(*window);
        }
        window.count += 1;
        Ok(*window)
    }

    /// True also if the clock was set back by more than a window.
    fn is_over(&self, window: &Window, now: i64) -> bool {
        window.start.abs_diff(now) >= u64::from(self.seconds)
    }

    fn network_index(&self, client: &Client) -> Option<u16> {
        self.hasher.network(client).map(|hash| (hash % u128::from(self.size.networks)) as u16)
    }

    fn network(&self, index: u16) -> MutexGuard<'_, Network> {
        self.networks[usize::from(index)].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::AtomicU32;

    use proptest::prelude::*;

    use super::*;
    use crate::quota::ClientPool;

    const NOON: i64 = 1_795_262_400;

    fn address(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    /// Windows of a minute.
    fn counter(entries: usize, network_share: u32) -> WindowCounter {
        let size = TableSize { entries, network_share, networks: 1 << 10 };
        WindowCounter::new(60, ClientHasher::new(&[9; 32]), size)
    }

    #[test]
    fn exactly_the_limit_is_admitted_in_a_window_and_a_rejection_reports_its_end() {
        let counter = counter(100, 100);
        for second in 0..3 {
            let window = counter.take(&address("192.0.2.1"), 3, NOON + second).unwrap();
            assert_eq!((window.start, window.count), (NOON, second as u32 + 1));
        }
        for (second, left) in [(3, 57), (59, 1)] {
            let window = counter.take(&address("192.0.2.1"), 3, NOON + second).unwrap_err();
            assert_eq!((window.count, counter.seconds_left(&window, NOON + second)), (3, left));
        }
        assert!(counter.take(&address("192.0.2.2"), 3, NOON + 3).is_ok(), "another client has its own count");
        assert!(counter.take(&address("192.0.2.1"), 3, NOON + 60).is_ok());
        assert_eq!(counter.peek(&address("192.0.2.3"), NOON), 0);
        assert_eq!(counter.len(), 2, "peeking takes no entry");
    }

    #[test]
    fn an_address_is_its_ipv4_address_or_its_first_64_bits() {
        let counter = counter(100, 100);
        assert!(counter.take(&address("2001:db8:0:1::1"), 1, NOON).is_ok());
        assert!(counter.take(&address("2001:db8:0:1:ffff::9"), 1, NOON).is_err());
        assert!(counter.take(&address("2001:db8:0:2::1"), 1, NOON).is_ok());
        assert!(counter.take(&address("192.0.2.1"), 1, NOON).is_ok());
        assert!(counter.take(&address("::ffff:192.0.2.1"), 1, NOON).is_err());
    }

    #[test]
    fn what_is_given_back_is_not_counted_unless_its_window_is_over() {
        let counter = counter(100, 100);
        let ada = Client::Account("ada@example.com".into());
        let first = counter.take(&ada, 2, NOON).unwrap();
        for _ in 0..10 {
            let taken = counter.take(&ada, 2, NOON + 1).unwrap();
            counter.give_back(&ada, taken.start);
        }
        assert!(counter.take(&ada, 2, NOON + 1).is_ok());
        assert!(counter.take(&ada, 2, NOON + 1).is_err());
        let later = counter.take(&ada, 2, NOON + 60).unwrap();
        counter.give_back(&ada, first.start);
        assert!(counter.take(&ada, 2, NOON + 61).is_ok());
        assert!(counter.take(&ada, 2, NOON + 61).is_err());
        counter.give_back(&ada, later.start);
        counter.give_back(&ada, later.start);
        assert!(counter.take(&ada, 2, NOON + 61).is_ok());
    }

    #[test]
    fn a_clock_slightly_behind_counts_in_the_same_window_and_one_that_was_set_back_begins_a_new_one() {
        let counter = counter(100, 100);
        assert!(counter.take(&address("192.0.2.1"), 1, NOON).is_ok());
        let window = counter.take(&address("192.0.2.1"), 1, NOON - 1).unwrap_err();
        assert_eq!(counter.seconds_left(&window, NOON - 1), 61);
        assert!(counter.take(&address("192.0.2.1"), 1, NOON - 3_600).is_ok());
    }

    #[test]
    fn a_full_table_counts_new_addresses_of_a_network_together() {
        let counter = counter(4, 3);
        let take = |text: &str| counter.take(&address(text), 2, NOON).map(|window| window.count);
        for host in 1..=3 {
            assert_eq!(take(&format!("192.0.2.{host}")), Ok(1));
        }
        // The network's share is taken: its other addresses share one count, those that have an entry keep it.
        assert_eq!(take("192.0.2.4"), Ok(1));
        assert_eq!(counter.peek(&address("192.0.2.5"), NOON), 1);
        assert_eq!(take("192.0.2.5"), Ok(2));
        assert!(take("192.0.2.6").is_err());
        assert_eq!(take("192.0.2.1"), Ok(2));
        counter.give_back(&address("192.0.2.6"), NOON);
        assert_eq!(counter.peek(&address("192.0.2.6"), NOON), 1);
        // One entry is left for another network, then the table is full for all.
        assert_eq!(take("198.51.100.1"), Ok(1));
        assert_eq!(take("198.51.100.2"), Ok(1));
        assert_eq!(take("198.51.100.3"), Ok(2));
        assert_eq!(counter.peek(&address("203.0.113.1"), NOON), 0);
        assert_eq!(counter.len(), 4);
    }

    #[test]
    fn expired_windows_make_room_in_the_table_and_in_the_share_of_their_network() {
        for (entries, network_share) in [(2, 2), (100, 2)] {
            let counter = counter(entries, network_share);
            for host in 1..=2 {
                assert!(counter.take(&address(&format!("192.0.2.{host}")), 1, NOON).is_ok());
            }
            assert!(counter.take(&address("192.0.2.3"), 1, NOON).is_ok());
            assert!(counter.take(&address("192.0.2.4"), 1, NOON).is_err(), "counted with the one before");
            assert!(counter.take(&address("198.51.100.1"), 1, NOON + 30).is_ok(), "of another network");
            assert!(counter.take(&address("192.0.2.1"), 1, NOON).is_err());
            counter.remove_expired(NOON + 59);
            let others = counter.len() - 2;
            counter.remove_expired(NOON + 60);
            assert_eq!((counter.len(), counter.used_entries.load(Ordering::Relaxed)), (others, others));
            assert!(counter.take(&address("192.0.2.4"), 1, NOON + 60).is_ok());
            assert_eq!(counter.len(), others + 1);
        }
    }

    #[test]
    fn the_addresses_of_a_pool_count_together_and_need_no_free_entry() {
        let counter = counter(1, 1);
        let pool: ClientPool = "a=3@192.0.2.0/24".parse().unwrap();
        assert!(counter.take(&address("203.0.113.1"), 3, NOON).is_ok());
        for count in 1..=3 {
            assert_eq!(counter.take(&pool.client(), 3, NOON).unwrap().count, count);
        }
        assert_eq!(counter.take(&pool.client(), 3, NOON).unwrap_err().count, 3);
        counter.give_back(&pool.client(), NOON);
        assert_eq!(counter.peek(&pool.client(), NOON), 2);
        assert_eq!(counter.peek(&address("203.0.113.1"), NOON), 1);
        counter.remove_expired(NOON + 60);
        assert_eq!((counter.len(), counter.used_entries.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn concurrent_requests_get_exactly_the_limit() {
        let counter = counter(8, 8);
        let admitted = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for host in 0..40 {
                        for _ in 0..3 {
                            let client = Client::Address(IpAddr::from([192, 0, 2, host]));
                            admitted.fetch_add(u32::from(counter.take(&client, 5, NOON).is_ok()), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(counter.len(), 8);
        assert_eq!(admitted.into_inner(), 8 * 5 + 5, "eight addresses with an entry and one shared count");
    }

    proptest! {
        #[test]
        fn a_client_that_waits_to_the_end_of_its_window_is_admitted(steps in prop::collection::vec(0_i64..40, 1..60)) {
            let counter = counter(100, 100);
            let mut now = NOON;
            for step in steps {
                now += step;
                if let Err(window) = counter.take(&address("192.0.2.1"), 3, now) {
                    let wait = counter.seconds_left(&window, now);
                    prop_assert!((1..=60).contains(&wait));
                    now += wait as i64;
                    prop_assert!(counter.take(&address("192.0.2.1"), 3, now).is_ok());
                }
            }
        }
    }
}
