//! Tokens in the links of e-mails.

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::auth::StoreError;
use crate::auth::account::{Account, AccountId};
use crate::auth::link::{LinkDigest, Purpose};
use crate::auth::password::hash::PasswordHash;
use crate::auth::sqlite::{SqliteError, accounts};

/// Replaces an earlier link for the same purpose.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    purpose: Purpose,
    link: &LinkDigest,
    expires_at: i64,
) -> Result<(), SqliteError> {
    accounts::check_version(transaction, account, None)?;
    transaction.execute(
        "INSERT OR REPLACE INTO links (account, purpose, digest, expires_at) VALUES (?, ?, ?, ?)",
        (account.0, purpose.name(), link.bytes(), expires_at),
    )?;
    Ok(())
}

pub(crate) fn account(
    connection: &Connection,
    purpose: Purpose,
    link: &LinkDigest,
    now: i64,
) -> Result<Account, SqliteError> {
    let sql = "SELECT account FROM links WHERE digest = ? AND purpose = ? AND expires_at > ?";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((link.bytes(), purpose.name(), now), |row| row.get(0)).optional()?;
    accounts::by_id(connection, AccountId(found.ok_or(SqliteError::Rule(StoreError::NoSuchLink))?))
}

pub(crate) fn verify(transaction: &Transaction<'_>, link: &LinkDigest, now: i64) -> Result<Account, SqliteError> {
    let Account { id, .. } = account(transaction, Purpose::Verification, link, now)?;
    transaction.execute("DELETE FROM links WHERE digest = ?", [link.bytes()])?;
    accounts::verify(transaction, id, now)
}

pub(crate) fn reset(
    transaction: &Transaction<'_>,
    link: &LinkDigest,
    password: &PasswordHash,
    keeps_keys: bool,
    now: i64,
) -> Result<Account, SqliteError> {
    let Account { id, .. } = account(transaction, Purpose::Reset, link, now)?;
    transaction.execute("DELETE FROM links WHERE account = ?", [id.0])?;
    accounts::reset_password(transaction, id, password, keeps_keys, now)?;
    accounts::verify(transaction, id, now)
}

pub(crate) fn delete_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, rusqlite::Error> {
    transaction.execute("DELETE FROM links WHERE expires_at <= ?", [now])
}
