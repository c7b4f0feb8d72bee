//! The words of a table's names, and the rows that hold them.
//!
//! Tantivy has the postings of common words, compressed and with skips; the side tables have the rows of all others, in
//! one piece, so that a prefix of thousands of words is one scan.

use std::sync::Arc;

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use super::tables::{FIRST, Rows, Tables};

/// The words of a table's names.
pub(super) struct Lexicon {
    words: Arc<InvertedIndexReader>,
    raw: Arc<InvertedIndexReader>,
    /// The side tables.
    pub tables: Tables,
    /// Where tantivy has the postings of the common words, in their order.
    common: Vec<TermInfo>,
}

/// The most names without letters or digits that are looked at.
const MOST_RAW: u32 = 2_000;

impl Lexicon {
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
    /// is not told: see [`Tables::firsts`]).
    pub fn each_row(&self, word: u32, mut found: impl FnMut(u32, bool)) {
        match self.tables.rows(word) {
            Rows::One(row) => found(row & !FIRST, row & FIRST != 0),
            Rows::Few(rows) => rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0)),
            Rows::Many => {
                if let Some(postings) = self.postings(word) {
                    each(postings, |row| found(row, false));
                }
            }
        }
    }

    /// Calls `found` with each of the ascending `rows` that holds the word, and with others that do where that is faster.
    pub fn each_of(&self, word: u32, rows: &[u32], mut found: impl FnMut(u32)) {
        let frequency = usize::try_from(self.tables.frequency(word)).unwrap_or(usize::MAX);
        if frequency / 24 < rows.len() {
            self.each_row(word, |row, _| found(row));
        } else if let Some(mut postings) = self.postings(word) {
            for row in rows {
                if postings.doc() < *row {
                    postings.seek(*row);
                }
                if postings.doc() == *row {
                    found(*row);
                }
            }
        }
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
            each(postings, &mut found);
        }
    }
}

fn each(mut postings: SegmentPostings, mut found: impl FnMut(u32)) {
    let mut row = postings.doc();
    while row != TERMINATED {
        found(row);
        row = postings.advance();
    }
}
