//! How much two texts have in common: the share of their shingles, runs of three words, that both have.
//!
//! Texts of one author who changes some words stay alike; texts of two people about the same thing do not.

use std::convert::Infallible;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::parallel::{all_in_parallel, compute_in_order, processors};

/// Words of a shingle.
const SHINGLE: usize = 3;
/// Minimum words of a text that is compared: people write the same few words by chance.
const MIN_WORDS: usize = 6;
/// Minimum similarity of texts that are nearly equal.
const MIN_SIMILARITY: f64 = 0.7;

/// Bands of the hashes of a text. Texts with a common band are compared; of two that are nearly equal this misses one in
/// 100,000.
const BANDS: usize = 17;
/// Hashes of a band, each of the least of the shingles under one seed.
const BAND: usize = 2;
const HASHES: usize = BANDS * BAND;
/// The share of equal hashes of two texts is about their similarity. With fewer they are not read: of two that are nearly
/// equal this misses one in 1,000.
const MIN_EQUAL_HASHES: usize = 16;
/// Texts that a thread reads at a time.
const TEXTS_AT_A_TIME: usize = 1_024;

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
        similarity(self.hashes.len(), other.hashes.len(), common)
    }

    pub fn is_nearly_equal(&self, other: &Self) -> bool {
        self.similarity(other) >= MIN_SIMILARITY
    }

    fn sketch(&self) -> Vec<u8> {
        self.hashes.iter().map(|hash| hash.to_be_bytes()[0]).collect()
    }

    /// `None` for a text that is not compared.
    fn signature(&self) -> Option<Signature> {
        let least = |factor: u64| self.hashes.iter().map(|hash| hash.wrapping_mul(factor).rotate_left(32)).min();
        // The high bits of a least number are zero.
        (!self.hashes.is_empty()).then(|| Signature(FACTORS.map(|factor| least(factor).unwrap_or_default() as u16)))
    }
}

/// The share of the common ones among all elements of two sets.
fn similarity(one: usize, other: usize, common: usize) -> f64 {
    common as f64 / (one + other - common).max(1) as f64
}

/// Factors that permute hashes: odd ones.
static FACTORS: LazyLock<[u64; HASHES]> =
    LazyLock::new(|| std::array::from_fn(|seed| xxh3_64_with_seed(b"shingle", seed as u64) | 1));

/// Hashes of a text, which stand for its shingles.
#[derive(Clone, Copy)]
struct Signature([u16; HASHES]);

impl Signature {
    fn band(&self, band: usize) -> [u16; BAND] {
        std::array::from_fn(|hash| self.0[band * BAND + hash])
    }

    /// False if it is hardly possible that the texts are nearly equal.
    fn may_be_alike(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).filter(|(one, other)| one == other).count() >= MIN_EQUAL_HASHES
    }
}

/// The words of a text as hashes, whatever their case. In scripts without spaces, each character is a word.
fn words(text: &str) -> Vec<u64> {
    let is_word = |char: char| char.is_alphanumeric() && char < '\u{2e80}' && !('\u{e00}'..'\u{1000}').contains(&char);
    let mut words = Vec::new();
    let mut word = String::new();
    for char in text.chars().chain([' ']) {
        if char.is_ascii_alphanumeric() {
            word.push(char.to_ascii_lowercase());
            continue;
        }
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

/// A text that is compared.
struct SignedText {
    index: u32,
    signature: Signature,
    /// Where its sketch begins and ends in [`SignedTexts::sketches`].
    sketch: (u64, u32),
    /// A bit for each band in which it is among the first texts, with which all later ones are compared, and
    /// [`REPEATED`].
    state: AtomicU32,
}

const REPEATED: u32 = 1 << 31;

impl SignedText {
    fn is_repeated(&self) -> bool {
        self.state.load(Relaxed) & REPEATED != 0
    }

    fn add(&self, bits: u32) {
        self.state.fetch_or(bits, Relaxed);
    }
}

/// All texts that are compared, in their order. Millions of them are not to need more memory than the reviews.
#[derive(Default)]
struct SignedTexts {
    texts: Vec<SignedText>,
    /// The first bytes of each text's shingles, ascending.
    sketches: Vec<u8>,
}

impl SignedTexts {
    fn add(&mut self, (index, signature, sketch): (u32, Signature, Vec<u8>)) {
        let place = (self.sketches.len() as u64, sketch.len() as u32);
        self.sketches.extend(sketch);
        self.texts.push(SignedText { index, signature, sketch: place, state: AtomicU32::new(0) });
    }

    fn sketch(&self, text: &SignedText) -> &[u8] {
        let (start, length) = text.sketch;
        &self.sketches[start as usize..][..length as usize]
    }

    /// True if an earlier text is worth reading both, and was not compared in an earlier band.
    fn must_be_compared(&self, text: &SignedText, earlier: &SignedText, band: usize) -> bool {
        let (one, other) = (&text.signature, &earlier.signature);
        let first = earlier.state.load(Relaxed);
        let was_compared = |before: usize| first >> before & 1 == 1 && one.band(before) == other.band(before);
        one.may_be_alike(other)
            && !(0..band).any(was_compared)
            && max_similarity(self.sketch(text), self.sketch(earlier)) >= MIN_SIMILARITY
    }
}

/// The similarity of texts with these sketches is at most this: common shingles begin with a common byte.
fn max_similarity(one: &[u8], other: &[u8]) -> f64 {
    let (mut common, mut rest) = (0, other);
    for byte in one {
        let smaller = rest.iter().take_while(|other| *other < byte).count();
        rest = &rest[smaller..];
        if rest.first() == Some(byte) {
            common += 1;
            rest = &rest[1..];
        }
    }
    similarity(one.len(), other.len(), common)
}

/// For each text true if an earlier one is nearly equal. `text` is called again for texts that may be.
pub fn repeated<T: AsRef<str>>(count: usize, text: impl Fn(usize) -> Option<T> + Sync) -> Vec<bool> {
    let shingles = |index: u32| text(index as usize).map(|text| Shingles::new(text.as_ref())).unwrap_or_default();
    let sign = |start: usize| -> Vec<(u32, Signature, Vec<u8>)> {
        let some = start as u32..count.min(start + TEXTS_AT_A_TIME) as u32;
        let signed = some.filter_map(|index| {
            let shingles = shingles(index);
            Some((index, shingles.signature()?, shingles.sketch()))
        });
        signed.collect()
    };
    let mut signed = SignedTexts { texts: Vec::with_capacity(count), ..SignedTexts::default() };
    let add = |some: Vec<_>| {
        some.into_iter().for_each(|text| signed.add(text));
        Ok::<(), Infallible>(())
    };
    let Ok(()) = compute_in_order(processors(), (0..count).step_by(TEXTS_AT_A_TIME), sign, add);
    let texts = &signed.texts;
    // The texts of a band with the same hashes follow each other, in their order.
    let sort = |band: usize| {
        let key =
            |text: &SignedText| text.signature.band(band).iter().fold(0, |key, hash| key << 16 | u64::from(*hash));
        let mut sorted: Vec<u64> = (0..).zip(texts).map(|(place, text)| key(text) << 32 | place).collect();
        sorted.sort_unstable();
        (band, sorted)
    };
    let compare = |(band, sorted): (usize, Vec<u64>)| {
        let alike = sorted.chunk_by(|one, other| one >> 32 == other >> 32).filter(|alike| alike.len() > 1);
        let alike: Vec<&[u64]> = alike.collect();
        let parts: Vec<&[&[u64]]> = alike.chunks(TEXTS_AT_A_TIME).collect();
        all_in_parallel(&parts, |part| {
            for alike in *part {
                let alike = alike.iter().map(|entry| &texts[*entry as u32 as usize]).collect::<Vec<_>>();
                compare_alike(&signed, &alike, band, &shingles);
            }
        });
        Ok::<(), Infallible>(())
    };
    // One thread sorts the next band meanwhile.
    let Ok(()) = compute_in_order(1, 0..BANDS, sort, compare);
    let mut repeated = vec![false; count];
    texts.iter().for_each(|text| repeated[text.index as usize] = text.is_repeated());
    repeated
}

/// Compares texts with the same hashes in a band: each with the first ones, as far as they precede it.
fn compare_alike(signed: &SignedTexts, alike: &[&SignedText], band: usize, shingles: &impl Fn(u32) -> Shingles) {
    let first = &alike[..alike.len().min(MAX_COMPARED)];
    // Those of the first texts, as far as they were read.
    let mut read: [Option<Shingles>; MAX_COMPARED] = Default::default();
    for (number, text) in alike.iter().enumerate().filter(|(_, text)| !text.is_repeated()) {
        let earlier = first.iter().take(number).zip(&mut read);
        let mut candidates = earlier.filter(|(earlier, _)| signed.must_be_compared(text, earlier, band)).peekable();
        if candidates.peek().is_some() {
            let own = shingles(text.index);
            let is_near = |(earlier, read): (&&SignedText, &mut Option<Shingles>)| {
                own.is_nearly_equal(read.get_or_insert_with(|| shingles(earlier.index)))
            };
            if candidates.any(is_near) {
                text.add(REPEATED);
            }
        }
    }
    first.iter().for_each(|text| text.add(1 << band));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The first call was short and clear. They had read the deck, asked about churn, and came back within \
                        three days with a date for the second meeting and the names of two founders to call.";

    /// Also checks its bound.
    fn similarity(one: &str, other: &str) -> f64 {
        let [one, other] = [one, other].map(Shingles::new);
        let similarity = one.similarity(&other);
        let (one, other) = (one.sketch(), other.sketch());
        let max = max_similarity(&one, &other);
        assert!((similarity..=1.0).contains(&max) && max == max_similarity(&other, &one), "{similarity} {max}");
        similarity
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

    #[test]
    fn as_many_texts_are_repeated_as_if_each_were_compared_with_all() {
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut texts: Vec<String> = Vec::new();
        for _ in 0..300 {
            let words = 12 + random(40);
            let mut text: Vec<String> = match texts.is_empty() || random(3) == 0 {
                true => (0..words).map(|_| format!("w{}", random(3_000))).collect(),
                false => texts[random(texts.len())].split(' ').map(str::to_owned).collect(),
            };
            for _ in 0..random(4) {
                let place = random(text.len());
                text[place] = format!("x{}", random(3_000));
            }
            texts.push(text.join(" "));
        }
        let shingles: Vec<Shingles> = texts.iter().map(|text| Shingles::new(text)).collect();
        let is_repeated = |index: usize| shingles[..index].iter().any(|other| shingles[index].is_nearly_equal(other));
        let expected: Vec<bool> = (0..texts.len()).map(is_repeated).collect();
        let count = expected.iter().filter(|is_repeated| **is_repeated).count();
        assert!((50..250).contains(&count), "{count}");
        assert_eq!(repeated(texts.len(), |index| Some(&texts[index])), expected);
    }
}
