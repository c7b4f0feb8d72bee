//! Statements of a source, and the folder that keeps them: `source.toml` and `statements.csv`.
//!
//! The file is sorted by entity, field and value, so that it can be merged, compared and read entity by entity as a stream.

use std::cmp::Ordering;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::Date;
use crate::data::import::csv_row::is_slug;
use crate::data::import::diagnostics::quoted;
use crate::data::vocabulary::{Vocabulary, vocabulary};
use crate::sources::SourceError;

const SOURCE: &str = "source.toml";
const STATEMENTS: &str = "statements.csv";
const HEADER: [&str; 7] = ["entity", "field", "value", "original", "source_key", "first_seen", "last_seen"];

/// Where statements come from, and who may use them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name of its folder, such as `sec-form-d`.
    pub id: String,
    pub title: String,
    /// An SPDX identifier, or `LicenseRef-` and a name.
    pub license: String,
    #[serde(default)]
    pub url: String,
    /// If sources disagree, the one with the highest priority is right.
    pub priority: u32,
    /// The day of the last import.
    pub imported_on: Date,
}

impl Source {
    /// Whether `id` can be the name of a source: lowercase letters, digits and single `-` between them.
    #[must_use]
    pub fn is_id(id: &str) -> bool {
        is_slug(id)
    }

    /// The sources below `folder`, by id. Folders without `source.toml` are no sources.
    pub fn list(folder: &Path) -> Result<Vec<Self>, SourceError> {
        let mut sources = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| SourceError::io(folder, error))? {
            let path = entry.map_err(|error| SourceError::io(folder, error))?.path();
            sources.extend(Self::read(&path)?);
        }
        sources.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(sources)
    }

    /// The source that is kept in `folder`; `None` if there is none.
    fn read(folder: &Path) -> Result<Option<Self>, SourceError> {
        let file = folder.join(SOURCE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Ok(None);
            }
            Err(error) => return Err(SourceError::io(&file, error)),
        };
        let source: Self = toml::from_str(&text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = 1 + before.matches('\n').count() as u64;
            SourceError::at_line(&file, line, error.message())
        })?;
        if folder.file_name().is_none_or(|name| name != source.id.as_str()) {
            let problem = format!("id: {} is not the name of the folder; rename one of them", quoted(&source.id));
            return Err(SourceError::invalid(&file, problem));
        }
        Ok(Some(source))
    }

    /// The statements of this source, which is one of [`Source::list`] of `folder`.
    pub fn statements(&self, folder: &Path) -> Result<StatementReader, SourceError> {
        StatementReader::open(&folder.join(&self.id).join(STATEMENTS))
    }
}

vocabulary! {
    /// The kind of an entity, in the order of the names.
    EntityKind, "kind of entity", {
        Firm = "firm",
        Person = "person",
        Round = "round",
        Sector = "sector",
        Startup = "startup",
    }
}

/// What a statement is about: a thing of one kind, by the source's own key, written `firm:lei:5493001KJTIIGC8Y1R12`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    pub kind: EntityKind,
    pub key: String,
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.key)
    }
}

impl FromStr for EntityId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, key) = text.split_once(':').unwrap_or_default();
        match EntityKind::ALL.iter().find(|known| known.name() == kind) {
            Some(kind) if !key.is_empty() => Ok(Self { kind: *kind, key: key.to_owned() }),
            _ => {
                let kinds = EntityKind::names().join(", ");
                Err(format!(
                    "{} is not an entity: one of {kinds}, a colon and a key, such as `firm:cik:320193`",
                    quoted(text)
                ))
            }
        }
    }
}

/// A source says that a field of an entity has a value. A list has one statement for each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub entity: EntityId,
    /// A column of the dataset, such as `name`, or `id:` and a scheme of identifiers.
    pub field: String,
    /// As the dataset has it; a reference has the entity of the same source that it means.
    pub value: String,
    /// As the source has it, if that differs; otherwise empty.
    pub original: String,
    /// The source's key of the row that says so.
    pub source_key: String,
    pub first_seen: Date,
    pub last_seen: Date,
}

/// Statements in the order of the file.
pub struct StatementReader {
    path: PathBuf,
    csv: csv::Reader<BufReader<File>>,
    record: csv::StringRecord,
    last: Option<(EntityId, String, String)>,
}

impl StatementReader {
    fn open(path: &Path) -> Result<Self, SourceError> {
        let file = File::open(path).map_err(|error| SourceError::io(path, error))?;
        let mut csv = csv::Reader::from_reader(BufReader::with_capacity(1 << 16, file));
        let header = csv.headers().map_err(|error| SourceError::at_line(path, 1, error))?;
        if header.iter().ne(HEADER) {
            let problem = format!("the header is not `{}`; import the source again", HEADER.join(","));
            return Err(SourceError::at_line(path, 1, problem));
        }
        Ok(Self { path: path.to_owned(), csv, record: csv::StringRecord::new(), last: None })
    }

    /// The position in bytes, for progress.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.csv.position().byte()
    }

    fn read(&mut self) -> Result<Option<Statement>, SourceError> {
        match self.csv.read_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                return Err(SourceError::at_line(&self.path, line, error));
            }
        }
        let line = self.record.position().map_or(1, csv::Position::line);
        let statement = self.parse().map_err(|problem| SourceError::at_line(&self.path, line, problem))?;
        let key = (statement.entity.clone(), statement.field.clone(), statement.value.clone());
        if self.last.as_ref().is_some_and(|last| *last >= key) {
            let problem =
                "is not after the line before in the order of entity, field and value; import the source again";
            return Err(SourceError::at_line(&self.path, line, problem));
        }
        self.last = Some(key);
        Ok(Some(statement))
    }

    fn parse(&self) -> Result<Statement, String> {
        let [entity, field, value, original, source_key, first, last] =
            [0, 1, 2, 3, 4, 5, 6].map(|index| self.record.get(index).unwrap_or_default());
        let date = |column: &str, text: &str| {
            text.parse().map_err(|_| format!("{column}: {} is not a date of the form YYYY-MM-DD", quoted(text)))
        };
        Ok(Statement {
            entity: entity.parse().map_err(|problem| format!("entity: {problem}"))?,
            field: field.to_owned(),
            value: value.to_owned(),
            original: original.to_owned(),
            source_key: source_key.to_owned(),
            first_seen: date("first_seen", first)?,
            last_seen: date("last_seen", last)?,
        })
    }
}

impl Iterator for StatementReader {
    type Item = Result<Statement, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

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
    /// Only in an earlier import. They are kept with the day on which they were last seen.
    pub gone: u64,
}

/// An import of a source, merged with its earlier ones. Nothing changes on disk until [`Update::finish`].
pub struct Update {
    source: Source,
    folder: PathBuf,
    earlier: Option<StatementReader>,
    /// The next statement of `earlier`.
    next: Option<Statement>,
    out: BufWriter<tempfile::NamedTempFile>,
    line: Vec<u8>,
    /// Entity, field and value of the last new statement.
    last: [String; 3],
    on: String,
    changes: Changes,
}

impl Update {
    /// Begins an import into the folder of sources on the day `source.imported_on`.
    pub fn begin(sources: &Path, mut source: Source) -> Result<Self, SourceError> {
        let folder = sources.join(&source.id);
        fs::create_dir_all(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let on = source.imported_on.to_string();
        let mut earlier = None;
        if let Some(before) = Source::read(&folder)? {
            earlier = Some(before.statements(sources)?);
            source.imported_on = source.imported_on.max(before.imported_on);
        }
        let out = tempfile::NamedTempFile::new_in(&folder).map_err(|error| SourceError::io(&folder, error))?;
        let mut update = Self {
            source,
            folder,
            earlier,
            next: None,
            out: BufWriter::with_capacity(1 << 16, out),
            line: Vec::new(),
            last: Default::default(),
            on,
            changes: Changes::default(),
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
        let mut seen = None;
        while let Some(next) = &self.next {
            let entity = next.entity.to_string();
            match [&*entity, &*next.field, &*next.value].cmp(&key) {
                Ordering::Less => self.keep()?,
                Ordering::Equal => {
                    seen = Some((next.first_seen.to_string(), next.last_seen.to_string()));
                    self.advance()?;
                    break;
                }
                Ordering::Greater => break,
            }
        }
        let on = std::mem::take(&mut self.on);
        let (first, last) = match &seen {
            Some((first, last)) => (first.min(&on), last.max(&on)),
            None => (&on, &on),
        };
        let written =
            self.line(&[new.entity, new.field, new.value, new.original, new.source_key, first.as_str(), last.as_str()]);
        match seen {
            Some(_) => self.changes.known += 1,
            None => self.changes.new += 1,
        }
        self.on = on;
        written
    }

    /// Replaces the files of the source.
    pub fn finish(mut self) -> Result<Changes, SourceError> {
        while self.next.is_some() {
            self.keep()?;
        }
        let io = |path: &Path, error| SourceError::io(path, error);
        let text = toml::to_string(&self.source)
            .map_err(|error| SourceError::invalid(&self.folder.join(SOURCE), error.to_string()))?;
        let path = self.folder.join(STATEMENTS);
        let file = self.out.into_inner().map_err(|error| io(&path, error.into_error()))?;
        share(&file).and_then(|()| file.as_file().sync_all()).map_err(|error| io(&path, error))?;
        // Statements without `source.toml` are no source, so that a first import that is interrupted here leaves nothing.
        file.persist(&path).map_err(|error| io(&path, error.error))?;
        let path = self.folder.join(SOURCE);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(|error| io(&path, error))?;
        file.write_all(text.as_bytes()).and_then(|()| share(&file)).map_err(|error| io(&path, error))?;
        file.persist(&path).map_err(|error| io(&path, error.error))?;
        Ok(self.changes)
    }

    /// Copies the next earlier statement, which the import does not have.
    fn keep(&mut self) -> Result<(), SourceError> {
        let Some(gone) = self.next.take() else { return Ok(()) };
        let (entity, first, last) = (gone.entity.to_string(), gone.first_seen.to_string(), gone.last_seen.to_string());
        self.line(&[&entity, &gone.field, &gone.value, &gone.original, &gone.source_key, &first, &last])?;
        self.changes.gone += 1;
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

/// A temporary file is readable for its owner only; a kept one is like any other.
fn share(file: &tempfile::NamedTempFile) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source(on: &str) -> Source {
        Source {
            id: "our-list".to_owned(),
            title: "Our \"list\"".to_owned(),
            license: "CC0-1.0".to_owned(),
            url: String::new(),
            priority: 50,
            imported_on: on.parse().unwrap(),
        }
    }

    fn import(folder: &Path, on: &str, statements: &[(&str, &str, &str)]) -> Changes {
        let mut update = Update::begin(folder, source(on)).unwrap();
        for (entity, field, value) in statements {
            update.add(NewStatement { entity, field, value, original: "", source_key: "k" }).unwrap();
        }
        update.finish().unwrap()
    }

    fn kept(folder: &Path) -> Vec<String> {
        let sources = Source::list(folder).unwrap();
        let statements = sources[0].statements(folder).unwrap().map(|statement| {
            let Statement { entity, field, value, first_seen, last_seen, .. } = statement.unwrap();
            format!("{entity} {field} {value} {first_seen} {last_seen}")
        });
        statements.collect()
    }

    #[test]
    fn a_second_import_keeps_what_was_first_seen_and_what_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let first = [("firm:a", "city", "Oslo"), ("firm:a", "name", "A, \"B\"\nC"), ("startup:z", "name", "Z")];
        assert_eq!(import(path, "2026-01-01", &first), Changes { new: 3, known: 0, gone: 0 });
        let second = [("firm:a", "city", "Rome"), ("firm:a", "name", "A, \"B\"\nC"), ("firm:b", "name", "B")];
        assert_eq!(import(path, "2026-02-01", &second), Changes { new: 2, known: 1, gone: 2 });
        let expected = [
            "firm:a city Oslo 2026-01-01 2026-01-01",
            "firm:a city Rome 2026-02-01 2026-02-01",
            "firm:a name A, \"B\"\nC 2026-01-01 2026-02-01",
            "firm:b name B 2026-02-01 2026-02-01",
            "startup:z name Z 2026-01-01 2026-01-01",
        ];
        assert_eq!(kept(path), expected);
        assert_eq!(Source::list(path).unwrap(), [source("2026-02-01")]);
        // An import of an older state does not make anything older.
        import(path, "2025-12-01", &first);
        assert_eq!(Source::list(path).unwrap(), [source("2026-02-01")]);
        assert_eq!(kept(path)[2], "firm:a name A, \"B\"\nC 2025-12-01 2026-02-01");
    }

    #[test]
    fn statements_out_of_order_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut update = Update::begin(folder.path(), source("2026-01-01")).unwrap();
        let statement = |entity| NewStatement { entity, field: "name", value: "A", original: "", source_key: "" };
        update.add(statement("firm:b")).unwrap();
        update.add(statement("firm:b")).unwrap();
        assert!(update.add(statement("firm:a")).is_err());
        drop(update);
        assert_eq!(Source::list(folder.path()).unwrap(), [], "an import that did not finish leaves no source");
    }

    #[test]
    fn a_damaged_file_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        import(folder.path(), "2026-01-01", &[("firm:a", "city", "Oslo"), ("firm:a", "name", "A")]);
        let path = folder.path().join("our-list/statements.csv");
        let good = fs::read_to_string(&path).unwrap();
        for (from, to, problem) in [
            ("firm:a,name", "fund:a,name", "statements.csv:3: entity: \"fund:a\" is not an entity"),
            ("firm:a,name", "firm:a,area", "statements.csv:3: is not after the line before"),
            ("A,,k,2026", "A,,k,26", "statements.csv:3: first_seen: \"26-01-01\" is not a date"),
            ("entity,", "entities,", "statements.csv:1: the header is not"),
        ] {
            fs::write(&path, good.replace(from, to)).unwrap();
            let sources = Source::list(folder.path()).unwrap();
            let result = sources[0].statements(folder.path()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let error = result.unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        fs::write(folder.path().join("our-list/source.toml"), "id = \"x\"\nprio = 1\n").unwrap();
        let error = Source::list(folder.path()).unwrap_err().to_string();
        assert!(error.contains("source.toml:2: unknown field `prio`"), "{error}");
    }

    proptest! {
        #[test]
        fn texts_of_entities_are_in_the_order_of_entities(
            left in ("(firm|person|round|sector|startup)", "[a-z:,]{1,3}"),
            right in ("(firm|person|round|sector|startup)", "[a-z:,]{1,3}"),
        ) {
            let [left, right] = [left, right].map(|(kind, key)| format!("{kind}:{key}"));
            let [first, second] = [&left, &right].map(|text| text.parse::<EntityId>().unwrap());
            prop_assert_eq!(left.cmp(&right), first.cmp(&second));
            prop_assert_eq!(first.to_string(), left);
        }
    }
}
