//! What is refused though it is whole: releases that lost much, and releases that are not signed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::support::harness::copy_as;
use crate::support::installation::{Installation, overwrite, small};

/// The private key of the tests, and the public one of another pair, as openssl writes them.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEpFkdDn1L6uo8kUJ/53dBSW50LXHcPaNdJ+G+tPJe9q\n-----END PRIVATE KEY-----\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAWQscedaba58nm7jCh/+UVrI7YIRY8nOPErZXEkiZRNM=\n-----END PUBLIC KEY-----\n";
const OTHER: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAWh0EEdm1T/5z+K+qE2k4LLLg6HC6hiQ8s5b+mt4Jc9k=\n-----END PUBLIC KEY-----\n";

/// A further pair, which signs pointers.
const POINTER: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC\n-----END PRIVATE KEY-----\n";
const POINTER_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAgTl3Dqh9F19Wo1Rmw0x+zMuNipG07jeiXfYPW4/Js5Q=\n-----END PUBLIC KEY-----\n";

/// Keys in a folder.
pub(super) struct Keys(tempfile::TempDir);

impl Keys {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pointers = [("pointer", POINTER), ("pointer-public", POINTER_PUBLIC)];
        for (name, text) in [("private", PRIVATE), ("public", PUBLIC), ("other", OTHER)].into_iter().chain(pointers) {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Runs the indexer; its exit code and what it printed.
fn indexer(installation: &Installation, words: &[&str]) -> (Option<i32>, String) {
    let output = installation.command(env!("CARGO_BIN_EXE_indexer")).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn a_release_that_lost_more_than_a_fifth_of_a_table_is_published_only_by_force() {
    let installation = Installation::new();
    let dataset = |version: &str, people: usize| {
        let folder = copy_as(&small(), version);
        let lines = (0..people).map(|number| format!("person-{number},Person {number},Partner,firm,birch-lane,DE\n"));
        let head = "slug,name,title,organization_kind,organization,country\n".to_owned();
        fs::write(folder.path().join("people.csv"), head + &lines.collect::<String>()).unwrap();
        folder
    };
    let build = |version: &str, people: usize, more: &[&str]| {
        let folder = dataset(version, people);
        indexer(&installation, &[&["build", "--dataset", folder.path().to_str().unwrap()], more].concat())
    };
    assert_eq!(build("2026-11-20.1", 10, &[]).0, Some(0));
    assert_eq!(build("2026-11-21.1", 8, &[]).0, Some(0), "a fifth is not more than a fifth");
    let (code, text) = build("2026-11-22.1", 6, &[]);
    assert_eq!(code, Some(1));
    let expected = "error: release 2026-11-22.1 lost more than a fifth of what the current release 2026-11-21.1 has (people: 6 \
                    instead of 8, without person-6 person-7): check the dataset, or pass --force if it is right";
    assert!(text.contains(expected), "{text}");
    let current = || fs::read_to_string(installation.index().join("current")).unwrap().trim().to_owned();
    assert_eq!(current(), "2026-11-21.1");
    assert!(!installation.index().join("2026-11-22.1").exists());
    let (code, text) = build("2026-11-22.1", 0, &["--json"]);
    assert_eq!((code, text.contains("\"code\": \"shrunk\"")), (Some(1), true), "{text}");
    assert_eq!(build("2026-11-22.1", 6, &["--force"]).0, Some(0));
    assert_eq!(current(), "2026-11-22.1");
    assert_eq!(build("2026-11-22.1", 6, &[]).0, Some(0), "the same again loses nothing");

    // Back to a release with more rows, and forward again.
    assert_eq!(indexer(&installation, &["activate", "2026-11-20.1"]).0, Some(0));
    let (code, text) = indexer(&installation, &["activate", "2026-11-22.1"]);
    assert!(code == Some(1) && text.contains("people: 6 instead of 10") && text.contains("--force"), "{text}");
    assert_eq!(current(), "2026-11-20.1");
    assert_eq!(indexer(&installation, &["activate", "2026-11-22.1", "--force"]).0, Some(0));
    assert_eq!(current(), "2026-11-22.1");
}

#[test]
fn with_a_trusted_key_only_signed_releases_are_served_verified_and_activated() {
    let (installation, keys) = (Installation::new(), Keys::new());
    let key = installation.key();
    let (private, public, other) = (keys.path("private"), keys.path("public"), keys.path("other"));
    let build = |version: &str, more: &[&str]| {
        let folder = copy_as(&small(), version);
        indexer(&installation, &[&["build", "--dataset", folder.path().to_str().unwrap()], more].concat())
    };
    assert_eq!(build("2026-11-20.1", &[]).0, Some(0));
    let server = installation.serve_with(&["--trust-key", &public]);
    let client = server.client(&key);
    let ready = || client.get("/readyz").json();
    let unsigned = "release 2026-11-20.1 is not signed: build it again with `indexer build --sign-key FILE`, or name the key \
                    that belongs to its signature with --trust-key";
    assert_eq!(ready()["status"], "not_ready");
    assert!(ready()["reason"].as_str().unwrap().contains(unsigned), "{}", ready());
    let (code, text) = indexer(&installation, &["verify", "--trust-key", &public]);
    assert!(code == Some(1) && text.contains(unsigned), "{text}");
    assert_eq!(indexer(&installation, &["activate", "2026-11-20.1", "--trust-key", &public]).0, Some(1));

    let (code, text) = build("2026-11-20.1", &["--sign-key", &private]);
    assert!(code == Some(0) && text.contains("signed 2026-11-20.1 in "), "{text}");
    server.wait(|| ready()["status"] == "ready");
    let (code, text) = build("2026-11-20.1", &["--sign-key", &private]);
    assert!(code == Some(0) && text.contains("already published with the same content"), "{text}");
    assert_eq!(indexer(&installation, &["verify", "--trust-key", &public]).0, Some(0));
    let (code, text) = indexer(&installation, &["verify", "--json", "--trust-key", &other]);
    assert!(
        code == Some(1) && text.contains("not signed with the trusted key") && text.contains("\"untrusted\""),
        "{text}"
    );

    // A signature is of one manifest.
    assert_eq!(build("2026-11-21.1", &["--sign-key", &private]).0, Some(0));
    server.wait(|| ready()["snapshot"] == "2026-11-21.1");
    assert_eq!(build("2026-11-22.1", &[]).0, Some(0));
    server.wait(|| server.logged("rejected: release 2026-11-22.1 is not signed: ") == 1);
    let signature = |version: &str| installation.index().join(version).join("manifest.sig");
    fs::copy(signature("2026-11-21.1"), signature("2026-11-22.1")).unwrap();
    server.wait(|| server.logged("rejected: release 2026-11-22.1 is not signed with the trusted key") == 1);
    assert_eq!(ready()["snapshot"], "2026-11-21.1");
    // Without a trusted key signatures do not matter.
    assert_eq!(indexer(&installation, &["verify"]).0, Some(0));
}

#[test]
fn openssl_verifies_a_signature() {
    let (installation, keys) = (Installation::new(), Keys::new());
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("skipped: there is no openssl");
        return;
    }
    let private = keys.path("private");
    let words = ["build", "--dataset", small().to_str().unwrap(), "--sign-key", &private].map(str::to_owned);
    assert_eq!(indexer(&installation, &words.each_ref().map(String::as_str)).0, Some(0));
    let release = installation.index().join("2026-11-20.1");
    let file = |name: &str| release.join(name).to_str().unwrap().to_owned();
    let verify = |key: &str| {
        let words = ["pkeyutl", "-verify", "-pubin", "-rawin", "-inkey"];
        let files = ["-in", &file("manifest.json"), "-sigfile", &file("manifest.sig")].map(str::to_owned);
        Command::new("openssl").args(words).arg(keys.path(key)).args(files).output().unwrap().status.success()
    };
    assert!(verify("public") && !verify("other"));
}

#[test]
fn a_key_that_is_not_one_is_refused_by_both_programs() {
    let (installation, keys) = (Installation::new(), Keys::new());
    let (private, public) = (keys.path("private"), keys.path("public"));
    let dataset = small();
    let dataset = dataset.to_str().unwrap();
    let (code, text) = indexer(&installation, &["build", "--dataset", dataset, "--sign-key", &public]);
    assert!(code == Some(2) && text.contains("openssl genpkey -algorithm ed25519"), "{text}");
    assert!(!installation.index().exists());
    assert_eq!(indexer(&installation, &["build", "--dataset", dataset, "--sign-key", "/no/such"]).0, Some(3));
    assert_eq!(indexer(&installation, &["verify", "--trust-key", &private]).0, Some(2));
    let refused =
        installation.command(env!("CARGO_BIN_EXE_venturedex")).args(["--trust-key", &private]).output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(error.starts_with("error: --trust-key: ") && error.contains("openssl pkey -in FILE -pubout"), "{error}");
}

#[test]
fn files_that_are_not_part_of_a_release_are_named_and_never_read() {
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let extra: PathBuf = installation.index().join("2026-11-20.1/text/notes.txt");
    overwrite(&extra, b"not part of it");
    let (code, text) = indexer(&installation, &["verify"]);
    let warning = format!("warning: {} is not part of the release: remove it", extra.display());
    assert!(code == Some(0) && text.contains(&warning), "{text}");
    let (_, text) = indexer(&installation, &["verify", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["releases"][0]["unlisted"], json!(["text/notes.txt"]));
}
