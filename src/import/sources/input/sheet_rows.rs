//! Reads rows of workbooks: Excel and OpenDocument. Sheets of `.xlsx` and `.xlsb` are read row by row; the others, which
//! `calamine` reads into memory, are checked first.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};

use calamine::{Cell, Data, DataRef, Ods, Range, Reader, Xls, Xlsb, Xlsx};

use crate::sources::Result;
use crate::sources::input::archive::listed;
use crate::sources::input::contained::{contain, contain_result};
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::unpacked::unpack;
use crate::sources::input::workbook_parts::{self, WorkbookKind};
use crate::sources::input::xml_scan::PartFault;
use crate::sources::input::{InputFormat, InputRow, Member, RowReceiver, compound};

pub(super) fn read(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let unreadable = |error| member.fault(1, error);
    let mut file = match member.open_whole()? {
        Some(file) => file,
        None => unpack(from).map_err(unreadable)?,
    };
    let mut signature = Vec::new();
    (&file).take(compound::SIGNATURE.len() as u64).read_to_end(&mut signature).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let mut rows = SheetRows::new(member, format.skip, to);
    if signature == compound::SIGNATURE {
        let bytes = limits::XLS.read(&file).map_err(unreadable)?;
        compound::check(&bytes).map_err(|fault| match fault {
            PartFault::Limit(exceeded) => member.error(1, exceeded),
            fault @ PartFault::Damaged(_) => damaged(member, 1, &fault),
        })?;
        let mut book = open(member, || Xls::new(Cursor::new(bytes)))?;
        let sheet = choose(member, book.sheet_names(), format)?;
        let range = open(member, || book.worksheet_range(&sheet))?;
        drop(book);
        rows.push_range(&range)?;
    } else if signature.starts_with(b"PK") {
        let kind = workbook_parts::check(member, &file)?;
        file.rewind().map_err(unreadable)?;
        let file = BufReader::new(file);
        match kind {
            WorkbookKind::Xlsx => {
                let mut book: Xlsx<BufReader<File>> = open(member, || Xlsx::new(file))?;
                let sheet = choose(member, book.sheet_names(), format)?;
                let source = &mut book;
                let mut cells = open(member, move || source.worksheet_cells_reader(&sheet))?;
                rows.push_cells(|| cells.next_cell())?;
            }
            WorkbookKind::Xlsb => {
                let mut book: Xlsb<BufReader<File>> = open(member, || Xlsb::new(file))?;
                let sheet = choose(member, book.sheet_names(), format)?;
                let source = &mut book;
                let mut cells = open(member, move || source.worksheet_cells_reader(&sheet))?;
                rows.push_cells(|| cells.next_cell())?;
            }
            WorkbookKind::Ods => {
                let mut book: Ods<BufReader<File>> = open(member, || Ods::new(file))?;
                let sheet = choose(member, book.sheet_names(), format)?;
                let range = open(member, || book.worksheet_range(&sheet))?;
                drop(book);
                rows.push_range(&range)?;
            }
        }
    } else {
        return Err(damaged(member, 1, &"it is neither an Excel nor an OpenDocument file; check its ending"));
    }
    rows.finish()
}

/// Calls a parser of workbooks.
pub(super) fn open<T, E: Display>(member: &Member, parse: impl FnOnce() -> Result<T, E>) -> Result<T> {
    contain_result(parse).map_err(|problem| damaged(member, 1, &problem))
}

pub(super) fn damaged(member: &Member, line: u64, problem: &dyn Display) -> crate::sources::SourceError {
    member.error(line, format!("cannot be read as a workbook: {problem}"))
}

/// Name of the wanted sheet.
fn choose(member: &Member, names: Vec<String>, format: &InputFormat) -> Result<String> {
    let Some(wanted) = &format.sheet else {
        return names.into_iter().next().ok_or_else(|| member.error(1, "has no sheet"));
    };
    if names.contains(wanted) {
        return Ok(wanted.clone());
    }
    Err(member.error(1, format!("has no sheet {wanted:?}; its sheets are: {}", listed(&names))))
}

/// Makes rows of cells, which come in the order of their rows.
struct SheetRows<'a> {
    member: &'a Member,
    /// Rows before the header, from the first one with a value.
    skip: u32,
    to: &'a mut dyn RowReceiver,
    /// First row with a value, from 0.
    first: Option<u32>,
    /// Row of the cells so far.
    current: u32,
    /// Column and text of each cell of the row.
    cells: Vec<(u32, String)>,
    /// Bytes of the texts of the row.
    bytes: u64,
    /// Cells of the sheet so far.
    count: u64,
    /// First column of the header, and positions of the wanted columns from there.
    header: Option<(u32, Vec<Option<usize>>)>,
    names: Vec<String>,
    row: InputRow,
}

impl<'a> SheetRows<'a> {
    fn new(member: &'a Member, skip: usize, to: &'a mut dyn RowReceiver) -> Self {
        Self {
            member,
            skip: u32::try_from(skip).unwrap_or(u32::MAX),
            to,
            first: None,
            current: 0,
            cells: Vec::new(),
            bytes: 0,
            count: 0,
            header: None,
            names: Vec::new(),
            row: InputRow { file: member.index, ..InputRow::default() },
        }
    }

    fn push_cells<'c, E: Display>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<Cell<DataRef<'c>>>, E>,
    ) -> Result<()> {
        loop {
            let line = u64::from(self.current) + 1;
            let cell = contain_result(&mut next).map_err(|problem| damaged(self.member, line, &problem))?;
            let Some(cell) = cell else { return Ok(()) };
            self.push(cell.get_position(), &Data::from(cell.get_value().clone()))?;
        }
    }

    fn push_range(&mut self, range: &Range<Data>) -> Result<()> {
        let (row, column) = range.start().unwrap_or_default();
        for (cells, row) in range.rows().zip(row..) {
            for (cell, column) in cells.iter().zip(column..) {
                self.push((row, column), cell)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, (row, column): (u32, u32), value: &Data) -> Result<()> {
        if *value == Data::Empty {
            return Ok(());
        }
        let line = u64::from(row) + 1;
        let refused = |exceeded: LimitExceeded| self.member.error(line, exceeded);
        limits::SHEET_ROWS.check(line).map_err(refused)?;
        limits::COLUMNS.check(u64::from(column) + 1).map_err(refused)?;
        self.count += 1;
        limits::SHEET_CELLS.check(self.count).map_err(refused)?;
        if row < self.current {
            return Err(damaged(self.member, line, &"its rows are not in order; save it again"));
        }
        if row > self.current {
            self.end_row()?;
            self.current = row;
        }
        let text = contain(|| text(value)).map_err(|panic| damaged(self.member, line, &panic))?;
        self.bytes += text.len() as u64;
        let size = limits::FIELD.check(text.len() as u64).and_then(|()| limits::ROW.check(self.bytes));
        size.map_err(|exceeded| self.member.error(line, format!("cell {}: {exceeded}", cell_name(row, column))))?;
        self.cells.push((column, text));
        Ok(())
    }

    /// Passes the row on.
    fn end_row(&mut self) -> Result<()> {
        let mut cells = std::mem::take(&mut self.cells);
        self.bytes = 0;
        if cells.is_empty() {
            return Ok(());
        }
        let first = *self.first.get_or_insert(self.current);
        if self.current - first < self.skip {
            return Ok(());
        }
        // Of several cells with one position, the last counts.
        cells.sort_by_key(|(column, _)| *column);
        match &self.header {
            None => {
                let (start, end) = (cells[0].0, cells[cells.len() - 1].0);
                let mut names = vec![String::new(); (end - start) as usize + 1];
                for (column, text) in cells {
                    names[(column - start) as usize] = text;
                }
                self.header = Some((start, self.to.header(&names)?));
                self.names = names;
            }
            Some((start, positions)) => {
                if self.to.is_sampling() {
                    for (column, text) in &cells {
                        let at = column.checked_sub(*start).map(|at| at as usize);
                        let name = at.filter(|_| !positions.contains(&at)).and_then(|at| self.names.get(at));
                        name.into_iter().for_each(|name| self.to.sample(name, text));
                    }
                    self.to.end_sample();
                }
                self.row.clear(u64::from(self.current) + 1);
                for position in positions {
                    let text = position.and_then(|position| {
                        let column = *start + position as u32;
                        let end = cells.partition_point(|(known, _)| *known <= column);
                        cells[..end].last().filter(|(known, _)| *known == column).map(|(_, text)| text.as_str())
                    });
                    self.row.push(text.unwrap_or_default());
                }
                self.to.row(&self.row)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.end_row()?;
        match self.header {
            Some(_) => Ok(()),
            None => Err(self.member.error(1, "sheet is empty; the header is missing")),
        }
    }
}

/// Name of a cell, such as `B3`, from its row and column, each from 0.
fn cell_name(row: u32, column: u32) -> String {
    let (mut letters, mut rest) = (Vec::new(), u64::from(column) + 1);
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().collect();
    format!("{letters}{}", u64::from(row) + 1)
}

/// Text of a cell as in CSV: dates as `YYYY-MM-DD`, whole numbers without a fraction, errors as an empty text.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if !time.is_duration() => {
            let (year, month, day, ..) = time.to_ymd_hms_milli();
            format!("{year:04}-{month:02}-{day:02}")
        }
        Data::Error(_) => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_named_as_in_a_sheet() {
        let names = [(0, 0), (2, 1), (0, 25), (9, 26), (1_048_575, 16_383)].map(|(row, column)| cell_name(row, column));
        assert_eq!(names, ["A1", "B3", "Z1", "AA10", "XFD1048576"]);
    }
}
