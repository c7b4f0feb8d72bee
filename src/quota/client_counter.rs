//! Daily counters of callers without a key, by client address or by pool; in memory only, and bounded.
//!
//! An address (IPv4 /32, IPv6 /64) is kept as an HMAC under a key of the day, derived from a secret that never leaves the
//! process: nothing links it to an address, nor to the same address on another day. The table has [`CAPACITY`] places, of which
//! one network (IPv4 /16, IPv6 /32) may take [`NETWORK_SHARE`]. Where there is no place left, new addresses count
//! together with all others of their network that found none: the service stays exact about a shared number and never
//! admits without counting, and who rents a large network crowds out that network only.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use crate::data::Date;

use crate::quota::Quota;
use crate::quota::client_hasher::ClientHasher;
use crate::quota::client_pool::Client;

/// Addresses that are counted on their own; about 20 MB when full.
pub const CAPACITY: usize = 1 << 18;

/// How many of them one network may take.
pub const NETWORK_SHARE: u32 = 1 << 12;

/// Networks are told apart by a keyed hash of so many values; about 64 KB a day.
const NETWORKS: usize = 1 << 13;

/// Counts callers by client address.
#[derive(Debug)]
pub struct ClientCounter {
    days: RwLock<Days>,
    /// Makes the keys of the days.
    secret: ClientHasher,
    capacity: usize,
    share: u32,
}

/// The day last begun, and the one before it: its last requests may still come.
#[derive(Debug, Default)]
struct Days {
    current: Option<Arc<Day>>,
    previous: Option<Arc<Day>>,
}

#[derive(Debug)]
struct Day {
    date: Date,
    names: ClientHasher,
    counts: DashMap<u128, u32>,
    taken: AtomicUsize,
    networks: Box<[NetworkCount]>,
}

#[derive(Debug, Default)]
struct NetworkCount {
    /// Addresses of this network that are counted on their own.
    members: AtomicU32,
    /// Requests of all others of it.
    shared: AtomicU32,
}

impl ClientCounter {
    /// An empty meter; `secret` is 32 bytes of the system's randomness.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self::with_capacity(secret, CAPACITY, NETWORK_SHARE)
    }

    fn with_capacity(secret: &[u8; 32], capacity: usize, share: u32) -> Self {
        Self { days: RwLock::default(), secret: ClientHasher::under(secret), capacity, share }
    }

    /// Takes one request of `client` from its `limit` of `today`.
    ///
    /// # Errors
    /// The quota as it stands, where it is used up.
    pub fn take<'p>(&self, client: impl Into<Client<'p>>, limit: u32, today: Date) -> Result<Quota, Quota> {
        let day = self.day(today);
        let quota = |used| Quota::of(Some(limit), used, today);
        let used = match day.place(client.into(), self.capacity, self.share) {
            Slot::Own(mut count) => {
                let used = *count;
                if used < limit {
                    *count += 1;
                }
                used
            }
            Slot::Shared(count) => {
                let more = |used| (used < limit).then_some(used + 1);
                let update = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
                update.unwrap_or_else(|used| used)
            }
        };
        if used < limit { Ok(quota(used + 1)) } else { Err(quota(used)) }
    }

    /// The quota of `client` as it stands; takes nothing, no place in the table either.
    #[must_use]
    pub fn peek<'p>(&self, client: impl Into<Client<'p>>, limit: u32, today: Date) -> Quota {
        let day = self.days().find(today);
        Quota::of(Some(limit), day.map_or(0, |day| day.used(client.into(), self.capacity, self.share)), today)
    }

    /// Gives back one request that was taken on `day`, and says how the quota stands then.
    pub fn give_back<'p>(&self, client: impl Into<Client<'p>>, limit: u32, date: Date) -> Quota {
        let client = client.into();
        if let Some(day) = self.days().find(date) {
            match (day.counts.get_mut(&day.hash(client)), client) {
                (Some(mut count), _) => *count = count.saturating_sub(1),
                (None, Client::Address(address)) => {
                    let less = |used: u32| used.checked_sub(1);
                    // Nothing taken, nothing to give back.
                    let _ = day.network(address).shared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
                }
                (None, Client::ClientPool(_)) => {}
            }
        }
        self.peek(client, limit, date)
    }

    /// Number of addresses counted on their own today.
    #[must_use]
    pub fn len(&self) -> usize {
        self.days().current.as_ref().map_or(0, |day| day.counts.len())
    }

    /// True where no address was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn days(&self) -> std::sync::RwLockReadGuard<'_, Days> {
        self.days.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn day(&self, date: Date) -> Arc<Day> {
        if let Some(day) = self.days().find(date) {
            return day;
        }
        let mut days = self.days.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(day) = days.find(date) {
            return day;
        }
        let day = Arc::new(Day::begin(date, &self.secret));
        // A clock that was set begins anew; one that is a little behind finds the day before.
        let before = days.current.replace(day.clone());
        days.previous = before.filter(|before| before.date.days().abs_diff(date.days()) == 1);
        day
    }
}

impl Days {
    fn find(&self, date: Date) -> Option<Arc<Day>> {
        self.current.iter().chain(&self.previous).find(|day| day.date == date).cloned()
    }
}

enum Slot<'d> {
    Own(dashmap::mapref::one::RefMut<'d, u128, u32>),
    Shared(&'d AtomicU32),
}

impl Day {
    fn begin(date: Date, secret: &ClientHasher) -> Self {
        let names = secret.derived(&date.days().to_le_bytes());
        let networks = (0..NETWORKS).map(|_| NetworkCount::default()).collect();
        Self { date, names, counts: DashMap::new(), taken: AtomicUsize::new(0), networks }
    }

    /// Where the requests of `client` are counted; a place of its own is taken for an address while there is one. Pools
    /// are as many as the operator named, and always have theirs.
    fn place(&self, client: Client<'_>, capacity: usize, share: u32) -> Slot<'_> {
        match self.counts.entry(self.hash(client)) {
            Entry::Occupied(count) => Slot::Own(count.into_ref()),
            Entry::Vacant(place) => {
                let Client::Address(address) = client else {
                    return Slot::Own(place.insert(0));
                };
                let network = self.network(address);
                if !claim_share(&network.members, share) {
                    return Slot::Shared(&network.shared);
                }
                let more = |taken: usize| (taken < capacity).then(|| taken + 1);
                if self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
                    network.members.fetch_sub(1, Ordering::Relaxed);
                    return Slot::Shared(&network.shared);
                }
                Slot::Own(place.insert(0))
            }
        }
    }

    fn used(&self, client: Client<'_>, capacity: usize, share: u32) -> u32 {
        if let Some(count) = self.counts.get(&self.hash(client)) {
            return *count;
        }
        let Client::Address(address) = client else { return 0 };
        let network = self.network(address);
        let full = network.members.load(Ordering::Relaxed) >= share || self.taken.load(Ordering::Relaxed) >= capacity;
        if full { network.shared.load(Ordering::Relaxed) } else { 0 }
    }

    fn hash(&self, client: Client<'_>) -> u128 {
        match client {
            Client::Address(address) => self.names.of_address(b'a', address, 32, 64),
            Client::ClientPool(pool) => self.names.of(b'p', pool.name().as_bytes()),
        }
    }

    fn network(&self, address: IpAddr) -> &NetworkCount {
        let hash = self.names.of_address(b'n', address, 16, 32);
        &self.networks[(hash % NETWORKS as u128) as usize]
    }
}

/// Takes one of `share` places.
fn claim_share(members: &AtomicU32, share: u32) -> bool {
    let more = |members: u32| (members < share).then(|| members + 1);
    members.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; 32] = [9; 32];

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_gets_its_limit_and_another_its_own() {
        let meter = ClientCounter::new(&SECRET);
        let today = date("2026-11-21");
        for used in 1..=3 {
            assert_eq!(meter.take(ip("192.0.2.1"), 3, today).unwrap().used, used);
        }
        let refused = meter.take(ip("192.0.2.1"), 3, today).unwrap_err();
        assert_eq!((refused.limit, refused.remaining, refused.tier), (Some(3), Some(0), None));
        assert!(meter.take(ip("::ffff:192.0.2.1"), 3, today).is_err());
        assert!(meter.take(ip("192.0.2.2"), 3, today).is_ok());
        assert_eq!(meter.peek(ip("192.0.2.3"), 3, today).remaining, Some(3));
        assert_eq!(meter.len(), 2);
    }

    #[test]
    fn an_ipv6_caller_is_its_first_64_bits() {
        let meter = ClientCounter::new(&SECRET);
        let today = date("2026-11-21");
        assert!(meter.take(ip("2001:db8:0:1::1"), 1, today).is_ok());
        assert!(meter.take(ip("2001:db8:0:1:ffff::9"), 1, today).is_err());
        assert!(meter.take(ip("2001:db8:0:2::1"), 1, today).is_ok());
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let meter = ClientCounter::new(&SECRET);
        let today = date("2026-11-21");
        assert!(meter.take(ip("192.0.2.1"), 1, today).is_ok());
        assert_eq!(meter.give_back(ip("192.0.2.1"), 1, today).remaining, Some(1));
        assert_eq!(meter.give_back(ip("192.0.2.1"), 1, today).remaining, Some(1));
        assert!(meter.take(ip("192.0.2.1"), 1, today).is_ok());
        assert!(meter.take(ip("192.0.2.1"), 1, today).is_err());
    }

    #[test]
    fn each_day_begins_anew_under_another_hash_and_the_one_before_is_dropped_with_the_next() {
        let meter = ClientCounter::new(&SECRET);
        let days = [date("2026-11-21"), date("2026-11-22"), date("2026-11-23")];
        assert!(meter.take(ip("192.0.2.1"), 1, days[0]).is_ok());
        let hash = |meter: &ClientCounter| meter.days().current.as_ref().unwrap().hash(ip("192.0.2.1").into());
        let first = hash(&meter);
        assert!(meter.take(ip("192.0.2.1"), 1, days[1]).is_ok());
        assert_ne!(hash(&meter), first);
        assert!(meter.take(ip("192.0.2.1"), 1, days[0]).is_err(), "a clock a little behind finds the day before");
        assert!(meter.take(ip("192.0.2.1"), 1, days[2]).is_ok());
        assert!(meter.days().find(days[0]).is_none());
    }

    #[test]
    fn a_full_table_counts_new_addresses_of_a_network_together() {
        let meter = ClientCounter::with_capacity(&SECRET, 4, 3);
        let today = date("2026-11-21");
        for host in 1..=3 {
            assert_eq!(meter.take(ip(&format!("192.0.2.{host}")), 2, today).unwrap().used, 1);
        }
        // The network's share is taken: its further addresses share one count, those that have a place keep it.
        assert_eq!(meter.take(ip("192.0.2.4"), 2, today).unwrap().used, 1);
        assert_eq!(meter.peek(ip("192.0.2.5"), 2, today).used, 1);
        assert_eq!(meter.take(ip("192.0.2.5"), 2, today).unwrap().used, 2);
        assert!(meter.take(ip("192.0.2.6"), 2, today).is_err());
        assert_eq!(meter.take(ip("192.0.2.1"), 2, today).unwrap().used, 2);
        assert_eq!(meter.give_back(ip("192.0.2.6"), 2, today).used, 1);
        // Another network still has a place, then the table is full for all.
        assert_eq!(meter.take(ip("198.51.100.1"), 2, today).unwrap().used, 1);
        assert_eq!(meter.take(ip("198.51.100.2"), 2, today).unwrap().used, 1);
        assert_eq!(meter.take(ip("198.51.100.3"), 2, today).unwrap().used, 2);
        assert_eq!(meter.len(), 4);
        // Peeking takes no place.
        assert_eq!(meter.peek(ip("203.0.113.1"), 2, today).used, 0);
        assert_eq!(meter.len(), 4);
    }

    #[test]
    fn the_addresses_of_a_pool_count_together_and_need_no_place() {
        let meter = ClientCounter::with_capacity(&SECRET, 1, 1);
        let today = date("2026-11-21");
        let pools: Vec<crate::quota::client_pool::ClientPool> = vec!["a=3@192.0.2.0/24".parse().unwrap()];
        let take = |address: &str| meter.take(Client::of(ip(address), &pools), 3, today);
        assert!(take("203.0.113.1").is_ok());
        for (host, used) in [(1, 1), (2, 2), (1, 3)] {
            assert_eq!(take(&format!("192.0.2.{host}")).unwrap().used, used);
        }
        assert_eq!(take("192.0.2.3").unwrap_err().remaining, Some(0));
        assert_eq!(meter.give_back(&pools[0], 3, today).used, 2);
        assert_eq!(meter.peek(&pools[0], 3, today).used, 2);
        assert_eq!(meter.peek(ip("203.0.113.1"), 3, today).used, 1);
    }

    #[test]
    fn concurrent_callers_of_one_address_get_exactly_its_limit() {
        let meter = ClientCounter::with_capacity(&SECRET, 8, 8);
        let today = date("2026-11-21");
        let admitted = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for host in 0..40 {
                        for _ in 0..3 {
                            let address = IpAddr::from([192, 0, 2, host]);
                            admitted.fetch_add(u32::from(meter.take(address, 5, today).is_ok()), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(meter.len(), 8);
        assert_eq!(admitted.into_inner(), 8 * 5 + 5, "eight addresses of their own and one shared count");
    }
}
