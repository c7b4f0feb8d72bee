//! Matches of a part of a query. A person who searches for `accel london` or `kunal shah cred` adds what they know:
//! words that are not in the name count if other fields of the record have them, else against it. A name matches only
//! if the query has nearly all of it, and one of its distinctive words: `monzo bank` matches no other bank. A whole name
//! within a query is evidence by itself: the words around it rank, but do not exclude it.

use std::ops::Range;

use crate::index::{GENERIC, Weights, texts};
use crate::query::reading::fold_name;
use crate::query::{NameQuery, QueryWord, may_mean};
use crate::rank::match_class::classify_word;
use crate::rank::{MatchClass, similarity, weigh_words};
use data::name::WordList;
use data::{MAX_PROMINENCE, Names};

/// Minimum share of a name's weight that the query has.
const MIN_OF_NAME: f32 = 0.7;
/// Minimum share of the query's weight that the record has.
const MIN_OF_QUERY: f32 = 0.4;
/// Similarity of a person if only the surname is known: just enough for a match.
const SURNAME: f32 = 0.69;
/// Factor for the weight of a word that is in the record, but not in its name.
const EXPLAINED: f32 = 0.9;

/// Similarity of a name that a query has as successive words, with the least evidence for it.
const SPOTTED: f32 = 0.72;
/// Evidence from which such a name is meant. A plain word is the name of some small company: `review`.
const MIN_EVIDENCE: f32 = 0.2;
/// The evidence of a rare word for the least prominent record; the most prominent has 1.
const LEAST_PROMINENT: f32 = 0.4;
/// The least evidence of a whole name, however plain its words: enough for a prominent record only, such as `Twitter`.
const PLAIN_NAME: f32 = 0.3;
/// Similarity of the most prominent record with a rare name.
const SURELY_SPOTTED: f32 = 0.9;
/// The same without the generic words at its end, `benchmark` for Benchmark Capital: below names with most of the words.
const SPOTTED_CORE: f32 = 0.77;
/// Factor for the evidence of such a name.
const WITHOUT_END: f32 = 0.85;

/// What the records of a table say of words.
pub(crate) struct Vocabulary<'a> {
    pub weights: &'a Weights,
    /// How rare each word of the query is in descriptions, from 0 to 1.
    pub rarities: Vec<f32>,
}

pub(crate) struct RelaxedMatch {
    /// From 0 to 1, highest if all words that are left out are in the record.
    pub similarity: f32,
    pub left_out: Vec<String>,
}

struct NameOverlap {
    /// The share of the name's weight that the query has.
    of_name: f32,
    /// The weight of the query's words that the name has.
    weight: f32,
    /// A bit for each of them.
    words: u32,
    /// True if only the surname of a person is alike.
    is_surname: bool,
}

impl RelaxedMatch {
    /// `None` if the row does not match even without some words.
    pub(crate) fn of_row(query: &NameQuery, names: &dyn Names, row: u32, known: &Vocabulary<'_>) -> Option<Self> {
        let weights = known.weights;
        let (mut part, mut spotted): (Option<NameOverlap>, Option<SpottedName>) = (None, None);
        for text in texts(names, row).filter(|text| may_mean(query.lacks_vowels, text)) {
            let folded = fold_name(text);
            let found = NameOverlap::compute(query, &folded, weights, names.has_surnames());
            let order = |part: &NameOverlap| part.weight * part.of_name;
            part = part.into_iter().chain(found).max_by(|left, right| order(left).total_cmp(&order(right)));
            let found = find_whole(query, &folded, known);
            spotted = spotted.into_iter().chain(found).max_by(|left, right| left.evidence.total_cmp(&right.evidence));
        }
        let evidence = spotted.as_ref().map_or(0.0, |found| found.evidence * prominence_share(names.prominence(row)));
        let is_spotted = evidence >= MIN_EVIDENCE;
        let most = if spotted.as_ref().is_some_and(|found| found.is_whole) { SURELY_SPOTTED } else { SPOTTED_CORE };
        // A name of generic words alone: `Foundation Capital`.
        let whole = spotted.filter(|_| is_spotted).map(|SpottedName { words, .. }| {
            let weight = query.words[words.clone()].iter().map(|word| word.weight).sum();
            NameOverlap { of_name: 1.0, weight, words: words.fold(0, |mask, word| mask | 1 << word), is_surname: false }
        });
        let part = part.or(whole)?;
        let mut left_out = Vec::new();
        let (mut counted, mut all) = (part.weight, 0.0);
        let context = names.context(row);
        for (index, word) in query.words.iter().enumerate() {
            let weight = if WordList::is_stop_word(&word.text) { 0.0 } else { word.weight };
            all += weight;
            if part.words & (1 << index) == 0 {
                left_out.push(word.text.clone());
                let is_typing = query.is_typing(index);
                if weight > 0.0 && context.split(' ').any(|text| is_explained(word, text, is_typing)) {
                    counted += EXPLAINED * weight;
                }
            }
        }
        let of_query = if all > 0.0 { (counted / all).min(1.0) } else { 0.0 };
        if part.is_surname {
            return Some(Self { similarity: SURNAME, left_out });
        }
        let of_others = if most > SPOTTED_CORE { (1.0 - SURELY_SPOTTED) * of_query } else { 0.0 };
        let of_spotted = SPOTTED + (most - SPOTTED) * evidence + of_others;
        let of_part = Some(part.of_name * (0.6 + 0.4 * of_query)).filter(|_| of_query >= MIN_OF_QUERY);
        let similarity = of_part.into_iter().chain(is_spotted.then_some(of_spotted)).reduce(f32::max)?;
        (!left_out.is_empty()).then_some(Self { similarity, left_out })
    }
}

/// A name that a query has as successive words.
struct SpottedName {
    /// How rare the words are, from 0 to 1.
    evidence: f32,
    /// The words of the query.
    words: Range<usize>,
    /// False without the generic words at its end.
    is_whole: bool,
}

fn prominence_share(prominence: u32) -> f32 {
    LEAST_PROMINENT + (1.0 - LEAST_PROMINENT) * (prominence.min(MAX_PROMINENCE) as f32 / MAX_PROMINENCE as f32)
}

/// Finds a name, or the name without its generic end, among the successive words of a query.
fn find_whole(query: &NameQuery, folded: &str, known: &Vocabulary<'_>) -> Option<SpottedName> {
    let (words, count) = weigh_words(folded, |word| known.weights.weigh_word(word));
    let words = &words[..count];
    let is_stop = |word: &(&str, f32)| WordList::is_stop_word(word.0);
    let start = words.iter().position(|word| !is_stop(word)).unwrap_or(0);
    let find = |words: &[(&str, f32)]| {
        let is_here = |part: &[QueryWord]| part.iter().map(|word| &*word.text).eq(words.iter().map(|(word, _)| *word));
        let at = query.words.windows(words.len().max(1)).position(is_here)?;
        Some(at..at + words.len())
    };
    let evidence = |range: &Range<usize>| {
        let rarity =
            |(word, rarity): (&QueryWord, &f32)| if word.text.len() > 1 { rarity.min(word.weight) } else { 0.0 };
        query.words[range.clone()].iter().zip(&known.rarities[range.clone()]).map(rarity).sum::<f32>().min(1.0)
    };
    if let Some(range) = find(&words[start..]) {
        return Some(SpottedName { evidence: evidence(&range).max(PLAIN_NAME), words: range, is_whole: true });
    }
    let end = words.iter().rposition(|word| word.1 >= GENERIC && !is_stop(word)).map_or(start, |last| last + 1);
    let core = words.get(start..end).filter(|core| !core.is_empty())?;
    let range = find(core)?;
    Some(SpottedName { evidence: WITHOUT_END * evidence(&range), words: range, is_whole: false })
}

/// Weight of a word in a name: low for generic words, 0 for legal forms.
fn weight_in_name(word: &str, weights: &Weights) -> f32 {
    match weights.weigh_word(word) {
        _ if WordList::is_stop_word(word) => 0.0,
        weight if weight < GENERIC => weight * 0.4,
        weight => weight,
    }
}

/// True if a word of a record's other fields is one of the query.
fn is_explained(word: &QueryWord, text: &str, is_typing: bool) -> bool {
    word.text == text
        || (is_typing && word.text.len() > 2 && text.starts_with(&word.text))
        || (word.text.len() > 4 && word.pattern.distance(text).full <= 1)
}

impl NameOverlap {
    /// `None` if the query lacks too much of the name.
    fn compute(query: &NameQuery, folded: &str, weights: &Weights, has_surnames: bool) -> Option<Self> {
        let (words, count) = weigh_words(folded, |word| weight_in_name(word, weights));
        let words = &words[..count];
        let (mut taken, mut found) = (0_u32, 0_u32);
        let (mut weight, mut of_name, mut distinctive) = (0.0, 0.0, 0.0_f32);
        for (index, word) in query.words.iter().enumerate() {
            let is_typing = query.is_typing(index);
            let free = words.iter().enumerate().filter(|(position, _)| taken & (1 << position) == 0);
            let alike = free.filter_map(|(position, (text, weight))| {
                let class = classify_word(word, text, is_typing)?;
                let is_whole = class == MatchClass::Prefix && word.text.len() >= text.len();
                let similarity = match class {
                    MatchClass::Prefix if is_whole || word.has_form(text) => 1.0,
                    MatchClass::Prefix => 0.7 + 0.2 * similarity(0, word.pattern.len(), text.len()),
                    _ => similarity(word.pattern.distance(text).full, word.pattern.len(), text.len()),
                };
                Some((similarity, position, *weight))
            });
            let Some((similarity, position, of_word)) = alike.max_by(|left, right| left.0.total_cmp(&right.0)) else {
                continue;
            };
            taken |= 1 << position;
            found |= 1 << index;
            weight += if WordList::is_stop_word(&word.text) { 0.0 } else { word.weight * similarity };
            of_name += of_word * similarity;
            distinctive += match word.weight {
                _ if word.text.len() < 2 => 0.0,
                weight if weight >= GENERIC => 1.0,
                weight => weight,
            };
        }
        let name_weight: f32 = words.iter().map(|(_, weight)| weight).sum();
        let of_name = if name_weight > 0.0 { of_name / name_weight } else { 0.0 };
        // A sure surname with an unlike given name.
        let is_end = |word: &QueryWord| words.last().is_some_and(|(last, _)| *last == word.text);
        let surname = query.words.iter().position(|word| is_end(word) && word.weight >= GENERIC && word.text.len() > 2);
        let is_surname = has_surnames
            && of_name < MIN_OF_NAME
            && (2..=3).contains(&count)
            && query.words.len() == 2
            && surname.is_some_and(|index| found == 1 << index);
        // One distinctive word, or several that are less so: given names and surnames.
        let is_alike = distinctive >= 1.0 && (of_name >= MIN_OF_NAME || is_surname);
        is_alike.then_some(Self { of_name, weight, words: found, is_surname })
    }
}
