//! The words and phrases of `words.txt`.

use std::collections::HashMap;

use once_cell::sync::Lazy;

use data::word_file;

pub(super) struct Phrase {
    pub text: &'static str,
    pub words: Vec<&'static str>,
    /// Empty in a section without meanings.
    pub meaning: &'static str,
}

#[derive(Default)]
struct Section {
    phrases: Vec<Phrase>,
    words: Vec<&'static str>,
}

static SECTIONS: Lazy<HashMap<&str, Section>> = Lazy::new(|| {
    let mut sections: HashMap<&str, Section> = HashMap::new();
    let mut name = "";
    for line in word_file::entries(include_str!("words.txt")) {
        if let Some(heading) = line.strip_prefix('[') {
            name = heading.trim_end_matches(']');
            continue;
        }
        let (meaning, texts) = line.split_once(": ").unwrap_or(("", line));
        let section = sections.entry(name).or_default();
        section.words.extend(texts.split(", "));
        section.phrases.extend(texts.split(", ").map(|text| Phrase {
            text,
            words: text.split(' ').collect(),
            meaning,
        }));
    }
    sections
});

fn section(name: &str) -> &'static Section {
    SECTIONS.get(name).unwrap_or_else(|| panic!("words.txt has no section {name}"))
}

/// The phrases of a section, in the order of the file.
pub(super) fn phrases(name: &str) -> &'static [Phrase] {
    &section(name).phrases
}

/// The phrases of a section without their meanings.
pub(super) fn words(name: &str) -> &'static [&'static str] {
    &section(name).words
}

pub(super) fn meaning_of(section: &str, text: &str) -> Option<&'static str> {
    phrases(section).iter().find(|phrase| phrase.text == text).map(|phrase| phrase.meaning)
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
