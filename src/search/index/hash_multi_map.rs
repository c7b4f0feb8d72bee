//! A look-up from hashed keys to rows or words that takes five bytes an entry.
//!
//! The keys are not kept: a bucket holds what it was asked for and a few strangers, and the ranking tells them apart.

use xxhash_rust::xxh3::xxh3_64;

/// Numbers by the hash of their key.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashMultiMap {
    /// Where each bucket begins in `items`, and the end of the last; one more than a power of two.
    pub starts: Vec<u32>,
    /// The numbers, bucket after bucket, in ascending order within each.
    pub items: Vec<u32>,
}

/// Entries of a bucket on average.
const LOAD: usize = 4;

fn hash(key: &str) -> u32 {
    // The high half of an xxh3 is as good as the low one.
    u32::try_from(xxh3_64(key.as_bytes()) >> 32).unwrap_or(0)
}

fn usize_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Entries that wait for their buckets.
#[derive(Debug, Default)]
pub(crate) struct Entries(Vec<(u32, u32)>);

impl Entries {
    /// Adds a number under a key.
    pub fn add(&mut self, key: &str, number: u32) {
        self.0.push((hash(key), number));
    }

    /// Sorts them into buckets; a number that was added twice under a key is there once.
    pub fn bucket(mut self) -> HashMultiMap {
        self.0.sort_unstable();
        self.0.dedup();
        let count = (self.0.len() / LOAD).next_power_of_two();
        let shift = shift(count);
        let mut starts = Vec::with_capacity(count + 1);
        for (at, (hash, _)) in self.0.iter().enumerate() {
            let bucket = bucket(*hash, shift);
            while starts.len() <= bucket {
                starts.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
        let end = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        while starts.len() <= count {
            starts.push(end);
        }
        HashMultiMap { starts, items: self.0.iter().map(|(_, number)| *number).collect() }
    }
}

fn shift(buckets: usize) -> u32 {
    32 - buckets.trailing_zeros().min(31)
}

fn bucket(hash: u32, shift: u32) -> usize {
    usize_of(hash.checked_shr(shift).unwrap_or(0))
}

impl HashMultiMap {
    /// What was added under `key`, and some that were added under others.
    pub fn get(&self, key: &str) -> &[u32] {
        let Some(count) = self.starts.len().checked_sub(1) else { return &[] };
        let bucket = bucket(hash(key), shift(count));
        let (Some(start), Some(end)) = (self.starts.get(bucket), self.starts.get(bucket + 1)) else { return &[] };
        self.items.get(usize_of(*start)..usize_of(*end)).unwrap_or_default()
    }

    /// True where every bucket lies within the items and no item is as large as `bound`.
    pub fn is_sound(&self, bound: u32) -> bool {
        self.starts.len().checked_sub(1).is_some_and(usize::is_power_of_two)
            && self.starts.is_sorted()
            && self.starts.last().is_some_and(|end| usize_of(*end) == self.items.len())
            && self.items.iter().all(|item| *item < bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_in_its_bucket() {
        for size in [0, 1, 5, 1_000] {
            let mut entries = Entries::default();
            for number in 0..size {
                entries.add(&format!("key {}", number % 700), number);
            }
            let buckets = entries.bucket();
            assert!(buckets.is_sound(size));
            for number in 0..size {
                assert!(buckets.get(&format!("key {}", number % 700)).contains(&number), "{number} of {size}");
            }
            assert!(buckets.get("another").len() < 40);
        }
    }
}
