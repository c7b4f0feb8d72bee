//! The values of a record in flat columns.

use std::borrow::Cow;
use std::io;

use serde::Deserialize;

use crate::flat::csv::precision;
use crate::flat::{ColumnType, FlatColumn, PRECISIONS};
use crate::json::scan;
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

/// Visits the value of each column, in order. `record` is the JSON of a record with these fields; a value of another type
/// is an error.
pub fn visit_values<'r>(
    columns: &[FlatColumn],
    record: &'r [u8],
    mut visit: impl FnMut(&FlatColumn, FlatValue<'r>) -> io::Result<()>,
) -> io::Result<()> {
    visit_object(columns, 0, record, &mut visit)
}

/// Visits the values of the columns that share a path up to `depth`, starting from the object there.
fn visit_object<'r>(
    columns: &[FlatColumn],
    depth: usize,
    object: &'r [u8],
    visit: &mut impl FnMut(&FlatColumn, FlatValue<'r>) -> io::Result<()>,
) -> io::Result<()> {
    let mut members: Vec<(&[u8], &'r [u8])> = scan::members(object).collect();
    for columns in columns.chunk_by(|a, b| a.path[depth] == b.path[depth]) {
        let key = columns[0].path[depth].as_bytes();
        let member = members.iter().position(|(name, _)| *name == key);
        let member = member.map_or(&b"null"[..], |index| members.swap_remove(index).1);
        if columns[0].path.len() > depth + 1 {
            visit_object(columns, depth + 1, member, visit)?;
            continue;
        }
        for column in columns {
            visit(column, value(column.kind, member)?)?;
        }
    }
    Ok(())
}

/// A text, borrowed if it has no escapes.
#[derive(Deserialize)]
struct BorrowedText<'r>(#[serde(borrow)] Cow<'r, str>);

fn value(kind: ColumnType, json: &[u8]) -> io::Result<FlatValue<'_>> {
    if json == b"null" {
        return Ok(FlatValue::Null);
    }
    let text = || serde_json::from_slice(json).map(|BorrowedText(text)| text);
    let utf8 = || str::from_utf8(json).map_err(io::Error::other);
    Ok(match kind {
        ColumnType::Text => FlatValue::Text(text()?),
        ColumnType::Integer => FlatValue::Integer(serde_json::from_slice(json)?),
        ColumnType::Number => FlatValue::Number(serde_json::from_slice(json)?, utf8()?),
        ColumnType::Boolean => FlatValue::Boolean(serde_json::from_slice(json)?),
        ColumnType::Date => FlatValue::Date(serde_json::from_slice::<PartialDate>(json)?.first_day()),
        ColumnType::Precision => FlatValue::Text(PRECISIONS[precision(text()?.as_bytes())].into()),
        ColumnType::Texts => {
            let texts: Vec<BorrowedText<'_>> = serde_json::from_slice(json)?;
            FlatValue::Texts(texts.into_iter().map(|BorrowedText(text)| text).collect())
        }
        ColumnType::Json => FlatValue::Json(utf8()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::table_columns;
    use data::Table;

    #[test]
    fn a_value_of_another_type_is_an_error() {
        let columns = table_columns(Table::Sectors);
        let visit = |record: &[u8]| visit_values(&columns, record, |_, _| Ok(()));
        assert!(visit(b"{\"slug\":\"a\",\"vc_count\":1}").is_ok());
        assert!(visit(b"{\"slug\":1}").is_err() && visit(b"{\"vc_count\":\"1\"}").is_err());
    }
}
