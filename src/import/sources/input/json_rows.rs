//! Reads rows of JSON: an array of objects, or one object per line.
//! Columns are paths in the objects, such as `location.city`. Lists of texts are joined with `|`.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

use crate::sources::SourceError;
use crate::sources::input::json_scan::{JsonScan, is_blank};
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::{InputRow, Member, RowReceiver};

pub(super) fn read(member: &Member, from: &mut dyn Read, to: &mut dyn RowReceiver) -> Result<(), SourceError> {
    let mut from = BufReader::with_capacity(1 << 16, JsonScan::new(from));
    let wanted = to.wanted();
    if !wanted.is_empty() {
        to.header(&wanted)?;
    }
    let row = InputRow { file: member.index, ..InputRow::default() };
    let mut rows = JsonRows { member, columns: wanted, number: 0, row, to, problem: None };
    let is_array = loop {
        match from.fill_buf().map_err(|error| member.fault(1, error))?.first() {
            None => return Err(member.error(1, "file is empty; an array of objects is expected")),
            Some(byte) if is_blank(*byte) => from.consume(1),
            Some(byte) => break *byte == b'[',
        }
    };
    let result = if is_array {
        let mut json = serde_json::Deserializer::from_reader(from);
        let result = json.deserialize_seq(&mut rows);
        result.and_then(|()| json.end())
    } else {
        let mut values = serde_json::Deserializer::from_reader(from).into_iter::<Value>();
        values.try_for_each(|value| value.and_then(|value| rows.add(&value).map_err(Error::custom)))
    };
    match (rows.problem.take(), result) {
        (Some(problem), _) => Err(problem),
        (None, Err(error)) => Err(json_error(member, rows.number + 1, error)),
        (None, Ok(())) => Ok(()),
    }
}

/// Error of the parser, in a row if the file itself cannot be read.
pub(crate) fn json_error(member: &Member, row: u64, error: serde_json::Error) -> SourceError {
    match error.is_io() {
        true => member.fault(row, error.into()),
        false => member.error(error.line() as u64, format!("cannot be read as JSON: {error}")),
    }
}

struct JsonRows<'a> {
    member: &'a Member,
    columns: Vec<String>,
    number: u64,
    row: InputRow,
    to: &'a mut dyn RowReceiver,
    /// Error with which the receiver stopped.
    problem: Option<SourceError>,
}

impl JsonRows<'_> {
    fn add(&mut self, value: &Value) -> Result<(), String> {
        self.number += 1;
        if !value.is_object() {
            self.to.bad_row(self.number, "is not an object".to_owned());
            return Ok(());
        }
        if self.columns.is_empty() {
            let found = paths(value, "", &mut self.columns);
            let found = found.map_err(|exceeded| self.member.error(self.number, exceeded));
            let header = found.and_then(|()| self.to.header(&self.columns).map(drop));
            header.map_err(|problem| self.stop(problem))?;
        }
        self.row.clear(self.number);
        for column in &self.columns {
            self.row.push(&field(value, column).map(text).unwrap_or_default());
        }
        self.to.row(&self.row).map_err(|problem| self.stop(problem))
    }

    /// Keeps an error, and makes a message of it that stops the parser.
    fn stop(&mut self, problem: SourceError) -> String {
        let message = problem.to_string();
        self.problem = Some(problem);
        message
    }
}

/// Collects the paths of an object, which become the columns if the receiver names none.
fn paths(value: &Value, above: &str, found: &mut Vec<String>) -> Result<(), LimitExceeded> {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{above}{name}");
        limits::COLUMN_NAME.check(path.len() as u64)?;
        match value {
            Value::Object(_) => paths(value, &format!("{path}."), found)?,
            _ => found.push(path),
        }
        limits::COLUMNS.check(found.len() as u64)?;
    }
    Ok(())
}

/// Value at a path. A name that contains a dot takes precedence over a path.
fn field<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    object.get(path).or_else(|| {
        let (name, rest) = path.split_once('.')?;
        field(object.get(name)?, rest)
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::String(text) => text.clone(),
        // A list of objects stays JSON: a mapping takes its texts with `json`.
        Value::Array(values) if values.iter().any(Value::is_object) => value.to_string(),
        Value::Array(values) => values.iter().map(text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("|"),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

impl<'de> Visitor<'de> for &mut JsonRows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while let Some(value) = values.next_element::<Value>()? {
            self.add(&value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
