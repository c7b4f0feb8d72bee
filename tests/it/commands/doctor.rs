//! `venturedex doctor`: each finding is caused, and nothing is written.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::account::mail::Sink;
use crate::commands::backup::{content, indexer, text};
use crate::support::installation::small;
use crate::support::program::{Ended, Process, command, run};

struct Report {
    code: Option<i32>,
    json: Value,
}

impl Report {
    fn of(ended: Ended) -> Self {
        let json = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{}", ended.err));
        Self { code: ended.code, json }
    }

    /// The status of a check (the worst, if it found several things) with its details and remedies; empty if there is none.
    fn of_check(&self, check: &str) -> (&str, String) {
        let mut found: Vec<_> =
            self.json["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check).collect();
        let rank = |status: &Value| ["ok", "warning", "problem"].iter().position(|name| status == name).unwrap();
        found.sort_by_key(|finding| std::cmp::Reverse(rank(&finding["status"])));
        for finding in &found {
            assert_eq!(finding["remedy"].is_null(), finding["status"] == "ok", "{finding}");
        }
        let status = found.first().map_or("", |finding| finding["status"].as_str().unwrap());
        (status, found.iter().map(|finding| format!("{} -> {}\n", finding["detail"], finding["remedy"])).collect())
    }

    #[track_caller]
    fn has(&self, check: &str, status: &str, part: &str) {
        let found = self.of_check(check);
        assert!(found.0 == status && found.1.contains(part), "{check}: {found:?} instead of {status} with {part:?}");
    }
}

/// A new service: an index with a release, and a data folder with an account.
struct Service {
    folder: TempDir,
}

impl Service {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        indexer(&["build", "--dataset", text(&small()), "--index", text(&folder.path().join("index"))]);
        let service = Self { folder };
        run(&service.data(), &["account", "create", "--email", "ada@example.com"], "").ok();
        service
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn index(&self) -> std::path::PathBuf {
        self.folder.path().join("index")
    }

    fn doctor(&self, words: &[&str]) -> Report {
        doctor(&self.data(), &[&["--index", text(&self.index())], words].concat())
    }
}

/// An address on which nothing listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn doctor(data: &Path, words: &[&str]) -> Report {
    let words =
        if words.contains(&"--listen") { words.to_vec() } else { [words, &["--listen", "127.0.0.1:0"]].concat() };
    let mut command = command(data, &[&["doctor", "--json"], words.as_slice()].concat());
    // Not in the project, which may have the default index.
    Report::of(command.current_dir(std::env::temp_dir()).output().unwrap().into())
}

#[test]
fn a_good_service_has_no_problem_and_is_not_changed_whether_it_runs_or_not() {
    let service = Service::new();
    let before = content(service.folder.path());
    let stopped = service.doctor(&[]);
    assert_eq!((stopped.code, &stopped.json["problems"]), (Some(0), &0.into()), "{:#}", stopped.json);
    stopped.has("data.database", "ok", "whole; ");
    stopped.has("data.database", "ok", "1 account and 0 keys");
    stopped.has("data.server", "ok", "not running");
    stopped.has("index.current", "ok", "checksums and test queries are right");
    stopped.has("index.permissions", "ok", "");
    stopped.has("data.permissions", "ok", "");
    assert!(content(service.folder.path()) == before);
    for key in ["program", "checked_at", "status", "problems", "warnings", "findings"] {
        assert!(!stopped.json[key].is_null(), "{key}");
    }

    let server = Process::start(&service.data(), &["--index", text(&service.index())]);
    let address = server.base.strip_prefix("http://").unwrap();
    let running = service.doctor(&["--listen", address]);
    assert_eq!(running.code, Some(0), "{:#}", running.json);
    running.has("data.server", "ok", &format!("running (process {})", server.id()));
    running.has("server.ready", "ok", "ready, serves ");
    running.has("process.port", "ok", "is in use, and the server runs");
    running.has("process.open_files", "ok", "the server may open");
    running.has("process.memory", "ok", "the server may use");

    // Another address than that of the server.
    let elsewhere = service.doctor(&["--listen", &free_address()]);
    elsewhere.has("server.ready", "problem", "does not answer");

    // For people: a line for each finding, remedies below, the sum at the end.
    let ended = run(&service.data(), &["doctor", "--index", text(&service.index()), "--log", "off"], "");
    let lines: Vec<&str> = ended.out.lines().collect();
    let line = lines.iter().position(|line| line.starts_with("warning  settings.log ")).expect("the finding");
    assert!(lines[line + 1].contains("-> set --log to warn or info"), "{}", ended.out);
    assert!(lines.last().unwrap().contains(" warning"), "{}", ended.out);
}

#[test]
fn risky_and_contradictory_settings_are_found() {
    let service = Service::new();
    let found = service.doctor(&["--listen", "0.0.0.0:0"]);
    found.has("settings.public_url", "warning", "open to other machines, but --public-url is not set");
    let found = service.doctor(&["--public-url", "http://vd.example.com", "--listen", "0.0.0.0:0"]);
    found.has("settings.public_url", "warning", "is not https");
    let found = service.doctor(&["--public-url", "http://127.0.0.1:8080", "--listen", "0.0.0.0:0"]);
    found.has("settings.public_url", "warning", "is an address of this machine");
    let found = service.doctor(&["--public-url", "https://vd.example.com"]);
    found.has("settings.public_url", "ok", "https://vd.example.com");
    found.has("settings.trusted_proxies", "warning", "names none");

    let proxies =
        |ranges: &str| service.doctor(&["--public-url", "https://vd.example.com", "--trusted-proxies", ranges]);
    proxies("127.0.0.1").has("settings.trusted_proxies", "ok", "127.0.0.1");
    proxies("127.0.0.0/8,10.0.0.0/8,fd00::/16").has("settings.trusted_proxies", "ok", "10.0.0.0/8");
    proxies("10.0.0.7").has("settings.trusted_proxies", "warning", "add 127.0.0.1 to --trusted-proxies");
    for wide in ["203.0.0.0/16", "2001:db8::/32"] {
        proxies(&format!("127.0.0.1,{wide}")).has("settings.trusted_proxies", "warning", "many public addresses");
    }
    let found = service.doctor(&["--max-connections", "64"]);
    found.has("settings.connections", "warning", "one address may take all 64 connections");
    service.doctor(&["--log", "off"]).has("settings.log", "warning", "not even errors");
    service.doctor(&[]).has("settings.connections", "ok", "at most 4096");

    let mut with_variable = command(&service.data(), &["doctor", "--json", "--listen", "127.0.0.1:0"]);
    let output = with_variable.env("VENTUREDEX_PUBLIC_URI", "https://vd.example.com").output().unwrap();
    Report::of(output.into()).has("settings.environment", "warning", "rename it to VENTUREDEX_PUBLIC_URL");
    // A value that `serve` refuses is refused the same way.
    let refused = run(&service.data(), &["doctor", "--listen", "8080"], "");
    assert!(refused.code == Some(2) && refused.err.contains("--listen: `8080`"), "{}", refused.err);
}

#[test]
fn files_that_the_settings_name_are_checked() {
    let service = Service::new();
    let place = |name: &str| service.folder.path().join(name);
    let log = place("audit.jsonl");
    service.doctor(&["--audit-log", text(&log)]).has("settings.audit_log", "ok", "audit.jsonl");
    assert!(!log.exists());
    fs::write(&log, "").unwrap();
    fs::set_permissions(&log, fs::Permissions::from_mode(0o644)).unwrap();
    service.doctor(&["--audit-log", text(&log)]).has("settings.audit_log", "warning", "chmod 600");
    service.doctor(&["--access-log", text(&place("none/log"))]).has("settings.access_log", "problem", "--access-log");
    let found = service.doctor(&["--audit-log", text(&place("none/audit.jsonl"))]);
    found.has("settings.audit_log", "problem", "cannot be written");
    assert_eq!(found.code, Some(1));

    let well_known = place("well-known");
    service.doctor(&["--well-known", text(&well_known)]).has("settings.well_known", "problem", "well-known");
    fs::create_dir(&well_known).unwrap();
    service.doctor(&["--well-known", text(&well_known)]).has("settings.well_known", "ok", "can be published");

    // Nothing listens on the port of this mail server once it is dropped.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mail = |url: &str, more: &[&str]| {
        let words = ["--smtp-url", url, "--mail-from", "noreply@example.com"];
        service.doctor(&[&words, more].concat())
    };
    let found = mail(&format!("smtp://127.0.0.1:{port}"), &[]);
    found.has("settings.mail", "warning", "no connection to the mail server");
    found.has("settings.mail", "warning", "links in e-mails lead to the listening address");
    mail("smtp://ada@127.0.0.1:1", &[]).has("settings.mail", "problem", "--smtp-password-file");
    let password = place("password");
    fs::write(&password, "secret\n").unwrap();
    fs::set_permissions(&password, fs::Permissions::from_mode(0o640)).unwrap();
    let found = mail("smtp://ada@127.0.0.1:1", &["--smtp-password-file", text(&password)]);
    found.has("settings.mail", "warning", "password can be read by other users");
}

#[test]
fn a_working_mail_server_is_accepted_without_a_message() {
    let service = Service::new();
    let server = Sink::start(&[]);
    let url = format!("smtp://{}", server.address);
    let words = ["--smtp-url", &url, "--mail-from", "noreply@example.com", "--public-url", "http://localhost"];
    service.doctor(&words).has("settings.mail", "ok", "nothing was sent");
    assert!(server.mails.try_recv().is_err());
}

#[test]
fn a_missing_open_or_damaged_data_folder_is_found() {
    let service = Service::new();
    let data = service.data();
    let none = service.folder.path().join("none");
    let found = doctor(&none, &["--index", text(&service.index())]);
    found.has("data.folder", "warning", "does not exist");
    assert!(found.code == Some(0) && !none.exists());
    fs::create_dir(&none).unwrap();
    doctor(&none, &[]).has("data.database", "warning", "has no database");
    let file = service.folder.path().join("file");
    fs::write(&file, "").unwrap();
    doctor(&file, &[]).has("data.folder", "problem", "is not a folder");

    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    service.doctor(&[]).has("data.permissions", "warning", "chmod 700");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    let database = data.join("venturedex.sqlite");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    service.doctor(&[]).has("data.permissions", "warning", "chmod 600");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).unwrap();

    let log = data.join("venturedex.sqlite-wal");
    let server = Process::start(&data, &[]);
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(65 << 20).unwrap();
    service.doctor(&[]).has("data.log", "warning", "are not in the database file yet");
    drop(server);
    fs::remove_file(&log).unwrap();

    let good = fs::read(&database).unwrap();
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    service.doctor(&[]).has("data.database", "problem", "run the newer program");
    fs::write(&database, &good).unwrap();
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 9).unwrap();
    drop(connection);
    service.doctor(&[]).has("data.database", "ok", "store version 9, which `serve` migrates to ");
    let mut bad = good.clone();
    bad[4096 * 2..4096 * 6].fill(0x5a);
    fs::write(&database, bad).unwrap();
    let found = service.doctor(&[]);
    found.has("data.database", "problem", "venturedex restore BACKUP --force");
    assert_eq!((found.code, &found.json["status"]), (Some(1), &"problem".into()));
    fs::write(&database, "text").unwrap();
    service.doctor(&[]).has("data.database", "problem", "not a venturedex database");
}

#[test]
fn a_data_folder_that_belongs_to_another_user_is_found() {
    let service = Service::new();
    let data = service.data();
    for (folder, mode) in [(service.folder.path(), 0o755), (data.as_path(), 0o555)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    let closed = service.folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may write anywhere; another user may be unable to reach the program.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let program = service.folder.path().join("venturedex");
    fs::copy(env!("CARGO_BIN_EXE_venturedex"), &program).unwrap();
    let index = service.index();
    let doctor = |data: &Path| {
        let words = ["doctor", "--json", "--listen", "127.0.0.1:0", "--index", text(&index)];
        let plain = command(data, &words);
        let user: &[&str] =
            if is_root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] } else { &["env"] };
        let mut command = std::process::Command::new(user[0]);
        Report::of(command.args(&user[1..]).arg(&program).args(plain.get_args()).output().unwrap().into())
    };
    doctor(&data).has("data.folder", "problem", "is not writable by the user who runs this");
    doctor(&closed.join("data")).has("data.folder", "problem", "cannot be opened");
    for folder in [data, closed] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_clock_before_the_newest_time_of_the_store_is_found() {
    let service = Service::new();
    let connection = rusqlite::Connection::open(service.data().join("venturedex.sqlite")).unwrap();
    connection.execute("UPDATE accounts SET created_at = 4102444800", []).unwrap();
    drop(connection);
    service.doctor(&[]).has("clock.time", "problem", "before the newest time in the database, 2100-01-01T00:00:00Z");
}

#[test]
fn the_index_is_checked_as_a_server_would_open_it() {
    let service = Service::new();
    let index = service.index();
    let version = fs::read_to_string(index.join("current")).unwrap().trim().to_owned();
    let none = doctor(&service.data(), &["--index", "no-such-index"]);
    none.has("index.current", "problem", "the server is not ready");
    doctor(&service.data(), &[]).has("index.current", "warning", "the bundled, invented data is served");

    fs::set_permissions(&index, fs::Permissions::from_mode(0o777)).unwrap();
    service.doctor(&[]).has("index.permissions", "warning", "chmod -R go-w");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o755)).unwrap();

    let copy = index.join("2026-01-05.1");
    copy_folder(&index.join(&version), &copy);
    service.doctor(&[]).has("index.releases", "warning", "remove the folder");
    fs::remove_dir_all(&copy).unwrap();
    let older = crate::support::harness::copy_as(&small(), "2026-11-01.1");
    indexer(&["build", "--dataset", text(older.path()), "--index", text(&index)]);
    indexer(&["activate", &version, "--index", text(&index)]);
    service.doctor(&[]).has("index.releases", "ok", "all whole; the server holds 1 of them (");
    let none = service.doctor(&["--keep-releases", "0"]);
    none.has("index.releases", "ok", "holds 0 of them (0 B, --keep-releases 0)");

    let tables = index.join(&version).join("tables.bin");
    let mut bytes = fs::read(&tables).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(&tables).unwrap();
    fs::write(&tables, bytes).unwrap();
    let found = service.doctor(&[]);
    found.has("index.current", "problem", "is damaged");
    found.has("index.current", "problem", "indexer activate 2026-11-01.1");
    assert_eq!(found.code, Some(1));
    fs::write(index.join("current"), "2025-01-01.1\n").unwrap();
    service.doctor(&[]).has("index.current", "problem", "2025-01-01.1");
    fs::write(index.join("current"), "nonsense").unwrap();
    service.doctor(&[]).has("index.current", "problem", "is not a version");
}

#[test]
fn a_port_in_use_and_one_of_another_machine_are_found() {
    let service = Service::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    service.doctor(&["--listen", &address]).has("process.port", "problem", "another program uses the port");
    drop(other);
    service.doctor(&["--listen", &address]).has("process.port", "ok", "is free");
    service.doctor(&["--listen", "192.0.2.1:8080"]).has("process.port", "problem", "an address of this machine");
}

#[test]
fn a_process_with_few_files_is_found() {
    let service = Service::new();
    let program = env!("CARGO_BIN_EXE_venturedex");
    let script = format!(
        "ulimit -n 1024; exec {program} --data {} doctor --json --listen 127.0.0.1:0 --index {}",
        text(&service.data()),
        text(&service.index())
    );
    let output = std::process::Command::new("sh").arg("-c").arg(script).output().unwrap();
    let found = Report::of(output.into());
    found.has("process.open_files", "problem", "may open 1024 files, but 4096 connections need 4352");
}

pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
