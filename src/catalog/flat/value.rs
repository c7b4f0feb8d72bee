//! The values of a record in flat columns.

use std::borrow::Cow;
use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::flat::{ColumnType, FlatColumn, PRECISIONS};
use crate::json::field_mask::ObjectMembers;
use data::{Date, PartialDate};

#[derive(Clone, Debug, PartialEq)]
pub enum FlatValue<'r> {
    /// Unknown, or not in the record.
    Null,
    Text(Cow<'r, str>),
    Integer(i64),
    /// The number, and its digits in the record.
    Number(f64, &'r str),
    Boolean(bool),
    Date(Date),
    Texts(Vec<Cow<'r, str>>),
    Json(&'r str),
}

/// Visits the value of each column, in order. `record` is the JSON of a record with these fields; other JSON is an error.
pub fn visit_values<'r>(
    columns: &[FlatColumn],
    record: &'r [u8],
    mut visit: impl FnMut(&FlatColumn, FlatValue<'r>) -> io::Result<()>,
) -> io::Result<()> {
    visit_object(columns, 0, Some(serde_json::from_slice(record)?), &mut visit)
}

/// Visits the values of the columns that share a path up to `depth`, starting from the object there.
fn visit_object<'r>(
    columns: &[FlatColumn],
    depth: usize,
    object: Option<&'r RawValue>,
    visit: &mut impl FnMut(&FlatColumn, FlatValue<'r>) -> io::Result<()>,
) -> io::Result<()> {
    let members: Option<ObjectMembers<'r>> = object.map(RawValue::get).map(serde_json::from_str).transpose()?;
    let mut members = members.map(|members| members.0).unwrap_or_default();
    for columns in columns.chunk_by(|a, b| a.path[depth] == b.path[depth]) {
        let key = columns[0].path[depth];
        let member = members.iter().position(|(name, _)| name == key).map(|index| members.swap_remove(index).1);
        let member = member.filter(|member| member.get() != "null");
        if columns[0].path.len() > depth + 1 {
            visit_object(columns, depth + 1, member, visit)?;
            continue;
        }
        for column in columns {
            visit(column, member.map_or(Ok(FlatValue::Null), |member| value(column.kind, member.get()))?)?;
        }
    }
    Ok(())
}

/// A text, borrowed if it has no escapes.
#[derive(Deserialize)]
struct BorrowedText<'r>(#[serde(borrow)] Cow<'r, str>);

fn value(kind: ColumnType, json: &str) -> Result<FlatValue<'_>, serde_json::Error> {
    let text = || serde_json::from_str(json).map(|BorrowedText(text)| text);
    Ok(match kind {
        ColumnType::Text => FlatValue::Text(text()?),
        ColumnType::Integer => FlatValue::Integer(serde_json::from_str(json)?),
        ColumnType::Number => FlatValue::Number(serde_json::from_str(json)?, json),
        ColumnType::Boolean => FlatValue::Boolean(serde_json::from_str(json)?),
        ColumnType::Date => FlatValue::Date(serde_json::from_str::<PartialDate>(json)?.first_day()),
        // The lengths of `2026`, `2026-06` and `2026-06-01` differ by 3.
        ColumnType::Precision => FlatValue::Text(PRECISIONS[(text()?.len().saturating_sub(4) / 3).min(2)].into()),
        ColumnType::Texts => {
            let texts: Vec<BorrowedText<'_>> = serde_json::from_str(json)?;
            FlatValue::Texts(texts.into_iter().map(|BorrowedText(text)| text).collect())
        }
        ColumnType::Json => FlatValue::Json(json),
    })
}
