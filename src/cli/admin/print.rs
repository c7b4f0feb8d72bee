//! Output of the commands: results on standard output, notes and errors on standard error.

use std::io::{self, Write};

use serde::Serialize;

use super::CommandError;
use crate::cli::table;

pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// If standard error is closed, the exit code still reports the failure.
pub(super) fn print_error(error: &CommandError, json: bool) {
    if json {
        note(&serde_json::json!({ "error": { "code": error.code(), "detail": error.to_string() } }).to_string());
    } else {
        note(&format!("error: {error}"));
    }
}

pub(super) fn print(text: &str) -> Result<(), CommandError> {
    table::print(text).map_err(CommandError::Output)
}

pub(super) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    print(&serde_json::to_string(value).map_err(|error| CommandError::Output(error.into()))?)
}

pub(super) fn print_table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), CommandError> {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    print(&table::aligned(&lines))
}
