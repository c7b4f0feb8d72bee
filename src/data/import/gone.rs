//! `gone.csv`: the slugs of records that are no longer in the data, with their last names. A dataset may lack it.

use std::collections::HashSet;

use crate::Table;
use crate::import::csv_table::{CsvFolder, TableRow};
use crate::import::diagnostics::quoted;
use crate::import::redirects::Redirect;
use crate::import::referable::{self, Referable, TABLES};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneRecord {
    pub table: Table,
    pub slug: String,
    /// Its last name; empty if the name is not kept, as of people.
    pub name: String,
}

impl TableRow for GoneRecord {
    const NOUN: &'static str = "record that is gone";
    const FILE: &'static str = "gone.csv";
    const HEADER: &'static str = "kind,slug,name";
    const REQUIRED: &'static str = "kind,slug";
}

pub(crate) fn read(files: &mut CsvFolder<'_>, records: &Referable<'_>, redirects: &[Redirect]) -> Vec<GoneRecord> {
    let mut known: HashSet<(Table, String)> =
        redirects.iter().map(|redirect| (redirect.table, redirect.slug.clone())).collect();
    let gone = files.read(|row| {
        let table = referable::kind(row, &TABLES);
        let slug = row.required("slug", |row, column| Some(row.field(column).to_owned()));
        let name = row.field("name").to_owned();
        let (table, slug) = (table?, slug?);
        if records.find(table, &slug).is_some() || !known.insert((table, slug.clone())) {
            let noun = table.noun();
            let message =
                format!("{} is the slug of a {noun}, or of another line or redirect; remove the line", quoted(&slug));
            row.error("slug", message);
        }
        Some(GoneRecord { table, slug, name })
    });
    gone.rows
}
