//! Reading one CSV file row by row, with diagnostics that name line and column.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use csv::StringRecord;

use crate::data::import::clean::{clean, clean_line, is_hidden};
use crate::data::import::diagnostics::quoted;
use crate::data::vocabulary::{Vocabulary, with_article};
use crate::data::{Country, Date};
use crate::data::{Diagnostic, Progress, Report, Severity};

/// Rows between two progress reports.
const STRIDE: u64 = 16_384;

/// The largest integer that JSON numbers represent exactly, 2^53 − 1.
const MAX_DOLLARS: u64 = 9_007_199_254_740_991;

const EMPTY: &str = "is empty; every row needs a value";

/// Adds the problems of one file to a report.
pub(crate) struct Diagnostics<'a> {
    file: &'static str,
    report: &'a mut Report,
}

impl<'a> Diagnostics<'a> {
    pub(crate) fn of(file: &'static str, report: &'a mut Report) -> Self {
        Self { file, report }
    }

    pub(crate) fn error(&mut self, line: Option<u64>, column: Option<&str>, message: String) {
        self.push(Severity::Error, line, column, message);
    }

    pub(crate) fn warning(&mut self, line: Option<u64>, column: Option<&str>, message: String) {
        self.push(Severity::Warning, line, column, message);
    }

    /// Reports that the file is missing or cannot be read.
    pub(crate) fn unreadable(&mut self, error: &io::Error) {
        self.error(
            None,
            None,
            match error.kind() {
                io::ErrorKind::NotFound => "file is missing".to_owned(),
                _ => format!("file cannot be read: {error}"),
            },
        );
    }

    fn push(&mut self, severity: Severity, line: Option<u64>, column: Option<&str>, message: String) {
        let column = column.map(str::to_owned);
        self.report.problems.push(Diagnostic { severity, file: self.file.to_owned(), line, column, message });
    }
}

/// One row of a table; its fields are found by column name.
pub(crate) struct CsvRow<'a, 'r> {
    record: &'a StringRecord,
    columns: &'a Columns,
    line: u64,
    diagnostics: &'a mut Diagnostics<'r>,
}

impl CsvRow<'_, '_> {
    /// The number of the row's first line in the file.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

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

    /// The field read by `read`, which returns `None` for an invalid value; `None` if it is empty or invalid.
    fn read<T>(
        &mut self,
        column: &'static str,
        read: impl Fn(&str) -> Option<T>,
        message: impl Fn(&str) -> String,
    ) -> Option<T> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let value = read(text);
        if value.is_none() {
            let message = message(text);
            self.error(column, message);
        }
        value
    }

    pub(crate) fn slug(&mut self, column: &'static str) -> String {
        let slug = self.field(column).to_owned();
        if slug.is_empty() {
            self.error(column, EMPTY.into());
        } else if !is_slug(&slug) {
            let message =
                format!("{} is not a slug: lower-case letters a-z, digits and single `-` between them", quoted(&slug));
            self.error(column, message);
        }
        slug
    }

    /// Any text without spaces.
    pub(crate) fn id(&mut self, column: &'static str) -> String {
        let id = self.field(column).to_owned();
        if id.is_empty() {
            self.error(column, EMPTY.into());
        } else if id.chars().any(|char| char.is_whitespace() || is_hidden(char)) {
            self.error(column, format!("{} is not an id: it contains a space", quoted(&id)));
        }
        id
    }

    pub(crate) fn name(&mut self, column: &'static str) -> String {
        let name = clean_line(self.field(column));
        if name.is_empty() {
            self.error(column, EMPTY.into());
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
        self.read(column, V::read, not_in_vocabulary::<V>)
    }

    /// Words separated by `|`.
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
        self.read(column, Country::read, |text| {
            format!("{} is not a country of ISO 3166-1, such as `DE`", quoted(text))
        })
    }

    pub(crate) fn dollars(&mut self, column: &'static str) -> Option<u64> {
        let read = |text: &str| parse_uint(text).filter(|dollars| *dollars <= MAX_DOLLARS);
        self.read(column, read, |text| format!("{} is not a whole number of US dollars", quoted(text)))
    }

    pub(crate) fn year(&mut self, column: &'static str) -> Option<u16> {
        let read = |text: &str| parse_uint(text).filter(|year| (1..=9999).contains(year)).map(|year| year as u16);
        self.read(column, read, |text| format!("{} is not a year from 1 to 9999", quoted(text)))
    }

    pub(crate) fn rating(&mut self, column: &'static str) -> Option<u8> {
        let read = |text: &str| parse_uint(text).filter(|rating| (1..=5).contains(rating)).map(|rating| rating as u8);
        self.read(column, read, |text| format!("{} is not a rating: a whole number from 1 to 5", quoted(text)))
    }

    /// `true` or `false`; `yes`, `no`, `1` and `0` are accepted too.
    pub(crate) fn truth(&mut self, column: &'static str) -> Option<bool> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        };
        self.read(column, read, |text| format!("{} is neither `true` nor `false`", quoted(&text.to_ascii_lowercase())))
    }

    pub(crate) fn date(&mut self, column: &'static str) -> Option<Date> {
        let read = |text: &str| text.parse().ok();
        self.read(column, read, |text| format!("{} is not a date of the form YYYY-MM-DD", quoted(text)))
    }

    pub(crate) fn required(&mut self, column: &'static str) {
        if self.field(column).is_empty() {
            self.error(column, EMPTY.into());
        }
    }
}

fn not_in_vocabulary<V: Vocabulary>(text: &str) -> String {
    format!("{} is not {}: {}", quoted(text), with_article(V::NOUN), V::names().join(", "))
}

/// An integer of ASCII digits.
fn parse_uint(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// `[a-z0-9]+(-[a-z0-9]+)*`
fn is_slug(text: &str) -> bool {
    text.split('-')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

/// The positions of a table's columns in a file.
struct Columns {
    /// Each column of the table with its index in the file.
    found: Vec<(&'static str, usize)>,
    /// Number of columns of the file.
    width: usize,
}

/// Reads `folder/file` and passes each well-formed row to `each`.
///
/// Reports a missing file or column, a row with too few or too many fields and invalid UTF-8. Returns false if no row
/// could be read; references to the table cannot be checked then.
pub(crate) fn read(
    folder: &Path,
    file: &'static str,
    columns: &'static [&'static str],
    report: &mut Report,
    progress: &dyn Progress,
    mut each: impl FnMut(&mut CsvRow<'_, '_>),
) -> bool {
    let mut diagnostics = Diagnostics::of(file, report);
    let opened = match File::open(folder.join(file)) {
        Ok(opened) => opened,
        Err(error) => {
            diagnostics.unreadable(&error);
            return false;
        }
    };
    // The size is used for progress only.
    progress.step(file, opened.metadata().map_or(0, |metadata| metadata.len()));
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .from_reader(BufReader::with_capacity(1 << 16, opened));
    let mut raw = csv::ByteRecord::new();
    let Some(columns) = header(&mut reader, &mut raw, columns, &mut diagnostics) else {
        progress.done();
        return false;
    };
    let mut rows: u64 = 0;
    loop {
        match reader.read_byte_record(&mut raw) {
            Ok(false) => break,
            Err(error) => {
                diagnostics.error(error.position().map(csv::Position::line), None, format!("cannot be read: {error}"));
                break;
            }
            Ok(true) => {}
        }
        rows += 1;
        if rows.is_multiple_of(STRIDE) {
            progress.advance(reader.position().byte());
        }
        let line = raw.position().expect("a record that was read has a position").line();
        if raw.len() != columns.width {
            let fields = if raw.len() == 1 { "field" } else { "fields" };
            diagnostics.error(Some(line), None, format!("{} {fields}, the header has {}", raw.len(), columns.width));
            continue;
        }
        let record = match StringRecord::from_byte_record(raw) {
            Ok(text) => text,
            Err(error) => {
                raw = error.into_byte_record();
                let index = raw.iter().position(|field| std::str::from_utf8(field).is_err());
                let column = columns.found.iter().find(|(_, column)| Some(*column) == index).map(|(name, _)| *name);
                diagnostics.error(Some(line), column, "is not UTF-8".into());
                continue;
            }
        };
        each(&mut CsvRow { record: &record, columns: &columns, line, diagnostics: &mut diagnostics });
        raw = record.into_byte_record();
    }
    progress.done();
    true
}

/// Finds the columns; reports missing, repeated and unknown ones. `None` if no row can be read.
fn header(
    reader: &mut csv::Reader<BufReader<File>>,
    raw: &mut csv::ByteRecord,
    columns: &'static [&'static str],
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Columns> {
    match reader.read_byte_record(raw) {
        Ok(true) => {}
        Ok(false) => {
            diagnostics.error(Some(1), None, "file is empty; the header line is missing".into());
            return None;
        }
        Err(error) => {
            diagnostics.error(Some(1), None, format!("header cannot be read: {error}"));
            return None;
        }
    }
    let mut found: Vec<(&'static str, usize)> = Vec::with_capacity(columns.len());
    for (index, name) in raw.iter().enumerate() {
        let name = String::from_utf8_lossy(name);
        let name = name.trim_start_matches('\u{feff}').trim();
        match columns.iter().find(|column| **column == name) {
            Some(column) if found.iter().any(|(known, _)| known == column) => {
                diagnostics.error(Some(1), Some(name), "column occurs twice in the header".into());
            }
            Some(column) => found.push((column, index)),
            None => diagnostics.warning(Some(1), None, format!("unknown column {}", quoted(name))),
        }
    }
    for column in columns.iter().filter(|column| !found.iter().any(|(known, _)| known == *column)) {
        diagnostics.error(Some(1), Some(column), "column is missing".into());
    }
    (found.len() == columns.len()).then(|| Columns { found, width: raw.len() })
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
        assert_eq!(parse_uint("500000"), Some(500_000));
        for text in ["5m", "-1", "+1", "1.0", "1e3", "99999999999999999999999"] {
            assert_eq!(parse_uint(text), None, "{text}");
        }
    }
}
