//! The server as a process: a published release is activated without lost or mixed responses, a damaged one is rejected, and
//! cursors survive a restart.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use venturedex::release::ReleaseStore;

use crate::harness::{Client, agent, copy_as};

fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small")
}

/// An index and a data folder, with the operator's commands.
struct Installation {
    folder: TempDir,
}

impl Installation {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("VENTUREDEX_INDEX", self.index()).env("VENTUREDEX_DATA", self.folder.path().join("data"));
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn indexer(&self, arguments: &[&str]) -> String {
        self.run(env!("CARGO_BIN_EXE_indexer"), arguments)
    }

    /// Publishes the small dataset as `version`, which is appended to the name of its startup `mossworks`.
    fn publish(&self, version: &str) {
        let dataset = copy_as(&small(), version);
        let startups = dataset.path().join("startups.csv");
        let text = fs::read_to_string(&startups).unwrap();
        fs::write(startups, text.replace("mossworks,Mossworks,", &format!("mossworks,Mossworks {version},"))).unwrap();
        self.indexer(&["build", "--dataset", dataset.path().to_str().unwrap()]);
    }

    /// An unlimited key.
    fn key(&self) -> String {
        let program = env!("CARGO_BIN_EXE_venturedex");
        self.run(program, &["account", "create", "--email", "ops@example.com", "--tier", "enterprise"]);
        self.run(program, &["key", "create", "--email", "ops@example.com", "--name", "swap"])
    }

    fn serve(&self) -> Serving {
        let mut child = self
            .command(env!("CARGO_BIN_EXE_venturedex"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let lines = Arc::clone(&log);
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).for_each(|line| lines.lock().unwrap().push(line))
        });
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let base = output.find_map(|line| line.trim().strip_prefix("REST").map(|rest| rest.trim().to_owned()));
        let base = base.unwrap_or_else(|| panic!("no address: {:?}", log.lock().unwrap()));
        // Without a reader, the server would fail to print.
        std::thread::spawn(move || output.for_each(drop));
        Serving { child, log, base: base.trim_end_matches("/api/v3").to_owned() }
    }
}

/// A running server, which is killed on drop.
struct Serving {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    base: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn client(&self, key: &str) -> Client {
        Client { base: self.base.clone(), key: Some(key.to_owned()), agent: agent() }
    }

    fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    fn logged(&self, text: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until the condition is true and returns how long that took; much longer than promised, for machines under load.
    #[track_caller]
    fn wait(&self, condition: impl Fn() -> bool) -> Duration {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(120) {
            if condition() {
                return began.elapsed();
            }
            sleep(Duration::from_millis(10));
        }
        panic!("timeout: {:?}", self.log.lock().unwrap());
    }
}

/// The versions in the header, the body and the name of the startup.
fn versions(client: &Client) -> [String; 3] {
    let reply = client.get("/api/v3/startups/mossworks");
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    let name = json["data"]["name"].as_str().unwrap();
    [reply.header("x-snapshot"), json["meta"]["snapshot"].as_str().unwrap(), name.strip_prefix("Mossworks ").unwrap()]
        .map(str::to_owned)
}

/// Stops the clients on drop, so that a failure ends the test.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_release_is_activated_without_lost_or_mixed_responses() {
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let key = installation.key();
    let server = installation.serve();
    let client = server.client(&key);
    assert_eq!(versions(&client), ["2026-11-20.1"; 3]);

    let stop = AtomicBool::new(false);
    let seen: [Mutex<Vec<String>>; 3] = Default::default();
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for seen in &seen {
            let (client, stop) = (server.client(&key), &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let [header, body, name] = versions(&client);
                    assert!(header == body && body == name, "{header} {body} {name}");
                    let mut seen = seen.lock().unwrap();
                    if seen.last() != Some(&name) {
                        seen.push(name);
                    }
                }
            });
        }
        let wait_for_all = |version: &str| {
            server.wait(|| seen.iter().all(|seen| seen.lock().unwrap().last().is_some_and(|last| last == version)))
        };
        wait_for_all("2026-11-20.1");
        for version in ["2026-11-21.1", "2026-11-22.1", "2026-11-23.1"] {
            installation.publish(version);
            wait_for_all(version);
        }
        installation.indexer(&["activate", "2026-11-21.1"]);
        wait_for_all("2026-11-21.1");
    });
    for seen in seen {
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen, ["2026-11-20.1", "2026-11-21.1", "2026-11-22.1", "2026-11-23.1", "2026-11-21.1"]);
    }
    assert_eq!(server.logged("rejected"), 0);
}

#[test]
fn a_damaged_release_is_rejected_once_and_activated_when_fixed() {
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let key = installation.key();
    let server = installation.serve();
    let client = server.client(&key);
    let releases = ReleaseStore::at(installation.index());
    installation.publish("2026-11-21.1");
    server.wait(|| server.logged("serving release 2026-11-21.1") == 1);
    installation.publish("2026-11-22.1");
    server.wait(|| server.logged("serving release 2026-11-22.1") == 1);
    installation.indexer(&["activate", "2026-11-20.1"]);
    server.wait(|| server.logged("serving release 2026-11-20.1") == 2);

    let damaged = "2026-11-25.1".parse().unwrap();
    let elsewhere = Installation::new();
    elsewhere.publish("2026-11-25.1");
    let from = ReleaseStore::at(elsewhere.index()).release_folder(damaged);
    fs::remove_file(from.join("text/people/format")).unwrap();
    let copied = Command::new("cp").arg("-r").arg(&from).arg(installation.index()).status().unwrap();
    assert!(copied.success());
    fs::write(installation.index().join("current"), "2026-11-25.1").unwrap();
    server.wait(|| server.logged("rejected: release 2026-11-25.1 is damaged: text/people/format is missing") == 1);
    assert_eq!(versions(&client), ["2026-11-20.1"; 3]);

    server.signal("-HUP");
    server.wait(|| server.logged("rejected") == 2);
    installation.publish("2026-11-25.1");
    server.wait(|| server.logged("serving release 2026-11-25.1") == 1);
    assert_eq!(versions(&client), ["2026-11-25.1"; 3]);
    assert_eq!(server.logged("rejected"), 2, "once, and once more on request: not at every poll");
    assert!(releases.open(damaged).is_ok());
}

#[test]
fn a_cursor_survives_a_swap_and_a_restart() {
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let key = installation.key();
    let server = installation.serve();
    let first = server.client(&key).get("/api/v3/vcs?limit=1&sort=name").json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    installation.publish("2026-11-21.1");
    server.wait(|| server.logged("serving release 2026-11-21.1") == 1);
    server.signal("-TERM");
    let mut server = server;
    assert!(server.child.wait().unwrap().success());
    drop(server);

    let server = installation.serve();
    let client = server.client(&key);
    assert_eq!(versions(&client)[0], "2026-11-21.1");
    let (mut cursor, mut slugs) = (cursor, vec![first["data"][0]["slug"].as_str().unwrap().to_owned()]);
    loop {
        let reply = client.get(&format!("/api/v3/vcs?cursor={cursor}"));
        assert_eq!((reply.status, reply.header("x-snapshot")), (200, "2026-11-20.1"), "{}", reply.text);
        slugs.extend(reply.slugs());
        match reply.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(slugs, ["birch-lane", "ostrava-ventures", "zoe-angels"]);
}
