//! A [`Store`](crate::Store) in one SQLite file, `venturedex.sqlite` in the data folder.
//!
//! In WAL mode, so that reads never wait for writes. A change is one immediate transaction: its checks hold to the end.

mod connection;
pub(crate) mod database_file;
pub mod files;
mod schema;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::{Connection, TransactionBehavior};

use crate::measured::MeasuredCalls;
use crate::quota::Tiers;
use crate::sql::{Failure, SqlError, SqlResult, keys};
use crate::sqlite::files::FileId;
use crate::{Durability, KeyChanges, ReadKind, Statements, Store, StoreError, StoreMeasurements, StoreResult};

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of prepared statements that a connection keeps; enough for all that it runs.
const STATEMENTS: usize = 128;
const OPEN_ATTEMPTS: u32 = 6;

pub struct SqliteStore {
    path: PathBuf,
    file: FileId,
    writer: Mutex<Connection>,
    /// Reads lists: the cost of a call depends on their length.
    lists: Mutex<Connection>,
    /// Apart from `lists`, so that a long list neither delays a rejection nor keeps a revoked key accepted.
    identities: Mutex<IdentityReader>,
    calls: MeasuredCalls,
    tiers: Tiers,
}

/// Its `data_version` shows cheaply whether another connection has committed.
struct IdentityReader {
    connection: Connection,
    /// The `data_version` and the last change at the last call of [`Store::changes`].
    seen: Option<(i64, i64)>,
}

impl SqliteStore {
    /// Version of the tables; the number of migrations.
    pub const VERSION: usize = schema::STEPS.len();

    /// Opens the store in the folder `data`; creates folder (0700) and file (0600) if missing.
    /// [`StoreError::File`], [`StoreError::ForeignDatabase`], [`StoreError::NewerDatabase`], [`StoreError::Busy`].
    pub fn open(data: &Path) -> StoreResult<Self> {
        let path = files::prepare_database(data)?;
        let mut attempts = OPEN_ATTEMPTS;
        let writer = loop {
            let migrated = || -> SqlResult<Connection> {
                let mut writer = connect(&path)?;
                schema::migrate(&mut writer, &path)?;
                Ok(writer)
            };
            match migrated().map_err(open_error(&path)) {
                // Processes that create a store at the same time can block each other; a second attempt succeeds.
                Err(StoreError::Busy) if attempts > 1 => attempts -= 1,
                opened => break opened?,
            }
        };
        let reader = || connect(&path).map_err(|error| open_error(&path)(error.into()));
        let file = files::file_id(&path).map_err(StoreError::file(&path))?;
        Ok(Self {
            writer: Mutex::new(writer),
            lists: Mutex::new(reader()?),
            identities: Mutex::new(IdentityReader { connection: reader()?, seen: None }),
            path,
            file,
            calls: MeasuredCalls::default(),
            tiers: Tiers::default(),
        })
    }

    pub fn with_tiers(self, tiers: Tiers) -> Self {
        Self { tiers, ..self }
    }

    fn identities(&self) -> MutexGuard<'_, IdentityReader> {
        self.identities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read_all<T>(&self, read: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = lists.transaction().map_err(database_error("read the store"))?;
        read(&transaction)
    }
}

/// The operations are methods of `dyn Store`.
impl Deref for SqliteStore {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl Store for SqliteStore {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> StoreResult<()> {
        self.calls.measure(|| {
            let read = match reading {
                ReadKind::LookUp => read(&self.identities().connection),
                ReadKind::List => read(&*self.lists.lock().unwrap_or_else(PoisonError::into_inner)),
            };
            read.map_err(|error| error.into_store_error(operation))
        })
    }

    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> StoreResult<()> {
        self.calls.measure(|| {
            self.check()?;
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let mut run = || {
                let synchronous = if durability == Durability::Full { "full" } else { "normal" };
                writer.pragma_update(None, "synchronous", synchronous)?;
                let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
                change(&*transaction)?;
                Ok(transaction.commit()?)
            };
            run().map_err(|error: SqlError| error.into_store_error(operation))
        })
    }

    fn changes(&self, since: i64) -> StoreResult<KeyChanges> {
        let read = || -> SqlResult<KeyChanges> {
            let mut reader = self.identities();
            // Read first: a later commit shows as a new version at the next call.
            let version: i64 = reader.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if reader.seen == Some((version, since)) {
                return Ok(KeyChanges { last: since, keys: Vec::new() });
            }
            let transaction = reader.connection.transaction()?;
            let changes = keys::changes(&*transaction, since, keys::last_change(&*transaction)?)?;
            transaction.commit()?;
            reader.seen = Some((version, changes.last));
            Ok(changes)
        };
        self.calls.measure(|| {
            self.check()?;
            read().map_err(|error| error.into_store_error("read the changed keys"))
        })
    }

    fn check(&self) -> StoreResult<()> {
        match files::file_id(&self.path) {
            Ok(file) if file == self.file => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::file(&self.path)(error)),
            _ => Err(StoreError::Replaced(self.path.clone())),
        }
    }

    fn measurements(&self) -> StoreMeasurements {
        self.calls.measurements()
    }

    fn tiers(&self) -> &Tiers {
        &self.tiers
    }

    /// Moves the log into the file, so that the log has no deleted data; if others are reading, that happens later.
    fn erase_deleted(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

hide_debug!(SqliteStore);

fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    // Deleted data is overwritten in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

fn database_error(operation: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |error| SqlError::from(error).into_store_error(operation)
}

fn open_error(path: &Path) -> impl Fn(SqlError) -> StoreError {
    move |error| match error.is(Failure::Foreign) {
        true => StoreError::ForeignDatabase(path.to_owned()),
        false => error.into_store_error("open the database"),
    }
}

fn failure(error: &rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Failure::Busy,
        Some(rusqlite::ErrorCode::DiskFull) => Failure::Full,
        Some(rusqlite::ErrorCode::NotADatabase) => Failure::Foreign,
        // No space for the file in which processes share the index of the log.
        _ if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) => Failure::Full,
        _ => Failure::Other,
    }
}
