//! Servers that refuse, end connections, wait or do not answer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::CounterStore;
use crate::postgres::server::{PASSWORD, own_server};
use crate::postgres::tests::*;
use crate::quota::{LeaseRequest, SharedCounter};
use crate::session::SessionDigest;

/// The error of opening a store, after a check that nothing shows the password.
fn refusal(url: &str, password: Option<&str>) -> StoreError {
    let password = password.map(|password| Zeroizing::new(password.to_owned()));
    let settings = PostgresSettings { password, ..settings(url) };
    let error = PostgresStore::open(&settings).unwrap_err();
    for shown in [error.to_string(), format!("{error:?}"), format!("{settings:?}")] {
        assert!(!shown.contains("s3cr3t"), "{shown}");
    }
    error
}

#[test]
fn a_store_that_cannot_be_opened_names_its_place_and_what_to_do() {
    let Some(server) = own_server() else { return };
    let database = Database::create().unwrap();
    let at = |user: &str, port: u16, name: &str| format!("postgres://{user}@127.0.0.1:{port}/{name}");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, password, advice) in [
        (at("postgres", closed, "x"), None, "check that PostgreSQL runs and accepts connections there"),
        (at("postgres", server.port, "none"), None, "create the database"),
        (at("secured", server.port, database.name()), None, "--store-password-file"),
        (at("secured", server.port, database.name()), Some("not s3cr3t"), "check the user, its password"),
        (at("secured", server.port, database.name()), Some(PASSWORD), "the user must own the database"),
        (at("nobody:s3cr3t", server.port, database.name()), None, "role \"nobody\" does not exist"),
    ] {
        let error = refusal(&url, password).to_string();
        let place = format!("--store {}", url.replace(":s3cr3t", ""));
        assert!(error.starts_with(&format!("{place}: ")) && error.contains(advice), "{error}");
    }
    let error = refusal("mysql://s3cr3t@x/y", None).to_string();
    assert!(error.starts_with("--store: not a PostgreSQL URL; example: postgres://"), "{error}");
    database.run(&format!("ALTER DATABASE {} OWNER TO secured", database.name()));
    let url = at("secured", server.port, database.name());
    let password = Some(Zeroizing::new(PASSWORD.to_owned()));
    let store = PostgresStore::open(&PostgresSettings { password, ..settings(&url) }).unwrap();
    assert!(!format!("{store:?}").contains("s3cr3t"));
    add_key(&store, 1);
    drop(store);
}

#[test]
fn encrypted_connections_verify_certificate_and_name() {
    let Some(server) = own_server() else { return };
    let certificate = server.folder.join("cert.pem");
    if !certificate.exists() {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let database = Database::create().unwrap();
    let url = |host: &str, parameters: &str| {
        format!("postgres://postgres@{host}:{}/{}?{parameters}", server.port, database.name())
    };
    let root = format!("sslrootcert={}", certificate.display());
    let is_encrypted = |url: &str| -> bool {
        let store = PostgresStore::open(&settings(url)).unwrap();
        let connection = store.pool.take(ReadKind::LookUp).unwrap();
        let sql: &dyn Sql = &*connection;
        sql.one("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]).unwrap()
    };
    for mode in ["require", "verify-full", "prefer"] {
        assert!(is_encrypted(&url("localhost", &format!("sslmode={mode}&{root}"))), "{mode}");
    }
    assert!(!is_encrypted(&url("localhost", "sslmode=disable")));
    for (url, part) in [
        (url("localhost", "sslmode=require"), "invalid peer certificate"),
        (url("127.0.0.1", &format!("sslmode=verify-full&{root}")), "not valid for name"),
        (url("localhost", "sslmode=require&sslrootcert=/nowhere.pem"), "sslrootcert: /nowhere.pem"),
    ] {
        let error = refusal(&url, None).to_string();
        assert!(error.contains(part) && error.contains("sslrootcert"), "{error}");
    }
}

#[test]
fn connections_that_the_server_ended_are_replaced() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    add_key(&store, 1);
    let end = || {
        database.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
    };
    for number in 2..5 {
        assert!(!end().is_empty());
        assert_eq!(store.changes(0).unwrap().keys.len(), usize::from(number) - 1);
        end();
        add_key(&store, number);
    }
    assert_eq!(store.measurements().failures, 0);
    // A transaction that loses its connection is repeated; nothing of the first attempt is stored.
    let mut attempts = 0;
    let counted = std::cell::Cell::new(0);
    store
        .change("test", |transaction| {
            counted.set(counted.get() + 1);
            transaction.execute("UPDATE accounts SET password_version = password_version + 1", &[])?;
            if counted.get() == 1 {
                end();
            }
            transaction.execute("UPDATE accounts SET password_version = password_version + 1", &[])
        })
        .unwrap();
    attempts += counted.get();
    assert_eq!(attempts, 2);
    assert_eq!(database.rows("SELECT password_version FROM accounts"), ["2"]);
}

#[test]
fn no_more_connections_are_made_than_allowed_and_a_call_waits_for_one_only_so_long() {
    let Some(database) = Database::create() else { return };
    let store = PostgresStore::open(&PostgresSettings { connections: 2, ..settings(&database.url) }).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..20 {
                    store.session(&SessionDigest::from_bytes([number; 32]), NOON).unwrap();
                    store.accounts().unwrap();
                }
            });
        }
    });
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert_eq!(database.rows(sql), ["2"]);
    // Lists leave a connection to look-ups.
    let list = store.pool.take(ReadKind::List).unwrap();
    store.session(&SessionDigest::from_bytes([1; 32]), NOON).unwrap();
    let started = Instant::now();
    assert!(matches!(store.accounts(), Err(StoreError::Busy)));
    let waited = started.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(8)).contains(&waited), "{waited:?}");
    drop(list);
    store.accounts().unwrap();
}

#[test]
fn a_lock_is_waited_for_only_so_long() {
    if std::env::var_os("FAKETIME").is_some() {
        eprintln!("skipped: under faketime, no timeout of the server ends");
        return;
    }
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    let account = add_key(&store, 1).account;
    let other = open(&database);
    let connection = other.pool.take(ReadKind::LookUp).unwrap();
    connection.batch("BEGIN").unwrap();
    accounts::lock(&*connection, account).unwrap();
    let started = Instant::now();
    let refused = store.set_operator(account, true);
    assert!(matches!(refused, Err(StoreError::Busy)), "after {:?}: {refused:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(10));
    connection.batch("ROLLBACK").unwrap();
    store.set_operator(account, true).unwrap();
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    // Accepts connections and sends nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://a@{}/a", silent.local_addr().unwrap());
    let started = Instant::now();
    let error = refusal(&url, None);
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn while_no_connection_can_be_made_calls_fail_at_once_and_afterwards_they_succeed() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    add_key(&store, 1);
    database.accept_connections(false);
    let session = || store.session(&SessionDigest::from_bytes([1; 32]), NOON);
    let started = Instant::now();
    let failed = (0..1_000).filter(|_| matches!(session(), Err(StoreError::Unreachable { .. }))).count();
    assert_eq!(failed, 1_000);
    assert!(started.elapsed() < Duration::from_secs(2), "one call tries to connect: {:?}", started.elapsed());
    database.accept_connections(true);
    let until = Instant::now() + Duration::from_secs(5);
    while session().is_err() {
        assert!(Instant::now() < until);
    }
}

/// A proxy that passes nothing on while it is frozen.
fn freezable(port: u16) -> (u16, Arc<AtomicBool>) {
    fn copy(mut from: TcpStream, mut to: TcpStream, is_frozen: &AtomicBool) {
        let mut bytes = [0; 4_096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            while is_frozen.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            if to.write_all(&bytes[..count]).is_err() {
                return;
            }
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let is_frozen = Arc::new(AtomicBool::new(false));
    let frozen = Arc::clone(&is_frozen);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (from, to, frozen) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&frozen));
                std::thread::spawn(move || copy(from, to, &frozen));
            }
        }
    });
    (own, is_frozen)
}

/// A store with one key that gets no answers while the flag is set.
fn freezable_store() -> Option<(PostgresStore, Arc<AtomicBool>, Database)> {
    let server = own_server()?;
    let database = Database::create()?;
    let (port, is_frozen) = freezable(server.port);
    let url = format!("postgres://postgres@127.0.0.1:{port}/{}", database.name());
    let store = PostgresStore::open(&settings(&url)).unwrap();
    add_key(&store, 1);
    Some((store, is_frozen, database))
}

#[test]
fn a_database_that_stops_answering_is_noticed_within_seconds() {
    let Some((store, is_frozen, _database)) = freezable_store() else { return };
    let timed = |call: &dyn Fn() -> bool| {
        let started = Instant::now();
        (call(), started.elapsed())
    };
    let session = || store.session(&SessionDigest::from_bytes([1; 32]), NOON).is_ok();
    let lease = || {
        let counter = SharedCounter::Client(1);
        let request =
            LeaseRequest { counter, day: Date::from_unix(NOON), limit: 100, needed: 1, owed: 0, record: None };
        CounterStore::lease(&store, request).is_ok()
    };
    assert!(session() && lease());
    is_frozen.store(true, Ordering::Relaxed);
    for (name, call, limit) in
        [("lease", &lease as &dyn Fn() -> bool, 700), ("look-up", &session, 4_500), ("lease", &lease, 700)]
    {
        let (is_ok, took) = timed(call);
        assert!(!is_ok && took < Duration::from_millis(limit), "{name}: {took:?}");
    }
    // One call tries to connect; the others do not wait for it.
    std::thread::scope(|scope| {
        scope.spawn(session);
        std::thread::sleep(Duration::from_millis(300));
        let (is_ok, took) = timed(&session);
        assert!(!is_ok && took < Duration::from_millis(200), "{took:?}");
        is_frozen.store(false, Ordering::Relaxed);
    });
    let until = Instant::now() + Duration::from_secs(20);
    while !session() || !lease() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_lease_that_cannot_wait_for_a_connection_takes_the_database_from_nobody() {
    let Some((store, is_frozen, _database)) = freezable_store() else { return };
    store.pool.drop_idle();
    is_frozen.store(true, Ordering::Relaxed);
    let (counter, day) = (SharedCounter::Client(1), Date::from_unix(NOON));
    let request = LeaseRequest { counter, day, limit: 100, needed: 1, owed: 0, record: None };
    assert!(matches!(CounterStore::lease(&store, request), Err(StoreError::Unreachable { .. })));
    is_frozen.store(false, Ordering::Relaxed);
    store.session(&SessionDigest::from_bytes([1; 32]), NOON).unwrap();
}

#[tokio::test]
async fn a_store_can_be_dropped_within_a_runtime() {
    let Some(database) = tokio::task::spawn_blocking(Database::create).await.unwrap() else { return };
    let url = settings(&database.url);
    let store = tokio::task::spawn_blocking(move || {
        let store = PostgresStore::open(&url).unwrap();
        store.accounts().unwrap();
        store
    });
    drop(store.await.unwrap());
    tokio::task::spawn_blocking(move || drop(database)).await.unwrap();
}
