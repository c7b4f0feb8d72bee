//! Words that tell lines of sums, notes and errors from values, in the languages of spreadsheets.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::sources::missing::MissingIn;
use crate::sources::money::normalized;
use data::meaning::Meaning as _;
use data::{Country, FirmKind, Stage, word_file};

static WORDS: LazyLock<[Vec<&'static str>; 8]> = LazyLock::new(|| {
    ["total", "footer", "error", "missing", "records", "letters", "of sums", "alone"].map(|kind| {
        let lines = word_file::entries(include_str!("words.txt")).filter_map(|line| line.split_once(": "));
        let words = lines.filter(|(name, _)| *name == kind).flat_map(|(_, words)| words.split(", "));
        words.collect()
    })
});

static SETS: LazyLock<[HashSet<&'static str>; 8]> =
    LazyLock::new(|| WORDS.each_ref().map(|words| words.iter().copied().collect()));

/// Bytes of the longest text that is looked up: words are shorter.
const MAX_WORD: usize = 80;

fn is_one(kind: usize, text: &str) -> bool {
    text.len() <= MAX_WORD && SETS.get(kind).is_some_and(|words| words.contains(&*text.to_lowercase()))
}

/// True for the label of a line of sums, such as `Grand total (12):`.
pub(crate) fn is_total(label: &str) -> bool {
    // `Total (only EUR)`
    let bare = label.split(['(', '（']).next().unwrap_or_default();
    let is_word = |label: &str| is_one(0, label.trim_matches(|char: char| !char.is_alphabetic()));
    label.len() <= MAX_WORD && (is_word(label) || is_word(bare)) || is_one(0, label.trim())
}

/// True for the label of a line of sums of some rows, such as `Subtotal seed funds`. It may also be a name.
pub(super) fn is_partial_total(label: &str) -> bool {
    let mut words = label.split_whitespace();
    words.next().is_some_and(is_of_sums) || words.next_back().is_some_and(is_of_sums)
}

/// True for a word of a label of sums, apart from the signs around it.
fn is_of_sums(word: &str) -> bool {
    is_one(6, word.trim_matches(|char: char| !char.is_alphabetic()))
}

/// True for a heading within a table, which the rows below it have in common: a kind of investors or rounds, a country.
pub(super) fn is_heading(text: &str) -> bool {
    FirmKind::meaning(text).is_some()
        || Stage::meaning(text).is_some()
        || Stage::is_unknown(text)
        || Country::read(text).is_some()
}

/// True for the number of the `rows` above it: `12 companies`, `Total 12 companies`.
pub(super) fn is_count_of(text: &str, rows: u64) -> bool {
    let words: Vec<&str> = text.trim_matches(['(', ')', '[', ']']).split_whitespace().collect();
    let is_number = |word: &&str| word.parse() == Ok(rows);
    // `Jäseniä yhteensä 8`
    let is_sum = || words.iter().copied().any(is_of_sums);
    let is_label = words.len() <= 5 && is_sum() && words.iter().any(is_number);
    rows > 1 && (is_label || words.len() == 2 && words.first().is_some_and(is_number))
}

/// True for the number of rows, such as `Companies: 12` and `n = 12`.
pub(super) fn is_count(text: &str) -> bool {
    text.rsplit_once([':', '：', '=']).is_some_and(|(label, number)| {
        let is_number =
            |char: char| char.is_numeric() || char.is_whitespace() || matches!(char, '.' | ',' | '\'' | '’');
        let number = number.trim();
        number.contains(char::is_numeric) && number.chars().all(is_number) && label.contains(char::is_alphabetic)
    })
}

/// True for the beginning of a note below a table, such as `Source: …`.
pub(super) fn is_footer(text: &str) -> bool {
    let beginning: String = text.chars().take(MAX_WORD).collect::<String>().to_lowercase();
    WORDS[1].iter().any(|word| beginning.starts_with(word))
}

/// True for a note that a sign or a number begins, such as `* estimates`, `^ a. Left` and `[1] See there`, or that explains a word:
/// `n.a.: not available`. Some lists mark names in the same way.
pub(super) fn is_marked_note(text: &str) -> bool {
    let explained = text.split_once([':', '=', '：']).map(|(word, _)| word.trim());
    let is_mark = |mark: &str| (1..=2).contains(&mark.len()) && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // `[1] See there`, `1) estimated`, `(a) estimated`
    let is_numbered = || {
        let rest = text.strip_prefix(['[', '(']).unwrap_or(text);
        rest.split_once([']', ')']).is_some_and(|(mark, note)| is_mark(mark) && note.starts_with(' '))
    };
    // `a. Left in 2021.`
    let is_lettered = || matches!(text.as_bytes(), [b'a'..=b'z', b'.', b' ', ..]);
    text.starts_with("~~") && text.ends_with("~~")
        || text.starts_with(['*', '†', '‡', '©', '¹', '²', '³', '^']) && !text.ends_with(['*', '†', '‡'])
        || is_numbered()
        || is_lettered()
        || explained.is_some_and(|word| MissingIn::Amount.is_missing(word))
}

/// True for a text that is the whole of a line below a table: `Page 2 of 3`, `-- end --`, the address of its source.
pub(super) fn is_alone(text: &str) -> bool {
    if text.len() > MAX_WORD {
        return text.starts_with("http") && text.contains("://") && !text.contains(' ');
    }
    let mut numbers = String::with_capacity(text.len());
    for char in normalized(text).chars() {
        match (char.is_ascii_digit(), numbers.ends_with('#')) {
            (true, true) => {}
            (true, false) => numbers.push('#'),
            (false, _) => numbers.push(char),
        }
    }
    let bare = numbers.trim_matches(|char: char| !char.is_alphanumeric() && char != '#' && char != '第');
    text.starts_with("http") && text.contains("://") || is_one(7, bare) || is_one(7, numbers.trim())
}

/// A language that is written in Latin letters.
pub(super) struct Language {
    /// Its letters beyond ASCII.
    pub letters: &'static str,
    /// Some of its words without such letters.
    pub words: Vec<&'static str>,
}

pub(super) fn languages() -> &'static [Language] {
    static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
        let language = |line: &&'static str| {
            let (letters, words) = line.split_once(' ').unwrap_or((line, ""));
            Language { letters, words: words.split_whitespace().collect() }
        };
        WORDS[5].iter().map(language).collect()
    });
    &LANGUAGES
}

/// True for what a spreadsheet writes in place of a value, such as `#REF!`, or `####` in a column that is too narrow.
pub(crate) fn is_error(text: &str) -> bool {
    let begins = text.starts_with('#') || text.starts_with("Err:");
    begins && (is_one(2, text) || text.len() >= 3 && text.bytes().all(|byte| byte == b'#'))
}

pub(super) fn is_missing(text: &str) -> bool {
    is_one(3, text)
}

/// True for a member of a JSON document that usually has its records.
pub(super) fn holds_records(name: &str) -> bool {
    is_one(4, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sums_notes_and_errors_are_not_names() {
        for label in ["Total", "TOTAL:", "Grand total (12)", "Summe 2024", "Total général", "合计", "Итого:", "סה\"כ"]
        {
            assert!(is_total(label), "{label}");
        }
        for label in ["TotalEnergies", "Total Capital Partners", "Sumup", "3i", "", "2024"] {
            assert!(!is_total(label), "{label}");
        }
        for text in ["Companies: 12", "Antal bolag: 1 205", "件数：5", "n = 12"] {
            assert!(is_count(text), "{text}");
        }
        for text in ["12 companies", "(12 rows)", "Yhteensä 12 yhtiötä", "Total of 12 firms", "Totalt: 12 bolag"] {
            assert!(is_count_of(text, 12) && !is_count_of(text, 11), "{text}");
        }
        for text in ["Studio 12 Film Labs", "12"] {
            assert!(!is_count_of(text, 12), "{text}");
        }
        for text in ["12", "Alder: Labs", ": 5", "Alder 5", "Alder: 5 Labs"] {
            assert!(!is_count(text), "{text}");
        }
        for text in ["Source: own list", "Quelle: x", "来源：x", "Stand: 1.1.2026"] {
            assert!(is_footer(text), "{text}");
        }
        for text in ["Sourcegraph", "Notes Capital", "**", "Standard", "* estimates"] {
            assert!(!is_footer(text), "{text}");
        }
        assert!(is_marked_note("* estimates") && !is_marked_note("**") && !is_marked_note("Alder*"));
        assert!(
            is_marked_note("^ b. Sold since.") && is_marked_note("[3] See the press") && is_marked_note("2) with debt")
        );
        assert!(is_marked_note("b. sold since") && !is_marked_note("B. Partners"));
        assert!(!is_marked_note("(a)birch") && !is_marked_note("[Alder] Labs"));
        for text in [
            "Seite 4 von 9",
            "Página 2 de 3",
            "*** END ***",
            "(17 rows)",
            "第2页",
            "https://list.example/a",
            "Примечания:",
        ] {
            assert!(is_alone(text), "{text}");
        }
        for text in ["Page Nine", "Endure", "9 Lives", "Noteshelf", "list.example", "Sources of Light"] {
            assert!(!is_alone(text), "{text}");
        }
        assert!(
            is_marked_note("n.c. : non communiqué") && is_marked_note("- = none") && !is_marked_note("Alder: Labs")
        );
        for text in ["#REF!", "#N/A", "#BEZUG!", "#¡REF!", "#ССЫЛКА!", "#####", "Err:508"] {
            assert!(is_error(text), "{text}");
        }
        for text in ["#1 Ventures", "##", "#", "Error Labs", "#fintech"] {
            assert!(!is_error(text), "{text}");
        }
    }
}
