//! A [`Store`] in one SQLite file, `venturedex.sqlite` in the data folder.
//!
//! In WAL mode, so that reads never wait for writes. Every change is one immediate transaction, so that its checks still hold
//! when it commits, whatever other processes do.

mod accounts;
mod alerts;
pub(crate) mod database_file;
mod deleted_keys;
pub mod files;
mod keys;
mod links;
mod rows;
mod schema;
mod sessions;
mod store;
#[cfg(test)]
mod tests;
mod totp;
mod usage;
mod watch_store;
mod watches;
mod webhooks;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::measured::MeasuredCalls;
use crate::sqlite::files::FileId;
use crate::sqlite::schema::MigrationError;
use crate::{Store, StoreError};

/// How long a call waits for other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts to open a store that other processes are opening.
const OPEN_ATTEMPTS: u32 = 6;

pub struct SqliteStore {
    path: PathBuf,
    /// The file that was opened.
    file: FileId,
    writer: Mutex<Connection>,
    /// Reads lists: the work of a call depends on what it lists.
    lists: Mutex<Connection>,
    /// Reads what identifies a visitor or a key: sessions, passwords, changed keys. A connection of its own, so that nobody
    /// is rejected late, or remains accepted after a revocation, because another reads a long list.
    identities: Mutex<IdentityReader>,
    calls: MeasuredCalls,
}

/// Its `data_version` shows cheaply whether another connection has committed.
struct IdentityReader {
    connection: Connection,
    /// The `data_version` and the last change at the last call of [`Store::changes`].
    seen: Option<(i64, i64)>,
}

impl SqliteStore {
    /// Opens the store in the folder `data`; creates folder (0700) and file (0600) if missing.
    ///
    /// # Errors
    /// [`StoreError::File`], [`StoreError::ForeignDatabase`], [`StoreError::NewerDatabase`], [`StoreError::Busy`].
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let path = files::prepare(data)?;
        let store_error = |error: MigrationError| match error {
            MigrationError::Foreign => StoreError::ForeignDatabase(path.clone()),
            MigrationError::Newer(found) => {
                StoreError::NewerDatabase { path: path.clone(), found, supported: schema::STEPS.len() as i64 }
            }
            MigrationError::Database(error) => database_error("open the database")(error),
        };
        let mut attempts = OPEN_ATTEMPTS;
        let writer = loop {
            let migrated = || -> Result<Connection, MigrationError> {
                let mut writer = connect(&path)?;
                schema::migrate(&mut writer)?;
                Ok(writer)
            };
            match migrated().map_err(store_error) {
                // Processes that create a store at the same time can block each other; a second attempt succeeds.
                Err(StoreError::Busy) if attempts > 1 => attempts -= 1,
                opened => break opened?,
            }
        };
        let reader = || connect(&path).map_err(|error| store_error(error.into()));
        let file = files::id(&path).map_err(|source| StoreError::File { path: path.clone(), source })?;
        Ok(Self {
            writer: Mutex::new(writer),
            lists: Mutex::new(reader()?),
            identities: Mutex::new(IdentityReader { connection: reader()?, seen: None }),
            path,
            file,
            calls: MeasuredCalls::default(),
        })
    }

    /// Moves the log into the file, so that the log contains no deleted data. If another process is reading, the log is
    /// overwritten later.
    fn truncate_log(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    fn identities(&self) -> MutexGuard<'_, IdentityReader> {
        self.identities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one row, by an index.
    fn look_up<T>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.calls.measure(|| read(&self.identities().connection).map_err(|error| error.into_store_error(operation)))
    }

    /// Reads any number of rows.
    fn list<T>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.calls.measure(|| {
            let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            read(&lists).map_err(|error| error.into_store_error(operation))
        })
    }

    /// Reads everything as of one time.
    pub(crate) fn read_all<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = lists.transaction().map_err(database_error("read the store"))?;
        read(&transaction)
    }

    /// Runs `change` in one transaction, which is on the disk when this returns.
    fn change<T>(
        &self,
        operation: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.write(Durability::Full, operation, change)
    }

    fn write<T>(
        &self,
        durability: Durability,
        operation: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.calls.measure(|| {
            self.check()?;
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let run = || {
                writer.pragma_update(None, "synchronous", durability.pragma())?;
                let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let result = change(&transaction)?;
                transaction.commit()?;
                Ok(result)
            };
            run().map_err(|error: SqliteError| error.into_store_error(operation))
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteStore")
    }
}

fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    // Deleted data is overwritten in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A crash of the machine.
    Full,
    /// A crash of the process only; does not wait for the disk.
    Normal,
}

impl Durability {
    fn pragma(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }
}

/// Why a transaction failed: one of the store's rules, or the database.
#[derive(thiserror::Error, Debug)]
enum SqliteError {
    #[error(transparent)]
    Rule(#[from] StoreError),
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

impl SqliteError {
    fn into_store_error(self, operation: &'static str) -> StoreError {
        match self {
            Self::Rule(error) => error,
            Self::Database(error) => database_error(operation)(error),
        }
    }
}

fn database_error(operation: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full(operation),
        // No space for the file by which processes share the log of changes.
        _ if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) => {
            StoreError::Full(operation)
        }
        _ => StoreError::Database { operation, source: Box::new(error) },
    }
}

fn next_change(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("UPDATE service SET change = change + 1 RETURNING change", [], |row| row.get(0))
}

/// The stored secret, otherwise `fresh`, which is stored.
fn service_secret(transaction: &Transaction<'_>, fresh: [u8; 32]) -> Result<[u8; 32], rusqlite::Error> {
    // Nothing is written if it is stored already: a server must start on a full disk, too.
    if let Some(known) = transaction.query_row("SELECT cursor_secret FROM service", [], |row| row.get(0))? {
        return Ok(known);
    }
    transaction.execute("UPDATE service SET cursor_secret = ?", [fresh])?;
    Ok(fresh)
}
