//! The statements of the stores, once for SQLite and PostgreSQL.
//!
//! In SQLite one transaction writes at a time, and nothing is locked. In PostgreSQL transactions are READ COMMITTED. Each that
//! changes an account, or what belongs to it, locks the row of the account first, so that what it reads afterwards still holds when
//! it commits; then it locks keys, usage, and at last the row of the change counter. Usage and the last use of sessions lock their
//! own rows only.

pub(crate) mod accounts;
mod alerts;
mod connection;
mod database;
mod deleted_keys;
mod error;
pub(crate) mod keys;
mod links;
mod sessions;
mod store;
mod totp;
mod usage;
mod value;
mod watch_store;
mod watches;
mod webhooks;

pub(crate) use connection::{EachResult, EachRow, Sql};
pub(crate) use database::{Database, Durability, Reading, Statements};
pub(crate) use error::{Failure, SqlError};
pub(crate) use value::{Row, Value, params};

/// Locks the row of the counter until the transaction ends: the last lock of each.
pub(crate) fn next_change(sql: &dyn Sql) -> Result<i64, SqlError> {
    sql.one("UPDATE service SET change = change + 1 RETURNING change", &[], |row| row.get(0))
}

/// The stored secret, otherwise `fresh`, which is stored.
fn service_secret(sql: &dyn Sql, fresh: [u8; 32]) -> Result<[u8; 32], SqlError> {
    let stored = || sql.one("SELECT cursor_secret FROM service", &[], |row| row.get::<Option<[u8; 32]>>(0));
    // Nothing is written if it is stored already: a server must start on a full disk, too.
    if let Some(known) = stored()? {
        return Ok(known);
    }
    sql.execute("UPDATE service SET cursor_secret = ?1 WHERE cursor_secret IS NULL", &params![&fresh])?;
    // Another server may have been first.
    stored()?.ok_or_else(|| SqlError::Data("the cursor secret is missing".to_owned()))
}
