//! Tracks the lines and quotation marks of delimited text while the `csv` crate reads it.
//!
//! That crate takes the end of the input for the end of an open quotation. It also counts only the `\n` before the end
//! of a row, so that its line numbers are too low in a file with `\r\n` and after empty lines. The scan reads the same
//! bytes in the same dialect and records the beginning of each row.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};

/// Bytes of a field.
pub const MAX_FIELD: u64 = 1 << 20;

/// Bytes of a row. The `csv` crate holds one in memory, with eight bytes for each field.
pub const MAX_ROW: u64 = 4 << 20;

/// Fields of a row: as many as columns of a sheet.
pub const MAX_COLUMNS: u64 = 16_384;

/// A limit that a text is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsvLimit {
    #[error("a field has more than {} bytes; shorten it, or close its quotation mark where it ends", MAX_FIELD)]
    Field,
    #[error("a row has more than {} bytes; check the line ends and quotation marks from here on", MAX_ROW)]
    Row,
    #[error("a row has more than {} fields; check the line ends and the delimiter", MAX_COLUMNS)]
    Columns,
}

/// Byte order mark, removed here because the `csv` crate takes a piece with nothing else for the end.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvDialect {
    pub delimiter: u8,
    /// `None`: no cell is quoted.
    pub quote: Option<u8>,
}

impl CsvDialect {
    pub const COMMAS: Self = Self { delimiter: b',', quote: Some(b'"') };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedRow {
    /// The position of its first byte in the input.
    pub start: u64,
    /// The line of its first byte, from 1.
    pub line: u64,
    pub breaks: u64,
    /// The line in which a quoted cell opens that ends in a later line, with text behind its closing mark.
    pub torn: Option<u64>,
    /// A lone `\r` separates it from the row before, in a file with other line ends.
    pub follows_lone_return: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    BetweenRows,
    CellStart,
    Plain,
    Quoted,
    /// After a quotation mark in a quoted cell: its end, unless another one follows.
    Closing,
    /// After the end of a quoted cell and blanks.
    Closed,
}

pub(super) struct CsvScan<R> {
    from: R,
    /// The first bytes after the mark; `None` before they are read.
    head: Option<Cursor<Vec<u8>>>,
    dialect: CsvDialect,
    state: ScanState,
    /// Bytes so far, without the mark.
    position: u64,
    /// Number of `\n` so far.
    feeds: u64,
    /// Number of line breaks so far: `\r`, `\n` and `\r\n`.
    breaks: u64,
    follows_return: bool,
    /// True if the line ends since the last row include a `\n`.
    has_feed: bool,
    /// True if lines end in a lone `\r`, as in old files of the Mac; the first row decides. In other files such a byte
    /// is part of a line. `None` before the second row.
    ends_in_return: Option<bool>,
    /// The line of the last mark that opened a cell.
    opened: u64,
    /// The position of the first byte of the last cell.
    cell_start: u64,
    /// Cells of the last row so far.
    cells: u64,
    /// The first limit that the text is above, and the line of the row. Nothing is read after it.
    excess: Option<(u64, CsvLimit)>,
    rows: VecDeque<ScannedRow>,
    has_ended: bool,
}

impl<R> CsvScan<R> {
    pub(super) fn new(from: R, dialect: CsvDialect) -> Self {
        Self {
            from,
            head: None,
            dialect,
            state: ScanState::BetweenRows,
            position: 0,
            feeds: 0,
            breaks: 0,
            follows_return: false,
            has_feed: false,
            ends_in_return: None,
            opened: 1,
            cell_start: 0,
            cells: 0,
            excess: None,
            rows: VecDeque::new(),
            has_ended: false,
        }
    }

    /// Takes the row that begins at `position`, or after it if empty lines precede.
    pub(super) fn take_row(&mut self, position: u64) -> Option<ScannedRow> {
        while self.rows.front().is_some_and(|row| row.start < position) {
            self.rows.pop_front();
        }
        self.rows.pop_front()
    }

    /// The line of the quotation mark of a cell that the input does not close; `None` before the last row is taken.
    pub(super) fn unclosed(&self) -> Option<u64> {
        (self.has_ended && self.rows.is_empty() && self.state == ScanState::Quoted).then_some(self.opened)
    }

    /// The limit because of which reading failed, and the line in which the row begins.
    pub(super) fn excess(&self) -> Option<(u64, CsvLimit)> {
        self.excess
    }

    pub(super) fn line_end(&self) -> u8 {
        if self.ends_in_return == Some(true) { b'\r' } else { b'\n' }
    }

    fn line(&self) -> u64 {
        1 + if self.ends_in_return == Some(true) { self.breaks } else { self.feeds }
    }

    fn scan(&mut self, bytes: &[u8]) {
        let mut at = 0;
        let CsvDialect { delimiter, quote } = self.dialect;
        let is_line_end = |byte: u8| byte == b'\n' || byte == b'\r';
        let start = self.position;
        while at < bytes.len() {
            // Skips the bytes inside cells, which are most of all.
            let rest = &bytes[at..];
            let skipped = match self.state {
                ScanState::Plain => rest.iter().position(|byte| *byte == delimiter || is_line_end(*byte)),
                ScanState::Quoted => rest.iter().position(|byte| Some(*byte) == quote || is_line_end(*byte)),
                _ => Some(0),
            };
            if skipped != Some(0) {
                self.follows_return = false;
            }
            at += skipped.unwrap_or(rest.len());
            if let Some(byte) = bytes.get(at) {
                self.position = start + at as u64;
                self.step(*byte);
                at += 1;
            }
        }
        self.position = start + bytes.len() as u64;
        if self.state != ScanState::BetweenRows {
            self.check_size();
        }
    }

    /// Checks the last cell and row up to this position.
    fn check_size(&mut self) {
        let Some(row) = self.rows.back() else { return };
        if self.excess.is_none() {
            let limit = if self.position - self.cell_start > MAX_FIELD {
                CsvLimit::Field
            } else if self.position - row.start > MAX_ROW {
                CsvLimit::Row
            } else if self.cells > MAX_COLUMNS {
                CsvLimit::Columns
            } else {
                return;
            };
            self.excess = Some((row.line, limit));
        }
    }

    fn begin_cell(&mut self) {
        self.check_size();
        self.cell_start = self.position + 1;
        self.cells += 1;
    }

    fn step(&mut self, byte: u8) {
        let is_line_end = byte == b'\n' || byte == b'\r';
        self.feeds += u64::from(byte == b'\n');
        self.breaks += u64::from(byte == b'\r' || byte == b'\n' && !self.follows_return);
        self.follows_return = byte == b'\r';
        if self.state == ScanState::BetweenRows {
            if is_line_end {
                self.has_feed |= byte == b'\n';
                return;
            }
            self.begin_row();
        }
        let is_quote = Some(byte) == self.dialect.quote;
        self.state = match self.state {
            ScanState::Quoted if is_quote => ScanState::Closing,
            ScanState::Quoted => {
                let line = self.line();
                if is_line_end && let Some(row) = self.rows.back_mut() {
                    row.breaks = line - row.line;
                }
                ScanState::Quoted
            }
            ScanState::Closing if is_quote => ScanState::Quoted,
            _ if is_line_end => {
                self.check_size();
                self.has_feed = byte == b'\n';
                ScanState::BetweenRows
            }
            _ if byte == self.dialect.delimiter => {
                self.begin_cell();
                ScanState::CellStart
            }
            ScanState::CellStart if is_quote => {
                self.opened = self.line();
                ScanState::Quoted
            }
            ScanState::Closing | ScanState::Closed if byte == b' ' || byte == b'\t' => ScanState::Closed,
            ScanState::Closing | ScanState::Closed => {
                let (line, opened) = (self.line(), self.opened);
                if let Some(row) = self.rows.back_mut().filter(|_| line > opened) {
                    row.torn.get_or_insert(opened);
                }
                ScanState::Plain
            }
            ScanState::CellStart | ScanState::Plain | ScanState::BetweenRows => ScanState::Plain,
        };
    }

    fn begin_row(&mut self) {
        let is_first = self.breaks == 0;
        if !is_first && self.ends_in_return.is_none() {
            self.ends_in_return = Some(!self.has_feed);
        }
        let follows_lone_return = !is_first && !self.has_feed && self.ends_in_return == Some(false);
        let (start, line) = (self.position, self.line());
        self.rows.push_back(ScannedRow { start, line, breaks: 0, torn: None, follows_lone_return });
        (self.cell_start, self.cells) = (start, 1);
        self.state = ScanState::CellStart;
    }
}

impl<R: Read> CsvScan<R> {
    /// Reads the first bytes behind any marks.
    fn read_head(&mut self) -> io::Result<Cursor<Vec<u8>>> {
        loop {
            let mut head = Vec::new();
            self.from.by_ref().take(MARK.len() as u64).read_to_end(&mut head)?;
            if head != MARK {
                return Ok(Cursor::new(head));
            }
        }
    }
}

impl<R: Read> Read for CsvScan<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.excess.is_some() {
            return Ok(0);
        }
        let mut head = match self.head.take() {
            Some(head) => head,
            None => self.read_head()?,
        };
        let mut read = head.read(buffer)?;
        self.head = Some(head);
        if read == 0 {
            read = self.from.read(buffer)?;
        }
        self.has_ended = read == 0;
        self.scan(&buffer[..read]);
        match self.excess {
            Some((_, limit)) => Err(io::Error::other(limit)),
            None => Ok(read),
        }
    }
}
