//! Full-text search over descriptions, sectors, places, titles and names: a separate tantivy segment of terms and their
//! frequencies; document `n` is row `n`. Rows are ranked by Okapi BM25 (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework", 2009), k1 = 1.2 and b = 0.75. Words of a description are stemmed in its language, which its
//! stop words tell, other words in English, a query in every language. A compound counts as one word and as two.

mod postings;
mod ranked_rows;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeSet, HashSet};

use tantivy::directory::RamDirectory;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TokenizerManager, WhitespaceTokenizer};
use tantivy::{Index, TantivyDocument};

use crate::index::build::{files_of, open_files, writer_memory};
use crate::index::descriptions::postings::{LocatedWord, StemPostings, WordRows, each_row_with_all, each_row_with_any};
use crate::index::descriptions::ranked_rows::{BestKeys, best_keys, rank_key, row_of, score_of};
use crate::index::descriptions::words::{StemCache, with_known_stems};
use crate::{IndexFiles, SearchError};
use data::Names;
use data::names::MAX_PROMINENCE;

pub use crate::index::descriptions::ranked_rows::RankedRows;
pub use crate::index::descriptions::words::marks;

/// Longest query in words; the rest is ignored. For a description, the number of its rarest words that are used.
const MAX_WORDS: usize = 16;
/// A word of a name is descriptive if this many names, or one description, use it: `Dental` of `Star Dental`.
const MIN_USES: u32 = 4;
/// Maximum postings, so that all are read in time: of a description's distinctive words together, and of a query's
/// words if not all are required. The rarest word is read anyhow.
const MAX_POSTINGS: u64 = 20_000;
const MAX_LIKE: usize = 1_000;
/// Approximate maximum of words in a [`StemCache`].
const MAX_KNOWN: usize = 1 << 17;
/// Share by which prominence raises the score of the most prominent row.
const PROMINENCE_BOOST: f32 = 0.1;
/// Rows with some words of a query are unnecessary once this many have all.
const ENOUGH: usize = 20;
/// A query with at most this many words is searched word by word for rows that have some of them: bounds on the scores of
/// further rows tell little if there are more words.
const MAX_WORDS_IN_TURN: usize = 3;

/// Rows with words of a query in their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescriptionMatches {
    /// The rows with all words.
    pub complete: RankedRows,
    /// If these are few, rows with some of the words, best first.
    pub partial: Vec<u32>,
}

pub struct DescriptionIndex {
    /// `None` without rows.
    postings: Option<StemPostings>,
}

const FIELD: &str = "text";

fn schema() -> (Schema, Field) {
    let mut schema = Schema::builder();
    // Documents are made of stems.
    let indexing = TextFieldIndexing::default().set_tokenizer(STEMS).set_index_option(IndexRecordOption::WithFreqs);
    let field = schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
    (schema.build(), field)
}

/// The name of the tokenizer that splits a text at white space.
const STEMS: &str = "whitespace";

/// Appends numbers and a final 0, with seven bits per byte: frequent stems have low numbers, of one or two bytes.
fn pack(list: &mut Vec<u8>, numbers: impl Iterator<Item = u32>) {
    for mut number in numbers.chain([0]) {
        while number > 0x7f {
            list.push(number as u8 | 0x80);
            number >>= 7;
        }
        list.push(number as u8);
    }
}

/// The numbers of packed lists, including the ends.
fn unpack(lists: &[u8]) -> impl Iterator<Item = u32> {
    let numbers = lists.chunk_by(|byte, _| byte & 0x80 != 0);
    numbers.map(|bytes| bytes.iter().rev().fold(0, |number, byte| number << 7 | u32::from(byte & 0x7f)))
}

impl DescriptionIndex {
    pub(crate) fn create(names: &dyn Names) -> Result<IndexFiles, SearchError> {
        let (schema, field) = schema();
        let tokenizers = TokenizerManager::new();
        tokenizers.register(STEMS, WhitespaceTokenizer::default());
        let (index, directory) = (Index::builder().schema(schema).tokenizers(tokenizers), RamDirectory::create());
        let mut writer =
            index.single_segment_index_writer::<TantivyDocument>(directory.clone(), writer_memory(names.len()))?;
        let mut vocabulary = StemCache::new();
        // Number of uses of each stem. Names made of rarer stems are found by name.
        let mut uses: Vec<u32> = Vec::new();
        let mut count = |stems: &[u32], times: u32| {
            for stem in stems {
                let place = *stem as usize;
                uses.resize(uses.len().max(place + 1), 0);
                uses[place] = uses[place].saturating_add(times);
            }
        };
        // For each row, the stems of its description, its context and its name.
        let mut documents: Vec<Box<[u8]>> = Vec::with_capacity(names.len() as usize);
        let mut packed = Vec::new();
        for row in 0..names.len() {
            packed.clear();
            vocabulary.limit_words(MAX_KNOWN);
            let words = vocabulary.read(&names.description(row));
            let language = vocabulary.language_of(words.iter().copied());
            count(&vocabulary.stems(&words, 0).collect::<Vec<_>>(), MIN_USES);
            pack(&mut packed, vocabulary.stems(&words, language));
            let words = vocabulary.read(&names.context(row));
            pack(&mut packed, vocabulary.stems(&words, 0));
            let words = vocabulary.read(names.name(row));
            let stems: Vec<u32> = vocabulary.stems(&words, 0).collect();
            count(&stems, 1);
            pack(&mut packed, stems.into_iter());
            documents.push(packed.as_slice().into());
        }
        for packed in documents {
            let mut numbers = unpack(&packed);
            let mut next = || -> Vec<u32> { numbers.by_ref().take_while(|number| *number != 0).collect() };
            let (description, context, mut name) = (next(), next(), next());
            name.retain(|stem| uses[*stem as usize] >= MIN_USES);
            let mut text = String::new();
            // A record's description counts twice.
            for stem in [&description, &description, &context, &name].into_iter().flatten() {
                text.push_str(vocabulary.stem(*stem));
                text.push(' ');
            }
            let mut document = TantivyDocument::default();
            document.add_text(field, text);
            writer.add_document(document)?;
        }
        files_of(&writer.finalize()?, &directory)
    }

    pub(crate) fn open(files: IndexFiles, rows: u32) -> Result<Self, SearchError> {
        let (index, searcher) = open_files(files)?;
        let documents = searcher.segment_readers().iter().map(|segment| segment.max_doc()).sum();
        if documents != rows || searcher.segment_readers().len() > 1 {
            return Err(SearchError::Shape { segments: searcher.segment_readers().len(), documents, rows });
        }
        let field = index.schema().get_field(FIELD)?;
        let postings = searcher.segment_readers().first().map(|segment| StemPostings::open(segment, field));
        Ok(Self { postings: postings.transpose()? })
    }

    /// The rows with the words of a query in their descriptions, sectors, places, titles or common words of names, with
    /// their ranks; if they are few, rows with some of them. If there are more than `max`, the first ones, which are the
    /// most prominent: rows are in the default order of their list. Deterministic.
    pub fn search(&self, names: &dyn Names, text: &str, max: usize) -> DescriptionMatches {
        let Some(postings) = &self.postings else { return DescriptionMatches::default() };
        let rank = |row: u32, score: f32| {
            let prominence = names.prominence(row) as f32 / MAX_PROMINENCE as f32;
            score * (1.0 + PROMINENCE_BOOST * prominence)
        };
        let words = with_known_stems(|cache| {
            let text = cache.without_stop_words(text);
            cache.stems_of_query(&text)
        });
        let words: Vec<LocatedWord> = words.iter().take(MAX_WORDS).map(|stems| postings.locate(stems)).collect();
        let mut complete = RankedRows::default();
        let all = postings.weigh(&words).iter().map(|word| postings.rows_of(word)).collect();
        each_row_with_all(all, max, |row, score| complete.push(row, rank(row, score)));
        let missing = ENOUGH.min(max).saturating_sub(complete.len());
        let mut best = BestKeys::new(missing);
        if words.len() > 1 && missing > 0 {
            let words = postings.weigh(&rarest_words(words));
            let known: Vec<u32> = complete.rows().collect();
            // A row is as near as the words that it has are rare among those of the query. Few rows are near enough to read
            // their prominence.
            let add = |best: &mut BestKeys, row: u32, rarity: f32, score: f32| {
                let score = score * rarity.sqrt();
                if score * (1.0 + PROMINENCE_BOOST) >= best.least_score() && known.binary_search(&row).is_err() {
                    best.add(rank_key(row, rank(row, score)));
                }
            };
            if words.len() <= MAX_WORDS_IN_TURN {
                postings.add_best_with_any(&words, 1.0 + PROMINENCE_BOOST, &mut best, add);
            } else {
                let all = words.iter().map(|word| postings.rows_of(word)).collect();
                each_row_with_any(all, |row, rarity, score| add(&mut best, row, rarity, score));
            }
        }
        DescriptionMatches { complete, partial: best.into_rows() }
    }

    /// The rows with most of a row's [`Self::distinctive`] words, ascending, with their scores as a share of its own.
    pub fn find_similar(&self, distinctive: &[String], row: u32) -> Vec<(u32, f32)> {
        let words: Vec<BTreeSet<String>> = distinctive.iter().map(|stem| BTreeSet::from([stem.clone()])).collect();
        let (mut keys, mut own) = (Vec::new(), 0.0);
        each_row_with_any(self.words(&words), |other, _, score| {
            if other == row { own = score } else { keys.push(rank_key(other, score)) }
        });
        let best = best_keys(keys, MAX_LIKE).into_iter();
        let mut similar: Vec<(u32, f32)> = best.map(|key| (row_of(key), (score_of(key) / own).min(1.0))).collect();
        similar.sort_unstable_by_key(|(row, _)| *row);
        similar
    }

    /// The rows with a word, ascending; empty if more than `max` may have it.
    pub fn rows_with(&self, word: &str, max: u64) -> Vec<u32> {
        let stems = with_known_stems(|cache| cache.stems_of_query(word)).into_iter().next().unwrap_or_default();
        let mut rows = Vec::new();
        if self.all_postings(&stems) <= max {
            each_row_with_any(self.words(&[stems]), |row, _, _| rows.push(row));
        }
        rows
    }

    /// The words of another row's texts that are among the distinctive stems, in their order and spelling.
    pub fn words_in_common(&self, names: &dyn Names, distinctive: &[String], other: u32) -> Vec<String> {
        let (description, context) = (names.description(other), names.context(other));
        with_known_stems(|cache| {
            let mut known = HashSet::new();
            let mut both = Vec::new();
            for (index, text) in [&*description, &*context, names.name(other)].into_iter().enumerate() {
                let words = cache.read_places(text);
                let own_language = cache.language_of(words.iter().map(|(word, _)| *word));
                let language = if index == 0 { own_language } else { 0 };
                for (word, place) in words {
                    let Some(stem) = cache.stem_of(word, language) else { continue };
                    if distinctive.iter().any(|known| *known == *cache.stem(stem)) && known.insert(stem) {
                        both.push(text[place].to_lowercase());
                    }
                }
            }
            both
        })
    }

    /// The stems of a row's description that are rarest in the texts of others.
    pub fn distinctive(&self, names: &dyn Names, row: u32) -> Vec<String> {
        let stems: BTreeSet<String> = with_known_stems(|cache| {
            let words = cache.read(&names.description(row));
            let language = cache.language_of(words.iter().copied());
            let stems: Vec<u32> = cache.stems(&words, language).collect();
            stems.into_iter().map(|stem| cache.stem(stem).to_owned()).collect()
        });
        let counted = stems.into_iter().map(|stem| (self.all_postings(&BTreeSet::from([stem.clone()])), stem));
        rarest(counted.filter(|(rows, _)| *rows > 1).collect()).collect()
    }

    fn words(&self, words: &[BTreeSet<String>]) -> Vec<WordRows<'_>> {
        let Some(postings) = &self.postings else { return Vec::new() };
        let words: Vec<LocatedWord> = words.iter().map(|stems| postings.locate(stems)).collect();
        postings.weigh(&words).iter().map(|word| postings.rows_of(word)).collect()
    }

    /// Number of rows with a word; a row counts once for each of several stems.
    pub fn word_frequency(&self, word: &str) -> u64 {
        with_known_stems(|cache| cache.stems_of_query(word)).iter().map(|stems| self.all_postings(stems)).sum()
    }

    fn all_postings(&self, stems: &BTreeSet<String>) -> u64 {
        self.postings.as_ref().map_or(0, |postings| postings.locate(stems).rows())
    }
}

/// The rarest words of a query. A frequent word tells little where others are missing, and is slow to read.
fn rarest_words(mut words: Vec<LocatedWord>) -> Vec<LocatedWord> {
    words.sort_unstable_by(|one, other| one.stems().cmp(other.stems()));
    let counted = words.iter().enumerate().map(|(index, word)| (word.rows(), index)).collect();
    rarest(counted).map(|index| words[index].clone()).collect()
}

/// The rarest words with few postings together; the first one in any case.
fn rarest<T: Ord>(mut counted: Vec<(u64, T)>) -> impl Iterator<Item = T> {
    counted.sort_unstable();
    let mut postings = 0;
    let few = counted.into_iter().take(MAX_WORDS).enumerate().take_while(move |(index, (rows, _))| {
        postings += rows;
        *index == 0 || postings <= MAX_POSTINGS
    });
    few.map(|(_, (_, word))| word)
}
