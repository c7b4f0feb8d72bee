//! Inspection of a store for `doctor`; it neither migrates nor changes the store.

use std::time::{Duration, Instant};

use crate::postgres::{PostgresSettings, PostgresStore, schema};
use crate::sql::{Sql, SqlResult, inspect, last_clock_jump};
use crate::{ClockJump, ReadKind, StoreCounts, StoreError};

/// Calls to measure; the fastest is the round-trip time.
const CALLS: u32 = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresInspection {
    pub place: String,
    pub server_version: String,
    pub is_encrypted: bool,
    pub is_standby: bool,
    pub round_trip: Duration,
    /// Smallest limit of the server, the database and the role, without reserved connections.
    pub max_connections: u32,
    pub budget: u32,
    /// `None` if the store was never used.
    pub tables: Option<PostgresTables>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresTables {
    pub version: i64,
    /// Schema version of the oldest program that can use the tables.
    pub oldest: i64,
    pub supported: i64,
    pub counts: StoreCounts,
    /// The latest time of a past event, in Unix seconds; `None` without accounts.
    pub newest_time: Option<i64>,
    /// The last jump of a server's clock; `None` also if the tables are too old to have it.
    pub clock_jump: Option<ClockJump>,
}

impl PostgresStore {
    /// URL of the store, without its password. [`StoreError::Unusable`] if the URL cannot be read.
    pub fn display_url(settings: &PostgresSettings) -> Result<String, StoreError> {
        Ok(Self::unmigrated(settings)?.pool.address.place.clone())
    }

    /// Reads the state of the store, and writes nothing. [`StoreError::Unreachable`], [`StoreError::Unusable`].
    pub fn inspect(settings: &PostgresSettings) -> Result<PostgresInspection, StoreError> {
        let store = Self::unmigrated(settings)?;
        store.read_state().map_err(|error| store.open_error(error))
    }

    fn read_state(&self) -> SqlResult<PostgresInspection> {
        let connection = self.pool.take(ReadKind::LookUp)?;
        let mut round_trip = Duration::MAX;
        for _ in 0..CALLS {
            let started = Instant::now();
            connection.batch("SELECT 1")?;
            round_trip = round_trip.min(started.elapsed());
        }
        let sql: &dyn Sql = &*connection;
        let inspect_tables = |schema::Versions { version, oldest }| -> SqlResult<PostgresTables> {
            let (counts, newest_time) = inspect(sql)?;
            let has_jump = version >= schema::WITH_CLOCK_JUMP;
            let clock_jump = if has_jump { last_clock_jump(sql)? } else { None };
            let supported = schema::STEPS.len() as i64;
            Ok(PostgresTables { version, oldest, supported, counts, newest_time, clock_jump })
        };
        let tables = schema::versions(sql)?.map(inspect_tables).transpose()?;
        let (server_version, is_standby, is_encrypted, max_connections) = sql.one(
            "SELECT current_setting('server_version'), pg_is_in_recovery(), \
             coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), FALSE), \
             least(current_setting('max_connections')::bigint \
             - current_setting('superuser_reserved_connections')::bigint \
             - coalesce(current_setting('reserved_connections', TRUE), '0')::bigint, \
             (SELECT nullif(rolconnlimit, -1)::bigint FROM pg_roles WHERE rolname = current_user), \
             (SELECT nullif(datconnlimit, -1)::bigint FROM pg_database WHERE datname = current_database()))",
            &[],
        )?;
        Ok(PostgresInspection {
            place: self.pool.address.place.clone(),
            server_version,
            is_encrypted,
            is_standby,
            round_trip,
            max_connections,
            budget: u32::try_from(self.pool.size).unwrap_or(u32::MAX),
            tables,
        })
    }
}
