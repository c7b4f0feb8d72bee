//! A published release is activated without lost or mixed responses, a damaged one is rejected, and cursors survive a
//! restart.

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use venturedex::release::ReleaseStore;

use crate::harness::Client;
use crate::releases::{Installation, Stop};

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
