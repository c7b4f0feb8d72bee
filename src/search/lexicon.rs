//! The words of a table's names, and the rows that hold them.
//!
//! Tantivy's term dictionary is walked forwards and has the postings of common words; the side tables have the dictionary
//! backwards and the rows of all others, in one piece, so that a prefix of thousands of words is one scan.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};
use tantivy_fst::{IntoStreamer, Streamer};

use super::near::{LONGEST, Near};
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

/// The most words that one walk through the dictionary brings.
const MOST_WORDS: usize = 600;
/// The most prefixes that one walk through the dictionary brings.
const MOST_PREFIXES: usize = 64;

impl Lexicon {
    /// The words of a segment, given tantivy's readers of its two fields, and the side tables that were made of it; none
    /// where the two do not fit.
    pub fn new(words: Arc<InvertedIndexReader>, raw: Arc<InvertedIndexReader>, tables: Tables) -> Option<Self> {
        let terms = words.terms();
        if u32::try_from(terms.num_terms()).ok()? != tables.words() {
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

    /// The place of a folded word in the dictionary.
    pub fn word(&self, text: &str) -> Option<u32> {
        self.words.terms().term_ord(text).ok().flatten().and_then(|place| u32::try_from(place).ok())
    }

    /// The places of the words that begin with `prefix`.
    pub fn beginning_with(&self, prefix: &[u8]) -> Range<u32> {
        let mut after = prefix.to_vec();
        // Folded words are ASCII, so that the last byte can be counted up.
        if let Some(last) = after.last_mut() {
            *last += 1;
        }
        self.first_from(prefix)..self.first_from(&after)
    }

    fn first_from(&self, text: &[u8]) -> u32 {
        let Ok(mut stream) = self.words.terms().range().ge(text).into_stream() else { return self.tables.words() };
        if stream.advance() { u32::try_from(stream.term_ord()).unwrap_or(u32::MAX) } else { self.tables.words() }
    }

    /// Adds the places of the words within one edit of `text`.
    pub fn within_one(&self, text: &str, words: &mut Vec<u32>) {
        let half = text.len().div_ceil(2);
        self.forwards(&Near::new(text.bytes(), half.saturating_sub(1), usize::MAX), words);
        self.backwards(&Near::new(text.bytes().rev(), text.len() - half, usize::MAX), words);
    }

    /// Adds the places of the words within two edits of `text`.
    pub fn within_two(&self, text: &str, words: &mut Vec<u32>) {
        let third = text.len() / 3;
        let last = text.len() - third;
        self.forwards(&Near::new(text.bytes(), third.saturating_sub(1), third.saturating_sub(1)), words);
        self.forwards(&Near::new(text.bytes(), 0, last.saturating_sub(1)), words);
        self.backwards(&Near::new(text.bytes().rev(), third, third), words);
    }

    fn forwards(&self, near: &Near<'_>, words: &mut Vec<u32>) {
        let Ok(mut stream) = self.words.terms().search(near).without_keys().into_stream() else { return };
        let most = words.len() + MOST_WORDS;
        while words.len() < most && stream.advance() {
            words.extend(u32::try_from(stream.term_ord()));
        }
    }

    fn backwards(&self, near: &Near<'_>, words: &mut Vec<u32>) {
        let mut stream = self.tables.backwards.search(near).into_stream();
        let most = words.len() + MOST_WORDS;
        while words.len() < most
            && let Some((_, word)) = stream.next()
        {
            words.extend(u32::try_from(word));
        }
    }

    /// The places of the words that have a prefix within one edit of `text`.
    pub fn beginning_near(&self, text: &str) -> Vec<Range<u32>> {
        let noted = RefCell::new(Vec::new());
        let near = Near::new(text.bytes(), 0, usize::MAX).noting(&noted);
        if let Ok(mut stream) = self.words.terms().search(&near).without_keys().into_stream() {
            // Nothing matches: the walk is for what it notes.
            while stream.advance() {}
        }
        let mut prefixes = noted.into_inner();
        // The longer a prefix, the more it has in common with the text.
        prefixes.sort_unstable_by(|left, right| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        prefixes.dedup();
        prefixes.truncate(MOST_PREFIXES);
        prefixes.iter().map(|prefix| self.beginning_with(prefix)).collect()
    }

    /// The words of the same sound, with a few strangers; common words only where they are meant.
    pub fn sounding_like(&self, sound: &str) -> impl Iterator<Item = u32> + '_ {
        self.tables.sounds.get(sound).iter().copied()
    }

    /// The text of the word at a place of the dictionary; empty where there is none.
    pub fn text(&self, word: u32) -> String {
        let mut bytes = Vec::new();
        let _ = self.words.terms().ord_to_term(u64::from(word), &mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Calls `found` with each row that holds the word, and whether the row's name begins with it (of common words that
    /// is not told: see [`Tables::firsts`]).
    pub fn each_row(&self, word: u32, mut found: impl FnMut(u32, bool)) {
        match self.tables.rows(word) {
            Rows::One(row) => found(row & !FIRST, row & FIRST != 0),
            Rows::Few(rows) => rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0)),
            Rows::Many => {
                let Some(mut postings) = self.postings(word) else { return };
                let mut row = postings.doc();
                while row != TERMINATED {
                    found(row, false);
                    row = postings.advance();
                }
            }
        }
    }

    /// Calls `found` with each of the ascending `rows` that holds the word.
    pub fn each_of(&self, word: u32, rows: &[u32], mut found: impl FnMut(u32)) {
        let frequency = self.tables.frequency(word);
        if usize::try_from(frequency).is_ok_and(|frequency| frequency / 24 < rows.len()) {
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

    /// The rows whose raw names, without spaces, begin with `term`.
    pub fn raw_beginning_with(&self, term: &str, mut found: impl FnMut(u32)) {
        let Ok(mut stream) = self.raw.terms().range().ge(term).into_stream() else { return };
        while stream.advance() && stream.key().starts_with(term.as_bytes()) {
            let Ok(mut postings) = self.raw.read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
            else {
                return;
            };
            let mut row = postings.doc();
            while row != TERMINATED {
                found(row);
                row = postings.advance();
            }
        }
    }

    /// The longest word that is compared with others by edits.
    pub const LONGEST: usize = LONGEST;
}
