use rapidfuzz::distance::osa;

use data::fold::fold;

/// Similarity from which a word is worth suggesting, 0–1; a word with a single typo needs less.
const MIN_SIMILARITY: f64 = 0.7;

/// Similarity below which no word is worth suggesting, whatever its length.
const MIN_OF_SHORT: f64 = 0.5;

/// The similarity of a candidate that begins with the text.
const PREFIX_SIMILARITY: f64 = 0.9;

/// Longest text in bytes that has similar words; no name is longer.
const MAX_LENGTH: usize = 128;

/// The distance of two texts in bytes; `None` if it exceeds `max`.
pub fn distance_within(left: &str, right: &str, max: u8) -> Option<u8> {
    let args = osa::Args::default().score_cutoff(usize::from(max));
    u8::try_from(osa::distance_with_args(left.bytes(), right.bytes(), &args)?).ok()
}

/// Texts to find the nearest of, folded once: letter case, diacritics and punctuation are ignored.
pub struct FoldedCandidates(Box<[String]>);

impl FoldedCandidates {
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(texts.into_iter().map(fold).collect())
    }

    /// The index of the candidate most similar to `text`, the first of several, if it is similar enough to suggest.
    pub fn nearest(&self, text: &str) -> Option<usize> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let text = Folded::new(text);
        let candidates = self.0.iter().enumerate();
        let similar = candidates.filter_map(|(index, candidate)| Some((text.similarity(candidate)?, index)));
        similar.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1))).map(|(_, index)| index)
    }
}

/// The candidate that is [`FoldedCandidates::nearest`] to `text`.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    FoldedCandidates::new(candidates.iter().copied()).nearest(text).map(|index| candidates[index])
}

/// The similarity of `candidate` to `text`, 0–1, if it is high enough to suggest it; compared as [`nearest`] does.
pub fn similarity(text: &str, candidate: &str) -> Option<f64> {
    Folded::new(text).similarity(&fold(candidate))
}

/// A folded text, prepared to be compared with many.
struct Folded {
    text: String,
    comparator: osa::BatchComparator<u8>,
}

impl Folded {
    fn new(text: &str) -> Self {
        let text = fold(text);
        Self { comparator: osa::BatchComparator::new(text.bytes()), text }
    }

    /// `candidate` is folded.
    fn similarity(&self, candidate: &str) -> Option<f64> {
        let args = osa::Args::default().score_cutoff(MIN_OF_SHORT);
        let similarity = self.comparator.normalized_similarity_with_args(candidate.bytes(), &args);
        let longest = self.text.len().max(candidate.len()) as f64;
        let is_near = |similarity: &f64| *similarity >= MIN_SIMILARITY || (1.0 - similarity) * longest < 1.5;
        let similarity = similarity.filter(is_near);
        match self.text.len() >= 3 && candidate.starts_with(&self.text) {
            true => Some(similarity.map_or(PREFIX_SIMILARITY, |similarity| similarity.max(PREFIX_SIMILARITY))),
            false => similarity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested() {
        let words = ["fintech", "biotech", "health", "enterprise-software"];
        assert_eq!(nearest("fintec", words), Some("fintech"));
        assert_eq!(nearest("Enterprise Softwar", words), Some("enterprise-software"));
        assert_eq!(nearest("enter", words), Some("enterprise-software"));
        assert_eq!(nearest("zzzz", words), None);
        assert_eq!(nearest("", words), None);
    }
}
