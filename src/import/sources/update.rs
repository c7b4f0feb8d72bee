//! An import of a source: its statements, merged with those of earlier imports.

use std::cmp::Ordering;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::sources::statement::{HEADER, STATEMENTS, Standing, share};
use crate::sources::{EntityKind, Source, SourceError, Statement, StatementReader};
use data::Date;
use data::import::diagnostics::quoted;
use data::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// How much of a source an import has.
    Extent, "extent of an import", {
        /// All: what it lacks, the source does not have any more.
        Complete = "complete",
        /// What is new or changed, such as the filings of a quarter: what it lacks stays.
        Increment = "increment",
    }
}

/// A plain list has all that its source has.
impl Default for Extent {
    fn default() -> Self {
        Self::Complete
    }
}

/// A complete import may lack one record of each kind, and one of so many; if it lacks more, it is most likely a part.
const MAX_SHARE: u64 = 5;

/// A statement of an import, which is seen on the day of the import. An entity is its text.
#[derive(Clone, Copy, Debug)]
pub struct NewStatement<'a> {
    pub entity: &'a str,
    pub field: &'a str,
    pub value: &'a str,
    pub original: &'a str,
    pub source_key: &'a str,
}

/// How an import changed the statements of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Not in an earlier import.
    pub new: u64,
    /// In an earlier import, too.
    pub known: u64,
    /// Those that counted and do not any more. They are kept with the day on which they were last seen.
    pub gone: u64,
    /// Firms, startups, rounds and people that the source had and does not have any more.
    pub gone_records: u64,
}

/// Finds out what does not count any more, from statements in the order of entity and field.
#[derive(Default)]
struct Tally {
    is_complete: bool,
    changes: Changes,
    /// Entities of each kind that counted, and those of them that do not any more.
    had: [u64; EntityKind::ALL.len()],
    lost: [u64; EntityKind::ALL.len()],
    entity: String,
    /// Whether the entity counted, and whether it counts now.
    did_count: bool,
    counts: bool,
    field: String,
    /// Whether the import states the field, and the statements that counted and that it does not repeat.
    is_stated: bool,
    not_repeated: u64,
}

impl Tally {
    /// The next statement is of this entity and field.
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
        let kind = self.entity.split_once(':').and_then(|(kind, _)| EntityKind::read(kind));
        if let Some(kind) = kind.filter(|_| self.did_count) {
            self.had[kind.index()] += 1;
            self.lost[kind.index()] += u64::from(!self.counts);
        }
        (self.did_count, self.counts) = (false, false);
        entity.clone_into(&mut self.entity);
    }

    /// A statement of the import; `earlier` is the same one of an earlier import.
    fn stated(&mut self, entity: &str, field: &str, earlier: Option<&Statement>) {
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

    /// A statement that only earlier imports have.
    fn kept(&mut self, entity: &str, earlier: &Statement) {
        self.advance(entity, &earlier.field);
        if earlier.standing == Standing::Current {
            self.did_count = true;
            self.not_repeated += 1;
        }
    }

    fn finish(&mut self) -> Changes {
        self.advance("", "");
        self.changes.gone_records = records().map(|kind| self.lost[kind.index()]).sum();
        self.changes
    }

    /// Refuses an import that lacks much of what the source had.
    fn check(&self, source: &Source) -> Result<(), SourceError> {
        let count = |kind: EntityKind| (self.lost[kind.index()], self.had[kind.index()]);
        let losses = records().map(|kind| (kind, count(kind)));
        let losses = losses.filter(|(_, (lost, had))| *lost > 1 && lost * MAX_SHARE > *had);
        let losses: Vec<String> = losses.map(|(kind, (lost, had))| format!("{lost} of {had} of kind {kind}")).collect();
        if losses.is_empty() { Ok(()) } else { Err(SourceError::Shrunk { source_id: source.id.clone(), losses }) }
    }
}

/// The kinds of records that an import may lose. Sectors come and go with them.
fn records() -> impl Iterator<Item = EntityKind> {
    EntityKind::ALL.iter().copied().filter(|kind| *kind != EntityKind::Sector)
}

/// An import of a source, merged with its earlier ones. Nothing changes on disk until [`Update::finish`].
pub struct Update {
    source: Source,
    /// The source as the last import left it.
    before: Option<Source>,
    folder: PathBuf,
    earlier: Option<StatementReader>,
    /// The next statement of `earlier`.
    next: Option<Statement>,
    out: BufWriter<tempfile::NamedTempFile>,
    line: Vec<u8>,
    /// Entity, field and value of the last new statement.
    last: [String; 3],
    on: String,
    /// The number of the import.
    number: String,
    tally: Tally,
}

impl Update {
    /// Begins an import into the folder of sources on the day `source.imported_on`, which may be before that of an earlier
    /// import: it decides all the same. The numbers of imports in `source` are replaced.
    pub fn begin(sources: &Path, mut source: Source, extent: Extent) -> Result<Self, SourceError> {
        let folder = sources.join(&source.id);
        fs::create_dir_all(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let on = source.imported_on.to_string();
        let before = Source::read(&folder)?;
        let earlier = before.as_ref().map(|before| before.statements(sources)).transpose()?;
        (source.imports, source.last_complete) = (1, 0);
        if let Some(before) = &before {
            source.imported_on = source.imported_on.max(before.imported_on);
            // What was stated before imports had numbers has the number 1.
            (source.imports, source.last_complete) = (before.imports.max(1) + 1, before.last_complete);
        }
        if extent == Extent::Complete {
            source.last_complete = source.imports;
        }
        let out = tempfile::NamedTempFile::new_in(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let mut update = Self {
            number: source.imports.to_string(),
            tally: Tally { is_complete: extent == Extent::Complete, ..Tally::default() },
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
        update.line(&HEADER)?;
        Ok(update)
    }

    /// Adds a statement; they come in the order of entity, field and value. Of equal ones the first is kept.
    pub fn add(&mut self, new: NewStatement<'_>) -> Result<(), SourceError> {
        let key = [new.entity, new.field, new.value];
        match key.iter().copied().cmp(self.last.iter().map(String::as_str)) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => {
                let problem = format!("{} comes after {}: not in order", key.join(" "), self.last.join(" "));
                return Err(SourceError::invalid(&self.folder.join(STATEMENTS), problem));
            }
            Ordering::Greater => {}
        }
        for (last, part) in self.last.iter_mut().zip(key) {
            last.clear();
            last.push_str(part);
        }
        let mut same = None;
        while let Some(next) = &self.next {
            let entity = next.entity.to_string();
            match [&*entity, &*next.field, &*next.value].cmp(&key) {
                Ordering::Less => self.keep()?,
                Ordering::Equal => {
                    same = self.next.take();
                    self.advance()?;
                    break;
                }
                Ordering::Greater => break,
            }
        }
        self.tally.stated(new.entity, new.field, same.as_ref());
        let seen = same.map(|same| (same.first_seen.to_string(), same.last_seen.to_string()));
        let (on, number) = (std::mem::take(&mut self.on), std::mem::take(&mut self.number));
        let (first, last) = match &seen {
            Some((first, last)) => (first.min(&on), last.max(&on)),
            None => (&on, &on),
        };
        let NewStatement { entity, field, value, original, source_key } = new;
        let written = self.line(&[entity, field, value, original, source_key, first, last, &number]);
        (self.on, self.number) = (on, number);
        written
    }

    /// The latest day of the earlier imports, if that is after the day of this one.
    #[must_use]
    pub fn later_day(&self) -> Option<Date> {
        let before = self.before.as_ref()?.imported_on;
        (before.to_string() > self.on).then_some(before)
    }

    /// Replaces the files of the source. A complete import that lacks several records of a kind, and more than a fifth of
    /// those that the source had, is refused with [`SourceError::Shrunk`], unless it is forced.
    pub fn finish(mut self, is_forced: bool) -> Result<Changes, SourceError> {
        while self.next.is_some() {
            self.keep()?;
        }
        let changes = self.tally.finish();
        if !is_forced {
            self.tally.check(&self.source)?;
        }
        // An import that is interrupted from here on has had its number: no later one gets the same.
        if let Some(before) = &self.before {
            Source { imports: self.source.imports, ..before.clone() }.write(&self.folder)?;
        }
        let io = |path: &Path, error| SourceError::io(path, error);
        let path = self.folder.join(STATEMENTS);
        let file = self.out.into_inner().map_err(|error| io(&path, error.into_error()))?;
        share(&file).and_then(|()| file.as_file().sync_all()).map_err(|error| io(&path, error))?;
        // Statements without `source.toml` are no source, so that a first import that is interrupted here leaves nothing.
        file.persist(&path).map_err(|error| io(&path, error.error))?;
        self.source.write(&self.folder)?;
        Ok(changes)
    }

    /// Copies the next earlier statement, which the import does not repeat.
    fn keep(&mut self) -> Result<(), SourceError> {
        let Some(kept) = self.next.take() else { return Ok(()) };
        let (entity, number) = (kept.entity.to_string(), kept.last_import.to_string());
        let (first, last) = (kept.first_seen.to_string(), kept.last_seen.to_string());
        self.line(&[&entity, &kept.field, &kept.value, &kept.original, &kept.source_key, &first, &last, &number])?;
        self.tally.kept(&entity, &kept);
        self.advance()
    }

    fn advance(&mut self) -> Result<(), SourceError> {
        self.next = self.earlier.as_mut().and_then(StatementReader::next).transpose()?;
        Ok(())
    }

    fn line(&mut self, fields: &[&str]) -> Result<(), SourceError> {
        self.line.clear();
        write_line(&mut self.line, fields);
        self.out.write_all(&self.line).map_err(|error| SourceError::io(&self.folder.join(STATEMENTS), error))
    }
}

/// Adds a line of CSV. The writer of the `csv` crate takes three times as long, which is half of the time of an import.
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

/// Appends lines to a CSV file that people edit, too; it is created with the header if it is not there or empty.
pub(crate) fn append(path: &Path, header: &str, lines: &[&[&str]]) -> Result<(), SourceError> {
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
            let problem =
                format!("the header is {}; write it as `{header}`, so that lines can be added", quoted(first));
            return Err(SourceError::at_line(path, 1, problem));
        }
        if !text.ends_with('\n') {
            bytes.push(b'\n');
        }
    }
    for line in lines {
        write_line(&mut bytes, line);
    }
    // In one write, so that a process that is killed leaves no half of a line.
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(io)
}

#[cfg(test)]
mod tests;
