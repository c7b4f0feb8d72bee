//! Random numbers that are the same on every platform.
//!
//! SplitMix64 (G. Steele, D. Lea, C. Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014; constants of
//! S. Vigna's public-domain `splitmix64.c`). It uses wrapping integer arithmetic only. No float is drawn anywhere, so that no
//! `ln` or `pow` of a platform can change a byte. Each row has its own stream, derived from seed, table and row number, and
//! can be drawn again at any time without the rows before it.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum RandomStream {
    Firm = 1,
    FirmName,
    FirmText,
    Startup,
    StartupName,
    StartupText,
    Rounds,
    RoundCount,
    Person,
    PeopleCount,
    Review,
    ReviewCount,
    Syndicate,
    Quality,
    ReviewContext,
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, purpose: RandomStream, row: u64) -> Self {
        let table = mix(seed.wrapping_add((purpose as u64).wrapping_mul(STEP)));
        Self(mix(table ^ mix(row.wrapping_add(1).wrapping_mul(STEP))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number from 0 to `end - 1`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `per_mille` of 1,000 cases.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// `text` in `per_mille` of 1,000 cases, otherwise empty.
    pub(crate) fn keep(&mut self, per_mille: u64, text: String) -> String {
        if self.chance(per_mille) { text } else { String::new() }
    }

    /// One of `items` with equal probability; panics if there are none.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }

    /// One of `items` with equal probability; panics if there are none.
    pub(crate) fn one<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// A number below `end`; small ones are more frequent.
    pub(crate) fn small(&mut self, end: u64) -> u64 {
        let end = 1 + self.below(end);
        self.below(end)
    }

    /// An index in `0..len`, the smaller of two draws; the first ones are more frequent.
    pub(crate) fn early(&mut self, len: usize) -> usize {
        self.below(len as u64).min(self.below(len as u64)) as usize
    }

    /// The index of one of `weights`, in proportion to them; 0 if all are zero.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let weights = weights.iter().copied().map(u64::from);
        let drawn = self.below(weights.clone().sum());
        let mut sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        sums.position(|sum| drawn < sum).unwrap_or(0)
    }
}

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
    fn the_stream_is_splitmix64() {
        // The first outputs of splitmix64.c for the state 1234567.
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert_eq!(random.next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn draws_stay_in_bounds_and_reach_them() {
        let mut random = Random::new(1, RandomStream::Firm, 0);
        let drawn: std::collections::BTreeSet<_> = (0..500).map(|_| random.between(3, 7)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.weighted(&[0, 0, 5]), 2);
        assert_eq!(random.weighted(&[]), 0);
    }

    #[test]
    fn each_row_and_purpose_has_its_own_stream() {
        let first = |seed, purpose, row| Random::new(seed, purpose, row).next();
        let all = [
            first(1, RandomStream::Firm, 0),
            first(1, RandomStream::Firm, 1),
            first(1, RandomStream::Startup, 0),
            first(2, RandomStream::Firm, 0),
        ];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value));
        }
    }

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
