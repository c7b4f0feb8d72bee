//! Texts that stand for a missing value. Which they are depends on the field: `NA` is Namibia among countries, and a
//! firm may be called None.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::sources::field::FieldForm;
use crate::sources::input::is_error;
use crate::sources::mapping::list;
use data::meaning::Meaning;
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Country, Stage};

vocabulary! {
    /// A section of `missing.txt`, which says where its texts are missing values.
    MissingWords, "missing words", {
        Everywhere = "everywhere",
        NotInNames = "not in names",
        Undisclosed = "undisclosed",
        Nowhere = "nowhere",
        Placeholders = "placeholders",
    }
}

/// The texts of each section, in lower case. A line of texts with blanks has `|` between them.
static WORDS: LazyLock<Vec<HashSet<&'static str>>> = LazyLock::new(|| {
    let mut words = vec![HashSet::new(); MissingWords::ALL.len()];
    let mut section = 0;
    for line in include_str!("missing.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let heading = heading.and_then(|name| MissingWords::ALL.iter().find(|section| section.name() == name));
        match heading {
            Some(heading) => section = heading.index(),
            None if line.contains('|') => words[section].extend(line.split('|')),
            None => words[section].extend(line.split(' ')),
        }
    }
    words
});

/// True if a word of the lists has the length of a text and its first byte, which few texts share.
fn is_like_a_word(text: &str) -> bool {
    /// By length, the first bytes of words.
    static SHAPES: LazyLock<Vec<[bool; 256]>> = LazyLock::new(|| {
        let mut shapes = vec![[false; 256]; *LONGEST + 1];
        let words = WORDS.iter().flatten().filter_map(|word| Some((word.len(), word.as_bytes().first()?)));
        words.for_each(|(length, first)| shapes[length][usize::from(*first)] = true);
        shapes
    });
    // The length of letters that are not in ASCII may depend on their case.
    let first = text.bytes().next().unwrap_or_default().to_ascii_lowercase();
    SHAPES.get(text.len()).is_some_and(|firsts| !text.is_ascii() || firsts[usize::from(first)])
}

/// The longest text of the lists.
static LONGEST: LazyLock<usize> =
    LazyLock::new(|| WORDS.iter().flatten().map(|word| word.len()).max().unwrap_or_default());

impl MissingWords {
    fn contains(self, lower: &str) -> bool {
        WORDS.get(self.index()).is_some_and(|words| words.contains(lower))
    }
}

/// Bytes of the longest text without a letter or digit that is taken for a missing value.
const MAX_SIGNS: usize = 12;

/// The first character of a block of pictures: a flag is a country.
const FIRST_PICTURE: char = '\u{1f000}';

/// What a field is about, as far as its missing values depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingIn {
    /// A name of a record.
    Name,
    Country,
    /// A city or another place.
    Place,
    Amount,
    /// The name or key of an investor of a round.
    Investor,
    Stage,
    /// A truth, where `false` and `нет` are values, or a key that a record keeps.
    Exact,
    Other,
}

impl MissingIn {
    /// That of the field with this name and form.
    pub(crate) fn field(name: &str, form: FieldForm) -> Self {
        match form {
            FieldForm::Line if matches!(name, "name" | "aliases") => Self::Name,
            FieldForm::Line if name == "city" => Self::Place,
            FieldForm::Country => Self::Country,
            FieldForm::Dollars => Self::Amount,
            FieldForm::Stage => Self::Stage,
            FieldForm::Reference(_) if name.ends_with("investors") => Self::Investor,
            // A startup may be called None, too.
            FieldForm::Reference(_) => Self::Name,
            FieldForm::Truth
            | FieldForm::Rating
            | FieldForm::ReviewStatus
            | FieldForm::ReviewerRole
            | FieldForm::ReviewProof
            | FieldForm::KeyedHash
            | FieldForm::Slug => Self::Exact,
            _ => Self::Other,
        }
    }

    /// True if a text means that the value is missing.
    pub(crate) fn is_missing(self, text: &str) -> bool {
        let text = text.trim();
        // `∅`. A sign alone may be a truth, such as `✓`, but no name, place or amount.
        let is_sign = !text.is_empty()
            && text.len() <= MAX_SIGNS
            && !text.contains(|char: char| char.is_alphanumeric() || char >= FIRST_PICTURE);
        if is_sign && !matches!(self, Self::Exact | Self::Other) {
            return true;
        }
        if is_error(text) || self == Self::Stage && Stage::is_unknown(text) {
            return true;
        }
        if self == Self::Investor && is_number_of_others(text) {
            return true;
        }
        if !is_like_a_word(text) {
            return false;
        }
        let lower = text.to_lowercase();
        let is = |words: MissingWords| words.contains(&lower);
        let is_usual = is(MissingWords::Everywhere);
        match self {
            Self::Name | Self::Exact => is_usual,
            Self::Country => {
                let is_none = is_usual || is(MissingWords::NotInNames) || is(MissingWords::Nowhere);
                is_none && Country::read(text).is_none()
            }
            Self::Place => is_usual || is(MissingWords::NotInNames),
            Self::Amount | Self::Investor => is_usual || is(MissingWords::NotInNames) || is(MissingWords::Undisclosed),
            // `Business angels` are no name of an investor, but a stage.
            Self::Stage => {
                is_usual
                    || is(MissingWords::NotInNames)
                    || is(MissingWords::Undisclosed) && Stage::meaning(text).is_none()
            }
            Self::Other => is_usual || is(MissingWords::NotInNames),
        }
    }
}

/// True for `3 angels`, `+2 others`: a number of investors in the place of their names.
fn is_number_of_others(text: &str) -> bool {
    let rest = text.trim_start_matches(['+', '~']).trim_start_matches(|char: char| char.is_ascii_digit());
    let is_counted = || {
        let lower = rest.trim().to_lowercase();
        list::words_of("counted").any(|word| word == lower)
    };
    rest.len() < text.len() && rest.starts_with(' ') && is_counted()
}

/// True for `TBD` and `Test`: a text in the place of a name that nobody has; also in parentheses, alone or behind a name:
/// `(independent)`, `Alder (example)`.
pub(crate) fn is_placeholder(name: &str) -> bool {
    let is_one = |name: &str| is_like_a_word(name) && MissingWords::Placeholders.contains(&name.to_lowercase());
    let name = name.trim();
    let noted = || {
        let (_, note) = name.strip_suffix([')', ']', '）', '>'])?.rsplit_once(['(', '[', '（', '<'])?;
        Some(is_one(note.trim()))
    };
    is_one(name) || noted().unwrap_or_default()
}

/// True for `Remote` and `Worldwide`, which are no places.
pub(crate) fn is_nowhere(place: &str) -> bool {
    is_like_a_word(place.trim()) && MissingWords::Nowhere.contains(&place.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_words_and_all_are_in_lower_case() {
        for (section, words) in MissingWords::ALL.iter().zip(WORDS.iter()) {
            assert!(words.len() > 10, "{section}");
            for word in words {
                assert_eq!((word.to_lowercase().as_str(), word.trim()), (*word, *word), "{section}");
            }
        }
    }

    #[test]
    fn no_missing_value_is_a_country_stage_or_kind() {
        use data::meaning::Meaning as _;
        for section in [MissingWords::Everywhere, MissingWords::NotInNames] {
            for word in &WORDS[section.index()] {
                // `(NA)` is Namibia in a column of countries.
                assert!(Country::read(word).is_none() || data::fold::fold(word) == "na", "{word}");
                assert!(matches!(data::Stage::meaning(word), None | Some(data::Stage::Other)), "{word}");
                assert!(matches!(data::FirmKind::meaning(word), None | Some(data::FirmKind::Other)), "{word}");
            }
        }
    }

    #[test]
    fn a_word_is_missing_by_its_field() {
        use MissingIn::*;
        for (text, fields) in [
            ("-", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other][..]),
            ("N/A", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("#REF!", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("\\N", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("keine Angabe", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("Sin datos", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("н/д", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("なし", &[Name, Country, Place, Amount, Investor, Stage, Exact, Other]),
            ("NA", &[Place, Amount, Investor, Stage, Other]),
            ("false", &[Country, Place, Amount, Investor, Stage, Other]),
            ("None", &[Country, Place, Amount, Investor, Stage, Other]),
            ("Unknown", &[Country, Place, Amount, Investor, Stage, Other]),
            ("Undisclosed", &[Amount, Investor, Stage]),
            ("非公開", &[Amount, Investor, Stage]),
            ("Business angels", &[Amount, Investor]),
            ("Particulares", &[Amount, Investor, Stage]),
            ("FFF", &[]),
            ("3 angels", &[Investor]),
            ("+2 others", &[Investor]),
            ("500 Startups", &[]),
            ("Series Unknown", &[Stage]),
            ("Remote", &[Country]),
            ("∅", &[Name, Country, Place, Amount, Investor, Stage]),
            ("🇩🇪", &[]),
            ("Nantes", &[]),
            ("0", &[]),
        ] {
            for field in [Name, Country, Place, Amount, Investor, Stage, Exact, Other] {
                assert_eq!(field.is_missing(text), fields.contains(&field), "{text} in {field:?}");
            }
        }
        assert!(is_placeholder("TBD") && is_placeholder("Test") && !is_placeholder("Testo"));
        assert!(is_placeholder("(selbständig)") && is_placeholder("Birch Labs (sample)"));
        assert!(!is_placeholder("Independent Foods") && !is_placeholder("Alder (Berlin)") && !is_placeholder("()"));
        assert!(is_nowhere("Fully remote") && !is_nowhere("Rome"));
    }
}
