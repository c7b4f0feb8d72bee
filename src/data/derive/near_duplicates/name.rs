//! How much the name of one record says of the other's.

use xxhash_rust::xxh3::xxh3_64;

use crate::data::fold::fold;

/// Words that names of one record have and others lack: legal forms, articles, connecting words, parts of addresses.
const LEGAL: &str = "ab ag and as bv co com company corp corporation gmbh inc incorporated kg limited llc llp lp ltd nv oy \
    plc private pte pty pvt sa sarl sas spa srl the www";

/// Words that say what a record is, not which, in the singular; at most 32. The core of a name is its other words.
const GENERIC: &str = "adviser advisor asset associate capital equity firm fund group holding investment investor lab \
    management partner software solution system tech technology vc venture";

/// So many letters are enough to see a misspelling in a core.
const MIN_MISSPELLED: usize = 6;

/// So many letters of a core of two words or more are enough to be the beginning of a longer one.
const MIN_BEGINNING: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Similarity {
    /// The same core, spaces aside.
    Same,
    /// The core begins that of the main record.
    Begins,
    /// Two letters are swapped, one is doubled, or a plural is a singular.
    Misspelled,
}

/// A folded name, taken apart.
pub(super) struct Name {
    /// The distinctive words, separated by spaces.
    core: String,
    /// A bit for each word of [`GENERIC`] in the name.
    generic: u32,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        let folded = fold(name);
        let is_legal = |word: &&str| LEGAL.split(' ').any(|legal| legal == *word);
        let mut words: Vec<&str> = folded.split(' ').filter(|word| !is_legal(word)).collect();
        if words.is_empty() {
            words = folded.split(' ').collect();
        }
        let mut core = String::with_capacity(folded.len());
        let mut generic = 0;
        for word in &words {
            match GENERIC.split(' ').position(|generic| generic == singular(word)) {
                Some(index) => generic |= 1 << index,
                None => push_word(&mut core, word),
            }
        }
        // A name of generic words only is distinguished by them.
        if core.is_empty() {
            (core, generic) = (words.join(" "), 0);
        }
        Self { core, generic }
    }

    fn joined(&self) -> String {
        self.core.replace(' ', "")
    }

    pub(super) fn letters(&self) -> usize {
        self.core.bytes().filter(|byte| *byte != b' ').count()
    }

    /// The core without spaces, doubled letters and plurals. In short words a doubled letter is a numeral.
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

    /// Passes keys of which two names that are alike have one in common.
    pub(super) fn each_key(&self, mut each: impl FnMut(u64)) {
        let joined = self.joined();
        if joined.is_empty() {
            return;
        }
        let mut letters = joined.clone().into_bytes();
        letters.sort_unstable();
        // Equal or swapped letters; doubled letters and plurals; beginnings, each of which is the core of another name.
        each(xxh3_64(&letters));
        each(xxh3_64(self.squeezed().as_bytes()) ^ 1);
        let ends = self.core.match_indices(' ').map(|(end, _)| end).skip(1).chain([self.core.len()]);
        ends.for_each(|end| each(xxh3_64(&self.core.as_bytes()[..end]) ^ 2));
    }

    /// How this name is like that of a main record, if it says nothing that the other does not.
    pub(super) fn similarity(&self, main: &Self) -> Option<Similarity> {
        if self.generic & !main.generic != 0 {
            return None;
        }
        let (own, other) = (self.joined(), main.joined());
        if own == other {
            return Some(Similarity::Same);
        }
        let begins = main.core.strip_prefix(&self.core).is_some_and(|rest| rest.starts_with(' '));
        if begins && self.core.contains(' ') && own.len() >= MIN_BEGINNING {
            return Some(Similarity::Begins);
        }
        let is_misspelled =
            is_swapped(&own, &other) || (own.len().abs_diff(other.len()) == 1 && self.squeezed() == main.squeezed());
        (is_misspelled && own.len().min(other.len()) >= MIN_MISSPELLED).then_some(Similarity::Misspelled)
    }
}

/// The word without the `s` of a plural.
fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|singular| singular.len() >= 3).unwrap_or(word)
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

/// Whether two texts differ by two neighboring letters that are swapped; numbers never do.
fn is_swapped(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let Some(at) = left.iter().zip(right).position(|(left, right)| left != right) else { return false };
    let (Some([a, b]), Some([c, d])) = (left.get(at..at + 2), right.get(at..at + 2)) else { return false };
    (a, b) == (d, c) && left[at + 2..] == right[at + 2..] && a.is_ascii_alphabetic() && b.is_ascii_alphabetic()
}
