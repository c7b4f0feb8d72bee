//! A seeded simulation of the service over a moved clock, a store that fails, and an index whose releases are damaged: what it
//! promises holds after each step, through restarts and crashes.
//!
//! A failure prints its seed, which `VENTUREDEX_SIM_SEED=N cargo test --test it -- simulator` runs again, step by step.
//! `VENTUREDEX_SIM_SEEDS` is the number of seeds. The clock of the machine is set by years in both directions, here for some
//! minutes, in `purges` for days.

mod purges;
mod releases;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use auth::account::{AccountId, CounterId, KeyId, KeyRecord, KeyRef};
use auth::quota::Tier;
use auth::{ApiKey, AuthError, AuthService, MonotonicClock, RateLimitConfig, SqliteStore};
use data::{Date, SnapshotVersion};
use release::{ReleaseEvent, Starting, Watcher};
use tokio::runtime::Runtime;

use crate::support::harness::{NOON, Numbers, cases};
use releases::{Behavior, RELEASES, SimulatedIndex, version};
use store::{Faults, FaultyStore};

const DAY: i64 = 86_400;
/// Requests of a free key a day.
const LIMIT: u32 = 100;
const STEPS: u64 = 80;
const HOME: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));

/// A key, and what the service must say to it.
struct Key {
    header: String,
    id: KeyId,
    counter: CounterId,
    expires_at: Option<i64>,
    revoked: bool,
    /// Whether the service has read the key's last change.
    is_read: bool,
}

/// The process: lost in a crash.
struct Program {
    auth: Arc<AuthService>,
    /// `None` while there is no release to serve.
    watcher: Option<Watcher>,
    served: Option<SnapshotVersion>,
}

struct World {
    numbers: Numbers,
    /// The time that the service must act by.
    now: i64,
    /// The latest `now`; it moves back by a day at most.
    newest: i64,
    /// Seconds by which the clock of the machine is wrong; not 0 for less than ten minutes only.
    error: i64,
    /// Seconds of the monotonic clock, and those at which the clock became wrong.
    passed: Arc<AtomicU64>,
    wrong_since: u64,
    last_day: i32,
    store: Arc<SqliteStore>,
    faults: Arc<Mutex<Faults>>,
    index: SimulatedIndex,
    events: Arc<Mutex<Vec<ReleaseEvent>>>,
    /// What was reported of each state of the index.
    reported: BTreeSet<(u64, String)>,
    accounts: Vec<AccountId>,
    keys: Vec<Key>,
    /// Requests that the service has counted and has not lost in a crash.
    counted: BTreeMap<(CounterId, i32), u32>,
    given_back: BTreeMap<(CounterId, i32), u32>,
    runtime: Runtime,
    program: Option<Program>,
    is_traced: bool,
}

impl World {
    fn new(seed: u64, data: &Path, is_traced: bool) -> Self {
        let mut numbers = Numbers(seed);
        let now = NOON + numbers.upto(DAY as u64) as i64;
        let store = Arc::new(SqliteStore::open(data).unwrap());
        let accounts = ["ada@example.com", "bob@example.com"]
            .map(|email| store.create_account(&email.parse().unwrap(), Tier::Free, None, now).unwrap().id);
        let faults = Arc::new(Mutex::new(Faults { percent: 0, numbers: Numbers(seed ^ 0x5eed), calls: 0 }));
        Self {
            numbers,
            now,
            newest: now,
            error: 0,
            passed: Arc::default(),
            wrong_since: 0,
            last_day: Date::from_unix(now).days(),
            store,
            faults,
            index: SimulatedIndex::at(&data.join("index")),
            events: Arc::default(),
            reported: BTreeSet::new(),
            accounts: accounts.to_vec(),
            keys: Vec::new(),
            counted: BTreeMap::new(),
            given_back: BTreeMap::new(),
            runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
            program: None,
            is_traced,
        }
    }

    /// The clock of the machine.
    fn clock(&self) -> i64 {
        self.now + self.error
    }

    /// Lets seconds pass.
    fn pass(&mut self, seconds: u64) {
        self.passed.fetch_add(seconds, Ordering::Relaxed);
        self.now += seconds as i64;
        self.newest = self.newest.max(self.now);
        self.last_day = self.last_day.max(self.today().days());
    }

    fn trace(&self, step: impl FnOnce() -> String) {
        if self.is_traced {
            println!("{} {}", self.now, step());
        }
    }

    fn pick(&mut self, end: usize) -> usize {
        self.numbers.below(end)
    }

    fn today(&self) -> Date {
        Date::from_unix(self.now)
    }

    fn start(&mut self) {
        // A start believes a clock that is ahead: the server may have been stopped for that long. See `purges`.
        self.error = 0;
        let store = Box::new(FaultyStore { store: Arc::clone(&self.store), faults: Arc::clone(&self.faults) });
        let auth = match AuthService::with_clock(store, RateLimitConfig::default(), self.now, monotonic(&self.passed)) {
            Ok(auth) => auth,
            // A start that the store refuses is tried again by a later step.
            Err(error) => return self.trace(|| format!("cannot start: {error}")),
        };
        self.keys.iter_mut().for_each(|key| key.is_read = true);
        let events = Arc::clone(&self.events);
        let releases = self.index.releases.clone();
        let starting = Starting::new(releases, 3, move |event| events.lock().unwrap().push(event));
        let watcher = starting.start().ok();
        let served = watcher.as_ref().map(|watcher| watcher.active().current().version());
        self.trace(|| format!("started, serves {served:?}"));
        assert_eq!(served, self.index.folder().served_at_start(), "what a start serves");
        self.reported.clear();
        self.events.lock().unwrap().clear();
        self.program = Some(Program { auth, watcher, served });
    }

    /// Ends the process: with a last flush, or by a crash, which loses what was not yet written.
    fn end(&mut self, is_crash: bool) {
        let Some(program) = self.program.take() else { return };
        if !is_crash {
            self.without_faults(|world| program.auth.flush(world.clock()).unwrap());
        }
        self.trace(|| format!("ended, crash: {is_crash}"));
        let stored = self.stored();
        let first = self.last_day - 1;
        self.counted.retain(|(_, day), _| *day >= first);
        for (id, count) in &mut self.counted {
            let written = stored.get(id).copied().unwrap_or(0);
            // What was given back and not yet written is lost, too.
            let given_back = self.given_back.remove(id).unwrap_or(0);
            assert!(written <= *count + given_back, "{id:?}: {written} stored, {count} counted");
            assert!(is_crash || written == *count, "{id:?}: a clean end writes all: {written}, {count}");
            *count = written;
        }
    }

    /// The usage in the store, by counter and day.
    fn stored(&self) -> BTreeMap<(CounterId, i32), u32> {
        let mut stored = BTreeMap::new();
        for day in self.last_day - 1..=self.last_day {
            for usage in self.store.usage(Date::from_days(day)).unwrap() {
                *stored.entry((usage.counter, day)).or_default() += usage.requests;
            }
        }
        stored
    }

    fn without_faults<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let percent = std::mem::take(&mut self.faults.lock().unwrap().percent);
        let done = work(self);
        self.faults.lock().unwrap().percent = percent;
        done
    }

    fn step(&mut self) {
        let Some(program) = &self.program else { return self.start() };
        let auth = Arc::clone(&program.auth);
        assert_eq!(auth.now(self.clock()), self.now, "a clock that is wrong by {} s", self.error);
        match self.numbers.upto(21) {
            20 => self.set_clock(),
            0 => self.move_clock(),
            1 => {
                let percent = [0, 0, 10, 50, 100][self.pick(5)];
                self.trace(|| format!("{percent} % of the store's calls fail"));
                self.faults.lock().unwrap().percent = percent;
            }
            2 => {
                let is_crash = self.numbers.upto(2) == 0;
                self.end(is_crash);
            }
            3 | 4 => self.create_key(&auth),
            5 => self.revoke_key(&auth),
            6 | 7 => {
                let refreshed = auth.refresh().is_ok();
                self.trace(|| format!("refreshed: {refreshed}"));
                self.keys.iter_mut().for_each(|key| key.is_read |= refreshed);
            }
            8 | 9 => {
                let flushed = auth.flush(self.clock()).is_ok();
                self.trace(|| format!("flushed: {flushed}"));
                assert!(flushed || auth.degraded().is_some(), "a failed flush is reported");
            }
            10 => self.invented_key(&auth),
            11 | 12 => self.change_index(),
            13..16 => self.poll(),
            _ => self.requests(&auth),
        }
    }

    /// Sets the clock to a time that is wrong by years, or right again, after some minutes at most.
    fn set_clock(&mut self) {
        let passed = self.passed.load(Ordering::Relaxed);
        if self.error == 0 {
            let days = 10 + self.numbers.upto(20 * 365) as i64;
            self.error = if self.numbers.upto(2) == 0 { days * DAY } else { -days * DAY };
            self.wrong_since = passed;
        } else {
            self.error = 0;
        }
        self.trace(|| format!("the clock is wrong by {} s", self.error));
    }

    fn move_clock(&mut self) {
        if self.error != 0 {
            let left = self.wrong_since + 599 - self.passed.load(Ordering::Relaxed);
            let seconds = self.numbers.upto(left + 1);
            self.pass(seconds);
            return self.trace(|| "time passed".into());
        }
        let midnight = Date::from_unix(self.now).unix() + DAY;
        let first = self.newest - DAY;
        let moved = match self.numbers.upto(6) {
            0 => midnight - 1,
            1 => midnight,
            2 => self.now + self.numbers.upto(3_600) as i64,
            3 => self.now - self.numbers.upto(DAY as u64) as i64,
            4 => midnight - DAY - 1,
            _ => midnight + self.numbers.upto(DAY as u64) as i64,
        };
        // Time after the newest passes; otherwise the clock is set, by a day at most.
        self.now = moved.clamp(first, self.newest);
        if let Some(program) = &self.program {
            assert_eq!(program.auth.now(self.now), self.now);
        }
        let ahead = moved.saturating_sub(self.newest).max(0);
        self.pass(ahead as u64);
        self.trace(|| "the clock moved".into());
    }

    fn create_key(&mut self, auth: &Arc<AuthService>) {
        let index = self.pick(self.accounts.len());
        let account = self.accounts[index];
        let expires_at = (self.numbers.upto(4) == 0).then(|| self.now + self.numbers.upto(2 * DAY as u64) as i64);
        let name = "test".parse().unwrap();
        // By the service, or by a command of the operator, which is another process.
        let created: Option<(String, KeyRecord)> = if self.numbers.upto(2) == 0 {
            let created = self.runtime.block_on(auth.create_key(account, name, expires_at, self.now));
            created.ok().map(|created| (created.key.reveal().to_owned(), created.record))
        } else {
            let mut seed = [0; 32];
            seed.iter_mut().for_each(|byte| *byte = self.numbers.upto(256) as u8);
            let key = ApiKey::from_seed(&seed);
            let record = self.store.create_key(account, &name, &key, expires_at, self.now);
            record.ok().map(|record| (key.reveal().to_owned(), record))
        };
        self.trace(|| format!("created: {:?}", created.as_ref().map(|(_, record)| record.id)));
        let Some((key, record)) = created else { return };
        let header = format!("Bearer {key}");
        self.keys.push(Key {
            header,
            id: record.id,
            counter: record.counter,
            expires_at,
            revoked: false,
            is_read: false,
        });
    }

    fn revoke_key(&mut self, auth: &Arc<AuthService>) {
        if self.keys.is_empty() {
            return;
        }
        let index = self.pick(self.keys.len());
        let (id, now) = (self.keys[index].id, self.now);
        let is_own = self.numbers.upto(2) == 0;
        let account = self.store.key(KeyRef::Id(id), self.today()).unwrap().account;
        let is_done = if is_own {
            self.runtime.block_on(auth.revoke_key(account, id, None, now)).is_ok()
        } else {
            self.store.revoke_key(KeyRef::Id(id), now).is_ok()
        };
        self.trace(|| format!("revoked {id:?}: {is_done}, by the service: {is_own}"));
        let record = self.store.key(KeyRef::Id(id), self.today()).unwrap();
        // A key that had expired before is not reported as revoked.
        assert!(!is_done || !record.is_active(now), "what was confirmed is stored");
        let revoked = record.revoked_at.is_some();
        self.keys[index].revoked = revoked;
        self.keys[index].is_read = is_own && is_done;
    }

    /// Nobody has this key, whatever the store says.
    fn invented_key(&mut self, auth: &Arc<AuthService>) {
        let mut seed = [7; 32];
        seed[0] = self.numbers.upto(256) as u8;
        let header = format!("Bearer {}", ApiKey::from_seed(&seed).reveal());
        let address = IpAddr::from([192, 0, 2, seed[0]]);
        let answered = self.runtime.block_on(auth.authenticate_fresh(Some(&header), address, self.now));
        match answered {
            Err(AuthError::Invalid) => {}
            Err(AuthError::StoreAway) => assert!(self.faults.lock().unwrap().percent > 0, "the store answers"),
            other => panic!("{other:?}"),
        }
    }

    /// Requests of one key until some are admitted or its quota is used up.
    fn requests(&mut self, auth: &Arc<AuthService>) {
        if self.keys.is_empty() {
            return;
        }
        let index = self.pick(self.keys.len());
        let count = 1 + self.numbers.upto(70);
        let is_given_back = self.numbers.upto(4) == 0;
        let (now, today) = (self.now, self.today());
        let key = &self.keys[index];
        let answered = self.runtime.block_on(auth.authenticate_fresh(Some(&key.header), HOME, now));
        let is_expired = key.expires_at.is_some_and(|end| end <= now);
        match answered {
            Ok(_) => assert!(!(is_expired || key.revoked && key.is_read), "{:?} is accepted", key.id),
            Err(AuthError::Revoked) => assert!(key.revoked, "{:?} is not revoked", key.id),
            // The store ends expired keys, so that they are revoked then.
            Err(AuthError::Expired) => assert!(is_expired, "{:?} has not expired", key.id),
            Err(AuthError::StoreAway) => assert!(!key.is_read, "{:?} is known", key.id),
            Err(other) => panic!("{:?}: {other}", key.id),
        }
        let Ok(caller) = answered else { return };
        let id = (key.counter, today.days());
        let counted = self.counted.entry(id).or_default();
        for _ in 0..count {
            let taken = auth.take(&caller, today);
            assert_eq!(taken.is_ok(), *counted < LIMIT, "{id:?}: {counted} counted, {taken:?}");
            let Ok(quota) = taken else { break };
            *counted += 1;
            assert_eq!((quota.used, quota.remaining), (*counted, Some(LIMIT - *counted)), "{id:?}");
        }
        // A request that failed is not counted.
        if is_given_back && *counted > 0 && auth.peek(&caller, today).used > 0 {
            let before = auth.peek(&caller, today).used;
            let given_back = before - auth.give_back(&caller, today).used;
            *counted -= given_back;
            *self.given_back.entry(id).or_default() += given_back;
        }
        let counted = *counted;
        self.trace(|| format!("requests of {id:?}: {counted} counted"));
    }

    fn change_index(&mut self) {
        let version = version(1 + self.numbers.upto(RELEASES));
        match self.numbers.upto(8) {
            0 => self.index.name(None),
            1 => self.index.name(Some(None)),
            2..5 => self.index.name(Some(Some(version))),
            5 => self.index.remove(version),
            6 => self.index.put(version, Behavior::Opens),
            _ => self.index.put(version, Behavior::Fails),
        }
        self.trace(|| format!("index: {:?}", self.index.folder()));
    }

    fn poll(&mut self) {
        let folder = self.index.folder().clone();
        let Some(program) = &mut self.program else { return };
        let Some(watcher) = &program.watcher else {
            // The server waits for a release; a start serves it as soon as there is one.
            if folder.served_at_start().is_some() {
                self.end(false);
                self.start();
            }
            return;
        };
        let active = watcher.active();
        let request = active.current();
        let (version_before, before) = (request.version(), program.served);
        // Two polls see that the files no longer change.
        for _ in 0..4 {
            watcher.poll(false);
        }
        let named = folder.current.flatten().filter(|named| folder.opens(*named));
        program.served = Some(active.current().version());
        // A release is served if it is named and opens; it is never replaced by what is not named.
        assert_eq!(program.served, named.or(before), "{folder:?}");
        // A request keeps its release through the swap, and its cursors those that are loaded.
        assert_eq!(request.version(), version_before);
        for release in active.all() {
            assert!(active.loaded(release.version()).is_some());
        }
        let events = std::mem::take(&mut *self.events.lock().unwrap());
        for event in events.iter().filter(|event| !matches!(event, ReleaseEvent::Serving { .. })) {
            assert!(self.reported.insert((folder.stamp, event.to_string())), "reported again: {event}");
        }
        let served = program.served;
        self.trace(|| format!("polled, serves {served:?}, {events:?}"));
    }

    /// What must hold whatever happened.
    fn check(&self) {
        let stored = self.stored();
        for (id, counted) in &self.counted {
            assert!(*counted <= LIMIT, "{id:?}: {counted} admitted");
            let written = stored.get(id).copied().unwrap_or(0);
            // Between two flushes more may be stored than is counted: what was given back is not yet written.
            assert!(written <= LIMIT, "{id:?}: {written} stored");
        }
    }
}

/// A monotonic clock that shows the seconds of a simulation.
fn monotonic(passed: &Arc<AtomicU64>) -> MonotonicClock {
    let passed = Arc::clone(passed);
    Arc::new(move || Duration::from_secs(passed.load(Ordering::Relaxed)))
}

fn run(seed: u64, is_traced: bool) {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::new(seed, data.path(), is_traced);
    for _ in 0..STEPS {
        world.step();
        world.check();
    }
    world.faults.lock().unwrap().percent = 0;
    world.end(false);
}

#[test]
fn what_is_promised_holds_under_faults() {
    for_seeds("what_is_promised_holds", 20, run);
}

/// Runs a simulation with each of 1,000 seeds, or a `few`, or traces the one that the variable names.
fn for_seeds(test: &str, few: u32, run: fn(u64, bool)) {
    if let Ok(seed) = std::env::var("VENTUREDEX_SIM_SEED") {
        return run(seed.parse().expect("VENTUREDEX_SIM_SEED is a number"), true);
    }
    let few = u64::from(cases(1_000, few));
    let seeds = std::env::var("VENTUREDEX_SIM_SEEDS").map_or(few, |seeds| seeds.parse().expect("a number of seeds"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (thread..seeds).step_by(threads as usize) {
                    if catch_unwind(AssertUnwindSafe(|| run(seed, false))).is_err() {
                        panic!("run it again: VENTUREDEX_SIM_SEED={seed} cargo test --test it -- {test} --nocapture");
                    }
                }
            });
        }
    });
}

#[test]
fn a_flood_of_invented_keys_reads_the_store_twice_at_most() {
    let data = tempfile::tempdir().unwrap();
    let faults = Arc::new(Mutex::new(Faults { percent: 0, numbers: Numbers(1), calls: 0 }));
    let store = FaultyStore { store: Arc::new(SqliteStore::open(data.path()).unwrap()), faults: Arc::clone(&faults) };
    let auth = AuthService::with_store(Box::new(store), RateLimitConfig::default(), NOON).unwrap();
    let before = faults.lock().unwrap().calls;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let look_up = |number: u8| {
        let auth = Arc::clone(&auth);
        let header = format!("Bearer {}", ApiKey::from_seed(&[number; 32]).reveal());
        tokio::spawn(async move { auth.authenticate_fresh(Some(&header), HOME, NOON).await.map(|_| ()) })
    };
    // The store answers when all have come.
    let answers_not = faults.lock().unwrap();
    let tasks = runtime.block_on(async {
        let tasks: Vec<_> = (0..200).map(look_up).collect();
        for _ in &tasks {
            tokio::task::yield_now().await;
        }
        tasks
    });
    drop(answers_not);
    runtime.block_on(async {
        for task in tasks {
            assert_eq!(task.await.unwrap(), Err(AuthError::Invalid));
        }
    });
    let calls = faults.lock().unwrap().calls - before;
    // One at a time: those that came before it began share it, and the others the next one.
    assert!((1..=2).contains(&calls), "{calls} calls");
}
