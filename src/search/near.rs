//! The automaton that walks a dictionary for words that are a few edits from a given one.
//!
//! Bit-parallel simulation, so that nothing is compiled per word: bit `i` of `spent[k]` says that `i` letters of the
//! pattern may be behind us at the cost of `k` edits. What makes it fast is `allowed`: edits may be forbidden over the
//! first letters. A word with one edit has its first half or its second half intact, so that two walks — one forwards
//! with the first half fixed, one over the reversed words with the second half fixed — see a hundredth of the dictionary
//! that one walk with the edit anywhere would.

use std::cell::RefCell;

use tantivy_fst::Automaton;

/// The longest pattern, in bytes.
pub(super) const LONGEST: usize = 40;

/// The longest prefix that is noted.
const NOTED: usize = 24;

/// A pattern with a number of edits that is allowed from given places on.
pub(super) struct Near<'a> {
    places: [u64; 37],
    end: u64,
    /// For one and two edits, the numbers of letters that may be behind us when they are spent.
    allowed: [u64; 2],
    /// Where prefixes are wanted: those at which the pattern is used up; nothing beyond them is walked.
    prefixes: Option<&'a RefCell<Vec<Vec<u8>>>>,
}

/// Where a walk stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    spent: [u64; 3],
    /// Places from which the letter after the next one was read, for a transposition.
    swapped: [u64; 2],
    text: [u8; NOTED],
    length: usize,
}

fn place(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a'),
        b'0'..=b'9' => usize::from(byte - b'0') + 26,
        _ => 36,
    }
}

impl<'a> Near<'a> {
    /// One edit is allowed once `first` letters are behind us, a second one from `second` on; [`usize::MAX`] forbids.
    ///
    /// Patterns are folded words of at most [`LONGEST`] bytes; of longer ones only so many are looked at.
    pub fn new(pattern: impl Iterator<Item = u8>, first: usize, second: usize) -> Self {
        let mut places = [0; 37];
        let mut length = 0;
        for byte in pattern.take(LONGEST) {
            if let Some(set) = places.get_mut(place(byte)) {
                *set |= 1_u64 << length;
            }
            length += 1;
        }
        let from = |place: usize| if place > LONGEST { 0 } else { u64::MAX << place };
        Self { places, end: 1 << length, allowed: [from(first), from(second)], prefixes: None }
    }

    /// Notes the prefixes that use the pattern up instead of the words that do.
    pub fn noting(mut self, prefixes: &'a RefCell<Vec<Vec<u8>>>) -> Self {
        self.prefixes = Some(prefixes);
        self
    }

    fn is_used_up(&self, standing: &Standing) -> bool {
        standing.spent.iter().any(|spent| spent & self.end != 0)
    }
}

impl Automaton for Near<'_> {
    type State = Standing;

    fn start(&self) -> Standing {
        let one = 0b10 & self.allowed[0];
        // Letters left out at the very beginning.
        let two = ((one << 1) | (0b10 & self.allowed[0])) & self.allowed[1];
        Standing { spent: [1, one, two], swapped: [0; 2], text: [0; NOTED], length: 0 }
    }

    fn is_match(&self, standing: &Standing) -> bool {
        self.prefixes.is_none() && self.is_used_up(standing)
    }

    fn can_match(&self, standing: &Standing) -> bool {
        if let Some(prefixes) = self.prefixes
            && self.is_used_up(standing)
        {
            if let Some(text) = standing.text.get(..standing.length) {
                prefixes.borrow_mut().push(text.to_vec());
            }
            return false;
        }
        standing.spent.iter().any(|spent| *spent != 0)
    }

    fn accept(&self, standing: &Standing, byte: u8) -> Standing {
        let here = self.places.get(place(byte)).copied().unwrap_or(0);
        let [none, one, two] = standing.spent;
        let [swap_one, swap_two] = standing.swapped;
        let next_none = (none & here) << 1;
        let next_one =
            (((one & here) << 1) | none | (none << 1) | (next_none << 1) | ((swap_one & here) << 2)) & self.allowed[0];
        let next_two =
            (((two & here) << 1) | one | (one << 1) | (next_one << 1) | ((swap_two & here) << 2)) & self.allowed[1];
        let mut text = standing.text;
        let mut length = standing.length;
        if self.prefixes.is_some() {
            if let Some(place) = text.get_mut(length) {
                *place = byte;
            }
            length += 1;
        }
        Standing {
            spent: [next_none, next_one, next_two],
            swapped: [none & (here >> 1), one & (here >> 1)],
            text,
            length,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::edits::Pattern;

    fn accepts(automaton: &Near<'_>, text: &str) -> bool {
        let mut standing = automaton.start();
        for byte in text.bytes() {
            standing = automaton.accept(&standing, byte);
        }
        automaton.is_match(&standing)
    }

    proptest! {
        #[test]
        fn it_accepts_what_is_within_the_edits(pattern in "[a-c]{1,9}", text in "[a-c]{0,11}") {
            let edits = Pattern::new(pattern.as_bytes()).edits(text.as_bytes()).whole;
            prop_assert_eq!(accepts(&Near::new(pattern.bytes(), 0, usize::MAX), &text), edits <= 1);
            prop_assert_eq!(accepts(&Near::new(pattern.bytes(), 0, 0), &text), edits <= 2);
            prop_assert_eq!(accepts(&Near::new(pattern.bytes(), usize::MAX, usize::MAX), &text), edits == 0);
        }

        #[test]
        fn two_walks_with_a_fixed_half_find_every_single_edit(pattern in "[a-c]{3,9}", text in "[a-c]{0,11}") {
            let half = pattern.len().div_ceil(2);
            let forwards = Near::new(pattern.bytes(), half - 1, usize::MAX);
            let backwards = Near::new(pattern.bytes().rev(), pattern.len() - half, usize::MAX);
            let reversed: String = text.chars().rev().collect();
            let edits = Pattern::new(pattern.as_bytes()).edits(text.as_bytes()).whole;
            prop_assert_eq!(accepts(&forwards, &text) || accepts(&backwards, &reversed), edits <= 1);
        }
    }
}
