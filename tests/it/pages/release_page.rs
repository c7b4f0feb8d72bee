//! What a release brought: on the page of the release, on the home page, and as a filter of every list.

use std::fs;
use std::sync::Arc;

use auth::quota::Tier;
use catalog::Resource;
use data::{SnapshotVersion, Table};
use release::ReleaseStore;
use serde_json::{Value, json};

use crate::api::changes::walk;
use crate::pages::rendered;
use crate::support::harness::{Client, Server, copy_with_few_reviews};
use crate::support::html::{Markup, parse, text_of};
use crate::support::installation::Installation;

const FIRST: &str = "2026-11-27.1";
const SECOND: &str = "2026-12-04.1";
/// A firm of the bundled data without a round, and one whose only rounds are of 2017.
const WITHOUT_ROUND: (&str, &str) = ("aldern-ventures", "Aldern Ventures");
const ASLEEP: (&str, &str) = ("bronislawa-lipniewska", "Bronisława Lipniewska");
/// A firm that invests in each year.
const AWAKE: &str = "alder-capital";

/// Two releases: the second has three more rounds, the largest of all among them, and a startup.
fn two_releases() -> (Server, Client) {
    let installation = Installation::new();
    let dataset = copy_with_few_reviews(FIRST);
    let build = || installation.indexer(&["build", "--force", "--dataset", dataset.path().to_str().unwrap()]);
    build();
    let settings = dataset.path().join("snapshot.toml");
    fs::write(&settings, fs::read_to_string(&settings).unwrap().replace(FIRST, SECOND)).unwrap();
    let append = |name: &str, rows: &str| {
        let path = dataset.path().join(name);
        fs::write(&path, fs::read_to_string(&path).unwrap() + rows).unwrap();
    };
    let startup = fs::read_to_string(dataset.path().join("startups.csv")).unwrap();
    let columns = startup.lines().next().unwrap().split(',').count();
    append("startups.csv", &format!("new-startup,New Startup{}\n", ",".repeat(columns - 2)));
    append(
        "funding_rounds.csv",
        &format!(
            "r-9999991,new-startup,seed,9000000,2026-11-10,,{}|{AWAKE}\n\
             r-9999992,new-startup,seed,1000000,2026-11,,{}\n\
             r-9999993,new-startup,pre-seed,1000000,2019-01-01,,{AWAKE}\n",
            WITHOUT_ROUND.0, ASLEEP.0
        ),
    );
    build();
    let releases = ReleaseStore::at(installation.index());
    let open = |version: &str| releases.open(version.parse::<SnapshotVersion>().unwrap()).unwrap().catalog;
    let server = Server::of(open(FIRST));
    server.state.releases.replace(Arc::new(open(SECOND)));
    let client = server.client(Tier::Enterprise);
    (server, client)
}

#[test]
fn the_home_page_and_the_page_of_a_release_say_what_it_brought() {
    let (server, client) = two_releases();
    for path in ["/".to_owned(), format!("/releases/{SECOND}")] {
        let page = parse(&rendered(&server, &path));
        let news = page.section("news").unwrap();
        let text = text_of(news);
        assert!(text.contains("3 new rounds · 1 new startup"), "{text}");
        let card = |title: &str| {
            let cards = news.all("div.card").into_iter();
            let mut cards = cards.filter(|card| text_of(card.first("h3")) == title);
            cards.next().map(text_of)
        };
        assert!(card("Largest new rounds").unwrap().contains("New Startup Seed, $9M"), "{text}");
        let first = card("First known investments").unwrap();
        assert!(first.contains(WITHOUT_ROUND.1) && !first.contains("Alder Capital"), "{first}");
        let awake = card("Investing again after two years").unwrap();
        assert!(awake.contains(ASLEEP.1) && awake.contains("before: 4 May 2017"), "{awake}");
        // Each link leads to a page, and the list has the new rounds without a key.
        for href in news.values("a", "href") {
            assert_eq!(server.anonymous().get(href.split('#').next().unwrap()).status, 200, "{href}");
        }
        let list = server.anonymous().get(&format!("/rounds.json?first_seen={SECOND}")).json();
        let ids: Vec<&str> = list["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["r-9999991", "r-9999992", "r-9999993"]);
        assert!(news.values("a", "href").contains(&format!("/rounds?first_seen={SECOND}").as_str()));
    }
    let changes = text_of(parse(&rendered(&server, &format!("/releases/{SECOND}"))).section("changes").unwrap());
    assert!(changes.contains(&format!("Since {FIRST}")), "{changes}");
    // Nothing is known of the first release, and there is no other.
    let first = rendered(&server, &format!("/releases/{FIRST}"));
    assert!(parse(&first).section("news").is_none() && first.contains("its changes are not known here"));
    for unknown in ["2020-01-01.1", "2026-12-04", "2026-12-04.01", "x"] {
        assert_eq!(server.anonymous().get(&format!("/releases/{unknown}")).status, 404, "{unknown}");
    }
    let feed = client.get("/rounds.atom?first_seen=latest").text;
    assert_eq!(feed.matches("<entry>").count(), 3);
}

#[test]
fn a_list_is_limited_to_the_records_that_a_release_added() {
    let (_server, client) = two_releases();
    for table in [Table::Firms, Table::Startups, Table::Rounds, Table::People, Table::Reviews] {
        let path = Resource::of_table(table).path();
        let key = if matches!(table, Table::Rounds | Table::Reviews) { "id" } else { "slug" };
        let expected: Vec<Value> = walk(&client, &format!("{path}?limit=100&fields={key},first_seen"))
            .into_iter()
            .filter(|row| row["first_seen"] == SECOND)
            .map(|row| row[key].clone())
            .collect();
        for value in [SECOND, "latest"] {
            let found = client.get(&format!("/api/v3/{path}?limit=100&first_seen={value}")).json();
            let found: Vec<_> = found["data"].as_array().unwrap().iter().map(|row| row[key].clone()).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
    // A release without an earlier one cannot say what it added.
    let refused = client.get(&format!("/api/v3/vcs?first_seen={FIRST}"));
    assert_eq!((refused.status, &refused.json()["code"]), (400, &"unknown_value".into()), "{}", refused.text);
    assert_eq!(refused.json()["errors"][0]["accepted"], json!(["latest", SECOND]));
    let unknown = client.get(&format!("/api/v3/funding-rounds?first_seen=latest&snapshot={FIRST}")).json();
    assert_eq!(unknown["pagination"]["total"], 0);
    assert!(unknown["meta"]["warnings"].to_string().contains("was not compared with an earlier one"), "{unknown}");
}
