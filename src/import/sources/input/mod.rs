//! Reads files of a source as rows of text: CSV, Excel, JSON and Parquet, alone, in folders or in archives.

pub(crate) mod archive;
mod compound;
mod contained;
mod csv_rows;
mod dialect;
pub(crate) mod encoding;
mod header;
pub(crate) mod json_path;
pub(crate) mod json_rows;
mod json_scan;
pub(crate) mod limits;
mod markdown;
mod ordinary;
pub(crate) mod parquet_file;
mod parquet_rows;
mod parquet_values;
mod sheet_rows;
mod table;
mod unpacked;
mod words;
mod workbook_parts;
mod xml_scan;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufReader, Read};

use encoding_rs::Encoding;

use crate::sources::SourceError;
pub(crate) use crate::sources::input::archive::Member;
pub(crate) use crate::sources::input::header::is_value;
use crate::sources::input::header::{HeaderPlace, SampleRow};
use crate::sources::input::json_path::JsonPath;
use crate::sources::input::markdown::MarkdownTables;
pub(crate) use crate::sources::input::table::may_be_heading;
pub(crate) use crate::sources::input::words::is_error;
#[cfg(test)]
pub(crate) use crate::sources::input::words::is_total;
use crate::sources::sort::{put_text, take_text};
use data::Progress;
use data::import::clean::is_hidden;

/// Mark around cells that contain delimiters or line breaks. `None`: no cell is quoted, and marks are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote(pub Option<u8>);

impl Default for Quote {
    fn default() -> Self {
        Self(Some(b'"'))
    }
}

impl Quote {
    /// Name of `None` in mappings.
    pub(crate) const NONE: &str = "none";

    /// Reads one character or [`Quote::NONE`].
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.as_bytes() {
            [byte] if byte.is_ascii_punctuation() => Some(Self(Some(*byte))),
            _ => (name == Self::NONE).then_some(Self(None)),
        }
    }

    pub(crate) fn name(self) -> String {
        self.0.map_or_else(|| Self::NONE.to_owned(), |byte| char::from(byte).to_string())
    }
}

/// How a file is written. What a mapping does not state is detected, each time by the same rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputFormat {
    pub delimiter: Option<u8>,
    pub quote: Option<Quote>,
    pub encoding: Option<&'static Encoding>,
    /// Sheet of a workbook.
    pub sheet: Option<String>,
    /// Rows before the header. Empty lines of text do not count.
    pub skip: Option<usize>,
    /// Rows of the header: 0 without one, 2 with a row of groups above it.
    pub header_rows: Option<u8>,
    /// Place of the records in a JSON document.
    pub path: Option<JsonPath>,
    /// True if texts that begin like formulas are marked, as in our own CSV files; the marks are removed.
    pub has_marked_formulas: bool,
    /// Columns whose value is written once for several rows, as in merged cells: a row without any of them has those of the
    /// row above.
    pub fill_down: Vec<String>,
    /// True if rows with nothing but their first cell, apart from numbers, are headings of the rows below.
    pub has_headings: bool,
}

/// Between the name of a workbook and that of one of its sheets.
pub(crate) const SHEET: &str = ", sheet ";

impl InputFormat {
    /// A tab in files that end in `.tsv` or `.tab`, otherwise a comma.
    fn default_delimiter(member: &Member) -> u8 {
        if ["tsv", "tab"].contains(&member.ending()) { b'\t' } else { b',' }
    }

    /// Name of a file that is read so, with its sheet if the format names one.
    pub(crate) fn name_in(&self, file: &str) -> String {
        self.sheet.as_ref().map_or_else(|| file.to_owned(), |sheet| format!("{file}{SHEET}{sheet}"))
    }

    /// Lines of an `[input.NAME]` table of a mapping, for all that is not usual.
    pub(crate) fn toml_lines(&self) -> Vec<String> {
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut lines = Vec::new();
        let mut add = |key: &str, value: Option<String>| lines.extend(value.map(|value| format!("{key} = {value}")));
        add("encoding", self.encoding.map(|encoding| text(&encoding.name().to_lowercase())));
        add("delimiter", self.delimiter.map(|delimiter| text(&char::from(delimiter).to_string())));
        add("quote", self.quote.filter(|quote| *quote != Quote::default()).map(|quote| text(&quote.name())));
        add("sheet", self.sheet.as_deref().map(text));
        add("skip", self.skip.map(|skip| skip.to_string()));
        let header = |rows| if rows == 0 { "false".to_owned() } else { format!("{rows}") };
        add("header", self.header_rows.map(header));
        add("path", self.path.as_ref().map(|path| text(&path.to_string())));
        add("marked_formulas", self.has_marked_formulas.then(|| "true".to_owned()));
        let columns: Vec<String> = self.fill_down.iter().map(|column| text(column)).collect();
        add("fill_down", (!columns.is_empty()).then(|| format!("[{}]", columns.join(", "))));
        add("headings", self.has_headings.then(|| "true".to_owned()));
        lines
    }
}

/// Line of an input: index of the file and number of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub file: u32,
    pub line: u64,
}

impl Place {
    /// Number of bytes that [`Place::bytes`] returns.
    pub(crate) const SIZE: usize = 12;

    /// Bytes that sort like the place.
    pub(crate) fn bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.file.to_be_bytes());
        bytes[4..].copy_from_slice(&self.line.to_be_bytes());
        bytes
    }

    /// Place from the last bytes of a key.
    pub(crate) fn of_key(key: &[u8]) -> Option<Self> {
        let (rest, line) = key.split_last_chunk::<8>()?;
        let (_, file) = rest.split_last_chunk::<4>()?;
        Some(Self { file: u32::from_be_bytes(*file), line: u64::from_be_bytes(*line) })
    }
}

/// Wanted columns of a row, as text without surrounding white space.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputRow {
    /// Number of the row's first line, or of the row in a file without lines.
    pub line: u64,
    pub file: u32,
    text: String,
    ends: Vec<usize>,
}

impl InputRow {
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }

    /// True if no column has a value.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn clear(&mut self, line: u64) {
        self.line = line;
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, field: &str) {
        self.text.push_str(field.trim());
        self.ends.push(self.text.len());
    }

    pub(crate) fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|index| self.get(index))
    }

    /// Appends the encoded row to `bytes`; [`InputRow::decode`] reads it.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.line.to_le_bytes());
        bytes.extend_from_slice(&self.file.to_le_bytes());
        self.cells().for_each(|cell| put_text(bytes, cell));
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) {
        self.clear(0);
        if let Some((line, rest)) = bytes.split_first_chunk::<8>()
            && let Some((file, _)) = rest.split_first_chunk::<4>()
        {
            self.line = u64::from_le_bytes(*line);
            self.file = u32::from_le_bytes(*file);
            self.append(bytes);
        }
    }

    /// Place of an encoded row.
    pub(crate) fn encoded_place(bytes: &[u8]) -> Option<Place> {
        let (line, rest) = bytes.split_first_chunk::<8>()?;
        let (file, _) = rest.split_first_chunk::<4>()?;
        Some(Place { file: u32::from_le_bytes(*file), line: u64::from_le_bytes(*line) })
    }

    /// Appends the columns of an encoded row.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let mut fields = bytes.get(12..).unwrap_or_default();
        while let Some(field) = take_text(&mut fields) {
            self.text.push_str(field);
            self.ends.push(self.text.len());
        }
    }
}

pub(crate) trait RowReceiver {
    /// Takes the names of the columns. Returns the position of each wanted one; `None` for an optional one that is missing.
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError>;

    fn row(&mut self, row: &InputRow) -> Result<(), SourceError>;

    /// Takes a row that is left out, with the reason. It has the wanted columns as far as they could be read.
    fn bad_row(&mut self, _row: &InputRow, _problem: String) {}

    /// Takes a problem with a row that is read, but probably not as intended.
    fn doubt(&mut self, line: u64, problem: String);

    /// Takes what was detected about the file, or what of it is not read, as a sentence.
    fn note(&mut self, _note: String) {}

    /// Takes the lines above the header, if they were detected.
    fn titles(&mut self, _titles: Vec<String>) {}

    /// Takes the names of the other sheets of a workbook that may be tables, if none was named.
    fn other_sheets(&mut self, _names: Vec<String>) {}

    /// Takes the format in which the file is read, with all that was detected.
    fn format(&mut self, _format: &InputFormat) {}

    /// True as long as it takes values of columns that it does not want.
    fn is_sampling(&self) -> bool {
        false
    }

    /// Takes a value of a column that it does not want.
    fn sample(&mut self, _column: &str, _value: &str) {}

    /// Ends a row of which it sampled values.
    fn end_sample(&mut self) {}

    /// Names of the wanted columns, for files with named values in each row (JSON). If empty, the first row decides.
    fn wanted(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Name of a column for comparison: in lowercase, with single spaces for white space and line breaks.
pub(crate) fn column_name(name: &str) -> String {
    let name = name.trim_start_matches('\u{feff}').to_lowercase();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Folded names of the columns that a receiver wants; none if it takes all.
fn wanted(to: &dyn RowReceiver) -> HashSet<String> {
    to.wanted().iter().map(|name| column_name(name)).collect()
}

/// Lines above a header that may say something about its columns.
const MAX_TITLES: usize = 20;

/// Tells a receiver of a header that is not in the first row, and which of the `rows` are above it. The first `known` are no
/// loss.
fn tell_header(place: HeaderPlace, known: usize, rows: &[SampleRow], to: &mut dyn RowReceiver) {
    let first = rows.first().map_or(0, |row| row.position.saturating_sub(known));
    let above = rows.iter().take_while(|row| row.position < first + place.skip).take(MAX_TITLES);
    to.titles(above.map(|row| row.cells.join(" ").trim().to_owned()).filter(|title| !title.is_empty()).collect());
    if place.skip > known {
        let rows = if place.skip == known + 1 { "1 row".to_owned() } else { format!("{} rows", place.skip - known) };
        to.note(format!("{rows} above the names of the columns, not read (`skip`)"));
    }
    if place.rows == 2 {
        to.note("two rows with names of columns: the upper one has groups (`header = 2`)".to_owned());
    }
}

/// Text of a cell: without blanks around it, double ones within a line, and invisible characters. The text of a formula
/// `="007"`, as Excel writes a text that looks like a number, is that text.
pub(crate) fn cell_text(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix("=\"").and_then(|text| text.strip_suffix('"'))
        && !inner.replace("\"\"", "").contains('"')
    {
        return Cow::Owned(cell_text(&inner.replace("\"\"", "\"")).into_owned());
    }
    let mut before = 0;
    let is_plain = |byte: u8| {
        let is_double = byte == b' ' && before == b' ';
        before = byte;
        !is_double && byte.is_ascii() && (byte >= b' ' || byte == b'\n' || byte == b'\r')
    };
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    // Joiners are part of the spelling of some languages.
    let is_kept = |char: &char| !is_hidden(*char) || matches!(char, '\r' | '\u{200c}' | '\u{200d}' | '\u{ad}');
    let blank = |char: char| if char.is_whitespace() && !matches!(char, '\n' | '\r') { ' ' } else { char };
    let clean: String = text.chars().filter(is_kept).map(blank).collect();
    match clean.contains(['\n', '\r']) || !clean.contains("  ") {
        true => Cow::Owned(clean.trim().to_owned()),
        false => Cow::Owned(clean.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")),
    }
}

/// True for the beginning of a workbook, whatever the file is called.
fn is_workbook(beginning: &[u8]) -> bool {
    beginning == compound::SIGNATURE || beginning.starts_with(b"PK\x03\x04")
}

/// True if a file that is called a workbook is text, as some programs write it.
fn is_text(beginning: &[u8]) -> bool {
    let has_mark = beginning.starts_with(&[0xff, 0xfe]) || beginning.starts_with(b"\xef\xbb\xbf");
    let is_plain = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
    has_mark
        || !beginning.is_empty() && !beginning.trim_ascii_start().starts_with(b"<") && beginning.iter().all(is_plain)
}

pub(crate) fn read_rows(
    member: &Member,
    format: &InputFormat,
    progress: &dyn Progress,
    to: &mut dyn RowReceiver,
) -> Result<(), SourceError> {
    progress.step(&archive::printable(&member.path), member.size);
    let ending = member.ending();
    if ending == "parquet" {
        let result = parquet_rows::read(member, format, to);
        progress.done();
        return result;
    }
    let result = member.open(&mut |from: &mut dyn Read| {
        let mut from = ProgressReader { from, done: 0, progress };
        let mut beginning = Vec::new();
        let fault = Read::by_ref(&mut from).take(compound::SIGNATURE.len() as u64).read_to_end(&mut beginning).err();
        if let Some(fault) = fault {
            return Err(member.fault(1, fault));
        }
        let mut from = beginning.as_slice().chain(from);
        match ending {
            // Some programs write text into a file that ends in `.xls`.
            "xls" if is_text(&beginning) => csv_rows::read(member, &mut from, format, to),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => sheet_rows::read(member, &mut from, format, to),
            "json" | "jsonl" | "ndjson" => json_rows::read(member, &mut from, format, to),
            _ if member.is_markdown() => {
                csv_rows::read(member, &mut MarkdownTables::new(BufReader::new(from)), format, to)
            }
            _ if is_workbook(&beginning) => sheet_rows::read(member, &mut from, format, to),
            _ => csv_rows::read(member, &mut from, format, to),
        }
    });
    progress.done();
    result
}

struct ProgressReader<'a> {
    from: &'a mut dyn Read,
    done: u64,
    progress: &'a dyn Progress,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.done += read as u64;
        self.progress.advance(self.done);
        Ok(read)
    }
}

#[cfg(test)]
pub(crate) mod tests;
