//! Suggestions for unknown values: the nearest slug, value, key or path, in a form that works.

use auth::quota::Tier;
use catalog::Catalog;
use data::{Facet, Table};
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, bundled, real_catalog};

/// The first error of a list request.
fn param_error(client: &Client, list: &str, name: &str, value: &str) -> Value {
    let reply = client.list(&format!("/api/v3/{list}"), &[(name, value)]);
    assert_eq!(reply.status, 400, "{list} {name}={value}: {}", reply.text);
    reply.json()["errors"][0].clone()
}

#[test]
fn the_nearest_slugs_are_first_and_unique() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, nearest) in [
        ("vcs/stonecro", "stonecrop"),
        ("vcs/Stonecropp", "stonecrop"),
        ("vcs/aldr-capitol", "alder-capital"),
        ("vcs/alder_capital", "alder-capital"),
        ("vcs/lader-capital/rounds", "alder-capital"),
        ("people/nora-kelrigde", "nora-kelridge"),
        ("startups/tide-wik-labs", "tide-wick-labs"),
    ] {
        let problem = client.get(&format!("/api/v3/{path}")).json();
        if path.contains("/rounds") {
            assert_eq!(problem["status"], 404, "{problem}");
        }
        assert_eq!(problem["did_you_mean"][0], nearest, "{path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().ends_with(&format!("did you mean `{nearest}`?")), "{problem}");
    }
    for path in ["vcs/stonecro", "vcs/capital", "people/nora", "startups/labs"] {
        let problem = client.get(&format!("/api/v3/{path}")).json();
        let mut slugs: Vec<String> = serde_json::from_value(problem["did_you_mean"].clone()).unwrap();
        assert!((1..=3).contains(&slugs.len()), "{path}: {slugs:?}");
        slugs.sort();
        let all = slugs.len();
        slugs.dedup();
        assert_eq!(slugs.len(), all, "{path}: {problem}");
    }
    for version in ["v1", "v2", "v3"] {
        let problem = client.get(&format!("/api/{version}/vcs/stonecro")).json();
        assert_eq!(problem["did_you_mean"][0], "stonecrop", "{version}");
    }
    assert_eq!(param_error(&client, "reviews", "vc", "stonecro")["did_you_mean"], "stonecrop");
    assert_eq!(param_error(&client, "people", "organization", "tide-wik-labs")["did_you_mean"], "tide-wick-labs");
}

#[test]
fn the_nearest_host_is_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let host =
        client.get("/api/v3/startups?known=website&limit=1").json()["data"][0]["website"].as_str().unwrap().to_owned();
    let host = host.trim_start_matches("https://").trim_start_matches("www.").split('/').next().unwrap().to_owned();
    for typed in [host.replacen('.', "", 1), format!("https://www.{}x/about", host), host.replace("example", "exmaple")]
    {
        assert_eq!(param_error(&client, "startups", "website", &typed)["did_you_mean"], host.as_str(), "{typed}");
    }
    assert_eq!(param_error(&client, "startups", "website", "nothing-like-it.test")["did_you_mean"], Value::Null);
}

/// Removes a letter of every `step`th slug: that slug, or another one as near, is suggested first.
fn assert_slugs_are_suggested(catalog: &Catalog, table: Table, step: usize) {
    let snapshot = catalog.snapshot();
    for row in (0..snapshot.rows(table)).step_by(step) {
        let slug = snapshot.slug(table, row);
        let typed = format!("{}{}", &slug[..slug.len() / 2], &slug[slug.len() / 2 + 1..]);
        if typed.len() < 3 || typed.contains("--") || typed.ends_with('-') || catalog.find(table, &typed).is_some() {
            continue;
        }
        let near = catalog.nearest_slugs(table, &typed, 3);
        let is_near = |near: &String| near == slug || near.len().abs_diff(typed.len()) <= 1;
        assert!(near.first().is_some_and(is_near), "{typed}: {near:?}");
        assert!(near.len() == 3 || near.contains(&slug.to_owned()), "{typed}: {near:?}");
        assert!((1..near.len()).all(|index| !near[..index].contains(&near[index])), "{typed}: {near:?}");
    }
}

#[test]
fn a_slug_without_a_letter_is_suggested() {
    let catalog = bundled();
    for table in [Table::Firms, Table::Startups, Table::People, Table::Sectors] {
        assert_slugs_are_suggested(&catalog, table, 3);
    }
}

#[test]
fn a_slug_of_the_real_data_without_a_letter_is_suggested() {
    let Some(catalog) = real_catalog() else { return };
    for (table, step) in [(Table::Firms, 37), (Table::Startups, 401), (Table::People, 37)] {
        assert_slugs_are_suggested(&catalog, table, step);
    }
}

#[test]
fn a_sort_key_is_quoted_as_received() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (value, suggestion) in
        [("-relevance", "relevance"), ("-Relevance", "relevance"), ("--name", "-name"), ("-nmae", "-name")]
    {
        let error = param_error(&client, "vcs", "sort", value);
        assert_eq!(error["did_you_mean"], suggestion, "{error}");
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("`{value}`")), "{detail}");
        assert_eq!(detail.contains("cannot be reversed"), value.to_lowercase() == "-relevance", "{detail}");
        let fixed = client.list("/api/v3/vcs", &[("sort", suggestion), ("q", "capital")]);
        assert_eq!(fixed.status, 200, "{}", fixed.text);
        let warned = client.list("/api/v1/vcs", &[("sort", value), ("q", "capital")]).json();
        assert_eq!(warned["meta"]["warnings"][0], error);
    }
    assert_eq!(param_error(&client, "funding-rounds", "sort", "-relevance").get("did_you_mean"), None);
}

#[test]
fn nouns_have_an_article() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (list, name, expected) in [
        ("people", "kind", "`zzqx` is not an organization kind"),
        ("vcs", "kind", "`zzqx` is not a kind"),
        ("vcs", "stage", "`zzqx` is not a stage"),
        ("vcs", "sector", "`zzqx` is not a sector of this snapshot"),
        ("startups", "investor", "`zzqx` is not a firm of this snapshot"),
        ("people", "organization", "`zzqx` is not a firm or startup of this snapshot"),
        ("funding-rounds", "startup", "`zzqx` is not a startup of this snapshot"),
    ] {
        let error = param_error(&client, list, name, "zzqx");
        let detail = error["detail"].as_str().unwrap();
        assert_eq!(detail.split(';').next(), Some(expected));
        // What the snapshot does not have comes with an example that is accepted.
        if let Some((_, example)) = detail.split_once("; use one such as ") {
            assert_eq!(client.list(&format!("/api/v3/{list}"), &[(name, example.trim_matches('`'))]).status, 200);
        }
        assert_eq!(error.get("accepted").is_none(), detail.contains("; use one such as "), "{detail}");
    }
}

#[test]
fn cities_are_suggested_as_in_responses() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    assert_eq!(param_error(&client, "vcs", "city", "berlni")["did_you_mean"], "Berlin");
    let mut unfolded = 0;
    for (index, folded) in snapshot.terms(Facet::City).enumerate() {
        if snapshot.facet_count(Table::Firms, Facet::City, index as u32) == 0 {
            continue;
        }
        let name = snapshot.city_name(index as u32).unwrap();
        unfolded += usize::from(!name.is_ascii());
        let firms = client.list("/api/v3/vcs", &[("city", &name), ("fields", "city"), ("limit", "1")]).json();
        assert_eq!(firms["data"], json!([{ "city": name }]), "{folded}");
        let suggestion = param_error(&client, "vcs", "city", &format!("{folded}q"))["did_you_mean"].clone();
        assert_eq!(suggestion, name, "{folded}");
    }
    assert!(unfolded > 0, "some city of the bundled data is not written in ASCII");
}

#[test]
fn websites_one_edit_away_are_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let startups = client.get("/api/v3/startups?known=website&limit=50&fields=website").json();
    for startup in startups["data"].as_array().unwrap() {
        let website = startup["website"].as_str().unwrap();
        let host = website.split('/').nth(2).unwrap().trim_start_matches("www.");
        for mistyped in [host.replacen('.', "", 1), format!("{host}m"), format!("https://www.{}/about", &host[1..])] {
            let found = client.list("/api/v3/startups", &[("website", &mistyped)]);
            if found.status != 200 {
                assert_eq!(found.json()["errors"][0]["did_you_mean"], host, "{mistyped}");
            }
        }
    }
}

#[test]
fn countries_of_several_words_are_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (typed, code) in [
        ("Germny", "DE"),
        ("United Stats", "US"),
        ("Untied States", "US"),
        ("Unitd States of Amerca", "US"),
        ("United Kingdon", "GB"),
        ("Great Britan", "GB"),
        ("Soth Korea", "KR"),
        ("Czeck Republic", "CZ"),
        ("Saudi Arabi", "SA"),
        ("New Zeeland", "NZ"),
        ("Viet Nan", "VN"),
        ("Untied Arab Emirats", "AE"),
    ] {
        let error = param_error(&client, "vcs", "country", typed);
        assert_eq!(error["did_you_mean"], code, "{typed}: {error}");
    }
    assert_eq!(param_error(&client, "vcs", "country", "Atlantis").get("did_you_mean"), None);
}

#[test]
fn a_similar_path_is_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (version, path, suggestion) in [
        ("v3", "vcs/alder-capital/coinvestors", "/vcs/alder-capital/co-investors"),
        ("v3", "vc/alder-capital", "/vcs/alder-capital"),
        ("v3", "fundingrounds", "/funding-rounds"),
        ("v1", "leaderbord", "/leaderboard"),
    ] {
        let reply = client.get(&format!("/api/{version}/{path}"));
        let problem = reply.json();
        assert_eq!((reply.status, &problem["code"]), (404, &json!("unknown_route")), "{path}");
        assert_eq!(problem["did_you_mean"], json!([suggestion]), "{path}");
        assert!(problem["detail"].as_str().unwrap().contains(&format!("did you mean `{suggestion}`?")), "{problem}");
        assert_eq!(client.get(&format!("/api/{version}{suggestion}")).status, 200, "{suggestion}");
    }
    for path in ["nowhere", "vcs/alder-capital/zzqx", "vcs/alder-capital/rounds/7"] {
        let problem = client.get(&format!("/api/v3/{path}")).json();
        assert_eq!(problem.get("did_you_mean"), None, "{path}: {problem}");
    }
}

#[test]
fn suggestions_are_limited_to_the_first_unknown_records() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let suggestions = |parameter: &str, unknown: [&str; 8]| -> Vec<Value> {
        let errors = client.list("/api/v3/reviews", &[(parameter, &unknown.join(","))]).json()["errors"].clone();
        let suggestions = errors.as_array().unwrap().iter().map(|error| error["did_you_mean"].clone());
        suggestions.collect()
    };
    let names = ["stonecro", "stonecrp", "stoneorp", "stnecrop", "tonecrop", "stonecropp", "stonecropx", "stonecrob"];
    let found = suggestions("vc", names);
    assert_eq!(found.len(), names.len());
    assert!(found[..2].iter().all(|suggestion| *suggestion == "stonecrop"), "{found:?}");
    assert!(found[2..].iter().all(Value::is_null), "{found:?}");
    // Stages are few: none of these suggestions needs a search.
    let found = suggestions("stage", ["see", "sede", "sed", "sseed", "eseed", "seeed", "seedd", "eeds"]);
    assert!(found[..6].iter().all(|suggestion| *suggestion == "seed"), "{found:?}");
    assert!(found[6..].iter().all(Value::is_null), "{found:?}");
}
