//! A [`Store`](crate::Store) in PostgreSQL, which several servers share.
//!
//! Transactions are READ COMMITTED. Each that changes an account, or what belongs to it, locks the row of the account first, so
//! that what it reads afterwards still holds when it commits; then it locks keys, usage, and at last the row of the change counter.
//! Usage and the last use of sessions lock their own rows only. What PostgreSQL rolls back because two transactions waited for each
//! other is repeated.

mod accounts;
mod address;
mod alerts;
mod connection;
mod copy;
mod counters;
mod deleted_keys;
mod inspection;
mod keys;
mod links;
mod pool;
mod rows;
mod schema;
#[cfg(test)]
#[path = "../../../tests/it/postgres_server.rs"]
pub(crate) mod server;
mod sessions;
mod store;
#[cfg(test)]
mod tests;
mod totp;
mod usage;
mod watch_store;
mod watches;
mod webhooks;

use std::path::Path;
use std::time::Duration;
use std::{fmt, fs};

use zeroize::Zeroizing;

use crate::measured::MeasuredCalls;
use crate::postgres::address::Address;
pub use crate::postgres::address::StoreUrl;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
pub use crate::postgres::copy::CopiedTable;
pub use crate::postgres::inspection::{PostgresInspection, PostgresTables};
use crate::postgres::pool::{Lease, Pool, Work};
use crate::{StoreError, random};

/// Attempts at a transaction that others make fail.
const CONFLICTS: u32 = 5;

/// How long what a person or a request waits for may take: longer, and the database is taken for one that does not answer.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(1);

/// How a store is reached.
#[derive(Clone, Debug)]
pub struct PostgresSettings {
    pub url: StoreUrl,
    /// Instead of that of the URL.
    pub password: Option<Zeroizing<String>>,
    /// The most connections at a time.
    pub connections: u32,
}

impl PostgresSettings {
    /// The password is the only line of `password_file`, if one is named.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if it cannot be read.
    pub fn read(url: StoreUrl, password_file: Option<&Path>, connections: u32) -> Result<Self, StoreError> {
        let read = |path: &Path| {
            let text = fs::read_to_string(path).map(Zeroizing::new).map_err(|error| StoreError::Unusable {
                place: format!("--store-password-file {}", path.display()),
                reason: format!("{error}; name a file that only the server's user can read"),
            })?;
            Ok::<_, StoreError>(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
        };
        Ok(Self { url, password: password_file.map(read).transpose()?, connections })
    }
}

pub struct PostgresStore {
    /// A random number, which distinguishes servers.
    server: i64,
    pool: Pool,
    calls: MeasuredCalls,
}

impl PostgresStore {
    /// Connects, and migrates the tables if needed. Blocks: it must not be called within an async runtime, nor any method.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`], [`StoreError::Unusable`], [`StoreError::NewerDatabase`].
    pub fn open(settings: &PostgresSettings) -> Result<Self, StoreError> {
        Self::open_with(settings, schema::STEPS)
    }

    fn open_with(settings: &PostgresSettings, steps: &[schema::Step]) -> Result<Self, StoreError> {
        let store = Self::unmigrated(settings)?;
        let migrated = || {
            let connection = store.pool.take(Work::Short)?;
            let migrated = schema::migrate(&connection, store.pool.address(), steps);
            // Its limits are those of a migration.
            connection.mark_broken();
            migrated
        };
        migrated().map_err(|error| store.open_error(error))?;
        Ok(store)
    }

    /// Reads only the settings.
    fn unmigrated(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let password = settings.password.as_ref().map(|password| password.as_str());
        let unusable = |reason| StoreError::Unusable { place: "--store".to_owned(), reason };
        let address = Address::of(&settings.url, password).map_err(unusable)?;
        let pool = Pool::new(address, settings.connections as usize)?;
        let server = random()?.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        Ok(Self { server, pool, calls: MeasuredCalls::default() })
    }

    /// What an error means if the store was not open yet.
    fn open_error(&self, error: PostgresError) -> StoreError {
        match error.into_store_error("open the store") {
            StoreError::Database { source, .. } => {
                let mut reason = source.to_string();
                if reason.contains("permission denied") {
                    reason.push_str("; the user must own the database: ALTER DATABASE … OWNER TO …");
                }
                StoreError::Unusable { place: self.pool.address().setting(), reason }
            }
            error => error,
        }
    }

    /// Reads one row, by an index.
    fn look_up<T>(
        &self,
        operation: &'static str,
        read: impl Fn(&Connection) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.read(Work::Short, operation, |connection| connection.within(LOOK_UP_LIMIT, || read(connection)))
    }

    /// Reads any number of rows.
    fn list<T>(
        &self,
        operation: &'static str,
        read: impl Fn(&Connection) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.read(Work::List, operation, read)
    }

    fn read<T>(
        &self,
        work: Work,
        operation: &'static str,
        read: impl Fn(&Connection) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.calls.measure(|| {
            let attempt = || read(&*self.pool.take(work)?);
            let mut result = attempt();
            if result.as_ref().is_err_and(PostgresError::is_lost) {
                self.pool.drop_idle();
                result = attempt();
            }
            result.map_err(|error| self.failed(error, operation))
        })
    }

    fn failed(&self, error: PostgresError, operation: &'static str) -> StoreError {
        if matches!(error, PostgresError::Timeout(_)) {
            self.pool.lost();
        }
        error.into_store_error(operation)
    }

    /// Runs `change` in one transaction, which is on the disk when this returns.
    fn change<T>(
        &self,
        operation: &'static str,
        change: impl Fn(&Transaction<'_>) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.write(Durability::Full, operation, change)
    }

    fn write<T>(
        &self,
        durability: Durability,
        operation: &'static str,
        change: impl Fn(&Transaction<'_>) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.calls.measure(|| {
            let (mut conflicts, mut was_lost) = (0, false);
            loop {
                let error = match self.attempt(durability, &change) {
                    Ok(result) => return Ok(result),
                    Err(error) => error,
                };
                // Whatever fails before the commit was sent is rolled back; a conflict is, also then.
                if error.is_conflict() && conflicts + 1 < CONFLICTS {
                    conflicts += 1;
                } else if error.is_lost() && !was_lost {
                    was_lost = true;
                    self.pool.drop_idle();
                } else {
                    return Err(self.failed(error, operation));
                }
            }
        })
    }

    fn attempt<T>(
        &self,
        durability: Durability,
        change: impl Fn(&Transaction<'_>) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let connection: Lease<'_> = self.pool.take(Work::Short)?;
        let transaction = Transaction::begin(&connection, durability.begin())?;
        match change(&transaction) {
            Ok(result) => match transaction.commit() {
                Err(error) if error.is_lost() || matches!(error, PostgresError::Timeout(_)) => {
                    Err(PostgresError::CommitUnknown)
                }
                committed => committed.map(|()| result),
            },
            Err(error) => {
                transaction.roll_back();
                Err(error)
            }
        }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresStore({})", self.pool.address())
    }
}

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A crash of the machine.
    Full,
    /// A crash of the server's process only; does not wait for the disk.
    Normal,
}

impl Durability {
    fn begin(self) -> &'static str {
        match self {
            Self::Full => "BEGIN",
            Self::Normal => "BEGIN; SET LOCAL synchronous_commit = off",
        }
    }
}

/// Locks the row of the counter until the transaction ends: the last lock of each.
fn next_change(transaction: &Transaction<'_>) -> Result<i64, PostgresError> {
    let row = transaction.one("UPDATE service SET change = change + 1 RETURNING change", &[])?;
    rows::get(&row, 0)
}

/// The stored secret, otherwise `fresh`, which is stored.
fn service_secret(transaction: &Transaction<'_>, fresh: [u8; 32]) -> Result<[u8; 32], PostgresError> {
    let known = || rows::opt_bytes(&transaction.one("SELECT cursor_secret FROM service", &[])?, 0);
    if let Some(known) = known()? {
        return Ok(known);
    }
    let sql = "UPDATE service SET cursor_secret = $1 WHERE cursor_secret IS NULL";
    transaction.execute(sql, &[&fresh.as_slice()])?;
    // Another server may have been first.
    known()?.ok_or_else(|| PostgresError::Data("the cursor secret is missing".to_owned()))
}
