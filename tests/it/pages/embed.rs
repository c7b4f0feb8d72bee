//! Charts with addresses of their own: pages to embed, pictures, data.

use std::collections::{BTreeMap, BTreeSet};

use scraper::Html;
use serde_json::Value;

use crate::pages::charts::table;
use crate::pages::rendered;
use crate::support::harness::{Client, Server, one_of};
use crate::support::html::{Markup, parse};

const MAX_BYTES: usize = 30_000;

/// Pages with charts: of the firms and startups with most rounds, so that they have all kinds.
fn pages(client: &Client) -> Vec<String> {
    let first = |path: &str| client.get(path).json()["data"][0]["slug"].as_str().unwrap().to_owned();
    let firm = first("/vcs.json?sort=-investment_count");
    let rated = first("/vcs.json?sort=-review_count");
    let startup = first("/startups.json?sort=-total_raised_usd");
    let mut pages = vec![format!("/vcs/{firm}"), format!("/vcs/{rated}/reviews"), format!("/startups/{startup}")];
    let fixed = [
        "/",
        "/markets",
        "/sectors/fintech",
        "/sectors/fintech/seed",
        "/countries/us",
        "/countries/us/seed",
        "/cities/Berlin",
        "/leaderboard",
        "/data",
    ];
    pages.extend(fixed.map(str::to_owned));
    pages
}

/// The addresses of the charts of a page, each with its links by their texts.
fn charts(page: &Html) -> Vec<BTreeMap<String, String>> {
    let links = |details: scraper::ElementRef<'_>| -> BTreeMap<String, String> {
        let links = details.all("a").into_iter();
        links.map(|link| (link.text().collect(), link.attr("href").unwrap().to_owned())).collect()
    };
    page.all("details.files").into_iter().map(links).collect()
}

#[test]
fn each_chart_has_a_page_to_embed_pictures_and_data() {
    let server = Server::bundled();
    let client = server.anonymous();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (number, path) in pages(&client).into_iter().enumerate() {
        let page = parse(&rendered(&server, &path));
        let of_page = charts(&page);
        assert!(!of_page.is_empty(), "{path} has no chart with files");
        for (place, links) in of_page.into_iter().enumerate() {
            assert_eq!(links.keys().collect::<Vec<_>>(), ["CSV", "Embed", "JSON", "PNG", "SVG"], "{path}");
            let address = links["Embed"].clone();
            seen.insert(address.split('?').next().unwrap().rsplit_once('/').unwrap().1.to_owned());

            let embedded = client.get(&address);
            assert_eq!(embedded.status, 200, "{address}");
            assert!(embedded.header("content-security-policy").contains("frame-ancestors *"), "{address}");
            let html = parse(&embedded.text);
            assert_eq!(html.values("meta[name=robots]", "content"), ["noindex"], "{address}");
            let finding = html.find("h1").unwrap().text().collect::<String>();
            let canonical = html.values("link[rel=canonical]", "href")[0].to_owned();
            assert!(!finding.is_empty() && embedded.text.contains("Source: "), "{address}");

            let json = client.get(&links["JSON"]).json();
            assert_eq!(json["chart"]["finding"], finding.as_str(), "{address}");
            assert_eq!(json["chart"]["page"], canonical.as_str(), "{address}");
            let rows = json["data"].as_array().unwrap();
            assert!(!rows.is_empty(), "{address}");
            let csv = client.get(&links["CSV"]);
            assert!(csv.header("content-disposition").ends_with(".csv\""), "{address}");
            check_csv(&csv.text, rows);

            let svg = client.get(&links["SVG"]);
            assert_eq!((svg.status, svg.header("content-type")), (200, "image/svg+xml"), "{address}");
            assert!(svg.text.len() <= MAX_BYTES, "{address}.svg has {} bytes", svg.text.len());
            let release = json["meta"]["snapshot"].as_str().unwrap();
            for part in ["Source: ", release, "Invented data"] {
                assert!(svg.text.contains(part), "{address}: {part}");
            }
            assert!(!svg.text.contains("<a ") && !svg.text.contains("href="), "{address}");
            assert_eq!(svg.header("cross-origin-resource-policy"), "cross-origin");
            // Drawing takes long without optimization.
            if (number + place).is_multiple_of(one_of(6)) {
                let picture = client.agent.get(format!("{}{}", client.base, links["PNG"])).call().unwrap();
                let bytes = picture.into_body().read_to_vec().unwrap();
                assert!(
                    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() <= MAX_BYTES,
                    "{address}: {}",
                    bytes.len()
                );
            }
        }
    }
    let known: BTreeSet<String> = site::all_paths()
        .filter_map(|(path, _)| Some(path.strip_prefix("/embed/")?.rsplit('/').next().unwrap().to_owned()))
        .collect();
    assert_eq!(seen, known, "charts on pages and charts with addresses");
}

/// The cells of CSV are the values of JSON; an unknown value is an empty cell.
fn check_csv(text: &str, rows: &[Value]) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(rows) {
        assert_eq!(heads.len(), row.as_object().unwrap().len());
        for (head, cell) in heads.iter().zip(record) {
            let value = match &row[head] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            assert_eq!(cell.trim_start_matches('\''), value.trim_start_matches('\''), "{head}");
        }
    }
}

#[test]
fn the_data_of_a_chart_is_that_of_the_page_and_of_the_api() {
    let server = Server::bundled();
    let client = server.anonymous();
    let groups = server
        .client(auth::quota::Tier::Enterprise)
        .get("/api/v3/funding-rounds/aggregate?group_by=year&limit=100")
        .json();
    let groups = groups["data"]["groups"][0]["values"].as_array().unwrap().clone();
    let data = client.get("/embed/markets/rounds.json").json();
    let mut compared = 0;
    for row in data["data"].as_array().unwrap() {
        let year = row["year"].to_string();
        let count = groups.iter().find(|group| group["value"] == year.as_str()).map(|group| group["count"].clone());
        assert_eq!(Some(row["rounds"].clone()), count, "{year}");
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
    // As the table of the page, with gaps, where the data has some.
    let page = parse(&rendered(&server, "/vcs/hollowford-capital-partners"));
    let chart = crate::pages::charts::chart(&page, "years").unwrap();
    let shown = table(chart);
    let data = client.get("/embed/vcs/hollowford-capital-partners/years.json").json();
    let rows = data["data"].as_array().unwrap();
    assert_eq!(shown.len(), rows.len() + 1);
    let mut gaps = 0;
    for (shown, row) in shown[1..].iter().zip(rows) {
        let total = match &row["total"] {
            Value::Null => "not covered".to_owned(),
            total => total.to_string(),
        };
        assert_eq!((&shown[0], shown.last().unwrap()), (&row["year"].to_string(), &total));
        assert_eq!(row["total"].is_null(), row["coverage"] == "none");
        gaps += u32::from(row["coverage"] != "known");
    }
    assert!(gaps > 0);
}

/// The network of a market has the firms with most of its rounds, and counts the rounds that two of them share.
#[test]
fn firms_of_a_market_that_invest_together_share_the_rounds_of_the_api() {
    let server = Server::bundled();
    let client = server.client(auth::quota::Tier::Enterprise);
    let all = crate::pages::charts::all_of(&client, "funding-rounds", "sector=fintech");
    let names = |round: &Value| -> BTreeSet<String> {
        let investors = round["investors"].as_array().into_iter().flatten();
        investors.map(|firm| firm["name"].as_str().unwrap().to_owned()).collect()
    };
    let joined: Vec<BTreeSet<String>> = all.iter().map(names).collect();
    let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
    joined.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let data = server.anonymous().get("/embed/sectors/fintech/network.json").json();
    let rows = data["data"].as_array().unwrap();
    let shown: BTreeSet<&str> = rows.iter().map(|row| row["firm"].as_str().unwrap()).collect();
    let least = rows.iter().map(|row| row["rounds_here"].as_u64().unwrap()).min().unwrap();
    assert!(counts.iter().all(|(name, rounds)| *rounds <= least || shown.contains(name.as_str())));
    let mut with_others = 0;
    for row in rows {
        let firm = row["firm"].as_str().unwrap().to_owned();
        assert_eq!(row["rounds_here"], counts[&firm], "{firm}");
        let shared = |other: &str| joined.iter().filter(|names| names.contains(&firm) && names.contains(other)).count();
        let most = shown.iter().filter(|other| **other != firm).map(|other| shared(other)).max().unwrap();
        match row["most_with"].as_str() {
            Some(other) => {
                assert_eq!((shared(other), row["shared"].as_u64()), (most, Some(most as u64)), "{firm}");
                with_others += 1;
            }
            None => assert_eq!((most, &row["shared"]), (0, &Value::Null), "{firm}"),
        }
    }
    assert!(with_others > 10, "{with_others}");
    let largest = server.anonymous().get("/embed/sectors/fintech/largest.json").json();
    let most = all.iter().filter(|round| round["suspect"] == false && !round["announced_on"].is_null());
    let most = most.filter_map(|round| round["amount_usd"].as_u64()).max();
    let drawn = largest["data"].as_array().unwrap().iter().filter_map(|row| row["amount"].as_u64()).max();
    assert_eq!(drawn, most);
    let cities = server.anonymous().get("/embed/countries/us/cities.json").json();
    let startups = crate::pages::charts::all_of(&client, "startups", "country=US");
    for row in cities["data"].as_array().unwrap() {
        let here = startups.iter().filter(|startup| startup["city"] == row["city"]).count();
        assert_eq!(row["startups"], here, "{row}");
    }
}

#[test]
fn what_is_not_there_is_refused_in_the_form_that_was_requested() {
    let server = Server::bundled();
    let client = server.anonymous();
    // A page of all markets has maps in place of this chart.
    for path in ["/embed/markets/by-sector", "/embed/vcs/no-such-firm/years", "/embed/vcs/alder-capital/nothing"] {
        for extension in [".svg", ".png", ".csv", ".json"] {
            let reply = client.send("GET", &format!("{path}{extension}"), &[("accept", "*/*")]);
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (404, "application/problem+json"),
                "{path}{extension}"
            );
        }
        let page = client.send("GET", path, &[("accept", "text/html")]);
        assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
    }
    assert_eq!(client.get("/embed/markets/rounds.md").status, 404);
    let unknown = client.get("/embed/markets/rounds.json?foo=1").json();
    assert_eq!(unknown["meta"]["warnings"][0]["parameter"], "foo");
    assert!(client.get("/embed/markets/rounds?foo=1").text.contains("no parameter “foo”"));
    assert!(client.get("/embed/markets/rounds.svg?foo=1").headers.contains_key("x-warnings"));
    assert_eq!(client.get("/embed/leaderboard/distribution.csv?metric=beauty").status, 400);
    assert_eq!(client.get("/embed/vcs/alder-capital/reviews/ratings.csv?min_rating=x").status, 400);
    let ghosting = client.get("/embed/leaderboard/distribution.json?metric=ghosting_rate").json();
    assert!(ghosting["chart"]["title"].as_str().unwrap().contains("ghosting"), "{ghosting}");
}

#[test]
fn only_pages_of_charts_may_be_framed() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in ["/", "/vcs/alder-capital", "/markets", "/docs/charts", "/embed"] {
        let policy = client.get(path).header("content-security-policy").to_owned();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
}

#[test]
fn previews_of_pages_show_their_chart() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in ["/", "/markets", "/sectors/fintech", "/countries/us/seed", "/leaderboard", "/data"] {
        let page = parse(&client.get(path).text);
        let address = page.values("meta[property='og:image']", "content")[0].to_owned();
        assert!(address.starts_with(&format!("{}/embed", client.base)), "{path}: {address}");
        if path == "/markets" {
            let picture = client.agent.get(&address).call().unwrap();
            assert_eq!(picture.headers()["content-type"], "image/png");
            assert_eq!(picture.headers()["cache-control"], "public, max-age=31536000, immutable");
            let again = client.agent.get(address.split('?').next().unwrap()).call().unwrap();
            assert_eq!(again.headers()["cache-control"], "private, max-age=60");
            let tag = again.headers()["etag"].to_str().unwrap().to_owned();
            let known = client.send("GET", "/embed/markets/rounds.png", &[("if-none-match", &tag)]);
            assert_eq!(known.status, 304);
        }
    }
}
