//! Output of the commands: results on standard output, notes and errors on standard error.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::AdminError;
use crate::cli::table;
use auth::email;

pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

pub(super) fn print(text: &str) -> Result<(), AdminError> {
    table::print(text).map_err(AdminError::Output)
}

pub(super) fn print_json(value: &impl Serialize) -> Result<(), AdminError> {
    print(&serde_json::to_string(value).map_err(|error| AdminError::Output(error.into()))?)
}

/// Prints records: as JSON the list `name`, otherwise a table of these fields, each with the head of its column.
pub(super) fn print_records<const N: usize>(
    json: bool,
    name: &str,
    records: &[impl Serialize],
    columns: [(&str, &str); N],
) -> Result<(), AdminError> {
    if json {
        return print_json(&BTreeMap::from([(name, records)]));
    }
    let rows = records.iter().map(|record| {
        let record = serde_json::to_value(record)?;
        Ok::<_, serde_json::Error>(columns.map(|(_, field)| match &record[field] {
            Value::String(address) if field == "email" => email::escaped(address),
            Value::Null | Value::Bool(false) => "-".to_owned(),
            Value::Bool(true) => "yes".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }))
    });
    let rows = rows.collect::<Result<_, _>>().map_err(|error| AdminError::Output(error.into()))?;
    print_table(columns.map(|(head, _)| head), rows)
}

pub(super) fn print_table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), AdminError> {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    print(&table::aligned(&lines))
}
