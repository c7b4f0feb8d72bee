//! Classes of matches, in terms that a client can act on.

use crate::query::phonetic::phonetic_key;
use crate::query::reading::fold_name;
use crate::query::{NameQuery, QueryWord, has_other_letters, may_mean};
use crate::rank::{has_initials, similarity};
use data::name::{WordList, join_initials};
use data::vocabulary::{Vocabulary, vocabulary};
use data::written::{WrittenName, WrittenWord, are_same_letters, characters};

vocabulary! {
    /// Class of a match, the surest first. All but the last are sure: each word of the query is in the name.
    MatchClass, "match", {
        /// The name itself, apart from letter case, accents that the query lacks, punctuation, spaces, the order of words, and
        /// legal forms. It is written alike: a name in other letters with the same sound is `sound`.
        Exact = "exact",
        /// Another name of the record, or the initials of one.
        Alias = "alias",
        /// Each word of the query is a word of the name or begins one, or is another form of it (`Bob` for `Robert`). In scripts
        /// without spaces, the name contains the characters of the query.
        Prefix = "prefix",
        /// The same with typos: one edit in a word of three letters or more, two in one of eight or more.
        Typo = "typo",
        /// The same with words that are spelled as they sound.
        Sound = "sound",
        /// Not sure: words of the query are left out, or the name is only similar.
        Relaxed = "relaxed",
    }
}

impl MatchClass {
    pub fn is_sure(self) -> bool {
        self != Self::Relaxed
    }

    /// The class for a reading that keeps this share of a score: one that only sounds like the query is no more than that.
    pub(crate) fn of_share(self, share: f32) -> Self {
        if share < 1.0 { self.max(Self::Sound) } else { self }
    }

    /// The class of a row. The name is the first of its texts, followed by the aliases.
    pub(crate) fn of_row<'t>(query: &NameQuery, texts: impl Iterator<Item = &'t str>) -> Self {
        let class = |(index, text): (usize, &str)| match Self::of_text(query, text) {
            Self::Exact if index > 0 => Self::Alias,
            class => class,
        };
        texts.enumerate().map(class).min().unwrap_or(Self::Relaxed)
    }

    /// The class of a name with the folded words of the query: [`MatchClass::Exact`] if it is also written alike.
    fn of_spelling(query: &str, text: &str) -> Self {
        let [query, name] = [query, text].map(|text| WrittenName::parse(&join_initials(text)));
        let letters = |name: &WrittenName, is_sorted: bool| {
            let is_main = |word: &&WrittenWord| !WordList::is_stop_word(&word.folded);
            let mut words: Vec<&WrittenWord> = name.words.iter().filter(is_main).collect();
            if words.is_empty() {
                words = name.words.iter().collect();
            }
            if is_sorted {
                words.sort_unstable_by(|one, other| one.folded.cmp(&other.folded));
            }
            words.iter().map(|word| word.letters.as_str()).collect::<String>()
        };
        let is_alike = |is_sorted| are_same_letters(&letters(&query, is_sorted), &letters(&name, is_sorted));
        match (is_alike(false) || is_alike(true), query.symbols == name.symbols) {
            (false, _) => Self::Sound,
            (true, true) => Self::Exact,
            // `C` begins `C++`, which is not `C#`.
            (true, false) if name.symbols.starts_with(&query.symbols) => Self::Prefix,
            (true, false) => Self::Relaxed,
        }
    }

    fn of_text(query: &NameQuery, text: &str) -> Self {
        if !may_mean(query.lacks_vowels, text) {
            return Self::Relaxed;
        }
        let class = Self::of_letters(query, text);
        // Another script tells sounds.
        let is_other_script = has_other_letters(&query.raw) && !has_other_letters(text);
        let class = if is_other_script { class.max(Self::Sound) } else { class };
        if query.characters.is_empty() {
            return class;
        }
        match characters(text).contains(&query.characters) {
            true if query.has_only_characters() => class.min(Self::Prefix),
            true => class,
            false => class.max(Self::Sound),
        }
    }

    fn of_letters(query: &NameQuery, text: &str) -> Self {
        let folded = fold_name(text);
        if folded.is_empty() || query.joined.is_empty() {
            return match text.trim() == query.raw {
                true => Self::Exact,
                false if text.contains(&query.raw) => Self::Prefix,
                false => Self::Relaxed,
            };
        }
        let joined = folded.replace(' ', "");
        let mut words = main_words(folded.split(' '));
        let mut query_words = main_words(query.words.iter().map(|word| word.text.as_str()));
        if joined == query.joined || words.concat() == query_words.concat() {
            return Self::of_spelling(&query.raw, text);
        }
        words.sort_unstable();
        query_words.sort_unstable();
        if words == query_words {
            return Self::of_spelling(&query.raw, text);
        }
        if query.may_be_acronym() && has_initials(&folded, &query.joined) {
            return Self::Alias;
        }
        if joined.starts_with(&query.joined) {
            return Self::Prefix;
        }
        let by_words = classify_words(query, &folded);
        if by_words <= Self::Typo {
            return by_words;
        }
        let distance = query.joined_pattern.distance(&joined).full;
        // One edit from four letters on, two from twelve on: `uber taxi` and `UberTags` differ by more in their words.
        let length = query.joined.len();
        if distance <= u32::from(length >= 4) + u32::from(length >= 12) {
            return Self::Typo;
        }
        if query.phonetic_key.len() > 1 && phonetic_key(&folded) == query.phonetic_key { Self::Sound } else { by_words }
    }
}

/// The words except legal forms and connecting words, unless there are no others.
fn main_words<'t>(words: impl Iterator<Item = &'t str> + Clone) -> Vec<&'t str> {
    let main: Vec<&str> = words.clone().filter(|word| !WordList::is_stop_word(word)).collect();
    if main.is_empty() { words.collect() } else { main }
}

/// The class by words: that of the least sure one. More words than initials must match.
fn classify_words(query: &NameQuery, folded: &str) -> MatchClass {
    let mut words: Vec<Option<&str>> = folded.split(' ').map(Some).collect();
    let mut class = MatchClass::Prefix;
    let mut more_words = 0_i32;
    for (index, word) in query.words.iter().enumerate() {
        let classes = words.iter().enumerate().filter_map(|(position, text)| {
            Some((classify_word(word, (*text)?, query.is_typing(index))?, text.map(str::len), position))
        });
        match classes.min() {
            Some((of_word, _, position)) => {
                class = class.max(of_word);
                let is_initial = words[position].is_some_and(|text| text.len() == 1 && word.text.len() > 1);
                more_words += if is_initial { -1 } else { 1 };
                words[position] = None;
            }
            None if WordList::is_stop_word(&word.text) => {}
            None => return MatchClass::Relaxed,
        }
    }
    if more_words > 0 { class } else { MatchClass::Relaxed }
}

/// The class of a query's word for a word of a name; `None` if they do not match.
pub(crate) fn classify_word(word: &QueryWord, text: &str, is_typing: bool) -> Option<MatchClass> {
    let is_initial = text.len() == 1 && word.text.starts_with(text);
    if text.starts_with(&word.text) || is_initial || word.has_form(text) {
        return Some(MatchClass::Prefix);
    }
    let distance = word.pattern.distance(text);
    let max = max_edits(word.text.len());
    if distance.full <= max || (is_typing && word.text.len() > 3 && distance.prefix <= max) {
        return Some(MatchClass::Typo);
    }
    // The key is coarse: `season` has that of `Shen`.
    let is_similar = || similarity(distance.full, word.pattern.len(), text.len()) >= 0.4;
    let sounds_alike = word.phonetic_key.len() > 1 && phonetic_key(text) == word.phonetic_key;
    (sounds_alike && word.text.len() > 3 && is_similar()).then_some(MatchClass::Sound)
}

/// Maximum edits of a word: one from three letters on, two from eight on.
fn max_edits(length: usize) -> u32 {
    u32::from(length >= 3) + u32::from(length >= 8)
}
