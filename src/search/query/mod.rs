//! A parsed query: folded, cut to its limits, with its words and the patterns to compare names with.

pub(crate) mod expansion;
pub(crate) mod nickname;
pub(crate) mod phonetic;
pub(crate) mod reading;
pub(crate) mod script_sounds;

use crate::edit_distance::EditPattern;
use crate::index::{GENERIC, Weights};
use crate::query::nickname::WordForm;
use crate::query::phonetic::spoken_key;
use crate::query::reading::fold_name;
use crate::{MAX_QUERY_BYTES, MAX_QUERY_WORDS};
use data::written::characters;

pub(crate) struct NameQuery {
    /// The query as received, trimmed.
    pub raw: String,
    pub folded: String,
    /// The folded text without spaces.
    pub joined: String,
    pub words: Vec<QueryWord>,
    pub joined_pattern: EditPattern,
    /// The words in alphabetical order, joined; `None` for a single word.
    pub sorted_pattern: Option<EditPattern>,
    /// The words that are not generic, joined; `None` if all are.
    pub core_pattern: Option<EditPattern>,
    pub phonetic_key: String,
    /// Its [`characters`]: a name that contains them comes before those that only sound alike.
    pub characters: String,
    /// True if the query ends in a space: its last word is complete.
    pub is_complete: bool,
    /// True if its scripts leave vowels out or write them as marks, which the fold removes. What is left is in too many names
    /// in Latin letters, which are found by the [sounds](script_sounds) of the query instead.
    pub lacks_vowels: bool,
}

pub(crate) struct QueryWord {
    pub text: String,
    /// Distinctiveness, from 0.2 to 1.
    pub weight: f32,
    pub pattern: EditPattern,
    pub forms: &'static [WordForm],
    pub phonetic_key: String,
}

/// The beginning of a text, at most [`MAX_QUERY_BYTES`].
pub(crate) fn limited(text: &str) -> &str {
    &text[..(0..=text.len().min(MAX_QUERY_BYTES)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)]
}

/// True if a text has letters that are not Latin.
pub(crate) fn has_other_letters(text: &str) -> bool {
    let is_latin = |char: char| matches!(char, '\0'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff00}'..='\u{ff5e}');
    !text.is_ascii() && text.chars().any(|char| char.is_alphabetic() && !is_latin(char))
}

/// True if a name is compared with the letters of a text, which [may lack vowels](lacks_vowels).
pub(crate) fn may_mean(lacks_vowels: bool, name: &str) -> bool {
    !lacks_vowels || has_other_letters(name)
}

/// True if all letters are those of Hebrew, Arabic, the scripts of India, or of Thai and its neighbours.
pub(crate) fn lacks_vowels(text: &str) -> bool {
    let is_consonant = |char: char| matches!(char, '\u{590}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    let mut letters = text.chars().filter(|char| char.is_alphabetic()).peekable();
    !text.is_ascii() && letters.peek().is_some() && letters.all(is_consonant)
}

impl NameQuery {
    /// Parses the first [`MAX_QUERY_BYTES`] bytes and [`MAX_QUERY_WORDS`] words of a query.
    pub(super) fn parse(text: &str, weights: &Weights) -> Self {
        let text = limited(text);
        let mut folded = fold_name(text);
        // A letter of another script may fold to several, so that the limit is applied again.
        folded.truncate(MAX_QUERY_BYTES);
        folded.truncate(folded.trim_end().len());
        let joined = folded.replace(' ', "");
        let words = folded.split(' ').filter(|word| !word.is_empty()).take(MAX_QUERY_WORDS);
        let words: Vec<QueryWord> = words.map(|word| QueryWord::new(word, weights)).collect();
        let sorted_pattern = (words.len() > 1).then(|| {
            let mut words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            words.sort_unstable();
            EditPattern::new(&words.concat())
        });
        let core: String = words.iter().filter(|word| word.weight >= GENERIC).map(|word| word.text.as_str()).collect();
        Self {
            raw: text.trim().to_owned(),
            joined_pattern: EditPattern::new(&joined),
            core_pattern: (!core.is_empty()).then(|| EditPattern::new(&core)),
            phonetic_key: spoken_key(&folded),
            characters: characters(text),
            is_complete: text.ends_with(char::is_whitespace),
            lacks_vowels: lacks_vowels(text),
            folded,
            joined,
            words,
            sorted_pattern,
        }
    }

    /// True if it has no letter or digit of another script.
    pub(super) fn has_only_characters(&self) -> bool {
        let letters = self.raw.chars().filter(|char| char.is_alphanumeric());
        !self.characters.is_empty() && letters.count() <= self.characters.chars().count()
    }

    /// True if a name begins with all words of the query as they are, or has little else.
    pub(super) fn is_most_of(&self, name: &str) -> bool {
        let folded = fold_name(name);
        let has_word = |word: &QueryWord| folded.split(' ').any(|other| other == word.text);
        let letters = folded.len() - folded.matches(' ').count();
        let is_most = folded.starts_with(&self.folded) || 2 * self.joined.len() >= letters;
        is_most && self.words.iter().all(has_word) || folded.replace(' ', "") == self.joined
    }

    /// True for the last word if it may be incomplete.
    pub(super) fn is_typing(&self, index: usize) -> bool {
        index + 1 == self.words.len() && !self.is_complete
    }

    /// A word joined with the previous one, and with the next one.
    pub(super) fn pairs(&self, index: usize) -> Vec<String> {
        let text = |index: usize| self.words.get(index).map(|word| word.text.as_str());
        let before = index.checked_sub(1).and_then(text).zip(text(index));
        before.into_iter().chain(text(index).zip(text(index + 1))).map(|(left, right)| [left, right].concat()).collect()
    }

    /// True for one word of two to eight letters.
    pub(super) fn may_be_acronym(&self) -> bool {
        self.words.len() == 1 && (2..=8).contains(&self.joined.len())
    }
}

impl QueryWord {
    /// True if a word may replace it: `robert` for `bob`.
    pub(super) fn has_form(&self, text: &str) -> bool {
        self.forms.iter().any(|form| form.text == text)
    }

    fn new(text: &str, weights: &Weights) -> Self {
        let forms = nickname::forms(text);
        // `mgmt` must weigh as little as `management`.
        let weight = forms.iter().map(|form| weights.weigh_word(form.text)).fold(weights.weigh_word(text), f32::min);
        Self { text: text.to_owned(), weight, pattern: EditPattern::new(text), forms, phonetic_key: spoken_key(text) }
    }
}
