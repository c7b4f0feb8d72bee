//! Invented words: syllables joined by sound, and compounds of plain English words.
//! Most distinct words in real company names occur once. So do these: two or three syllables give millions of words.

use std::collections::{BTreeMap, HashMap};

use once_cell::sync::Lazy;

use crate::datagen::lists::Lists;
use crate::datagen::random::Random;
use data::vocabulary::capitalized;

/// Parts of words of one sound, such as `romance`: `onsets`, `vowels`, `codas` and `ends`.
pub(crate) type Syllables = HashMap<&'static str, Vec<&'static str>>;

pub(crate) static SYLLABLES: Lazy<BTreeMap<&'static str, Syllables>> = Lazy::new(|| {
    let lists = Lists::parse(include_str!("words/syllables.txt"));
    let syllables = |name: &&'static str| {
        let kinds = lists[*name].iter().filter_map(|entry| entry.split_once(' '));
        let parts = |text: &'static str| text.split(' ').map(|part| part.trim_matches('-')).collect::<Vec<_>>();
        (*name, kinds.map(|(kind, text)| (kind, parts(text))).collect())
    };
    lists.names.iter().map(syllables).collect()
});

/// The `first` and `last` words of compounds, syllables `unwanted` within an invented word, and `taken` well-known names
/// that a compound or syllables could hit, sorted; see also the test against published data.
static COMPOUND_WORDS: Lazy<HashMap<&'static str, Vec<&'static str>>> = Lazy::new(|| {
    let lists = Lists::parse(include_str!("words/compounds.txt"));
    let words = |name: &&'static str| (*name, lists[*name].iter().flat_map(|line| line.split(' ')).collect());
    lists.names.iter().map(words).collect()
});

/// True if `word` (lowercase) may occur in a name.
pub(crate) fn is_fit(word: &str) -> bool {
    let folded = data::fold::fold(word);
    !COMPOUND_WORDS["unwanted"].iter().any(|unwanted| folded.contains(unwanted))
        && COMPOUND_WORDS["taken"].binary_search(&folded.as_str()).is_err()
        && folded != "facets"
}

/// An invented word with `extra` additional syllables.
pub(crate) fn coin_word(random: &mut Random, syllables: &Syllables, extra: usize) -> String {
    loop {
        let count = 1 + extra + usize::from(random.chance(430)) + usize::from(random.chance(20));
        let mut word = String::new();
        for position in 0..count {
            // Consonant clusters occur only at the beginning, so that longer words can be pronounced.
            let onset = loop {
                let onset = random.pick(&syllables["onsets"]);
                if position == 0 || onset.len() == 1 {
                    break onset;
                }
            };
            word.push_str(onset);
            word.push_str(random.pick(&syllables["vowels"]));
            if position + 1 == count || random.chance(250) {
                word.push_str(random.pick(&syllables["codas"]));
            }
        }
        if word.ends_with(['a', 'e', 'i', 'o', 'u', 'y', 'é', 'ä', 'ö', 'ü', 'å']) {
            word.push_str(random.pick(&["l", "n", "r", "v", "m", "t", "d"]));
        }
        word.push_str(random.pick(&syllables["ends"]));
        if is_fit(&word) && word.chars().count() > 4 {
            return capitalized(&word);
        }
    }
}

/// A compound of two English words: `Thistlegate`, sometimes `ThistleGate`.
pub(crate) fn coin_compound(random: &mut Random) -> String {
    loop {
        let (first, last) = (random.pick(&COMPOUND_WORDS["first"]), random.pick(&COMPOUND_WORDS["last"]));
        let camel = random.chance(90);
        if first == last || !is_fit(&format!("{first}{last}")) {
            continue;
        }
        return if camel {
            format!("{}{}", capitalized(first), capitalized(last))
        } else {
            format!("{}{last}", capitalized(first))
        };
    }
}

pub(crate) fn plain_word(random: &mut Random) -> String {
    capitalized(random.pick(&COMPOUND_WORDS["first"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagen::random::RandomStream;

    #[test]
    fn the_list_of_taken_names_is_sorted() {
        assert!(COMPOUND_WORDS["taken"].is_sorted() && COMPOUND_WORDS["taken"].len() > 100);
    }

    #[test]
    fn coined_words_are_rare_and_decent() {
        let mut random = Random::new(5, RandomStream::FirmName, 0);
        let mut words = std::collections::HashSet::new();
        assert_eq!(SYLLABLES.len(), 6);
        for syllables in SYLLABLES.values() {
            for _ in 0..2_000 {
                let word = coin_word(&mut random, syllables, 0);
                assert!(is_fit(&word) && (5..=24).contains(&word.chars().count()), "{word}");
                words.insert(word);
            }
        }
        assert!(words.len() > 11_000, "{}", words.len());
        assert!(!is_fit("Sequoia") && is_fit("Thistlegate"));
    }
}
