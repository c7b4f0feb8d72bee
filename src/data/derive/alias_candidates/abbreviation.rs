//! Recognizes abbreviations of names.

/// Longest abbreviation in letters; longer texts are names.
const MAX_LETTERS: usize = 8;

/// Longest name in words that is abbreviated by parts of all of its words.
const MAX_WORDS: usize = 8;

/// True if `short` abbreviates a folded name: by initials (`nea`), also of compounds (`lsvp` for `lightspeed venture
/// partners`), by beginnings of words (`sofi` for `social finance`), or by the number of omitted letters (`a16z`).
pub(super) fn abbreviates(short: &str, folded: &str) -> bool {
    let words: Vec<&str> =
        folded.split(' ').filter(|word| !matches!(*word, "and" | "of" | "the" | "for" | "")).collect();
    if short.len() < 2 || !short.is_ascii() || words.len() > MAX_WORDS {
        return false;
    }
    if is_numeronym(short, &folded.replace(' ', "")) {
        return true;
    }
    let is_of_words = |short: &str| {
        short.len() <= MAX_LETTERS
            && short.len() >= words.len()
            && (joins_beginnings(short, &words) || joins_initials(short, &words))
    };
    // `dcvc` for `data collective`: the kind of firm is often appended.
    let firm = short.strip_suffix("vc").filter(|firm| firm.len() >= 2);
    words.len() > 1 && (is_of_words(short) || firm.is_some_and(is_of_words))
}

/// True if `short` is the first letter, the number of omitted letters and the last letter of a text.
fn is_numeronym(short: &str, joined: &str) -> bool {
    let number = short.get(1..short.len() - 1).and_then(|digits| digits.parse::<usize>().ok());
    number.is_some_and(|left_out| left_out > 1 && joined.len() == left_out + 2)
        && short[..1] == joined[..1]
        && joined.ends_with(&short[short.len() - 1..])
}

/// True if `short` is made of a beginning of each word, with at most three letters from each.
fn joins_beginnings(short: &str, words: &[&str]) -> bool {
    let Some((word, rest)) = words.split_first() else { return short.is_empty() };
    let common = word.bytes().zip(short.bytes()).take_while(|(left, right)| left == right).count();
    // A whole word is no abbreviation of itself, unless it has one letter.
    let longest = common.min(3).min(word.len().max(2) - 1);
    (1..=longest).rev().any(|letters| joins_beginnings(&short[letters..], rest))
}

/// True if `short` is the initials of all words and a letter inside one of them, as initials of compounds are.
fn joins_initials(short: &str, words: &[&str]) -> bool {
    if short.len() != words.len() + 1 {
        return false;
    }
    (0..words.len()).any(|compound| {
        let initial = |index: usize| words[index].as_bytes()[0];
        let letters = short.as_bytes();
        (0..=compound).all(|index| letters[index] == initial(index))
            && (compound + 1..words.len()).all(|index| letters[index + 1] == initial(index))
            && words[compound].len() >= 8
            && words[compound].as_bytes()[3..].contains(&letters[compound + 1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_recognized() {
        for (short, name) in [
            ("nea", "new enterprise associates"),
            ("kpcb", "kleiner perkins caufield and byers"),
            ("lsvp", "lightspeed venture partners"),
            ("htgf", "high tech gruenderfonds"),
            ("sofi", "social finance"),
            ("dcvc", "data collective"),
            ("a16z", "andreessen horowitz"),
            ("k8s", "kubernetes"),
            ("emcap", "emergence capital"),
            ("yc", "y combinator"),
        ] {
            assert!(abbreviates(short, name), "{short} of {name}");
        }
    }

    #[test]
    fn other_texts_are_not_abbreviations() {
        for (short, name) in [
            ("nea", "new enterprise"),
            ("ne", "new enterprise associates"),
            ("alder", "alder"),
            ("alderfund", "alder fund"),
            ("a15z", "andreessen horowitz"),
            ("a", "alder"),
            ("", ""),
            ("vc", "venture capital fund"),
            ("é", "etude etude"),
            ("lightspeed", "lightspeed venture partners"),
        ] {
            assert!(!abbreviates(short, name), "{short} of {name}");
        }
    }
}
