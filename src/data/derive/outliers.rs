//! Amounts that are probably wrong: a digit too many, another currency, the value of a company in place of its round.

use crate::Stage;
use crate::import::rows::DatasetRound;

/// An amount is suspect above this multiple of its stage's 99th percentile. Of 120,000 published rounds, 24 are.
/// A round of unknown stage may be of any: it is compared with all rounds.
const FACTOR: u64 = 10;

/// The 99th percentile of each stage and, last, of all rounds, in dollars; `None` without amounts.
pub(crate) struct AmountLimits(Vec<Option<u64>>);

impl AmountLimits {
    pub(crate) fn compute(rounds: &[DatasetRound]) -> Self {
        let mut amounts: Vec<Vec<u64>> = vec![Vec::new(); Stage::PLACES];
        for round in rounds {
            amounts[Stage::place(None)].extend(round.amount_usd);
            if round.stage.is_some() {
                amounts[Stage::place(round.stage)].extend(round.amount_usd);
            }
        }
        // 99 % do not exceed it. Of fewer than a hundred it is the largest, so that none is suspect for want of others.
        let percentile = |mut amounts: Vec<u64>| {
            let rank = (amounts.len() * 99).div_ceil(100).checked_sub(1)?;
            Some(*amounts.select_nth_unstable(rank).1)
        };
        Self(amounts.into_iter().map(percentile).collect())
    }

    /// That of a stage, or of all rounds if the stage is unknown.
    pub(crate) fn percentile(&self, stage: Option<Stage>) -> Option<u64> {
        self.0[Stage::place(stage)]
    }

    /// The round's amount, unless it is suspect. Sums and orders use it.
    pub(crate) fn credible(&self, round: &DatasetRound) -> Option<u64> {
        round.amount_usd.filter(|_| !self.is_suspect(round))
    }

    pub(crate) fn is_suspect(&self, round: &DatasetRound) -> bool {
        let limit = self.percentile(round.stage).map(|percentile| percentile.saturating_mul(FACTOR));
        round.amount_usd.zip(limit).is_some_and(|(amount, limit)| amount > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(stage: Option<Stage>, amount_usd: u64) -> DatasetRound {
        let (id, investors) = (amount_usd.to_string(), Vec::new());
        DatasetRound { id, startup: 0, stage, amount_usd: Some(amount_usd), announced_on: None, investors }
    }

    #[test]
    fn an_amount_far_above_the_others_of_its_stage_is_suspect() {
        let seed = Some(Stage::Seed);
        let mut rounds: Vec<DatasetRound> = (1..=199).map(|amount| round(seed, amount * 1_000)).collect();
        rounds.push(round(seed, 3_000_000_000));
        rounds.push(round(Some(Stage::Growth), 3_000_000_000));
        let limits = AmountLimits::compute(&rounds);
        assert_eq!(limits.percentile(seed), Some(198_000));
        assert_eq!(limits.percentile(Some(Stage::Debt)), None);
        let suspect: Vec<usize> = (0..rounds.len()).filter(|index| limits.is_suspect(&rounds[*index])).collect();
        assert_eq!(suspect, [199], "an amount without others of its stage is not");
        assert!(!limits.is_suspect(&round(seed, 1_980_000)));
        assert!(limits.is_suspect(&round(seed, 1_980_001)));
    }

    #[test]
    fn a_round_of_unknown_stage_is_compared_with_all_rounds() {
        let seed = Some(Stage::Seed);
        let mut rounds: Vec<DatasetRound> = (1..=100).map(|amount| round(seed, amount * 1_000)).collect();
        rounds.extend((1..=100).map(|amount| round(Some(Stage::Growth), amount * 1_000_000)));
        rounds.push(round(None, 1));
        let limits = AmountLimits::compute(&rounds);
        assert_eq!(limits.percentile(None), Some(98_000_000));
        assert!(!limits.is_suspect(&round(None, 980_000_000)));
        assert!(limits.is_suspect(&round(None, 980_000_001)));
        assert_eq!(limits.percentile(seed), Some(99_000), "it is no round of a stage");
    }
}
