//! Divides a total among rows.

/// Divides a total among rows in proportion to their weights, row by row. The shares are integers and sum to the total.
pub(crate) struct Share {
    total: u128,
    weights: u128,
    seen: u128,
    used: u128,
}

impl Share {
    pub(crate) fn new(total: u32, weights: u64) -> Self {
        Self { total: u128::from(total), weights: u128::from(weights), seen: 0, used: 0 }
    }

    pub(crate) fn next(&mut self, weight: u64) -> u32 {
        self.seen += u128::from(weight);
        let due = (self.seen * self.total).checked_div(self.weights).unwrap_or(0);
        let share = due - self.used;
        self.used = due;
        u32::try_from(share).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_weights_and_sum_to_the_total() {
        let weights = [0, 1, 2, 0, 7, 3, 0];
        let mut share = Share::new(1_001, weights.iter().sum());
        let shares: Vec<_> = weights.iter().map(|weight| share.next(*weight)).collect();
        assert_eq!(shares.iter().sum::<u32>(), 1_001);
        assert!(shares[0] == 0 && shares[3] == 0 && shares[4] == 539);
        assert_eq!(Share::new(5, 0).next(0), 0);
    }
}
