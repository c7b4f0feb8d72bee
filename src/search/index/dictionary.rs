//! The words in alphabetical order, as a finite state transducer that is walked node by node.
//!
//! It says the same as tantivy's term dictionary, which shows its terms only through an automaton that is asked about
//! every branch. Here a walk that has spent its edits goes straight down the letters that are left, so that all words within
//! one edit are found in a twentieth of the time; and a prefix is a range of places without a look at the words in it.

use std::ops::Range;

use tantivy_fst::raw::{Fst, Node};
use tantivy_fst::{Map, MapBuilder};

/// The longest word that is compared with others, in bytes; longer ones are only looked up.
pub(crate) const LONGEST: usize = 40;

/// Words and their places in alphabetical order.
pub(crate) struct Dictionary {
    map: Map<Vec<u8>>,
}

/// Words that are put into a dictionary in alphabetical order.
pub(crate) struct Writer(MapBuilder<Vec<u8>>);

impl Writer {
    pub fn new() -> Self {
        Self(MapBuilder::memory())
    }

    /// Adds the next word; false where it is not in order.
    pub fn add(&mut self, word: &[u8], place: u32) -> bool {
        self.0.insert(word, u64::from(place)).is_ok()
    }

    /// The bytes of the dictionary; nothing where it could not be written.
    pub fn finish(self) -> Option<Vec<u8>> {
        self.0.into_inner().ok()
    }
}

/// A walk in progress.
struct FuzzyWalk<'a> {
    fst: &'a Fst<Vec<u8>>,
    pattern: &'a [u8],
    /// Steps that may still be made.
    steps: u32,
    /// Whether words that begin so are wanted, too.
    prefix: bool,
    found: &'a mut Vec<Range<u32>>,
}

fn place_of(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Dictionary {
    /// Reads a dictionary from its bytes; nothing where they are none.
    pub fn read(bytes: Vec<u8>) -> Option<Self> {
        Map::from_bytes(bytes).ok().map(|map| Self { map })
    }

    /// The bytes of the dictionary.
    pub fn bytes(&self) -> Vec<u8> {
        self.map.as_fst().to_vec()
    }

    /// Number of words.
    pub fn len(&self) -> u32 {
        u32::try_from(self.map.len()).unwrap_or(u32::MAX)
    }

    /// The place of a word.
    pub fn get(&self, word: &str) -> Option<u32> {
        self.map.get(word).map(place_of)
    }

    /// The places of the words that begin with `prefix`.
    pub fn beginning_with(&self, prefix: &str) -> Range<u32> {
        let fst = self.map.as_fst();
        let mut node = fst.root();
        let mut place = 0;
        for byte in prefix.bytes() {
            let Some(at) = node.find_input(byte) else { return 0..0 };
            let step = node.transition(at);
            place += step.out.value();
            node = fst.node(step.addr);
        }
        below(fst, node, place)
    }

    /// Adds the places of the words within so many edits of `text`. Takes the steps it makes from `steps`, and ends where
    /// none are left.
    pub fn within(&self, text: &str, edits: u8, steps: &mut u32, words: &mut Vec<u32>) {
        let mut found = Vec::new();
        self.walk(text, edits, false, steps, &mut found);
        words.extend(found.iter().map(|range| range.start));
    }

    /// The places of the words that have a beginning within one edit of `text`.
    pub fn beginning_near(&self, text: &str, steps: &mut u32) -> Vec<Range<u32>> {
        let mut found = Vec::new();
        self.walk(text, 1, true, steps, &mut found);
        found.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        // A range lies within another or apart from it.
        found.retain(|range| {
            let is_new = range.end > end;
            end = end.max(range.end);
            is_new
        });
        found
    }

    fn walk(&self, text: &str, edits: u8, prefix: bool, steps: &mut u32, found: &mut Vec<Range<u32>>) {
        if text.len() > LONGEST {
            return;
        }
        let fst = self.map.as_fst();
        let mut walk = FuzzyWalk { fst, pattern: text.as_bytes(), steps: *steps, prefix, found };
        walk.go(fst.root(), 0, 0, edits);
        *steps = walk.steps;
    }
}

/// The places of all words below a node.
fn below(fst: &Fst<Vec<u8>>, node: Node<'_>, place: u64) -> Range<u32> {
    let (mut first, mut start) = (node, place);
    while !first.is_final() && !first.is_empty() {
        let step = first.transition(0);
        start += step.out.value();
        first = fst.node(step.addr);
    }
    start += first.final_output().value();
    let (mut last, mut end) = (node, place);
    while let Some(at) = last.len().checked_sub(1) {
        let step = last.transition(at);
        end += step.out.value();
        last = fst.node(step.addr);
    }
    end += last.final_output().value();
    place_of(start)..place_of(end).saturating_add(1)
}

impl<'a> FuzzyWalk<'a> {
    /// Goes on from a node with the pattern's letters from `at` on and so many edits left.
    fn go(&mut self, node: Node<'a>, place: u64, at: usize, left: u8) {
        if left == 0 {
            self.go_straight(node, place, at);
            return;
        }
        // Down each branch it may go straight, which costs most.
        let Some(steps) = self.steps.checked_sub(1 + u32::try_from(node.len()).unwrap_or(u32::MAX)) else { return };
        self.steps = steps;
        let Some(letter) = self.pattern.get(at).copied() else {
            self.arrive(node, place);
            if !self.prefix {
                for step in node.transitions() {
                    self.go(self.fst.node(step.addr), place + step.out.value(), at, left - 1);
                }
            }
            return;
        };
        self.go(node, place, at + 1, left - 1);
        for step in node.transitions() {
            let next = self.fst.node(step.addr);
            let place = place + step.out.value();
            if step.inp == letter {
                self.go(next, place, at + 1, left);
                // One more letter before the wanted one: that is the wanted one and one more after it, too.
                if self.pattern.get(at + 1) != Some(&letter) {
                    self.go(next, place, at, left - 1);
                }
            } else {
                self.go(next, place, at, left - 1);
                self.go(next, place, at + 1, left - 1);
            }
            if Some(&step.inp) == self.pattern.get(at + 1)
                && step.inp != letter
                && let Some(swapped) = next.find_input(letter)
            {
                let step = next.transition(swapped);
                self.go(self.fst.node(step.addr), place + step.out.value(), at + 2, left - 1);
            }
        }
    }

    /// Goes down the letters that are left.
    fn go_straight(&mut self, mut node: Node<'a>, mut place: u64, at: usize) {
        let fst = self.fst;
        for letter in self.pattern.get(at..).unwrap_or_default() {
            let Some(step) = node.find_input(*letter) else { return };
            let step = node.transition(step);
            place += step.out.value();
            node = fst.node(step.addr);
        }
        self.arrive(node, place);
    }

    fn arrive(&mut self, node: Node<'a>, place: u64) {
        if self.prefix {
            self.found.push(below(self.fst, node, place));
        } else if node.is_final() {
            let place = place_of(place + node.final_output().value());
            self.found.push(place..place.saturating_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::search::query::edit_distance::Pattern;

    fn dictionary(words: &BTreeSet<String>) -> Dictionary {
        let mut writer = Writer::new();
        for (place, word) in (0..).zip(words) {
            assert!(writer.add(word.as_bytes(), place));
        }
        Dictionary::read(writer.finish().unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn a_walk_finds_what_is_within_the_edits(
            words in prop::collection::btree_set("[a-c]{1,7}", 1..60),
            text in "[a-c]{1,7}",
        ) {
            let dictionary = dictionary(&words);
            let pattern = Pattern::new(text.as_bytes());
            for edits in 0..=2 {
                let mut found = Vec::new();
                dictionary.within(&text, edits, &mut 1_000_000, &mut found);
                let found: BTreeSet<u32> = found.into_iter().collect();
                let wanted = (0..).zip(&words).filter(|(_, word)| pattern.edits(word.as_bytes()).whole <= u32::from(edits));
                prop_assert_eq!(found, wanted.map(|(place, _)| place).collect::<BTreeSet<u32>>());
            }
        }

        #[test]
        fn ranges_are_the_words_that_begin_so(
            words in prop::collection::btree_set("[a-c]{1,7}", 1..60),
            text in "[a-c]{1,5}",
        ) {
            let dictionary = dictionary(&words);
            let exact: Vec<u32> = dictionary.beginning_with(&text).collect();
            let wanted: Vec<u32> = (0..).zip(&words).filter(|(_, word)| word.starts_with(&text)).map(|(place, _)| place).collect();
            prop_assert_eq!(exact, wanted);
            let near: Vec<u32> = dictionary.beginning_near(&text, &mut 1_000_000).into_iter().flatten().collect();
            let pattern = Pattern::new(text.as_bytes());
            let wanted: Vec<u32> = (0..).zip(&words).filter(|(_, word)| pattern.edits(word.as_bytes()).prefix <= 1).map(|(place, _)| place).collect();
            prop_assert_eq!(near, wanted);
        }
    }

    #[test]
    fn an_empty_dictionary_has_no_words() {
        let dictionary = dictionary(&BTreeSet::new());
        assert_eq!(dictionary.get("a"), None);
        assert!(dictionary.beginning_with("a").is_empty());
        let mut found = Vec::new();
        dictionary.within("abc", 2, &mut 100, &mut found);
        assert!(found.is_empty());
    }
}
