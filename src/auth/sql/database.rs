//! Interface to a database: connections, transactions, retries and durability.

use crate::measured::MeasuredCalls;
use crate::sql::{Sql, SqlError};
use crate::{CounterStore, KeyChanges, StoreError};
use data::Date;

/// Kind of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// Finds a row by an index; visitors wait for it.
    LookUp,
    /// Reads any number of rows.
    List,
}

/// Crashes that a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the machine.
    Full,
    /// A crash of the process only; does not wait for the disk.
    Normal,
}

/// The statements of one call. They may run again from the start after a rollback.
pub(crate) type Statements<'s> = &'s mut dyn FnMut(&dyn Sql) -> Result<(), SqlError>;

/// Every database is a [`Store`](crate::Store) and a [`WatchStore`](crate::watch::WatchStore).
pub(crate) trait Database: Send + Sync {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> Result<(), StoreError>;

    /// Runs `change` in one transaction.
    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> Result<(), StoreError>;

    /// As [`Store::changes`](crate::Store::changes).
    fn read_changes(&self, since: i64) -> Result<KeyChanges, StoreError>;

    /// As [`Store::check`](crate::Store::check).
    fn check_location(&self) -> Result<(), StoreError>;

    fn calls(&self) -> &MeasuredCalls;

    /// Counters that several servers share; `None` if one server uses the database.
    fn shared_counters(&self) -> Option<&dyn CounterStore> {
        None
    }

    /// Deletes counters of past days, within a transaction.
    fn purge_counters(&self, _sql: &dyn Sql, _today: Date) -> Result<(), SqlError> {
        Ok(())
    }

    /// Overwrites deleted data where it may remain readable.
    fn erase_deleted(&self) {}

    fn look_up<T>(
        &self,
        operation: &'static str,
        read: impl Fn(&dyn Sql) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        returned(|statements| self.read(ReadKind::LookUp, operation, statements), read)
    }

    fn list<T>(
        &self,
        operation: &'static str,
        read: impl Fn(&dyn Sql) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        returned(|statements| self.read(ReadKind::List, operation, statements), read)
    }

    /// Runs `change` in one transaction, which is on the disk when this returns.
    fn change<T>(
        &self,
        operation: &'static str,
        change: impl Fn(&dyn Sql) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        returned(|statements| self.write(Durability::Full, operation, statements), change)
    }

    /// Runs `change` in one transaction, which a crash of the machine may undo.
    fn change_quickly<T>(
        &self,
        operation: &'static str,
        change: impl Fn(&dyn Sql) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        returned(|statements| self.write(Durability::Normal, operation, statements), change)
    }
}

/// Returns the result of the last run of the statements.
fn returned<T>(
    call: impl FnOnce(Statements<'_>) -> Result<(), StoreError>,
    statements: impl Fn(&dyn Sql) -> Result<T, SqlError>,
) -> Result<T, StoreError> {
    let mut result = None;
    call(&mut |sql| {
        result = Some(statements(sql)?);
        Ok(())
    })?;
    Ok(result.expect("a call that succeeds has run its statements"))
}
