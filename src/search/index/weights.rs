//! Weights of words by how few names have them: `Capital` little, `Sequoia` much, legal forms, connecting words least.

use data::import::key_map::KeyMap;
use data::name::WordList;

/// The weight of a stop word.
const MIN_WEIGHT: f32 = 0.2;

/// A word below this weight is generic. The core of a name is its words that are not.
pub(crate) const GENERIC: f32 = 0.62;

/// The weights of one table's common words; every other word weighs 1.
pub(crate) struct Weights(KeyMap<f32>);

impl Weights {
    /// The number of names from which a word is weighed: one in ten thousand, and at least eight.
    pub(crate) fn min_frequency(rows: u32) -> u32 {
        (rows / 10_000).max(8)
    }

    /// Weighs the words of lines `word frequency` of a table of `rows` names.
    pub(crate) fn parse(rows: u32, lines: &str) -> Self {
        let mut common = KeyMap::default();
        for word in WordList::stop_words() {
            common.insert_new(word, MIN_WEIGHT);
        }
        for (word, frequency) in lines.lines().filter_map(|line| line.split_once(' ')) {
            let frequency = frequency.parse::<u32>().unwrap_or(0);
            if frequency >= Self::min_frequency(rows) {
                common.insert_new(word, weigh(rows, frequency));
            }
        }
        Self(common)
    }

    /// The weight of a folded word, from 0.2 to 1.
    pub(crate) fn weigh_word(&self, word: &str) -> f32 {
        self.0.get(word).unwrap_or(1.0)
    }
}

/// 1 for a word in one name of ten thousand, decreasing on a logarithmic scale to 0.2 for a word in every second name.
fn weigh(rows: u32, frequency: u32) -> f32 {
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
