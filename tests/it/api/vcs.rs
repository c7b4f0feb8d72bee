//! The lists of a firm: reviews, portfolio, rounds, people and co-investors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use catalog::{Catalog, ListPosition};
use data::Table;
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, bundled, bundled_folder, code, real_catalog};
use crate::support::naive::{Naive, rows_of, split};

#[test]
fn the_lists_of_a_firm_equal_the_filtered_lists() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let slug = client.get("/api/v3/vcs?sort=-portfolio_count&limit=1").slugs().remove(0);
    for (part, list) in [
        ("reviews", format!("/api/v3/reviews?vc={slug}")),
        ("portfolio", format!("/api/v3/startups?investor={slug}")),
        ("rounds", format!("/api/v3/funding-rounds?investor={slug}")),
        ("people", format!("/api/v3/people?organization={slug}")),
    ] {
        let (own, other) = (client.get(&format!("/api/v3/vcs/{slug}/{part}")).json(), client.get(&list).json());
        assert_eq!(own["data"], other["data"], "{part}");
        assert_eq!(own["pagination"]["total"], other["pagination"]["total"]);
    }
    for (path, name) in [
        ("reviews?vc=x", "vc"),
        ("reviews?not_vc=x", "not_vc"),
        ("people?kind=firm", "kind"),
        ("people?not_kind=firm", "not_kind"),
        ("people?not_organization=x", "not_organization"),
        ("portfolio?slug=x", "slug"),
        ("co-investors?vc=x", "vc"),
    ] {
        let error = client.get(&format!("/api/v3/vcs/{slug}/{path}")).json()["errors"][0].clone();
        assert_eq!((&error["parameter"], &error["code"]), (&name.into(), &"invalid_parameter".into()), "{path}");
        assert!(error["detail"].as_str().unwrap().ends_with("omit it"), "{path}: {error}");
    }
    // A startup has several investors: these are not all that the path sets.
    for (path, list) in [
        ("portfolio?not_investor", "startups?investor={slug}&not_investor"),
        ("portfolio?investor_all", "startups?investor={slug}&investor_all"),
    ] {
        let other = client.get(&format!("/api/v3/vcs/{slug}/co-investors?limit=1")).slugs().remove(0);
        let own = client.get(&format!("/api/v3/vcs/{slug}/{path}={other}")).json();
        let list = client.get(&format!("/api/v3/{}={other}", list.replace("{slug}", &slug))).json();
        assert!(own["pagination"]["total"].as_u64().unwrap() > 0, "{path}");
        assert_eq!(own["data"], list["data"], "{path}");
    }
    let record = client.get(&format!("/api/v3/vcs/{slug}")).json()["data"].clone();
    let total = |part: &str| client.get(&format!("/api/v3/vcs/{slug}/{part}")).json()["pagination"]["total"].clone();
    assert_eq!(record["portfolio_count"], total("portfolio"));
    assert_eq!(record["investment_count"], total("rounds"));
    assert_eq!(record["review_count"], total("reviews"));
}

#[test]
fn a_firms_people_are_not_those_of_a_startup_with_its_slug() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    let mut shared = 0;
    for row in 0..snapshot.rows(Table::Firms) {
        let slug = snapshot.slug(Table::Firms, row);
        if snapshot.find(Table::Startups, slug).is_some() {
            shared += 1;
            let json = client.get(&format!("/api/v3/vcs/{slug}/people")).json();
            assert!(json["data"].as_array().unwrap().iter().all(|row| row["organization"]["kind"] == "firm"), "{slug}");
        }
    }
    assert!(shared > 0, "the bundled data has such a slug");
}

/// All rows of a v3 list.
pub fn walk(client: &Client, path: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut page = client.list(path, parameters);
    loop {
        assert_eq!(page.status, 200, "{}", page.text);
        let json = page.json();
        rows.extend(json["data"].as_array().unwrap().iter().cloned());
        let Some(cursor) = json["pagination"]["next_cursor"].as_str() else {
            assert_eq!(json["pagination"]["total"], rows.len());
            return rows;
        };
        let window = parameters.iter().filter(|(name, _)| matches!(*name, "limit" | "fields")).copied();
        page = client.list(path, &window.chain([("cursor", cursor)]).collect::<Vec<_>>());
    }
}

#[test]
fn co_investors_are_firms_that_joined_the_same_rounds() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut shared: HashMap<String, BTreeMap<String, (u64, String)>> = HashMap::new();
    for row in rows_of(&bundled_folder(), "funding_rounds.csv") {
        let firms: BTreeSet<String> =
            split(&row["lead_investors"]).into_iter().chain(split(&row["investors"])).collect();
        for firm in &firms {
            for other in firms.iter().filter(|other| *other != firm) {
                let entry = shared.entry(firm.clone()).or_default().entry(other.clone()).or_default();
                entry.0 += 1;
                entry.1 = entry.1.clone().max(row["announced_on"].clone());
            }
        }
    }
    let mut longest = 0;
    for firm in Naive::read(&bundled_folder()).firms.iter().step_by(7) {
        let mut expected: Vec<(Reverse<u64>, String, String)> = shared
            .get(&firm.slug)
            .into_iter()
            .flatten()
            .map(|(other, (count, last))| (Reverse(*count), other.clone(), last.clone()))
            .collect();
        expected.sort();
        longest = longest.max(expected.len());
        let path = format!("/api/v3/vcs/{}/co-investors", firm.slug);
        let rows = walk(&client, &path, &[("limit", "9"), ("fields", "slug,sharedRounds,lastSharedOn")]);
        let got: Vec<Value> = expected
            .iter()
            .map(|(count, slug, last)| {
                let last = Some(last.as_str()).filter(|last| !last.is_empty());
                json!({ "slug": slug, "shared_rounds": count.0, "last_shared_on": last })
            })
            .collect();
        assert_eq!(rows, got, "{}", firm.slug);
    }
    assert!(longest > 9, "some firm has more than one page of co-investors");
    let row = client.get("/api/v3/vcs/Alder-Capital/co-investors?limit=1").json()["data"][0].clone();
    let firm = client.list("/api/v3/vcs", &[("q", row["name"].as_str().unwrap())]).json()["data"][0].clone();
    for (key, value) in firm.as_object().unwrap() {
        assert_eq!(row[key], *value, "the default fields of a firm");
    }
    assert_eq!(code(&client.get("/api/v3/vcs/alder-capitol/co-investors")), (404, "not_found".into()));
    let unknown = client.get("/api/v3/vcs/alder-capital/co-investors?stage=seed");
    assert_eq!(code(&unknown), (400, "unknown_parameter".into()));
    assert_eq!(unknown.json()["errors"][0]["accepted"], json!(["limit", "cursor", "fields", "snapshot", "as_of"]));
}

/// Compares the first co-investors of every firm with those of its record. Returns the number of firms with a tie at the
/// last of these.
fn compare_first_co_investors(catalog: &Catalog) -> usize {
    let snapshot = catalog.snapshot();
    let field = Table::Firms.field_index("top_co_investors");
    let mut tied = 0;
    for row in 0..snapshot.rows(Table::Firms) {
        let record = snapshot.record(Table::Firms, row);
        let named: Vec<Value> = record.parse(field).unwrap();
        let named: Vec<(String, u64)> = named
            .iter()
            .map(|firm| (firm["slug"].as_str().unwrap().to_owned(), firm["shared_rounds"].as_u64().unwrap()))
            .collect();
        let page = catalog.co_investors(row, ListPosition::default(), 6);
        let first: Vec<(String, u64)> = page
            .rows
            .iter()
            .map(|(row, firm)| (snapshot.slug(Table::Firms, *row).to_owned(), u64::from(firm.shared_rounds)))
            .collect();
        assert_eq!(named, first[..first.len().min(5)], "{}", snapshot.slug(Table::Firms, row));
        tied += usize::from(first.len() == 6 && first[4].1 == first[5].1);
    }
    tied
}

#[test]
fn the_first_co_investors_are_those_of_the_firms_record() {
    let tied = compare_first_co_investors(&bundled());
    assert!(tied > 50, "{tied}");
}

#[test]
fn the_first_co_investors_of_the_real_data_are_those_of_the_firms_record() {
    let Some(catalog) = real_catalog() else { return };
    let tied = compare_first_co_investors(&catalog);
    assert!(tied > 1_000, "{tied}");
}
