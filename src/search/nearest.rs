//! The nearest of a few known words: what was probably meant.

use rapidfuzz::distance::osa;

use crate::data::fold::fold;

/// Similarity from which a word is worth suggesting, 0–1.
const WORTH_SUGGESTING: f64 = 0.55;

/// The candidate that comes nearest to `text` by edits (transpositions count one), where one is near enough; letter
/// case, diacritics and punctuation do not count. The first of equally near ones wins.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = fold(text);
    let mut best: Option<(f64, &'a str)> = None;
    for candidate in candidates {
        let Some(similarity) = compare(&text, &fold(candidate)) else { continue };
        if best.is_none_or(|(known, _)| similarity > known) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How near `candidate` comes to `text`, 0–1, where that is near enough to suggest it; compared as [`nearest`] does.
#[must_use]
pub fn similarity(text: &str, candidate: &str) -> Option<f64> {
    compare(&fold(text), &fold(candidate))
}

fn compare(text: &str, candidate: &str) -> Option<f64> {
    let mut similarity = osa::normalized_similarity(text.chars(), candidate.chars());
    if text.len() >= 3 && candidate.starts_with(text) {
        similarity = similarity.max(0.9);
    }
    (similarity >= WORTH_SUGGESTING).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_was_probably_meant_is_found() {
        let words = ["fintech", "biotech", "health", "enterprise-software"];
        assert_eq!(nearest("fintec", words), Some("fintech"));
        assert_eq!(nearest("Enterprise Softwar", words), Some("enterprise-software"));
        assert_eq!(nearest("enter", words), Some("enterprise-software"));
        assert_eq!(nearest("zzzz", words), None);
        assert_eq!(nearest("", words), None);
    }
}
