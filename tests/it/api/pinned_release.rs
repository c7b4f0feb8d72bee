//! `snapshot` pins a release: each v3 endpoint then answers as it did while that release was served, for as long as the
//! release is held.

use std::fs;
use std::sync::{Arc, OnceLock};

use auth::quota::Tier;
use catalog::Catalog;
use serde_json::{Value, json};

use crate::support::harness::{Client, Reply, Server, bundled_folder, catalog_of, code, copy_as, next_release};
use crate::support::installation::small;

const FIRST: &str = "2026-11-20.1";

/// The first release, which all tests share: the bundled data without reviews and with another name for a firm, so that most
/// responses differ from those of the next.
fn first() -> Arc<Catalog> {
    static FIRST_RELEASE: OnceLock<Arc<Catalog>> = OnceLock::new();
    Arc::clone(FIRST_RELEASE.get_or_init(|| Arc::new(release(FIRST))))
}

fn release(version: &str) -> Catalog {
    let copy = copy_as(&bundled_folder(), version);
    let reviews = copy.path().join("reviews.csv");
    let header = fs::read_to_string(&reviews).unwrap().lines().next().unwrap().to_owned();
    fs::write(reviews, format!("{header}\n")).unwrap();
    let firms = copy.path().join("firms.csv");
    let text = fs::read_to_string(&firms).unwrap().replacen("Alder Capital", &format!("Alder {version}"), 1);
    fs::write(firms, text).unwrap();
    catalog_of(copy.path())
}

/// Requests to every kind of v3 endpoint that depends on the data.
const PATHS: [&str; 16] = [
    "vcs?limit=7",
    "vcs?q=alder&explain=true",
    "vcs?slug=alder-capital,alder-capital-partners",
    "vcs/alder-capital",
    "vcs/alder-capital?include=reviews,score_by_year,portfolio",
    "vcs/alder-capital/reviews",
    "vcs/alder-capital/co-investors?limit=2",
    "vcs/facets?country=US",
    "leaderboard",
    "match?stage=seed",
    "startups?limit=3",
    "funding-rounds?amounts=true&limit=1",
    "funding-rounds/r-0000001",
    "people?limit=2",
    "suggest?q=alder",
    "stats",
];

fn pinned(path: &str, version: &str) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("/api/v3/{path}{mark}snapshot={version}")
}

fn content(reply: &Reply) -> (u16, String, String, String) {
    let header = |name: &str| reply.header(name).to_owned();
    (reply.status, reply.text.clone(), header("etag"), header("x-snapshot"))
}

#[test]
fn a_pinned_release_answers_as_it_did_when_it_was_served() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    let get = |path: &str| content(&client.get(&format!("/api/v3/{path}")));
    let before: Vec<_> = PATHS.iter().map(|path| get(path)).collect();
    for (path, response) in PATHS.iter().zip(&before) {
        // The served release may be named, too, and is the same resource.
        assert_eq!(content(&client.get(&pinned(path, "2026-11-20.1"))), *response, "{path}");
    }
    server.state.releases.replace(next_release());
    let mut changed = 0;
    for (path, response) in PATHS.iter().zip(&before) {
        let now = get(path);
        assert_eq!((now.0, now.3.as_str()), (200, "2026-11-21.1"));
        // What did not change keeps its ETag.
        let is_same = now.1.replace("2026-11-21.1", "2026-11-20.1") == response.1;
        assert_eq!(now.2 == response.2, is_same, "{path}");
        changed += usize::from(now.1 != response.1);
        // Computed, cached by the second request, and from the cache.
        for _ in 0..4 {
            assert_eq!(content(&client.get(&pinned(path, "2026-11-20.1"))), *response, "{path}");
            assert_eq!(get(path), now, "{path}");
        }
        let known = client.send("GET", &pinned(path, "2026-11-20.1"), &[("if-none-match", &response.2)]);
        assert_eq!((known.status, known.header("x-snapshot")), (304, "2026-11-20.1"), "{path}");
        let other = client.send("GET", &pinned(path, "2026-11-20.1"), &[("if-none-match", &now.2)]);
        assert_eq!(other.status, if now.2 == response.2 { 304 } else { 200 }, "{path}");
    }
    assert_eq!(changed, PATHS.len(), "`meta` names the release");
    // A record that only one of the releases has.
    let review = client.get("/api/v3/reviews?limit=1").slugs().remove(0);
    assert_eq!(client.get(&format!("/api/v3/reviews/{review}")).status, 200);
    let pinned = client.get(&pinned(&format!("reviews/{review}"), "2026-11-20.1"));
    assert_eq!((code(&pinned), pinned.header("x-snapshot")), ((404, "not_found".to_owned()), "2026-11-20.1"));
}

fn follow(client: &Client, mut path: String, version: &str) -> Vec<String> {
    let mut slugs = Vec::new();
    loop {
        let reply = client.get(&path);
        assert_eq!((reply.status, reply.header("x-snapshot")), (200, version), "{}", reply.text);
        slugs.extend(reply.slugs());
        match reply.json()["pagination"]["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v3/vcs?cursor={cursor}"),
            None => return slugs,
        }
    }
}

#[test]
fn a_cursor_stays_in_the_pinned_release() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    let before = follow(&client, "/api/v3/vcs?limit=50".to_owned(), "2026-11-20.1");
    server.state.releases.replace(next_release());
    assert_ne!(follow(&client, "/api/v3/vcs?limit=50".to_owned(), "2026-11-21.1"), before);
    assert_eq!(follow(&client, pinned("vcs?limit=50", "2026-11-20.1"), "2026-11-20.1"), before);

    let first = client.get(&pinned("vcs?limit=50", "2026-11-20.1")).json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let agreeing = client.get(&pinned(&format!("vcs?cursor={cursor}"), "2026-11-20.1"));
    assert_eq!(agreeing.text, client.get(&format!("/api/v3/vcs?cursor={cursor}")).text);
    let other = client.get(&pinned(&format!("vcs?cursor={cursor}"), "2026-11-21.1"));
    assert_eq!(code(&other), (400, "cursor_mismatch".to_owned()));
    assert!(other.json()["detail"].as_str().unwrap().contains("2026-11-20.1"), "{}", other.text);
}

#[test]
fn a_release_that_is_not_held_is_gone_and_the_held_ones_are_named() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    for _ in 0..3 {
        assert_eq!(client.get(&pinned("stats", "2026-11-20.1")).status, 200);
    }
    // The harness holds three releases in addition to the served one.
    for counter in 2..6 {
        let copy = copy_as(&small(), &format!("2026-11-20.{counter}"));
        server.state.releases.replace(Arc::new(catalog_of(copy.path())));
    }
    for path in PATHS.iter().chain(&["snapshots", "usage"]) {
        let reply = client.get(&pinned(path, "2026-11-20.1"));
        assert_eq!(code(&reply), (410, "snapshot_not_held".to_owned()), "{path}: {}", reply.text);
        assert_eq!(reply.header("cache-control"), "no-store");
        let held = ["2026-11-20.5", "2026-11-20.4", "2026-11-20.3", "2026-11-20.2"];
        let error = &reply.json()["errors"][0];
        assert_eq!((&error["parameter"], &error["accepted"]), (&json!("snapshot"), &json!(held)));
    }
    let held = client.get("/api/v3/snapshots?snapshot=2026-11-20.3").json();
    let serving: Vec<&Value> =
        held["data"].as_array().unwrap().iter().filter(|release| release["serving"] == true).collect();
    assert_eq!((serving.len(), &serving[0]["version"]), (1, &json!("2026-11-20.5")));
    assert_eq!(client.get("/api/v3/usage?snapshot=2026-11-20.3").header("x-snapshot"), "2026-11-20.3");
}

#[test]
fn a_malformed_snapshot_is_reported_with_the_other_faults() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let served = server.state.releases.current().version().to_string();
    for value in ["latest", "2026-13-01.1", "2026-11-20.0", "2026-11-20.x", "-1"] {
        for path in PATHS {
            let reply = client.get(&pinned(path, value));
            assert_eq!(code(&reply), (400, "invalid_parameter".to_owned()), "{path} {value}");
            assert!(reply.json()["detail"].as_str().unwrap().contains(&served), "{}", reply.text);
        }
    }
    let several = client.get(&format!("/api/v3/stats?snapshot={served}&snapshot=2020-01-01.1"));
    assert_eq!(code(&several), (400, "invalid_parameter".to_owned()));
    let faults = client.get("/api/v3/vcs?snapshot=latest&limit=0&x=1&fields=nam").json();
    let names: Vec<&str> =
        faults["errors"].as_array().unwrap().iter().map(|error| error["parameter"].as_str().unwrap()).collect();
    assert!(["snapshot", "limit", "x", "fields"].iter().all(|name| names.contains(name)), "{names:?}");
    for version in ["v1", "v2"] {
        let reply = client.get(&format!("/api/{version}/vcs?snapshot=2020-01-01.1"));
        assert_eq!((reply.status, &reply.json()["meta"]["warnings"][0]["code"]), (200, &json!("unknown_parameter")));
    }
    // Without a key nothing else is checked, and OPTIONS is answered whatever the query.
    assert_eq!(server.anonymous().get("/api/v3/vcs?snapshot=latest").status, 401);
    assert_eq!(client.send("OPTIONS", "/api/v3/vcs?snapshot=latest", &[]).status, 204);
}

/// Other data as a release of another day.
fn release_of(day: &str) -> Arc<Catalog> {
    let copy = copy_as(&small(), &format!("{day}.1"));
    let place = copy.path().join("snapshot.toml");
    let text = fs::read_to_string(&place).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("released_on"));
    let lines: Vec<String> =
        std::iter::once(format!("released_on = \"{day}\"")).chain(lines.map(str::to_owned)).collect();
    fs::write(&place, lines.join("\n")).unwrap();
    Arc::new(catalog_of(copy.path()))
}

#[test]
fn a_day_selects_the_newest_release_until_then() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    for day in ["2026-11-27", "2026-12-04"] {
        server.state.releases.replace(release_of(day));
    }
    let version_of = |day: &str| {
        let reply = client.get(&format!("/api/v3/vcs?limit=3&as_of={day}"));
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.json()["meta"]["snapshot"], reply.header("x-snapshot"));
        reply.header("x-snapshot").to_owned()
    };
    for _ in 0..3 {
        for (day, version) in [
            ("2026-11-20", "2026-11-20.1"),
            ("2026-11-26", "2026-11-20.1"),
            ("2026-11-27", "2026-11-27.1"),
            ("2026-11", "2026-11-27.1"),
            ("2026-12-04", "2026-12-04.1"),
            ("2099", "2026-12-04.1"),
        ] {
            assert_eq!(version_of(day), version, "{day}");
        }
    }
    let early = client.get("/api/v3/vcs?as_of=2026-11-19");
    assert_eq!(code(&early), (410, "snapshot_not_held".to_owned()));
    let error = &early.json()["errors"][0];
    assert_eq!((&error["parameter"], error["accepted"].as_array().unwrap().len()), (&json!("as_of"), 3));
    for query in ["as_of=soon", "as_of=2026-11-20&snapshot=2026-11-20.1", "as_of=2026&as_of=2025"] {
        let reply = client.get(&format!("/api/v3/vcs?{query}"));
        assert_eq!(code(&reply), (400, "invalid_parameter".to_owned()), "{query}");
        assert_eq!(reply.json()["errors"][0]["parameter"], "as_of", "{query}");
    }
    let page = client.get("/api/v3/vcs?limit=50&as_of=2026-11-20").json();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let other = client.get(&format!("/api/v3/vcs?cursor={cursor}&as_of=2026-12-04"));
    assert_eq!(code(&other), (400, "cursor_mismatch".to_owned()));
    assert_eq!(client.get(&format!("/api/v3/vcs?cursor={cursor}&as_of=2026-11-20")).status, 200);
}

#[test]
fn a_withdrawn_release_is_selected_by_its_version_only() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    let version_of = |query: &str| {
        let reply = client.get(&format!("/api/v3/vcs?limit=1&{query}"));
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.header("x-snapshot").to_owned()
    };
    for day in ["2026-11-27", "2026-12-04", "2026-11-27"] {
        server.state.releases.replace(release_of(day));
    }
    for day in ["2026-11-27", "2026-12-04", "2099"] {
        assert_eq!(version_of(&format!("as_of={day}")), "2026-11-27.1", "{day}");
    }
    assert_eq!(version_of("snapshot=2026-12-04.1"), "2026-12-04.1");
    // A later release does not bring it back.
    server.state.releases.replace(release_of("2026-12-11"));
    for (day, version) in [("2026-12-05", "2026-11-27.1"), ("2099", "2026-12-11.1"), ("2026-11-20", "2026-11-20.1")] {
        assert_eq!(version_of(&format!("as_of={day}")), version, "{day}");
    }
}

#[test]
fn a_release_that_is_not_held_hides_no_other_fault() {
    let server = Server::of(first());
    let client = server.client(Tier::Enterprise);
    for (path, faults) in [
        ("vcs?as_of=2001-01-01&limit=0", &["limit", "as_of"][..]),
        ("vcs?snapshot=2001-01-01.1&stage=sede&limit=x", &["limit", "stage", "snapshot"]),
        ("vcs?snapshot=2001-01-01.1&fields=nam", &["fields", "snapshot"]),
        ("stats?as_of=2001&x=1", &["x", "as_of"]),
        ("changes?from=2001-01-01.1&limit=0", &["limit", "from"]),
        ("changes?from=2001-01-01.1&to=2001-01-02.1&op=chang", &["op", "from"]),
    ] {
        let reply = client.get(&format!("/api/v3/{path}"));
        assert_eq!(reply.status, 400, "{path}: {}", reply.text);
        let errors = reply.json()["errors"].clone();
        let named: Vec<&str> = errors.as_array().unwrap().iter().map(|e| e["parameter"].as_str().unwrap()).collect();
        assert_eq!(named, faults, "{path}");
        assert_eq!(errors[faults.len() - 1]["code"], "snapshot_not_held", "{path}");
    }
}
