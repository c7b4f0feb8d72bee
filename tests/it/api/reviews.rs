//! Reviews: those that are approved are listed and found. Of others it is known that they wait, and nothing that they say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use auth::quota::Tier;
use serde_json::{Map, Value, json};

use crate::api::changes::walk;
use crate::api::records::csv;
use crate::support::harness::{Server, bundled_folder, catalog_of, code, copy_as};
use crate::support::installation::Installation;

const VERSION: &str = "2026-11-20.1";

/// The columns of `reviews.csv` that a reviewer fills.
const CONTENT: [&str; 8] = ["stage", "rating", "responsiveness", "fairness", "value_add", "ghosted", "title", "body"];

/// The bundled dataset, in which the reviews of some statuses say what `say` makes of the row's number, on some other day
/// of their month.
fn dataset(statuses: &[&str], say: impl Fn(usize) -> [String; 8]) -> tempfile::TempDir {
    let folder = copy_as(&bundled_folder(), VERSION);
    let place = folder.path().join("reviews.csv");
    let mut reader = csv::Reader::from_path(&place).unwrap();
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&place).unwrap();
    writer.write_record(&header).unwrap();
    let mut changed = 0;
    for (number, row) in rows.into_iter().enumerate() {
        let mut row: Vec<String> = row.iter().map(str::to_owned).collect();
        if statuses.contains(&row[column("status")].as_str()) {
            for (name, text) in CONTENT.iter().zip(say(number)) {
                row[column(name)] = text;
            }
            let month = row[column("created_on")][..8].to_owned();
            row[column("created_on")] = format!("{month}{:02}", 1 + number % 15);
            changed += 1;
        }
        writer.write_record(&row).unwrap();
    }
    writer.flush().unwrap();
    assert!(changed > 100, "{statuses:?}: {changed}");
    folder
}

/// The bytes of each file of a release, by path; of its manifest all but when it was built. Without the text indexes, whose files
/// have random names: they have names and descriptions, and no reviews.
fn release_of(dataset: &Path) -> BTreeMap<String, Vec<u8>> {
    let installation = Installation::new();
    installation.indexer(&["build", "--bulk", "--dataset", dataset.to_str().unwrap()]);
    let folder = installation.index().join(VERSION);
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.file_name() == Some("text".as_ref()) => {}
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
                    assert!(files.insert(name, fs::read(path).unwrap()).is_none());
                }
            }
        }
    }
    let mut manifest: Map<String, Value> = serde_json::from_slice(&files["manifest.json"]).unwrap();
    manifest.remove("built_at").unwrap();
    manifest.remove("sha256").unwrap();
    let is_text = |file: &Value| file["path"].as_str().unwrap().starts_with("text/");
    manifest["files"].as_array_mut().unwrap().retain(|file| !is_text(file));
    files.insert("manifest.json".to_owned(), serde_json::to_vec(&manifest).unwrap());
    files
}

fn differing<'a>(one: &'a BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) -> Vec<&'a str> {
    assert!(one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
    one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name.as_str()).collect()
}

fn bad(number: usize) -> [String; 8] {
    let text = format!("Accusation {number}");
    ["seed", "1", "1", "1", "", "true", &text, &text].map(str::to_owned)
}

fn good(number: usize) -> [String; 8] {
    let text = format!("Praise {number}");
    ["", "5", "", "4", "5", if number.is_multiple_of(2) { "false" } else { "" }, &text, ""].map(str::to_owned)
}

/// The fields of a pending review that are known, sorted.
const SHOWN: [&str; 4] = ["created_on", "id", "status", "vc"];

fn known(review: &Value) -> Vec<&str> {
    let mut known: Vec<&str> = review
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, _)| name.as_str())
        .collect();
    known.sort_unstable();
    known
}

/// All that is served comes from the files of a release: pages, lists, counts, orders, searches and downloads.
#[test]
fn no_byte_of_a_release_depends_on_what_an_unapproved_review_says() {
    let unapproved = ["pending", "rejected"];
    let one = release_of(dataset(&unapproved, bad).path());
    let other = release_of(dataset(&unapproved, good).path());
    assert_eq!(differing(&one, &other), Vec::<&str>::new());
    let approved = release_of(dataset(&["approved"], good).path());
    assert!(differing(&one, &approved).contains(&"tables.bin"), "the comparison sees reviews that are approved");
}

#[test]
fn a_pending_review_shows_in_every_version_only_that_it_waits() {
    let server = Server::of(catalog_of(dataset(&["pending"], bad).path()));
    let client = server.client(Tier::Enterprise);
    let pending = walk(&client, "reviews?status=pending&fields=*&limit=1000");
    assert!(pending.len() > 100);
    for review in &pending {
        assert_eq!(known(review), SHOWN, "{review}");
        assert_eq!(review["created_on"].as_str().unwrap().len(), "2026-11".len(), "{review}");
    }
    for version in ["v1", "v2"] {
        let reply = client.get(&format!("/api/{version}/reviews?status=pending&limit=100")).json();
        assert_eq!(reply["pagination"]["total"], pending.len());
        for (row, review) in reply["data"].as_array().unwrap().iter().zip(&pending) {
            assert_eq!(known(row), SHOWN, "{row}");
            assert_eq!(row["created_on"], format!("{}-01", review["created_on"].as_str().unwrap()), "{row}");
        }
    }
    let total =
        |query: &str| client.get(&format!("/api/v3/reviews?{query}&limit=1")).json()["pagination"]["total"].clone();
    for condition in
        ["ghosted=true", "min_rating=1", "max_rating=1", "stage=seed", "not_stage=debt", "known=responsiveness"]
    {
        assert_eq!(total(&format!("status=pending&{condition}")), 0, "{condition}");
    }
    for property in ["ghosted", "rating", "stage", "responsiveness", "fairness", "value_add"] {
        assert_eq!(total(&format!("status=pending&unknown={property}")), pending.len(), "{property}");
        let group = client.get(&format!("/api/v3/reviews/aggregate?status=pending&group_by={property}"));
        if group.status == 200 {
            assert_eq!(group.json()["data"]["groups"][0]["values"], json!([]), "{property}: {}", group.text);
        }
    }
    let id = pending[0]["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/api/v3/reviews/{id}")).status, 404);
}

#[test]
fn an_exclusion_lists_no_reviews_that_are_not_listed_without_it() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |path: &str| client.get(path).json()["pagination"]["total"].as_u64().unwrap();
    let (approved, pending) = (total("/api/v3/reviews"), total("/api/v3/reviews?status=pending"));
    for excluded in ["rejected", "pending", "pending,rejected"] {
        assert_eq!(total(&format!("/api/v3/reviews?not_status={excluded}")), approved, "{excluded}");
    }
    assert_eq!(total("/api/v3/reviews?status=approved,pending&not_status=approved"), pending);
    assert_eq!(total("/api/v1/reviews?not_status=rejected"), approved + pending);
    assert_eq!(total("/api/v2/reviews?not_status=approved"), pending);
    let nothing = client.get("/api/v3/reviews?not_status=approved").json();
    assert_eq!(nothing["pagination"]["total"], 0);
    let warning = &nothing["meta"]["warnings"][0];
    assert_eq!((&warning["code"], &warning["parameter"]), (&json!("no_match"), &json!("not_status")), "{nothing}");
    let aggregate = client.get("/api/v3/reviews/aggregate?group_by=status&not_status=rejected").json();
    assert_eq!(aggregate["data"]["total"], approved, "{aggregate}");
}

#[test]
fn a_review_is_found_exactly_if_it_is_approved() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut seen = BTreeMap::<String, usize>::new();
    for review in csv("reviews.csv") {
        let (id, status) = (&review["id"], &review["status"]);
        let count = seen.entry(status.clone()).or_default();
        *count += 1;
        if *count > 30 {
            continue;
        }
        let reply = client.get(&format!("/api/v3/reviews/{id}"));
        match status.as_str() {
            "approved" => assert_eq!((reply.status, &reply.json()["data"]["id"]), (200, &json!(id))),
            _ => {
                assert_eq!(code(&reply), (404, "not_found".to_owned()), "{id}");
                let suggested = reply.json()["did_you_mean"].clone();
                for near in suggested.as_array().into_iter().flatten() {
                    assert_eq!(client.get(&format!("/api/v3/reviews/{}", near.as_str().unwrap())).status, 200);
                }
            }
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/reviews/rv-0000001");
        assert_eq!(code(&client.get(&path)), (404, "unknown_route".to_owned()));
    }
}

#[test]
fn v3_lists_only_approved_reviews_by_default() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let total = |path: &str| client.get(path).json()["pagination"]["total"].as_u64().unwrap();
    let (old, new) = (total("/api/v1/reviews"), total("/api/v3/reviews"));
    let pending = total("/api/v3/reviews?status=pending");
    assert!(pending > 0 && new > 0);
    assert_eq!(old, new + pending);
    assert_eq!(total("/api/v2/reviews?status=approved"), new);
    assert_eq!(total("/api/v3/reviews?status=rejected"), 0);
    let row = client.get("/api/v1/reviews?status=pending&limit=1").json()["data"][0].clone();
    assert_eq!((&row["title"], &row["body"]), (&Value::Null, &Value::Null));
}
