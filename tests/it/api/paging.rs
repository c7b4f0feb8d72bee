//! Paging: by cursor every record exactly once and in order, even during a release swap; by number to the end and past it.

use std::collections::HashSet;
use std::sync::Arc;

use api::DEFAULT_LIMIT;
use auth::quota::Tier;
use data::Table;
use serde_json::json;
use tempfile::TempDir;

use crate::support::harness::{
    Client, Server, bundled_folder, catalog_of, code, copy_as, published, real_catalog, real_data, runs_long_tests,
};
use crate::support::installation::small;

/// Pages through a list to its end; `between` runs after each page.
fn walk(
    client: &Client,
    path: &str,
    parameters: &[(&str, &str)],
    mut between: impl FnMut(usize),
) -> (Vec<String>, u64) {
    let mut slugs = Vec::new();
    let mut page = client.list(path, parameters);
    let mut pages = 0;
    loop {
        assert_eq!(page.status, 200, "{}", page.text);
        slugs.extend(page.slugs());
        let json = page.json();
        let total = json["pagination"]["total"].as_u64().unwrap();
        pages += 1;
        between(pages);
        let Some(cursor) = json["pagination"]["next_cursor"].as_str() else {
            assert_eq!(json["pagination"]["has_more"], false);
            return (slugs, total);
        };
        assert_eq!(json["pagination"]["has_more"], true);
        page = client.list(
            path,
            &[
                ("cursor", cursor),
                ("limit", parameters.iter().find(|(name, _)| *name == "limit").map_or("20", |(_, limit)| limit)),
            ],
        );
    }
}

fn assert_each_once(slugs: &[String], total: u64) {
    assert_eq!(slugs.len() as u64, total);
    assert_eq!(slugs.iter().collect::<HashSet<_>>().len(), slugs.len(), "a record was returned twice");
}

#[test]
fn cursors_return_every_record_once_in_the_order_of_offsets() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut queries: Vec<Vec<(&str, &str)>> = vec![
        vec![],
        vec![("stage", "seed")],
        vec![("stage", "seed,series-a"), ("country", "US,GB,DE")],
        vec![("q", "capital")],
        vec![("q", "capital"), ("sort", "name")],
        vec![("sort", "-health_score,name")],
    ];
    let ascending = Table::Firms.sort_keys();
    let descending: Vec<String> = ascending.iter().map(|key| format!("-{key}")).collect();
    for key in ascending.iter().copied().chain(descending.iter().map(String::as_str)) {
        queries.push(vec![("sort", key)]);
        queries.push(vec![("sort", key), ("stage", "growth")]);
    }
    for query in &queries {
        let mut whole = Vec::new();
        for offset in (0..).step_by(100) {
            let mut parameters = query.clone();
            let offset = offset.to_string();
            parameters.extend([("limit", "100"), ("offset", offset.as_str())]);
            let page = client.list("/api/v1/vcs", &parameters).slugs();
            if page.is_empty() {
                break;
            }
            whole.extend(page);
        }
        for limit in ["7", "100"] {
            let mut parameters = query.clone();
            parameters.push(("limit", limit));
            let (slugs, total) = walk(&client, "/api/v3/vcs", &parameters, |_| {});
            assert_each_once(&slugs, total);
            assert_eq!(slugs, whole, "{query:?} by {limit}");
        }
        let second = client.list("/api/v2/vcs", &[query.clone(), vec![("limit", "7"), ("page", "2")]].concat()).slugs();
        assert_eq!(second, whole.iter().skip(7).take(7).cloned().collect::<Vec<_>>(), "{query:?}");
    }
}

#[test]
fn cursors_return_every_record_of_other_lists_once() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, parameters) in [
        ("/api/v3/reviews", vec![("limit", "100")]),
        ("/api/v3/reviews", vec![("limit", "100"), ("sort", "rating"), ("ghosted", "true")]),
        ("/api/v3/sectors", vec![("limit", "9")]),
        ("/api/v3/leaderboard", vec![("limit", "9"), ("metric", "activity")]),
        ("/api/v3/startups", vec![("limit", "100"), ("sort", "founded_year")]),
        ("/api/v3/funding-rounds", vec![("limit", "100"), ("stage", "seed")]),
        ("/api/v3/people", vec![("limit", "100"), ("kind", "firm")]),
    ] {
        let (slugs, total) = walk(&client, path, &parameters, |_| {});
        assert!(total > 20, "{path}");
        assert_each_once(&slugs, total);
    }
}

#[test]
fn a_release_swap_does_not_affect_a_cursor() {
    let server = Server::of(published());
    let client = server.client(Tier::Enterprise);
    let (before, _) = walk(&client, "/api/v3/vcs", &[("limit", "30"), ("sort", "-name")], |_| {});
    // Three more releases: two of other firms, and one of the same without reviews, so that scores and orders differ.
    let without_reviews = copy_as(&bundled_folder(), "2026-11-20.2");
    let place = without_reviews.path().join("reviews.csv");
    let header = std::fs::read_to_string(&place).unwrap().lines().next().unwrap().to_owned();
    std::fs::write(place, format!("{header}\n")).unwrap();
    let of_others = ["2026-11-20.3", "2026-11-20.4"].map(|version| copy_as(&small(), version));
    let [third, fourth] = of_others.each_ref().map(TempDir::path);
    let mut releases = [fourth, without_reviews.path(), third].map(|folder| Arc::new(catalog_of(folder))).to_vec();
    let active = Arc::clone(&server.state.releases);
    let (walked, total) = walk(&client, "/api/v3/vcs", &[("limit", "30"), ("sort", "-name")], |page| {
        if page % 3 == 0
            && let Some(next) = releases.pop()
        {
            active.replace(next);
        }
    });
    assert!(releases.is_empty(), "all releases were swapped in during paging");
    assert_each_once(&walked, total);
    assert_eq!(walked, before);

    // Further releases unload the first.
    let first = client.get("/api/v3/vcs?limit=1").json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    for counter in 6..11 {
        let copy = copy_as(&small(), &format!("2026-11-20.{counter}"));
        active.replace(Arc::new(catalog_of(copy.path())));
    }
    let expired = client.list("/api/v3/vcs", &[("cursor", &first)]);
    assert_eq!((expired.status, expired.json()["code"].as_str().unwrap()), (410, "cursor_expired"));
}

#[test]
fn a_cursor_is_bound_to_its_query() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let page = client.get("/api/v3/vcs?stage=seed&sort=-name&limit=5").json();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let code = |parameters: &[(&str, &str)]| {
        let reply = client.list("/api/v3/vcs", &[&[("cursor", cursor)], parameters].concat());
        let json = reply.json();
        (reply.status, json["code"].as_str().unwrap_or("").to_owned())
    };
    let good = (200, String::new());
    assert_eq!(code(&[]), good);
    assert_eq!(code(&[("stage", "Seed"), ("sort", "-name")]), good);
    assert_eq!(code(&[("limit", "9"), ("fields", "slug")]), good);
    let mismatch = (400, "cursor_mismatch".to_owned());
    assert_eq!(code(&[("stage", "growth")]), mismatch);
    assert_eq!(code(&[("sort", "name")]), mismatch);
    assert_eq!(code(&[("country", "DE")]), mismatch);
    let elsewhere = client.list("/api/v3/startups", &[("cursor", cursor)]);
    assert_eq!(elsewhere.json()["code"], "invalid_cursor");
    let garbled = client.list("/api/v3/vcs", &[("cursor", &format!("{cursor}x"))]);
    assert_eq!(garbled.json()["code"], "invalid_cursor");
}

#[test]
fn a_cursor_carries_limit_fields_and_explain() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let first = client.get("/api/v3/vcs?q=capitl&limit=3&fields=slug,healthScore&explain=true");
    let cursor = first.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let form = |reply: &crate::support::harness::Reply| {
        let json = reply.json();
        let rows = json["data"].as_array().unwrap();
        let keys: Vec<String> = rows[0].as_object().unwrap().keys().cloned().collect();
        (rows.len(), keys, json["pagination"]["limit"].as_u64().unwrap(), json["meta"].get("explain").is_some())
    };
    let same = (3, vec!["health_score".to_owned(), "slug".to_owned()], 3, true);
    let mut sorted = form(&first);
    sorted.1.sort();
    assert_eq!(sorted, same);
    let second = client.get(&format!("/api/v3/vcs?cursor={cursor}"));
    let mut sorted = form(&second);
    sorted.1.sort();
    assert_eq!(sorted, same);
    // So does the next one, and the link has only the cursor.
    let next = second.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(second.header("link"), format!("<{}/api/v3/vcs?cursor={next}>; rel=\"next\"", client.base));
    assert_eq!(form(&client.get(&format!("/api/v3/vcs?cursor={next}"))).2, 3);

    // Parameters next to a cursor apply from there on and do not change the rows.
    let other = client.get(&format!("/api/v3/vcs?cursor={cursor}&limit=20&fields=slug&explain=false"));
    assert_eq!((form(&other).1, form(&other).2, form(&other).3), (vec!["slug".to_owned()], 20, false));
    assert_ne!(other.header("etag"), second.header("etag"));
    let limited = client.get(&format!("/api/v3/vcs?cursor={cursor}&limit=20"));
    assert_ne!(limited.header("etag"), second.header("etag"));
    assert_eq!(form(&limited).0.min(3), 3);
    assert_eq!(limited.json()["data"][0]["slug"], second.json()["data"][0]["slug"]);
    let next = other.json()["pagination"]["next_cursor"].as_str().map(str::to_owned);
    if let Some(next) = next {
        assert_eq!(form(&client.get(&format!("/api/v3/vcs?cursor={next}"))).1, ["slug"]);
    }
    // A cursor carries the clamped limit.
    let client = server.client(Tier::Free);
    let clamped = client.get("/api/v3/vcs?limit=1000").json();
    let cursor = clamped["pagination"]["next_cursor"].as_str().unwrap();
    let reply = client.get(&format!("/api/v3/vcs?cursor={cursor}")).json();
    assert_eq!((&reply["pagination"]["limit"], reply["meta"].get("warnings")), (&100.into(), None));
}

#[test]
fn cursors_return_the_real_release_once_during_a_swap() {
    let (Some(folder), Some(catalog)) = (real_data(), real_catalog()) else { return };
    if !runs_long_tests() {
        return;
    }
    let server = Server::of(catalog);
    let client = server.client(Tier::Enterprise);
    let copy = copy_as(&folder, "2026-11-21.2");
    let other = Arc::new(catalog_of(copy.path()));
    let active = Arc::clone(&server.state.releases);
    let mut swapped = false;
    for parameters in [
        vec![("limit", "100")],
        vec![("limit", "100"), ("sort", "name")],
        vec![("limit", "100"), ("sort", "-last_investment_on"), ("stage", "seed")],
        vec![("limit", "100"), ("sort", "-portfolio_count"), ("sector", "software"), ("country", "US")],
    ] {
        let (slugs, total) = walk(&client, "/api/v3/vcs", &parameters, |page| {
            if page == 10 && !swapped {
                active.replace(Arc::clone(&other));
                swapped = true;
            }
        });
        assert_each_once(&slugs, total);
        if parameters.len() == 1 {
            assert_eq!(total, 8_229);
        }
    }
    assert!(swapped);
}

#[test]
fn pages_past_the_end_are_empty_and_windows_are_numbers() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let none = client.get("/api/v2/reviews?status=rejected");
    let pagination = json!({"page": 1, "total_pages": 0, "total": 0, "limit": DEFAULT_LIMIT});
    assert_eq!((none.status, none.json()["pagination"].clone()), (200, pagination));
    for version in ["v1", "v3"] {
        let none = client.get(&format!("/api/{version}/reviews?status=rejected"));
        assert_eq!((none.status, none.json()["data"].clone()), (200, json!([])), "{version}");
    }
    let largest = 9_007_199_254_740_991_u64;
    for (path, name) in [("/api/v2/vcs?page=", "page"), ("/api/v1/vcs?offset=", "offset")] {
        for number in ["1000", "9007199254740991", "9007199254740993"] {
            let reply = client.get(&format!("{path}{number}"));
            assert_eq!((reply.status, reply.json()["data"].clone()), (200, json!([])), "{path}{number}");
            let used = number.parse::<u64>().unwrap().min(largest);
            assert_eq!(reply.json()["pagination"][name], used, "{path}{number}");
        }
    }
    for path in [
        "/api/v1/vcs?limit=0",
        "/api/v2/vcs?limit=-1",
        "/api/v3/vcs?limit=0",
        "/api/v3/vcs?limit=ten",
        "/api/v3/vcs?limit=1.5",
        "/api/v2/vcs?page=0",
        "/api/v1/vcs?offset=-1",
    ] {
        assert_eq!(code(&client.get(path)), (400, "invalid_parameter".to_owned()), "{path}");
    }
}

#[test]
fn a_link_that_proxies_would_reject_is_left_to_the_cursor() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let slugs = client.get("/api/v3/vcs?limit=100").slugs().join(",");
    let reply = client.get(&format!("/api/v3/vcs?limit=40&slug={slugs}"));
    assert_eq!((reply.status, reply.header("link")), (200, ""));
    let cursor = reply.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert!(cursor.len() > 2_000, "{}", cursor.len());
    let next = client.get(&format!("/api/v3/vcs?cursor={cursor}"));
    assert_eq!(next.slugs().join(","), slugs.split(',').skip(40).take(40).collect::<Vec<_>>().join(","));
    assert!(client.get("/api/v3/vcs?limit=40").header("link").contains("rel=\"next\""));
}

#[test]
fn an_explicit_default_agrees_only_with_a_cursor_of_the_same_query() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let go_on = |first: &str, then: &str| {
        let page = client.get(first).json();
        let cursor = page["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        let path = first.split('?').next().unwrap();
        client.get(&format!("{path}?cursor={cursor}&{then}")).status
    };
    assert_eq!(go_on("/api/v3/leaderboard?metric=fairness&limit=1", "metric=health_score"), 400);
    assert_eq!(go_on("/api/v3/leaderboard?limit=1", "metric=health_score"), 200);
    assert_eq!(go_on("/api/v3/vcs?sort=-name&limit=1", "sort=-health_score,-investment_count"), 400);
    assert_eq!(go_on("/api/v3/vcs?limit=1", "sort=-health_score,-investment_count"), 200);
    assert_eq!(go_on("/api/v3/vcs?q=capital&limit=1", "sort=-health_score,-investment_count"), 400);
    assert_eq!(go_on("/api/v3/vcs?q=capital&limit=1", "sort=relevance"), 200);
    assert_eq!(go_on("/api/v3/reviews?limit=1", "status=approved"), 200);
    assert_eq!(go_on("/api/v3/reviews?limit=1", "status=pending"), 400);
    let page = client.get("/api/v3/vcs/alder-capital/reviews?limit=1").json();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    assert_eq!(client.get(&format!("/api/v3/vcs/Alder-Capital/reviews?cursor={cursor}")).status, 200);
}
