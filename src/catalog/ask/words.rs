//! The words and phrases of `words.txt`.

use data::word_file;

/// Words that follow each other.
pub(super) struct Phrase {
    pub text: &'static str,
    pub words: Vec<&'static str>,
    /// Empty in a section without meanings.
    pub meaning: &'static str,
}

/// The phrases of a section, in the order of the file.
pub(super) fn phrases(section: &str) -> Vec<Phrase> {
    let heading = format!("[{section}]");
    let lines = word_file::entries(include_str!("words.txt")).skip_while(|line| *line != heading).skip(1);
    let of_line = |line: &'static str| {
        let (meaning, texts) = line.split_once(": ").unwrap_or(("", line));
        texts.split(", ").map(move |text| Phrase { text, words: text.split(' ').collect(), meaning })
    };
    let phrases: Vec<Phrase> = lines.take_while(|line| !line.starts_with('[')).flat_map(of_line).collect();
    assert!(!phrases.is_empty(), "words.txt has no section {section}");
    phrases
}

/// The phrases of a section without their meanings.
pub(super) fn words(section: &str) -> Vec<&'static str> {
    phrases(section).into_iter().map(|phrase| phrase.text).collect()
}

/// The meaning of a text in a section.
pub(super) fn meaning_of(phrases: &[Phrase], text: &str) -> Option<&'static str> {
    phrases.iter().find(|phrase| phrase.text == text).map(|phrase| phrase.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::fold::fold;
    use data::vocabulary::Vocabulary;
    use data::{FirmKind, Role, Stage, StartupStatus};

    #[test]
    fn meanings_are_names_of_the_vocabularies() {
        fn check<T: Vocabulary>(section: &str) {
            for name in phrases(section).iter().flat_map(|phrase| phrase.meaning.split(',')) {
                assert!(T::names().contains(&name), "{section}: {name}");
            }
        }
        check::<Stage>("stages");
        check::<FirmKind>("kinds");
        check::<StartupStatus>("statuses");
        check::<Role>("roles");
    }

    #[test]
    fn a_phrase_precedes_its_beginning() {
        // Orders are sought by table.
        let tables = |phrase: &Phrase| phrase.meaning.split_once(' ').map(|(tables, _)| tables);
        for section in ["known", "bounds", "portfolio", "relations", "like", "orders", "ages"] {
            let phrases = phrases(section);
            for (index, phrase) in phrases.iter().enumerate() {
                let beginning = format!("{} ", phrase.text);
                let is_longer = |later: &Phrase| later.text.starts_with(&beginning) && tables(later) == tables(phrase);
                assert!(!phrases[index + 1..].iter().any(is_longer), "{section}: {}", phrase.text);
            }
        }
    }

    #[test]
    fn phrases_are_folded() {
        let lines = word_file::entries(include_str!("words.txt"));
        let sections = lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        for section in sections.filter(|section| *section != "signs") {
            for phrase in phrases(section) {
                assert_eq!(fold(phrase.text), phrase.text.replace('+', ""), "{section}");
            }
        }
    }
}
