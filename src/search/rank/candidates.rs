//! Candidates: the rows that may answer a query.
//!
//! A row that answers by its words holds more than half of the query's weight, so that it holds one of any words that
//! together make up the other half: only the rows of the rarest such words are read, and the other words decide among
//! them. What is looked for widens in steps, see [`CandidateLimits`], and each step reads only what is new in it.

use std::ops::Range;

use crate::search::MAX_HITS;
use crate::search::index::build::raw_term;
use crate::search::index::term_index::TermIndex;
use crate::search::index::weights::Weights;
use crate::search::query::Query;
use crate::search::query::expansion::Expansion;
use crate::search::rank::search_buffers::{BEGINS, HINTED, KEEP, SURELY, SearchBuffers, WORDS};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateLimits {
    /// Beginnings of words, and one edit in a word.
    Near,
    /// Words of the same sound, mistyped beginnings, words run together or torn apart with a typo.
    Wide,
    /// Two edits in a word.
    Far,
}

/// The most rows that are read for a query: where a word has more, only so many of them are candidates.
const MOST_POSTINGS: u32 = 200_000;
/// The most steps in the dictionary for a query: all the words within two edits of two words of common length, in a
/// dictionary of a million.
const MOST_STEPS: u32 = 30_000;
/// With so few candidates it is cheaper to score them all than to ask which words they hold.
const FEW: usize = 24;
/// The share of a query's weight that a row must hold to answer by its words.
const NEEDED: f32 = 0.6;

/// From so many rows on, the rows of two words that must both be there are intersected before they are touched.
const MANY: u32 = 2_000;

/// From so many rows on, those that stand highest are chosen before any is touched.
const CROWD: u32 = 8_000;
/// The most rows that are touched for a query of one word, about.
const MOST_SINGLE: usize = 4 * MAX_HITS;
/// The most rows that are touched for a step of a query of several words.
const MOST_TOUCHED: usize = 8_000;
/// The same where the words that tell most are unknown.
const FEW_DISTANT: usize = 4_000;

/// The candidates of one query.
pub(crate) struct Candidates<'a> {
    lexicon: &'a TermIndex,
    passes: &'a dyn Fn(u32) -> bool,
    expansions: Vec<Expansion>,
    /// The weight of each set of words.
    weights: Vec<f32>,
    /// True once it is noted of touched rows which words they hold.
    told: bool,
    /// Of so many touched rows it was noted which words they hold.
    marked: usize,
    /// True while nothing was read, since what is known tells too little.
    waits: bool,
    /// Rows that may still be read.
    budget: u32,
    /// Steps that may still be made in the dictionary.
    steps: u32,
}

impl<'a> Candidates<'a> {
    pub fn new(lexicon: &'a TermIndex, passes: &'a dyn Fn(u32) -> bool) -> Self {
        Self {
            lexicon,
            passes,
            expansions: Vec::new(),
            weights: Vec::new(),
            told: false,
            marked: 0,
            waits: false,
            budget: MOST_POSTINGS,
            steps: MOST_STEPS,
        }
    }

    /// Touches the rows that may answer the query within reach; false where there is nothing new.
    pub fn gather(
        &mut self,
        query: &mut Query,
        weights: &Weights,
        reach: CandidateLimits,
        scratch: &mut SearchBuffers,
    ) -> bool {
        if query.joined.is_empty() {
            let term = raw_term(&query.raw);
            if !term.is_empty() {
                self.lexicon.raw_beginning_with(&term, |row| scratch.touch(row, KEEP, self.passes));
            }
            return true;
        }
        if reach == CandidateLimits::Near {
            self.gather_wholes(query, scratch);
            self.expansions = (0..query.words.len()).map(Expansion::new).collect();
        }
        for expansion in &mut self.expansions {
            match reach {
                CandidateLimits::Near => expansion.expand(query, self.lexicon, weights, &mut self.steps),
                CandidateLimits::Wide => expansion.widen(query, self.lexicon, &mut self.steps),
                CandidateLimits::Far => expansion.stretch(query, self.lexicon, &mut self.steps),
            }
        }
        if reach != CandidateLimits::Near && !self.waits && !self.expansions.iter().any(Expansion::is_wider) {
            return false;
        }
        let known = self.weigh(query);
        if query.words.len() == 1 {
            self.read_single(reach, scratch);
        } else {
            // Where the words that tell most are not known yet, a common one is in too many names that cannot answer.
            self.waits = known < NEEDED && reach != CandidateLimits::Far;
            if self.waits {
                self.read_rare(scratch);
            } else {
                let most = if known < NEEDED { FEW_DISTANT } else { MOST_TOUCHED };
                self.read(most, scratch);
            }
        }
        for expansion in &mut self.expansions {
            expansion.settle();
        }
        true
    }

    /// True where a touched row may answer by what it is known to hold.
    pub fn may_answer(&self, marks: u16) -> bool {
        !self.told || marks & KEEP != 0 || self.cover(marks) >= NEEDED
    }

    /// True where a row with these marks holds all that was asked, as it was asked: what lies further off is not meant.
    pub fn is_meant(&self, marks: u16) -> bool {
        marks & SURELY != 0 && self.expansions.iter().all(Expansion::is_known) && self.cover(marks) >= 1.0
    }

    /// The share of the query's weight that the marked words have.
    pub fn cover(&self, marks: u16) -> f32 {
        match (self.weights.get(usize::from(marks & WORDS)), self.weights.last()) {
            (Some(part), Some(all)) if *all > 0.0 => part / all,
            _ => 1.0,
        }
    }

    /// Rows that have the whole name, or the acronym.
    fn gather_wholes(&self, query: &Query, scratch: &mut SearchBuffers) {
        for row in self.lexicon.tables.wholes.get(&query.joined) {
            scratch.touch(*row, KEEP, self.passes);
        }
        if query.may_be_acronym() {
            for row in self.lexicon.tables.acronyms.get(&query.joined) {
                scratch.touch(*row, KEEP, self.passes);
            }
        }
    }

    /// Weighs the sets of words. A word that stands for nothing is left out, it tells no rows apart; so is one that may be
    /// the beginning of more than is looked at.
    ///
    /// Gives the share of the query's weight that is known words.
    fn weigh(&mut self, query: &Query) -> f32 {
        self.weights.clear();
        self.weights.push(0.0);
        let (mut known, mut all) = (0.0, 0.0);
        for (expansion, word) in self.expansions.iter_mut().zip(&query.words) {
            let is_known = expansion.postings(self.lexicon) > 0;
            expansion.weight = if expansion.optional || !is_known { 0.0 } else { word.weight };
            known += expansion.weight;
            all += if expansion.optional { 0.0 } else { word.weight };
            for set in 0..self.weights.len() {
                let without = self.weights.get(set).copied().unwrap_or(0.0);
                self.weights.push(without + expansion.weight);
            }
        }
        if all > 0.0 { known / all } else { 1.0 }
    }

    /// Reads the rows of those words of a query that few rows hold.
    fn read_rare(&mut self, scratch: &mut SearchBuffers) {
        let Self { lexicon, passes, expansions, budget, .. } = self;
        for expansion in expansions.iter_mut().filter(|expansion| !expansion.optional) {
            if expansion.postings(lexicon) <= MANY {
                let mark = expansion.mark;
                expansion.each_new(lexicon, budget, |row, sure| scratch.touch(row, mark | sure, *passes));
            }
        }
    }

    /// Reads the rows of a query of several words.
    fn read(&mut self, most: usize, scratch: &mut SearchBuffers) {
        let Self { lexicon, passes, expansions, budget, .. } = self;
        let all = self.weights.last().copied().unwrap_or(0.0);
        let mut order: Vec<(u32, &mut Expansion)> = expansions
            .iter_mut()
            .map(|expansion| (expansion.postings(lexicon), expansion))
            .filter(|(postings, expansion)| *postings > 0 || expansion.optional)
            .collect();
        order.sort_by_key(|(postings, expansion)| (expansion.optional, *postings));
        if let [(least, first), (_, second), ..] = order.as_mut_slice()
            && *least > MANY
            && all - second.weight.min(first.weight) < all * NEEDED
        {
            scratch.note_none();
            first.each_new(lexicon, budget, |row, _| scratch.note(row));
            let mut rows = Vec::new();
            scratch.noted(&mut rows);
            let marks = first.mark | second.mark;
            let full = scratch.touched.len() + most;
            let mut found = |row, sure| {
                if scratch.touched.len() < full && scratch.is_noted(row) {
                    scratch.touch(row, marks | sure, *passes);
                }
            };
            second.each_known(lexicon, &rows, budget, &mut found);
            second.each_fresh(lexicon, &rows, budget, &mut found);
            self.told = true;
        } else {
            let mut weight = 0.0;
            let full = scratch.touched.len() + most;
            for (_, expansion) in &mut order {
                if weight > all * (1.0 - NEEDED) || (weight > 0.0 && expansion.optional) {
                    break;
                }
                // A row may hold a common word in the place of this one: then it has to hold another.
                weight += if expansion.may_be_mistaken() { 0.0 } else { expansion.weight }.max(f32::MIN_POSITIVE);
                let mark = expansion.mark;
                expansion.each_new(lexicon, budget, |row, sure| {
                    if scratch.touched.len() < full {
                        scratch.touch(row, mark | sure, *passes);
                    }
                });
            }
            self.told |= scratch.touched.len() > FEW;
        }
        if self.told {
            let rows = scratch.touched_in_order();
            let mut later = Vec::new();
            let new = if self.marked == 0 {
                &rows
            } else {
                later.extend_from_slice(scratch.touched.get(self.marked..).unwrap_or_default());
                later.sort_unstable();
                &later
            };
            let are_many = new.len() > MAX_HITS;
            for (_, expansion) in order {
                let mark = expansion.mark;
                if expansion.optional && are_many {
                    expansion.each_hint(lexicon, |row| scratch.mark(row, HINTED));
                }
                expansion.each_known(lexicon, new, budget, |row, sure| scratch.mark(row, mark | sure));
                expansion.each_fresh(lexicon, &rows, budget, |row, sure| scratch.mark(row, mark | sure));
            }
            self.marked = scratch.touched.len();
        }
    }

    /// Reads the rows of a query of one word: those whose names begin with it, and the others where these are not enough.
    fn read_single(&mut self, reach: CandidateLimits, scratch: &mut SearchBuffers) {
        let Some(expansion) = self.expansions.first() else { return };
        let (mark, lexicon, passes) = (expansion.mark, self.lexicon, self.passes);
        let sure = if reach == CandidateLimits::Near { SURELY } else { 0 };
        for range in &expansion.fresh_ranges {
            if lexicon.tables.frequencies(range) > CROWD {
                self.read_crowd(range, mark | sure, scratch);
            } else {
                lexicon.each_first(range, |row| scratch.touch(row, mark | sure | BEGINS, passes));
            }
        }
        for word in &expansion.fresh {
            if !lexicon.is_common(*word) {
                lexicon.each_row(*word, u32::MAX, |row, _| scratch.touch(row, mark, passes));
            }
        }
        for word in &expansion.mistaken {
            for row in lexicon.tables.firsts(*word) {
                if scratch.touched.len() < MOST_SINGLE {
                    scratch.touch(*row, mark, passes);
                }
            }
        }
        if scratch.touched.len() >= MAX_HITS {
            return;
        }
        for range in &expansion.fresh_ranges {
            lexicon.each_rare(range, |row, is_first| {
                if !is_first && scratch.touched.len() < MOST_SINGLE {
                    scratch.touch(row, mark | sure, passes);
                }
            });
        }
        let in_ranges = expansion.fresh_ranges.iter().flat_map(|range| lexicon.tables.common_in(range));
        let in_words = expansion.fresh.iter().copied().filter(|word| lexicon.is_common(*word));
        let meant = expansion.mistaken.iter().copied().filter(|_| expansion.is_mistyped());
        for word in in_ranges.chain(in_words).chain(meant) {
            if scratch.touched.len() >= MOST_SINGLE || self.budget == 0 {
                return;
            }
            lexicon.each_row(word, self.budget, |row, _| {
                if scratch.touched.len() < MOST_SINGLE {
                    scratch.touch(row, mark | sure, passes);
                }
            });
            self.budget = self.budget.saturating_sub(lexicon.tables.frequency(word));
        }
    }

    /// Of the many names that begin with a word of a range, touches those that stand highest, as many as can be matches.
    fn read_crowd(&self, range: &Range<u32>, marks: u16, scratch: &mut SearchBuffers) {
        let (lexicon, passes) = (self.lexicon, self.passes);
        let mut standings = [0_usize; 256];
        lexicon.each_first(range, |row| {
            if passes(row)
                && let Some(rows) = standings.get_mut(usize::from(lexicon.tables.standing(row)))
            {
                *rows += 1;
            }
        });
        let mut higher = 0;
        let least = (0..=u8::MAX).rev().find(|standing| {
            higher += standings.get(usize::from(*standing)).copied().unwrap_or(0);
            higher >= MAX_HITS
        });
        let least = least.unwrap_or(0);
        let mut left = MOST_SINGLE;
        lexicon.each_first(range, |row| {
            if lexicon.tables.standing(row) >= least && left > 0 && passes(row) {
                scratch.touch(row, marks | BEGINS, passes);
                left -= 1;
            }
        });
    }
}
