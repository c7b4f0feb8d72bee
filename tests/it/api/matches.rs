//! `GET /match` against a naive computation on the same data.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::api::vcs::walk;
use crate::support::harness::{Server, bundled_folder, code};
use crate::support::naive::{Naive, rows_of};

const LADDER: [&str; 7] = ["pre-seed", "seed", "series-a", "series-b", "series-c", "series-d-plus", "growth"];

/// The needs of a startup.
type MatchRequest<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<u64>);

/// The points of a firm for each reason of a request, computed from its record and the CSV files.
fn points(record: &Value, naive: &Naive, request: MatchRequest<'_>, newest: i64) -> Vec<(&'static str, u64, u64)> {
    let (stage, sector, country, raise) = request;
    let list = |key: &str| -> Vec<String> {
        record[key].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let mut points = Vec::new();
    if let Some(stage) = stage {
        let stages = list("stages");
        let place = LADDER.iter().position(|known| *known == stage).unwrap();
        let near = stages.iter().filter_map(|own| LADDER.iter().position(|known| known == own));
        let near = near.into_iter().any(|own| own.abs_diff(place) == 1);
        points.push(("stage", if stages.iter().any(|own| own == stage) { 25 } else { 10 * u64::from(near) }, 25));
    }
    if let Some(sector) = sector {
        let all: BTreeSet<String> = list("sectors").iter().flat_map(|own| naive.lineage[own].clone()).collect();
        let parent = naive.parents.get(sector).filter(|parent| !parent.is_empty());
        let near = parent.is_some_and(|parent| all.contains(parent));
        points.push(("sector", if all.contains(sector) { 30 } else { 12 * u64::from(near) }, 30));
    }
    if let Some(country) = country {
        points.push(("country", 10 * u64::from(record["country"] == country), 10));
    }
    if let Some(raise) = raise {
        let (min, max) = (record["check_min_usd"].as_u64(), record["check_max_usd"].as_u64());
        let fits = (min.is_some() || max.is_some())
            && min.is_none_or(|min| min <= raise)
            && max.is_none_or(|max| max as f64 >= raise as f64 / 10.0);
        points.push(("check_size", 15 * u64::from(fits), 15));
    }
    let age = record["last_investment_on"].as_str().map(|date| newest - days(date));
    points.push(("activity", age.map_or(0, |age| if age <= 365 { 10 } else { 5 * u64::from(age <= 730) }), 10));
    let answered = record["ghosting_rate"].as_f64().map_or(0.0, |rate| (100.0 - rate) / 10.0);
    points.push(("responsiveness", (answered + 0.5 + 1e-9).floor() as u64, 10));
    points
}

fn days(date: &str) -> i64 {
    i64::from(date.parse::<data::Date>().unwrap().days())
}

#[test]
fn a_match_has_the_points_of_the_published_rules() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let firms = walk(&client, "/api/v3/vcs", &[("limit", "100")]);
    let snapshot = client.get("/api/v3/snapshots").json()["data"][0].clone();
    let released_on = snapshot["released_on"].as_str().unwrap();
    let rounds = rows_of(&bundled_folder(), "funding_rounds.csv");
    let dates = rounds.iter().map(|round| round["announced_on"].as_str());
    let newest = days(dates.filter(|date| !date.is_empty() && *date <= released_on).max().unwrap());
    let narrow = naive.lineage.keys().filter(|slug| !naive.parents.values().any(|parent| parent == *slug));
    let narrow = narrow.filter(|slug| naive.lineage[*slug].len() > 1).min().unwrap();
    let request: [MatchRequest<'_>; 7] = [
        (Some("seed"), Some("fintech"), Some("DE"), Some(2_000_000)),
        (Some("series-a"), Some(narrow), Some("US"), Some(12_345_678)),
        (Some("growth"), None, None, None),
        (None, Some(narrow), None, Some(100)),
        (None, None, Some("GB"), None),
        (None, None, Some("FR"), Some(900_001)),
        (None, None, None, Some(5_000_000)),
    ];
    for request in request {
        let (stage, sector, country, raise) = request;
        let raise_text = raise.map(|raise| raise.to_string());
        let given = [("stage", stage), ("sector", sector), ("country", country), ("raise_usd", raise_text.as_deref())];
        let mut parameters: Vec<(&str, &str)> =
            given.iter().filter_map(|(name, value)| value.map(|value| (*name, value))).collect();
        parameters.push(("limit", "17"));
        let rows = walk(&client, "/api/v3/match", &parameters);
        let mut expected = Vec::new();
        for record in &firms {
            let points = points(record, &naive, request, newest);
            let of = |name: &str| points.iter().find(|(known, ..)| *known == name).map(|(_, points, _)| *points);
            let fits = match (of("stage"), of("sector")) {
                (None, None) => of("country").unwrap_or(0) + of("check_size").unwrap_or(0) > 0,
                (stage, sector) => stage != Some(0) && sector != Some(0),
            };
            if fits {
                expected.push((record["slug"].clone(), points));
            }
        }
        // The list of firms is in the default order, which the stable sort keeps for ties.
        expected.sort_by_key(|(_, points)| Reverse(points.iter().map(|(_, points, _)| points).sum::<u64>()));
        assert!(!expected.is_empty(), "{request:?}");
        let got: Vec<Value> = rows.iter().map(|row| row["slug"].clone()).collect();
        assert_eq!(got, expected.iter().map(|(slug, _)| slug.clone()).collect::<Vec<_>>(), "{request:?}");
        for (row, (_, points)) in rows.iter().zip(&expected) {
            let reasons = row["reasons"].as_array().unwrap();
            let told: Vec<(&str, u64, u64)> = reasons
                .iter()
                .map(|reason| {
                    let number = |key: &str| reason[key].as_u64().unwrap();
                    assert!(!reason["detail"].as_str().unwrap().is_empty(), "{reason}");
                    (reason["name"].as_str().unwrap(), number("points"), number("max_points"))
                })
                .collect();
            assert_eq!(told, *points, "{request:?} {row}");
            assert_eq!(row["points"], points.iter().map(|(_, points, _)| points).sum::<u64>());
            assert_eq!(row["max_points"], points.iter().map(|(.., most)| most).sum::<u64>());
        }
    }
}

#[test]
fn a_match_names_conflicting_startups() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let mut found = 0;
    for sector in naive.lineage.keys() {
        let is_narrow = !naive.parents.values().any(|parent| parent == sector);
        for row in
            client.list("/api/v3/match", &[("sector", sector), ("limit", "10")]).json()["data"].as_array().unwrap()
        {
            let investor = row["slug"].as_str().unwrap();
            let backed =
                walk(&client, "/api/v3/startups", &[("investor", investor), ("sector", sector), ("limit", "100")]);
            let open: Vec<&Value> = backed.iter().filter(|startup| startup["status"] != "closed").collect();
            let expected = if is_narrow { open.len() } else { 0 };
            assert_eq!(row["conflict_count"], expected, "{sector} {investor}");
            let named = row["conflicts"].as_array().unwrap();
            assert_eq!(named.len(), expected.min(5));
            for conflict in named {
                assert_eq!(conflict["sector"], **sector);
                assert!(open.iter().any(|startup| startup["slug"] == conflict["startup"]["slug"]), "{conflict}");
            }
            found += named.len();
        }
    }
    assert!(found > 0, "the bundled data has such startups");
}

#[test]
fn a_match_requires_a_parameter() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for query in ["", "?limit=3"] {
        let reply = client.get(&format!("/api/v3/match{query}"));
        assert_eq!(code(&reply), (400, "invalid_parameter".into()), "{query}");
        assert!(reply.json()["detail"].as_str().unwrap().contains("`raise_usd`"), "{}", reply.text);
    }
    assert_eq!(code(&client.get("/api/v3/match?stage=sede")), (400, "unknown_value".into()));
    assert_eq!(code(&client.get("/api/v3/match?stage=seed&sort=name")), (400, "unknown_parameter".into()));
    assert_eq!(code(&client.get("/api/v2/match?stage=seed")), (404, "unknown_route".into()));
    let row =
        client.get("/api/v3/match?stage=seed&limit=1&fields=slug,reasons.name,conflictCount").json()["data"][0].clone();
    assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), ["conflict_count", "reasons", "slug"]);
    assert_eq!(row["reasons"][0], json!({ "name": "stage" }));
}
