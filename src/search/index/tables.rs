//! The side tables of an index: data that tantivy does not provide, or not fast enough. Stored as an archive, like the
//! tables of a snapshot, and read into memory when opened: about 18 bytes per name.

use std::io;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use crate::SearchError;
use crate::index::dictionary::Dictionary;
use crate::index::hash_multi_map::HashMultiMap;
use data::Checksums;
use data::archive::{AlignedBytes, Archive, ArchiveWriter};

/// A word in more rows is common: its rows are in tantivy's postings, which are compressed and can skip.
pub(crate) const MAX_RARE_ROWS: u32 = 128;

/// The bit of a row number that marks a row whose name begins with the word.
pub(crate) const FIRST: u32 = 1 << 31;
/// The bit of a word's entry that marks an index into `row_lists`.
const LISTED: u32 = 1 << 30;
const COMMON: u32 = u32::MAX;

pub(crate) const MAX_ROWS: u32 = LISTED - 1;

/// Words are numbered as in the dictionary.
pub(crate) struct SideTables {
    pub rows_of_words: RowsOfWords,
    pub lookups: Lookups,
}

#[derive(Debug, Default)]
pub(crate) struct RowsOfWords {
    /// For each word its row, its index in `row_lists`, or [`COMMON`].
    entries: Vec<u32>,
    /// For words in several rows the number of rows, then the rows.
    row_lists: Vec<u32>,
    /// The common words, ascending, each with its number of rows and the start of its rows in `first_rows`.
    common: Vec<[u32; 3]>,
    /// The rows whose names begin with a common word, word by word.
    first_rows: Vec<u32>,
}

/// Lookups other than that of rows by word.
pub(crate) struct Lookups {
    /// Folded names without spaces, of several words or one common word, to rows.
    pub full_names: HashMultiMap,
    /// First letters of names to rows.
    pub acronyms: HashMultiMap,
    pub phonetic: HashMultiMap,
    pub dictionary: Dictionary,
    /// For each row its rank among rows that match equally well, see [`crate::rank::static_rank`].
    pub static_ranks: Vec<u8>,
    /// The words that weigh less than others, with their number of rows: a line each.
    pub frequent_words: String,
}

impl RowsOfWords {
    /// True if each word has rows below `rows`, and the lists of the common words are consistent.
    fn is_valid(&self, rows: u32) -> bool {
        let is_row = |row: &u32| row & !FIRST < rows;
        let mut common = self.common.iter();
        let mut start = 0;
        (0..self.len()).all(|word| match self.is_common(word) {
            true => common.next().is_some_and(|[known, _, first]| {
                let ascends = *known == word && *first >= start;
                start = *first;
                ascends
            }),
            false => self.rare(word).is_some_and(|rows| rows.iter().all(is_row)),
        }) && common.next().is_none()
            && start as usize <= self.first_rows.len()
            && self.first_rows.iter().all(is_row)
    }

    /// Number of words; the number of the next word while they are added.
    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Adds the next word, a rare one, with its rows and their [`FIRST`] bits.
    pub(crate) fn add_rare(&mut self, rows: &[u32]) {
        if let [row] = rows {
            self.entries.push(*row);
        } else {
            self.entries.push(LISTED | self.row_lists.len() as u32);
            self.row_lists.push(rows.len() as u32);
            self.row_lists.extend_from_slice(rows);
        }
    }

    /// Adds the next word, a common one, with its number of rows and those with names that begin with it.
    pub(crate) fn add_common(&mut self, rows: u32, first_rows: &[u32]) {
        self.common.push([self.len(), rows, self.first_rows.len() as u32]);
        self.first_rows.extend_from_slice(first_rows);
        self.entries.push(COMMON);
    }

    /// The rows of a rare word, up to [`MAX_RARE_ROWS`], each with its [`FIRST`] bit; `None` for a common word.
    pub(crate) fn rare(&self, word: u32) -> Option<&[u32]> {
        let entry = &self.entries[word as usize];
        match *entry {
            COMMON => None,
            row if row & LISTED == 0 => Some(slice::from_ref(entry)),
            list => {
                let (count, rows) = self.row_lists.get((list & !(LISTED | FIRST)) as usize..)?.split_first()?;
                rows.get(..*count as usize)
            }
        }
    }

    pub(crate) fn count(&self, word: u32) -> u32 {
        match self.rare(word) {
            Some(rows) => rows.len() as u32,
            None => self.find_common(word).map_or(0, |index| self.common[index][1]),
        }
    }

    /// Approximate number of rows of a range of words; a row is counted for each of its words.
    pub(crate) fn estimate(&self, words: &Range<u32>) -> u32 {
        let common: u32 = self.common_in(words).map(|word| self.count(word)).sum();
        // Most rare words are in one row.
        common.saturating_add((words.len() as u32).saturating_mul(2))
    }

    pub(crate) fn is_common(&self, word: u32) -> bool {
        self.entries[word as usize] == COMMON
    }

    pub(crate) fn find_common(&self, word: u32) -> Option<usize> {
        self.common.binary_search_by_key(&word, |common| common[0]).ok()
    }

    pub(crate) fn common_in(&self, words: &Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let start = self.common.partition_point(|common| common[0] < words.start);
        let end = self.common.partition_point(|common| common[0] < words.end);
        // A range without words may end before it starts.
        self.common.get(start..end).into_iter().flatten().map(|common| common[0])
    }

    pub(crate) fn first_rows(&self, word: u32) -> &[u32] {
        let Some(index) = self.find_common(word) else { return &[] };
        let start = self.common[index][2] as usize;
        let end = self.common.get(index + 1).map_or(self.first_rows.len(), |next| next[2] as usize);
        &self.first_rows[start..end]
    }
}

impl SideTables {
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let Self { rows_of_words, lookups } = self;
        let mut bytes = Vec::new();
        let mut writer = ArchiveWriter::new(&mut bytes)?;
        writer.section("words", &rows_of_words.entries)?;
        writer.section("row_lists", &rows_of_words.row_lists)?;
        writer.section("common_words", &rows_of_words.common)?;
        writer.section("first_rows", &rows_of_words.first_rows)?;
        let maps =
            [("full_names", &lookups.full_names), ("acronyms", &lookups.acronyms), ("phonetic", &lookups.phonetic)];
        for (name, map) in maps {
            writer.section(&format!("{name}#"), &map.starts)?;
            writer.section(name, &map.items)?;
        }
        writer.section("dictionary", &lookups.dictionary.to_bytes())?;
        writer.section("static_ranks", &lookups.static_ranks)?;
        writer.section("frequent_words", lookups.frequent_words.as_bytes())?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Reads the side tables of an index over `rows` rows and checks that they are consistent.
    pub(crate) fn read(bytes: &[u8], rows: u32) -> Result<Self, SearchError> {
        let archive = Archive::open(Arc::new(AlignedBytes::copy(bytes)), Checksums::Verify)?;
        let damaged = |part| SearchError::Damaged { part };
        let numbers =
            |name: &str| -> Result<Vec<u32>, SearchError> { Ok(archive.get(&archive.open_column(name)?).to_vec()) };
        let map = |name: &'static str, bound| {
            let map = HashMultiMap { starts: numbers(&format!("{name}#"))?, items: numbers(name)? };
            if map.is_valid(bound) { Ok(map) } else { Err(damaged(name)) }
        };
        let rows_of_words = RowsOfWords {
            entries: numbers("words")?,
            row_lists: numbers("row_lists")?,
            common: archive.get(&archive.open_column("common_words")?).to_vec(),
            first_rows: numbers("first_rows")?,
        };
        let static_ranks = archive.bytes("static_ranks")?.to_vec();
        if static_ranks.len() != rows as usize {
            return Err(SearchError::Shape { segments: 1, documents: static_ranks.len() as u32, rows });
        }
        if !rows_of_words.is_valid(rows) {
            return Err(damaged("the rows of words"));
        }
        let dictionary = Dictionary::from_bytes(archive.bytes("dictionary")?.to_vec());
        let frequent_words = String::from_utf8(archive.bytes("frequent_words")?.to_vec());
        let lookups = Lookups {
            full_names: map("full_names", rows)?,
            acronyms: map("acronyms", rows)?,
            phonetic: map("phonetic", rows_of_words.len())?,
            dictionary: dictionary.ok_or(damaged("the dictionary"))?,
            static_ranks,
            frequent_words: frequent_words.map_err(|_| damaged("the list of frequent words"))?,
        };
        Ok(Self { rows_of_words, lookups })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_rows_that_do_not_exist_are_rejected() {
        let change = |change: &dyn Fn(&mut RowsOfWords)| {
            let mut rows = RowsOfWords::default();
            rows.add_rare(&[2 | FIRST]);
            rows.add_rare(&[0, 1 | FIRST]);
            rows.add_common(3, &[1]);
            rows.add_common(2, &[]);
            change(&mut rows);
            rows
        };
        assert!(change(&|_| ()).is_valid(3));
        assert!(!change(&|_| ()).is_valid(2), "row 2 does not exist");
        let changes: [&dyn Fn(&mut RowsOfWords); 9] = [
            &|rows| rows.entries[0] = 3,
            &|rows| rows.entries[1] = LISTED | 2,
            &|rows| rows.entries[1] = LISTED | 3,
            &|rows| rows.row_lists[0] = 3,
            &|rows| rows.row_lists[1] = 3,
            &|rows| rows.entries[0] = COMMON,
            &|rows| rows.entries[2] = 0,
            &|rows| rows.common[1][2] = 2,
            &|rows| rows.first_rows[0] = 3,
        ];
        for (index, one) in changes.into_iter().enumerate() {
            assert!(!change(one).is_valid(3), "change {index}");
        }
    }
}
