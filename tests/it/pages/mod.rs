//! The pages: valid HTML without foreign resources, links that work, numbers equal to those of the API.

pub mod charts;
mod columns;
mod contact;
mod contract;
mod coverage;
mod data_page;
mod discovery;
pub mod docs;
pub mod docs_numbers;
mod embed;
mod endpoint_reference;
mod filters;
mod leaderboard;
mod markets;
mod other_names;
mod profiles;
mod recipes;
mod release_page;
mod resolve;
mod routes;
mod theme;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;

use auth::quota::Tier;
use catalog::ListPosition;
use catalog::Query;
use data::{NONE_U8, Table};
use http::{HeaderMap, Response};
use scraper::{ElementRef, Html};
use site::PageRequest;
use site::PageRoute;
use tokio::runtime::Builder;
use transport::{Peer, RequestIds, RequestTrace};

use crate::support::harness::{Client, Server, cases, catalog_of, copy_with_few_reviews, one_of, real_catalog};
use crate::support::html::{Markup, parse, text_of};

/// Checks what every page must fulfil, and returns the parsed page.
pub fn check(path: &str, page: &str) -> Html {
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "{path}");
    for forbidden in ["<script>", " style=\"", "<style", " onclick=\"", " onload=\"", "href=\"javascript:", "@import"] {
        assert!(!page.contains(forbidden), "{path} has {forbidden}");
    }
    let page = parse(page);
    assert_eq!(page.all("h1").len(), 1, "{path}: h1");
    for source in page.values("[src]", "src") {
        assert!(source.starts_with("/assets/"), "{path} loads {source}");
    }
    let ids = page.values("[id]", "id");
    let once: BTreeSet<&str> = ids.iter().copied().collect();
    assert!(once.contains("main"), "{path}: main");
    assert_eq!(ids.len(), once.len(), "{path} has an id twice: {ids:?}");
    for label in ["for", "aria-labelledby"].iter().flat_map(|name| page.values(&format!("[{name}]"), name)) {
        assert!(once.contains(label), "{path}: nothing has the id {label}");
    }
    assert!(text_of(page.first("head > title")).contains("VentureDex"), "{path}");
    assert!(page.values("meta[name=description]", "content")[0].len() > 20, "{path}");
    page
}

#[test]
fn every_link_of_every_page_works() {
    let server = Server::bundled();
    let client = server.anonymous();
    let mut waiting: VecDeque<String> = VecDeque::from(["/".to_owned()]);
    let mut seen: BTreeSet<String> = BTreeSet::from(["/".to_owned()]);
    // A few pages of each kind are enough, in the gate fewer; links that differ only in values of their query are one kind.
    let of_kind = cases(12, 2);
    let mut by_kind: BTreeMap<String, u32> = BTreeMap::new();
    let mut pages = 0;
    while let Some(path) = waiting.pop_front() {
        let reply = client.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        if reply.header("content-type") != "text/html; charset=utf-8" {
            continue;
        }
        pages += 1;
        let page = check(&path, &reply.text);
        assert!(reply.header("content-security-policy").starts_with("default-src 'none'; style-src 'self'"), "{path}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert!(reply.text.contains("Invented data."), "{path} does not say that the data is invented");
        for link in page.values("[href]", "href") {
            let link = link.split('#').next().unwrap().to_owned();
            if link.is_empty() || !link.starts_with('/') {
                let outside = ["https://", "http://", "cursor://", "vscode:", "lmstudio://"]
                    .iter()
                    .any(|start| link.starts_with(start));
                assert!(link.is_empty() || outside, "{path} links to {link}");
                continue;
            }
            let kind = match link.split_once('?') {
                Some((path, query)) => {
                    let names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.into_owned());
                    format!("{path}?{}", names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("&"))
                }
                None => link.rsplit_once('/').map_or(link.clone(), |(above, _)| format!("{above}/…")),
            };
            let count = by_kind.entry(kind).or_default();
            if *count < of_kind && seen.insert(link.clone()) {
                *count += 1;
                waiting.push_back(link);
            }
        }
        if pages > 900 {
            break;
        }
    }
    assert!(pages > cases(300, 80), "{pages} pages were found");
}

#[test]
fn every_profile_is_valid_and_small() {
    let server = Server::bundled();
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    let mut titles = BTreeSet::new();
    for (table, path) in [(Table::Firms, "vcs"), (Table::Startups, "startups"), (Table::People, "people")] {
        for row in (0..snapshot.rows(table)).step_by(one_of(15)) {
            let path = format!("/{path}/{}", snapshot.slug(table, row));
            let page = rendered(&server, &path);
            assert!(page.len() < 135_000, "{path} has {} bytes", page.len());
            let page = check(&path, &page);
            assert_eq!(text_of(page.first("h1")), snapshot.name(table, row), "{path}");
            titles.insert(text_of(page.first("head > title")));
        }
    }
    assert!(titles.len() > 20);
}

#[test]
fn the_largest_profiles_of_real_firms_are_small() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let catalog = server.state.releases.current();
    let mut longest = 0;
    // The first ones have most rounds.
    for row in (0..40).chain((0..catalog.snapshot().rows(Table::Firms)).step_by(one_of(100))) {
        let path = format!("/vcs/{}", catalog.snapshot().slug(Table::Firms, row));
        let page = rendered(&server, &path);
        longest = longest.max(page.len());
        assert!(page.len() < 135_000, "{path} has {} bytes", page.len());
        // There are no reviews.
        assert!(page.contains("has reviewed") && !page.contains("of 100</small>"), "{path}");
        assert!(!page.contains("Invented data."), "{path} says that the data is invented");
        if row % 50 == 0 {
            check(&path, &page);
        }
    }
    assert!(longest > 10_000, "{longest}");
}

/// A page as it is rendered, without the network.
pub(crate) fn rendered(server: &Server, path: &str) -> String {
    let response = answer(server, path, &HeaderMap::new());
    assert_eq!(response.status(), 200, "{path}");
    String::from_utf8(response.into_body()).unwrap()
}

/// The response to a request for a page, without the network.
pub(crate) fn answer(server: &Server, path: &str, headers: &HeaderMap) -> Response<Vec<u8>> {
    let peer = Peer("127.0.0.1:1".parse().unwrap());
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (id, trace) = (RequestIds::default().next(), RequestTrace::default());
    let request = PageRequest { state: &server.state, path, query, headers, peer, id, trace: &trace, bill: None };
    let page = PageRoute::parse(path).unwrap_or_else(|| panic!("no page is at {path}"));
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(site::answer(page, request, None, peer.0.ip()))
}

/// The slugs that a list links to, in order.
pub(crate) fn listed(page: &Html, path: &str) -> Vec<String> {
    let hrefs = page.values("th[scope=row] > a:first-child", "href").into_iter();
    hrefs.filter_map(|href| href.strip_prefix(path)?.strip_prefix('/')).map(str::to_owned).collect()
}

/// The table of a list.
pub(crate) fn list_of(page: &Html) -> ElementRef<'_> {
    page.first("table.rows")
}

/// The total above a list.
pub(crate) fn total(page: &Html) -> u64 {
    let text = text_of(page.first("strong.number"));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn lists_equal_those_of_the_api() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    for (path, queries) in [
        (
            "vcs",
            vec!["", "stage=seed&country=DE", "q=capital&page=2", "min_health_score=70&sort=name", "sector=fintech"],
        ),
        ("startups", vec!["", "stage=series-a&sector=health", "q=labs", "sort=-last_round_on&page=3", "country=GB"]),
        ("people", vec!["", "q=anna", "kind=firm&page=2", "country=FR"]),
        ("leaderboard", vec!["", "metric=activity&stage=seed", "metric=ghosting_rate&page=2", "country=US"]),
    ] {
        let (api, below) = if path == "leaderboard" { ("v2", "/vcs") } else { ("v3", "") };
        for query in queries {
            let page = visitor.get(&format!("/{path}?{query}"));
            assert_eq!(page.status, 200, "{path}?{query}");
            let page = parse(&page.text);
            let below = if below.is_empty() { format!("/{path}") } else { below.to_owned() };
            let shown = listed(&page, &below);
            // v3 has no pages, so the previous rows are read too.
            let number: usize = query.split("page=").nth(1).map_or(1, |number| number.parse().unwrap());
            let filters = query.split("&page=").next().unwrap();
            let filters = if filters.starts_with("page=") { "" } else { filters };
            let reply = if api == "v2" {
                client.get(&format!("/api/v2/{path}?{filters}&limit=25&page={number}"))
            } else {
                let mut reply = client.get(&format!("/api/v3/{path}?{filters}&limit=25"));
                for _ in 1..number {
                    let cursor = reply.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
                    reply = client.get(&format!("/api/v3/{path}?cursor={cursor}&limit=25"));
                }
                reply
            };
            assert_eq!(shown, reply.slugs(), "{path}?{query}");
            assert_eq!(total(&page), reply.json()["pagination"]["total"].as_u64().unwrap(), "{path}?{query}");
            assert!(!shown.is_empty(), "{path}?{query} finds nothing");
        }
    }
}

#[test]
fn a_name_with_typos_leads_to_its_profile() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    let page = visitor.get("/?q=aldr+captial").text;
    assert!(page.contains("<a href=\"/vcs/alder-capital\">Alder Capital</a>"), "{page}");
    let names = visitor.get("/suggest?q=aldr+cap").json();
    assert_eq!(
        (&names["names"][0]["name"], &names["names"][0]["href"]),
        (&"Alder Capital".into(), &"/vcs/alder-capital".into())
    );
    assert_eq!(visitor.get("/suggest").json()["names"], serde_json::json!([]));
    let missing = visitor.get("/vcs/aldr-capitol");
    assert_eq!(missing.status, 404);
    check("/vcs/aldr-capitol", &missing.text);
    assert!(missing.text.contains("href=\"/vcs/alder-capital\""), "{}", missing.text);
    let nothing = visitor.get("/?q=zzxqwy").text;
    assert!(nothing.contains("No firm, startup or person has a name like"), "{nothing}");
}

#[test]
fn unknown_filters_are_reported_with_a_suggestion() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    let page = visitor.get("/vcs?stage=sede,series-a&contry=DE&utm_source=x").text;
    assert!(page.contains("“sede” is not a stage"), "{page}");
    assert!(page.contains("<a href=\"/vcs?stage=series-a,seed\">seed</a>"), "{page}");
    assert!(page.contains("unknown parameter “contry”") && !page.contains("utm_source"), "{page}");
    let marked = visitor.get("/vcs?min_health_score=high");
    assert_eq!(marked.status, 200);
    assert!(marked.text.contains("“high” is not an integer"), "{}", marked.text);
    check("/vcs?min_health_score=high", &marked.text);
    let beyond = visitor.get("/vcs?page=999999999999999999999");
    assert_eq!(beyond.status, 200);
    assert_eq!(visitor.get("/vcs?page=5000").status, 200);
}

#[test]
fn a_firm_with_few_reviews_has_no_score_and_says_so() {
    let server = Server::bundled();
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    let reviews = Table::Firms.sort_key("review_count");
    let (counts, ranks) = (snapshot.values(Table::Firms, reviews), snapshot.ranks(Table::Firms, reviews));
    let (mut scored, mut few, mut none) = (0, 0, 0);
    for row in (0..snapshot.rows(Table::Firms)).step_by(one_of(5)) {
        let page = rendered(&server, &format!("/vcs/{}", snapshot.slug(Table::Firms, row)));
        let count = counts[ranks[row as usize] as usize];
        match count {
            0 => {
                none += 1;
                assert!(page.contains("No founder has reviewed"));
            }
            _ if snapshot.health_scores()[row as usize] == NONE_U8 => {
                few += 1;
                assert!(page.contains("of today; a score requires 3."));
            }
            _ => {
                scored += 1;
                let score = snapshot.health_scores()[row as usize];
                assert!(page.contains(&format!("<p class=\"big\">{score}<small>of 100</small></p>")));
                assert_eq!(parse(&page).all("[class^='key s']").len(), 5);
            }
        }
        let has_score = snapshot.health_scores()[row as usize] != NONE_U8;
        assert!(count >= 3 || !has_score, "{count}");
        assert_eq!(page.contains("<small>of 100</small>"), has_score);
        assert!(page.contains("href=\"/docs/score\""));
    }
    let part = one_of(5);
    assert!(scored > 100 / part && few > 5 / part && none > 20 / part, "{scored} {few} {none}");
}

#[test]
fn markup_in_names_is_escaped() {
    let folder = copy_with_few_reviews("2026-11-20.9");
    let path = folder.path().join("firms.csv");
    let text = fs::read_to_string(&path).unwrap();
    let hostile = "<script>alert(1)</script>\"' onload=\"x";
    let text = text.replacen("Alder Capital", &format!("\"{}\"", hostile.replace('"', "\"\"")), 1);
    fs::write(&path, text).unwrap();
    let server = Server::of(catalog_of(folder.path()));
    let visitor = server.anonymous();
    for path in
        ["/vcs/alder-capital", "/?q=script+alert", "/vcs?q=%3Cscript%3Ealert(1)%3C/script%3E", "/vcs/%3Cscript%3E"]
    {
        let page = visitor.get(path).text;
        check(path, &page);
        assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"), "{path}: {page}");
    }
    let suggested = visitor.get("/suggest?q=%3Cscript%3Ealert").json();
    assert_eq!(suggested["names"][0]["name"], hostile);
}

#[test]
fn browsers_get_error_pages_and_programs_get_problem_documents() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let page = visitor.send("GET", "/no-such-page", &browser);
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    check("/no-such-page", &page.text);
    let problem = visitor.get("/no-such-page");
    assert_eq!((problem.status, problem.header("content-type")), (404, "application/problem+json"));
    // The API returns problem documents to browsers too.
    assert_eq!(visitor.send("GET", "/api/v3/nope", &browser).header("content-type"), "application/problem+json");
    let rejected = visitor.send("POST", "/vcs", &browser);
    assert_eq!((rejected.status, rejected.header("allow")), (405, "GET, HEAD, OPTIONS"));
    let head = visitor.send("HEAD", "/vcs/alder-capital", &[]);
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let packed = visitor.send("GET", "/vcs", &[("accept-encoding", "gzip")]);
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "Accept-Encoding, Cookie"));
    assert_eq!(packed.text, visitor.get("/vcs").text);
}

#[test]
fn the_api_url_of_a_page_works() {
    let server = Server::bundled();
    let (visitor, client): (Client, Client) = (server.anonymous(), server.client(Tier::Enterprise));
    for path in [
        "/vcs?q=capital&stage=seed,series-a&country=DE&sort=name",
        "/startups?status=acquired",
        "/people?kind=firm",
        "/leaderboard?metric=fairness&sector=fintech",
        "/sectors",
        "/vcs/alder-capital",
        "/vcs/alder-capital/reviews",
    ] {
        let page = parse(&visitor.get(path).text);
        let command = text_of(page.first("details.api pre"));
        let address = command.strip_prefix("curl -H \"Authorization: Bearer $VENTUREDEX_KEY\" \\\n  '").unwrap();
        let address = address.strip_suffix('\'').unwrap();
        let reply = client.get(address.strip_prefix(&client.base).unwrap());
        assert_eq!(reply.status, 200, "{path}: {address}: {}", reply.text);
        // Of all faults of a request, none: only what is unknown of its records.
        let warnings = reply.json()["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        assert!(warnings.iter().all(|warning| warning["code"] == "low_coverage"), "{path}: {address}");
    }
    let catalog = server.state.releases.current();
    assert!(catalog.list(&Query::all(Table::Firms), ListPosition::default(), 1).total > 0);
}

#[test]
fn the_reviews_of_a_firm_have_the_orders_and_filters_of_the_api() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for query in ["", "sort=rating", "sort=-rating", "ghosted=true&sort=rating", "sort=rating&page=2"] {
        let page = server.anonymous().get(&format!("/vcs/lunpentanza-ventures/reviews?{query}"));
        assert_eq!(page.status, 200);
        let api = format!("/api/v3/vcs/lunpentanza-ventures/reviews?limit=100&{}", query.replace("&page=2", ""));
        let reviews = client.get(&api).json();
        let skipped = if query.contains("page=2") { 25 } else { 0 };
        let expected = reviews["data"].as_array().unwrap().iter().skip(skipped).take(25);
        let days: Vec<&str> = expected.map(|review| review["created_on"].as_str().unwrap()).collect();
        assert_eq!(parse(&page.text).values("article time", "datetime"), days, "{query}");
        let total = format!("{} approved reviews", reviews["pagination"]["total"]);
        assert!(page.text.contains(&total), "{query}: {total}");
    }
    let mistyped = server.anonymous().get("/vcs/lunpentanza-ventures/reviews?sort=ratng").text;
    assert!(mistyped.contains("About this query") && mistyped.contains("did you mean"), "{mistyped}");
    let pending = server.anonymous().get("/vcs/lunpentanza-ventures/reviews?status=pending").text;
    assert!(pending.contains(">0 approved reviews<"), "only approved reviews are shown");
    let profile = server.anonymous().get("/vcs/lunpentanza-ventures").text;
    let years = client.get("/api/v3/vcs/lunpentanza-ventures?include=score_by_year").json();
    for year in years["included"]["score_by_year"]["data"].as_array().unwrap() {
        let row = format!("<th scope=\"row\">{}</th><td class=\"right\">{}</td>", year["year"], year["review_count"]);
        assert!(profile.contains(&row), "{row}");
    }
}
