//! What commands print: for a person, and for the next program.

use std::io::{self, Write};

use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::CommandError;

/// Tells a person, beside what is printed for the next program.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::Output)
}

pub fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    print(&serde_json::to_string(value).map_err(|error| CommandError::Output(error.into()))?)
}

pub fn print_table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), CommandError> {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |line: &[String; N]| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    print(&lines.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// RFC 3339.
pub fn instant(seconds: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    time.format(&Rfc3339).unwrap_or_default()
}
