//! Reads rows of workbooks: Excel and OpenDocument. Sheets of `.xlsx` and `.xlsb` are read row by row; the others, which
//! `calamine` reads into memory, are checked first.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};

use calamine::{Cell, Data, DataRef, Dimensions, Ods, Range, Reader, Sheet, SheetVisible, Xls, Xlsb, Xlsx};

use crate::sources::Result;
use crate::sources::guess::names_field;
use crate::sources::input::archive::listed;
use crate::sources::input::contained::{contain, contain_result};
use crate::sources::input::csv_rows::no_header;
use crate::sources::input::header::{self, HeaderPlace, SAMPLE_CELLS, SAMPLE_ROWS, SampleRow};
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::table::{Cells, TableRows};
use crate::sources::input::unpacked::unpack;
use crate::sources::input::workbook_parts::{self, PartsFound, WorkbookKind};
use crate::sources::input::xml_scan::PartFault;
use crate::sources::input::{InputFormat, Member, RowReceiver, compound, tell_header, wanted};
use data::import::diagnostics::quoted;

/// Sheets that are looked at for the one with the table, and cells of each.
const SAMPLE_SHEETS: usize = 30;
const MAX_SAMPLE: usize = 20_000;

/// Fields that a header names after which it has no more evidence of a table.
const FIELDS: usize = 4;

pub(super) fn read(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let unreadable = |error| member.fault(1, error);
    let mut file = match member.open_whole()? {
        Some(file) => file,
        None => unpack(from).map_err(unreadable)?,
    };
    let mut signature = Vec::new();
    (&file).take(compound::SIGNATURE.len() as u64).read_to_end(&mut signature).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let (mut book, found) = if signature == compound::SIGNATURE {
        let bytes = limits::XLS.read(&file).map_err(unreadable)?;
        let hidden = compound::check(&bytes).map_err(|fault| match fault {
            PartFault::Limit(exceeded) => member.error(1, exceeded),
            fault @ PartFault::Damaged(_) => damaged(member, 1, &fault),
        })?;
        let found = PartsFound { hidden, has_merged: true, merged: Vec::new() };
        (Book::Xls(open(member, || Xls::new(Cursor::new(bytes)))?), found)
    } else if signature.starts_with(b"PK") {
        let (kind, found) = workbook_parts::check(member, &file)?;
        file.rewind().map_err(unreadable)?;
        let file = BufReader::new(file);
        let book = match kind {
            WorkbookKind::Xlsx => Book::Xlsx(open(member, || Xlsx::new(file))?),
            WorkbookKind::Xlsb => Book::Xlsb(open(member, || Xlsb::new(file))?),
            WorkbookKind::Ods => Book::Ods(open(member, || Ods::new(file))?),
        };
        (book, found)
    } else {
        // Programs of the web name tables of HTML `.xls`, which Excel opens with a warning.
        let is_page = signature.trim_ascii_start().starts_with(b"<") || signature.starts_with(b"\xef\xbb\xbf<");
        let problem = match is_page {
            true => {
                "it is a page of HTML or XML named as a workbook; open it in Excel or LibreOffice and save it as XLSX or CSV"
            }
            false => "it is neither an Excel nor an OpenDocument file; save it as XLSX or CSV, or correct its ending",
        };
        return Err(damaged(member, 1, &problem));
    };
    let mut format = format.clone();
    prepare(member, &mut book, &mut format, to)?;
    if let Some(hidden) = found.hidden.message() {
        to.note(hidden);
    }
    if found.has_merged && matches!(book, Book::Xlsb(_)) {
        to.note("merged cells have their value in their first row only; save the workbook as XLSX, which keeps their ranges".to_owned());
    }
    to.format(&format);
    let Some(sheet) = format.sheet.clone() else { return Err(member.error(1, "has no sheet")) };
    let merged = OpenCells { below: book.merged(&sheet, found), open: Vec::new(), count: 0 };
    if !merged.below.is_empty() {
        to.note("merged cells: each of their rows has their value, unless it is a number".to_owned());
    }
    let mut rows =
        SheetRows { member, format: &format, to: Some(to), skipped: None, groups: None, table: None, merged };
    book.each_row(member, &sheet, &mut |row, cells| rows.add(row, cells).map(|()| true))?;
    rows.finish()
}

/// Chooses the sheet, and finds its header, unless the format states them.
fn prepare(member: &Member, book: &mut Book, format: &mut InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let sheets = book.sheets();
    let is_hidden = |sheet: &Sheet| sheet.visible != SheetVisible::Visible;
    if let Some(wanted) = &format.sheet
        && !sheets.iter().any(|sheet| sheet.name == *wanted)
    {
        let names = listed(sheets.iter().map(|sheet| &sheet.name));
        return Err(member.error(1, format!("has no sheet {}; its sheets are: {names}", quoted(wanted))));
    }
    let is_stated = format.skip.is_some() || format.header_rows.is_some();
    let wanted = wanted(to);
    let mut best: Option<(usize, bool, usize, String, Vec<SampleRow>)> = None;
    let stated = format.sheet.clone();
    let named = sheets.iter().filter(|sheet| stated.as_ref().map_or(!is_hidden(sheet), |name| sheet.name == *name));
    let mut candidates: Vec<&Sheet> = named.take(SAMPLE_SHEETS).collect();
    if candidates.is_empty() {
        candidates.extend(sheets.first());
    }
    let only = candidates.len() == 1;
    for sheet in candidates {
        if only && is_stated {
            format.sheet = Some(sheet.name.clone());
            return Ok(());
        }
        let rows = book.sample(member, &sheet.name)?;
        // Without a mapping, a sheet whose header names fields comes before one with properties of the file.
        let names_fields = || {
            let place = header::find(&rows, &wanted).ok();
            let header = place.and_then(|place| rows.iter().find(|row| row.position >= place.skip));
            header.map_or(0, |row| row.cells.iter().filter(|cell| names_field(cell)).take(FIELDS).count() / 2)
        };
        let matches = match wanted.is_empty() {
            true if !only => names_fields(),
            _ => rows.iter().map(|row| row.named(&wanted)).max().unwrap_or_default(),
        };
        let is_table = rows.iter().filter(|row| row.count() > 1).count() > 1;
        let score = (matches, is_table, rows.len().min(1));
        if best.as_ref().is_none_or(|(matches, is_table, any, ..)| score > (*matches, *is_table, *any)) {
            best = Some((score.0, score.1, score.2, sheet.name.clone(), rows));
        }
    }
    let Some((.., name, rows)) = best else { return Err(member.error(1, "has no sheet")) };
    if sheets.len() > 1 {
        let shown = sheets.iter().map(|sheet| match is_hidden(sheet) {
            true => format!("{} (hidden)", sheet.name),
            false => sheet.name.clone(),
        });
        to.note(format!("sheet {} is read, of {}; `sheet` names another", quoted(&name), listed(shown)));
        let others = sheets.iter().filter(|sheet| !is_hidden(sheet) && sheet.name != name);
        to.other_sheets(others.take(SAMPLE_SHEETS).map(|sheet| sheet.name.clone()).collect());
    }
    if !is_stated {
        let place = header::find(&rows, &wanted).map_err(|(line, value)| no_header(member, line, value))?;
        let first = rows.first().map_or(0, |row| row.position);
        let place = HeaderPlace { skip: place.skip.saturating_sub(first), ..place };
        tell_header(place, 0, &rows, to);
        format.skip = Some(place.skip).filter(|skip| *skip > 0);
        format.header_rows = Some(place.rows).filter(|rows| *rows != 1);
    }
    format.sheet = Some(name);
    Ok(())
}

enum Book {
    Xls(Xls<Cursor<Vec<u8>>>),
    Xlsx(Xlsx<BufReader<File>>),
    Xlsb(Xlsb<BufReader<File>>),
    Ods(Ods<BufReader<File>>),
}

impl Book {
    fn sheets(&self) -> Vec<Sheet> {
        match self {
            Self::Xls(book) => book.sheets_metadata(),
            Self::Xlsx(book) => book.sheets_metadata(),
            Self::Xlsb(book) => book.sheets_metadata(),
            Self::Ods(book) => book.sheets_metadata(),
        }
        .to_vec()
    }

    /// Visits the rows with a value, each with its cells in the order of their columns, until `visit` returns false.
    fn each_row(&mut self, member: &Member, sheet: &str, visit: &mut RowVisitor<'_>) -> Result<()> {
        let mut scan = SheetScan { member, visit, current: 0, cells: Vec::new(), bytes: 0, count: 0 };
        match self {
            Self::Xlsx(book) => {
                let mut cells = open(member, move || book.worksheet_cells_reader(sheet))?;
                scan.push_cells(|| cells.next_cell())
            }
            Self::Xlsb(book) => {
                let mut cells = open(member, move || book.worksheet_cells_reader(sheet))?;
                scan.push_cells(|| cells.next_cell())
            }
            Self::Xls(book) => scan.push_range(&open(member, move || book.worksheet_range(sheet))?),
            Self::Ods(book) => scan.push_range(&open(member, move || book.worksheet_range(sheet))?),
        }
    }

    /// The cells of a sheet that are merged over several rows of a column, the last ones first. A sheet is not read twice
    /// for them if its workbook has none.
    fn merged(&mut self, sheet: &str, parts: PartsFound) -> Vec<MergedCell> {
        let ranges = match self {
            Self::Xlsx(book) if parts.has_merged => {
                contain_result(move || book.merge_cells_by_sheet_name(sheet)).unwrap_or_default()
            }
            Self::Xls(book) => contain_result(move || book.merge_cells_by_sheet_name(sheet)).unwrap_or_default(),
            Self::Ods(book) => {
                let at = book.sheets_metadata().iter().position(|known| known.name == sheet);
                let of_sheet = parts.merged.into_iter().filter(|(number, _)| Some(*number) == at);
                of_sheet.map(|(_, range)| range).collect()
            }
            Self::Xlsx(_) | Self::Xlsb(_) => return Vec::new(),
        };
        let ranges = ranges.into_iter();
        let of_column = ranges.filter(|range| range.start.1 == range.end.1 && range.start.0 < range.end.0);
        let cell = |range: Dimensions| MergedCell {
            column: range.start.1,
            first: range.start.0,
            last: range.end.0,
            text: String::new(),
        };
        let mut merged: Vec<MergedCell> = of_column.map(cell).collect();
        merged.sort_unstable_by_key(|cell| std::cmp::Reverse(cell.first));
        merged
    }

    /// The first rows of a sheet.
    fn sample(&mut self, member: &Member, sheet: &str) -> Result<Vec<SampleRow>> {
        let (mut rows, mut count) = (Vec::new(), 0);
        self.each_row(member, sheet, &mut |row, cells| {
            let last = cells.0.last().map_or(0, |(column, _)| *column as usize).min(SAMPLE_CELLS);
            count += last + 1;
            let texts = (0..=last).map(|column| cells.get(column).to_owned()).collect();
            rows.push(SampleRow::new(row as usize, u64::from(row) + 1, texts));
            Ok(rows.len() < SAMPLE_ROWS && count < MAX_SAMPLE)
        })?;
        Ok(rows)
    }
}

/// Calls a parser of workbooks.
pub(super) fn open<T, E: Display>(member: &Member, parse: impl FnOnce() -> Result<T, E>) -> Result<T> {
    contain_result(parse).map_err(|problem| damaged(member, 1, &problem))
}

pub(super) fn damaged(member: &Member, line: u64, problem: &dyn Display) -> crate::sources::SourceError {
    member.error(line, format!("cannot be read as a workbook: {problem}"))
}

/// Cells of a row in the order of their columns, each with its column from 0.
struct SheetCells(Vec<(u32, String)>);

impl Cells for SheetCells {
    fn get(&self, column: usize) -> &str {
        // Of several cells with one position, the last counts.
        let end = self.0.partition_point(|(known, _)| *known as usize <= column);
        let last = self.0.get(..end).and_then(<[_]>::last);
        last.filter(|(known, _)| *known as usize == column).map_or("", |(_, text)| text.as_str())
    }

    fn each<'c>(&'c self, visit: &mut dyn FnMut(usize, &'c str)) {
        self.0.iter().for_each(|(column, text)| visit(*column as usize, text));
    }
}

/// A cell that is merged over several rows, with its value once that is read.
struct MergedCell {
    column: u32,
    first: u32,
    last: u32,
    text: String,
}

/// The merged cells of a sheet: those below the current row, the first of them last, and those that the row is part of.
struct OpenCells {
    below: Vec<MergedCell>,
    open: Vec<MergedCell>,
    /// Cells that were filled so far.
    count: u64,
}

impl OpenCells {
    /// Gives the cells of a row the values of the merged cells that they are part of. A number may be a sum of the rows. What is
    /// filled counts for the limits of rows and sheets.
    fn fill(&mut self, row: u32, cells: &mut SheetCells) -> Result<(), LimitExceeded> {
        self.open.retain(|cell| cell.last >= row);
        let mut filled: Vec<(u32, String)> = Vec::new();
        let mut bytes = 0;
        for MergedCell { column, text, .. } in &self.open {
            self.count += 1;
            limits::SHEET_CELLS.check(self.count)?;
            if cells.get(*column as usize).trim().is_empty() {
                bytes += text.len() as u64;
                limits::ROW.check(bytes)?;
                filled.push((*column, text.clone()));
            }
        }
        if !filled.is_empty() {
            cells.0.append(&mut filled);
            cells.0.sort_by_key(|(column, _)| *column);
        }
        while let Some(mut cell) = self.below.pop_if(|cell| cell.first <= row) {
            let text = cells.get(cell.column as usize).trim();
            if cell.first == row && !text.is_empty() && text.parse::<f64>().is_err() {
                cell.text = text.to_owned();
                self.open.push(cell);
            }
        }
        Ok(())
    }
}

type RowVisitor<'v> = dyn FnMut(u32, &mut SheetCells) -> Result<bool> + 'v;

/// Makes rows of cells, which come in the order of their rows.
struct SheetScan<'s, 'v> {
    member: &'s Member,
    visit: &'s mut RowVisitor<'v>,
    /// Row of the cells so far, from 0.
    current: u32,
    cells: Vec<(u32, String)>,
    /// Bytes of the texts of the row.
    bytes: u64,
    /// Cells of the sheet so far.
    count: u64,
}

impl SheetScan<'_, '_> {
    fn push_cells<'c, E: Display>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<Cell<DataRef<'c>>>, E>,
    ) -> Result<()> {
        loop {
            let line = u64::from(self.current) + 1;
            let cell = contain_result(&mut next).map_err(|problem| damaged(self.member, line, &problem))?;
            let Some(cell) = cell else { return self.end_row().map(drop) };
            if !self.push(cell.get_position(), &Data::from(cell.get_value().clone()))? {
                return Ok(());
            }
        }
    }

    fn push_range(&mut self, range: &Range<Data>) -> Result<()> {
        let (row, column) = range.start().unwrap_or_default();
        for (cells, row) in range.rows().zip(row..) {
            for (cell, column) in cells.iter().zip(column..) {
                if !self.push((row, column), cell)? {
                    return Ok(());
                }
            }
        }
        self.end_row().map(drop)
    }

    /// Adds a cell; false if no more are wanted.
    fn push(&mut self, (row, column): (u32, u32), value: &Data) -> Result<bool> {
        if *value == Data::Empty {
            return Ok(true);
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
            if !self.end_row()? {
                return Ok(false);
            }
            self.current = row;
        }
        let text = contain(|| text(value)).map_err(|panic| damaged(self.member, line, &panic))?;
        self.bytes += text.len() as u64;
        let size = limits::FIELD.check(text.len() as u64).and_then(|()| limits::ROW.check(self.bytes));
        size.map_err(|exceeded| self.member.error(line, format!("cell {}: {exceeded}", cell_name(row, column))))?;
        self.cells.push((column, text));
        Ok(true)
    }

    /// Passes the row on.
    fn end_row(&mut self) -> Result<bool> {
        let mut cells = SheetCells(std::mem::take(&mut self.cells));
        self.bytes = 0;
        if cells.0.is_empty() {
            return Ok(true);
        }
        cells.0.sort_by_key(|(column, _)| *column);
        (self.visit)(self.current, &mut cells)
    }
}

/// Passes the rows below the header on.
struct SheetRows<'a> {
    member: &'a Member,
    format: &'a InputFormat,
    /// `None` once the table has it.
    to: Option<&'a mut dyn RowReceiver>,
    /// First row with a value, from 0.
    skipped: Option<u32>,
    groups: Option<Vec<String>>,
    /// First column of the header, the row before, and the table.
    table: Option<(u32, u32, TableRows<'a>)>,
    merged: OpenCells,
}

impl<'a> SheetRows<'a> {
    fn add(&mut self, row: u32, cells: &mut SheetCells) -> Result<()> {
        let first = *self.skipped.get_or_insert(row);
        if ((row - first) as usize) < self.format.skip.unwrap_or_default() {
            return Ok(());
        }
        let line = u64::from(row) + 1;
        if let Some((start, last, table)) = &mut self.table {
            self.merged.fill(row, cells).map_err(|exceeded| self.member.error(line, exceeded))?;
            // Cells left of the header have no name.
            cells.0.retain(|(column, _)| column >= start);
            cells.0.iter_mut().for_each(|(column, _)| *column -= *start);
            let is_apart = row > *last + 1;
            *last = row;
            return table.add(line, cells, is_apart);
        }
        let filled = |(_, text): &&(u32, String)| !text.trim().is_empty();
        let Some(start) = cells.0.iter().find(filled).map(|(column, _)| *column) else { return Ok(()) };
        if self.format.header_rows == Some(2) && self.groups.is_none() {
            self.groups = Some(dense(cells, 0));
            return Ok(());
        }
        let (names, header) = match &self.groups {
            _ if self.format.header_rows == Some(0) => {
                let letters = dense(cells, 0).iter().enumerate().map(|(column, _)| header::letters(column)).collect();
                return self.begin(0, row, letters, Vec::new()).and_then(|()| match &mut self.table {
                    Some((.., table)) => table.add(line, cells, false),
                    None => Ok(()),
                });
            }
            Some(groups) => {
                let start =
                    groups.iter().position(|cell| !cell.trim().is_empty()).map_or(start, |at| start.min(at as u32));
                let lower = dense(cells, start);
                let names = header::names(groups.get(start as usize..), &lower);
                return self.begin(start, row, names, lower);
            }
            None => {
                let lower = dense(cells, start);
                (header::names(None, &lower), lower)
            }
        };
        self.begin(start, row, names, header)
    }

    fn begin(&mut self, start: u32, row: u32, names: Vec<String>, header: Vec<String>) -> Result<()> {
        if let Some(to) = self.to.take() {
            self.table = Some((start, row, TableRows::new(self.member, to, self.format, names, header, false)?));
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self.table {
            Some((.., table)) => table.finish(),
            None => Err(self.member.error(1, "sheet is empty; the header is missing")),
        }
    }
}

/// All cells from a column up to the last one, empty ones included.
fn dense(cells: &SheetCells, start: u32) -> Vec<String> {
    let end = cells.0.last().map_or(start, |(column, _)| column + 1);
    (start..end).map(|column| cells.get(column as usize).to_owned()).collect()
}

/// Name of a cell, such as `B3`, from its row and column, each from 0.
fn cell_name(row: u32, column: u32) -> String {
    format!("{}{}", header::letters(column as usize), u64::from(row) + 1)
}

/// Text of a cell as in CSV: dates as `YYYY-MM-DD`, whole numbers without a fraction.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if !time.is_duration() => {
            let (year, month, day, ..) = time.to_ymd_hms_milli();
            format!("{year:04}-{month:02}-{day:02}")
        }
        Data::DateTimeIso(time) => match time.split_once('T') {
            Some((day, _)) if day.len() == 10 => day.to_owned(),
            _ => time.clone(),
        },
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
