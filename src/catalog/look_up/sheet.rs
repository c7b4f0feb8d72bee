//! A table of items as CSV, answered row by row: all cells stay as they are, and columns are added.
//!
//! The separator is that of the header: comma, semicolon or tab. Cells are bytes, which need not be text unless they are
//! looked up. A row that has an answer from before keeps it, so that a table whose rows were not all answered can be sent
//! again.

use csv::{ByteRecord, Terminator, WriterBuilder};

use crate::flat::neutralized;
use crate::{Catalog, Item, LookUpAnswer, ParameterError};
use data::Table;
use data::import::csv_reader::{self, CsvError, CsvReader};
use data::vocabulary::Vocabulary;
use data::{LookUpStatus, identifier};

use super::columns::{Columns, normal};
use super::{ItemTexts, answer};

/// The columns that are added, or written again where a table has them.
const ADDED: [&str; 8] = [
    "venturedex_status",
    "venturedex_kind",
    "venturedex_slug",
    "venturedex_name",
    "venturedex_url",
    "venturedex_score",
    "venturedex_reasons",
    "venturedex_candidates",
];
const STATUS: usize = 0;
const REASONS: usize = 6;

/// The status of a row that is not answered because the quota is used up.
const UNANSWERED: &str = "unanswered";
/// Longest row in bytes.
pub const MAX_ROW: usize = 256 * 1024;

/// What the rows of a table are looked up with.
#[derive(Clone, Debug)]
pub struct SheetOptions {
    /// Those of rows without a kind.
    pub tables: Vec<Table>,
    /// Candidates of a row that is not matched.
    pub candidates: usize,
    /// The address of the service, without a slash at its end.
    pub base: String,
}

/// A table whose header is read.
#[derive(Debug)]
pub struct Sheet {
    dialect: Dialect,
    header: Vec<String>,
    columns: Columns,
    /// Where the cells of [`ADDED`] are in a row of the result.
    places: [usize; ADDED.len()],
    options: SheetOptions,
    /// The line at which the next row begins, from 1.
    line: u64,
}

/// A row of a table.
#[derive(Debug)]
pub struct Row {
    cells: ByteRecord,
    /// From 1.
    line: u64,
    /// What is wrong with its quotation marks, so that a cell may have swallowed further rows.
    problem: Option<CsvError>,
}

impl Row {
    /// The line at which it begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}

/// Before the header, if the table says that it is UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug)]
struct Dialect {
    has_mark: bool,
    delimiter: u8,
    terminator: Terminator,
}

impl Sheet {
    /// Reads the header row. `named` are parameters such as `name_column` with the names of columns.
    pub fn open(header: &[u8], named: &[(String, String)], options: SheetOptions) -> Result<Self, Vec<ParameterError>> {
        let invalid = |detail: &str| vec![ParameterError::invalid("body", format!("line 1, column 1: {detail}"))];
        let text = header.strip_prefix(MARK).unwrap_or(header);
        let Some(text) = std::str::from_utf8(text).ok().filter(|text| !text.contains('\0')) else {
            return Err(invalid("the header row is not UTF-8; save the table as CSV in UTF-8"));
        };
        let dialect = Dialect {
            has_mark: header.starts_with(MARK),
            delimiter: delimiter(text),
            terminator: if text.ends_with("\r\n") { Terminator::CRLF } else { Terminator::Any(b'\n') },
        };
        let cells = dialect.records(text.as_bytes()).into_iter().next().map(|row| row.cells).unwrap_or_default();
        let header: Vec<String> = cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        if header.iter().all(|name| name.trim().is_empty()) {
            return Err(invalid("the header row is empty; name the columns in the first row, such as `name,website`"));
        }
        let columns = Columns::of(&header, named)?;
        let normal: Vec<String> = header.iter().map(|name| normal(name)).collect();
        let mut width = header.len();
        let places = ADDED.map(|name| {
            normal.iter().position(|known| known == name).unwrap_or_else(|| {
                width += 1;
                width - 1
            })
        });
        let line = 1 + lines(text.as_bytes());
        Ok(Self { dialect, header, columns, places, options, line })
    }

    /// The header of the result.
    pub fn header(&self) -> Vec<u8> {
        let mut row: Vec<Vec<u8>> = self.header.iter().map(|name| name.clone().into_bytes()).collect();
        for (name, place) in ADDED.iter().zip(self.places) {
            put(&mut row, place, name.as_bytes().to_vec());
        }
        let mark = if self.dialect.has_mark { MARK } else { b"" };
        [mark, &self.dialect.line(&row)].concat()
    }

    /// The rows of a part of the table that ends with a row.
    pub fn rows(&mut self, part: &[u8]) -> Vec<Row> {
        let mut rows = self.dialect.records(part);
        rows.iter_mut().for_each(|row| row.line += self.line - 1);
        self.line += lines(part);
        rows
    }

    /// Whether a row is to be looked up: it has no answer from before.
    pub fn is_open(&self, row: &Row) -> bool {
        let place = Some(self.places[STATUS]).filter(|place| *place < self.header.len());
        let status = place.and_then(|place| row.cells.get(place)).unwrap_or_default();
        row.problem.is_some() || status.is_empty() || status == UNANSWERED.as_bytes()
    }

    /// What a row is called: its name, or else its website or the first of its cells.
    pub fn label(&self, row: &Row) -> String {
        let cell = |value: &str| self.columns.values.iter().find(|(known, _)| *known == value).map(|(_, index)| *index);
        let indexes = [cell("name"), cell("website"), Some(0)].into_iter().flatten();
        let mut texts = indexes.map(|index| String::from_utf8_lossy(row.cells.get(index).unwrap_or_default()));
        texts.find(|text| !text.trim().is_empty()).unwrap_or_default().into_owned()
    }

    /// The texts of a row in the columns of these names, in the order of the names; none of a row that cannot be read.
    pub(super) fn texts<'r>(&self, row: &'r Row, columns: &[&str]) -> Vec<&'r str> {
        if row.problem.is_some() {
            return Vec::new();
        }
        let place = |name: &&str| self.header.iter().position(|known| normal(known) == *name);
        let places = columns.iter().filter_map(place);
        places.filter_map(|place| std::str::from_utf8(row.cells.get(place)?).ok()).collect()
    }

    /// A row with its answer.
    pub fn answered(&self, catalog: &Catalog, row: &Row) -> Vec<u8> {
        self.line_of(row, added(&self.answer(catalog, row)))
    }

    /// The answer to a row.
    pub fn answer(&self, catalog: &Catalog, row: &Row) -> LookUpAnswer {
        match self.item(catalog, row) {
            Ok(item) => answer(catalog, &catalog.look_up(&item), &self.options.base, self.options.candidates),
            Err(errors) => LookUpAnswer::invalid(errors),
        }
    }

    /// A row as it is, which has an answer from before.
    pub fn kept(&self, row: &Row) -> Vec<u8> {
        let mut cells: Vec<Vec<u8>> = row.cells.iter().map(<[u8]>::to_vec).collect();
        let width = self.places.iter().map(|place| place + 1).max().unwrap_or_default();
        cells.resize(cells.len().max(width), Vec::new());
        self.dialect.line(&cells)
    }

    /// A row that is not looked up.
    pub fn unanswered(&self, row: &Row, reason: &str) -> Vec<u8> {
        let mut cells: [String; ADDED.len()] = Default::default();
        (cells[STATUS], cells[REASONS]) = (UNANSWERED.to_owned(), reason.to_owned());
        self.line_of(row, cells)
    }

    /// The last row of a result that ends early.
    pub fn broken(&self, reason: &str) -> Vec<u8> {
        let mut cells: [String; ADDED.len()] = Default::default();
        cells[STATUS] = LookUpStatus::Invalid.name().to_owned();
        cells[REASONS] = format!("line {}: {reason}", self.line);
        self.line_of(&Row { cells: ByteRecord::new(), line: self.line, problem: None }, cells)
    }

    /// The item of a row; errors have line and column.
    fn item(&self, catalog: &Catalog, row: &Row) -> Result<Item, Vec<ParameterError>> {
        let mut texts = ItemTexts::default();
        let mut identifiers = Vec::new();
        let mut errors = Vec::new();
        if let Some(problem) = &row.problem {
            errors.push(ParameterError::invalid("", format!("line {}: {problem}", row.line)));
            return Err(errors);
        }
        if row.cells.len() > self.header.len() {
            let detail = format!("the row has {} cells and the header {}", row.cells.len(), self.header.len());
            errors.push(ParameterError::invalid("", format!("line {}: {detail}", row.line)));
        }
        let cell = |index: usize| std::str::from_utf8(row.cells.get(index).unwrap_or_default());
        for (value, index) in &self.columns.values {
            match cell(*index) {
                Ok(text) if ItemTexts::is_list(value) => text.split([',', ';']).for_each(|one| texts.set(value, one)),
                // A date is as exact as it is known.
                Ok(text) if *value == "founded_year" => texts.set(value, text.split('-').next().unwrap_or(text)),
                Ok(text) => texts.set(value, text),
                Err(_) => errors.push(self.error(row, *index, "the cell is not UTF-8; save the table as CSV in UTF-8")),
            }
        }
        for (scheme, index) in &self.columns.schemes {
            match cell(*index).map(str::trim) {
                Ok("") | Err(_) => {}
                Ok(text) => match identifier::normalize(scheme, text) {
                    Ok(value) => identifiers.push((scheme.clone(), value)),
                    Err(problem) => errors.push(self.error(row, *index, &format!("`{text}` {problem}"))),
                },
            }
        }
        let pairs: Vec<String> = identifiers.iter().map(|(scheme, value)| format!("{scheme}:{value}")).collect();
        pairs.iter().for_each(|pair| texts.id.push(pair));
        let read = texts.read(catalog, &self.options.tables);
        errors.extend(read.as_ref().err().into_iter().flatten().map(|error| {
            let column = self.columns.values.iter().find(|(value, _)| *value == error.parameter);
            match column {
                Some((_, index)) => self.error(row, *index, &error.detail),
                None => ParameterError::invalid("", format!("line {}: {}", row.line, error.detail)),
            }
        }));
        if errors.is_empty() { read } else { Err(errors) }
    }

    fn error(&self, row: &Row, column: usize, detail: &str) -> ParameterError {
        let name = self.header.get(column).map_or("", String::as_str);
        ParameterError::invalid("", format!("line {}, column `{name}`: {detail}", row.line))
    }

    /// A row with cells of [`ADDED`]. Cells beyond the header come last.
    fn line_of(&self, row: &Row, added: [String; ADDED.len()]) -> Vec<u8> {
        let mut cells: Vec<Vec<u8>> = row.cells.iter().take(self.header.len()).map(<[u8]>::to_vec).collect();
        for (cell, place) in added.into_iter().zip(self.places) {
            put(&mut cells, place, neutralized(cell).into_bytes());
        }
        cells.extend(row.cells.iter().skip(self.header.len()).map(<[u8]>::to_vec));
        self.dialect.line(&cells)
    }
}

/// The cells of an answer.
fn added(found: &LookUpAnswer) -> [String; ADDED.len()] {
    let mut cells: [String; ADDED.len()] = Default::default();
    found.status.clone_into(&mut cells[STATUS]);
    let best = found.candidates.first().filter(|_| found.status == LookUpStatus::Match.name());
    if let Some(best) = best {
        let reasons = best.reasons.iter().map(|reason| format!("{} {}", reason.evidence, reason.points));
        let of_match = [best.kind, &best.slug, &best.name, &best.url].map(str::to_owned);
        cells[1..5].clone_from_slice(&of_match);
        cells[5] = best.score.to_string();
        cells[REASONS] = reasons.collect::<Vec<_>>().join("; ");
    } else {
        let errors: Vec<&str> = found.errors.iter().map(|error| error.detail.as_str()).collect();
        cells[REASONS] = errors.join("; ");
        let candidates = found.candidates.iter().map(|candidate| format!("{} {}", candidate.id, candidate.score));
        cells[7] = candidates.collect::<Vec<_>>().join("; ");
    }
    cells
}

fn put(row: &mut Vec<Vec<u8>>, place: usize, cell: Vec<u8>) {
    if row.len() <= place {
        row.resize(place + 1, Vec::new());
    }
    row[place] = cell;
}

fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The separator that a header has most often outside quotation marks.
fn delimiter(header: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut is_quoted = false;
    for byte in header.bytes() {
        is_quoted ^= byte == b'"';
        counts.iter_mut().filter(|(known, _)| !is_quoted && *known == byte).for_each(|(_, count)| *count += 1);
    }
    // Of equally frequent ones the first.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

impl Dialect {
    /// The rows of a text, with their lines from 1.
    fn records(self, text: &[u8]) -> Vec<Row> {
        let dialect = csv_reader::CsvDialect { delimiter: self.delimiter, quote: Some(b'"') };
        let mut reader = CsvReader::new(text, dialect);
        let (mut rows, mut line, mut counted) = (Vec::new(), 1, 0);
        loop {
            let mut cells = ByteRecord::new();
            let problem = match reader.read(&mut cells, 0) {
                Ok(true) => None,
                Ok(false) => return rows,
                Err(problem) => Some(problem),
            };
            // A row begins after the ends of the one before and of empty lines.
            let start = cells.position().map_or(0, |position| position.byte() as usize);
            let begin = start + text[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            line += lines(&text[counted..begin]);
            counted = begin;
            rows.push(Row { cells, line, problem });
        }
    }

    fn line(self, cells: &[Vec<u8>]) -> Vec<u8> {
        let mut writer = WriterBuilder::new()
            .flexible(true)
            .delimiter(self.delimiter)
            .terminator(self.terminator)
            .from_writer(Vec::new());
        writer.write_record(cells).expect("writing to memory does not fail");
        writer.into_inner().expect("writing to memory does not fail")
    }
}

/// Finds the ends of rows in a table that arrives in parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowEnds {
    state: State,
    delimiter: Option<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    CellStart,
    Plain,
    Quoted,
    /// After a quotation mark in a quoted cell: its end, unless another follows.
    Quote,
}

impl RowEnds {
    /// Reads the next byte; true if a row ends with it. Until the header is read, any separator may begin a cell.
    pub fn push(&mut self, byte: u8) -> bool {
        let is_separator = self.delimiter.map_or(matches!(byte, b',' | b';' | b'\t'), |known| known == byte);
        let is_end = byte == b'\n' && self.state != State::Quoted;
        self.state = match (self.state, byte) {
            (State::CellStart | State::Quote, b'"') => State::Quoted,
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) => State::Quoted,
            _ if is_end || is_separator => State::CellStart,
            _ => State::Plain,
        };
        is_end
    }

    /// The same for a table with this header.
    #[must_use]
    pub fn of(sheet: &Sheet) -> Self {
        Self { state: State::CellStart, delimiter: Some(sheet.dialect.delimiter) }
    }
}
