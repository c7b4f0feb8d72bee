//! What a search writes on, used again by the next one.

use std::sync::{Mutex, PoisonError};

/// The query words found in a row: a bit each.
pub(crate) const WORDS: u16 = (1 << crate::search::MAX_QUERY_WORDS) - 1;
/// The row may have a word that a word of the query begins.
pub(crate) const HINTED: u16 = 1 << 10;
/// A word was found as it was asked.
pub(crate) const SURELY: u16 = 1 << 11;
/// The row may answer in another way than by its words.
pub(crate) const KEEP: u16 = 1 << 12;
/// The row's name begins with what was asked.
pub(crate) const BEGINS: u16 = 1 << 13;
/// The row has been scored.
pub(crate) const SCORED: u16 = 1 << 14;
/// The row does not pass the filter.
const REFUSED: u16 = 1 << 15;

/// Buffers of one search.
#[derive(Debug, Default)]
pub(crate) struct SearchBuffers {
    /// For each row the round in which it was last touched, and its marks: the query words found in it, and the above.
    seen: Vec<(u32, u16)>,
    round: u32,
    /// Rows touched in this round that pass the filter, in the order of their first touch.
    pub touched: Vec<u32>,
    /// The folded text of a candidate.
    pub folded: String,
    /// The folded text of a candidate without spaces.
    pub joined: String,
    /// Another text made of the words of a candidate.
    pub other: String,
    /// A bit for each row of the table.
    bits: Vec<u64>,
    /// True where the bits are those of all touched rows.
    is_told: bool,
}

/// So few rows are sorted faster by comparing them.
const FEW: usize = 256;

impl SearchBuffers {
    /// Starts a search over a table of `rows` rows.
    fn begin(&mut self, rows: u32) {
        self.touched.clear();
        self.is_told = false;
        let rows = usize::try_from(rows).unwrap_or(0);
        if self.seen.len() != rows || self.round == u32::MAX {
            self.seen.clear();
            self.seen.resize(rows, (0, 0));
            self.round = 0;
        }
        self.round += 1;
    }

    /// Adds marks to `row`, which is touched if it passes the filter; that is asked once.
    pub fn touch(&mut self, row: u32, marks: u16, passes: &dyn Fn(u32) -> bool) {
        let Some(place) = usize::try_from(row).ok().and_then(|row| self.seen.get_mut(row)) else { return };
        if place.0 == self.round {
            place.1 |= marks;
        } else if passes(row) {
            *place = (self.round, marks);
            self.touched.push(row);
            self.is_told = false;
        } else {
            *place = (self.round, REFUSED);
        }
    }

    /// Adds marks to `row` if it was touched in this round.
    pub fn mark(&mut self, row: u32, marks: u16) {
        // Most rows that are asked about were not touched, and the bits are nearer to the processor.
        if self.is_told && !self.is_noted(row) {
            return;
        }
        if let Some(place) = usize::try_from(row).ok().and_then(|row| self.seen.get_mut(row))
            && place.0 == self.round
        {
            place.1 |= marks;
        }
    }

    /// Forgets the rows that were noted.
    pub fn note_none(&mut self) {
        self.is_told = false;
        self.bits.clear();
        self.bits.resize(self.seen.len().div_ceil(64), 0);
    }

    /// Notes a row of the table, in a bit.
    pub fn note(&mut self, row: u32) {
        if let Some(bits) = usize::try_from(row / 64).ok().and_then(|place| self.bits.get_mut(place)) {
            *bits |= 1 << (row % 64);
        }
    }

    /// True for a row that was noted.
    pub fn is_noted(&self, row: u32) -> bool {
        let bits = usize::try_from(row / 64).ok().and_then(|place| self.bits.get(place));
        bits.is_some_and(|bits| bits & (1 << (row % 64)) != 0)
    }

    /// Puts the noted rows into `rows`, ascending.
    pub fn noted(&self, rows: &mut Vec<u32>) {
        rows.clear();
        for (first, bits) in (0..).step_by(64).zip(&self.bits) {
            let mut bits = *bits;
            while bits != 0 {
                rows.push(first + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }

    /// The touched rows, ascending: through a bit for each row of the table, some ten times as fast as by comparing where
    /// they are many.
    pub fn touched_in_order(&mut self) -> Vec<u32> {
        let mut rows = self.touched.clone();
        if rows.len() <= FEW {
            rows.sort_unstable();
            self.is_told = false;
        } else {
            self.note_none();
            rows.iter().for_each(|row| self.note(*row));
            self.noted(&mut rows);
            self.is_told = true;
        }
        rows
    }

    /// The marks of a row that was touched in this round.
    pub fn marks(&self, row: u32) -> u16 {
        usize::try_from(row).ok().and_then(|row| self.seen.get(row)).map_or(0, |place| place.1)
    }
}

/// Scratch buffers that wait for the next search.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<SearchBuffers>>);

impl Pool {
    /// Lends a scratch for one search.
    pub fn with<T>(&self, rows: u32, search: impl FnOnce(&mut SearchBuffers) -> T) -> T {
        let lent = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = lent.unwrap_or_default();
        scratch.begin(rows);
        let result = search(&mut scratch);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        result
    }
}
