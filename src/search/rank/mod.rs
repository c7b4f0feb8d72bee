//! The ranking: one function of a query and a name, from 0 to 1.
//!
//! A name may answer a query in several [`MatchStrategy`]s. Each has a ceiling that says how sure it makes us, and a likeness that
//! says how well this name does; the score is the best of them, and prominence breaks near ties: it adds at most
//! [`WHISPER`], less than one edit in a name of common length costs.

pub mod candidates;
pub mod explain;
pub mod search_buffers;

use crate::data::fold::fold_into;
use crate::search::index::weights::{GENERIC, Weights};
use crate::search::query::phonetic::sounds_like;
use crate::search::query::{Query, Word};
use crate::search::rank::search_buffers::SearchBuffers;

/// The most that prominence adds.
pub(crate) const WHISPER: f32 = 0.02;

/// A way in which a name answers a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchStrategy {
    /// The raw texts are alike, for names without letters or digits.
    Raw,
    /// The folded texts are alike.
    Whole,
    /// Without spaces.
    Joined,
    /// Without generic words.
    Core,
    /// With the words sorted.
    Sorted,
    /// Word by word.
    Words,
    /// The query begins the name.
    Prefix,
    /// The query begins the name, but for a typo.
    NearPrefix,
    /// The two sound alike.
    Sound,
    /// The query is made of the first letters of the name's words.
    Acronym,
}

impl MatchStrategy {
    /// The name of the way in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Whole => "whole",
            Self::Joined => "joined",
            Self::Core => "core",
            Self::Sorted => "sorted",
            Self::Words => "words",
            Self::Prefix => "prefix",
            Self::NearPrefix => "near_prefix",
            Self::Sound => "sound",
            Self::Acronym => "acronym",
        }
    }

    /// The score of a name that answers perfectly in this way.
    pub fn ceiling(self) -> f32 {
        match self {
            Self::Raw | Self::Whole => 1.0,
            Self::Joined => 0.985,
            Self::Core => 0.96,
            Self::Sorted => 0.97,
            Self::Words => 0.93,
            Self::Prefix => 0.95,
            Self::Sound => 0.9,
            Self::NearPrefix => 0.86,
            Self::Acronym => 0.8,
        }
    }
}

/// Takes note of each way a name is tried in.
pub(crate) trait Tally {
    /// Notes that a name does `likeness` well in a way.
    fn note(&mut self, way: MatchStrategy, likeness: f32);

    /// The best score so far.
    fn best(&self) -> f32;
}

/// The best score alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    pub score: f32,
}

impl Tally for Best {
    fn note(&mut self, way: MatchStrategy, likeness: f32) {
        self.score = self.score.max(way.ceiling() * likeness);
    }

    fn best(&self) -> f32 {
        self.score
    }
}

/// The words of a name, with their weights.
type NameWords<'a> = [(&'a str, f32)];

/// Scores a name or alias for a query.
pub(crate) fn score_text(
    query: &Query,
    text: &str,
    weights: &Weights,
    scratch: &mut SearchBuffers,
    tally: &mut impl Tally,
) {
    let SearchBuffers { folded, joined, other, .. } = scratch;
    fold_into(text, folded);
    if folded.is_empty() || query.joined.is_empty() {
        score_raw(query, text, tally);
        return;
    }
    if *folded == query.folded {
        tally.note(MatchStrategy::Whole, 1.0);
        return;
    }
    joined.clear();
    folded.split(' ').for_each(|word| joined.push_str(word));
    if *joined == query.joined {
        tally.note(MatchStrategy::Joined, 1.0);
        return;
    }
    let part = share(query.joined.len(), joined.len());
    let begins = joined.starts_with(query.joined.as_str());
    if begins && query.words.len() == 1 && !has_word_end(folded, query.joined.len()) {
        // The beginning of a longer first word: no other way makes more of it.
        tally.note(MatchStrategy::Prefix, 0.93 + 0.07 * part);
        return;
    }
    let edits = query.whole.edits(joined.as_bytes());
    tally.note(MatchStrategy::Joined, likeness(edits.whole, query.whole.len(), joined.len()));
    if begins {
        tally.note(MatchStrategy::Prefix, 0.93 + 0.07 * part);
    } else if query.whole.len() > 3 {
        tally.note(MatchStrategy::NearPrefix, likeness(edits.prefix, query.whole.len(), 0) * (0.97 + 0.03 * part));
    }
    score_words(query, folded, weights, other, tally);
    if tally.best() < MatchStrategy::Sound.ceiling() && query.sound.len() > 1 && sounds_like(folded, &query.sound) {
        tally.note(MatchStrategy::Sound, 0.8 + 0.2 * likeness(edits.whole, query.whole.len(), joined.len()));
    }
}

/// True where a word of a folded text ends at `length`, or before it: then it is no beginning of the first word.
fn has_word_end(folded: &str, length: usize) -> bool {
    folded.as_bytes().get(length).is_none_or(|byte| *byte == b' ')
        || folded.as_bytes().iter().take(length).any(|byte| *byte == b' ')
}

fn score_raw(query: &Query, text: &str, tally: &mut impl Tally) {
    if query.raw.is_empty() {
        return;
    }
    if text.trim() == query.raw {
        tally.note(MatchStrategy::Raw, 1.0);
    } else if text.contains(query.raw.as_str()) {
        tally.note(MatchStrategy::Raw, 0.9 * share(query.raw.len(), text.len()).max(0.7));
    }
}

/// The ways that look at single words; `other` is a buffer.
fn score_words(query: &Query, folded: &str, weights: &Weights, other: &mut String, tally: &mut impl Tally) {
    let mut buffer = [("", 0.0); MOST_NAME_WORDS];
    let mut count = 0;
    for (place, word) in buffer.iter_mut().zip(folded.split(' ')) {
        *place = (word, weights.of(word));
        count += 1;
    }
    let words = buffer.get(..count).unwrap_or_default();
    if let Some(core) = &query.core {
        other.clear();
        other.extend(words.iter().filter(|(_, weight)| *weight >= GENERIC).map(|(word, _)| *word));
        if !other.is_empty() {
            tally.note(MatchStrategy::Core, likeness(core.edits(other.as_bytes()).whole, core.len(), other.len()));
        }
    }
    tally.note(MatchStrategy::Words, words_alike(query, words));
    if let Some(sorted) = &query.sorted
        && count > 1
    {
        let mut in_order = buffer;
        if let Some(in_order) = in_order.get_mut(..count) {
            in_order.sort_unstable_by_key(|(word, _)| *word);
            other.clear();
            other.extend(in_order.iter().map(|(word, _)| *word));
            tally
                .note(MatchStrategy::Sorted, likeness(sorted.edits(other.as_bytes()).whole, sorted.len(), other.len()));
        }
    }
    if query.may_be_acronym() && count > 1 && is_acronym(&query.joined, words) {
        tally.note(MatchStrategy::Acronym, 1.0);
    }
}

/// The most words of a name that are compared one by one.
pub(crate) const MOST_NAME_WORDS: usize = 12;

/// How alike two texts are that are so many edits apart, where 1 is equal.
fn likeness(edits: u32, left: u32, right: usize) -> f32 {
    let longest = left.max(u32::try_from(right).unwrap_or(u32::MAX)).max(1);
    1.0 - ratio(edits.min(longest), longest)
}

/// How much `part` is of `whole`, from 0 to 1.
pub(crate) fn share(part: usize, whole: usize) -> f32 {
    ratio(u32::try_from(part).unwrap_or(u32::MAX), u32::try_from(whole.max(1)).unwrap_or(u32::MAX)).min(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "lengths of names")]
fn ratio(part: u32, whole: u32) -> f32 {
    part as f32 / whole as f32
}

/// How well the words of a query cover those of a name and are covered by them, each by its weight.
fn words_alike(query: &Query, words: &NameWords<'_>) -> f32 {
    let mut taken = 0_u32;
    let (mut asked, mut answered) = (0.0, 0.0);
    let (mut told, mut covered) = (0.0, 0.0);
    let mut ordered = true;
    let mut last = 0;
    for (at, word) in query.words.iter().enumerate() {
        let is_last = at + 1 == query.words.len() && !query.ended;
        let mut best = (0.0, 0);
        for (place, (text, _)) in words.iter().enumerate() {
            if taken & (1 << place) == 0 {
                let alike = word_alike(word, text, is_last);
                if alike > best.0 {
                    best = (alike, place);
                }
            }
        }
        asked += word.weight;
        if best.0 > 0.0 {
            taken |= 1 << best.1;
            answered += word.weight * best.0;
            covered += words.get(best.1).map_or(0.0, |(_, weight)| weight * best.0);
            ordered &= best.1 >= last;
            last = best.1;
        }
    }
    told += words.iter().map(|(_, weight)| weight).sum::<f32>();
    if asked <= 0.0 || told <= 0.0 {
        return 0.0;
    }
    let order = if ordered { 1.0 } else { 0.97 };
    (answered / asked) * (0.85 + 0.15 * (covered / told).min(1.0)) * order
}

/// How alike a word of a query and one of a name are.
fn word_alike(word: &Word, text: &str, is_last: bool) -> f32 {
    if word.text == text {
        return 1.0;
    }
    if word.nicknames.contains(&text) {
        return 0.97;
    }
    let (asked, told) = (word.text.as_bytes(), text.as_bytes());
    if told.starts_with(asked) {
        return if asked.len() == 1 && !is_last {
            0.85
        } else if is_last {
            0.88 + 0.1 * share(asked.len(), told.len())
        } else {
            0.7 + 0.25 * share(asked.len(), told.len())
        };
    }
    if told.len() == 1 && asked.starts_with(told) {
        return 0.75;
    }
    if asked.len() < 3 || told.len() < 3 {
        return 0.0;
    }
    let edits = word.pattern.edits(told);
    let mut best = likeness(edits.whole, word.pattern.len(), told.len());
    if is_last && asked.len() > 3 {
        best = best.max(0.85 * likeness(edits.prefix, word.pattern.len(), 0));
    }
    if best < 0.6 { 0.0 } else { best }
}

/// True where `letters` are the first letters of the words, of all of them or of those that are not connecting words.
fn is_acronym(letters: &str, words: &NameWords<'_>) -> bool {
    let all = words.iter().filter_map(|(word, _)| word.bytes().next());
    let telling = words.iter().filter(|(word, _)| !is_connecting(word)).filter_map(|(word, _)| word.bytes().next());
    all.eq(letters.bytes()) || telling.eq(letters.bytes())
}

/// True for words that acronyms leave out.
pub(crate) fn is_connecting(word: &str) -> bool {
    matches!(word, "and" | "of" | "the" | "for" | "in" | "de")
}

/// The part that prominence adds, on a logarithmic scale.
pub(crate) fn whisper(prominence: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a whisper")]
    let prominence = prominence as f32;
    WHISPER * ((1.0 + prominence).ln() / 12.0).min(1.0)
}

/// How a row stands among rows that answer a query alike: the shorter its name and the more prominent, the higher.
///
/// It is to [`MatchStrategy::Prefix`] and [`whisper`] what a byte can be.
pub(crate) fn standing(length: usize, prominence: u32) -> u8 {
    // A query of six letters is a common one.
    let points = 0.07 * 6.0 / ratio(u32::try_from(length.clamp(6, 200)).unwrap_or(200), 1) + whisper(prominence);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 255")]
    let byte = (points / (0.07 + WHISPER) * 255.0) as u8;
    byte
}
