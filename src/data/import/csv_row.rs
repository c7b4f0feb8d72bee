//! One row of a CSV file: its fields as typed values, with a diagnostic for each that is invalid.

use std::collections::HashSet;
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use csv::StringRecord;

use crate::import::clean::{clean, clean_line, hidden_count, is_hidden, is_printable};
use crate::import::csv_table::CsvColumns;
use crate::import::diagnostics::{Diagnostics, quoted, too_long};
use crate::import::key_map::KeyMap;
use crate::import::text_store::{StoredText, TextStore};
use crate::import::website::{self, WebsiteProblem};
use crate::vocabulary::{Vocabulary, with_article};
use crate::{Country, Date, PartialDate};

/// The largest integer that JSON numbers represent exactly, 2^53 − 1.
const MAX_DOLLARS: u64 = 9_007_199_254_740_991;

/// Maximum characters of a text on one line: as many as a search accepts. The longest known name has 99.
pub const MAX_LINE: usize = 200;

/// Maximum characters of a website; the longest known one has 184.
pub const MAX_URL: usize = 2_000;

/// Maximum characters of a description or of a review's body, about eight pages.
pub const MAX_TEXT: usize = 20_000;

pub const MAX_VALUES: usize = 1_000;

/// The rule of [`is_keyed_hash`], as an error.
pub const NOT_KEYED_HASH: &str = "is not a keyed hash: 16 to 200 of A-Z, a-z, 0-9, `-`, `_`, `+`, `/` and `=`";

const EMPTY: &str = "is empty; every row needs a value";

#[derive(Default)]
pub struct TableIndex {
    /// Row and line of each slug or id.
    pub keys: KeyMap<(u32, u32)>,
    /// The first line of each name; empty once the file is read.
    pub names: KeyMap<u32>,
    /// Empty once the file is read.
    pub shared: HashSet<Arc<str>>,
}

impl TableIndex {
    /// Returns a text that all rows with it share.
    pub(crate) fn share(&mut self, text: &str) -> Arc<str> {
        self.shared.get(text).cloned().unwrap_or_else(|| {
            let text: Arc<str> = text.into();
            self.shared.insert(text.clone());
            text
        })
    }
}

pub struct CsvRow<'a, 'r> {
    pub record: &'a StringRecord,
    pub columns: &'a CsvColumns,
    pub row: usize,
    /// The number of the row's first line in the file.
    pub line: u64,
    pub index: &'a mut TableIndex,
    pub diagnostics: &'a mut Diagnostics<'r>,
}

impl CsvRow<'_, '_> {
    /// The trimmed field; empty if the value is unknown or the file lacks the column.
    pub fn field(&self, column: &'static str) -> &str {
        let found = self.columns.found.iter().find(|(name, _)| *name == column);
        found.and_then(|(_, index)| self.record.get(*index)).map_or("", str::trim)
    }

    pub fn error(&mut self, column: &'static str, message: String) {
        self.diagnostics.error(Some(self.line), Some(column), message);
    }

    pub(crate) fn warning(&mut self, column: &'static str, message: String) {
        self.diagnostics.warning(Some(self.line), Some(column), message);
    }

    /// Parses a field with `read`; an invalid value, for which it returns `None`, is reported as `problem`.
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
    pub fn required<T>(
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

    /// The row's slug; reports one that another row has.
    pub(crate) fn slug(&mut self, column: &'static str) -> String {
        self.key(column, is_slug, "a slug: lower-case letters a-z, digits and single `-` between them")
    }

    /// The row's id, any text without spaces; reports one that another row has.
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
        if key.chars().count() > MAX_LINE {
            self.error(column, too_long(&key, MAX_LINE));
        } else if !is_valid(&key) {
            self.error(column, format!("{} is not {expected}", quoted(&key)));
        }
        if let Some((_, first)) = self.index.keys.insert_new(&key, (self.row as u32, self.line as u32)) {
            let first = self.diagnostics.line_in_words(first);
            self.error(column, format!("{} is already used in {first}", quoted(&key)));
        }
        key
    }

    /// The row's name; a warning if another row has it.
    pub(crate) fn name(&mut self, column: &'static str) -> String {
        let name = self.cleaned(column, clean_line, MAX_LINE);
        if name.is_empty() {
            self.error(column, EMPTY.into());
        } else if let Some(first) = self.index.names.insert_new(&name, self.line as u32) {
            let first = self.diagnostics.line_in_words(first);
            self.warning(column, format!("{} is also the name in {first}", quoted(&name)));
        }
        name
    }

    /// Text, which may have several lines; `None` if it is empty.
    pub fn text(&mut self, column: &'static str) -> Option<String> {
        Some(self.cleaned(column, clean, MAX_TEXT)).filter(|text| !text.is_empty())
    }

    pub(crate) fn stored_text(&mut self, column: &'static str, texts: &mut TextStore) -> Option<StoredText> {
        texts.add(&self.text(column)?)
    }

    /// Text on one line; `None` if it is empty.
    pub fn phrase(&mut self, column: &'static str) -> Option<String> {
        Some(self.cleaned(column, clean_line, MAX_LINE)).filter(|text| !text.is_empty())
    }

    pub(crate) fn shared_phrase(&mut self, column: &'static str) -> Option<Arc<str>> {
        let text = self.phrase(column)?;
        Some(self.index.share(&text))
    }

    /// A URL that is safe to publish; `None` if it is empty or cannot be published.
    pub(crate) fn website(&mut self, column: &'static str) -> Option<String> {
        let url = Some(self.cleaned(column, clean_line, MAX_URL)).filter(|url| !url.is_empty())?;
        match website::check(&url) {
            Ok(()) => return Some(url),
            Err(WebsiteProblem::Invalid(problem)) => self.error(column, format!("{} {problem}", quoted(&url))),
            Err(WebsiteProblem::HasUserName) => {
                self.warning(column, format!("{} has a user name before `@` and is left out; remove it", quoted(&url)));
            }
        }
        None
    }

    /// Cleans a field with `clean`. Warns of hidden characters, and reports a text that is too long.
    fn cleaned(&mut self, column: &'static str, clean: fn(&str) -> String, max: usize) -> String {
        let field = self.field(column);
        // Most fields need no more than this.
        if is_printable(field) {
            let text = field.to_owned();
            self.check_length(column, &text, max);
            return text;
        }
        let text = clean(field);
        self.warn_of_hidden(column);
        self.check_length(column, &text, max);
        text
    }

    fn check_length(&mut self, column: &'static str, text: &str, max: usize) {
        // A text has at least as many bytes as characters, so that most need not be counted.
        if text.len() > max && text.chars().count() > max {
            self.error(column, too_long(text, max));
        }
    }

    fn warn_of_hidden(&mut self, column: &'static str) {
        let count = hidden_count(self.field(column));
        if count > 0 {
            let characters = if count == 1 { "character was" } else { "characters were" };
            let message = format!("{}: {count} invisible or control {characters} removed", quoted(self.field(column)));
            self.warning(column, message);
        }
    }

    /// Values separated by `|`, in order, without duplicates; none if there are too many.
    pub(crate) fn values(&mut self, column: &'static str) -> Vec<String> {
        let field = self.field(column);
        let count = field.split('|').count();
        if count > MAX_VALUES {
            self.error(column, format!("has {count} values; shorten the list to at most {MAX_VALUES}"));
            return Vec::new();
        }
        let mut values = distinct(field.split('|').map(clean_line).filter(|value| !value.is_empty()));
        values.shrink_to_fit();
        self.warn_of_hidden(column);
        values.iter().for_each(|value| self.check_length(column, value, MAX_LINE));
        values
    }

    pub fn word<V: Vocabulary>(&mut self, column: &'static str) -> Option<V> {
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

    /// As `dollars`, with a warning for 0, which sources write for an unknown amount.
    pub(crate) fn raised_dollars(&mut self, column: &'static str) -> Option<u64> {
        let amount = self.dollars(column)?;
        if amount == 0 {
            self.warning(column, "is 0; leave the field empty if the amount is unknown".into());
        }
        Some(amount)
    }

    pub(crate) fn year(&mut self, column: &'static str) -> Option<u16> {
        self.read(column, |text| parse_uint(text, 1..=9999), "is not a year from 1 to 9999")
    }

    pub(crate) fn integer(&mut self, column: &'static str) -> Option<u32> {
        self.read(column, |text| parse_uint(text, 0..=u32::MAX), "is not a whole number from 0")
    }

    pub(crate) fn day(&mut self, column: &'static str) -> Option<Date> {
        self.read(column, |text| text.parse().ok(), "is not a date of the form YYYY-MM-DD, such as 2026-06-30")
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

    pub(crate) fn month(&mut self, column: &'static str) -> Option<PartialDate> {
        let read = |text: &str| text.parse().ok().filter(|date: &PartialDate| date.is_month());
        self.read(column, read, "is not a month of the form YYYY-MM, such as 2026-06")
    }

    /// A hash in place of an account. A message never has the value, which may be a name or an address by mistake.
    pub(crate) fn keyed_hash(&mut self, column: &'static str) -> Option<Arc<str>> {
        let text = self.field(column).to_owned();
        if text.is_empty() {
            return None;
        }
        if !is_keyed_hash(&text) {
            self.error(column, NOT_KEYED_HASH.into());
            return None;
        }
        Some(self.index.share(&text))
    }

    /// A date; the month or year if no more is known.
    pub fn date(&mut self, column: &'static str) -> Option<PartialDate> {
        let rule = "is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026";
        self.read(column, |text| text.parse().ok(), rule)
    }
}

/// The values in order without duplicates. A set finds them: a comparison with each previous value is quadratic.
pub fn distinct<T: Clone + Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

fn not_in_vocabulary<V: Vocabulary>(text: &str) -> String {
    format!("{} is not {}: {}", quoted(text), with_article(V::NOUN), V::names().join(", "))
}

fn parse_uint<N: FromStr + PartialOrd>(text: &str, range: RangeInclusive<N>) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && range.contains(number))
}

/// True for a text that may be a keyed hash: at least 64 bits in hexadecimal digits, and no e-mail address.
pub fn is_keyed_hash(text: &str) -> bool {
    let is_of_hash = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+/=".contains(&byte);
    (16..=MAX_LINE).contains(&text.len()) && text.bytes().all(is_of_hash)
}

/// `[a-z0-9]+(-[a-z0-9]+)*`
pub fn is_slug(text: &str) -> bool {
    text.split('-')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

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
    fn duplicates_are_found_in_linear_work() {
        thread_local!(static COMPARISONS: Cell<usize> = const { Cell::new(0) });

        #[derive(Clone, Debug)]
        struct Counted(u32);
        impl PartialEq for Counted {
            fn eq(&self, other: &Self) -> bool {
                COMPARISONS.set(COMPARISONS.get() + 1);
                self.0 == other.0
            }
        }
        impl Eq for Counted {}
        impl Hash for Counted {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }

        let values = (0..100_000).chain(0..1_000).map(Counted);
        let found: Vec<u32> = distinct(values).into_iter().map(|value| value.0).collect();
        assert!(found.into_iter().eq(0..100_000));
        assert!(COMPARISONS.get() < 100_000, "{} comparisons", COMPARISONS.get());
    }

    #[test]
    fn numbers_have_digits_only() {
        assert_eq!(parse_uint("500000", 0..=u64::MAX), Some(500_000));
        for text in ["5m", "-1", "+1", "1.0", "1e3", "99999999999999999999999"] {
            assert_eq!(parse_uint(text, 0..=u64::MAX), None, "{text}");
        }
    }
}
