//! The leaderboard: what moved since the release before, histograms, and why a board has no firms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use auth::quota::Tier;
use catalog::Catalog;
use serde_json::Value;

use crate::charts::{all_of, chart, table};
use crate::harness::{Client, Server, bundled_folder, catalog_of, copy_as};
use crate::pages::{between, rendered};
use crate::profiles::links;

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

/// Serves a release after another in which each third firm has other reviews, and some none.
fn moved() -> Server {
    let sum = |row: &csv::StringRecord| row[1].bytes().map(usize::from).sum::<usize>();
    let server = Server::of(release(BEFORE, |row| match sum(row) % 9 {
        0 => false,
        3 | 6 => row[3] > *"2",
        _ => true,
    }));
    server.state.releases.replace(Arc::new(release(NOW, |row| sum(row) % 9 != 4)));
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
            let html = rendered(&server, &format!("/leaderboard?{query}&page={page}"));
            let table = between(&html, "aria-label=\"Ranked firms\"", "</table>");
            for row in between(table, "<tbody>", "</tbody>").split("<tr ").skip(1) {
                let slug = between(row, "href=\"/vcs/", "\"");
                let words = between(row, "<span class=\"hidden\">, ", "</span>");
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
        let html = rendered(&server, &format!("/leaderboard?{query}"));
        for card in between(&html, "id=\"moved\"", "</section>").split("<h3>").skip(1) {
            let title = card.split('<').next().unwrap();
            for firm in card.split("<li>").skip(1) {
                let ranks: Vec<&str> = between(firm, "nowrap\">", "<").split(' ').collect();
                let slug = between(firm, "href=\"/vcs/", "\"");
                let (then, now) = (before.get(slug), now.get(slug));
                match (title, ranks.as_slice()) {
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
                seen.insert(title.to_owned());
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
    let html = rendered(&server, "/leaderboard");
    let card = between(&html, "<h3>Up</h3>", "</div>");
    let shown = card.split("nowrap\">").skip(1).map(|rest| {
        let (then, now) = rest.split('<').next().unwrap().split_once(" → ").unwrap();
        then.parse::<u64>().unwrap() - now.parse::<u64>().unwrap()
    });
    assert_eq!(shown.collect::<Vec<_>>(), rises[..5]);
    assert!(card.contains(&format!("and {} more", rises.len() - 5)), "{card}");
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
    let tabs = between(&html, "aria-label=\"Metric\"", "</nav>");
    assert_eq!(tabs.matches("<a ").count(), 1, "{tabs}");
    assert!(tabs.contains("aria-current=\"page\">Most active"), "{tabs}");
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
                let html = rendered(&server, &format!("/leaderboard?{query}"));
                let options = html.split("No ranked firm matches all of these filters").nth(1).unwrap();
                let options = options.split("<figure").next().unwrap();
                for option in options.split("<li><a href=\"/leaderboard?").skip(1) {
                    let href = option.split('"').next().unwrap().replace("&#38;", "&");
                    let count = between(option, "</a>: ", " firm").parse::<u64>().unwrap();
                    assert_eq!((count > 0, count), (true, total(&href)), "{query}: {href}");
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
        let page = rendered(&server, &format!("/leaderboard?metric={metric}&country=US"));
        let rows = table(chart(&page, "values").unwrap());
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
        let bars = chart(&page, "values").unwrap().split("<table").next().unwrap();
        let bars = links(bars);
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
