//! The SQLite store: what every store keeps, and its files.

use std::io::Write;
use std::sync::Barrier;

use super::super::account::KeyRef;
use super::super::conformance::PROMISES;
use super::*;

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
    store.create_account(&"ada@example.com".parse().unwrap(), Tier::Free, NOON).unwrap();
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
                    store.create_account(&email, Tier::Free, NOON).unwrap();
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
    assert!(matches!(SqliteStore::open(data.path()), Err(AccessError::NotOurs(_))));
    assert_eq!(std::fs::read(&path).unwrap(), [b'x'; 4096]);

    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (id)").unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(AccessError::NotOurs(_))));

    std::fs::remove_file(&path).unwrap();
    drop(SqliteStore::open(data.path()).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(SqliteStore::open(data.path()), Err(AccessError::Newer { found: 99, .. })));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let blocked = parent.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let error = SqliteStore::open(&blocked.join("data")).unwrap_err();
    assert!(matches!(&error, AccessError::File { path, .. } if path.starts_with(&blocked)), "{error}");
}

#[test]
fn no_key_is_found_in_the_files() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let email: Email = "ada@example.com".parse().unwrap();
    store.create_account(&email, Tier::Free, NOON).unwrap();
    let key = ApiKey::from_seed(&[77; 32]);
    store.create_key(&email, &"test".parse().unwrap(), &key, NOON).unwrap();
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
