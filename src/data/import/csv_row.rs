//! One row of a CSV file: its fields as typed values, with a diagnostic for each that is invalid.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use csv::StringRecord;

use crate::data::import::clean::{clean, clean_line, is_hidden};
use crate::data::import::csv_table::Columns;
use crate::data::import::diagnostics::{Diagnostics, quoted};
use crate::data::vocabulary::{Vocabulary, with_article};
use crate::data::{Country, Date};

/// The largest integer that JSON numbers represent exactly, 2^53 − 1.
const MAX_DOLLARS: u64 = 9_007_199_254_740_991;

const EMPTY: &str = "is empty; every row needs a value";

#[derive(Default)]
pub(crate) struct Index {
    /// Row and line of each slug or id.
    pub keys: HashMap<String, (usize, u64)>,
    /// The first line of each name.
    names: HashMap<String, u64>,
}

/// One row of a file; its fields are found by column name.
pub(crate) struct CsvRow<'a, 'r> {
    pub record: &'a StringRecord,
    pub columns: &'a Columns,
    pub row: usize,
    /// The number of the row's first line in the file.
    pub line: u64,
    pub index: &'a mut Index,
    pub diagnostics: &'a mut Diagnostics<'r>,
}

impl CsvRow<'_, '_> {
    /// The trimmed field; an empty one is an unknown value.
    pub(crate) fn field(&self, column: &'static str) -> &str {
        let (_, index) = self.columns.found.iter().find(|(name, _)| *name == column).expect("a column of the table");
        self.record.get(*index).expect("as many fields as the header").trim()
    }

    pub(crate) fn error(&mut self, column: &'static str, message: String) {
        self.diagnostics.error(Some(self.line), Some(column), message);
    }

    pub(crate) fn warning(&mut self, column: &'static str, message: String) {
        self.diagnostics.warning(Some(self.line), Some(column), message);
    }

    /// The field read by `read`, which returns `None` for an invalid value: then `problem` is reported. `None` if it is
    /// empty or invalid.
    fn read<T>(&mut self, column: &'static str, read: impl Fn(&str) -> Option<T>, problem: &str) -> Option<T> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let value = read(text);
        if value.is_none() {
            let message = format!("{} {problem}", quoted(text));
            self.error(column, message);
        }
        value
    }

    /// As `read`, but an empty field is an error.
    pub(crate) fn required<T>(
        &mut self,
        column: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        if self.field(column).is_empty() {
            self.error(column, EMPTY.into());
            return None;
        }
        read(self, column)
    }

    /// The row's slug, which no other row has.
    pub(crate) fn slug(&mut self, column: &'static str) -> String {
        self.key(column, is_slug, "a slug: lower-case letters a-z, digits and single `-` between them")
    }

    /// The row's id, which no other row has: any text without spaces.
    pub(crate) fn id(&mut self, column: &'static str) -> String {
        let is_id = |text: &str| !text.chars().any(|char| char.is_whitespace() || is_hidden(char));
        self.key(column, is_id, "an id: it contains a space")
    }

    fn key(&mut self, column: &'static str, is_valid: impl Fn(&str) -> bool, expected: &str) -> String {
        let key = self.field(column).to_owned();
        if key.is_empty() {
            self.error(column, EMPTY.into());
            return key;
        }
        if !is_valid(&key) {
            self.error(column, format!("{} is not {expected}", quoted(&key)));
        }
        if let Some((_, first)) = insert_new(&mut self.index.keys, &key, (self.row, self.line)) {
            self.error(column, format!("{} is already used in line {first}", quoted(&key)));
        }
        key
    }

    /// The row's name; a warning if another row has it.
    pub(crate) fn name(&mut self, column: &'static str) -> String {
        let name = clean_line(self.field(column));
        if name.is_empty() {
            self.error(column, EMPTY.into());
        } else if let Some(first) = insert_new(&mut self.index.names, &name, self.line) {
            self.warning(column, format!("{} is also the name in line {first}", quoted(&name)));
        }
        name
    }

    /// Text, which may have several lines; `None` if it is empty.
    pub(crate) fn text(&self, column: &'static str) -> Option<String> {
        let text = clean(self.field(column));
        (!text.is_empty()).then_some(text)
    }

    /// Text on one line; `None` if it is empty.
    pub(crate) fn phrase(&self, column: &'static str) -> Option<String> {
        let text = clean_line(self.field(column));
        (!text.is_empty()).then_some(text)
    }

    /// Values separated by `|`, in order, without duplicates.
    pub(crate) fn values(&self, column: &'static str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.field(column).split('|') {
            let value = clean_line(value);
            if !value.is_empty() && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    pub(crate) fn word<V: Vocabulary>(&mut self, column: &'static str) -> Option<V> {
        let text = self.field(column);
        let word = V::read(text);
        if word.is_none() && !text.is_empty() {
            let message = not_in_vocabulary::<V>(text);
            self.error(column, message);
        }
        word
    }

    pub(crate) fn words<V: Vocabulary + PartialEq>(&mut self, column: &'static str) -> Vec<V> {
        let mut words = Vec::new();
        for text in self.values(column) {
            match V::read(&text) {
                Some(word) if !words.contains(&word) => words.push(word),
                Some(_) => {}
                None => self.error(column, not_in_vocabulary::<V>(&text)),
            }
        }
        words
    }

    pub(crate) fn country(&mut self, column: &'static str) -> Option<Country> {
        self.read(column, Country::read, "is not a country of ISO 3166-1, such as `DE`")
    }

    pub(crate) fn dollars(&mut self, column: &'static str) -> Option<u64> {
        let read = |text: &str| parse_uint(text, 0..=MAX_DOLLARS);
        self.read(column, read, "is not a whole number of US dollars")
    }

    pub(crate) fn year(&mut self, column: &'static str) -> Option<u16> {
        self.read(column, |text| parse_uint(text, 1..=9999), "is not a year from 1 to 9999")
    }

    pub(crate) fn rating(&mut self, column: &'static str) -> Option<u8> {
        self.read(column, |text| parse_uint(text, 1..=5), "is not a rating: a whole number from 1 to 5")
    }

    /// `true` or `false`; `yes`, `no`, `1` and `0` are accepted too.
    pub(crate) fn truth(&mut self, column: &'static str) -> Option<bool> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        };
        self.read(column, read, "is neither `true` nor `false`")
    }

    pub(crate) fn date(&mut self, column: &'static str) -> Option<Date> {
        self.read(column, |text| text.parse().ok(), "is not a date of the form YYYY-MM-DD")
    }
}

/// Adds `key` if it is new; otherwise returns its value.
fn insert_new<V: Copy>(map: &mut HashMap<String, V>, key: &str, value: V) -> Option<V> {
    let known = map.get(key).copied();
    if known.is_none() {
        map.insert(key.to_owned(), value);
    }
    known
}

fn not_in_vocabulary<V: Vocabulary>(text: &str) -> String {
    format!("{} is not {}: {}", quoted(text), with_article(V::NOUN), V::names().join(", "))
}

/// An integer of ASCII digits in a range.
fn parse_uint<N: FromStr + PartialOrd>(text: &str, range: RangeInclusive<N>) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && range.contains(number))
}

/// `[a-z0-9]+(-[a-z0-9]+)*`
fn is_slug(text: &str) -> bool {
    text.split('-')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_lowercase_words_joined_by_hyphens() {
        for slug in ["a", "a16z", "01-advisors", "a-b-c"] {
            assert!(is_slug(slug), "{slug}");
        }
        for text in ["", "-a", "a-", "a--b", "A", "a_b", "ä", "a b"] {
            assert!(!is_slug(text), "{text}");
        }
    }

    #[test]
    fn numbers_have_digits_only() {
        assert_eq!(parse_uint("500000", 0..=u64::MAX), Some(500_000));
        for text in ["5m", "-1", "+1", "1.0", "1e3", "99999999999999999999999"] {
            assert_eq!(parse_uint(text, 0..=u64::MAX), None, "{text}");
        }
    }
}
