//! Quotas of several servers on one database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::postgres::tests::*;
use crate::quota::{Client, Denied};
use crate::{AuthError, AuthService, Caller, RateLimitConfig};

const CLIENTS: usize = 64;

fn server(database: &Database) -> Arc<AuthService> {
    let service = AuthService::with_store(Box::new(open(database)), RateLimitConfig::default(), NOON).unwrap();
    service.flush(NOON).unwrap();
    service
}

fn today() -> Date {
    Date::from_unix(NOON)
}

/// A key of the pro tier: 5,000 requests per day.
fn header(database: &Database) -> String {
    let store = open(database);
    let email = "ada@example.com".parse().unwrap();
    let account = store.create_account(&email, Tier::Pro, None, NOON).unwrap().id;
    let key = ApiKey::from_seed(&[7; 32]);
    store.create_key(account, &"test".parse().unwrap(), &key, None, NOON).unwrap();
    format!("Bearer {}", key.reveal())
}

fn caller(service: &AuthService, header: &str) -> Caller {
    service.authenticate(Some(header), NOON).unwrap()
}

/// Number of admitted requests among `tries` of many clients, each at the next server.
fn admitted(servers: &[Arc<AuthService>], header: &str, tries: usize) -> u32 {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    let taken = (0..tries / CLIENTS).filter(|number| {
                        let server = &servers[(client + number) % servers.len()];
                        server.take(&caller(server, header), today()).is_ok()
                    });
                    taken.count() as u32
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    })
}

/// Units of all counters taken in the database.
fn taken(database: &Database) -> u32 {
    database.rows("SELECT coalesce(sum(taken), 0) FROM leases")[0].parse().unwrap()
}

#[test]
fn three_servers_admit_exactly_the_limit_of_a_key() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let servers: Vec<_> = (0..3).map(|_| server(&database)).collect();
    let flushing = AtomicBool::new(true);
    let sum = std::thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| {
                while flushing.load(Ordering::Relaxed) {
                    server.flush(NOON).unwrap();
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
        let sum = admitted(&servers, &header, 20_000);
        flushing.store(false, Ordering::Relaxed);
        sum
    });
    assert_eq!(sum, 5_000);
    for server in &servers {
        server.close(NOON).unwrap();
    }
    assert_eq!(taken(&database), 5_000);
    // Admitted requests are stored as usage.
    assert_eq!(database.rows("SELECT sum(requests) FROM usage"), ["5000"]);
}

#[test]
fn servers_that_are_killed_never_raise_what_is_admitted() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let mut sum = 0;
    for _ in 0..6 {
        // They are dropped without giving anything back.
        let servers: Vec<_> = (0..3).map(|_| server(&database)).collect();
        sum += admitted(&servers, &header, 900);
    }
    let last = server(&database);
    sum += admitted(std::slice::from_ref(&last), &header, 6_400);
    assert!((3_000..=5_000).contains(&sum), "{sum}");
    assert_eq!(taken(&database), 5_000);
}

/// A server with a journal in its data folder, whose monotonic clock shows `passed` seconds.
fn server_in(data: &Path, database: &Database, passed: &Arc<AtomicU64>) -> Arc<AuthService> {
    let passed = Arc::clone(passed);
    let clock = Arc::new(move || Duration::from_secs(passed.load(Ordering::Relaxed)));
    let service = AuthService::with_clock(Box::new(open(database)), RateLimitConfig::default(), NOON, clock).unwrap();
    service.note_leases(data);
    service.flush(NOON).unwrap();
    service
}

/// Drops a server without giving anything back, and waits for its last call of the database.
fn kill(server: Arc<AuthService>) {
    let left = Arc::downgrade(&server);
    drop(server);
    while left.strong_count() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_killed_servers_held_is_admitted_by_their_successors_to_the_unit() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let passed = Arc::new(AtomicU64::new(0));
    let mut servers: Vec<_> = folders.iter().map(|folder| server_in(folder.path(), &database, &passed)).collect();
    let mut sum = 0;
    for round in 0..4 {
        sum += admitted(&servers, &header, 1_024);
        let index = round % 3;
        kill(servers.remove(index));
        servers.insert(index, server_in(folders[index].path(), &database, &passed));
    }
    assert_eq!(sum, 4_096);
    let held = taken(&database) - sum;
    assert!(held > 0, "killed servers hold some");
    // Not before their last call must have ended.
    passed.fetch_add(9, Ordering::Relaxed);
    servers.iter().for_each(|server| assert!(server.flush(NOON).is_ok()));
    assert!(servers.iter().all(|server| server.lease_counts().recovered == 0));
    passed.fetch_add(1, Ordering::Relaxed);
    servers.iter().for_each(|server| assert!(server.flush(NOON).is_ok()));
    let recovered: u64 = servers.iter().map(|server| server.lease_counts().recovered).sum();
    assert!(recovered > 0);
    let last = servers.pop().unwrap();
    servers.iter().for_each(|server| assert!(server.close(NOON).is_ok()));
    sum += admitted(std::slice::from_ref(&last), &header, 6_400);
    assert_eq!((sum, taken(&database)), (5_000, 5_000));
    last.close(NOON).unwrap();
    // The journals of the four are gone.
    let journals = |folder: &tempfile::TempDir| std::fs::read_dir(folder.path().join("leases")).unwrap().count();
    assert_eq!(folders.each_ref().map(journals), [1; 3]);
}

#[test]
fn a_copy_of_a_data_folder_takes_nothing_from_a_server_that_runs() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let passed = Arc::new(AtomicU64::new(0));
    let first = server_in(folder.path(), &database, &passed);
    assert_eq!(admitted(std::slice::from_ref(&first), &header, 64), 64);
    std::fs::create_dir(copy.path().join("leases")).unwrap();
    for file in std::fs::read_dir(folder.path().join("leases")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join("leases").join(file.file_name())).unwrap();
    }
    let second = server_in(copy.path(), &database, &passed);
    for _ in 0..3 {
        passed.fetch_add(60, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
        // The first one is idle, but reports.
        first.compare_clocks().unwrap();
        second.flush(NOON).unwrap();
    }
    assert_eq!(second.lease_counts().recovered, 0);
    let held = u64::from(taken(&database) - 64);
    kill(first);
    for _ in 0..2 {
        passed.fetch_add(60, Ordering::Relaxed);
        second.flush(NOON).unwrap();
    }
    assert_eq!((second.lease_counts().recovered, taken(&database)), (held, 64));
}

#[test]
fn what_a_server_gives_back_when_it_stops_is_admitted_by_another() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let (first, second) = (server(&database), server(&database));
    assert_eq!(admitted(std::slice::from_ref(&first), &header, 640), 640);
    let quota = first.peek(&caller(&first, &header), today());
    assert_eq!((quota.used, quota.remaining), (640, Some(4_360)), "{quota:?}");
    first.close(NOON).unwrap();
    assert_eq!(taken(&database), 640);
    assert_eq!(admitted(std::slice::from_ref(&second), &header, 6_400), 4_360);
    let denied = second.take(&caller(&second, &header), today()).unwrap_err();
    assert!(matches!(denied, Denied::Exceeded(quota) if quota.remaining == Some(0)), "{denied:?}");
    // The next day begins with its own counter.
    let tomorrow = Date::from_days(today().days() + 1);
    assert_eq!(second.take(&caller(&second, &header), tomorrow).unwrap().used, 1);
}

#[test]
fn an_address_has_one_limit_at_all_servers() {
    let Some(database) = Database::create() else { return };
    let servers: Vec<_> = (0..3).map(|_| server(&database)).collect();
    for (address, limit) in [("192.0.2.1", 100), ("2001:db8::1", 100)] {
        let client = Client::Address(address.parse().unwrap());
        let take =
            |number: usize| servers[number % 3].take(crate::QuotaSubject::Client(client.clone(), limit), today());
        let count = (0..400).filter(|number| take(*number).is_ok()).count() as u32;
        // A server that is not asked may have leased the last units.
        assert!((limit - 6..=limit).contains(&count), "{address}: {count}");
        assert_eq!(take(0).unwrap_err().quota().limit, Some(limit));
    }
    let stored = database.rows("SELECT kind, counter FROM leases");
    assert!(!stored.is_empty() && stored.iter().all(|row| row.starts_with('1')), "{stored:?}");
}

#[test]
fn the_database_is_asked_once_for_fifty_requests_at_midday() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let servers: Vec<_> = (0..3).map(|_| server(&database)).collect();
    let before: u64 =
        servers.iter().map(|server| server.store().measurements().durations.counts.iter().sum::<u64>()).sum();
    assert_eq!(admitted(&servers, &header, 2_560), 2_560);
    // Wait for running renewals.
    std::thread::sleep(Duration::from_millis(200));
    let calls: u64 =
        servers.iter().map(|server| server.store().measurements().durations.counts.iter().sum::<u64>()).sum::<u64>()
            - before;
    assert!(calls * 50 <= 2_560, "{calls} calls");
}

#[test]
fn known_keys_are_served_while_the_database_is_away_and_what_they_used_is_counted_afterwards() {
    let Some(database) = Database::create() else { return };
    let header = header(&database);
    let server = server(&database);
    assert_eq!(admitted(std::slice::from_ref(&server), &header, 64), 64);
    database.accept_connections(false);
    let known = caller(&server, &header);
    let admitted_away = AtomicU32::new(0);
    let started = Instant::now();
    while server.take(&known, today()).is_ok() {
        admitted_away.fetch_add(1, Ordering::Relaxed);
    }
    let away = admitted_away.into_inner();
    assert!((500..=256 + 500).contains(&away), "{away}: its lease, and a tenth of the limit");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(matches!(server.take(&known, today()), Err(Denied::Unchecked(_))));
    assert!(server.flush(NOON).is_err() && server.degraded().is_some());
    let unknown = format!("Bearer {}", ApiKey::from_seed(&[9; 32]).reveal());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let checked = runtime.block_on(server.authenticate_fresh(Some(&unknown), "192.0.2.1".parse().unwrap(), NOON));
    assert_eq!(checked.unwrap_err(), AuthError::StoreAway);
    database.accept_connections(true);
    std::thread::sleep(Duration::from_millis(1_100));
    server.flush(NOON).unwrap();
    server.close(NOON).unwrap();
    assert_eq!(taken(&database), 64 + away);
    assert_eq!(database.rows("SELECT sum(requests) FROM usage"), [(64 + away).to_string()]);
    server.refresh().unwrap();
    let checked = runtime.block_on(server.authenticate_fresh(Some(&unknown), "192.0.2.1".parse().unwrap(), NOON));
    assert_eq!(checked.unwrap_err(), AuthError::Invalid);
}
