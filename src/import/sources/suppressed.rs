//! Records that are not published, whatever sources say: `suppressed.csv`, next to the folders of the sources.
//!
//! A line names an entity of a source, as decisions do. Its key is the same when the source is imported again, while the slug
//! of a record depends on its name and on the other sources. All entities of its record are suppressed with it: an entity of
//! another source that resolution finds to be the same, too. The key of a person may be given as its SHA-256, so that the
//! file does not name the people that it leaves out.

use std::collections::HashSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sources::statement::source_entity;
use crate::sources::update::append;
use crate::sources::view::Clusters;
use crate::sources::{EntityId, EntityKind, Source, SourceError};
use data::import::csv_row::CsvRow;
pub use data::import::csv_table::{CsvTable, TableRow};
use data::import::diagnostics::quoted;
use data::{Date, NoProgress, Report};
use search::nearest;

/// The file of suppressed entities, next to the folders of the sources.
pub const FILE: &str = "suppressed.csv";

/// The kinds of records that can be suppressed. A sector has no record of its own in a source.
pub const KINDS: [EntityKind; 4] = [EntityKind::Firm, EntityKind::Startup, EntityKind::Round, EntityKind::Person];

/// Before the hexadecimal digits of a key's SHA-256.
const DIGEST: &str = "sha256:";

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    source: String,
    entity: EntityId,
    line: u64,
}

impl TableRow for Line {
    const NOUN: &'static str = "suppressed record";
    const FILE: &'static str = FILE;
    const HEADER: &'static str = "entity,on,why";
    const REQUIRED: &'static str = "entity";
}

impl Line {
    /// `None` if a value is missing or invalid, which is then reported.
    fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        row.date("on");
        let text = row.required("entity", |row, column| Some(row.field(column).to_owned()))?;
        match source_entity(&text, &KINDS) {
            Ok((source, mut entity)) => {
                if entity.key.starts_with(DIGEST) {
                    entity.key.make_ascii_lowercase();
                }
                Some(Self { source: source.to_owned(), entity, line: row.line })
            }
            Err(problem) => {
                let remedy = "`indexer suppress KIND SLUG --sources DIR` writes the entities of a record";
                row.error("entity", format!("{problem}; {remedy}"));
                None
            }
        }
    }
}

/// An entity with the SHA-256 of its name in place of its key.
fn hidden(source: &str, entity: &EntityId) -> EntityId {
    let digest = Sha256::digest(format!("{source}/{entity}"));
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    EntityId { kind: entity.kind, key: format!("{DIGEST}{digits}") }
}

/// The entities that are suppressed.
#[derive(Clone, Debug, Default)]
pub struct Suppressed {
    lines: Vec<Line>,
    /// The sources and entities of the lines.
    named: HashSet<(String, EntityId)>,
    has_digests: bool,
    clusters: Clusters,
    /// The clusters of named entities.
    suppressed: HashSet<u32>,
}

impl Suppressed {
    /// Reads the file in `folder`, which may lack it. The error has what is wrong with its lines.
    pub fn read(folder: &Path) -> Result<Self, SourceError> {
        let mut report = Report::default();
        let lines = CsvTable::read(folder, &mut report, &NoProgress, Line::read).rows;
        let problems = report.errors().map(|problem| folder.join(problem.to_string()).display().to_string());
        let problems: Vec<String> = problems.collect();
        if !problems.is_empty() {
            return Err(SourceError::Problems(problems));
        }
        Ok(Self {
            named: lines.iter().map(|line| (line.source.clone(), line.entity.clone())).collect(),
            has_digests: lines.iter().any(|line| line.entity.key.starts_with(DIGEST)),
            lines,
            ..Self::default()
        })
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Also all entities that are in a cluster with a named one. The clusters are those of all sources, so that it does not
    /// depend on the sources of a build what is suppressed.
    #[must_use]
    pub fn with_clusters(mut self, clusters: &Clusters) -> Self {
        if !self.is_empty() {
            let all = clusters.iter().filter(|(source, entity, _)| self.names(source, entity));
            self.suppressed = all.map(|(.., cluster)| cluster).collect();
            self.clusters = clusters.clone();
        }
        self
    }

    /// Whether a line names the entity.
    #[must_use]
    pub fn names(&self, source: &str, entity: &EntityId) -> bool {
        let has = |entity: EntityId| self.named.contains(&(source.to_owned(), entity));
        !self.is_empty() && (has(entity.clone()) || self.has_digests && has(hidden(source, entity)))
    }

    /// Whether the entity is suppressed.
    #[must_use]
    pub fn covers(&self, source: &str, entity: &EntityId) -> bool {
        let cluster = self.clusters.of(source, entity);
        cluster.is_some_and(|cluster| self.suppressed.contains(&cluster)) || self.names(source, entity)
    }

    /// Reports the lines whose entity no source has. They stay valid: the source may be imported again.
    pub fn unknown(&self, folder: &Path, sources: &[Source]) -> Result<Vec<String>, SourceError> {
        let mut found: Vec<(&Line, Option<String>)> = Vec::new();
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
                        missing.remove(&hidden(&source.id, &statement.entity));
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
        let messages = found.into_iter().map(|(Line { source, entity, line }, near)| {
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("{}:{line}: entity: no source has {}{hint}", file.display(), quoted(&format!("{source}/{entity}")))
        });
        Ok(messages.collect())
    }

    /// Adds lines for entities that no line names, to the file in `folder`; returns how many. Those of people have digests.
    pub fn add(
        &self,
        folder: &Path,
        entities: &[(String, EntityId)],
        on: Date,
        why: &str,
    ) -> Result<usize, SourceError> {
        let new = entities.iter().filter(|(source, entity)| !self.names(source, entity));
        let new: Vec<String> = new
            .map(|(source, entity)| match entity.kind {
                EntityKind::Person => format!("{source}/{}", hidden(source, entity)),
                _ => format!("{source}/{entity}"),
            })
            .collect();
        let on = on.to_string();
        let lines: Vec<[&str; 3]> = new.iter().map(|entity| [&**entity, &*on, why]).collect();
        let lines: Vec<&[&str]> = lines.iter().map(<[&str; 3]>::as_slice).collect();
        let file = folder.join(FILE);
        append(&file, Line::HEADER, &lines)?;
        Ok(new.len())
    }
}

#[cfg(test)]
mod tests;
