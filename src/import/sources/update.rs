//! Updates a source: merges the statements of an import with those of earlier imports.

use std::cmp::Ordering;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::sources::statement::{HEADER, STATEMENTS, Standing, StatementReader, make_readable};
use crate::sources::{EntityId, EntityKind, Source, SourceError, Statement};
use data::Date;
use data::import::diagnostics::quoted;
use data::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// Part of a source that an import covers.
    Extent, "extent of an import", {
        /// The whole source: it no longer has anything that the import lacks.
        Complete = "complete",
        /// New and changed data, such as the filings of a quarter. Everything else stays.
        Increment = "increment",
    }
}

/// A complete import may lack one record of each kind, or one in this many. If it lacks more, it is most likely partial.
const MAX_SHARE: u64 = 5;

/// Statement of an import, seen on the day of the import. The entity is written as text.
pub(crate) struct NewStatement<'a> {
    pub entity: &'a str,
    pub field: &'a str,
    pub value: &'a str,
    pub original: &'a str,
    pub source_key: &'a str,
}

/// Changes that an import made to the statements of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatementChanges {
    /// Statements that no earlier import made.
    pub new: u64,
    /// Statements that an earlier import also made.
    pub known: u64,
    /// Statements that no longer count. They are kept with the day on which they were last seen.
    pub gone: u64,
    /// Firms, startups, rounds and people that the source no longer has.
    pub gone_records: u64,
}

/// Counts the statements and entities that no longer count, from statements in the order of entity and field.
#[derive(Default)]
struct ChangeTally {
    is_complete: bool,
    changes: StatementChanges,
    /// Entities of each kind that counted before the import.
    had: [u64; EntityKind::ALL.len()],
    /// Those of them that no longer count.
    lost: [u64; EntityKind::ALL.len()],
    entity: String,
    /// True if the entity counted before the import.
    did_count: bool,
    counts: bool,
    field: String,
    is_stated: bool,
    /// Current statements of the field that the import does not repeat.
    not_repeated: u64,
}

impl ChangeTally {
    /// Moves on to the entity and field of the next statement.
    fn advance(&mut self, entity: &str, field: &str) {
        if self.entity == entity && self.field == field {
            return;
        }
        match self.is_complete || self.is_stated {
            true => self.changes.gone += self.not_repeated,
            false => self.counts |= self.not_repeated > 0,
        }
        (self.is_stated, self.not_repeated) = (false, 0);
        field.clone_into(&mut self.field);
        if self.entity == entity {
            return;
        }
        if let (true, Ok(EntityId { kind, .. })) = (self.did_count, self.entity.parse::<EntityId>()) {
            self.had[kind.index()] += 1;
            self.lost[kind.index()] += u64::from(!self.counts);
        }
        (self.did_count, self.counts) = (false, false);
        entity.clone_into(&mut self.entity);
    }

    /// Counts a statement of the import. `earlier` is the same statement of an earlier import.
    fn count_stated(&mut self, entity: &str, field: &str, earlier: Option<&Statement>) {
        self.advance(entity, field);
        (self.counts, self.is_stated) = (true, true);
        match earlier {
            Some(earlier) => {
                self.changes.known += 1;
                self.did_count |= earlier.standing == Standing::Current;
            }
            None => self.changes.new += 1,
        }
    }

    /// Counts a statement that only earlier imports made.
    fn count_kept(&mut self, entity: &str, earlier: &Statement) {
        self.advance(entity, &earlier.field);
        if earlier.standing == Standing::Current {
            self.did_count = true;
            self.not_repeated += 1;
        }
    }

    fn finish(&mut self) -> StatementChanges {
        self.advance("", "");
        self.changes.gone_records = record_kinds().map(|kind| self.lost[kind.index()]).sum();
        self.changes
    }

    fn check(&self, source: &Source) -> Result<(), SourceError> {
        let losses = record_kinds().filter_map(|kind| {
            let (lost, had) = (self.lost[kind.index()], self.had[kind.index()]);
            (lost > 1 && lost * MAX_SHARE > had).then(|| format!("{lost} of {had} of kind {kind}"))
        });
        let losses: Vec<String> = losses.collect();
        if losses.is_empty() { Ok(()) } else { Err(SourceError::Shrunk { source_id: source.id.clone(), losses }) }
    }
}

/// Kinds of records that are counted as lost. Sectors come and go with them.
fn record_kinds() -> impl Iterator<Item = EntityKind> {
    EntityKind::ALL.iter().copied().filter(|kind| *kind != EntityKind::Sector)
}

/// Merges an import into a source. Nothing changes on disk until [`Update::finish`].
pub(crate) struct Update {
    source: Source,
    /// The source after the previous import.
    before: Option<Source>,
    folder: PathBuf,
    earlier: Option<StatementReader>,
    /// Next statement of `earlier`.
    next: Option<Statement>,
    out: BufWriter<tempfile::NamedTempFile>,
    line: Vec<u8>,
    /// Entity, field and value of the last new statement.
    last: [String; 3],
    on: String,
    number: String,
    tally: ChangeTally,
}

impl Update {
    /// Begins an import into the folder of sources on the day `source.imported_on`. The import decides even if an earlier one
    /// has a later day. The import numbers in `source` are replaced.
    pub(crate) fn begin(sources: &Path, mut source: Source, extent: Extent) -> Result<Self, SourceError> {
        let folder = sources.join(&source.id);
        fs::create_dir_all(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let on = source.imported_on.to_string();
        let before = Source::read(&folder)?;
        let earlier = before.as_ref().map(|before| before.statements(sources)).transpose()?;
        (source.imports, source.last_complete) = (1, 0);
        if let Some(before) = &before {
            source.imported_on = source.imported_on.max(before.imported_on);
            // Statements from before imports had numbers get the number 1.
            (source.imports, source.last_complete) = (before.imports.max(1) + 1, before.last_complete);
        }
        if extent == Extent::Complete {
            source.last_complete = source.imports;
        }
        let out = tempfile::NamedTempFile::new_in(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let mut update = Self {
            number: source.imports.to_string(),
            tally: ChangeTally { is_complete: extent == Extent::Complete, ..ChangeTally::default() },
            source,
            before,
            folder,
            earlier,
            next: None,
            out: BufWriter::with_capacity(1 << 16, out),
            line: Vec::new(),
            last: Default::default(),
            on,
        };
        update.advance()?;
        update.write_fields(&HEADER)?;
        Ok(update)
    }

    /// Adds a statement, in the order of entity, field and value. Equal ones after the first are ignored.
    pub(crate) fn add(&mut self, new: NewStatement<'_>) -> Result<(), SourceError> {
        let key = [new.entity, new.field, new.value];
        match key.iter().copied().cmp(self.last.iter().map(String::as_str)) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => {
                let problem = format!("{} comes after {}: not in order", key.join(" "), self.last.join(" "));
                return Err(SourceError::invalid(&self.folder.join(STATEMENTS), problem));
            }
            Ordering::Greater => {}
        }
        self.last.iter_mut().zip(key).for_each(|(last, part)| part.clone_into(last));
        let mut same = None;
        while let Some(next) = &self.next {
            let entity = next.entity.to_string();
            match [&*entity, &*next.field, &*next.value].cmp(&key) {
                Ordering::Less => self.copy_earlier()?,
                Ordering::Equal => {
                    same = self.next.take();
                    self.advance()?;
                    break;
                }
                Ordering::Greater => break,
            }
        }
        self.tally.count_stated(new.entity, new.field, same.as_ref());
        let (on, number) = (std::mem::take(&mut self.on), std::mem::take(&mut self.number));
        let seen = same.map(|same| (same.first_seen.to_string(), same.last_seen.to_string()));
        let (first, last) = seen.as_ref().map_or((&on, &on), |(first, last)| (first.min(&on), last.max(&on)));
        let NewStatement { entity, field, value, original, source_key } = new;
        let written = self.write_fields(&[entity, field, value, original, source_key, first, last, &number]);
        (self.on, self.number) = (on, number);
        written
    }

    /// True if the source has the entity, and keeps what this import does not state of it. Ask in the order of the entities.
    pub(crate) fn keeps(&mut self, entity: &str) -> Result<bool, SourceError> {
        if self.tally.is_complete {
            return Ok(false);
        }
        while self.next.as_ref().is_some_and(|next| *next.entity.to_string() < *entity) {
            self.copy_earlier()?;
        }
        Ok(self.next.as_ref().is_some_and(|next| next.standing != Standing::Gone && next.entity.to_string() == entity))
    }

    /// Ends an import that is not kept. The folder of a source that is new is removed.
    pub(crate) fn abandon(self) {
        let Self { before, folder, out, .. } = self;
        drop(out);
        if before.is_none() {
            // Only an empty folder is removed.
            let _ = fs::remove_dir(&folder);
        }
    }

    /// Year of the import.
    pub(crate) fn year(&self) -> i32 {
        self.source.imported_on.year()
    }

    /// Latest day of the earlier imports, if it is after the day of this one.
    pub(crate) fn later_day(&self) -> Option<Date> {
        let before = self.before.as_ref()?.imported_on;
        (before.to_string() > self.on).then_some(before)
    }

    /// Replaces the files of the source. A complete import is refused with [`SourceError::Shrunk`] if it lacks several records
    /// of a kind and more than a fifth of those that the source had, unless it is forced.
    pub(crate) fn finish(mut self, is_forced: bool) -> Result<StatementChanges, SourceError> {
        while self.next.is_some() {
            self.copy_earlier()?;
        }
        let changes = self.tally.finish();
        if !is_forced {
            self.tally.check(&self.source)?;
        }
        // The number is used up before the files are replaced, so that no later import gets the number of an interrupted one.
        if let Some(before) = &self.before {
            Source { imports: self.source.imports, ..before.clone() }.write(&self.folder)?;
        }
        let io = |path: &Path, error| SourceError::io(path, error);
        let path = self.folder.join(STATEMENTS);
        let file = self.out.into_inner().map_err(|error| io(&path, error.into_error()))?;
        make_readable(&file).and_then(|()| file.as_file().sync_all()).map_err(|error| io(&path, error))?;
        // Without `source.toml` there is no source yet, so a first import that is interrupted here leaves none.
        file.persist(&path).map_err(|error| io(&path, error.error))?;
        self.source.write(&self.folder)?;
        Ok(changes)
    }

    /// Copies the next earlier statement, which the import does not repeat.
    fn copy_earlier(&mut self) -> Result<(), SourceError> {
        let Some(kept) = self.next.take() else { return Ok(()) };
        let (entity, number) = (kept.entity.to_string(), kept.last_import.to_string());
        let (first, last) = (kept.first_seen.to_string(), kept.last_seen.to_string());
        let fields = [&entity, &kept.field, &kept.value, &kept.original, &kept.source_key, &first, &last, &number];
        self.write_fields(&fields.map(String::as_str))?;
        self.tally.count_kept(&entity, &kept);
        self.advance()
    }

    fn advance(&mut self) -> Result<(), SourceError> {
        self.next = self.earlier.as_mut().and_then(StatementReader::next).transpose()?;
        Ok(())
    }

    fn write_fields(&mut self, fields: &[&str]) -> Result<(), SourceError> {
        self.line.clear();
        write_line(&mut self.line, fields);
        self.out.write_all(&self.line).map_err(|error| SourceError::io(&self.folder.join(STATEMENTS), error))
    }
}

/// Adds a line of CSV. The writer of the `csv` crate is three times slower, which would take half of the time of an import.
pub(crate) fn write_line(line: &mut Vec<u8>, fields: &[&str]) {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        if field.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
            line.push(b'"');
            line.extend_from_slice(field.replace('"', "\"\"").as_bytes());
            line.push(b'"');
        } else {
            line.extend_from_slice(field.as_bytes());
        }
    }
    line.push(b'\n');
}

/// Appends lines to a CSV file that people also edit. A missing or empty file gets the header.
pub(crate) fn append<const N: usize>(path: &Path, header: &str, lines: &[[&str; N]]) -> Result<(), SourceError> {
    let io = |error| SourceError::io(path, error);
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(io)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(io)?;
    let mut bytes = Vec::new();
    if text.is_empty() {
        write_line(&mut bytes, &header.split(',').collect::<Vec<_>>());
    } else {
        let first = text.lines().next().unwrap_or_default().trim_start_matches('\u{feff}').trim_end();
        if first != header {
            let error = format!("the header is {}; write it as `{header}`, so that lines can be added", quoted(first));
            return Err(SourceError::at_line(path, 1, error));
        }
        if !text.ends_with('\n') {
            bytes.push(b'\n');
        }
    }
    for line in lines {
        write_line(&mut bytes, line);
    }
    // In one write, so that a killed process leaves no partial line.
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(io)
}

#[cfg(test)]
mod tests;
