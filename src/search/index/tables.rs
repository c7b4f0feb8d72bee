//! The side tables of an index: what tantivy's term dictionary does not answer fast enough, or not at all.
//!
//! They are laid down when the index is made, and read whole when it is opened: some 18 bytes a name.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::search::index::dictionary::Dictionary;
use crate::search::index::hash_multi_map::HashMultiMap;
use crate::search::{FORMAT, SearchError};

/// A word that more rows hold has its rows in tantivy's postings, which are compressed and can skip.
pub(crate) const RARE: u32 = 128;

/// The bit of a row number that says that the row's name begins with the word.
pub(crate) const FIRST: u32 = 1 << 31;
/// The bit of a head that says that the rest of it is a place in `lists`.
const LISTED: u32 = 1 << 30;
/// The head of a word whose rows are in tantivy's postings.
const COMMON: u32 = u32::MAX;

/// The most rows that an index can have.
pub(crate) const MOST_ROWS: u32 = LISTED - 1;

/// The rows of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// One row, with its [`FIRST`] bit.
    One(u32),
    /// Up to [`RARE`] rows, each with its [`FIRST`] bit.
    Few(&'a [u32]),
    /// More: in tantivy's postings.
    Many,
}

/// Side tables of an index over names.
pub(crate) struct Tables {
    /// For each word in the order of the dictionary its row, its place in `lists`, or [`COMMON`].
    heads: Vec<u32>,
    /// For words of several rows how many, then the rows, in the order of the dictionary.
    lists: Vec<u32>,
    /// The common words, ascending, each with its frequency and where its firsts begin in `firsts`.
    common: Vec<[u32; 3]>,
    /// The rows whose names begin with a common word, word after word.
    firsts: Vec<u32>,
    /// Folded names without spaces, of several words or one common one, to rows.
    pub wholes: HashMultiMap,
    /// First letters of names to rows.
    pub acronyms: HashMultiMap,
    /// Sounds to words.
    pub sounds: HashMultiMap,
    /// The words.
    pub dictionary: Dictionary,
    /// For each row how it stands among rows that answer alike: the shorter and the more prominent, the higher.
    standing: Vec<u8>,
    /// The words that weigh less than others, with their frequencies: a line each.
    pub weighed: String,
}

/// Side tables that are being filled, word by word in the order of the dictionary.
#[derive(Debug, Default)]
pub(crate) struct Filling {
    heads: Vec<u32>,
    lists: Vec<u32>,
    common: Vec<[u32; 3]>,
    firsts: Vec<u32>,
}

fn number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Filling {
    /// The place in the dictionary of the next word.
    pub fn next(&self) -> u32 {
        number(self.heads.len())
    }

    /// Adds a word of few rows, given with their [`FIRST`] bits.
    pub fn add_rare(&mut self, rows: &[u32]) {
        if let [row] = rows {
            self.heads.push(*row);
        } else {
            self.heads.push(LISTED | number(self.lists.len()));
            self.lists.push(number(rows.len()));
            self.lists.extend_from_slice(rows);
        }
    }

    /// Adds a word of many rows, with those whose names begin with it.
    pub fn add_common(&mut self, frequency: u32, firsts: &[u32]) {
        self.common.push([self.next(), frequency, number(self.firsts.len())]);
        self.firsts.extend_from_slice(firsts);
        self.heads.push(COMMON);
    }

    /// The tables, with what was made beside them.
    pub fn finish(self, beside: Beside) -> Tables {
        let Self { heads, lists, common, firsts } = self;
        let Beside { wholes, acronyms, sounds, dictionary, standing, weighed } = beside;
        Tables { heads, lists, common, firsts, wholes, acronyms, sounds, dictionary, standing, weighed }
    }
}

/// What is made beside the rows of words.
pub(crate) struct Beside {
    pub wholes: HashMultiMap,
    pub acronyms: HashMultiMap,
    pub sounds: HashMultiMap,
    pub dictionary: Dictionary,
    pub standing: Vec<u8>,
    pub weighed: String,
}

impl Tables {
    /// The rows of the word at a place of the dictionary; none where there is no such place.
    pub fn rows(&self, word: u32) -> Rows<'_> {
        match self.heads.get(place(word)).copied() {
            None => Rows::Few(&[]),
            Some(COMMON) => Rows::Many,
            Some(head) if head & LISTED == 0 => Rows::One(head),
            Some(head) => {
                let start = place(head & !(LISTED | FIRST));
                let count = self.lists.get(start).copied().unwrap_or(0);
                Rows::Few(self.lists.get(start + 1..start + 1 + place(count)).unwrap_or_default())
            }
        }
    }

    /// Number of rows that hold the word.
    pub fn frequency(&self, word: u32) -> u32 {
        match self.rows(word) {
            Rows::One(_) => 1,
            Rows::Few(rows) => number(rows.len()),
            Rows::Many => self.find_common(word).and_then(|at| self.common.get(at)).map_or(0, |common| common[1]),
        }
    }

    /// How a row stands among rows that answer alike; 0 where there is no such row.
    pub fn standing(&self, row: u32) -> u8 {
        self.standing.get(place(row)).copied().unwrap_or(0)
    }

    /// The rows whose names begin with a common word.
    pub fn firsts(&self, word: u32) -> &[u32] {
        let Some(at) = self.find_common(word) else { return &[] };
        let start = self.common.get(at).map_or(0, |common| common[2]);
        let end = self.common.get(at + 1).map_or(number(self.firsts.len()), |common| common[2]);
        self.firsts.get(place(start)..place(end)).unwrap_or_default()
    }

    /// The common words in a range of the dictionary.
    pub fn common_in(&self, range: &Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let start = self.common.partition_point(|common| common[0] < range.start);
        let end = self.common.partition_point(|common| common[0] < range.end);
        self.common.get(start..end).unwrap_or_default().iter().map(|common| common[0])
    }

    /// How many rows hold a word of a range of the dictionary, about: a row is counted for each of its words.
    pub fn frequencies(&self, range: &Range<u32>) -> u32 {
        let common: u32 = self.common_in(range).map(|word| self.frequency(word)).sum();
        // Most words that are not common are in one row.
        common.saturating_add(range.end.saturating_sub(range.start).saturating_mul(2))
    }

    /// The number of a common word among the common words.
    pub fn find_common(&self, word: u32) -> Option<usize> {
        self.common.binary_search_by_key(&word, |common| common[0]).ok()
    }

    /// Number of words.
    pub fn words(&self) -> u32 {
        number(self.heads.len())
    }

    /// Writes the tables to a file.
    pub fn write(&self, path: &Path, rows: u32) -> Result<(), SearchError> {
        let common: Vec<u32> = self.common.iter().flatten().copied().collect();
        let mut bytes = Vec::new();
        for number in [MAGIC, FORMAT, rows] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for numbers in [
            &self.heads,
            &self.lists,
            &common,
            &self.firsts,
            &self.wholes.starts,
            &self.wholes.items,
            &self.acronyms.starts,
            &self.acronyms.items,
            &self.sounds.starts,
            &self.sounds.items,
        ] {
            bytes.extend_from_slice(&number(numbers.len()).to_le_bytes());
            for number in numbers {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        for section in [self.dictionary.bytes().as_slice(), &self.standing, self.weighed.as_bytes()] {
            bytes.extend_from_slice(&number(section.len()).to_le_bytes());
            bytes.extend_from_slice(section);
        }
        let sum = xxh3_64(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        std::fs::write(path, bytes).map_err(|cause| SearchError::File { path: path.to_owned(), cause })
    }

    /// Reads the tables of an index over `rows` rows, and checks that they fit.
    pub fn read(path: &Path, rows: u32) -> Result<Self, SearchError> {
        let bytes = std::fs::read(path).map_err(|cause| SearchError::File { path: path.to_owned(), cause })?;
        let damaged = |part| SearchError::Damaged { part };
        let mut reader = Reader(&bytes);
        if reader.number() != Some(MAGIC) {
            return Err(damaged("the file of side tables"));
        }
        let format = reader.number().unwrap_or(0);
        if format != FORMAT {
            return Err(SearchError::Format { found: format.to_string() });
        }
        let (body, sum) = bytes.split_last_chunk().ok_or(damaged("the file of side tables"))?;
        if xxh3_64(body) != u64::from_le_bytes(*sum) {
            return Err(damaged("the file of side tables"));
        }
        let found = reader.number().unwrap_or(0);
        if found != rows {
            return Err(SearchError::Shape { segments: 1, documents: found, rows });
        }
        let mut numbers = |part| reader.numbers().ok_or(damaged(part));
        let heads = numbers("the table of words")?;
        let lists = numbers("the table of words")?;
        let common =
            numbers("the table of common words")?.chunks_exact(3).filter_map(|chunk| chunk.try_into().ok()).collect();
        let firsts = numbers("the table of common words")?;
        let wholes = HashMultiMap { starts: numbers("the table of names")?, items: numbers("the table of names")? };
        let acronyms =
            HashMultiMap { starts: numbers("the table of acronyms")?, items: numbers("the table of acronyms")? };
        let sounds = HashMultiMap { starts: numbers("the table of sounds")?, items: numbers("the table of sounds")? };
        let dictionary =
            reader.bytes().and_then(|bytes| Dictionary::read(bytes.to_vec())).ok_or(damaged("the dictionary"))?;
        let standing = reader.bytes().ok_or(damaged("the table of standings"))?.to_vec();
        let weighed =
            reader.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or(damaged("the table of weights"))?;
        let tables = Self {
            heads,
            lists,
            common,
            firsts,
            wholes,
            acronyms,
            sounds,
            dictionary,
            standing,
            weighed: weighed.to_owned(),
        };
        if tables.standing.len() != place(rows)
            || !tables.wholes.is_sound(rows)
            || !tables.acronyms.is_sound(rows)
            || !tables.sounds.is_sound(tables.words().max(1))
        {
            return Err(damaged("a look-up of names"));
        }
        Ok(tables)
    }
}

const MAGIC: u32 = u32::from_le_bytes(*b"VDXN");

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = place(self.number()?);
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn numbers(&mut self) -> Option<Vec<u32>> {
        let length = place(self.number()?).checked_mul(4)?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes.chunks_exact(4).filter_map(|chunk| chunk.try_into().ok()).map(u32::from_le_bytes).collect())
    }
}
