//! REST as clients see it: envelopes, errors, headers and fields in all three versions.

use auth::quota::Tier;
use data::{Facet, Table};
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, code};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
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
        assert_eq!(v3["data"][2], v1["data"][0], "the same rows in the same order");
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
    former.as_object_mut().unwrap().retain(|name, _| name != "first_seen" && name != "changed_in");
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

#[test]
fn a_sector_can_be_named_by_its_name_even_with_a_comma() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    for row in 0..snapshot.rows(Table::Sectors) {
        let (slug, name) = (snapshot.slug(Table::Sectors, row), snapshot.name(Table::Sectors, row));
        let total =
            |value: &str| client.list("/api/v3/vcs", &[("sector", value)]).json()["pagination"]["total"].clone();
        assert_eq!(total(slug), total(name), "{name}");
        assert_eq!(total(slug), snapshot.facet_count(Table::Firms, Facet::Sector, row));
    }
}

#[test]
fn checks_run_in_the_order_of_the_contract() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Free), server.anonymous());
    let key = client.key.clone().unwrap();
    let with = |text: &str| Client { key: Some(text.to_owned()), ..nobody.clone() };
    assert_eq!(code(&nobody.get(&format!("/api/v3/vcs?api_key={key}"))), (400, "key_in_url".into()));
    assert_eq!(code(&nobody.get("/api/v3/vcs")), (401, "missing_api_key".into()));
    assert_eq!(code(&nobody.get("/api/v3/nowhere?foo=1")), (401, "missing_api_key".into()));
    assert_eq!(code(&with(&key[..39]).get("/api/v1/vcs")), (401, "malformed_api_key".into()));
    let unknown = "vdx_000000000000000000000000000000";
    let digits = crc_suffix(unknown);
    assert_eq!(code(&with(&format!("{unknown}{digits}")).get("/api/v2/vcs")), (401, "invalid_api_key".into()));
    assert_eq!(code(&client.get("/api/v3/nowhere?foo=1")), (404, "unknown_route".into()));
    assert_eq!(code(&client.get("/api/v1/startups")), (404, "unknown_route".into()));
    assert_eq!(code(&client.get("/api/v4/vcs")), (404, "unknown_route".into()));
    let post = client.send("POST", "/api/v3/vcs", &[]);
    assert_eq!((code(&post), post.header("allow")), ((405, "method_not_allowed".into()), "GET, HEAD, OPTIONS"));
    let missing = client.get("/api/v3/vcs/no-such-firm-anywhere");
    assert_eq!(code(&missing), (404, "not_found".into()));
    let refused = nobody.get("/api/v3/vcs");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    assert_eq!((refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")), ("0", "0"));
    assert!(!refused.text.contains(&key));
}

/// The checksum of a key's 30 random characters, computed independently: CRC-32 in six base62 digits.
fn crc_suffix(key: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut crc = u32::MAX;
    for byte in key.trim_start_matches("vdx_").bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut rest = !crc;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest as usize % 62];
        rest /= 62;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

#[test]
fn every_response_has_the_common_headers() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Pro), server.anonymous());
    let etag = client.get("/api/v3/vcs").header("etag").to_owned();
    let replies = [
        client.get("/api/v3/vcs"),
        client.get("/api/v3/vcs?foo=1"),
        client.get("/api/v3/nowhere"),
        client.send("DELETE", "/api/v3/vcs", &[]),
        client.send("HEAD", "/api/v3/vcs", &[]),
        client.send("OPTIONS", "/api/v3/vcs", &[]),
        client.send("GET", "/api/v3/vcs", &[("if-none-match", &etag)]),
        client.get("/api/v3/usage"),
        nobody.get("/api/v3/vcs"),
        nobody.get("/api/v3/vcs?key=vdx_x"),
    ];
    for reply in replies {
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "x-snapshot"] {
            assert!(!reply.header(name).is_empty(), "{} without {name}", reply.status);
        }
        assert_eq!(reply.header("x-api-version"), "3");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        if reply.status >= 400 {
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert_eq!(reply.json()["request_id"], reply.header("x-request-id"));
        }
    }
    let old = client.get("/api/v1/vcs?stage=seed");
    assert!(old.header("link").ends_with("/api/v3/vcs>; rel=\"successor-version\""), "{}", old.header("link"));
    let new = client.get("/api/v3/vcs?limit=2");
    assert!(new.header("link").ends_with("rel=\"next\""));
    let next = new.header("link").split(['<', '>']).nth(1).unwrap();
    let path = &next[client.base.len()..];
    assert_eq!(client.get(path).slugs(), client.get("/api/v3/vcs?limit=4").slugs()[2..]);
}

#[test]
fn a_matching_etag_returns_304() {
    let server = Server::bundled();
    let (one, other) = (server.client(Tier::Free), server.client(Tier::Pro));
    let first = one.get("/api/v3/vcs?stage=seed&limit=3");
    let etag = first.header("etag");
    assert!(etag.starts_with("W/\""));
    assert_eq!(other.get("/api/v3/vcs?limit=3&stage=seed").header("etag"), etag, "the same for two keys");
    let again = one.send("GET", "/api/v3/vcs?stage=seed&limit=3", &[("if-none-match", etag)]);
    assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", etag));
    assert_eq!(again.header("x-ratelimit-remaining"), "99", "a 304 costs nothing");
    assert_ne!(one.get("/api/v3/vcs?stage=growth&limit=3").header("etag"), etag);
}

#[test]
fn large_responses_are_compressed_on_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let plain = client.send("GET", "/api/v3/vcs?limit=100", &[("accept-encoding", "identity")]);
    assert!(plain.header("content-encoding").is_empty());
    let packed = client.send("GET", "/api/v3/vcs?limit=100", &[("accept-encoding", "br, gzip;q=0.8")]);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("vary"), "Accept, Accept-Encoding");
    assert_eq!(packed.text, plain.text);
    let small = client.send("GET", "/api/v3/usage", &[("accept-encoding", "gzip")]);
    assert!(small.header("content-encoding").is_empty());
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

#[test]
fn ties_on_the_leaderboard_share_a_rank() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for metric in ["health_score", "responsiveness", "fairness", "value_add", "ghosting_rate", "activity"] {
        let mut rows: Vec<(u64, f64, String)> = Vec::new();
        for page in 1.. {
            let json = client.get(&format!("/api/v2/leaderboard?metric={metric}&limit=100&page={page}")).json();
            let data = json["data"].as_array().unwrap();
            if data.is_empty() {
                break;
            }
            rows.extend(data.iter().map(|row| {
                let slug = row["slug"].as_str().unwrap().to_owned();
                (row["rank"].as_u64().unwrap(), row["rank_value"].as_f64().unwrap(), slug)
            }));
        }
        assert!(rows.len() > 50, "{metric}");
        for (place, row) in rows.iter().enumerate() {
            let better = rows.iter().filter(|other| match metric {
                "ghosting_rate" => other.1 < row.1,
                _ => other.1 > row.1,
            });
            assert_eq!(row.0, better.count() as u64 + 1, "{metric} {place}");
        }
        let tied = rows.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        assert!(tied.clone().all(|pair| pair[0].2 < pair[1].2), "ties go by slug");
        if metric == "activity" {
            assert!(tied.count() > 0);
        }
    }
    // The rank is that within the filtered set.
    let filtered = client.get("/api/v3/leaderboard?country=DE&limit=1").json();
    assert_eq!(filtered["data"][0]["rank"], 1);
}

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
fn every_problem_type_links_to_the_docs() {
    let server = Server::bundled();
    let nobody = server.anonymous();
    let docs = nobody.get("/docs/errors");
    assert_eq!(docs.status, 200);
    for path in ["/api/v3/vcs", "/nowhere", "/api/v3/vcs?k=vdx_1"] {
        let kind = nobody.get(path).json()["type"].as_str().unwrap().to_owned();
        let (page, anchor) = kind.split_once('#').unwrap();
        assert_eq!(page, format!("{}/docs/errors", nobody.base));
        assert!(docs.text.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
}

#[test]
fn health_and_readiness_are_reported() {
    let server = Server::bundled();
    let nobody = server.anonymous();
    assert_eq!(nobody.get("/healthz").text, "ok\n");
    assert_eq!(nobody.get("/readyz").json()["snapshot"], "2026-11-20.1");
    assert!(nobody.get("/").text.contains("/api/mcp"));
    assert_eq!(nobody.send("POST", "/healthz", &[]).status, 405);
}

#[test]
fn names_of_all_record_types_are_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let reply = client.list("/api/v3/suggest", &[("q", "alder cap")]);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    assert_eq!(json["data"][0]["name"], "Alder Capital");
    assert_eq!(keys(&json["data"][0]), ["alias", "kind", "match", "matched", "name", "note", "score", "slug"]);
    let few = client.list("/api/v3/suggest", &[("q", "an"), ("limit", "30"), ("fields", "kind,name")]).json();
    let rows = few["data"].as_array().unwrap();
    assert_eq!(keys(&rows[0]), ["kind", "name"]);
    let kinds: std::collections::BTreeSet<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert!(kinds.len() >= 2, "{kinds:?}");
    assert_eq!(code(&client.get("/api/v3/suggest")), (400, "invalid_parameter".into()));
    assert_eq!(code(&client.get("/api/v1/suggest?q=a")), (404, "unknown_route".into()));
}

#[test]
fn a_search_explains_its_scores_on_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let json = client.list("/api/v3/vcs", &[("q", "aldr captial"), ("explain", "1"), ("limit", "3")]).json();
    let explained = json["meta"]["explain"].as_array().unwrap();
    assert_eq!(explained.len(), json["data"].as_array().unwrap().len());
    assert_eq!(explained[0]["slug"], json["data"][0]["slug"]);
    assert!(!explained[0]["parts"].as_array().unwrap().is_empty());
    let scores: Vec<f64> = explained.iter().map(|part| part["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert!(client.list("/api/v3/vcs", &[("q", "alder")]).json()["meta"].get("explain").is_none());
    assert_eq!(code(&client.get("/api/v3/vcs?q=alder&explain=perhaps")), (400, "invalid_parameter".into()));
    assert_eq!(code(&client.get("/api/v3/reviews?explain=1")), (400, "unknown_parameter".into()));
}

#[test]
fn a_search_without_matches_has_suggestions() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let json = client.list("/api/v3/vcs", &[("q", "aldxr kapitul partnas")]).json();
    let found = !json["data"].as_array().unwrap().is_empty();
    assert!(found || json["meta"]["did_you_mean"][0]["slug"].is_string(), "{json}");
    let nothing = client.list("/api/v3/vcs", &[("q", "zzqxj wvvkq")]).json();
    assert_eq!(nothing["pagination"]["total"], 0);
}

#[test]
fn an_empty_list_of_values_is_ignored_in_v1_and_rejected_in_v3() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for query in ["stage=", "stage=,", "stage=%20,%20", "sector=,&q="] {
        assert_eq!(client.get(&format!("/api/v1/vcs?{query}")).json()["pagination"]["total"], 400, "{query}");
        assert_eq!(code(&client.get(&format!("/api/v3/vcs?{query}"))), (400, "invalid_parameter".into()), "{query}");
    }
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

#[test]
fn options_reports_the_quota_and_is_not_counted() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    client.get("/api/v3/stats");
    let told = client.send("OPTIONS", "/api/v3/vcs", &[]);
    assert_eq!(
        (told.status, told.header("x-ratelimit-limit"), told.header("x-ratelimit-remaining")),
        (204, "100", "99")
    );
    let told = server.anonymous().send("OPTIONS", "/api/v3/vcs", &[("authorization", "Bearer vdx_nonsense")]);
    assert_eq!((told.status, told.header("x-ratelimit-limit")), (204, "0"));
    assert_eq!(client.get("/api/v3/usage").json()["data"]["used"], 1);
}
