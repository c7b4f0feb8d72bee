//! The view of sources: the dataset that they make together.
//!
//! A record is composed of the statements about its entities, of one source or of several. Of the fields with one value the
//! best statement counts: of the source with the highest priority, then the one seen last, then by id of the source and by
//! value. Lists are unions in this order. What a source does not state any more does not count, but is kept in the provenance
//! of a record that another source has. An entity that no source has any more keeps its slug: no other one gets it.
//!
//! The view is a pure function of the sources, the clusters and what is suppressed: a source that is removed leaves nothing
//! behind.

mod entities;
mod files;
mod record;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::sources::sort::Sorter;
use crate::sources::{EntityId, EntityKind, Source, SourceError, Suppressed};
use data::import::diagnostics::quoted;
use data::import::meta::{self, Meta};
use data::vocabulary::Vocabulary as _;
use data::{Progress, SnapshotVersion};
use entities::Entities;
use files::Files;
use record::{Record, Said, Unsaid};
use search::nearest;

/// Which entities of the sources are one record. An entity without a cluster is a record of its own.
#[derive(Clone, Debug, Default)]
pub struct Clusters(HashMap<String, HashMap<EntityId, u32>>);

impl Clusters {
    /// Puts an entity of a source into a cluster. All entities of a cluster are of one kind.
    pub fn add(&mut self, source: &str, entity: EntityId, cluster: u32) {
        self.0.entry(source.to_owned()).or_default().insert(entity, cluster);
    }

    #[must_use]
    pub fn of(&self, source: &str, entity: &EntityId) -> Option<u32> {
        self.0.get(source)?.get(entity).copied()
    }

    /// Entities and all that are in a cluster with one of them, in order.
    #[must_use]
    pub fn whole(&self, mut entities: Vec<(String, EntityId)>) -> Vec<(String, EntityId)> {
        let clusters: HashSet<u32> = entities.iter().filter_map(|(source, entity)| self.of(source, entity)).collect();
        let others = self.iter().filter(|(.., cluster)| clusters.contains(cluster));
        entities.extend(others.map(|(source, entity, _)| (source.to_owned(), entity.clone())));
        entities.sort_unstable();
        entities.dedup();
        entities
    }

    /// The entities that are in a cluster, each with its source.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &EntityId, u32)> {
        let sources = self.0.iter();
        sources.flat_map(|(source, of)| of.iter().map(move |(entity, cluster)| (source.as_str(), entity, *cluster)))
    }
}

/// The files that a view writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The tables of a dataset and its identifiers.
    Tables,
    /// Also where each value is from.
    Provenance,
}

/// What a view has, and what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ViewSummary {
    /// Records of each kind.
    pub records: Vec<(&'static str, u64)>,
    /// Entities of which something required is unknown: a name, the startup of a round, the organization of a person.
    pub incomplete: u64,
    /// References to entities that are not in the view.
    pub dangling: u64,
    /// Records that their sources do not have any more.
    pub gone: u64,
    /// Records that are suppressed, and those that need one of them: the rounds of a startup, the people of an organization.
    pub suppressed: u64,
}

/// The entities of the record that has a slug in the view, or had it before it was merged; each with its source.
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
        let near = nearest(slug, entities.slugs(kind));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let folder = folder.display();
        return Err(SourceError::Problems(vec![format!("no {kind} of {folder} has the slug {}{hint}", quoted(slug))]));
    }
    Ok(found)
}

/// Writes the dataset of the sources in `folder` to the folder `to`, which exists.
pub fn write(
    folder: &Path,
    sources: &[Source],
    clusters: &Clusters,
    suppressed: &Suppressed,
    to: &Path,
    detail: Detail,
    progress: &dyn Progress,
) -> Result<ViewSummary, SourceError> {
    progress.step("read sources", 0);
    let entities = Entities::read(folder, sources, clusters, suppressed)?;
    let io = |error| SourceError::io(to, error);
    let mut sorter = Sorter::new(to);
    let mut bytes = Vec::new();
    let (gone, hidden) = entities.left_out();
    let mut summary = ViewSummary { gone, suppressed: hidden, ..ViewSummary::default() };
    // Records whose startup or organization is suppressed.
    let mut orphans: HashSet<u32> = HashSet::new();
    for (index, source) in sources.iter().enumerate() {
        let mut at = entities.first_of(index);
        for statement in source.statements(folder)? {
            let statement = statement?;
            let changed =
                || SourceError::invalid(&folder.join(&source.id), "was changed while it was read; build again");
            at = entities.advance(index, at, &statement.entity).ok_or_else(changed)?;
            let place = entities.place(at);
            if !entities.is_published(place) {
                continue;
            }
            match Said::of(index, statement, &entities) {
                Ok(said) => {
                    bytes.clear();
                    said.encode(&mut bytes);
                    sorter.push(&place.to_be_bytes(), &bytes).map_err(io)?;
                }
                Err(Unsaid::Dangling) => summary.dangling += 1,
                Err(Unsaid::Orphaned) => drop(orphans.insert(place)),
                Err(Unsaid::Irrelevant) => {}
            }
        }
    }
    progress.step("write dataset", 0);
    let mut sorted = sorter.finish().map_err(io)?;
    let mut files = Files::new(to, sources, detail);
    let mut record: Option<Record> = None;
    let mut is_written = vec![false; entities.records()];
    let mut finish = |record: Option<Record>, summary: &mut ViewSummary| -> Result<(), SourceError> {
        let Some(mut record) = record else { return Ok(()) };
        if record.write(&entities, sources, &mut files)? {
            is_written[record.place as usize] = true;
            match summary.records.iter_mut().find(|(kind, _)| *kind == record.kind.name()) {
                Some((_, count)) => *count += 1,
                None => summary.records.push((record.kind.name(), 1)),
            }
        } else if orphans.contains(&record.place) {
            summary.suppressed += 1;
        } else {
            summary.incomplete += 1;
        }
        Ok(())
    };
    while let Some((key, value)) = sorted.next().map_err(io)? {
        let place = key.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        if record.as_ref().is_none_or(|record| record.place != place) {
            finish(record.take(), &mut summary)?;
        }
        let record = record.get_or_insert_with(|| Record::new(place, entities.kind(place)));
        record.said.extend(Said::decode(value));
    }
    finish(record, &mut summary)?;
    files.redirects(entities.redirects(&is_written))?;
    files.finish()?;
    write_meta(folder, sources, to)?;
    progress.done();
    Ok(summary)
}

/// Writes `snapshot.toml`: that of the folder of sources, or one that is made of the sources.
fn write_meta(folder: &Path, sources: &[Source], to: &Path) -> Result<(), SourceError> {
    let file = to.join(meta::FILE);
    let given = folder.join(meta::FILE);
    if given.exists() {
        return fs::copy(&given, &file).map(drop).map_err(|error| SourceError::io(&given, error));
    }
    let Some(imported_on) = sources.iter().map(|source| source.imported_on).max() else { return Ok(()) };
    let joined = |texts: &mut dyn Iterator<Item = &str>, separator: &str| {
        let mut distinct: Vec<&str> = Vec::new();
        for text in texts.filter(|text| !text.is_empty()) {
            if !distinct.contains(&text) {
                distinct.push(text);
            }
        }
        distinct.join(separator).chars().take(1_000).collect::<String>()
    };
    let meta = Meta {
        version: SnapshotVersion { date: imported_on, counter: 1 },
        released_on: imported_on,
        title: joined(&mut sources.iter().map(|source| &*source.title), "; "),
        source: joined(&mut sources.iter().map(|source| &*source.url), " "),
        license: joined(&mut sources.iter().map(|source| &*source.license), " AND "),
        invented: false,
    };
    let text = toml::to_string(&meta).map_err(|error| SourceError::invalid(&file, error.to_string()))?;
    fs::write(&file, text).map_err(|error| SourceError::io(&file, error))
}

/// The sources whose license is allowed; all if none is named. Reports a license that no source has.
pub fn licensed(sources: Vec<Source>, allowed: &[String]) -> Result<Vec<Source>, SourceError> {
    if allowed.is_empty() {
        return Ok(sources);
    }
    for license in allowed {
        if !sources.iter().any(|source| source.license == *license) {
            let mut known: Vec<&str> = sources.iter().map(|source| &*source.license).collect();
            known.sort_unstable();
            known.dedup();
            return Err(SourceError::Problems(vec![format!(
                "--licenses: no source has the license {license}; the sources have: {}",
                known.join(", ")
            )]));
        }
    }
    Ok(sources.into_iter().filter(|source| allowed.contains(&source.license)).collect())
}

/// The kinds whose records have provenance and redirects.
fn is_described(kind: EntityKind) -> bool {
    kind != EntityKind::Sector
}

#[cfg(test)]
mod tests;
