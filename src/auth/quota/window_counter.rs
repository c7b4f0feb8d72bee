//! Counts clients in windows of a fixed length, in a table of fixed size.
//!
//! A client's window begins with its first request, so that the end of the window is known when a request is rejected.
//! A client with an IPv6 address is counted in each of its [ranges](ClientHasher::ranges): no network has unlimited
//! quota, and none uses up that of another. A request that a larger range rejects takes no entry for the smaller ones,
//! so the limit of a network bounds its share of the table.
//!
//! A new client always gets an entry, and never the count of another, except by a collision of hashes (see
//! [`WindowEntry::tag`]). In a full bucket, the entry with the smallest count is forgotten and counts from zero again,
//! so all errors favor clients. With room for twice as many entries, 0.1 % are forgotten.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::quota::Client;
use crate::quota::client_hasher::{ClientHasher, ClientRange};

const BUCKET_ENTRIES: usize = 16;

type Bucket = [WindowEntry; BUCKET_ENTRIES];

/// Allocated with its first entry.
type BucketSlot = Mutex<Option<Box<Bucket>>>;

#[derive(Clone, Copy, Debug, Default)]
struct WindowEntry {
    /// One half of the hash; the other selects the bucket. A new client is taken for another one in 16 of 2^32 cases.
    tag: u32,
    /// Unix seconds of the first request.
    start: u32,
    /// 0 if the entry is free.
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedWindow {
    pub counter: u64,
    pub seconds: u32,
    pub limit: u32,
}

/// A request counted in a window that several servers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedWindow {
    pub counter: u64,
    /// Start of the window in Unix seconds: a later window of the counter did not count the request.
    pub started_at: i64,
}

pub(crate) struct WindowCounter {
    seconds: u32,
    hasher: ClientHasher,
    slots: Box<[BucketSlot]>,
}

impl WindowCounter {
    /// A table of 16 × `buckets` entries.
    pub(crate) fn new(seconds: u32, hasher: ClientHasher, buckets: usize) -> Self {
        Self { seconds, hasher, slots: (0..buckets).map(|_| Mutex::default()).collect() }
    }

    pub(crate) const fn max_bytes(buckets: usize) -> usize {
        buckets * (size_of::<BucketSlot>() + size_of::<Bucket>())
    }

    /// Counts a request at `now` (Unix seconds). Returns the used part of `limit`, or the seconds to the window's end.
    pub(crate) fn take(&self, client: &Client, limit: u32, now: i64) -> Result<u32, u64> {
        self.take_several(client, 1, limit, now)
    }

    /// As [`WindowCounter::take`], with several units: all of them, or none.
    pub(crate) fn take_several(&self, client: &Client, units: u32, limit: u32, now: i64) -> Result<u32, u64> {
        let now = timestamp(now);
        let ranges = self.hasher.ranges(client);
        let mut used = 0;
        for (index, range) in ranges.iter().enumerate() {
            let Some(range) = range else { continue };
            match self.count(range.hash, units, range.limit(limit), now) {
                Ok(count) => used = used.max(range.used(count, limit)),
                Err(start) => {
                    ranges[..index].iter().flatten().for_each(|range| self.uncount(range.hash, units, now));
                    let end = u64::from(start) + u64::from(self.seconds);
                    return Err(end.saturating_sub(now.into()).max(1));
                }
            }
        }
        Ok(used)
    }

    /// Windows in which a store counts requests of `client` for several servers, in the order of this table.
    pub(crate) fn shared(&self, client: &Client, limit: u32) -> Vec<SharedWindow> {
        let window =
            |range: ClientRange| SharedWindow { counter: range.hash, seconds: self.seconds, limit: range.limit(limit) };
        self.hasher.ranges(client).into_iter().flatten().map(window).collect()
    }

    pub(crate) fn peek(&self, client: &Client, limit: u32, now: i64) -> u32 {
        let now = timestamp(now);
        let used = |range: &ClientRange| range.used(self.count_of(range.hash, now), limit);
        self.hasher.ranges(client).iter().flatten().map(used).max().unwrap_or(0)
    }

    /// Uncounts one request that was counted at `counted_at`; no effect in windows that are over.
    pub(crate) fn give_back(&self, client: &Client, counted_at: i64) {
        self.give_back_several(client, 1, counted_at);
    }

    pub(crate) fn give_back_several(&self, client: &Client, units: u32, counted_at: i64) {
        let ranges = self.hasher.ranges(client);
        ranges.iter().flatten().for_each(|range| self.uncount(range.hash, units, timestamp(counted_at)));
    }

    pub(crate) fn remove_expired(&self, now: i64) {
        let now = timestamp(now);
        for slot in &self.slots {
            let mut slot = lock(slot);
            if slot.as_ref().is_some_and(|bucket| !bucket.iter().any(|entry| self.is_current(entry, now))) {
                *slot = None;
            }
        }
    }

    /// Counts units, or returns the start of the window in which they would exceed `limit`.
    fn count(&self, hash: u64, units: u32, limit: u32, now: u32) -> Result<u32, u32> {
        let mut bucket = self.bucket(hash);
        let known = bucket.as_mut().and_then(|bucket| self.find(bucket, hash, now));
        match known {
            Some(entry) if entry.count.saturating_add(units) > limit => Err(entry.start),
            Some(entry) => {
                entry.count += units;
                Ok(entry.count)
            }
            None if units > limit => Err(now),
            None => {
                let bucket = bucket.get_or_insert_default();
                let rank = |entry: &&mut WindowEntry| {
                    if self.is_current(entry, now) { (entry.count, entry.start) } else { (0, 0) }
                };
                let entry = bucket.iter_mut().min_by_key(rank).expect("a bucket has entries");
                *entry = WindowEntry { tag: hash as u32, start: now, count: units };
                Ok(units)
            }
        }
    }

    fn count_of(&self, hash: u64, now: u32) -> u32 {
        let mut bucket = self.bucket(hash);
        bucket.as_mut().and_then(|bucket| self.find(bucket, hash, now)).map_or(0, |entry| entry.count)
    }

    fn uncount(&self, hash: u64, units: u32, counted_at: u32) {
        let mut bucket = self.bucket(hash);
        let entry = bucket.as_mut().and_then(|bucket| self.find(bucket, hash, counted_at));
        // A window that began later did not count it.
        if let Some(entry) = entry.filter(|entry| entry.start <= counted_at) {
            entry.count = entry.count.saturating_sub(units);
        }
    }

    fn find<'b>(&self, bucket: &'b mut Bucket, hash: u64, now: u32) -> Option<&'b mut WindowEntry> {
        bucket.iter_mut().find(|entry| entry.tag == hash as u32 && self.is_current(entry, now))
    }

    /// False also if the clock was set back by more than a window.
    fn is_current(&self, entry: &WindowEntry, now: u32) -> bool {
        entry.count > 0 && entry.start.abs_diff(now) < self.seconds
    }

    fn bucket(&self, hash: u64) -> MutexGuard<'_, Option<Box<Bucket>>> {
        let index = ((hash >> 32) * self.slots.len() as u64) >> 32;
        lock(&self.slots[index as usize])
    }
}

fn lock(slot: &BucketSlot) -> MutexGuard<'_, Option<Box<Bucket>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unix seconds as stored in entries, until 2106.
fn timestamp(now: i64) -> u32 {
    u32::try_from(now.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicU32, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::quota::ClientPool;

    impl WindowCounter {
        pub(crate) fn hasher(&self) -> &ClientHasher {
            &self.hasher
        }

        /// The entries in use at `now`.
        fn entries(&self, now: i64) -> usize {
            let now = timestamp(now);
            let current = |bucket: &Bucket| bucket.iter().filter(|entry| self.is_current(entry, now)).count();
            self.slots.iter().map(|slot| lock(slot).as_deref().map_or(0, current)).sum()
        }
    }

    const NOON: i64 = 1_795_262_400;

    fn address(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    /// Windows of a minute.
    fn counter(buckets: usize) -> WindowCounter {
        WindowCounter::new(60, ClientHasher::new(&[9; 32]), buckets)
    }

    #[test]
    fn exactly_the_limit_is_admitted_in_a_window_and_a_rejection_reports_its_end() {
        let counter = counter(8);
        for second in 0..3 {
            assert_eq!(counter.take(&address("192.0.2.1"), 3, NOON + second), Ok(second as u32 + 1));
        }
        for (second, left) in [(3, 57), (59, 1)] {
            assert_eq!(counter.take(&address("192.0.2.1"), 3, NOON + second), Err(left));
        }
        assert!(counter.take(&address("192.0.2.2"), 3, NOON + 3).is_ok(), "another client has its own count");
        assert!(counter.take(&address("192.0.2.1"), 3, NOON + 60).is_ok());
        assert_eq!(counter.peek(&address("192.0.2.3"), 3, NOON), 0);
        assert_eq!(counter.entries(NOON + 60), 2, "peeking takes no entry");
    }

    #[test]
    fn an_address_is_its_ipv4_address_or_its_first_64_bits() {
        let counter = counter(8);
        assert!(counter.take(&address("2001:db8:0:1::1"), 1, NOON).is_ok());
        assert!(counter.take(&address("2001:db8:0:1:ffff::9"), 1, NOON).is_err());
        assert!(counter.take(&address("2001:db8:0:2::1"), 1, NOON).is_ok());
        assert!(counter.take(&address("192.0.2.1"), 1, NOON).is_ok());
        assert!(counter.take(&address("::ffff:192.0.2.1"), 1, NOON).is_err());
    }

    #[test]
    fn a_56_has_four_times_the_limit_and_a_48_sixteen_times_and_no_other_network_is_affected() {
        let counter = counter(64);
        let take = |text: &str| counter.take(&address(text), 3, NOON);
        let of_56 =
            |subnet: u32| (0..256).filter(|n| take(&format!("2001:db8:1:{subnet:x}{n:02x}::1")).is_ok()).count();
        assert_eq!(take("2001:db8:1::1"), Ok(1));
        assert_eq!(of_56(0), 11, "each /64 has used one of its three");
        assert_eq!(counter.peek(&address("2001:db8:1:99::1"), 3, NOON), 3, "nothing remains for a new /64 of the /56");
        assert_eq!((of_56(1), of_56(2), of_56(3), of_56(4)), (12, 12, 12, 0));
        assert_eq!(counter.entries(NOON), 47 + 4 + 1, "what is rejected takes no entry");
        assert_eq!(take("2001:db8:2::1"), Ok(1), "another /48 of the same provider");
        counter.give_back(&address("2001:db8:1:4::1"), NOON);
        assert_eq!(counter.peek(&address("2001:db8:1:400::1"), 3, NOON), 2);
        assert_eq!((take("2001:db8:1:400::1"), take("2001:db8:1:401::1")), (Ok(3), Err(60)));
    }

    #[test]
    fn what_one_client_is_refused_is_not_counted_in_its_network() {
        let counter = counter(8);
        for _ in 0..10 {
            let _ = counter.take(&address("2001:db8:1:1::1"), 2, NOON);
        }
        let others = (2..20).filter(|n| counter.take(&address(&format!("2001:db8:1:{n}::1")), 2, NOON).is_ok());
        assert_eq!(others.count(), 6, "of the eight of the /56");
    }

    #[test]
    fn what_is_given_back_is_not_counted_unless_its_window_is_over() {
        let counter = counter(8);
        let ada = Client::KnownBrowsers(1);
        counter.take(&ada, 2, NOON).unwrap();
        for _ in 0..10 {
            counter.take(&ada, 2, NOON + 1).unwrap();
            counter.give_back(&ada, NOON + 1);
        }
        assert!(counter.take(&ada, 2, NOON + 1).is_ok());
        assert!(counter.take(&ada, 2, NOON + 1).is_err());
        counter.take(&ada, 2, NOON + 60).unwrap();
        counter.give_back(&ada, NOON);
        assert!(counter.take(&ada, 2, NOON + 61).is_ok());
        assert!(counter.take(&ada, 2, NOON + 61).is_err());
        for _ in 0..3 {
            counter.give_back(&ada, NOON + 60);
        }
        assert_eq!((counter.peek(&ada, 2, NOON + 61), counter.entries(NOON + 61)), (0, 0));
    }

    #[test]
    fn a_clock_slightly_behind_counts_in_the_same_window_and_one_that_was_set_back_begins_a_new_one() {
        let counter = counter(8);
        assert!(counter.take(&address("192.0.2.1"), 1, NOON).is_ok());
        assert_eq!(counter.take(&address("192.0.2.1"), 1, NOON - 1), Err(61));
        assert!(counter.take(&address("192.0.2.1"), 1, NOON - 3_600).is_ok());
        for odd in [i64::MIN, i64::MAX] {
            assert!(counter.take(&address("192.0.2.2"), 1, odd).is_ok());
        }
    }

    #[test]
    fn a_new_client_is_admitted_by_a_full_table_which_forgets_those_that_counted_least() {
        let counter = counter(1);
        let client = |number: u32| Client::Address(IpAddr::from(number.to_be_bytes()));
        for number in 0..16 {
            for _ in 0..2 {
                assert!(counter.take(&client(number), 2, NOON).is_ok());
            }
        }
        for number in 0..1_000 {
            assert_eq!(counter.take(&client(100 + number), 2, NOON + 1), Ok(1));
        }
        assert_eq!(counter.entries(NOON + 1), 16);
        let forgotten = (0..16).filter(|number| counter.peek(&client(*number), 2, NOON + 1) == 0).count();
        assert_eq!(forgotten, 1, "newcomers replace each other, as their counts are the smallest");
    }

    #[test]
    fn expired_windows_are_replaced_first_and_their_memory_is_freed() {
        let counter = counter(1);
        let client = |number: u8| Client::Address(IpAddr::from([192, 0, 2, number]));
        for number in 0..8 {
            assert!(counter.take(&client(number), 9, NOON + 30).is_ok());
        }
        for number in 8..16 {
            (0..9).for_each(|_| assert!(counter.take(&client(number), 9, NOON).is_ok()));
        }
        for number in 16..24 {
            assert_eq!(counter.take(&client(number), 9, NOON + 60), Ok(1));
        }
        assert!((0..8).all(|number| counter.peek(&client(number), 9, NOON + 60) == 1));
        counter.remove_expired(NOON + 119);
        assert_eq!(counter.entries(NOON + 119), 8);
        counter.remove_expired(NOON + 120);
        assert!(lock(&counter.slots[0]).is_none());
    }

    #[test]
    fn the_addresses_of_a_pool_count_together() {
        let counter = counter(1);
        let pool: ClientPool = "a=3@192.0.2.0/24".parse().unwrap();
        for count in 1..=3 {
            assert_eq!(counter.take(&pool.client(), 3, NOON), Ok(count));
        }
        assert!(counter.take(&pool.client(), 3, NOON).is_err());
        counter.give_back(&pool.client(), NOON);
        assert_eq!(counter.peek(&pool.client(), 3, NOON), 2);
    }

    #[test]
    fn concurrent_requests_get_exactly_the_limit() {
        let counter = counter(8);
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
        assert_eq!((counter.entries(NOON), admitted.into_inner()), (40, 40 * 5));
    }

    proptest! {
        #[test]
        fn a_client_that_waits_to_the_end_of_its_window_is_admitted(steps in prop::collection::vec(0_i64..40, 1..60)) {
            let counter = counter(8);
            let mut now = NOON;
            for step in steps {
                now += step;
                if let Err(wait) = counter.take(&address("192.0.2.1"), 3, now) {
                    prop_assert!((1..=60).contains(&wait));
                    now += wait as i64;
                    prop_assert!(counter.take(&address("192.0.2.1"), 3, now).is_ok());
                }
            }
        }
    }
}
