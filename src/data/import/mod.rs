//! Reading a dataset folder: CSV → checked rows, with diagnostics for every problem.
//!
//! Files are read in the order of their references, so that each reference is resolved on its own line.

pub mod aliases;
pub(crate) mod clean;
pub(crate) mod csv_row;
pub(crate) mod csv_table;
pub(crate) mod csv_writer;
pub mod diagnostics;
pub(crate) mod known_aliases;
pub mod meta;
pub mod rows;
pub mod website;

use std::path::Path;

use crate::data::import::csv_table::{CsvTable, TableRow};
use crate::data::import::diagnostics::{Diagnostics, quoted};
use crate::data::import::meta::Meta;
use crate::data::import::rows::{Firm, Person, Review, Round, Sector, Startup};
use crate::data::{Progress, Report};

/// The files that every dataset has, in reading order; [`Alias::FILE`](aliases) is optional.
pub const FILES: [&str; 7] =
    [meta::FILE, Sector::FILE, Firm::FILE, Startup::FILE, Round::FILE, Person::FILE, Review::FILE];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    pub meta: Meta,
    pub sectors: Vec<Sector>,
    pub firms: Vec<Firm>,
    pub startups: Vec<Startup>,
    pub rounds: Vec<Round>,
    pub people: Vec<Person>,
    pub reviews: Vec<Review>,
}

/// Reads and checks the dataset in `folder`. `None` if there are errors; the report always has all problems.
pub fn read(folder: &Path, progress: &dyn Progress) -> (Option<Dataset>, Report) {
    let mut report = Report::default();
    if !folder.is_dir() {
        let message = format!("folder {} does not exist", folder.display());
        Diagnostics::of(meta::FILE, &mut report).error(None, None, message);
        return (None, report);
    }
    let meta = meta::read(folder, &mut report);
    let released_on = meta.as_ref().map(|meta| meta.released_on);
    let sectors = read_sectors(folder, &mut report, progress);
    let firms = CsvTable::read(folder, &mut report, progress, |row| Some(Firm::read(row, &sectors, released_on)));
    let startups = CsvTable::read(folder, &mut report, progress, |row| Some(Startup::read(row, &sectors, released_on)));
    let rounds =
        CsvTable::read(folder, &mut report, progress, |row| Round::read(row, &startups, &firms, released_on)).rows;
    let people = CsvTable::read(folder, &mut report, progress, |row| Person::read(row, &startups, &firms));
    let reviews = CsvTable::read(folder, &mut report, progress, |row| Review::read(row, &firms, released_on)).rows;
    let aliases = aliases::read(folder, &mut report, progress, &firms, &startups, &people);
    let dataset = meta.filter(|_| !report.has_errors()).map(|meta| Dataset {
        meta,
        sectors: sectors.rows,
        firms: firms.rows,
        startups: startups.rows,
        rounds,
        people: people.rows,
        reviews,
    });
    let dataset = dataset.map(|mut dataset| {
        aliases.into_iter().for_each(|alias| alias.add_to(&mut dataset));
        dataset
    });
    (dataset, report)
}

/// Reads the sectors, and resolves their parents afterwards: a parent may be on a later line.
fn read_sectors(folder: &Path, report: &mut Report, progress: &dyn Progress) -> CsvTable<Sector> {
    let mut parents: Vec<(String, u64)> = Vec::new();
    let mut sectors = CsvTable::read(folder, report, progress, |row| {
        parents.push((row.field("parent").to_owned(), row.line));
        Some(Sector::read(row))
    });
    let mut diagnostics = Diagnostics::of(Sector::FILE, report);
    let mut error = |line, message| diagnostics.error(Some(line), Some("parent"), message);
    for (row, (parent, line)) in parents.iter().enumerate().filter(|(_, (parent, _))| !parent.is_empty()) {
        sectors.rows[row].parent = sectors.find(parent);
        if sectors.rows[row].parent.is_none() {
            error(*line, format!("no sector has the slug {}", quoted(parent)));
        }
    }
    for (row, (_, line)) in parents.iter().enumerate() {
        let parent = |sector: &u32| sectors.rows[*sector as usize].parent;
        let mut ancestors = std::iter::successors(parent(&(row as u32)), parent).take(parents.len());
        if ancestors.any(|ancestor| ancestor as usize == row) {
            error(*line, format!("{} is its own ancestor", quoted(&sectors.rows[row].slug)));
        }
    }
    sectors
}
