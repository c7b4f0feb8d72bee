//! The leaderboard: what moved since the release before, histograms, and why a board has no firms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use auth::quota::Tier;
use catalog::Catalog;
use serde_json::Value;

use crate::pages::charts::{all_of, chart, table};
use crate::pages::rendered;
use crate::support::harness::{Client, Server, bundled_folder, catalog_of, copy_as};
use crate::support::html::{Markup, parse, text_of};

const METRICS: [&str; 6] = ["health_score", "responsiveness", "fairness", "value_add", "ghosting_rate", "activity"];
const BEFORE: &str = "2026-11-19.1";
const NOW: &str = "2026-11-20.1";

/// A release of the bundled data with the reviews that pass.
fn release(version: &str, passes: impl Fn(&csv::StringRecord) -> bool) -> Catalog {
    let folder = copy_as(&bundled_folder(), version);
    let path = folder.path().join("reviews.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).filter(|row| passes(row)).collect();
    let mut writer = csv::Writer::from_path(&path).unwrap();
    writer.write_record(&header).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.flush().unwrap();
    catalog_of(folder.path())
}

/// Serves a release after another in which each third firm has other reviews, and some none. All tests share both.
fn moved() -> Server {
    static RELEASES: OnceLock<[Arc<Catalog>; 2]> = OnceLock::new();
    let [before, now] = RELEASES.get_or_init(|| {
        let sum = |row: &csv::StringRecord| row[1].bytes().map(usize::from).sum::<usize>();
        let before = release(BEFORE, |row| match sum(row) % 9 {
            0 => false,
            3 | 6 => row[3] > *"2",
            _ => true,
        });
        [before, release(NOW, |row| sum(row) % 9 != 4)].map(Arc::new)
    });
    let server = Server::of(Arc::clone(before));
    server.state.releases.replace(Arc::clone(now));
    server
}

/// The ranks of a board, by slug.
fn ranks(client: &Client, parameters: &str) -> BTreeMap<String, u64> {
    let rank = |row: Value| (row["slug"].as_str().unwrap().to_owned(), row["rank"].as_u64().unwrap());
    all_of(client, "leaderboard", parameters).into_iter().map(rank).collect()
}

#[test]
fn each_rank_is_compared_with_that_of_the_release_before() {
    let server = moved();
    let client = server.client(Tier::Enterprise);
    let mut seen = BTreeSet::new();
    for (metric, filter) in
        METRICS.map(|metric| (metric, "")).into_iter().chain([("fairness", "&country=US&stage=seed")])
    {
        let query = format!("metric={metric}{filter}");
        let [before, now] = [BEFORE, NOW].map(|version| ranks(&client, &format!("{query}&snapshot={version}")));
        for page in 1..=now.len().div_ceil(25) {
            let html = parse(&rendered(&server, &format!("/leaderboard?{query}&page={page}")));
            for row in html.all("[aria-label='Ranked firms'] tbody tr") {
                let slug = row.first("th > a").attr("href").unwrap().strip_prefix("/vcs/").unwrap();
                let words = text_of(row.first("span.move > span.hidden"));
                let words = words.strip_prefix(", ").unwrap();
                let expected = match (now[slug], before.get(slug).copied()) {
                    (_, None) => format!("not ranked in release {BEFORE}"),
                    (now, Some(then)) if now < then => format!("up from {then} in release {BEFORE}"),
                    (now, Some(then)) if now > then => format!("down from {then} in release {BEFORE}"),
                    _ => format!("as in release {BEFORE}"),
                };
                assert_eq!(words, expected, "{query}, page {page}: {slug}");
                seen.insert(words.split(' ').next().unwrap().to_owned());
            }
        }
        let html = parse(&rendered(&server, &format!("/leaderboard?{query}")));
        for card in html.section("moved").unwrap().all("div.card") {
            let title = text_of(card.first("h3"));
            for firm in card.all("li") {
                let ranks = text_of(firm.first("span.nowrap"));
                let ranks: Vec<&str> = ranks.split(' ').collect();
                let slug = firm.first("a").attr("href").unwrap().strip_prefix("/vcs/").unwrap();
                let (then, now) = (before.get(slug), now.get(slug));
                match (title.as_str(), ranks.as_slice()) {
                    ("Up" | "Down", [from, "→", to]) => {
                        assert_eq!(
                            (from.parse().ok(), to.parse().ok()),
                            (then.copied(), now.copied()),
                            "{query}: {slug}"
                        );
                        assert_eq!(title == "Up", now < then, "{query}: {slug}");
                    }
                    ("New", ["now", rank]) => assert_eq!((None, rank.parse().ok()), (then, now.copied()), "{slug}"),
                    ("No longer ranked", ["was", rank]) => {
                        assert_eq!((rank.parse().ok(), None), (then.copied(), now), "{slug}");
                    }
                    other => panic!("{query}: {other:?}"),
                }
                seen.insert(title.clone());
            }
        }
    }
    let expected = ["Down", "New", "No longer ranked", "Up", "as", "down", "not", "up"].map(str::to_owned);
    assert_eq!(seen, expected.into());
}

#[test]
fn the_largest_moves_are_listed_first() {
    let server = moved();
    let client = server.client(Tier::Enterprise);
    let [before, now] = [BEFORE, NOW].map(|version| ranks(&client, &format!("snapshot={version}")));
    let rises = now.iter().filter(|(_, rank)| **rank <= 100);
    let mut rises: Vec<u64> = rises.filter_map(|(slug, now)| before.get(slug)?.checked_sub(*now)).collect();
    rises.retain(|rise| *rise > 0);
    rises.sort_unstable_by(|a, b| b.cmp(a));
    let html = parse(&rendered(&server, "/leaderboard"));
    let mut cards = html.section("moved").unwrap().all("div.card").into_iter();
    let card = cards.find(|card| card.texts("h3") == ["Up"]).unwrap();
    let shown = card.texts("li span.nowrap").into_iter().map(|ranks| {
        let (then, now) = ranks.split_once(" → ").unwrap();
        then.parse::<u64>().unwrap() - now.parse::<u64>().unwrap()
    });
    assert_eq!(shown.collect::<Vec<_>>(), rises[..5]);
    assert_eq!(card.texts("p"), [format!("and {} more", rises.len() - 5)]);
}

#[test]
fn without_a_release_before_nothing_is_said_of_moves() {
    let server = Server::bundled();
    let html = rendered(&server, "/leaderboard");
    assert!(!html.contains("id=\"moved\"") && !html.contains("class=\"sub move"), "{html}");
}

#[test]
fn without_reviews_the_page_has_the_board_that_needs_none() {
    let server = Server::of(release(NOW, |_| false));
    let client = server.client(Tier::Enterprise);
    let html = rendered(&server, "/leaderboard");
    let first = &client.get("/api/v3/leaderboard?metric=activity&limit=1").slugs()[0];
    assert!(html.contains(&format!("<a href=\"/vcs/{first}\">")), "{html}");
    let page = parse(&html);
    assert_eq!(page.texts("nav[aria-label=Metric] > a"), ["Most active"]);
    assert_eq!(page.values("nav[aria-label=Metric] > a", "aria-current"), ["page"]);
    // A link to another board says why it is empty.
    let empty = rendered(&server, "/leaderboard?metric=fairness");
    assert!(empty.contains("no firm in the data has as many"), "{empty}");
}

#[test]
fn a_board_without_firms_names_the_conditions_to_drop() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |query: &str| {
        let reply = client.get(&format!("/api/v3/leaderboard?{query}&limit=1"));
        reply.json()["pagination"]["total"].as_u64().unwrap()
    };
    let mut dropped = 0;
    for stage in ["seed", "growth", "debt"] {
        for country in ["NZ", "LU", "ZA", "PL", "DE"] {
            for kind in ["accelerator", "corporate"] {
                let query = format!("stage={stage}&country={country}&kind={kind}");
                if total(&query) > 0 {
                    continue;
                }
                let page = parse(&rendered(&server, &format!("/leaderboard?{query}")));
                let lead = text_of(page.first("main > p.lead"));
                assert_eq!(lead, "No ranked firm matches all of these filters.", "{query}");
                for option in page.all("main > p.lead + ul > li") {
                    let href = option.first("a").attr("href").unwrap().strip_prefix("/leaderboard?").unwrap();
                    let option = text_of(option);
                    let (_, count) = option.rsplit_once(": ").unwrap();
                    let count = count.split_once(" firm").unwrap().0.parse::<u64>().unwrap();
                    assert_eq!((count > 0, count), (true, total(href)), "{query}: {href}");
                    dropped += 1;
                }
            }
        }
    }
    assert!(dropped > 10, "{dropped}");
}

#[test]
fn the_histogram_of_a_metric_has_all_ranked_firms() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (metric, scale) in [("responsiveness", 100.0), ("fairness", 100.0), ("value_add", 100.0), ("activity", 1.0)] {
        let ranked = all_of(&client, "leaderboard", &format!("metric={metric}"));
        let values: Vec<f64> = ranked.iter().map(|row| row["rank_value"].as_f64().unwrap()).collect();
        // The filter changes the list and not the histogram.
        let page = parse(&rendered(&server, &format!("/leaderboard?metric={metric}&country=US")));
        let rows = table(chart(&page, "distribution").unwrap());
        let range = |row: &[String]| {
            let (low, high) = row[0].split_once('–').unwrap_or((&row[0], &row[0]));
            let bound = |text: &str| (text.parse::<f64>().unwrap() * scale).round();
            (bound(low), bound(high))
        };
        let mut sum = 0;
        for row in &rows[1..] {
            let (low, high) = range(row);
            let count = values.iter().filter(|value| (low..=high).contains(&(**value * scale).floor())).count();
            assert_eq!(row[1], count.to_string(), "{metric}: {row:?}");
            sum += count;
        }
        assert_eq!(sum, values.len(), "{metric}");
        // A bar leads to the page with its first firm; those before it are in better bars.
        let bars = chart(&page, "distribution").unwrap().values("svg a", "href");
        assert_eq!(bars.len(), rows[1..].iter().filter(|row| row[1] != "0").count(), "{metric}");
        for (href, row) in bars.iter().zip(rows[1..].iter().filter(|row| row[1] != "0")) {
            let (path, slug) = href.split_once('#').unwrap();
            assert!(rendered(&server, path).contains(&format!("<tr id=\"{slug}\">")), "{href}");
            let place = ranked.iter().position(|firm| firm["slug"] == slug).unwrap();
            let (low, high) = range(row);
            let is_in = |place: usize| (low..=high).contains(&(values[place] * scale).floor());
            assert!(is_in(place) && (place == 0 || !is_in(place - 1)), "{metric}: {href}");
        }
    }
}
