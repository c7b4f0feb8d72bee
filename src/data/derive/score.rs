//! The peer score, `peer-score/2`: a firm's approved reviews as one number that anyone can recompute.
//!
//! The formulas are those of the published method (see the docs page `score`): weights halve every 730 days, each component
//! is smoothed towards the mean of the snapshot with the weight of [`PRIOR`] reviews. The interval is that of the firm's own
//! mean, which is not smoothed, since smoothing draws the score of an unusual firm towards the others. Sums run in order of
//! review id, so that every compile gives the same last bit.

use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};
use serde::Deserialize;

use crate::PartialDate;
use crate::derive::review_weight::{self, ReviewWeight};
use crate::derive::sort_order::Permutation;
use crate::import::Dataset;
use crate::model::{HeldReviews, Score, ScoreComponent, YearScore};
use crate::vocabulary::{HoldReason, Vocabulary};

pub const METHOD: &str = "peer-score/2";
/// Minimum sum of the weights of the reviews of a published score.
pub const PUBLISHED_FROM: f64 = 3.0;
/// Minimum sum of the weights for the leaderboard.
pub const RANKED_FROM: f64 = 5.0;

const HALF_LIFE_DAYS: f64 = 730.0;
/// Weight of the mean of the snapshot, in reviews.
const PRIOR: f64 = 2.0;
const NEUTRAL: f64 = 3.0;
/// The usual spread of reviews, see [`Priors`], and its weight: that of twenty reviews of a firm in the middle.
const PRIOR_SPREAD: f64 = 0.2;
const PRIOR_ROOM: f64 = 50_000.0;
/// Of an interval of 90 %; more than 1.645, since the spread is estimated and ratings may be missing.
const CONFIDENCE: f64 = 1.7;

/// Name and maximum points of the rated dimensions, in the order of the components.
pub const DIMENSIONS: [(&str, u8); 4] = [("rating", 30), ("responsiveness", 15), ("fairness", 15), ("value_add", 15)];
pub const GHOSTING: (&str, u8) = ("ghosting", 25);

/// Number of components: the dimensions, then ghosting.
const COMPONENTS: usize = DIMENSIONS.len() + 1;
/// Points of one more of each component's value.
const SLOPES: [f64; COMPONENTS] = [7.5, 3.75, 3.75, 3.75, -25.0];

#[derive(Clone, Debug, PartialEq)]
pub struct FirmScore {
    pub score: Score<&'static str>,
    /// Weighted ghosting rate in tenths of a percent; `None` if the weights of the reviews that state it are below
    /// [`PUBLISHED_FROM`].
    pub ghosting_tenths: Option<u16>,
    /// The firm's own weighted means of the [`DIMENSIONS`], not smoothed, in tenths; `None` if not rated.
    pub rating_tenths: [Option<u8>; 4],
    /// In the order of [`crate::Metric`], without the activity: S − se in tenths of a point, smoothed values in
    /// millionths. `None` below [`RANKED_FROM`].
    pub rank: Option<[i32; 5]>,
}

/// A review as the score sees it.
#[derive(Clone, Copy, Debug)]
struct WeighedReview {
    /// Ratings, then 1 for a ghosted author and 0 for an answered one.
    values: [Option<f64>; COMPONENTS],
    weight: f64,
}

impl WeighedReview {
    fn new(ratings: [Option<u8>; 4], ghosted: Option<bool>, weight: f64) -> Self {
        let [rating, responsiveness, fairness, value_add] = ratings.map(|rating| rating.map(f64::from));
        let ghosted = ghosted.map(|ghosted| f64::from(u8::from(ghosted)));
        Self { values: [rating, responsiveness, fairness, value_add, ghosted], weight }
    }

    fn is_complete(&self) -> bool {
        self.values.iter().all(Option::is_some)
    }
}

/// Sums over reviews, and what they say of their spread.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    weight: f64,
    /// Of the reviews that have a value of the component.
    weights: [f64; COMPONENTS],
    values: [f64; COMPONENTS],
}

impl Sums {
    fn new(reviews: &[WeighedReview]) -> Self {
        let mut sums = Self::default();
        for review in reviews {
            sums.weight += review.weight;
            for (component, value) in review.values.iter().enumerate() {
                if let Some(value) = value {
                    sums.weights[component] += review.weight;
                    sums.values[component] += review.weight * value;
                }
            }
        }
        sums
    }

    fn mean(&self, component: usize) -> Option<f64> {
        let weight = self.weights[component];
        (weight > 0.0).then(|| self.values[component] / weight)
    }

    /// The share of the firm's own mean that a review decides.
    fn influence(&self, review: &WeighedReview) -> f64 {
        let shares = (0..COMPONENTS).filter(|component| review.values[*component].is_some());
        shares.map(|component| maximum(component) / 100.0 * review.weight / self.weights[component]).sum()
    }
}

fn maximum(component: usize) -> f64 {
    f64::from(DIMENSIONS.get(component).unwrap_or(&GHOSTING).1)
}

fn points(values: &[f64; COMPONENTS]) -> [f64; COMPONENTS] {
    std::array::from_fn(|component| match component {
        4 => maximum(component) * (1.0 - values[component]),
        _ => maximum(component) * (values[component] - 1.0) / 4.0,
    })
}

/// Means of the snapshot that firms are smoothed towards, as they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Priors {
    means: [f64; COMPONENTS],
    /// Variance of the points of one review, as a share of S (100 − S).
    spread: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RatedReview {
    pub rating: u8,
    pub responsiveness: Option<u8>,
    pub fairness: Option<u8>,
    pub value_add: Option<u8>,
    pub ghosted: Option<bool>,
    pub created_on: PartialDate,
    pub weight: f64,
}

/// Reviews of a firm, or of one year of it.
#[derive(Clone, Debug, Default)]
struct ReviewedFirm {
    /// Those that count.
    reviews: Vec<WeighedReview>,
    approved: u32,
    held: BTreeMap<HoldReason, u32>,
}

/// A firm's mean of each component and its points, with what smoothing makes of them.
struct SmoothedFirm {
    sums: Sums,
    /// Smoothed values.
    values: [f64; COMPONENTS],
    /// Points of the firm's own means.
    own: f64,
    /// Points of the smoothed values.
    total: f64,
    error: f64,
}

/// The scores of all firms, in the order of the dataset's rows.
pub fn scores(dataset: &Dataset) -> Vec<FirmScore> {
    assess(dataset, &review_weight::weights(dataset)).0
}

/// The same with the weights of all reviews, and the means that firms are smoothed towards.
pub(crate) fn assess(dataset: &Dataset, weights: &[ReviewWeight]) -> (Vec<FirmScore>, Priors) {
    let published = (0..).zip(&dataset.reviews).filter_map(|(row, review)| Some((row, review, review.published()?)));
    let published: Vec<_> = published.collect();
    let order = Permutation::by_text(published.len(), |index| &published[index].1.id).old;
    let mut firms = vec![ReviewedFirm::default(); dataset.firms.len()];
    let mut all = Vec::with_capacity(published.len());
    for index in order {
        let (row, review, content): (usize, _, _) = published[index as usize];
        let firm = &mut firms[review.firm as usize];
        firm.approved += 1;
        let ReviewWeight { weight, held_as } = weights[row];
        if let Some(reason) = held_as {
            *firm.held.entry(reason).or_default() += 1;
            continue;
        }
        let age = (dataset.meta.released_on.days() - review.published_on().first_day().days()).max(0);
        let weight = weight * 0.5_f64.powf(f64::from(age) / HALF_LIFE_DAYS);
        let review = WeighedReview::new(content.ratings(), content.ghosted, weight);
        firm.reviews.push(review);
        all.push(review);
    }
    let priors = Priors::compute(&Sums::new(&all), &firms);
    (firms.iter().map(|firm| firm_score(firm, &priors)).collect(), priors)
}

/// The scores of a firm by year, without gaps from its first review to its latest. Each is from the approved reviews of
/// that year alone, whatever their age, and smoothed towards the means of the whole snapshot.
pub fn by_year(reviews: impl Iterator<Item = RatedReview>, priors: &Priors) -> Vec<YearScore> {
    let mut years: BTreeMap<i32, ReviewedFirm> = BTreeMap::new();
    for review in reviews {
        let ratings = [Some(review.rating), review.responsiveness, review.fairness, review.value_add];
        let year = years.entry(review.created_on.year()).or_default();
        year.approved += 1;
        if review.weight > 0.0 {
            year.reviews.push(WeighedReview::new(ratings, review.ghosted, review.weight));
        }
    }
    let Some(((first, _), (last, _))) = years.first_key_value().zip(years.last_key_value()) else { return Vec::new() };
    let years = (*first..=*last).map(|year| {
        let reviews = years.get(&year).cloned().unwrap_or_default();
        let FirmScore { score, ghosting_tenths, .. } = firm_score(&reviews, priors);
        YearScore {
            year: u16::try_from(year).expect("dates have years of four digits"),
            review_count: score.review_count,
            effective_reviews: score.effective_reviews,
            health_score: score.value,
            low: score.low,
            high: score.high,
            ghosting_rate: ghosting_tenths.map(|tenths| f64::from(tenths) / 10.0),
        }
    });
    years.collect()
}

impl Priors {
    fn compute(all: &Sums, firms: &[ReviewedFirm]) -> Self {
        let neutral = |component: usize| if component < DIMENSIONS.len() { NEUTRAL } else { 0.0 };
        let means = std::array::from_fn(|component| all.mean(component).unwrap_or(neutral(component)));
        let priors = Self { means, spread: 0.0 };
        // The spread of the complete reviews of firms with a score, around the means of their firms.
        let (mut squares, mut expected) = (PRIOR_SPREAD * PRIOR_ROOM, PRIOR_ROOM);
        for firm in firms {
            let SmoothedFirm { sums, own, total, .. } = SmoothedFirm::new(&firm.reviews, &priors);
            if sums.weight < PUBLISHED_FROM {
                continue;
            }
            let influences: Vec<f64> = firm.reviews.iter().map(|review| sums.influence(review)).collect();
            let all_influences: f64 = influences.iter().map(|influence| influence * influence).sum();
            for (review, influence) in firm.reviews.iter().zip(influences).filter(|(review, _)| review.is_complete()) {
                let difference: f64 = (0..COMPONENTS)
                    .filter_map(|component| {
                        Some(SLOPES[component] * (review.values[component]? - sums.mean(component)?))
                    })
                    .sum();
                squares += review.weight * difference * difference;
                expected += review.weight * (1.0 - 2.0 * influence + all_influences) * room((own + total) / 2.0);
            }
        }
        Self { spread: squares / expected, ..priors }
    }
}

/// Points are spread less near the ends of the scale.
fn room(total: f64) -> f64 {
    (total * (100.0 - total)).max(1.0)
}

impl SmoothedFirm {
    fn new(reviews: &[WeighedReview], priors: &Priors) -> Self {
        let sums = Sums::new(reviews);
        let own_values: [f64; COMPONENTS] =
            std::array::from_fn(|component| sums.mean(component).unwrap_or(priors.means[component]));
        let mut values: [f64; COMPONENTS] = std::array::from_fn(|component| {
            (PRIOR * priors.means[component] + sums.values[component]) / (PRIOR + sums.weights[component])
        });
        let sum_of = |values: &[f64; COMPONENTS]| points(values).iter().sum::<f64>();
        let (own, mut total) = (sum_of(&own_values), sum_of(&values));
        let squares: f64 = reviews.iter().map(|review| sums.influence(review).powi(2)).sum();
        let error = (priors.spread * room((own + total) / 2.0) * squares).sqrt();
        // Smoothing does not take the score out of its interval.
        let most = CONFIDENCE * error;
        if (total - own).abs() > most && most > 0.0 {
            let share = most / (total - own).abs();
            values = std::array::from_fn(|component| {
                own_values[component] + share * (values[component] - own_values[component])
            });
            total = own + share * (total - own);
        }
        Self { sums, values, own, total, error }
    }
}

fn firm_score(firm: &ReviewedFirm, priors: &Priors) -> FirmScore {
    let SmoothedFirm { sums, values, own, total, error } = SmoothedFirm::new(&firm.reviews, priors);
    let published = sums.weight >= PUBLISHED_FROM;
    let value = within_hundred(total);
    let components = if published { components(&values, value) } else { Vec::new() };
    let held = firm.held.iter().map(|(reason, count)| HeldReviews { reason: reason.name(), review_count: *count });
    let score = Score {
        value: published.then_some(value),
        low: published.then(|| within_hundred(own - CONFIDENCE * error).min(value)),
        high: published.then(|| within_hundred(own + CONFIDENCE * error).max(value)),
        status: if published { "published" } else { "insufficient_reviews" },
        review_count: firm.approved,
        effective_reviews: (sums.weight * 10.0).floor() / 10.0,
        held: held.collect(),
        method: METHOD,
        components,
    };
    let ghosting = sums.mean(COMPONENTS - 1).filter(|_| sums.weights[COMPONENTS - 1] >= PUBLISHED_FROM);
    let ghosting_tenths = ghosting.map(|share| (share * 1_000.0 + 0.5).floor() as u16);
    let tenths = |mean: f64| (mean * 10.0 + 0.5).floor() as u8;
    let rating_tenths = std::array::from_fn(|dimension| sums.mean(dimension).map(tenths));
    let [_, responsiveness, fairness, value_add, ghosting] = values.map(millionths);
    let cautious = ((total - error) * 10.0 + 0.5).floor() as i32;
    let rank = [cautious, responsiveness, fairness, value_add, ghosting];
    let rank = (sums.weight >= RANKED_FROM).then_some(rank);
    FirmScore { score, ghosting_tenths, rating_tenths, rank }
}

fn within_hundred(points: f64) -> u8 {
    (points + 0.5).floor().clamp(0.0, 100.0) as u8
}

fn millionths(value: f64) -> i32 {
    (value * 1_000_000.0 + 0.5).floor() as i32
}

/// Integer points: the floors, plus 1 for the largest fractions, ties in order, until they sum to `value`.
fn components(values: &[f64; COMPONENTS], value: u8) -> Vec<ScoreComponent<&'static str>> {
    let points = points(values);
    let mut integers: Vec<u8> = points.iter().map(|p| p.floor().max(0.0) as u8).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| (points[*b] - points[*b].floor()).total_cmp(&(points[*a] - points[*a].floor())));
    let sum: u8 = integers.iter().sum();
    for index in order.into_iter().take(usize::from(value.saturating_sub(sum))) {
        integers[index] += 1;
    }
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
    use crate::import::rows::{DatasetReview, ReviewContent};
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
        let assessed = scores(&dataset(&["a"], vec![]));
        assert_eq!(assessed[0].score.value, None);
        assert_eq!(assessed[0].score.status, "insufficient_reviews");
        assert_eq!(assessed[0].ghosting_tenths, None);
        assert_eq!(assessed[0].rank, None);
        assert_eq!(assessed[0].rating_tenths, [None; 4]);
    }

    #[test]
    fn a_score_computed_by_hand() {
        // Five reviews not before the release, so that every weight is 1: ratings 5 5 5 3 2, one of four ghosted.
        let reviews = vec![
            review(1, 0, 5, Some(false), "2026-11-20"),
            review(2, 0, 5, Some(false), "2026-12-20"),
            review(3, 0, 5, Some(false), "2027-01-20"),
            review(4, 0, 3, Some(true), "2027-02-20"),
            review(5, 0, 2, None, "2027-03-20"),
        ];
        let assessed = &scores(&dataset(&["a"], reviews))[0];
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
        let day = |n: u32| format!("{}-{:02}-01", 2022 + n / 12, 1 + n % 12);
        let reviews = (0..60).map(|n| review(n, n % 7, (n % 5 + 1) as u8, Some(n % 3 == 0), &day(n))).collect();
        for assessed in scores(&dataset(&["a", "b", "c", "d", "e", "f", "g"], reviews)) {
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
        assert_eq!(scores(&dataset(&["a"], reviews))[0].rating_tenths[0], Some(30));
    }

    #[test]
    fn only_approved_reviews_count() {
        let pending = review_with(ReviewStatus::Pending, 1, 0, 1, Some(true), "2026-11-20");
        let rejected = review_with(ReviewStatus::Rejected, 2, 0, 1, Some(true), "2026-11-20");
        let assessed = &scores(&dataset(&["a"], vec![pending, rejected]))[0];
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
            weight: 1.0,
        };
        let priors = Priors { means: [3.0, 3.0, 3.0, 3.0, 0.25], spread: 0.0 };
        let reviews = [
            rated(5, Some(true), "2023-12-31"),
            rated(5, None, "2023-01-01"),
            rated(5, None, "2023-06-01"),
            rated(1, None, "2025-03-01"),
        ];
        let years = by_year(reviews.into_iter(), &priors);
        // 30·(21/5 − 1)/4 + 3·15·(3 − 1)/4 + 25·(1 − 1.5/3) = 24 + 22.5 + 12.5 = 59
        let found: Vec<_> = years.iter().map(|year| (year.year, year.review_count, year.health_score)).collect();
        assert_eq!(found, [(2023, 3, Some(59)), (2024, 0, None), (2025, 1, None)]);
        assert!(years.iter().all(|year| year.ghosting_rate.is_none()), "one answer is too few");
        assert_eq!(by_year(std::iter::empty(), &priors), []);
    }
}
