//! Suppressed records, which are never published: `suppressed.csv`, next to the folders of the sources.
//!
//! A line names an entity of a source, as decisions do. The entity's key stays the same when the source is imported again,
//! while the slug of a record depends on its name and on the other sources. All entities of the record are suppressed with
//! it, also those of other sources that resolution joins. A person's key may be given as its SHA-256, so that the file does
//! not name the people that it hides.

use std::collections::HashSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sources::statement::source_entity;
use crate::sources::update::append;
use crate::sources::view::Clusters;
use crate::sources::{EntityId, EntityKind, Source, SourceError, read_edited};
use data::import::csv_row::CsvRow;
use data::import::csv_table::TableRow;
use data::import::diagnostics::{did_you_mean, quoted};
use data::{Date, hex};
use search::nearest;

pub const FILE: &str = "suppressed.csv";

/// Kinds of records that can be suppressed. A sector has no record of its own in a source.
pub const KINDS: [EntityKind; 4] = [EntityKind::Firm, EntityKind::Startup, EntityKind::Round, EntityKind::Person];

/// Prefix of the hexadecimal digits of a key's SHA-256.
const DIGEST: &str = "sha256:";

#[derive(Clone, Debug, PartialEq, Eq)]
struct SuppressedLine {
    source: String,
    entity: EntityId,
    line: u64,
}

impl TableRow for SuppressedLine {
    const NOUN: &'static str = "suppressed record";
    const FILE: &'static str = FILE;
    const HEADER: &'static str = "entity,on,why";
    const REQUIRED: &'static str = "entity";
}

impl SuppressedLine {
    fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        row.date("on");
        let text = row.required("entity", |row, column| Some(row.field(column).to_owned()))?;
        let remedy = "`indexer suppress KIND SLUG --sources DIR` writes the entities of a record";
        let entity = source_entity(&text, &KINDS);
        let (source, mut entity) =
            entity.map_err(|problem| row.error("entity", format!("{problem}; {remedy}"))).ok()?;
        if entity.key.starts_with(DIGEST) {
            entity.key.make_ascii_lowercase();
        }
        Some(Self { source: source.to_owned(), entity, line: row.line })
    }
}

/// Replaces the key of an entity by the SHA-256 of its source, kind and key.
pub(crate) fn with_hashed_key(source: &str, entity: &EntityId) -> EntityId {
    let digest = Sha256::digest(format!("{source}/{entity}"));
    EntityId { kind: entity.kind, key: format!("{DIGEST}{}", hex::digits(&digest)) }
}

#[derive(Clone, Debug, Default)]
pub struct Suppressed {
    lines: Vec<SuppressedLine>,
    named: HashSet<(String, EntityId)>,
    has_digests: bool,
    clusters: Clusters,
    /// Clusters that contain a named entity.
    suppressed: HashSet<u32>,
}

impl Suppressed {
    /// Reads the file in `folder`; a missing file suppresses nothing. The error lists invalid lines.
    pub fn read(folder: &Path) -> Result<Self, SourceError> {
        read_edited(folder, SuppressedLine::read, |lines: Vec<SuppressedLine>, _| Self {
            named: lines.iter().map(|line| (line.source.clone(), line.entity.clone())).collect(),
            has_digests: lines.iter().any(|line| line.entity.key.starts_with(DIGEST)),
            lines,
            ..Self::default()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Extends the suppression to all entities that share a cluster with a named one. Pass the clusters of all sources, so
    /// that the result does not depend on the sources of a build.
    #[must_use]
    pub(crate) fn with_clusters(mut self, clusters: &Clusters) -> Self {
        if !self.is_empty() {
            let all = clusters.iter().filter(|(source, entity, _)| self.names(source, entity));
            self.suppressed = all.map(|(.., cluster)| cluster).collect();
            self.clusters = clusters.clone();
        }
        self
    }

    /// True if a line names the entity.
    pub(crate) fn names(&self, source: &str, entity: &EntityId) -> bool {
        let has = |entity: EntityId| self.named.contains(&(source.to_owned(), entity));
        !self.is_empty() && (has(entity.clone()) || self.has_digests && has(with_hashed_key(source, entity)))
    }

    pub(crate) fn covers(&self, source: &str, entity: &EntityId) -> bool {
        let cluster = self.clusters.cluster_of(source, entity);
        cluster.is_some_and(|cluster| self.suppressed.contains(&cluster)) || self.names(source, entity)
    }

    /// Returns a message for each line with an entity that no source has. It stays valid: the source may come again.
    pub fn find_unknown(&self, folder: &Path, sources: &[Source]) -> Result<Vec<String>, SourceError> {
        let mut found: Vec<(&SuppressedLine, Option<String>)> = Vec::new();
        for line in &self.lines {
            if sources.iter().all(|source| source.id != line.source) {
                let near = nearest(&line.source, sources.iter().map(|source| &*source.id));
                found.push((line, near.map(|source| format!("{source}/{}", line.entity))));
            }
        }
        for source in sources {
            let lines = || self.lines.iter().filter(|line| line.source == source.id);
            let mut missing: HashSet<&EntityId> = lines().map(|line| &line.entity).collect();
            if missing.is_empty() {
                continue;
            }
            let mut known: Vec<EntityId> = Vec::new();
            for statement in source.statements(folder)? {
                let statement = statement?;
                if missing.is_empty() {
                    break;
                }
                if known.last() != Some(&statement.entity) {
                    if self.names(&source.id, &statement.entity) {
                        missing.remove(&statement.entity);
                        missing.remove(&with_hashed_key(&source.id, &statement.entity));
                    }
                    known.push(statement.entity);
                }
            }
            for line in lines().filter(|line| missing.contains(&line.entity)) {
                let keys = known.iter().filter(|known| known.kind == line.entity.kind).map(|known| &*known.key);
                let near = nearest(&line.entity.key, keys);
                found.push((line, near.map(|key| format!("{}/{}:{key}", source.id, line.entity.kind))));
            }
        }
        found.sort_by_key(|(line, _)| line.line);
        let file = folder.join(FILE);
        let messages = found.into_iter().map(|(SuppressedLine { source, entity, line }, near)| {
            let hint = did_you_mean(near);
            format!("{}:{line}: entity: no source has {}{hint}", file.display(), quoted(&format!("{source}/{entity}")))
        });
        Ok(messages.collect())
    }

    /// Appends lines for entities that no line names yet, people as digests. Returns the number of new lines.
    pub fn add(&self, folder: &Path, all: &[(String, EntityId)], on: Date, why: &str) -> Result<usize, SourceError> {
        let new = all.iter().filter(|(source, entity)| !self.names(source, entity));
        let new = new.map(|(source, entity)| match entity.kind {
            EntityKind::Person => format!("{source}/{}", with_hashed_key(source, entity)),
            _ => format!("{source}/{entity}"),
        });
        let new: Vec<String> = new.collect();
        let on = on.to_string();
        let lines: Vec<[&str; 3]> = new.iter().map(|entity| [&**entity, &*on, why]).collect();
        append(&folder.join(FILE), SuppressedLine::HEADER, &lines)?;
        Ok(new.len())
    }
}

#[cfg(test)]
mod tests;
