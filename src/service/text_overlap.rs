//! How much two texts have in common: the share of their runs of three words that both have.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Words of a run.
const RUN: usize = 3;
/// Minimum words of a text that is compared: people write the same few words by chance.
const MIN_WORDS: usize = 6;

/// The runs of words of a text; none of a short one.
pub struct WordRuns {
    /// Ascending, without duplicates.
    hashes: Vec<u64>,
}

impl WordRuns {
    pub fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words: Vec<&str> =
            lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let runs = words.windows(RUN).filter(|_| words.len() >= MIN_WORDS);
        let mut hashes: Vec<u64> = runs.map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// Percent of all runs that both texts have; 0 if one of them is short.
    pub fn common_percent(&self, other: &Self) -> u32 {
        let common = self.hashes.iter().filter(|hash| other.hashes.binary_search(hash).is_ok()).count();
        let all = self.hashes.len() + other.hashes.len() - common;
        ((common * 100 + all / 2) / all.max(1)) as u32
    }
}

fn hash(run: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The first call was short and clear. They had read the deck, asked about churn, and came back within \
                        three days with a date for the second meeting and the names of two founders to call.";

    #[test]
    fn texts_with_some_other_words_have_much_in_common() {
        let percent = |one: &str, other: &str| WordRuns::new(one).common_percent(&WordRuns::new(other));
        let changed = TEXT.replace("three days", "a week").replace("churn", "burn").to_uppercase();
        assert_eq!(percent(TEXT, TEXT), 100);
        assert!(percent(TEXT, &changed) > 60, "{}", percent(TEXT, &changed));
        let other = "We waited for eight weeks, then a junior associate told us on the phone that the partners had decided against \
                     us. They had read the deck, at least.";
        assert!(percent(TEXT, other) < 20, "{}", percent(TEXT, other));
        assert_eq!(percent("Great people, great terms", "Great people, great terms"), 0, "too short");
    }
}
