//! Reads one table row by row, a CSV file or another format, with diagnostics that name line and column.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, Builder};

use csv::{ByteRecord, StringRecord};

use crate::import::csv_reader::{CsvDialect, CsvReader, LocatedDoubt};
use crate::import::csv_row::{CsvRow, TableIndex};
use crate::import::diagnostics::{Diagnostics, did_you_mean, quoted};
use crate::import::table_format::{RowReader, TableFault, TableFormat};
use crate::{DiagnosticReport, Progress};

/// Maximum rows and bytes of a batch. A thread reads the next batch while the last one is checked.
const BATCH: usize = 1_024;
const BATCH_BYTES: usize = 1 << 20;

const WAITING: usize = 4;

/// Maximum number of unknown slugs that get a suggestion; more of them have another file as their cause.
const MAX_HINTS: u32 = 100;

const SLUG_LETTERS: &str = "-0123456789abcdefghijklmnopqrstuvwxyz";

/// The letters and digits of a column or file in lowercase, without a plural's `s`: `Founded Year` is `founded_year`.
pub(crate) fn letters(name: &str) -> String {
    let letters: String = name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.strip_suffix('s').unwrap_or(&letters).to_owned()
}

pub trait TableRow: Sized {
    /// Its name in messages, such as `firm`.
    const NOUN: &'static str;
    const FILE: &'static str;
    /// The names of the columns, separated by commas. A file may have them in another order.
    const HEADER: &'static str;
    /// The columns that every file must have, separated by commas. A value is unknown if its column is missing.
    const REQUIRED: &'static str = Self::HEADER;
}

pub struct CsvTable<T> {
    pub rows: Vec<T>,
    index: TableIndex,
    state: Cell<FileState>,
    /// Number of unknown slugs that may still be compared with the known ones.
    hints: Cell<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileState {
    Read,
    /// The dataset has no such file: the table is empty. Only the first reference to it is reported.
    Absent,
    /// The file could not be read, or its absence is reported: references to it are not checked.
    Unknown,
}

pub struct CsvColumns {
    /// Each column of the table with its index in the file.
    pub found: Vec<(&'static str, usize)>,
    width: usize,
}

impl CsvColumns {
    /// Reads the header line, and reports repeated, unknown and missing columns. `None` if no row can be read.
    fn read<T: TableRow>(reader: &mut dyn RowReader, diagnostics: &mut Diagnostics<'_>) -> Option<Self> {
        let mut raw = ByteRecord::new();
        let line = reader.header_line();
        match reader.read_row(&mut raw, 0) {
            Ok(true) => {}
            Ok(false) => {
                diagnostics.error(line, None, "file is empty; the header line is missing".to_owned());
                return None;
            }
            Err(fault) => {
                diagnostics.error(fault.line, None, fault.problem);
                return None;
            }
        }
        warn_of(reader.doubt(), diagnostics);
        let mut found: Vec<(&'static str, usize)> = Vec::new();
        let is_found = |found: &[(&str, usize)], column: &str| found.iter().any(|(known, _)| *known == column);
        for (index, name) in raw.iter().enumerate() {
            let name = String::from_utf8_lossy(name);
            let name = name.trim_start_matches('\u{feff}').trim();
            match T::HEADER.split(',').find(|column| *column == name) {
                Some(column) if is_found(&found, column) => {
                    diagnostics.error(line, Some(name), "column occurs twice in the header".into());
                }
                Some(column) => found.push((column, index)),
                None => {
                    let hint = did_you_mean(T::HEADER.split(',').find(|column| letters(column) == letters(name)));
                    diagnostics.warning(line, None, format!("unknown column {}{hint}", quoted(name)));
                }
            }
        }
        let (required, optional): (Vec<&str>, Vec<&str>) =
            T::HEADER.split(',').partition(|column| T::REQUIRED.split(',').any(|required| required == *column));
        let missing: Vec<&str> = required.iter().copied().filter(|column| !is_found(&found, column)).collect();
        if !missing.is_empty() {
            let columns = if missing.len() == 1 { "column" } else { "columns" };
            let (absent, required, optional) = (missing.join(", "), required.join(", "), optional.join(", "));
            let message = format!("no {columns} {absent}; required: {required}; optional: {optional}");
            diagnostics.error(line, None, message);
        }
        missing.is_empty().then(|| Self { found, width: raw.len() })
    }
}

fn warn_of(doubt: Option<LocatedDoubt>, diagnostics: &mut Diagnostics<'_>) {
    doubt.into_iter().for_each(|(line, doubt)| diagnostics.warning(Some(line), None, doubt.to_string()));
}

pub struct CsvFolder<'a> {
    pub path: &'a Path,
    pub report: &'a mut DiagnosticReport,
    pub progress: &'a dyn Progress,
    /// A format of tables besides CSV.
    pub format: Option<&'a dyn TableFormat>,
}

impl CsvFolder<'_> {
    /// Reads the file of a table, which may be absent. `each` parses a row; it returns `None` for one that is unusable.
    pub fn read<T: TableRow>(&mut self, each: impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>) -> CsvTable<T> {
        let path = self.path.join(T::FILE);
        let other = self.format.map(|format| (format, other_name(T::FILE, format)));
        match other.filter(|(_, name)| self.path.join(name).exists()) {
            None => CsvTable::read_file(&path, T::FILE, self.report, self.progress, each),
            Some((_, name)) if path.exists() => {
                let message = format!("the dataset has this table as {}, too; remove one of them", T::FILE);
                Diagnostics::new(&name, self.report).error(None, None, message);
                CsvTable::unread()
            }
            Some((format, name)) => self.read_other(format, &name, each),
        }
    }

    fn read_other<T: TableRow>(
        &mut self,
        format: &dyn TableFormat,
        name: &str,
        mut each: impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>,
    ) -> CsvTable<T> {
        let mut table = CsvTable::unread();
        let wanted: Vec<&str> = T::HEADER.split(',').collect();
        match format.open(&self.path.join(name), name, &wanted) {
            Ok(mut opened) => {
                self.report.note_other(T::FILE, name, opened.parts);
                self.progress.step(name, opened.bytes);
                let mut diagnostics = Diagnostics::new(T::FILE, self.report);
                table.read_all(&mut *opened.rows, &mut diagnostics, self.progress, &mut each);
            }
            Err(TableFault { file, column, problem }) => {
                Diagnostics::new(&file, self.report).error(None, column.as_deref(), problem);
            }
        }
        table
    }
}

/// The name of a table's file in another format.
pub(crate) fn other_name(file: &str, format: &dyn TableFormat) -> String {
    format!("{}.{}", file.trim_end_matches(".csv"), format.ending())
}

impl<T: TableRow> CsvTable<T> {
    /// A table of which nothing is known.
    fn unread() -> Self {
        let (state, hints) = (Cell::new(FileState::Unknown), Cell::new(MAX_HINTS));
        Self { rows: Vec::new(), index: TableIndex::default(), state, hints }
    }

    /// As [`CsvFolder::read`], from any file with a name for messages.
    pub fn read_file(
        path: &Path,
        name: &str,
        report: &mut DiagnosticReport,
        progress: &dyn Progress,
        mut each: impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>,
    ) -> Self {
        let mut diagnostics = Diagnostics::new(name, report);
        let mut table = Self::unread();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                match error.kind() {
                    io::ErrorKind::NotFound => table.state.set(FileState::Absent),
                    _ => diagnostics.unreadable(&error),
                }
                return table;
            }
        };
        // The size is used for progress only.
        progress.step(name, file.metadata().map_or(0, |metadata| metadata.len()));
        let mut reader = CsvReader::new(file, CsvDialect::COMMAS);
        table.read_all(&mut reader, &mut diagnostics, progress, &mut each);
        table
    }

    fn read_all(
        &mut self,
        reader: &mut dyn RowReader,
        diagnostics: &mut Diagnostics<'_>,
        progress: &dyn Progress,
        each: &mut impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>,
    ) {
        if let Some(columns) = CsvColumns::read::<T>(reader, diagnostics) {
            self.state.set(FileState::Read);
            self.read_rows(reader, &columns, diagnostics, progress, each);
            (self.index.names, self.index.shared) = Default::default();
        }
        progress.done();
    }

    fn read_rows(
        &mut self,
        reader: &mut dyn RowReader,
        columns: &CsvColumns,
        diagnostics: &mut Diagnostics<'_>,
        progress: &dyn Progress,
        each: &mut impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>,
    ) {
        let read = thread::scope(|scope| {
            // Rows before their checks, or an error with its line.
            let (sender, batches) = mpsc::sync_channel(WAITING);
            let width = columns.width;
            Builder::new().spawn_scoped(scope, move || {
                loop {
                    let (mut batch, mut bytes) = (Vec::new(), 0);
                    while batch.len() < BATCH && bytes < BATCH_BYTES {
                        let mut record = ByteRecord::new();
                        match reader.read_row(&mut record, width) {
                            Ok(false) => break,
                            Ok(true) => {
                                bytes += record.as_slice().len();
                                batch.push(Ok((record, reader.doubt())));
                            }
                            Err(fault) => batch.push(Err(fault)),
                        }
                    }
                    // The receiver stops at the first error.
                    if batch.is_empty() || sender.send((batch, reader.bytes_read())).is_err() {
                        return;
                    }
                }
            })?;
            for (batch, read_bytes) in batches {
                for read in batch {
                    match read {
                        Ok((record, doubt)) => {
                            warn_of(doubt, diagnostics);
                            self.read_row(record, columns, diagnostics, &mut *each);
                        }
                        Err(fault) => {
                            // References may be to the rows that are missing.
                            self.state.set(FileState::Unknown);
                            diagnostics.error(fault.line, fault.column.as_deref(), fault.problem);
                            return Ok(());
                        }
                    }
                }
                progress.advance(read_bytes);
            }
            Ok::<_, io::Error>(())
        });
        if let Err(error) = read {
            diagnostics.unreadable(&error);
        }
    }

    fn read_row(
        &mut self,
        record: ByteRecord,
        columns: &CsvColumns,
        diagnostics: &mut Diagnostics<'_>,
        each: impl FnOnce(&mut CsvRow<'_, '_>) -> Option<T>,
    ) {
        let line = record.position().expect("a record that was read has a position").line();
        if record.len() != columns.width {
            let fields = if record.len() == 1 { "field" } else { "fields" };
            let message = format!("{} {fields}, the header has {}", record.len(), columns.width);
            return diagnostics.error(Some(line), None, message);
        }
        match StringRecord::from_byte_record(record) {
            Ok(record) => {
                let (row, index) = (self.rows.len(), &mut self.index);
                self.rows.extend(each(&mut CsvRow { record: &record, columns, row, line, index, diagnostics }));
            }
            Err(error) => {
                let index = error.into_byte_record().iter().position(|field| std::str::from_utf8(field).is_err());
                let column = columns.found.iter().find(|(_, column)| Some(*column) == index);
                diagnostics.error(Some(line), column.map(|(name, _)| *name), "is not UTF-8".into());
            }
        }
    }

    pub(crate) fn find(&self, slug: &str) -> Option<u32> {
        self.index.keys.get(slug).map(|(row, _)| row)
    }

    /// Finds the row with the slug in a field of another table's row. Reports an empty field and an unknown slug.
    pub(crate) fn reference(&self, row: &mut CsvRow<'_, '_>, column: &'static str) -> Option<u32> {
        let slug = row.required(column, |row, column| Some(row.field(column).to_owned()))?;
        self.resolve(row, column, &slug)
    }

    /// Finds the rows with the slugs in a field, separated by `|`.
    pub(crate) fn references(&self, row: &mut CsvRow<'_, '_>, column: &'static str) -> Vec<u32> {
        let mut rows: Vec<u32> = row.values(column).iter().filter_map(|slug| self.resolve(row, column, slug)).collect();
        rows.shrink_to_fit();
        rows
    }

    fn resolve(&self, row: &mut CsvRow<'_, '_>, column: &'static str, slug: &str) -> Option<u32> {
        let found = self.find(slug);
        if found.is_none() && self.state.get() != FileState::Unknown {
            let hint = match self.state.get() {
                FileState::Absent => {
                    self.state.set(FileState::Unknown);
                    format!(": the dataset has no {}", T::FILE)
                }
                _ => did_you_mean(self.nearest(slug)),
            };
            row.error(column, format!("no {} has the slug {}{hint}", T::NOUN, quoted(slug)));
        }
        found
    }

    /// A known slug that is one edit away from `slug`.
    fn nearest(&self, slug: &str) -> Option<String> {
        let hints = self.hints.get().checked_sub(1)?;
        self.hints.set(hints);
        if slug.len() > 80 || !slug.is_ascii() {
            return None;
        }
        let slug = slug.to_ascii_lowercase();
        let mut edits = (0..=slug.len()).flat_map(|at| {
            let (head, tail) = slug.split_at(at);
            let rest = tail.get(1..);
            let deleted = rest.map(|rest| format!("{head}{rest}"));
            let swapped = tail.get(..2).map(|pair| format!("{head}{}{}{}", &pair[1..], &pair[..1], &tail[2..]));
            let written = SLUG_LETTERS.chars().flat_map(move |letter| {
                [Some(format!("{head}{letter}{tail}")), rest.map(|rest| format!("{head}{letter}{rest}"))]
            });
            deleted.into_iter().chain(swapped).chain(written.flatten())
        });
        edits.find(|edited| self.find(edited).is_some())
    }
}
