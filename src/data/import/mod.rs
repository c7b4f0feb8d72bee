//! Reads a dataset folder: CSV → checked rows, with diagnostics for every problem.
//!
//! Files are read in the order of their references, so that each reference is resolved on its own line.

pub mod aliases;
pub mod clean;
pub mod csv_reader;
pub mod csv_row;
mod csv_scan;
pub mod csv_table;
pub mod csv_writer;
pub(crate) mod date_precision;
pub mod diagnostics;
mod further_reviews;
pub mod gone;
pub mod identifiers;
pub mod key_map;
pub(crate) mod known_aliases;
pub mod meta;
pub mod provenance;
pub mod redirects;
pub mod referable;
pub mod rows;
pub mod suspicions;
pub mod table_format;
pub(crate) mod text_store;
pub mod website;

use std::fs::{self, File};
use std::path::Path;

use crate::import::aliases::Alias;
use crate::import::csv_table::{CsvFolder, CsvTable, TableRow, letters, other_name};
use crate::import::diagnostics::{Diagnostics, quoted};
use crate::import::gone::GoneRecord;
use crate::import::identifiers::RecordIdentifier;
use crate::import::meta::{MetaValues, SnapshotMeta};
use crate::import::provenance::{Provenance, Source, SourceStatement};
use crate::import::redirects::Redirect;
use crate::import::referable::Referable;
use crate::import::rows::{DatasetFirm, DatasetPerson, DatasetReview, DatasetRound, DatasetSector, DatasetStartup};
use crate::import::suspicions::{Settled, SettledLine};
use crate::import::table_format::TableFormat;
use crate::import::text_store::TextStore;
use crate::{DiagnosticReport, Progress};
pub use further_reviews::FurtherReviews;

/// File, columns and required columns of each table, in the order of [`crate::Table::ALL`]. One file is enough.
pub(crate) const TABLES: [(&str, &str, &str); 6] = [
    (DatasetFirm::FILE, DatasetFirm::HEADER, DatasetFirm::REQUIRED),
    (DatasetStartup::FILE, DatasetStartup::HEADER, DatasetStartup::REQUIRED),
    (DatasetRound::FILE, DatasetRound::HEADER, DatasetRound::REQUIRED),
    (DatasetPerson::FILE, DatasetPerson::HEADER, DatasetPerson::REQUIRED),
    (DatasetReview::FILE, DatasetReview::HEADER, DatasetReview::REQUIRED),
    (DatasetSector::FILE, DatasetSector::HEADER, DatasetSector::REQUIRED),
];

const OPTIONAL_FILES: [&str; 7] = [
    Alias::FILE,
    GoneRecord::FILE,
    RecordIdentifier::FILE,
    Redirect::FILE,
    SettledLine::FILE,
    Source::FILE,
    SourceStatement::FILE,
];

/// The list of the files that a command wrote into a folder.
#[derive(Clone, Copy, Debug)]
pub struct FileList {
    pub file: &'static str,
    pub command: &'static str,
}

impl FileList {
    pub const IMPORTED: Self = Self { file: "imported.txt", command: "indexer import --dataset" };
    pub const GENERATED: Self = Self { file: "generated.txt", command: "indexer generate" };
}

/// Beginning of a list of files while they are replaced.
pub const UNFINISHED: &str = "Files of this folder are being replaced. If nobody does it now, run the command again.\n";

pub struct DatasetInput<'a> {
    pub folder: &'a Path,
    /// A format of tables besides CSV.
    pub format: Option<&'a dyn TableFormat>,
    pub meta: MetaValues,
    /// An empty file for descriptions and reviews until they are written; without it they stay in memory.
    pub scratch: Option<File>,
    /// Reviews from elsewhere than the folder.
    pub reviews: Option<FurtherReviews<'a>>,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for DatasetInput<'a> {
    fn from(folder: &'a P) -> Self {
        Self { folder: folder.as_ref(), format: None, meta: MetaValues::default(), scratch: None, reviews: None }
    }
}

pub struct Dataset {
    pub meta: SnapshotMeta,
    /// True if nobody has set the version.
    pub is_version_free: bool,
    pub sectors: Vec<DatasetSector>,
    pub firms: Vec<DatasetFirm>,
    pub startups: Vec<DatasetStartup>,
    pub rounds: Vec<DatasetRound>,
    pub people: Vec<DatasetPerson>,
    pub reviews: Vec<DatasetReview>,
    pub provenance: Provenance,
    pub redirects: Vec<Redirect>,
    pub gone: Vec<GoneRecord>,
    pub texts: TextStore,
}

/// Reads and checks a dataset. `None` if there are errors; the report always has all problems.
pub fn read<'a>(input: impl Into<DatasetInput<'a>>, progress: &dyn Progress) -> (Option<Dataset>, DiagnosticReport) {
    let DatasetInput { folder, format, meta, scratch, reviews: further_reviews } = input.into();
    let mut report = DiagnosticReport::default();
    if !folder.is_dir() {
        let name = folder.display().to_string();
        let problem = match folder.is_file() {
            true => format!(
                "is a file, and a dataset is a folder; make one of the file with `indexer import --guess {name} > map.toml` and \
                 `indexer import --mapping map.toml {name} --dataset NEW_FOLDER`"
            ),
            false => "folder does not exist".to_owned(),
        };
        Diagnostics::new(&name, &mut report).error(None, None, problem);
        return (None, report);
    }
    check_files(folder, format, &mut report);
    let meta = meta::read(folder, &meta, &mut report);
    let released_on = meta.as_ref().map(|(meta, _)| meta.released_on);
    let mut texts = TextStore::new(scratch);
    let mut files = CsvFolder { path: folder, report: &mut report, progress, format };
    let sectors = read_sectors(&mut files, &mut texts);
    let firms = files.read(|row| Some(DatasetFirm::read(row, &mut texts, &sectors, released_on)));
    let startups = files.read(|row| Some(DatasetStartup::read(row, &mut texts, &sectors, released_on)));
    let rounds = files.read(|row| DatasetRound::read(row, &startups, &firms, released_on));
    let people = files.read(|row| DatasetPerson::read(row, &startups, &firms));
    let reviews = files.read(|row| {
        let firm = firms.reference(row, "firm");
        DatasetReview::read(row, &mut texts, firm, released_on)
    });
    let records = Referable { firms: &firms, startups: &startups, people: &people, rounds: &rounds };
    let aliases = aliases::read(&mut files, &records);
    let identifiers = identifiers::read(&mut files, &records);
    let redirects = redirects::read(&mut files, &records);
    let gone = gone::read(&mut files, &records, &redirects);
    let mut reviews = match further_reviews {
        Some(further) => further.add_to(reviews.rows, &mut files, &mut texts, &firms, &redirects, released_on),
        None => reviews.rows,
    };
    DatasetReview::publish_days(&mut reviews, firms.rows.len());
    texts.finish();
    let provenance = provenance::read(&mut files, &records);
    let settled = Settled::new(files.read(SettledLine::read).rows);
    let Some((meta, is_version_free)) = meta.filter(|_| !report.has_errors()) else { return (None, report) };
    let mut dataset = Dataset {
        meta,
        is_version_free,
        sectors: sectors.rows,
        firms: firms.rows,
        startups: startups.rows,
        rounds: rounds.rows,
        people: people.rows,
        reviews,
        provenance,
        redirects,
        gone,
        texts,
    };
    aliases.into_iter().for_each(|alias| alias.add_to(&mut dataset));
    identifiers.into_iter().for_each(|carried| carried.add_to(&mut dataset));
    date_precision::reduce(&mut dataset, &settled, &mut report);
    suspicions::check(&dataset, &settled, &mut report);
    (Some(dataset), report)
}

/// Reports a lack of tables, files that are being replaced, and files of no table: a mistyped name would make one empty.
fn check_files(folder: &Path, format: Option<&dyn TableFormat>, report: &mut DiagnosticReport) {
    let is_other = |file: &str| format.is_some_and(|format| folder.join(other_name(file, format)).exists());
    let is_file = |file: &str| folder.join(file).exists() || is_other(file);
    if !TABLES.iter().any(|(file, ..)| is_file(file)) {
        let required = TABLES.map(|(file, _, columns)| format!("{file} ({columns})")).join(", ");
        let message = format!(
            "folder has no table; a dataset has at least one of these files, with these columns and any of the others: \
             {required}"
        );
        Diagnostics::new(&folder.display().to_string(), report).error(None, None, message);
    }
    for FileList { file, command } in [FileList::IMPORTED, FileList::GENERATED] {
        if fs::read_to_string(folder.join(file)).is_ok_and(|text| text.starts_with(UNFINISHED)) {
            let message = format!("`{command}` is replacing files of the dataset, or did not finish; run it again");
            Diagnostics::new(file, report).error(None, None, message);
        }
    }
    let ending = format.map_or("csv", TableFormat::ending);
    let bare = |file: &str| -> Option<String> {
        let (name, found) = file.rsplit_once('.')?;
        (found == "csv" || found == ending).then(|| name.to_owned())
    };
    let stem = |file: &str| letters(&bare(file).unwrap_or_default());
    let Ok(entries) = folder.read_dir() else { return };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let known = || TABLES.into_iter().map(|(file, ..)| file).chain(OPTIONAL_FILES);
    let is_unknown =
        |name: &String| bare(name).is_some_and(|name| known().all(|file| bare(file) != Some(name.clone())));
    let mut unknown: Vec<String> = names.filter(is_unknown).collect();
    unknown.sort_unstable();
    for name in unknown {
        let meant = known().find(|file| stem(file) == stem(&name) && !is_file(file));
        let mut diagnostics = Diagnostics::new(&name, report);
        match meant {
            Some(file) => {
                let file = file.trim_end_matches("csv");
                let ending = name.rsplit_once('.').map_or("csv", |(_, ending)| ending);
                diagnostics.error(None, None, format!("is no file of a dataset; rename it to {file}{ending}"));
            }
            None => diagnostics.warning(None, None, "is no file of a dataset, and not read".into()),
        }
    }
}

/// Reads the sectors, and resolves their parents afterwards, because a parent may be on a later line.
fn read_sectors(files: &mut CsvFolder<'_>, texts: &mut TextStore) -> CsvTable<DatasetSector> {
    let mut parents: Vec<(String, u64)> = Vec::new();
    let mut sectors = files.read(|row| {
        parents.push((row.field("parent").to_owned(), row.line));
        Some(DatasetSector::read(row, texts))
    });
    let mut diagnostics = Diagnostics::new(DatasetSector::FILE, files.report);
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
