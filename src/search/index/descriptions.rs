//! Full-text search over what records say of themselves: descriptions, and next to them sectors, places and titles.
//!
//! A tantivy segment of its own, in which document `n` is row `n`; it has terms and their frequencies only. Rows are ranked by
//! Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with tantivy's parameters, k1 = 1.2 and
//! b = 0.75. Words are stemmed by the language of the description, which its stop words tell; a query is stemmed by each.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use once_cell::sync::Lazy;
use once_cell::unsync::OnceCell;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, DisjunctionMaxQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer, Stemmer, StopWordFilter,
    TextAnalyzer, TextAnalyzerBuilder, TokenStream, Tokenizer, TokenizerManager, WhitespaceTokenizer,
};
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::data::Names;
use crate::data::names::MAX_PROMINENCE;
use crate::search::index::build::{WRITER_MEMORY, files_of};
use crate::search::index::read_only_directory::ReadOnlyDirectory;
use crate::search::{IndexFiles, SearchError};

/// The languages whose words are stemmed. The first is that of sectors, places and titles, and of texts that tell none.
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

/// Words that a query looks up; the rest of it, or the more frequent ones of a description, are ignored.
const MAX_WORDS: usize = 16;
/// A word of so many names describes what they name: `Dental` of `Star Dental`. Others are looked for by name.
const MIN_NAMES: u32 = 4;
/// Postings of the distinctive words of a description together, and of each word of a query where not all are required, so that
/// all are read in time. The rarest word is read anyhow. Few in unit tests, as their records are.
const MAX_POSTINGS: u64 = if cfg!(test) { 30 } else { 20_000 };
/// Rows whose descriptions are like another.
const MAX_LIKE: usize = 1_000;
/// Words that a [`Vocabulary`] remembers, approximately.
const MAX_KNOWN: usize = if cfg!(test) { 8 } else { 1 << 17 };
/// Longest word in bytes.
const MAX_WORD: usize = 40;
/// The weight of sectors, places and titles; that of descriptions is 1.
const CONTEXT_BOOST: f32 = 1.5;
/// What prominence adds to the score of the most prominent row, as a part of it.
const PROMINENCE_BOOST: f32 = 0.1;
/// Rows with more words of a query that make those with fewer unnecessary.
const ENOUGH: usize = 20;

pub(crate) struct DescriptionIndex {
    searcher: Searcher,
    fields: [Field; 2],
    /// The number of rows that have each field.
    filled: [u64; 2],
}

/// The statistics of a segment, in which a field is as long on average as in the rows that have it: of most data, most rows have
/// no description, which would make any description a long one.
struct OfFilled<'a>(&'a DescriptionIndex);

impl Bm25StatisticsProvider for OfFilled<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let DescriptionIndex { searcher, fields, filled } = self.0;
        let rows = searcher.total_num_docs()?;
        let filled = fields.iter().zip(filled).find(|(known, _)| **known == field).map_or(rows, |(_, filled)| *filled);
        Ok((searcher.total_num_tokens(field)? as f64 * rows as f64 / filled.max(1) as f64) as u64)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.0.searcher.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.0.searcher.doc_freq(term)
    }
}

/// Words in lower case.
static PLAIN: Lazy<TextAnalyzer> = Lazy::new(|| words_of_text().build());

/// The same without stop words, stemmed and without accents, by language.
static STEMMED: Lazy<Vec<TextAnalyzer>> = Lazy::new(|| {
    let stemmed = |language: Language| {
        words_of_text().filter(stop_words(language)).filter(Stemmer::new(language)).filter(AsciiFoldingFilter).build()
    };
    LANGUAGES.iter().map(|language| stemmed(*language)).collect()
});

/// What is left of a single word without stop words, and its stem, by language.
static OF_WORDS: Lazy<(Vec<TextAnalyzer>, Vec<TextAnalyzer>)> = Lazy::new(|| {
    let without = |language: &Language| TextAnalyzer::builder(RawTokenizer::default()).filter(stop_words(*language));
    let stemmed =
        |language: &Language| without(language).filter(Stemmer::new(*language)).filter(AsciiFoldingFilter).build();
    let without = LANGUAGES.iter().map(|language| without(language).build()).collect();
    (without, LANGUAGES.iter().map(stemmed).collect())
});

fn words_of_text() -> TextAnalyzerBuilder<impl Tokenizer> {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(RemoveLongFilter::limit(MAX_WORD)).filter(LowerCaser)
}

fn stop_words(language: Language) -> StopWordFilter {
    StopWordFilter::new(language).expect("the language has stop words")
}

/// The words of a text with their places, in bytes.
fn words(analyzer: &TextAnalyzer, text: &str) -> Vec<(String, Range<usize>)> {
    let mut analyzer = analyzer.clone();
    let mut stream = analyzer.token_stream(text);
    let mut words = Vec::new();
    while let Some(token) = stream.next() {
        words.push((token.text.clone(), token.offset_from..token.offset_to));
    }
    words
}

/// Words of texts, each with what is worked out of it once.
struct Vocabulary {
    plain: TextAnalyzer,
    /// By language, what is left of a single word without stop words, and its stem.
    without_stop_words: Vec<TextAnalyzer>,
    stemmed: Vec<TextAnalyzer>,
    known: HashMap<String, usize>,
    words: Vec<Word>,
}

struct Word {
    text: String,
    /// By language, whether it is a stop word.
    stops: [bool; LANGUAGES.len()],
    /// By language, its stem; a stop word has none.
    stems: [OnceCell<Option<String>>; LANGUAGES.len()],
}

impl Vocabulary {
    fn new() -> Self {
        // Copies share their lists of stop words.
        let (without_stop_words, stemmed) = OF_WORDS.clone();
        Self { plain: PLAIN.clone(), without_stop_words, stemmed, known: HashMap::new(), words: Vec::new() }
    }

    /// The words of a text, as indexes that are valid until the next text is read.
    fn read(&mut self, text: &str) -> Vec<usize> {
        let Self { plain, without_stop_words, known, words, .. } = self;
        // Names have ever new words, which are seldom met again.
        if words.len() > MAX_KNOWN {
            words.clear();
            known.clear();
        }
        let mut read = Vec::new();
        plain.token_stream(text).process(&mut |token| {
            read.push(known.get(&token.text).copied().unwrap_or_else(|| {
                let mut is_stop = |index: usize| only_word(&mut without_stop_words[index], &token.text).is_none();
                let stops = std::array::from_fn(&mut is_stop);
                words.push(Word { text: token.text.clone(), stops, stems: Default::default() });
                known.insert(token.text.clone(), words.len() - 1);
                words.len() - 1
            }));
        });
        read
    }

    /// The language with the most stop words among some words, as an index of [`LANGUAGES`].
    fn language_of(&self, words: &[usize]) -> usize {
        let count = |language: usize| words.iter().filter(|word| self.words[**word].stops[language]).count();
        (0..LANGUAGES.len()).rev().max_by_key(|language| count(*language)).unwrap_or(0)
    }

    /// The stems of some words in a language.
    fn stems(&mut self, words: &[usize], language: usize) -> impl Iterator<Item = &str> {
        let Self { stemmed, words: known, .. } = self;
        for word in words {
            let Word { text, stems, .. } = &known[*word];
            stems[language].get_or_init(|| only_word(&mut stemmed[language], text));
        }
        let known = &*known;
        words.iter().filter_map(move |word| known[*word].stems[language].get()?.as_deref())
    }
}

/// What an analyzer leaves of a word.
fn only_word(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}

/// The language of a text, as an index of [`LANGUAGES`].
fn language_of(text: &str) -> usize {
    let mut vocabulary = Vocabulary::new();
    let words = vocabulary.read(text);
    vocabulary.language_of(&words)
}

/// The fields of the segment: what is around a record, and what it says of itself.
const FIELDS: [&str; 2] = ["context", "description"];

fn schema() -> (Schema, [Field; 2]) {
    let mut schema = Schema::builder();
    // Documents are made of stems.
    let indexing = TextFieldIndexing::default().set_tokenizer(STEMS).set_index_option(IndexRecordOption::WithFreqs);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = FIELDS.map(|name| schema.add_text_field(name, options.clone()));
    (schema.build(), fields)
}

/// The name of the tokenizer that splits a text at white space.
const STEMS: &str = "whitespace";

/// Adds stems to those of a document.
fn extend<'a>(stems: &mut String, more: impl Iterator<Item = &'a str>) {
    more.for_each(|stem| {
        stems.push_str(stem);
        stems.push(' ');
    });
}

fn build(directory: impl Into<Box<dyn Directory>>, names: &dyn Names) -> Result<Index, SearchError> {
    let (schema, [context, description]) = schema();
    let tokenizers = TokenizerManager::new();
    tokenizers.register(STEMS, WhitespaceTokenizer::default());
    let index = Index::builder().schema(schema).tokenizers(tokenizers);
    let mut writer = index.single_segment_index_writer::<TantivyDocument>(directory, WRITER_MEMORY)?;
    let mut vocabulary = Vocabulary::new();
    // How many names have each stem.
    let mut in_names: HashMap<String, u32> = HashMap::new();
    for row in 0..names.len() {
        let words = vocabulary.read(names.name(row));
        for stem in vocabulary.stems(&words, 0) {
            match in_names.get_mut(stem) {
                Some(count) => *count += 1,
                None => drop(in_names.insert(stem.to_owned(), 1)),
            }
        }
    }
    for row in 0..names.len() {
        let mut document = TantivyDocument::default();
        let text = names.description(row);
        if !text.is_empty() {
            let words = vocabulary.read(&text);
            let language = vocabulary.language_of(&words);
            let mut own = String::new();
            extend(&mut own, vocabulary.stems(&words, language));
            document.add_text(description, own);
        }
        let words = vocabulary.read(&names.context(row));
        let mut around = String::new();
        extend(&mut around, vocabulary.stems(&words, 0));
        let words = vocabulary.read(names.name(row));
        let is_common = |stem: &&str| in_names.get(*stem).is_some_and(|names| *names >= MIN_NAMES);
        extend(&mut around, vocabulary.stems(&words, 0).filter(is_common));
        if !around.is_empty() {
            document.add_text(context, around);
        }
        writer.add_document(document)?;
    }
    Ok(writer.finalize()?)
}

impl DescriptionIndex {
    pub(crate) fn in_memory(names: &dyn Names) -> Result<Self, SearchError> {
        Self::new(&build(RamDirectory::create(), names)?, names.len())
    }

    /// Builds an index as files.
    pub(crate) fn create(names: &dyn Names) -> Result<IndexFiles, SearchError> {
        let directory = RamDirectory::create();
        files_of(&build(directory.clone(), names)?, &directory)
    }

    pub(crate) fn open(files: IndexFiles, rows: u32) -> Result<Self, SearchError> {
        Self::new(&Index::open(ReadOnlyDirectory::of(files))?, rows)
    }

    fn new(index: &Index, rows: u32) -> Result<Self, SearchError> {
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let documents = searcher.segment_readers().iter().map(|segment| segment.max_doc()).sum();
        if documents != rows || searcher.segment_readers().len() > 1 {
            return Err(SearchError::Shape { segments: searcher.segment_readers().len(), documents, rows });
        }
        let [context, description] = FIELDS.map(|name| index.schema().get_field(name));
        let fields = [context?, description?];
        let mut filled = [0; 2];
        for segment in searcher.segment_readers() {
            for (field, filled) in fields.iter().zip(&mut filled) {
                // Reads all files of the field: what is missing is known now.
                segment.inverted_index(*field)?;
                let lengths = segment.get_fieldnorms_reader(*field)?;
                *filled += (0..rows).filter(|row| lengths.fieldnorm(*row) > 0).count() as u64;
            }
        }
        Ok(Self { searcher, fields, filled })
    }

    /// The rows whose texts have the words of a query, the `max` best ones first; if they are few, followed by those with fewer
    /// words. Deterministic.
    pub(crate) fn search(&self, names: &dyn Names, text: &str, max: usize) -> Vec<u32> {
        let words = self.words(text);
        let rarest = words.iter().map(|(postings, _)| *postings).min().unwrap_or(0);
        let mut rows: Vec<u32> = Vec::new();
        for required in (1..=words.len()).rev() {
            // A frequent word tells little where others are missing, and takes long to read.
            let is_read = |postings: u64| required == words.len() || postings <= MAX_POSTINGS.max(rarest);
            let read = words.iter().filter(|(postings, _)| is_read(*postings));
            let clauses = read.map(|(_, query)| (Occur::Should, query.box_clone())).collect();
            let query = BooleanQuery::with_minimum_required_clauses(clauses, required);
            let mut scored: Vec<(f32, u32)> = Vec::new();
            self.collect(&query, |row, score| {
                // Fewer than `ENOUGH`.
                if !rows.contains(&row) {
                    let prominence = names.prominence(row) as f32 / MAX_PROMINENCE as f32;
                    scored.push((score * (1.0 + PROMINENCE_BOOST * prominence), row));
                }
            });
            rows.extend(best_of(scored, max - rows.len()).into_iter().map(|(_, row)| row));
            if rows.len() >= ENOUGH.min(max) {
                break;
            }
        }
        rows
    }

    /// The rows whose descriptions have most of the distinctive words of a row's, with their scores as parts of its own.
    pub(crate) fn like(&self, names: &dyn Names, row: u32) -> HashMap<u32, f32> {
        let [_, description] = self.fields;
        let words = self.distinctive(&names.description(row)).into_iter().map(|stem| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(description, &stem);
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        });
        let (mut scored, mut own) = (Vec::new(), 0.0);
        self.collect(&BooleanQuery::new(words.collect()), |other, score| {
            if other == row { own = score } else { scored.push((score, other)) }
        });
        best_of(scored, MAX_LIKE).into_iter().map(|(score, row)| (row, (score / own).min(1.0))).collect()
    }

    /// The rows that have a word, ascending; none if more than `max` may have it.
    pub(crate) fn rows_with(&self, word: &str, max: u64) -> Vec<u32> {
        let terms = self.terms(word).next().unwrap_or_default();
        let terms: Vec<Term> = terms.into_iter().map(|(field, stem)| Term::from_field_text(field, &stem)).collect();
        let mut rows = Vec::new();
        if terms.iter().map(|term| self.postings(term)).sum::<u64>() <= max {
            let terms = terms.into_iter().map(|term| -> (Occur, Box<dyn Query>) {
                (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
            });
            self.collect(&BooleanQuery::new(terms.collect()), |row, _| rows.push(row));
        }
        rows.sort_unstable();
        rows
    }

    /// The words of a row's description that are among the distinctive stems of another, in its order and spelling.
    pub(crate) fn words_in_common(&self, names: &dyn Names, distinctive: &[String], other: u32) -> Vec<String> {
        let text = names.description(other);
        let mut known = HashSet::new();
        let words = words(&STEMMED[language_of(&text)], &text).into_iter();
        let words = words.filter(|(stem, _)| distinctive.contains(stem) && known.insert(stem.clone()));
        words.map(|(_, place)| text[place].to_lowercase()).collect()
    }

    /// The stems of a description that are rarest in the others.
    pub(crate) fn distinctive(&self, text: &str) -> Vec<String> {
        let [_, description] = self.fields;
        let mut vocabulary = Vocabulary::new();
        let words = vocabulary.read(text);
        let language = vocabulary.language_of(&words);
        let stems: BTreeSet<String> = vocabulary.stems(&words, language).map(str::to_owned).collect();
        let rows = |stem: &str| self.postings(&Term::from_field_text(description, stem));
        let counted = stems.into_iter().map(|stem| (rows(&stem), stem));
        let mut counted: Vec<(u64, String)> = counted.filter(|(rows, _)| *rows > 1).collect();
        counted.sort_unstable();
        let mut postings = 0;
        let few = counted.into_iter().take(MAX_WORDS).take_while(|(rows, _)| {
            let is_first = postings == 0;
            postings += rows;
            is_first || postings <= MAX_POSTINGS
        });
        few.map(|(_, stem)| stem).collect()
    }

    fn collect(&self, query: &BooleanQuery, mut each: impl FnMut(u32, f32)) {
        let statistics = OfFilled(self);
        let weight = query.weight(EnableScoring::enabled_from_statistics_provider(&statistics, &self.searcher));
        for segment in self.searcher.segment_readers() {
            let read = weight.as_ref().map(|weight| weight.for_each(segment, &mut each));
            // Only reading a file can fail, and the files are in memory.
            debug_assert!(matches!(read, Ok(Ok(()))), "{read:?}");
        }
    }

    /// For each word the number of postings to read, and its query; of the fields that have it, the best counts.
    fn words(&self, text: &str) -> Vec<(u64, Box<dyn Query>)> {
        let [context, _] = self.fields;
        let words = self.terms(text).take(MAX_WORDS).map(|terms| -> (u64, Box<dyn Query>) {
            let mut postings = 0;
            let terms = terms.into_iter().map(|(field, stem)| -> Box<dyn Query> {
                let term = Term::from_field_text(field, &stem);
                postings += self.postings(&term);
                let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
                Box::new(BoostQuery::new(Box::new(term), if field == context { CONTEXT_BOOST } else { 1.0 }))
            });
            let query = DisjunctionMaxQuery::new(terms.collect());
            (postings, Box::new(query))
        });
        words.collect()
    }

    /// The number of rows that have a term.
    fn postings(&self, term: &Term) -> u64 {
        self.searcher.doc_freq(term).unwrap_or(0)
    }

    /// The terms of each word of a text: its stems by language, and in which field they may be.
    fn terms(&self, text: &str) -> impl Iterator<Item = BTreeSet<(Field, String)>> + use<> {
        let [context, description] = self.fields;
        let mut of_words: BTreeMap<usize, BTreeSet<(Field, String)>> = BTreeMap::new();
        for (index, analyzer) in STEMMED.iter().enumerate() {
            for (stem, place) in words(analyzer, text) {
                let terms = of_words.entry(place.start).or_default();
                if index == 0 {
                    terms.insert((context, stem.clone()));
                }
                terms.insert((description, stem));
            }
        }
        of_words.into_values()
    }
}

/// The best scores with their rows, at most `max`, in order.
fn best_of(mut scored: Vec<(f32, u32)>, max: usize) -> Vec<(f32, u32)> {
    let order = |one: &(f32, u32), other: &(f32, u32)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
    if scored.len() > max {
        scored.select_nth_unstable_by(max, order);
        scored.truncate(max);
    }
    scored.sort_unstable_by(order);
    scored
}

/// The places of a text's words in a description, in bytes.
pub(crate) fn marks(text: &str, description: &str) -> Vec<Range<usize>> {
    let analyzer = &STEMMED[language_of(description)];
    let wanted: Vec<String> = words(analyzer, text).into_iter().map(|(word, _)| word).collect();
    words(analyzer, description).into_iter().filter(|(word, _)| wanted.contains(word)).map(|(_, place)| place).collect()
}
