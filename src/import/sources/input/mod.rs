//! Reads files of a source as rows of text: CSV, Excel and JSON, alone, in folders or in archives.

pub(crate) mod archive;
mod compound;
mod contained;
mod csv_rows;
pub(crate) mod json_rows;
mod json_scan;
pub(crate) mod limits;
mod ordinary;
mod sheet_rows;
mod unpacked;
mod workbook_parts;
mod xml_scan;

use std::io::{self, Read};

use crate::sources::SourceError;
pub(crate) use crate::sources::input::archive::Member;
use crate::sources::sort::{put_text, take_text};
use data::Progress;
use data::import::csv_reader::CsvDialect;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    Windows1252,
    Utf16,
}

impl Encoding {
    pub(crate) const ALL: [(&'static str, Self); 4] = [
        ("utf-8", Self::Utf8),
        ("windows-1252", Self::Windows1252),
        ("iso-8859-1", Self::Windows1252),
        ("utf-16", Self::Utf16),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, encoding)| *encoding)
    }
}

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

#[derive(Clone, Debug, Default)]
pub(crate) struct InputFormat {
    /// Defaults to a tab in files that end in `.tsv` or `.tab`, otherwise to a comma.
    pub delimiter: Option<u8>,
    pub quote: Quote,
    pub encoding: Encoding,
    /// Sheet of a workbook; defaults to the first.
    pub sheet: Option<String>,
    /// Lines before the header.
    pub skip: usize,
    /// True if texts that begin like formulas are marked, as in our own CSV files; the marks are removed.
    pub has_marked_formulas: bool,
}

impl InputFormat {
    pub(crate) fn dialect(&self, member: &Member) -> CsvDialect {
        let default = if ["tsv", "tab"].contains(&member.ending()) { b'\t' } else { b',' };
        CsvDialect { delimiter: self.delimiter.unwrap_or(default), quote: self.quote.0 }
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

    /// Appends the encoded row to `bytes`; [`InputRow::decode`] reads it.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.line.to_le_bytes());
        bytes.extend_from_slice(&self.file.to_le_bytes());
        (0..self.ends.len()).for_each(|index| put_text(bytes, self.get(index)));
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

    /// Takes a problem with a row that cannot be read.
    fn bad_row(&mut self, _line: u64, _problem: String) {}

    /// Takes a problem with a row that is read, but probably not as intended.
    fn doubt(&mut self, line: u64, problem: String);

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

pub(crate) fn read_rows(
    member: &Member,
    format: &InputFormat,
    progress: &dyn Progress,
    to: &mut dyn RowReceiver,
) -> Result<(), SourceError> {
    progress.step(&archive::printable(&member.path), member.size);
    let ending = member.ending();
    let result = member.open(&mut |from: &mut dyn Read| {
        let mut from = ProgressReader { from, done: 0, progress };
        match ending {
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => sheet_rows::read(member, &mut from, format, to),
            "json" | "jsonl" | "ndjson" => json_rows::read(member, &mut from, to),
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
mod tests;
