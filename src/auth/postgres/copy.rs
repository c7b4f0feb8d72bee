//! Copies an SQLite store to an empty PostgreSQL store, with the numbers of all rows.
//!
//! Everything happens in one transaction, which commits only after all rows were read back from both and compared.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;

use crate::postgres::connection::{Connection, without_nul};
use crate::postgres::{PostgresSettings, PostgresStore};
use crate::sql::{Sql, SqlError, SqlResult, SqlRow, SqlValue, params};
use crate::{DataLock, ReadKind, SqliteStore, StoreError, StoreResult};

/// Rows sent and compared at a time.
const BATCH: usize = 1_000;
const LIMIT: Duration = Duration::from_secs(900);
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// The tables and their keys; rows follow those that they refer to. Leases follow from usage, windows last an hour.
const TABLES: [(&str, &str); 19] = [
    ("accounts", "id"),
    ("keys", "id"),
    ("usage", "key, day"),
    ("deleted_keys", "day, key"),
    ("sessions", "id"),
    ("recovery_codes", "account, digest"),
    ("links", "account, purpose"),
    ("webhooks", "id"),
    ("watches", "id"),
    ("listed", "watch, record"),
    ("alerts", "id"),
    ("outbox", "id"),
    ("reviews", "id"),
    ("review_decisions", "id"),
    ("review_reports", "id"),
    ("review_submissions", "id"),
    ("firm_claims", "id"),
    ("review_notices", "id"),
    ("corrections", "id"),
];

/// Names of tables, each with the number of rows.
type CopiedTables = Vec<(&'static str, u64)>;

impl PostgresStore {
    /// Copies everything from the store in the folder `from`, which no server may use meanwhile.
    /// [`StoreError::InUse`], [`StoreError::Unusable`] if the target is not empty, and those of opening both.
    pub fn copy_from(from: &Path, settings: &PostgresSettings) -> StoreResult<CopiedTables> {
        // Opening the store would create a missing one.
        crate::DatabaseFile::open_shared(from)?;
        let _lock = DataLock::acquire(from)?;
        let source = SqliteStore::open(from)?;
        let target = Self::open(settings)?;
        source.read_all(|source| {
            let copied = || {
                let connection = target.pool.take(ReadKind::LookUp)?;
                connection.with_limit(LIMIT, || {
                    connection.transact(BEGIN, |connection| target.copy_within(connection, source))
                })
            };
            copied().map_err(|error: SqlError| error.into_store_error("copy the store"))
        })
    }

    fn copy_within(&self, connection: &Connection, source: &rusqlite::Connection) -> SqlResult<CopiedTables> {
        let names = TABLES.map(|(name, _)| name).join(", ");
        connection.batch(&format!("LOCK TABLE service, leases, {names} IN ACCESS EXCLUSIVE MODE"))?;
        self.check_empty(connection)?;
        let mut copied = Vec::new();
        for (name, key) in TABLES {
            let table = TableCopy::new(name, key, connection, source)?;
            table.copy()?;
            if key == "id" {
                table.set_sequence()?;
            }
            copied.push((name, table.compare()?));
        }
        // The usage of a counter on a day counts as taken for all servers.
        connection.execute(
            "INSERT INTO leases (kind, counter, day, taken, granted) \
             SELECT 0, keys.counter, usage.day, sum(usage.requests), 0 FROM usage JOIN keys ON keys.id = usage.key \
             WHERE usage.day >= (SELECT max(day) - 1 FROM usage) GROUP BY keys.counter, usage.day",
            &[],
        )?;
        let query = "SELECT change, review_change, cursor_secret FROM service";
        let service = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (change, review_change, secret): (i64, i64, Option<[u8; 32]>) =
            source.query_row(query, [], service).map_err(unreadable)?;
        let sql: &dyn Sql = connection;
        let update = "UPDATE service SET change = ?1, review_change = ?2, cursor_secret = ?3";
        sql.execute(update, &params![change, review_change, secret.as_ref()])?;
        if sql.one::<(i64, i64, Option<[u8; 32]>)>(query, &[])? != (change, review_change, secret) {
            return Err(different("service"));
        }
        Ok(copied)
    }

    fn check_empty(&self, sql: &dyn Sql) -> SqlResult<()> {
        let used = "SELECT EXISTS (SELECT 1 FROM service WHERE change <> 0 OR cursor_secret IS NOT NULL)".to_owned();
        let rows = TABLES.iter().map(|(name, _)| format!("SELECT EXISTS (SELECT 1 FROM {name})"));
        for query in std::iter::once(used).chain(rows) {
            if sql.one(&query, &[])? {
                return Err(StoreError::Unusable {
                    place: self.pool.address.setting(),
                    reason: "the store is not empty, and nothing was copied: a server has used it already; name a new database"
                        .to_owned(),
                }
                .into());
            }
        }
        Ok(())
    }
}

/// A table to copy, with all columns that the source has.
struct TableCopy<'c> {
    name: &'static str,
    query: String,
    insert: String,
    target: &'c Connection,
    source: &'c rusqlite::Connection,
}

impl<'c> TableCopy<'c> {
    fn new(name: &'static str, key: &str, target: &'c Connection, source: &'c rusqlite::Connection) -> SqlResult<Self> {
        let statement = source.prepare(&format!("SELECT * FROM {name}")).map_err(unreadable)?;
        let columns = statement.column_names().collect::<Vec<_>>().join(", ");
        let values: Vec<String> = (1..=statement.column_count()).map(|number| format!("?{number}")).collect();
        let query = format!("SELECT {columns} FROM {name} ORDER BY {key}");
        let insert = format!("INSERT INTO {name} ({columns}) VALUES ({})", values.join(", "));
        Ok(Self { name, query, insert, target, source })
    }

    fn read(&self, mut each: impl FnMut(Vec<Vec<Value>>) -> SqlResult<()>) -> SqlResult<()> {
        let mut statement = self.source.prepare(&self.query).map_err(unreadable)?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(unreadable)?;
        let mut batch = Vec::new();
        while let Some(row) = rows.next().map_err(unreadable)? {
            let cells: Result<Vec<Value>, rusqlite::Error> = (0..columns).map(|column| row.get(column)).collect();
            batch.push(cells.map_err(unreadable)?);
            if batch.len() == BATCH {
                each(std::mem::take(&mut batch))?;
            }
        }
        each(batch)
    }

    fn copy(&self) -> SqlResult<()> {
        self.read(|rows| {
            let params: Vec<Vec<SqlValue<'_>>> = rows.iter().map(|row| self.values(row)).collect::<Result<_, _>>()?;
            let params: Vec<&[SqlValue<'_>]> = params.iter().map(Vec::as_slice).collect();
            self.target.query_each(&self.insert, &params, &mut |_, _| Ok(()))
        })
    }

    /// Continues the numbering of the source, so that numbers of deleted rows are not given again.
    fn set_sequence(&self) -> SqlResult<()> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?";
        let last: i64 = self.source.query_row(sql, [self.name], |row| row.get(0)).map_err(unreadable)?;
        let set = "SELECT setval(pg_get_serial_sequence(?1::text, 'id'), greatest(?2::bigint, 1), ?2 > 0)";
        let sql: &dyn Sql = self.target;
        sql.one(set, &params![self.name, last])
    }

    fn compare(&self) -> SqlResult<u64> {
        // Prepared statements are cached by their text, so each table has a cursor of its own.
        let cursor = format!("copied_{}", self.name);
        self.target.batch(&format!("DECLARE {cursor} CURSOR FOR {}", self.query))?;
        let mut compared = 0;
        self.read(|rows| {
            let copied = self.target.rows(&format!("FETCH {BATCH} FROM {cursor}"), &[])?;
            let mut is_same = rows.len() == copied.len();
            for (row, copied) in rows.iter().zip(&copied) {
                for (column, value) in self.values(row)?.into_iter().enumerate() {
                    is_same &= is_copy(copied.value(column)?, value);
                }
            }
            compared += rows.len() as u64;
            if is_same { Ok(()) } else { Err(different(self.name)) }
        })?;
        self.target.batch(&format!("CLOSE {cursor}"))?;
        Ok(compared)
    }

    fn values<'r>(&self, row: &'r [Value]) -> SqlResult<Vec<SqlValue<'r>>> {
        let value = |value: &'r Value| match value {
            Value::Null => Ok(SqlValue::Null),
            Value::Integer(number) => Ok(SqlValue::Number(*number)),
            Value::Text(text) => Ok(SqlValue::Text(text)),
            Value::Blob(bytes) => Ok(SqlValue::Bytes(bytes)),
            Value::Real(_) => Err(SqlError::Data(format!("a fraction in {}", self.name))),
        };
        row.iter().map(value).collect()
    }
}

/// True if PostgreSQL stores `value` of SQLite as `copied`.
fn is_copy(copied: SqlValue<'_>, value: SqlValue<'_>) -> bool {
    match (copied, value) {
        (SqlValue::Flag(flag), SqlValue::Number(number)) => number == i64::from(flag),
        (SqlValue::Text(copied), SqlValue::Text(text)) => copied == without_nul(text),
        _ => copied == value,
    }
}

fn unreadable(error: impl fmt::Display) -> SqlError {
    SqlError::Data(format!("the store to copy cannot be read: {error}"))
}

fn different(table: &str) -> SqlError {
    SqlError::Data(format!("{table} differs after the copy, and nothing was copied; try again"))
}
