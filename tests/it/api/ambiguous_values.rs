//! Nothing is chosen in silence: names that fit several records, signs, empty values, contradictions, regions.

use auth::quota::Tier;
use data::Table;
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, Server, bundled, catalog_of, real_catalog};
use crate::support::two_firms::{dataset_with, serve};

/// The code and the text of each warning.
fn warnings(client: &Client, path: &str) -> Vec<(String, String)> {
    let json = client.get(path).json();
    let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    warnings.iter().map(|warning| (text(&warning["code"]), text(&warning["detail"]))).collect()
}

fn errors(client: &Client, path: &str) -> Vec<(String, String)> {
    let reply = client.get(path);
    assert_eq!(reply.status, 400, "{path}: {}", reply.text);
    let errors = reply.json()["errors"].as_array().unwrap().clone();
    errors
        .iter()
        .map(|error| (error["parameter"].as_str().unwrap().to_owned(), error["detail"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn a_sign_before_a_value_is_not_dropped() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, parameter, included) in [
        ("vcs?country=-US", "country", "`country=US`"),
        ("vcs?country=!US", "country", "`country=US`"),
        ("vcs?country=DE,-US", "country", "`country=US`"),
        ("vcs?sector=-fintech", "sector", "`sector=fintech`"),
        ("vcs?sector=NOT%20fintech", "sector", "`not_sector=fintech`"),
        ("vcs?stage=!seed", "stage", "`stage=seed`"),
        ("funding-rounds?country=%3CUS", "country", "`country=US`"),
        ("startups?investor=~alder", "investor", "`investor=alder`"),
        ("people?organization=-alder", "organization", "`organization=alder`"),
    ] {
        let errors = errors(&client, &format!("/api/v3/{path}"));
        assert_eq!((errors.len(), errors[0].0.as_str()), (1, parameter), "{errors:?}");
        assert!(errors[0].1.contains("no sign or operator") && errors[0].1.contains(included), "{errors:?}");
    }
    for (path, correction) in [
        ("vcs?country=-US", "write `not_country=US` to exclude it, `country=US` to include it"),
        ("vcs?not_country=-US", "write `not_country=US` to exclude it, `country=US` to include it"),
        ("vcs?stage_all=seed,!growth", "write `not_stage=growth` to exclude it, `stage=growth` to include it"),
        ("match?country=-US", "write `country=US` to include it; it cannot be excluded"),
    ] {
        let errors = errors(&client, &format!("/api/v3/{path}"));
        assert!(errors[0].1.ends_with(correction), "{errors:?}");
    }
    // v1 reads the value as ever, and says so.
    let total = |path: &str| client.get(path).json()["pagination"]["total"].clone();
    assert_eq!(total("/api/v1/vcs?country=-US"), total("/api/v1/vcs?country=US"));
    let warned = warnings(&client, "/api/v1/vcs?country=-US");
    assert!(warned.len() == 1 && warned[0].1.contains("the sign was ignored"), "{warned:?}");
    let tools = TestTools::bundled();
    for country in [json!("-US"), json!(["DE", "!US"])] {
        let errors = tools.call(Tool::SearchVcs, &json!({ "country": country })).unwrap_err();
        assert!(errors[0].detail.contains("no sign or operator"), "{errors:?}");
    }
    // A key in descending order is no sign of a value.
    assert_eq!(client.get("/api/v3/vcs?sort=-name").status, 200);
}

#[test]
fn an_empty_value_is_an_error_in_v3_and_a_warning_before() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for name in ["stage", "sector", "country", "min_health_score", "limit", "fields", "cursor", "sort", "explain"] {
        let lists = ["stage", "sector", "country", "fields", "sort"];
        let values: &[&str] = if lists.contains(&name) { &["", "%20", ",", ",+,"] } else { &["", "%20"] };
        for value in values {
            let errors = errors(&client, &format!("/api/v3/vcs?{name}={value}"));
            assert_eq!((errors.len(), errors[0].0.as_str()), (1, name), "{name}={value}: {errors:?}");
            assert!(errors[0].1.contains("give it a value or omit it"), "{errors:?}");
        }
    }
    // All mistakes are reported at once.
    let both = errors(&client, "/api/v3/vcs?stage=&country=Atlantis");
    assert_eq!(both.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["stage", "country"]);
    assert_eq!(errors(&client, "/api/v3/stats?fields=")[0].0, "fields");
    assert_eq!(errors(&client, "/api/v3/vcs/facets?stage=")[0].0, "stage");
    for path in ["/api/v3/vcs?q=", "/api/v3/vcs?query=", "/api/v3/vcs?_=", "/api/v3/vcs?utm_source="] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    for path in ["/api/v1/vcs?stage=&offset=", "/api/v2/vcs?stage=&page="] {
        let warned: Vec<String> = warnings(&client, path).into_iter().map(|(code, _)| code).collect();
        assert_eq!(warned, ["empty_value", "empty_value"], "{path}");
    }
    assert_eq!(warnings(&client, "/api/v1/vcs?q="), []);
    // Hosts send empty text, null and empty lists for arguments that a model left out; forms send all of their fields.
    let tools = TestTools::bundled();
    let all = tools.call(Tool::SearchVcs, &json!({})).unwrap()["total"].clone();
    let empty = json!({ "stage": "", "sector": [""], "country": null, "query": " " });
    assert_eq!(tools.call(Tool::SearchVcs, &empty).unwrap()["total"], all);
    assert!(!client.get("/vcs?stage=&country=").text.contains("is empty"));
}

#[test]
fn contradictions_are_reported() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let dates = errors(&client, "/api/v3/funding-rounds?since=2026-01-01&until=2025-01-01");
    assert!(dates[0].0 == "since" && dates[0].1.contains("since=2025-01-01&until=2026-01-01"), "{dates:?}");
    assert_eq!(client.get("/api/v3/funding-rounds?since=2025-01-01&until=2025-01-01").status, 200);
    for (path, parameter, correction) in [
        (
            "funding-rounds?min_amount_usd=5m&max_amount_usd=1m",
            "min_amount_usd",
            "min_amount_usd=1000000&max_amount_usd=5000000",
        ),
        ("startups?founded_from=2020&founded_to=2010", "founded_from", "founded_from=2010&founded_to=2020"),
        ("vcs?country=DE&not_country=DE,FR", "not_country", "`not_country` excludes what `country` requires"),
        ("reviews?vc=alder-capital&not_vc=alder-capital", "not_vc", "`not_vc` excludes what `vc` requires"),
        ("vcs?country=DE&unknown=country", "unknown", "`unknown=country` contradicts the other condition"),
        ("startups?known=city&unknown=city", "unknown", "`unknown=city` contradicts the other condition"),
        (
            "vcs/aggregate?active_since=2026&active_until=2020",
            "active_since",
            "active_since=2020-12-31&active_until=2026-01-01",
        ),
    ] {
        let found = errors(&client, &format!("/api/v3/{path}"));
        assert!(found.len() == 1 && found[0].0 == parameter && found[0].1.contains(correction), "{found:?}");
    }
    for path in
        ["vcs?country=DE,FR&not_country=FR", "vcs?sector_all=fintech&not_sector=games", "vcs?unknown=city&country=DE"]
    {
        assert_eq!(client.get(&format!("/api/v3/{path}")).status, 200, "{path}");
    }
    let sort = errors(&client, "/api/v3/vcs?sort=name,-name");
    assert!(sort[0].0 == "sort" && sort[0].1.contains("both directions"), "{sort:?}");
    assert_eq!(client.get("/api/v3/vcs?sort=name,name").status, 200);
    assert_eq!(warnings(&client, "/api/v1/vcs?sort=name,-name").len(), 1);
    let tools = TestTools::bundled();
    let called = tools.call(Tool::GetFundingRounds, &json!({ "since": "2026-01-01", "until": "2025-01-01" }));
    assert!(called.unwrap_err()[0].detail.contains("is after"));
}

#[test]
fn an_empty_search_is_a_warning_in_v1_and_v2() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in ["/api/v1/vcs?q=zzzzqqqq", "/api/v2/vcs?q=zzzzqqqq"] {
        assert_eq!(warnings(&client, path), [("no_match".to_owned(), "no name matches `zzzzqqqq`".to_owned())]);
    }
    assert_eq!(warnings(&client, "/api/v1/vcs?q=alder"), []);
    assert_eq!(warnings(&client, "/api/v3/vcs?q=zzzzqqqq"), []);
}

#[test]
fn nothing_dissimilar_is_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in ["vcs/nosuch", "startups/nosuch", "vcs/..%2f..%2fetc", "vcs/zzzzqqqq"] {
        let problem = client.get(&format!("/api/v3/{path}")).json();
        assert!(problem.get("did_you_mean").is_none_or(|slugs| slugs == &json!([])), "{problem}");
    }
    for text in ["zzzzqqqq", "nosuch", "gsfuarn", "ausfix"] {
        let found = client.get(&format!("/api/v3/vcs?q={text}")).json();
        assert_eq!((&found["data"], found["meta"].get("did_you_mean")), (&json!([]), None), "{text}");
        let warning = client.get(&format!("/api/v1/vcs?q={text}")).json()["meta"]["warnings"][0].clone();
        assert_eq!((&warning["code"], warning.get("did_you_mean")), (&json!("no_match"), None), "{text}");
    }
    // Not sure, but similar.
    let found = client.get("/api/v3/vcs?q=Alder+Kapitol+Partners+Group&explain=true").json();
    assert_eq!(found["data"][0]["slug"], "alder-capital-partners", "{found}");
    assert_eq!(found["meta"]["explain"][0]["match"], "relaxed", "{found}");
    assert_eq!(found["meta"]["warnings"][0]["code"], "relaxed", "{found}");
    for (parameter, value) in
        [("country", "Berlin"), ("sector", "generalist"), ("sector", "proptech"), ("sector", "web3")]
    {
        let errors = client.get(&format!("/api/v3/vcs?{parameter}={value}")).json()["errors"].clone();
        assert!(errors[0].get("did_you_mean").is_none(), "{errors}");
    }
}

#[test]
fn states_are_all_their_cities_and_echoed() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |path: &str| client.get(path).json()["pagination"]["total"].clone();
    let cities = total("/api/v3/startups?city=san-francisco,los-angeles&country=US");
    assert!(cities.as_u64().is_some_and(|cities| cities > 50));
    assert_eq!(total("/api/v3/startups?city=california&country=US"), cities);
    assert_eq!(
        total("/api/v3/startups?city=California,Boston&country=US"),
        total("/api/v3/startups?city=los-angeles,san-francisco,boston&country=US")
    );
    let note = "`texas` was read as 2 cities of the state; towns whose names other states have, too, are left out: name \
                them, with `country`";
    let path = "/api/v3/vcs?city=texas&country=US";
    assert_eq!(warnings(&client, path)[0], ("value_interpreted".to_owned(), note.to_owned()));
    // One of them is a city of France.
    for path in
        ["/api/v3/vcs?city=texas", "/api/v3/startups?not_city=texas", "/api/v3/startups?city=texas&country=US,FR"]
    {
        let reply = client.get(path);
        assert!(reply.status == 400 && reply.text.contains("add `country=US`"), "{path}: {}", reply.text);
    }
    // Cities are written in several ways.
    let bavarian = total("/api/v3/startups?city=münchen&country=DE");
    assert!(bavarian.as_u64().is_some_and(|bavarian| bavarian > 10));
    assert_eq!(total("/api/v3/startups?city=Bavaria&country=DE"), bavarian);
    assert_eq!(total("/api/v3/startups?city=bayern&country=DE"), bavarian);
    let reply = client.get("/api/v3/startups?city=california,bavaria&country=US");
    assert!(reply.status == 400 && reply.text.contains("`bavaria` is a state of Germany"), "{}", reply.text);
    let quebec = total("/api/v3/startups?city=quebec&country=CA");
    assert!(total("/api/v3/startups?city=quebec-province&country=CA").as_u64() > quebec.as_u64());
    // The city, not the state.
    assert!(warnings(&client, "/api/v3/startups?city=new-york").iter().all(|(_, note)| !note.contains("state")));
    // No city of the release is in it.
    assert_eq!(client.get("/api/v3/startups?city=wyoming&country=US").status, 400);
    let page = server.anonymous().get("/startups?city=california&country=US").text;
    assert!(page.contains("in California"), "{page}");
}

#[test]
fn a_name_that_begins_one_ten_times_as_large_means_that_one() {
    let firms = "kestrel,Kestrel,,vc,,,,,,,,,,\nkestrel-peak,Kestrel Peak,,vc,,,,,,,,,,\n";
    let startups: String = (0..11).map(|n| format!("s-{n},Startup {n},,,,,,,,,\n")).collect();
    let round = |n: u32| format!("r-{n},s-{n},seed,,2020-01-{:02},,kestrel-peak\n", n + 1);
    let rounds: String = (0..11).map(round).chain(["r-99,lomar,seed,,2020-02-01,,kestrel\n".to_owned()]).collect();
    let folder = dataset_with(firms, &startups, &rounds, "");
    let (_server, client) = serve(folder.path());
    let total = |path: &str| client.get(path).json()["pagination"]["total"].clone();
    assert_eq!(total("/api/v3/funding-rounds?investor=Kestrel"), 11);
    let note = "`investor` was read as kestrel-peak (11 startups); also kestrel (1)";
    let expected = [("value_interpreted".to_owned(), note.to_owned())];
    assert_eq!(warnings(&client, "/api/v3/funding-rounds?investor=Kestrel"), expected);
    // A slug means its own record; the other one is tried if nothing matches.
    assert_eq!(total("/api/v3/funding-rounds?investor=kestrel"), 1);
    let warned = warnings(&client, "/api/v3/funding-rounds?investor=kestrel&startup=s-3");
    let detail = "nothing matches all conditions; with `investor=kestrel-peak` instead, 1 record matches";
    assert!(warned.contains(&("no_match".to_owned(), detail.to_owned())), "{warned:?}");
}

#[test]
fn names_that_are_only_similar_are_marked() {
    let folder = dataset_with("", "", "", "");
    let (server, client) = serve(folder.path());
    let detail = "no startup has a name with these words as they are written; those listed are spelled or sound alike";
    let path = "/api/v3/startups?q=Tidewyck";
    assert_eq!(client.get(path).slugs(), ["tidewick"]);
    assert_eq!(warnings(&client, path), [("similar".to_owned(), detail.to_owned())]);
    assert_eq!(warnings(&client, "/api/v3/startups?q=Tidew"), []);
    let pages = server.anonymous();
    assert!(pages.get("/startups?q=Tidewyck").text.contains("spelled or sound alike"));
    assert!(pages.get("/?q=Tidewyck").text.contains("Similar startups"));
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = tools.call(Tool::SearchStartups, &json!({ "query": "Tidewyck" })).unwrap();
    assert_eq!(called["notes"], json!(["no startup is named exactly `Tidewyck`; the items have similar names"]));
}

#[test]
fn a_state_that_records_have_as_their_city_is_this_without_its_country() {
    let rows = "a,Alpha,,,,IN,Gujarat,,,,\nb,Beta,,,,IN,Surat,,,,\nc,Gamma,,,,IN,Pune,,,,\nd,Delta,,,,FR,Surat,,,,\n";
    let folder = dataset_with("", rows, "", "");
    let (_server, client) = serve(folder.path());
    assert_eq!(client.get("/api/v3/startups?city=Gujarat").slugs(), ["a"]);
    let note = "`Gujarat` was read as a city (1 startup); for the state (2 startups) add `country=IN`";
    assert_eq!(
        warnings(&client, "/api/v3/startups?city=Gujarat")[0],
        ("value_interpreted".to_owned(), note.to_owned())
    );
    assert_eq!(client.get("/api/v3/startups?not_city=gujarat&sort=name").slugs(), ["b", "d", "c"]);
    assert_eq!(client.get("/api/v3/startups?city=gujarat&country=IN&sort=name").slugs(), ["a", "b"]);
    // A question means the state.
    assert_eq!(client.get("/api/v3/startups?ask=startups+in+Gujarat&sort=name").slugs(), ["a", "b"]);
    let meta = client.get("/api/v3/startups?ask=startups+outside+Gujarat").json()["meta"].clone();
    assert_eq!((&meta["interpreted"], &meta["unread"]), (&json!([]), &json!(["Gujarat"])));
}

#[test]
fn regions_are_all_their_countries_and_echoed() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |path: &str| client.get(path).json()["pagination"]["total"].clone();
    assert_eq!(total("/api/v3/vcs?country=dach,U.S."), total("/api/v3/vcs?country=AT,CH,DE,US"));
    let note = "`dach` was read as 3 countries: AT, CH, DE";
    assert_eq!(warnings(&client, "/api/v3/vcs?country=dach"), [("value_interpreted".to_owned(), note.to_owned())]);
    // So do counts, and a cursor carries more countries than a parameter takes values.
    for path in ["/api/v3/vcs/facets?country=dach", "/api/v3/startups/aggregate?country=dach&group_by=city"] {
        assert_eq!(warnings(&client, path), [("value_interpreted".to_owned(), note.to_owned())], "{path}");
        // The note quotes the value as it was written.
        let upper = client.get(&path.replace("dach", "DACH"));
        assert_ne!(client.get(path).header("etag"), upper.header("etag"), "{path}");
    }
    let first = client.get("/api/v3/startups?country=europe,asia,africa&limit=1").json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("/api/v3/startups?cursor={cursor}")).json();
    assert_eq!(second["pagination"]["total"], first["pagination"]["total"]);
    let tools = TestTools::bundled();
    let called = tools.call(Tool::SearchVcs, &json!({ "country": ["DACH", "France"] })).unwrap();
    assert!(called["notes"][0].as_str().unwrap().contains("AT, CH, DE"), "{called}");
    for region in ["europe", "EU", "the Nordics", "latam", "APAC", "africa", "mena", "Benelux"] {
        assert_eq!(client.list("/api/v3/startups", &[("country", region)]).status, 200, "{region}");
    }
}

#[test]
fn a_name_that_fits_several_records_is_not_resolved_in_silence() {
    let firm = |slug: &str, name: &str| format!("{slug},{name},,vc,,,,,,,,,,\n");
    let firms = [firm("elm", "Elm"), firm("elm-ventures", "Elm Ventures"), firm("elmwood", "Elmwood Fund")].concat();
    let startup = |slug: &str, name: &str| format!("{slug},{name},,,,,,,,,\n");
    let startups = [startup("spire-1", "Spire"), startup("spire-2", "Spire"), startup("spire-x", "Spire X")].concat();
    let rounds = "r-1,tidewick,seed,,2020-01-01,,elm\nr-2,tidewick,seed,,2020-01-02,,elm-ventures|elmwood\n\
                  r-3,lomar,seed,,2020-01-03,,elm-ventures\nr-4,spire-2,seed,,2020-01-04,,elmwood\n";
    let folder = dataset_with(&firms, &startups, rounds, "");
    let (_server, client) = serve(folder.path());
    let note = "`investor` was read as elm (1 startup); also elm-ventures (2)";
    for value in ["elm", "Elm", "ELM"] {
        let path = format!("/api/v3/funding-rounds?investor={value}");
        assert_eq!(client.get(&path).slugs(), ["r-1"]);
        assert!(warnings(&client, &path).contains(&("value_interpreted".to_owned(), note.to_owned())), "{value}");
    }
    // A whole name names the smaller firm that has its core, too.
    let note = "`investor` was read as elm-ventures (2 startups); also elm (1)";
    let warned = warnings(&client, "/api/v3/funding-rounds?investor=Elm+Ventures");
    assert!(warned.contains(&("value_interpreted".to_owned(), note.to_owned())), "{warned:?}");
    // A larger firm's name begins with no larger one's; a slug of several words is no guess.
    for value in ["elm-ventures", "Elmwood Fund"] {
        let warned = warnings(&client, &format!("/api/v3/funding-rounds?investor={}", value.replace(' ', "+")));
        assert!(warned.iter().all(|(code, _)| code != "value_interpreted"), "{warned:?}");
    }
    let shared = client.get("/api/v3/funding-rounds?startup=Spire").json();
    let error = &shared["errors"][0];
    assert_eq!((&error["code"], &error["accepted"]), (&json!("ambiguous_value"), &json!(["spire-2", "spire-1"])));
    assert_eq!(client.get("/api/v3/funding-rounds?startup=spire-2").slugs(), ["r-4"]);
    let tools = TestTools::of(catalog_of(folder.path()));
    let candidates = |arguments: Value| {
        let called = tools.call(Tool::GetVcProfile, &arguments).unwrap();
        let candidates = called["candidates"].as_array().cloned().unwrap_or_default();
        let slugs = candidates.iter().map(|firm| firm["slug"].as_str().unwrap().to_owned());
        (called["profile"]["slug"].as_str().map(str::to_owned), slugs.collect::<Vec<_>>())
    };
    let both = vec!["elm-ventures".to_owned(), "elm".to_owned()];
    assert_eq!(candidates(json!({ "name": "Elm" })), (None, both));
    assert_eq!(candidates(json!({ "slug": "elm" })), (Some("elm".to_owned()), Vec::new()));
    assert_eq!(candidates(json!({ "name": "Elm Ventures" })), (Some("elm-ventures".to_owned()), Vec::new()));
}

#[test]
fn short_names_of_the_real_data_give_candidates() {
    let Some(catalog) = real_catalog() else { return };
    let tools = TestTools::of(catalog);
    for (name, portfolio) in [
        ("Sequoia", 300),
        ("Accel", 250),
        ("Kleiner Perkins", 200),
        ("Lightspeed", 100),
        ("Bessemer", 100),
        ("General Catalyst", 100),
        ("Redpoint", 100),
        ("Mayfield", 100),
    ] {
        let called = tools.call(Tool::GetVcProfile, &json!({ "name": name })).unwrap();
        let candidates = called["candidates"].as_array().cloned().unwrap_or_default();
        let is_meant = |firm: &Value| firm["portfolio_count"].as_u64().is_some_and(|startups| startups >= portfolio);
        assert!(called["profile"].is_null() && candidates.iter().any(is_meant), "{name}: {candidates:?}");
    }
    let rounds = tools.call(Tool::GetFundingRounds, &json!({ "investor": "Accel" })).unwrap();
    let note = rounds["notes"].to_string();
    assert!(note.contains("was read as accel-partners (") && note.contains("also accel ("), "{note}");
    let shared = tools.call(Tool::GetFundingRounds, &json!({ "startup": "Spire" })).unwrap_err();
    assert!(
        shared[0].detail.contains("ambiguous") && shared[0].accepted.as_ref().is_some_and(|slugs| slugs.len() > 1),
        "{shared:?}"
    );
    let health = tools.call(Tool::SearchStartups, &json!({ "sector": "health" })).unwrap();
    assert!(health["notes"].to_string().contains("health-care ("), "{}", health["notes"]);
    for joined in ["fin tech", "Fin-Tech"] {
        let total =
            |sector: &str| tools.call(Tool::SearchStartups, &json!({ "sector": sector })).unwrap()["total"].clone();
        assert_eq!(total(joined), total("fintech"));
    }
}

#[test]
fn a_value_that_was_read_as_a_wider_one_is_noted() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, read_as) in [
        ("vcs?stage=Series%20E", "`Series E` was read as series-d-plus"),
        ("vcs?stage=seed,d", "`d` was read as series-d-plus"),
        ("funding-rounds?not_stage=angel", "`angel` was read as pre-seed"),
        ("startups?country=England", "`England` was read as GB (United Kingdom)"),
        ("startups?country=Korea,DE", "`Korea` was read as KR (South Korea)"),
        ("people?role=co-founder", "`co-founder` was read as founder"),
    ] {
        let warned = warnings(&client, &format!("/api/v3/{path}"));
        let noted = warned.iter().filter(|(code, _)| code == "value_interpreted").map(|(_, detail)| detail.as_str());
        assert_eq!(noted.collect::<Vec<_>>(), [read_as], "{path}");
    }
    for path in ["vcs?stage=series-d-plus", "vcs?stage=Series%20A,D%2B", "vcs?country=UK,Holland,DEU", "people?role=VP"]
    {
        let warned = warnings(&client, &format!("/api/v3/{path}"));
        assert!(warned.iter().all(|(code, _)| code != "value_interpreted"), "{path}: {warned:?}");
    }
    let tools = TestTools::bundled();
    let found = tools.call(Tool::GetFundingRounds, &json!({ "stage": "series f" })).unwrap();
    assert_eq!(found["notes"][0], "`series f` was read as series-d-plus");
}

#[test]
fn ambiguous_numbers_and_dates_are_rejected_with_an_accepted_example() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, parameter, example) in [
        ("funding-rounds?min_amount_usd=500.000", "min_amount_usd", "such as 1000000, 500k or $1.5m"),
        ("vcs?check_usd=$1.000", "check_usd", "such as 500000, 500k or $1.5m"),
        ("funding-rounds?since=2014+H1", "since", "such as 2026-06-30, 2026-06, 2026 or 2026-Q2"),
        ("vcs?active_since=2014+or+so", "active_since", "such as 2026-06-30, 2026-06, 2026 or 2026-Q2"),
    ] {
        let errors = errors(&client, &format!("/api/v3/{path}"));
        assert!(errors.len() == 1 && errors[0].0 == parameter && errors[0].1.contains(example), "{errors:?}");
    }
    let total =
        |query: &str| client.get(&format!("/api/v3/funding-rounds?{query}")).json()["pagination"]["total"].clone();
    assert_eq!(total("since=2024+Q3&until=2024-Q3"), total("since=2024-07-01&until=2024-09-30"));
    assert_ne!(total("since=2024+Q3&until=2024-Q3"), total("since=2024&until=2024"));
}

#[test]
fn initials_of_a_larger_firm_are_not_read_as_another_name() {
    let portfolio = "new-enterprise,New Enterprise Associates,,vc,,,,,,,,,,\nnea-indous,NEA-Indous,,vc,,,,,,,,,,\n";
    let rounds =
        "r-1,lomar,seed,,2020-01-01,,new-enterprise|nea-indous\nr-2,tidewick,seed,,2020-01-01,,new-enterprise\n";
    let folder = dataset_with(portfolio, "", rounds, "");
    let (_server, client) = serve(folder.path());
    let reply = client.get("/api/v3/funding-rounds?investor=NEA").json();
    let error = &reply["errors"][0];
    assert_eq!((&error["code"], &error["did_you_mean"]), (&json!("unknown_value"), &json!("new-enterprise")));
    assert_eq!(error["accepted"], json!(["new-enterprise", "nea-indous"]));
    let detail =
        "`NEA` is not a name of this snapshot; it may mean new-enterprise (2 startups), nea-indous (1 startup)";
    assert_eq!(error["detail"], detail);
    // A firm of that name is taken, but the larger one is named.
    let folder = dataset_with(&format!("{portfolio}nea-fund,NEA,,vc,,,,,,,,,,\n"), "", rounds, "");
    let (_server, client) = serve(folder.path());
    let warned = warnings(&client, "/api/v3/funding-rounds?investor=nea");
    let note = "`investor` was read as nea-fund (0 startups); also new-enterprise (2), nea-indous (1)";
    assert!(warned.contains(&("value_interpreted".to_owned(), note.to_owned())), "{warned:?}");
    let tools = TestTools::of(catalog_of(folder.path()));
    let found = tools.call(Tool::SearchStartups, &json!({ "investor": "NEA" })).unwrap();
    assert_eq!(found["notes"][0], note);
}

#[test]
fn a_search_suggests_only_similar_names() {
    let catalog = bundled();
    for (table, text) in [(Table::Firms, "zzzqqq"), (Table::Startups, "qqzzxx"), (Table::People, "Zqrx Vbqz")] {
        let found = catalog.search(table, text);
        assert_eq!(found.did_you_mean, [0; 0], "{text}");
    }
    let Some(catalog) = real_catalog() else { return };
    let suggested = |table: Table, text: &str| -> Vec<String> {
        let found = catalog.search(table, text).did_you_mean;
        found.iter().map(|row| catalog.snapshot().slug(table, *row).to_owned()).collect()
    };
    for text in ["zzzqqq", "OpenAI", "Reid Hoffman"] {
        assert_eq!(suggested(Table::People, text), [""; 0], "{text}");
    }
    assert_eq!(suggested(Table::Firms, "zzzqqq"), [""; 0]);
    assert_eq!(suggested(Table::Startups, "KPCB"), ["kcb-solutions"; 0]);
}

#[test]
fn a_filter_takes_aliases_legal_forms_and_a_far_larger_namesake() {
    let firms =
        "rowan,Rowan Capital,Rowan Ventures|RV1,vc,,,,,,,,,,\ncedar,Cedar,,vc,,,,,,,,,,\ncedar-2,Cedar,,vc,,,,,,,,,,\n";
    let round = |id: usize, firm: &str| format!("r-{id},s-{id},seed,,2024-05-01,,{firm}\n");
    let startups: String = (1..=12).map(|id| format!("s-{id},Spire {id},,,,,,,,,\n")).collect();
    let rounds: String = (1..=11).map(|id| round(id, "cedar-2")).chain([round(12, "cedar|rowan")]).collect();
    // Nobody has the slug `cedar` in this release.
    let firms = firms.replace("\ncedar,", "\ncedar-1,");
    let (_server, client) = serve(dataset_with(&firms, &startups, &rounds.replace("cedar|", "cedar-1|"), "").path());
    let total = |investor: &str| {
        let reply = client.list("/api/v3/funding-rounds", &[("investor", investor)]);
        assert_eq!(reply.status, 200, "{investor}: {}", reply.text);
        reply.json()["pagination"]["total"].clone()
    };
    for (investor, expected) in [
        ("Rowan Ventures", 1),
        ("rowanventures", 1),
        ("RV1", 1),
        ("Rowan Capital LLC", 1),
        ("Rowan Ventures, Inc.", 1),
        ("Cedar", 11),
    ] {
        assert_eq!(total(investor), expected, "{investor}");
    }
    let warned = warnings(&client, "/api/v3/funding-rounds?investor=Cedar");
    assert!(warned.iter().any(|(_, detail)| detail.contains("cedar-2 (11 startups); also cedar-1 (1)")), "{warned:?}");
    assert_eq!(client.list("/api/v3/funding-rounds", &[("investor", "Rowan Partners LLC")]).status, 400);
}

#[test]
fn a_city_of_several_countries_is_reported_with_their_counts() {
    let startup = |id: usize, country: &str| format!("s-{id},Spire {id},,,,{country},Vesper,,,,\n");
    let startups: String = (1..=11).map(|id| startup(id, if id > 5 { "US" } else { "GB" })).collect();
    let (_server, client) = serve(dataset_with("", &startups, "", "").path());
    let detail =
        |path: &str| warnings(&client, path).into_iter().map(|(_, detail)| detail).collect::<Vec<_>>().join("; ");
    let note = "Vesper is in several countries: US (6), GB (5); `country=US` is the first alone";
    assert!(detail("/api/v3/startups?city=vesper").contains(note), "{}", detail("/api/v3/startups?city=vesper"));
    for path in ["/api/v3/startups?city=vesper&country=GB", "/api/v3/startups?not_city=vesper"] {
        assert!(!detail(path).contains("several countries"), "{path}");
    }
}
