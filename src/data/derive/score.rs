//! The peer score, `peer-score/1`: what approved reviews say of a firm, as one number that anyone can recompute.
//!
//! The formulas are those of the published method (see the docs page `score`): weights halve every 730 days, each
//! dimension is drawn towards the mean of the snapshot by five reviews' weight, ghosting by six. Sums run in order of
//! review id, so that every compile gives the same last bit.

use crate::data::ReviewStatus;
use crate::data::derive::sort_order::beginning;
use crate::data::import::rows::{Dataset, Review};
use crate::data::model::{Score, ScoreComponent};

/// The method's name, as answered in `score.method`.
pub const METHOD: &str = "peer-score/1";
/// Approved reviews from which on a score is published.
pub const PUBLISHED_FROM: u32 = 3;
/// Approved reviews from which on a firm is ranked.
pub const RANKED_FROM: u32 = 5;

const HALF_LIFE_DAYS: f64 = 730.0;
const PRIOR: f64 = 5.0;
const GHOSTING_PRIOR: f64 = 6.0;
const NEUTRAL: f64 = 3.0;
const CONFIDENCE: f64 = 1.645;

/// The rated dimensions, in the order of the components.
pub const DIMENSIONS: [(&str, u8); 4] = [("rating", 30), ("responsiveness", 15), ("fairness", 15), ("value_add", 15)];
/// Ghosting's name and points.
pub const GHOSTING: (&str, u8) = ("ghosting", 25);

/// The firm's own weighted means, not smoothed, in tenths; `None` where nobody rated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratings {
    /// Tenths of `overall`, `responsiveness`, `fairness`, `value_add`.
    pub tenths: [Option<u8>; 4],
}

/// What the leaderboard ranks by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreRank {
    /// S − se, in tenths of a point.
    pub cautious_tenths: i32,
    /// Smoothed responsiveness, fairness and value_add, in millionths.
    pub means: [i32; 3],
    /// Smoothed ghosting share, in millionths.
    pub ghosting: i32,
}

/// All that reviews say of one firm.
#[derive(Clone, Debug, PartialEq)]
pub struct FirmScore {
    /// The published score.
    pub score: Score<&'static str>,
    /// Ghosting rate as observed, in tenths of a per cent; `None` below three answers.
    pub ghosting_tenths: Option<u16>,
    /// Own means.
    pub ratings: Ratings,
    /// Present from [`RANKED_FROM`] approved reviews on.
    pub standing: Option<ScoreRank>,
}

/// Sums over one firm's, or all, approved reviews.
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
    fn add(&mut self, review: &Review, weight: f64) {
        self.count += 1;
        self.weight += weight;
        for (dimension, rating) in ratings(review).into_iter().enumerate() {
            if let Some(rating) = rating {
                self.dimension_weight[dimension] += weight;
                self.dimension[dimension] += weight * rating;
            }
        }
        if let Some(ghosted) = review.ghosted {
            self.answered += 1;
            self.ghosted += u32::from(ghosted);
        }
    }
}

fn ratings(review: &Review) -> [Option<f64>; 4] {
    [Some(review.rating), review.responsiveness, review.fairness, review.value_add].map(|rating| rating.map(f64::from))
}

/// What is true of the whole snapshot: the priors.
struct Field {
    means: [f64; 4],
    ghosting: f64,
    variance: f64,
}

/// Assesses every firm of the dataset, in the order of its rows.
#[must_use]
pub fn assess(dataset: &Dataset) -> Vec<FirmScore> {
    let approved = dataset.reviews.iter().filter(|review| review.status == ReviewStatus::Approved);
    let mut approved: Vec<_> = approved.map(|review| (beginning(&review.id), review)).collect();
    approved.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
    let approved: Vec<&Review> = approved.into_iter().map(|(_, review)| review).collect();
    let weights: Vec<f64> = approved
        .iter()
        .map(|review| {
            let age = (dataset.meta.released_on.days() - review.created_on.days()).max(0);
            0.5_f64.powf(f64::from(age) / HALF_LIFE_DAYS)
        })
        .collect();
    let mut all = Sums::default();
    let mut firms = vec![Sums::default(); dataset.firms.len()];
    for (review, weight) in approved.iter().zip(&weights) {
        all.add(review, *weight);
        if let Some(sums) = firms.get_mut(review.firm as usize) {
            sums.add(review, *weight);
        }
    }
    let field = field(&all, &approved, &weights);
    firms.iter().map(|sums| assessment(sums, &field)).collect()
}

fn field(all: &Sums, approved: &[&Review], weights: &[f64]) -> Field {
    let means = std::array::from_fn(|dimension| {
        if all.dimension_weight[dimension] > 0.0 {
            all.dimension[dimension] / all.dimension_weight[dimension]
        } else {
            NEUTRAL
        }
    });
    let ghosting = if all.answered > 0 { f64::from(all.ghosted) / f64::from(all.answered) } else { 0.0 };
    let points: Vec<f64> = approved
        .iter()
        .map(|review| {
            let x: [f64; 4] = std::array::from_fn(|dimension| ratings(review)[dimension].unwrap_or(means[dimension]));
            25.0 * (0.4 * x[0] + 0.2 * (x[1] + x[2] + x[3]) - 1.0)
        })
        .collect();
    let mut variance = 0.0;
    if all.weight > 0.0 {
        let mean = points.iter().zip(weights).map(|(q, w)| q * w).sum::<f64>() / all.weight;
        variance = points.iter().zip(weights).map(|(q, w)| w * (q - mean) * (q - mean)).sum::<f64>() / all.weight;
    }
    Field { means, ghosting, variance }
}

fn assessment(sums: &Sums, field: &Field) -> FirmScore {
    let means: [f64; 4] = std::array::from_fn(|dimension| {
        (PRIOR * field.means[dimension] + sums.dimension[dimension]) / (PRIOR + sums.dimension_weight[dimension])
    });
    let answered = f64::from(sums.answered);
    let ghosting = (f64::from(sums.ghosted) + GHOSTING_PRIOR * field.ghosting) / (answered + GHOSTING_PRIOR);
    let mut points: Vec<f64> =
        DIMENSIONS.iter().zip(means).map(|((_, most), mean)| f64::from(*most) * (mean - 1.0) / 4.0).collect();
    points.push(f64::from(GHOSTING.1) * (1.0 - ghosting));
    let whole: f64 = points.iter().sum();
    let error = 0.75 * (field.variance / (PRIOR + sums.weight)).sqrt()
        + 25.0 * (ghosting * (1.0 - ghosting) / (answered + 7.0)).sqrt();

    let published = sums.count >= PUBLISHED_FROM;
    let value = within_hundred(whole);
    let components = if published { components(&means, ghosting, &points, value) } else { Vec::new() };
    let score = Score {
        value: published.then_some(value),
        low: published.then(|| within_hundred(whole - CONFIDENCE * error)),
        high: published.then(|| within_hundred(whole + CONFIDENCE * error)),
        status: if published { "published" } else { "insufficient_reviews" },
        review_count: sums.count,
        method: METHOD,
        components,
    };
    let ghosting_tenths = (sums.answered >= PUBLISHED_FROM).then(|| {
        let (k, n) = (u64::from(sums.ghosted), u64::from(sums.answered));
        ((2_000 * k + n) / (2 * n)) as u16
    });
    let ratings = Ratings {
        tenths: std::array::from_fn(|dimension| {
            let weight = sums.dimension_weight[dimension];
            (weight > 0.0).then(|| (sums.dimension[dimension] / weight * 10.0 + 0.5).floor() as u8)
        }),
    };
    let standing = (sums.count >= RANKED_FROM).then(|| ScoreRank {
        cautious_tenths: ((whole - error) * 10.0 + 0.5).floor() as i32,
        means: [1, 2, 3].map(|dimension| millionths(means[dimension])),
        ghosting: millionths(ghosting),
    });
    FirmScore { score, ghosting_tenths, ratings, standing }
}

fn within_hundred(points: f64) -> u8 {
    (points + 0.5).floor().clamp(0.0, 100.0) as u8
}

fn millionths(value: f64) -> i32 {
    (value * 1_000_000.0 + 0.5).floor() as i32
}

/// Whole points: the floors, then one more for the largest fractions, in order, until they add up to `value`.
fn components(means: &[f64; 4], ghosting: f64, points: &[f64], value: u8) -> Vec<ScoreComponent<&'static str>> {
    let mut whole: Vec<u8> = points.iter().map(|p| p.floor().max(0.0) as u8).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| (points[*b] - points[*b].floor()).total_cmp(&(points[*a] - points[*a].floor())));
    let given: u8 = whole.iter().sum();
    for index in order.into_iter().take(usize::from(value.saturating_sub(given))) {
        whole[index] += 1;
    }
    let values = means.iter().copied().chain([ghosting]);
    DIMENSIONS
        .into_iter()
        .chain([GHOSTING])
        .zip(values)
        .zip(whole)
        .map(|(((name, most), value), points)| ScoreComponent {
            name,
            weight: f64::from(most) / 100.0,
            value: (value * 100.0 + 0.5).floor() / 100.0,
            points,
            max_points: most,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::import::rows::{Firm, Meta};

    fn firm(slug: &str) -> Firm {
        Firm {
            slug: slug.into(),
            name: slug.into(),
            aliases: vec![],
            kind: None,
            website: None,
            description: None,
            country: None,
            city: None,
            founded_year: None,
            stages: vec![],
            sectors: vec![],
            check_min_usd: None,
            check_max_usd: None,
            aum_usd: None,
        }
    }

    fn review(id: u32, firm: u32, rating: u8, ghosted: Option<bool>, created_on: &str) -> Review {
        Review {
            id: format!("r{id:03}"),
            firm,
            stage: None,
            rating,
            responsiveness: Some(rating),
            fairness: None,
            value_add: Some(3),
            ghosted,
            title: None,
            body: None,
            status: ReviewStatus::Approved,
            created_on: created_on.parse().unwrap(),
        }
    }

    fn dataset(firms: &[&str], reviews: Vec<Review>) -> Dataset {
        Dataset {
            meta: Meta {
                version: "2026-11-20.1".parse().unwrap(),
                released_on: "2026-11-20".parse().unwrap(),
                title: String::new(),
                source: String::new(),
                license: String::new(),
                invented: true,
            },
            sectors: vec![],
            firms: firms.iter().map(|slug| firm(slug)).collect(),
            startups: vec![],
            rounds: vec![],
            people: vec![],
            reviews,
        }
    }

    #[test]
    fn a_firm_without_reviews_has_no_number() {
        let assessed = assess(&dataset(&["a"], vec![]));
        assert_eq!(assessed[0].score.value, None);
        assert_eq!(assessed[0].score.status, "insufficient_reviews");
        assert_eq!(assessed[0].ghosting_tenths, None);
        assert_eq!(assessed[0].standing, None);
        assert_eq!(assessed[0].ratings, Ratings::default());
    }

    #[test]
    fn a_score_worked_out_by_hand() {
        // Five reviews on the day of release, so that every weight is 1: ratings 5 5 5 3 2, one of four ghosted.
        let day = "2026-11-20";
        let reviews = vec![
            review(1, 0, 5, Some(false), day),
            review(2, 0, 5, Some(false), day),
            review(3, 0, 5, Some(false), day),
            review(4, 0, 3, Some(true), day),
            review(5, 0, 2, None, day),
        ];
        let assessed = &assess(&dataset(&["a"], reviews))[0];
        // The only firm's mean is the snapshot's: 4.0; fairness was rated by nobody: 3; γ = g = 1/4.
        // 30·3/4 + 15·3/4 + 15·2/4 + 15·2/4 + 25·3/4 = 22.5 + 11.25 + 7.5 + 7.5 + 18.75 = 67.5 → 68
        assert_eq!(assessed.score.value, Some(68));
        assert_eq!(assessed.ghosting_tenths, Some(250));
        assert_eq!(assessed.ratings.tenths, [Some(40), Some(40), None, Some(30)]);
        // Floors 22 11 7 7 18 = 65; the three largest fractions are ghosting's .75, then .5, .5 in order: 23, 8, 19.
        let points: Vec<u8> = assessed.score.components.iter().map(|component| component.points).collect();
        assert_eq!(points, [23, 11, 8, 7, 19]);
    }

    #[test]
    fn points_add_up_to_the_score() {
        let reviews = (0..60).map(|n| review(n, n % 7, (n % 5 + 1) as u8, Some(n % 3 == 0), "2025-03-01")).collect();
        for assessed in assess(&dataset(&["a", "b", "c", "d", "e", "f", "g"], reviews)) {
            let total: u32 = assessed.score.components.iter().map(|component| u32::from(component.points)).sum();
            assert_eq!(Some(total), assessed.score.value.map(u32::from));
            assert!(assessed.score.low <= assessed.score.value && assessed.score.value <= assessed.score.high);
            assert!(assessed.score.components.iter().all(|component| component.points <= component.max_points));
        }
    }

    #[test]
    fn an_old_review_weighs_half_after_two_years() {
        let reviews = vec![
            review(1, 0, 5, None, "2026-11-20"),
            review(2, 0, 1, None, "2024-11-20"),
            review(3, 0, 1, None, "2024-11-20"),
        ];
        // 2024-11-20 is 730 days before the release: weights 1, ½, ½ → (5 + ½ + ½) / 2 = 3.0
        assert_eq!(assess(&dataset(&["a"], reviews))[0].ratings.tenths[0], Some(30));
    }

    #[test]
    fn only_approved_reviews_count() {
        let mut pending = review(1, 0, 1, Some(true), "2026-11-20");
        pending.status = ReviewStatus::Pending;
        let mut rejected = review(2, 0, 1, Some(true), "2026-11-20");
        rejected.status = ReviewStatus::Rejected;
        let assessed = &assess(&dataset(&["a"], vec![pending, rejected]))[0];
        assert_eq!(assessed.score.review_count, 0);
    }
}
