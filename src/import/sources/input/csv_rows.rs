//! Reads rows of delimited text.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, Read};

use csv::{ByteRecord, StringRecord};
use encoding_rs::UTF_8;
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::sources::Result;
use crate::sources::input::dialect::{Beginning, is_separator_row};
use crate::sources::input::encoding::{self, repair};
use crate::sources::input::header::{self, SampleRow};
use crate::sources::input::limits::LimitExceeded;
use crate::sources::input::table::TableRows;
use crate::sources::input::{InputFormat, Member, RowReceiver, tell_header, wanted};
use data::import::csv_reader::CsvDialect;
pub(super) use data::import::csv_reader::{CsvError, CsvReader};
use data::import::diagnostics::quoted;

/// Calls `read` with the text of a file in UTF-8, in which single bytes may be wrong.
pub(super) fn decoded(
    member: &Member,
    from: &mut dyn Read,
    format: &mut InputFormat,
    to: &mut dyn RowReceiver,
    read: impl FnOnce(&mut dyn Read, &mut InputFormat, &mut dyn RowReceiver) -> Result<()>,
) -> Result<()> {
    let encoding = match format.encoding {
        Some(encoding) => encoding,
        None => {
            let found = encoding::detect(member)?;
            if found != UTF_8 {
                to.note(format!("encoding {}, detected", found.name().to_lowercase()));
            }
            format.encoding = Some(found).filter(|found| *found != UTF_8);
            found
        }
    };
    if encoding == UTF_8 {
        return read(from, format, to);
    }
    // A byte order mark may name another encoding.
    let mut decoded = DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(from);
    read(&mut decoded, format, to)
}

pub(super) fn read(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let mut format = format.clone();
    decoded(member, from, &mut format, to, |from, format, to| read_text(member, from, format, to))
}

fn read_text(member: &Member, from: &mut dyn Read, format: &mut InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let mut beginning = Beginning::read(from);
    let default = InputFormat::default_delimiter(member);
    let dialect = beginning.dialect(format, default);
    let rows = beginning.rows(dialect);
    find_header(member, &rows, dialect, format, to)?;
    format.delimiter = Some(dialect.delimiter).filter(|delimiter| *delimiter != default);
    if format.quote.is_none() && dialect.quote.is_none() {
        to.note("no cell is quoted: in quotation marks a cell would go on over several rows".to_owned());
    }
    format.quote = Some(crate::sources::input::Quote(dialect.quote));
    to.format(format);
    let mut from = beginning.chain(from);
    read_rows(member, &mut from, dialect, format, &rows, to)
}

/// Finds the rows of the header that the format does not state.
fn find_header(
    member: &Member,
    rows: &[Vec<String>],
    dialect: CsvDialect,
    format: &mut InputFormat,
    to: &mut dyn RowReceiver,
) -> Result<()> {
    if format.skip.is_some() || format.header_rows.is_some() {
        return Ok(());
    }
    let separators = usize::from(rows.first().is_some_and(|row| is_separator_row(row, dialect.delimiter)));
    let sample: Vec<SampleRow> = rows
        .iter()
        .enumerate()
        .skip(separators)
        .map(|(position, row)| SampleRow::new(position, position as u64 + 1, row.clone()))
        .collect();
    let place = header::find(&sample, &wanted(to)).map_err(|(line, value)| no_header(member, line, value))?;
    tell_header(place, separators, &sample, to);
    format.skip = Some(place.skip.max(separators)).filter(|skip| *skip > 0);
    format.header_rows = Some(place.rows).filter(|rows| *rows != 1);
    Ok(())
}

pub(super) fn no_header(member: &Member, line: u64, value: &str) -> crate::sources::SourceError {
    let problem = format!("has the value {} where the names of the columns should be", quoted(value));
    let remedy = "add a line with names above it, or write `header = false` in the input of the mapping: the columns \
                  are then named A, B, C";
    member.error(line, format!("{problem}; {remedy}"))
}

fn read_rows(
    member: &Member,
    from: &mut dyn Read,
    dialect: CsvDialect,
    format: &InputFormat,
    sample: &[Vec<String>],
    to: &mut dyn RowReceiver,
) -> Result<()> {
    let last_byte = Cell::new(b'\n');
    let mut csv = CsvReader::new(Watched { from, last_byte: &last_byte }, dialect);
    let mut raw = ByteRecord::new();
    let next = |csv: &mut CsvReader<_>, raw: &mut ByteRecord, to: &mut dyn RowReceiver| {
        let missing = || member.error(1, "file is empty; the header line is missing");
        if read_row(csv, raw, 0, member, &mut |line, doubt| to.doubt(line, doubt))? {
            Ok(text_of(raw))
        } else {
            Err(missing())
        }
    };
    for _ in 0..format.skip.unwrap_or_default() {
        next(&mut csv, &mut raw, to)?;
    }
    let (names, lower) = match format.header_rows {
        Some(0) => {
            let width = sample.iter().map(Vec::len).max().unwrap_or_default();
            ((0..width).map(header::letters).collect(), Vec::new())
        }
        Some(2) => {
            let groups = next(&mut csv, &mut raw, to)?;
            let lower = next(&mut csv, &mut raw, to)?;
            (header::names(Some(&groups), &lower), lower)
        }
        _ => {
            let mut lower = next(&mut csv, &mut raw, to)?;
            if names_rows(sample.get(format.skip.unwrap_or_default() + 1..).unwrap_or_default(), &lower) {
                to.note(
                    "the rows have one cell more than the header: the first has no name, as R writes names of rows"
                        .to_owned(),
                );
                lower.insert(0, String::new());
            }
            (header::names(None, &lower), lower)
        }
    };
    let width = names.len();
    let mut end = csv.line() + feeds(&raw);
    let mut rows = TableRows::new(member, to, format, names, lower, true)?;
    let (mut record, mut held) = (StringRecord::new(), StringRecord::new());
    // The row that was read last is held back until the next one: it may be cut.
    let (mut place, mut shortest) = (None, width);
    while read_row(&mut csv, &mut raw, width, member, &mut |line, doubt| rows.doubt(line, doubt))? {
        let line = csv.line();
        let breaks = feeds(&raw);
        record = match StringRecord::from_byte_record(raw) {
            Ok(record) => record,
            Err(error) => {
                let mut repaired = record;
                repaired.clear();
                for (column, cell) in error.into_byte_record().iter().enumerate() {
                    repaired.push_field(&repaired_cell(line, column, cell, &mut rows));
                }
                repaired
            }
        };
        if let Some((line, is_apart)) = place.replace((line, line > end + 1)) {
            shortest = shortest.min(held.len());
            rows.add(line, &held, is_apart)?;
        }
        end = line + breaks;
        std::mem::swap(&mut held, &mut record);
        raw = std::mem::take(&mut record).into_byte_record();
    }
    if let Some((line, is_apart)) = place {
        let is_ended = matches!(last_byte.get(), b'\n' | b'\r');
        if !is_ended && held.len() < shortest {
            let problem = "is cut: the file ends in the middle of the line; get the whole file, or complete the line";
            return Err(member.error(line, problem));
        }
        rows.add(line, &held, is_apart)?;
    }
    rows.finish()
}

/// True if each row has one cell more than the header, and another text in the first: the names of the rows, as R writes them.
fn names_rows(rows: &[Vec<String>], header: &[String]) -> bool {
    let rows: Vec<&Vec<String>> = rows.iter().filter(|row| row.iter().any(|cell| !cell.trim().is_empty())).collect();
    let firsts: HashSet<&str> = rows.iter().filter_map(|row| row.first()).map(|cell| cell.trim()).collect();
    let is_longer = |row: &&Vec<String>| row.len() == header.len() + 1;
    let is_filled = |row: &&&Vec<String>| row.last().is_some_and(|cell| !cell.trim().is_empty());
    rows.len() > 1
        && header.len() > 1
        && header.iter().all(|cell| !cell.trim().is_empty())
        && rows.iter().copied().all(|row| is_longer(&row))
        && rows.iter().filter(is_filled).count() * 2 > rows.len()
        && firsts.len() == rows.len()
        && !firsts.contains("")
}

/// Keeps the last byte that was read.
struct Watched<'r> {
    from: &'r mut dyn Read,
    last_byte: &'r Cell<u8>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        if let Some(last) = buffer[..read].last() {
            self.last_byte.set(*last);
        }
        Ok(read)
    }
}

/// Line breaks in the cells of a row.
fn feeds(row: &ByteRecord) -> u64 {
    row.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64
}

fn text_of(row: &ByteRecord) -> Vec<String> {
    row.iter().map(|cell| repair(cell).0.unwrap_or_else(|| String::from_utf8_lossy(cell).into_owned())).collect()
}

/// Text of a cell that may not be UTF-8, which is reported.
fn repaired_cell(line: u64, column: usize, cell: &[u8], rows: &mut TableRows<'_>) -> String {
    if let Ok(text) = std::str::from_utf8(cell) {
        return text.to_owned();
    }
    let (text, strays) = repair(cell);
    if rows.is_wanted(column) {
        let shown = text.as_ref().map_or_else(
            || "is no letter in windows-1252 either: the cell is left empty".to_owned(),
            |text| format!("is read as in windows-1252: {}", quoted(text)),
        );
        let name = rows.name(column).to_owned();
        let problem = format!("{name}: {strays} is not UTF-8, the encoding of the file, and {shown}; correct the cell");
        rows.doubt(line, problem);
    }
    text.unwrap_or_default()
}

/// Reads the next row and reports suspicious quoting; false at the end.
fn read_row<R: Read>(
    csv: &mut CsvReader<R>,
    raw: &mut ByteRecord,
    width: usize,
    member: &Member,
    doubts: &mut dyn FnMut(u64, String),
) -> Result<bool> {
    let is_read = csv.read(raw, width).map_err(|error| {
        let line = csv.line();
        match error {
            CsvError::Io(error) => member.fault(line, error),
            CsvError::TooLarge(limit) => member.error(line, LimitExceeded::from(limit)),
            CsvError::Unclosed | CsvError::Torn => {
                let remedy = "an input that quotes no cell needs `quote = \"none\"` in its mapping";
                member.error(line, format!("{error}; {remedy}"))
            }
            CsvError::Width { .. } | CsvError::NotUtf8 => member.error(line, error),
        }
    })?;
    if let Some((line, doubt)) = csv.doubt().filter(|_| is_read) {
        doubts(line, doubt.to_string());
    }
    Ok(is_read)
}
