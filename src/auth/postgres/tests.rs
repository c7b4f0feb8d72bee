//! The conformance suite, and what only several servers on one database can get wrong.

mod copies;
mod failures;
mod leases;
mod migrations;
mod windows;

use std::time::Duration;

use crate::account::KeyRef;
use crate::conformance::TESTS;
use crate::postgres::server::Database;
use crate::postgres::*;
use crate::quota::{AddedUsage, Tier};
use crate::sql::{accounts, next_change};
use crate::{ApiKey, Store};
use data::Date;

const NOON: i64 = 1_795_262_400;

fn settings(url: &str) -> PostgresSettings {
    let Ok(url) = url.parse();
    PostgresSettings { url, password: None, connections: 4 }
}

fn open(database: &Database) -> PostgresStore {
    PostgresStore::open(&settings(&database.url)).unwrap()
}

fn add_key(store: &PostgresStore, number: u8) -> crate::account::KeyRecord {
    let email = "ada@example.com".parse().unwrap();
    let account = store.account(&email).or_else(|_| store.create_account(&email, Tier::Pro, None, NOON)).unwrap().id;
    store.create_key(account, &"test".parse().unwrap(), &ApiKey::from_seed(&[number; 32]), None, NOON).unwrap()
}

#[test]
fn it_passes_the_conformance_suite() {
    for (name, test) in TESTS {
        let Some(database) = Database::create() else { return };
        eprintln!("{name}");
        test(&|| Box::new(open(&database)));
    }
}

/// A sequence gives numbers outside of transactions: the first of two commits last, and who read the second never sees it.
#[test]
fn a_sequence_loses_a_change_and_the_counted_row_does_not() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    let [first, second] = [1, 2].map(|number| add_key(&store, number).id);
    let [one, two] = [(); 2].map(|()| store.pool.take(Work::Short).unwrap());
    one.batch("CREATE SEQUENCE changes; CREATE TABLE changed (key BIGINT, change BIGINT)").unwrap();
    fn by_sequence(connection: &Connection, key: i64) -> Transaction<'_> {
        let transaction = Transaction::begin(connection, "BEGIN").unwrap();
        transaction.execute("INSERT INTO changed SELECT $1, nextval('changes')", &[&key]).unwrap();
        transaction
    }
    let poll = |connection: &Connection, since: i64| -> (i64, Vec<i64>) {
        let rows = connection.rows("SELECT change, key FROM changed WHERE change > $1 ORDER BY change", &[&since]);
        let rows: Vec<(i64, i64)> = rows.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect();
        (rows.last().map_or(since, |row| row.0), rows.into_iter().map(|row| row.1).collect())
    };
    let late = by_sequence(&one, first.0);
    by_sequence(&two, second.0).commit().unwrap();
    let poller = store.pool.take(Work::Short).unwrap();
    let (last, seen) = poll(&poller, 0);
    assert_eq!(seen, [second.0]);
    late.commit().unwrap();
    assert_eq!(poll(&poller, last).1, [0; 0], "the revocation of the first is lost for good");
    drop((one, two, poller));

    // The same with the row: the second transaction waits, and both are seen.
    let start = store.changes(0).unwrap().last;
    let connection = store.pool.take(Work::Short).unwrap();
    let late = Transaction::begin(&connection, "BEGIN").unwrap();
    let change = next_change(&*late).unwrap();
    late.execute("UPDATE keys SET revoked_at = 1, changed = $1 WHERE id = $2", &[&change, &first.0]).unwrap();
    std::thread::scope(|scope| {
        let revoking = scope.spawn(|| open(&database).revoke_key(KeyRef::Id(second), NOON).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        assert!(!revoking.is_finished());
        assert_eq!(store.changes(start).unwrap().last, start);
        late.commit().unwrap();
        revoking.join().unwrap();
    });
    let changes = store.changes(start).unwrap();
    assert_eq!(
        changes.keys.iter().map(|key| (key.id, key.revoked)).collect::<Vec<_>>(),
        [(first, true), (second, true)]
    );
}

#[test]
fn usage_and_sign_ins_wait_for_no_change_of_another_account() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    let key = add_key(&store, 1);
    let bob = store.create_account(&"bob@example.com".parse().unwrap(), Tier::Free, None, NOON).unwrap();
    let connection = store.pool.take(Work::Short).unwrap();
    // Another server is in the middle of a change of a key: it holds the counter.
    let transaction = Transaction::begin(&connection, "BEGIN").unwrap();
    accounts::lock(&*transaction, bob.id).unwrap();
    next_change(&*transaction).unwrap();
    let started = std::time::Instant::now();
    let used = AddedUsage { key: key.id, counter: key.counter, day: Date::from_unix(NOON), requests: 2 };
    assert_eq!(store.add_usage(&[used], NOON).unwrap(), [2]);
    let session = crate::session::NewSession {
        digest: crate::session::SessionDigest::from_bytes([1; 32]),
        created_at: NOON,
        expires_at: NOON + 99,
    };
    store.add_session(key.account, crate::PasswordVersion(0), &session).unwrap();
    store.session_used(&session.digest, NOON + 1).unwrap();
    assert!(store.session(&session.digest, NOON + 1).unwrap().is_some());
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    transaction.roll_back();
}

#[test]
fn claims_of_other_servers_are_not_released() {
    let Some(database) = Database::create() else { return };
    assert_eq!(crate::watch::WatchStore::release_claims(&open(&database), NOON).unwrap(), 0);
}
