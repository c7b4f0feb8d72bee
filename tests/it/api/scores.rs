//! Scores of firms, in whole and by year, against the formulas of the docs on the CSV files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use data::derive::score::{DIMENSIONS, GHOSTING, METHOD};
use serde_json::{Value, json};

use crate::support::harness::{Server, bundled_folder};
use crate::support::naive::{days, published_reviews};

/// An approved review of the bundled dataset.
struct Rated {
    firm: String,
    /// Rating, responsiveness, fairness and value_add.
    ratings: [Option<f64>; 4],
    ghosted: Option<bool>,
    created_on: String,
    weight: f64,
}

/// The values of a firm by the formulas of `/docs/score`.
pub struct Peer {
    pub count: u64,
    /// Smoothed means.
    pub r: [f64; 4],
    /// The smoothed ghosting share.
    pub g: f64,
    points: [f64; 5],
    pub se: f64,
    ghosting_rate: Option<f64>,
    ratings: [Option<f64>; 4],
}

impl Peer {
    pub fn total(&self) -> f64 {
        self.points.iter().sum()
    }
}

pub const RELEASED_ON: &str = "2026-11-20";

/// The first day that a date, a month or a year may mean; `None` of an empty cell.
pub fn first_day(cell: &str) -> Option<i64> {
    (!cell.is_empty()).then(|| days(&format!("{cell}{}", &"0000-01-01"[cell.len()..])))
}

/// The approved reviews, in the order of their ids.
fn rated() -> Vec<Rated> {
    let mut rows = published_reviews(&bundled_folder());
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
fn ghosted(reviews: &[&Rated]) -> (f64, f64) {
    let answers = || reviews.iter().filter_map(|review| review.ghosted);
    (answers().filter(|ghosted| *ghosted).count() as f64, answers().count() as f64)
}

/// μ of each dimension and γ, of all approved reviews.
fn priors(all: &[&Rated]) -> ([f64; 4], f64) {
    let mu = std::array::from_fn(|dimension| {
        let (weight, sum) = sums(all, dimension);
        if weight > 0.0 { sum / weight } else { 3.0 }
    });
    let (k, n) = ghosted(all);
    (mu, k / n)
}

/// The score of each firm with approved reviews, computed as the docs say.
pub fn peers() -> BTreeMap<String, Peer> {
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
pub fn assert_rounded(found: &Value, exact: Option<f64>, step: f64, what: &str) {
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
fn the_score_by_year_is_that_of_the_years_own_reviews() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let reviews = rated();
    let (means, ghosting) = priors(&reviews.iter().collect::<Vec<_>>());
    let (mut scored, mut unscored) = (0, 0);
    for slug in client.get("/api/v3/vcs?limit=60&sort=-review_count").slugs() {
        let own: Vec<&Rated> = reviews.iter().filter(|review| review.firm == slug).collect();
        let years: BTreeSet<i32> = own.iter().map(|review| review.created_on[..4].parse().unwrap()).collect();
        let mut expected = Vec::new();
        for year in years.first().copied().unwrap_or(1)..=years.last().copied().unwrap_or(0) {
            let is_of_year = |review: &&&Rated| review.created_on.starts_with(&year.to_string());
            let of_year: Vec<&Rated> = own.iter().filter(is_of_year).copied().collect();
            let mut points = 0.0;
            for ((dimension, max), mean) in [30.0, 15.0, 15.0, 15.0].into_iter().enumerate().zip(means) {
                let values: Vec<f64> = of_year.iter().filter_map(|review| review.ratings[dimension]).collect();
                let rated = (5.0 * mean + values.iter().sum::<f64>()) / (5.0 + values.len() as f64);
                points += max * (rated - 1.0) / 4.0;
            }
            let (ghosted, stated) = ghosted(&of_year);
            points += 25.0 * (1.0 - (ghosted + 6.0 * ghosting) / (stated + 6.0));
            let score = (of_year.len() >= 3).then(|| (points + 0.5).floor() as u64);
            if score.is_some() {
                scored += 1
            } else {
                unscored += 1
            }
            let rate = (stated >= 3.0).then(|| (1_000.0 * ghosted / stated + 0.5).floor() / 10.0);
            expected.push((year, of_year.len(), score, rate));
        }
        let reply = client.get(&format!("/api/v3/vcs/{slug}?include=score_by_year&fields=slug")).json();
        let list = &reply["included"]["score_by_year"];
        let found: Vec<_> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|year| {
                let (low, high) = (year["low"].as_u64(), year["high"].as_u64());
                let score = year["health_score"].as_u64();
                assert!(low <= score && score <= high && low.is_some() == score.is_some(), "{year}");
                let number = year["year"].as_i64().unwrap() as i32;
                (number, year["review_count"].as_u64().unwrap() as usize, score, year["ghosting_rate"].as_f64())
            })
            .collect();
        assert_eq!(found, expected, "{slug}");
        assert_eq!(list["total"], expected.len());
    }
    assert!(scored > 20 && unscored > 20, "{scored} {unscored}");
}
