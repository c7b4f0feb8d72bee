//! `GET /changes`: applied to a copy of the earlier release, the changes give the later one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use auth::quota::Tier;
use catalog::Catalog;
use flate2::read::GzDecoder;
use release::ReleaseStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::harness::{
    Client, Dice, Server, cases, catalog_of, code, copy_as, copy_with_few_reviews, real_data, wants_rounds,
};
use crate::support::installation::Installation;

pub const FIRST: &str = "2026-11-20.1";
pub const SECOND: &str = "2026-11-21.1";
pub const PATHS: [&str; 6] = ["vcs", "startups", "funding-rounds", "people", "reviews", "sectors"];

/// Records by path of their list and slug or id.
pub type Copy = BTreeMap<(String, String), Value>;

pub fn key_of(record: &Value) -> String {
    let key = record.get("slug").or_else(|| record.get("id"));
    key.and_then(Value::as_str).expect("each record has a slug or an id").to_owned()
}

/// All records of a release, walked page by page.
pub fn copy_of(client: &Client, version: &str) -> Copy {
    copy_of_lists(client, version, &PATHS)
}

/// The records of some lists of a release.
pub fn copy_of_lists(client: &Client, version: &str, paths: &[&'static str]) -> Copy {
    let mut copy = Copy::new();
    for path in paths.iter().copied() {
        for mut record in walk(client, &format!("{path}?fields=*&limit=1000&snapshot={version}")) {
            // Those of a startup are records of their own, and what is known of a record's history is no part of it.
            let fields = record.as_object_mut().unwrap();
            let joined: &[&str] = match path {
                "startups" => &["coverage_until", "rounds", "people"],
                "vcs" => &["coverage_until"],
                _ => &[],
            };
            for field in joined.iter().chain(&["first_seen", "changed_in"]) {
                assert!(fields.remove(*field).is_some(), "{path} have no {field}");
            }
            copy.insert((path.to_owned(), key_of(&record)), record);
        }
    }
    copy
}

/// The items of all pages of a list.
pub fn walk(client: &Client, path: &str) -> Vec<Value> {
    let (list, _) = path.split_once('?').unwrap();
    let mut page = client.get(&format!("/api/v3/{path}")).json();
    let mut items = Vec::new();
    loop {
        items.extend(page["data"].as_array().unwrap_or_else(|| panic!("{path}: {page}")).iter().cloned());
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        page = client.get(&format!("/api/v3/{list}?cursor={cursor}")).json();
    }
    assert_eq!(page["pagination"]["total"], items.len(), "{path}");
    items
}

/// What a program does with the changes.
fn apply(copy: &mut Copy, changes: &[Value]) {
    for change in changes {
        let key = (change["table"].as_str().unwrap().to_owned(), change["key"].as_str().unwrap().to_owned());
        match change["op"].as_str().unwrap() {
            "add" | "change" => drop(copy.insert(key, change["record"].clone())),
            "remove" | "merge" => drop(copy.remove(&key)),
            other => panic!("{other}"),
        }
    }
}

/// A CSV file of a dataset: its header and its rows.
struct Sheet {
    header: csv::StringRecord,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn read(folder: &Path, name: &str) -> Self {
        let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
        let header = reader.headers().unwrap().clone();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        Self { header, rows }
    }

    fn write(&self, folder: &Path, name: &str) {
        let mut writer = csv::Writer::from_path(folder.join(name)).unwrap();
        writer.write_record(&self.header).unwrap();
        self.rows.iter().for_each(|row| writer.write_record(row).unwrap());
        writer.flush().unwrap();
    }

    fn column(&self, name: &str) -> usize {
        self.header.iter().position(|column| column == name).unwrap()
    }

    /// Sets a column of each row that a die picks, one of `sides`.
    fn edit(&mut self, column: &str, dice: &mut Dice, sides: u64, edit: impl Fn(&str) -> String) {
        let column = self.column(column);
        for row in self.rows.iter_mut().filter(|_| dice.upto(sides) == 0) {
            row[column] = edit(&row[column]);
        }
    }

    /// Removes each row that a die picks, and returns the first column of these.
    fn remove_some(&mut self, dice: &mut Dice, sides: u64) -> BTreeSet<String> {
        let mut removed = BTreeSet::new();
        self.rows.retain(|row| {
            let stays = dice.upto(sides) > 0;
            stays || !removed.insert(row[0].clone())
        });
        removed
    }

    /// Removes the rows that name one of `gone` in a column; of a list of names only these.
    fn forget(&mut self, column: &str, gone: &BTreeSet<String>) {
        let index = self.column(column);
        match column.ends_with("investors") {
            false => self.rows.retain(|row| !gone.contains(&row[index])),
            true => self.rows.iter_mut().for_each(|row| {
                let stays: Vec<&str> = row[index].split('|').filter(|name| !gone.contains(*name)).collect();
                row[index] = stays.join("|");
            }),
        }
    }
}

/// Another release of the bundled dataset: rows are gone, merged, changed and new.
pub fn edit(folder: &Path, dice: &mut Dice) {
    for optional in ["identifiers.csv", "provenance.csv", "sources.csv", "redirects.csv"] {
        let _ = fs::remove_file(folder.join(optional));
    }
    let files = ["firms.csv", "startups.csv", "funding_rounds.csv", "people.csv", "reviews.csv", "sectors.csv"];
    let [mut firms, mut startups, mut rounds, mut people, mut reviews, mut sectors] =
        files.map(|name| Sheet::read(folder, name));
    let gone = firms.remove_some(dice, 40);
    for column in ["lead_investors", "investors"] {
        rounds.forget(column, &gone);
    }
    reviews.forget("firm", &gone);
    people.forget("organization", &gone);
    let merged: Vec<(String, String)> =
        gone.iter().filter(|_| dice.upto(2) == 0).map(|slug| (slug.clone(), firms.rows[0][0].clone())).collect();
    let closed = startups.remove_some(dice, 40);
    rounds.forget("startup", &closed);
    people.forget("organization", &closed);
    firms.edit("city", dice, 15, |city| format!("New {city}"));
    firms.edit("check_max_usd", dice, 15, |_| String::new());
    startups.edit("name", dice, 15, |name| format!("{name} II"));
    rounds.edit("amount_usd", dice, 15, |_| "1234567".to_owned());
    rounds.remove_some(dice, 30);
    people.edit("title", dice, 15, |_| "Advisor".to_owned());
    people.remove_some(dice, 30);
    reviews.edit("status", dice, 8, |status| if status == "approved" { "pending" } else { "approved" }.to_owned());
    reviews.remove_some(dice, 30);
    sectors.edit("description", dice, 3, |_| "Described otherwise".to_owned());
    let mut person = people.rows[0].clone();
    (person[0], person[1]) = ("a-new-person".to_owned(), "A New Person".to_owned());
    people.rows.push(person);
    let mut startup = startups.rows[0].clone();
    (startup[0], startup[1]) = ("a-new-startup".to_owned(), "A New Startup".to_owned());
    startups.rows.push(startup);
    let sheets = [firms, startups, rounds, people, reviews, sectors];
    files.iter().zip(sheets).for_each(|(name, sheet)| sheet.write(folder, name));
    let lines: String = merged.iter().map(|(slug, target)| format!("firm,{slug},{target}\n")).collect();
    fs::write(folder.join("redirects.csv"), format!("kind,slug,target\n{lines}")).unwrap();
}

/// Releases of these versions, `seed` decides how they differ.
pub fn releases<const N: usize>(versions: [&str; N], seed: u64) -> [Catalog; N] {
    releases_of(copy_with_few_reviews, versions, seed)
}

fn releases_of<const N: usize>(dataset: impl Fn(&str) -> TempDir, versions: [&str; N], seed: u64) -> [Catalog; N] {
    let mut dice = Dice(seed);
    versions.map(|version| {
        let copy = dataset(version);
        edit(copy.path(), &mut dice);
        catalog_of(copy.path())
    })
}

/// A server that holds two releases, which all tests share.
pub fn two_releases() -> (Server, Client) {
    static RELEASES: OnceLock<[Arc<Catalog>; 2]> = OnceLock::new();
    serve_both(RELEASES.get_or_init(|| releases([FIRST, SECOND], 1).map(Arc::new)))
}

/// The same with other differences.
pub fn two_releases_of(seed: u64) -> (Server, Client) {
    if seed == 1 { two_releases() } else { serve_both(&releases([FIRST, SECOND], seed).map(Arc::new)) }
}

fn serve_both([first, second]: &[Arc<Catalog>; 2]) -> (Server, Client) {
    let server = Server::of(Arc::clone(first));
    server.state.releases.replace(Arc::clone(second));
    let client = server.client(Tier::Enterprise);
    (server, client)
}

#[test]
fn changes_applied_to_a_copy_give_the_other_release() {
    for seed in 1..=u64::from(cases(3, 1)) {
        let (_server, client) = two_releases_of(seed);
        let (first, second) = (copy_of(&client, FIRST), copy_of(&client, SECOND));
        for (from, to, before, after) in [(FIRST, SECOND, &first, &second), (SECOND, FIRST, &second, &first)] {
            let limit = 1 + seed * 30 % 100;
            let changes = walk(&client, &format!("changes?from={from}&to={to}&limit={limit}"));
            let mut copy = before.clone();
            apply(&mut copy, &changes);
            assert_eq!(&copy, after, "seed {seed}, {from} to {to}");
            check_each(&changes, before, after);
            let operations: BTreeSet<&str> = changes.iter().map(|change| change["op"].as_str().unwrap()).collect();
            assert!(operations.is_superset(&BTreeSet::from(["add", "change", "remove"])), "{operations:?}");
        }
        let same = client.get(&format!("/api/v3/changes?from={SECOND}")).json();
        assert_eq!((&same["data"], &same["pagination"]["total"]), (&serde_json::json!([]), &0.into()));
    }
}

#[test]
fn changes_applied_to_a_copy_of_a_real_release_give_the_others() {
    if !wants_rounds() {
        return eprintln!("skipped: a minute or more; VENTUREDEX_TEST_ROUNDS=all runs it");
    }
    let Some(folder) = real_data() else { return };
    let versions = [FIRST, SECOND, "2026-11-22.1"];
    let [first, second, third] = releases_of(|version| copy_as(&folder, version), versions, 7);
    let server = Server::of(first);
    server.state.releases.replace(Arc::new(second));
    server.state.releases.replace(Arc::new(third));
    let client = server.client(Tier::Enterprise);
    let [first, second, third] = versions.map(|version| copy_of(&client, version));
    for (from, to, before, after) in [
        (versions[0], versions[1], &first, &second),
        (versions[1], versions[2], &second, &third),
        (versions[0], versions[2], &first, &third),
    ] {
        let changes = walk(&client, &format!("changes?from={from}&to={to}&limit=1000"));
        assert!(changes.len() > 1_000, "{}", changes.len());
        let mut copy = before.clone();
        apply(&mut copy, &changes);
        assert!(&copy == after, "{from} to {to}");
    }
}

/// Each change says what is true of both releases, and there is no other.
fn check_each(changes: &[Value], before: &Copy, after: &Copy) {
    let mut keys = BTreeSet::new();
    for change in changes {
        let key = (change["table"].as_str().unwrap().to_owned(), change["key"].as_str().unwrap().to_owned());
        let (old, new) = (before.get(&key), after.get(&key));
        match change["op"].as_str().unwrap() {
            "add" => assert!(old.is_none() && new == Some(&change["record"]), "{change}"),
            "change" => {
                let (old, new) = (old.unwrap(), new.unwrap());
                let differing = old.as_object().unwrap().iter().filter(|(name, value)| new[*name] != **value);
                let differing: BTreeMap<&str, &Value> = differing.map(|(name, value)| (name.as_str(), value)).collect();
                let fields: Vec<&str> =
                    change["fields"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
                assert_eq!(
                    fields.iter().copied().collect::<BTreeSet<_>>(),
                    differing.keys().copied().collect(),
                    "{change}"
                );
                assert_eq!(change["before"], serde_json::to_value(&differing).unwrap());
                assert!(!fields.is_empty() && change["record"] == *new);
            }
            "remove" => assert!(old.is_some() && new.is_none() && change["record"].is_null(), "{change}"),
            _ => {
                assert!(old.is_some() && new.is_none(), "{change}");
                let target = change["merged_into"].as_str().unwrap().to_owned();
                assert!(after.contains_key(&(key.0.clone(), target)), "{change}");
            }
        }
        assert!(keys.insert(key), "{change} is there twice");
    }
    let all: BTreeSet<_> = before.keys().chain(after.keys()).cloned().collect();
    for key in all.difference(&keys) {
        assert_eq!(before.get(key), after.get(key), "{key:?} has no change");
    }
}

#[test]
fn tables_operations_and_fields_select_changes() {
    let (_server, client) = two_releases();
    let all = walk(&client, &format!("changes?from={FIRST}&limit=100"));
    for table in PATHS {
        let own: Vec<_> = all.iter().filter(|change| change["table"] == table).cloned().collect();
        assert_eq!(walk(&client, &format!("changes?from={FIRST}&table={table}&limit=37")), own, "{table}");
    }
    for operation in ["add", "change", "remove", "merge", "remove,merge"] {
        let own: Vec<_> =
            all.iter().filter(|change| operation.contains(change["op"].as_str().unwrap())).cloned().collect();
        assert!(!own.is_empty(), "{operation}");
        assert_eq!(walk(&client, &format!("changes?from={FIRST}&op={operation}&limit=50")), own, "{operation}");
    }
    assert_eq!(walk(&client, &format!("changes?from={FIRST}&table=firms,Funding_Rounds&limit=100")).len(), {
        all.iter().filter(|change| change["table"] == "vcs" || change["table"] == "funding-rounds").count()
    });
    // A change of another field is left out, and records have the selected fields only.
    let cities = walk(&client, &format!("changes?from={FIRST}&table=vcs,startups&fields=slug,city&limit=9"));
    let expected: Vec<&Value> = all
        .iter()
        .filter(|change| change["table"] == "vcs" || change["table"] == "startups")
        .filter(|change| change["op"] != "change" || change["fields"].as_array().unwrap().contains(&"city".into()))
        .collect();
    assert!(cities.iter().any(|change| change["op"] == "change"));
    assert_eq!(cities.len(), expected.len());
    for (change, whole) in cities.iter().zip(expected) {
        assert_eq!((&change["key"], &change["op"]), (&whole["key"], &whole["op"]));
        if let Some(record) = change["record"].as_object() {
            assert_eq!(record.keys().collect::<Vec<_>>(), ["city", "slug"]);
            assert_eq!(record["city"], whole["record"]["city"]);
        }
    }
    // Only firms have this field; nested fields are compared alone.
    let scores = walk(&client, &format!("changes?from={FIRST}&fields=score.value&op=change&limit=100"));
    assert!(scores.iter().all(|change| change["table"] == "vcs"));
    let of_scores = all.iter().filter(|change| {
        change["before"]["score"].is_object()
            && change["before"]["score"]["value"] != change["record"]["score"]["value"]
    });
    assert_eq!(scores.len(), of_scores.count());
}

#[test]
fn errors_of_changes_say_how_to_correct_them() {
    let (_server, client) = two_releases();
    let get = |query: &str| client.get(&format!("/api/v3/changes{query}"));
    let first = |query: &str| get(query).json()["errors"][0].clone();
    let error = first("");
    assert_eq!((error["parameter"].as_str(), error["code"].as_str()), (Some("from"), Some("invalid_parameter")));
    assert!(error["detail"].as_str().unwrap().contains("meta.snapshot"));
    for (query, parameter, nearest) in [
        ("?from=2026-11-20.1&table=starups", "table", "startups"),
        ("?from=2026-11-20.1&op=changed", "op", "change"),
        ("?from=2026-11-20.1&fields=citty", "fields", "city"),
    ] {
        let error = first(query);
        assert_eq!(
            (error["parameter"].as_str(), error["did_you_mean"].as_str()),
            (Some(parameter), Some(nearest)),
            "{query}"
        );
    }
    assert_eq!(first("?from=yesterday")["code"], "invalid_parameter");
    assert_eq!(code(&get("?from=2026-11-20.1&sort=name")), (400, "unknown_parameter".to_owned()));
    let missing = get("?from=2020-01-01.1");
    assert_eq!(code(&missing), (410, "snapshot_not_held".to_owned()));
    assert_eq!(missing.json()["errors"][0]["accepted"], serde_json::json!([SECOND, FIRST]));
    // A cursor carries its query; another query with it is an error.
    let page = get("?from=2026-11-20.1&limit=1&table=people").json();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    assert_eq!(get(&format!("?cursor={cursor}")).status, 200);
    assert_eq!(get(&format!("?cursor={cursor}&from={FIRST}&table=people&limit=3")).status, 200);
    assert_eq!(code(&get(&format!("?cursor={cursor}&table=vcs"))), (400, "cursor_mismatch".to_owned()));
    assert_eq!(code(&get(&format!("?cursor={cursor}&from={SECOND}"))), (400, "cursor_mismatch".to_owned()));
    assert_eq!(code(&client.get(&format!("/api/v3/vcs?cursor={cursor}"))), (400, "invalid_cursor".to_owned()));
}

#[test]
fn releases_and_rounds_have_feeds() {
    let (server, client) = two_releases();
    let anonymous = server.anonymous();
    let counts = |table: &str| {
        let total = |op: &str| {
            let page = client.get(&format!("/api/v3/changes?from={FIRST}&table={table}&op={op}")).json();
            page["pagination"]["total"].as_u64().unwrap()
        };
        (total("add"), total("change"), total("remove,merge"))
    };
    let (new, changed, gone) = counts("funding-rounds");
    let page = anonymous.get("/releases");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let plain = page.text.replace(',', "");
    let row = format!(
        "Funding rounds</th><td class=\"right\">{new}</td><td class=\"right\">{changed}</td><td class=\"right\">{gone}</td>"
    );
    assert!(plain.contains(&row), "{row}: {plain}");
    let json = anonymous.get("/releases.json");
    assert_eq!(json.header("content-type"), "application/feed+json");
    let feed = json.json();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    let items = feed["items"].as_array().unwrap();
    let titles: Vec<&str> = items.iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert_eq!(titles, [format!("Release {SECOND}"), format!("Release {FIRST}")]);
    let text = items[0]["content_text"].as_str().unwrap().replace(',', "");
    assert!(text.contains(&format!("Funding rounds: {new} new {changed} changed {gone} gone or merged.")), "{text}");
    // The same entries as Atom.
    let atom = anonymous.get("/releases.atom");
    assert_eq!(atom.header("content-type"), "application/atom+xml; charset=utf-8");
    for item in items {
        assert!(atom.text.contains(&format!("<id>{}</id>", item["id"].as_str().unwrap())), "{}", atom.text);
    }

    let rounds = anonymous.get("/rounds/feed.json?stage=seed&min_amount_usd=1").json();
    let listed =
        client.get("/api/v3/funding-rounds?stage=seed&min_amount_usd=1&limit=50&fields=id,startup,announced_on").json();
    let ids: Vec<String> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| format!("/api/v3/funding-rounds/{}", round["id"].as_str().unwrap()))
        .collect();
    let entries = rounds["items"].as_array().unwrap();
    assert_eq!(entries.len(), ids.len());
    for ((entry, id), round) in entries.iter().zip(&ids).zip(listed["data"].as_array().unwrap()) {
        assert!(entry["id"].as_str().unwrap().ends_with(id), "{entry}");
        assert!(entry["title"].as_str().unwrap().starts_with(round["startup"]["name"].as_str().unwrap()), "{entry}");
        assert!(entry["title"].as_str().unwrap().contains("Seed $"), "{entry}");
        // A day is published only if it is known; when the service got to know of it always is.
        let day = round["announced_on"].as_str().filter(|date| date.len() == 10).map(|day| format!("{day}T00:00:00Z"));
        assert_eq!(entry.get("date_published").and_then(Value::as_str), day.as_deref(), "{entry}");
        assert!(entry["date_modified"].as_str().is_some_and(|date| date.ends_with("T00:00:00Z")), "{entry}");
    }
    assert_eq!(anonymous.get("/rounds.atom?stge=seed").status, 400);
}

#[test]
fn the_bulk_file_of_changes_is_what_the_api_lists() {
    let installation = Installation::new();
    let mut dice = Dice(11);
    let versions = [FIRST, "2026-11-20.2", SECOND];
    for version in versions {
        let copy = copy_with_few_reviews(version);
        edit(copy.path(), &mut dice);
        installation.indexer(&["build", "--bulk", "--force", "--dataset", copy.path().to_str().unwrap()]);
    }
    let releases = ReleaseStore::at(installation.index());
    let [first, others @ ..] =
        versions.map(|version| Arc::new(releases.open(version.parse().unwrap()).unwrap().catalog));
    let server = Server::of(first);
    others.into_iter().for_each(|release| server.state.releases.replace(release));
    let client = server.client(Tier::Enterprise);
    let bulk = installation.index().join(SECOND).join("bulk");
    for since in [FIRST, "2026-11-20.2"] {
        let file = fs::File::open(bulk.join(format!("changes-since-{since}.ndjson.gz"))).unwrap();
        let lines = BufReader::new(GzDecoder::new(file)).lines();
        let changes: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert!(changes.len() > 100);
        assert_eq!(changes, walk(&client, &format!("changes?from={since}&limit=1000")), "{since}");
    }
    // The first release has none before it.
    let first = fs::read_dir(installation.index().join(FIRST).join("bulk")).unwrap();
    assert!(first.into_iter().all(|file| !file.unwrap().file_name().to_str().unwrap().starts_with("changes")));
}
