//! A Parquet file as rows of text, read in batches: memory is that of a page of each wanted column.

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::sources::input::contained::contain_result;
use crate::sources::input::parquet_values::{CellBatch, ColumnCells, ValueKind};
use data::import::diagnostics::quoted;

/// Rows that are read at a time.
const BATCH: usize = 1_024;

pub(crate) struct ParquetFile {
    reader: SerializedFileReader<File>,
    columns: Vec<FileColumn>,
}

struct FileColumn {
    name: String,
    /// Its place among the columns of values.
    leaf: usize,
    /// Or why it has no texts.
    kind: Result<ValueKind, String>,
}

/// A fault of a file, or of a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParquetFault {
    /// From 1; 0 if it is no fault of a row.
    pub(crate) row: u64,
    pub(crate) column: Option<String>,
    pub(crate) problem: String,
}

impl ParquetFile {
    /// The error completes a sentence that begins with the file.
    pub(crate) fn open(file: File) -> Result<Self, String> {
        let reader = contain_result(|| SerializedFileReader::new(file))
            .map_err(|error| format!("is not a Parquet file, or was not written to its end: {error}"))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut columns: Vec<FileColumn> = Vec::new();
        for leaf in 0..schema.num_columns() {
            let column = schema.column(leaf);
            let name = schema.get_column_root(leaf).name().to_owned();
            let kind = ValueKind::of(&column);
            match columns.last_mut().filter(|last| last.name == name) {
                // A structure has several.
                Some(last) => {
                    last.kind = kind.and(Err("is a structure: select its values as columns of their own".into()))
                }
                None => columns.push(FileColumn { name, leaf, kind }),
            }
        }
        Ok(Self { reader, columns })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    pub(crate) fn has_texts(&self, column: usize) -> bool {
        self.columns[column].kind.is_ok()
    }

    pub(crate) fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows().max(0).cast_unsigned()
    }
}

/// The rows of a file in some of its columns.
pub(crate) struct ParquetRows {
    file: ParquetFile,
    /// The place of each wanted column in the file, if it has the column.
    wanted: Vec<Option<usize>>,
    /// Row groups that were begun, and the rows of the last one that are not read.
    groups: usize,
    rows_left: usize,
    readers: Vec<Option<ColumnCells>>,
    cells: Vec<CellBatch>,
    /// Rows in `cells`, and how many of them were passed.
    batch: usize,
    passed: usize,
    /// Rows before the batch.
    before: u64,
}

impl ParquetRows {
    /// A fault if a wanted column has no texts.
    pub(crate) fn new(file: ParquetFile, wanted: Vec<Option<usize>>) -> Result<Self, ParquetFault> {
        for column in wanted.iter().flatten().map(|column| &file.columns[*column]) {
            if let Err(problem) = &column.kind {
                return Err(ParquetFault { row: 0, column: Some(column.name.clone()), problem: problem.clone() });
            }
        }
        let cells = wanted.iter().map(|_| CellBatch::default()).collect();
        let (readers, before) = (Vec::new(), 0);
        // Without a column, nothing but the file's own word says how many rows there are.
        let groups = if wanted.iter().all(Option::is_none) { file.reader.num_row_groups() } else { 0 };
        Ok(Self { file, wanted, groups, rows_left: 0, readers, cells, batch: 0, passed: 0, before })
    }

    /// Goes to the next row; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, ParquetFault> {
        if self.passed < self.batch {
            self.passed += 1;
            return Ok(true);
        }
        self.before += self.batch as u64;
        (self.batch, self.passed) = (0, 0);
        while self.rows_left == 0 {
            if self.groups == self.file.reader.num_row_groups() {
                return Ok(false);
            }
            self.begin_group()?;
        }
        self.read_batch()?;
        self.passed = 1;
        Ok(true)
    }

    /// The row, from 1.
    pub(crate) fn row(&self) -> u64 {
        self.before + self.passed as u64
    }

    /// The cell of a wanted column in this row; empty if the value is unknown or the file has no such column.
    pub(crate) fn cell(&self, index: usize) -> &[u8] {
        if self.wanted[index].is_some() { self.cells[index].get(self.passed - 1) } else { &[] }
    }

    fn begin_group(&mut self) -> Result<(), ParquetFault> {
        let (file, index) = (&self.file, self.groups);
        let begin = |column: usize| {
            let FileColumn { name, leaf, kind } = &file.columns[column];
            let Ok(kind) = kind else { return Ok(None) };
            let read = || -> Result<ColumnCells, ParquetError> {
                let reader = file.reader.get_row_group(index)?.get_column_reader(*leaf)?;
                Ok(ColumnCells::new(
                    reader,
                    *kind,
                    &file.reader.metadata().file_metadata().schema_descr().column(*leaf),
                ))
            };
            contain_result(read).map(Some).map_err(|error| damaged(index, name, self.before, &error))
        };
        let readers = self.wanted.iter().map(|column| column.map_or(Ok(None), begin));
        let readers = readers.collect::<Result<Vec<_>, ParquetFault>>()?;
        let rows = file.reader.metadata().row_group(index).num_rows();
        self.readers = readers;
        self.rows_left = usize::try_from(rows).unwrap_or_default();
        self.groups += 1;
        Ok(())
    }

    fn read_batch(&mut self) -> Result<(), ParquetFault> {
        let (rows, group) = (BATCH.min(self.rows_left), self.groups - 1);
        for (index, column) in self.wanted.iter().enumerate() {
            let (Some(column), Some(reader)) = (column, &mut self.readers[index]) else { continue };
            let (name, cells) = (&self.file.columns[*column].name, &mut self.cells[index]);
            cells.clear();
            let read = contain_result(|| reader.read(rows, cells));
            read.map_err(|error| damaged(group, name, self.before, &error))?;
            if cells.len() != rows {
                let error = format!("{} of {rows} rows", cells.len());
                return Err(damaged(group, name, self.before, &error));
            }
            if let Some((row, value)) = &cells.ambiguous {
                let problem =
                    format!("{} is a value of a list and contains `|`, which separates values", quoted(value));
                return Err(ParquetFault { row: self.before + *row as u64 + 1, column: Some(name.clone()), problem });
            }
        }
        self.batch = rows;
        self.rows_left -= rows;
        Ok(())
    }
}

fn damaged(group: usize, column: &str, rows: u64, error: &str) -> ParquetFault {
    let problem = format!("row group {group} cannot be read from row {} on: {error}; write the file again", rows + 1);
    ParquetFault { row: rows + 1, column: Some(column.to_owned()), problem }
}
