//! Quotas of several servers on one database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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
