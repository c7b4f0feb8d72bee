//! Rows of delimited text of all files, each with its line and any doubt about it.
//!
//! A quotation mark without its closing mark makes one cell of all that follows, up to the next mark or to the end of
//! the file. At the end it is an error, and also if the quoted cell has line breaks and text behind its closing mark:
//! that mark was meant to open another cell, and nothing that follows can be trusted. If the marks are in order, it is
//! a [`Doubt`] if the lines of the cell look like rows: of those between its first and its last, three in four have as
//! many delimiters as the header, [`MIN_DELIMITERS`] or more together.

use std::io::{self, Read};

use csv::{ByteRecord, Position, StringRecord};

pub use crate::import::csv_scan::{CsvDialect, CsvLimit, MAX_COLUMNS, MAX_FIELD, MAX_ROW};
use crate::import::csv_scan::{CsvScan, ScannedRow};

/// Minimum delimiters in the lines of a cell that look like rows.
const MIN_DELIMITERS: usize = 6;

const BUFFER: usize = 1 << 16;

#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The text is above a limit; the rest of it is not read.
    #[error(transparent)]
    TooLarge(CsvLimit),
    #[error(
        "a quotation mark opens a cell that is never closed, so that all that follows is text of this cell; close it, or write \
         each mark that is part of a text twice, in quotation marks"
    )]
    Unclosed,
    #[error(
        "the quoted cell that opens here goes on over line breaks, and text follows its closing quotation mark: it has probably \
         swallowed rows; close it where it ends, or write each mark that is part of a text twice, in quotation marks"
    )]
    Torn,
    #[error("{found} fields, the header has {expected}")]
    Width { found: usize, expected: usize },
    #[error("is not valid UTF-8; save the file in UTF-8")]
    NotUtf8,
}

/// Reason to doubt that the cells of a row are those that were meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error(
        "the quoted cell that opens here has {breaks} line breaks, and its lines look like rows: it may have swallowed them; \
         check the quotation marks from here on"
    )]
    HoldsRows { breaks: usize },
    #[error("a carriage return without a line feed ends the row before this one; remove it if it is part of a cell")]
    LoneReturn,
}

pub(crate) type LocatedDoubt = (u64, Doubt);

pub struct CsvReader<R> {
    csv: csv::Reader<CsvScan<R>>,
    delimiter: u8,
    line: u64,
    doubt: Option<LocatedDoubt>,
}

impl<R: Read> CsvReader<R> {
    pub fn new(from: R, dialect: CsvDialect) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(dialect.delimiter).has_headers(false).flexible(true).buffer_capacity(BUFFER);
        match dialect.quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        let csv = builder.from_reader(CsvScan::new(from, dialect));
        Self { csv, delimiter: dialect.delimiter, line: 1, doubt: None }
    }

    /// Reads the next row; false at the end. On an error, `row` has the part that was read. The row's position has the
    /// line in which it begins. `width` is the number of columns, 0 if it is unknown.
    pub fn read(&mut self, row: &mut ByteRecord, width: usize) -> Result<bool, CsvError> {
        if !self.csv.read_byte_record(row).map_err(|error| self.fault(error))? {
            return Ok(false);
        }
        let mut position = row.position().cloned().unwrap_or_else(Position::new);
        let scanned = self.csv.get_mut().take_row(position.byte());
        if let Some(opened) = self.csv.get_ref().unclosed() {
            self.line = opened;
            return Err(CsvError::Unclosed);
        }
        let Some(scanned) = scanned else { return Ok(true) };
        position.set_line(scanned.line);
        row.set_position(Some(position));
        if let Some(opened) = scanned.torn {
            self.line = opened;
            return Err(CsvError::Torn);
        }
        self.line = scanned.line;
        self.doubt = self.doubt_of(row, scanned, width);
        Ok(true)
    }

    fn fault(&mut self, error: csv::Error) -> CsvError {
        if let Some((line, limit)) = self.csv.get_ref().excess() {
            self.line = line;
            return CsvError::TooLarge(limit);
        }
        CsvError::Io(match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            kind => io::Error::other(format!("{kind:?}")),
        })
    }

    /// As [`CsvReader::read`], as text. A row that is not `width` fields wide is an error, unless `width` is 0.
    pub fn read_text(&mut self, row: &mut StringRecord, width: usize) -> Result<bool, CsvError> {
        let mut bytes = std::mem::take(row).into_byte_record();
        if !self.read(&mut bytes, width)? {
            return Ok(false);
        }
        if width != 0 && bytes.len() != width {
            return Err(CsvError::Width { found: bytes.len(), expected: width });
        }
        *row = StringRecord::from_byte_record(bytes).map_err(|_| CsvError::NotUtf8)?;
        Ok(true)
    }

    /// The line of the last row, or for an error, the line in which its cell opens.
    pub fn line(&self) -> u64 {
        self.line
    }

    pub fn doubt(&self) -> Option<LocatedDoubt> {
        self.doubt
    }

    pub(crate) fn position(&self) -> u64 {
        self.csv.position().byte()
    }

    fn doubt_of(&self, row: &ByteRecord, scanned: ScannedRow, width: usize) -> Option<LocatedDoubt> {
        if scanned.follows_lone_return {
            return Some((scanned.line, Doubt::LoneReturn));
        }
        if scanned.breaks < 2 {
            return None;
        }
        let line_end = self.csv.get_ref().line_end();
        let mut line = scanned.line;
        for cell in row {
            let lines: Vec<&[u8]> = cell.split(|byte| *byte == line_end).collect();
            if holds_rows(&lines, self.delimiter, width.saturating_sub(1)) {
                return Some((line, Doubt::HoldsRows { breaks: lines.len() - 1 }));
            }
            line += lines.len() as u64 - 1;
        }
        None
    }
}

/// True if the lines of a cell look like rows with this many delimiters.
fn holds_rows(lines: &[&[u8]], delimiter: u8, delimiters: usize) -> bool {
    let [_, whole @ .., _] = lines else { return false };
    let written = whole.iter().filter(|line| !line.trim_ascii().is_empty());
    let has_all = |line: &&&[u8]| line.iter().filter(|byte| **byte == delimiter).count() == delimiters;
    let alike = written.clone().filter(has_all).count();
    alike * delimiters >= MIN_DELIMITERS && alike * 4 >= written.count() * 3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands a text out in pieces of `size` bytes.
    struct Pieces<'a> {
        text: &'a [u8],
        size: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.size.min(buffer.len()).min(self.text.len());
            let (piece, rest) = self.text.split_at(size);
            buffer[..size].copy_from_slice(piece);
            self.text = rest;
            Ok(size)
        }
    }

    /// The rows of a text, each with its line and cells, and the line of a quotation mark that is not closed.
    type ReadRows = (Vec<(u64, Vec<String>)>, Option<u64>);

    fn found(text: &str, dialect: CsvDialect, size: usize) -> ReadRows {
        let mut reader = CsvReader::new(Pieces { text: text.as_bytes(), size }, dialect);
        let (mut rows, mut record) = (Vec::new(), ByteRecord::new());
        loop {
            match reader.read(&mut record, 0) {
                Ok(true) => {
                    let line = record.position().unwrap().line();
                    assert_eq!(line, reader.line());
                    rows.push((line, record.iter().map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect()));
                }
                Ok(false) => return (rows, None),
                Err(CsvError::Unclosed) => return (rows, Some(reader.line())),
                Err(CsvError::Torn) => {
                    let line = record.position().unwrap().line();
                    rows.push((line, record.iter().map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect()));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The same result, computed another way: cells are cut off one by one, and lines are counted in the text before.
    fn expected(text: &str, dialect: CsvDialect) -> ReadRows {
        let delimiter = char::from(dialect.delimiter);
        let quote = dialect.quote.map(char::from);
        let text = text.trim_start_matches('\u{feff}');
        let mut ends_in_return = None;
        let (mut rows, mut rest) = (Vec::new(), text);
        loop {
            let row = rest.trim_start_matches(['\r', '\n']);
            let between = &rest[..rest.len() - row.len()];
            if row.is_empty() {
                return (rows, None);
            }
            if !between.is_empty() {
                ends_in_return.get_or_insert(!between.contains('\n'));
            }
            let line_of = |rest: &str| {
                let before = text[..text.len() - rest.len()].to_owned();
                let before = if ends_in_return == Some(true) {
                    before.replace("\r\n", "\n").replace('\r', "\n")
                } else {
                    before
                };
                1 + before.matches('\n').count() as u64
            };
            let (line, mut cells) = (line_of(row), Vec::new());
            rest = row;
            loop {
                let mut cell = String::new();
                if let Some(quote) = quote
                    && let Some(inside) = rest.strip_prefix(quote)
                {
                    let parts: Vec<&str> = inside.split(quote).collect();
                    // Two marks in a row are one mark of the text.
                    let closing = (1..parts.len()).step_by(1).scan(0, |skipped, at| {
                        if *skipped >= at {
                            return Some(None);
                        }
                        if parts[at].is_empty() && at + 1 < parts.len() {
                            *skipped = at + 1;
                            return Some(None);
                        }
                        Some(Some(at))
                    });
                    let Some(closing) = closing.flatten().next() else { return (rows, Some(line_of(rest))) };
                    let quoted = parts[..closing].join(&quote.to_string());
                    rest = &inside[quoted.len() + 1..];
                    cell = quoted.replace(&format!("{quote}{quote}"), &quote.to_string());
                }
                let end = rest.find([delimiter, '\r', '\n']).unwrap_or(rest.len());
                cell.push_str(&rest[..end]);
                cells.push(cell);
                rest = &rest[end..];
                let Some(next) = rest.strip_prefix(delimiter) else { break };
                rest = next;
            }
            rows.push((line, cells));
        }
    }

    const DIALECTS: [CsvDialect; 4] = [
        CsvDialect::COMMAS,
        CsvDialect { delimiter: b'\t', quote: Some(b'"') },
        CsvDialect { delimiter: b';', quote: Some(b'\'') },
        CsvDialect { delimiter: b',', quote: None },
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn lines_cells_and_open_quotation_marks_are_those_of_the_text(
            tokens in prop::collection::vec(
                prop::sample::select(vec!["a", " ", "é", "DELIMITER", "QUOTE", "QUOTE", "\n", "\n", "\r\n", "\r"]), 0..24),
            line_end in prop::sample::select(vec!["", "\n", "\r\n", "\r"]),
            marks in 0_usize..3,
            dialect in prop::sample::select(DIALECTS.to_vec()),
            size in 1_usize..9,
        ) {
            let mut text = "\u{feff}".repeat(marks);
            for token in tokens {
                match token {
                    "DELIMITER" => text.push(char::from(dialect.delimiter)),
                    "QUOTE" => text.push(dialect.quote.map_or('"', char::from)),
                    // Half of the files have one kind of line ends.
                    "\n" | "\r\n" | "\r" if !line_end.is_empty() => text.push_str(line_end),
                    other => text.push_str(other),
                }
            }
            prop_assert_eq!(found(&text, dialect, size), expected(&text, dialect), "{:?}", text);
        }
    }

    /// Errors and doubts about the rows of a text, each with its line.
    fn problems(text: &str) -> Vec<(u64, String)> {
        let mut reader = CsvReader::new(text.as_bytes(), CsvDialect::COMMAS);
        let (mut problems, mut row, mut width) = (Vec::new(), ByteRecord::new(), 0);
        loop {
            match reader.read(&mut row, width) {
                Ok(true) => problems.extend(reader.doubt().map(|(line, doubt)| (line, doubt.to_string()))),
                Ok(false) => return problems,
                Err(error) => problems.push((reader.line(), error.to_string())),
            }
            width = if width == 0 { row.len() } else { width };
        }
    }

    #[test]
    fn a_quoted_cell_that_swallows_rows_is_found_where_it_opens() {
        let rows = "Name,Land,City,About\nAlder,DE,Kiel,a\n";
        let (torn, swallowed) = (CsvError::Torn.to_string(), Doubt::HoldsRows { breaks: 3 }.to_string());
        for (text, line, problem) in [
            // Up to the opening mark of another cell, one and several rows later.
            ("Birch,US,\"Boston,b\nCedar,DE,\"Bonn, am Rhein\",c\n", 3, &torn),
            ("Birch,US,\"Boston,b\nCedar,DE,Bonn,c\nDorn,NL,Delft,\"d, e\"\n", 3, &torn),
            ("Birch,US,Boston,\"two\nlines\"\n\nCedar,\"DE,Bonn,c\nDorn,NL,\"Delft\",d\n", 6, &torn),
            // Up to a stray mark at the end of a cell.
            ("Birch,US,\"Boston,b\nCedar,DE,Bonn,c\nDorn,NL,Delft,d\nElm,FR,Lille\",e\n", 3, &swallowed),
        ] {
            for line_end in ["\n", "\r\n", "\r"] {
                let text = format!("{rows}{text}").replace('\n', line_end);
                assert_eq!(problems(&text), [(line, problem.clone())], "{text:?}");
            }
        }
        assert_eq!(problems("a,b\n1,2\r3,4\n"), [(2, Doubt::LoneReturn.to_string())]);
    }

    /// The first problem of a text that goes on for ever after its first bytes.
    fn problem_of_endless(beginning: &str, byte: u8) -> (u64, String) {
        let text = beginning.as_bytes().chain(io::repeat(byte));
        let mut reader = CsvReader::new(text, CsvDialect::COMMAS);
        let mut row = ByteRecord::new();
        loop {
            match reader.read(&mut row, 0) {
                Ok(true) => {}
                Ok(false) => panic!("the text has no end"),
                Err(error) => return (reader.line(), error.to_string()),
            }
        }
    }

    #[test]
    fn a_field_a_row_and_its_number_of_fields_have_limits() {
        let [field, row, columns] = [CsvLimit::Field, CsvLimit::Row, CsvLimit::Columns].map(|limit| limit.to_string());
        assert_eq!(problem_of_endless("a,b\n1,", b'x'), (2, field.clone()));
        assert_eq!(problem_of_endless("a,b\n1,2\n\"", b'\n'), (3, field.clone()));
        assert_eq!(problem_of_endless("a,b\n", b','), (2, columns.clone()));
        let filled = |length: u64| "x".repeat(length as usize);
        for (text, expected) in [
            (format!("a,b\n{},2\n", filled(MAX_FIELD)), vec![]),
            (format!("a,b\n{},2\n", filled(MAX_FIELD + 1)), vec![(2, field)]),
            (format!("a{}\n", ",".repeat(MAX_COLUMNS as usize - 1)), vec![]),
            (format!("a{}\n", ",".repeat(MAX_COLUMNS as usize)), vec![(1, columns)]),
            (format!("a\nb\n{}\n", [filled(MAX_FIELD), filled(MAX_FIELD), filled(MAX_FIELD)].join(",")), vec![]),
            (format!("a\nb\n{0},{0},{0},{0}\n", filled(MAX_FIELD)), vec![(3, row)]),
        ] {
            assert_eq!(problems(&text), expected, "{}", &text[..9]);
        }
    }

    #[test]
    fn lone_returns_in_quoted_cells_count_no_lines() {
        for line_end in ["\n", "\r\n"] {
            let text = ["a,b", "1", "2,\"x\ry\"", "3,\"x\r\ry\"", "4"].join(line_end);
            let mut reader = CsvReader::new(text.as_bytes(), CsvDialect::COMMAS);
            let (mut row, mut lines) = (ByteRecord::new(), Vec::new());
            while reader.read(&mut row, 2).unwrap() {
                lines.push((reader.line(), row.len()));
            }
            assert_eq!(lines, [(1, 2), (2, 1), (3, 2), (4, 2), (5, 1)], "{line_end:?}");
        }
    }

    #[test]
    fn descriptions_of_several_lines_are_not_doubted() {
        for about in [
            "We invest in food, farms and water.\n\nBased in Kiel, Bonn and Delft, we back founders.\nWrite to us.",
            "Firms:\nalpha, beta, gamma, delta\nepsilon\nzeta, eta\n",
            "Kiel, Holstein, Germany, Europe\nBonn, Rhine, Germany, Europe",
            "He said \"\"no\"\"\nand left,\nat last",
        ] {
            let text = format!("Name,Land,City,About\nAlder,DE,Kiel,\"{about}\"\nBirch,\"US\",Boston,\"{about}\" \n");
            assert_eq!(problems(&text), [], "{text}");
        }
        assert_eq!(problems("name\n\"Alder\nBirch\nCedar\nDorn\"\n"), []);
        assert_eq!(problems("name,about\n\"Alder\" Capital,\"an \"early\" one\"\n"), [], "on one line");
        assert_eq!(problems("a,b\r\r\n1,2\r\r\n"), [], "a broken line end");
    }
}
