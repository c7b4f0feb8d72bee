//! The words of a table's names, and the rows that hold them.
//!
//! Tantivy has the postings of common words, compressed and with skips; the side tables have the rows of all others, in
//! one piece, so that a prefix of thousands of words is one scan.

use std::ops::Range;
use std::sync::Arc;

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use crate::search::index::tables::{FIRST, Rows, Tables};

/// The words of a table's names.
pub(crate) struct TermIndex {
    words: Arc<InvertedIndexReader>,
    raw: Arc<InvertedIndexReader>,
    /// The side tables.
    pub tables: Tables,
    /// Where tantivy has the postings of the common words, in their order.
    common: Vec<TermInfo>,
}

/// A skip to a row costs what reading so many does.
const SKIP: u32 = 24;
/// The most names without letters or digits that are looked at.
const MOST_RAW: u32 = 2_000;

impl TermIndex {
    /// The words of a segment, given tantivy's readers of its two fields, and the side tables that were made of it; none
    /// where the two do not fit.
    pub fn new(words: Arc<InvertedIndexReader>, raw: Arc<InvertedIndexReader>, tables: Tables) -> Option<Self> {
        let terms = words.terms();
        if u32::try_from(terms.num_terms()).ok()? != tables.words() || tables.dictionary.len() != tables.words() {
            return None;
        }
        let common = tables
            .common_in(&(0..tables.words()))
            .map(|word| {
                let mut text = Vec::new();
                terms.ord_to_term(u64::from(word), &mut text).ok()?.then_some(())?;
                terms.get(text).ok()?
            })
            .collect::<Option<_>>()?;
        Some(Self { words, raw, tables, common })
    }

    /// True for a word that many rows hold.
    pub fn is_common(&self, word: u32) -> bool {
        matches!(self.tables.rows(word), Rows::Many)
    }

    /// The text of the word at a place of the dictionary; empty where there is none.
    pub fn text(&self, word: u32) -> String {
        let mut bytes = Vec::new();
        match self.words.terms().ord_to_term(u64::from(word), &mut bytes) {
            Ok(true) => String::from_utf8(bytes).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Calls `found` with each row that holds the word, and whether the row's name begins with it (of common words that
    /// is not told: see [`Tables::firsts`]); of a common word with no more than `most` rows.
    pub fn each_row(&self, word: u32, most: u32, mut found: impl FnMut(u32, bool)) {
        match self.tables.rows(word) {
            Rows::One(row) => found(row & !FIRST, row & FIRST != 0),
            Rows::Few(rows) => rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0)),
            Rows::Many => {
                if let Some(postings) = self.postings(word) {
                    each(postings, most, |row| found(row, false));
                }
            }
        }
    }

    /// Calls `found` with each row that holds a word of a range that is not common, and whether its name begins with it.
    pub fn each_rare(&self, range: &Range<u32>, mut found: impl FnMut(u32, bool)) {
        for word in range.clone() {
            match self.tables.rows(word) {
                Rows::One(row) => found(row & !FIRST, row & FIRST != 0),
                Rows::Few(rows) => rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0)),
                Rows::Many => {}
            }
        }
    }

    /// Calls `found` with each row whose name begins with a word of a range.
    pub fn each_first(&self, range: &Range<u32>, mut found: impl FnMut(u32)) {
        self.each_rare(range, |row, is_first| {
            if is_first {
                found(row);
            }
        });
        for word in self.tables.common_in(range) {
            self.tables.firsts(word).iter().for_each(|row| found(*row));
        }
    }

    /// Calls `found` with each of the ascending `rows` that holds a common word.
    pub fn each_of(&self, word: u32, rows: &[u32], mut found: impl FnMut(u32)) {
        let Some(mut postings) = self.postings(word) else { return };
        let skips = usize::try_from(postings.size_hint() / SKIP).is_ok_and(|blocks| blocks > rows.len());
        for row in rows {
            let mut doc = postings.doc();
            if skips && doc < *row {
                doc = postings.seek(*row);
            }
            while doc < *row {
                doc = postings.advance();
            }
            if doc == *row {
                found(*row);
            }
        }
    }

    /// What [`TermIndex::each_of`] reads, about.
    pub fn cost_of(&self, word: u32, rows: &[u32]) -> u32 {
        let rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        self.tables.frequency(word).min(rows.saturating_mul(SKIP))
    }

    fn postings(&self, word: u32) -> Option<SegmentPostings> {
        let info = self.common.get(self.tables.find_common(word)?)?;
        self.words.read_postings_from_terminfo(info, IndexRecordOption::Basic).ok()
    }

    /// Calls `found` with the rows whose raw names, without spaces, begin with `term`.
    pub fn raw_beginning_with(&self, term: &str, mut found: impl FnMut(u32)) {
        let Ok(mut stream) = self.raw.terms().range().ge(term).into_stream() else { return };
        let mut read = 0;
        while read < MOST_RAW && stream.advance() && stream.key().starts_with(term.as_bytes()) {
            let Ok(postings) = self.raw.read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic) else {
                return;
            };
            read += stream.value().doc_freq;
            each(postings, MOST_RAW, &mut found);
        }
    }
}

fn each(mut postings: SegmentPostings, most: u32, mut found: impl FnMut(u32)) {
    let mut row = postings.doc();
    let mut read = 0;
    while row != TERMINATED && read < most {
        found(row);
        row = postings.advance();
        read += 1;
    }
}
