//! The hidden quality of firms, and how a review is drawn from it without bias.
//!
//! A rating is 1 and the number of successes in four trials of probability `p`: whatever `p`, its expected value is
//! exactly `1 + 4p`. The trials of one review share some of their draws, so that who rates one thing high rates the
//! others high, and who was ghosted rates low; each draw is still uniform, so that no expected value moves.

use crate::datagen::GenConfig;
use crate::datagen::random::{Random, RandomStream};

/// The expected values that a firm's reviews are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Mean of `rating`, 1–5.
    pub rating: f64,
    /// Mean of `responsiveness`, 1–5.
    pub responsiveness: f64,
    /// Mean of `fairness`, 1–5.
    pub fairness: f64,
    /// Mean of `value_add`, 1–5.
    pub value_add: f64,
    /// Probability that a reviewer was ghosted, 0–1.
    pub ghosting: f64,
    /// The five as probabilities in 1/1000, in the order above.
    per_mille: [u16; 5],
}

impl Quality {
    fn of(per_mille: [u16; 5]) -> Self {
        let mean = |place: usize| 1.0 + f64::from(per_mille[place]) / 250.0;
        Self {
            rating: mean(0),
            responsiveness: mean(1),
            fairness: mean(2),
            value_add: mean(3),
            ghosting: f64::from(per_mille[4]) / 1000.0,
            per_mille,
        }
    }

    fn draw(seed: u64, row: u32) -> Self {
        let random = &mut Random::of(seed, RandomStream::Quality, u64::from(row));
        let base = (random.below(1000) + random.below(1000) + random.below(1000)) / 3;
        let rating = (270 + base * 72 / 100).min(970);
        let around = |random: &mut Random, centre: u64| (centre + random.below(241)).clamp(160, 1090) - 120;
        let ghosting = (480 - base * 46 / 100 + random.below(161)).clamp(100, 700) - 80;
        Self::of([
            rating as u16,
            around(random, rating) as u16,
            around(random, rating) as u16,
            around(random, rating) as u16,
            ghosting as u16,
        ])
    }

    /// Draws what one reviewer met with.
    pub(crate) fn experience(&self, random: &mut Random) -> Experience {
        let shared: [u64; 4] = std::array::from_fn(|_| random.below(1000));
        let mut rate = |dimension: usize, common: usize| {
            let successes = (0..4).filter(|trial| {
                let draw = if *trial < common { shared[*trial] } else { random.below(1000) };
                draw < u64::from(self.per_mille[dimension])
            });
            1 + successes.count() as u8
        };
        let (rating, responsiveness, fairness, value_add) = (rate(0, 4), rate(1, 3), rate(2, 2), rate(3, 2));
        // The first shared draw also decides on ghosting: where it is high, the first trials have failed.
        let ghosted = 999 - shared[0] < u64::from(self.per_mille[4]);
        Experience { rating, responsiveness, fairness, value_add, ghosted }
    }
}

/// What one reviewer met with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Experience {
    pub(crate) rating: u8,
    pub(crate) responsiveness: u8,
    pub(crate) fairness: u8,
    pub(crate) value_add: u8,
    pub(crate) ghosted: bool,
}

/// The quality of each firm of `plan`.
pub(crate) fn of_firms(plan: &GenConfig) -> Vec<Quality> {
    (0..plan.firms).map(|row| Quality::draw(plan.seed, row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_many_reviews_is_the_hidden_one() {
        for quality in of_firms(&GenConfig::of(12, 0)) {
            let mut random = Random::of(77, RandomStream::Review, u64::from(quality.per_mille[0]));
            let count = 40_000;
            let mut sums = [0u32; 5];
            for _ in 0..count {
                let one = quality.experience(&mut random);
                let values = [one.rating, one.responsiveness, one.fairness, one.value_add, u8::from(one.ghosted)];
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += u32::from(value);
                }
            }
            let hidden =
                [quality.rating, quality.responsiveness, quality.fairness, quality.value_add, quality.ghosting];
            for (sum, hidden) in sums.iter().zip(hidden) {
                let mean = f64::from(*sum) / f64::from(count);
                assert!((mean - hidden).abs() < 0.03, "{mean} for {hidden}");
            }
        }
    }

    #[test]
    fn firms_differ_in_quality() {
        let ratings: Vec<_> = of_firms(&GenConfig::of(400, 0)).iter().map(|quality| quality.rating).collect();
        let (low, high) =
            ratings.iter().fold((5.0_f64, 1.0_f64), |(low, high), rating| (low.min(*rating), high.max(*rating)));
        assert!(low < 2.9 && high > 4.1, "{low}–{high}");
    }
}
