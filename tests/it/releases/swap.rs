//! A published release is activated without lost or mixed responses, a damaged one is rejected, and cursors survive a
//! restart.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use release::ReleaseStore;

use crate::support::harness::{Client, rounds, runs};
use crate::support::installation::{Installation, Serving, Stop};

/// The versions in the header, the body and the name of the startup.
fn versions(client: &Client) -> [String; 3] {
    let reply = client.get("/api/v3/startups/mossworks");
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    let name = json["data"]["name"].as_str().unwrap();
    [reply.header("x-snapshot"), json["meta"]["snapshot"].as_str().unwrap(), name.strip_prefix("Mossworks ").unwrap()]
        .map(str::to_owned)
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

/// Requests as fast as one connection allows, over many swaps; each response is checked for being of one release.
#[test]
fn no_response_fails_or_mixes_releases_over_many_swaps() {
    let (requests, swaps) = (rounds(1_000_000, 2_000) as u64, rounds(100, 4));
    let installation = Installation::new();
    let days: Vec<String> = (1..=4).map(|day| format!("2026-11-0{day}.1")).collect();
    days.iter().for_each(|version| installation.publish(version));
    let key = installation.key();
    let server = installation.serve();
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for number in 0..2_u64 {
            let (mut connection, stop, answers) = (Connection::to(&server, &key), &stop, &answers);
            scope.spawn(move || {
                for turn in 0_u64.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    // One in four is not cached.
                    let path = match turn % 4 {
                        0 => format!(
                            "/api/v3/startups?q=mossworks&max_raised_usd={}",
                            900_000_000_000 + 2 * turn + number
                        ),
                        1 => "/api/v3/startups?q=mossworks".to_owned(),
                        2 => "/api/v3/startups?slug=mossworks".to_owned(),
                        _ => "/api/v3/startups?sort=-name&limit=2".to_owned(),
                    };
                    let [header, body, name] = connection.versions(&path);
                    assert!(header == body && body == name, "{path}: {header} {body} {name}");
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for swap in 0..swaps {
            // The last one is served at first.
            installation.indexer(&["activate", &days[swap % days.len()]]);
            server.wait(|| server.logged("serving release ") == swap + 2);
            let share = requests * (swap as u64 + 1) / swaps as u64;
            let begun = Instant::now();
            while answers.load(Ordering::Relaxed) < share {
                assert!(begun.elapsed() < Duration::from_secs(600), "the clients stopped: {answers:?} of {share}");
                sleep(Duration::from_millis(5));
            }
        }
    });
    eprintln!("{} responses over {swaps} swaps: none failed, none mixed", answers.into_inner());
    assert_eq!(server.logged("rejected"), 0);
}

/// A connection that stays open, without the cost of a client library.
struct Connection {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Connection {
    fn to(server: &Serving, key: &str) -> Self {
        let stream = TcpStream::connect(server.base.trim_start_matches("http://")).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), key: key.to_owned() }
    }

    /// The versions in the header, in `meta` and in the name of the startup `mossworks`.
    fn versions(&mut self, path: &str) -> [String; 3] {
        let Self { stream, key } = self;
        write!(stream.get_mut(), "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n")
            .unwrap();
        let (mut line, mut length, mut header) = (String::new(), 0, String::new());
        stream.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n", "{path}");
        loop {
            line.clear();
            stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name {
                "content-length" => length = value.parse().unwrap(),
                "x-snapshot" => header = value.to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        let after = |text: &str, mark: &str| {
            let rest = text.split_once(mark).unwrap_or_else(|| panic!("{path}: {text}")).1;
            rest.split('"').next().unwrap().to_owned()
        };
        [header, after(&body, "\"snapshot\":\""), after(&body, "\"name\":\"Mossworks ")]
    }
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
    // By a rename: a poll that finds the file empty is a rejection of its own.
    let next = installation.index().join("next");
    fs::write(&next, "2026-11-25.1").unwrap();
    fs::rename(next, installation.index().join("current")).unwrap();
    let rejected = "rejected: release 2026-11-25.1 is damaged: text/people/format is missing";
    server.wait(|| server.logged(rejected) == 1);
    assert_eq!(versions(&client), ["2026-11-20.1"; 3]);

    server.signal("-HUP");
    server.wait(|| server.logged(rejected) == 2);
    installation.publish("2026-11-25.1");
    server.wait(|| server.logged("serving release 2026-11-25.1") == 1);
    assert_eq!(versions(&client), ["2026-11-25.1"; 3]);
    assert_eq!(server.logged(rejected), 2, "once, and once more on request: not at every poll");
    assert!(releases.open(damaged).is_ok());
}

#[test]
fn as_many_releases_are_held_as_the_operator_says() {
    let installation = Installation::new();
    let days = ["2026-11-20.1", "2026-11-21.1", "2026-11-22.1"];
    days.iter().for_each(|version| installation.publish(version));
    let key = installation.key();
    for keep in 0..=2 {
        let server = installation.serve_with(&["--keep-releases", &keep.to_string()]);
        let client = server.client(&key);
        let held = || client.get("/readyz").json()["held"].clone();
        // The newest ones after a start, those served last after a swap.
        assert_eq!(held(), serde_json::json!(days.iter().rev().take(keep + 1).collect::<Vec<_>>()));
        let first = client.get("/api/v3/vcs?limit=1").json();
        let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
        installation.indexer(&["activate", days[0]]);
        server.wait(|| client.get("/readyz").json()["snapshot"] == days[0]);
        let expected: Vec<&str> = [days[0], days[2], days[1]].into_iter().take(keep + 1).collect();
        assert_eq!(held(), serde_json::json!(expected));
        let reply = client.get(&format!("/api/v3/vcs?cursor={cursor}"));
        assert_eq!(reply.status, if keep == 0 { 410 } else { 200 }, "{keep}: {}", reply.text);
        let pinned = client.get(&format!("/api/v3/vcs?snapshot={}", days[1]));
        assert_eq!(pinned.status, if keep < 2 { 410 } else { 200 }, "{keep}: {}", pinned.text);
        installation.indexer(&["activate", days[2]]);
    }
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

#[test]
fn a_server_ends_although_its_index_does_not_answer() {
    if !runs("strace", &["-qq", "true"]) {
        return;
    }
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let current = installation.index().join("current");
    // As a network file system that is away: to open `current` takes half a minute from the third time on.
    let mut traced = installation.command("strace");
    traced.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", "inject=openat:delay_enter=30s:when=3+", "-P"]);
    let server = Serving::start(traced.arg(current).arg(env!("CARGO_BIN_EXE_venturedex")));
    sleep(Duration::from_secs(3));
    let status = format!("/proc/{}/status", server.child.id());
    let text = fs::read_to_string(&status).unwrap();
    let tracer = text.lines().find_map(|line| line.strip_prefix("TracerPid:")).unwrap().trim().to_owned();
    server.signal("-TERM");
    let stopped = Instant::now();
    // The thread that opens it is held by strace for half a minute; the program ends without it, which makes it a zombie.
    server.wait(|| fs::read_to_string(&status).unwrap().contains("State:\tZ"));
    assert!(stopped.elapsed() < Duration::from_secs(20), "{:?}", stopped.elapsed());
    // Without strace, nobody has to wait for that thread any longer.
    assert!(Command::new("kill").args(["-KILL", &tracer]).status().unwrap().success());
}
