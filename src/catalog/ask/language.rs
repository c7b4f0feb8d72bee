//! Questions in German, French, Spanish, Portuguese and Italian. Their words for records, stages, signs, places and the like
//! are replaced by English ones before a question is read, so that there is one grammar. Names stay as they are.

use foldhash::{HashMap, HashSet};
use once_cell::sync::Lazy;

use crate::ask::lexicon::{Lexicon, PhraseMeaning, is_slip};
use crate::ask::period::date_in_figures;
use crate::ask::question::{MIN_MISSPELT, has_other_letter};
use crate::ask::token::{QuestionToken, is_currency, tokens};
use crate::ask::words::meaning_of;
use data::fold::fold;
use data::{Country, word_file};

const MAX_COUNTRY_WORDS: usize = 4;
/// Minimum length of the name of a country in another language: shorter words are often others.
const MIN_COUNTRY_LETTERS: usize = 4;

struct Language {
    /// Phrases by their first word: their words and what they are in English, the longest first.
    phrases: HashMap<String, Vec<(Vec<String>, &'static str)>>,
    /// Beginnings of words with any ending.
    stems: HashMap<String, &'static str>,
    /// The words of phrases, by their first byte.
    words: HashMap<u8, HashSet<String>>,
}

static LANGUAGES: Lazy<[Language; 5]> = Lazy::new(|| {
    [
        include_str!("languages/de.txt"),
        include_str!("languages/fr.txt"),
        include_str!("languages/es.txt"),
        include_str!("languages/pt.txt"),
        include_str!("languages/it.txt"),
    ]
    .map(Language::parse)
});

impl Language {
    fn parse(text: &'static str) -> Self {
        let mut language = Self { phrases: HashMap::default(), stems: HashMap::default(), words: HashMap::default() };
        let lines = word_file::entries(text).filter_map(|line| line.split_once(": "));
        for (english, phrase) in lines.flat_map(|(english, phrases)| phrases.split(", ").map(move |it| (english, it))) {
            if let Some(stem) = phrase.strip_suffix('*') {
                let stem = fold(stem);
                language.words.entry(stem.as_bytes()[0]).or_default().insert(stem.clone());
                language.stems.entry(stem).or_insert(english);
                continue;
            }
            let words: Vec<String> = fold(&phrase.replace(['\'', '’'], " ")).split(' ').map(str::to_owned).collect();
            for word in words.iter().filter(|word| word.len() >= MIN_MISSPELT) {
                language.words.entry(word.as_bytes()[0]).or_default().insert(word.clone());
            }
            language.phrases.entry(words[0].clone()).or_default().push((words, english));
        }
        let by_length =
            |phrases: &mut Vec<(Vec<String>, &str)>| phrases.sort_by_key(|(words, _)| usize::MAX - words.len());
        language.phrases.values_mut().for_each(by_length);
        language
    }

    /// The only word of the language that a misspelled one may be: `inteligensia`.
    fn nearest(&self, word: &str) -> Option<&str> {
        let words = self.words.get(word.as_bytes().first()?).filter(|words| !words.contains(word))?;
        let mut near = words.iter().filter(|known| is_slip(word, known) || has_other_letter(word, known));
        near.next().filter(|_| near.next().is_none()).map(String::as_str)
    }

    /// The longest phrase at the beginning of some words: its length and what it is in English.
    fn find(&self, tokens: &[QuestionToken]) -> Option<(usize, &'static str)> {
        let word = tokens.first()?.word.as_str();
        let fits = |words: &[String]| {
            let is_split = tokens.iter().take(words.len() - 1).any(|token| token.ends_clause);
            !is_split && tokens.iter().take(words.len()).map(|token| &token.word).eq(words)
        };
        let phrase = self.phrases.get(word).into_iter().flatten().find(|(words, _)| fits(words));
        // The longest beginning counts.
        let by_stem = || (1..=word.len()).rev().find_map(|end| self.stems.get(word.get(..end)?).copied());
        phrase.map(|(words, english)| (words.len(), *english)).or_else(|| Some((1, by_stem()?)))
    }
}

/// Frequent words of languages whose questions are not read.
static UNREAD: Lazy<Vec<(&str, HashSet<&str>)>> = Lazy::new(|| {
    let lines = word_file::entries(include_str!("languages/unread.txt")).filter_map(|line| line.split_once(": "));
    lines.map(|(name, words)| (name, words.split(", ").collect())).collect()
});

/// Minimum number of words of an unread language in a question for a note on it.
const MIN_UNREAD_WORDS: usize = 2;

/// The language that a question is written in, if questions in it are not read: the one with more words than English
/// and each language that is read. A script without Latin letters is none of theirs.
pub(super) fn unread_language(text: &str, lexicon: &Lexicon) -> Option<String> {
    let tokens = tokens(text);
    let is_foreign = |char: char| char.is_alphabetic() && !is_latin(char);
    let foreign = tokens.iter().filter(|token| token.raw.contains(is_foreign) && !lexicon.has(&token.word)).count();
    if foreign * 2 > tokens.len() {
        return Some("a language of another script".to_owned());
    }
    let count = |is_of: &dyn Fn(&QuestionToken) -> bool| tokens.iter().filter(|token| is_of(token)).count();
    let of_read = |language: &Language| count(&|token| language.find(std::slice::from_ref(token)).is_some());
    let read = LANGUAGES.iter().map(of_read).chain([count(&is_english)]).max().unwrap_or_default();
    let found = UNREAD.iter().map(|(name, words)| (count(&|token| words.contains(token.word.as_str())), *name));
    let (words, name) = found.max_by_key(|(words, _)| *words)?;
    (words >= MIN_UNREAD_WORDS && words > read).then(|| name.to_owned())
}

fn is_latin(char: char) -> bool {
    matches!(char, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// True for a word of English questions that is no value.
pub(super) fn is_english(token: &QuestionToken) -> bool {
    const ENGLISH: [&str; 6] = ["negations", "grammar", "topics", "fillers", "units", "months"];
    token.is_glue() || ENGLISH.iter().any(|section| meaning_of(section, &token.word).is_some())
}

/// True if a word means one of a section in one of the languages.
fn has_meaning_in(word: &str, section: &str) -> bool {
    let found = LANGUAGES.iter().filter_map(|language| language.phrases.get(word)).flatten();
    found.filter(|(words, _)| words.len() == 1).any(|(_, english)| meaning_of(section, english).is_some())
}

/// True for a word that negates in one of the languages.
pub(super) fn is_negation(word: &str) -> bool {
    has_meaning_in(word, "negations")
}

/// True for an article, a preposition or the like of one of the languages: German `mit`.
pub(super) fn is_function_word(word: &str) -> bool {
    has_meaning_in(word, "glue")
}

/// Replaces the words of another language, if a question has more of them than English ones; true if it has. A name of a
/// record is no misspelled word.
pub(super) fn to_english(
    mut tokens: Vec<QuestionToken>,
    lexicon: &Lexicon,
    is_name: &dyn Fn(&str) -> bool,
) -> (Vec<QuestionToken>, bool) {
    // Names of several words keep theirs: `Rio de Janeiro`.
    let named = |at: usize| {
        (2..=4).rev().find(|length| {
            let words = tokens.get(at..at + length).unwrap_or_default();
            let is_split = words.iter().rev().skip(1).any(|token| token.ends_clause);
            let words: Vec<&str> = words.iter().map(|token| token.word.as_str()).collect();
            !words.is_empty() && !is_split && lexicon.has(&words.join(" "))
        })
    };
    let mut kept = vec![false; tokens.len()];
    for at in 0..tokens.len() {
        let length = named(at).unwrap_or(0);
        kept[at..at + length].fill(true);
        // `Uber's investors`, `Uber vs Lyft`, but `Uber 5 Millionen`
        let is_number =
            |at: usize| tokens.get(at).is_none_or(|token| token.word.starts_with(|char: char| char.is_ascii_digit()));
        let is_name = || is_name(&tokens[at].word) && !is_number(at + 1) && has_meaning_in(&tokens[at].word, "bounds");
        kept[at] |= tokens[at].is_capitalized() && (tokens[at].is_possessive || is_name());
    }
    let evidence = |language: &Language| {
        let (mut own, mut english, mut covered, mut at) = (0_i32, 0_i32, 0_i32, 0);
        let mut has_function = false;
        while at < tokens.len() {
            let found = language.find(&tokens[at..]).filter(|_| !kept[at]);
            let length = found.map_or(1, |(length, _)| length);
            let is_own = found.is_some_and(|(_, word)| length > 1 || word != tokens[at].word);
            let is_both = is_english(&tokens[at]);
            let is_lower = !tokens[at].is_capitalized() && is_own && !is_both && !lexicon.has(&tokens[at].word);
            has_function |= is_lower && found.is_some_and(|(_, word)| meaning_of("glue", word).is_some());
            let words = length as i32;
            own += words * i32::from(is_own && (length > 1 || !is_both && !lexicon.has(&tokens[at].word)));
            covered += words * i32::from(is_own);
            english += i32::from(found.is_none() && is_both);
            at += length;
        }
        // An article or a preposition of the language decides between as many words of both.
        (own, covered - english, own - english + i32::from(has_function))
    };
    let scores = LANGUAGES.iter().map(|language| (evidence(language), language));
    let best = scores.filter(|((own, _, lead), _)| *own > 0 && *lead > 0).max_by_key(|(score, _)| *score);
    let language = best.map(|(_, language)| language);
    if let Some(language) = language {
        for at in 0..tokens.len() {
            let token = &tokens[at];
            let is_word = token.word.len() >= MIN_MISSPELT && token.word.bytes().all(|byte| byte.is_ascii_lowercase());
            let is_known = kept[at] || lexicon.has(&token.word) || is_english(token);
            if is_word
                && !is_known
                && language.find(&tokens[at..=at]).is_none()
                && !is_name(&token.word)
                && let Some(nearest) = language.nearest(&tokens[at].word)
            {
                tokens[at].word = nearest.to_owned();
            }
        }
    }
    // Another date tells the order of the day and the month: `01/02/2014 to 30/06/2014`.
    let begins_with_day = |token: &QuestionToken| {
        let first = token.raw.split(['/', '.', '-']).next().and_then(|first| first.parse::<u32>().ok());
        first.is_some_and(|first| (13..=31).contains(&first)) && date_in_figures(&token.raw, false).is_some()
    };
    let is_day_first = language.is_some() || tokens.iter().any(begins_with_day);
    let mut read = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let found = language.and_then(|language| language.find(&tokens[at..])).filter(|_| !kept[at]);
        if let Some((length, english)) = found {
            let is_name = tokens[at].is_capitalized() && lexicon.meanings(english).iter().any(PhraseMeaning::is_place);
            read.extend(replaced(&tokens[at..at + length], english, is_name));
            at += length;
        } else if let Some((length, country)) = country_at(&tokens[at..], language.is_some(), lexicon)
            && !kept[at]
        {
            read.extend(replaced(&tokens[at..at + length], &fold(country.name()), true));
            at += length;
        } else {
            let mut token = tokens[at].clone();
            if let Some(date) = date_in_figures(&token.word, is_day_first) {
                token.word = date;
            } else if language.is_some() {
                token.word = with_decimal_point(&token.word);
            }
            let may_continue = language.is_some() || token.word == "000";
            match read.last_mut().filter(|last| may_continue && continues_number(last, &token.word)) {
                // `500 000`
                Some(last) => {
                    last.word.push_str(&token.word);
                    (last.place.end, last.ends_clause) = (token.place.end, token.ends_clause);
                }
                None => read.push(token),
            }
            at += 1;
        }
    }
    (read, language.is_some())
}

/// True if three digits belong to the number before them.
fn continues_number(number: &QuestionToken, group: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = number.word.trim_start_matches(is_currency);
    let is_begun = (1..=3).contains(&digits.len()) || number.word.len() > number.raw.len();
    group.len() == 3 && is_digits(group) && is_digits(digits) && is_begun && digits.len() < 13 && !number.ends_clause
}

/// English words in place of others. Each is written as all of those, with a capital letter if it `is_name`.
fn replaced<'t>(
    tokens: &'t [QuestionToken],
    english: &'t str,
    is_name: bool,
) -> impl Iterator<Item = QuestionToken> + 't {
    let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
    let count = english.split(' ').count();
    english.split(' ').enumerate().map(move |(index, word)| QuestionToken {
        place: first.place.start..last.place.end,
        raw: match word.split_at_checked(1).filter(|_| is_name) {
            Some((first, rest)) => format!("{}{rest}", first.to_uppercase()),
            None => word.to_owned(),
        },
        word: word.to_owned(),
        is_possessive: false,
        ends_clause: last.ends_clause && index + 1 == count,
    })
}

/// The country that some words name in any language; in lower case only within a question in another language.
fn country_at(tokens: &[QuestionToken], is_foreign: bool, lexicon: &Lexicon) -> Option<(usize, Country)> {
    let first = tokens.first().filter(|token| token.is_capitalized() || is_foreign)?;
    if first.word.len() < MIN_COUNTRY_LETTERS || lexicon.has(&first.word) {
        return None;
    }
    (1..=MAX_COUNTRY_WORDS.min(tokens.len())).rev().find_map(|length| {
        let is_split = tokens[..length - 1].iter().any(|token| token.ends_clause);
        let words: Vec<&str> = tokens[..length].iter().map(|token| token.raw.as_str()).collect();
        let country = Country::read(&words.join(" ")).filter(|_| !is_split)?;
        // `Nigera` is Niger in Latvian with its mark, and rather Nigeria without.
        let is_other = |(name, other): (&str, Country)| other != country && is_slip(&first.word, name);
        let is_unsure = length == 1 && first.raw.is_ascii() && Country::names().any(is_other);
        (!is_unsure).then_some((length, country))
    })
}

/// `2,5` and `1.000.000` as English has them.
fn with_decimal_point(word: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((whole, part)) = word.split_once(',')
        && digits(whole)
        && digits(part)
        && part.len() < 3
    {
        return format!("{whole}.{part}");
    }
    let mut groups = word.split('.');
    let is_grouped = groups.next().is_some_and(digits) && groups.clone().all(|group| digits(group) && group.len() == 3);
    if is_grouped && groups.next().is_some() { word.replace('.', "") } else { word.to_owned() }
}
