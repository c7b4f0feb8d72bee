//! The word lists of `words.txt`.

use std::collections::BTreeMap;

use once_cell::sync::Lazy;

use crate::vocabulary::{Vocabulary, vocabulary};
use crate::word_file;

vocabulary! {
    /// A section of `words.txt`, which says what each is.
    WordList, "word list", {
        LegalForms = "legal forms",
        FinalForms = "final legal forms",
        ConnectingWords = "connecting words",
        Particles = "particles",
        Titles = "titles",
        GenericWords = "generic words",
        Vehicles = "vehicles",
        BeforeNumbers = "before numbers",
        SecondLevelDomains = "second-level domains",
        PageHosts = "page hosts",
        ProfileHosts = "profile hosts",
        ProfilePaths = "profile paths",
        HostEndings = "host endings",
        MailProviders = "mail providers",
        RoleAccounts = "role accounts",
        HandlePrefixes = "handle prefixes",
        HandleSuffixes = "handle suffixes",
    }
}

impl WordList {
    pub fn contains(self, word: &str) -> bool {
        WORDS.lists.get(word).is_some_and(|lists| lists & self.bit() != 0)
    }

    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.lists.iter().filter(move |(_, lists)| **lists & self.bit() != 0).map(|(word, _)| *word)
    }

    /// True for a legal form, a connecting word and a particle: words that a search gives little weight.
    pub fn is_stop_word(word: &str) -> bool {
        const STOP_WORDS: u32 =
            WordList::LegalForms.bit() | WordList::ConnectingWords.bit() | WordList::Particles.bit();
        WORDS.lists.get(word).is_some_and(|lists| lists & STOP_WORDS != 0)
    }

    pub fn stop_words() -> impl Iterator<Item = &'static str> {
        WORDS.lists.keys().copied().filter(|word| Self::is_stop_word(word))
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The short form of a legal form that is written in full: `limited` is `ltd`.
pub(super) fn short_form(word: &str) -> Option<&'static str> {
    WORDS.short_forms.get(word).copied()
}

#[derive(Default)]
struct Words {
    lists: BTreeMap<&'static str, u32>,
    short_forms: BTreeMap<&'static str, &'static str>,
}

static WORDS: Lazy<Words> = Lazy::new(|| {
    let mut words = Words::default();
    let mut list = None;
    for line in word_file::entries(include_str!("words.txt")) {
        if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            list = WordList::ALL.iter().copied().find(|list| list.name() == heading);
            continue;
        }
        let bit = list.map_or(0, WordList::bit);
        let (full, short) = line.split_once(" = ").map_or((line, None), |(full, short)| (full, Some(short)));
        words.short_forms.extend(short.map(|short| (full, short)));
        for word in full.split_whitespace() {
            *words.lists.entry(word).or_default() |= bit;
        }
    }
    words
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::fold;

    #[test]
    fn every_section_has_a_list_and_every_list_has_words() {
        let headings = include_str!("words.txt").lines().filter(|line| line.starts_with('['));
        let known = WordList::ALL.iter().map(|list| format!("[{list}]"));
        assert!(headings.eq(known));
        for list in WordList::ALL {
            assert!(list.words().count() > 1, "{list}");
        }
        assert!(WORDS.lists.values().all(|lists| *lists != 0));
        assert!(WordList::GenericWords.words().count() <= 32, "each has a bit");
    }

    #[test]
    fn words_of_names_are_folded_and_short_forms_are_legal_forms() {
        for list in [WordList::LegalForms, WordList::ConnectingWords, WordList::Particles, WordList::GenericWords] {
            assert!(list.words().all(|word| fold(word) == word), "{list:?}");
        }
        assert!(
            WORDS
                .short_forms
                .iter()
                .flat_map(|(full, short)| [full, short])
                .all(|form| WordList::LegalForms.contains(form))
        );
        assert_eq!(short_form("corporation"), Some("corp"));
    }

    #[test]
    fn stop_words_are_legal_forms_connecting_words_and_particles() {
        assert!(["kft", "ltda", "the", "of"].into_iter().all(WordList::is_stop_word));
        assert!(!["capital", "sequoia", "gmail"].into_iter().any(WordList::is_stop_word));
        assert!(WordList::stop_words().all(WordList::is_stop_word));
    }
}
