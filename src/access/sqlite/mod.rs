//! The store in one SQLite file, `venturedex.sqlite` in the data folder.
//!
//! In WAL mode, so that reading never waits for writing. Every change runs in one immediate transaction: what it checked
//! still holds when it commits, whatever other processes do.

mod files;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, named_params};

use crate::dataset::Date;

use super::account::{Account, AccountId, CounterId, Email, KeyId, KeyName, KeyRecord, KeyRef};
use super::store::{AddedUsage, Changes, Store, Usage};
use super::{AccessError, ApiKey, Tier};
use rows::{ACCOUNTS, KEYS, read_account, read_key, read_state};

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
    /// [`AccessError::File`], [`AccessError::NotOurs`], [`AccessError::Newer`], [`AccessError::Busy`].
    pub fn open(data: &Path) -> Result<Self, AccessError> {
        let path = files::prepare(data)?;
        let unusable = |error: schema::Unusable| match error {
            schema::Unusable::NotOurs => AccessError::NotOurs(path.clone()),
            schema::Unusable::Newer(found) => {
                AccessError::Newer { path: path.clone(), found, known: schema::STEPS.len() as i64 }
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
                Err(AccessError::Busy) if tries > 1 => tries -= 1,
                opened => break opened?,
            }
        };
        let reader = connect(&path).map_err(|error| unusable(error.into()))?;
        Ok(Self { writer: Mutex::new(writer), reader: Mutex::new(Reader { connection: reader, seen: None }) })
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `change` in one transaction, which is undone where it fails.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, AccessError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = change(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        run().map_err(|failure: Failure| failure.named(doing))
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
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// What stopped a transaction: a refusal of ours, or the database.
enum Failure {
    Refused(AccessError),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    fn named(self, doing: &'static str) -> AccessError {
        match self {
            Self::Refused(error) => error,
            Self::Database(error) => failed(doing)(error),
        }
    }
}

fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> AccessError {
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => AccessError::Busy,
        _ => AccessError::Database { doing, source: Box::new(error) },
    }
}

impl Store for SqliteStore {
    fn create_account(&self, email: &Email, tier: Tier, now: i64) -> Result<Account, AccessError> {
        self.change("make the account", |transaction| {
            let made = transaction
                .prepare_cached(
                    "INSERT INTO accounts (email, tier, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                )?
                .execute((email.as_str(), tier.name(), now))?;
            if made == 0 {
                return Err(AccessError::AccountExists(email.clone()).into());
            }
            account(transaction, email)
        })
    }

    fn account(&self, email: &Email) -> Result<Account, AccessError> {
        account(&self.reader().connection, email).map_err(|failure| failure.named("read the account"))
    }

    fn accounts(&self) -> Result<Vec<Account>, AccessError> {
        let reader = self.reader();
        let read = || -> Result<Vec<Account>, rusqlite::Error> {
            let mut statement = reader.connection.prepare_cached(&format!("{ACCOUNTS} ORDER BY email"))?;
            statement.query_map([], read_account)?.collect()
        };
        read().map_err(failed("list the accounts"))
    }

    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, AccessError> {
        self.change("set the tier", |transaction| {
            let before = account(transaction, email)?;
            if let Some(allowed) = tier.keys().filter(|allowed| before.active_keys > *allowed) {
                let active = before.active_keys;
                return Err(AccessError::TooManyKeys { email: email.clone(), tier, allowed, active }.into());
            }
            transaction.execute("UPDATE accounts SET tier = ? WHERE id = ?", (tier.name(), before.id.0))?;
            let change = next_change(transaction)?;
            transaction.execute("UPDATE keys SET changed = ? WHERE account = ?", (change, before.id.0))?;
            Ok(Account { tier, ..before })
        })
    }

    fn create_key(&self, email: &Email, name: &KeyName, key: &ApiKey, now: i64) -> Result<KeyRecord, AccessError> {
        self.change("make the key", |transaction| {
            let Account { id, tier, active_keys, .. } = account(transaction, email)?;
            if let Some(allowed) = tier.keys().filter(|allowed| active_keys >= *allowed) {
                return Err(AccessError::KeysUsedUp { email: email.clone(), tier, allowed }.into());
            }
            let counter = free_counter(transaction, id, Date::from_unix(now))?;
            let change = next_change(transaction)?;
            let key: i64 = transaction
                .prepare_cached(
                    "INSERT INTO keys (account, name, digest, shown, counter, created_at, changed)
                     VALUES (:account, :name, :digest, :shown, :counter, :now, :changed) RETURNING id",
                )?
                .query_row(
                    named_params! {
                        ":account": id.0,
                        ":name": name.as_str(),
                        ":digest": key.digest().bytes(),
                        ":shown": key.shown().to_string(),
                        ":counter": counter.unwrap_or(0),
                        ":now": now,
                        ":changed": change,
                    },
                    |row| row.get(0),
                )?;
            if counter.is_none() {
                transaction.execute("UPDATE keys SET counter = id WHERE id = ?", [key])?;
            }
            record(transaction, key, Date::from_unix(now))
        })
    }

    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, AccessError> {
        let reader = self.reader();
        let read = || -> Result<Vec<KeyRecord>, rusqlite::Error> {
            let of = if account.is_some() { "keys.account = :id" } else { ":id IS NULL" };
            let mut statement = reader.connection.prepare_cached(&format!("{KEYS} WHERE {of} ORDER BY keys.id"))?;
            let id = account.map(|account| account.0);
            statement.query_map(named_params! {":today": today.days(), ":id": id}, read_key)?.collect()
        };
        read().map_err(failed("list the keys"))
    }

    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, AccessError> {
        self.change("revoke the key", |transaction| {
            let id = find(transaction, key)?;
            let revoked =
                transaction.execute("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (now, id))?;
            if revoked > 0 {
                let change = next_change(transaction)?;
                transaction.execute("UPDATE keys SET changed = ? WHERE id = ?", (change, id))?;
            }
            record(transaction, id, Date::from_unix(now))
        })
    }

    fn changes(&self, since: i64) -> Result<Changes, AccessError> {
        let mut reader = self.reader();
        let mut read = || {
            // Asked first: what is committed after this shows as a new version the next time.
            let version: i64 = reader.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if reader.seen == Some((version, since)) {
                return Ok(Changes { mark: since, keys: Vec::new() });
            }
            let transaction = reader.connection.transaction()?;
            let mark =
                transaction.prepare_cached("SELECT change FROM service")?.query_row([], |row| row.get::<_, i64>(0))?;
            let mut keys = Vec::new();
            if mark != since {
                // An older mark than ours is that of a database put back from a copy: all of it is read again.
                let since = if mark < since { 0 } else { since };
                let mut statement = transaction.prepare_cached(
                    "SELECT keys.id, keys.counter, keys.account, accounts.tier, keys.revoked_at IS NOT NULL, \
                     keys.digest, keys.shown FROM keys JOIN accounts ON accounts.id = keys.account \
                     WHERE keys.changed > ?",
                )?;
                keys = statement.query_map([since], read_state)?.collect::<Result<_, _>>()?;
            }
            transaction.commit()?;
            reader.seen = Some((version, mark));
            Ok(Changes { mark, keys })
        };
        read().map_err(failed("read what changed"))
    }

    fn usage(&self, day: Date) -> Result<Vec<Usage>, AccessError> {
        let reader = self.reader();
        let read = || -> Result<Vec<Usage>, rusqlite::Error> {
            let mut statement = reader.connection.prepare_cached(
                "SELECT usage.key, keys.counter, usage.requests FROM usage JOIN keys ON keys.id = usage.key \
                 WHERE usage.day = ?",
            )?;
            let usage = |row: &Row<'_>| {
                Ok(Usage { key: KeyId(row.get(0)?), counter: CounterId(row.get(1)?), requests: row.get(2)? })
            };
            statement.query_map([day.days()], usage)?.collect()
        };
        read().map_err(failed("read the usage"))
    }

    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, AccessError> {
        self.change("write the usage", |transaction| {
            let mut add = transaction.prepare_cached(
                "INSERT INTO usage (day, key, requests) VALUES (:day, :key, max(0, :requests)) \
                 ON CONFLICT DO UPDATE SET requests = max(0, requests + :requests) RETURNING requests",
            )?;
            let mut used = transaction.prepare_cached("UPDATE keys SET last_used_at = ? WHERE id = ?")?;
            let mut totals = Vec::with_capacity(added.len());
            for added in added {
                let params = named_params! {
                    ":day": added.day.days(), ":key": added.key.0, ":requests": added.requests,
                };
                totals.push(add.query_row(params, |row| row.get(0))?);
                if added.requests > 0 {
                    used.execute((now, added.key.0))?;
                }
            }
            Ok(totals)
        })
    }

    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], AccessError> {
        self.change("keep the cursor secret", |transaction| {
            let sql = "UPDATE service SET cursor_secret = coalesce(cursor_secret, ?) RETURNING cursor_secret";
            Ok(transaction.query_row(sql, [fresh], |row| row.get(0))?)
        })
    }
}

fn account(connection: &Connection, email: &Email) -> Result<Account, Failure> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} WHERE email = ?"))?;
    let found = statement.query_row([email.as_str()], read_account).optional()?;
    found.ok_or_else(|| AccessError::NoSuchAccount { email: email.clone(), nearest: None }.into())
}

fn record(connection: &Connection, key: i64, today: Date) -> Result<KeyRecord, Failure> {
    let mut statement = connection.prepare_cached(&format!("{KEYS} WHERE keys.id = :id"))?;
    Ok(statement.query_row(named_params! {":today": today.days(), ":id": key}, read_key)?)
}

fn find(connection: &Connection, key: KeyRef) -> Result<i64, Failure> {
    let found: Vec<i64> = match key {
        KeyRef::Id(id) => ids(connection, "SELECT id FROM keys WHERE id = ?", id.0),
        KeyRef::Shown(shown) => {
            // Where several look alike and one of them is active, that one is meant.
            let sql = "SELECT id FROM keys WHERE shown = ?1 AND (revoked_at IS NULL OR NOT EXISTS \
                       (SELECT 1 FROM keys WHERE shown = ?1 AND revoked_at IS NULL)) ORDER BY id";
            ids(connection, sql, shown.to_string())
        }
        KeyRef::Digest(digest) => ids(connection, "SELECT id FROM keys WHERE digest = ?", *digest.bytes()),
    }?;
    match found.as_slice() {
        [] => Err(AccessError::NoSuchKey.into()),
        [id] => Ok(*id),
        several => Err(AccessError::AmbiguousKey(several.iter().copied().map(KeyId).collect()).into()),
    }
}

fn ids(connection: &Connection, sql: &str, param: impl rusqlite::ToSql) -> Result<Vec<i64>, rusqlite::Error> {
    connection.prepare_cached(sql)?.query_map([param], |row| row.get(0))?.collect()
}

/// The counter that a new key takes over: that of the key revoked last on `today` whose counter no active key has.
///
/// A new counter is begun only where there is none such, so that an account never counts on more counters a day than its
/// tier allows keys.
fn free_counter(connection: &Connection, account: AccountId, today: Date) -> Result<Option<i64>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT counter FROM keys WHERE account = :account AND revoked_at >= :start AND revoked_at < :end \
             AND counter NOT IN (SELECT counter FROM keys WHERE account = :account AND revoked_at IS NULL) \
             ORDER BY revoked_at DESC, id DESC LIMIT 1",
        )?
        .query_row(
            named_params! {":account": account.0, ":start": today.unix(), ":end": today.unix() + 86_400},
            |row| row.get(0),
        )
        .optional()
}

fn next_change(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("UPDATE service SET change = change + 1 RETURNING change", [], |row| row.get(0))
}
