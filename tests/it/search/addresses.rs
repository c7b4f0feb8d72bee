//! Addresses as search texts and as values of filters.

use std::collections::HashSet;

use auth::quota::Tier;
use data::Table;
use data::fold::fold;
use mcp::Tool;
use search::MatchClass;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Server, bundled};

/// The host of a website of the dataset, without `www.`.
fn host(website: &str) -> String {
    let host = website.split('/').nth(2).unwrap().to_lowercase();
    host.strip_prefix("www.").unwrap_or(&host).to_owned()
}

/// Forms in which people paste the address of a website.
fn forms(host: &str) -> [String; 6] {
    [
        host.to_owned(),
        format!("www.{host}"),
        format!("https://www.{host}/about?ref=a.b#top"),
        format!("HTTP://{}:8080", host.to_uppercase()),
        format!("{host}/pricing"),
        format!("jane.doe@{host}"),
    ]
}

#[test]
fn an_address_in_any_form_finds_the_record_with_this_website_first() {
    let catalog = bundled();
    let snapshot = catalog.snapshot();
    let mut compared = 0;
    for table in [Table::Firms, Table::Startups] {
        let website = |row: u32| -> Option<String> {
            let record = snapshot.record(table, row).json();
            serde_json::from_slice::<Value>(&record).unwrap()["website"].as_str().map(host)
        };
        let hosts: Vec<Option<String>> = (0..snapshot.rows(table)).map(website).collect();
        let names: HashSet<String> = (0..snapshot.rows(table)).map(|row| fold(snapshot.name(table, row))).collect();
        for (row, own) in hosts.iter().enumerate().step_by(29) {
            let Some(own) = own else { continue };
            for text in forms(own) {
                if names.contains(&fold(&text)) {
                    continue;
                }
                let found = catalog.search(table, &text);
                let first = found.hits.first().map(|hit| hosts[hit.row as usize].as_deref());
                assert_eq!(first, Some(Some(own.as_str())), "{text}");
                let class = catalog.match_classes(table, &text, &[row as u32]);
                assert_eq!(class, [MatchClass::Exact], "{text}");
                let explained = catalog.explain(table, &text, row as u32).unwrap();
                assert_eq!((explained.strategy, explained.score), ("website", found.hits[0].score), "{text}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn an_email_address_finds_the_person_it_names() {
    let catalog = bundled();
    let snapshot = catalog.snapshot();
    let mut compared = 0;
    for row in (0..snapshot.rows(Table::People)).step_by(11) {
        let name = fold(snapshot.name(Table::People, row));
        let [given, surname] = name.split(' ').collect::<Vec<_>>()[..] else { continue };
        for text in [
            format!("{given}.{surname}@gmail.com"),
            format!("{given}_{surname}7@mail.example"),
            format!("mailto:{given}{surname}@a.example"),
            format!("https://www.linkedin.com/in/{given}-{surname}-1a2b3c4d/"),
        ] {
            let found = catalog.search(Table::People, &text);
            let first = found.hits.first().map(|hit| fold(snapshot.name(Table::People, hit.row)));
            assert_eq!(first.as_deref(), Some(name.as_str()), "{text}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_filter_by_website_takes_addresses_and_has_an_alias() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let tools = TestTools::bundled();
    for (path, tool) in [("vcs", Tool::SearchVcs), ("startups", Tool::SearchStartups)] {
        let path = format!("/api/v3/{path}");
        let known = client.get(&format!("{path}?known=website&limit=3")).json();
        for record in known["data"].as_array().unwrap() {
            let own = host(record["website"].as_str().unwrap());
            for text in forms(&own) {
                for name in ["website", "domain"] {
                    let found = client.list(&path, &[(name, &text)]).json();
                    assert_eq!(found["data"][0]["slug"], record["slug"], "{name}={text}: {found}");
                    assert_eq!(found["pagination"]["total"], 1, "{name}={text}");
                    let called = tools.call(tool, &json!({ name: text })).unwrap();
                    assert_eq!(called["items"][0]["slug"], record["slug"], "{name}={text}: {called}");
                }
                let searched = tools.call(tool, &json!({ "query": text })).unwrap();
                assert_eq!(searched["items"][0]["slug"], record["slug"], "{text}: {searched}");
                assert!(!searched.to_string().contains("similar names"), "{text}: {searched}");
            }
            let found = client.list(&path, &[("q", &format!("https://{own}/")), ("explain", "true")]).json();
            assert_eq!(found["data"][0]["slug"], record["slug"], "{found}");
            assert_eq!(found["meta"]["explain"][0]["way"], "website", "{found}");
        }
    }
}
