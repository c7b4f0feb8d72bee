//! Operator commands, and a running server that applies their changes.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use auth::account::Email;
use auth::password::{Password, Secret};
use auth::{AccountError, AuthError, AuthService, RateLimitConfig, SqliteStore};
use tempfile::TempDir;

use crate::support::harness::{NOON, agent};
use crate::support::program::{self, Ended, Process, run};

pub const GOOD: &str = "glacier violin lantern";
const OTHER: &str = "seven quiet harbours";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(data: &Path) -> std::sync::Arc<AuthService> {
    AuthService::with_store(Box::new(SqliteStore::open(data).unwrap()), RateLimitConfig::default(), NOON).unwrap()
}

pub fn can_sign_in(data: impl AsRef<Path>, password: &str) -> bool {
    let auth = open(data.as_ref());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let email = "ada@example.com".parse().unwrap();
    let address: std::net::IpAddr = "192.0.2.1".parse().unwrap();
    match runtime.block_on(auth.sign_in(email, Secret::new(password), address, None, None, NOON)) {
        Ok(_) => true,
        Err(AccountError::WrongCredentials) => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn an_account_signs_in_with_the_password_that_the_operator_set() {
    let data = folder();
    let account = |words: &[&str], input: &str| -> Ended { run(data.path(), &[&["account"], words].concat(), input) };
    let made = account(&["create", "--email", "ada@example.com"], "");
    assert!(made.err.contains("can sign in after a password is set"), "{}", made.err);
    assert!(!can_sign_in(&data, "") && !can_sign_in(&data, GOOD), "without a password nobody can sign in");
    let set = account(&["set-password", "--email", "Ada@Example.com", "--password-stdin"], &format!("{GOOD}\n"));
    assert!(set.err.contains("all its sessions were ended"), "{}", set.err);
    assert!(can_sign_in(&data, GOOD));
    account(&["set-password", "--email", "ada@example.com", "--password-stdin"], &format!("{OTHER}\r\n")).ok();
    assert!(!can_sign_in(&data, GOOD) && can_sign_in(&data, OTHER));

    let zoe = ["create", "--email", "zoe@example.com", "--tier", "pro", "--password-stdin", "--json"];
    let made: serde_json::Value = serde_json::from_str(&account(&zoe, GOOD).ok()).unwrap();
    assert_eq!((&made["email"], &made["tier"]), (&"zoe@example.com".into(), &"pro".into()));
    for output in [account(&["list"], "").ok(), account(&["list", "--json"], "").ok()] {
        assert!(output.contains("zoe@example.com") && !output.contains("argon2"), "{output}");
    }
}

#[test]
fn a_weak_password_is_rejected_with_advice_and_never_repeated() {
    let data = folder();
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let words = ["account", "--json", "set-password", "--email", "ada@example.com", "--password-stdin"];
    for (input, code, advice) in [
        ("", "password_too_short", "the password is empty; use at least 10"),
        ("xyzzy42\n", "password_too_short", "7 of at least 10 characters"),
        ("password1234\n", "password_too_common", "most common"),
        ("ada@example.com\n", "password_is_email", "others do not know"),
        ("seven quiet harbours\nof it\n", "input_unusable", "on a single line"),
    ] {
        let refused = run(data.path(), &words, input);
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{input:?}");
        let error: serde_json::Value = serde_json::from_str(&refused.err).unwrap();
        assert_eq!(error["error"]["code"], code, "{input:?}: {error}");
        assert!(error["error"]["detail"].as_str().unwrap().contains(advice), "{input:?}: {error}");
        let line = input.lines().next().unwrap_or_default();
        assert!(line.is_empty() || line.contains('@') || !refused.err.contains(line), "{}", refused.err);
    }
    let unknown = ["account", "set-password", "--email", "adaa@example.com", "--password-stdin"];
    let refused = run(data.path(), &unknown, GOOD);
    assert!(refused.err.contains("did you mean `ada@example.com`?"), "{}", refused.err);
    let unknown = run(data.path(), &["account", "delete", "--email", "aad@example.com"], "");
    assert!(unknown.err.contains("did you mean `ada@example.com`?"), "{}", unknown.err);
    assert!(!can_sign_in(&data, "xyzzy42"));
}

/// Signs up `ada@example.com` as a visitor and creates a key.
fn sign_up(auth: &Arc<AuthService>) -> String {
    let email: Email = "ada@example.com".parse().unwrap();
    let password = Password::new(GOOD, &email).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = auth.sign_up(email, password, "192.0.2.1".parse().unwrap(), NOON).await.unwrap();
        let visitor = auth.visitor(&session.token, NOON).await.unwrap().unwrap();
        let key = auth.create_key(visitor.account.id, "laptop".parse().unwrap(), None, NOON).await.unwrap().key;
        format!("Bearer {}", key.reveal())
    })
}

#[test]
fn a_tier_meant_for_the_owner_of_an_address_does_not_go_to_a_stranger() {
    let data = folder();
    let auth = open(data.path());
    let key = sign_up(&auth);
    let account = |words: &[&str]| run(data.path(), &[&["account", "--json"], words].concat(), GOOD);
    let set_tier = ["set-tier", "--email", "ada@example.com", "--tier", "enterprise"];
    let refused = account(&set_tier);
    let error: serde_json::Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!((refused.code, &error["error"]["code"]), (Some(1), &"account_unverified".into()));
    let detail = error["error"]["detail"].as_str().unwrap();
    for part in ["created 2026-11-21T12:00:00Z, 1 active keys", "account verify --email 1`", "--yes"] {
        assert!(detail.contains(part), "{detail}");
    }
    let row = |words: &[&str]| -> serde_json::Value { serde_json::from_str(&account(words).ok()).unwrap() };
    assert_eq!(row(&["list"])["accounts"][0]["tier"], "free");
    assert_eq!(row(&["list"])["accounts"][0]["verified_at"], serde_json::Value::Null);
    let warned = run(data.path(), &[&["account"], &set_tier[..], &["--yes"]].concat(), "");
    assert!(warned.code == Some(0) && warned.err.contains("warning: the account is unverified"), "{}", warned.err);

    // The owner shows up: the stranger's key ends with the stranger's password.
    let verified = run(data.path(), &["account", "verify", "--email", "1"], "");
    assert!(verified.err.contains("if somebody else signed up with the address"), "{}", verified.err);
    assert!(auth.authenticate(Some(&key), NOON).is_ok());
    let kept = account(&["set-password", "--email", "1", "--password-stdin", "--keep-keys"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&kept.ok()).unwrap()["active_keys"], 1);
    let set = run(data.path(), &["account", "set-password", "--email", "1", "--password-stdin"], GOOD);
    assert!(set.err.contains("its sessions were ended, 1 active keys were revoked (--keep-keys"), "{}", set.err);
    auth.refresh().unwrap();
    assert_eq!(auth.authenticate(Some(&key), NOON), Err(AuthError::Revoked));
    let quiet = run(data.path(), &[&["account"], &set_tier[..]].concat(), "");
    assert!(quiet.code == Some(0) && !quiet.err.contains("warning"), "{}", quiet.err);
    // The operator vouches for an account that the operator creates.
    assert_ne!(row(&["create", "--email", "zoe@example.com"])["verified_at"], serde_json::Value::Null);
    let unknown = account(&["verify", "--email", "99"]);
    assert!(unknown.err.contains("no account has the number 99; list accounts"), "{}", unknown.err);
}

#[test]
fn an_old_address_that_imitates_another_is_listed_escaped_and_deleted_by_number() {
    let data = folder();
    run(data.path(), &["account", "create", "--email", "ceo@bigco.example"], "").ok();
    let database = rusqlite::Connection::open(data.path().join("venturedex.sqlite")).unwrap();
    let insert =
        "INSERT INTO accounts (id, email, tier, created_at) VALUES (7, 'ceo\u{202e}@bigc\u{43e}.example', 'free', 0)";
    database.execute(insert, []).unwrap();
    let list = run(data.path(), &["account", "list"], "").ok();
    assert!(list.is_ascii() && list.contains("ceo\\u{202e}@bigc\\u{43e}.example"), "{list}");
    let typed = run(data.path(), &["account", "delete", "--email", "ceo\u{202e}@bigc\u{43e}.example"], "");
    assert!(typed.code == Some(2) && typed.err.contains("or the number of the account"), "{}", typed.err);
    run(data.path(), &["account", "delete", "--email", "7"], "").ok();
    assert!(!run(data.path(), &["account", "list"], "").ok().contains("202e"));
}

#[test]
fn a_key_is_revoked_by_standard_input() {
    let data = folder();
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let key = run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    for (input, advice) in [
        ("", "use its number, its short form"),
        ("vdx_123", "use its number, its short form"),
        ("1\n2\n", "standard input has several lines; pipe the key in, on a single line"),
    ] {
        let refused = run(data.path(), &["key", "revoke", "-"], input);
        assert!(refused.code == Some(1) && refused.err.contains(advice), "{input:?}: {}", refused.err);
    }
    let revoked = run(data.path(), &["key", "revoke", "-"], &key);
    assert!(revoked.code == Some(0) && revoked.err.contains("was revoked"), "{}", revoked.err);
    assert!(!revoked.err.contains(key.trim()));
}

#[test]
fn a_deleted_database_is_logged_once_reported_and_fails_the_stop() {
    let data = folder();
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let key = run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    let log = data.path().join("log");
    let mut server = Process::start_with(data.path(), &[], std::fs::File::create(&log).unwrap());
    let client = server.client(key.trim());
    std::fs::remove_file(data.path().join("venturedex.sqlite")).unwrap();
    let deleted = Instant::now();
    while client.get("/readyz").json()["status"] != "degraded" {
        assert!(deleted.elapsed() < Duration::from_secs(60), "not noticed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200, "a known key still works");
    // Several refreshes later the log still has one line for each consequence.
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(server.terminate(), Some(1));
    let log = std::fs::read_to_string(&log).unwrap();
    let count = |part: &str| log.matches(part).count();
    assert_eq!((count("cannot refresh the keys: "), count("cannot write usage: ")), (1, 1), "{log}");
    assert!(log.contains("error: --data: ") && log.contains("restore it from a backup"), "{log}");

    // A server that could write everything ends with success.
    let data = folder();
    let log = data.path().join("log");
    assert_eq!(Process::start_with(data.path(), &[], std::fs::File::create(&log).unwrap()).terminate(), Some(0));
    assert!(std::fs::read_to_string(&log).unwrap().contains("created an empty account database"));
}

#[test]
fn a_second_server_on_a_data_folder_is_refused_and_commands_still_work() {
    let data = folder();
    let mut server = Process::start(data.path(), &[]);
    let serve = ["--listen", "127.0.0.1:0"];
    let refused = run(data.path(), &serve, "");
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
    for part in ["error: --data: ", "another `venturedex serve` uses this folder (process ", "choose another folder"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    assert!(run(data.path(), &["account", "list"], "").ok().contains("ada@example.com"));
    // Even a killed server leaves no lock behind.
    server.kill();
    drop(Process::start(data.path(), &[]));
}

#[test]
fn a_running_server_applies_changes_by_commands() {
    let data = folder();
    let server = Process::start(data.path(), &[]);
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let keys: Vec<String> = (0..2)
        .map(|_| run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok())
        .map(|line| line.trim().to_owned())
        .collect();
    let ask = |key: &String| {
        let reply = server.client(key).get("/api/v3/vcs?limit=1");
        let code = if reply.status == 200 { String::new() } else { reply.json()["code"].as_str().unwrap().to_owned() };
        (reply.status, code)
    };
    for key in &keys {
        assert_eq!(ask(key), (200, String::new()), "at once");
    }
    let deletion = run(data.path(), &["account", "delete", "--email", "ada@example.com"], "");
    assert!(deletion.err.contains("2 active keys were revoked"), "{}", deletion.err);
    let deleted = Instant::now();
    for key in &keys {
        while ask(key).0 == 200 {
            // Promised within a second; a loaded machine gets more time, so that only a server that ignores the change fails.
            assert!(deleted.elapsed() < Duration::from_secs(60), "still accepted");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(ask(key), (401, "revoked_api_key".to_owned()));
    }
    let refused = run(data.path(), &["account", "delete", "--email", "ada@example.com"], "");
    assert!(refused.code == Some(1) && refused.err.contains("no account has the e-mail"), "{}", refused.err);
    let accounts = run(data.path(), &["--json", "account", "list"], "");
    assert!(accounts.out.is_empty() || !accounts.out.contains("ada@"), "{}", accounts.out);
}

#[test]
fn a_server_whose_output_nobody_reads_serves() {
    let data = tempfile::tempdir().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = program::command(data.path(), &["--listen", &address.to_string()]);
    let mut child = command.current_dir(data.path()).spawn().unwrap();
    drop(child.stdout.take());
    let ready = || agent().get(format!("http://{address}/readyz")).call().is_ok_and(|reply| reply.status() == 200);
    let began = Instant::now();
    while !ready() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert!(ended.code == Some(0) && !ended.err.contains("panic"), "{ended:?}");
}
