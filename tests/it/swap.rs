//! The server as a process: a release published beside it is taken up without a request lost or mixed, a damaged one is
//! refused, and a restart breaks no walk.

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

/// An index and a data folder, with the operator's commands over them.
struct House {
    folder: TempDir,
}

impl House {
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

    fn run(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn indexer(&self, words: &[&str]) -> String {
        self.run(env!("CARGO_BIN_EXE_indexer"), words)
    }

    /// Publishes the small dataset as `version`; its startup `mossworks` then bears the version in its name.
    fn publish(&self, version: &str) {
        let dataset = copy_as(&small(), version);
        let startups = dataset.path().join("startups.csv");
        let text = fs::read_to_string(&startups).unwrap();
        fs::write(startups, text.replace("mossworks,Mossworks,", &format!("mossworks,Mossworks {version},"))).unwrap();
        self.indexer(&["build", "--dataset", dataset.path().to_str().unwrap()]);
    }

    /// A key without a limit.
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
        let mut greeting = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let base = greeting.find_map(|line| line.trim().strip_prefix("REST").map(|rest| rest.trim().to_owned()));
        let base = base.unwrap_or_else(|| panic!("no address: {:?}", log.lock().unwrap()));
        // Who stops reading must not make the server fail.
        std::thread::spawn(move || greeting.for_each(drop));
        Serving { child, log, base: base.trim_end_matches("/api/v3").to_owned() }
    }
}

/// A running server; it is killed when this is dropped.
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

    fn logged(&self, words: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| line.contains(words)).count()
    }

    /// Waits until `so`; answers how long that took. A machine under load gets more than is promised.
    #[track_caller]
    fn wait(&self, so: impl Fn() -> bool) -> Duration {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(120) {
            if so() {
                return began.elapsed();
            }
            sleep(Duration::from_millis(10));
        }
        panic!("still not so: {:?}", self.log.lock().unwrap());
    }
}

/// What a request for the startup says: the version of the header, of the body, and of the name.
fn versions(client: &Client) -> [String; 3] {
    let reply = client.get("/api/v3/startups/mossworks");
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    let name = json["data"]["name"].as_str().unwrap();
    [reply.header("x-snapshot"), json["meta"]["snapshot"].as_str().unwrap(), name.strip_prefix("Mossworks ").unwrap()]
        .map(str::to_owned)
}

/// Ends those who ask when it is dropped, so that a failure ends the test.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_release_is_taken_up_without_a_request_lost_or_mixed() {
    let house = House::new();
    house.publish("2026-11-20.1");
    let key = house.key();
    let server = house.serve();
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
        let all_see = |version: &str| {
            server.wait(|| seen.iter().all(|seen| seen.lock().unwrap().last().is_some_and(|last| last == version)))
        };
        all_see("2026-11-20.1");
        for version in ["2026-11-21.1", "2026-11-22.1", "2026-11-23.1"] {
            house.publish(version);
            all_see(version);
        }
        house.indexer(&["activate", "2026-11-21.1"]);
        all_see("2026-11-21.1");
    });
    for seen in seen {
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen, ["2026-11-20.1", "2026-11-21.1", "2026-11-22.1", "2026-11-23.1", "2026-11-21.1"]);
    }
    assert_eq!(server.logged("refused"), 0);
}

#[test]
fn a_damaged_release_is_refused_once_and_taken_up_when_it_is_mended() {
    let house = House::new();
    house.publish("2026-11-20.1");
    let key = house.key();
    let server = house.serve();
    let client = server.client(&key);
    let releases = ReleaseStore::at(house.index());
    house.publish("2026-11-21.1");
    server.wait(|| server.logged("serving release 2026-11-21.1") == 1);
    house.publish("2026-11-22.1");
    server.wait(|| server.logged("serving release 2026-11-22.1") == 1);
    house.indexer(&["activate", "2026-11-20.1"]);
    server.wait(|| server.logged("serving release 2026-11-20.1") == 2);

    let damaged = "2026-11-25.1".parse().unwrap();
    let elsewhere = House::new();
    elsewhere.publish("2026-11-25.1");
    let from = ReleaseStore::at(elsewhere.index()).release_folder(damaged);
    fs::remove_file(from.join("text/people/format")).unwrap();
    let copied = Command::new("cp").arg("-r").arg(&from).arg(house.index()).status().unwrap();
    assert!(copied.success());
    fs::write(house.index().join("current"), "2026-11-25.1").unwrap();
    server.wait(|| server.logged("refused: release 2026-11-25.1 is damaged: text/people/format is missing") == 1);
    assert_eq!(versions(&client), ["2026-11-20.1"; 3]);

    server.signal("-HUP");
    server.wait(|| server.logged("refused") == 2);
    house.publish("2026-11-25.1");
    server.wait(|| server.logged("serving release 2026-11-25.1") == 1);
    assert_eq!(versions(&client), ["2026-11-25.1"; 3]);
    assert_eq!(server.logged("refused"), 2, "once, and once more when asked for: not at every look");
    assert!(releases.open(damaged).is_ok());
}

#[test]
fn a_walk_goes_on_through_a_swap_and_a_restart() {
    let house = House::new();
    house.publish("2026-11-20.1");
    let key = house.key();
    let server = house.serve();
    let first = server.client(&key).get("/api/v3/vcs?limit=1&sort=name").json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    house.publish("2026-11-21.1");
    server.wait(|| server.logged("serving release 2026-11-21.1") == 1);
    server.signal("-TERM");
    let mut server = server;
    assert!(server.child.wait().unwrap().success());
    drop(server);

    let server = house.serve();
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
