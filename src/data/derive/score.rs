//! The peer score, `peer-score/1`: a firm's approved reviews as one number that anyone can recompute.
//!
//! The formulas are those of the published method (see the docs page `score`): weights halve every 730 days, each
//! dimension is smoothed towards the mean of the snapshot with the weight of five reviews, ghosting with that of six.
//! Sums run in order of review id, so that every compile gives the same last bit.

use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};
use serde::Deserialize;

use crate::PartialDate;
use crate::derive::sort_order::Permutation;
use crate::import::Dataset;
use crate::import::rows::{DatasetReview, ReviewContent};
use crate::model::{Score, ScoreComponent, YearScore};

pub const METHOD: &str = "peer-score/1";
/// Minimum number of approved reviews for a published score.
pub const PUBLISHED_FROM: u32 = 3;
/// Minimum number of approved reviews for the leaderboard.
pub const RANKED_FROM: u32 = 5;

const HALF_LIFE_DAYS: f64 = 730.0;
const PRIOR: f64 = 5.0;
const GHOSTING_PRIOR: f64 = 6.0;
const NEUTRAL: f64 = 3.0;
const CONFIDENCE: f64 = 1.645;

/// Name and maximum points of the rated dimensions, in the order of the components.
pub const DIMENSIONS: [(&str, u8); 4] = [("rating", 30), ("responsiveness", 15), ("fairness", 15), ("value_add", 15)];
pub const GHOSTING: (&str, u8) = ("ghosting", 25);

#[derive(Clone, Debug, PartialEq)]
pub struct FirmScore {
    pub score: Score<&'static str>,
    /// Observed ghosting rate in tenths of a percent; `None` below three reviews that state it.
    pub ghosting_tenths: Option<u16>,
    /// The firm's own weighted means of the [`DIMENSIONS`], not smoothed, in tenths; `None` if not rated.
    pub rating_tenths: [Option<u8>; 4],
    /// In the order of [`crate::Metric`], without the activity: S − se in tenths of a point, smoothed values in
    /// millionths. `None` below [`RANKED_FROM`] approved reviews.
    pub rank: Option<[i32; 5]>,
}

#[derive(Clone, Default)]
struct Sums {
    count: u32,
    weight: f64,
    dimension_weight: [f64; 4],
    dimension: [f64; 4],
    answered: u32,
    ghosted: u32,
}

impl Sums {
    fn add(&mut self, ratings: [Option<u8>; 4], ghosted: Option<bool>, weight: f64) {
        self.count += 1;
        self.weight += weight;
        for (dimension, rating) in ratings.into_iter().enumerate() {
            if let Some(rating) = rating {
                self.dimension_weight[dimension] += weight;
                self.dimension[dimension] += weight * f64::from(rating);
            }
        }
        if let Some(ghosted) = ghosted {
            self.answered += 1;
            self.ghosted += u32::from(ghosted);
        }
    }

    fn mean(&self, dimension: usize) -> Option<f64> {
        let weight = self.dimension_weight[dimension];
        (weight > 0.0).then(|| self.dimension[dimension] / weight)
    }
}

fn ratings(content: &ReviewContent) -> [Option<u8>; 4] {
    [Some(content.rating), content.responsiveness, content.fairness, content.value_add]
}

/// Means of the snapshot that firms are smoothed towards, as they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Priors {
    means: [f64; 4],
    ghosting: f64,
    variance: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RatedReview {
    pub rating: u8,
    pub responsiveness: Option<u8>,
    pub fairness: Option<u8>,
    pub value_add: Option<u8>,
    pub ghosted: Option<bool>,
    pub created_on: PartialDate,
}

/// The scores of all firms, in the order of the dataset's rows.
pub fn assess(dataset: &Dataset) -> (Vec<FirmScore>, Priors) {
    let approved = dataset.reviews.iter().filter_map(|review| Some((review, review.published()?)));
    let approved: Vec<(&DatasetReview, &ReviewContent)> = approved.collect();
    let order = Permutation::by_text(approved.len(), |row| &approved[row].0.id).old;
    let approved: Vec<(&DatasetReview, &ReviewContent)> = order.iter().map(|row| approved[*row as usize]).collect();
    let weights = approved.iter().map(|(review, _)| {
        let age = (dataset.meta.released_on.days() - review.published_on().first_day().days()).max(0);
        0.5_f64.powf(f64::from(age) / HALF_LIFE_DAYS)
    });
    let weights: Vec<f64> = weights.collect();
    let mut all = Sums::default();
    let mut firms = vec![Sums::default(); dataset.firms.len()];
    for ((review, content), weight) in approved.iter().zip(&weights) {
        all.add(ratings(content), content.ghosted, *weight);
        firms[review.firm as usize].add(ratings(content), content.ghosted, *weight);
    }
    let priors = priors(&all, &approved, &weights);
    (firms.iter().map(|sums| firm_score(sums, &priors)).collect(), priors)
}

/// The scores of a firm by year, without gaps from its first review to its latest. Each is from the approved reviews of
/// that year alone, equally weighted, and smoothed towards the means of the whole snapshot.
pub fn by_year(reviews: impl Iterator<Item = RatedReview>, priors: &Priors) -> Vec<YearScore> {
    let mut years: BTreeMap<i32, Sums> = BTreeMap::new();
    for review in reviews {
        let ratings = [Some(review.rating), review.responsiveness, review.fairness, review.value_add];
        let year = years.entry(review.created_on.year()).or_default();
        year.add(ratings, review.ghosted, 1.0);
    }
    let Some(((first, _), (last, _))) = years.first_key_value().zip(years.last_key_value()) else { return Vec::new() };
    let years = (*first..=*last).map(|year| {
        let sums = years.get(&year).cloned().unwrap_or_default();
        let FirmScore { score, ghosting_tenths, .. } = firm_score(&sums, priors);
        YearScore {
            year: u16::try_from(year).expect("dates have years of four digits"),
            review_count: score.review_count,
            health_score: score.value,
            low: score.low,
            high: score.high,
            ghosting_rate: ghosting_tenths.map(|tenths| f64::from(tenths) / 10.0),
        }
    });
    years.collect()
}

fn priors(all: &Sums, approved: &[(&DatasetReview, &ReviewContent)], weights: &[f64]) -> Priors {
    let means = std::array::from_fn(|dimension| all.mean(dimension).unwrap_or(NEUTRAL));
    let ghosting = if all.answered > 0 { f64::from(all.ghosted) / f64::from(all.answered) } else { 0.0 };
    let points = approved.iter().map(|(_, content)| {
        let ratings = ratings(content);
        let x: [f64; 4] = std::array::from_fn(|dimension| ratings[dimension].map_or(means[dimension], f64::from));
        25.0 * (0.4 * x[0] + 0.2 * (x[1] + x[2] + x[3]) - 1.0)
    });
    let points: Vec<f64> = points.collect();
    let mut variance = 0.0;
    if all.weight > 0.0 {
        let mean = points.iter().zip(weights).map(|(q, w)| q * w).sum::<f64>() / all.weight;
        variance = points.iter().zip(weights).map(|(q, w)| w * (q - mean) * (q - mean)).sum::<f64>() / all.weight;
    }
    Priors { means, ghosting, variance }
}

fn firm_score(sums: &Sums, priors: &Priors) -> FirmScore {
    let means: [f64; 4] = std::array::from_fn(|dimension| {
        (PRIOR * priors.means[dimension] + sums.dimension[dimension]) / (PRIOR + sums.dimension_weight[dimension])
    });
    let answered = f64::from(sums.answered);
    let ghosting = (f64::from(sums.ghosted) + GHOSTING_PRIOR * priors.ghosting) / (answered + GHOSTING_PRIOR);
    let mut points: Vec<f64> =
        DIMENSIONS.iter().zip(means).map(|((_, max), mean)| f64::from(*max) * (mean - 1.0) / 4.0).collect();
    points.push(f64::from(GHOSTING.1) * (1.0 - ghosting));
    let total: f64 = points.iter().sum();
    let error = 0.75 * (priors.variance / (PRIOR + sums.weight)).sqrt()
        + 25.0 * (ghosting * (1.0 - ghosting) / (answered + 7.0)).sqrt();

    let published = sums.count >= PUBLISHED_FROM;
    let value = within_hundred(total);
    let components = if published { components(&means, ghosting, &points, value) } else { Vec::new() };
    let score = Score {
        value: published.then_some(value),
        low: published.then(|| within_hundred(total - CONFIDENCE * error)),
        high: published.then(|| within_hundred(total + CONFIDENCE * error)),
        status: if published { "published" } else { "insufficient_reviews" },
        review_count: sums.count,
        method: METHOD,
        components,
    };
    let (k, n) = (u64::from(sums.ghosted), u64::from(sums.answered));
    let ghosting_tenths = (sums.answered >= PUBLISHED_FROM).then(|| ((2_000 * k + n) / (2 * n)) as u16);
    let tenths = |mean: f64| (mean * 10.0 + 0.5).floor() as u8;
    let rating_tenths = std::array::from_fn(|dimension| sums.mean(dimension).map(tenths));
    let [_, responsiveness, fairness, value_add] = means.map(millionths);
    let cautious = ((total - error) * 10.0 + 0.5).floor() as i32;
    let rank = [cautious, responsiveness, fairness, value_add, millionths(ghosting)];
    let rank = (sums.count >= RANKED_FROM).then_some(rank);
    FirmScore { score, ghosting_tenths, rating_tenths, rank }
}

fn within_hundred(points: f64) -> u8 {
    (points + 0.5).floor().clamp(0.0, 100.0) as u8
}

fn millionths(value: f64) -> i32 {
    (value * 1_000_000.0 + 0.5).floor() as i32
}

/// Integer points: the floors, plus 1 for the largest fractions, ties in order, until they sum to `value`.
fn components(means: &[f64; 4], ghosting: f64, points: &[f64], value: u8) -> Vec<ScoreComponent<&'static str>> {
    let mut integers: Vec<u8> = points.iter().map(|p| p.floor().max(0.0) as u8).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| (points[*b] - points[*b].floor()).total_cmp(&(points[*a] - points[*a].floor())));
    let sum: u8 = integers.iter().sum();
    for index in order.into_iter().take(usize::from(value.saturating_sub(sum))) {
        integers[index] += 1;
    }
    let values = means.iter().copied().chain([ghosting]);
    let parts = DIMENSIONS.into_iter().chain([GHOSTING]).zip(values).zip(integers);
    let components = parts.map(|(((name, max_points), value), points)| ScoreComponent {
        name,
        weight: f64::from(max_points) / 100.0,
        value: (value * 100.0 + 0.5).floor() / 100.0,
        points,
        max_points,
    });
    components.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReviewStatus;
    use crate::import::meta::SnapshotMeta;
    use crate::import::rows::DatasetFirm;
    use crate::import::text_store::TextStore;

    fn firm(slug: &str) -> DatasetFirm {
        DatasetFirm { slug: slug.into(), name: slug.into(), ..DatasetFirm::default() }
    }

    fn review(id: u32, firm: u32, rating: u8, ghosted: Option<bool>, created_on: &str) -> DatasetReview {
        review_with(ReviewStatus::Approved, id, firm, rating, ghosted, created_on)
    }

    fn review_with(
        status: ReviewStatus,
        id: u32,
        firm: u32,
        rating: u8,
        ghosted: Option<bool>,
        created_on: &str,
    ) -> DatasetReview {
        let content = ReviewContent {
            stage: None,
            rating,
            responsiveness: Some(rating),
            fairness: None,
            value_add: Some(3),
            ghosted,
            title: None,
            body: None,
            role: None,
            contact_month: None,
            proof: None,
            reply: None,
            replied_on: None,
        };
        DatasetReview::new(format!("r{id:03}"), firm, status, created_on.parse().unwrap(), content)
    }

    fn dataset(firms: &[&str], reviews: Vec<DatasetReview>) -> Dataset {
        Dataset {
            meta: SnapshotMeta {
                version: "2026-11-20.1".parse().unwrap(),
                released_on: "2026-11-20".parse().unwrap(),
                title: String::new(),
                source: String::new(),
                license: String::new(),
                invented: true,
            },
            is_version_free: false,
            sectors: vec![],
            firms: firms.iter().map(|slug| firm(slug)).collect(),
            startups: vec![],
            rounds: vec![],
            people: vec![],
            reviews,
            provenance: crate::import::provenance::Provenance::default(),
            redirects: Vec::new(),
            gone: Vec::new(),
            texts: TextStore::new(None),
        }
    }

    #[test]
    fn a_firm_without_reviews_has_no_score() {
        let assessed = assess(&dataset(&["a"], vec![])).0;
        assert_eq!(assessed[0].score.value, None);
        assert_eq!(assessed[0].score.status, "insufficient_reviews");
        assert_eq!(assessed[0].ghosting_tenths, None);
        assert_eq!(assessed[0].rank, None);
        assert_eq!(assessed[0].rating_tenths, [None; 4]);
    }

    #[test]
    fn a_score_computed_by_hand() {
        // Five reviews on the day of release, so that every weight is 1: ratings 5 5 5 3 2, one of four ghosted.
        let day = "2026-11-20";
        let reviews = vec![
            review(1, 0, 5, Some(false), day),
            review(2, 0, 5, Some(false), day),
            review(3, 0, 5, Some(false), day),
            review(4, 0, 3, Some(true), day),
            review(5, 0, 2, None, day),
        ];
        let assessed = &assess(&dataset(&["a"], reviews)).0[0];
        // The only firm's mean is the snapshot's: 4.0; fairness was not rated: 3; γ = g = 1/4.
        // 30·3/4 + 15·3/4 + 15·2/4 + 15·2/4 + 25·3/4 = 22.5 + 11.25 + 7.5 + 7.5 + 18.75 = 67.5 → 68
        assert_eq!(assessed.score.value, Some(68));
        assert_eq!(assessed.ghosting_tenths, Some(250));
        assert_eq!(assessed.rating_tenths, [Some(40), Some(40), None, Some(30)]);
        // Floors 22 11 7 7 18 = 65; the three largest fractions are ghosting's .75, then .5, .5 in order: 23, 8, 19.
        let points: Vec<u8> = assessed.score.components.iter().map(|component| component.points).collect();
        assert_eq!(points, [23, 11, 8, 7, 19]);
    }

    #[test]
    fn points_sum_to_the_score() {
        let reviews = (0..60).map(|n| review(n, n % 7, (n % 5 + 1) as u8, Some(n % 3 == 0), "2025-03-01")).collect();
        for assessed in assess(&dataset(&["a", "b", "c", "d", "e", "f", "g"], reviews)).0 {
            let total: u32 = assessed.score.components.iter().map(|component| u32::from(component.points)).sum();
            assert_eq!(Some(total), assessed.score.value.map(u32::from));
            assert!(assessed.score.low <= assessed.score.value && assessed.score.value <= assessed.score.high);
            assert!(assessed.score.components.iter().all(|component| component.points <= component.max_points));
        }
    }

    #[test]
    fn a_review_weighs_half_after_two_years() {
        let reviews = vec![
            review(1, 0, 5, None, "2026-11-20"),
            review(2, 0, 1, None, "2024-11-20"),
            review(3, 0, 1, None, "2024-11-20"),
        ];
        // 2024-11-20 is 730 days before the release: weights 1, ½, ½ → (5 + ½ + ½) / 2 = 3.0
        assert_eq!(assess(&dataset(&["a"], reviews)).0[0].rating_tenths[0], Some(30));
    }

    #[test]
    fn only_approved_reviews_count() {
        let pending = review_with(ReviewStatus::Pending, 1, 0, 1, Some(true), "2026-11-20");
        let rejected = review_with(ReviewStatus::Rejected, 2, 0, 1, Some(true), "2026-11-20");
        let assessed = &assess(&dataset(&["a"], vec![pending, rejected])).0[0];
        assert_eq!(assessed.score.review_count, 0);
    }

    #[test]
    fn a_year_counts_its_own_reviews_alike() {
        let rated = |rating: u8, ghosted: Option<bool>, created_on: &str| RatedReview {
            rating,
            responsiveness: None,
            fairness: None,
            value_add: None,
            ghosted,
            created_on: created_on.parse().unwrap(),
        };
        let priors = Priors { means: [3.0; 4], ghosting: 0.25, variance: 0.0 };
        let reviews = [
            rated(5, Some(true), "2023-12-31"),
            rated(5, None, "2023-01-01"),
            rated(5, None, "2023-06-01"),
            rated(1, None, "2025-03-01"),
        ];
        let years = by_year(reviews.into_iter(), &priors);
        // 30·(30/8 − 1)/4 + 3·15·(3 − 1)/4 + 25·(1 − 2.5/7) = 20.625 + 22.5 + 16.07 = 59.2
        let found: Vec<_> = years.iter().map(|year| (year.year, year.review_count, year.health_score)).collect();
        assert_eq!(found, [(2023, 3, Some(59)), (2024, 0, None), (2025, 1, None)]);
        assert!(years.iter().all(|year| year.ghosting_rate.is_none()), "one answer is too few");
        assert_eq!(by_year(std::iter::empty(), &priors), []);
    }
}
