//! The SQLite store: what every store keeps, and its files.

use std::io::Write;
use std::sync::Barrier;

use crate::auth::account::KeyRef;
use crate::auth::conformance::PROMISES;
use crate::auth::session::SessionToken;
use crate::auth::sqlite::*;

const NOON: i64 = 1_795_262_400;

#[test]
fn it_keeps_what_every_store_must() {
    for (promise, check) in PROMISES {
        eprintln!("{promise}");
        let data = tempfile::tempdir().unwrap();
        check(&|| Box::new(SqliteStore::open(data.path()).unwrap()));
    }
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("deep").join("data");
    let store = SqliteStore::open(&data).unwrap();
    store.create_account(&"ada@example.com".parse().unwrap(), Tier::Free, None, NOON).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let files: Vec<_> = std::fs::read_dir(&data).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 2, "the log is there while the store is open: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn many_may_open_a_new_store_at_once() {
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
fn a_file_that_is_no_store_of_ours_is_refused_and_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("venturedex.sqlite");
    std::fs::File::create(&path).unwrap().write_all(&[b'x'; 4096]).unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::NotOurs(_))));
    assert_eq!(std::fs::read(&path).unwrap(), [b'x'; 4096]);

    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (id)").unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::NotOurs(_))));

    std::fs::remove_file(&path).unwrap();
    drop(SqliteStore::open(data.path()).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(StoreError::Newer { found: 99, .. })));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let blocked = parent.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let error = SqliteStore::open(&blocked.join("data")).unwrap_err();
    assert!(matches!(&error, StoreError::File { path, .. } if path.starts_with(&blocked)), "{error}");
}

#[test]
fn nothing_of_a_deleted_account_is_found_in_the_files() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let other = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada.lovelace@example.com".parse().unwrap();
    let password = PasswordHash::from_stored("the hash of a password".to_owned());
    let account = store.create_account(&email, Tier::Free, Some(&password), NOON).unwrap().id;
    let key = ApiKey::from_seed(&[77; 32]);
    let shown = store.create_key(account, &"name of a key".parse().unwrap(), &key, NOON).unwrap().shown.to_string();
    let version = store.credentials(&email).unwrap().version;
    let session = SessionToken::from_seed([78; 32]).digest();
    store.add_session(account, version, &session, NOON, NOON + 1).unwrap();
    let secrets = ["ada.lovelace", "hash of a pass", "name of a key", &shown].map(|text| text.as_bytes().to_vec());
    let found = || {
        let files = std::fs::read_dir(data.path()).unwrap();
        let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        let holds = |secret: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        let secrets = secrets.iter().filter(|secret| holds(secret)).count();
        (secrets, holds(session.bytes()), holds(key.digest().bytes()))
    };
    assert_eq!(found(), (4, true, true));
    assert_eq!(other.accounts().unwrap().len(), 1);
    store.delete_account(account, None, NOON).unwrap();
    assert_eq!(found(), (0, false, true));
}

#[test]
fn no_key_is_found_in_the_files() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada@example.com".parse().unwrap();
    store.create_account(&email, Tier::Free, None, NOON).unwrap();
    let key = ApiKey::from_seed(&[77; 32]);
    store.create_key(store.account(&email).unwrap().id, &"test".parse().unwrap(), &key, NOON).unwrap();
    store.revoke_key(KeyRef::Digest(key.digest()), NOON).unwrap();
    // What is shown again is the first 8 and last 4: no run of what lies between may be there.
    let secret = &key.reveal().as_bytes()[8..36];
    let mut looked_at = 0;
    for file in std::fs::read_dir(data.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        looked_at += bytes.len();
        assert!(secret.windows(6).all(|part| bytes.windows(6).all(|window| window != part)));
    }
    assert!(looked_at > 4096);
}
