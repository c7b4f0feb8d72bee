//! Scores of firms, in whole and by year, against the formulas of the docs on the reviews that the API returns.

use std::collections::BTreeMap;

use auth::quota::Tier;
use data::derive::score::{DIMENSIONS, GHOSTING, METHOD};
use serde_json::{Value, json};

use crate::api::changes::walk;
use crate::support::harness::{Client, Server};
use crate::support::naive::days;

/// A counted review as `/reviews` returns it.
struct Rated {
    firm: String,
    /// Rating, responsiveness, fairness and value_add, then 1 if the author was ghosted and 0 if not.
    values: [Option<f64>; 5],
    year: i32,
    /// The published weight.
    own_weight: f64,
    /// The same with the age of the review.
    weight: f64,
}

/// The values of a firm by the formulas of `/docs/score`.
pub struct Peer {
    pub count: u64,
    /// Sum of the weights.
    pub effective: f64,
    /// Smoothed means.
    pub r: [f64; 4],
    /// The smoothed ghosting share.
    pub g: f64,
    points: [f64; 5],
    pub se: f64,
    /// Points of the firm's own means.
    own: f64,
    ghosting_rate: Option<f64>,
    ratings: [Option<f64>; 4],
}

impl Peer {
    pub fn total(&self) -> f64 {
        self.points.iter().sum()
    }
}

pub const RELEASED_ON: &str = "2026-11-20";

const MAXIMA: [f64; 5] = [30.0, 15.0, 15.0, 15.0, 25.0];

/// The first day that a date, a month or a year may mean; `None` of an empty cell.
pub fn first_day(cell: &str) -> Option<i64> {
    (!cell.is_empty()).then(|| days(&format!("{cell}{}", &"0000-01-01"[cell.len()..])))
}

/// The approved reviews of the bundled dataset as everybody sees them, in the order of their ids, and how many each firm has.
fn rated(client: &Client) -> (Vec<Rated>, BTreeMap<String, u64>) {
    let mut rows = walk(client, "reviews?limit=1000");
    rows.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    let mut counts = BTreeMap::new();
    let mut rated = Vec::new();
    for row in rows {
        let firm = row["vc"]["slug"].as_str().unwrap().to_owned();
        *counts.entry(firm.clone()).or_default() += 1;
        let own_weight = row["weight"].as_f64().unwrap();
        assert_eq!(row["counted"], own_weight > 0.0, "{row}");
        assert_eq!(row["counted"], row["held_as"].is_null(), "{row}");
        if own_weight == 0.0 {
            continue;
        }
        let written = row["created_on"].as_str().unwrap();
        let age = (days(RELEASED_ON) - first_day(written).unwrap()).max(0) as f64;
        let value = |name: &str| row[name].as_f64().or(row[name].as_bool().map(|truth| f64::from(u8::from(truth))));
        rated.push(Rated {
            firm,
            values: ["rating", "responsiveness", "fairness", "value_add", "ghosted"].map(value),
            year: written[..4].parse().unwrap(),
            own_weight,
            weight: own_weight * 0.5_f64.powf(age / 730.0),
        });
    }
    (rated, counts)
}

/// Weight and value of each review that has a value.
fn known(reviews: &[(f64, &Rated)], component: usize) -> Vec<(f64, f64)> {
    reviews.iter().filter_map(|(weight, review)| Some((*weight, review.values[component]?))).collect()
}

/// Σw and Σwx.
fn sums(known: &[(f64, f64)]) -> (f64, f64) {
    known.iter().fold((0.0, 0.0), |(weights, sum), (weight, value)| (weights + weight, sum + weight * value))
}

fn points(values: [f64; 5]) -> [f64; 5] {
    let [rating, responsiveness, fairness, value_add, ghosting] = values;
    let rated = |max: f64, value: f64| max * (value - 1.0) / 4.0;
    let [a, b, c, d] =
        [rated(30.0, rating), rated(15.0, responsiveness), rated(15.0, fairness), rated(15.0, value_add)];
    [a, b, c, d, 25.0 * (1.0 - ghosting)]
}

/// What all firms share: μ, γ and φ.
struct Means {
    means: [f64; 5],
    phi: f64,
}

impl Means {
    fn new(firms: &BTreeMap<String, Vec<(f64, &Rated)>>) -> Self {
        // In the order of the ids would be exact; the last bits do not matter here.
        let all: Vec<(f64, &Rated)> = firms.values().flatten().copied().collect();
        let means = std::array::from_fn(|component| {
            let (weight, sum) = sums(&known(&all, component));
            if weight > 0.0 { sum / weight } else { [3.0, 3.0, 3.0, 3.0, 0.0][component] }
        });
        let unknown = Self { means, phi: 0.0 };
        let (mut above, mut below) = (0.2 * 50_000.0, 50_000.0);
        for reviews in firms.values().filter(|reviews| reviews.iter().map(|(weight, _)| weight).sum::<f64>() >= 3.0) {
            let peer = unknown.peer(0, reviews);
            let own: [f64; 5] = std::array::from_fn(|component| {
                let (weight, sum) = sums(&known(reviews, component));
                sum / weight
            });
            let h = influences(reviews);
            let squares: f64 = h.iter().map(|h| h * h).sum();
            let middle = (peer.own + peer.total()) / 2.0;
            for ((weight, review), h) in reviews.iter().zip(h) {
                let Some(values) = review.values.into_iter().collect::<Option<Vec<f64>>>() else { continue };
                let values: [f64; 5] = values.try_into().unwrap();
                let difference = points(values).iter().sum::<f64>() - points(own).iter().sum::<f64>();
                above += weight * difference * difference;
                below += weight * (1.0 - 2.0 * h + squares) * (middle * (100.0 - middle)).max(1.0);
            }
        }
        Self { phi: above / below, ..unknown }
    }

    fn peer(&self, count: u64, reviews: &[(f64, &Rated)]) -> Peer {
        let of: [(f64, f64); 5] = std::array::from_fn(|component| sums(&known(reviews, component)));
        let mean = |component: usize| (of[component].0 > 0.0).then(|| of[component].1 / of[component].0);
        let own_values: [f64; 5] = std::array::from_fn(|component| mean(component).unwrap_or(self.means[component]));
        let smoothed: [f64; 5] =
            std::array::from_fn(|component| (2.0 * self.means[component] + of[component].1) / (2.0 + of[component].0));
        let total = |values: [f64; 5]| points(values).iter().sum::<f64>();
        let (own, drawn) = (total(own_values), total(smoothed));
        let middle = (own + drawn) / 2.0;
        let squares: f64 = influences(reviews).iter().map(|h| h * h).sum();
        let se = (self.phi * (middle * (100.0 - middle)).max(1.0) * squares).sqrt();
        let limit = 1.7 * se;
        let share = if limit > 0.0 && (drawn - own).abs() > limit { limit / (drawn - own).abs() } else { 1.0 };
        let values: [f64; 5] = std::array::from_fn(|component| {
            own_values[component] + share * (smoothed[component] - own_values[component])
        });
        Peer {
            count,
            effective: reviews.iter().map(|(weight, _)| weight).sum(),
            r: std::array::from_fn(|component| values[component]),
            g: values[4],
            points: points(values),
            se,
            own,
            ghosting_rate: mean(4).filter(|_| of[4].0 >= 3.0).map(|share| 100.0 * share),
            ratings: std::array::from_fn(mean),
        }
    }
}

/// The share of the firm's mean that each review decides.
fn influences(reviews: &[(f64, &Rated)]) -> Vec<f64> {
    let weights: Vec<f64> = (0..5).map(|component| sums(&known(reviews, component)).0).collect();
    let of = |(weight, review): &(f64, &Rated)| -> f64 {
        (0..5).filter(|c| review.values[*c].is_some()).map(|c| MAXIMA[c] / 100.0 * weight / weights[c]).sum()
    };
    reviews.iter().map(of).collect()
}

fn by_firm(reviews: &[Rated]) -> BTreeMap<String, Vec<(f64, &Rated)>> {
    let mut firms: BTreeMap<String, Vec<(f64, &Rated)>> = BTreeMap::new();
    for review in reviews {
        firms.entry(review.firm.clone()).or_default().push((review.weight, review));
    }
    firms
}

/// The score of each firm with approved reviews, computed as the docs say from what is published.
pub fn peers() -> BTreeMap<String, Peer> {
    let server = Server::bundled();
    let (reviews, counts) = rated(&server.client(Tier::Enterprise));
    let firms = by_firm(&reviews);
    let means = Means::new(&firms);
    let none = Vec::new();
    let peer = |(firm, count): (String, u64)| {
        let peer = means.peer(count, firms.get(&firm).unwrap_or(&none));
        (firm, peer)
    };
    counts.into_iter().map(peer).collect()
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
        let is_published = peer.effective >= 3.0;
        let bound = |points: f64| is_published.then(|| points.clamp(0.0, 100.0));
        assert_rounded(&score["value"], bound(peer.total()), 1.0, slug);
        assert_rounded(&score["low"], bound(peer.own - 1.7 * peer.se), 1.0, slug);
        assert_rounded(&score["high"], bound(peer.own + 1.7 * peer.se), 1.0, slug);
        let effective = score["effective_reviews"].as_f64().unwrap();
        assert!((-1e-9..0.1).contains(&(peer.effective - effective)), "{slug}: {effective} of {}", peer.effective);
        assert!(score["low"].as_u64() <= score["value"].as_u64() && score["value"].as_u64() <= score["high"].as_u64());
        let components = score["components"].as_array().unwrap();
        if is_published {
            published += 1;
            assert_eq!(score["status"], "published", "{slug}");
            assert_components(components, peer, score["value"].as_f64().unwrap(), slug);
        } else {
            assert_eq!((&score["status"], components.len()), (&json!("insufficient_reviews"), 0), "{slug}");
        }
    }
    assert!(published > 150, "{published} firms have a score");
}

#[test]
fn the_score_by_year_is_that_of_the_years_own_reviews() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (reviews, _) = rated(&client);
    let means = Means::new(&by_firm(&reviews));
    let (mut scored, mut unscored) = (0, 0);
    for slug in client.get("/api/v3/vcs?limit=60&sort=-review_count").slugs() {
        let reply = client.get(&format!("/api/v3/vcs/{slug}?include=score_by_year&fields=slug")).json();
        let list = &reply["included"]["score_by_year"];
        let mut next = None;
        for found in list["data"].as_array().unwrap() {
            let year = found["year"].as_i64().unwrap() as i32;
            assert!(next.is_none_or(|next| next == year), "{slug}: {list}");
            next = Some(year + 1);
            let of_year = reviews.iter().filter(|review| review.firm == slug && review.year == year);
            let of_year: Vec<(f64, &Rated)> = of_year.map(|review| (review.own_weight, review)).collect();
            let peer = means.peer(0, &of_year);
            let what = format!("{slug} in {year}");
            let is_published = peer.effective >= 3.0;
            let bound = |points: f64| is_published.then(|| points.clamp(0.0, 100.0));
            assert_rounded(&found["health_score"], bound(peer.total()), 1.0, &what);
            assert_rounded(&found["low"], bound(peer.own - 1.7 * peer.se), 1.0, &what);
            assert_rounded(&found["high"], bound(peer.own + 1.7 * peer.se), 1.0, &what);
            assert_rounded(&found["ghosting_rate"], peer.ghosting_rate, 0.1, &what);
            assert_rounded(&found["effective_reviews"], Some(peer.effective - 0.05), 0.1 + 1e-6, &what);
            let approved = client.get(&format!("/api/v3/vcs/{slug}/reviews?since={year}&until={year}&limit=1")).json();
            assert_eq!(found["review_count"], approved["pagination"]["total"], "{what}");
            if is_published { scored += 1 } else { unscored += 1 }
        }
        assert_eq!(list["total"], list["data"].as_array().unwrap().len());
    }
    assert!(scored > 20 && unscored > 20, "{scored} {unscored}");
}
