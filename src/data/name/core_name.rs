//! The words of a name that distinguish its record, those that say what it is, and its legal form.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use xxhash_rust::xxh3::xxh3_64;

use crate::evidence::Evidence;
use crate::fold::fold;
use crate::name::script_forms::without_script_form;
use crate::name::words::{WordList, short_form};

static GENERIC_BITS: Lazy<HashMap<&str, u32>> =
    Lazy::new(|| WordList::GenericWords.words().zip(0..).map(|(word, index)| (word, 1 << index)).collect());

/// Legal forms of several words at the end of a name: `Dębowa Sp. z o.o.`.
const FORMS_OF_WORDS: [&[&str]; 10] = [
    &["sp", "z", "o", "o"],
    &["sp", "zoo"],
    &["sp", "k"],
    &["spol", "s", "r", "o"],
    &["s", "de", "r", "l", "de", "c", "v"],
    &["s", "de", "rl", "de", "cv"],
    &["s", "a", "p", "i", "de", "c", "v"],
    &["sapi", "de", "cv"],
    &["s", "a", "de", "c", "v"],
    &["sa", "de", "cv"],
];

/// Minimum letters of a core that may be misspelled.
const MIN_MISSPELLED: usize = 6;

/// Minimum letters of a core of two words or more that may be the beginning of a longer one.
const MIN_BEGINNING: usize = 8;

pub struct CoreName {
    /// The words without the legal form, separated by spaces.
    pub words: String,
    /// The distinctive words, separated by spaces.
    pub core: String,
    /// A bit for each generic word next to the core.
    pub generic: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// The legal form, an article, a connecting word.
    Legal,
    /// Says what the record is; with the bit of the word.
    Generic(u32),
    Core,
}

impl WordKind {
    /// Classifies the words of a folded name. Legal words are generic if there are no others: they distinguish nothing.
    pub fn classify(words: &[&str]) -> Vec<Self> {
        let mut is_legal: Vec<bool> = Vec::with_capacity(words.len());
        for run in words.chunk_by(|left, right| is_letter(left) && is_letter(right)) {
            let is_legal_run = match run {
                [word] => is_legal_word(word),
                // A legal form of single letters is one word: `alder l l c`.
                letters => !is_legal.is_empty() && is_legal_word(&letters.concat()),
            };
            is_legal.extend(run.iter().map(|_| is_legal_run));
        }
        let mut end = words.len();
        // The first word is never a final form.
        while end > 1 {
            let form = FORMS_OF_WORDS.iter().find(|form| words[1..end].ends_with(form)).map(|form| form.len());
            let letters = words[1..end].iter().rev().take_while(|word| is_letter(word)).count();
            let is_final = |word: &str| WordList::FinalForms.contains(word);
            let length = match form {
                Some(length) => length,
                None if letters > 1 && is_final(&words[end - letters..end].concat()) => letters,
                None if is_legal[end - 1] || is_final(words[end - 1]) => 1,
                None => break,
            };
            is_legal[end - length..end].fill(true);
            end -= length;
        }
        let has_others = is_legal.contains(&false);
        let kind = |(word, is_legal): (&&str, bool)| match GENERIC_BITS.get(singular(word)) {
            _ if is_legal && has_others => Self::Legal,
            _ if is_legal => Self::Generic(0),
            Some(bit) => Self::Generic(*bit),
            None => Self::Core,
        };
        words.iter().zip(is_legal).map(kind).collect()
    }
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic()
}

/// True for words that one record's names may have or lack.
fn is_legal_word(word: &str) -> bool {
    WordList::LegalForms.contains(word) || WordList::ConnectingWords.contains(word)
}

/// The legal forms in a folded name, abbreviated: `Alder Co., L.L.C.` → `co`, `llc`.
pub fn legal_forms(words: &[&str], kinds: &[WordKind]) -> Vec<String> {
    let legal = words.iter().zip(kinds).filter(|(_, kind)| **kind == WordKind::Legal).map(|(word, _)| *word);
    let legal: Vec<&str> = legal.filter(|word| !WordList::ConnectingWords.contains(word)).collect();
    let forms = legal.chunk_by(|left, right| is_letter(left) && is_letter(right)).map(<[&str]>::concat);
    forms.map(|form| short_form(&form).map_or(form, str::to_owned)).collect()
}

impl CoreName {
    pub fn parse(name: &str) -> Self {
        let folded = fold(&without_script_form(name).0);
        let words: Vec<&str> = folded.split(' ').collect();
        Self::from_words(&words, &WordKind::classify(&words))
    }

    pub fn from_words(all: &[&str], kinds: &[WordKind]) -> Self {
        let (mut words, mut core, mut generic) = (String::new(), String::new(), 0);
        for (word, kind) in all.iter().zip(kinds).filter(|(_, kind)| **kind != WordKind::Legal) {
            push_word(&mut words, word);
            match kind {
                WordKind::Generic(bit) => generic |= bit,
                _ => push_word(&mut core, word),
            }
        }
        // A name of generic words only is distinguished by them.
        if core.is_empty() {
            (core, generic) = (words.clone(), 0);
        }
        Self { words, core, generic }
    }

    pub fn joined(&self) -> String {
        self.core.replace(' ', "")
    }

    /// The core without spaces, doubled letters and plurals. Short words keep a doubled letter: it may be a numeral.
    fn squeezed(&self) -> String {
        let mut squeezed = String::with_capacity(self.core.len());
        for word in self.core.split(' ').map(singular) {
            let start = squeezed.len();
            for letter in word.chars() {
                let is_doubled = squeezed.len() > start && squeezed.ends_with(letter) && letter.is_ascii_alphabetic();
                if !is_doubled || word.len() <= 3 {
                    squeezed.push(letter);
                }
            }
        }
        squeezed
    }

    /// Passes the keys of the name. Similar names share at least one key.
    pub fn each_key(&self, mut each: impl FnMut(u64)) {
        let mut letters = self.joined().into_bytes();
        if letters.is_empty() {
            return;
        }
        letters.sort_unstable();
        // Keys of equal or swapped letters, of doubled letters and plurals, and of beginnings that may be other cores.
        each(xxh3_64(&letters));
        each(xxh3_64(self.squeezed().as_bytes()) ^ 1);
        let ends = self.core.match_indices(' ').map(|(end, _)| end).skip(1).chain([self.core.len()]);
        ends.for_each(|end| each(xxh3_64(&self.core.as_bytes()[..end]) ^ 2));
    }

    /// Agreement of two names with the same core, by their generic words.
    pub fn generic_agreement(&self, other: &Self) -> Evidence {
        match (self.generic & !other.generic, other.generic & !self.generic) {
            (0, 0) => Evidence::SameName,
            (0, _) | (_, 0) => Evidence::SameCore,
            _ => Evidence::OtherGenericWords,
        }
    }

    /// True if the core is the first words of a longer one.
    pub fn begins(&self, longer: &Self) -> bool {
        longer.core.strip_prefix(&self.core).is_some_and(|rest| rest.starts_with(' '))
    }

    /// Agreement with the name of a main record; `None` if this name says anything that the other does not. Of the
    /// misspellings only the likeliest count: two letters are swapped, one is doubled, or a plural is a singular.
    pub(crate) fn repeats(&self, main: &Self) -> Option<Evidence> {
        if self.generic & !main.generic != 0 {
            return None;
        }
        let (own, other) = (self.joined(), main.joined());
        if own == other {
            return Some(self.generic_agreement(main));
        }
        if self.begins(main) && self.core.contains(' ') && own.len() >= MIN_BEGINNING {
            return Some(Evidence::NameBegins);
        }
        let is_misspelled =
            is_swapped(&own, &other) || (own.len().abs_diff(other.len()) == 1 && self.squeezed() == main.squeezed());
        (is_misspelled && own.len().min(other.len()) >= MIN_MISSPELLED).then_some(Evidence::MisspelledName)
    }
}

/// The word without the `s` of a plural.
pub fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|singular| singular.len() >= 3).unwrap_or(word)
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

/// True if two texts differ only by two neighboring letters that are swapped; swapped digits do not count.
fn is_swapped(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let Some(at) = left.iter().zip(right).position(|(left, right)| left != right) else { return false };
    let (Some([a, b]), Some([c, d])) = (left.get(at..at + 2), right.get(at..at + 2)) else { return false };
    (a, b) == (d, c) && left[at + 2..] == right[at + 2..] && a.is_ascii_alphabetic() && b.is_ascii_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_forms_are_no_part_of_the_core() {
        for (name, core) in [
            ("Dębowa Sp. z o.o.", "debowa"),
            ("Ampelo, Lda", "ampelo"),
            ("Nordvik UAB", "nordvik"),
            ("Alderlux S.A.P.I. de C.V.", "alderlux"),
            ("Agave S. de R.L. de C.V.", "agave"),
            ("Kőris Nyrt.", "koris"),
            ("Ladepunkt GesmbH", "ladepunkt"),
            ("Emas Tbk", "emas"),
            ("Akebi K.K.", "akebi"),
            ("Alder Fund 2 L.P.", "alder 2"),
            ("青葉電子株式会社", "qingyedianzi"),
            ("ПАО «Вектор Полёт»", "vektor polet"),
            // Of these names the words are their own.
            ("LDA Capital", "lda"),
            ("SP Ventures", "sp"),
            ("Zoo Capital", "zoo"),
            ("Ike", "ike"),
        ] {
            assert_eq!(CoreName::parse(name).core, core, "{name}");
        }
    }
}
