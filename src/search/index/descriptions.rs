//! Full-text search over descriptions, sectors, places, titles and names: a separate tantivy segment of terms and their
//! frequencies; document `n` is row `n`. Rows are ranked by Okapi BM25 (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework", 2009), k1 = 1.2 and b = 0.75. Words of a description are stemmed in its language, which its
//! stop words tell, other words in English, a query in every language. A compound counts as one word and as two.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use once_cell::sync::Lazy;
use tantivy::directory::RamDirectory;
use tantivy::query::{EnableScoring, Query, Scorer, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer, Stemmer, StopWordFilter,
    TextAnalyzer, TextAnalyzerBuilder, TokenStream, Tokenizer, TokenizerManager, WhitespaceTokenizer,
};
use tantivy::{DocSet, Index, Searcher, TERMINATED, TantivyDocument, Term};

use crate::index::build::{files_of, open_files, writer_memory};
use crate::{IndexFiles, SearchError};
use data::archive::facet_column::{RowSet, bit_words};
use data::import::key_map::KeyMap;
use data::names::MAX_PROMINENCE;
use data::{Names, word_file};

/// Languages with stemming. The first is used for sectors, places, titles and names, and for texts that tell none.
const LANGUAGES: [Language; 8] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Italian,
    Language::Portuguese,
    Language::Dutch,
    Language::Swedish,
];

/// Longest query in words; the rest is ignored. For a description, the number of its rarest words that are used.
const MAX_WORDS: usize = 16;
/// A word of a name is descriptive if this many names, or one description, use it: `Dental` of `Star Dental`.
const MIN_USES: u32 = 4;
/// Maximum postings, so that all are read in time: of a description's distinctive words together, and of a query's
/// words if not all are required. The rarest word is read anyhow.
const MAX_POSTINGS: u64 = 20_000;
const MAX_LIKE: usize = 1_000;
const ROWS_AT_A_TIME: u32 = 4_096;
/// Approximate maximum of words in a [`StemCache`].
const MAX_KNOWN: usize = 1 << 17;
/// The same for the words that a thread keeps between requests: some 2 MB.
const MAX_KNOWN_OF_THREAD: usize = 1 << 13;
/// Longest word in bytes.
const MAX_WORD: usize = 40;
/// Share by which prominence raises the score of the most prominent row.
const PROMINENCE_BOOST: f32 = 0.1;
/// Rows with some words of a query are unnecessary once this many have all.
const ENOUGH: usize = 20;
/// A text is in another language than English if it has this many more of its stop words: `ai` is one of Italian.
const MIN_FOREIGN: usize = 2;

/// Rows with words of a query in their texts, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescriptionMatches {
    pub rows: Vec<u32>,
    pub complete: usize,
}

pub struct DescriptionIndex {
    searcher: Searcher,
    field: Field,
}

/// Analyzers of words without stop words, stemmed and without accents, by language.
static STEMMED: Lazy<Vec<TextAnalyzer>> = Lazy::new(|| {
    let stemmed = |language: Language| {
        words_of_text().filter(stop_words(language)).filter(Stemmer::new(language)).filter(AsciiFoldingFilter).build()
    };
    LANGUAGES.iter().map(|language| stemmed(*language)).collect()
});

/// The analyzer of words in lower case, and two of a single word by language: without stop words, and also stemmed.
static OF_WORDS: Lazy<(TextAnalyzer, Vec<TextAnalyzer>, Vec<TextAnalyzer>)> = Lazy::new(|| {
    let without = |language: &Language| TextAnalyzer::builder(RawTokenizer::default()).filter(stop_words(*language));
    let stemmed =
        |language: &Language| without(language).filter(Stemmer::new(*language)).filter(AsciiFoldingFilter).build();
    let without = LANGUAGES.iter().map(|language| without(language).build()).collect();
    (words_of_text().build(), without, LANGUAGES.iter().map(stemmed).collect())
});

/// Compounds as one word, by their two.
static COMPOUNDS: Lazy<HashMap<&str, HashMap<&str, String>>> = Lazy::new(|| {
    let mut compounds: HashMap<&str, HashMap<&str, String>> = HashMap::new();
    for (first, second) in word_file::entries(include_str!("compounds.txt")).filter_map(|line| line.split_once(' ')) {
        compounds.entry(first).or_default().insert(second, format!("{first}{second}"));
    }
    compounds
});

/// The two words as one if they are a compound, also of a plural.
fn compound(first: &str, second: &str) -> Option<&'static str> {
    let compounds = COMPOUNDS.get(first)?;
    let singular = || compounds.get(second.strip_suffix('s')?);
    compounds.get(second).or_else(singular).map(String::as_str)
}

fn words_of_text() -> TextAnalyzerBuilder<impl Tokenizer> {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(RemoveLongFilter::limit(MAX_WORD)).filter(LowerCaser)
}

fn stop_words(language: Language) -> StopWordFilter {
    StopWordFilter::new(language).expect("the language has stop words")
}

/// The words of a text with their ranges in bytes.
fn words(analyzer: &TextAnalyzer, text: &str) -> Vec<(String, Range<usize>)> {
    let mut analyzer = analyzer.clone();
    let mut stream = analyzer.token_stream(text);
    let mut words = Vec::new();
    while let Some(token) = stream.next() {
        words.push((token.text.clone(), token.offset_from..token.offset_to));
    }
    words
}

struct StemCache {
    plain: TextAnalyzer,
    /// Analyzers of single words, by language: the first remove stop words, the second also stem.
    without_stop_words: Vec<TextAnalyzer>,
    stemmed: Vec<TextAnalyzer>,
    known: KeyMap<usize>,
    max_known: usize,
    words: Vec<CachedWord>,
    stem_numbers: KeyMap<u32>,
    stem_texts: Vec<Box<str>>,
}

struct CachedWord {
    text: String,
    /// True for a stop word, by language.
    stops: [bool; LANGUAGES.len()],
    /// Number of the stem once it is known, by language; a stop word has none.
    stems: [Option<Option<u32>>; LANGUAGES.len()],
}

impl StemCache {
    /// Caches about `max_known` words at once.
    fn new(max_known: usize) -> Self {
        // Copies share their lists of stop words.
        let (plain, without_stop_words, stemmed) = OF_WORDS.clone();
        let (known, stem_numbers) = (KeyMap::default(), KeyMap::default());
        let (words, stem_texts) = (Vec::new(), Vec::new());
        Self { plain, without_stop_words, stemmed, known, max_known, words, stem_numbers, stem_texts }
    }

    /// Splits a text into words, which compounds follow as one word. The indexes are valid until the next text is read.
    fn read(&mut self, text: &str) -> Vec<usize> {
        let mut read = self.read_words(text);
        let pair = |pair: &[usize]| compound(&self.words[pair[0]].text, &self.words[pair[1]].text);
        let compounds: Vec<&str> = read.windows(2).filter_map(pair).collect();
        for compound in compounds {
            read.push(self.known_word(compound));
        }
        read
    }

    fn read_words(&mut self, text: &str) -> Vec<usize> {
        // Names keep adding words that seldom recur.
        if self.words.len() > self.max_known {
            self.words.clear();
            self.known = KeyMap::default();
        }
        self.read_places(text).into_iter().map(|(word, _)| word).collect()
    }

    /// The words of a text with their ranges in bytes; older indexes stay valid.
    fn read_places(&mut self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut plain = self.plain.clone();
        let mut read = Vec::new();
        plain.token_stream(text).process(&mut |token| {
            read.push((self.known_word(&token.text), token.offset_from..token.offset_to));
        });
        read
    }

    fn known_word(&mut self, text: &str) -> usize {
        let Self { without_stop_words, known, words, .. } = self;
        known.insert_new(text, words.len()).unwrap_or_else(|| {
            let mut is_stop = |index: usize| only_word(&mut without_stop_words[index], text).is_none();
            let stops = std::array::from_fn(&mut is_stop);
            words.push(CachedWord { text: text.to_owned(), stops, stems: Default::default() });
            words.len() - 1
        })
    }

    /// The language with the most stop words among the words, as an index of [`LANGUAGES`], if it has at least
    /// [`MIN_FOREIGN`] more than English.
    fn language_of(&self, words: &[usize]) -> usize {
        let count = |language: usize| words.iter().filter(|word| self.words[**word].stops[language]).count();
        let best = (0..LANGUAGES.len()).rev().max_by_key(|language| count(*language)).unwrap_or(0);
        if count(best) >= count(0) + MIN_FOREIGN { best } else { 0 }
    }

    /// The numbers of the words' stems in a language. Numbers start at 1 and stay valid.
    fn stems(&mut self, words: &[usize], language: usize) -> impl Iterator<Item = u32> {
        words.iter().filter_map(move |word| self.stem_number(*word, language))
    }

    /// The number of a word's stem in a language; `None` for a stop word.
    fn stem_number(&mut self, word: usize, language: usize) -> Option<u32> {
        let Self { stemmed, words, stem_numbers, stem_texts, .. } = self;
        let CachedWord { text, stems, .. } = &mut words[word];
        *stems[language].get_or_insert_with(|| {
            let stem = only_word(&mut stemmed[language], text)?;
            let next = stem_texts.len() as u32 + 1;
            let known = stem_numbers.insert_new(&stem, next);
            Some(known.unwrap_or_else(|| {
                stem_texts.push(stem.into());
                next
            }))
        })
    }

    fn stem(&self, number: u32) -> &str {
        &self.stem_texts[number as usize - 1]
    }
}

/// The analyzed word; `None` if the analyzer drops it.
fn only_word(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}

thread_local! {
    static KNOWN_STEMS: RefCell<StemCache> = RefCell::new(StemCache::new(MAX_KNOWN_OF_THREAD));
}

/// Reads texts with the words that this thread read before: most words of a text are in others, and stems take time.
fn with_known_stems<T>(read: impl FnOnce(&mut StemCache) -> T) -> T {
    KNOWN_STEMS.with_borrow_mut(|known| {
        // Stems are never dropped one by one.
        if known.stem_texts.len() > MAX_KNOWN_OF_THREAD {
            *known = StemCache::new(MAX_KNOWN_OF_THREAD);
        }
        read(known)
    })
}

fn language_of(text: &str) -> usize {
    with_known_stems(|known| {
        let words = known.read(text);
        known.language_of(&words)
    })
}

/// A text without the stop words of its language, which other languages may have as words, except those of compounds.
fn without_stop_words(text: &str) -> String {
    with_known_stems(|known| {
        let read = known.read_words(text);
        let language = known.language_of(&read);
        let words: Vec<&CachedWord> = read.iter().map(|word| &known.words[*word]).collect();
        let is_compound =
            |first: usize| words.get(first + 1).is_some_and(|next| compound(&words[first].text, &next.text).is_some());
        let is_kept = |index: &usize| {
            !words[*index].stops[language] || is_compound(*index) || *index > 0 && is_compound(*index - 1)
        };
        (0..words.len()).filter(is_kept).map(|index| words[index].text.as_str()).collect::<Vec<_>>().join(" ")
    })
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
        let mut vocabulary = StemCache::new(MAX_KNOWN);
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
            let words = vocabulary.read(&names.description(row));
            let language = vocabulary.language_of(&words);
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
        for segment in searcher.segment_readers() {
            // Reads all files of the field, so that a missing one is noticed now.
            segment.inverted_index(field)?;
            segment.get_fieldnorms_reader(field)?;
        }
        Ok(Self { searcher, field })
    }

    /// The rows with the words of a query in their descriptions, sectors, places, titles or common words of names, best
    /// first; if they are few, rows with some of them follow. If there are more than `max`, the first ones, which are the
    /// most prominent: rows are in the default order of their list. Deterministic.
    pub fn search(&self, names: &dyn Names, text: &str, max: usize) -> DescriptionMatches {
        let best = |scored: Vec<(f32, u32)>, max: usize| {
            let prominent = scored.into_iter().map(|(score, row)| {
                let prominence = names.prominence(row) as f32 / MAX_PROMINENCE as f32;
                (score * (1.0 + PROMINENCE_BOOST * prominence), row)
            });
            best_of(prominent, max).into_iter().map(|(_, row)| row)
        };
        let words: Vec<BTreeSet<String>> = self.stems(&without_stop_words(text)).take(MAX_WORDS).collect();
        let mut scored = Vec::new();
        each_row_with_all(self.words(&words), max, |row, score| scored.push((score, row)));
        let mut rows: Vec<u32> = best(scored, max).collect();
        let complete = rows.len();
        if words.len() > 1 && complete < ENOUGH.min(max) {
            // A frequent word tells little where others are missing, and is slow to read.
            let counted = words.into_iter().map(|stems| (self.all_postings(&stems), stems)).collect();
            let words: Vec<BTreeSet<String>> = rarest(counted).collect();
            let mut partial = Vec::new();
            // A row is as near as the words that it has are rare among those of the query.
            each_row_with_any(self.words(&words), |row, rarity, score| partial.push((score * rarity.sqrt(), row)));
            partial.retain(|(_, row)| !rows.contains(row));
            rows.extend(best(partial, ENOUGH.min(max) - complete));
        }
        DescriptionMatches { rows, complete }
    }

    /// The rows with most of a row's [`Self::distinctive`] words, ascending, with their scores as a share of its own.
    pub fn find_similar(&self, distinctive: &[String], row: u32) -> Vec<(u32, f32)> {
        let words: Vec<BTreeSet<String>> = distinctive.iter().map(|stem| BTreeSet::from([stem.clone()])).collect();
        let (mut scored, mut own) = (Vec::new(), 0.0);
        each_row_with_any(
            self.words(&words),
            |other, _, score| if other == row { own = score } else { scored.push((score, other)) },
        );
        let best = best_of(scored.into_iter(), MAX_LIKE);
        let mut similar: Vec<(u32, f32)> = best.into_iter().map(|(score, row)| (row, (score / own).min(1.0))).collect();
        similar.sort_unstable_by_key(|(row, _)| *row);
        similar
    }

    /// The rows with a word, ascending; empty if more than `max` may have it.
    pub fn rows_with(&self, word: &str, max: u64) -> Vec<u32> {
        let stems = self.stems(word).next().unwrap_or_default();
        let mut rows = Vec::new();
        if self.all_postings(&stems) <= max {
            each_row_with_any(self.words(&[stems]), |row, _, _| rows.push(row));
        }
        rows
    }

    /// The words of another row's texts that are among the distinctive stems, in their order and spelling.
    pub fn words_in_common(&self, names: &dyn Names, distinctive: &[String], other: u32) -> Vec<String> {
        let (description, context) = (names.description(other), names.context(other));
        with_known_stems(|known| {
            let words = known.read(&description);
            let language = known.language_of(&words);
            let mut named = HashSet::new();
            let mut both = Vec::new();
            for (language, text) in [(language, description.as_str()), (0, context.as_str()), (0, names.name(other))] {
                for (word, place) in known.read_places(text) {
                    let Some(number) = known.stem_number(word, language) else { continue };
                    let is_distinctive = distinctive.iter().any(|stem| stem == known.stem(number));
                    if is_distinctive && named.insert(number) {
                        both.push(text[place].to_lowercase());
                    }
                }
            }
            both
        })
    }

    /// The stems of a row's description that are rarest in the texts of others.
    pub fn distinctive(&self, names: &dyn Names, row: u32) -> Vec<String> {
        let description = names.description(row);
        let stems: Vec<String> = with_known_stems(|known| {
            let words = known.read(&description);
            let language = known.language_of(&words);
            let stems: BTreeSet<u32> = known.stems(&words, language).collect();
            stems.into_iter().map(|stem| known.stem(stem).to_owned()).collect()
        });
        rarest(stems.into_iter().map(|stem| (self.postings(&stem), stem)).filter(|(rows, _)| *rows > 1).collect())
            .collect()
    }

    fn words(&self, words: &[BTreeSet<String>]) -> Vec<WordScorer> {
        let scorer = |stem: &String| {
            let segment = self.searcher.segment_readers().first()?;
            let query = TermQuery::new(self.term(stem), IndexRecordOption::WithFreqs);
            let weight = query.weight(EnableScoring::enabled_from_searcher(&self.searcher));
            // A compound is one word, though it has both words of a query.
            let sharing = words.iter().filter(|stems| stems.contains(stem)).count().max(1);
            let scorer = weight.and_then(|weight| weight.scorer(segment, 1.0 / sharing as f32));
            // Only reading a file can fail, and the files are in memory.
            debug_assert!(scorer.is_ok(), "a file cannot be read");
            scorer.ok().filter(|scorer| scorer.doc() != TERMINATED)
        };
        let of_word = |stems: &BTreeSet<String>| {
            let rarity = (1.0 + self.searcher.num_docs() as f32 / self.all_postings(stems).max(1) as f32).ln();
            WordScorer::new(stems.iter().filter_map(scorer).collect(), rarity)
        };
        words.iter().map(of_word).collect()
    }

    fn term(&self, stem: &str) -> Term {
        Term::from_field_text(self.field, stem)
    }

    /// Number of rows with a word; a row counts once for each of several stems.
    pub fn word_frequency(&self, word: &str) -> u64 {
        self.stems(word).map(|stems| self.all_postings(&stems)).sum()
    }

    fn all_postings(&self, stems: &BTreeSet<String>) -> u64 {
        stems.iter().map(|stem| self.postings(stem)).sum()
    }

    fn postings(&self, stem: &str) -> u64 {
        self.searcher.doc_freq(&self.term(stem)).unwrap_or(0)
    }

    /// The stems of each word of a text, in all languages.
    fn stems(&self, text: &str) -> impl Iterator<Item = BTreeSet<String>> + use<> {
        let mut of_words: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for analyzer in STEMMED.iter() {
            for (stem, place) in words(analyzer, text) {
                of_words.entry(place.start).or_default().insert(stem);
            }
        }
        // A row with a compound as one word has both of its words.
        let plain = words(&OF_WORDS.0, text);
        for ((first, one), (second, two)) in plain.iter().zip(plain.iter().skip(1)) {
            let Some(compound) = compound(first, second) else { continue };
            let stems: BTreeSet<String> =
                OF_WORDS.2.iter().filter_map(|of| only_word(&mut of.clone(), compound)).collect();
            for place in [one, two] {
                if let Some(of_word) = of_words.get_mut(&place.start) {
                    of_word.extend(stems.iter().cloned());
                }
            }
        }
        // A repeated word counts once.
        let mut known: Vec<BTreeSet<String>> = Vec::new();
        for stems in of_words.into_values() {
            if !known.iter().any(|known| known.is_subset(&stems) || stems.is_subset(known)) {
                known.push(stems);
            }
        }
        known.into_iter()
    }
}

/// The rows that have one of the stems of a word, ascending.
struct WordScorer {
    stems: Vec<Box<dyn Scorer>>,
    /// Logarithm of how few rows have the word.
    rarity: f32,
    /// The current row; [`TERMINATED`] after the last one.
    row: u32,
}

impl WordScorer {
    fn new(stems: Vec<Box<dyn Scorer>>, rarity: f32) -> Self {
        let row = stems.iter().map(|stem| stem.doc()).min().unwrap_or(TERMINATED);
        Self { stems, rarity, row }
    }

    /// Moves to the first row from `row` on.
    fn seek(&mut self, row: u32) -> u32 {
        let seek = |stem: &mut Box<dyn Scorer>| match row.saturating_sub(stem.doc()) {
            0 => stem.doc(),
            1 => stem.advance(),
            _ => stem.seek(row),
        };
        if self.row < row {
            self.row = self.stems.iter_mut().map(seek).min().unwrap_or(TERMINATED);
        }
        self.row
    }

    /// The score of the current row: that of its best stem.
    fn score(&mut self) -> f32 {
        self.stems.iter_mut().filter(|stem| stem.doc() == self.row).map(|stem| stem.score()).fold(0.0, f32::max)
    }
}

/// Calls `each` with at most the first `max` rows that have all words, ascending, and the sum of the words' scores.
fn each_row_with_all(mut words: Vec<WordScorer>, max: usize, mut each: impl FnMut(u32, f32)) {
    // The rarest word leads, and the others are sought in its rows.
    words.sort_by_key(|word| word.stems.iter().map(|stem| stem.size_hint()).sum::<u32>());
    let Some((first, others)) = words.split_first_mut() else { return };
    let mut found = 0;
    while first.row != TERMINATED && found < max {
        match others.iter_mut().map(|word| word.seek(first.row)).find(|row| *row != first.row) {
            Some(next) => first.seek(next),
            None => {
                each(first.row, first.score() + others.iter_mut().map(WordScorer::score).sum::<f32>());
                found += 1;
                first.seek(first.row + 1)
            }
        };
    }
}

/// Calls `each` with the rows that have any of the words, ascending, the share of their words in the rarity of all, and
/// the sum of their scores.
fn each_row_with_any(mut words: Vec<WordScorer>, mut each: impl FnMut(u32, f32, f32)) {
    let total: f32 = words.iter().map(|word| word.rarity).sum();
    // The words are read one after the other over some rows at a time, whose sums stay in the processor's cache.
    let mut sums = vec![(0.0, 0.0); ROWS_AT_A_TIME as usize];
    let mut found = vec![0_u64; bit_words(ROWS_AT_A_TIME)];
    while let Some(first) = words.iter().map(|word| word.row).min().filter(|row| *row != TERMINATED) {
        let end = first.saturating_add(ROWS_AT_A_TIME).min(TERMINATED);
        for word in &mut words {
            while word.row < end {
                let place = word.row - first;
                let (rarity, score) = &mut sums[place as usize];
                *rarity += word.rarity / total;
                *score += word.score();
                found[place as usize / 64] |= 1 << (place % 64);
                word.seek(word.row + 1);
            }
        }
        for place in RowSet::Dense(&found).iter() {
            let (rarity, score) = std::mem::take(&mut sums[place as usize]);
            each(first + place, rarity, score);
        }
        found.fill(0);
    }
}

/// The best scores with their rows, at most `max`, in order.
fn best_of(scored: impl Iterator<Item = (f32, u32)>, max: usize) -> Vec<(f32, u32)> {
    // Scores are not negative: their bits are in their order, and a number is compared at once.
    let key = |(score, row): (f32, u32)| u64::from(!score.to_bits()) << 32 | u64::from(row);
    let mut keys: Vec<u64> = scored.map(key).collect();
    if keys.len() > max {
        keys.select_nth_unstable(max);
        keys.truncate(max);
    }
    keys.sort_unstable();
    keys.into_iter().map(|key| (f32::from_bits(!((key >> 32) as u32)), key as u32)).collect()
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

/// Ranges in bytes of a text's words in a description.
pub fn marks(text: &str, description: &str) -> Vec<Range<usize>> {
    let analyzer = &STEMMED[language_of(description)];
    let wanted: Vec<String> = words(analyzer, text).into_iter().map(|(word, _)| word).collect();
    words(analyzer, description).into_iter().filter(|(word, _)| wanted.contains(word)).map(|(_, place)| place).collect()
}
