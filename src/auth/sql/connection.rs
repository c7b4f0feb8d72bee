//! Interface between the statements and the databases.

use crate::sql::{FromColumns, SqlError, SqlResult, SqlRow, SqlValue};

/// Takes the rows that a statement returns, each with the index of the list of parameters.
pub(crate) type EachResult<'e> = &'e mut dyn FnMut(usize, &dyn SqlRow) -> SqlResult<()>;

/// A connection, usually in a transaction. Parameters are numbered (`?1`), of types that PostgreSQL can infer.
pub trait Sql {
    /// Runs a statement for each list of parameters, in one round trip. `each` gets the index of the list and each row.
    fn query_each(&self, sql: &str, params: &[&[SqlValue<'_>]], each: EachResult<'_>) -> SqlResult<()>;

    fn execute(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<usize>;

    /// True if others can write during a transaction, which then has to lock the rows that it relies on.
    fn locks_rows(&self) -> bool {
        false
    }

    /// Makes other transactions that claim messages wait until this one ends.
    fn lock_claims(&self) -> SqlResult<()> {
        Ok(())
    }

    /// SQL function that returns the elements of a JSON array as rows with a column `value`.
    fn json_elements(&self) -> &'static str;

    /// True if usage is stored in the order of days, and not of keys.
    fn orders_usage_by_day(&self) -> bool {
        false
    }
}

impl dyn Sql + '_ {
    pub(crate) fn rows<T: FromColumns>(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<Vec<T>> {
        let mut rows = Vec::new();
        self.query_each(sql, &[params], &mut |_, row| {
            rows.push(T::from_row(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    pub(crate) fn row<T: FromColumns>(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<Option<T>> {
        Ok(self.rows(sql, params)?.into_iter().next())
    }

    /// Row of a query that always returns one.
    pub(crate) fn one<T: FromColumns>(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<T> {
        self.row(sql, params)?.ok_or_else(|| SqlError::Data("a row is missing".to_owned()))
    }

    /// Runs a statement that returns at most one row for each list of parameters.
    pub(crate) fn row_each<'p, T: FromColumns, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [SqlValue<'p>; N]>,
    ) -> SqlResult<Vec<Option<T>>> {
        let params: Vec<[SqlValue<'p>; N]> = params.into_iter().collect();
        let params: Vec<&[SqlValue<'p>]> = params.iter().map(<[_; N]>::as_slice).collect();
        let mut rows: Vec<Option<T>> = params.iter().map(|_| None).collect();
        if !params.is_empty() {
            self.query_each(sql, &params, &mut |index, row| {
                rows[index] = Some(T::from_row(row)?);
                Ok(())
            })?;
        }
        Ok(rows)
    }

    pub(crate) fn execute_each<'p, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [SqlValue<'p>; N]>,
    ) -> SqlResult<()> {
        self.row_each(sql, params).map(|_: Vec<Option<()>>| ())
    }

    /// Reads a row and keeps others from changing it until the transaction ends.
    pub(crate) fn lock_row<T: FromColumns>(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<Option<T>> {
        self.row(&format!("{sql}{}", self.for_no_key_update()), params)
    }

    /// Keeps others from changing the rows of a query, if there are any, until the transaction ends.
    pub(crate) fn lock(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<()> {
        if self.locks_rows() { self.lock_row(sql, params).map(|_: Option<()>| ()) } else { Ok(()) }
    }

    /// Suffix of a query that keeps others from changing its rows; they may add rows that refer to them.
    pub(crate) fn for_no_key_update(&self) -> &'static str {
        if self.locks_rows() { " FOR NO KEY UPDATE" } else { "" }
    }

    /// Suffix of a query that keeps others from changing or claiming its rows.
    pub(crate) fn for_update(&self) -> &'static str {
        if self.locks_rows() { " FOR UPDATE" } else { "" }
    }
}
