//! `venturedex backup` of a server under load, and `venturedex restore`, rehearsed as an operator would.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::operator::{GOOD, can_sign_in};
use crate::support::harness::{files_below, rounds};
use crate::support::installation::small;
use crate::support::program::{Process, run};

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that succeeds and returns its JSON.
fn json(data: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&run(data, &[words, &["--json"]].concat(), "").ok()).unwrap()
}

/// The error code and the message of a command that fails.
fn refused(data: &Path, words: &[&str]) -> (String, String) {
    let ended = run(data, &[words, &["--json"]].concat(), "");
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{words:?}: {}", ended.err);
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    let part = |key: &str| error["error"][key].as_str().unwrap().to_owned();
    (part("code"), part("detail"))
}

/// A data folder with the account `ada@example.com`, which can sign in, and a key of it.
fn service() -> (TempDir, String) {
    let data = tempfile::tempdir().unwrap();
    let create = ["account", "create", "--email", "ada@example.com", "--tier", "enterprise", "--password-stdin"];
    run(data.path(), &create, GOOD).ok();
    let key = run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    (data, key.trim().to_owned())
}

/// Runs the indexer, which succeeds.
pub fn indexer(words: &[&str]) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_indexer")).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files below a folder, with their content.
pub fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    };
    files_below(folder).into_iter().map(read).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_backup_of_a_server_under_load_is_restored_with_accounts_keys_and_usage() {
    let (data, key) = service();
    let mut server = Process::start(data.path(), &[]);
    let client = server.client(&key);
    let (stop, requests) = (AtomicBool::new(false), AtomicU64::new(0));
    let folder = tempfile::tempdir().unwrap();
    // The number of requests when a backup began, and when it was complete.
    let taken: Vec<(PathBuf, u64, u64)> = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
                    requests.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Another process writes, too.
        scope.spawn(|| {
            for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                let email = format!("visitor{number}@example.com");
                run(data.path(), &["account", "create", "--email", &email], "").ok();
            }
        });
        let take = |number: u32| {
            let to = folder.path().join(format!("backup-{number}"));
            let before = requests.load(Ordering::Relaxed);
            let done = json(data.path(), &["backup", text(&to), "--index", "no-such-index"]);
            assert!(done["description"]["database"]["accounts"].as_u64().unwrap() >= 1, "{done}");
            // Long enough for the counts to be written.
            std::thread::sleep(Duration::from_millis(1_500));
            (to, before, requests.load(Ordering::Relaxed))
        };
        let taken = (0..rounds(3, 2) as u32).map(take).collect();
        stop.store(true, Ordering::Relaxed);
        taken
    });
    let (code, detail) = refused(data.path(), &["restore", text(&taken[0].0), "--force"]);
    assert!(code == "data_in_use" && detail.contains("stop it first"), "{detail}");
    run(data.path(), &["account", "create", "--email", "late@example.com"], "").ok();
    assert_eq!(server.terminate(), Some(0));

    for (number, (from, before, after)) in taken.iter().enumerate() {
        let restored = folder.path().join(format!("data-{number}"));
        let ended = run(&restored, &["restore", text(from)], "");
        assert!(ended.err.contains("keys that were revoked since are valid again"), "{}", ended.err);
        assert!(ended.ok().contains("  database  "));
        assert_eq!((mode(&restored), mode(&restored.join("venturedex.sqlite"))), (0o700, 0o600));
        assert_eq!((mode(from), mode(&from.join("venturedex.sqlite"))), (0o700, 0o600));
        let accounts = run(&restored, &["account", "list"], "").ok();
        assert!(accounts.contains("ada@example.com") && !accounts.contains("late@example.com"), "{accounts}");
        let server = Process::start(&restored, &[]);
        let client = server.client(&key);
        let counted = client.used();
        // What was counted before the backup before is written; at midnight all counts begin again.
        let least = if number == 0 { 0 } else { taken[number - 1].1 };
        assert!(counted == 0 || (least..=*after).contains(&counted), "{counted} of {least} to {after}, {before}");
        assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
        assert_eq!(client.used(), counted + 1);
        drop(server);
        assert!(can_sign_in(&restored, GOOD));
    }
}

#[test]
fn a_backup_replaces_nothing_and_leaves_nothing_if_it_fails() {
    let (data, _) = service();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("a").join("b");
    let words = ["backup", text(&to), "--index", "no-such-index"];
    json(data.path(), &words);
    let before = content(&to);
    let (code, detail) = refused(data.path(), &words);
    assert!(code == "backup_exists" && detail.contains("name a new folder"), "{detail}");
    assert!(content(&to) == before);

    let (code, detail) =
        refused(data.path(), &["backup", text(&to.with_file_name("c")), "--with-index", "--index", "x"]);
    assert!(code == "no_release" && detail.contains("indexer build"), "{detail}");
    let (code, detail) = refused(folder.path(), &["backup", text(&to.with_file_name("c"))]);
    assert!(code == "data_unusable" && detail.contains("venturedex.sqlite"), "{detail}");
    assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1);

    fs::create_dir(to.with_file_name(".c.partial")).unwrap();
    let (code, detail) = refused(data.path(), &["backup", text(&to.with_file_name("c")), "--index", "no-such-index"]);
    assert!(code == "backup_running" && detail.contains("remove the folder"), "{detail}");
}

#[test]
fn a_restore_moves_what_is_there_aside_only_if_forced() {
    let (data, key) = service();
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("backup");
    json(data.path(), &["backup", text(&from), "--index", "no-such-index"]);
    run(data.path(), &["account", "delete", "--email", "ada@example.com"], "").ok();
    run(data.path(), &["account", "create", "--email", "zoe@example.com"], "").ok();
    let before = content(data.path());
    let (code, detail) = refused(data.path(), &["restore", text(&from)]);
    assert!(code == "data_exists" && detail.contains("--force"), "{detail}");
    assert!(content(data.path()).iter().filter(|(path, _)| !path.ends_with("serve.lock")).eq(&before));

    for _ in 0..2 {
        let done = json(data.path(), &["restore", text(&from), "--force"]);
        let aside = PathBuf::from(done["replaced"].as_str().unwrap());
        assert_eq!((aside.parent(), mode(&aside)), (Some(data.path()), 0o700));
        assert!(aside.join("venturedex.sqlite").exists());
    }
    let accounts = run(data.path(), &["account", "list"], "").ok();
    assert!(accounts.contains("ada@example.com") && !accounts.contains("zoe@example.com"), "{accounts}");
    let server = Process::start(data.path(), &[]);
    assert_eq!(server.client(&key).get("/api/v3/vcs?limit=1").status, 200, "the key that was revoked since");
    // The database that was moved aside first is whole.
    let mut aside: Vec<PathBuf> = fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    aside.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("replaced-"));
    aside.sort();
    assert_eq!(aside.len(), 2);
    assert!(run(&aside[0], &["account", "list"], "").ok().contains("zoe@example.com"));
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_is_changed() {
    let (data, _) = service();
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("backup");
    json(data.path(), &["backup", text(&from), "--index", "no-such-index"]);
    let target = folder.path().join("data");
    let database = from.join("venturedex.sqlite");
    let good = fs::read(&database).unwrap();
    for place in (0..20).map(|part| part * good.len() / 20) {
        let mut bad = good.clone();
        bad[place] ^= 1;
        fs::write(&database, bad).unwrap();
        let (code, detail) = refused(&target, &["restore", text(&from)]);
        assert!(code == "backup_damaged" && detail.contains("use another backup"), "{place}: {detail}");
    }
    fs::write(&database, &good[..good.len() / 2]).unwrap();
    assert_eq!(refused(&target, &["restore", text(&from)]).0, "backup_damaged");
    fs::remove_file(&database).unwrap();
    assert_eq!(refused(&target, &["restore", text(&from)]).0, "backup_damaged");
    fs::write(from.join("backup.json"), "{}").unwrap();
    assert_eq!(refused(&target, &["restore", text(&from)]).0, "backup_damaged");
    let (code, detail) = refused(&target, &["restore", text(folder.path())]);
    assert!(code == "not_a_backup" && detail.contains("venturedex backup"), "{detail}");
    assert!(!target.exists());
}

#[test]
fn a_release_is_backed_up_and_restored_with_the_index() {
    let (data, key) = service();
    let folder = tempfile::tempdir().unwrap();
    let [index, restored_index, from, target] =
        ["index", "restored-index", "backup", "data"].map(|name| folder.path().join(name));
    indexer(&["build", "--dataset", text(&small()), "--index", text(&index)]);
    let named = folder.path().join("named");
    json(data.path(), &["backup", text(&named), "--index", text(&index)]);
    let (code, detail) = refused(&target, &["restore", text(&named), "--with-index", "--index", text(&restored_index)]);
    assert!(code == "no_release" && detail.contains("leave out --with-index"), "{detail}");

    let done = json(data.path(), &["backup", text(&from), "--with-index", "--index", text(&index)]);
    let version = fs::read_to_string(index.join("current")).unwrap();
    assert_eq!(done["description"]["release"]["version"], version.trim());
    let ended = run(&target, &["restore", text(&from), "--with-index", "--index", text(&restored_index)], "");
    assert!(ended.err.is_empty() || !ended.err.contains("was not restored"), "{}", ended.err);
    assert!(ended.ok().contains(version.trim()));
    assert_eq!(fs::read_to_string(restored_index.join("current")).unwrap(), version);
    let server = Process::start(&target, &["--index", text(&restored_index)]);
    assert_eq!(server.client(&key).get("/api/v3/vcs?limit=1").status, 200);

    // A backup with a damaged release is refused before the data is touched.
    let tables = from.join("index").join(version.trim()).join("tables.bin");
    let mut bad = fs::read(&tables).unwrap();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    fs::write(&tables, bad).unwrap();
    let untouched = folder.path().join("untouched");
    assert_eq!(refused(&untouched, &["restore", text(&from)]).0, "backup_damaged");
    assert!(!untouched.exists());
}
