//! A multimap from hashed keys to rows or words that takes five bytes per entry. Keys are not stored: a lookup also
//! returns a few entries of other keys, which the ranking discards.

use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Debug, Default)]
pub(crate) struct HashMultiMap {
    /// The start of each bucket in `items`, and the end of the last; one more than a power of two.
    pub starts: Vec<u32>,
    /// The values, bucket by bucket, ascending within each.
    pub items: Vec<u32>,
}

/// Average number of entries of a bucket.
const LOAD: usize = 4;

fn hash(key: &str) -> u32 {
    (xxh3_64(key.as_bytes()) >> 32) as u32
}

#[derive(Debug, Default)]
pub(crate) struct HashMultiMapBuilder(Vec<(u32, u32)>);

impl HashMultiMapBuilder {
    pub(super) fn add(&mut self, key: &str, value: u32) {
        self.0.push((hash(key), value));
    }

    /// Sorts the entries into buckets, without duplicates.
    pub(super) fn build(mut self) -> HashMultiMap {
        self.0.sort_unstable();
        self.0.dedup();
        let count = (self.0.len() / LOAD).next_power_of_two();
        let mut starts = Vec::with_capacity(count + 1);
        for (index, (hash, _)) in (0..).zip(&self.0) {
            starts.resize(starts.len().max(bucket(*hash, count) + 1), index);
        }
        starts.resize(count + 1, self.0.len() as u32);
        HashMultiMap { starts, items: self.0.into_iter().map(|(_, value)| value).collect() }
    }
}

/// The bucket of a hash among `count`, a power of two: its highest bits.
fn bucket(hash: u32, count: usize) -> usize {
    hash.checked_shr(32 - count.trailing_zeros()).unwrap_or(0) as usize
}

impl HashMultiMap {
    /// The values of `key`, and some of other keys.
    pub(crate) fn get(&self, key: &str) -> &[u32] {
        let Some(count) = self.starts.len().checked_sub(1) else { return &[] };
        let bucket = bucket(hash(key), count);
        &self.items[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }

    /// True if every bucket lies within the items and every item is below `bound`.
    pub(crate) fn is_valid(&self, bound: u32) -> bool {
        self.starts.len().checked_sub(1).is_some_and(usize::is_power_of_two)
            && self.starts.is_sorted()
            && self.starts.last().is_some_and(|end| *end as usize == self.items.len())
            && self.items.iter().all(|item| *item < bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_in_its_bucket() {
        for size in [0, 1, 5, 1_000] {
            let mut builder = HashMultiMapBuilder::default();
            for number in 0..size {
                builder.add(&format!("key {}", number % 700), number);
            }
            let map = builder.build();
            assert!(map.is_valid(size));
            for number in 0..size {
                assert!(map.get(&format!("key {}", number % 700)).contains(&number), "{number} of {size}");
            }
            assert!(map.get("another").len() < 40);
        }
    }
}
