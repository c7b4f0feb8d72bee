//! `gone.csv`: the slugs of records that are no longer in the data, with their last names. A dataset may lack it.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use crate::Table;
use crate::import::csv_table::{CsvFolder, TableRow};
use crate::import::diagnostics::quoted;
use crate::import::redirects::Redirect;
use crate::import::referable::{self, Referable, TABLES_WITH_ROUNDS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneRecord {
    pub table: Table,
    /// As it was, or [hashed](hashed_slug).
    pub slug: String,
    /// Its last name; empty if the name is not kept, as of people.
    pub name: String,
}

/// Begins the hash of a slug, and no slug.
pub(crate) const HASH: char = '#';

/// In place of a slug whose text must not be published, as one from a source with another license. Whoever knows an address
/// that was served learns that it is gone; nobody reads it from the release.
#[must_use]
pub fn hashed_slug(table: Table, slug: &str) -> String {
    format!("{HASH}{:016x}", slug_hash(table, slug))
}

/// The beginning of the SHA-256 of a slug and its kind.
#[must_use]
pub fn slug_hash(table: Table, slug: &str) -> u64 {
    let digest = Sha256::digest(format!("{}/{slug}", table.noun()));
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
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
        let table = referable::kind(row, &TABLES_WITH_ROUNDS);
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
