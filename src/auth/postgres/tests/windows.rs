//! Rate limits of several servers on one database.

use std::net::IpAddr;

use crate::postgres::tests::*;
use crate::quota::{Client, ClientHasher, CountedWindow, SharedWindow, WindowCounter};
use crate::rate_limits::{FAILED_SIGN_INS_OF_ADDRESS, FAILED_SIGN_INS_OF_NETWORK, RateLimits};
use crate::{AccountError, CounterStore, RateLimitConfig};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Servers with a shared hash secret, each with its own connections.
fn servers(database: &Database) -> Vec<(RateLimits, PostgresStore)> {
    let limits = || RateLimits::new(&ClientHasher::new(&[9; 32]), RateLimitConfig::default());
    (0..3).map(|_| (limits(), open(database))).collect()
}

/// Number of `tries` admitted, each at the next server, from eight threads.
fn admitted(
    servers: &[(RateLimits, PostgresStore)],
    tries: usize,
    try_one: impl Fn(&RateLimits, Option<&dyn CounterStore>, usize) -> Result<(), AccountError> + Sync,
) -> usize {
    let try_one = &try_one;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || {
                    let numbers = (thread..tries).step_by(8);
                    let admitted = numbers.filter(|number| {
                        let (limits, store) = &servers[number % servers.len()];
                        match try_one(limits, store.counters(), *number) {
                            Ok(()) => true,
                            Err(AccountError::Throttled(wait)) => {
                                assert!((1..=3_600).contains(&wait.seconds));
                                false
                            }
                            Err(error) => panic!("{error:?}"),
                        }
                    });
                    admitted.count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn three_servers_give_no_more_guesses_than_one() {
    let Some(database) = Database::create() else { return };
    let servers = servers(&database);
    let from = |address: &'static str| {
        move |limits: &RateLimits, store: Option<&dyn CounterStore>, _: usize| {
            limits.count_sign_in(store, "ada@example.com", ip(address), NOON).map(drop)
        }
    };
    assert_eq!(admitted(&servers, 60, from("192.0.2.1")), FAILED_SIGN_INS_OF_NETWORK as usize);
    assert_eq!(admitted(&servers, 60, from("192.0.2.9")), 0, "its network has used them up");
    assert_eq!(admitted(&servers, 60, from("198.51.100.1")), FAILED_SIGN_INS_OF_NETWORK as usize);
    let of_many = |limits: &RateLimits, store: Option<&dyn CounterStore>, number: usize| {
        limits.count_sign_in(store, &format!("user{number}@example.com"), ip("203.0.113.7"), NOON).map(drop)
    };
    assert_eq!(admitted(&servers, 90, of_many), FAILED_SIGN_INS_OF_ADDRESS as usize);
    // Other limits are counted separately.
    let sign_up = |limits: &RateLimits, store: Option<&dyn CounterStore>, _: usize| {
        limits.count_sign_up(store, ip("192.0.2.1"), NOON).map(drop)
    };
    assert_eq!(admitted(&servers, 30, sign_up), 5);
    let mail = |limits: &RateLimits, store: Option<&dyn CounterStore>, _: usize| {
        limits.count_mail(store, "ada@example.com", ip("192.0.2.1"), NOON)
    };
    assert_eq!(admitted(&servers, 30, mail), 3);
    for (name, sum) in [("sign_ups", 25), ("mails", 27)] {
        let denied = servers.iter().flat_map(|(limits, _)| limits.denied()).filter(|denied| denied.0 == name);
        assert_eq!(denied.map(|denied| denied.1).sum::<u64>(), sum, "{name}");
    }
}

#[test]
fn a_sign_in_that_succeeds_at_one_server_is_not_counted_at_another() {
    let Some(database) = Database::create() else { return };
    let servers = servers(&database);
    for number in 0..60 {
        let (limits, store) = &servers[number % 3];
        let attempt = limits.count_sign_in(store.counters(), "ada@example.com", ip("192.0.2.1"), NOON).unwrap();
        let (limits, store) = &servers[(number + 1) % 3];
        limits.uncount_sign_in(store.counters(), &attempt);
    }
    assert_eq!(database.rows("SELECT sum(count) FROM windows"), ["0"]);
}

/// The table in memory is the reference: both admit the same requests of the same clients.
#[test]
fn the_store_counts_as_the_table_in_memory_does() {
    let Some(database) = Database::create() else { return };
    let stores = [open(&database), open(&database)];
    let table = WindowCounter::new(600, ClientHasher::new(&[9; 32]), 64);
    let mut random = 7_u32;
    for number in 0..600 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (subnet, host) = (random >> 28, (random >> 20) & 3);
        let client = match random >> 31 {
            0 => Client::Address(ip(&format!("2001:db8:1:{subnet:x}{host:02x}::1"))),
            _ => Client::FurtherSignIn(format!("user{host}").into(), ip(&format!("192.0.{subnet}.1"))),
        };
        let stored = stores[number % 2].count(&table.shared(&client, 3)).unwrap();
        assert_eq!(stored.is_ok(), table.take(&client, 3, NOON).is_ok(), "request {number}");
        if let Ok(counted) = stored
            && random.is_multiple_of(5)
        {
            stores[0].uncount(&counted).unwrap();
            table.give_back(&client, NOON);
        }
    }
}

#[test]
fn a_window_that_is_over_begins_again_and_is_removed() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    let window = [SharedWindow { counter: u64::MAX, seconds: 60, limit: 1 }];
    let counted = store.count(&window).unwrap().unwrap();
    let wait = store.count(&window).unwrap().unwrap_err();
    assert!((58..=60).contains(&wait), "{wait}");
    database.run("UPDATE windows SET started_at = started_at - 60, ends_at = ends_at - 60");
    store.count(&window).unwrap().unwrap();
    // A request counted in the window before is not uncounted in this one.
    let before = counted.iter().map(|window| CountedWindow { started_at: window.started_at - 60, ..*window });
    store.uncount(&before.collect::<Vec<_>>()).unwrap();
    assert!(store.count(&window).unwrap().is_err());
    // The clock of the database was set back.
    database.run("UPDATE windows SET started_at = started_at + 3600, ends_at = ends_at + 3600");
    store.count(&window).unwrap().unwrap();
    store.report_running().unwrap();
    assert_eq!(database.rows("SELECT count FROM windows"), ["1"]);
    database.run("UPDATE windows SET started_at = started_at - 60, ends_at = ends_at - 60");
    store.report_running().unwrap();
    assert_eq!(database.rows("SELECT count(*) FROM windows"), ["0"]);
}
