//! Paging, field selection and fit of the searches.

use std::collections::BTreeSet;
use std::sync::Arc;

use auth::quota::Tier;
use mcp::{Tool, ToolBackend, ToolCall};
use release::ActiveRelease;
use serde_json::{Value, json};

use super::tools::TestTools;
use crate::support::harness::{Server, bundled};

/// The items of all pages of a search; every page must have the same total, and only the last one no cursor.
fn all_items(tools: &TestTools, tool: Tool, arguments: &Value) -> Vec<Value> {
    let mut items = Vec::new();
    let mut page = tools.call(tool, arguments).unwrap();
    let total = page["total"].clone();
    loop {
        assert_eq!(page["total"], total, "{arguments}");
        let own = page["items"].as_array().unwrap();
        assert!(!own.is_empty() || items.is_empty(), "{arguments}: an empty page");
        items.extend(own.iter().cloned());
        let Some(cursor) = page.get("next_cursor") else { break };
        page = tools.call(tool, &json!({ "cursor": cursor })).unwrap();
    }
    assert_eq!(total, items.len(), "{arguments}");
    items
}

#[test]
fn pages_return_every_record_once_whatever_their_size() {
    let tools = TestTools::bundled();
    for (tool, arguments) in [
        (Tool::SearchVcs, json!({ "limit": 50 })),
        (Tool::SearchVcs, json!({ "limit": 7, "country": "DE,US", "sort": "-portfolio_count" })),
        (Tool::SearchVcs, json!({ "limit": 3, "query": "capital" })),
        (Tool::SearchVcs, json!({ "limit": 9, "stage": "seed", "sector": "fintech", "raise_usd": 2_000_000 })),
        (Tool::SearchStartups, json!({ "limit": 50, "status": "operating" })),
        (Tool::SearchStartups, json!({ "limit": 50, "fields": "*", "country": "DE" })),
        (Tool::GetFundingRounds, json!({ "limit": 50, "since": "2026-01-01" })),
        (Tool::SearchPeople, json!({ "limit": 50, "kind": "firm" })),
    ] {
        let items = all_items(&tools, tool, &arguments);
        let key = if tool == Tool::GetFundingRounds { "id" } else { "slug" };
        let keys: BTreeSet<&str> = items.iter().map(|item| item[key].as_str().unwrap()).collect();
        assert!(keys.len() == items.len() && items.len() > 20, "{arguments}: {}", items.len());
    }
}

#[test]
fn pages_are_in_the_order_of_a_single_rest_list() {
    let server = Server::bundled();
    let tools = TestTools::bundled();
    let client = server.client(Tier::Pro);
    for (tool, arguments, path) in [
        (Tool::SearchVcs, json!({ "limit": 40, "sort": "-responsiveness,name" }), "vcs?sort=-responsiveness,name"),
        (
            Tool::SearchVcs,
            json!({ "limit": 40, "stage": "seed", "sector": "fintech", "raise_usd": "2000000" }),
            "match?stage=seed&sector=fintech&raise_usd=2000000",
        ),
        (Tool::SearchStartups, json!({ "limit": 40, "investor": "alder-capital" }), "startups?investor=alder-capital"),
    ] {
        let rest = client.get(&format!("/api/v3/{path}&limit=100&fields=slug")).json();
        let expected: Vec<&str> =
            rest["data"].as_array().unwrap().iter().map(|record| record["slug"].as_str().unwrap()).collect();
        let items = all_items(&tools, tool, &arguments);
        let found: Vec<&str> = items.iter().take(expected.len()).map(|item| item["slug"].as_str().unwrap()).collect();
        assert_eq!(found, expected, "{arguments}");
    }
}

#[test]
fn a_cursor_carries_its_search_and_rejects_another() {
    let tools = TestTools::bundled();
    let first = tools.call(Tool::SearchVcs, &json!({ "country": "US", "limit": 3, "fields": "slug" })).unwrap();
    let cursor = &first["next_cursor"];
    let next = |arguments: Value| tools.call(Tool::SearchVcs, &arguments);
    let second = next(json!({ "cursor": cursor })).unwrap();
    assert_eq!(second["items"].as_array().unwrap().len(), 3);
    assert!(second["items"].as_array().unwrap().iter().all(|item| item.as_object().unwrap().len() == 1));
    // Models repeat the arguments; those may be spelled in another way.
    assert_eq!(next(json!({ "cursor": cursor, "country": "usa", "limit": 3, "fields": "slug" })).unwrap(), second);
    let wider = next(json!({ "cursor": cursor, "limit": 5, "fields": "slug,country" })).unwrap();
    let items = wider["items"].as_array().unwrap();
    assert!(items.len() == 5 && items[0]["slug"] == second["items"][0]["slug"] && items[0]["country"] == "US");
    for (arguments, argument, words) in [
        (json!({ "cursor": cursor, "country": "DE" }), "country", "differs from the query of the cursor"),
        (json!({ "cursor": cursor, "stage": "seed" }), "stage", "differs"),
        (json!({ "cursor": cursor, "raise_usd": 5 }), "raise_usd", "differs"),
        (json!({ "cursor": "abc" }), "cursor", "`next_cursor` of the previous result"),
    ] {
        let errors = next(arguments.clone()).unwrap_err();
        assert_eq!(errors[0].parameter, argument, "{arguments}");
        assert!(errors[0].detail.contains(words), "{errors:?}");
    }
    let of_another = tools.call(Tool::SearchStartups, &json!({ "cursor": cursor })).unwrap_err();
    assert_eq!(of_another[0].parameter, "cursor");
    let forged = TestTools::with_secret(bundled(), [8; 32]);
    assert_eq!(forged.call(Tool::SearchVcs, &json!({ "cursor": cursor })).unwrap_err()[0].parameter, "cursor");
}

#[test]
fn selected_fields_are_returned_and_unknown_ones_are_explained() {
    let tools = TestTools::bundled();
    let keys = |tool: Tool, fields: &str| {
        let result = tools.call(tool, &json!({ "fields": fields, "limit": 2 })).unwrap();
        let item = result["items"][1].as_object().unwrap().clone();
        item.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(Tool::SearchVcs, "name, healthScore,url"), ["health_score", "name", "url"]);
    assert_eq!(keys(Tool::SearchStartups, "slug,investors.name"), ["investors", "slug"]);
    assert_eq!(keys(Tool::GetFundingRounds, "id"), ["id"]);
    assert!(keys(Tool::SearchVcs, "*").contains(&"ratings".to_owned()));
    // Only with `raise_usd` there is a fit.
    assert_eq!(keys(Tool::SearchVcs, "slug,fit.points"), ["slug"]);
    let fit = json!({ "fields": "slug,fit.points", "raise_usd": 1_000_000, "stage": "seed", "limit": 1 });
    let fit = tools.call(Tool::SearchVcs, &fit).unwrap();
    assert!(fit["items"][0]["fit"]["points"].as_u64() > Some(0), "{fit}");
    let errors = tools.call(Tool::SearchVcs, &json!({ "fields": "slug,helthScore", "sector": "fintec" })).unwrap_err();
    let named: Vec<(&str, &str)> =
        errors.iter().map(|error| (error.parameter.as_str(), error.did_you_mean.as_deref().unwrap())).collect();
    assert_eq!(named, [("sector", "fintech"), ("fields", "health_score")]);
}

#[test]
fn firms_that_fit_fulfil_the_other_filters() {
    let tools = TestTools::bundled();
    let search = |extra: Value| {
        let mut arguments = json!({ "stage": "seed", "sector": "fintech", "raise_usd": 2_000_000, "limit": 50 });
        extra.as_object().unwrap().iter().for_each(|(name, value)| arguments[name] = value.clone());
        tools.call(Tool::SearchVcs, &arguments)
    };
    let slugs = |result: &Value| -> Vec<String> {
        result["items"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()).collect()
    };
    let all =
        all_items(&tools, Tool::SearchVcs, &json!({ "stage": "seed", "sector": "fintech", "raise_usd": 2_000_000 }));
    let good: Vec<&str> = all
        .iter()
        .filter(|item| item["health_score"].as_u64() >= Some(60))
        .map(|item| item["slug"].as_str().unwrap())
        .collect();
    assert!(!good.is_empty() && good.len() < all.len());
    let filtered = search(json!({ "min_health_score": 60 })).unwrap();
    assert_eq!(filtered["total"], good.len());
    let found = slugs(&filtered);
    assert_eq!(found, good[..found.len()]);
    for item in filtered["items"].as_array().unwrap() {
        let fit = &item["fit"];
        let points: u64 =
            fit["reasons"].as_array().unwrap().iter().map(|reason| reason["points"].as_u64().unwrap()).sum();
        assert_eq!(fit["points"], points);
        assert!(points <= fit["max_points"].as_u64().unwrap());
    }
    for (extra, argument) in [(json!({ "query": "alder" }), "query"), (json!({ "sort": "name" }), "sort")] {
        let errors = search(extra).unwrap_err();
        assert_eq!(errors[0].parameter, argument);
        assert!(errors[0].detail.contains("`raise_usd`"), "{errors:?}");
    }
}

#[test]
fn a_search_continues_in_its_own_release() {
    let small = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small");
    let release = |version: &str| {
        Arc::new(crate::support::harness::catalog_of(crate::support::harness::copy_as(&small, version).path()))
    };
    let releases = Arc::new(ActiveRelease::new(release("2026-12-31.1"), 1));
    let backend = ToolBackend::new(Arc::clone(&releases), "https://api.example.com", [7; 32]);
    let call = |arguments: Value| {
        let call = ToolCall::parse(Tool::SearchVcs, arguments.as_object().unwrap()).unwrap();
        let result = backend.current().call(&call)?;
        Ok::<Value, Vec<catalog::ParameterError>>(serde_json::from_str(&result).unwrap())
    };
    let first = call(json!({ "limit": 2 })).unwrap();
    releases.replace(release("2027-01-01.1"));
    let second = call(json!({ "cursor": first["next_cursor"], "limit": 2 })).unwrap();
    assert_eq!((&second["snapshot"], &second["total"]), (&first["snapshot"], &first["total"]));
    assert_eq!(call(json!({})).unwrap()["snapshot"], "2027-01-01.1");
    for version in ["2027-01-02.1", "2027-01-03.1"] {
        releases.replace(release(version));
    }
    let expired = call(json!({ "cursor": first["next_cursor"] })).unwrap_err();
    assert!(expired[0].detail.contains("has expired; restart without `cursor`"), "{expired:?}");
}
