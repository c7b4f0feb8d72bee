//! The words of a table's names with their rows. Tantivy has those of common words, compressed and with skips; the side
//! tables have all others in one array, so that a prefix of thousands of words is one scan.

use std::ops::Range;
use std::sync::Arc;

use tantivy::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;

use crate::index::build::wanted_character_terms;
use crate::index::tables::{FIRST, Lookups, RowsOfWords, SideTables};

pub(crate) struct TermIndex {
    words: Arc<InvertedIndexReader>,
    raw: Arc<InvertedIndexReader>,
    characters: Arc<InvertedIndexReader>,
    pub rows: RowsOfWords,
    pub lookups: Lookups,
    /// Tantivy's postings of the common words, in their order.
    common: Vec<TermInfo>,
}

/// The cost of a skip to a row, in rows read.
const SKIP_COST: u32 = 24;
/// A block is searched by binary search if at most one in this many of its rows is sought.
const FEW: usize = 8;
/// The maximum number of names without letters or digits that are read.
const MAX_RAW_ROWS: u32 = 2_000;

impl TermIndex {
    /// Combines tantivy's fields with the side tables; `None` if they do not belong together.
    pub(crate) fn new([words, raw, characters]: [Arc<InvertedIndexReader>; 3], own: SideTables) -> Option<Self> {
        let SideTables { rows_of_words: rows, lookups } = own;
        let terms = words.terms();
        if terms.num_terms() as u64 != u64::from(rows.len()) || lookups.dictionary.len() != rows.len() {
            return None;
        }
        let info = |word: u32| {
            let mut text = Vec::new();
            terms.ord_to_term(u64::from(word), &mut text).ok()?.then_some(())?;
            terms.get(text).ok()?
        };
        let common = rows.common_in(&(0..rows.len())).map(info).collect::<Option<_>>()?;
        Some(Self { words, raw, characters, rows, lookups, common })
    }

    pub(crate) fn text(&self, word: u32) -> String {
        let mut bytes = Vec::new();
        let found = self.words.terms().ord_to_term(u64::from(word), &mut bytes);
        assert!(matches!(found, Ok(true)), "word {word} is not in the dictionary: {found:?}");
        String::from_utf8(bytes).expect("only folded words are indexed")
    }

    /// Calls `found` with each row of a word, and true if its name begins with it; for a common one with `max` and false.
    pub(crate) fn each_row(&self, word: u32, max: u32, mut found: impl FnMut(u32, bool)) {
        if let Some(rows) = self.rows.rare(word) {
            rows.iter().for_each(|row| found(row & !FIRST, row & FIRST != 0));
        } else if let Some(postings) = self.postings(word) {
            each_document(postings, max, |row| found(row, false));
        }
    }

    /// Calls `found` with each row of the rare words in a range, and true if the row's name begins with the word.
    pub(crate) fn each_rare_row(&self, words: &Range<u32>, mut found: impl FnMut(u32, bool)) {
        let rows = words.clone().filter_map(|word| self.rows.rare(word)).flatten();
        rows.for_each(|row| found(row & !FIRST, row & FIRST != 0));
    }

    /// Calls `found` with each row that has a name beginning with a word in a range.
    pub(crate) fn each_first_row(&self, words: &Range<u32>, mut found: impl FnMut(u32)) {
        self.each_rare_row(words, |row, is_first| {
            if is_first {
                found(row);
            }
        });
        self.rows.common_in(words).flat_map(|word| self.rows.first_rows(word)).for_each(|row| found(*row));
    }

    /// Calls `found` with each of the ascending `rows` that contains a common word.
    pub(crate) fn each_row_among(&self, word: u32, rows: &[u32], mut found: impl FnMut(u32)) {
        let Some(mut blocks) = self.postings(word) else { return };
        let mut rest = rows;
        while let [first, ..] = rest {
            // Skips the blocks in between.
            blocks.seek(*first);
            let Some(last) = blocks.docs().last().filter(|last| *last >= first) else { return };
            let (within, later) = rest.split_at(rest.partition_point(|row| row <= last));
            let mut docs = blocks.docs();
            for row in within {
                let before = match within.len() > docs.len() / FEW {
                    true => docs.iter().take_while(|doc| *doc < row).count(),
                    false => docs.partition_point(|doc| doc < row),
                };
                docs = &docs[before..];
                if docs.first() == Some(row) {
                    found(*row);
                }
            }
            rest = later;
        }
    }

    /// Approximate number of rows that [`TermIndex::each_row_among`] reads.
    pub(crate) fn cost_among(&self, word: u32, rows: &[u32]) -> u32 {
        self.rows.count(word).min((rows.len() as u32).saturating_mul(SKIP_COST))
    }

    fn postings(&self, word: u32) -> Option<BlockSegmentPostings> {
        let info = &self.common[self.rows.find_common(word)?];
        self.words.read_block_postings_from_terminfo(info, IndexRecordOption::Basic).ok()
    }

    /// The rows whose names have all pairs of successive characters of a text, ascending; at most `max` are read.
    pub(crate) fn rows_with_characters(&self, characters: &str, max: u32) -> Vec<u32> {
        let info = |term: &str| self.characters.terms().get(term).ok().flatten();
        let Some(mut terms) = wanted_character_terms(characters).map(info).collect::<Option<Vec<TermInfo>>>() else {
            return Vec::new();
        };
        terms.sort_by_key(|info| info.doc_freq);
        let mut blocks = terms
            .iter()
            .map_while(|info| self.characters.read_block_postings_from_terminfo(info, IndexRecordOption::Basic).ok());
        let mut rows = Vec::new();
        blocks.next().into_iter().for_each(|rarest| each_document(rarest, max, |row| rows.push(row)));
        for mut other in blocks {
            rows.retain(|row| {
                other.seek(*row);
                other.docs().binary_search(row).is_ok()
            });
        }
        rows
    }

    /// Calls `found` with the rows that have a raw name beginning with `term`, without spaces.
    pub(crate) fn each_raw_row(&self, term: &str, mut found: impl FnMut(u32)) {
        let Ok(mut stream) = self.raw.terms().range().ge(term).into_stream() else { return };
        let mut read = 0;
        while read < MAX_RAW_ROWS && stream.advance() && stream.key().starts_with(term.as_bytes()) {
            let Ok(postings) = self.raw.read_block_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
            else {
                return;
            };
            read += stream.value().doc_freq;
            each_document(postings, MAX_RAW_ROWS, &mut found);
        }
    }
}

fn each_document(mut blocks: BlockSegmentPostings, max: u32, mut found: impl FnMut(u32)) {
    let mut rest = max as usize;
    while rest > 0 && !blocks.docs().is_empty() {
        let docs = blocks.docs();
        let read = docs.len().min(rest);
        docs[..read].iter().for_each(|row| found(*row));
        rest -= read;
        blocks.advance();
    }
}
