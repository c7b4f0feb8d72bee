//! Tokens in the links of e-mails, and the links that wait to be sent.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use crate::StoreError;
use crate::account::{Account, AccountId, Email};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::sqlite::{SqliteError, accounts};
use crate::watch::{DeliveryId, DueLink};

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
    let links = transaction.execute("DELETE FROM links WHERE expires_at <= ?", [now])?;
    Ok(links + transaction.execute("DELETE FROM outbox WHERE expires_at <= ?", [now])?)
}

pub(crate) fn add_request(
    transaction: &Transaction<'_>,
    email: &Email,
    purpose: Purpose,
    expires_at: i64,
    now: i64,
) -> Result<(), SqliteError> {
    transaction.execute(
        "INSERT INTO outbox (link, email, expires_at, due_at) VALUES (?, ?, ?, ?)",
        (purpose.name(), email.as_str(), expires_at, now),
    )?;
    Ok(())
}

/// Of the address of an account that is deleted.
pub(crate) fn delete_requests(transaction: &Transaction<'_>, email: &Email) -> Result<usize, rusqlite::Error> {
    transaction.execute("DELETE FROM outbox WHERE email = ?", [email.as_str()])
}

pub(crate) fn is_due(connection: &Connection, now: i64) -> Result<bool, rusqlite::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM outbox WHERE link IS NOT NULL AND due_at <= ?)";
    connection.prepare_cached(sql)?.query_row([now], |row| row.get(0))
}

pub(crate) fn claim(
    transaction: &Transaction<'_>,
    now: i64,
    until: i64,
    limit: u32,
) -> Result<Vec<DueLink>, SqliteError> {
    transaction.execute(
        "DELETE FROM outbox WHERE link IS NOT NULL AND due_at <= ? AND \
         NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.email = outbox.email)",
        [now],
    )?;
    let mut claim = transaction.prepare_cached(
        "UPDATE outbox SET due_at = :until, claimed = 1 WHERE id IN (SELECT id FROM outbox WHERE link IS NOT NULL AND \
         due_at <= :now ORDER BY due_at, id LIMIT :limit) RETURNING id, email, link, attempts, expires_at",
    )?;
    let params = named_params! { ":until": until, ":now": now, ":limit": limit };
    let claimed = claim.query_map(params, |row| {
        Ok((row.get(0)?, Email::from_stored(row.get(1)?), row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    let claimed: Vec<(i64, Email, String, u32, i64)> = claimed.collect::<Result<_, _>>()?;
    let due = claimed.into_iter().map(|(id, email, purpose, attempts, expires_at)| {
        let account = accounts::by_email(transaction, &email)?;
        Ok(DueLink { id: DeliveryId(id), account, purpose: Purpose::from_name(&purpose), attempts, expires_at })
    });
    due.collect()
}
