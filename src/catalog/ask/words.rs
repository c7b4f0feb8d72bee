//! The English words and phrases of questions: `languages/en.txt`.

use foldhash::HashMap;
use once_cell::sync::Lazy;

use crate::ask::token::QuestionToken;
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
    /// Places of the phrases, in the order of the file, by the first word.
    beginning: HashMap<&'static str, Vec<usize>>,
    meanings: HashMap<&'static str, &'static str>,
}

static SECTIONS: Lazy<HashMap<&str, Section>> = Lazy::new(|| {
    let mut sections: HashMap<&str, Section> = HashMap::default();
    let mut name = "";
    for line in word_file::entries(include_str!("languages/en.txt")) {
        if let Some(heading) = line.strip_prefix('[') {
            name = heading.trim_end_matches(']');
            continue;
        }
        let (meaning, texts) = line.split_once(": ").unwrap_or(("", line));
        let section = sections.entry(name).or_default();
        for text in texts.split(", ") {
            let words: Vec<&str> = text.split(' ').collect();
            section.beginning.entry(words[0].trim_start_matches('+')).or_default().push(section.phrases.len());
            section.meanings.entry(text).or_insert(meaning);
            section.phrases.push(Phrase { text, words, meaning });
        }
    }
    sections
});

fn section(name: &str) -> &'static Section {
    static NONE: Lazy<Section> = Lazy::new(Section::default);
    SECTIONS.get(name).unwrap_or(&NONE)
}

/// The phrases of a section, in the order of the file.
pub(super) fn phrases(name: &str) -> &'static [Phrase] {
    &section(name).phrases
}

pub(super) fn meaning_of(section: &str, text: &str) -> Option<&'static str> {
    self::section(section).meanings.get(text).copied()
}

/// True if a section without meanings has a word.
pub(super) fn is_in(section: &str, word: &str) -> bool {
    meaning_of(section, word).is_some()
}

/// The longest phrase of a section at the beginning of some words.
pub(super) fn phrase_of(section: &str, tokens: &[QuestionToken]) -> Option<&'static Phrase> {
    let fits = |phrase: &&Phrase| {
        let words = tokens.iter().map(|token| token.word.as_str()).take(phrase.words.len());
        words.eq(phrase.words.iter().copied())
    };
    phrases_from(section, &tokens.first()?.word).filter(fits).max_by_key(|phrase| phrase.words.len())
}

/// The phrases of a section that begin with a word, in the order of the file.
pub(super) fn phrases_from(section: &str, word: &str) -> impl Iterator<Item = &'static Phrase> {
    let section = self::section(section);
    section.beginning.get(word).into_iter().flatten().map(|place| &section.phrases[*place])
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
    fn sections_that_are_named_exist_and_all_are_used() {
        const CALLS: [&str; 8] = [
            "is_in(",
            "follows(",
            "phrase_of(",
            "phrases_from(",
            "meaning_of(",
            "find_phrase(",
            "phrases(",
            "mentions(",
        ];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/ask");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        let code = |source: String| source.split("#[cfg(test)]\nmod").next().unwrap().to_owned();
        let sources: Vec<String> = files.map(|path| code(std::fs::read_to_string(path).unwrap())).collect();
        let literal = |rest: &str| {
            let call = &rest[..rest.find([';', '{']).unwrap_or(rest.len())];
            call.split('"').nth(1).map(str::to_owned)
        };
        let calls = sources.iter().flat_map(|source| CALLS.iter().flat_map(move |call| source.split(call).skip(1)));
        for name in calls.filter_map(literal).filter(|name| !name.is_empty()) {
            assert!(SECTIONS.contains_key(name.as_str()), "{name}");
        }
        for name in SECTIONS.keys() {
            assert!(sources.iter().any(|source| source.contains(&format!("\"{name}\""))), "{name}");
        }
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
        let lines = word_file::entries(include_str!("languages/en.txt"));
        let sections = lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        for section in sections.filter(|section| !["signs", "endings of amounts"].contains(section)) {
            for phrase in phrases(section) {
                assert_eq!(fold(phrase.text), phrase.text.replace('+', ""), "{section}");
            }
        }
    }
}
