//! `ETag` and 304: all spellings of a query share an `ETag`, different responses never do, and what did not change keeps it.

use std::collections::HashMap;
use std::sync::Arc;

use auth::quota::Tier;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::api::changes::{FIRST, SECOND, two_releases};
use crate::support::harness::{Client, Dice, Reply, Server, cases, catalog_of, code, copy_as, next_release, published};
use crate::support::installation::small;

/// Equivalent spellings of a parameter; an empty one omits it, as a default may be.
type Spellings = &'static [&'static str];

const COMMON: &[Spellings] = &[&["", "limit=20", "limit=020", "utm_source=x"], &["limit=7", "limit=07"]];
const V1: &[Spellings] = &[&["", "offset=0"], &["offset=5", "offset=005", "offset=5&offset=5"]];
const V2: &[Spellings] = &[&["", "page=1"], &["page=2", "page=02"]];
const V3: &[Spellings] = &[
    &["fields=name,slug", "fields=slug,name", "fields=Slug&fields=NAME,slug"],
    &["fields=health_score,score.value", "fields=score.Value,healthScore"],
    &["fields=*", "fields=%2A"],
];
const V3_REVIEWS: &[Spellings] =
    &[&["fields=id,vc.slug", "fields=vc.Slug,ID", "fields=VC.slug&fields=id,id"], &["fields=*"]];
const FIRMS: &[&[Spellings]] = &[
    &[
        &["stage=seed,series-a", "stage=Series%20A,SEED", "stage=a&stage=seed", "stage=series_a,seed,seed,"],
        &["stage=growth"],
        &[""],
    ],
    &[
        &["country=DE,GB", "country=uk,Germany", "country=GBR&country=deu"],
        &["country=KR", "country=Korea%2C+Republic+of", "country=South+Korea"],
    ],
    &[
        &["sector=fintech", "sector=FinTech", "sector=%20Fintech"],
        &["sector=biotech,fintech", "sector=Fintech,Biotech"],
    ],
    &[&["min_health_score=50", "min_health_score=050"], &["max_ghosting_rate=12.5", "max_ghosting_rate=12.50%25"]],
    &[
        &["", "sort=-health_score,-investment_count", "sort=-Health_Score&sort=-investment-count"],
        &["sort=name", "sort=%2Bname", "sort=NAME,name"],
        &["sort=-name"],
    ],
];
const SEARCH: &[&[Spellings]] = &[&[
    &["q=capital", "query=capital&sort=relevance", "search=%20capital", "sort=Relevance&q=capital"],
    &["q=fund&sort=name", "sort=NAME&query=fund"],
]];
const REVIEWS: &[&[Spellings]] = &[
    &[&["vc=alder-capital", "vc=Alder-Capital"]],
    &[&["ghosted=true", "ghosted=YES", "ghosted=1"], &["ghosted=no", "ghosted=false"]],
    &[&["min_rating=3"], &["", "sort=-created_on"], &["sort=rating"]],
];
const LEADERBOARD: &[&[Spellings]] =
    &[&[&["", "metric=health_score", "metric=Health+Score"], &["metric=activity", "metric=ACTIVITY"]], FIRMS[0]];

/// The lists with their parameters.
fn lists() -> Vec<(&'static str, &'static [&'static [Spellings]])> {
    vec![("vcs", FIRMS), ("vcs", SEARCH), ("reviews", REVIEWS), ("leaderboard", LEADERBOARD)]
}

/// Two spellings of one query with their parameters in different orders.
fn two_spellings() -> impl Strategy<Value = (String, String)> {
    let list = (0..lists().len(), 0..3_usize);
    list.prop_flat_map(|(list, version)| {
        let (path, conditions) = lists()[list];
        let v3 = if path == "reviews" { V3_REVIEWS } else { V3 };
        let window = [COMMON, [V1, V2, v3][version]];
        let parts: Vec<&'static [Spellings]> = conditions.iter().copied().chain(window).collect();
        let parts =
            parts.into_iter().map(|part| prop::option::weighted(0.6, (0..part.len()).prop_map(move |at| part[at])));
        let path = format!("/api/v{}/{path}", version + 1);
        (parts.collect::<Vec<_>>(), any::<[u64; 2]>()).prop_map(move |(parts, seeds)| {
            let chosen: Vec<Spellings> = parts.into_iter().flatten().collect();
            let [one, other] = seeds.map(|seed| format!("{path}?{}", spell(&chosen, seed)));
            (one, other)
        })
    })
}

fn spell(chosen: &[Spellings], seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut parts: Vec<&str> = chosen.iter().map(|spellings| spellings[dice.below(spellings.len())]).collect();
    for place in (1..parts.len()).rev() {
        parts.swap(place, dice.below(place + 1));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("&")
}

#[test]
fn all_spellings_of_a_query_share_etag_and_body() {
    let server = Server::bundled();
    let (client, other_key) = (server.client(Tier::Enterprise), server.client(Tier::Enterprise));
    let mut runner = TestRunner::new(Config { cases: cases(500, 100), failure_persistence: None, ..Config::default() });
    runner
        .run(&two_spellings(), |(one, other)| {
            let (first, second) = (client.get(&one), other_key.get(&other));
            prop_assert_eq!(first.status, 200, "{}: {}", one, first.text);
            prop_assert_eq!(first.header("etag"), second.header("etag"), "{} {}", one, other);
            prop_assert_eq!(&first.text, &second.text, "{} {}", one, other);
            let known = client.send("GET", &other, &[("if-none-match", first.header("etag"))]);
            prop_assert_eq!((known.status, known.text.as_str()), (304, ""));
            Ok(())
        })
        .unwrap();
}

/// Parts of queries, valid and invalid ones.
const PIECES: &[&str] = &[
    "stage=seed",
    "stage=sede",
    "stage=seed,sede",
    "stage=sede,growth",
    "stage=",
    "Stage=seed",
    "sector=fintech",
    "sector=fintec,biotech",
    "sector=biotech,fintec",
    "sector=Fintech%2C%20Biotech",
    "country=DE",
    "country=Atlantis",
    "city=berlin",
    "city=nowhere",
    "kind=vc",
    "q=capital",
    "query=capital",
    "q=aldr",
    "search=fund",
    "limit=5",
    "limit=20",
    "limit=0",
    "limit=101",
    "limit=5000",
    "limit=5&limit=6",
    "offset=0",
    "offset=3",
    "page=1",
    "page=2",
    "fields=slug",
    "fields=slug,name",
    "fields=slug,score.value",
    "fields=*",
    "fields=zzqx",
    "sort=name",
    "sort=-name",
    "sort=nmae",
    "sort=relevance",
    "sort=name,relevance",
    "sort=-health_score,-investment_count",
    "min_reviews=3",
    "min_reviews=03",
    "min_reviews=many",
    "check_usd=500000",
    "foo=1",
    "bar=2",
    "foo=",
    "_=1",
    "utm_x=y",
    "explain=1",
    "explain=0",
    "metric=activity",
    "metric=activty",
    "status=approved",
    "status=pending",
    "status=approved,pending",
    "vc=alder-capital",
    "vc=Alder%20Capital",
    "vc=nobody",
    "ghosted=true",
    "min_rating=4",
    "raise_usd=2000000",
    "parent=fintech",
];

#[test]
fn different_responses_never_share_an_etag() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    const PATHS: &[&str] =
        &["vcs", "vcs", "vcs", "reviews", "leaderboard", "sectors", "vcs/alder-capital", "vcs/Alder-Capital"];
    const FURTHER: &[&str] =
        &["vcs/facets", "vcs/alder-capital/reviews", "match", "startups", "suggest", "stats", "people"];
    let path = prop_oneof![
        (1..4, prop::sample::select(PATHS)).prop_map(|(version, path)| format!("/api/v{version}/{path}")),
        prop::sample::select(FURTHER).prop_map(|path| format!("/v3/{path}")),
    ];
    let strategy = (path, prop::collection::vec(prop::sample::select(PIECES), 0..4));
    let mut seen: HashMap<String, (String, String)> = HashMap::new();
    let seen = std::cell::RefCell::new(&mut seen);
    let mut runner =
        TestRunner::new(Config { cases: cases(1_500, 300), failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(path, pieces)| {
            let path = format!("{path}?{}", pieces.join("&"));
            let reply = client.get(&path);
            let mut seen = seen.borrow_mut();
            if reply.status != 200 {
                // An error stays an error, whatever the client has cached.
                let below = |path: &str| path.split('?').next().unwrap_or("").to_owned();
                let known = seen.iter().filter(|(_, (other, _))| below(other) == below(&path));
                let known: Vec<&str> = known.map(|(etag, _)| etag.as_str()).take(500).collect();
                if !known.is_empty() {
                    let again = client.send("GET", &path, &[("if-none-match", &known.join(", "))]);
                    prop_assert_eq!(again.status, reply.status, "{}", path);
                }
                return Ok(());
            }
            let etag = reply.header("etag").to_owned();
            prop_assert!(etag.starts_with("W/\""), "{}", path);
            let (first, text) = seen.entry(etag).or_insert((path.clone(), reply.text.clone()));
            prop_assert_eq!(text.as_str(), reply.text.as_str(), "{} {}", first, path);
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_explicit_default_next_to_a_cursor_is_checked() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let page = client.get("/api/v3/vcs?sort=-name&limit=1").json();
    let path = format!("/api/v3/vcs?cursor={}", page["pagination"]["next_cursor"].as_str().unwrap());
    let etag = client.get(&path).header("etag").to_owned();
    let mismatch = format!("{path}&sort=-health_score,-investment_count");
    assert_eq!(client.send("GET", &mismatch, &[("if-none-match", &etag)]).status, 400);
}

/// What a client depends on: the response without the release that `meta` names.
fn said(reply: &Reply) -> Value {
    let mut json = reply.json();
    if let Some(meta) = json["meta"].as_object_mut() {
        meta.remove("snapshot");
    }
    json
}

#[test]
fn what_a_release_does_not_change_keeps_its_etag() {
    let (server, client) = two_releases();
    let pinned = |path: &str, version: &str| {
        let mark = if path.contains('?') { '&' } else { '?' };
        client.get(&format!("{path}{mark}snapshot={version}"))
    };
    let (records, firms) = (cases(300, 150), cases(150, 60));
    let mut paths = Vec::new();
    for (list, key) in
        [("vcs", "slug"), ("startups", "slug"), ("people", "slug"), ("funding-rounds", "id"), ("sectors", "slug")]
    {
        let page = client.get(&format!("/api/v3/{list}?limit={records}&fields={key}")).json();
        for record in page["data"].as_array().unwrap() {
            paths.push(format!("/api/v3/{list}/{}", record[key].as_str().unwrap()));
        }
        for country in ["DE", "FR", "US", "SG", "IL"].into_iter().filter(|_| list != "sectors") {
            paths.push(format!("/api/v3/{list}?country={country}&limit=1000"));
            paths.push(format!("/api/v3/{list}?country={country}&limit=2"));
        }
    }
    for firm in client.get(&format!("/api/v3/vcs?limit={firms}")).slugs() {
        for list in ["portfolio", "rounds", "people", "reviews"] {
            paths.push(format!("/api/v3/vcs/{firm}/{list}?limit=1000"));
        }
        paths.push(format!("/api/v3/vcs/{firm}?include=people"));
    }
    for sector in client.get("/api/v3/sectors?limit=60").slugs() {
        paths.push(format!("/api/v3/vcs/facets?sector={sector}"));
        paths.push(format!("/api/v3/vcs?q={sector}&limit=1000"));
    }
    let [mut same, mut other] = [0, 0];
    for path in paths {
        let before = pinned(&path, FIRST);
        if before.status != 200 {
            continue;
        }
        let etag = before.header("etag");
        let now = client.get(&path);
        let left = now.header("x-ratelimit-remaining").to_owned();
        let again = client.send("GET", &path, &[("if-none-match", etag)]);
        if now.status == 200 && said(&now) == said(&before) {
            assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", etag), "{path}");
            assert_eq!((again.header("x-snapshot"), again.header("x-ratelimit-remaining")), (SECOND, &*left), "{path}");
            same += 1;
        } else {
            assert_eq!((again.status, &again.text), (now.status, &now.text), "{path}");
            other += 1;
        }
    }
    // Most records are the same in both, and lists of them are not.
    assert!(same > cases(500, 200) && other > cases(300, 120), "{same} and {other}");
    // What changed since a release names the one that a copy continues from.
    let path = format!("/api/v3/changes?from={FIRST}&op=merge&table=sectors");
    let etag = client.get(&path).header("etag").to_owned();
    server.state.releases.replace(Arc::new(catalog_of(copy_as(&small(), "2026-11-22.1").path())));
    assert_eq!(client.send("GET", &path, &[("if-none-match", &etag)]).status, 200);
}

#[test]
fn versions_have_different_etags_and_pages_of_v1_and_v2_keep_theirs() {
    let server = Server::of(published());
    let client = server.client(Tier::Pro);
    let paths: Vec<String> = ["v1", "v2", "v3"].iter().map(|version| format!("/api/{version}/vcs?limit=3")).collect();
    let etags = |client: &Client| -> Vec<String> {
        paths.iter().map(|path| client.get(path).header("etag").to_owned()).collect()
    };
    let before = etags(&client);
    server.state.releases.replace(next_release());
    let after = etags(&client);
    assert_eq!(before[..2], after[..2]);
    assert!(before[2] != after[2], "its cursor belongs to its release");
    assert!(before[0] != before[1] && before[1] != before[2] && before[0] != before[2]);
}

#[test]
fn a_conditional_request_is_counted_if_the_response_is_another() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let left = |path: &str, known: &str| {
        let reply = client.send("GET", path, &[("if-none-match", known)]);
        (reply.status, reply.header("x-ratelimit-remaining").parse::<u32>().unwrap())
    };
    let known = ["/api/v3/vcs?limit=2", "/api/v3/vcs?q=capital", "/api/v3/vcs/alder-capital", "/api/v3/suggest?q=al"]
        .map(|path| (path, client.get(path).header("etag").to_owned()));
    for (path, etag) in &known {
        assert_eq!(left(path, etag), (304, 96), "{path}");
    }
    assert_eq!(left("/api/v3/vcs?limit=3", &known[0].1), (200, 95));
    assert_eq!(left("/api/v3/vcs/nowhere", "*"), (404, 95));
    assert_eq!(left("/api/v3/vcs?limit=no", "*"), (400, 95), "few errors do not count");
    assert_eq!(left("/api/v3/usage", "*"), (200, 95));
    for _ in 0..8 + 95 {
        assert_eq!(client.get("/api/v3/nowhere").status, 404);
    }
    // Each path was executed twice, and its response is cached.
    for (path, etag) in &known {
        assert_eq!(left(path, etag), (304, 0), "{path}");
    }
    assert_eq!(left("/api/v3/vcs?limit=2", "\"other\""), (429, 0));
    // Without the quota a search is not executed, and a list is.
    let other = server.client(Tier::Pro);
    let [list, search] = ["/api/v3/vcs?limit=4", "/api/v3/match?stage=seed"].map(|path| (path, other.get(path)));
    assert_eq!(left(list.0, list.1.header("etag")), (304, 0));
    assert_eq!(left(list.0, "\"other\""), (429, 0));
    assert_eq!(left(search.0, search.1.header("etag")), (429, 0));
}

#[test]
fn a_star_matches_any_existing_response() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let status = |path: &str, known: &str| client.send("GET", path, &[("if-none-match", known)]).status;
    assert_eq!(status("/api/v3/vcs?stage=seed", "*"), 304);
    assert_eq!(status("/api/v1/vcs/Alder-Capital", "*"), 304);
    assert_eq!(status("/api/v3/vcs/no-such-firm", "*"), 404);
    assert_eq!(status("/api/v3/nowhere", "*"), 404);
    assert_eq!(status("/api/v3/vcs?foo=1", "*"), 400);
    assert_eq!(status("/api/v3/usage", "*"), 200);
    assert_eq!(status("/api/v3/snapshots", "*"), 200);
    assert_eq!(client.send("POST", "/api/v3/vcs", &[("if-none-match", "*")]).status, 405);
    let etag = client.get("/api/v3/vcs").header("etag").to_owned();
    let strong = etag.trim_start_matches("W/");
    for known in [strong, &format!("\"x\", {etag}"), &format!("{strong},\"y\"")] {
        assert_eq!(status("/api/v3/vcs", known), 304, "{known}");
    }
    assert_eq!(status("/api/v3/vcs", "\"x\""), 200);
}

#[test]
fn a_response_that_if_match_does_not_name_is_not_sent() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in
        ["/api/v1/vcs", "/api/v2/reviews?limit=3", "/api/v3/vcs?limit=1", "/api/v3/vcs?q=alder", "/api/v3/usage"]
    {
        // Computed, cached, and from the cache.
        for _ in 0..3 {
            let reply = client.get(path);
            assert_eq!(reply.status, 200);
            let etag = reply.header("etag");
            // The comparison is strong, which a weak validator does not pass.
            for value in ["\"no\"", "\"no\", \"other\"", etag].into_iter().filter(|value| !value.is_empty()) {
                let failed = client.send("GET", path, &[("if-match", value)]);
                assert_eq!(code(&failed), (412, "precondition_failed".to_owned()), "{path} {value}");
                assert_eq!(failed.header("cache-control"), "no-store");
                let both = client.send("GET", path, &[("if-match", value), ("if-none-match", etag)]);
                assert_eq!(both.status, 412, "{path}: `If-Match` comes first");
            }
            let met = client.send("GET", path, &[("if-match", "*")]);
            assert_eq!(met.status, 200);
            assert!(path.ends_with("usage") || met.text == reply.text, "{path}");
            if !etag.is_empty() {
                assert_eq!(client.send("GET", path, &[("if-match", "*"), ("if-none-match", etag)]).status, 304);
            }
        }
    }
    // Another error than the precondition is reported as such.
    for (path, status) in [("/api/v3/vcs?x=1", 400), ("/api/v3/vcs/nowhere", 404), ("/api/v3/nowhere", 404)] {
        assert_eq!(client.send("GET", path, &[("if-match", "\"no\"")]).status, status, "{path}");
    }
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
