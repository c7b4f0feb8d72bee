use rapidfuzz::distance::osa;

use crate::data::fold::fold;

/// Similarity from which a word is worth suggesting, 0–1.
const MIN_SIMILARITY: f64 = 0.55;

/// The similarity of a candidate that begins with the text.
const PREFIX_SIMILARITY: f64 = 0.9;

/// Longer texts have no similar word, in bytes: no name is as long.
const MAX_LENGTH: usize = 128;

/// The distance of two texts in bytes; `None` if it exceeds `max`.
pub(crate) fn distance_within(left: &str, right: &str, max: u8) -> Option<u8> {
    let args = osa::Args::default().score_cutoff(usize::from(max));
    let distance = osa::distance_with_args(left.bytes(), right.bytes(), &args)?;
    u8::try_from(distance).ok()
}

/// The candidate most similar to `text`, if one is similar enough to suggest; the first of equally similar ones. Letter
/// case, diacritics and punctuation are ignored.
pub(crate) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let text = fold(text);
    let mut best: Option<(f64, &'a str)> = None;
    for candidate in candidates {
        let Some(similarity) = folded_similarity(&text, &fold(candidate)) else { continue };
        if best.is_none_or(|(known, _)| similarity > known) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The similarity of `candidate` to `text`, 0–1, if it is high enough to suggest it; compared as [`nearest`] does.
pub(crate) fn similarity(text: &str, candidate: &str) -> Option<f64> {
    folded_similarity(&fold(text), &fold(candidate))
}

fn folded_similarity(text: &str, candidate: &str) -> Option<f64> {
    let args = osa::Args::default().score_cutoff(MIN_SIMILARITY);
    let similarity = osa::normalized_similarity_with_args(text.chars(), candidate.chars(), &args);
    match text.len() >= 3 && candidate.starts_with(text) {
        true => Some(similarity.map_or(PREFIX_SIMILARITY, |similarity| similarity.max(PREFIX_SIMILARITY))),
        false => similarity,
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
