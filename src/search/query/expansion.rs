//! What one word of a query stands for: places and ranges of the dictionary.

use std::ops::Range;

use crate::search::index::dictionary::LONGEST;
use crate::search::index::term_index::TermIndex;
use crate::search::index::weights::Weights;
use crate::search::query::Query;
use crate::search::query::phonetic::sound;
use crate::search::rank::search_buffers::SURELY;

/// What one word of a query stands for, as far as the search has gone.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    at: usize,
    /// Its bit among the marks of a row.
    pub mark: u16,
    /// How much it tells; 0 where it tells no rows apart.
    pub weight: f32,
    /// True where the word itself is in the dictionary.
    is_word: bool,
    /// True for the last word, which may be going on.
    is_typed: bool,
    /// True where many rows hold the word itself: it is taken for what was meant.
    is_common: bool,
    /// True for a word that a row may answer without holding what is looked up: an initial, a short beginning.
    pub optional: bool,
    /// The word itself, where it is one, and what else it surely means: given names, words torn apart.
    exact: Vec<u32>,
    /// Words found in the steps before.
    known: Vec<u32>,
    /// Words found in this step.
    pub fresh: Vec<u32>,
    known_ranges: Vec<Range<u32>>,
    /// Ranges found in this step.
    pub fresh_ranges: Vec<Range<u32>>,
    /// Common words that it may be a typo of; they are only read where it is no word itself.
    pub mistaken: Vec<u32>,
    /// True where the step found more of them.
    is_mistaken_anew: bool,
    /// The words that an optional word may be the beginning of.
    pub hints: Range<u32>,
    /// True once all known rows were touched.
    is_read: bool,
}

/// The shortest beginning of a word that is looked up where it is not all that is asked.
const SHORTEST_BEGINNING: usize = 3;

/// The most common words that a word is taken for a typo of.
const MOST_MISTAKEN: usize = 3;

impl Expansion {
    /// The word at a place of the query, which stands for nothing yet.
    pub fn new(at: usize) -> Self {
        Self { at, mark: 1 << at, ..Self::default() }
    }

    /// The word itself, its beginnings, and one edit. Gives a word that is no word the weight of what it may mean.
    pub fn expand(&mut self, query: &mut Query, lexicon: &TermIndex, weights: &Weights, steps: &mut u32) {
        let words = &lexicon.tables.dictionary;
        let is_single = query.words.len() == 1;
        let is_last = query.is_typing(self.at);
        let pairs = query.pairs(self.at);
        let Some(word) = query.words.get_mut(self.at) else { return };
        let length = word.text.len();
        let itself = words.get(&word.text);
        self.is_word = itself.is_some();
        self.is_typed = is_last;
        self.is_common = itself.is_some_and(|itself| lexicon.is_common(itself));
        self.exact.extend(itself);
        self.exact.extend(word.nicknames.iter().filter_map(|form| words.get(form)));
        self.exact.extend(pairs.iter().filter_map(|joined| words.get(joined)));
        self.optional = !is_single && (length == 1 || (is_last && length < SHORTEST_BEGINNING));
        if self.optional {
            self.hints = words.beginning_with(&word.text);
        } else if is_last {
            self.fresh_ranges.push(words.beginning_with(&word.text));
        }
        if length >= 3 {
            let mut near = Vec::new();
            words.within(&word.text, 1, steps, &mut near);
            if itself.is_none()
                && let Some(likely) = near.iter().max_by_key(|word| lexicon.tables.frequency(**word))
                && lexicon.is_common(*likely)
            {
                // A typo in a word like `capital` is to weigh as little as the word.
                word.weight = weights.of(&lexicon.text(*likely));
            }
            self.add(near, lexicon);
        }
        self.fresh.extend_from_slice(&self.exact);
        self.fresh.sort_unstable();
        self.fresh.dedup();
    }

    /// Words of the same sound, mistyped beginnings, words run together or torn apart.
    pub fn widen(&mut self, query: &Query, lexicon: &TermIndex, steps: &mut u32) {
        if self.is_common {
            return;
        }
        let words = &lexicon.tables.dictionary;
        let Some(word) = query.words.get(self.at) else { return };
        let length = word.text.len();
        let mut near = Vec::new();
        if word.sound.len() > 1 && length > 3 {
            near.extend(lexicon.tables.sounds.get(&word.sound).iter().copied().filter(|place| {
                // A bucket holds strangers, and a common one would cost much.
                !lexicon.is_common(*place) || sound(&lexicon.text(*place)) == word.sound
            }));
        }
        if query.is_typing(self.at) && (4..=20).contains(&length) {
            self.fresh_ranges.extend(words.beginning_near(&word.text, steps));
        }
        for joined in query.pairs(self.at).iter().filter(|joined| joined.len() > 3) {
            words.within(joined, 1, steps, &mut near);
        }
        if (6..=LONGEST).contains(&length) {
            // One word of the query may be two of the name.
            let beginnings = (3..length - 2).filter_map(|end| words.get(word.text.get(..end)?));
            let ends = (3..length - 2).filter_map(|start| words.get(word.text.get(start..)?));
            near.extend(beginnings.chain(ends).filter(|place| !lexicon.is_common(*place)));
        }
        self.add(near, lexicon);
    }

    /// Two edits, of what is no word.
    pub fn stretch(&mut self, query: &Query, lexicon: &TermIndex, steps: &mut u32) {
        let Some(word) = query.words.get(self.at) else { return };
        // Of a short word all would be within two edits of some other, so that others must tell which.
        let shortest = if query.words.len() == 1 { 5 } else { 4 };
        if word.text.len() >= shortest && !self.is_word {
            let mut near = Vec::new();
            lexicon.tables.dictionary.within(&word.text, 2, steps, &mut near);
            self.add(near, lexicon);
        }
    }

    fn add(&mut self, mut near: Vec<u32>, lexicon: &TermIndex) {
        near.sort_unstable();
        near.dedup();
        near.retain(|word| self.known.binary_search(word).is_err() && !self.exact.contains(word));
        let (common, rare): (Vec<u32>, Vec<u32>) = near.into_iter().partition(|word| lexicon.is_common(*word));
        self.fresh.extend(rare);
        self.is_mistaken_anew |= common.iter().any(|word| !self.mistaken.contains(word));
        self.mistaken.extend(common);
        self.mistaken.sort_unstable_by_key(|word| (std::cmp::Reverse(lexicon.tables.frequency(*word)), *word));
        self.mistaken.dedup();
        self.mistaken.truncate(MOST_MISTAKEN);
    }

    /// True where the query's word is no word, nor the beginning of one: it is a typo for sure.
    pub fn is_mistyped(&self) -> bool {
        let is_beginning = |ranges: &[Range<u32>]| ranges.iter().any(|range| !range.is_empty());
        self.exact.is_empty() && !is_beginning(&self.known_ranges) && !is_beginning(&self.fresh_ranges)
    }

    /// True for a word that is one, and may be a typo of a common word all the same.
    pub fn may_be_mistaken(&self) -> bool {
        !self.mistaken.is_empty() && !self.is_mistyped()
    }

    /// True where the query's word is a word, or the beginning of one that may be going on.
    pub fn is_known(&self) -> bool {
        let is_beginning = || self.known_ranges.first().is_some_and(|range| !range.is_empty());
        self.optional || self.is_word || (self.is_typed && is_beginning())
    }

    /// How many rows hold what the word stands for, about.
    pub fn postings(&self, lexicon: &TermIndex) -> u32 {
        let tables = &lexicon.tables;
        let meant = self.mistaken.iter().filter(|_| self.is_mistyped());
        let words = self.known.iter().chain(&self.fresh).chain(meant).map(|word| tables.frequency(*word));
        let ranges = self.known_ranges.iter().chain(&self.fresh_ranges).map(|range| tables.frequencies(range));
        words.chain(ranges).fold(0, u32::saturating_add)
    }

    /// Calls `found` with the rows that are new in this step, and what more is to be marked of them.
    pub fn each_new(&mut self, lexicon: &TermIndex, budget: &mut u32, mut found: impl FnMut(u32, u16)) {
        let meant = self.mistaken.iter().filter(|_| !self.is_read && self.is_mistyped());
        let known = self.known.iter().filter(|_| !self.is_read);
        let known_ranges = self.known_ranges.iter().filter(|_| !self.is_read);
        let ranges: Vec<&Range<u32>> = known_ranges.chain(&self.fresh_ranges).collect();
        for range in &ranges {
            lexicon.each_rare(range, |row, _| found(row, 0));
        }
        let common = ranges.iter().flat_map(|range| lexicon.tables.common_in(range));
        for word in known.chain(&self.fresh).chain(meant).copied().chain(common) {
            let marks = if self.exact.contains(&word) { SURELY } else { 0 };
            lexicon.each_row(word, *budget, |row, _| found(row, marks));
            *budget = budget.saturating_sub(lexicon.tables.frequency(word));
        }
        self.is_read = true;
    }

    /// True where this step found anything.
    pub fn is_wider(&self) -> bool {
        !self.fresh.is_empty() || !self.fresh_ranges.is_empty()
    }

    /// Calls `found` with those of the ascending rows that hold what was known of the word before this step, and with other
    /// rows that do. Takes what it reads from the budget, and leaves out common words that would exceed it.
    pub fn each_known(&self, lexicon: &TermIndex, rows: &[u32], budget: &mut u32, found: impl FnMut(u32, u16)) {
        let mistaken = if self.is_mistaken_anew { &[] } else { self.mistaken.as_slice() };
        self.each_of(lexicon, [&self.known, mistaken], &self.known_ranges, rows, budget, found);
    }

    /// As [`Expansion::each_known`] for what was found in this step.
    pub fn each_fresh(&self, lexicon: &TermIndex, rows: &[u32], budget: &mut u32, found: impl FnMut(u32, u16)) {
        let mistaken = if self.is_mistaken_anew { self.mistaken.as_slice() } else { &[] };
        self.each_of(lexicon, [&self.fresh, mistaken], &self.fresh_ranges, rows, budget, found);
    }

    fn each_of(
        &self,
        lexicon: &TermIndex,
        words: [&[u32]; 2],
        ranges: &[Range<u32>],
        rows: &[u32],
        budget: &mut u32,
        mut found: impl FnMut(u32, u16),
    ) {
        if rows.is_empty() {
            return;
        }
        for range in ranges {
            lexicon.each_rare(range, |row, _| found(row, 0));
        }
        let words = words.into_iter().flatten().copied();
        for word in words.chain(ranges.iter().flat_map(|range| lexicon.tables.common_in(range))) {
            let marks = if self.exact.contains(&word) { SURELY } else { 0 };
            if !lexicon.is_common(word) {
                lexicon.each_row(word, u32::MAX, |row, _| found(row, marks));
            } else if let Some(left) = budget.checked_sub(lexicon.cost_of(word, rows)) {
                *budget = left;
                lexicon.each_of(word, rows, |row| found(row, marks));
            }
        }
    }

    /// Calls `found` with rows that may have a word that the optional word begins.
    pub fn each_hint(&self, lexicon: &TermIndex, mut found: impl FnMut(u32)) {
        lexicon.each_rare(&self.hints, |row, _| found(row));
        for word in lexicon.tables.common_in(&self.hints) {
            lexicon.tables.firsts(word).iter().for_each(|row| found(*row));
        }
    }

    /// Ends a step: what was new is known.
    pub fn settle(&mut self) {
        self.known.append(&mut self.fresh);
        self.known.sort_unstable();
        self.known_ranges.append(&mut self.fresh_ranges);
        self.is_mistaken_anew = false;
    }
}
