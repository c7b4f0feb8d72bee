//! Reading one CSV file line by line, with the place of everything that is wrong.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use csv::StringRecord;

use crate::data::import::diagnostics::quoted;
use crate::data::vocabulary::{Vocabulary, with_article};
use crate::data::{Country, Date};
use crate::data::{Diagnostic, Progress, Report, Severity};

/// How often progress is told, in rows.
const STRIDE: u64 = 16_384;

/// Collects the problems of one file.
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

    fn push(&mut self, severity: Severity, line: Option<u64>, column: Option<&str>, message: String) {
        let column = column.map(str::to_owned);
        self.report.problems.push(Diagnostic { severity, file: self.file.to_owned(), line, column, message });
    }
}

/// One line of a table, its fields found by column.
pub(crate) struct CsvRow<'a, 'r> {
    record: &'a StringRecord,
    places: &'a [Option<usize>],
    columns: &'static [&'static str],
    number: u64,
    complaints: &'a mut Diagnostics<'r>,
}

impl CsvRow<'_, '_> {
    /// The line's number in the file.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The trimmed field at `column`, an index into the table's columns; empty where it is unknown.
    pub(crate) fn field(&self, column: usize) -> &str {
        let place = self.places.get(column).copied().flatten();
        place.and_then(|place| self.record.get(place)).unwrap_or("").trim()
    }

    pub(crate) fn error(&mut self, column: usize, message: String) {
        let column = self.columns.get(column).copied();
        self.complaints.error(Some(self.number), column, message);
    }

    pub(crate) fn warning(&mut self, column: usize, message: String) {
        let column = self.columns.get(column).copied();
        self.complaints.warning(Some(self.number), column, message);
    }

    /// A slug, checked.
    pub(crate) fn slug(&mut self, column: usize) -> String {
        let slug = self.field(column).to_owned();
        if slug.is_empty() {
            self.error(column, "is empty; every row needs one".into());
        } else if !is_slug(&slug) {
            let message =
                format!("{} is not a slug: lower-case letters a-z, digits and single `-` between them", quoted(&slug));
            self.error(column, message);
        }
        slug
    }

    /// An id, checked: any text without spaces.
    pub(crate) fn id(&mut self, column: usize) -> String {
        let id = self.field(column).to_owned();
        if id.is_empty() {
            self.error(column, "is empty; every row needs one".into());
        } else if id.chars().any(|char| char.is_whitespace() || is_hidden(char)) {
            self.error(column, format!("{} is not an id: it holds a space", quoted(&id)));
        }
        id
    }

    /// A name, which must not be empty.
    pub(crate) fn name(&mut self, column: usize) -> String {
        let name = clean_line(self.field(column));
        if name.is_empty() {
            self.error(column, "is empty; every row needs one".into());
        }
        name
    }

    /// Text, cleaned of characters that cannot be seen; `None` where it is empty.
    pub(crate) fn text(&self, column: usize) -> Option<String> {
        let text = clean(self.field(column));
        (!text.is_empty()).then_some(text)
    }

    /// Text on one line, cleaned likewise.
    pub(crate) fn phrase(&self, column: usize) -> Option<String> {
        let text = clean_line(self.field(column));
        (!text.is_empty()).then_some(text)
    }

    /// The values of a field that `|` separates, each once, in order.
    pub(crate) fn values(&self, column: usize) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.field(column).split('|') {
            let value = clean_line(value);
            if !value.is_empty() && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// A value of a closed vocabulary; `None` where it is empty or wrong.
    pub(crate) fn word<V: Vocabulary>(&mut self, column: usize) -> Option<V> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let value = V::read(text);
        if value.is_none() {
            let message = not_in_vocabulary::<V>(text);
            self.error(column, message);
        }
        value
    }

    /// Values of a closed vocabulary, separated by `|`.
    pub(crate) fn words<V: Vocabulary + PartialEq>(&mut self, column: usize) -> Vec<V> {
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

    /// A country.
    pub(crate) fn country(&mut self, column: usize) -> Option<Country> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let country = Country::read(text);
        if country.is_none() {
            let message = format!("{} is not a country of ISO 3166-1, such as `DE`", quoted(text));
            self.error(column, message);
        }
        country
    }

    /// A whole number of US dollars.
    pub(crate) fn dollars(&mut self, column: usize) -> Option<u64> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let dollars = whole(text).filter(|dollars| *dollars <= 9_007_199_254_740_991);
        if dollars.is_none() {
            let message = format!("{} is not a whole number of US dollars", quoted(text));
            self.error(column, message);
        }
        dollars
    }

    /// A year.
    pub(crate) fn year(&mut self, column: usize) -> Option<u16> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let year = whole(text).filter(|year| (1..=9999).contains(year));
        if year.is_none() {
            let message = format!("{} is not a year from 1 to 9999", quoted(text));
            self.error(column, message);
        }
        year.map(|year| year as u16)
    }

    /// A rating, 1–5.
    pub(crate) fn rating(&mut self, column: usize) -> Option<u8> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let rating = whole(text).filter(|rating| (1..=5).contains(rating));
        if rating.is_none() {
            let message = format!("{} is not a rating: a whole number from 1 to 5", quoted(text));
            self.error(column, message);
        }
        rating.map(|rating| rating as u8)
    }

    /// `true` or `false`.
    pub(crate) fn truth(&mut self, column: usize) -> Option<bool> {
        let text = self.field(column).to_ascii_lowercase();
        match text.as_str() {
            "" => None,
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => {
                self.error(column, format!("{} is neither `true` nor `false`", quoted(&text)));
                None
            }
        }
    }

    /// A date.
    pub(crate) fn date(&mut self, column: usize) -> Option<Date> {
        let text = self.field(column);
        if text.is_empty() {
            return None;
        }
        let date = text.parse().ok();
        if date.is_none() {
            let message = format!("{} is not a date of the form YYYY-MM-DD", quoted(text));
            self.error(column, message);
        }
        date
    }

    /// Complains where a required field is empty.
    pub(crate) fn required(&mut self, column: usize) {
        if self.field(column).is_empty() {
            self.error(column, "is empty; every row needs one".into());
        }
    }
}

fn not_in_vocabulary<V: Vocabulary>(text: &str) -> String {
    format!("{} is not {}: {}", quoted(text), with_article(V::NOUN), V::names().join(", "))
}

/// A whole number of plain digits.
fn whole(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// `[a-z0-9]+(-[a-z0-9]+)*`
fn is_slug(text: &str) -> bool {
    text.split('-')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

/// Characters that no reader sees but a machine might obey: controls, zero-width, bidi and tag characters, fillers and
/// the variation selectors that no emoji needs.
fn is_hidden(char: char) -> bool {
    (char.is_control() && char != '\n' && char != '\t')
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text without hidden characters, trimmed; line breaks become `\n`.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            char if is_hidden(char) => {}
            char => clean.push(char),
        }
    }
    match clean.trim() {
        trimmed if trimmed.len() == clean.len() => clean,
        trimmed => trimmed.to_owned(),
    }
}

/// The same on one line: what stands beside other words, such as a name, must not look like a line of its own.
pub(crate) fn clean_line(text: &str) -> String {
    let mut clean = clean(text);
    if clean.contains(['\n', '\t']) {
        clean = clean.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    clean
}

/// Reads `folder/file` and hands each well-formed line to `each`.
///
/// A missing file or column, a line with too few or too many fields and bad UTF-8 are complained of here. False where
/// no line could be read: nothing is known of the table then, and a reference to it is no fault of its own.
pub(crate) fn read(
    folder: &Path,
    file: &'static str,
    columns: &'static [&'static str],
    report: &mut Report,
    progress: &dyn Progress,
    mut each: impl FnMut(&mut CsvRow<'_, '_>),
) -> bool {
    let mut complaints = Diagnostics::of(file, report);
    let opened = match File::open(folder.join(file)) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            complaints.error(None, None, "file is missing".into());
            return false;
        }
        Err(error) => {
            complaints.error(None, None, format!("file cannot be read: {error}"));
            return false;
        }
    };
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    progress.step(file, size);
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .from_reader(BufReader::with_capacity(1 << 16, opened));
    let mut raw = csv::ByteRecord::new();
    let Some((places, width)) = header(&mut reader, &mut raw, columns, &mut complaints) else {
        progress.done();
        return false;
    };
    let mut rows: u64 = 0;
    loop {
        match reader.read_byte_record(&mut raw) {
            Ok(false) => break,
            Err(error) => {
                complaints.error(error.position().map(csv::Position::line), None, format!("cannot be read: {error}"));
                break;
            }
            Ok(true) => {}
        }
        rows += 1;
        if rows.is_multiple_of(STRIDE) {
            progress.advance(reader.position().byte());
        }
        let number = raw.position().map_or(0, csv::Position::line);
        if raw.len() != width {
            let fields = if raw.len() == 1 { "field" } else { "fields" };
            complaints.error(Some(number), None, format!("{} {fields}, the header has {width}", raw.len()));
            continue;
        }
        let record = match StringRecord::from_byte_record(raw) {
            Ok(text) => text,
            Err(error) => {
                raw = error.into_byte_record();
                let place = raw.iter().position(|field| std::str::from_utf8(field).is_err());
                let column = place.and_then(|place| (0..columns.len()).find(|column| places[*column] == Some(place)));
                let column = column.and_then(|column| columns.get(column).copied());
                complaints.error(Some(number), column, "is not UTF-8".into());
                continue;
            }
        };
        let mut line = CsvRow { record: &record, places: &places, columns, number, complaints: &mut complaints };
        each(&mut line);
        raw = record.into_byte_record();
    }
    progress.done();
    true
}

/// Finds the columns; complains of missing, doubled and unknown ones. `None` where no row can be read.
fn header(
    reader: &mut csv::Reader<BufReader<File>>,
    raw: &mut csv::ByteRecord,
    columns: &'static [&'static str],
    complaints: &mut Diagnostics<'_>,
) -> Option<(Vec<Option<usize>>, usize)> {
    match reader.read_byte_record(raw) {
        Ok(true) => {}
        Ok(false) => {
            complaints.error(Some(1), None, "file is empty; the header line is missing".into());
            return None;
        }
        Err(error) => {
            complaints.error(Some(1), None, format!("header cannot be read: {error}"));
            return None;
        }
    }
    let mut places: Vec<Option<usize>> = vec![None; columns.len()];
    for (place, name) in raw.iter().enumerate() {
        let name = String::from_utf8_lossy(name);
        let name = name.trim_start_matches('\u{feff}').trim();
        match columns.iter().position(|column| *column == name) {
            Some(column) if places[column].is_some() => {
                complaints.error(Some(1), Some(name), "column stands twice in the header".into());
            }
            Some(column) => places[column] = Some(place),
            None => complaints.warning(Some(1), None, format!("unknown column {}", quoted(name))),
        }
    }
    let mut whole = true;
    for (column, place) in columns.iter().zip(&places) {
        if place.is_none() {
            complaints.error(Some(1), Some(column), "column is missing".into());
            whole = false;
        }
    }
    whole.then_some((places, raw.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_go_and_line_breaks_stay() {
        assert_eq!(clean(" a\u{200b}b\r\nc\u{202e}\u{e0041} "), "ab\nc");
        assert_eq!(clean("\u{7}\u{feff}"), "");
        assert_eq!(clean("a\u{2028}b\u{85}c\rd\u{e0120}\u{fe01}\u{3164}"), "a\nb\nc\nd");
        for text in ["Zoë & Søn\t1", "東京\n株式会社", "\u{26a1}\u{fe0f}", "क्षि"] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn a_name_stands_on_one_line() {
        assert_eq!(clean_line(" Acme\r\n\r\n- \tcall search_vcs\u{2029}x "), "Acme - call search_vcs x");
        assert_eq!(clean_line("Acme  Capital"), "Acme  Capital");
    }

    #[test]
    fn slugs_are_lower_case_words_joined_by_hyphens() {
        for slug in ["a", "a16z", "01-advisors", "a-b-c"] {
            assert!(is_slug(slug), "{slug}");
        }
        for text in ["", "-a", "a-", "a--b", "A", "a_b", "ä", "a b"] {
            assert!(!is_slug(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_plain_digits() {
        assert_eq!(whole("500000"), Some(500_000));
        for text in ["5m", "-1", "+1", "1.0", "1e3", "99999999999999999999999"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
