//! What is wrong with a dataset, each problem with its place.

use std::fmt;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The dataset is refused.
    Error,
    /// The dataset compiles; somebody should look.
    Warning,
}

/// One problem of a dataset, with the place where it can be mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it stops the release.
    pub severity: Severity,
    /// The file's name inside the dataset's folder, such as `firms.csv`.
    pub file: String,
    /// The line in the file, from 1; of a record of several lines the first.
    pub line: Option<u64>,
    /// The column's name, where one column is at fault.
    pub column: Option<String>,
    /// What is wrong, with the value, such as `"5m" is not a whole number of US dollars`.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    /// `firms.csv:118: check_min_usd: "5m" is not a whole number of US dollars`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(column) = &self.column {
            write!(f, "{column}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// All problems of a dataset, in the order of its files and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The problems, errors and warnings together.
    pub problems: Vec<Diagnostic>,
}

impl Report {
    /// The problems that stop the release.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }

    /// The problems that do not.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Warning)
    }

    /// True where an error stops the release.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.errors().next().is_some()
    }
}

/// Told of the compile's steps while it works.
pub trait Progress: Sync {
    /// A step begins; `total` is its size in rows or bytes, 0 where it is not known.
    fn step(&self, name: &str, total: u64);
    /// So much of the step is done.
    fn advance(&self, done: u64);
    /// The step is over.
    fn done(&self);
}

/// Tells nobody.
pub struct NoProgress;

impl Progress for NoProgress {
    fn step(&self, _name: &str, _total: u64) {}
    fn advance(&self, _done: u64) {}
    fn done(&self) {}
}

/// Quotes a value for a message, cut where it is long.
pub(crate) fn quoted(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut cut: String = value.chars().take(LONGEST).collect();
    if cut.len() < value.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}
