//! Candidates: the rows that may answer a query.
//!
//! A row that answers by its words holds more than half of the query's weight, so that it holds one of any words that
//! together make up the other half: only the rows of the rarest such words are read, and the other words decide among
//! them. What is looked for widens in steps, see [`Reach`], and each step reads only what is new in it.

use super::MOST_HITS;
use super::build::raw_term;
use super::expansion::Expansion;
use super::lexicon::Lexicon;
use super::query::Query;
use super::scratch::{BEGINS, HINTED, KEEP, SURELY, Scratch, WORDS};
use super::weights::Weights;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
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
const MOST_STEPS: u32 = 40_000;
/// With so few candidates it is cheaper to score them all than to ask which words they hold.
const FEW: usize = 24;
/// The share of a query's weight that a row must hold to answer by its words.
const NEEDED: f32 = 0.6;

/// From so many rows on, the rows of two words that must both be there are intersected before they are touched.
const MANY: u32 = 2_000;

/// The candidates of one query.
pub(super) struct Candidates<'a> {
    lexicon: &'a Lexicon,
    passes: &'a dyn Fn(u32) -> bool,
    expansions: Vec<Expansion>,
    /// The weight of each set of words.
    weights: Vec<f32>,
    /// True once it was noted of all touched rows which words they hold.
    told: bool,
    /// Rows that may still be read.
    budget: u32,
    /// Steps that may still be made in the dictionary.
    steps: u32,
}

impl<'a> Candidates<'a> {
    pub fn new(lexicon: &'a Lexicon, passes: &'a dyn Fn(u32) -> bool) -> Self {
        Self {
            lexicon,
            passes,
            expansions: Vec::new(),
            weights: Vec::new(),
            told: false,
            budget: MOST_POSTINGS,
            steps: MOST_STEPS,
        }
    }

    /// Touches the rows that may answer the query within reach; false where there is nothing new.
    pub fn gather(&mut self, query: &mut Query, weights: &Weights, reach: Reach, scratch: &mut Scratch) -> bool {
        if query.joined.is_empty() {
            let term = raw_term(&query.raw);
            if !term.is_empty() {
                self.lexicon.raw_beginning_with(&term, |row| scratch.touch(row, KEEP, self.passes));
            }
            return true;
        }
        if reach == Reach::Near {
            self.gather_wholes(query, scratch);
            self.expansions = (0..query.words.len()).map(Expansion::new).collect();
        }
        for expansion in &mut self.expansions {
            match reach {
                Reach::Near => expansion.expand(query, self.lexicon, weights, &mut self.steps),
                Reach::Wide => expansion.widen(query, self.lexicon, &mut self.steps),
                Reach::Far => expansion.stretch(query, self.lexicon, &mut self.steps),
            }
        }
        if reach != Reach::Near && !self.expansions.iter().any(Expansion::is_wider) {
            return false;
        }
        self.weigh(query);
        if query.words.len() == 1 {
            self.read_single(reach, scratch);
        } else {
            self.read(scratch);
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

    /// The share of the query's weight that the marked words have.
    pub fn cover(&self, marks: u16) -> f32 {
        match (self.weights.get(usize::from(marks & WORDS)), self.weights.last()) {
            (Some(part), Some(all)) if *all > 0.0 => part / all,
            _ => 1.0,
        }
    }

    /// Rows that have the whole name, or the acronym.
    fn gather_wholes(&self, query: &Query, scratch: &mut Scratch) {
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
    fn weigh(&mut self, query: &Query) {
        self.weights.clear();
        self.weights.push(0.0);
        for (expansion, word) in self.expansions.iter_mut().zip(&query.words) {
            expansion.weight =
                if expansion.optional || expansion.postings(self.lexicon) == 0 { 0.0 } else { word.weight };
            for set in 0..self.weights.len() {
                let without = self.weights.get(set).copied().unwrap_or(0.0);
                self.weights.push(without + expansion.weight);
            }
        }
    }

    /// Reads the rows of a query of several words.
    fn read(&mut self, scratch: &mut Scratch) {
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
            let mut rows = Vec::new();
            first.each_new(lexicon, budget, |row, _| rows.push(row));
            // A word's rows are in order, so that this is a merge of runs.
            rows.sort();
            rows.dedup();
            let marks = first.mark | second.mark;
            second.each_of(lexicon, &rows, budget, |row, sure| {
                if rows.binary_search(&row).is_ok() {
                    scratch.touch(row, marks | sure, *passes);
                }
            });
            self.told = true;
        } else {
            let mut weight = 0.0;
            for (_, expansion) in &mut order {
                if weight > all * (1.0 - NEEDED) || (weight > 0.0 && expansion.optional) {
                    break;
                }
                weight += expansion.weight.max(f32::MIN_POSITIVE);
                let mark = expansion.mark;
                expansion.each_new(lexicon, budget, |row, sure| scratch.touch(row, mark | sure, *passes));
            }
            self.told |= scratch.touched.len() > FEW;
        }
        if self.told {
            let mut rows = scratch.touched.clone();
            rows.sort_unstable();
            let are_many = rows.len() > MOST_HITS;
            for (_, expansion) in order {
                let mark = expansion.mark;
                if expansion.optional && are_many {
                    expansion.each_hint(lexicon, |row| scratch.mark(row, HINTED));
                }
                expansion.each_of(lexicon, &rows, budget, |row, sure| scratch.mark(row, mark | sure));
            }
        }
    }

    /// Reads the rows of a query of one word: those whose names begin with it, and the others where these are not enough.
    fn read_single(&mut self, reach: Reach, scratch: &mut Scratch) {
        let Some(expansion) = self.expansions.first() else { return };
        let (mark, lexicon, passes) = (expansion.mark, self.lexicon, self.passes);
        let sure = if reach == Reach::Near { SURELY } else { 0 };
        let mut inner = Vec::new();
        for range in &expansion.fresh_ranges {
            lexicon.each_rare(range, |row, is_first| {
                if is_first {
                    scratch.touch(row, mark | sure | BEGINS, passes);
                } else {
                    inner.push(row);
                }
            });
            for word in lexicon.tables.common_in(range) {
                for row in lexicon.tables.firsts(word) {
                    scratch.touch(*row, mark | sure | BEGINS, passes);
                }
            }
        }
        for word in &expansion.fresh {
            if !lexicon.is_common(*word) {
                lexicon.each_row(*word, u32::MAX, |row, _| scratch.touch(row, mark, passes));
            }
        }
        for word in &expansion.mistaken {
            for row in lexicon.tables.firsts(*word) {
                scratch.touch(*row, mark, passes);
            }
        }
        if scratch.touched.len() >= MOST_HITS {
            return;
        }
        for row in inner {
            scratch.touch(row, mark | sure, passes);
        }
        let in_ranges = expansion.fresh_ranges.iter().flat_map(|range| lexicon.tables.common_in(range));
        let in_words = expansion.fresh.iter().copied().filter(|word| lexicon.is_common(*word));
        let meant = expansion.mistaken.iter().copied().filter(|_| expansion.is_mistyped());
        for word in in_ranges.chain(in_words).chain(meant) {
            if scratch.touched.len() >= MOST_HITS * 4 || self.budget == 0 {
                return;
            }
            lexicon.each_row(word, self.budget, |row, _| scratch.touch(row, mark | sure, passes));
            self.budget = self.budget.saturating_sub(lexicon.tables.frequency(word));
        }
    }
}
