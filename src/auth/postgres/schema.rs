//! The tables, and migrations that keep servers of two versions running.
//!
//! During an upgrade, servers of the previous version use the tables that the new one has migrated. A step therefore
//! either expands (tables, columns with a default, indexes) or contracts (it removes, renames or restricts something
//! that older programs use). A contracting step may only be released after a version that no longer uses what it
//! removes, whose schema version is its `oldest`: older ones refuse the store from then on.

use std::time::Duration;

use crate::StoreError;
use crate::postgres::address::PostgresAddress;
use crate::postgres::connection::Connection;
use crate::sql::{Sql, SqlError, SqlResult, columns_of, params};

#[derive(Clone, Copy)]
pub(crate) struct MigrationStep {
    pub(crate) sql: &'static str,
    /// Oldest schema version of a program that can use the tables after this step; never less than the one before.
    pub(crate) oldest: i64,
}

/// Step `n` migrates a database from version `n` to `n + 1`. Released steps are never changed.
pub(crate) const STEPS: &[MigrationStep] = &[
    MigrationStep { sql: include_str!("migrations/1.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/2.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/3.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/4.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/5.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/6.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/7.sql"), oldest: 1 },
    MigrationStep { sql: include_str!("migrations/8.sql"), oldest: 1 },
];

/// The first version that notes jumps of the clock.
pub(crate) const WITH_CLOCK_JUMP: i64 = 5;

/// Timeout of a migration statement: a large table may take long.
const LIMIT: Duration = Duration::from_secs(900);
/// Servers that start together wait for the one that migrates.
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; \
     SET LOCAL idle_in_transaction_session_timeout = 0; \
     SELECT pg_advisory_xact_lock(1447314776, hashtext(current_schema()))";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    pub(crate) version: i64,
    pub(crate) oldest: i64,
}

columns_of! { Versions: version, oldest }

/// Makes the missing steps, once if several servers start together. A newer database is accepted if it can be used.
pub(crate) fn migrate(connection: &Connection, address: &PostgresAddress, steps: &[MigrationStep]) -> SqlResult<()> {
    let supported = steps.len() as i64;
    if let Some(found) = versions(connection)?.filter(|found| found.version >= supported) {
        return check(address, found, supported);
    }
    connection.with_limit(LIMIT, || connection.transact(BEGIN, |connection| migrate_within(connection, address, steps)))
}

fn migrate_within(connection: &Connection, address: &PostgresAddress, steps: &[MigrationStep]) -> SqlResult<()> {
    let supported = steps.len() as i64;
    let sql: &dyn Sql = connection;
    let has_tables = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema())";
    let done = match versions(sql)? {
        Some(found) if found.version >= supported => return check(address, found, supported),
        Some(found) => found.version,
        None if sql.one(has_tables, &[])? => {
            let reason = "the database contains tables of another program; name an empty one, or a schema of its own with \
                          ?options=-csearch_path%3DNAME";
            return Err(StoreError::Unusable { place: address.setting(), reason: reason.to_owned() }.into());
        }
        None => 0,
    };
    let left = usize::try_from(done).ok().and_then(|done| steps.get(done..));
    for step in left.ok_or_else(|| SqlError::Data("the schema version is negative".to_owned()))? {
        connection.batch(step.sql)?;
    }
    let oldest = steps.last().map_or(0, |step| step.oldest);
    sql.execute("UPDATE store_version SET version = ?1, oldest = ?2", &params![supported, oldest]).map(|_| ())
}

fn check(address: &PostgresAddress, found: Versions, supported: i64) -> SqlResult<()> {
    if found.oldest <= supported {
        return Ok(());
    }
    let path = address.setting().into();
    Err(StoreError::NewerDatabase { path, found: found.version, supported }.into())
}

/// `None` if the database was never migrated.
pub(crate) fn versions(sql: &dyn Sql) -> SqlResult<Option<Versions>> {
    // Not `to_regclass`: it may remember, from before the lock, that there was no table.
    let query = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables \
                 WHERE tablename = 'store_version' AND schemaname = ANY(current_schemas(FALSE)))";
    if !sql.one::<bool>(query, &[])? {
        return Ok(None);
    }
    sql.one("SELECT version, oldest FROM store_version", &[]).map(Some)
}
