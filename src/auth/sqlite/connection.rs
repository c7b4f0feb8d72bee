//! Statements on a connection.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::sql::{EachResult, Sql, SqlError, SqlResult, SqlRow, SqlValue};
use crate::sqlite::failure;

impl Sql for Connection {
    fn query_each(&self, sql: &str, params: &[&[SqlValue<'_>]], each: EachResult<'_>) -> SqlResult<()> {
        let mut statement = self.prepare_cached(sql)?;
        for (index, params) in params.iter().enumerate() {
            let mut rows = statement.query(params_from_iter(*params))?;
            while let Some(row) = rows.next()? {
                each(index, row)?;
            }
        }
        Ok(())
    }

    fn execute(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<usize> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(params))?)
    }

    fn json_elements(&self) -> &'static str {
        "json_each"
    }

    fn orders_usage_by_day(&self) -> bool {
        true
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>, rusqlite::Error> {
        Ok(ToSqlOutput::Borrowed(match *self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Number(number) => ValueRef::Integer(number),
            SqlValue::Flag(flag) => ValueRef::Integer(flag.into()),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl SqlRow for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> SqlResult<SqlValue<'_>> {
        let unreadable = |what: &str| SqlError::Data(format!("column {column} is {what}"));
        match self.get_ref(column)? {
            ValueRef::Null => Ok(SqlValue::Null),
            ValueRef::Integer(number) => Ok(SqlValue::Number(number)),
            ValueRef::Text(text) => {
                str::from_utf8(text).map(SqlValue::Text).map_err(|_| unreadable("a text that is not UTF-8"))
            }
            ValueRef::Blob(bytes) => Ok(SqlValue::Bytes(bytes)),
            ValueRef::Real(_) => Err(unreadable("a fraction")),
        }
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database { failure: failure(&error), source: Box::new(error) }
    }
}
