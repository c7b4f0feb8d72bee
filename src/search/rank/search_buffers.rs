//! The working memory of a search, reused by the next one.

use std::sync::{Mutex, PoisonError};

use data::archive::facet_column::RowSet;

/// Marks of a row: a bit for each query word found in it.
pub(crate) const WORDS: u16 = (1 << crate::MAX_QUERY_WORDS) - 1;
/// The row may contain a word that a word of the query is a prefix of.
pub(crate) const HINTED: u16 = 1 << 10;
pub(crate) const EXACT: u16 = 1 << 11;
/// The row may match by more than its words.
pub(crate) const KEEP: u16 = 1 << 12;
/// The row's name begins with the query.
pub(crate) const BEGINS: u16 = 1 << 13;
pub(crate) const SCORED: u16 = 1 << 14;

#[derive(Debug, Default)]
pub(crate) struct SearchBuffers {
    /// For each row the search in which it was last touched, and its marks.
    seen: Vec<(u16, u16)>,
    search: u16,
    /// The rows touched in this search, in the order of their first touch.
    pub touched: Vec<u32>,
    pub folded: String,
    /// The folded text of a candidate without spaces.
    pub joined: String,
    /// Another text made of the words of a candidate.
    pub other: String,
    /// A bit for each row of the table.
    bits: Vec<u64>,
    /// True if the bits are those of all touched rows.
    are_bits_touched: bool,
}

/// Up to this many rows are sorted faster by comparison.
const FEW: usize = 256;

impl SearchBuffers {
    fn begin(&mut self, rows: u32) {
        self.touched.clear();
        self.are_bits_touched = false;
        if self.seen.len() != rows as usize || self.search == u16::MAX {
            self.seen.clear();
            self.seen.resize(rows as usize, (0, 0));
            self.search = 0;
        }
        self.search += 1;
    }

    pub(crate) fn touch(&mut self, row: u32, marks: u16) {
        let seen = &mut self.seen[row as usize];
        if seen.0 == self.search {
            seen.1 |= marks;
        } else {
            *seen = (self.search, marks);
            self.touched.push(row);
            self.are_bits_touched = false;
        }
    }

    /// Does the same unless `max` rows are touched.
    pub(crate) fn touch_up_to(&mut self, max: usize, row: u32, marks: u16) {
        if self.touched.len() < max {
            self.touch(row, marks);
        }
    }

    pub(crate) fn touch_all(&mut self, rows: &[u32], marks: u16) {
        rows.iter().for_each(|row| self.touch(*row, marks));
    }

    /// Adds marks to a row if it was touched in this search.
    pub(crate) fn mark(&mut self, row: u32, marks: u16) {
        // Most rows were not touched, and the bits are more likely to be in the cache.
        if self.are_bits_touched && !self.has_bit(row) {
            return;
        }
        let seen = &mut self.seen[row as usize];
        if seen.0 == self.search {
            seen.1 |= marks;
        }
    }

    pub(crate) fn clear_bits(&mut self) {
        self.are_bits_touched = false;
        self.bits.clear();
        self.bits.resize(self.seen.len().div_ceil(64), 0);
    }

    pub(crate) fn set_bit(&mut self, row: u32) {
        self.bits[row as usize / 64] |= 1 << (row % 64);
    }

    pub(crate) fn has_bit(&self, row: u32) -> bool {
        self.bits[row as usize / 64] & (1 << (row % 64)) != 0
    }

    pub(crate) fn rows_of_bits(&self) -> Vec<u32> {
        RowSet::Dense(&self.bits).iter().collect()
    }

    /// The touched rows, ascending. Many are sorted by setting bits, about ten times as fast as by comparison.
    pub(crate) fn touched_in_order(&mut self) -> Vec<u32> {
        if self.touched.len() <= FEW {
            let mut rows = self.touched.clone();
            rows.sort_unstable();
            self.are_bits_touched = false;
            return rows;
        }
        self.clear_bits();
        self.touched.iter().for_each(|row| self.bits[*row as usize / 64] |= 1 << (row % 64));
        self.are_bits_touched = true;
        self.rows_of_bits()
    }

    pub(crate) fn marks(&self, row: u32) -> u16 {
        self.seen[row as usize].1
    }
}

#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<SearchBuffers>>);

impl BufferPool {
    pub(crate) fn with<T>(&self, rows: u32, search: impl FnOnce(&mut SearchBuffers) -> T) -> T {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        buffers.begin(rows);
        let result = search(&mut buffers);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        result
    }
}
