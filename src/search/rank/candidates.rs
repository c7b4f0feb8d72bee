//! Candidates: the rows that may match a query. A row that matches by its words has [`MIN_COVERAGE`] of the query's
//! weight, and so at least one of any words that together weigh more than the rest: only the rows of the rarest such
//! words are read, and the others decide among them. The search widens in [`SearchStep`]s, each reading what is new.

use std::ops::Range;

use crate::MAX_HITS;
use crate::index::{GENERIC, TermIndex, Weights, raw_term};
use crate::query::NameQuery;
use crate::query::expansion::Expansion;
use crate::rank::search_buffers::{BEGINS, EXACT, HINTED, KEEP, SearchBuffers, WORDS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchStep {
    /// Prefixes of words, and one edit in a word.
    Near,
    /// Words that sound alike, prefixes with a typo, joined and split words with a typo.
    Wide,
    /// Two edits in a word.
    Far,
}

/// Maximum number of rows read for a query. Further rows of a word are no candidates.
const MAX_ROWS_READ: u32 = 150_000;
/// Maximum steps in the dictionary for a query: in one of a million words, all within two edits of a usual word. A name of
/// unknown words then costs about three times as much as a misspelt word.
const MAX_STEPS: u32 = 12_000;
/// Up to this many candidates are scored without looking up their words, which would cost more.
const FEW: usize = 24;
/// The share of a query's weight that a row must contain to match by its words.
const MIN_COVERAGE: f32 = 0.6;

/// Maximum number of rows with a full name within a query.
const MAX_NAMESAKES: usize = 10;

/// If two words that are both required have more rows than this, the rows are intersected before they are touched.
const MANY: u32 = 2_000;

/// If a prefix has more rows than this, those with the highest static rank are selected before any is touched.
const TOO_MANY: u32 = 8_000;
/// About the maximum number of rows that are touched for a query of one word.
const MAX_TOUCHED_SINGLE: usize = 4 * MAX_HITS;
/// The maximum number of rows that are touched for a step of a query of several words.
const MAX_TOUCHED: usize = 8_000;
/// The same if the most distinctive words are unknown.
const MAX_TOUCHED_UNKNOWN: usize = 4_000;

pub(crate) struct CandidateSearch<'a> {
    terms: &'a TermIndex,
    word_weights: &'a Weights,
    expansions: Vec<Expansion>,
    /// The weight of each set of words.
    weights: Vec<f32>,
    /// True once the touched rows are marked with their words.
    are_marked: bool,
    /// Number of touched rows that are marked.
    marked: usize,
    /// True if only rare words were read, because the known words are not distinctive enough.
    is_deferred: bool,
    budget: u32,
    steps: u32,
}

impl<'a> CandidateSearch<'a> {
    pub(crate) fn new(terms: &'a TermIndex, word_weights: &'a Weights) -> Self {
        Self {
            terms,
            word_weights,
            expansions: Vec::new(),
            weights: Vec::new(),
            are_marked: false,
            marked: 0,
            is_deferred: false,
            budget: MAX_ROWS_READ,
            steps: MAX_STEPS,
        }
    }

    /// Touches the rows that may match the query in this step; false if the step finds nothing new.
    pub(crate) fn gather(&mut self, query: &mut NameQuery, step: SearchStep, buffers: &mut SearchBuffers) -> bool {
        if query.joined.is_empty() {
            let term = raw_term(&query.raw);
            if !term.is_empty() {
                self.terms.each_raw_row(&term, |row| buffers.touch(row, KEEP));
            }
            return true;
        }
        if step == SearchStep::Near {
            let words = WORDS >> WORDS.count_ones().saturating_sub(query.words.len() as u32);
            let marks = words | KEEP | EXACT | BEGINS | HINTED;
            let rows = self.terms.rows_with_characters(&query.characters, MAX_ROWS_READ);
            buffers.touch_all(&rows, marks);
            self.gather_full_names(query, buffers);
            self.expansions = (0..query.words.len()).map(Expansion::new).collect();
        }
        for expansion in &mut self.expansions {
            match step {
                SearchStep::Near => expansion.expand(query, self.terms, self.word_weights, &mut self.steps),
                SearchStep::Wide => expansion.widen(query, self.terms, &mut self.steps),
                SearchStep::Far => expansion.expand_far(query, self.terms, &mut self.steps),
            }
        }
        if step != SearchStep::Near && !self.is_deferred && !self.expansions.iter().any(Expansion::has_new) {
            return false;
        }
        let known = self.weigh(query);
        if query.words.len() == 1 {
            self.read_single(step, buffers);
        } else {
            // While the most distinctive words are unknown, a common one is in too many names that cannot match.
            self.is_deferred = known < MIN_COVERAGE && step != SearchStep::Far;
            if self.is_deferred {
                self.read_rare(buffers);
            } else {
                self.read_several(if known < MIN_COVERAGE { MAX_TOUCHED_UNKNOWN } else { MAX_TOUCHED }, buffers);
            }
        }
        self.expansions.iter_mut().for_each(Expansion::end_step);
        true
    }

    /// True if a touched row may match, given the words it is known to contain.
    pub(crate) fn may_match(&self, marks: u16) -> bool {
        !self.are_marked || marks & KEEP != 0 || self.coverage(marks) >= MIN_COVERAGE
    }

    /// True if a row with these marks contains all words of the query exactly: then nothing more distant is intended.
    pub(crate) fn is_intended(&self, marks: u16) -> bool {
        marks & EXACT != 0 && self.expansions.iter().all(Expansion::is_known) && self.coverage(marks) >= 1.0
    }

    /// The share of the query's weight in the marked words.
    pub(crate) fn coverage(&self, marks: u16) -> f32 {
        match (self.weights.get(usize::from(marks & WORDS)), self.weights.last()) {
            (Some(part), Some(all)) if *all > 0.0 => part / all,
            _ => 1.0,
        }
    }

    /// Touches rows that may match a part of the query of several words: those with a distinctive word of it, and those
    /// with a full name of successive words. Common words are read only as far as names begin with them.
    pub(crate) fn gather_parts(&mut self, query: &NameQuery, buffers: &mut SearchBuffers) {
        let Self { terms, expansions, .. } = self;
        for (expansion, word) in expansions.iter().zip(&query.words) {
            if word.weight >= GENERIC && word.text.len() > 1 {
                expansion.each_row_of_part(terms, |row| buffers.touch(row, expansion.mark));
            }
        }
        for start in 0..query.words.len() {
            let mut joined = query.words[start].text.clone();
            for word in &query.words[start + 1..] {
                joined.push_str(&word.text);
                buffers.touch_all(terms.lookups.full_names.get(&joined), KEEP);
            }
        }
    }

    /// The rows with a full name of successive words of the query, a few of each name.
    pub(crate) fn rows_within(&self, query: &NameQuery) -> Vec<u32> {
        let lookups = &self.terms.lookups;
        let mut rows = Vec::new();
        for start in 0..query.words.len() {
            let mut joined = String::new();
            for word in &query.words[start..] {
                joined.push_str(&word.text);
                rows.extend(lookups.full_names.get(&joined).iter().take(MAX_NAMESAKES));
            }
            // The map has no names of one word that is rare.
            let word = lookups.dictionary.get(&query.words[start].text);
            if let Some(word) = word.filter(|word| !self.terms.rows.is_common(*word)) {
                let mut of_word = Vec::new();
                self.terms.each_row(word, u32::MAX, |row, _| of_word.push(row));
                of_word.sort_by_key(|row| std::cmp::Reverse(lookups.static_ranks[*row as usize]));
                rows.extend(of_word.into_iter().take(MAX_NAMESAKES));
            }
        }
        rows
    }

    /// Touches the rows with this full name, even if it is one word typed in pieces, or with this acronym.
    fn gather_full_names(&self, query: &NameQuery, buffers: &mut SearchBuffers) {
        buffers.touch_all(self.terms.lookups.full_names.get(&query.joined), KEEP);
        // Two pieces are expanded as a pair.
        if query.words.len() > 2
            && let Some(word) = self.terms.lookups.dictionary.get(&query.joined)
        {
            self.terms.each_row(word, MANY, |row, _| buffers.touch(row, KEEP));
        }
        if query.may_be_acronym() {
            buffers.touch_all(self.terms.lookups.acronyms.get(&query.joined), KEEP);
        }
    }

    /// Weighs the sets of words that have rows and are not optional. Returns the share of the query's weight with rows.
    fn weigh(&mut self, query: &NameQuery) -> f32 {
        self.weights.clear();
        self.weights.push(0.0);
        let (mut known, mut all) = (0.0, 0.0);
        for (expansion, word) in self.expansions.iter_mut().zip(&query.words) {
            let is_known = expansion.row_count(self.terms) > 0;
            expansion.weight = if expansion.optional || !is_known { 0.0 } else { word.weight };
            known += expansion.weight;
            all += if expansion.optional { 0.0 } else { word.weight };
            for set in 0..self.weights.len() {
                self.weights.push(self.weights[set] + expansion.weight);
            }
        }
        if all > 0.0 { known / all } else { 1.0 }
    }

    fn read_rare(&mut self, buffers: &mut SearchBuffers) {
        let Self { terms, expansions, budget, .. } = self;
        for expansion in expansions.iter_mut().filter(|expansion| !expansion.optional) {
            if expansion.row_count(terms) <= MANY {
                let mark = expansion.mark;
                expansion.each_new_row(terms, budget, |row, exact| buffers.touch(row, mark | exact));
            }
        }
    }

    fn read_several(&mut self, max: usize, buffers: &mut SearchBuffers) {
        let Self { terms, expansions, budget, .. } = self;
        let all = *self.weights.last().expect("the empty set has a weight");
        let counted = expansions.iter_mut().map(|expansion| (expansion.row_count(terms), expansion));
        let counted = counted.filter(|(count, expansion)| *count > 0 || expansion.optional);
        let mut order: Vec<(u32, &mut Expansion)> = counted.collect();
        order.sort_by_key(|(count, expansion)| (expansion.optional, *count));
        if let [(count, first), (_, second), ..] = order.as_mut_slice()
            && *count > MANY
            && all - second.weight.min(first.weight) < all * MIN_COVERAGE
        {
            buffers.clear_bits();
            first.each_new_row(terms, budget, |row, _| buffers.set_bit(row));
            let rows = buffers.rows_of_bits();
            let marks = first.mark | second.mark;
            let full = buffers.touched.len() + max;
            let mut found = |row, exact| {
                if buffers.has_bit(row) {
                    buffers.touch_up_to(full, row, marks | exact);
                }
            };
            second.each_among(terms, false, &rows, budget, &mut found);
            second.each_among(terms, true, &rows, budget, &mut found);
            self.are_marked = true;
        } else {
            let mut weight = 0.0;
            let full = buffers.touched.len() + max;
            for (_, expansion) in &mut order {
                if weight > all * (1.0 - MIN_COVERAGE) || (weight > 0.0 && expansion.optional) {
                    break;
                }
                // A row may contain a common word instead of this one: then it must contain another.
                let may_be_mistyped = !expansion.typo_of.is_empty() && !expansion.is_mistyped();
                weight += if may_be_mistyped { 0.0 } else { expansion.weight }.max(f32::MIN_POSITIVE);
                let mark = expansion.mark;
                expansion.each_new_row(terms, budget, |row, exact| buffers.touch_up_to(full, row, mark | exact));
            }
            self.are_marked |= buffers.touched.len() > FEW;
        }
        if self.are_marked {
            let rows = buffers.touched_in_order();
            let mut later = Vec::new();
            let new = if self.marked == 0 {
                &rows
            } else {
                later.extend_from_slice(&buffers.touched[self.marked..]);
                later.sort_unstable();
                &later
            };
            let are_many = new.len() > MAX_HITS;
            for (_, expansion) in order {
                let mark = expansion.mark;
                if expansion.optional && are_many {
                    expansion.each_hinted_row(terms, |row| buffers.mark(row, HINTED));
                }
                expansion.each_among(terms, false, new, budget, |row, exact| buffers.mark(row, mark | exact));
                expansion.each_among(terms, true, &rows, budget, |row, exact| buffers.mark(row, mark | exact));
            }
            self.marked = buffers.touched.len();
        }
    }

    /// Reads the rows of a query of one word: those whose names begin with it, and the others if these are too few.
    fn read_single(&mut self, step: SearchStep, buffers: &mut SearchBuffers) {
        let Some(expansion) = self.expansions.first() else { return };
        let (mark, terms) = (expansion.mark, self.terms);
        let exact = if step == SearchStep::Near { EXACT } else { 0 };
        for range in &expansion.new_ranges {
            if terms.rows.estimate(range) > TOO_MANY {
                self.read_highest_ranked(range, mark | exact, buffers);
            } else {
                terms.each_first_row(range, |row| buffers.touch(row, mark | exact | BEGINS));
            }
        }
        for word in expansion.new.iter().filter(|word| !terms.rows.is_common(**word)) {
            terms.each_row(*word, u32::MAX, |row, _| buffers.touch(row, mark));
        }
        for row in expansion.typo_of.iter().flat_map(|word| terms.rows.first_rows(*word)) {
            buffers.touch_up_to(MAX_TOUCHED_SINGLE, *row, mark);
        }
        if buffers.touched.len() >= MAX_HITS {
            return;
        }
        for range in &expansion.new_ranges {
            terms.each_rare_row(range, |row, is_first| {
                if !is_first {
                    buffers.touch_up_to(MAX_TOUCHED_SINGLE, row, mark | exact);
                }
            });
        }
        let in_ranges = expansion.new_ranges.iter().flat_map(|range| terms.rows.common_in(range));
        let in_words = expansion.new.iter().copied().filter(|word| terms.rows.is_common(*word));
        let typo_of = expansion.typo_of.iter().copied().filter(|_| expansion.is_mistyped());
        for word in in_ranges.chain(in_words).chain(typo_of) {
            if buffers.touched.len() >= MAX_TOUCHED_SINGLE || self.budget == 0 {
                return;
            }
            terms.each_row(word, self.budget, |row, _| buffers.touch_up_to(MAX_TOUCHED_SINGLE, row, mark | exact));
            self.budget = self.budget.saturating_sub(terms.rows.count(word));
        }
    }

    /// Touches those rows with the highest static rank whose names begin with a word in a range, enough for all hits.
    fn read_highest_ranked(&self, words: &Range<u32>, marks: u16, buffers: &mut SearchBuffers) {
        let terms = self.terms;
        let static_rank = |row: u32| terms.lookups.static_ranks[row as usize];
        let mut rows_by_rank = [0_usize; 256];
        terms.each_first_row(words, |row| {
            rows_by_rank[usize::from(static_rank(row))] += 1;
        });
        let mut rows = 0;
        let min_rank = (0..=u8::MAX).rev().find(|rank| {
            rows += rows_by_rank[usize::from(*rank)];
            rows >= MAX_HITS
        });
        let min_rank = min_rank.unwrap_or(0);
        let mut rest = MAX_TOUCHED_SINGLE;
        terms.each_first_row(words, |row| {
            if static_rank(row) >= min_rank && rest > 0 {
                buffers.touch(row, marks | BEGINS);
                rest -= 1;
            }
        });
    }
}
