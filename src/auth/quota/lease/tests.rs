use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::quota::lease::journal::EarlierJournal;

const KEY: SharedCounter = SharedCounter::Key(CounterId(7));

fn today() -> Date {
    "2026-11-24".parse().unwrap()
}

/// A model of the database in memory.
#[derive(Default)]
struct LeaseStore {
    taken: Mutex<HashMap<(SharedCounter, Date), u32>>,
    servers: u32,
    calls: AtomicU32,
    is_away: AtomicBool,
}

impl LeaseStore {
    fn new(servers: u32) -> Self {
        Self { servers, ..Self::default() }
    }

    fn lease(&self, request: LeaseRequest) -> Option<Grant> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.is_away.load(Ordering::Relaxed) {
            return None;
        }
        let mut taken = self.taken.lock().unwrap();
        let taken = taken.entry((request.counter, request.day)).or_default();
        *taken += request.owed;
        let size = (request.limit.saturating_sub(*taken) / (SHARE * self.servers)).min(MAX_UNITS).max(request.needed);
        let units = size.min(request.limit.saturating_sub(*taken));
        *taken += units;
        Some(Grant { units, left: request.limit.saturating_sub(*taken) })
    }

    fn give_back(&self, unused: &[UnusedUnits]) {
        let mut taken = self.taken.lock().unwrap();
        for UnusedUnits { counter, day, units, .. } in unused {
            *taken.get_mut(&(*counter, *day)).unwrap() -= units;
        }
    }

    fn taken(&self) -> u32 {
        self.taken.lock().unwrap().values().sum()
    }

    fn take(&self, server: &LeasedCounters, limit: u32) -> Result<Quota, Denied> {
        let taken = server.take(KEY, 1, limit, today(), |request| self.lease(request))?;
        if taken.renews {
            server.renew((KEY, today()), |request| self.lease(request));
        }
        Ok(taken.quota)
    }
}

/// Number of requests that servers admit when each of `clients` threads tries `tries` times.
fn admitted(store: &LeaseStore, servers: &[LeasedCounters], clients: usize, tries: usize, limit: u32) -> u32 {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || {
                    let server = |number: usize| &servers[(client + number) % servers.len()];
                    (0..tries).filter(|number| store.take(server(*number), limit).is_ok()).count() as u32
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn servers_together_admit_exactly_the_limit() {
    for limit in [1, 7, 100, 5_000] {
        let store = LeaseStore::new(3);
        let servers = [(); 3].map(|()| LeasedCounters::default());
        let mut sum = admitted(&store, &servers, 16, 600, limit);
        assert!(sum <= limit);
        // Unused units at the end are admitted there, or given back and admitted elsewhere.
        store.give_back(&servers[1].unused(today(), true));
        store.give_back(&servers[2].unused(today(), true));
        servers[0].slots.iter().for_each(|slot| slot.lock().refused_at = None);
        sum += admitted(&store, &servers[..1], 4, 100, limit);
        assert_eq!((sum, store.taken()), (limit, limit));
    }
}

#[test]
fn a_server_that_is_killed_lowers_the_number_and_never_raises_it() {
    let store = LeaseStore::new(3);
    let mut sum = 0;
    for _ in 0..20 {
        // They are dropped with their unused units.
        let servers = [(); 3].map(|()| LeasedCounters::default());
        sum += admitted(&store, &servers, 8, 40, 5_000);
    }
    assert!((2_000..=5_000).contains(&sum), "{sum}");
    sum += admitted(&store, &[LeasedCounters::default()], 4, 2_000, 5_000);
    assert!(sum <= 5_000, "{sum}");
}

#[test]
fn the_store_is_asked_once_for_fifty_requests_while_much_is_left() {
    let store = LeaseStore::new(3);
    let server = LeasedCounters::default();
    for _ in 0..2_500 {
        store.take(&server, 5_000).unwrap();
    }
    let calls = store.calls.load(Ordering::Relaxed);
    assert!(calls * 50 <= 2_500, "{calls} calls");
    assert!(store.taken() <= 2_500 + MAX_UNITS, "{}", store.taken());
}

#[test]
fn the_quota_that_is_reported_counts_what_other_servers_took() {
    let store = LeaseStore::new(2);
    let [one, two] = [(); 2].map(|()| LeasedCounters::default());
    assert_eq!(one.peek(KEY, 100, today()), None);
    assert_eq!(store.take(&one, 100).unwrap().remaining, Some(99));
    let mut before = 99;
    for _ in 0..20 {
        let remaining = store.take(&two, 100).unwrap().remaining.unwrap();
        assert!(remaining < before, "{remaining} after {before}");
        before = remaining;
    }
    // Less the unused units of the first.
    assert!((69..80).contains(&before), "{before}");
    assert_eq!(one.give_back(KEY, 1, 100, today()).remaining, Some(100));
}

#[test]
fn several_requests_are_taken_together_or_not_at_all() {
    let store = LeaseStore::new(1);
    let server = LeasedCounters::default();
    let take = |requests| {
        let taken = server.take(KEY, requests, 100, today(), |request| store.lease(request))?;
        if taken.renews {
            server.renew((KEY, today()), |request| store.lease(request));
        }
        Ok(taken)
    };
    assert_eq!(take(60).unwrap().quota.used, 60);
    assert!(matches!(take(60), Err(Denied::Exceeded(quota)) if quota.remaining == Some(40)));
    assert_eq!(take(40).unwrap().quota.remaining, Some(0));
    assert!(matches!(take(1), Err(Denied::Exceeded(_))));
}

#[test]
fn what_is_idle_is_given_back_and_a_refusal_is_not_kept_long() {
    let store = LeaseStore::new(1);
    let [one, two] = [(); 2].map(|()| LeasedCounters::default());
    store.take(&one, 16).unwrap();
    while store.take(&two, 16).is_ok() {}
    let unused = one.unused(today(), false);
    assert!(unused.is_empty(), "it was used just now: {unused:?}");
    one.slots.iter().for_each(|slot| slot.lock().used_at -= IDLE);
    let unused = one.unused(today(), false);
    assert_eq!(unused.iter().map(|unused| unused.units).sum::<u32>(), 1);
    store.give_back(&unused);
    let asked = store.calls.load(Ordering::Relaxed);
    assert!(store.take(&two, 16).is_err());
    assert_eq!(store.calls.load(Ordering::Relaxed), asked, "nobody asks again within a second");
    two.slots.iter().for_each(|slot| slot.lock().refused_at = Instant::now().checked_sub(REFUSED));
    assert!(store.take(&two, 16).is_ok());
    // Units that cannot be given back are taken back.
    let unused = two.unused(today(), true);
    two.take_back(&unused);
    assert_eq!(two.unused(today(), true), unused);
}

#[test]
fn while_the_store_is_away_a_counter_that_was_used_has_its_lease_and_a_tenth_of_its_limit() {
    let store = LeaseStore::new(2);
    let server = LeasedCounters::default();
    store.take(&server, 1_000).unwrap();
    let unused = server.slots.iter().next().unwrap().lock().unused;
    store.is_away.store(true, Ordering::Relaxed);
    let admitted = (0..500).filter(|_| store.take(&server, 1_000).is_ok()).count() as u32;
    assert_eq!((admitted, allowance(5), allowance(100)), (unused + 100, 1, 10));
    assert!(matches!(store.take(&server, 1_000), Err(Denied::Unchecked(_))));
    // Nothing is known of another counter.
    let other = server.take(SharedCounter::Client(1), 1, 100, today(), |request| store.lease(request));
    assert!(matches!(other, Err(Denied::Unknown(_))));
    // The admitted requests are taken from the counter when the store is back.
    store.is_away.store(false, Ordering::Relaxed);
    assert_eq!(server.owing(), [(KEY, today())]);
    server.renew((KEY, today()), |request| store.lease(request));
    assert!(server.owing().is_empty());
    store.give_back(&server.unused(today(), true));
    assert_eq!(store.taken(), 1 + admitted);
}

#[test]
fn a_counter_of_yesterday_is_known_after_midnight_for_ten_minutes() {
    let store = LeaseStore::new(1);
    let server = LeasedCounters::default();
    store.take(&server, 1_000).unwrap();
    store.is_away.store(true, Ordering::Relaxed);
    let tomorrow = Date::from_days(today().days() + 1);
    let take = || server.take(KEY, 1, 1_000, tomorrow, |request| store.lease(request));
    assert!(take().is_ok());
    server.slots.retain(|(_, day), _| *day == today());
    server.slots.iter().for_each(|slot| slot.lock().used_at -= RECENT_USE * 2);
    assert!(matches!(take(), Err(Denied::Unknown(_))));
}

/// A model of the database that knows what each server holds.
#[derive(Default)]
struct HeldStore {
    taken: i64,
    /// Units by server and record.
    held: HashMap<(i64, i64), i64>,
}

impl HeldStore {
    fn lease(&mut self, server: i64, request: LeaseRequest) -> Grant {
        self.taken += i64::from(request.owed);
        let left = (i64::from(request.limit) - self.taken).max(0);
        let units = (left / 16).max(request.needed.into()).min(left);
        self.taken += units;
        if let Some(record) = request.record {
            *self.held.entry((server, record)).or_default() += units;
        }
        Grant { units: units as u32, left: (left - units) as u32 }
    }

    fn end(&mut self, server: i64, unused: &[UnusedUnits], finished: &[FinishedLease]) {
        for unused in unused {
            self.taken -= i64::from(unused.units);
            if let Some(record) = unused.record {
                *self.held.get_mut(&(server, record)).unwrap() -= i64::from(unused.units);
            }
        }
        for FinishedLease { record, spent } in finished {
            let units = self.held.remove(&(server, record.number));
            self.taken -= units.map_or(0, |units| units - spent);
        }
    }

    fn settle(&mut self, journal: &EarlierJournal) {
        for ((_, record), units) in self.held.extract_if(|(server, _), _| *server == journal.server) {
            self.taken -= units - journal.spent.get(&record).unwrap_or(&0);
        }
    }
}

/// Servers that are killed, lose answers of the database and cannot write their journals, in any order.
#[test]
fn killed_servers_lose_no_unit_and_admit_none_twice() {
    const LIMIT: u32 = 400;
    const BOOT: &str = "boot";
    for seed in 1..=100_u64 {
        let mut state = seed;
        let mut upto = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut numbers = 0;
        let mut start = |data: &Path| {
            numbers += 1;
            let leases = LeasedCounters::default();
            leases.note_in(LeaseJournal::create(data, numbers, BOOT).unwrap());
            (numbers, leases)
        };
        let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let mut servers = folders.each_ref().map(|folder| start(folder.path()));
        let store = RefCell::new(HeldStore::default());
        // Requests that were admitted without the database by a server that was killed, and units of one without a journal.
        let (mut admitted, mut unknown, mut lost) = (0, 0, 0);
        let mut end = |server: &(i64, LeasedCounters), store: &mut HeldStore| {
            for slot in &server.1.slots {
                let units = slot.lock();
                unknown += i64::from(units.owed);
                lost += if units.is_recorded { 0 } else { i64::from(units.unused) };
            }
            let folder = folders.iter().find(|folder| {
                EarlierJournal::read_all(folder.path(), BOOT).unwrap().iter().any(|journal| journal.server == server.0)
            });
            let folder = folder.unwrap().path();
            for journal in EarlierJournal::read_all(folder, BOOT).unwrap() {
                store.settle(&journal);
                fs::remove_file(journal.path).unwrap();
            }
            start(folder)
        };
        for _ in 0..400 {
            let index = upto(3) as usize;
            let (number, leases) = &mut servers[index];
            let is_answered = upto(8) > 0;
            let lease = |request: LeaseRequest| {
                // Without an answer, only what a record notes is not lost.
                let arrives = is_answered || (request.owed == 0 && request.record.is_some());
                arrives.then(|| store.borrow_mut().lease(*number, request)).filter(|_| is_answered)
            };
            match upto(20) {
                0 => servers[index] = end(&servers[index], &mut store.borrow_mut()),
                1 => {
                    let unused = leases.unused(today(), upto(2) == 0);
                    let finished = leases.finished();
                    match upto(4) {
                        // It did not arrive.
                        0 => {
                            leases.take_back(&unused);
                            leases.keep_finished(finished);
                        }
                        // It arrived without an answer.
                        1 if unused.iter().all(|unused| unused.record.is_some()) => {
                            store.borrow_mut().end(*number, &unused, &finished);
                            leases.keep_finished(finished);
                        }
                        _ => {
                            store.borrow_mut().end(*number, &unused, &finished);
                            leases.forget(&finished);
                        }
                    }
                }
                2 => leases.slots.iter().for_each(|slot| slot.lock().used_at -= RECENT_USE * 2),
                3 if upto(10) == 0 => {
                    // From now on it cannot be written.
                    if let Some(journal) = leases.journal.get_mut() {
                        journal.file = File::open("/dev/null").unwrap();
                    }
                }
                4 if leases.journal.get().is_some_and(|journal| journal.file.metadata().unwrap().is_file()) => {
                    let has_spent = |slot: &CounterSlot| {
                        let units = slot.lock();
                        units.is_recorded && units.spent > 0
                    };
                    if leases.slots.iter().any(|slot| has_spent(&slot)) {
                        leases.give_back(KEY, 1, LIMIT, today());
                        admitted -= 1;
                    }
                }
                _ => {
                    let requests = 1 + upto(4) as u32;
                    if let Ok(taken) = leases.take(KEY, requests, LIMIT, today(), lease) {
                        admitted += i64::from(requests);
                        if taken.renews {
                            leases.renew((KEY, today()), lease);
                        }
                    }
                }
            }
        }
        for server in &servers {
            server.1.owing().into_iter().for_each(|owing| {
                server.1.renew(owing, |request| Some(store.borrow_mut().lease(server.0, request)));
            });
        }
        let [first, ..] = servers.each_ref().map(|server| end(server, &mut store.borrow_mut()));
        let taken = store.borrow().taken;
        assert_eq!(taken, admitted - unknown + lost, "seed {seed}");
        assert!(store.borrow().held.is_empty(), "seed {seed}");
        let lease = |request| Some(store.borrow_mut().lease(first.0, request));
        while first.1.take(KEY, 1, LIMIT, today(), lease).is_ok() {
            admitted += 1;
        }
        // Exactly the limit, or what was admitted without the database if that is more.
        assert_eq!(admitted - unknown + lost, taken.max(LIMIT.into()), "seed {seed}");
    }
}
