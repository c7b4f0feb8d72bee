//! SQL statements of the stores, shared by SQLite and PostgreSQL.
//!
//! In SQLite one transaction writes at a time, and nothing is locked. PostgreSQL transactions are READ COMMITTED. A
//! transaction that changes an account, or anything that belongs to it, first locks the row of the account, so that its
//! later reads still hold when it commits. Then it locks keys, usage, and last the row of the change counter. Writes of
//! usage and of the last use of sessions lock their own rows only.

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
pub(crate) use database::{Database, Durability, ReadKind, Statements};
pub(crate) use error::{Failure, SqlError};
pub(crate) use value::{SqlRow, SqlValue, params};

/// Number of the next change. Locks the row of the counter until the transaction ends; always the last lock of a
/// transaction.
pub(crate) fn next_change(sql: &dyn Sql) -> Result<i64, SqlError> {
    sql.one("UPDATE service SET change = change + 1 RETURNING change", &[], |row| row.get(0))
}

/// The stored secret; stores `fresh` if there is none.
fn service_secret(sql: &dyn Sql, fresh: [u8; 32]) -> Result<[u8; 32], SqlError> {
    let stored = || sql.one("SELECT cursor_secret FROM service", &[], |row| row.get::<Option<[u8; 32]>>(0));
    // Writes nothing if a secret is stored: a server must start on a full disk, too.
    if let Some(known) = stored()? {
        return Ok(known);
    }
    sql.execute("UPDATE service SET cursor_secret = ?1 WHERE cursor_secret IS NULL", &params![&fresh])?;
    // Another server may have been first.
    stored()?.ok_or_else(|| SqlError::Data("the cursor secret is missing".to_owned()))
}
