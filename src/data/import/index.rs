//! Lookup of rows by slug, id or name while a dataset is read.

use std::collections::HashMap;

use crate::data::import::csv_table::CsvRow;
use crate::data::import::diagnostics::quoted;

/// The rows of one table by slug or id.
pub(crate) struct Index {
    /// Row and line of each slug or id.
    rows: HashMap<String, (u32, u64)>,
    /// The first line of each name.
    names: HashMap<String, u64>,
    /// False if the table could not be read; references to it are not checked then.
    pub known: bool,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { rows: HashMap::new(), names: HashMap::new(), known: true }
    }

    pub(crate) fn get(&self, key: &str) -> Option<u32> {
        self.rows.get(key).map(|(row, _)| *row)
    }

    /// Adds the key of the next row; reports an error if another row has it.
    pub(crate) fn insert(&mut self, row: &mut CsvRow<'_, '_>, column: &'static str, key: &str, index: usize) {
        if key.is_empty() {
            return;
        }
        match self.rows.get(key) {
            Some((_, first)) => {
                row.error(column, format!("{} is already used in line {first}", quoted(key)));
            }
            None => {
                self.rows.insert(key.to_owned(), (index as u32, row.line()));
            }
        }
    }

    /// Adds a name; reports a warning if another row has it.
    pub(crate) fn insert_name(&mut self, row: &mut CsvRow<'_, '_>, column: &'static str, name: &str) {
        match self.names.get(name) {
            Some(first) => row.warning(column, format!("{} is also the name in line {first}", quoted(name))),
            None => {
                self.names.insert(name.to_owned(), row.line());
            }
        }
    }

    /// Resolves a reference; reports an error if the row does not exist.
    pub(crate) fn resolve(&self, row: &mut CsvRow<'_, '_>, column: &'static str, noun: &str, key: &str) -> Option<u32> {
        let found = self.get(key);
        if found.is_none() && self.known {
            row.error(column, format!("no {noun} has the slug {}", quoted(key)));
        }
        found
    }
}
