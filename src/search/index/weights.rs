//! Weights of words by how distinctive they are: `Capital` little, `Sequoia` much.
//!
//! Computed from the number of names in the table that contain the word. Legal forms and connecting words weigh little in
//! every table.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use data::name::WordList;

/// The weight of a stop word.
const MIN_WEIGHT: f32 = 0.2;

/// A word below this weight is generic. The core of a name is its words that are not.
pub(crate) const GENERIC: f32 = 0.62;

/// The weights of one table's common words; every other word weighs 1.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    common: HashMap<Box<str>, f32, BuildHasherDefault<WordHasher>>,
}

impl Weights {
    /// The number of names from which a word is weighed: one in ten thousand, and at least eight.
    pub(crate) fn min_frequency(rows: u32) -> u32 {
        (rows / 10_000).max(8)
    }

    /// Weighs the words of lines `word frequency` of a table of `rows` names.
    pub(crate) fn parse(rows: u32, lines: &str) -> Self {
        let frequencies = lines.lines().filter_map(|line| line.split_once(' '));
        let common = frequencies
            .filter_map(|(word, frequency)| Some((word, frequency.parse::<u32>().ok()?)))
            .filter(|(_, frequency)| *frequency >= Self::min_frequency(rows))
            .map(|(word, frequency)| (word.into(), weigh(rows, frequency)))
            .chain(WordList::stop_words().map(|word| (word.into(), MIN_WEIGHT)))
            .collect();
        Self { common }
    }

    /// The weight of a folded word, from 0.2 to 1.
    pub(crate) fn weigh_word(&self, word: &str) -> f32 {
        self.common.get(word).copied().unwrap_or(1.0)
    }
}

/// A hash function for short words, about three times as fast as the standard one. The keys are from the dataset, so that
/// no client can make them collide.
#[derive(Debug, Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self.0 ^= self.0 >> 29;
    }
}

/// 1 for a word in one name of ten thousand, decreasing on a logarithmic scale to 0.2 for a word in every second name.
fn weigh(rows: u32, frequency: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a weight needs three digits")]
    let share = frequency as f32 / rows.max(1) as f32;
    (share.ln() / (1.0_f32 / 10_000.0).ln()).clamp(MIN_WEIGHT, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_weigh_less() {
        let weights = Weights::parse(10_000, "capital 2000\ngrowth 200\nsequoia 2\n");
        assert!(weights.weigh_word("capital") < 0.3);
        assert!(weights.weigh_word("growth") < GENERIC && weights.weigh_word("growth") > 0.3);
        assert!((weights.weigh_word("sequoia") - weights.weigh_word("unknown")).abs() < 0.1);
        assert!(weights.weigh_word("ltd") < 0.25);
    }
}
