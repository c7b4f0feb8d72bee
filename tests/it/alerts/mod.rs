//! Saved searches and lists: what is new is what both releases' lists say.

mod delivery;
mod forms;
mod lists;
mod rest;

use std::collections::BTreeSet;
use std::sync::Arc;

use auth::quota::Tier;
use scraper::Html;
use serde_json::{Value, json};
use service::alerts::evaluate;

use crate::api::changes::{FIRST, SECOND, key_of, releases, walk};
use crate::support::browser::Browser;
use crate::support::harness::{Client, NOON, Reply, Server, code};
use crate::support::html::{Markup, parse, text_of};

/// Evaluates what is saved, as the server does after a swap, and returns the number of alerts.
fn evaluated(server: &Server) -> usize {
    evaluate(server.state.auth.store(), &server.state.releases, NOON, &|| false).unwrap()
}

/// The address of the link that saves what a page shows.
fn link_to_save<'p>(page: &'p Html, text: &str) -> &'p str {
    let mut links = page.all("a[rel=nofollow]").into_iter();
    links.find(|link| text_of(*link) == text).unwrap().attr("href").unwrap()
}

/// The values of the hidden fields of a page that have a name.
fn hidden(page: &str, name: &str) -> Vec<String> {
    let page = parse(page);
    page.values(&format!("input[type=hidden][name={name}]"), "value").into_iter().map(str::to_owned).collect()
}

/// Saves the search of a page's form, and returns its number.
pub fn save(browser: &mut Browser, form: &Reply, name: &str) -> i64 {
    assert_eq!(form.status, 200, "{}", form.text);
    let field = |name: &str| hidden(&form.text, name).remove(0);
    let saved =
        browser.post("/account/saved", &[("table", &field("table")), ("query", &field("query")), ("name", name)]);
    number(&saved)
}

/// The number of what was saved.
fn number(saved: &Reply) -> i64 {
    assert_eq!(saved.status, 303, "{}", saved.text);
    saved.header("location").strip_prefix("/account/saved/").unwrap().parse().unwrap()
}

/// The addresses of the feed of a search or list: Atom, JSON.
fn feeds(browser: &mut Browser, server: &Server, id: i64) -> [String; 2] {
    let page = browser.get(&format!("/account/saved/{id}")).text;
    let found = parse(&page).texts("pre.secret");
    assert_eq!(found.len(), 2, "{page}");
    [0, 1].map(|index| {
        let path = found[index].strip_prefix(server.state.public_url.as_str()).unwrap();
        assert!(path.starts_with("/alerts/"), "{path}");
        path.to_owned()
    })
}

fn alerts(client: &Client, query: &str) -> Vec<Value> {
    let reply = client.get(&format!("/api/v3/alerts{query}"));
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"), "{}", reply.text);
    reply.json()["data"].as_array().unwrap().clone()
}

fn texts<'v>(records: &'v [Value], field: &str) -> Vec<&'v str> {
    records.iter().map(|record| record[field].as_str().unwrap()).collect()
}

/// Lists with their filters.
const SEARCHES: [(&str, &str); 7] = [
    ("vcs", "stage=seed"),
    ("vcs", "min_health_score=55&country=US,DE"),
    ("vcs", "q=capital"),
    ("startups", "country=US"),
    ("startups", "min_raised_usd=1000000"),
    ("people", ""),
    ("funding-rounds", "stage=seed"),
];

#[test]
fn a_saved_search_brings_exactly_what_matches_and_did_not_before() {
    let [first, second] = releases([FIRST, SECOND], 5);
    let server = Server::of(first);
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = browser.create_key("alerts");
    let own = browser.client(&key);
    let ids = SEARCHES.map(|(list, query)| {
        let form = match list {
            // There is no page of rounds.
            "funding-rounds" => {
                browser.get(&format!("/account/saved/new?address=%2Fapi%2Fv3%2F{list}%3F{query}%26limit%3D5"))
            }
            _ => {
                let page = server.anonymous().get(&format!("/{list}?{query}&sort=name&page=2"));
                assert_eq!(page.status, 200, "{}", page.text);
                browser.get(link_to_save(&parse(&page.text), "Save this search"))
            }
        };
        save(&mut browser, &form, &format!("{list} {query}"))
    });
    assert_eq!(alerts(&own, ""), Vec::<Value>::new());
    let saved = own.get("/api/v3/saved").json()["data"].clone();
    assert_eq!(saved.as_array().unwrap().len(), SEARCHES.len());
    assert_eq!(saved[0]["table"], "funding-rounds");
    assert_eq!((evaluated(&server), alerts(&own, "").len()), (0, 0), "the release is the one that was served");

    server.state.releases.replace(Arc::new(second));
    let count = evaluated(&server);
    assert_eq!(evaluated(&server), 0, "each release is evaluated once");
    let visitor = server.client(Tier::Enterprise);
    let mut expected_count = 0;
    for ((list, query), id) in SEARCHES.into_iter().zip(ids) {
        let rows = |version: &str| -> Vec<String> {
            walk(&visitor, &format!("{list}?{query}&limit=100&snapshot={version}")).iter().map(key_of).collect()
        };
        let before: BTreeSet<String> = rows(FIRST).into_iter().collect();
        let after = rows(SECOND);
        let expected: Vec<&String> = after.iter().filter(|key| !before.contains(*key)).collect();
        let found = alerts(&own, &format!("?saved={id}"));
        assert_eq!(found.is_empty(), expected.is_empty(), "{list}?{query}");
        let [path, json_feed] = feeds(&mut browser, &server, id);
        let items = server.anonymous().get(&json_feed).json()["items"].as_array().unwrap().clone();
        let atom = server.anonymous().get(&path).text;
        assert_eq!((items.len(), atom.matches("<entry>").count()), (found.len(), found.len()));
        let Some(alert) = found.first() else { continue };
        expected_count += 1;
        assert_eq!((&alert["since"], &alert["snapshot"], &alert["saved"]), (&json!(FIRST), &json!(SECOND), &json!(id)));
        assert_eq!(alert["total"], expected.len());
        let records = alert["records"].as_array().unwrap();
        let keys = texts(records, "key");
        if query.contains("q=") {
            // A search has an order of its own, alerts that of the table.
            let (keys, expected): (BTreeSet<_>, BTreeSet<_>) =
                (keys.into_iter().collect(), expected.iter().map(|key| key.as_str()).collect());
            assert_eq!(keys, expected);
        } else {
            assert_eq!(keys, expected, "{list}?{query}");
        }
        assert!(texts(records, "reason").iter().all(|reason| *reason == "match"));

        let page = parse(&browser.get(&format!("/account/saved/{id}?alert={}", alert["id"])).text);
        let rows = page.section("alerts").unwrap().all("th[scope=row]");
        assert_eq!(rows.len(), records.len(), "{}", page.html());
        let feed = parse(&atom).texts("content").concat();
        let lines: Vec<&str> = items[0]["content_text"].as_str().unwrap().lines().collect();
        assert_eq!(lines.len(), records.len());
        for ((record, row), line) in records.iter().zip(rows).zip(lines) {
            let (name, page) = (record["name"].as_str().unwrap(), record["page"].as_str().unwrap());
            let link = row.first("a");
            assert_eq!((link.attr("href"), text_of(link).as_str()), (Some(page), name));
            assert_eq!(line, format!("{name}: {}{page}", server.state.public_url));
            assert!(feed.contains(line), "{line}");
        }
    }
    assert!(expected_count >= 4 && expected_count == count, "{expected_count} of {count}");
    // Read on from where one stopped.
    let all = alerts(&own, "");
    let first = alerts(&own, "?limit=2");
    let rest = alerts(&own, &format!("?after={}", first[1]["id"]));
    assert_eq!([first, rest].concat(), all);
    let overview = parse(&browser.get("/account/saved").text);
    assert_eq!(overview.all("a[href*='?alert=']").len(), count);
}

#[test]
fn another_account_sees_nothing_of_what_is_saved() {
    let server = Server::bundled();
    server.account_client(Tier::Free);
    let mut bob = Browser::signed_up(&server, "bob@example.com");
    let (key, _) = bob.create_key("curious");
    let client = bob.client(&key);
    for path in ["/api/v3/saved", "/api/v3/alerts"] {
        assert_eq!(client.get(path).json()["data"], json!([]));
        assert_eq!(code(&server.client(Tier::Pro).get(path)), (403, "account_required".to_owned()));
        assert_eq!(server.anonymous().get(path).status, 401);
    }
    let foreign = client.get("/api/v3/alerts?saved=1");
    assert_eq!(code(&foreign), (400, "invalid_parameter".to_owned()));
    let unknown = client.get("/api/v3/alerts?saved=99").text;
    let same = |text: &str| text.replace("99", "1").split("\"instance\"").next().unwrap().to_owned();
    assert_eq!(same(&unknown), same(&foreign.text), "a number that is another's is like one that nobody has");
    assert!(!bob.get("/account/saved").text.contains("/account/saved/1"));
    for path in ["/account/saved/1", "/account/saved/2", "/account/saved/2/records.csv", "/account/saved/1?alert=1"] {
        assert_eq!(bob.get(path).status, 404, "{path}");
    }
    for action in ["name", "notify", "feed", "add", "remove", "delete"] {
        let form = [("name", "mine"), ("text", "alder-capital"), ("record", "alder-capital"), ("emails", "1")];
        assert_eq!(bob.post(&format!("/account/saved/2/{action}"), &form).status, 404, "{action}");
    }
    let store = server.state.auth.store();
    let ada = store.account(&"saver@example.com".parse().unwrap()).unwrap().id;
    let webhook = store.add_webhook(ada, "https://hooks.example.org/ada", NOON).unwrap().id.0;
    for action in ["secret", "rotate", "resume", "test", "delete"] {
        assert_eq!(bob.post(&format!("/account/webhooks/{webhook}/{action}"), &[]).status, 404, "{action}");
    }
    assert!(!bob.get("/account/webhooks").text.contains("hooks.example.org"));
    let own = bob.get("/account/saved/new?table=vcs");
    let id = save(&mut bob, &own, "mine");
    let stolen = bob.post(&format!("/account/saved/{id}/notify"), &[("webhook", &webhook.to_string())]);
    assert_eq!(stolen.status, 422, "the webhook of another cannot be chosen");
    let watches = store.watches(ada).unwrap();
    assert!(
        watches.iter().all(|watch| watch.name.as_str() == "saved" && !watch.emails && watch.feed == watches[0].feed)
    );
    assert_eq!(store.listed(watches[0].id).unwrap(), ["alder-capital"]);
    assert_eq!(store.webhooks(ada).unwrap().len(), 1);
}

#[test]
fn a_feed_has_one_address_that_cannot_be_guessed() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let ids = ["", "&stage=seed"].map(|query| {
        let form = browser.get(&format!("/account/saved/new?table=vcs{query}"));
        save(&mut browser, &form, "all firms")
    });
    let visitor = server.anonymous();
    let [atom, json] = feeds(&mut browser, &server, ids[0]);
    for (path, kind) in [(&atom, "application/atom+xml; charset=utf-8"), (&json, "application/feed+json")] {
        let feed = visitor.get(path);
        assert_eq!((feed.status, feed.header("content-type")), (200, kind));
        assert!(feed.header("cache-control").starts_with("private"));
        assert_eq!((feed.header("x-robots-tag"), feed.header("referrer-policy")), ("noindex", "no-referrer"));
    }
    let token = json.strip_prefix("/alerts/").unwrap().strip_suffix(".json").unwrap();
    let (number, tag) = token.split_once('-').unwrap();
    assert!(tag.len() >= 24, "{tag}");
    let other = if tag.starts_with('A') { 'B' } else { 'A' };
    for wrong in [
        format!("{}-{tag}", ids[1]),
        format!("{number}-{other}{}", &tag[1..]),
        format!("{number}-{}", &tag[..tag.len() - 1]),
        format!("{number}-{tag}A"),
        format!("{number}-"),
        format!("0{token}x"),
        "99-".to_owned() + tag,
        "x".to_owned(),
    ] {
        assert_eq!(visitor.get(&format!("/alerts/{wrong}.json")).status, 404, "{wrong}");
    }
    for path in [format!("/alerts/{token}"), format!("/alerts/{token}.xml"), format!("/alerts/{token}/x.json")] {
        assert_eq!(visitor.get(&path).status, 404, "{path}");
    }
    assert_eq!(browser.post(&format!("/account/saved/{}/feed", ids[0]), &[]).status, 303);
    assert_eq!(visitor.get(&json).status, 404, "the former address ends");
    let [_, renewed] = feeds(&mut browser, &server, ids[0]);
    assert_eq!(visitor.get(&renewed).status, 200);
    assert_eq!(browser.post(&format!("/account/saved/{}/delete", ids[0]), &[]).header("location"), "/account/saved");
    assert_eq!(visitor.get(&renewed).status, 404);
}
