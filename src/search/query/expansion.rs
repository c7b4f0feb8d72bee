//! The words of the dictionary that one word of a query may mean.

use std::cmp::Reverse;
use std::ops::Range;

use crate::index::{MAX_WORD_BYTES, TermIndex, Weights};
use crate::query::NameQuery;
use crate::query::phonetic::phonetic_key;
use crate::rank::search_buffers::EXACT;

/// The words of the dictionary that one word of a query may mean, as far as the search has gone.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    index: usize,
    /// The word's bit among the marks of a row.
    pub mark: u16,
    /// The word's share in the query's weight; 0 if it is optional or has no rows.
    pub weight: f32,
    is_word: bool,
    /// True for the last word if it may be incomplete.
    is_typing: bool,
    /// True if the word itself is a common word, which is then surely intended.
    is_common: bool,
    /// True for an initial or a short prefix: a row may match without containing the words looked up.
    pub optional: bool,
    /// The word itself, if it is in the dictionary, and its certain equivalents: given names, joined words.
    exact: Vec<u32>,
    /// The words found in previous steps.
    known: Vec<u32>,
    /// The words found in this step.
    pub new: Vec<u32>,
    known_ranges: Vec<Range<u32>>,
    pub new_ranges: Vec<Range<u32>>,
    /// The common words that it may be a typo of. They are read only if it is not a word itself.
    pub typo_of: Vec<u32>,
    /// True if this step has added to `typo_of`.
    is_typo_of_new: bool,
    /// The words that an optional word may be a prefix of.
    pub hints: Range<u32>,
    /// True once all known rows are touched.
    is_read: bool,
}

/// The minimum length of a prefix that is looked up if the query has other words.
const MIN_PREFIX: usize = 3;

/// The maximum number of words that a part of a name may begin.
const MAX_BEGUN: usize = 64;

/// The maximum number of rows of a common word that are read if they match a part of the query.
const MAX_FIRST_ROWS: usize = 200;

/// The maximum number of common words that a word may be a typo of.
const MAX_TYPO_OF: usize = 3;

impl Expansion {
    pub(crate) fn new(index: usize) -> Self {
        Self { index, mark: 1 << index, ..Self::default() }
    }

    /// First step: the word, words with this prefix or within one edit. A typo of a common word has the weight of that.
    pub(crate) fn expand(&mut self, query: &mut NameQuery, terms: &TermIndex, weights: &Weights, steps: &mut u32) {
        let dictionary = &terms.lookups.dictionary;
        let is_single = query.words.len() == 1;
        let is_typing = query.is_typing(self.index);
        let pairs = query.pairs(self.index);
        let word = &mut query.words[self.index];
        let length = word.text.len();
        let itself = dictionary.get(&word.text);
        self.is_word = itself.is_some();
        self.is_typing = is_typing;
        self.is_common = itself.is_some_and(|itself| terms.rows.is_common(itself));
        self.exact.extend(itself);
        self.exact.extend(word.forms.iter().filter_map(|form| dictionary.get(form.text)));
        self.exact.extend(pairs.iter().filter_map(|joined| dictionary.get(joined)));
        self.optional = !is_single && (length == 1 || (is_typing && length < MIN_PREFIX));
        if self.optional {
            self.hints = dictionary.with_prefix(&word.text);
        } else if is_typing {
            self.new_ranges.push(dictionary.with_prefix(&word.text));
        }
        if length >= 3 {
            let mut near = Vec::new();
            dictionary.within(&word.text, 1, steps, &mut near);
            if itself.is_none()
                && let Some(likely) = near.iter().max_by_key(|word| terms.rows.count(**word))
                && terms.rows.is_common(*likely)
            {
                // `captial` must weigh as little as `capital`.
                word.weight = weights.weigh_word(&terms.text(*likely));
            }
            self.add(near, terms);
        }
        self.new.extend_from_slice(&self.exact);
        self.new.sort_unstable();
        self.new.dedup();
    }

    /// Second step: words that it begins, words that sound alike, prefixes with a typo, joined or split words.
    pub(crate) fn widen(&mut self, query: &NameQuery, terms: &TermIndex, steps: &mut u32) {
        let dictionary = &terms.lookups.dictionary;
        let word = &query.words[self.index];
        let length = word.text.len();
        if length >= MIN_PREFIX && !query.is_typing(self.index) {
            self.new_ranges.push(dictionary.with_prefix(&word.text));
        }
        if self.is_common {
            return;
        }
        let mut near = Vec::new();
        if word.phonetic_key.len() > 1 && length > 3 {
            near.extend(terms.lookups.phonetic.get(&word.phonetic_key).iter().copied().filter(|found| {
                // A lookup also returns words with other keys, and a common one would be expensive.
                !terms.rows.is_common(*found) || phonetic_key(&terms.text(*found)) == word.phonetic_key
            }));
        }
        if query.is_typing(self.index) && (4..=20).contains(&length) {
            self.new_ranges.extend(dictionary.with_prefix_near(&word.text, steps));
        }
        let pairs = query.pairs(self.index).into_iter().filter(|joined| joined.len() > 3);
        pairs.for_each(|joined| dictionary.within(&joined, 1, steps, &mut near));
        if (6..=MAX_WORD_BYTES).contains(&length) {
            // One word of the query may be two of the name.
            let starts = (3..length - 2).filter_map(|end| dictionary.get(&word.text[..end]));
            let ends = (3..length - 2).filter_map(|start| dictionary.get(&word.text[start..]));
            near.extend(starts.chain(ends).filter(|found| !terms.rows.is_common(*found)));
        }
        self.add(near, terms);
    }

    /// Third step: words within two edits, if it is not a word itself.
    pub(crate) fn expand_far(&mut self, query: &NameQuery, terms: &TermIndex, steps: &mut u32) {
        // Every short word is within two edits of some other: then other words must be distinctive.
        let min_length = if query.words.len() == 1 { 5 } else { 4 };
        let word = &query.words[self.index];
        if word.text.len() >= min_length && !self.is_word {
            let mut near = Vec::new();
            terms.lookups.dictionary.within(&word.text, 2, steps, &mut near);
            self.add(near, terms);
        }
    }

    fn add(&mut self, mut near: Vec<u32>, terms: &TermIndex) {
        near.sort_unstable();
        near.dedup();
        near.retain(|word| self.known.binary_search(word).is_err() && !self.exact.contains(word));
        let (common, rare): (Vec<u32>, Vec<u32>) = near.into_iter().partition(|word| terms.rows.is_common(*word));
        self.new.extend(rare);
        self.is_typo_of_new |= common.iter().any(|word| !self.typo_of.contains(word));
        self.typo_of.extend(common);
        self.typo_of.sort_unstable_by_key(|word| (Reverse(terms.rows.count(*word)), *word));
        self.typo_of.dedup();
        self.typo_of.truncate(MAX_TYPO_OF);
    }

    /// True if it is neither a word nor a prefix of one: it must be a typo.
    pub(crate) fn is_mistyped(&self) -> bool {
        let is_prefix = |ranges: &[Range<u32>]| ranges.iter().any(|range| !range.is_empty());
        self.exact.is_empty() && !is_prefix(&self.known_ranges) && !is_prefix(&self.new_ranges)
    }

    /// True if it is a word, or a prefix of one if it may be incomplete.
    pub(crate) fn is_known(&self) -> bool {
        let is_prefix = || self.known_ranges.first().is_some_and(|range| !range.is_empty());
        self.optional || self.is_word || (self.is_typing && is_prefix())
    }

    pub(crate) fn row_count(&self, terms: &TermIndex) -> u32 {
        let rows = &terms.rows;
        let typo_of = self.typo_of.iter().filter(|_| self.is_mistyped());
        let words = self.known.iter().chain(&self.new).chain(typo_of).map(|word| rows.count(*word));
        let ranges = self.known_ranges.iter().chain(&self.new_ranges).map(|range| rows.estimate(range));
        words.chain(ranges).fold(0, u32::saturating_add)
    }

    /// Calls `found` with the rows that are new in this step, and with additional marks for each.
    pub(crate) fn each_new_row(&mut self, terms: &TermIndex, budget: &mut u32, mut found: impl FnMut(u32, u16)) {
        let typo_of = self.typo_of.iter().filter(|_| !self.is_read && self.is_mistyped());
        let known = self.known.iter().filter(|_| !self.is_read);
        let known_ranges = self.known_ranges.iter().filter(|_| !self.is_read);
        let ranges: Vec<&Range<u32>> = known_ranges.chain(&self.new_ranges).collect();
        ranges.iter().for_each(|range| terms.each_rare_row(range, |row, _| found(row, 0)));
        let common = ranges.iter().flat_map(|range| terms.rows.common_in(range));
        for word in known.chain(&self.new).chain(typo_of).copied().chain(common) {
            let marks = if self.exact.contains(&word) { EXACT } else { 0 };
            terms.each_row(word, *budget, |row, _| found(row, marks));
            *budget = budget.saturating_sub(terms.rows.count(word));
        }
        self.is_read = true;
    }

    pub(crate) fn has_new(&self) -> bool {
        !self.new.is_empty() || !self.new_ranges.is_empty()
    }

    /// Calls `found` with rows that contain a word found in this step, or else in a previous one: with those among the
    /// ascending `rows`, and with some others. The rows read count against the budget; too common words are skipped.
    pub(crate) fn each_among(
        &self,
        terms: &TermIndex,
        is_new: bool,
        rows: &[u32],
        budget: &mut u32,
        mut found: impl FnMut(u32, u16),
    ) {
        if rows.is_empty() {
            return;
        }
        let (words, ranges) = if is_new { (&self.new, &self.new_ranges) } else { (&self.known, &self.known_ranges) };
        ranges.iter().for_each(|range| terms.each_rare_row(range, |row, _| found(row, 0)));
        let words = words.iter().chain(self.typo_of.iter().filter(|_| self.is_typo_of_new == is_new)).copied();
        for word in words.chain(ranges.iter().flat_map(|range| terms.rows.common_in(range))) {
            let marks = if self.exact.contains(&word) { EXACT } else { 0 };
            if !terms.rows.is_common(word) {
                terms.each_row(word, u32::MAX, |row, _| found(row, marks));
            } else if let Some(rest) = budget.checked_sub(terms.cost_among(word, rows)) {
                *budget = rest;
                terms.each_row_among(word, rows, |row| found(row, marks));
            }
        }
    }

    /// Calls `found` with rows that may contain a word that the optional word is a prefix of.
    pub(crate) fn each_hinted_row(&self, terms: &TermIndex, mut found: impl FnMut(u32)) {
        terms.each_rare_row(&self.hints, |row, _| found(row));
        terms.rows.common_in(&self.hints).flat_map(|word| terms.rows.first_rows(word)).for_each(|row| found(*row));
    }

    /// Calls `found` with all rows of the rare words found, and with rows whose names begin with a common one.
    pub(crate) fn each_row_of_part(&self, terms: &TermIndex, mut found: impl FnMut(u32)) {
        let begun = self.known_ranges.iter().filter(|range| range.len() <= MAX_BEGUN).flat_map(|range| range.clone());
        for word in self.known.iter().copied().chain(begun) {
            match terms.rows.is_common(word) {
                true => terms.rows.first_rows(word).iter().take(MAX_FIRST_ROWS).for_each(|row| found(*row)),
                false => terms.each_row(word, u32::MAX, |row, _| found(row)),
            }
        }
    }

    pub(crate) fn end_step(&mut self) {
        self.known.append(&mut self.new);
        self.known.sort_unstable();
        self.known_ranges.append(&mut self.new_ranges);
        self.is_typo_of_new = false;
    }
}
