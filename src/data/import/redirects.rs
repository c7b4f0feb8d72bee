//! `redirects.csv`: the slugs of records that were merged into others. A dataset may lack it.

use std::collections::HashMap;

use crate::Table;
use crate::import::csv_table::{CsvFolder, TableRow};
use crate::import::diagnostics::quoted;
use crate::import::referable::{self, Referable};

/// The slug of a merged record, with the row that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub table: Table,
    pub slug: String,
    pub target: u32,
}

impl TableRow for Redirect {
    const NOUN: &'static str = "redirect";
    const FILE: &'static str = "redirects.csv";
    const HEADER: &'static str = "kind,slug,target";
}

pub(crate) fn read(files: &mut CsvFolder<'_>, records: &Referable<'_>) -> Vec<Redirect> {
    let mut lines: HashMap<(Table, String), u64> = HashMap::new();
    let redirects = files.read(|row| {
        let table = referable::kind(row, &referable::TABLES_WITH_ROUNDS);
        let slug = row.required("slug", |row, column| Some(row.field(column).to_owned()));
        let (table, slug) = (table?, slug?);
        let target = records.row(row, table, "target")?;
        if records.find(table, &slug).is_some() {
            let message = format!("{} is the slug of a {}; remove the line or the record", quoted(&slug), table.noun());
            row.error("slug", message);
            return None;
        }
        if let Some(line) = lines.insert((table, slug.clone()), row.line) {
            row.error("slug", format!("{} is already redirected in line {line}", quoted(&slug)));
        }
        Some(Redirect { table, slug, target })
    });
    redirects.rows
}
