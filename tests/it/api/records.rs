//! Single records of v3, lists of given records, and what `include` adds, against the lists and the CSV files.

use std::collections::{BTreeSet, HashMap};

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::harness::{Client, Dice, Server, bundled_folder, code, real_catalog};

/// Lists with the field that identifies a row.
pub const LISTS: [(&str, &str); 6] = [
    ("vcs", "slug"),
    ("startups", "slug"),
    ("funding-rounds", "id"),
    ("people", "slug"),
    ("reviews", "id"),
    ("sectors", "slug"),
];

/// The rows of a CSV file by column.
pub fn csv(file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(bundled_folder().join(file)).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn data(client: &Client, path: &str) -> Value {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    reply.json()["data"].clone()
}

fn check_rows_equal_their_records(server: &Server) {
    let client = server.client(Tier::Enterprise);
    for (list, key) in LISTS {
        for sort in ["", "&sort=-name", "&sort=amount_usd", "&sort=rating"] {
            let page = client.get(&format!("/api/v3/{list}?limit=20&fields=*{sort}"));
            if page.status == 400 {
                continue;
            }
            let rows = page.json()["data"].clone();
            assert!(!rows.as_array().unwrap().is_empty());
            for row in rows.as_array().unwrap() {
                let id = row[key].as_str().unwrap();
                let reply = client.get(&format!("/api/v3/{list}/{id}"));
                assert_eq!((reply.status, &reply.json()["data"]), (200, row), "{list}/{id}");
                let one = data(&client, &format!("/api/v3/{list}/{}?fields={key}", id.to_uppercase()));
                assert_eq!(one, json!({ key: id }));
            }
        }
    }
}

#[test]
fn every_row_of_a_list_is_its_single_record() {
    check_rows_equal_their_records(&Server::bundled());
}

#[test]
fn every_row_of_a_real_list_is_its_single_record() {
    let Some(catalog) = real_catalog() else { return };
    // The real data has no reviews.
    let server = Server::of(catalog);
    let client = server.client(Tier::Enterprise);
    for (list, key) in LISTS.into_iter().filter(|(list, _)| *list != "reviews") {
        for row in data(&client, &format!("/api/v3/{list}?limit=30&fields=*")).as_array().unwrap() {
            let id = row[key].as_str().unwrap();
            assert_eq!(data(&client, &format!("/api/v3/{list}/{id}")), *row);
        }
    }
}

#[test]
fn an_unknown_id_is_rejected_with_the_nearest() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, nearest) in [("funding-rounds/r-0000001x", "r-0000001"), ("sectors/fintec", "fintech")] {
        let reply = client.get(&format!("/api/v3/{path}"));
        assert_eq!(code(&reply), (404, "not_found".to_owned()));
        assert_eq!(reply.json()["did_you_mean"][0], nearest, "{}", reply.text);
    }
}

#[test]
fn given_records_are_listed_in_the_order_of_the_list() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut dice = Dice(7);
    for (list, key) in LISTS {
        for sort in ["", "&sort=-name", "&sort=amount_usd", "&sort=rating"] {
            let page = client.get(&format!("/api/v3/{list}?limit=100&fields=*{sort}"));
            if page.status == 400 {
                continue;
            }
            let rows = page.json()["data"].as_array().unwrap().clone();
            for round in 0..8 {
                let picked: BTreeSet<usize> = (0..=3 * round).map(|_| dice.below(rows.len())).collect();
                let mut ids: Vec<String> =
                    picked.iter().map(|row| rows[*row][key].as_str().unwrap().to_owned()).collect();
                // Neither the order of the values nor their case matters, nor that one is given twice.
                ids.reverse();
                ids.push(ids[0].to_uppercase());
                let reply = client.get(&format!("/api/v3/{list}?{key}={}&limit=100&fields=*{sort}", ids.join(",")));
                let found = reply.json();
                let expected: Vec<&Value> = picked.iter().map(|row| &rows[*row]).collect();
                assert_eq!(found["data"], json!(expected), "{list} {ids:?}{sort}");
                assert_eq!(found["pagination"]["total"], picked.len());
                let repeated: Vec<String> = ids.iter().rev().map(|id| format!("{key}={id}")).collect();
                let again = client.get(&format!("/api/v3/{list}?{}&limit=100&fields=*{sort}", repeated.join("&")));
                assert_eq!((again.header("etag"), &again.text), (reply.header("etag"), &reply.text));
            }
        }
    }
}

#[test]
fn given_records_pass_the_other_filters_and_pages() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let rows = data(&client, "/api/v3/vcs?limit=60");
    let rows = rows.as_array().unwrap();
    let slugs: Vec<&str> = rows.iter().map(|row| row["slug"].as_str().unwrap()).collect();
    let given = format!("/api/v3/vcs?slug={}&country=US,GB", slugs.join(","));
    let expected: Vec<&str> = rows
        .iter()
        .filter(|row| row["country"] == "US" || row["country"] == "GB")
        .map(|row| row["slug"].as_str().unwrap())
        .collect();
    assert!(expected.len() > 5 && expected.len() < 60);
    let (mut found, mut path) = (Vec::new(), format!("{given}&limit=4"));
    loop {
        let reply = client.get(&path);
        found.extend(reply.slugs());
        match reply.json()["pagination"]["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v3/vcs?cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(found, expected);
    // A review that is not listed by default is not found by its id either.
    let pending = data(&client, "/api/v3/reviews?status=pending&limit=1")[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(data(&client, &format!("/api/v3/reviews?id={pending}")), json!([]));
    assert_eq!(data(&client, &format!("/api/v3/reviews?id={pending}&status=pending"))[0]["id"], pending);
}

#[test]
fn unknown_and_too_many_given_records_are_rejected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let reply = client.get("/api/v3/sectors?slug=fintech,paymets");
    assert_eq!(code(&reply), (400, "unknown_value".to_owned()));
    let error = &reply.json()["errors"][0];
    assert_eq!((&error["parameter"], &error["did_you_mean"]), (&json!("slug"), &json!("payments")), "{}", reply.text);
    let many = |count: usize| client.get(&format!("/api/v3/vcs?slug={}", vec!["alder-capital"; count].join(",")));
    assert_eq!(many(100).json()["pagination"]["total"], 1);
    assert_eq!(code(&many(101)), (400, "invalid_parameter".to_owned()));
}

/// The first page of a list as `include` returns it.
fn first_page(client: &Client, path: &str) -> Value {
    let page = client.get(path).json();
    json!({ "total": page["pagination"]["total"], "data": page["data"] })
}

#[test]
fn included_lists_are_the_first_pages_of_their_lists() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let all = "portfolio,rounds,people,reviews,co_investors";
    for slug in client.get("/api/v3/vcs?limit=12&sort=-portfolio_count").slugs() {
        let path = format!("/api/v3/vcs/{slug}");
        let reply = client.get(&format!("{path}?include={all}")).json();
        let names: Vec<&str> = all.split(',').collect();
        for name in &names {
            let list = name.replace('_', "-");
            assert_eq!(reply["included"][name], first_page(&client, &format!("{path}/{list}")), "{slug} {name}");
        }
        assert_eq!(reply["included"].as_object().unwrap().len(), names.len());
        let plain = client.get(&path).json();
        assert_eq!((&reply["data"], plain.get("included")), (&plain["data"], None));
    }
    let rounds = csv("funding_rounds.csv");
    for slug in client.get("/api/v3/startups?limit=12").slugs() {
        let reply = client.get(&format!("/api/v3/startups/{slug}?include=investors&include=Rounds,people")).json();
        let included = &reply["included"];
        assert_eq!(included["rounds"], first_page(&client, &format!("/api/v3/funding-rounds?startup={slug}")));
        let people = format!("/api/v3/people?organization={slug}&kind=startup");
        assert_eq!(included["people"], first_page(&client, &people));
        let investors: BTreeSet<&str> = rounds
            .iter()
            .filter(|round| round["startup"] == slug)
            .flat_map(|round| round["lead_investors"].split('|').chain(round["investors"].split('|')))
            .filter(|firm| !firm.is_empty())
            .collect();
        assert_eq!(included["investors"]["total"], investors.len(), "{slug}");
        if !investors.is_empty() {
            let given: Vec<&str> = investors.into_iter().collect();
            assert_eq!(included["investors"], first_page(&client, &format!("/api/v3/vcs?slug={}", given.join(","))));
        }
    }
}

#[test]
fn spellings_of_include_share_an_etag_and_unknown_names_are_rejected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let path = "/api/v3/vcs/alder-capital";
    let etag = |query: &str| client.get(&format!("{path}?{query}")).header("etag").to_owned();
    assert_eq!(etag("include=rounds,co_investors"), etag("include=CoInvestors&include=co-investors,Rounds"));
    let different: BTreeSet<String> =
        ["", "include=rounds", "include=people", "include=people,rounds"].map(etag).into();
    assert_eq!(different.len(), 4);

    let reply = client.get(&format!("{path}?include=portfolios,rounds&fields=nam&x=1"));
    assert_eq!(reply.status, 400);
    let errors = reply.json()["errors"].clone();
    let error = errors.as_array().unwrap().iter().find(|error| error["parameter"] == "include").unwrap();
    assert_eq!((&error["code"], &error["did_you_mean"]), (&json!("unknown_value"), &json!("portfolio")));
    assert!(error["accepted"].as_array().unwrap().contains(&json!("co_investors")), "{error}");
    assert!(errors.as_array().unwrap().iter().any(|error| error["parameter"] == "x"), "{errors}");
    // Sectors, rounds and reviews have nothing to include.
    assert_eq!(code(&client.get("/api/v3/sectors/fintech?include=rounds")), (400, "unknown_parameter".to_owned()));
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/vcs/alder-capital");
        let (plain, asked) = (client.get(&path).json(), client.get(&format!("{path}?include=rounds")).json());
        assert_eq!((&asked["data"], asked.get("included")), (&plain["data"], None));
        assert_eq!(asked["meta"]["warnings"][0]["code"], "unknown_parameter");
    }
}
