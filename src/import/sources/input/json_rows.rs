//! Reads rows of JSON: an array of objects, at the top or below a path, or one object per line.
//! Columns are paths in the objects, such as `location.city`. Lists of texts are joined with `|`.

use std::collections::HashSet;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::sources::SourceError;
use crate::sources::input::csv_rows::decoded;
use crate::sources::input::dialect::Beginning;
use crate::sources::input::json_path;
use crate::sources::input::json_scan::{JsonScan, is_blank};
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::{InputFormat, InputRow, Member, RowReceiver};

/// Rows whose members become the columns if the receiver names none, and the bytes of their texts.
const HELD_ROWS: usize = 200;
const HELD_BYTES: usize = 1 << 20;

pub(super) fn read(
    member: &Member,
    from: &mut dyn Read,
    format: &InputFormat,
    to: &mut dyn RowReceiver,
) -> Result<(), SourceError> {
    let mut format = format.clone();
    decoded(member, from, &mut format, to, |from, format, to| read_text(member, from, format, to))
}

fn read_text(
    member: &Member,
    from: &mut dyn Read,
    format: &mut InputFormat,
    to: &mut dyn RowReceiver,
) -> Result<(), SourceError> {
    let mut beginning = Beginning::read(from);
    if format.path.is_none() && !["jsonl", "ndjson"].contains(&member.ending()) {
        format.path = json_path::find(beginning.bytes());
        if let Some(path) = &format.path {
            to.note(format!("records at `{path}`"));
        }
    }
    to.format(format);
    let path = format.path.clone().unwrap_or_default();
    let scan = JsonScan::new(beginning.chain(from), path.depth());
    let mut from = BufReader::with_capacity(1 << 16, scan);
    let wanted = to.wanted();
    if !wanted.is_empty() {
        to.header(&wanted)?;
    }
    let row = InputRow { file: member.index, ..InputRow::default() };
    let (held, problem) = (Vec::new(), None);
    let mut rows =
        JsonRows { member, columns: wanted, held, held_bytes: 0, number: 0, row, to, problem, is_found: false };
    let is_array = loop {
        match from.fill_buf().map_err(|error| member.fault(1, error))?.first() {
            None => return Err(member.error(1, "file is empty; an array of objects is expected")),
            Some(byte) if is_blank(*byte) => from.consume(1),
            Some(byte) => break *byte == b'[',
        }
    };
    let result = if is_array || !path.is_empty() {
        let mut json = serde_json::Deserializer::from_reader(from);
        let seed = JsonDescent { rows: &mut rows, path: path.names() };
        seed.deserialize(&mut json).and_then(|()| json.end())
    } else {
        rows.is_found = true;
        let mut values = serde_json::Deserializer::from_reader(from).into_iter::<Value>();
        values.try_for_each(|value| value.and_then(|value| rows.add(value).map_err(Error::custom)))
    };
    let result = result.and_then(|()| rows.release().map_err(Error::custom));
    match (rows.problem.take(), result) {
        (Some(problem), _) => Err(problem),
        (None, Err(error)) => Err(json_error(member, rows.number + 1, error)),
        (None, Ok(())) if !rows.is_found => Err(member.error(1, format!("has no list at `{path}`"))),
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
    /// First rows, until the columns are known.
    held: Vec<Value>,
    held_bytes: usize,
    number: u64,
    row: InputRow,
    to: &'a mut dyn RowReceiver,
    /// Error with which the receiver stopped.
    problem: Option<SourceError>,
    is_found: bool,
}

impl JsonRows<'_> {
    fn add(&mut self, value: Value) -> Result<(), String> {
        if !self.columns.is_empty() {
            return self.pass(&value);
        }
        self.held_bytes += size(&value);
        self.held.push(value);
        match self.held.len() >= HELD_ROWS || self.held_bytes >= HELD_BYTES {
            true => self.release(),
            false => Ok(()),
        }
    }

    /// Names the columns after the members of all rows that are held, and passes the rows on.
    fn release(&mut self) -> Result<(), String> {
        let held = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        if self.columns.is_empty() && held.iter().any(Value::is_object) {
            let mut known = HashSet::new();
            let found = held.iter().try_for_each(|value| paths(value, "", &mut self.columns, &mut known));
            let found = found.map_err(|exceeded| self.member.error(self.number + 1, exceeded));
            let header = found.and_then(|()| self.to.header(&self.columns).map(drop));
            header.map_err(|problem| self.stop(problem))?;
        }
        held.iter().try_for_each(|value| self.pass(value))
    }

    fn pass(&mut self, value: &Value) -> Result<(), String> {
        self.number += 1;
        if !value.is_object() {
            let row = InputRow { line: self.number, file: self.member.index, ..InputRow::default() };
            self.to.bad_row(&row, "is not an object".to_owned());
            return Ok(());
        }
        if self.to.is_sampling() {
            let (mut names, mut known) = (Vec::new(), HashSet::new());
            let found = paths(value, "", &mut names, &mut known);
            found.map_err(|exceeded| self.stop(self.member.error(self.number, exceeded)))?;
            for name in names.iter().filter(|name| !self.columns.contains(name)) {
                let mut texts = Vec::new();
                collect(value, name, &mut texts);
                self.to.sample(name, &texts.join("|"));
            }
            self.to.end_sample();
        }
        self.row.clear(self.number);
        for column in &self.columns {
            let mut texts = Vec::new();
            collect(value, column, &mut texts);
            self.row.push(&texts.join("|"));
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

/// Bytes of the texts of a value, with some for each value.
fn size(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size(value)).sum(),
        _ => 0,
    };
    inner + 32
}

/// Collects the paths of an object, which become the columns if the receiver names none. The members of objects in a list
/// are columns, too.
fn paths(
    value: &Value,
    above: &str,
    found: &mut Vec<String>,
    known: &mut HashSet<String>,
) -> Result<(), LimitExceeded> {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{above}{name}");
        limits::COLUMN_NAME.check(path.len() as u64)?;
        let below = format!("{path}.");
        match value {
            Value::Object(_) => paths(value, &below, found, known)?,
            Value::Array(values) if values.iter().any(Value::is_object) => {
                values.iter().try_for_each(|value| paths(value, &below, found, known))?;
            }
            _ if known.insert(path.clone()) => found.push(path),
            _ => {}
        }
        limits::COLUMNS.check(found.len() as u64)?;
    }
    Ok(())
}

/// Collects the texts at a path. A name that contains a dot takes precedence over a path.
fn collect(value: &Value, path: &str, texts: &mut Vec<String>) {
    if let Value::Array(values) = value {
        return values.iter().for_each(|value| collect(value, path, texts));
    }
    let Some(object) = value.as_object() else { return };
    if let Some(value) = object.get(path) {
        return add_texts(value, texts);
    }
    if let Some((name, rest)) = path.split_once('.')
        && let Some(value) = object.get(name)
    {
        collect(value, rest, texts);
    }
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Null | Value::Object(_) => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => texts.push(text.clone()),
        // A list of objects stays JSON: a mapping takes its texts with `json`.
        Value::Array(values) if values.iter().any(Value::is_object) => texts.push(value.to_string()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Bool(_) | Value::Number(_) => texts.push(value.to_string()),
    }
}

/// The way to the list of records: names of members.
struct JsonDescent<'d, 'r> {
    rows: &'d mut JsonRows<'r>,
    path: &'d [String],
}

impl<'de> DeserializeSeed<'de> for JsonDescent<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        match self.path.first() {
            Some(name) if name != json_path::MEMBERS => value.deserialize_map(self),
            _ => value.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for JsonDescent<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            [name, ..] if name != json_path::MEMBERS => write!(f, "an object with `{name}`"),
            _ => f.write_str("an array of objects"),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        if let [_, path @ ..] = self.path {
            while values.next_element_seed(JsonDescent { rows: &mut *self.rows, path })?.is_some() {}
            return Ok(());
        }
        if std::mem::replace(&mut self.rows.is_found, true) {
            return Err(A::Error::custom("has several lists of records; save each as a file of its own"));
        }
        while let Some(value) = values.next_element::<Value>()? {
            self.rows.add(value).map_err(A::Error::custom)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match self.path {
                [wanted, path @ ..] if *wanted == name => {
                    members.next_value_seed(JsonDescent { rows: &mut *self.rows, path })?;
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}
