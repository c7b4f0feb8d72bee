//! Parses names for comparison: their distinctive words, and the parts that must not differ.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use data::Table;
use data::evidence::Evidence;
pub(super) use data::name::{CoreName, Vehicle, WordKind, find_vehicle, legal_forms};
use data::name::{WordList, singular, without_script_form};
use data::written::{WrittenName, WrittenWord, are_same_letters, are_spelled_alike};
use search::edit_distance::distance_within;
use search::{forms, phonetic_key};

/// Letters that a name needs before a misspelling, sound or beginning is recognized.
const MIN_LETTERS: usize = 5;
const MIN_BEGINNING: usize = 6;
/// In a name of this many letters, one that differs hardly ever makes another name.
const MIN_SURE_LETTERS: usize = 9;
const MIN_INITIALS: usize = 3;
/// One letter in so many may differ in similar names.
const LETTERS_PER_ERROR: usize = 4;
const MAX_ERRORS: usize = 3;
/// Letters that the beginning of a word needs to be its abbreviation.
const MIN_ABBREVIATION: usize = 3;

/// Letters and symbols that a name needs to identify a record by itself.
const MIN_TELLING: usize = 2;

pub(super) struct ParsedName {
    name: CoreName,
    /// The core without spaces.
    pub joined: String,
    pub vehicle: Option<Vehicle>,
    /// Hash of the core without spaces.
    pub hash: u64,
    /// All words except the legal form as written, without spaces.
    letters: String,
    /// The core as written; `None` if that equals [`ParsedName::joined`].
    core_letters: Option<String>,
    symbols: String,
    legal: Vec<String>,
    is_person: bool,
    /// True if the name alone can identify a record. A single letter cannot, nor can generic words.
    pub is_telling: bool,
}

impl ParsedName {
    /// Returns `None` for a name without letters and digits.
    pub(super) fn parse(table: Table, name: &str) -> Option<Self> {
        let (name, form) = match table {
            Table::People => (given_name_first(name), None),
            _ => without_script_form(name),
        };
        let WrittenName { mut words, symbols } = WrittenName::parse(&name);
        if table == Table::People {
            remove_titles(&mut words);
        }
        let mut vehicle = None;
        if table != Table::People {
            let number;
            (vehicle, number) = find_vehicle(&folded(&words));
            if let Some((at, number)) = number {
                words[at] = WrittenWord { folded: number.to_string(), letters: number.to_string() };
            }
        }
        let folded = folded(&words);
        let mut kinds = match table {
            Table::People => vec![WordKind::Core; folded.len()],
            _ => WordKind::classify(&folded),
        };
        // A word that only sounds like a legal form is none.
        for (kind, word) in kinds.iter_mut().zip(&words) {
            if *kind == WordKind::Legal && !word.letters.chars().all(may_write_forms) {
                *kind = WordKind::Core;
            }
        }
        let name = CoreName::from_words(&folded, &kinds);
        if name.core.is_empty() {
            return None;
        }
        let letters_of = |is_counted: fn(&WordKind) -> bool| {
            let counted = words.iter().zip(&kinds).filter(|(_, kind)| is_counted(kind));
            counted.map(|(word, _)| word.letters.as_str()).collect::<String>()
        };
        let mut core_letters = letters_of(|kind| *kind == WordKind::Core);
        let signs = core_letters.chars().chain(symbols.chars()).count();
        let has_core = !core_letters.is_empty();
        if !has_core {
            // A name of generic words only is compared by them.
            core_letters = letters_of(|kind| *kind != WordKind::Legal);
        }
        let joined = name.joined();
        Some(Self {
            vehicle,
            hash: xxh3_64(joined.as_bytes()),
            letters: letters_of(|kind| *kind != WordKind::Legal),
            legal: legal_forms(&folded, &kinds).into_iter().chain(form.map(str::to_owned)).collect(),
            is_telling: has_core && signs >= MIN_TELLING,
            is_person: table == Table::People,
            core_letters: Some(core_letters).filter(|letters| !letters.is_empty() && *letters != joined),
            name,
            joined,
            symbols,
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

    fn has_surname(&self) -> bool {
        self.is_person
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.name.core.split(' ')
    }

    /// Evidence of two names that agree; `None` if they differ. Symmetric in its arguments.
    pub(super) fn agreement(&self, other: &Self) -> Option<Evidence> {
        let found = self.folded_agreement(other)?;
        let is_spelled = match found {
            Evidence::SameName | Evidence::SameCore | Evidence::OtherGenericWords => self.is_written_alike(other),
            Evidence::NameSoundsAlike | Evidence::NameBegins | Evidence::Initials => true,
            Evidence::ReorderedName => self.has_letters_of(other),
            _ => are_spelled_alike(&self.letters, &other.letters),
        };
        Some(match found {
            _ if !is_spelled => Evidence::NameSoundsAlike,
            // What differs in other letters is more often another name than a slip or an abbreviation.
            Evidence::MisspelledName | Evidence::FormsOfName
                if !(self.letters.is_ascii() && other.letters.is_ascii()) =>
            {
                Evidence::NearName
            }
            found => found,
        })
    }

    /// True if both have the same letters in any order, or one has no letters with marks.
    fn has_letters_of(&self, other: &Self) -> bool {
        let sorted = |name: &Self| {
            let mut letters: Vec<char> = name.letters.chars().collect();
            letters.sort_unstable();
            letters
        };
        self.letters.is_ascii() || other.letters.is_ascii() || sorted(self) == sorted(other)
    }

    fn folded_agreement(&self, other: &Self) -> Option<Evidence> {
        let is_digit = u8::is_ascii_digit;
        if !self.joined.bytes().filter(is_digit).eq(other.joined.bytes().filter(is_digit)) {
            return None;
        }
        if self.hash == other.hash {
            return Some(self.name.generic_agreement(&other.name));
        }
        let (short, long) = if self.joined.len() <= other.joined.len() { (self, other) } else { (other, self) };
        let words = |name: &Self| name.words().count();
        let is_one_word = words(self) == 1 && words(other) == 1;
        if words(self) == words(other) && !is_one_word {
            if sorted_words(self) == sorted_words(other) {
                return Some(Evidence::ReorderedName);
            }
            if self.words().zip(other.words()).all(|(left, right)| are_forms(left, right)) {
                return Some(Evidence::FormsOfName);
            }
        }
        if are_abbreviated(&self.name.words, &other.name.words) {
            return Some(Evidence::FormsOfName);
        }
        if self.has_surname() && other.has_surname() && are_initials(&self.name.words, &other.name.words) {
            return Some(Evidence::GivenInitials);
        }
        if is_misspelled(&self.name.words, &other.name.words) {
            let is_long = short.joined.len() >= MIN_SURE_LETTERS;
            return Some(if is_long { Evidence::MisspelledName } else { Evidence::NearName });
        }
        if is_misspelled(&self.name.core, &other.name.core) {
            return Some(Evidence::OtherGenericWords);
        }
        if short.joined.len() > MIN_LETTERS && phonetic_key(&short.joined) == phonetic_key(&long.joined) {
            return Some(Evidence::NameSoundsAlike);
        }
        if short.name.begins(&long.name) && short.joined.len() >= MIN_BEGINNING {
            return Some(Evidence::NameBegins);
        }
        let initials = || long.words().filter_map(|word| word.chars().next()).collect::<String>();
        let may_abbreviate = words(short) == 1 && words(long) == short.joined.len();
        if may_abbreviate && short.joined.len() >= MIN_INITIALS && initials() == short.joined {
            return Some(Evidence::Initials);
        }
        let max = MAX_ERRORS.min(short.joined.len() / LETTERS_PER_ERROR) as u8;
        distance_within(&short.joined, &long.joined, max).map(|_| Evidence::SimilarName)
    }
}

pub(super) fn sorted_words(name: &ParsedName) -> Vec<&str> {
    let mut words: Vec<&str> = name.words().collect();
    words.sort_unstable();
    words
}

/// `Asthana, A.` is `A. Asthana`.
fn given_name_first(name: &str) -> Cow<'_, str> {
    match name.split_once(',') {
        Some((family, given)) if !given.contains(',') && !family.trim().is_empty() => {
            Cow::Owned(format!("{} {}", given.trim(), family.trim()))
        }
        _ => Cow::Borrowed(name),
    }
}

/// Removes titles at the beginning and degrees at the end, as long as two words are left.
fn remove_titles(words: &mut Vec<WrittenWord>) {
    let is_title = |word: Option<&WrittenWord>| word.is_some_and(|word| WordList::Titles.contains(&word.folded));
    while words.len() > 2 && is_title(words.first()) {
        words.remove(0);
    }
    while words.len() > 2 && is_title(words.last()) {
        words.pop();
    }
}

/// True if the surnames are equal and at least one given name is an initial of the other's: `A. Asthana`, `Abhinav Asthana`.
/// Middle names may be missing.
fn are_initials(left: &str, right: &str) -> bool {
    let (Some((given, surname)), Some((other, other_surname))) = (left.rsplit_once(' '), right.rsplit_once(' ')) else {
        return false;
    };
    let is_initial = |one: &str, other: &str| one.len() == 1 && other.starts_with(one);
    let first = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let (one, other) = (first(given), first(other));
    surname == other_surname && surname.len() > 1 && (is_initial(&one, &other) || is_initial(&other, &one))
}

/// True if the names have the same words, of which some are abbreviated: `Alder Ptnrs`, `Alder Partners`.
fn are_abbreviated(left: &str, right: &str) -> bool {
    if left.matches(' ').count() != right.matches(' ').count() {
        return false;
    }
    let (mut equal, mut abbreviated) = (0, 0);
    let is_alike = |(left, right): (&str, &str)| {
        equal += usize::from(left == right);
        let are_forms = left == right || are_forms(left, right);
        abbreviated += usize::from(!are_forms);
        are_forms || is_abbreviation(left, right) || is_abbreviation(right, left)
    };
    left.split(' ').zip(right.split(' ')).all(is_alike) && equal > 0 && abbreviated <= 1
}

/// True if the first word may be short for the second: its beginning, or its letters without most of the vowels.
fn is_abbreviation(short: &str, word: &str) -> bool {
    let (short, word) = (singular(short), singular(word));
    if short.len() < 2 || short.len() + 2 > word.len() || !word.is_ascii() {
        return false;
    }
    let mut letters = word.chars();
    let is_contained = short.chars().all(|letter| letters.any(|other| other == letter));
    let has_ends = short.chars().next() == word.chars().next() && short.chars().last() == word.chars().last();
    let vowels = short.chars().skip(1).filter(|letter| "aeiou".contains(*letter)).count();
    word.starts_with(short) && short.len() >= MIN_ABBREVIATION || is_contained && has_ends && vowels <= 1
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

/// True for Latin, Greek and Cyrillic letters and for digits: legal forms of other scripts are found as they are written.
fn may_write_forms(letter: char) -> bool {
    matches!(letter, '\0'..='\u{52f}' | '\u{1e00}'..='\u{1eff}')
}

fn folded(words: &[WrittenWord]) -> Vec<&str> {
    words.iter().map(|word| word.folded.as_str()).collect()
}
