//! The words in alphabetical order, numbered, as a finite state transducer. Tantivy's own can only be searched through
//! an automaton; here [`FuzzyWalk`] visits the nodes itself, and a prefix is a range found without reading its words.

use std::cmp::Reverse;
use std::ops::Range;

use tantivy_fst::Map;

use crate::edit_distance::FuzzyWalk;

/// The maximum length in bytes of a word that is compared with others; longer ones are only looked up.
pub(crate) const MAX_WORD_BYTES: usize = 40;

pub(crate) struct Dictionary {
    map: Map<Vec<u8>>,
}

impl Dictionary {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        Map::from_bytes(bytes).ok().map(|map| Self { map })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.map.as_fst().to_vec()
    }

    pub(crate) fn len(&self) -> u32 {
        self.map.len() as u32
    }

    pub(crate) fn get(&self, word: &str) -> Option<u32> {
        self.map.get(word).map(|number| number as u32)
    }

    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<u32> {
        self.walk(prefix, 0, true, &mut 0).pop().unwrap_or(0..0)
    }

    /// Adds the words within this many edits of `text`. Visits at most about `steps` nodes and subtracts them.
    pub(crate) fn within(&self, text: &str, edits: u8, steps: &mut u32, words: &mut Vec<u32>) {
        words.extend(self.walk(text, edits, false, steps).into_iter().map(|range| range.start));
    }

    /// The words that have a prefix within one edit of `text`. Visits at most about `steps` nodes and subtracts them.
    pub(crate) fn with_prefix_near(&self, text: &str, steps: &mut u32) -> Vec<Range<u32>> {
        let mut found = self.walk(text, 1, true, steps);
        found.sort_unstable_by_key(|range| (range.start, Reverse(range.end)));
        let mut end = 0;
        // Two ranges are either nested or disjoint.
        found.retain(|range| {
            let is_new = range.end > end;
            end = end.max(range.end);
            is_new
        });
        found
    }

    fn walk(&self, text: &str, edits: u8, prefix: bool, steps: &mut u32) -> Vec<Range<u32>> {
        if edits > 0 && text.len() > MAX_WORD_BYTES {
            return Vec::new();
        }
        let fst = self.map.as_fst();
        let mut walk = FuzzyWalk { fst, pattern: text.as_bytes(), steps: *steps, prefix, found: Vec::new() };
        walk.visit(fst.root(), 0, 0, edits);
        *steps = walk.steps;
        walk.found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::edit_distance::EditPattern;

    fn dictionary(words: &BTreeSet<String>) -> Dictionary {
        Dictionary { map: Map::from_iter(words.iter().zip(0..)).unwrap() }
    }

    /// The numbers of the words for which `matches` is true.
    fn numbers(words: &BTreeSet<String>, matches: impl Fn(&str) -> bool) -> Vec<u32> {
        (0..).zip(words).filter(|(_, word)| matches(word)).map(|(number, _)| number).collect()
    }

    proptest! {
        #[test]
        fn a_walk_finds_the_words_within_the_edits(
            words in prop::collection::btree_set("[a-c]{1,7}", 1..60),
            text in "[a-c]{1,7}",
        ) {
            let dictionary = dictionary(&words);
            let pattern = EditPattern::new(&text);
            for edits in 0..=2 {
                let mut found = Vec::new();
                dictionary.within(&text, edits, &mut 1_000_000, &mut found);
                found.sort_unstable();
                found.dedup();
                prop_assert_eq!(found, numbers(&words, |word| pattern.distance(word).full <= u32::from(edits)));
            }
        }

        #[test]
        fn ranges_contain_the_words_with_the_prefix(
            words in prop::collection::btree_set("[a-c]{1,7}", 1..60),
            text in "[a-c]{1,5}",
        ) {
            let dictionary = dictionary(&words);
            let exact: Vec<u32> = dictionary.with_prefix(&text).collect();
            prop_assert_eq!(exact, numbers(&words, |word| word.starts_with(&text)));
            let near: Vec<u32> = dictionary.with_prefix_near(&text, &mut 1_000_000).into_iter().flatten().collect();
            let pattern = EditPattern::new(&text);
            prop_assert_eq!(near, numbers(&words, |word| pattern.distance(word).prefix <= 1));
        }
    }

    #[test]
    fn an_empty_dictionary_has_no_words() {
        let dictionary = dictionary(&BTreeSet::new());
        assert_eq!(dictionary.get("a"), None);
        assert!(dictionary.with_prefix("a").is_empty());
        let mut found = Vec::new();
        dictionary.within("abc", 2, &mut 100, &mut found);
        assert!(found.is_empty());
    }
}
