//! Lists of records: what changes about them, release by release.

use std::collections::BTreeMap;
use std::sync::Arc;

use auth::quota::Tier;
use serde_json::{Value, json};

use super::{alerts, evaluated, number, texts};
use crate::api::changes::{Copy, FIRST, SECOND, copy_of_lists, releases};
use crate::support::browser::Browser;
use crate::support::harness::Server;

/// The content of the first release again.
const THIRD: &str = "2026-11-22.1";
const SEED: u64 = 11;

/// The fields whose values differ between two copies of a record.
fn differing(before: &Copy, after: &Copy, slug: &str) -> Vec<String> {
    let key = ("vcs".to_owned(), slug.to_owned());
    let fields = before[&key].as_object().unwrap().iter().filter(|(name, value)| after[&key][*name] != **value);
    let mut fields: Vec<String> = fields.map(|(name, _)| name.clone()).collect();
    fields.sort_unstable();
    fields
}

#[test]
fn a_list_brings_exactly_what_changed_about_its_records() {
    let [first, second] = releases([FIRST, SECOND], SEED);
    let [third] = releases([THIRD], SEED);
    let server = Server::of(first);
    let visitor = server.client(Tier::Enterprise);
    let before = copy_of_lists(&visitor, FIRST, &["vcs"]);
    let firms: Vec<&str> = before.keys().filter(|(list, _)| list == "vcs").map(|(_, slug)| slug.as_str()).collect();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = browser.create_key("alerts");
    let own = browser.client(&key);
    let form = [("name", "All firms"), ("table", "vcs"), ("text", &firms.join("\n"))];
    let id = number(&browser.post_parts("/account/saved/list", &form));
    let csv = |browser: &mut Browser| -> Vec<String> {
        let csv = browser.get(&format!("/account/saved/{id}/records.csv"));
        assert_eq!((csv.status, csv.header("content-type")), (200, "text/csv; charset=utf-8; header=present"));
        csv.text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(csv(&mut browser), firms);

    server.state.releases.replace(Arc::new(second));
    assert_eq!(evaluated(&server), 1);
    let after = copy_of_lists(&visitor, SECOND, &["vcs"]);
    let found = alerts(&own, "");
    let [alert] = found.as_slice() else { panic!("{found:?}") };
    let records = alert["records"].as_array().unwrap();
    assert_eq!(alert["total"], records.len());
    let found: BTreeMap<&str, &Value> = texts(records, "key").into_iter().zip(records).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for slug in &firms {
        let record = found.get(slug).copied();
        if !after.contains_key(&("vcs".to_owned(), (*slug).to_owned())) {
            // Whoever follows the address of a merged record comes to the one that it is a part of.
            let moved = server.anonymous().get(&format!("/vcs/{slug}.json"));
            let record = record.unwrap_or_else(|| panic!("{slug} is gone"));
            match moved.status {
                404 => assert_eq!((&record["reason"], &record["page"]), (&json!("remove"), &Value::Null), "{slug}"),
                _ => {
                    let target = moved.json()["data"]["slug"].clone();
                    assert_eq!((&record["reason"], &record["merged_into"]), (&json!("merge"), &target), "{slug}");
                }
            }
            *reasons.entry(record["reason"].as_str().unwrap()).or_default() += 1;
            continue;
        }
        let fields = differing(&before, &after, slug);
        match record {
            None => assert!(fields.is_empty(), "{slug}: {fields:?}"),
            Some(record) => {
                let mut known: Vec<&str> =
                    record["fields"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
                known.sort_unstable();
                assert_eq!((&record["reason"], known), (&json!("change"), fields.iter().map(String::as_str).collect()));
                *reasons.entry("change").or_default() += 1;
            }
        }
    }
    assert_eq!(reasons.keys().copied().collect::<Vec<_>>(), ["change", "merge", "remove"], "{reasons:?}");
    assert!(reasons["change"] < firms.len(), "some are unchanged");
    assert_eq!(reasons.values().sum::<usize>(), records.len());

    // A merged record gives its place to the other one; a removed one keeps it.
    let listed = csv(&mut browser);
    for record in records {
        let key = record["key"].as_str().unwrap().to_owned();
        assert_eq!(listed.contains(&key), record["reason"] != "merge", "{record}");
    }
    server.state.releases.replace(Arc::new(third));
    assert_eq!(evaluated(&server), 1);
    let back = alerts(&own, &format!("?after={}", alert["id"]));
    let of = |reason: &str, records: &Value| -> Vec<String> {
        let records = records.as_array().unwrap().iter().filter(|record| record["reason"] == reason);
        records.map(|record| record["key"].as_str().unwrap().to_owned()).collect()
    };
    let [mut removed, mut added] = [of("remove", &alert["records"]), of("add", &back[0]["records"])];
    removed.sort_unstable();
    added.sort_unstable();
    assert_eq!(removed, added, "what was gone is there again");

    let page = browser.get(&format!("/account/saved/{id}?alert={}", alert["id"])).text;
    for words in ["merged into ", "changed: ", "removed</td>"] {
        assert!(page.contains(words), "{words}");
    }
    let remove: Vec<(&str, &str)> = listed.iter().take(2).map(|key| ("record", key.as_str())).collect();
    assert_eq!(browser.post(&format!("/account/saved/{id}/remove"), &remove).status, 303);
    assert_eq!(csv(&mut browser), listed[2..]);
}
