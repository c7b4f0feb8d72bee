//! The conformance suite, and the files of the SQLite store.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use crate::account::{AccountId, Email, KeyRef};
use crate::conformance::TESTS;
use crate::password::hash::PasswordHash;
use crate::quota::{AddedUsage, Tier};
use crate::session::{NewSession, SessionToken};
use crate::sqlite::*;
use crate::{ApiKey, Store};
use data::Date;

const NOON: i64 = 1_795_262_400;

/// Counts the steps of all following statements on `connection`; each visits at most one row.
fn count_steps(connection: &mut Connection) -> Arc<AtomicU64> {
    let steps = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&steps);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(count)).unwrap();
    steps
}

/// Number of steps that the pages of an account cost, with `strangers` other keys used today and `revoked` keys that
/// the account revoked 40 days ago, a third of them sharing the counter of an active key.
fn steps_of_an_account_page(strangers: u32, revoked: u32) -> u64 {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let today = Date::from_unix(NOON);
    let email: Email = "ada@example.com".parse().unwrap();
    let ada = store.create_account(&email, Tier::Free, None, NOON).unwrap().id;
    let key = store.create_key(ada, &"test".parse().unwrap(), &ApiKey::from_seed(&[1; 32]), None, NOON).unwrap();
    let used = AddedUsage { key: key.id, counter: key.counter, day: today, requests: 1 };
    store.add_usage(&[used], NOON).unwrap();
    let other = store.create_account(&"bob@example.com".parse().unwrap(), Tier::Enterprise, None, NOON).unwrap().id;
    let session = SessionToken::from_seed([9; 32]).digest();
    let version = store.credentials(&email).unwrap().version;
    store.add_session(ada, version, &NewSession { digest: session, created_at: NOON, expires_at: NOON + 1 }).unwrap();
    let add_keys = |account: AccountId, count: u32, revoked_at: Option<i64>| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < :count) \
             INSERT INTO keys (account, name, digest, shown, counter, created_at, revoked_at, last_used_at, changed) \
             SELECT :account, 'k', randomblob(32), 'vdx_aB3d…9xYz', CASE WHEN n % 3 = 0 THEN :counter ELSE -n END, \
             :now - 86400 * 41, :revoked, coalesce(:revoked, :now), 1 FROM n WHERE :count > 0";
        let writer = store.writer.lock().unwrap();
        let params = rusqlite::named_params! {
            ":count": count, ":account": account.0, ":counter": key.counter.0, ":now": NOON, ":revoked": revoked_at,
        };
        writer.execute(sql, params).unwrap();
        let usage = "INSERT OR IGNORE INTO usage SELECT coalesce(revoked_at, ?) / 86400, id, 1 FROM keys";
        writer.execute(usage, [NOON]).unwrap();
    };
    add_keys(ada, revoked, Some(NOON - 40 * 86_400));
    add_keys(other, strangers, None);
    let steps = [
        count_steps(&mut store.writer.lock().unwrap()),
        count_steps(&mut store.lists.lock().unwrap()),
        count_steps(&mut store.identities.lock().unwrap().connection),
    ];
    let first = Date::from_days(today.days() - 29);
    store.session(&session, NOON).unwrap().unwrap();
    let listed = store.recent_keys(ada, first.unix(), 20, today).unwrap();
    assert_eq!(listed.iter().map(|listed| (listed.id, listed.used_today)).collect::<Vec<_>>(), [(key.id, 1)]);
    assert_eq!(store.usage_of(ada, first, today).unwrap().len(), 1);
    store.key(KeyRef::Of(ada, key.id), today).unwrap();
    let new = store.create_key(ada, &"test".parse().unwrap(), &ApiKey::from_seed(&[2; 32]), None, NOON).unwrap();
    store.revoke_key(KeyRef::Of(ada, new.id), NOON).unwrap();
    steps.iter().map(|steps| steps.load(Ordering::Relaxed)).sum()
}

#[test]
fn the_account_page_costs_no_more_than_the_keys_it_shows() {
    let alone = steps_of_an_account_page(0, 0);
    let crowded = steps_of_an_account_page(5_000, 3_600);
    assert!(alone > 100 && crowded <= alone + alone / 4, "{alone} steps alone, {crowded} among many keys");
}

#[test]
fn sessions_and_revocations_do_not_wait_for_lists() {
    let data = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(data.path()).unwrap());
    let email: Email = "ada@example.com".parse().unwrap();
    store.create_account(&email, Tier::Free, None, NOON).unwrap();
    let _listing = store.lists.lock().unwrap();
    let (done, wait) = std::sync::mpsc::channel();
    let looking_up = Arc::clone(&store);
    std::thread::spawn(move || {
        looking_up.session(&SessionToken::from_seed([9; 32]).digest(), NOON).unwrap();
        looking_up.credentials(&email).unwrap();
        looking_up.changes(0).unwrap();
        done.send(()).unwrap();
    });
    wait.recv_timeout(Duration::from_secs(60)).expect("no look-up waits for a list");
}

#[test]
fn it_passes_the_conformance_suite() {
    for (name, test) in TESTS {
        eprintln!("{name}");
        let data = tempfile::tempdir().unwrap();
        test(&|| Box::new(SqliteStore::open(data.path()).unwrap()));
    }
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_accessible_to_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("deep").join("data");
    let store = SqliteStore::open(&data).unwrap();
    store.create_account(&"ada@example.com".parse().unwrap(), Tier::Free, None, NOON).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let files: Vec<_> = std::fs::read_dir(&data).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 2, "the log exists if the store is open: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn many_can_open_a_new_store_at_once() {
    for _ in 0..5 {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (data, start) = (&data, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = SqliteStore::open(data).unwrap();
                    let email = format!("ada{thread}@example.com").parse().unwrap();
                    store.create_account(&email, Tier::Free, None, NOON).unwrap();
                });
            }
        });
        assert_eq!(SqliteStore::open(&data).unwrap().accounts().unwrap().len(), 8);
    }
}

#[test]
fn a_foreign_or_newer_database_is_rejected_and_not_modified() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("venturedex.sqlite");
    std::fs::File::create(&path).unwrap().write_all(&[b'x'; 4096]).unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::ForeignDatabase(_))));
    assert_eq!(std::fs::read(&path).unwrap(), [b'x'; 4096]);

    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (id)").unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::ForeignDatabase(_))));

    std::fs::remove_file(&path).unwrap();
    drop(SqliteStore::open(data.path()).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::NewerDatabase { found: 99, .. })));
}

#[test]
fn the_error_names_a_folder_that_cannot_be_created() {
    let parent = tempfile::tempdir().unwrap();
    let blocked = parent.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let error = SqliteStore::open(&blocked.join("data")).unwrap_err();
    assert!(matches!(&error, StoreError::File { path, .. } if path.starts_with(&blocked)), "{error}");
}

#[test]
fn a_database_that_was_deleted_or_replaced_is_not_written() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada@example.com".parse().unwrap();
    let create = || store.create_account(&email, Tier::Free, None, NOON);
    let (path, moved) = (data.path().join("venturedex.sqlite"), data.path().join("moved"));
    std::fs::rename(&path, &moved).unwrap();
    for replaced in [false, true] {
        if replaced {
            std::fs::copy(&moved, &path).unwrap();
        }
        assert!(matches!(store.changes(0), Err(StoreError::Replaced(found)) if found == path));
        assert!(matches!(create(), Err(StoreError::Replaced(_))));
        assert!(matches!(store.add_usage(&[], NOON), Err(StoreError::Replaced(_))));
        assert!(store.session(&SessionToken::from_seed([1; 32]).digest(), NOON).unwrap().is_none(), "reads go on");
    }
    std::fs::rename(&moved, &path).unwrap();
    assert!(store.changes(0).is_ok() && create().is_ok());
}

#[test]
fn a_full_disk_is_reported_and_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let limit = |pages: u32| {
        let writer = store.writer.lock().unwrap();
        writer.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    };
    // SQLite sets it to the present size.
    limit(1);
    let create = |number: u32| {
        let email = format!("ada{number}@{}.example", "x".repeat(60)).parse().unwrap();
        store.create_account(&email, Tier::Free, Some(&PasswordHash::from_stored("h".repeat(100))), NOON)
    };
    let (full, error) = (0..1_000).find_map(|number| Some((number, create(number).err()?))).unwrap();
    assert!(matches!(error, StoreError::Full("create the account")), "{error}");
    let shown = crate::AccountError::from(error);
    assert_eq!(
        shown.to_string(),
        "accounts cannot be used at the moment and nothing was changed: wait 60 seconds and try again"
    );
    assert_eq!(store.accounts().unwrap().len(), full as usize);
    limit(1_000_000);
    create(full).unwrap();
}

#[test]
fn no_data_of_a_deleted_account_remains_in_the_files() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let other = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada.lovelace@example.com".parse().unwrap();
    let password = PasswordHash::from_stored("the hash of a password".to_owned());
    let account = store.create_account(&email, Tier::Free, Some(&password), NOON).unwrap().id;
    let key = ApiKey::from_seed(&[77; 32]);
    let masked =
        store.create_key(account, &"name of a key".parse().unwrap(), &key, None, NOON).unwrap().masked.to_string();
    let version = store.credentials(&email).unwrap().version;
    let session = SessionToken::from_seed([78; 32]).digest();
    store
        .add_session(account, version, &NewSession { digest: session, created_at: NOON, expires_at: NOON + 1 })
        .unwrap();
    let secrets = ["ada.lovelace", "hash of a pass", "name of a key", &masked].map(|text| text.as_bytes().to_vec());
    let found = || {
        let files = std::fs::read_dir(data.path()).unwrap();
        let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        let contains = |secret: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        let secrets = secrets.iter().filter(|secret| contains(secret)).count();
        (secrets, contains(session.bytes()), contains(key.digest().bytes()))
    };
    assert_eq!(found(), (4, true, true));
    assert_eq!(other.accounts().unwrap().len(), 1);
    store.delete_account(account, None, NOON).unwrap();
    assert_eq!(found(), (0, false, true));
}

#[test]
fn no_key_is_stored_in_the_files() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada@example.com".parse().unwrap();
    store.create_account(&email, Tier::Free, None, NOON).unwrap();
    let key = ApiKey::from_seed(&[77; 32]);
    store.create_key(store.account(&email).unwrap().id, &"test".parse().unwrap(), &key, None, NOON).unwrap();
    store.revoke_key(KeyRef::Digest(key.digest()), NOON).unwrap();
    // Only the first 8 and last 4 characters are stored: no part of the rest may be there.
    let secret = &key.reveal().as_bytes()[8..36];
    let mut bytes_checked = 0;
    for file in std::fs::read_dir(data.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes_checked += bytes.len();
        assert!(secret.windows(6).all(|part| bytes.windows(6).all(|window| window != part)));
    }
    assert!(bytes_checked > 4096);
}
