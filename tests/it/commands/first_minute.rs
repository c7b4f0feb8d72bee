//! What a newcomer meets first: the demo, the page that says what to do next, the version.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::support::harness::Client;
use crate::support::installation::Installation;
use crate::support::program::{command, small_index};

const SERVER: &str = env!("CARGO_BIN_EXE_venturedex");

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_demo_serves_the_bundled_data_whatever_is_published_and_leaves_nothing() {
    let installation = Installation::new();
    installation.publish("2026-12-01.1");
    let temporary = tempfile::tempdir().unwrap();
    let mut command = installation.command(SERVER);
    // The settings of a service in the environment, and the folder with a release of its own.
    let folder = installation.index().parent().unwrap().to_owned();
    command.args(["demo", "--listen", "127.0.0.1:0"]).env("VENTUREDEX_STORE", "postgres://nobody@127.0.0.1:1/none");
    command.env("TMPDIR", temporary.path()).current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    // Not a terminal, but the key of a demo is printed all the same.
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let tried = lines.find_map(|line| line.trim().strip_prefix("curl -H 'Authorization: Bearer ").map(str::to_owned));
    let tried = tried.expect("a command to try");
    let (key, address) = tried.trim_end_matches('\'').split_once("' '").unwrap();
    let (base, query) = address.split_once("/api/v3/").unwrap();
    let next = lines.find(|line| line.ends_with(&format!("{base}/#next")));
    assert!(next.is_some(), "the program does not say where to go on");
    thread::spawn(move || lines.for_each(drop));
    let client = Client::at(base, key);
    assert_eq!(client.get(&format!("/api/v3/{query}")).json()["pagination"]["total"].as_u64().unwrap().min(1), 1);
    assert_eq!(
        client.get("/api/v3/stats").header("x-ratelimit-limit"),
        "unlimited",
        "who tries the service has no quota"
    );
    let ready = client.get("/readyz").json();
    assert_eq!((&ready["status"], &ready["bundled"]), (&"ready".into(), &true.into()), "{ready}");
    let home = client.get("/").text;
    for step in ["indexer import FILE --page --sources sources", "/docs/mcp#setup", "/vcs.json?q=capital"] {
        assert!(home.contains(step), "the page does not say what to do next: {step}");
    }
    assert_eq!(client.get("/vcs.json?q=capital").status, 200);
    assert_eq!(entries(temporary.path()).len(), 1);
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert_eq!(entries(temporary.path()), [""; 0]);
    assert_eq!(entries(&folder), ["index"], "accounts are not in the folder of a service");
}

#[test]
fn the_commands_that_a_server_prints_make_a_key_for_it_whatever_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("accounts of Ada's");
    let index = small_index();
    let mut server = command(&data, &["--listen", "127.0.0.1:0", "--index", index.path().to_str().unwrap()]);
    let mut server = server.current_dir(folder.path()).stderr(Stdio::inherit()).spawn().unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut base = String::new();
    let mut key = String::new();
    for line in lines {
        if let Some(rest) = line.trim().strip_prefix("REST ") {
            base = rest.trim().trim_end_matches("/api/v3").to_owned();
        }
        if let Some(words) = line.trim().strip_prefix("venturedex ") {
            let output =
                Command::new("sh").args(["-c", &format!("{SERVER} {words}")]).current_dir("/").output().unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            key = String::from_utf8(output.stdout).unwrap().trim().to_owned();
            if words.starts_with("key ") {
                break;
            }
        }
    }
    assert_eq!(Client::at(&base, &key).get("/api/v3/stats").status, 200, "{base} {key}");
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_demo_refuses_to_keep_accounts() {
    for words in [["demo", "--data", "d"], ["--data", "d", "demo"], ["demo", "--store", "postgres://u@localhost/d"]] {
        let output = Command::new(SERVER).args(words).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        let flag = words.iter().find(|word| word.starts_with("--")).unwrap();
        assert!(message.contains(&format!("`demo` keeps nothing, so that {flag} has no effect")), "{message}");
    }
}

#[test]
fn both_programs_name_version_and_formats() {
    for program in [SERVER, env!("CARGO_BIN_EXE_indexer")] {
        let print = |flag: &str| {
            let output = Command::new(program).arg(flag).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        };
        let (short, long) = (print("-V"), print("--version"));
        assert_eq!(short.lines().count(), 1);
        assert!(short.trim().ends_with(concat!(" ", env!("CARGO_PKG_VERSION"))), "{short}");
        assert_eq!(long.lines().next(), short.lines().next());
        for (part, format) in release::FORMATS {
            assert!(long.contains(&format!("{part} {format}")), "{long}");
        }
        assert!(long.contains(&format!("SQLite {}", auth::SqliteStore::VERSION)), "{long}");
    }
}
