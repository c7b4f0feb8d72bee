//! Sources of a dataset: their statements about firms, startups, rounds and people.
//! A *statement* says that a field of an entity has a value. Statements are stored per source, so that each value has an
//! origin and a license, a source can be imported again or removed, and a record can be composed from several sources.

pub(crate) mod convert;
pub(crate) mod evidence;
pub(crate) mod field;
pub mod guess;
pub mod import;
pub(crate) mod input;
pub(crate) mod location;
pub(crate) mod mapping;
pub(crate) mod missing;
pub(crate) mod money;
pub mod presets;
pub mod preview;
pub(crate) mod sort;
pub(crate) mod statement;
pub mod suppressed;
pub(crate) mod update;
pub mod view;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

pub use input::limits::{LIMITS, Limit, LimitUnit, MEMORY_MIB};
pub use statement::{EntityId, EntityKind, Source};
pub(crate) use statement::{Standing, Statement};
pub use suppressed::Suppressed;
pub use update::Extent;
pub(crate) use update::{NewStatement, Update};

use data::import::csv_row::CsvRow;
use data::import::csv_table::{CsvFolder, TableRow};
use data::{DiagnosticReport, NoProgress};

/// Reason to leave out a value, such as `is not a country`.
pub(crate) type Reason = Cow<'static, str>;

pub(crate) type Result<T, E = SourceError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// Problems, each with file, line and column as far as they are known, such as
    /// `sources/gleif/statements.csv:118: entity: "acme" is not …`.
    #[error("{}", .0.join("\n"))]
    Problems(Vec<String>),
    /// The import lacks much of the source; its files are most likely only a part of it. Nothing was changed.
    #[error(
        "{source_id}: the import lacks more than a fifth of what the source had ({}), and was not kept: pass --force if the \
         files have all that the source has, --increment if they are a part of it, or --id NAME if they are another list",
        losses.join(", ")
    )]
    Shrunk { source_id: String, losses: Vec<String> },
}

impl SourceError {
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    pub(crate) fn invalid(file: &Path, message: impl std::fmt::Display) -> Self {
        Self::Problems(vec![format!("{}: {message}", file.display())])
    }

    pub(crate) fn at_line(file: &Path, line: u64, message: impl std::fmt::Display) -> Self {
        Self::Problems(vec![format!("{}:{line}: {message}", file.display())])
    }
}

/// Reads a file that people edit, next to the folders of the sources; without it there are no rows. `each` parses a row,
/// and `content` takes all rows and may report problems that they have together. The error lists all problems.
pub(crate) fn read_edited<T: TableRow, C>(
    folder: &Path,
    each: impl FnMut(&mut CsvRow<'_, '_>) -> Option<T>,
    content: impl FnOnce(Vec<T>, &mut DiagnosticReport) -> C,
) -> Result<C, SourceError> {
    let mut report = DiagnosticReport::default();
    let rows = CsvFolder { path: folder, report: &mut report, progress: &NoProgress, format: None }.read(each).rows;
    let content = content(rows, &mut report);
    let problems = report.errors().map(|problem| folder.join(problem.to_string()).display().to_string());
    let problems: Vec<String> = problems.collect();
    if problems.is_empty() { Ok(content) } else { Err(SourceError::Problems(problems)) }
}
