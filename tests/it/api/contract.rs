//! Promises of the docs that no other test holds: formulas, headers, spellings, and numbers that pages have as text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use api::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PAID_LIMIT};
use auth::RateLimitConfig;
use auth::quota::Tier;
use catalog::look_up::MAX_NAME_WORDS;
use data::derive::score::{DIMENSIONS, GHOSTING, METHOD, PUBLISHED_FROM, RANKED_FROM};
use data::import::csv_row::{MAX_LINE, MAX_TEXT, MAX_URL, MAX_VALUES};
use serde_json::{Value, json};

use crate::api::lists::rows_of;
use crate::api::records::days;
use crate::support::harness::{Client, Server, bundled_folder, code, grouped};
use crate::support::html::parse;

/// A page with its tags, and a single space between words.
fn page(client: &Client, path: &str) -> String {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}");
    parse(&reply.text).html().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_says(client: &Client, path: &str, texts: &[String]) {
    let page = page(client, path);
    for text in texts {
        assert!(page.contains(text.as_str()), "{path} does not say: {text}");
    }
}

fn or_unlimited(number: Option<u32>) -> String {
    number.map_or("unlimited".to_owned(), |number| grouped(number.into()))
}

/// An approved review of the bundled dataset.
pub struct Rated {
    pub firm: String,
    /// Rating, responsiveness, fairness and value_add.
    pub ratings: [Option<f64>; 4],
    pub ghosted: Option<bool>,
    pub created_on: String,
    weight: f64,
}

/// The values of a firm by the formulas of `/docs/score`.
struct Peer {
    count: u64,
    /// Smoothed means.
    r: [f64; 4],
    /// The smoothed ghosting share.
    g: f64,
    points: [f64; 5],
    se: f64,
    ghosting_rate: Option<f64>,
    ratings: [Option<f64>; 4],
}

impl Peer {
    fn total(&self) -> f64 {
        self.points.iter().sum()
    }
}

const RELEASED_ON: &str = "2026-11-20";

/// The first day that a date, a month or a year may mean; `None` of an empty cell.
fn first_day(cell: &str) -> Option<i64> {
    (!cell.is_empty()).then(|| days(&format!("{cell}{}", &"0000-01-01"[cell.len()..])))
}

/// The approved reviews, in the order of their ids.
pub fn rated() -> Vec<Rated> {
    let mut rows = rows_of(&bundled_folder(), "reviews.csv");
    rows.retain(|row| row["status"] == "approved");
    rows.sort_by(|a, b| a["id"].cmp(&b["id"]));
    let rated = |row: &HashMap<String, String>| Rated {
        firm: row["firm"].clone(),
        ratings: ["rating", "responsiveness", "fairness", "value_add"].map(|column| row[column].parse().ok()),
        ghosted: row["ghosted"].parse().ok(),
        created_on: row["created_on"].clone(),
        weight: 0.5_f64.powf((days(RELEASED_ON) - first_day(&row["created_on"]).unwrap()).max(0) as f64 / 730.0),
    };
    rows.iter().map(rated).collect()
}

/// Σw and Σwx of a dimension.
fn sums(reviews: &[&Rated], dimension: usize) -> (f64, f64) {
    let rated = reviews.iter().filter_map(|review| Some((review.weight, review.ratings[dimension]?)));
    rated.fold((0.0, 0.0), |(weights, sum), (weight, rating)| (weights + weight, sum + weight * rating))
}

/// k and n.
pub fn ghosted(reviews: &[&Rated]) -> (f64, f64) {
    let answers = || reviews.iter().filter_map(|review| review.ghosted);
    (answers().filter(|ghosted| *ghosted).count() as f64, answers().count() as f64)
}

/// μ of each dimension and γ, of all approved reviews.
pub fn priors(all: &[&Rated]) -> ([f64; 4], f64) {
    let mu = std::array::from_fn(|dimension| {
        let (weight, sum) = sums(all, dimension);
        if weight > 0.0 { sum / weight } else { 3.0 }
    });
    let (k, n) = ghosted(all);
    (mu, k / n)
}

/// The score of each firm with approved reviews, computed as the docs say.
fn peers() -> BTreeMap<String, Peer> {
    let reviews = rated();
    let all: Vec<&Rated> = reviews.iter().collect();
    let (mu, gamma) = priors(&all);
    let q = |review: &Rated| {
        let x: [f64; 4] = std::array::from_fn(|dimension| review.ratings[dimension].unwrap_or(mu[dimension]));
        25.0 * (0.4 * x[0] + 0.2 * (x[1] + x[2] + x[3]) - 1.0)
    };
    let weight: f64 = all.iter().map(|review| review.weight).sum();
    let mean = all.iter().map(|review| review.weight * q(review)).sum::<f64>() / weight;
    let variance = all.iter().map(|review| review.weight * (q(review) - mean).powi(2)).sum::<f64>() / weight;
    let mut firms: BTreeMap<String, Vec<&Rated>> = BTreeMap::new();
    for review in &reviews {
        firms.entry(review.firm.clone()).or_default().push(review);
    }
    let mut peers = BTreeMap::new();
    for (firm, reviews) in firms {
        let of_dimension: [(f64, f64); 4] = std::array::from_fn(|dimension| sums(&reviews, dimension));
        let r: [f64; 4] = std::array::from_fn(|dimension| {
            let (weight, sum) = of_dimension[dimension];
            (5.0 * mu[dimension] + sum) / (5.0 + weight)
        });
        let (k, n) = ghosted(&reviews);
        let g = (k + 6.0 * gamma) / (n + 6.0);
        let rated = |dimension: usize, max: f64| max * (r[dimension] - 1.0) / 4.0;
        let points = [rated(0, 30.0), rated(1, 15.0), rated(2, 15.0), rated(3, 15.0), 25.0 * (1.0 - g)];
        let weight: f64 = reviews.iter().map(|review| review.weight).sum();
        let se = 0.75 * (variance / (5.0 + weight)).sqrt() + 25.0 * (g * (1.0 - g) / (n + 7.0)).sqrt();
        let ghosting_rate = (n >= 3.0).then(|| 100.0 * k / n);
        let ratings = of_dimension.map(|(weight, sum)| (weight > 0.0).then(|| sum / weight));
        peers.insert(firm, Peer { count: reviews.len() as u64, r, g, points, se, ghosting_rate, ratings });
    }
    peers
}

/// Checks that a number is an exact one rounded to a step, or null without one.
#[track_caller]
fn assert_rounded(found: &Value, exact: Option<f64>, step: f64, what: &str) {
    match exact {
        Some(exact) => {
            let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found} instead of {exact}"));
            assert!((found - exact).abs() <= step * 0.5 + 1e-9, "{what}: {found} instead of {exact}");
        }
        None => assert!(found.is_null(), "{what}: {found} instead of null"),
    }
}

/// Checks the components of a published score.
fn assert_components(components: &[Value], peer: &Peer, score: f64, slug: &str) {
    assert_eq!(components.len(), 5, "{slug}");
    let maxima = DIMENSIONS.into_iter().chain([GHOSTING]);
    let values = peer.r.into_iter().chain([peer.g]);
    let (mut sum, mut raised, mut kept) = (0.0, Vec::new(), Vec::new());
    for (((name, max), value), (component, points)) in maxima.zip(values).zip(components.iter().zip(peer.points)) {
        assert_eq!((&component["name"], &component["max_points"]), (&json!(name), &json!(max)), "{slug}");
        assert_rounded(&component["weight"], Some(f64::from(max) / 100.0), 0.0, slug);
        assert_rounded(&component["value"], Some(value), 0.01, slug);
        let found = component["points"].as_u64().unwrap() as f64;
        sum += found;
        match found - points.floor() {
            0.0 => kept.push(points.fract()),
            1.0 => raised.push(points.fract()),
            _ => panic!("{slug}: {found} points of {name} instead of {points}"),
        }
    }
    assert_eq!(sum, score, "{slug}");
    let most_kept = kept.into_iter().fold(0.0, f64::max);
    let least_raised = raised.into_iter().fold(1.0, f64::min);
    assert!(least_raised >= most_kept - 1e-9, "{slug}: {least_raised} is raised, {most_kept} is not");
}

#[test]
fn scores_follow_the_documented_formulas() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let fields = "slug,health_score,ghosting_rate,review_count,ratings,score";
    let list = client.get(&format!("/api/v3/vcs?limit=1000&fields={fields}")).json();
    let (firms, peers) = (list["data"].as_array().unwrap(), peers());
    assert_eq!(list["pagination"]["total"], firms.len());
    let mut published = 0;
    for firm in firms {
        let slug = firm["slug"].as_str().unwrap();
        let Some(peer) = peers.get(slug) else {
            assert_eq!((&firm["review_count"], &firm["health_score"]), (&json!(0), &Value::Null), "{slug}");
            continue;
        };
        let score = &firm["score"];
        assert_eq!(firm["review_count"], peer.count, "{slug}");
        assert_eq!((&score["review_count"], &score["method"]), (&json!(peer.count), &json!(METHOD)), "{slug}");
        assert_eq!(firm["health_score"], score["value"], "{slug}");
        assert_rounded(&firm["ghosting_rate"], peer.ghosting_rate, 0.1, slug);
        for (name, mean) in ["overall", "responsiveness", "fairness", "value_add"].into_iter().zip(peer.ratings) {
            assert_rounded(&firm["ratings"][name], mean, 0.1, slug);
        }
        let is_published = peer.count >= 3;
        let bound = |distance: f64| is_published.then(|| (peer.total() + distance * peer.se).clamp(0.0, 100.0));
        assert_rounded(&score["value"], bound(0.0), 1.0, slug);
        assert_rounded(&score["low"], bound(-1.645), 1.0, slug);
        assert_rounded(&score["high"], bound(1.645), 1.0, slug);
        let components = score["components"].as_array().unwrap();
        if is_published {
            published += 1;
            assert_eq!(score["status"], "published", "{slug}");
            assert_components(components, peer, score["value"].as_f64().unwrap(), slug);
        } else {
            assert_eq!((&score["status"], components.len()), (&json!("insufficient_reviews"), 0), "{slug}");
        }
    }
    assert!(published > 100, "{published} firms have a score");
}

#[test]
fn leaderboards_rank_by_the_documented_values() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let peers = peers();
    let ranked: BTreeSet<&str> =
        peers.iter().filter(|(_, peer)| peer.count >= 5).map(|(firm, _)| firm.as_str()).collect();
    type Board<'a> = (&'a str, fn(&Peer) -> f64, f64);
    let boards: [Board<'_>; 5] = [
        ("health_score", |peer| peer.total() - peer.se, 0.1),
        ("responsiveness", |peer| peer.r[1], 1e-6),
        ("fairness", |peer| peer.r[2], 1e-6),
        ("value_add", |peer| peer.r[3], 1e-6),
        ("ghosting_rate", |peer| peer.g, 1e-6),
    ];
    for (metric, exact, step) in boards {
        let rows = board(&client, metric);
        let slugs: BTreeSet<&str> = rows.iter().map(|row| row["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ranked, "{metric}");
        for row in &rows {
            let slug = row["slug"].as_str().unwrap();
            assert_rounded(&row["rank_value"], Some(exact(&peers[slug])), step, &format!("{metric} of {slug}"));
        }
        assert_order(&rows, metric);
    }
}

#[test]
fn activity_counts_rounds_of_a_year_up_to_the_newest() {
    let server = Server::bundled();
    let rows = board(&server.client(Tier::Enterprise), "activity");
    let rounds = rows_of(&bundled_folder(), "funding_rounds.csv");
    let announced = rounds.iter().filter_map(|round| first_day(&round["announced_on"]));
    let newest = announced.filter(|day| *day <= days(RELEASED_ON)).max().unwrap();
    let mut joined: BTreeMap<&str, u64> = BTreeMap::new();
    for round in &rounds {
        if !first_day(&round["announced_on"]).is_some_and(|day| (0..=365).contains(&(newest - day))) {
            continue;
        }
        let firms = round["lead_investors"].split('|').chain(round["investors"].split('|'));
        let firms: BTreeSet<&str> = firms.filter(|firm| !firm.is_empty()).collect();
        firms.into_iter().for_each(|firm| *joined.entry(firm).or_default() += 1);
    }
    let found = |row: &Value| (row["slug"].as_str().unwrap().to_owned(), row["rank_value"].as_u64().unwrap());
    let found: BTreeMap<String, u64> = rows.iter().map(found).collect();
    let expected: BTreeMap<String, u64> = joined.into_iter().map(|(firm, count)| (firm.to_owned(), count)).collect();
    assert_eq!(found, expected);
    assert_order(&rows, "activity");
}

/// All rows of a leaderboard.
fn board(client: &Client, metric: &str) -> Vec<Value> {
    let list = client.get(&format!("/api/v3/leaderboard?limit=1000&metric={metric}")).json();
    let rows = list["data"].as_array().unwrap().clone();
    assert_eq!(list["pagination"]["total"], rows.len(), "{metric}");
    rows
}

/// Checks that the best is first, and that ties share a rank and are in the order of their slugs.
fn assert_order(rows: &[Value], metric: &str) {
    assert_eq!(rows[0]["rank"], 1, "{metric}");
    for (pair, position) in rows.windows(2).zip(2_u64..) {
        let [before, row] = pair else { unreachable!("windows have two rows") };
        let value = |row: &Value| row["rank_value"].as_f64().unwrap();
        let what = format!("{metric}: {before} and {row}");
        if value(before) == value(row) {
            assert_eq!(row["rank"], before["rank"], "{what}");
            assert!(before["slug"].as_str() < row["slug"].as_str(), "{what}");
        } else {
            assert_eq!(row["rank"], position, "{what}");
            assert_eq!(value(before) < value(row), metric == "ghosting_rate", "{what}");
        }
    }
}

#[test]
fn the_page_of_the_score_has_the_numbers_of_the_method() {
    let server = Server::bundled();
    let maxima = DIMENSIONS.into_iter().chain([GHOSTING]);
    let mut texts: Vec<String> =
        maxima.map(|(name, max)| format!("<tr><td><code>{name}</code></td><td>{max}</td>")).collect();
    texts.push(format!("<code>{METHOD}</code>"));
    texts.push(format!("at least {PUBLISHED_FROM} approved reviews"));
    texts.push(format!("at least {RANKED_FROM} approved reviews"));
    assert_says(&server.anonymous(), "/docs/score", &texts);
}

#[test]
fn responses_are_cached_as_documented() {
    let server = Server::bundled();
    let (client, limits) = (server.client(Tier::Pro), page(&server.anonymous(), "/docs/limits"));
    for (caching, paths) in [
        (
            "private, max-age=60",
            &[
                "/api/v3/vcs?limit=1",
                "/api/v2/vcs/alder-capital",
                "/api/v3/vcs/facets",
                "/api/v3/vcs.csv?limit=1",
                "/api/v3/stats",
                "/vcs",
                "/docs/limits",
            ][..],
        ),
        (
            "no-store",
            &[
                "/api/v3/usage",
                "/api/v3/snapshots",
                "/api/v3/vcs/nobody-has-this",
                "/api/v3/nowhere",
                "/api/v3/vcs?stage=sead",
                "/signin",
            ][..],
        ),
        ("public, max-age=300", &["/api/mcp/.well-known", "/api/mcp/server-card", "/openapi/v3.json"][..]),
    ] {
        assert!(limits.contains(&format!("<code>{caching}</code>")), "{caching}");
        for path in paths {
            let reply = client.get(path);
            assert_eq!(reply.header("cache-control"), caching, "{path}: {}", reply.status);
            if path.starts_with("/api/v") {
                assert_eq!(reply.header("vary"), "Accept, Accept-Encoding", "{path}");
            }
        }
    }
    let reply = client.post("/api/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
}

#[test]
fn only_long_bodies_are_compressed() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let accepts = [("accept-encoding", "gzip")];
    for (path, encoding) in [("/api/v3/vcs?limit=50", "gzip"), ("/api/v3/vcs?limit=1&fields=slug", "")] {
        let reply = client.send("GET", path, &accepts);
        assert_eq!((reply.status, reply.header("content-encoding")), (200, encoding), "{path}");
        assert_eq!(reply.text.len() >= 1_024, encoding == "gzip", "{path}");
        assert_eq!(client.get(path).header("content-encoding"), "", "{path}");
    }
}

#[test]
fn the_docs_name_every_header_that_scripts_of_other_origins_see_and_send() {
    let server = Server::bundled();
    let (client, limits) = (server.anonymous(), page(&server.anonymous(), "/docs/limits"));
    let asks = [("origin", "https://example.com"), ("access-control-request-method", "GET")];
    let preflight = client.send("OPTIONS", "/api/v3/vcs", &asks);
    assert_eq!((preflight.status, preflight.header("access-control-max-age")), (204, "86400"));
    let reply = client.send("GET", "/api/v3/vcs", &asks[..1]);
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, "*"));
    for names in [preflight.header("access-control-allow-headers"), reply.header("access-control-expose-headers")] {
        assert!(!names.is_empty());
        for name in names.split(',') {
            assert!(limits.contains(&format!("<code>{}</code>", name.trim())), "{name}");
        }
    }
    assert_eq!(client.get("/vcs").header("access-control-allow-origin"), "");
}

#[test]
fn spellings_of_a_value_are_the_same_filter() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |request: &str| {
        let reply = client.get(&format!("/api/v3/{request}&limit=1"));
        assert_eq!(reply.status, 200, "{request}: {}", reply.text);
        reply.json()["pagination"]["total"].as_u64().unwrap()
    };
    for (list, canonical, spellings) in [
        ("vcs?stage=", "pre-seed", &["angel", "Pre%20Seed", "PRE_SEED"][..]),
        ("vcs?stage=", "series-a", &["a", "A", "Series%20A", "series_a"][..]),
        ("vcs?stage=", "series-c", &["c", "Series-C"][..]),
        ("vcs?stage=", "series-d-plus", &["d", "d%2B", "series-d", "series-g", "Series%20K"][..]),
        ("vcs?kind=", "angel-network", &["Angel%20Network", "ANGEL_NETWORK"][..]),
        ("vcs?country=", "DE", &["de", "DEU", "Germany"][..]),
        ("vcs?country=", "GB", &["UK", "gbr", "United%20Kingdom"][..]),
        ("reviews?ghosted=", "true", &["yes", "1", "True"][..]),
        ("reviews?ghosted=", "false", &["no", "0", "FALSE"][..]),
    ] {
        let expected = total(&format!("{list}{canonical}"));
        assert!(expected > 0, "{list}{canonical}");
        for spelling in spellings {
            assert_eq!(total(&format!("{list}{spelling}")), expected, "{list}{spelling}");
        }
    }
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
fn at_most_twenty_faults_are_reported_and_the_first_is_the_code() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let sectors: Vec<String> = (0..50).map(|number| format!("nosuchsector{number}")).collect();
    let reply = client.get(&format!("/api/v3/vcs?sector={}", sectors.join(",")));
    let errors = reply.json()["errors"].as_array().unwrap().clone();
    assert_eq!((reply.status, errors.len()), (400, 20));
    assert_eq!(reply.json()["code"], errors[0]["code"]);
    for error in &errors {
        assert!(error["parameter"] == "sector" && error["detail"].is_string(), "{error}");
    }
    assert_says(&server.anonymous(), "/docs/errors", &["the faults of all parameters, at most 20.".to_owned()]);
}

#[test]
fn the_docs_have_the_limits_of_the_tiers() {
    let server = Server::bundled();
    let client = server.anonymous();
    let row = |cells: [&str; 3]| format!("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", cells[0], cells[1], cells[2]);
    let (mut keys, mut limits) = (Vec::new(), Vec::new());
    for tier in Tier::ALL {
        let (requests, allowed) = (or_unlimited(tier.daily_limit()), or_unlimited(tier.keys()));
        keys.push(row([tier.name(), &allowed, &requests]));
        limits.push(row([tier.name(), &requests, &allowed]));
    }
    let new = Tier::Free.new_keys_per_day().unwrap();
    assert_eq!(Tier::Pro.new_keys_per_day(), Some(new));
    keys.push(format!("Free and pro accounts can create {new} keys per day"));
    let [free, pro, enterprise] = Tier::ALL.map(|tier| grouped(tier.watches().into()));
    limits.push(format!("{free} per account of the free tier, {pro} of pro, {enterprise} of enterprise"));
    let RateLimitConfig { pages_per_minute, sign_ups_per_hour } = RateLimitConfig::default();
    limits.push(format!("{pages_per_minute} requests per minute and {sign_ups_per_hour} sign-ups per hour"));
    limits.push(format!("<td>{MAX_NAME_WORDS}</td>"));
    assert_says(&client, "/docs/keys", &keys);
    assert_says(&client, "/docs/limits", &limits);
    let operation = [format!("create {new} keys per UTC day"), format!("{new} new keys per account and day")];
    assert_says(&client, "/docs/operation", &operation);
}

#[test]
fn the_docs_have_the_limits_of_lists_and_of_datasets() {
    let server = Server::bundled();
    let client = server.anonymous();
    let paging = [
        format!("A list returns {DEFAULT_LIMIT} records by default."),
        format!("up to {MAX_LIMIT}; a larger one returns {MAX_LIMIT}"),
        format!("may set it to {}.", grouped(MAX_PAID_LIMIT)),
        format!("<tr><td><code>limit</code></td><td>all</td><td>1</td><td>{DEFAULT_LIMIT}</td></tr>"),
    ];
    assert_says(&client, "/docs/paging", &paging);
    let [line, url, text, values] = [MAX_LINE, MAX_URL, MAX_TEXT, MAX_VALUES].map(|max| grouped(max as u64));
    let dataset = [
        format!("At most {line} characters in a slug"),
        format!("{url} in a website, {text} in a description"),
        format!("at most {values} values in a list"),
    ];
    assert_says(&client, "/docs/operation", &dataset);
}

#[test]
fn the_docs_have_the_protocol_of_the_manifest() {
    let server = Server::bundled();
    let client = server.anonymous();
    let manifest = client.get("/api/mcp/.well-known").json();
    let revisions = manifest["protocolVersions"].as_array().unwrap();
    let mut texts: Vec<String> = revisions.iter().map(|revision| revision.as_str().unwrap().to_owned()).collect();
    texts.push(format!("Each network address may make {} tool calls per day", manifest["limits"]["toolCallsPerDay"]));
    for limit in ["maxRequestBytes", "maxResultTextBytes"] {
        assert!(manifest["limits"][limit].is_u64(), "{limit}");
        texts.push(format!("<code>limits.{limit}</code>"));
    }
    assert_says(&client, "/docs/mcp", &texts);
    for (status, code, body) in [
        (200, -32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_tool","arguments":{}}}"#),
        (400, -32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#),
        (200, -32601, r#"{"jsonrpc":"2.0","id":1,"method":"tools/lst"}"#),
        (400, -32700, "{"),
        (400, -32600, "[]"),
        (400, -32600, r#"{"id":1,"method":"tools/list"}"#),
    ] {
        let reply = client.post("/api/mcp", body);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(code)), "{body}");
    }
}
