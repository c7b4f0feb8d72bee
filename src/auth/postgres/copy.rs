//! Copies an SQLite store to an empty PostgreSQL store, with the numbers of all rows.
//!
//! Everything happens in one transaction, which commits only after all rows were read back from both and compared.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::connection::{Connection, Transaction, without_nul};
use crate::postgres::pool::CallKind;
use crate::postgres::{PostgresSettings, PostgresStore};
use crate::sql::{Sql, SqlError, SqlRow, SqlValue, params};
use crate::{DataLock, SqliteStore, StoreError};

/// Rows sent and compared at a time.
const BATCH: usize = 1_000;
const LIMIT: Duration = Duration::from_secs(900);
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

#[derive(Clone, Copy)]
enum ColumnKind {
    Number,
    Flag,
    Text,
    Bytes,
}

use ColumnKind::{Bytes, Flag, Number, Text};

/// A table and its columns; those of the key are first. The columns of tables with numbered rows start with `id`.
struct TableLayout {
    name: &'static str,
    key: &'static str,
    columns: &'static [(&'static str, ColumnKind)],
}

/// Ordered so that rows follow the rows that they refer to.
const TABLES: [TableLayout; 12] = [
    TableLayout {
        name: "accounts",
        key: "id",
        columns: &[
            ("id", Number),
            ("email", Text),
            ("tier", Text),
            ("created_at", Number),
            ("password", Text),
            ("password_version", Number),
            ("verified_at", Number),
            ("totp_secret", Bytes),
            ("totp_enabled_at", Number),
            ("totp_step", Number),
            ("operator", Flag),
            ("blocked_at", Number),
        ],
    },
    TableLayout {
        name: "keys",
        key: "id",
        columns: &[
            ("id", Number),
            ("account", Number),
            ("name", Text),
            ("digest", Bytes),
            ("shown", Text),
            ("counter", Number),
            ("created_at", Number),
            ("revoked_at", Number),
            ("last_used_at", Number),
            ("changed", Number),
            ("expires_at", Number),
        ],
    },
    TableLayout { name: "usage", key: "key, day", columns: &[("key", Number), ("day", Number), ("requests", Number)] },
    TableLayout {
        name: "deleted_keys",
        key: "day, key",
        columns: &[("day", Number), ("key", Number), ("owner", Bytes)],
    },
    TableLayout {
        name: "sessions",
        key: "id",
        columns: &[
            ("id", Number),
            ("digest", Bytes),
            ("account", Number),
            ("created_at", Number),
            ("last_used_at", Number),
            ("expires_at", Number),
            ("authenticated_at", Number),
        ],
    },
    TableLayout { name: "recovery_codes", key: "account, digest", columns: &[("account", Number), ("digest", Bytes)] },
    TableLayout {
        name: "links",
        key: "account, purpose",
        columns: &[("account", Number), ("purpose", Text), ("digest", Bytes), ("expires_at", Number)],
    },
    TableLayout {
        name: "webhooks",
        key: "id",
        columns: &[
            ("id", Number),
            ("account", Number),
            ("url", Text),
            ("secret", Number),
            ("previous_until", Number),
            ("created_at", Number),
            ("stopped", Text),
        ],
    },
    TableLayout {
        name: "watches",
        key: "id",
        columns: &[
            ("id", Number),
            ("account", Number),
            ("name", Text),
            ("records", Text),
            ("query", Text),
            ("created_at", Number),
            ("evaluated", Text),
            ("problem", Text),
            ("feed", Number),
            ("emails", Flag),
            ("webhook", Number),
        ],
    },
    TableLayout { name: "listed", key: "watch, record", columns: &[("watch", Number), ("record", Text)] },
    TableLayout {
        name: "alerts",
        key: "id",
        columns: &[
            ("id", Number),
            ("watch", Number),
            ("since", Text),
            ("version", Text),
            ("created_at", Number),
            ("total", Number),
            ("entries", Text),
        ],
    },
    TableLayout {
        name: "outbox",
        key: "id",
        columns: &[
            ("id", Number),
            ("alert", Number),
            ("account", Number),
            ("webhook", Number),
            ("link", Text),
            ("email", Text),
            ("expires_at", Number),
            ("attempts", Number),
            ("due_at", Number),
            ("claimed", Flag),
            ("outcome", Text),
        ],
    },
];

/// A copied table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    pub name: &'static str,
    pub rows: u64,
}

/// A value in the form that both databases return.
#[derive(Clone, PartialEq)]
enum CopiedCell {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl PostgresStore {
    /// Copies everything from the store in the folder `from`, which no server may use meanwhile.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::Unusable`] if the target is not empty, and those of opening both.
    pub fn copy_from(from: &Path, settings: &PostgresSettings) -> Result<Vec<CopiedTable>, StoreError> {
        // Opening the store would create a missing one.
        crate::DatabaseFile::open_shared(from)?;
        let _lock = DataLock::acquire(from)?;
        let source = SqliteStore::open(from)?;
        let target = Self::open(settings)?;
        let copied = source.read_all(|source| {
            let copied = || {
                let connection = target.pool.take(CallKind::Short)?;
                connection.set_limit(LIMIT);
                let transaction = Transaction::begin(&connection, BEGIN)?;
                let copied = target.copy_within(&transaction, source);
                // It has the limits of a copy, so it is not used again.
                let copied = match copied {
                    Ok(copied) => transaction.commit().map(|()| copied),
                    Err(error) => {
                        transaction.roll_back();
                        Err(error)
                    }
                };
                connection.mark_broken();
                copied
            };
            copied().map_err(|error| error.into_store_error("copy the store"))
        })?;
        Ok(copied)
    }

    fn copy_within(
        &self,
        connection: &Connection,
        source: &rusqlite::Connection,
    ) -> Result<Vec<CopiedTable>, SqlError> {
        let names = TABLES.map(|table| table.name).join(", ");
        connection.batch(&format!("LOCK TABLE service, leases, {names} IN ACCESS EXCLUSIVE MODE"))?;
        self.check_empty(connection)?;
        let mut copied = Vec::new();
        for table in &TABLES {
            table.copy(connection, source)?;
            table.set_sequence(connection, source)?;
            copied.push(CopiedTable { name: table.name, rows: table.compare(connection, source)? });
        }
        // The usage of a counter on a day counts as taken for all servers.
        connection.execute(
            "INSERT INTO leases (kind, counter, day, taken, granted) \
             SELECT 0, keys.counter, usage.day, sum(usage.requests), 0 FROM usage JOIN keys ON keys.id = usage.key \
             WHERE usage.day >= (SELECT max(day) - 1 FROM usage) GROUP BY keys.counter, usage.day",
            &[],
        )?;
        let service = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (change, secret): (i64, Option<[u8; 32]>) =
            source.query_row("SELECT change, cursor_secret FROM service", [], service).map_err(unreadable)?;
        let sql: &dyn Sql = connection;
        let update = "UPDATE service SET change = ?1, cursor_secret = ?2";
        sql.execute(update, &params![change, secret.as_ref()])?;
        let read = |row: &dyn SqlRow| Ok((row.get(0)?, row.get(1)?));
        if sql.one("SELECT change, cursor_secret FROM service", &[], read)? != (change, secret) {
            return Err(different("service"));
        }
        Ok(copied)
    }

    fn check_empty(&self, sql: &dyn Sql) -> Result<(), SqlError> {
        let used = "SELECT EXISTS (SELECT 1 FROM service WHERE change <> 0 OR cursor_secret IS NOT NULL)".to_owned();
        let rows = TABLES.iter().map(|table| format!("SELECT EXISTS (SELECT 1 FROM {})", table.name));
        for query in std::iter::once(used).chain(rows) {
            if sql.one(&query, &[], |row| row.get(0))? {
                return Err(StoreError::Unusable {
                    place: self.pool.address().setting(),
                    reason: "the store is not empty, and nothing was copied: a server has used it already; name a new database"
                        .to_owned(),
                }
                .into());
            }
        }
        Ok(())
    }
}

impl TableLayout {
    fn query(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        format!("SELECT {} FROM {} ORDER BY {}", columns.join(", "), self.name, self.key)
    }

    fn has_numbers(&self) -> bool {
        self.key == "id"
    }

    /// Calls `each` with batches of rows.
    fn read(
        &self,
        source: &rusqlite::Connection,
        mut each: impl FnMut(Vec<Vec<CopiedCell>>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let mut statement = source.prepare(&self.query()).map_err(unreadable)?;
        let mut rows = statement.query([]).map_err(unreadable)?;
        let mut batch = Vec::new();
        while let Some(row) = rows.next().map_err(unreadable)? {
            let cell = |column| match row.get(column).map_err(unreadable)? {
                Value::Null => Ok(CopiedCell::Null),
                Value::Integer(number) => Ok(CopiedCell::Number(number)),
                Value::Text(value) => Ok(CopiedCell::Text(without_nul(&value).into_owned())),
                Value::Blob(bytes) => Ok(CopiedCell::Bytes(bytes)),
                Value::Real(_) => Err(SqlError::Data(format!("a fraction in {}", self.name))),
            };
            batch.push((0..self.columns.len()).map(cell).collect::<Result<_, SqlError>>()?);
            if batch.len() == BATCH {
                each(std::mem::take(&mut batch))?;
            }
        }
        each(batch)
    }

    fn copy(&self, connection: &Connection, source: &rusqlite::Connection) -> Result<(), SqlError> {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let array = |(index, (_, kind)): (usize, &(&str, ColumnKind))| {
            let of = match kind {
                Number => "bigint",
                Flag => "boolean",
                Text => "text",
                Bytes => "bytea",
            };
            format!("${}::{of}[]", index + 1)
        };
        let arrays: Vec<String> = self.columns.iter().enumerate().map(array).collect();
        let columns = columns.join(", ");
        let sql = format!("INSERT INTO {} ({columns}) SELECT * FROM unnest({})", self.name, arrays.join(", "));
        self.read(source, |rows| {
            if rows.is_empty() {
                return Ok(());
            }
            let arrays: Vec<Box<dyn ToSql + Sync>> =
                self.columns.iter().enumerate().map(|(index, (_, kind))| column_array(&rows, index, *kind)).collect();
            let params: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(|array| &**array).collect();
            connection.execute(&sql, &params).map(|_| ())
        })
    }

    /// Continues the numbering of the source, so that numbers of deleted rows are not given again.
    fn set_sequence(&self, connection: &Connection, source: &rusqlite::Connection) -> Result<(), SqlError> {
        if !self.has_numbers() {
            return Ok(());
        }
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?";
        let last: i64 = source.query_row(sql, [self.name], |row| row.get(0)).map_err(unreadable)?;
        let set = "SELECT setval(pg_get_serial_sequence(?1::text, 'id'), greatest(?2::bigint, 1), ?2 > 0)";
        let sql: &dyn Sql = connection;
        sql.one(set, &params![self.name, last], |_| Ok(()))
    }

    /// Compares all rows of both and returns their number.
    fn compare(&self, connection: &Connection, source: &rusqlite::Connection) -> Result<u64, SqlError> {
        // Prepared statements are cached by their text, so each table has a cursor of its own.
        let cursor = format!("copied_{}", self.name);
        connection.batch(&format!("DECLARE {cursor} CURSOR FOR {}", self.query()))?;
        let mut compared = 0;
        self.read(source, |rows| {
            let copied = connection.rows(&format!("FETCH {BATCH} FROM {cursor}"), &[])?;
            let copied: Vec<Vec<CopiedCell>> =
                copied.iter().map(|row| self.cells(row)).collect::<Result<_, SqlError>>()?;
            compared += rows.len() as u64;
            if rows == copied { Ok(()) } else { Err(different(self.name)) }
        })?;
        connection.batch(&format!("CLOSE {cursor}"))?;
        Ok(compared)
    }

    fn cells(&self, row: &Row) -> Result<Vec<CopiedCell>, SqlError> {
        let cell = |index| {
            Ok(match row.value(index)? {
                SqlValue::Null => CopiedCell::Null,
                SqlValue::Number(number) => CopiedCell::Number(number),
                SqlValue::Flag(flag) => CopiedCell::Number(flag.into()),
                SqlValue::Text(text) => CopiedCell::Text(text.to_owned()),
                SqlValue::Bytes(bytes) => CopiedCell::Bytes(bytes.to_owned()),
            })
        };
        (0..self.columns.len()).map(cell).collect()
    }
}

/// A column of rows as a PostgreSQL array. SQLite tables are strict: a value is NULL or has the type of the column.
fn column_array(rows: &[Vec<CopiedCell>], index: usize, kind: ColumnKind) -> Box<dyn ToSql + Sync> {
    let cells = rows.iter().map(|row| &row[index]);
    let number = |cell: &CopiedCell| if let CopiedCell::Number(number) = cell { Some(*number) } else { None };
    match kind {
        Number => Box::new(cells.map(number).collect::<Vec<Option<i64>>>()),
        Flag => Box::new(cells.map(|cell| number(cell).map(|flag| flag != 0)).collect::<Vec<Option<bool>>>()),
        Text => {
            let value = |cell: &CopiedCell| if let CopiedCell::Text(text) = cell { Some(text.clone()) } else { None };
            Box::new(cells.map(value).collect::<Vec<Option<String>>>())
        }
        Bytes => {
            let value =
                |cell: &CopiedCell| if let CopiedCell::Bytes(bytes) = cell { Some(bytes.clone()) } else { None };
            Box::new(cells.map(value).collect::<Vec<Option<Vec<u8>>>>())
        }
    }
}

fn unreadable(error: impl fmt::Display) -> SqlError {
    SqlError::Data(format!("the store to copy cannot be read: {error}"))
}

fn different(table: &str) -> SqlError {
    SqlError::Data(format!("{table} differs after the copy, and nothing was copied; try again"))
}

/// True if the copy includes this column of the target.
#[cfg(test)]
pub(crate) fn is_copied(table: &str, column: &str) -> bool {
    let is_listed = |known: &TableLayout| known.name == table && known.columns.iter().any(|(name, _)| *name == column);
    // Leases follow from usage, servers report themselves, and windows last an hour at most.
    ["service", "store_version", "leases", "servers", "windows"].contains(&table) || TABLES.iter().any(is_listed)
}
