//! Files of a source, read as rows of text: CSV, Excel and JSON, alone, in folders or in archives.

pub(crate) mod archive;
mod csv_rows;
mod json_rows;
mod sheet_rows;

use std::io::{self, Read};

use crate::sources::SourceError;
pub(crate) use crate::sources::input::archive::Member;
use data::Progress;
use data::import::csv_reader::Dialect;

/// How the text of a file is encoded.
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

/// The mark around cells that contain delimiters or line breaks. `None`: it is text, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote(pub Option<u8>);

impl Default for Quote {
    fn default() -> Self {
        Self(Some(b'"'))
    }
}

impl Quote {
    /// What a mapping calls `None`.
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

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Format {
    /// By default a tab in files that end in `.tsv` or `.tab`, otherwise a comma.
    pub delimiter: Option<u8>,
    pub quote: Quote,
    pub encoding: Encoding,
    /// The sheet of a workbook; by default the first.
    pub sheet: Option<String>,
    /// Lines before the header.
    pub skip: usize,
}

impl Format {
    /// How the text of a file separates and quotes cells.
    pub(crate) fn dialect(&self, member: &Member) -> Dialect {
        let default = if ["tsv", "tab"].contains(&member.ending()) { b'\t' } else { b',' };
        Dialect { delimiter: self.delimiter.unwrap_or(default), quote: self.quote.0 }
    }
}

/// The columns of a row that are of use, as text without white space around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The number of the row's first line in its file, or its number in a file without lines.
    pub line: u64,
    /// The index of its file.
    pub file: u32,
    text: String,
    ends: Vec<usize>,
}

impl Row {
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

    /// Adds the row to `bytes`; [`Row::decode`] reads it.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.line.to_le_bytes());
        bytes.extend_from_slice(&self.file.to_le_bytes());
        for index in 0..self.ends.len() {
            let field = self.get(index);
            bytes.extend_from_slice(&(field.len() as u32).to_le_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
    }

    /// Replaces the row by one that was encoded.
    pub(crate) fn decode(&mut self, bytes: &[u8]) {
        self.clear(0);
        if let Some((line, rest)) = bytes.split_first_chunk::<8>()
            && let Some((file, rest)) = rest.split_first_chunk::<4>()
        {
            self.line = u64::from_le_bytes(*line);
            self.file = u32::from_le_bytes(*file);
            self.push_encoded(rest);
        }
    }

    /// Adds the fields of another encoded row.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.push_encoded(bytes.get(12..).unwrap_or_default());
    }

    fn push_encoded(&mut self, mut bytes: &[u8]) {
        while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
            let (field, rest) = rest.split_at((u32::from_le_bytes(*length) as usize).min(rest.len()));
            self.text.push_str(std::str::from_utf8(field).unwrap_or_default());
            self.ends.push(self.text.len());
            bytes = rest;
        }
    }
}

/// Receives the rows of a file.
pub(crate) trait Receiver {
    /// The names of the file's columns. Returns for each column that is wanted its position in the file; `None` for one that
    /// the file need not have.
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError>;

    /// A row with the wanted columns.
    fn row(&mut self, row: &Row) -> Result<(), SourceError>;

    /// A row that cannot be read.
    fn bad_row(&mut self, line: u64, problem: String);

    /// A row that is read, but probably not as it was meant.
    fn doubt(&mut self, line: u64, problem: String);

    /// The columns whose names are wanted, for files whose rows have names of their own (JSON); none for those of the first
    /// row.
    fn wanted(&self) -> Vec<String>;
}

/// The name of a column as it is compared: in lowercase, with one space for white space and line breaks.
pub(crate) fn column_name(name: &str) -> String {
    let name = name.trim_start_matches('\u{feff}').to_lowercase();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a file row by row.
pub(crate) fn read(
    member: &Member,
    format: &Format,
    progress: &dyn Progress,
    to: &mut dyn Receiver,
) -> Result<(), SourceError> {
    progress.step(&member.path, member.size);
    let ending = member.ending();
    let result = member.open(&mut |from: &mut dyn Read| {
        let mut from = Counted { from, done: 0, progress };
        match ending {
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => sheet_rows::read(member, &mut from, format, to),
            "json" | "jsonl" | "ndjson" => json_rows::read(member, &mut from, to),
            _ => csv_rows::read(member, &mut from, format, to),
        }
    });
    progress.done();
    result
}

/// Reports how much was read.
struct Counted<'a> {
    from: &'a mut dyn Read,
    done: u64,
    progress: &'a dyn Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.done += read as u64;
        self.progress.advance(self.done);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
