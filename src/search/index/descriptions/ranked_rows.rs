//! Rows by how well they fit.

/// A row with its score as one number: the less, the better; of equal scores the first row is the best. Scores are not
/// negative, so their bits are in their order.
pub(super) fn rank_key(row: u32, score: f32) -> u64 {
    u64::from(!score.to_bits()) << 32 | u64::from(row)
}

pub(super) fn row_of(key: u64) -> u32 {
    key as u32
}

pub(super) fn score_of(key: u64) -> f32 {
    f32::from_bits(!((key >> 32) as u32))
}

/// Rows that are ranked only as far as they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankedRows {
    /// Keys that order by rank, ascending by row.
    keys: Vec<u64>,
}

impl RankedRows {
    /// From rows in the order of their ranks, each once.
    pub fn in_order(rows: impl IntoIterator<Item = u32>) -> Self {
        let mut keys: Vec<u64> = (0_u64..).zip(rows).map(|(rank, row)| rank << 32 | u64::from(row)).collect();
        keys.sort_unstable_by_key(|key| row_of(*key));
        Self { keys }
    }

    /// Adds a row after all others.
    pub(super) fn push(&mut self, row: u32, score: f32) {
        self.keys.push(rank_key(row, score));
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        self.keys.iter().map(|key| row_of(*key))
    }

    /// The rows that are wanted: from `offset` on at most `limit` of them, best first, and the number of all.
    pub fn page(&self, offset: usize, limit: usize, is_wanted: impl Fn(u32) -> bool) -> (Vec<u32>, u64) {
        let keys: Vec<u64> = self.keys.iter().copied().filter(|key| is_wanted(row_of(*key))).collect();
        let total = keys.len() as u64;
        let best = best_keys(keys, offset.saturating_add(limit));
        (best.into_iter().skip(offset).map(row_of).collect(), total)
    }

    /// The best rows, best first.
    pub fn first(&self, max: usize) -> Vec<u32> {
        self.page(0, max, |_| true).0
    }
}

/// The least keys, at most `max`, in order.
pub(super) fn best_keys(mut keys: Vec<u64>, max: usize) -> Vec<u64> {
    if keys.len() > max {
        keys.select_nth_unstable(max);
        keys.truncate(max);
    }
    keys.sort_unstable();
    keys
}

/// The best keys of few rows, each with its best key.
pub(super) struct BestKeys {
    max: usize,
    /// In order.
    keys: Vec<u64>,
}

impl BestKeys {
    pub(super) fn new(max: usize) -> Self {
        Self { max, keys: Vec::with_capacity(max + 1) }
    }

    /// Rows with lower scores are not among the best.
    pub(super) fn least_score(&self) -> f32 {
        self.keys.last().filter(|_| self.keys.len() == self.max).map_or(0.0, |key| score_of(*key))
    }

    pub(super) fn add(&mut self, key: u64) {
        let place = self.keys.partition_point(|known| *known < key);
        if place == self.max || self.keys[..place].iter().any(|known| row_of(*known) == row_of(key)) {
            return;
        }
        if let Some(worse) = self.keys[place..].iter().position(|known| row_of(*known) == row_of(key)) {
            self.keys.remove(place + worse);
        }
        self.keys.insert(place, key);
        self.keys.truncate(self.max);
    }

    /// The rows, best first.
    pub(super) fn into_rows(self) -> Vec<u32> {
        self.keys.into_iter().map(row_of).collect()
    }
}
