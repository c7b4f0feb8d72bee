//! The seam between the statements and the databases.

use crate::sql::{Row, SqlError, Value};

/// A connection, usually within a transaction. Statements have numbered parameters (`?1`), and PostgreSQL has to be able to tell
/// their types.
pub(crate) trait Sql {
    /// Calls `each` with the rows of a query.
    fn query(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), SqlError>,
    ) -> Result<(), SqlError>;

    /// Runs a statement once for each list of parameters, in their order and in one round trip. Calls `each` with the rows that it
    /// returns and the index of the list.
    fn query_each(
        &self,
        sql: &str,
        params: &[&[Value<'_>]],
        each: &mut dyn FnMut(usize, &dyn Row) -> Result<(), SqlError>,
    ) -> Result<(), SqlError>;

    /// Returns the number of rows that were changed.
    fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, SqlError>;

    /// Whether others write during a transaction, so that it has to lock what it relies on.
    fn locks_rows(&self) -> bool {
        false
    }

    /// Locks the rows of a query whose parameter is an array of ids, until the transaction ends.
    fn lock_several(&self, _sql: &str, _ids: &[i64]) -> Result<(), SqlError> {
        Ok(())
    }

    /// Makes other transactions that claim messages wait until this one ends.
    fn lock_claims(&self) -> Result<(), SqlError> {
        Ok(())
    }

    /// Whether usage is stored in the order of days, and not of keys.
    fn orders_usage_by_day(&self) -> bool {
        false
    }
}

/// As a row is locked before it is changed, or before rows that refer to it are added. Others may add such rows meanwhile.
const LOCK: &str = " FOR NO KEY UPDATE";

impl dyn Sql + '_ {
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        let mut rows = Vec::new();
        self.query(sql, params, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    pub(crate) fn row<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Option<T>, SqlError> {
        Ok(self.rows(sql, params, read)?.into_iter().next())
    }

    /// The row of a query that always has one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        self.row(sql, params, read)?.ok_or_else(|| SqlError::Data("a row is missing".to_owned()))
    }

    /// Runs a statement that returns at most one row for each list of parameters.
    pub(crate) fn row_each<'p, T, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Value<'p>; N]>,
        read: impl Fn(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Vec<Option<T>>, SqlError> {
        let params: Vec<[Value<'p>; N]> = params.into_iter().collect();
        let params: Vec<&[Value<'p>]> = params.iter().map(<[_; N]>::as_slice).collect();
        let mut rows: Vec<Option<T>> = params.iter().map(|_| None).collect();
        if !params.is_empty() {
            self.query_each(sql, &params, &mut |index, row| {
                rows[index] = Some(read(row)?);
                Ok(())
            })?;
        }
        Ok(rows)
    }

    pub(crate) fn execute_each<'p, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Value<'p>; N]>,
    ) -> Result<(), SqlError> {
        self.row_each(sql, params, |_| Ok(())).map(drop)
    }

    /// Reads a row and keeps others from changing it until the transaction ends.
    pub(crate) fn lock_row<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Option<T>, SqlError> {
        let lock = if self.locks_rows() { LOCK } else { "" };
        self.row(&format!("{sql}{lock}"), params, read)
    }

    /// Keeps others from changing the rows of a query, if there are any, until the transaction ends.
    pub(crate) fn lock(&self, sql: &str, params: &[Value<'_>]) -> Result<(), SqlError> {
        if self.locks_rows() { self.query(&format!("{sql}{LOCK}"), params, &mut |_| Ok(())) } else { Ok(()) }
    }

    /// Ends a query within a statement that changes its rows.
    pub(crate) fn for_update(&self) -> &'static str {
        if self.locks_rows() { " FOR UPDATE" } else { "" }
    }
}
