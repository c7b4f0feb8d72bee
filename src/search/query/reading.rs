//! Readings of a text before it is compared: `N.E.A.` is `nea`, in a query as in a name. A query without a sure match
//! may have [`other_readings`]: a name typed in pieces, a number in words or digits.

use crate::MAX_QUERY_WORDS;
use crate::index::Dictionary;
use data::fold::{fold, fold_into};
use data::name::join_initials;
use data::name::numerals::{to_digits, to_words};

/// Folds a name or query after joining its initials.
pub(crate) fn fold_name(text: &str) -> String {
    fold(&join_initials(text))
}

/// As [`fold_name`]; replaces the content of the buffer.
pub(crate) fn fold_name_into(text: &str, folded: &mut String) {
    fold_into(&join_initials(text), folded);
}

/// Maximum number of steps in the dictionary to find a one-word name typed in pieces with a typo.
const MAX_STEPS: u32 = 3_000;
/// Minimum length of such a name.
const MIN_MISTYPED: usize = 5;

/// Replaces the numbers among words; `None` if there are none.
type ReadNumbers = fn(&[String]) -> Option<Vec<String>>;

/// Other possible meanings of a query, the likeliest first, if it has no sure match as it is.
pub(crate) fn other_readings<'a>(text: &'a str, dictionary: &'a Dictionary) -> impl Iterator<Item = String> + 'a {
    // A space at the end marks the last word as complete.
    let end = if text.ends_with(char::is_whitespace) { " " } else { "" };
    let folded = fold_name(text);
    let words: Vec<String> =
        folded.split(' ').filter(|word| !word.is_empty()).take(MAX_QUERY_WORDS).map(str::to_owned).collect();
    let numbers: [ReadNumbers; 2] = [to_digits, to_words];
    let with_numbers = {
        let words = words.clone();
        numbers
            .into_iter()
            .filter_map(move |read| read(&words))
            .flat_map(move |read| join_pieces(&read, dictionary).into_iter().chain([read]))
    };
    join_pieces(&words, dictionary).into_iter().chain(with_numbers).map(move |words| words.join(" ") + end)
}

/// Joins the pieces of a word, in the longest run; `and` may be the `n` of a name. `None` without such a word.
fn join_pieces(words: &[String], dictionary: &Dictionary) -> Option<Vec<String>> {
    let is_word = |text: &String| dictionary.get(text).is_some();
    for length in (2..=words.len()).rev() {
        for start in 0..=words.len() - length {
            let pieces = &words[start..start + length];
            let joined = pieces.concat();
            let with_n = || pieces.iter().map(|word| if word == "and" { "n" } else { word }).collect();
            if let Some(name) = [joined, with_n()].into_iter().find(is_word) {
                let (before, after) = (&words[..start], &words[start + length..]);
                return Some([before, &[name], after].concat());
            }
        }
    }
    let joined = words.concat();
    let are_letters = words.len() > 1 && words.iter().all(|word| word.len() == 1);
    let is_mistyped = || {
        let mut near = Vec::new();
        dictionary.within(&joined, 1, &mut { MAX_STEPS }, &mut near);
        words.len() > 2 && joined.len() >= MIN_MISTYPED && !near.is_empty()
    };
    (are_letters || is_mistyped()).then_some(vec![joined])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn dictionary(words: &[&str]) -> Dictionary {
        let words: BTreeSet<_> = words.iter().collect();
        let bytes = tantivy_fst::Map::from_iter(words.into_iter().zip(0..)).unwrap().as_fst().to_vec();
        Dictionary::from_bytes(bytes).unwrap()
    }

    fn readings(text: &str, words: &[&str]) -> Vec<String> {
        other_readings(text, &dictionary(words)).collect()
    }

    #[test]
    fn a_name_typed_in_pieces_is_joined() {
        let words = ["23andme", "airbnb", "dropbox", "tianshike", "group"];
        for (text, reading) in [
            ("23 and me", "23andme"),
            ("air b and b", "airbnb"),
            ("drop b ox group", "dropbox group"),
            ("tian shi ke ", "tianshike "),
            ("drop bo xx", "dropboxx"),
            ("K. P. C. B.", "kpcb"),
        ] {
            assert_eq!(readings(text, &words).first().map(String::as_str), Some(reading), "{text}");
        }
        assert_eq!(readings("twenty three and me", &words), ["23andme", "23 and me"]);
        for text in ["", "★", "drop", "drop bo", "some other words"] {
            assert_eq!(readings(text, &words), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn numbers_have_two_readings() {
        assert_eq!(readings("five hundred startups", &[]), ["500 startups"]);
        assert_eq!(readings("7 Generations Energy", &[]), ["seven generations energy"]);
    }

    proptest! {
        #[test]
        fn a_word_in_any_pieces_is_joined(word in "[b-z]{3,12}", ends in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
            let mut pieces = word.clone();
            for end in ends {
                let at = 1 + end.index(word.len() - 1);
                if pieces.is_char_boundary(at) {
                    pieces.insert(at, ' ');
                }
            }
            let pieces = fold(&pieces);
            if pieces.contains(' ') {
                prop_assert_eq!(&readings(&pieces, &[&word])[0], &word);
            }
        }
    }
}
