//! Tables of datasets in Parquet: a file, or a folder of parts as Spark, DuckDB or Dask write it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Position};

use crate::sources::input::parquet_file::{ParquetFault, ParquetFile, ParquetRows};
use data::import::table_format::{OpenTable, RowFault, RowReader, TableFault, TableFormat, TablePart};

const ENDING: &str = "parquet";

pub struct ParquetTables;

impl TableFormat for ParquetTables {
    fn ending(&self) -> &'static str {
        ENDING
    }

    fn open(&self, path: &Path, name: &str, wanted: &[&str]) -> Result<OpenTable, TableFault> {
        let files = if path.is_dir() { parts_of(path, name)? } else { vec![(path.to_owned(), name.to_owned())] };
        let (mut parts, mut names, mut bytes): (Vec<TablePart>, Vec<String>, u64) = (Vec::new(), Vec::new(), 0);
        for (path, name) in &files {
            let file = open(path).map_err(|problem| TableFault { file: name.clone(), column: None, problem })?;
            parts.push(TablePart { name: name.clone(), rows: file.rows() });
            bytes += fs::metadata(path).map_or(0, |metadata| metadata.len());
            for name in file.names() {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
            // It is opened again when it is its turn; a column without texts is reported before any row is read.
            let places = places(&file, &names, wanted);
            ParquetRows::new(file, places).map_err(|ParquetFault { column, problem, .. }| TableFault {
                file: name.clone(),
                column,
                problem,
            })?;
        }
        let paths = files.into_iter().map(|(path, _)| path).rev().collect();
        let wanted = wanted.iter().map(|column| (*column).to_owned()).collect();
        let rows =
            PartRows { left: paths, names, wanted, current: None, row: 0, before: 0, has_header: false, bytes: 0 };
        Ok(OpenTable { rows: Box::new(rows), parts, bytes })
    }
}

/// The parts in a folder with their names in messages, in the order of their names. Files whose names begin with `_` or
/// `.`, as `_SUCCESS`, are not parts.
fn parts_of(folder: &Path, name: &str) -> Result<Vec<(PathBuf, String)>, TableFault> {
    let fault = |problem: String| TableFault { file: name.to_owned(), column: None, problem };
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| fault(format!("folder cannot be read: {error}")))? {
        let path = entry.map_err(|error| fault(format!("folder cannot be read: {error}")))?.path();
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if file.starts_with(['_', '.']) {
            continue;
        }
        if path.is_dir() {
            let problem = format!("has a folder {file}, and partitions are not read; write the table without them");
            return Err(fault(problem));
        }
        if path.extension().is_some_and(|ending| ending == ENDING) {
            parts.push((path, format!("{name}/{file}")));
        }
    }
    if parts.is_empty() {
        return Err(fault(format!("is a folder without parts: files that end in .{ENDING}")));
    }
    parts.sort();
    Ok(parts)
}

fn open(path: &Path) -> Result<ParquetFile, String> {
    let file = File::open(path).map_err(|error| format!("file cannot be read: {error}"))?;
    ParquetFile::open(file)
}

/// The place in a file of each column of the table; `None` for one that is not wanted, or not in the file.
fn places(file: &ParquetFile, names: &[String], wanted: &[impl AsRef<str>]) -> Vec<Option<usize>> {
    let is_wanted = |name: &String| wanted.iter().any(|column| column.as_ref() == name.trim());
    let place = |name: &String| file.names().position(|found| found == name).filter(|_| is_wanted(name));
    names.iter().map(place).collect()
}

/// The rows of all parts, one after the other.
struct PartRows {
    /// The last one is next.
    left: Vec<PathBuf>,
    /// The columns of all parts.
    names: Vec<String>,
    wanted: Vec<String>,
    current: Option<ParquetRows>,
    /// Number of the last row in the table, and of the rows of earlier parts.
    row: u64,
    before: u64,
    has_header: bool,
    /// Size of the parts that are read.
    bytes: u64,
}

impl PartRows {
    /// Goes to the next row; false at the end.
    fn advance(&mut self) -> Result<bool, RowFault> {
        loop {
            if let Some(rows) = &mut self.current {
                let before = self.before;
                if rows.advance().map_err(|fault| in_table(fault, before))? {
                    self.row += 1;
                    return Ok(true);
                }
                self.before = self.row;
                self.current = None;
            }
            let Some(path) = self.left.pop() else { return Ok(false) };
            // It was opened before, so that this only fails if it was changed.
            let file = open(&path).map_err(|problem| RowFault { line: Some(self.row + 1), column: None, problem })?;
            let places = places(&file, &self.names, &self.wanted);
            self.current = Some(ParquetRows::new(file, places).map_err(|fault| in_table(fault, self.before))?);
            self.bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
        }
    }
}

/// The fault of a row of a part that begins after `before` rows.
fn in_table(ParquetFault { row, column, problem }: ParquetFault, before: u64) -> RowFault {
    RowFault { line: (row > 0).then_some(before + row), column, problem }
}

impl RowReader for PartRows {
    fn read_row(&mut self, row: &mut ByteRecord, _: usize) -> Result<bool, RowFault> {
        row.clear();
        if !self.has_header {
            self.has_header = true;
            self.names.iter().for_each(|name| row.push_field(name.as_bytes()));
            return Ok(true);
        }
        if !self.advance()? {
            return Ok(false);
        }
        let Some(rows) = &self.current else { return Ok(false) };
        (0..self.names.len()).for_each(|column| row.push_field(rows.cell(column)));
        let mut position = Position::new();
        position.set_line(self.row);
        row.set_position(Some(position));
        Ok(true)
    }

    fn header_line(&self) -> Option<u64> {
        None
    }

    fn bytes_read(&self) -> u64 {
        self.bytes
    }
}
