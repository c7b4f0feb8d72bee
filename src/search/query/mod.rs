//! A query, read once: folded, cut to its bounds, with its words and the patterns to compare names with.

pub mod edit_distance;
pub mod expansion;
pub mod nickname;
pub mod phonetic;

use crate::data::fold::fold;
use crate::search::index::weights::{GENERIC, Weights};
use crate::search::query::edit_distance::Pattern;
use crate::search::query::phonetic::sound;
use crate::search::{MAX_QUERY_BYTES, MAX_QUERY_WORDS};

/// What was asked.
#[derive(Debug)]
pub(crate) struct Query {
    /// The query as it came, without space around it.
    pub raw: String,
    /// Its folded text.
    pub folded: String,
    /// Its folded text without spaces.
    pub joined: String,
    /// Its first words.
    pub words: Vec<Word>,
    /// The pattern of `joined`.
    pub whole: Pattern,
    /// The words in alphabetical order, joined; empty for fewer than two.
    pub sorted: Option<Pattern>,
    /// The words that are not generic, joined; none where that is all of them or none.
    pub core: Option<Pattern>,
    /// The sound of `joined`.
    pub sound: String,
    /// True where the query ends in a space: its last word is complete.
    pub ended: bool,
}

/// One word of a query.
#[derive(Debug)]
pub(crate) struct Word {
    /// The folded word.
    pub text: String,
    /// How much it tells, from 0 to 1.
    pub weight: f32,
    /// Its pattern.
    pub pattern: Pattern,
    /// Given names that are used for it.
    pub nicknames: Vec<&'static str>,
    /// Its sound.
    pub sound: String,
}

impl Query {
    /// Reads a query; only its first [`MAX_QUERY_BYTES`] bytes and [`MAX_QUERY_WORDS`] words count.
    pub fn read(text: &str, weights: &Weights) -> Self {
        let mut end = text.len().min(MAX_QUERY_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        let mut folded = fold(text);
        // A letter of another script may fold to several, so that the bound is kept here too.
        folded.truncate(MAX_QUERY_BYTES);
        folded.truncate(folded.trim_end().len());
        let joined = folded.replace(' ', "");
        let words: Vec<Word> = folded
            .split(' ')
            .filter(|word| !word.is_empty())
            .take(MAX_QUERY_WORDS)
            .map(|word| Word::new(word, weights))
            .collect();
        let sorted = (words.len() > 1).then(|| {
            let mut words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            words.sort_unstable();
            Pattern::new(words.concat().as_bytes())
        });
        let core: String = words.iter().filter(|word| word.weight >= GENERIC).map(|word| word.text.as_str()).collect();
        Self {
            raw: text.trim().to_owned(),
            whole: Pattern::new(joined.as_bytes()),
            core: (!core.is_empty()).then(|| Pattern::new(core.as_bytes())),
            sound: sound(&folded),
            ended: text.ends_with(char::is_whitespace),
            folded,
            joined,
            words,
            sorted,
        }
    }
}

impl Query {
    /// True for the last word where it may still be going on.
    pub fn is_typing(&self, at: usize) -> bool {
        at + 1 == self.words.len() && !self.ended
    }

    /// The word at a place joined with the one before it, and with the one after it.
    pub fn pairs(&self, at: usize) -> Vec<String> {
        let text = |at: usize| self.words.get(at).map(|word| word.text.as_str());
        let before = at.checked_sub(1).and_then(text).zip(text(at));
        let after = text(at).zip(text(at + 1));
        before.into_iter().chain(after).map(|(left, right)| [left, right].concat()).collect()
    }

    /// True for one word of two to eight letters.
    pub fn may_be_acronym(&self) -> bool {
        self.words.len() == 1 && (2..=8).contains(&self.joined.len())
    }
}

impl Word {
    fn new(text: &str, weights: &Weights) -> Self {
        Self {
            text: text.to_owned(),
            weight: weights.of(text),
            pattern: Pattern::new(text.as_bytes()),
            nicknames: nickname::forms(text).collect(),
            sound: sound(text),
        }
    }
}
