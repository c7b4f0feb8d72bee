//! How much two texts have in common: the share of their shingles, runs of three words, that both have.
//!
//! Texts of one author who changes some words stay alike; texts of two people about the same thing do not.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Words of a shingle.
const SHINGLE: usize = 3;
/// Minimum words of a text that is compared: people write the same few words by chance.
const MIN_WORDS: usize = 6;
/// Minimum similarity of texts that are nearly equal.
const MIN_SIMILARITY: f64 = 0.7;

/// Bands of the hashes of a text. Texts with a common band are compared; of two that are nearly equal this misses one in
/// 100,000.
const BANDS: usize = 17;
/// Hashes of a band, each the least of the shingles under one seed.
const BAND: u64 = 2;

/// Earlier texts of a band that a text is compared with, so that a band of many texts costs little.
const MAX_COMPARED: usize = 16;

/// The shingles of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Ascending, without duplicates; none of a text that is not compared.
    hashes: Vec<u64>,
}

impl Shingles {
    pub fn new(text: &str) -> Self {
        let words = words(text);
        let windows = words.windows(SHINGLE).filter(|_| words.len() >= MIN_WORDS);
        let mut hashes: Vec<u64> = windows.map(|words| xxh3_64(bytemuck::cast_slice(words))).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// The share of common shingles, 0 to 1; 0 if one of the texts is not compared.
    pub fn similarity(&self, other: &Self) -> f64 {
        let common = self.hashes.iter().filter(|hash| other.hashes.binary_search(hash).is_ok()).count();
        let all = self.hashes.len() + other.hashes.len() - common;
        common as f64 / all.max(1) as f64
    }

    pub fn is_nearly_equal(&self, other: &Self) -> bool {
        self.similarity(other) >= MIN_SIMILARITY
    }

    fn bands(&self) -> [u32; BANDS] {
        std::array::from_fn(|band| {
            let least = |seed: u64| {
                // A multiplication by an odd number permutes the hashes.
                let factor = xxh3_64_with_seed(b"shingle", seed) | 1;
                self.hashes.iter().map(|hash| hash.wrapping_mul(factor).rotate_left(32)).min().unwrap_or_default()
            };
            let first = band as u64 * BAND;
            xxh3_64(bytemuck::cast_slice(&[least(first), least(first + 1)])) as u32
        })
    }
}

/// The words of a text as hashes, whatever their case. In scripts without spaces, each character is a word.
fn words(text: &str) -> Vec<u64> {
    let is_word = |char: char| char.is_alphanumeric() && char < '\u{2e80}' && !('\u{e00}'..'\u{1000}').contains(&char);
    let mut words = Vec::new();
    let mut word = String::new();
    for char in text.chars().chain([' ']) {
        if is_word(char) {
            word.extend(char.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(xxh3_64(word.as_bytes()));
            word.clear();
        }
        if char.is_alphanumeric() {
            words.push(xxh3_64(char.encode_utf8(&mut [0; 4]).as_bytes()));
        }
    }
    words
}

/// For each text true if an earlier one is nearly equal. `text` is called again for texts that may be.
pub fn repeated<T: AsRef<str>>(count: usize, text: impl Fn(usize) -> Option<T>) -> Vec<bool> {
    let shingles = |index: usize| text(index).map(|text| Shingles::new(text.as_ref())).unwrap_or_default();
    let (mut repeated, mut compared) = (vec![false; count], Vec::new());
    let mut bands: [Vec<u32>; BANDS] = std::array::from_fn(|_| Vec::new());
    for index in 0..count {
        let shingles = shingles(index);
        if !shingles.hashes.is_empty() {
            compared.push(index);
            bands.iter_mut().zip(shingles.bands()).for_each(|(band, key)| band.push(key));
        }
    }
    let mut order: Vec<usize> = (0..compared.len()).collect();
    for band in &bands {
        order.sort_unstable_by_key(|place| (band[*place], *place));
        for alike in order.chunk_by(|one, other| band[*one] == band[*other]).filter(|alike| alike.len() > 1) {
            let mut earlier: Vec<Shingles> = Vec::new();
            for index in alike.iter().map(|place| compared[*place]) {
                let own = shingles(index);
                repeated[index] |= earlier.iter().any(|other| own.is_nearly_equal(other));
                earlier.extend((earlier.len() < MAX_COMPARED).then_some(own));
            }
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The first call was short and clear. They had read the deck, asked about churn, and came back within \
                        three days with a date for the second meeting and the names of two founders to call.";

    fn similarity(one: &str, other: &str) -> f64 {
        Shingles::new(one).similarity(&Shingles::new(other))
    }

    #[test]
    fn texts_with_some_other_words_are_nearly_equal() {
        let changed = TEXT.replace("three days", "a week").to_uppercase();
        assert_eq!(similarity(TEXT, TEXT), 1.0);
        assert!(similarity(TEXT, &changed) >= MIN_SIMILARITY, "{}", similarity(TEXT, &changed));
        let more_changed = changed.replace("CHURN", "BURN");
        assert!(similarity(TEXT, &more_changed) > 0.6, "{}", similarity(TEXT, &more_changed));
        let other = "We waited for eight weeks, then a junior associate told us on the phone that the partners had decided against \
                     us. They had read the deck, at least.";
        assert!(similarity(TEXT, other) < 0.2, "{}", similarity(TEXT, other));
        assert_eq!(similarity("Great people, great terms", "Great people, great terms"), 0.0);
        assert_eq!(similarity("彼らは三日以内に返事をくれた", "彼らは三日以内に返事をくれた"), 1.0);
    }

    #[test]
    fn the_first_of_texts_that_are_alike_is_no_repetition() {
        let number = |index: usize| format!("{index} {TEXT} {index}");
        let other = |index: usize| (0..30).map(|word| format!("w{} ", index * 7_919 + word * 31)).collect::<String>();
        let text = |index: usize| match index {
            5 => None,
            index if index.is_multiple_of(2) => Some(number(index)),
            index => Some(other(index)),
        };
        let expected: Vec<bool> = (0..400_usize).map(|index| index > 0 && index.is_multiple_of(2)).collect();
        assert_eq!(repeated(400, text), expected);
    }
}
