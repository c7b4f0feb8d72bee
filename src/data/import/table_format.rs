//! Tables of datasets in other formats than CSV, which other crates read.

use std::fs::File;
use std::path::Path;

use csv::ByteRecord;

use crate::import::csv_reader::{CsvReader, LocatedDoubt};

/// Opens tables in a format.
pub trait TableFormat: Sync {
    /// The ending of file names, such as `parquet`.
    fn ending(&self) -> &'static str;

    /// Opens a file, or a folder with the parts of one table. Messages call it `name`. Columns that are not among the
    /// `wanted` ones may be left empty.
    fn open(&self, path: &Path, name: &str, wanted: &[&str]) -> Result<OpenTable, TableFault>;
}

pub struct OpenTable {
    pub rows: Box<dyn RowReader>,
    /// In the order in which they are read; the file itself if it has no parts.
    pub parts: Vec<TablePart>,
    /// Size of all parts, for progress.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePart {
    /// Its name in messages, such as `firms.parquet/part-00001.parquet`.
    pub name: String,
    pub rows: u64,
}

/// Why a table cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFault {
    /// The name of the table, or of the part.
    pub file: String,
    pub column: Option<String>,
    pub problem: String,
}

/// Rows of a table. The first one has the names of the columns.
pub trait RowReader: Send {
    /// Reads the next row; false at the end. The position of `row` has its line, or its number in the table. `width` is the
    /// number of columns, 0 if it is unknown.
    fn read_row(&mut self, row: &mut ByteRecord, width: usize) -> Result<bool, RowFault>;

    fn header_line(&self) -> Option<u64>;

    /// A doubt about the last row.
    fn doubt(&self) -> Option<LocatedDoubt> {
        None
    }

    /// Bytes that were read, for progress.
    fn bytes_read(&self) -> u64;
}

/// Why a row cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    pub line: Option<u64>,
    pub column: Option<String>,
    pub problem: String,
}

impl RowReader for CsvReader<File> {
    fn read_row(&mut self, row: &mut ByteRecord, width: usize) -> Result<bool, RowFault> {
        let read = self.read(row, width);
        read.map_err(|error| RowFault { line: Some(self.line()), column: None, problem: error.to_string() })
    }

    fn header_line(&self) -> Option<u64> {
        Some(1)
    }

    fn doubt(&self) -> Option<LocatedDoubt> {
        CsvReader::doubt(self)
    }

    fn bytes_read(&self) -> u64 {
        self.position()
    }
}
