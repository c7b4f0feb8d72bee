//! Problems of a dataset, each with file, line and column.

use std::collections::BTreeMap;
use std::{fmt, io};

use serde::Serialize;
use unicode_normalization::char::is_combining_mark;

use crate::import::table_format::TablePart;
use crate::parameter_error::shortened_to;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    /// The dataset compiles; the value should be checked.
    Warning,
    /// A warning about many values together, which is always listed until it is settled.
    Suspicion,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    #[serde(skip)]
    pub severity: Severity,
    /// The file's name inside the dataset's folder, such as `firms.csv`.
    pub file: String,
    /// The first line of the record, from 1; its number in a file without lines.
    pub line: Option<u64>,
    pub column: Option<String>,
    /// The problem, with the value, such as `"5m" is not a whole number of US dollars`.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    /// `firms.csv:118: check_min_usd: "5m" is not a whole number of US dollars`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = self.column.as_ref().map(|column| format!("{column}: ")).unwrap_or_default();
        write!(f, "{}{line}: {column}{}", self.file, self.message)
    }
}

/// All problems of a dataset, in the order of its files and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticReport {
    pub problems: Vec<Diagnostic>,
    /// Tables that are not in the CSV file of their name: their own name and their parts.
    others: BTreeMap<&'static str, (String, Vec<TablePart>)>,
}

impl DiagnosticReport {
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.severity != Severity::Error)
    }

    pub fn suspicions(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Suspicion)
    }

    /// Notes that a table is in other files than the CSV file of its name. Its rows are numbered over all parts.
    pub(crate) fn note_other(&mut self, file: &'static str, name: &str, parts: Vec<TablePart>) {
        self.others.insert(file, (name.to_owned(), parts));
    }

    /// The file and line, or row, of a row of a table.
    fn place(&self, file: &str, line: Option<u64>) -> (String, Option<u64>) {
        let Some((name, parts)) = self.others.get(file) else { return (file.to_owned(), line) };
        let Some(mut row) = line else { return (name.clone(), None) };
        for part in parts {
            if row <= part.rows {
                return (part.name.clone(), Some(row));
            }
            row -= part.rows;
        }
        (name.clone(), line)
    }

    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }
}

pub struct Diagnostics<'a> {
    file: &'a str,
    report: &'a mut DiagnosticReport,
}

impl<'a> Diagnostics<'a> {
    pub fn new(file: &'a str, report: &'a mut DiagnosticReport) -> Self {
        Self { file, report }
    }

    pub fn error(&mut self, line: Option<u64>, column: Option<&str>, message: String) {
        self.push(Severity::Error, line, column, message);
    }

    pub(crate) fn warning(&mut self, line: Option<u64>, column: Option<&str>, message: String) {
        self.push(Severity::Warning, line, column, message);
    }

    pub(crate) fn suspicion(&mut self, column: &str, message: String) {
        self.push(Severity::Suspicion, None, Some(column), message);
    }

    /// The line of a row of the same table, in words.
    pub(crate) fn line_in_words(&self, line: u32) -> String {
        match self.report.place(self.file, Some(line.into())) {
            (file, Some(row)) if file != self.file => format!("row {row} of {file}"),
            _ => format!("line {line}"),
        }
    }

    pub fn unreadable(&mut self, error: &io::Error) {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "file is missing".to_owned(),
            _ => format!("file cannot be read: {error}"),
        };
        self.error(None, None, message);
    }

    fn push(&mut self, severity: Severity, line: Option<u64>, column: Option<&str>, message: String) {
        let column = column.map(str::to_owned);
        let (file, line) = self.report.place(self.file, line);
        self.report.problems.push(Diagnostic { severity, file, line, column, message });
    }
}

pub trait Progress: Sync {
    /// A step starts, and the one before ends; `bytes` is its size, 0 if unknown.
    fn step(&self, _name: &str, _bytes: u64) {}

    /// As `step`, with the size in rows.
    fn step_of_rows(&self, name: &str, _rows: u64) {
        self.step(name, 0);
    }

    fn advance(&self, _done: u64) {}
    fn done(&self) {}
}

pub struct NoProgress;

impl Progress for NoProgress {}

/// Quotes a value for a message, truncated to 60 characters. Marks of letters stay as they are written: `"ऋण"`; what would
/// not be seen, or turn the order of a line, is escaped.
pub fn quoted(value: &str) -> String {
    let mut quoted = String::from('"');
    for char in shortened_to(60, value).chars() {
        match char {
            // Joiners belong to words of some scripts.
            '\'' | '\u{200c}' | '\u{200d}' => quoted.push(char),
            char if is_combining_mark(char) => quoted.push(char),
            char => quoted.extend(char.escape_debug()),
        }
    }
    quoted.push('"');
    quoted
}

/// The end of a message about an unknown name: the one that may be meant. Empty without a suggestion.
pub fn did_you_mean(suggestion: Option<impl fmt::Display>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

pub(crate) fn too_long(value: &str, max: usize) -> String {
    format!("{} has {} characters; shorten it to at most {max}", quoted(value), value.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_people_read_them() {
        for (text, expected) in [
            ("Alder's \"fund\"", "\"Alder's \\\"fund\\\"\""),
            ("डेट", "\"डेट\""),
            ("שָׁלוֹם", "\"שָׁלוֹם\""),
            ("می‌خواهم", "\"می‌خواهم\""),
            ("a\u{202e}b\u{200b}\t\u{1b}", "\"a\\u{202e}b\\u{200b}\\t\\u{1b}\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
