//! A [`Store`](crate::Store) in PostgreSQL, which several servers share.
//!
//! A transaction that PostgreSQL rolls back because of another one is repeated.

mod address;
mod connection;
mod copy;
mod counters;
mod inspection;
mod pool;
mod schema;
#[cfg(test)]
#[path = "../../../tests/it/support/postgres_server.rs"]
pub(crate) mod server;
#[cfg(test)]
mod tests;

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::measured::MeasuredCalls;
use crate::postgres::address::PostgresAddress;
pub use crate::postgres::address::StoreUrl;
use crate::postgres::connection::Connection;
pub use crate::postgres::inspection::{PostgresInspection, PostgresTables};
use crate::postgres::pool::ConnectionPool;
use crate::quota::Tiers;
use crate::sql::{Failure, Sql, SqlError, SqlResult, keys};
use crate::{
    CounterStore, Durability, KeyChanges, ReadKind, Statements, Store, StoreError, StoreMeasurements, StoreResult,
    random,
};
use data::Date;

const CONFLICTS: u32 = 5;

/// Timeout for interactive look-ups; a slower database counts as unavailable.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct PostgresSettings {
    pub url: StoreUrl,
    /// Replaces the password of the URL.
    pub password: Option<Zeroizing<String>>,
    pub connections: u32,
}

impl PostgresSettings {
    /// The password is the line of `password_file`, if named. [`StoreError::Unusable`] if it cannot be read.
    pub fn read(url: StoreUrl, password_file: Option<&Path>, connections: u32) -> StoreResult<Self> {
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
    pool: ConnectionPool,
    calls: MeasuredCalls,
    tiers: Tiers,
}

impl PostgresStore {
    /// Version of the tables; the number of migrations.
    pub const VERSION: usize = schema::STEPS.len();

    /// Connects, and migrates the tables if needed. Blocks, like every method: none may be called within an async
    /// runtime. [`StoreError::Unreachable`], [`StoreError::Unusable`], [`StoreError::NewerDatabase`].
    pub fn open(settings: &PostgresSettings) -> StoreResult<Self> {
        Self::open_with(settings, schema::STEPS)
    }

    fn open_with(settings: &PostgresSettings, steps: &[schema::MigrationStep]) -> StoreResult<Self> {
        let store = Self::unmigrated(settings)?;
        let connection = store.pool.take(ReadKind::LookUp);
        let migrated = connection.and_then(|connection| schema::migrate(&connection, &store.pool.address, steps));
        migrated.map_err(|error| store.open_error(error))?;
        Ok(store)
    }

    /// Neither connects nor migrates.
    fn unmigrated(settings: &PostgresSettings) -> StoreResult<Self> {
        let password = settings.password.as_ref().map(|password| password.as_str());
        let unusable = |reason| StoreError::Unusable { place: "--store".to_owned(), reason };
        let address = PostgresAddress::parse(&settings.url, password).map_err(unusable)?;
        let pool = ConnectionPool::new(address, settings.connections as usize)?;
        let server = i64::from_le_bytes(random()?);
        Ok(Self { server, pool, calls: MeasuredCalls::default(), tiers: Tiers::default() })
    }

    pub fn with_tiers(self, tiers: Tiers) -> Self {
        Self { tiers, ..self }
    }

    fn open_error(&self, error: SqlError) -> StoreError {
        match error.into_store_error("open the store") {
            StoreError::Database { source, .. } => {
                let mut reason = source.to_string();
                if reason.contains("permission denied") {
                    reason.push_str("; the user must own the database: ALTER DATABASE … OWNER TO …");
                }
                StoreError::Unusable { place: self.pool.address.setting(), reason }
            }
            error => error,
        }
    }

    fn call<T>(&self, operation: &'static str, attempt: impl FnMut() -> SqlResult<T>) -> StoreResult<T> {
        self.calls.measure(|| {
            self.retry(attempt).map_err(|error| {
                if error.is(Failure::Timeout) {
                    self.pool.mark_lost();
                }
                error.into_store_error(operation)
            })
        })
    }

    /// Repeats a call that conflicts with others, and once a call whose connection was lost.
    fn retry<T>(&self, mut attempt: impl FnMut() -> SqlResult<T>) -> SqlResult<T> {
        let (mut conflicts, mut was_lost) = (0, false);
        loop {
            match attempt() {
                // Any failure before the commit was sent is rolled back; a conflict is rolled back even after that.
                Err(error) if error.is(Failure::Conflict) && conflicts + 1 < CONFLICTS => conflicts += 1,
                Err(error) if error.is(Failure::Lost) && !was_lost => {
                    was_lost = true;
                    self.pool.drop_idle();
                }
                result => return result,
            }
        }
    }

    fn transact<T>(
        &self,
        durability: Durability,
        operation: &'static str,
        mut change: impl FnMut(&Connection) -> SqlResult<T>,
    ) -> StoreResult<T> {
        let begin = match durability {
            Durability::Full => "BEGIN",
            Durability::Normal => "BEGIN; SET LOCAL synchronous_commit = off",
        };
        self.call(operation, || self.pool.take(ReadKind::LookUp)?.transact(begin, &mut change))
    }
}

hide_debug!(PostgresStore);

/// The operations are methods of `dyn Store`.
impl Deref for PostgresStore {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl Store for PostgresStore {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> StoreResult<()> {
        self.call(operation, || {
            let connection = self.pool.take(reading)?;
            match reading {
                ReadKind::LookUp => connection.with_limit(LOOK_UP_LIMIT, || read(&*connection)),
                ReadKind::List => read(&*connection),
            }
        })
    }

    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> StoreResult<()> {
        self.transact(durability, operation, |connection| change(connection))
    }

    fn changes(&self, since: i64) -> StoreResult<KeyChanges> {
        self.call("read the changed keys", || {
            let connection = self.pool.take(ReadKind::LookUp)?;
            let last = connection.with_limit(LOOK_UP_LIMIT, || keys::last_change(&*connection))?;
            keys::changes(&*connection, since, last)
        })
    }

    /// A connection always leads to the database that the next start would open.
    fn check(&self) -> StoreResult<()> {
        Ok(())
    }

    fn measurements(&self) -> StoreMeasurements {
        self.calls.measurements()
    }

    fn tiers(&self) -> &Tiers {
        &self.tiers
    }

    fn counters(&self) -> Option<&dyn CounterStore> {
        Some(self)
    }

    fn purge_counters(&self, sql: &dyn Sql, today: Date) -> SqlResult<()> {
        counters::purge(sql, today)
    }
}
