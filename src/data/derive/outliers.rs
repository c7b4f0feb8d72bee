//! Amounts that are probably wrong: a digit too many, another currency, the value of a company in place of its round.

use crate::Stage;
use crate::import::rows::DatasetRound;
use crate::vocabulary::Vocabulary;

/// An amount is suspect above this multiple of its stage's 99th percentile. Of 120,000 published rounds, 24 are.
const FACTOR: u64 = 10;

/// The 99th percentile of each stage, in dollars; `None` without amounts.
pub(crate) struct AmountLimits(Vec<Option<u64>>);

impl AmountLimits {
    pub(crate) fn compute(rounds: &[DatasetRound]) -> Self {
        let mut amounts: Vec<Vec<u64>> = vec![Vec::new(); Stage::ALL.len()];
        for round in rounds {
            amounts[round.stage.index()].extend(round.amount_usd);
        }
        // 99 % do not exceed it. Of fewer than a hundred it is the largest, so that none is suspect for want of others.
        let percentile = |mut amounts: Vec<u64>| {
            let rank = (amounts.len() * 99).div_ceil(100).checked_sub(1)?;
            Some(*amounts.select_nth_unstable(rank).1)
        };
        Self(amounts.into_iter().map(percentile).collect())
    }

    pub(crate) fn percentile(&self, stage: Stage) -> Option<u64> {
        self.0[stage.index()]
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

    fn round(stage: Stage, amount_usd: u64) -> DatasetRound {
        let (id, investors) = (amount_usd.to_string(), Vec::new());
        DatasetRound { id, startup: 0, stage, amount_usd: Some(amount_usd), announced_on: None, investors }
    }

    #[test]
    fn an_amount_far_above_the_others_of_its_stage_is_suspect() {
        let mut rounds: Vec<DatasetRound> = (1..=199).map(|amount| round(Stage::Seed, amount * 1_000)).collect();
        rounds.push(round(Stage::Seed, 3_000_000_000));
        rounds.push(round(Stage::Growth, 3_000_000_000));
        let limits = AmountLimits::compute(&rounds);
        assert_eq!(limits.percentile(Stage::Seed), Some(198_000));
        assert_eq!(limits.percentile(Stage::Debt), None);
        let suspect: Vec<usize> = (0..rounds.len()).filter(|index| limits.is_suspect(&rounds[*index])).collect();
        assert_eq!(suspect, [199], "an amount without others of its stage is not");
        assert!(!limits.is_suspect(&round(Stage::Seed, 1_980_000)));
        assert!(limits.is_suspect(&round(Stage::Seed, 1_980_001)));
    }
}
