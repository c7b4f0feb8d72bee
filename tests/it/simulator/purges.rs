//! Old data under a clock that is wrong by years, for minutes or days, through restarts and crashes: no row is deleted before its
//! time, and each is deleted once the clock was right for a week.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use auth::account::{AccountId, KeyRecord, KeyRef};
use auth::link::Purpose;
use auth::quota::{AddedUsage, Tier};
use auth::{ApiKey, AuthService, RateLimitConfig, SqliteStore};
use data::Date;

use crate::simulator::{DAY, for_seeds, monotonic};
use crate::support::harness::{NOON, Numbers};

/// Days for which usage and names of revoked keys are kept.
const USAGE_DAYS: i32 = 400;
const NAME_DAYS: i32 = 90;
/// A wrong clock is set before a server trusts it.
const MAX_WRONG: u64 = 6 * 86_400;

struct World {
    numbers: Numbers,
    /// The true time.
    now: i64,
    passed: Arc<AtomicU64>,
    /// Seconds by which the clock is wrong, and for how long it has been.
    error: i64,
    wrong_for: u64,
    folder: std::path::PathBuf,
    /// The days with usage, the times of revocations, the ends of links.
    usage: Vec<i32>,
    revoked: Vec<i64>,
    links: Vec<i64>,
    auth: Arc<AuthService>,
}

fn start(folder: &Path, clock: i64, passed: &Arc<AtomicU64>) -> Arc<AuthService> {
    let store = Box::new(SqliteStore::open(folder).unwrap());
    AuthService::with_clock(store, RateLimitConfig::default(), clock, monotonic(passed)).unwrap()
}

fn add_key(store: &SqliteStore, account: AccountId, number: u8, now: i64) -> KeyRecord {
    let key = ApiKey::from_seed(&[number; 32]);
    store.create_key(account, &"test".parse().unwrap(), &key, None, now).unwrap()
}

impl World {
    /// A store with rows of all ages.
    fn new(seed: u64, folder: &Path) -> Self {
        let mut numbers = Numbers(seed);
        let now = NOON + numbers.upto(86_400) as i64;
        let today = Date::from_unix(now).days();
        let store = SqliteStore::open(folder).unwrap();
        let email = "ada@example.com".parse().unwrap();
        let account = store.create_account(&email, Tier::Enterprise, None, now).unwrap().id;
        let used = add_key(&store, account, 200, now);
        let usage: Vec<i32> = (0..=USAGE_DAYS).step_by(7).map(|age| today - age).collect();
        let added = usage.iter().map(|day| {
            let day = Date::from_days(*day);
            AddedUsage { key: used.id, counter: used.counter, day, requests: 7 }
        });
        store.add_usage(&added.collect::<Vec<_>>(), now).unwrap();
        let revoked: Vec<i64> = (0..12).map(|number| now - number * 8 * DAY).collect();
        for (time, number) in revoked.iter().zip(1..) {
            let key = add_key(&store, account, number, *time);
            store.revoke_key(KeyRef::Id(key.id), *time).unwrap();
        }
        let links: Vec<i64> = (1..=10).map(|days| now + days * 3 * DAY).collect();
        for ends_at in &links {
            store.request_link(&email, Purpose::Verification, *ends_at, now).unwrap();
        }
        let passed = Arc::default();
        let auth = start(folder, now, &passed);
        Self { numbers, now, passed, error: 0, wrong_for: 0, folder: folder.to_owned(), usage, revoked, links, auth }
    }

    fn pass(&mut self, seconds: u64) {
        self.passed.fetch_add(seconds, Ordering::Relaxed);
        self.now += seconds as i64;
        if self.error != 0 {
            self.wrong_for += seconds;
        }
    }

    fn step(&mut self) {
        match self.numbers.upto(6) {
            0 | 1 => {
                let days = 2 + self.numbers.upto(20 * 365) as i64;
                let is_right = self.wrong_for > 0 || self.numbers.upto(2) == 0;
                self.error = match (is_right, self.numbers.upto(2)) {
                    (true, _) => 0,
                    (false, 0) => days * DAY,
                    (false, _) => -days * DAY,
                };
                self.wrong_for = 0;
            }
            2 => {
                if self.numbers.upto(2) == 0 {
                    self.auth.close(self.now + self.error).unwrap();
                }
                self.auth = start(&self.folder, self.now + self.error, &self.passed);
            }
            _ => {
                let most =
                    if self.error == 0 { 3 * 86_400 } else { MAX_WRONG.saturating_sub(self.wrong_for).min(86_400) };
                let seconds = [2, 300, 900, most][self.numbers.below(4)].min(most);
                self.pass(seconds);
            }
        }
        for _ in 0..2 {
            self.auth.flush(self.now + self.error).unwrap();
        }
    }

    /// The rows in the store: days with usage, revocations whose key has a name, ends of links.
    fn stored(&self) -> (Vec<i32>, Vec<i64>, Vec<i64>) {
        let database = rusqlite::Connection::open(self.folder.join("venturedex.sqlite")).unwrap();
        fn column<T: rusqlite::types::FromSql>(database: &rusqlite::Connection, query: &str) -> Vec<T> {
            let mut statement = database.prepare(query).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        }
        (
            column(&database, "SELECT day FROM usage ORDER BY day DESC"),
            column(
                &database,
                "SELECT revoked_at FROM keys WHERE name <> '' AND revoked_at IS NOT NULL ORDER BY 1 DESC",
            ),
            column(&database, "SELECT expires_at FROM outbox ORDER BY 1"),
        )
    }

    /// The rows that must not have been deleted at the true time.
    fn due_to_stay(&self) -> (Vec<i32>, Vec<i64>, Vec<i64>) {
        let today = Date::from_unix(self.now);
        let first_day = today.days() - USAGE_DAYS;
        let first_revocation = Date::from_days(today.days() - NAME_DAYS).unix();
        (
            self.usage.iter().copied().filter(|day| *day >= first_day).collect(),
            self.revoked.iter().copied().filter(|time| *time >= first_revocation).collect(),
            self.links.iter().copied().filter(|end| *end > today.unix()).collect(),
        )
    }

    fn check(&self) {
        let (stored, kept) = (self.stored(), self.due_to_stay());
        assert!(kept.0.iter().all(|day| stored.0.contains(day)), "usage is lost: {stored:?}, {kept:?}");
        assert!(kept.1.iter().all(|time| stored.1.contains(time)), "a name is lost: {stored:?}, {kept:?}");
        assert!(kept.2.iter().all(|end| stored.2.contains(end)), "a link is lost: {stored:?}, {kept:?}");
    }
}

fn run(seed: u64, is_traced: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(seed, folder.path());
    for step in 0..24 {
        world.step();
        if is_traced {
            println!("step {step}: {} + {} after {} s", world.now, world.error, world.passed.load(Ordering::Relaxed));
        }
        world.check();
    }
    // The clock is right from now on.
    world.error = 0;
    for seconds in [0, 700, 8 * 86_400] {
        world.pass(seconds);
        world.auth.flush(world.now).unwrap();
    }
    assert_eq!(world.stored(), world.due_to_stay());
}

#[test]
fn no_row_is_deleted_early_by_a_clock_that_is_wrong_by_years() {
    for_seeds("no_row_is_deleted_early", 8, run);
}
