//! `GET /leaderboard`: its ranks and their order in each metric.

use std::collections::{BTreeMap, BTreeSet};

use auth::quota::Tier;
use serde_json::Value;

use crate::api::scores::{Peer, RELEASED_ON, assert_rounded, first_day, peers};
use crate::support::harness::{Client, Server, bundled_folder};
use crate::support::naive::{days, rows_of};

#[test]
fn leaderboards_rank_by_the_documented_values() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let peers = peers();
    let ranked: BTreeSet<&str> =
        peers.iter().filter(|(_, peer)| peer.effective >= 5.0).map(|(firm, _)| firm.as_str()).collect();
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
