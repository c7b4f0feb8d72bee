//! Object stores that were restored, frozen or written to by strangers: replicas notice, serve on, and recover by one command.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::releases::policy::Keys;
use crate::support::harness::{Client, copy_as};
use crate::support::installation::{Installation, Serving, small};

/// Publishers and replicas of one object store.
struct Fleet {
    store: TempDir,
    work: TempDir,
    keys: Keys,
}

/// A server that follows the store.
struct Replica {
    installation: Installation,
    server: Serving,
    metrics: Client,
    settings: Vec<String>,
}

impl Fleet {
    fn new() -> Self {
        Self { store: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap(), keys: Keys::new() }
    }

    fn place(&self) -> String {
        format!("file://{}", self.store.path().display())
    }

    fn current(&self) -> PathBuf {
        self.store.path().join("current")
    }

    /// Runs the indexer with the cache of this name; its exit code and what it printed.
    fn indexer(&self, cache: &str, words: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
        command.env("VENTUREDEX_INDEX", self.place()).env("VENTUREDEX_CACHE", self.work.path().join(cache));
        let output = command.args(words).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    /// Builds the small dataset as a version, to be served at once.
    fn build(&self, cache: &str, version: &str, more: &[&str]) -> (Option<i32>, String) {
        let dataset = copy_as(&small(), version);
        let words = ["build", "--activate-in", "0", "--dataset", dataset.path().to_str().unwrap()];
        self.indexer(cache, &[&words, more].concat())
    }

    /// Like [`Fleet::build`], with a signed release and a signed pointer. Must succeed.
    #[track_caller]
    fn publish(&self, cache: &str, version: &str, more: &[&str]) {
        let (private, pointer) = (self.keys.path("private"), self.keys.path("pointer"));
        let words = ["--sign-key", &private, "--pointer-key", &pointer];
        let (code, text) = self.build(cache, version, &[&words, more].concat());
        assert_eq!(code, Some(0), "{text}");
    }

    #[track_caller]
    fn renew(&self, valid_for: &str) {
        let pointer = self.keys.path("pointer");
        let (code, text) = self.indexer("none", &["renew", "--pointer-key", &pointer, "--valid-for", valid_for]);
        assert_eq!(code, Some(0), "{text}");
    }

    fn serve(&self, settings: &[&str]) -> Replica {
        let installation = Installation::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let (place, cache) = (self.place(), installation.index());
        let environment = [
            ("VENTUREDEX_INDEX", &*place),
            ("VENTUREDEX_CACHE", cache.to_str().unwrap()),
            ("VENTUREDEX_METRICS_LISTEN", &*port),
            ("VENTUREDEX_POLL_INTERVAL", "50"),
        ];
        let server = installation.serve_in(&environment, settings);
        let settings = settings.iter().map(|word| (*word).to_owned()).collect();
        let metrics = Client::at(&format!("http://{port}"), "");
        Replica { installation, server, metrics, settings }
    }

    /// Waits until the replica reports what is wrong in the log, in its metrics, at `/readyz` and through the doctor. `part`
    /// of the message has not been logged before.
    #[track_caller]
    fn is_noticed_by(&self, replica: &Replica, fault: &str, part: &str) {
        let Replica { server, .. } = replica;
        server.wait(|| replica.ready()["reason"].as_str().is_some_and(|reason| reason.contains(part)));
        assert_eq!(replica.ready()["status"], "degraded");
        server.wait(|| server.logged(part) == 1);
        let line = server.log_line(part).unwrap();
        assert!(line.contains("WARN") && line.contains("the object store is not believed"), "{line}");
        let series = format!("venturedex_object_store_pointer_faults_total{{fault=\"{fault}\"}}");
        let counted = replica.metric(&series);
        assert!(counted > 0.0, "{series} {counted}");
        let findings = self.doctor(replica);
        for check in ["index.pointer", "server.ready"] {
            let finding = findings.iter().find(|finding| finding["check"] == check).expect(check);
            assert_eq!(finding["status"], "problem", "{finding}");
            assert!(finding["detail"].as_str().unwrap().contains(part), "{finding}");
        }
        // It goes on to be reported, but is not logged again.
        server.wait(|| replica.metric(&series) > counted + 2.0);
        assert_eq!(server.logged(part), 1);
    }

    fn doctor(&self, replica: &Replica) -> Vec<Value> {
        let address = replica.server.base.strip_prefix("http://").unwrap();
        let mut doctor = replica.installation.command(env!("CARGO_BIN_EXE_venturedex"));
        doctor.env("VENTUREDEX_INDEX", self.place()).env("VENTUREDEX_CACHE", replica.installation.index());
        doctor.args(["doctor", "--json", "--listen", address]).args(&replica.settings);
        let output = doctor.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        report["findings"].as_array().unwrap().clone()
    }
}

impl Replica {
    fn ready(&self) -> Value {
        self.server.client("").get("/readyz").json()
    }

    #[track_caller]
    fn awaits(&self, version: &str) {
        self.server.wait(|| {
            let ready = self.ready();
            ready["snapshot"] == version && ready["status"] == "ready"
        });
    }

    fn metric(&self, series: &str) -> f64 {
        let text = self.metrics.get("/metrics").text;
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
        value.unwrap_or_else(|| panic!("no {series} in {text}"))
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_restored_bucket_is_noticed_and_recovered_and_signatures_are_required_once_there_was_a_delegation() {
    let fleet = Fleet::new();
    let [private, public, pointer_public] = ["private", "public", "pointer-public"].map(|name| fleet.keys.path(name));
    let delegate = || fleet.indexer("none", &["delegate", "--sign-key", &private, "--key", &pointer_public]);
    assert_eq!(delegate().0, Some(0));
    fleet.publish("job", "2026-11-20.1", &[]);
    let backup = fs::read(fleet.current()).unwrap();
    fleet.publish("job", "2026-11-20.2", &[]);
    fleet.publish("job", "2026-11-20.3", &[]);
    let replica = fleet.serve(&["--trust-key", &public]);
    replica.awaits("2026-11-20.3");
    let findings = fleet.doctor(&replica);
    let finding = findings.iter().find(|finding| finding["check"] == "index.pointer").unwrap();
    let detail = finding["detail"].as_str().unwrap();
    assert!(finding["status"] == "ok" && detail.contains("generation 3, valid until"), "{finding}");
    assert!(replica.metric("venturedex_object_store_pointer_expiry_seconds") > unix_seconds() as f64);

    // Restored: noticed before and after somebody publishes again.
    fs::write(fleet.current(), &backup).unwrap();
    fleet.is_noticed_by(&replica, "lower", "has generation 1, below 3");
    fleet.publish("fresh", "2026-11-20.4", &[]);
    replica.server.wait(|| replica.ready()["reason"].as_str().unwrap().contains("has generation 2, below 3"));
    assert_eq!(replica.ready()["snapshot"], "2026-11-20.3");
    let (code, text) = fleet.build("job", "2026-11-20.4", &["--pointer-key", &fleet.keys.path("pointer")]);
    let expected = "`current` has generation 2, although generation 3 was pushed to";
    assert!(code == Some(1) && text.contains(expected) && text.contains("--recover"), "{text}");
    fleet.publish("job", "2026-11-20.4", &["--recover"]);
    replica.awaits("2026-11-20.4");
    replica.server.wait(|| replica.server.logged("is believed again") == 1);

    // Unsigned.
    let signed = fs::read(fleet.current()).unwrap();
    let (code, text) = fleet.build("job", "2026-11-20.5", &["--sign-key", &private]);
    assert!(code == Some(1) && text.contains("pass --pointer-key FILE"), "{text}");
    let mut forged: Value = serde_json::from_slice(&signed).unwrap();
    let mut content = forged["signed"].take();
    content["generation"] = json!(99);
    fs::write(fleet.current(), content.to_string()).unwrap();
    fleet.is_noticed_by(&replica, "untrusted", "is not signed, although a delegation names the keys");
    // Gone.
    fs::remove_file(fleet.current()).unwrap();
    fleet.is_noticed_by(&replica, "missing", "is gone; it had generation");
    fs::write(fleet.current(), &signed).unwrap();
    replica.awaits("2026-11-20.4");

    // A whole bucket that is empty, and a publisher without memory.
    for entry in fs::read_dir(fleet.store.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    replica.server.wait(|| replica.ready()["status"] == "degraded");
    assert_eq!(delegate().0, Some(0));
    fleet.publish("other", "2026-11-20.5", &["--recover"]);
    replica.awaits("2026-11-20.5");
}

#[test]
fn a_pointer_that_is_not_renewed_is_noticed_and_one_that_is_out_of_date_is_not_followed() {
    let fleet = Fleet::new();
    let [private, public, pointer_public] = ["private", "public", "pointer-public"].map(|name| fleet.keys.path(name));
    let delegate = ["delegate", "--sign-key", &private, "--key", &pointer_public];
    assert_eq!(fleet.indexer("none", &delegate).0, Some(0));
    fleet.publish("job", "2026-11-20.1", &[]);
    let good = fs::read(fleet.current()).unwrap();
    fleet.publish("job", "2026-11-20.2", &["--valid-for", "1s"]);
    let published = unix_seconds();
    let expired = fs::read(fleet.current()).unwrap();
    fs::write(fleet.current(), &good).unwrap();
    let replica = fleet.serve(&["--trust-key", &public]);
    replica.awaits("2026-11-20.1");
    replica.server.wait(|| unix_seconds() > published + 1);
    fs::write(fleet.current(), &expired).unwrap();
    fleet.is_noticed_by(&replica, "expired", "and is out of date");
    assert_eq!(replica.ready()["snapshot"], "2026-11-20.1");
    fleet.renew("1h");
    replica.awaits("2026-11-20.2");

    fleet.renew("1s");
    let series = "venturedex_object_store_pointer_faults_total{fault=\"frozen\"}";
    replica.server.wait(|| replica.metric(series) > 0.0);
    let ready = replica.ready();
    assert_eq!((&ready["status"], &ready["snapshot"]), (&json!("degraded"), &json!("2026-11-20.2")));
    assert!(ready["reason"].as_str().unwrap().contains("run `indexer renew`"), "{ready}");
    let findings = fleet.doctor(&replica);
    let finding = findings.iter().find(|finding| finding["check"] == "index.pointer").unwrap();
    assert_eq!(finding["status"], "problem", "{finding}");
    fleet.renew("7d");
    replica.awaits("2026-11-20.2");
    let (code, text) = fleet.indexer("none", &["list"]);
    assert!(code == Some(0) && text.contains(", valid until "), "{text}");
}

#[test]
fn without_keys_rollbacks_and_impossible_generations_are_noticed_and_recovered() {
    let fleet = Fleet::new();
    let build = |version: &str, more: &[&str]| fleet.build("job", version, more);
    assert_eq!(build("2026-11-20.1", &[]).0, Some(0));
    let first: Value = serde_json::from_slice(&fs::read(fleet.current()).unwrap()).unwrap();
    let forged = |generation: u64| {
        let mut pointer = first.clone();
        pointer["generation"] = json!(generation);
        fs::write(fleet.current(), pointer.to_string()).unwrap();
    };
    assert_eq!(build("2026-11-20.2", &[]).0, Some(0));
    let replica = fleet.serve(&[]);
    replica.awaits("2026-11-20.2");
    forged(99);
    fleet.is_noticed_by(&replica, "older", "names release 2026-11-20.1, older than 2026-11-20.2");
    forged(u64::MAX);
    fleet.is_noticed_by(&replica, "implausible", "has generation 18446744073709551615");
    assert_eq!(replica.ready()["snapshot"], "2026-11-20.2");
    assert_eq!(replica.metric("venturedex_object_store_generation"), 2.0);
    let (code, text) = build("2026-11-20.3", &[]);
    let expected = "has generation 18446744073709551615, which is above 9007199254740992";
    assert!(code == Some(1) && text.contains(expected) && text.contains("--recover"), "{text}");
    let (code, text) = build("2026-11-20.3", &["--recover"]);
    assert!(code == Some(0) && text.contains("generation 1, served from"), "{text}");
    replica.awaits("2026-11-20.3");
    // Back on purpose, and forward again.
    let activate = |version: &str| fleet.indexer("job", &["activate", version, "--activate-in", "0"]);
    assert_eq!(activate("2026-11-20.1").0, Some(0));
    replica.awaits("2026-11-20.1");
    assert_eq!(activate("2026-11-20.3").0, Some(0));
    replica.awaits("2026-11-20.3");
    // Commands that need an object store say so.
    let folder = fleet.work.path().join("folder");
    let words = ["renew", "--pointer-key", &fleet.keys.path("pointer"), "--index", folder.to_str().unwrap()];
    let (code, text) = fleet.indexer("none", &words);
    assert!(code == Some(2) && text.contains("name an object store, such as s3://"), "{text}");
}

#[test]
fn a_build_waits_until_servers_serve_the_release_and_names_those_that_do_not() {
    let fleet = Fleet::new();
    assert_eq!(fleet.build("job", "2026-11-20.1", &[]).0, Some(0));
    let replica = fleet.serve(&[]);
    replica.awaits("2026-11-20.1");
    let url = &replica.server.base;
    let (code, text) = fleet.build("job", "2026-11-20.2", &["--wait-for", url]);
    assert!(code == Some(0) && text.contains(&format!("{url} serves 2026-11-20.2\n")), "{text}");
    assert_eq!(replica.ready()["snapshot"], "2026-11-20.2");

    // Another server does not answer, and this one does not believe what it finds.
    let silent = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let current = fs::read_to_string(fleet.current()).unwrap();
    fs::write(fleet.current(), current.replace("\"generation\":2", "\"generation\":0")).unwrap();
    let words = ["--wait-for", url, "--wait-for", &silent, "--wait-limit", "2s"];
    let (code, text) = fleet.build("fresh", "2026-11-20.3", &[&words, &["--json"][..]].concat());
    assert_eq!(code, Some(5), "{text}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&result["ok"], &result["code"]), (&json!(false), &json!("not_served")));
    assert_eq!(result["servers"][0]["serves"], "2026-11-20.2");
    let message = result["message"].as_str().unwrap();
    let expected =
        format!("2026-11-20.3 is published, but not served by all after 2 seconds: {url} serves 2026-11-20.2");
    assert!(message.starts_with(&expected), "{message}");
    assert!(message.contains(&format!("{silent} serves nothing (no answer: ")), "{message}");
    let (code, text) = fleet.build("fresh", "2026-11-20.3", &["--recover", "--wait-for", url]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(replica.ready()["snapshot"], "2026-11-20.3");
    let (code, text) = fleet.build("fresh", "2026-11-20.4", &["--wait-for", "localhost"]);
    assert!(code == Some(2) && text.contains("not an http or https URL"), "{text}");
}
