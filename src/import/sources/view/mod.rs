//! The view of sources: the dataset that they form together.
//!
//! A record is composed of the statements about its entities, from one or several sources. A field with one value takes the
//! best statement: highest priority of the source, then seen last, then first by id of the source and by value. Lists are
//! unions in this order. Statements that a source no longer makes do not count, but stay in the provenance of a record that
//! another source has. The slug of an entity that no source has any more stays reserved.
//!
//! The view is a pure function of the sources, their ledger, the clusters and the suppressed entities. If only the sources
//! with certain licenses are used, records and slugs are still those of all sources.

mod entities;
mod files;
mod ledger;
mod record;
mod reviews;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::sources::guess::quote;
use crate::sources::sort::Sorter;
use crate::sources::{EntityId, EntityKind, Source, SourceError, Suppressed};
use data::import::csv_row::distinct;
use data::import::csv_table::TableRow as _;
use data::import::diagnostics::{did_you_mean, quoted};
use data::import::gone::{GoneRecord, hashed_slug};
use data::import::meta;
use data::import::redirects::Redirect;
use data::import::rows;
use data::import::suspicions::SettledLine;
use data::vocabulary::Vocabulary as _;
use data::{Progress, Snapshot};
use entities::{Entities, FormerSlug};
use files::Files;
pub use ledger::NewLines;
use record::{StatementExclusion, ViewRecord, ViewStatement};
use search::nearest;

/// Clusters of entities that form one record. An entity without a cluster is a record of its own.
#[derive(Clone, Debug, Default)]
pub struct Clusters(HashMap<String, HashMap<EntityId, u32>>);

impl Clusters {
    /// Adds an entity of a source to a cluster. All entities of a cluster must have the same kind.
    pub(crate) fn add(&mut self, source: &str, entity: EntityId, cluster: u32) {
        self.0.entry(source.to_owned()).or_default().insert(entity, cluster);
    }

    pub(crate) fn cluster_of(&self, source: &str, entity: &EntityId) -> Option<u32> {
        self.0.get(source)?.get(entity).copied()
    }

    /// Entities that are in a cluster, with source and cluster.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &EntityId, u32)> {
        let sources = self.0.iter();
        sources.flat_map(|(source, of)| of.iter().map(move |(entity, cluster)| (source.as_str(), entity, *cluster)))
    }
}

#[derive(Clone, Copy)]
pub enum Detail<'l> {
    /// Tables of a dataset and its identifiers.
    Tables,
    /// Also the provenance of each value.
    Provenance,
    /// The same of the sources with these licenses: without `reviews.csv`, which has none. Which entities are one record, and
    /// the slugs of records, are those of all sources.
    Licensed(Licensed<'l>),
}

#[derive(Clone, Copy)]
pub struct Licensed<'l> {
    pub licenses: &'l [String],
    /// The release that is served so far. Its addresses do not end without a word: they lead on, or are gone.
    pub served: Option<&'l Snapshot>,
}

impl Detail<'_> {
    fn has_source(self, source: &Source) -> bool {
        match self {
            Detail::Licensed(licensed) => licensed.licenses.contains(&source.license),
            Detail::Tables | Detail::Provenance => true,
        }
    }

    /// True if the release says where an address leads that no used source has. With a filter these are only the addresses
    /// that were served before: otherwise a guess would show what the other sources have.
    fn keeps_address(self, kind: EntityKind, slug: &str) -> bool {
        match self {
            Detail::Licensed(licensed) => licensed.served.is_some_and(|served| served.has_address(kind.table(), slug)),
            Detail::Tables | Detail::Provenance => true,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ViewSummary {
    pub records: Vec<(&'static str, u64)>,
    /// Records that lack a required value: a name, the startup of a round, the organization of a person.
    pub incomplete: u64,
    /// References to entities that are not in the view.
    pub dangling: u64,
    /// Records that no source has any more.
    pub gone: u64,
    /// Suppressed records, and records that depend on one: rounds of a startup, people of an organization.
    pub suppressed: u64,
    /// The incomplete records and dangling references, at most [`MAX_TOLD`].
    pub left_out: Vec<LeftOut>,
    /// Reviews of `reviews.csv` that are left out, with line and reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<String>,
    /// Lines to add to the ledger of the sources once the release is published.
    #[serde(skip)]
    pub new_lines: NewLines,
}

/// Maximum number of records and references that are listed one by one.
const MAX_TOLD: usize = 10_000;

/// A record that lacks a required value, or a reference to an entity that no source has by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub kind: &'static str,
    /// Slug of the record.
    pub record: String,
    pub source: String,
    /// Key of the row in the source.
    pub key: String,
    pub field: String,
    /// The reference; empty if the field is missing.
    pub value: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, record, source, key, field, value } = self;
        match &**value {
            "" => write!(f, "{kind} {record}: has no {field} (source {source}, key {})", quoted(key)),
            value => {
                let value = quoted(value);
                write!(
                    f,
                    "{kind} {record}: {field} is {value}, which no source has (source {source}, key {})",
                    quoted(key)
                )
            }
        }
    }
}

impl ViewSummary {
    fn tell(&mut self, left_out: LeftOut) {
        if self.left_out.len() < MAX_TOLD {
            self.left_out.push(left_out);
        }
    }
}

/// Finds the entities of the record with a slug in the view, or with one that was merged away. Each with its source.
pub fn entities_of(
    folder: &Path,
    sources: &[Source],
    clusters: &Clusters,
    kind: EntityKind,
    slug: &str,
) -> Result<Vec<(String, EntityId)>, SourceError> {
    let entities = Entities::read(folder, sources, clusters, &Suppressed::default())?;
    let found = entities.of_slug(sources, kind, slug);
    if found.is_empty() {
        let hint = did_you_mean(nearest(slug, entities.slugs(kind)));
        let folder = folder.display();
        return Err(SourceError::Problems(vec![format!("no {kind} of {folder} has the slug {}{hint}", quoted(slug))]));
    }
    Ok(found)
}

/// Writes the dataset of the sources in `folder` to the existing folder `to`.
pub fn write(
    folder: &Path,
    sources: &[Source],
    clusters: &Clusters,
    suppressed: &Suppressed,
    to: &Path,
    detail: Detail<'_>,
    progress: &dyn Progress,
) -> Result<ViewSummary, SourceError> {
    progress.step("read sources", 0);
    let mut entities = Entities::read(folder, sources, clusters, suppressed)?;
    let is_used: Vec<bool> = sources.iter().map(|source| detail.has_source(source)).collect();
    entities.restrict(&is_used);
    let io = |error| SourceError::io(to, error);
    let mut sorter = Sorter::new(to);
    let mut bytes = Vec::new();
    let (gone, hidden) = entities.left_out();
    let mut summary = ViewSummary { gone, suppressed: hidden, ..ViewSummary::default() };
    // Records with a suppressed startup or organization.
    let mut orphans: HashSet<u32> = HashSet::new();
    for (index, source) in sources.iter().enumerate().filter(|(index, _)| is_used[*index]) {
        let mut at = entities.starts[index];
        for statement in source.statements(folder)? {
            let statement = statement?;
            let stale = || SourceError::invalid(&folder.join(&source.id), "was changed while it was read; build again");
            at = entities.advance(index, at, &statement.entity).ok_or_else(stale)?;
            let number = entities.record_numbers[at];
            if !entities.record(number).is_published() {
                continue;
            }
            match ViewStatement::new(index, statement, &entities) {
                Ok(statement) => {
                    bytes.clear();
                    statement.encode(&mut bytes);
                    sorter.push(&number.to_be_bytes(), &bytes).map_err(io)?;
                }
                Err(StatementExclusion::Dangling(left_out)) => {
                    summary.dangling += 1;
                    let (source, record) = (source.id.clone(), entities.record(number).slug.clone());
                    summary.tell(LeftOut { source, record, ..*left_out });
                }
                Err(StatementExclusion::Orphaned) => drop(orphans.insert(number)),
                Err(StatementExclusion::Irrelevant) => {}
            }
        }
    }
    progress.step("write dataset", 0);
    let mut sorted = sorter.finish().map_err(io)?;
    let mut files = Files::new(to, sources, detail);
    match detail {
        Detail::Licensed(_) if folder.join(rows::DatasetReview::FILE).exists() => {
            summary.reviews.push("reviews.csv, which has no license".to_owned());
        }
        Detail::Licensed(_) => {}
        // First, so that its lines have the same numbers in the dataset.
        Detail::Tables | Detail::Provenance => summary.reviews = reviews::copy(folder, &entities, &mut files)?,
    }
    let mut record: Option<ViewRecord> = None;
    let mut is_written = vec![false; entities.records.len()];
    let mut names: Vec<(u32, String)> = Vec::new();
    let mut finish = |record: Option<ViewRecord>, summary: &mut ViewSummary| -> Result<(), SourceError> {
        let Some(mut record) = record else { return Ok(()) };
        let Some(field) = record.write(&entities, sources, &mut files)? else {
            is_written[record.number as usize] = true;
            if let Some(known) = entities.kept_name(record.number)
                && let Some(name) = record.name().filter(|name| *name != known)
            {
                names.push((record.number, name.to_owned()));
            }
            record.kind.count(&mut summary.records);
            return Ok(());
        };
        if orphans.contains(&record.number) {
            summary.suppressed += 1;
            return Ok(());
        }
        summary.incomplete += 1;
        let first = record.statements.iter().find(|statement| statement.is_current);
        let (source, key) = first.map_or(("", ""), |first| (&sources[usize::from(first.source)].id, &first.source_key));
        summary.tell(LeftOut {
            kind: record.kind.name(),
            record: entities.record(record.number).slug.clone(),
            source: source.to_owned(),
            key: key.to_owned(),
            field: field.to_owned(),
            value: String::new(),
        });
        Ok(())
    };
    while let Some((key, value)) = sorted.next().map_err(io)? {
        let number = key.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        if record.as_ref().is_none_or(|record| record.number != number) {
            finish(record.take(), &mut summary)?;
        }
        let new = || ViewRecord { number, kind: entities.record(number).kind, statements: Vec::new() };
        let record = record.get_or_insert_with(new);
        record.statements.extend(ViewStatement::decode(value));
    }
    finish(record, &mut summary)?;
    summary.new_lines = entities.new_lines(sources, &is_written, &names);
    let is_filtered = matches!(detail, Detail::Licensed(_));
    let keeps = |kind: EntityKind, slug: &str| detail.keeps_address(kind, slug);
    let redirects = entities.redirects(&is_written, &keeps);
    for ((kind, slug), FormerSlug { target, is_of_used_source }) in &redirects {
        let hashed = (is_filtered && !is_of_used_source).then(|| hashed_slug(kind.table(), slug));
        files.line::<Redirect>(&[kind.name(), hashed.as_deref().unwrap_or(slug), target])?;
    }
    for (kind, slug, name) in entities.gone(&is_written, &redirects, suppressed) {
        // The ledger does not say from which source a name is.
        match is_filtered {
            true if keeps(kind, slug) => {
                files.line::<GoneRecord>(&[kind.name(), &hashed_slug(kind.table(), slug), ""])?;
            }
            true => {}
            false => files.line::<GoneRecord>(&[kind.name(), slug, name])?,
        }
    }
    files.finish()?;
    let used: Vec<&Source> = sources.iter().filter(|source| detail.has_source(source)).collect();
    write_meta(folder, &used, to)?;
    copy_settled(folder, to)?;
    progress.done();
    Ok(summary)
}

/// Writes `snapshot.toml`: a copy from the folder of sources, or one made from the sources.
fn write_meta(folder: &Path, sources: &[&Source], to: &Path) -> Result<(), SourceError> {
    let file = to.join(meta::FILE);
    let given = folder.join(meta::FILE);
    if given.exists() {
        return fs::copy(&given, &file).map(drop).map_err(|error| SourceError::io(&given, error));
    }
    let Some(imported_on) = sources.iter().map(|source| source.imported_on).max() else { return Ok(()) };
    let joined = |texts: &mut dyn Iterator<Item = &str>, separator: &str| {
        distinct(texts.filter(|text| !text.is_empty())).join(separator).chars().take(1_000).collect::<String>()
    };
    // Without a version: each build takes the next free number of the day.
    let meta = [
        ("released_on", imported_on.to_string()),
        ("title", joined(&mut sources.iter().map(|source| &*source.title), "; ")),
        ("source", joined(&mut sources.iter().map(|source| &*source.url), " ")),
        ("license", joined(&mut sources.iter().map(|source| &*source.license), " AND ")),
    ];
    let text: String = meta.iter().map(|(key, value)| format!("{key} = {}\n", quote(value))).collect();
    fs::write(&file, text).map_err(|error| SourceError::io(&file, error))
}

/// Copies the list of settled warnings to the dataset.
fn copy_settled(folder: &Path, to: &Path) -> Result<(), SourceError> {
    let given = folder.join(SettledLine::FILE);
    if !given.exists() {
        return Ok(());
    }
    fs::copy(&given, to.join(SettledLine::FILE)).map(drop).map_err(|error| SourceError::io(&given, error))
}

/// Checks that each license is that of a source.
pub fn check_licenses(sources: &[Source], licenses: &[String]) -> Result<(), SourceError> {
    let Some(license) = licenses.iter().find(|license| !sources.iter().any(|source| source.license == **license))
    else {
        return Ok(());
    };
    let mut known: Vec<&str> = sources.iter().map(|source| &*source.license).collect();
    known.sort_unstable();
    known.dedup();
    let known = known.join(", ");
    let problem = format!("--licenses: no source has the license {license}; the sources have: {known}");
    Err(SourceError::Problems(vec![problem]))
}

#[cfg(test)]
mod tests;
