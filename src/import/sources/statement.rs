//! Statements of a source and their folder, with `source.toml` and `statements.csv`.
//!
//! `statements.csv` is sorted by entity, field and value, so that it can be merged, compared, and read entity by entity as a
//! stream. It also contains the statements of earlier imports. Imports are numbered: their order decides which statements
//! count, not their days, because a file is often corrected and imported again on the same day.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::sources::SourceError;
use data::import::csv_reader::{CsvDialect, CsvReader};
use data::import::csv_row::is_slug;
use data::import::diagnostics::quoted;
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Date, Table};

const SOURCE: &str = "source.toml";
pub(super) const STATEMENTS: &str = "statements.csv";
pub(super) const HEADER: [&str; 8] =
    ["entity", "field", "value", "original", "source_key", "first_seen", "last_seen", "last_import"];

/// Number of columns in files of earlier versions, which did not number imports.
const UNNUMBERED: usize = 7;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name of its folder, such as `sec-form-d`.
    pub id: String,
    pub title: String,
    /// SPDX identifier, or `LicenseRef-` and a name.
    pub license: String,
    #[serde(default)]
    pub url: String,
    /// If sources disagree, the one with the highest priority wins.
    pub priority: u32,
    /// Latest day of an import.
    pub imported_on: Date,
    /// Number of imports, and number of the last one; 0 in files of earlier versions.
    #[serde(default)]
    pub imports: u32,
    /// Number of the last complete import; 0 if there was none. Statements that only earlier imports made no longer count.
    #[serde(default)]
    pub last_complete: u32,
}

impl Source {
    /// True if `id` is a valid name of a source: lowercase letters and digits, with single `-` between them.
    pub(crate) fn is_id(id: &str) -> bool {
        is_slug(id)
    }

    /// Lists the sources below `folder` by id. Folders without `source.toml` are skipped.
    pub fn list(folder: &Path) -> Result<Vec<Self>, SourceError> {
        let mut sources = Vec::new();
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SourceError::invalid(
                folder,
                "there is no such folder of sources; import files into it first, such as `indexer import FILE --page --sources \
                 sources`, or name the folder that has them",
            ),
            _ => SourceError::io(folder, error),
        };
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(|error| SourceError::io(folder, error))?.path();
            sources.extend(Self::read(&path)?);
        }
        sources.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(sources)
    }

    /// Reads the source in `folder`; `None` if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, SourceError> {
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

    /// Opens the statements of this source, which comes from [`Source::list`] for the same `folder`.
    pub(crate) fn statements(&self, folder: &Path) -> Result<StatementReader, SourceError> {
        StatementReader::open(&folder.join(&self.id).join(STATEMENTS), self.last_complete)
    }

    /// Replaces `source.toml` in the folder of the source.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SourceError> {
        let path = folder.join(SOURCE);
        let io = |error| SourceError::io(&path, error);
        let text = toml::to_string(self).map_err(|error| SourceError::invalid(&path, error.to_string()))?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
        file.write_all(text.as_bytes()).and_then(|()| make_readable(&file)).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(&path).map(drop).map_err(|error| io(error.error))
    }
}

/// Makes a file readable for all. A temporary file is readable for its owner only.
pub(super) fn make_readable(file: &tempfile::NamedTempFile) -> io::Result<()> {
    #[cfg(unix)]
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

vocabulary! {
    /// Kind of an entity, in the order of the names.
    EntityKind, "kind of entity", {
        Firm = "firm",
        Person = "person",
        Review = "review",
        Round = "round",
        Sector = "sector",
        Startup = "startup",
    }
}

impl EntityKind {
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Self::Firm => "firms",
            Self::Person => "people",
            Self::Review => "reviews",
            Self::Round => "rounds",
            Self::Sector => "sectors",
            Self::Startup => "startups",
        }
    }

    /// Table of the records that entities of the kind make.
    pub(crate) const fn table(self) -> Table {
        match self {
            Self::Firm => Table::Firms,
            Self::Person => Table::People,
            Self::Review => Table::Reviews,
            Self::Round => Table::Rounds,
            Self::Sector => Table::Sectors,
            Self::Startup => Table::Startups,
        }
    }

    pub(super) fn count(self, counts: &mut Vec<(&'static str, u64)>) {
        match counts.iter_mut().find(|(known, _)| *known == self.name()) {
            Some((_, count)) => *count += 1,
            None => counts.push((self.name(), 1)),
        }
    }
}

/// Id of an entity: its kind and the source's own key, written as `firm:lei:5493001KJTIIGC8Y1R12`.
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
        let kind = EntityKind::ALL.iter().find(|known| known.name() == kind && !key.is_empty());
        kind.map(|kind| Self { kind: *kind, key: key.to_owned() }).ok_or_else(|| {
            let (text, kinds) = (quoted(text), EntityKind::names().join(", "));
            format!("{text} is not an entity: one of {kinds}, a colon and a key, such as `firm:cik:320193`")
        })
    }
}

/// Parses source and entity from a text such as `gleif/firm:lei:529900T8BM49AURSDO55`. The entity must have one of `kinds`.
pub(crate) fn source_entity<'t>(text: &'t str, kinds: &[EntityKind]) -> Result<(&'t str, EntityId), String> {
    let parts = text.split_once('/').and_then(|(source, entity)| Some((source, entity.parse::<EntityId>().ok()?)));
    parts.filter(|(source, entity)| Source::is_id(source) && kinds.contains(&entity.kind)).ok_or_else(|| {
        let names = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let form = "`gleif/firm:lei:529900T8BM49AURSDO55`";
        format!("{} is not an entity of a source; write it as {form}: source, kind ({names}) and key", quoted(text))
    })
}

/// Statement of a source that a field of an entity has a value. A list has one statement per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub entity: EntityId,
    /// Column of the dataset, such as `name`, or `id:` and a scheme of identifiers.
    pub field: String,
    /// Value as in the dataset. A reference is the id of an entity of the same source.
    pub value: String,
    /// Value as the source has it; empty if it is the same.
    pub original: String,
    pub source_key: String,
    pub first_seen: Date,
    pub last_seen: Date,
    pub last_import: u32,
    pub standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The source makes the statement now.
    Current,
    /// The source no longer has the entity. The last import that had it made the statement.
    Gone,
    /// The source replaced or withdrew the statement while it had the entity.
    Former,
}

/// Sets the standing of an entity's statements, which are former ones so far. Within a field the last import decides.
/// Statements that only imports before the last complete one made are gone.
fn set_standings(statements: &mut [Statement], last_complete: u32) {
    let newest = statements.iter().map(|statement| statement.last_import).max().unwrap_or_default();
    let first = last_complete.max(1);
    for field in statements.chunk_by_mut(|left, right| left.field == right.field) {
        let last = field.iter().map(|statement| statement.last_import).max().unwrap_or_default();
        for statement in field.iter_mut().filter(|statement| statement.last_import == last) {
            if last >= first {
                statement.standing = Standing::Current;
            } else if newest < first && last == newest {
                statement.standing = Standing::Gone;
            }
        }
    }
}

pub(crate) struct StatementReader {
    path: PathBuf,
    csv: CsvReader<File>,
    record: csv::StringRecord,
    is_numbered: bool,
    last_complete: u32,
    /// Statements of one entity that are not yet returned. While it is read, the last one is of the line before.
    entity: VecDeque<Statement>,
    /// First statement of the next entity.
    ahead: Option<Statement>,
}

impl StatementReader {
    fn open(path: &Path, last_complete: u32) -> Result<Self, SourceError> {
        let file = File::open(path).map_err(|error| SourceError::io(path, error))?;
        let mut csv = CsvReader::new(file, CsvDialect::COMMAS);
        let mut header = csv::StringRecord::new();
        csv.read_text(&mut header, 0).map_err(|error| SourceError::at_line(path, csv.line(), error))?;
        let is_numbered = header.len() != UNNUMBERED;
        if header.iter().ne(HEADER.into_iter().take(if is_numbered { HEADER.len() } else { UNNUMBERED })) {
            let problem = format!("the header is not `{}`; import the source again", HEADER.join(","));
            return Err(SourceError::at_line(path, 1, problem));
        }
        let (path, record) = (path.to_owned(), csv::StringRecord::new());
        Ok(Self { path, csv, record, is_numbered, last_complete, entity: VecDeque::new(), ahead: None })
    }

    fn read_statement(&mut self) -> Result<Option<Statement>, SourceError> {
        let width = if self.is_numbered { HEADER.len() } else { UNNUMBERED };
        let is_read = self.csv.read_text(&mut self.record, width);
        let line = self.csv.line();
        if !is_read.map_err(|error| SourceError::at_line(&self.path, line, error))? {
            return Ok(None);
        }
        let statement = self.parse().map_err(|problem| SourceError::at_line(&self.path, line, problem))?;
        let Statement { entity, field, value, .. } = &statement;
        if self.entity.back().is_some_and(|last| (&last.entity, &last.field, &last.value) >= (entity, field, value)) {
            let problem =
                "is not after the line before in the order of entity, field and value; import the source again";
            return Err(SourceError::at_line(&self.path, line, problem));
        }
        Ok(Some(statement))
    }

    fn read_entity(&mut self) -> Result<(), SourceError> {
        self.entity.extend(self.ahead.take());
        while let Some(statement) = self.read_statement()? {
            if self.entity.front().is_some_and(|first| first.entity != statement.entity) {
                self.ahead = Some(statement);
                break;
            }
            self.entity.push_back(statement);
        }
        let statements = self.entity.make_contiguous();
        if !self.is_numbered {
            // The statements that were seen on the entity's last day count.
            let newest = statements.iter().map(|statement| statement.last_seen).max();
            let number = |seen: Date| u32::from(Some(seen) == newest);
            statements.iter_mut().for_each(|statement| statement.last_import = number(statement.last_seen));
        }
        set_standings(statements, self.last_complete);
        Ok(())
    }

    fn parse(&self) -> Result<Statement, String> {
        let [entity, field, value, original, source_key, first, last, import] =
            std::array::from_fn(|index| self.record.get(index).unwrap_or_default());
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
            last_import: match self.is_numbered {
                true => import.parse().map_err(|_| {
                    format!("last_import: {} is not the number of an import, such as 1", quoted(import))
                })?,
                false => 0,
            },
            standing: Standing::Former,
        })
    }
}

impl Iterator for StatementReader {
    type Item = Result<Statement, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.entity.is_empty()
            && let Err(error) = self.read_entity()
        {
            return Some(Err(error));
        }
        self.entity.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Value, import number and standing of each statement.
    fn read(last_complete: u32, text: &str) -> Vec<(String, u32, Standing)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let statements = StatementReader::open(file.path(), last_complete).unwrap().map(Result::unwrap);
        statements.map(|statement| (statement.value, statement.last_import, statement.standing)).collect()
    }

    #[test]
    fn statements_of_earlier_versions_count_by_their_days() {
        use Standing::{Current, Former, Gone};
        let text = "entity,field,value,original,source_key,first_seen,last_seen\n\
                    firm:a,aliases,Dropped,,k,2026-01-01,2026-01-01\n\
                    firm:a,name,New,,k,2026-02-01,2026-02-01\n\
                    firm:a,name,Old,,k,2026-01-01,2026-01-01\n\
                    firm:b,name,Elsewhere,,k,2026-01-01,2026-01-01\n";
        let standings = |last_complete| read(last_complete, text).into_iter().map(|(.., standing)| standing);
        assert_eq!(standings(0).collect::<Vec<_>>(), [Former, Current, Former, Current]);
        // The first numbered complete import was interrupted before it replaced the file.
        assert_eq!(standings(2).collect::<Vec<_>>(), [Former, Gone, Former, Gone]);
    }

    #[test]
    fn the_last_import_of_a_field_decides_and_only_imports_since_the_last_complete_one_count() {
        use Standing::{Current, Former, Gone};
        let text = "entity,field,value,original,source_key,first_seen,last_seen,last_import\n\
                    firm:a,city,Oslo,,k,2026-03-01,2026-03-01,4\n\
                    firm:a,name,Alder,,k,2026-01-01,2026-01-01,5\n\
                    firm:a,name,Birch,,k,2026-02-01,2026-02-01,4\n\
                    firm:a,stages,seed,,k,2026-02-01,2026-02-01,3\n\
                    firm:b,city,Rome,,k,2026-01-01,2026-01-01,2\n\
                    firm:b,name,Cedar,,k,2026-01-01,2026-01-01,3\n";
        let standings: Vec<Standing> = read(4, text).into_iter().map(|(.., standing)| standing).collect();
        assert_eq!(standings, [Current, Current, Former, Former, Former, Gone]);
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
