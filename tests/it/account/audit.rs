//! The audit log: what is written, what is not, and how it is read.

use std::fs;
use std::path::Path;

use auth::ApiKey;
use auth::audit::AuditLog;
use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse};
use crate::support::program::{Process, run};

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_happens_to_an_account_is_logged_without_its_secrets() {
    let server = Server::bundled();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    server.state.auth.log_to(AuditLog::open(&path, || NOON).unwrap());

    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let signed_up = browser.post("/signup", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(signed_up.status, 422);
    for (email, password) in [("ada@example.com", "not my password"), ("eve@example.com", PASSWORD)] {
        assert_eq!(Browser::at(&server).post("/signin", &[("email", email), ("password", password)]).status, 422);
    }
    let reply = Browser::at(&server).post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(reply.status, 303);
    let (key, id) = browser.create_key("laptop");
    let client = browser.client(&key);
    let last: Vec<u16> = (0..103).map(|_| client.get("/api/v3/vcs?limit=1").status).collect();
    assert_eq!(last[99..], [200, 429, 429, 429]);
    server.state.auth.flush(NOON).unwrap();
    let words = ["account", "set-tier", "--email", "ada@example.com", "--yes", "--tier", Tier::Pro.name()];
    run(server.data(), &words, "").ok();
    server.state.auth.refresh().unwrap();
    assert_eq!(browser.post(&format!("/account/keys/{id}/revoke"), &[]).status, 303);
    browser.post("/account/password", &[("current", "wrong"), ("new", "eight quiet herons")]);
    browser.post("/account/password", &[("current", PASSWORD), ("new", "eight quiet herons")]);
    browser.post("/account/delete", &[("password", "eight quiet herons")]);

    let lines = lines(&path);
    let account = lines[0]["account"].as_i64().unwrap();
    let expected = [
        json!(["sign_up", "ok", account, null, null]),
        json!(["sign_up", "not_created", null, null, null]),
        json!(["sign_in", "wrong_credentials", account, null, null]),
        json!(["sign_in", "wrong_credentials", null, null, null]),
        json!(["sign_in", "ok", account, null, null]),
        json!(["key_creation", "ok", account, id, null]),
        json!(["quota_reached", "ok", account, id, null]),
        json!(["tier_change", "ok", account, null, "pro"]),
        json!(["key_revocation", "ok", account, id, null]),
        json!(["password_change", "wrong_password", account, null, null]),
        json!(["password_change", "ok", account, null, null]),
        json!(["account_deletion", "ok", account, null, null]),
    ];
    assert_eq!(summary(&lines), expected);
    for line in lines.iter().filter(|line| line["event"] != "tier_change") {
        assert_eq!(line["time"], "2026-11-21T12:00:00Z");
        assert_eq!(line["request"].as_str().map(str::len), Some(16), "{line}");
        assert_eq!(line["address"], lines[0]["address"], "{line}");
    }
    let text = fs::read_to_string(&path).unwrap();
    for secret in ["example.com", "127.0.0.1", "laptop", "herons", &key, &key[..8]] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

/// The event, outcome, account, key and tier of each line.
fn summary(lines: &[Value]) -> Vec<Value> {
    let fields = |line: &Value| json!([line["event"], line["outcome"], line["account"], line["key"], line["tier"]]);
    lines.iter().map(fields).collect()
}

#[test]
fn ended_sessions_and_clients_with_rejected_keys_are_logged() {
    let server = Server::bundled();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    server.state.auth.log_to(AuditLog::open(&path, || NOON).unwrap());
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let mut there = Browser::at(&server);
    let sign_in = [("email", "ada@example.com"), ("password", PASSWORD)];
    there.post("/signin", &sign_in);
    there.post("/signin", &sign_in);
    let page = parse(&browser.get("/account").text);
    let end = page.first("form[action^='/account/sessions/']").attr("action").unwrap();
    for _ in 0..2 {
        assert_eq!(browser.post(end, &[]).status, 303);
        browser.post("/signout", &[]);
        browser.post("/signin", &sign_in);
    }
    let unknown = browser.client(ApiKey::from_seed(&[7; 32]).reveal());
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for _ in 0..30 {
        assert_eq!((unknown.get("/api/v3/vcs").status, unknown.post("/api/mcp", call).status), (401, 401));
        assert_eq!(server.anonymous().get("/api/v3/vcs").status, 401);
    }
    let lines = lines(&path);
    let account = lines[0]["account"].as_i64().unwrap();
    let signed_in = json!(["sign_in", "ok", account, null, null]);
    let ended = json!(["session_end", "ok", account, null, null]);
    let expected = [
        json!(["sign_up", "ok", account, null, null]),
        signed_in.clone(),
        // The session that the browser had.
        signed_in.clone(),
        ended.clone(),
        // On the account page, then by signing out.
        ended.clone(),
        ended.clone(),
        signed_in.clone(),
        ended,
        signed_in,
        json!(["keys_rejected", "invalid_api_key", null, null, null]),
    ];
    assert_eq!(summary(&lines), expected);
    assert!(lines.iter().all(|line| line["address"] == lines[0]["address"]));
}

#[test]
fn commands_of_the_operator_are_logged() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("audit.jsonl");
    let ada = ["--email", "ada@example.com"];
    let command = |words: &[&str], more: &[&str]| {
        let ended = run(data.path(), &[words, more, &["--audit-log", path.to_str().unwrap()]].concat(), PASSWORD);
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.err);
    };
    command(&["account", "create"], &ada);
    command(&["account", "verify"], &ada);
    command(&["account", "set-tier", "--tier", "pro"], &ada);
    command(&["account", "set-password", "--password-stdin"], &ada);
    command(&["key", "create", "--name", "laptop"], &ada);
    command(&["key", "rotate", "1"], &[]);
    command(&["key", "revoke", "2"], &[]);
    // What changes nothing is not logged.
    command(&["account", "reset-totp"], &ada);
    command(&["account", "list"], &[]);
    command(&["account", "delete"], &ada);
    let lines = lines(&path);
    let expected = [
        json!(["account_creation", "ok", 1, null, null]),
        json!(["account_verification", "ok", 1, null, null]),
        json!(["tier_change", "ok", 1, null, "pro"]),
        json!(["password_change", "ok", 1, null, null]),
        json!(["key_creation", "ok", 1, 1, null]),
        json!(["key_rotation", "ok", 1, 1, null]),
        json!(["key_revocation", "ok", 1, 2, null]),
        json!(["account_deletion", "ok", 1, null, null]),
    ];
    assert_eq!(summary(&lines), expected);
    assert!(lines.iter().all(|line| line["by"] == "operator" && line["address"].is_null()));
    let text = fs::read_to_string(&path).unwrap();
    assert!(["example.com", "laptop", "herons", "vdx_"].iter().all(|secret| !text.contains(secret)), "{text}");

    let no_folder = data.path().join("no").join("audit.jsonl");
    let words = ["account", "create", "--email", "zoe@example.com", "--audit-log", no_folder.to_str().unwrap()];
    let ended = run(data.path(), &words, "");
    assert!(ended.code == Some(1) && ended.err.contains("nothing was changed"), "{}", ended.err);
    assert!(!run(data.path(), &["account", "list"], "").ok().contains("zoe"));
}

#[test]
fn the_lines_of_an_audit_log_are_selected() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("audit.jsonl");
    let line = |time: &str, event: &str, account: i64| {
        json!({ "time": time, "event": event, "outcome": "ok", "account": account }).to_string()
    };
    let all = [
        line("2026-11-20T23:59:59Z", "sign_in", 7),
        line("2026-11-21T00:00:00Z", "key_creation", 7),
        line("2026-11-21T12:00:00Z", "sign_in", 8),
    ];
    fs::write(&path, all.join("\n") + "\nnot JSON\n").unwrap();
    let file = path.to_str().unwrap();
    let selected = |words: &[&str]| run(data.path(), &[&["audit", "--file", file], words].concat(), "").ok();
    let text = |numbers: &[usize]| numbers.iter().map(|number| format!("{}\n", all[*number])).collect::<String>();
    assert_eq!(selected(&[]), text(&[0, 1, 2]));
    assert_eq!(selected(&["--account", "7"]), text(&[0, 1]));
    assert_eq!(selected(&["--event", "sign_in", "--since", "2026-11-21"]), text(&[2]));
    assert_eq!(selected(&["--since", "2026-11-21T00:00:00Z"]), text(&[1, 2]));
    let piped = run(data.path(), &["audit", "--file", "-", "--account", "8"], &all.join("\n"));
    assert_eq!(piped.ok(), text(&[2]));
    assert!(run(data.path(), &["audit", "--file", file], "").err.contains("1 other lines skipped"));

    for (words, part) in [
        (["--since", "yesterday"], "examples: 2026-11-20"),
        (["--since", "2026-11-21T99:00:00Z"], "examples: 2026-11-20"),
        (["--since", "2026-11-21t00:00:00z"], "examples: 2026-11-20"),
        (["--since", "2026-11-21t00:00:00Z"], "examples: 2026-11-20"),
        (["--event", "signin"], "sign_in"),
        (["--file", "no-such-file"], "name the file of `serve --audit-log`"),
    ] {
        let words = [&["audit", "--file", file][..if words[0] == "--file" { 1 } else { 3 }], &words].concat();
        let ended = run(data.path(), &words, "");
        assert!(ended.code != Some(0) && ended.err.contains(part), "{words:?}: {}", ended.err);
    }
}

#[cfg(unix)]
#[test]
fn a_server_appends_to_its_audit_log_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("audit.jsonl");
    let server = Process::start(data.path(), &["--audit-log", path.to_str().unwrap()]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(server);
    let folder = data.path().join("no").join("such.jsonl");
    let ended = run(data.path(), &["serve", "--listen", "127.0.0.1:0", "--audit-log", folder.to_str().unwrap()], "");
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("--audit-log") && ended.err.contains("may write to"), "{}", ended.err);
}
