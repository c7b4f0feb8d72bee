//! Output of the commands: results on standard output, notes and errors on standard error.

use std::io::{self, Write};

use serde::Serialize;

use super::AdminError;
use crate::cli::table;

pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints an error. If standard error is closed, the exit code still reports the failure.
pub(super) fn print_error(error: &AdminError, json: bool) {
    if json {
        note(&serde_json::json!({ "error": { "code": error.code(), "detail": error.to_string() } }).to_string());
    } else {
        note(&format!("error: {error}"));
    }
}

pub(super) fn print(text: &str) -> Result<(), AdminError> {
    table::print(text).map_err(AdminError::Output)
}

pub(super) fn print_json(value: &impl Serialize) -> Result<(), AdminError> {
    print(&serde_json::to_string(value).map_err(|error| AdminError::Output(error.into()))?)
}

pub(super) fn print_table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), AdminError> {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    print(&table::aligned(&lines))
}
