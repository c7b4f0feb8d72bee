//! Maps from texts that do not store them: the rows have the texts of tens of millions of slugs already.
//!
//! A text is found by 128 bits of its hash under a random seed. A collision within a dataset is less likely than an
//! error of the machine, and nobody can construct one, because the seed differs from run to run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use xxhash_rust::xxh3::xxh3_128_with_seed;

pub struct KeyMap<V> {
    seed: u64,
    /// By the halves of the hash: together they would need more alignment than a value.
    values: HashMap<(u64, u64), V, BuildHasherDefault<KeyHasher>>,
}

/// Passes on half of a key, which is a hash already. A build looks up each reference and each word of a description.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }

    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }
}

impl<V> Default for KeyMap<V> {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0), values: HashMap::default() }
    }
}

impl<V: Copy> KeyMap<V> {
    fn key(&self, text: &str) -> (u64, u64) {
        let hash = xxh3_128_with_seed(text.as_bytes(), self.seed);
        ((hash >> 64) as u64, hash as u64)
    }

    pub fn get(&self, text: &str) -> Option<V> {
        self.values.get(&self.key(text)).copied()
    }

    /// Adds a text if it is new; otherwise returns its value.
    pub fn insert_new(&mut self, text: &str, value: V) -> Option<V> {
        match self.values.entry(self.key(text)) {
            Entry::Occupied(known) => return Some(*known.get()),
            Entry::Vacant(place) => place.insert(value),
        };
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_first_value() {
        let mut map = KeyMap::default();
        for number in 0..10_000 {
            assert_eq!(map.insert_new(&format!("key-{number}"), number), None);
        }
        for number in 0..10_000 {
            assert_eq!(map.insert_new(&format!("key-{number}"), 0), Some(number));
            assert_eq!(map.get(&format!("key-{number}")), Some(number));
        }
        assert_eq!(map.get("key-10000"), None);
    }
}
