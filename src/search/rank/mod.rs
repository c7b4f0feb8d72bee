//! Ranking: a score from 0 to 1 for a query and a name.
//!
//! A name is compared by several [`MatchStrategy`]s. Each has a ceiling, the score of a perfect match, and yields a
//! similarity; the score is the best product of the two. Prominence breaks near ties: it adds at most
//! [`MAX_PROMINENCE_BONUS`], less than one edit costs in a name of usual length.

pub(crate) mod candidates;
mod explain;
mod main_records;
mod match_class;
mod relaxation;
pub(crate) mod search_buffers;

pub(crate) use explain::AllScores;
pub use explain::{Explanation, ScorePart};
pub(crate) use main_records::put_main_records_first;
pub use match_class::MatchClass;
pub(crate) use relaxation::{RelaxedMatch, Vocabulary};

use crate::MATCH_SCORE;
use crate::index::{GENERIC, Weights};
use crate::query::phonetic::has_phonetic_key;
use crate::query::reading::fold_name_into;
use crate::query::{NameQuery, QueryWord, may_mean};
use crate::rank::search_buffers::SearchBuffers;
use data::MAX_PROMINENCE;
use data::fold::fold;
use data::name::WordList;
use data::written::characters;

pub(super) const MAX_PROMINENCE_BONUS: f32 = 0.06;
/// The maximum score of a name that does not equal the query.
const MAX_UNEQUAL: f32 = 0.999;

const MAX_NAME_WORDS: usize = 12;

/// A way to compare a name with a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchStrategy {
    /// As in explanations.
    pub name: &'static str,
    pub ceiling: f32,
}

impl MatchStrategy {
    /// Raw texts, for names without letters or digits.
    const RAW: Self = Self { name: "raw", ceiling: 1.0 };
    /// Equal folded texts.
    const WHOLE: Self = Self { name: "whole", ceiling: 1.0 };
    const JOINED: Self = Self { name: "joined", ceiling: 0.985 };
    /// With the words sorted.
    const SORTED: Self = Self { name: "sorted", ceiling: 0.97 };
    /// Without generic words.
    const CORE: Self = Self { name: "core", ceiling: 0.96 };
    /// The name contains the characters of the query, of a script without spaces between words.
    const CHARACTERS: Self = Self { name: "characters", ceiling: 0.94 };
    /// The name begins with the query.
    const PREFIX: Self = Self { name: "prefix", ceiling: 0.95 };
    const WORDS: Self = Self { name: "words", ceiling: 0.93 };
    /// Equal phonetic keys.
    const SOUND: Self = Self { name: "sound", ceiling: 0.9 };
    /// The name begins with the query except for typos.
    const NEAR_PREFIX: Self = Self { name: "near_prefix", ceiling: 0.86 };
    /// The query consists of the first letters of the name's words.
    const ACRONYM: Self = Self { name: "acronym", ceiling: 0.8 };
    /// Words of the query are left out.
    pub(crate) const RELAXED: Self = Self { name: "relaxed", ceiling: 0.88 };
}

/// Collects the similarities of a name by strategy.
pub(crate) trait ScoreSink {
    fn add(&mut self, strategy: MatchStrategy, similarity: f32);

    /// The best score so far. Strategies with a lower ceiling may be skipped.
    fn best(&self) -> f32;
}

/// Scores of a name without the characters of the query, which only sounds alike: below those of names that have them, also
/// with the bonus for prominence, and in the same order.
struct SoundScores<'s, S>(&'s mut S);

/// The share of a score above that of a match that names of the same sound keep.
const SOUND_SHARE: f32 = 0.5;

impl<S: ScoreSink> ScoreSink for SoundScores<'_, S> {
    fn add(&mut self, strategy: MatchStrategy, similarity: f32) {
        let score = strategy.ceiling * similarity;
        let kept = score.min(MATCH_SCORE) + SOUND_SHARE * (score - MATCH_SCORE).max(0.0);
        self.0.add(strategy, kept / strategy.ceiling);
    }

    fn best(&self) -> f32 {
        let kept = self.0.best();
        kept.min(MATCH_SCORE) + (kept - MATCH_SCORE).max(0.0) / SOUND_SHARE
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BestScore(pub f32);

impl ScoreSink for BestScore {
    fn add(&mut self, strategy: MatchStrategy, similarity: f32) {
        self.0 = self.0.max(strategy.ceiling * similarity);
    }

    fn best(&self) -> f32 {
        self.0
    }
}

/// The words of a folded name with their weights, and their number.
fn weigh_words(folded: &str, weigh: impl Fn(&str) -> f32) -> ([(&str, f32); MAX_NAME_WORDS], usize) {
    let mut words = [("", 0.0); MAX_NAME_WORDS];
    let mut count = 0;
    for (slot, word) in words.iter_mut().zip(folded.split(' ')) {
        *slot = (word, weigh(word));
        count += 1;
    }
    (words, count)
}

pub(crate) fn score_text(
    query: &NameQuery,
    text: &str,
    weights: &Weights,
    buffers: &mut SearchBuffers,
    scores: &mut impl ScoreSink,
) {
    if !may_mean(query.lacks_vowels, text) {
        return;
    }
    if query.characters.is_empty() {
        return score_letters(query, text, weights, buffers, scores);
    }
    let characters = characters(text);
    if !characters.contains(&query.characters) {
        return score_letters(query, text, weights, buffers, &mut SoundScores(scores));
    }
    score_letters(query, text, weights, buffers, scores);
    // The words in other scripts are compared with the others.
    if query.has_only_characters() {
        let typed = share(query.characters.len(), characters.len());
        scores.add(MatchStrategy::CHARACTERS, 0.93 + 0.07 * typed);
    }
}

fn score_letters(
    query: &NameQuery,
    text: &str,
    weights: &Weights,
    buffers: &mut SearchBuffers,
    scores: &mut impl ScoreSink,
) {
    let SearchBuffers { folded, joined, other, .. } = buffers;
    fold_name_into(text, folded);
    if folded.is_empty() || query.joined.is_empty() {
        score_raw(query, text, scores);
        return;
    }
    if *folded == query.folded {
        scores.add(MatchStrategy::WHOLE, 1.0);
        return;
    }
    joined.clear();
    folded.split(' ').for_each(|word| joined.push_str(word));
    if *joined == query.joined {
        scores.add(MatchStrategy::JOINED, 1.0);
        return;
    }
    let typed = share(query.joined.len(), joined.len());
    let is_prefix = joined.starts_with(&query.joined);
    // True if more than the first word was typed.
    let has_word_end = || folded.as_bytes().get(..=query.joined.len()).is_none_or(|start| start.contains(&b' '));
    if is_prefix && query.words.len() == 1 && !has_word_end() {
        // A prefix of a longer first word: no other strategy scores higher.
        scores.add(MatchStrategy::PREFIX, 0.93 + 0.07 * typed);
        return;
    }
    let length = query.joined_pattern.len();
    let distance = query.joined_pattern.distance(joined);
    let joined_similarity = similarity(distance.full, length, joined.len());
    scores.add(MatchStrategy::JOINED, joined_similarity);
    if is_prefix {
        scores.add(MatchStrategy::PREFIX, 0.93 + 0.07 * typed);
    } else if length > 3 {
        scores.add(MatchStrategy::NEAR_PREFIX, similarity(distance.prefix, length, 0) * (0.97 + 0.03 * typed));
    }
    score_words(query, folded, weights, other, scores);
    if is_acronym(query, text, folded) {
        scores.add(MatchStrategy::ACRONYM, 1.0);
    }
    if scores.best() < MatchStrategy::SOUND.ceiling
        && query.phonetic_key.len() > 1
        && has_phonetic_key(folded, &query.phonetic_key)
    {
        scores.add(MatchStrategy::SOUND, 0.8 + 0.2 * joined_similarity);
    }
}

fn score_raw(query: &NameQuery, text: &str, scores: &mut impl ScoreSink) {
    if query.raw.is_empty() {
        return;
    }
    if text.trim() == query.raw {
        scores.add(MatchStrategy::RAW, 1.0);
    } else if text.contains(&query.raw) {
        scores.add(MatchStrategy::RAW, 0.9 * share(query.raw.len(), text.len()).max(0.7));
    }
}

/// The strategies that compare single words; `other` is a buffer.
fn score_words(query: &NameQuery, folded: &str, weights: &Weights, other: &mut String, scores: &mut impl ScoreSink) {
    let (buffer, count) = weigh_words(folded, |word| weights.weigh_word(word));
    let words = &buffer[..count];
    if let Some(core) = &query.core_pattern {
        other.clear();
        other.extend(words.iter().filter(|(_, weight)| *weight >= GENERIC).map(|(word, _)| *word));
        if !other.is_empty() {
            let similarity = similarity(core.distance(other).full, core.len(), other.len());
            // `Vision Fund` means no other company named Vision.
            let lacks = query.words.iter().any(|word| {
                word.weight < GENERIC
                    && !WordList::is_stop_word(&word.text)
                    && words.iter().all(|(text, _)| !text.starts_with(&word.text))
            });
            scores.add(MatchStrategy::CORE, if lacks { similarity * 0.95 } else { similarity });
        }
    }
    scores.add(MatchStrategy::WORDS, words_similarity(query, words));
    if let Some(sorted) = &query.sorted_pattern
        && count > 1
    {
        let mut in_order = buffer;
        let in_order = &mut in_order[..count];
        in_order.sort_unstable_by_key(|(word, _)| *word);
        other.clear();
        other.extend(in_order.iter().map(|(word, _)| *word));
        scores.add(MatchStrategy::SORTED, similarity(sorted.distance(other).full, sorted.len(), other.len()));
    }
}

/// The similarity of two texts of these lengths, where 1 is equal.
fn similarity(distance: u32, left: u32, right: usize) -> f32 {
    let longest = left.max(right as u32).max(1);
    1.0 - ratio(distance.min(longest), longest)
}

/// `part` divided by `all`, from 0 to 1.
fn share(part: usize, all: usize) -> f32 {
    ratio(part as u32, all.max(1) as u32).min(1.0)
}

fn ratio(part: u32, all: u32) -> f32 {
    part as f32 / all as f32
}

/// Coverage of a query's words by those of a name and the reverse, each by weight.
fn words_similarity(query: &NameQuery, words: &[(&str, f32)]) -> f32 {
    let mut taken = 0_u32;
    let (mut query_weight, mut matched) = (0.0, 0.0);
    let mut covered = 0.0;
    let mut is_ordered = true;
    let mut last = 0;
    for (index, word) in query.words.iter().enumerate() {
        let is_typing = query.is_typing(index);
        let mut best = (0.0, 0);
        for (position, (text, _)) in words.iter().enumerate() {
            if taken & (1 << position) == 0 {
                let similarity = word_similarity(word, text, is_typing);
                if similarity > best.0 {
                    best = (similarity, position);
                }
            }
        }
        query_weight += word.weight;
        let (similarity, position) = best;
        if similarity > 0.0 {
            taken |= 1 << position;
            matched += word.weight * similarity;
            covered += words[position].1 * similarity;
            is_ordered &= position >= last;
            last = position;
        }
    }
    let name_weight = words.iter().map(|(_, weight)| weight).sum::<f32>();
    if query_weight <= 0.0 || name_weight <= 0.0 {
        return 0.0;
    }
    let order = if is_ordered { 1.0 } else { 0.97 };
    (matched / query_weight) * (0.85 + 0.15 * (covered / name_weight).min(1.0)) * order
}

fn word_similarity(word: &QueryWord, text: &str, is_typing: bool) -> f32 {
    if word.text == text {
        return 1.0;
    }
    if let Some(form) = word.forms.iter().find(|form| form.text == text) {
        return form.similarity;
    }
    let (typed, length) = (word.text.len(), text.len());
    if text.starts_with(&word.text) {
        return match (is_typing, typed) {
            (true, _) => 0.88 + 0.1 * share(typed, length),
            (false, 1) => 0.85,
            (false, _) => 0.7 + 0.25 * share(typed, length),
        };
    }
    if length == 1 && word.text.starts_with(text) {
        return 0.75;
    }
    if typed < 3 || length < 3 {
        return 0.0;
    }
    let distance = word.pattern.distance(text);
    let mut best = similarity(distance.full, word.pattern.len(), length);
    if is_typing && typed > 3 {
        best = best.max(0.85 * similarity(distance.prefix, word.pattern.len(), 0));
    }
    if best < 0.6 { 0.0 } else { best }
}

/// True if the query consists of the initials of a name, even of one with own initials: `U.S. Venture Partners`.
fn is_acronym(query: &NameQuery, text: &str, folded: &str) -> bool {
    let has_own = || text.contains('.') && has_initials(&fold(text), &query.joined);
    query.may_be_acronym() && (has_initials(folded, &query.joined) || has_own())
}

/// True if `letters` are the first letters of all words of a folded name of several, or of all but connecting words.
pub(crate) fn has_initials(folded: &str, letters: &str) -> bool {
    let first = |word: &str| word.bytes().next();
    let main = folded.split(' ').filter(|word| !is_connecting(word)).filter_map(first);
    folded.contains(' ') && (folded.split(' ').filter_map(first).eq(letters.bytes()) || main.eq(letters.bytes()))
}

/// True for words that acronyms leave out.
pub(crate) fn is_connecting(word: &str) -> bool {
    matches!(word, "and" | "of" | "the" | "for" | "in" | "de")
}

/// Points for prominence: a name that does not equal the query stays below those that do, and no match becomes one.
pub(crate) fn prominence_bonus(score: f32, prominence: u32) -> f32 {
    if score < MATCH_SCORE {
        return 0.0;
    }
    let bonus = MAX_PROMINENCE_BONUS * ratio(prominence.min(MAX_PROMINENCE), MAX_PROMINENCE);
    if score < 1.0 { bonus.min(MAX_UNEQUAL - score).max(0.0) } else { bonus }
}

/// The prominence of a row in a byte: its rank among rows that match a query equally well.
pub(crate) fn static_rank(prominence: u32) -> u8 {
    (ratio(prominence.min(MAX_PROMINENCE), MAX_PROMINENCE) * 255.0) as u8
}
