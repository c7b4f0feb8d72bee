//! The words of texts and their stems. Words of a description are stemmed in its language, which its stop words tell, other
//! words in English, a query in every language. A compound counts as one word and as two.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use once_cell::sync::Lazy;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer, Stemmer, StopWordFilter,
    TextAnalyzer,
};

use data::import::key_map::KeyMap;
use data::word_file;

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

/// Longest word in bytes.
const MAX_WORD: usize = 40;
/// A text is in another language than English if it has this many more of its stop words: `ai` is one of Italian.
const MIN_FOREIGN: usize = 2;
/// Approximate maximum of words that a thread keeps between requests, with their stems some 2 MB.
const MAX_KNOWN_OF_THREAD: usize = 1 << 13;

/// The analyzer of words in lower case, and two of a single word by language: without stop words, and also stemmed.
static ANALYZERS: Lazy<(TextAnalyzer, Vec<TextAnalyzer>, Vec<TextAnalyzer>)> = Lazy::new(|| {
    let stop_words = |language: Language| StopWordFilter::new(language).expect("the language has stop words");
    let without = |language: &Language| TextAnalyzer::builder(RawTokenizer::default()).filter(stop_words(*language));
    let stemmed =
        |language: &Language| without(language).filter(Stemmer::new(*language)).filter(AsciiFoldingFilter).build();
    let of_text = TextAnalyzer::builder(SimpleTokenizer::default()).filter(RemoveLongFilter::limit(MAX_WORD));
    let without = LANGUAGES.iter().map(|language| without(language).build()).collect();
    (of_text.filter(LowerCaser).build(), without, LANGUAGES.iter().map(stemmed).collect())
});

/// Compounds as one word, by their two.
static COMPOUNDS: Lazy<HashMap<&str, HashMap<&str, String>>> = Lazy::new(|| {
    let mut compounds: HashMap<&str, HashMap<&str, String>> = HashMap::new();
    for (first, second) in word_file::entries(include_str!("../compounds.txt")).filter_map(|line| line.split_once(' '))
    {
        compounds.entry(first).or_default().insert(second, format!("{first}{second}"));
    }
    compounds
});

thread_local! {
    static KNOWN_STEMS: RefCell<StemCache> = RefCell::new(StemCache::new());
}

/// The two words as one if they are a compound, also of a plural.
fn compound(first: &str, second: &str) -> Option<&'static str> {
    let compounds = COMPOUNDS.get(first)?;
    let singular = || compounds.get(second.strip_suffix('s')?);
    compounds.get(second).or_else(singular).map(String::as_str)
}

/// Reads texts with the words that this thread read before: most words of a text are in others, and stems take time.
pub(super) fn with_known_stems<T>(read: impl FnOnce(&mut StemCache) -> T) -> T {
    KNOWN_STEMS.with_borrow_mut(|known| {
        if known.words.len() > MAX_KNOWN_OF_THREAD {
            *known = StemCache::new();
        }
        read(known)
    })
}

pub(super) struct StemCache {
    plain: TextAnalyzer,
    /// Analyzers of single words, by language: the first remove stop words, the second also stem.
    without_stop_words: Vec<TextAnalyzer>,
    stemmed: Vec<TextAnalyzer>,
    known: KeyMap<usize>,
    pub(super) words: Vec<CachedWord>,
    stem_numbers: KeyMap<u32>,
    stem_texts: Vec<Box<str>>,
}

pub(super) struct CachedWord {
    text: Box<str>,
    /// True for a stop word, by language.
    stops: [bool; LANGUAGES.len()],
    /// By language the number of the stem, [`UNKNOWN`] before it is needed, or [`NO_STEM`].
    stems: [u32; LANGUAGES.len()],
}

/// Numbers of stems start after this one.
const UNKNOWN: u32 = 0;
/// A stop word has no stem.
const NO_STEM: u32 = u32::MAX;

impl StemCache {
    pub(super) fn new() -> Self {
        // Copies share their lists of stop words.
        let (plain, without_stop_words, stemmed) = ANALYZERS.clone();
        let (known, stem_numbers) = (KeyMap::default(), KeyMap::default());
        let (words, stem_texts) = (Vec::new(), Vec::new());
        Self { plain, without_stop_words, stemmed, known, words, stem_numbers, stem_texts }
    }

    /// Forgets all words, but not the numbers of stems, if there are more than `max`: names keep adding words that seldom recur.
    pub(super) fn limit_words(&mut self, max: usize) {
        if self.words.len() > max {
            self.words.clear();
            self.known = KeyMap::default();
        }
    }

    /// Splits a text into words, which compounds follow as one word.
    pub(super) fn read(&mut self, text: &str) -> Vec<usize> {
        let mut read = self.read_words(text);
        let pair = |pair: &[usize]| compound(&self.words[pair[0]].text, &self.words[pair[1]].text);
        let compounds: Vec<&str> = read.windows(2).filter_map(pair).collect();
        for compound in compounds {
            read.push(self.known_word(compound));
        }
        read
    }

    fn read_words(&mut self, text: &str) -> Vec<usize> {
        let mut words = Vec::new();
        self.each_word(text, |word, _| words.push(word));
        words
    }

    /// The words of a text with their ranges in bytes.
    pub(super) fn read_places(&mut self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut words = Vec::new();
        self.each_word(text, |word, place| words.push((word, place)));
        words
    }

    fn each_word(&mut self, text: &str, mut each: impl FnMut(usize, Range<usize>)) {
        let mut plain = self.plain.clone();
        let mut words = plain.token_stream(text);
        words.process(&mut |word| each(self.known_word(&word.text), word.offset_from..word.offset_to));
    }

    fn known_word(&mut self, text: &str) -> usize {
        let Self { without_stop_words, known, words, .. } = self;
        known.insert_new(text, words.len()).unwrap_or_else(|| {
            let mut is_stop = |index: usize| only_word(&mut without_stop_words[index], text).is_none();
            let stops = std::array::from_fn(&mut is_stop);
            words.push(CachedWord { text: text.into(), stops, stems: [UNKNOWN; LANGUAGES.len()] });
            words.len() - 1
        })
    }

    /// The language with the most stop words among the words, as an index of [`LANGUAGES`], if it has at least
    /// [`MIN_FOREIGN`] more than English.
    pub(super) fn language_of(&self, words: impl Iterator<Item = usize>) -> usize {
        let mut counts = [0; LANGUAGES.len()];
        for word in words {
            let stops = self.words[word].stops;
            counts.iter_mut().zip(stops).for_each(|(count, is_stop)| *count += usize::from(is_stop));
        }
        let best = (0..LANGUAGES.len()).rev().max_by_key(|language| counts[*language]).unwrap_or(0);
        if counts[best] >= counts[0] + MIN_FOREIGN { best } else { 0 }
    }

    /// The number of a word's stem in a language; `None` for a stop word. Numbers start at 1 and stay valid.
    pub(super) fn stem_of(&mut self, word: usize, language: usize) -> Option<u32> {
        let Self { stemmed, words, stem_numbers, stem_texts, .. } = self;
        let CachedWord { text, stems, .. } = &mut words[word];
        if stems[language] == UNKNOWN {
            stems[language] = only_word(&mut stemmed[language], text).map_or(NO_STEM, |stem| {
                let next = stem_texts.len() as u32 + 1;
                stem_numbers.insert_new(&stem, next).unwrap_or_else(|| {
                    stem_texts.push(stem.into());
                    next
                })
            });
        }
        Some(stems[language]).filter(|stem| *stem != NO_STEM)
    }

    /// The numbers of the words' stems in a language.
    pub(super) fn stems(&mut self, words: &[usize], language: usize) -> impl Iterator<Item = u32> {
        words.iter().filter_map(move |word| self.stem_of(*word, language))
    }

    pub(super) fn stem(&self, number: u32) -> &str {
        &self.stem_texts[number as usize - 1]
    }

    /// The stems of each word of a query, in all languages. A repeated word counts once.
    pub(super) fn stems_of_query(&mut self, text: &str) -> Vec<BTreeSet<String>> {
        let read = self.read_words(text);
        let mut of_words: Vec<BTreeSet<u32>> = read.iter().map(|word| self.stems_in_all(*word)).collect();
        // A row with a compound as one word has both of its words.
        for first in 0..read.len().saturating_sub(1) {
            let [one, two] = [first, first + 1].map(|place| &*self.words[read[place]].text);
            let Some(compound) = compound(one, two) else { continue };
            let word = self.known_word(compound);
            let stems = self.stems_in_all(word);
            let words = of_words[first..first + 2].iter_mut();
            words.filter(|of_word| !of_word.is_empty()).for_each(|of_word| of_word.extend(&stems));
        }
        let mut known: Vec<BTreeSet<u32>> = Vec::new();
        for stems in of_words.into_iter().filter(|stems| !stems.is_empty()) {
            if !known.iter().any(|known| known.is_subset(&stems) || stems.is_subset(known)) {
                known.push(stems);
            }
        }
        known.iter().map(|stems| stems.iter().map(|stem| self.stem(*stem).to_owned()).collect()).collect()
    }

    fn stems_in_all(&mut self, word: usize) -> BTreeSet<u32> {
        (0..LANGUAGES.len()).filter_map(|language| self.stem_of(word, language)).collect()
    }

    /// A text without the stop words of its language, which other languages may have as words, except those of compounds.
    pub(super) fn without_stop_words(&mut self, text: &str) -> String {
        let read = self.read_words(text);
        let language = self.language_of(read.iter().copied());
        let words: Vec<&CachedWord> = read.iter().map(|word| &self.words[*word]).collect();
        let is_compound =
            |first: usize| words.get(first + 1).is_some_and(|next| compound(&words[first].text, &next.text).is_some());
        let is_kept = |index: &usize| {
            !words[*index].stops[language] || is_compound(*index) || *index > 0 && is_compound(*index - 1)
        };
        (0..words.len()).filter(is_kept).map(|index| &*words[index].text).collect::<Vec<_>>().join(" ")
    }
}

/// The analyzed word; `None` if the analyzer drops it.
fn only_word(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}

/// For each description, the ranges in bytes of a text's words in it.
pub fn marks(text: &str, descriptions: &[String]) -> Vec<Vec<Range<usize>>> {
    with_known_stems(|cache| {
        let text = cache.read_words(text);
        // By the language of a description the stems of the text, once they are needed.
        let mut wanted: [Option<Vec<u32>>; LANGUAGES.len()] = Default::default();
        let of_description = |description: &String| {
            let words = cache.read_places(description);
            let language = cache.language_of(words.iter().map(|(word, _)| *word));
            let wanted = wanted[language].get_or_insert_with(|| cache.stems(&text, language).collect());
            let mut is_wanted = |word: usize| cache.stem_of(word, language).is_some_and(|stem| wanted.contains(&stem));
            words.into_iter().filter(|(word, _)| is_wanted(*word)).map(|(_, place)| place).collect()
        };
        descriptions.iter().map(of_description).collect()
    })
}

/// Compounds that are stop words of a language.
#[cfg(test)]
pub(super) fn stop_compounds() -> Vec<&'static str> {
    let is_stop = |word: &str| ANALYZERS.1.iter().any(|analyzer| only_word(&mut analyzer.clone(), word).is_none());
    COMPOUNDS.values().flat_map(HashMap::values).map(String::as_str).filter(|word| is_stop(word)).collect()
}
