//! `aliases.csv`: further names of firms, startups and people, which are collected and reviewed on their own.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::Table;
use crate::derive::alias_candidates::AliasCandidate;
use crate::import::Dataset;
use crate::import::csv_row::{CsvRow, MAX_VALUES};
use crate::import::csv_table::{CsvFolder, TableRow};
use crate::import::csv_writer;
use crate::import::diagnostics::quoted;
use crate::import::referable::Referable;
use crate::written::identity;

/// An alias of a record. The source in the file is for its maintainers; it is not served.
pub(crate) struct Alias {
    table: Table,
    row: u32,
    text: String,
}

impl TableRow for Alias {
    const NOUN: &'static str = "alias";
    const FILE: &'static str = "aliases.csv";
    const HEADER: &'static str = "kind,slug,alias,source";
    const REQUIRED: &'static str = "kind,slug,alias";
}

/// Line of each alias, by record.
type AliasLines = HashMap<(Table, u32), HashMap<String, u64>>;

pub(crate) fn read(files: &mut CsvFolder<'_>, records: &Referable<'_>) -> Vec<Alias> {
    let mut known = AliasLines::new();
    files.read(|row| Alias::read(row, records, &mut known)).rows
}

pub fn write(candidates: &[AliasCandidate<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv_writer::lines(out);
    csv.write_record(Alias::HEADER.split(','))?;
    for AliasCandidate { kind, slug, alias, source, sureness } in candidates {
        let source = format!("{sureness}: {source}");
        csv.write_record([*kind, *slug, alias.as_str(), source.as_str()])?;
    }
    csv.flush()
}

impl Alias {
    /// Reports an alias that is invalid or already known, and returns `None`.
    fn read(row: &mut CsvRow<'_, '_>, records: &Referable<'_>, known: &mut AliasLines) -> Option<Self> {
        let text = row.required("alias", CsvRow::phrase);
        row.phrase("source");
        let (table, at) = records.reference(row)?;
        let text = text?;
        if text.contains('|') {
            row.error("alias", format!("{} contains `|`; write each alias on a line of its own", quoted(&text)));
            return None;
        }
        let (name, aliases) = records.names(table, at)?;
        let known = known.entry((table, at)).or_default();
        if identity(name) == identity(&text) {
            row.warning("alias", format!("{} is the name of the {}; remove the line", quoted(&text), table.noun()));
        } else if aliases.contains(&text) {
            let message = format!("{} is already in the column `aliases` of its record; remove one", quoted(&text));
            row.warning("alias", message);
        } else if let Some(line) = known.get(&text) {
            row.error("alias", format!("{} is already an alias of this record in line {line}", quoted(&text)));
        } else if aliases.len() + known.len() >= MAX_VALUES {
            row.error("slug", format!("has more than {MAX_VALUES} aliases; remove some"));
        } else {
            known.insert(text.clone(), row.line);
            return Some(Self { table, row: at, text });
        }
        None
    }

    pub(crate) fn add_to(self, dataset: &mut Dataset) {
        let row = self.row as usize;
        match self.table {
            Table::Firms => dataset.firms[row].aliases.push(self.text),
            Table::Startups => dataset.startups[row].aliases.push(self.text),
            _ => dataset.people[row].aliases.push(self.text),
        }
    }
}
