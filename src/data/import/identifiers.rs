//! `identifiers.csv`: the identifiers of firms, startups and people in registers and on the web. A dataset may lack it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::Table;
use crate::fold::fold;
use crate::identifier::{self, MAX_UNLIKE_NAMES, Strength};
use crate::import::Dataset;
use crate::import::csv_row::CsvRow;
use crate::import::csv_table::{CsvFolder, TableRow};
use crate::import::diagnostics::{Diagnostics, quoted};
use crate::import::referable::Referable;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NormalIdentifier {
    pub scheme: Arc<str>,
    pub value: Box<str>,
}

impl fmt::Display for NormalIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scheme, self.value)
    }
}

pub struct RecordIdentifier {
    table: Table,
    row: u32,
    identifier: NormalIdentifier,
    line: u64,
}

impl TableRow for RecordIdentifier {
    const NOUN: &'static str = "identifier";
    const FILE: &'static str = "identifiers.csv";
    const HEADER: &'static str = "kind,slug,scheme,value";
}

/// The identifiers of the file, each once and without placeholders; empty if there is no such file.
pub(crate) fn read(files: &mut CsvFolder<'_>, records: &Referable<'_>) -> Vec<RecordIdentifier> {
    let mut carried = files.read(|row| RecordIdentifier::read(row, records)).rows;
    carried.sort_by(|left, right| (&left.identifier, left.line).cmp(&(&right.identifier, right.line)));
    let mut diagnostics = Diagnostics::new(RecordIdentifier::FILE, files.report);
    let mut warn = |line, message| diagnostics.warning(Some(line), Some("value"), message);
    let mut kept = Vec::with_capacity(carried.len());
    for group in carried.chunk_by(|left, right| left.identifier == right.identifier) {
        let first = &group[0];
        let value = || quoted(&first.identifier.value);
        let names = group.iter().filter_map(|carried| Some(records.names(carried.table, carried.row)?.0));
        if group.len() > 1 && unlike_names(names) > MAX_UNLIKE_NAMES {
            let message = format!(
                "{} is carried by {} records of unlike names: it is taken for a placeholder and left out; remove it",
                value(),
                group.len()
            );
            warn(first.line, message);
            continue;
        }
        for (at, carried) in group.iter().enumerate() {
            let is_same = |other: &&RecordIdentifier| (other.table, other.row) == (carried.table, carried.row);
            if let Some(other) = group[..at].iter().find(is_same) {
                warn(carried.line, format!("{} is already in line {}; remove one", value(), other.line));
                continue;
            }
            if at > 0 && identifier::strength(&first.identifier.scheme) == Strength::Strong {
                let message = format!(
                    "{} identifies one record only, and is also in line {}; merge the records or remove one",
                    value(),
                    first.line
                );
                warn(carried.line, message);
            }
            kept.push(RecordIdentifier { identifier: carried.identifier.clone(), ..*carried });
        }
    }
    // A record's identifiers keep the order of the file.
    kept.sort_by_key(|carried| carried.line);
    kept
}

/// Counts the names that do not share their first word: `Alder Capital` and `Alder Fund II` are alike.
fn unlike_names<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let beginnings: HashSet<String> = names.map(|name| fold(name).split(' ').take(1).collect()).collect();
    beginnings.len()
}

impl RecordIdentifier {
    fn read(row: &mut CsvRow<'_, '_>, records: &Referable<'_>) -> Option<Self> {
        let (table, at) = records.reference(row)?;
        let scheme = row.required("scheme", |row, column| {
            let scheme = row.field(column).to_lowercase();
            if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                let message = format!("{} is not the name of a scheme: letters a-z, digits and `-`", quoted(&scheme));
                row.error(column, message);
                return None;
            }
            Some(row.index.share(&scheme))
        });
        let value = row.required("value", CsvRow::phrase);
        let (scheme, value) = (scheme?, value?);
        match identifier::normalize(&scheme, &value) {
            Ok(value) => {
                let identifier = NormalIdentifier { scheme, value: value.into() };
                Some(Self { table, row: at, identifier, line: row.line })
            }
            Err(problem) => {
                row.error("value", format!("{} {problem}", quoted(&value)));
                None
            }
        }
    }

    pub(crate) fn add_to(self, dataset: &mut Dataset) {
        let row = self.row as usize;
        let identifiers = match self.table {
            Table::Firms => &mut dataset.firms[row].identifiers,
            Table::Startups => &mut dataset.startups[row].identifiers,
            _ => &mut dataset.people[row].identifiers,
        };
        identifiers.reserve_exact(1);
        identifiers.push(self.identifier);
    }
}
