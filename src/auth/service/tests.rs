//! The service with a real store, including restarts and other processes.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;

use crate::account::{Email, KeyRecord, KeyRef};
use crate::quota::{AddedUsage, Allowance, HUNDREDTHS, Tiers};
use crate::rate_limits::UNKNOWN_KEYS_PER_MINUTE;
use crate::service::*;
use crate::{Durability, KeyChanges, ReadKind, SqliteStore, Statements, StoreMeasurements};

const NOON: i64 = 1_795_262_400;

impl AuthService {
    /// The service with the store in the folder `data`.
    pub(crate) fn open(data: &Path, now: i64) -> StoreResult<Arc<Self>> {
        Self::open_with(data, RateLimitConfig::default(), now)
    }

    pub(crate) fn open_with(data: &Path, rate_limits: RateLimitConfig, now: i64) -> StoreResult<Arc<Self>> {
        Self::with_store(Box::new(SqliteStore::open(data)?), rate_limits, now)
    }

    /// As [`AuthService::open`], with a monotonic clock that shows `passed` seconds.
    pub(crate) fn open_at(data: &Path, now: i64, passed: &Arc<AtomicU64>) -> StoreResult<Arc<Self>> {
        let passed = Arc::clone(passed);
        let monotonic = move || Duration::from_secs(passed.load(Ordering::Relaxed));
        let store = Box::new(SqliteStore::open(data)?);
        Self::with_clock(store, RateLimitConfig::default(), now, Arc::new(monotonic))
    }
}

fn today() -> Date {
    Date::from_unix(NOON)
}

fn home() -> IpAddr {
    "192.0.2.1".parse().unwrap()
}

fn email() -> Email {
    "ada@example.com".parse().unwrap()
}

/// A data folder with one account, and the store as an operator command opens it.
fn data(tier: Tier) -> (TempDir, SqliteStore) {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    store.create_account(&email(), tier, None, NOON).unwrap();
    (data, store)
}

fn add(store: &dyn Store, now: i64) -> (String, KeyRecord) {
    let key = ApiKey::from_seed(&random().unwrap());
    let record =
        store.create_key(store.account(&email()).unwrap().id, &"test".parse().unwrap(), &key, None, now).unwrap();
    (format!("Bearer {}", key.reveal()), record)
}

fn caller(service: &AuthService, header: &str) -> Caller {
    service.authenticate(Some(header), NOON).unwrap()
}

#[test]
fn each_invalid_header_is_rejected_with_its_reason() {
    let (data, store) = data(Tier::Free);
    let (header, record) = add(&store, NOON);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let caller = caller(&service, &header);
    assert_eq!((caller.key, caller.tier, caller.masked), (record.id, Tier::Free, record.masked));
    assert_eq!(caller.account, Some(record.account));

    let key = header.strip_prefix("Bearer ").unwrap();
    for accepted in [format!("bearer {key}"), format!("BEARER   {key} ")] {
        assert!(service.authenticate(Some(&accepted), NOON).is_ok(), "{accepted}");
    }
    for missing in [None, Some(""), Some("  "), Some("Bearer"), Some("Bearer ")] {
        assert_eq!(service.authenticate(missing, NOON), Err(AuthError::Missing), "{missing:?}");
    }
    let mut mistyped = header.clone();
    mistyped.replace_range(20..21, if &header[20..21] == "x" { "y" } else { "x" });
    let cut = &header[..header.len() - 1];
    for malformed in [mistyped.as_str(), cut, key, "Basic YWRhOmFkYQ==", "Bearer abc", "Bearer vdx_"] {
        assert_eq!(service.authenticate(Some(malformed), NOON), Err(AuthError::Malformed), "{malformed}");
    }
    let unknown = ApiKey::from_seed(&[3; 32]);
    assert_eq!(service.authenticate(Some(&format!("Bearer {}", unknown.reveal())), NOON), Err(AuthError::Invalid));
}

#[test]
fn changes_by_operators_apply_after_the_next_refresh() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let (header, record) = add(&store, NOON);
    assert_eq!(service.authenticate(Some(&header), NOON), Err(AuthError::Invalid));
    assert_eq!(service.refresh().unwrap(), 1);
    assert_eq!(service.take(&caller(&service, &header), today()).unwrap().limit, Some(100));
    assert_eq!(service.refresh().unwrap(), 0);

    store.set_tier(&email(), Tier::Pro).unwrap();
    assert_eq!(service.refresh().unwrap(), 1);
    let quota = service.take(&caller(&service, &header), today()).unwrap();
    assert_eq!((quota.limit, quota.used, quota.tier), (Some(5_000), 2, Some(Tier::Pro)));

    store.revoke_key(KeyRef::Id(record.id), NOON).unwrap();
    service.refresh().unwrap();
    assert_eq!(service.authenticate(Some(&header), NOON), Err(AuthError::Revoked));
    drop(service);
    let service = AuthService::open(data.path(), NOON).unwrap();
    assert_eq!(service.authenticate(Some(&header), NOON), Err(AuthError::Revoked), "after a restart too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_just_created_by_another_process_is_accepted_at_once() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let (header, _) = add(&store, NOON);
    let mut tasks = Vec::new();
    for number in 0..64_u8 {
        let invented = format!("Bearer {}", ApiKey::from_seed(&[number; 32]).reveal());
        let (service, header) = (service.clone(), header.clone());
        tasks.push(tokio::spawn(async move {
            let address = IpAddr::from([192, 0, 2, number]);
            assert!(service.authenticate_fresh(Some(&header), address, NOON).await.is_ok());
            assert_eq!(service.authenticate_fresh(Some(&invented), address, NOON).await, Err(AuthError::Invalid));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(service.authenticate_fresh(None, home(), NOON).await, Err(AuthError::Missing));
}

#[tokio::test]
async fn a_client_that_sends_invented_keys_has_a_limited_number_of_look_ups() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let look_ups = || service.refreshes.load(Ordering::Relaxed);
    let before = look_ups();
    for number in 0..100 {
        let invented = format!("Bearer {}", ApiKey::from_seed(&[number; 32]).reveal());
        assert_eq!(service.authenticate_fresh(Some(&invented), home(), NOON).await, Err(AuthError::Invalid));
    }
    assert_eq!(look_ups() - before, u64::from(UNKNOWN_KEYS_PER_MINUTE));
    let (header, _) = add(&store, NOON);
    let other = "198.51.100.1".parse().unwrap();
    assert!(service.authenticate_fresh(Some(&header), other, NOON).await.is_ok(), "another client is not affected");
    assert!(service.authenticate_fresh(Some(&header), home(), NOON).await.is_ok(), "the key is in memory");
}

#[tokio::test]
async fn a_key_that_cannot_be_looked_up_is_not_rejected_as_unknown() {
    let (_data, store) = data(Tier::Free);
    let fails = Arc::new(Mutex::new(false));
    let store = Box::new(FailingStore { store, fails: fails.clone() });
    let service = AuthService::with_store(store, RateLimitConfig::default(), NOON).unwrap();
    let key = format!("Bearer {}", ApiKey::from_seed(&[3; 32]).reveal());
    *fails.lock().unwrap() = true;
    assert_eq!(service.authenticate_fresh(Some(&key), home(), NOON).await, Err(AuthError::StoreAway));
    *fails.lock().unwrap() = false;
    assert_eq!(service.authenticate_fresh(Some(&key), home(), NOON).await, Err(AuthError::Invalid));
}

#[tokio::test]
async fn optional_authentication_only_checks_keys_of_this_service() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let (header, record) = add(&store, NOON);
    for nobody in [None, Some(""), Some("Bearer"), Some("Bearer eyJhbGciOi"), Some("Basic YWRhOmFkYQ==")] {
        assert_eq!(service.authenticate_optional(nobody, home(), NOON).await, Ok(None), "{nobody:?}");
    }
    let found = service.authenticate_optional(Some(&header), home(), NOON).await.unwrap();
    assert_eq!(found.map(|caller| caller.key), Some(record.id));
    assert_eq!(service.authenticate_optional(Some("Bearer vdx_wrong"), home(), NOON).await, Err(AuthError::Malformed));
    store.revoke_key(KeyRef::Id(record.id), NOON).unwrap();
    service.refresh().unwrap();
    assert_eq!(service.authenticate_optional(Some(&header), home(), NOON).await, Err(AuthError::Revoked));
}

#[test]
fn sixty_four_clients_with_a_free_key_get_exactly_a_hundred_requests() {
    let (data, store) = data(Tier::Free);
    let (header, _) = add(&store, NOON);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let admitted: usize = std::thread::scope(|scope| {
        let client = || {
            let takes = (0..10).filter(|_| service.take(&caller(&service, &header), today()).is_ok());
            let count = takes.count();
            service.flush(NOON).unwrap();
            count
        };
        let clients: Vec<_> = (0..64).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(admitted, 100);
    drop(service);
    let service = AuthService::open(data.path(), NOON).unwrap();
    assert_eq!(service.peek(&caller(&service, &header), today()).used, 100);
}

#[test]
fn a_restart_loses_only_requests_that_were_not_yet_written() {
    let (data, store) = data(Tier::Free);
    let (header, _) = add(&store, NOON);
    let service = AuthService::open(data.path(), NOON).unwrap();
    for _ in 0..40 {
        service.take(&caller(&service, &header), today()).unwrap();
    }
    assert_eq!(service.flush(NOON).unwrap(), 1);
    assert_eq!(service.flush(NOON).unwrap(), 0);
    service.take(&caller(&service, &header), today()).unwrap();
    drop(service);
    let service = AuthService::open(data.path(), NOON + 1).unwrap();
    let caller = caller(&service, &header);
    assert_eq!(service.peek(&caller, today()).used, 40);
    assert_eq!(service.take(&caller, today()).unwrap().used, 41);
    service.give_back(&caller, today());
    assert_eq!(service.peek(&caller, today()).used, 40);
    assert_eq!(service.peek(&caller, Date::from_unix(NOON + 86_400)).used, 0);
}

#[test]
fn revoking_and_creating_keys_never_gives_an_account_more_requests() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let mut admitted = 0;
    let mut active: Vec<(String, KeyRecord)> = (0..3).map(|_| add(&store, NOON)).collect();
    for round in 0..27 {
        service.refresh().unwrap();
        // Some requests are not yet written when their key is revoked.
        let index = round % active.len();
        let caller = caller(&service, &active[index].0);
        admitted += (0..17).filter(|_| service.take(&caller, today()).is_ok()).count();
        store.revoke_key(KeyRef::Id(active[index].1.id), NOON).unwrap();
        active[index] = add(&store, NOON);
        if round % 4 == 0 {
            service.flush(NOON).unwrap();
        }
        // A request that was in progress when its key was revoked counts like any other.
        admitted += usize::from(service.take(&caller, today()).is_ok());
    }
    assert_eq!(admitted, 300);
}

#[test]
fn two_servers_on_one_store_agree_after_each_write() {
    let (data, store) = data(Tier::Free);
    let (header, _) = add(&store, NOON);
    let servers = [AuthService::open(data.path(), NOON).unwrap(), AuthService::open(data.path(), NOON).unwrap()];
    let mut admitted = 0;
    for _ in 0..30 {
        for server in &servers {
            admitted += (0..4).filter(|_| server.take(&caller(server, &header), today()).is_ok()).count();
            server.flush(NOON).unwrap();
        }
    }
    // Each loads the other's count with its own write, so that at most the requests of one write are admitted in excess.
    assert!((100..=104).contains(&admitted), "{admitted}");
}

#[test]
fn a_new_day_starts_at_zero_and_a_clock_set_back_finds_its_counts() {
    let (data, store) = data(Tier::Free);
    let (header, _) = add(&store, NOON);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let caller = caller(&service, &header);
    for _ in 0..100 {
        service.take(&caller, today()).unwrap();
    }
    assert!(service.take(&caller, today()).is_err());
    let year = 365 * 86_400;
    service.flush(NOON).unwrap();
    service.flush(NOON + year).unwrap();
    assert_eq!(service.take(&caller, Date::from_unix(NOON + year)).unwrap().used, 1);
    service.flush(NOON + year).unwrap();
    service.flush(NOON).unwrap();
    assert!(service.take(&caller, today()).is_err());
}

#[test]
fn a_clock_that_is_wrong_for_two_seconds_deletes_nothing_and_gives_a_used_up_key_nothing() {
    const DAY: i64 = 86_400;
    let (data, store) = data(Tier::Free);
    let (header, record) = add(&store, NOON);
    // Usage of a year before, and the name of a key that was revoked.
    let (_, revoked) = add(&store, NOON);
    store.revoke_key(KeyRef::Id(revoked.id), NOON).unwrap();
    let old =
        AddedUsage { key: record.id, counter: record.counter, day: Date::from_unix(NOON - 390 * DAY), requests: 7 };
    store.add_usage(&[old], NOON).unwrap();
    for jump in [401, -401, 5_000, -7_000].map(|days| days * DAY) {
        let passed = Arc::new(AtomicU64::new(0));
        let service = AuthService::open_at(data.path(), NOON, &passed).unwrap();
        let admitted = |clock: i64| {
            let now = service.now(clock);
            let caller = service.authenticate(Some(&header), now).unwrap();
            (0..150).filter(|_| service.take(&caller, Date::from_unix(now)).is_ok()).count()
        };
        let before = admitted(NOON);
        assert!(before == 100 || service.peek(&caller(&service, &header), today()).used == 100, "{before}");
        service.flush(NOON).unwrap();
        for second in 1..=4 {
            passed.store(second, Ordering::Relaxed);
            let clock = NOON + second as i64 + if second <= 2 { jump } else { 0 };
            // Requests come before and after the server notices the jump by itself.
            assert_eq!(admitted(clock), 0, "{jump}: second {second}");
            service.flush(clock).unwrap();
            assert_eq!(admitted(clock), 0, "{jump}: second {second}");
        }
        assert_eq!(service.clock_jumps(), 1);
        let kept = store.usage(old.day).unwrap();
        assert_eq!(kept.iter().map(|usage| usage.requests).collect::<Vec<_>>(), [7], "{jump}");
        assert_eq!(store.key(KeyRef::Id(revoked.id), today()).unwrap().name.as_str(), "test");
        service.close(NOON + 5).unwrap();
    }
}

#[test]
fn a_start_with_a_wrong_clock_deletes_nothing() {
    const DAY: i64 = 86_400;
    let (data, store) = data(Tier::Free);
    let (_, record) = add(&store, NOON);
    let old =
        AddedUsage { key: record.id, counter: record.counter, day: Date::from_unix(NOON - 390 * DAY), requests: 7 };
    store.add_usage(&[old], NOON).unwrap();
    for clock in [NOON + 401 * DAY, NOON - 401 * DAY, 0, NOON] {
        let service = AuthService::open(data.path(), clock).unwrap();
        service.close(clock).unwrap();
        assert_eq!(store.usage(old.day).unwrap().len(), 1, "{clock}");
    }
    // It is deleted in its time.
    let passed = Arc::new(AtomicU64::new(0));
    let service = AuthService::open_at(data.path(), NOON, &passed).unwrap();
    for day in 1..=11 {
        passed.store(day * DAY as u64, Ordering::Relaxed);
        service.flush(NOON + day as i64 * DAY).unwrap();
        assert_eq!(store.usage(old.day).unwrap().len(), usize::from(day <= 10), "day {day}");
    }
}

#[test]
fn a_demo_key_works_in_its_process_only_and_is_not_stored() {
    let (data, store) = data(Tier::Free);
    let service = AuthService::open(data.path(), NOON).unwrap();
    let first = format!("Bearer {}", service.add_demo_key(Tier::Free).unwrap().reveal());
    let second = format!("Bearer {}", service.add_demo_key(Tier::Free).unwrap().reveal());
    let (first, second) = (caller(&service, &first), caller(&service, &second));
    let admitted = (0..200).filter(|_| service.take(&first, today()).is_ok()).count();
    assert_eq!(admitted, 100);
    assert!(service.take(&second, today()).is_ok());
    assert_eq!(service.flush(NOON).unwrap(), 0);
    assert!(store.keys(None, today()).unwrap().is_empty());
    assert!(store.usage(today()).unwrap().is_empty());
    assert_eq!(SqliteStore::open(data.path()).unwrap().changes(0).unwrap().keys, []);
}

#[test]
fn the_cursor_secret_survives_restarts_and_differs_between_stores() {
    let (first, _) = data(Tier::Free);
    let (second, _) = data(Tier::Free);
    let secret = *AuthService::open(first.path(), NOON).unwrap().cursor_secret();
    assert_eq!(*AuthService::open(first.path(), NOON).unwrap().cursor_secret(), secret);
    assert_ne!(*AuthService::open(second.path(), NOON).unwrap().cursor_secret(), secret);
    assert_ne!(secret, [0; 32]);
}

#[test]
fn pages_are_admitted_up_to_the_configured_limit() {
    let (data, _) = data(Tier::Free);
    let address = "192.0.2.1".parse().unwrap();
    let service = AuthService::open(data.path(), NOON).unwrap();
    let admitted = (0..200).filter(|_| service.admit_page(address, NOON).is_ok()).count();
    assert_eq!(admitted, 120);
    let rate_limits = RateLimitConfig { pages_per_minute: 3, ..RateLimitConfig::default() };
    let service = AuthService::open_with(data.path(), rate_limits, NOON).unwrap();
    let admitted = (0..200).filter(|_| service.admit_page(address, NOON).is_ok()).count();
    assert_eq!(admitted, 3);
    assert_eq!(service.admit_page(address, NOON + 50), Err(RetryAfter { seconds: 10 }));
    assert!(service.admit_page(address, NOON + 60).is_ok());
}

/// A store that fails to write usage and to read changed keys if `fails`.
struct FailingStore {
    store: SqliteStore,
    fails: Arc<Mutex<bool>>,
}

impl Store for FailingStore {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> Result<(), StoreError> {
        self.store.read(reading, operation, read)
    }

    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> Result<(), StoreError> {
        if operation == "write the usage" && *self.fails.lock().unwrap() {
            return Err(StoreError::Busy);
        }
        self.store.write(durability, operation, change)
    }

    fn changes(&self, since: i64) -> Result<KeyChanges, StoreError> {
        if *self.fails.lock().unwrap() {
            return Err(StoreError::Busy);
        }
        self.store.changes(since)
    }

    fn check(&self) -> Result<(), StoreError> {
        self.store.check()
    }

    fn measurements(&self) -> StoreMeasurements {
        self.store.measurements()
    }

    fn tiers(&self) -> &Tiers {
        self.store.tiers()
    }
}

#[test]
fn usage_that_could_not_be_written_is_written_later_and_only_once() {
    let (_data, store) = data(Tier::Free);
    let (header, _) = add(&store, NOON);
    let fails = Arc::new(Mutex::new(false));
    let service = AuthService::with_store(
        Box::new(FailingStore { store, fails: fails.clone() }),
        RateLimitConfig::default(),
        NOON,
    )
    .unwrap();
    let caller = caller(&service, &header);
    *fails.lock().unwrap() = true;
    service.take(&caller, today()).unwrap();
    assert!(service.flush(NOON).is_err());
    service.take(&caller, today()).unwrap();
    assert!(service.flush(NOON).is_err());
    *fails.lock().unwrap() = false;
    assert_eq!(service.flush(NOON).unwrap(), 1);
    assert_eq!(service.store().usage(today()).unwrap()[0].requests, 2);
    assert_eq!(service.peek(&caller, today()).used, 2);
}

#[test]
fn addresses_of_this_machine_have_no_limit_where_nobody_else_comes() {
    let (folder, _) = data(Tier::Free);
    let service = AuthService::open(folder.path(), NOON).unwrap();
    let local: IpAddr = "127.0.0.1".parse().unwrap();
    let day = service.tiers().anonymous.requests * HUNDREDTHS;
    let take = |address: IpAddr| service.take_anonymous(address, day, today()).is_ok();
    let show = |address: IpAddr| {
        let rows = service.tiers().anonymous.rows;
        service.count_shown(Allowance::Rows, address, rows, today()).is_ok()
    };
    assert!(take(local) && !take(local) && show(local) && !show(local));
    service.spare_local();
    assert!((0..5).all(|_| take(local) && show(local)));
    assert!(take(home()) && !take(home()) && show(home()) && !show(home()));
}
