//! Parses names for comparison: their distinctive words, and the parts that must not differ.

use xxhash_rust::xxh3::xxh3_64;

use data::Table;
pub(super) use data::name::{CoreName, Vehicle, WordKind, find_vehicle, legal_forms};
use data::written::{WrittenName, WrittenWord, are_same_letters, are_spelled_alike};
use search::edit_distance::distance_within;
use search::{forms, phonetic_key};

/// Letters that a name needs before a misspelling, sound or beginning is recognized.
const MIN_LETTERS: usize = 5;
const MIN_BEGINNING: usize = 6;
/// In a name of this many letters, one that differs hardly ever makes another name.
const MIN_SURE_LETTERS: usize = 9;
const MIN_INITIALS: usize = 3;

/// Letters and symbols that a name needs to identify a record by itself.
const MIN_TELLING: usize = 2;

/// Degree of agreement of two names, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Agreement {
    /// The same words, except for the legal form and spaces.
    Same,
    /// The same words in another order.
    Reordered,
    /// The same core, but one name has more generic words: `Alder`, `Alder Partners`.
    Core,
    /// Forms of the same words: `Intl`, `International`; `Bob`, `Robert`.
    Forms,
    /// One or two of many letters differ.
    Misspelled,
    /// One of few letters differs.
    Near,
    /// They sound the same, possibly in different scripts, or they differ only in symbols.
    Sound,
    /// The same core with different generic words: `Alder Capital`, `Alder Ventures`.
    OtherGeneric,
    /// One name begins with the other: `Alder`, `Alder Rock`.
    Begins,
    /// One name is the initials of the other.
    Initials,
}

/// A name split into the parts that are compared.
#[derive(Clone, Debug)]
pub(super) struct ParsedName {
    /// All words except the legal form, separated by spaces.
    all: String,
    /// The distinctive words, separated by spaces.
    pub core: String,
    /// The core without spaces.
    pub joined: String,
    generic: u32,
    /// The digits of the core.
    digits: String,
    pub vehicle: Option<Vehicle>,
    /// Hash of the core without spaces.
    pub hash: u64,
    /// All words except the legal form as written, without spaces.
    letters: String,
    /// The core as written; `None` if that equals [`ParsedName::joined`].
    core_letters: Option<String>,
    symbols: String,
    legal: Vec<String>,
    /// True if the name alone can identify a record. A single letter cannot, nor can generic words.
    pub is_telling: bool,
}

impl ParsedName {
    /// Returns `None` for a name without letters and digits.
    pub(super) fn parse(table: Table, name: &str) -> Option<Self> {
        let WrittenName { mut words, symbols } = WrittenName::parse(name);
        let mut vehicle = None;
        if table != Table::People {
            let number;
            (vehicle, number) = find_vehicle(&folded(&words));
            if let Some((at, number)) = number {
                words[at] = WrittenWord { folded: number.to_string(), letters: number.to_string() };
            }
        }
        let folded = folded(&words);
        let kinds = match table {
            Table::People => vec![WordKind::Core; folded.len()],
            _ => WordKind::classify(&folded),
        };
        let CoreName { words: all, core, generic } = CoreName::from_words(&folded, &kinds);
        if core.is_empty() {
            return None;
        }
        let letters_of = |is_counted: fn(&WordKind) -> bool| {
            let counted = words.iter().zip(&kinds).filter(|(_, kind)| is_counted(kind));
            counted.map(|(word, _)| word.letters.as_str()).collect::<String>()
        };
        let letters = letters_of(|kind| *kind != WordKind::Legal);
        let core_letters = letters_of(|kind| *kind == WordKind::Core);
        let joined = core.replace(' ', "");
        let digits = core.chars().filter(char::is_ascii_digit).collect();
        let hash = xxh3_64(joined.as_bytes());
        let signs = core_letters.chars().chain(symbols.chars()).count();
        let is_telling = !core_letters.is_empty() && signs >= MIN_TELLING;
        let core_letters = Some(core_letters).filter(|letters| !letters.is_empty() && *letters != joined);
        let legal = legal_forms(&folded, &kinds);
        Some(Self {
            all,
            core,
            joined,
            generic,
            digits,
            vehicle,
            hash,
            letters,
            core_letters,
            symbols,
            legal,
            is_telling,
        })
    }

    /// True if both are one name: equal except for case, punctuation, spaces, marks that one of them lacks, and legal
    /// forms that do not contradict each other.
    pub(super) fn is_identical(&self, other: &Self) -> bool {
        let has_all = |name: &Self, forms: &[String]| forms.iter().all(|form| name.legal.contains(form));
        self.symbols == other.symbols
            && are_same_letters(&self.letters, &other.letters)
            && (has_all(self, &other.legal) || has_all(other, &self.legal))
    }

    /// True if two cores that fold to the same text are also written alike.
    fn is_written_alike(&self, other: &Self) -> bool {
        self.symbols == other.symbols && are_same_letters(self.written_core(), other.written_core())
    }

    fn written_core(&self) -> &str {
        self.core_letters.as_deref().unwrap_or(&self.joined)
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.core.split(' ')
    }

    /// Agreement of two names; `None` if they differ. Symmetric in its arguments.
    pub(super) fn agreement(&self, other: &Self) -> Option<Agreement> {
        let found = self.folded_agreement(other)?;
        let is_spelled = match found {
            Agreement::Same | Agreement::Core | Agreement::OtherGeneric => self.is_written_alike(other),
            Agreement::Reordered | Agreement::Forms | Agreement::Misspelled | Agreement::Near => {
                are_spelled_alike(&self.letters, &other.letters)
            }
            Agreement::Sound | Agreement::Begins | Agreement::Initials => true,
        };
        Some(if is_spelled { found } else { Agreement::Sound })
    }

    /// Agreement of the folded names.
    fn folded_agreement(&self, other: &Self) -> Option<Agreement> {
        if self.digits != other.digits {
            return None;
        }
        if self.hash == other.hash {
            return Some(match (self.generic & !other.generic, other.generic & !self.generic) {
                (0, 0) => Agreement::Same,
                (0, _) | (_, 0) => Agreement::Core,
                _ => Agreement::OtherGeneric,
            });
        }
        let (short, long) = if self.joined.len() <= other.joined.len() { (self, other) } else { (other, self) };
        let words = |name: &Self| name.core.matches(' ').count() + 1;
        let is_one_word = words(self) == 1 && words(other) == 1;
        if words(self) == words(other) && !is_one_word {
            if sorted(self) == sorted(other) {
                return Some(Agreement::Reordered);
            }
            if self.words().zip(other.words()).all(|(left, right)| are_forms(left, right)) {
                return Some(Agreement::Forms);
            }
        }
        if is_misspelled(&self.all, &other.all) || is_misspelled(&self.core, &other.core) {
            let is_long = short.joined.len() >= MIN_SURE_LETTERS;
            return Some(if is_long { Agreement::Misspelled } else { Agreement::Near });
        }
        if short.joined.len() > MIN_LETTERS && phonetic_key(&short.joined) == phonetic_key(&long.joined) {
            return Some(Agreement::Sound);
        }
        let begins = long.core.strip_prefix(short.core.as_str()).is_some_and(|rest| rest.starts_with(' '));
        if begins && short.joined.len() >= MIN_BEGINNING {
            return Some(Agreement::Begins);
        }
        let initials = || long.words().filter_map(|word| word.chars().next()).collect::<String>();
        let may_abbreviate = words(short) == 1 && words(long) == short.joined.len();
        (may_abbreviate && short.joined.len() >= MIN_INITIALS && initials() == short.joined)
            .then_some(Agreement::Initials)
    }
}

fn sorted(name: &ParsedName) -> Vec<&str> {
    let mut words: Vec<&str> = name.words().collect();
    words.sort_unstable();
    words
}

/// True if one word may replace the other: forms of a given name, abbreviations.
fn are_forms(left: &str, right: &str) -> bool {
    left == right || forms(left).iter().any(|form| form.text == right)
}

/// True if two names differ only by typing errors. In a short word another letter makes another word: `east`, `west`.
fn is_misspelled(left: &str, right: &str) -> bool {
    if left.len().min(right.len()) < MIN_LETTERS {
        return false;
    }
    let max_of = |length: usize| match length {
        0..=3 => 0,
        4..=8 => 1,
        _ => 2,
    };
    let is_near = |left: &str, right: &str| {
        let max = max_of(left.len().min(right.len()));
        left == right || distance_within(left, right, max).is_some()
    };
    if left.matches(' ').count() == right.matches(' ').count() {
        let mut differing = 0;
        return left.split(' ').zip(right.split(' ')).all(|(left, right)| {
            differing += usize::from(left != right);
            differing <= 2 && is_near(left, right)
        });
    }
    // One name has another number of spaces; one letter may differ as well.
    distance_within(&left.replace(' ', ""), &right.replace(' ', ""), 1).is_some()
}

fn folded(words: &[WrittenWord]) -> Vec<&str> {
    words.iter().map(|word| word.folded.as_str()).collect()
}
