//! The store in one SQLite file, `venturedex.sqlite` in the data folder.
//!
//! In WAL mode, so that reading never waits for writing. Every change runs in one immediate transaction: what it checked
//! still holds when it commits, whatever other processes do.

pub mod accounts;
pub mod files;
pub mod keys;
pub mod rows;
pub mod schema;
#[cfg(test)]
mod tests;
pub mod usage;

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::data::Date;

use crate::auth::account::{Account, AccountId, Email, KeyName, KeyRecord, KeyRef};
use crate::auth::password::hash::PasswordHash;
use crate::auth::session::{Session, SessionDigest};
use crate::auth::{AddedUsage, Changes, Credentials, DayUsage, PasswordVersion, Store, Usage};
use crate::auth::{ApiKey, StoreError};
use crate::quota::Tier;

/// How long a call waits for other processes.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a store that others are opening is tried.
const OPENING_TRIES: u32 = 6;

/// The store in one SQLite file.
pub struct SqliteStore {
    writer: Mutex<Connection>,
    reader: Mutex<Reader>,
}

/// A connection that only reads. SQLite tells it cheaply whether any other connection has committed.
struct Reader {
    connection: Connection,
    /// The database's version and the mark when last looked.
    seen: Option<(i64, i64)>,
}

impl SqliteStore {
    /// Opens the store of the folder `data`, and makes both where they are missing (0700, 0600).
    ///
    /// # Errors
    /// [`StoreError::File`], [`StoreError::NotOurs`], [`StoreError::Newer`], [`StoreError::Busy`].
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let path = files::prepare(data)?;
        let unusable = |error: schema::Unusable| match error {
            schema::Unusable::NotOurs => StoreError::NotOurs(path.clone()),
            schema::Unusable::Newer(found) => {
                StoreError::Newer { path: path.clone(), found, known: schema::STEPS.len() as i64 }
            }
            schema::Unusable::Failed(error) => failed("open the database")(error),
        };
        let mut tries = OPENING_TRIES;
        let writer = loop {
            let migrated = || -> Result<Connection, schema::Unusable> {
                let mut writer = connect(&path)?;
                schema::migrate(&mut writer)?;
                Ok(writer)
            };
            match migrated().map_err(unusable) {
                // Many that open a new store at once can each wait for another in vain; one that tries again gets through.
                Err(StoreError::Busy) if tries > 1 => tries -= 1,
                opened => break opened?,
            }
        };
        let reader = connect(&path).map_err(|error| unusable(error.into()))?;
        Ok(Self { writer: Mutex::new(writer), reader: Mutex::new(Reader { connection: reader, seen: None }) })
    }

    /// Writes the log into the file and empties it, so that nothing of what was deleted is left there. Where others read
    /// just then, the log is overwritten later.
    fn empty_log(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `read` on the connection that only reads.
    fn read<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        read(&self.reader().connection).map_err(|failure| failure.named(doing))
    }

    /// Runs `change` in one transaction, which is undone where it fails, and is on the disk when this returns.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.write(Durability::Full, doing, change)
    }

    fn write<T>(
        &self,
        durability: Durability,
        doing: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || {
            writer.pragma_update(None, "synchronous", durability.pragma())?;
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = change(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        run().map_err(|failure: SqliteError| failure.named(doing))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteStore")
    }
}

fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    // What was deleted is gone from the file too.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// What a commit outlives.
#[derive(Clone, Copy)]
enum Durability {
    /// A crash of the machine: what a person was told is done stays done.
    Full,
    /// A crash of the process: for what is written all the time, so that the disk need not be waited for.
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

/// What stopped a transaction: a refusal of ours, or the database.
pub(crate) enum SqliteError {
    AuthError(StoreError),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self::AuthError(error)
    }
}

impl SqliteError {
    fn named(self, doing: &'static str) -> StoreError {
        match self {
            Self::AuthError(error) => error,
            Self::Database(error) => failed(doing)(error),
        }
    }
}

fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => StoreError::Busy,
        _ => StoreError::Database { doing, source: Box::new(error) },
    }
}

impl Store for SqliteStore {
    fn create_account(
        &self,
        email: &Email,
        tier: Tier,
        password: Option<&PasswordHash>,
        now: i64,
    ) -> Result<Account, StoreError> {
        self.change("make the account", |transaction| accounts::create(transaction, email, tier, password, now))
    }

    fn account(&self, email: &Email) -> Result<Account, StoreError> {
        self.read("read the account", |connection| accounts::by_email(connection, email))
    }

    fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.read("list the accounts", accounts::all)
    }

    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, StoreError> {
        self.change("set the tier", |transaction| accounts::set_tier(transaction, email, tier))
    }

    fn credentials(&self, email: &Email) -> Result<Credentials, StoreError> {
        self.read("read the password", |connection| accounts::credentials(connection, email))
    }

    fn set_password(
        &self,
        account: AccountId,
        of: Option<PasswordVersion>,
        password: &PasswordHash,
        keep: Option<&SessionDigest>,
    ) -> Result<(), StoreError> {
        self.change("set the password", |transaction| accounts::set_password(transaction, account, of, password, keep))
    }

    fn rehash_password(
        &self,
        account: AccountId,
        of: PasswordVersion,
        password: &PasswordHash,
    ) -> Result<(), StoreError> {
        self.change("renew the password's hash", |transaction| {
            accounts::rehash_password(transaction, account, of, password)
        })
    }

    fn delete_account(&self, account: AccountId, of: Option<PasswordVersion>, now: i64) -> Result<(), StoreError> {
        self.change("delete the account", |transaction| accounts::delete(transaction, account, of, now))?;
        self.empty_log();
        Ok(())
    }

    fn add_session(
        &self,
        account: AccountId,
        of: PasswordVersion,
        session: &SessionDigest,
        now: i64,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        self.change("begin the session", |transaction| {
            accounts::add_session(transaction, account, of, session, now, expires_at)
        })
    }

    fn session(&self, session: &SessionDigest, now: i64) -> Result<Option<Session>, StoreError> {
        self.read("read the session", |connection| accounts::session(connection, session, now))
    }

    fn end_session(&self, session: &SessionDigest) -> Result<bool, StoreError> {
        self.change("end the session", |transaction| accounts::end_session(transaction, session))
    }

    fn end_expired_sessions(&self, now: i64) -> Result<usize, StoreError> {
        self.change("end the sessions that expired", |transaction| accounts::end_expired_sessions(transaction, now))
    }

    fn create_key(&self, account: AccountId, name: &KeyName, key: &ApiKey, now: i64) -> Result<KeyRecord, StoreError> {
        self.change("make the key", |transaction| keys::create(transaction, account, name, key, now))
    }

    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, StoreError> {
        self.read("list the keys", |connection| keys::all(connection, account, today))
    }

    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, StoreError> {
        self.change("revoke the key", |transaction| keys::revoke(transaction, key, now))
    }

    fn changes(&self, since: i64) -> Result<Changes, StoreError> {
        let mut reader = self.reader();
        let mut read = || {
            // Asked first: what is committed after this shows as a new version the next time.
            let version: i64 = reader.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if reader.seen == Some((version, since)) {
                return Ok(Changes { mark: since, keys: Vec::new() });
            }
            let transaction = reader.connection.transaction()?;
            let changes = keys::changes(&transaction, since)?;
            transaction.commit()?;
            reader.seen = Some((version, changes.mark));
            Ok(changes)
        };
        read().map_err(failed("read what changed"))
    }

    fn usage(&self, day: Date) -> Result<Vec<Usage>, StoreError> {
        self.read("read the usage", |connection| usage::of_day(connection, day))
    }

    fn usage_of(&self, account: AccountId, first: Date, last: Date) -> Result<Vec<DayUsage>, StoreError> {
        self.read("read the usage", |connection| usage::of_account(connection, account, first, last))
    }

    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, StoreError> {
        self.write(Durability::Normal, "write the usage", |transaction| usage::add(transaction, added, now))
    }

    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.change("keep the cursor secret", |transaction| {
            let sql = "UPDATE service SET cursor_secret = coalesce(cursor_secret, ?) RETURNING cursor_secret";
            Ok(transaction.query_row(sql, [fresh], |row| row.get(0))?)
        })
    }
}

fn next_change(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("UPDATE service SET change = change + 1 RETURNING change", [], |row| row.get(0))
}
