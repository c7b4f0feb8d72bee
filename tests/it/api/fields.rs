//! Envelopes of all three versions, and the fields of records: all, and those that a request selects.

use auth::quota::Tier;
use data::Table;
use serde_json::{Value, json};

use crate::support::harness::{Server, code};

pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
}

/// A record with each month as its first day.
fn in_days(record: &Value) -> Value {
    let is_month = |text: &str| text.len() == 7 && text.as_bytes()[4] == b'-' && text.starts_with("20");
    let value = |value: &Value| value.as_str().filter(|text| is_month(text)).map(|text| json!(format!("{text}-01")));
    let fields = record.as_object().unwrap().iter();
    fields.map(|(name, own)| (name.clone(), value(own).unwrap_or_else(|| own.clone()))).collect()
}

#[test]
fn each_version_has_its_envelope() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for path in ["vcs", "reviews", "sectors", "leaderboard"] {
        let v1 = client.get(&format!("/api/v1/{path}?limit=3&offset=2")).json();
        assert_eq!(keys(&v1), ["data", "pagination"], "{path}");
        let total = v1["pagination"]["total"].as_u64().unwrap();
        assert_eq!(v1["pagination"], json!({ "total": total, "limit": 3, "offset": 2 }));
        let v2 = client.get(&format!("/api/v2/{path}?limit=3&page=2")).json();
        assert_eq!(keys(&v2), ["data", "pagination"]);
        let pages = total.div_ceil(3);
        assert_eq!(v2["pagination"], json!({ "page": 2, "total_pages": pages, "total": total, "limit": 3 }));
        let v3 = client.get(&format!("/api/v3/{path}?limit=3")).json();
        assert_eq!(keys(&v3), ["data", "meta", "pagination"]);
        assert_eq!(keys(&v3["pagination"]), ["has_more", "limit", "next_cursor", "total"]);
        assert_eq!(keys(&v3["meta"]), ["invented", "license", "snapshot", "source"]);
        assert_eq!(v3["meta"]["snapshot"], "2026-11-20.1");
        assert_eq!(in_days(&v3["data"][2]), v1["data"][0], "the same rows in the same order");
        // The same without `/api`.
        assert_eq!(client.get(&format!("/v1/{path}?limit=3&offset=2")).json(), v1);
    }
}

#[test]
fn a_single_record_has_all_its_fields_in_every_version() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let slug = client.get("/api/v3/vcs?limit=1").slugs().remove(0);
    let record = client.get(&format!("/api/v3/vcs/{slug}")).json();
    let mut names = Table::Firms.model().fields.iter().map(|field| field.name).collect::<Vec<_>>();
    names.sort_unstable();
    assert_eq!(keys(&record["data"]), names);
    let mut former = record["data"].clone();
    let later = ["coverage_until", "first_seen", "changed_in"];
    former.as_object_mut().unwrap().retain(|name, _| !later.contains(&name.as_str()));
    for version in ["v1", "v2"] {
        let reply = client.get(&format!("/api/{version}/vcs/{}", slug.to_uppercase()));
        assert_eq!(reply.json(), json!({ "data": former }));
    }
    let score = &record["data"]["score"];
    let points: u64 = score["components"].as_array().unwrap().iter().map(|part| part["points"].as_u64().unwrap()).sum();
    assert_eq!(score["value"], points);
    assert_eq!(score["value"], record["data"]["health_score"]);
    let only = client.get(&format!("/api/v3/vcs/{slug}?fields=name,healthScore")).json();
    assert_eq!(keys(&only["data"]), ["health_score", "name"]);
}

#[test]
fn a_response_has_exactly_the_requested_fields() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let row = |path: &str| client.get(path).json()["data"][0].clone();
    assert_eq!(keys(&row("/api/v3/vcs?fields=name,slug,healthScore&limit=1")), ["health_score", "name", "slug"]);
    assert_eq!(keys(&row("/api/v3/leaderboard?fields=rank,slug&limit=1")), ["rank", "slug"]);
    assert_eq!(keys(&row("/api/v3/leaderboard?fields=rankValue&limit=1")), ["rank_value"]);
    assert_eq!(keys(&row("/api/v3/vcs?limit=1")).len(), Table::Firms.default_fields().len());
    assert_eq!(keys(&row("/api/v3/vcs?limit=1&fields=*")).len(), Table::Firms.model().fields.len());
    let startup = row("/api/v3/startups?limit=1&fields=slug,rounds,people");
    assert_eq!(keys(&startup), ["people", "rounds", "slug"]);
    assert!(!startup["rounds"].as_array().unwrap().is_empty());
    let stats = client.get("/api/v3/stats?fields=firms,startups").json();
    assert_eq!(stats["data"], json!({ "firms": 400, "startups": 2_000 }));
    let wrong = client.get("/api/v3/vcs?fields=name,helthScore");
    assert_eq!(code(&wrong), (400, "unknown_field".to_owned()));
    assert_eq!(wrong.json()["errors"][0]["did_you_mean"], "health_score");
    // v1 and v2 have no field selection.
    let warned = client.get("/api/v2/vcs?fields=name&limit=1").json();
    assert_eq!(warned["meta"]["warnings"][0]["code"], "unknown_parameter");
}

/// The paths of all nested values, such as `score.value`.
fn paths(value: &Value, path: &str, found: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Array(values) if values.iter().any(Value::is_object) => {
            values.iter().for_each(|value| paths(value, path, found));
        }
        Value::Object(object) => {
            for (key, value) in object {
                paths(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn nested_fields_can_be_selected_on_every_path_of_v3() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let catalog = server.state.releases.current();
    let slug = |table| catalog.snapshot().slug(table, 0).to_owned();
    let (firm, startup, person) = (slug(Table::Firms), slug(Table::Startups), slug(Table::People));
    for (path, fields, expected) in [
        ("vcs", "slug,score.value", vec!["score.value", "slug"]),
        (
            "vcs",
            "score.components.maxPoints,ratings.valueAdd",
            vec!["ratings.value_add", "score.components.max_points"],
        ),
        ("vcs?q=capital", "topCoInvestors.sharedRounds,name", vec!["name", "top_co_investors.shared_rounds"]),
        (&format!("vcs/{firm}"), "score.components.name", vec!["score.components.name"]),
        (&format!("vcs/{firm}/reviews"), "vc.slug,rating", vec!["rating", "vc.slug"]),
        (&format!("vcs/{firm}/portfolio"), "investors.lead", vec!["investors.lead"]),
        (&format!("vcs/{firm}/rounds"), "startup.name", vec!["startup.name"]),
        (&format!("vcs/{firm}/people"), "organization.slug", vec!["organization.slug"]),
        (&format!("vcs/{firm}/co-investors"), "score.value,sharedRounds", vec!["score.value", "shared_rounds"]),
        ("reviews", "vc.name", vec!["vc.name"]),
        ("leaderboard", "score.low,rank", vec!["rank", "score.low"]),
        ("startups", "rounds.leadInvestors.slug,slug", vec!["rounds.lead_investors.slug", "slug"]),
        (&format!("startups/{startup}"), "investors.name,people.organization.kind", vec!["investors.name"]),
        ("funding-rounds", "leadInvestors.name,id", vec!["id", "lead_investors.name"]),
        ("people", "organization.kind", vec!["organization.kind"]),
        (
            &format!("people/{person}"),
            "organization.kind,organization.name",
            vec!["organization.kind", "organization.name"],
        ),
        ("match?stage=seed", "reasons.points,ratings.overall", vec!["ratings.overall", "reasons.points"]),
        ("vcs/facets", "stage.count", vec!["stage.count"]),
        ("snapshots", "counts.firms,version", vec!["counts.firms", "version"]),
        ("sectors", "slug,vcCount", vec!["slug", "vc_count"]),
        ("suggest?q=alder", "name", vec!["name"]),
    ] {
        let separator = if path.contains('?') { '&' } else { '?' };
        let reply = client.get(&format!("/api/v3/{path}{separator}fields={fields}"));
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        let mut found = std::collections::BTreeSet::new();
        paths(&reply.json()["data"], "", &mut found);
        // A list that is empty in all rows shows only its own name.
        let found: Vec<&str> = found.iter().map(String::as_str).filter(|path| expected.contains(path)).collect();
        assert_eq!(found, expected, "{path}: {}", reply.text);
        let first = fields.split(',').next().unwrap();
        let wrong = client.get(&format!("/api/v3/{path}{separator}fields={first}x"));
        assert_eq!(code(&wrong), (400, "unknown_field".into()), "{path}: {}", wrong.text);
        assert!(wrong.json()["errors"][0]["did_you_mean"].is_string(), "{path}: {}", wrong.text);
        let all = client.get(&format!("/api/v3/{path}{separator}fields=*"));
        assert_eq!(all.status, 200, "{path}: {}", all.text);
    }
    let whole = client.get(&format!("/api/v3/vcs/{firm}")).json()["data"].clone();
    let part =
        client.get(&format!("/api/v3/vcs/{firm}?fields=score.components.points,score.value,name")).json()["data"]
            .clone();
    let points: Vec<Value> = whole["score"]["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|component| json!({ "points": component["points"] }))
        .collect();
    assert_eq!(
        part,
        json!({ "name": whole["name"], "score": { "value": whole["score"]["value"], "components": points } })
    );
}
