//! Hidden quality of firms, from which reviews are drawn without bias.
//!
//! A rating is 1 plus the number of successes in four trials of probability `p`: whatever `p`, its expected value is
//! exactly `1 + 4p`. The trials of one review share some of their draws, so that its ratings correlate, and a reviewer who
//! was ghosted rates low; each draw is still uniform, so that the expected values stay exact.

use crate::datagen::random::{Random, RandomStream};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FirmQuality {
    /// Success probabilities of rating, responsiveness, fairness, value_add and ghosting in 1/1000.
    per_mille: [u16; 5],
}

impl FirmQuality {
    pub(crate) fn draw(seed: u64, row: u32) -> Self {
        let random = &mut Random::new(seed, RandomStream::Quality, u64::from(row));
        let base = (random.below(1000) + random.below(1000) + random.below(1000)) / 3;
        let rating = (270 + base * 72 / 100).min(970);
        let around = |random: &mut Random, centre: u64| (centre + random.below(241)).clamp(160, 1090) - 120;
        let ghosting = (480 - base * 46 / 100 + random.below(161)).clamp(100, 700) - 80;
        let per_mille = [rating, around(random, rating), around(random, rating), around(random, rating), ghosting]
            .map(|p| p as u16);
        Self { per_mille }
    }

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
        // The first shared draw also decides ghosting: if it is high, the first trials have failed.
        let ghosted = 999 - shared[0] < u64::from(self.per_mille[4]);
        Experience { rating, responsiveness, fairness, value_add, ghosted }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Experience {
    pub(crate) rating: u8,
    pub(crate) responsiveness: u8,
    pub(crate) fairness: u8,
    pub(crate) value_add: u8,
    pub(crate) ghosted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagen::GenConfig;

    fn draw(row: u32) -> FirmQuality {
        FirmQuality::draw(GenConfig::new(0, 0).seed, row)
    }

    impl FirmQuality {
        /// Expected `rating`, `responsiveness`, `fairness` and `value_add` (1–5), and the probability of ghosting (0–1).
        pub(crate) fn expected(&self) -> [f64; 5] {
            let [rating, responsiveness, fairness, value_add, ghosting] = self.per_mille.map(f64::from);
            let mean = |per_mille: f64| 1.0 + per_mille / 250.0;
            [mean(rating), mean(responsiveness), mean(fairness), mean(value_add), ghosting / 1000.0]
        }
    }

    #[test]
    fn the_mean_of_many_reviews_is_the_hidden_quality() {
        for quality in (0..12).map(draw) {
            let mut random = Random::new(77, RandomStream::Review, u64::from(quality.per_mille[0]));
            let count = 40_000;
            let mut sums = [0u32; 5];
            for _ in 0..count {
                let one = quality.experience(&mut random);
                let values = [one.rating, one.responsiveness, one.fairness, one.value_add, u8::from(one.ghosted)];
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += u32::from(value);
                }
            }
            for (sum, expected) in sums.iter().zip(quality.expected()) {
                let mean = f64::from(*sum) / f64::from(count);
                assert!((mean - expected).abs() < 0.03, "{mean} for {expected}");
            }
        }
    }

    #[test]
    fn firms_differ_in_quality() {
        let ratings: Vec<_> = (0..400).map(|row| draw(row).expected()[0]).collect();
        let (low, high) =
            ratings.iter().fold((5.0_f64, 1.0_f64), |(low, high), rating| (low.min(*rating), high.max(*rating)));
        assert!(low < 2.9 && high > 4.1, "{low}–{high}");
    }
}
