//! A table of items as CSV, answered row by row: all cells stay unchanged, and columns are added. The separator is
//! detected in the header. Cells are bytes, and need to be text only if they are looked up. A row with an earlier
//! answer keeps it, so that a partly answered table can be sent again.

use csv::{ByteRecord, Terminator, WriterBuilder};

use crate::{Catalog, LookUpAnswer, ParameterError};
use data::import::csv_reader::{self, CsvError, CsvReader};
use data::vocabulary::Vocabulary;
use data::{LookUpStatus, Table, formula, identifier};

use super::columns::{ItemColumns, normal};
use super::{ItemTexts, ParsedItem, answer_to};

/// Columns that are added, or rewritten if the table already has them.
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

/// Status of a row that is not answered because the quota is used up.
const UNANSWERED: &str = "unanswered";
/// Longest row in bytes.
pub const MAX_ROW: usize = 256 * 1024;

#[derive(Clone, Debug)]
pub struct SheetOptions {
    /// Tables for rows without a kind.
    pub tables: Vec<Table>,
    /// Number of candidates of an unmatched row.
    pub candidates: usize,
    /// URL of the service, without a trailing slash.
    pub base: String,
}

#[derive(Debug)]
pub struct Sheet {
    dialect: SheetDialect,
    header: Vec<String>,
    columns: ItemColumns,
    /// Positions of the cells of [`ADDED`] in a row of the result.
    places: [usize; ADDED.len()],
    pub(super) options: SheetOptions,
    /// First line of the next row, from 1.
    line: u64,
}

#[derive(Debug)]
pub struct SheetRow {
    cells: ByteRecord,
    /// First line of the row, from 1.
    pub(super) line: u64,
    /// An error in its quotation marks; a cell may have swallowed further rows.
    problem: Option<CsvError>,
}

/// Byte order mark before the header, if the table marks itself as UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug)]
struct SheetDialect {
    has_mark: bool,
    delimiter: u8,
    terminator: Terminator,
}

impl Sheet {
    /// Parses the header row. `named` are parameters such as `name_column`, with names of columns.
    pub fn open(header: &[u8], named: &[(String, String)], options: SheetOptions) -> Result<Self, Vec<ParameterError>> {
        let invalid = |detail: &str| vec![ParameterError::invalid("body", format!("line 1, column 1: {detail}"))];
        let text = header.strip_prefix(MARK).unwrap_or(header);
        let Some(text) = std::str::from_utf8(text).ok().filter(|text| !text.contains('\0')) else {
            return Err(invalid("the header row is not UTF-8; save the table as CSV in UTF-8"));
        };
        let dialect = SheetDialect {
            has_mark: header.starts_with(MARK),
            delimiter: delimiter(text),
            terminator: if text.ends_with("\r\n") { Terminator::CRLF } else { Terminator::Any(b'\n') },
        };
        let cells = dialect.records(text.as_bytes()).into_iter().next().map(|row| row.cells).unwrap_or_default();
        let header: Vec<String> = cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        if header.iter().all(|name| name.trim().is_empty()) {
            return Err(invalid("the header row is empty; name the columns in the first row, such as `name,website`"));
        }
        let columns = ItemColumns::find(&header, named)?;
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

    pub fn header(&self) -> Vec<u8> {
        let row = SheetRow { cells: self.header.iter().collect(), line: 1, problem: None };
        let mark = if self.dialect.has_mark { MARK } else { b"" };
        [mark, &self.line_of(&row, ADDED.map(str::to_owned))].concat()
    }

    /// Parses a part of the table that ends at the end of a row.
    pub fn rows(&mut self, part: &[u8]) -> Vec<SheetRow> {
        let mut rows = self.dialect.records(part);
        rows.iter_mut().for_each(|row| row.line += self.line - 1);
        self.line += lines(part);
        rows
    }

    /// True if a row needs a look-up, because it has no earlier answer.
    pub fn is_open(&self, row: &SheetRow) -> bool {
        let place = Some(self.places[STATUS]).filter(|place| *place < self.header.len());
        let status = place.and_then(|place| row.cells.get(place)).unwrap_or_default();
        row.problem.is_some() || status.is_empty() || status == UNANSWERED.as_bytes()
    }

    /// Label of a row: its name, otherwise its website or its first cell.
    pub fn label(&self, row: &SheetRow) -> String {
        let cell = |value: &str| self.columns.values.iter().find(|(known, _)| *known == value).map(|(_, index)| *index);
        let indexes = [cell("name"), cell("website"), Some(0)].into_iter().flatten();
        let mut texts = indexes.map(|index| String::from_utf8_lossy(row.cells.get(index).unwrap_or_default()));
        texts.find(|text| !text.trim().is_empty()).unwrap_or_default().into_owned()
    }

    /// Texts of a row in the columns of these names, in the order of the names; none for an unreadable row.
    pub(super) fn texts<'r>(&self, row: &'r SheetRow, columns: &[&str]) -> Vec<&'r str> {
        let place = |name: &&str| self.header.iter().position(|known| normal(known) == *name);
        let places = columns.iter().filter(|_| row.problem.is_none()).filter_map(place);
        places.filter_map(|place| std::str::from_utf8(row.cells.get(place)?).ok()).collect()
    }

    pub fn answered_row(&self, catalog: &Catalog, row: &SheetRow) -> Vec<u8> {
        self.line_of(row, answer_cells(&self.answer(catalog, row)))
    }

    pub fn answer(&self, catalog: &Catalog, row: &SheetRow) -> LookUpAnswer {
        answer_to(catalog, self.item(catalog, row), &self.options.base, self.options.candidates)
    }

    /// Returns a row unchanged, because it has an earlier answer.
    pub fn kept_row(&self, row: &SheetRow) -> Vec<u8> {
        let mut cells: Vec<Vec<u8>> = row.cells.iter().map(<[u8]>::to_vec).collect();
        cells.resize(cells.len().max(self.places.iter().map(|place| place + 1).max().unwrap_or_default()), Vec::new());
        self.dialect.line(&cells)
    }

    /// Returns a row without a look-up, marked with the reason.
    pub fn unanswered_row(&self, row: &SheetRow, reason: &str) -> Vec<u8> {
        self.line_of(row, cells_of(UNANSWERED, reason.to_owned()))
    }

    /// The last row of a result that ends early, with the reason.
    pub fn error_row(&self, reason: &str) -> Vec<u8> {
        let cells = cells_of(LookUpStatus::Invalid.name(), format!("line {}: {reason}", self.line));
        self.line_of(&SheetRow { cells: ByteRecord::new(), line: self.line, problem: None }, cells)
    }

    /// Parses the item of a row; errors have line and column.
    fn item(&self, catalog: &Catalog, row: &SheetRow) -> ParsedItem {
        if let Some(problem) = &row.problem {
            return Err(vec![ParameterError::invalid("", format!("line {}: {problem}", row.line))]);
        }
        let (mut texts, mut pairs, mut errors) = (ItemTexts::default(), Vec::new(), Vec::new());
        if row.cells.len() > self.header.len() {
            let detail = format!("the row has {} cells and the header {}", row.cells.len(), self.header.len());
            errors.push(ParameterError::invalid("", format!("line {}: {detail}", row.line)));
        }
        let cell = |index: usize| std::str::from_utf8(row.cells.get(index).unwrap_or_default());
        for (value, index) in &self.columns.values {
            match cell(*index) {
                Ok(text) if ItemTexts::is_list(value) => text.split([',', ';']).for_each(|one| texts.set(value, one)),
                // A date may be just a year.
                Ok(text) if *value == "founded_year" => texts.set(value, text.split('-').next().unwrap_or(text)),
                Ok(text) => texts.set(value, text),
                Err(_) => errors.push(self.error(row, *index, "the cell is not UTF-8; save the table as CSV in UTF-8")),
            }
        }
        for (scheme, index) in &self.columns.schemes {
            match cell(*index).map(str::trim) {
                Ok("") | Err(_) => {}
                Ok(text) => match identifier::normalize(scheme, text) {
                    Ok(value) => pairs.push(format!("{scheme}:{value}")),
                    Err(problem) => errors.push(self.error(row, *index, &format!("`{text}` {problem}"))),
                },
            }
        }
        pairs.iter().for_each(|pair| texts.id.push(pair));
        let read = texts.parse_item(catalog, &self.options.tables);
        errors.extend(read.as_ref().err().into_iter().flatten().map(|error| {
            match self.columns.values.iter().find(|(value, _)| *value == error.parameter) {
                Some((_, index)) => self.error(row, *index, &error.detail),
                None => ParameterError::invalid("", format!("line {}: {}", row.line, error.detail)),
            }
        }));
        if errors.is_empty() { read } else { Err(errors) }
    }

    fn error(&self, row: &SheetRow, column: usize, detail: &str) -> ParameterError {
        let name = self.header.get(column).map_or("", String::as_str);
        ParameterError::invalid("", format!("line {}, column `{name}`: {detail}", row.line))
    }

    /// Builds a row with cells of [`ADDED`]. Cells beyond the header come last.
    fn line_of(&self, row: &SheetRow, added: [String; ADDED.len()]) -> Vec<u8> {
        let mut cells: Vec<Vec<u8>> = row.cells.iter().take(self.header.len()).map(<[u8]>::to_vec).collect();
        for (cell, place) in added.into_iter().zip(self.places) {
            cells.resize(cells.len().max(place + 1), Vec::new());
            cells[place] = formula::neutralize(cell).into_bytes();
        }
        cells.extend(row.cells.iter().skip(self.header.len()).map(<[u8]>::to_vec));
        self.dialect.line(&cells)
    }
}

fn answer_cells(found: &LookUpAnswer) -> [String; ADDED.len()] {
    let best = found.candidates.first().filter(|_| found.status == LookUpStatus::Match.name());
    let Some(best) = best else {
        let errors: Vec<&str> = found.errors.iter().map(|error| error.detail.as_str()).collect();
        let candidates = found.candidates.iter().map(|candidate| format!("{} {}", candidate.id, candidate.score));
        let mut cells = cells_of(found.status, errors.join("; "));
        cells[7] = candidates.collect::<Vec<_>>().join("; ");
        return cells;
    };
    let reasons = best.reasons.iter().map(|reason| format!("{} {}", reason.evidence, reason.points));
    let mut cells = cells_of(found.status, reasons.collect::<Vec<_>>().join("; "));
    cells[1..5].clone_from_slice(&[best.kind, &best.slug, &best.name, &best.url].map(str::to_owned));
    cells[5] = best.score.to_string();
    cells
}

fn cells_of(status: &str, reason: String) -> [String; ADDED.len()] {
    let mut cells: [String; ADDED.len()] = Default::default();
    (cells[STATUS], cells[REASONS]) = (status.to_owned(), reason);
    cells
}

fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The most frequent separator of a header outside quotation marks.
fn delimiter(header: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut is_quoted = false;
    for byte in header.bytes() {
        is_quoted ^= byte == b'"';
        counts.iter_mut().filter(|(known, _)| !is_quoted && *known == byte).for_each(|(_, count)| *count += 1);
    }
    // Among equally frequent ones, the first.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

impl SheetDialect {
    /// Parses the rows of a text, with their line numbers from 1.
    fn records(self, text: &[u8]) -> Vec<SheetRow> {
        let mut reader = CsvReader::new(text, csv_reader::CsvDialect { delimiter: self.delimiter, quote: Some(b'"') });
        let (mut rows, mut line, mut counted) = (Vec::new(), 1, 0);
        loop {
            let mut cells = ByteRecord::new();
            let problem = match reader.read(&mut cells, 0) {
                Ok(true) => None,
                Ok(false) => return rows,
                Err(problem) => Some(problem),
            };
            // A row begins after the line ends of the previous row and of empty lines.
            let start = cells.position().map_or(0, |position| position.byte() as usize);
            let begin = start + text[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            line += lines(&text[counted..begin]);
            counted = begin;
            rows.push(SheetRow { cells, line, problem });
        }
    }

    fn line(self, cells: &[Vec<u8>]) -> Vec<u8> {
        let mut builder = WriterBuilder::new();
        builder.flexible(true).delimiter(self.delimiter).terminator(self.terminator);
        let mut writer = builder.from_writer(Vec::new());
        writer.write_record(cells).expect("writing to memory does not fail");
        writer.into_inner().expect("writing to memory does not fail")
    }
}

/// Finds the ends of rows in a table that arrives in parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowEnds {
    state: RowEndState,
    delimiter: Option<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowEndState {
    #[default]
    CellStart,
    Plain,
    Quoted,
    /// After a quotation mark in a quoted cell: the cell ends, unless another mark follows.
    Quote,
}

impl RowEnds {
    /// Reads the next byte; true if a row ends with it. Before the header is read, any separator may begin a cell.
    pub fn push(&mut self, byte: u8) -> bool {
        let is_separator = self.delimiter.map_or(matches!(byte, b',' | b';' | b'\t'), |known| known == byte);
        let is_end = byte == b'\n' && self.state != RowEndState::Quoted;
        self.state = match (self.state, byte) {
            (RowEndState::CellStart | RowEndState::Quote, b'"') => RowEndState::Quoted,
            (RowEndState::Quoted, b'"') => RowEndState::Quote,
            (RowEndState::Quoted, _) => RowEndState::Quoted,
            _ if is_end || is_separator => RowEndState::CellStart,
            _ => RowEndState::Plain,
        };
        is_end
    }

    pub fn for_sheet(sheet: &Sheet) -> Self {
        Self { state: RowEndState::CellStart, delimiter: Some(sheet.dialect.delimiter) }
    }
}
