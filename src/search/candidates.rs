//! Candidates: the rows that may answer a query.
//!
//! A row that answers by its words holds more than half of the query's weight, so that it holds one of the query's rarest
//! words that together make up half of it: only their rows are read, and the other words decide among those.

use std::ops::Range;

use super::build::raw_term;
use super::dictionary::LONGEST;
use super::lexicon::Lexicon;
use super::query::Query;
use super::scratch::{BEGINS, KEEP, Scratch};
use super::tables::{FIRST, Rows};
use super::weights::Weights;
use super::{MOST_HITS, MOST_WORDS};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// One edit in a word.
    Near,
    /// Words of the same sound, mistyped beginnings, words run together.
    Wide,
    /// Two edits in a word.
    Far,
}

/// The most rows that are read for a query before what is left of it only decides among them.
const MOST_POSTINGS: u32 = 200_000;
/// With so few candidates it is cheaper to score them all than to ask which words they hold.
const FEW: usize = 24;
/// The share of a query's weight that a row must hold to answer by its words.
const NEEDED: f32 = 0.5;

/// What one word of a query stands for.
#[derive(Default)]
struct Expansion {
    /// Its bit.
    mark: u16,
    weight: f32,
    /// Places in the dictionary.
    words: Vec<u32>,
    ranges: Vec<Range<u32>>,
    /// Rows to read, about.
    postings: u32,
}

/// What the words of a query stand for, as far as the search has gone.
pub(super) struct Candidates<'a> {
    lexicon: &'a Lexicon,
    passes: &'a dyn Fn(u32) -> bool,
    expansions: Vec<Expansion>,
    /// The weight of each set of words.
    weights: Vec<f32>,
    /// True once it was noted of all touched rows which words they hold.
    told: bool,
}

impl<'a> Candidates<'a> {
    pub fn new(lexicon: &'a Lexicon, passes: &'a dyn Fn(u32) -> bool) -> Self {
        Self { lexicon, passes, expansions: Vec::new(), weights: Vec::new(), told: false }
    }

    /// Touches the rows that may answer the query within reach.
    pub fn gather(&mut self, query: &mut Query, weights: &Weights, reach: Reach, scratch: &mut Scratch) {
        if query.joined.is_empty() {
            let term = raw_term(&query.raw);
            if !term.is_empty() {
                self.lexicon.raw_beginning_with(&term, |row| scratch.touch(row, KEEP, self.passes));
            }
            return;
        }
        if reach == Reach::Near {
            for row in self.lexicon.tables.wholes.get(&query.joined) {
                scratch.touch(*row, KEEP, self.passes);
            }
            if query.words.len() == 1 && (2..=8).contains(&query.joined.len()) {
                for row in self.lexicon.tables.acronyms.get(&query.joined) {
                    scratch.touch(*row, KEEP, self.passes);
                }
            }
            self.expansions = query
                .words
                .iter()
                .enumerate()
                .map(|(at, word)| Expansion { mark: 1 << at, weight: word.weight, ..Expansion::default() })
                .collect();
        }
        for at in 0..query.words.len() {
            self.expand(query, weights, at, reach);
        }
        self.weigh();
        match self.expansions.as_slice() {
            [single] => self.read_single(single, reach, scratch),
            _ => self.read(scratch),
        }
    }

    /// True where a touched row may answer by what it is known to hold.
    pub fn may_answer(&self, marks: u16) -> bool {
        !self.told || marks & KEEP != 0 || self.cover(marks) >= NEEDED
    }

    /// The share of the query's weight that the marked words have.
    pub fn cover(&self, marks: u16) -> f32 {
        let words = usize::from(marks & ((1 << MOST_WORDS) - 1));
        match (self.weights.get(words), self.weights.last()) {
            (Some(part), Some(all)) if *all > 0.0 => part / all,
            _ => 1.0,
        }
    }

    /// Adds what the word at a place of the query stands for within reach.
    fn expand(&mut self, query: &mut Query, weights: &Weights, at: usize, reach: Reach) {
        let lexicon = self.lexicon;
        let words = &lexicon.tables.dictionary;
        let is_last = at + 1 == query.words.len() && !query.ended;
        let is_single = query.words.len() == 1;
        let pair = query
            .words
            .get(at)
            .zip(query.words.get(at + 1))
            .map(|(left, right)| [left.text.as_str(), right.text.as_str()].concat());
        let before = at
            .checked_sub(1)
            .and_then(|at| query.words.get(at))
            .zip(query.words.get(at))
            .map(|(left, right)| [left.text.as_str(), right.text.as_str()].concat());
        let Some(word) = query.words.get_mut(at) else { return };
        let Some(expansion) = self.expansions.get_mut(at) else { return };
        let length = word.text.len();
        match reach {
            Reach::Near => {
                let exact = words.get(&word.text);
                expansion.words.extend(exact);
                expansion.words.extend(word.nicknames.iter().filter_map(|form| words.get(form)));
                // Two words of the query may be one of the name.
                expansion.words.extend([pair, before].iter().flatten().filter_map(|joined| words.get(joined)));
                if is_last && (length >= 3 || is_single) {
                    expansion.ranges.push(words.beginning_with(&word.text));
                }
                if (3..=LONGEST).contains(&length) {
                    let from = expansion.words.len();
                    words.within(&word.text, 1, &mut expansion.words);
                    let near = expansion.words.get(from..).unwrap_or_default();
                    let likely = near.iter().max_by_key(|word| lexicon.tables.frequency(**word));
                    if exact.is_none()
                        && let Some(likely) = likely
                        && lexicon.is_common(*likely)
                    {
                        // A typo in a word like `capital` is to weigh as little as the word.
                        word.weight = weights.of(&lexicon.text(*likely));
                        expansion.weight = word.weight;
                    }
                }
            }
            Reach::Wide => {
                expansion.words.extend(lexicon.tables.sounds.get(&word.sound).iter().copied().filter(|place| {
                    !lexicon.is_common(*place) || super::sound::sound(&lexicon.text(*place)) == word.sound
                }));
                if is_last && (4..=20).contains(&length) {
                    expansion.ranges.extend(words.beginning_near(&word.text));
                }
                for joined in [pair, before].iter().flatten().filter(|joined| (4..=LONGEST).contains(&joined.len())) {
                    words.within(joined, 1, &mut expansion.words);
                }
                if (6..=LONGEST).contains(&length) {
                    // One word of the query may be two of the name.
                    let ends = (3..length - 2)
                        .filter_map(|end| words.get(word.text.get(..end)?))
                        .chain((3..length - 2).filter_map(|start| words.get(word.text.get(start..)?)));
                    expansion.words.extend(ends.filter(|place| !lexicon.is_common(*place)));
                }
            }
            Reach::Far => {
                if (5..=LONGEST).contains(&length) {
                    words.within(&word.text, 2, &mut expansion.words);
                }
            }
        }
        expansion.words.sort_unstable();
        expansion.words.dedup();
        let postings = expansion.words.iter().map(|word| lexicon.tables.frequency(*word)).sum::<u32>();
        let in_ranges = expansion.ranges.iter().map(|range| lexicon.tables.frequencies(range)).sum::<u32>();
        expansion.postings = postings.saturating_add(in_ranges);
    }

    /// Weighs the sets of words. A word that stands for nothing is left out: it tells no rows apart.
    fn weigh(&mut self) {
        self.weights.clear();
        self.weights.push(0.0);
        for expansion in &self.expansions {
            let weight = if expansion.postings > 0 { expansion.weight } else { 0.0 };
            for set in 0..self.weights.len() {
                let without = self.weights.get(set).copied().unwrap_or(0.0);
                self.weights.push(without + weight);
            }
        }
    }

    /// Reads the rows of a query of several words.
    fn read(&mut self, scratch: &mut Scratch) {
        let all = self.weights.last().copied().unwrap_or(0.0);
        let mut order: Vec<&Expansion> = self.expansions.iter().filter(|expansion| expansion.postings > 0).collect();
        order.sort_by_key(|expansion| expansion.postings);
        let mut weight = 0.0;
        let mut postings = 0_u32;
        let mut rest = Vec::new();
        for expansion in order {
            let is_first = weight == 0.0;
            postings = postings.saturating_add(expansion.postings);
            if is_first || (weight < all * NEEDED && postings <= MOST_POSTINGS) {
                weight += expansion.weight;
                for word in &expansion.words {
                    self.lexicon.each_row(*word, |row, _| scratch.touch(row, expansion.mark, self.passes));
                }
                for range in &expansion.ranges {
                    self.each_in(range, |row, _| scratch.touch(row, expansion.mark, self.passes));
                    for word in self.lexicon.tables.common_in(range) {
                        self.lexicon.each_row(word, |row, _| scratch.touch(row, expansion.mark, self.passes));
                    }
                }
            } else {
                rest.push(expansion);
            }
        }
        self.told = scratch.touched.len() > FEW;
        if self.told && !rest.is_empty() {
            let mut rows = scratch.touched.clone();
            rows.sort_unstable();
            for expansion in rest {
                for word in &expansion.words {
                    self.lexicon.each_of(*word, &rows, |row| scratch.mark(row, expansion.mark));
                }
                for range in &expansion.ranges {
                    self.each_in(range, |row, _| scratch.mark(row, expansion.mark));
                    for word in self.lexicon.tables.common_in(range) {
                        self.lexicon.each_of(word, &rows, |row| scratch.mark(row, expansion.mark));
                    }
                }
            }
        }
    }

    /// Reads the rows of a query of one word: those that begin with it first, and the others where there are not enough.
    fn read_single(&self, expansion: &Expansion, reach: Reach, scratch: &mut Scratch) {
        let mark = expansion.mark;
        let mut inner = Vec::new();
        for range in &expansion.ranges {
            self.each_in(range, |row, is_first| {
                if is_first {
                    scratch.touch(row, mark | BEGINS, self.passes);
                } else {
                    inner.push(row);
                }
            });
            for word in self.lexicon.tables.common_in(range) {
                for row in self.lexicon.tables.firsts(word) {
                    scratch.touch(*row, mark | BEGINS, self.passes);
                }
            }
        }
        for word in &expansion.words {
            if !self.lexicon.is_common(*word) {
                self.lexicon.each_row(*word, |row, _| scratch.touch(row, mark, self.passes));
            }
        }
        if reach == Reach::Near && scratch.touched.len() >= MOST_HITS {
            return;
        }
        for row in inner {
            scratch.touch(row, mark, self.passes);
        }
        let mut read = 0_u32;
        for word in expansion
            .ranges
            .iter()
            .flat_map(|range| self.lexicon.tables.common_in(range))
            .chain(expansion.words.iter().copied().filter(|word| self.lexicon.is_common(*word)))
        {
            if scratch.touched.len() >= MOST_HITS * 4 || read > MOST_POSTINGS {
                return;
            }
            read = read.saturating_add(self.lexicon.tables.frequency(word));
            self.lexicon.each_row(word, |row, _| scratch.touch(row, mark, self.passes));
        }
    }

    /// Calls `found` with the rows of the words in a range that are not common.
    fn each_in(&self, range: &Range<u32>, mut found: impl FnMut(u32, bool)) {
        for word in range.clone() {
            match self.lexicon.tables.rows(word) {
                Rows::One(row) => found(row & !FIRST, row & FIRST != 0),
                Rows::Few(rows) => rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0)),
                Rows::Many => {}
            }
        }
    }
}
