//! The conversion of rows, and of texts to be stored.

use std::borrow::Cow;

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::sql::SqlError;

pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, SqlError> {
    Ok(row.try_get(column)?)
}

/// A number that is stored as BIGINT.
pub(crate) fn number<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T, SqlError> {
    let number: i64 = get(row, column)?;
    T::try_from(number).map_err(|_| SqlError::Data(format!("{number} is out of range")))
}

/// PostgreSQL stores no NUL in texts; SQLite does.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}
