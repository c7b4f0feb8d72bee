//! Reviews: those that are approved are listed and found. Of others it is known that they wait, and nothing that they say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use auth::quota::Tier;
use mcp::Tool;
use serde_json::{Map, Value, json};

use crate::api::changes::walk;
use crate::api::records::csv;
use crate::mcp::tools::TestTools;
use crate::support::harness::{Server, catalog_of, code, copy_with_few_reviews};
use crate::support::html::{Markup, parse, text_of};
use crate::support::installation::Installation;
use crate::support::two_firms;

const VERSION: &str = "2026-11-20.1";

/// The columns of `reviews.csv` that a release has for approved reviews only, or never.
const CONTENT: [&str; 17] = [
    "stage",
    "rating",
    "responsiveness",
    "fairness",
    "value_add",
    "ghosted",
    "title",
    "body",
    "role",
    "contact_month",
    "proof",
    "author",
    "author_since",
    "reply",
    "replied_on",
    "disputed_on",
    "cleared",
];

/// The bundled dataset with few reviews, of which those of some statuses say what `say` makes of the row's number, on some
/// other day of their month.
fn dataset(statuses: &[&str], say: impl Fn(usize) -> [String; 17]) -> tempfile::TempDir {
    let folder = copy_with_few_reviews(VERSION);
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
    assert!(changed > 50, "{statuses:?}: {changed}");
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

fn bad(number: usize) -> [String; 17] {
    let (text, author) = (format!("Accusation {number}"), format!("{number:032x}"));
    let content = ["seed", "1", "1", "1", "", "true", &text, &text, "founder", "2019-02", "email", &author];
    [&content[..], &["2019-01-05", &text, "", "", "true"]].concat().try_into().map(own).unwrap()
}

fn good(number: usize) -> [String; 17] {
    let text = format!("Praise {number}");
    let ghosted = if number.is_multiple_of(2) { "false" } else { "" };
    let content = ["", "5", "", "4", "5", ghosted, &text, "", "other", "", "confirmed", ""];
    [&content[..], &["", "", "", "", ""]].concat().try_into().map(own).unwrap()
}

fn own(texts: [&str; 17]) -> [String; 17] {
    texts.map(str::to_owned)
}

/// The bundled dataset with few reviews and another value of columns of each of them, by its number.
fn with(columns: &[&str], value: impl Fn(&str, usize) -> String) -> tempfile::TempDir {
    let folder = copy_with_few_reviews(VERSION);
    let place = folder.path().join("reviews.csv");
    let mut reader = csv::Reader::from_path(&place).unwrap();
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&place).unwrap();
    writer.write_record(&header).unwrap();
    for (number, row) in rows.into_iter().enumerate() {
        let cell = |(name, text): (&str, &str)| match columns.contains(&name) {
            true => value(name, number),
            false => text.to_owned(),
        };
        writer.write_record(header.iter().zip(row.iter()).map(cell)).unwrap();
    }
    writer.flush().unwrap();
    folder
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
fn no_byte_of_a_release_depends_on_who_wrote_a_review() {
    let (one, other) = (
        with(&["author"], |_, number| format!("{number:032x}")),
        with(&["author"], |_, number| format!("b{number:040}")),
    );
    assert_eq!(differing(&release_of(one.path()), &release_of(other.path())), Vec::<&str>::new());
}

#[test]
fn a_disputed_review_is_neither_published_nor_counted_and_days_are_published_from_five_reviews_on() {
    let header = "id,firm,rating,status,created_on,replied_on,reply,disputed_on\n";
    let review =
        |id: u32, disputed: &str| format!("v-{id},alder,4,approved,2025-03-0{id},2025-04-1{id},Thanks,{disputed}\n");
    for (disputed, created, replied, count) in
        [("", "2025-03-05", "2025-04-15", 5), ("2025-12-01", "2025-03", "2025-04", 4)]
    {
        let reviews: String = (2..=5).map(|id| review(id, "")).collect();
        let folder = two_firms::dataset("", "");
        fs::write(folder.path().join("reviews.csv"), format!("{header}{}{reviews}", review(1, disputed))).unwrap();
        let (server, client) = two_firms::serve(folder.path());
        let list = client.get("/api/v3/reviews?status=approved,pending").json();
        let first = &list["data"][0];
        assert_eq!((&first["created_on"], &first["replied_on"]), (&json!(created), &json!(replied)), "{list}");
        assert_eq!(list["pagination"]["total"], count);
        assert_eq!(client.get("/api/v3/vcs/alder").json()["data"]["review_count"], count);
        assert_eq!(client.get("/api/v3/reviews/v-1").status, if count == 5 { 200 } else { 404 });
        let page = server.anonymous().get("/vcs/alder/reviews").text;
        assert_eq!(page.matches("Answer of Alder Capital").count(), count, "{page}");
        assert_eq!(page.contains("5 Mar 2025"), count == 5, "{page}");
    }
}

#[test]
fn a_published_review_says_what_is_known_of_its_author_and_what_the_firm_answers() {
    let folder = two_firms::dataset("", "");
    let reviews = "id,firm,rating,status,created_on,role,contact_month,proof,author,author_since,reply,replied_on\n\
        v-1,alder,4,approved,2025-03-05,co-founder,2024-11,email,00112233445566778899,2024-12-03,\"Thank you,\nreally\",2025-03-07\n\
        v-2,birch,2,approved,2025-03,executive,,confirmed,00112233445566778899,,,\n\
        v-3,birch,2,approved,2025-02,,,,,,,\n\
        v-4,alder,2,pending,2025-03-02,founder,2024-11,email,00112233445566778899,2024-12-03,No,2025-03-08\n";
    fs::write(folder.path().join("reviews.csv"), reviews).unwrap();
    let (server, client) = two_firms::serve(folder.path());
    let fields =
        |review: &Value| ["role", "contact_month", "proof", "reply", "replied_on"].map(|name| review[name].clone());
    let known = [json!("founder"), json!("2024-11"), json!("email"), json!("Thank you,\nreally"), json!("2025-03")];
    let others = [json!("executive"), Value::Null, json!("confirmed"), Value::Null, Value::Null];
    for version in ["v1", "v2", "v3"] {
        let list = client.get(&format!("/api/{version}/reviews?status=approved&sort=-rating,-created_on")).json();
        let list = list["data"].as_array().unwrap();
        let mut expected = known.clone();
        if version != "v3" {
            (expected[1], expected[4]) = (json!("2024-11-01"), json!("2025-03-01"));
        }
        assert_eq!(fields(&list[0]), expected, "{version}");
        assert_eq!((fields(&list[1]), fields(&list[2])), (others.clone(), [(); 5].map(|()| Value::Null)), "{version}");
    }
    let profile =
        TestTools::of(catalog_of(folder.path())).call(Tool::GetVcProfile, &json!({ "slug": "alder" })).unwrap();
    assert_eq!(fields(&profile["reviews"][0]), known);
    assert!(profile["third_party_text"].as_str().unwrap().contains("reviews.reply"));
    let page = text_of(parse(&server.anonymous().get("/vcs/alder").text).first("article"));
    for text in [
        "Founder · contact in November 2024 · verified by an e-mail address",
        "Answer of Alder Capital · Mar 2025",
        "Thank you,",
    ] {
        assert!(page.contains(text), "{page}");
    }
    let csv = client.get("/api/v3/reviews.csv?status=approved,pending").text;
    let twin = server.anonymous().get("/vcs/alder/reviews.json").text;
    for text in [csv, twin, page, profile.to_string()] {
        assert!(text.contains("Thank you") && !text.contains("0011223344"), "{text}");
    }
}

#[test]
fn a_pending_review_shows_in_every_version_only_that_it_waits() {
    let server = Server::of(catalog_of(dataset(&["pending"], bad).path()));
    let client = server.client(Tier::Enterprise);
    let pending = walk(&client, "reviews?status=pending&fields=*&limit=1000");
    assert!(pending.len() > 50);
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
