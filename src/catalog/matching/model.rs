//! How counts become points: a sum of logarithms, linear in its weights, which the back-test fits.
//!
//! A firm with `n` of `N` investments that meet a condition, which a part `p` of all investments meets, has the evidence
//! `ln(1 + n ÷ ((N + prior) × p × rarity))`: none without such an investment, more for a higher share, less for a share of
//! few investments, more if the condition is rare. The evidence of activity is `ln(1 + N)` and `2^(−years)` since the
//! last investment. Points are weighted evidence, scaled so that the maxima of a request add up to [`MAX_POINTS`].

use std::f64::consts::LN_2;

use once_cell::sync::Lazy;

use data::vocabulary::{Vocabulary, vocabulary};
use data::word_file;

/// The most points that a request allows.
pub const MAX_POINTS: u16 = 1_000;
const DAYS_A_YEAR: f64 = 365.25;

vocabulary! {
    /// The features that weights multiply, and the two constants of the evidence.
    Weight, "weight", {
        Prior = "prior",
        Rarity = "rarity",
        Stage = "stage",
        Sector = "sector",
        Country = "country",
        /// The firm is based in the country.
        Seat = "seat",
        City = "city",
        Amount = "amount",
        SimilarStartups = "similar_startups",
        Backers = "backers",
        Volume = "volume",
        Recency = "recency",
    }
}

/// The weights in hundredths, in the order of [`Weight::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchWeights(pub [u32; Weight::ALL.len()]);

/// The weights of `weights.txt`.
pub static WEIGHTS: Lazy<MatchWeights> =
    Lazy::new(|| MatchWeights(word_file::numbers(include_str!("weights.txt"), |place| Weight::ALL[place].name())));

/// The results of the back-test that fitted the weights.
pub struct BackTest {
    /// The rounds, in words.
    pub data: &'static str,
    /// A list, then its figures.
    pub rows: Vec<Vec<&'static str>>,
}

/// The figures of `back_test.txt`.
pub static BACK_TEST: Lazy<BackTest> = Lazy::new(|| {
    let mut lines = word_file::entries(include_str!("back_test.txt"));
    let data = lines.next().unwrap_or_default();
    BackTest { data, rows: lines.map(|line| line.split(" | ").collect()).collect() }
});

impl MatchWeights {
    pub fn of(&self, weight: Weight) -> f64 {
        f64::from(self.0[weight.index()]) / 100.0
    }

    /// The file of these weights.
    pub fn file(&self) -> String {
        let head = word_file_head(include_str!("weights.txt"));
        let lines =
            Weight::ALL.iter().zip(self.0).map(|(weight, hundredths)| format!("{}: {hundredths}\n", weight.name()));
        lines.fold(head, |file, line| file + &line)
    }

    /// The evidence of `investments` among all of a firm that meet a condition, which a share of all firms' meet.
    pub(crate) fn evidence(&self, investments: u32, all: u32, share: f64) -> f64 {
        let expected = (f64::from(all) + self.of(Weight::Prior)) * share * self.of(Weight::Rarity);
        (f64::from(investments) / expected).ln_1p()
    }

    /// The most evidence that a condition can have: all of many investments meet it.
    pub(crate) fn most_evidence(&self, share: f64) -> f64 {
        (1.0 / (share * self.of(Weight::Rarity))).ln_1p()
    }

    pub(crate) fn recency(&self, days: i32) -> f64 {
        self.of(Weight::Recency) * (-LN_2 * f64::from(days.max(0)) / DAYS_A_YEAR).exp()
    }

    pub(crate) fn volume(&self, investments: u32) -> f64 {
        self.of(Weight::Volume) * f64::from(investments).ln_1p()
    }
}

fn word_file_head(file: &str) -> String {
    file.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_weights_is_the_one_that_the_fit_writes() {
        assert_eq!(WEIGHTS.file(), include_str!("weights.txt"));
    }

    #[test]
    fn evidence_grows_with_count_share_and_rarity() {
        let evidence = |investments, all, share| WEIGHTS.evidence(investments, all, share);
        assert!(evidence(0, 10, 0.1) == 0.0 && evidence(1, 500, 0.5) > 0.0);
        assert!(evidence(2, 10, 0.1) > evidence(1, 10, 0.1));
        // The same share of more investments is surer, a lower share is less.
        assert!(evidence(20, 40, 0.1) > evidence(1, 2, 0.1));
        assert!(evidence(5, 100, 0.1) < evidence(5, 20, 0.1));
        assert!(evidence(1, 10, 0.01) > evidence(1, 10, 0.1));
        assert!(WEIGHTS.most_evidence(0.1) > evidence(1_000, 1_000, 0.1));
    }
}
