//! Tokens in the links of e-mails.

use crate::auth::StoreError;
use crate::auth::account::{Account, AccountId};
use crate::auth::link::{LinkDigest, Purpose};
use crate::auth::password::hash::PasswordHash;
use crate::auth::postgres::accounts;
use crate::auth::postgres::connection::{Connection, PostgresError, Transaction};
use crate::auth::postgres::rows::get;

/// Replaces an earlier link for the same purpose.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    purpose: Purpose,
    link: &LinkDigest,
    expires_at: i64,
) -> Result<(), PostgresError> {
    accounts::lock(transaction, account)?;
    let digest = link.bytes().as_slice();
    let sql = "DELETE FROM links WHERE account = $1 AND purpose = $2 OR digest = $3";
    transaction.execute(sql, &[&account.0, &purpose.name(), &digest])?;
    transaction.execute(
        "INSERT INTO links (account, purpose, digest, expires_at) VALUES ($1, $2, $3, $4)",
        &[&account.0, &purpose.name(), &digest, &expires_at],
    )?;
    Ok(())
}

pub(crate) fn account(
    connection: &Connection,
    purpose: Purpose,
    link: &LinkDigest,
    now: i64,
) -> Result<Account, PostgresError> {
    accounts::by_id(connection, owner(connection, purpose, link, now)?).map_err(of_no_account)
}

pub(crate) fn verify(transaction: &Transaction<'_>, link: &LinkDigest, now: i64) -> Result<Account, PostgresError> {
    let id = lock_owner(transaction, Purpose::Verification, link, now)?;
    transaction.execute("DELETE FROM links WHERE digest = $1", &[&link.bytes().as_slice()])?;
    accounts::verify(transaction, id, now)
}

pub(crate) fn reset(
    transaction: &Transaction<'_>,
    link: &LinkDigest,
    password: &PasswordHash,
    keeps_keys: bool,
    now: i64,
) -> Result<Account, PostgresError> {
    let id = lock_owner(transaction, Purpose::Reset, link, now)?;
    transaction.execute("DELETE FROM links WHERE account = $1", &[&id.0])?;
    accounts::reset_password(transaction, id, password, keeps_keys, now)?;
    accounts::verify(transaction, id, now)
}

pub(crate) fn delete_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, PostgresError> {
    transaction.execute("DELETE FROM links WHERE expires_at <= $1", &[&now])
}

fn owner(connection: &Connection, purpose: Purpose, link: &LinkDigest, now: i64) -> Result<AccountId, PostgresError> {
    let sql = "SELECT account FROM links WHERE digest = $1 AND purpose = $2 AND expires_at > $3";
    let found = connection.row(sql, &[&link.bytes().as_slice(), &purpose.name(), &now])?;
    Ok(AccountId(get(&found.ok_or(StoreError::NoSuchLink)?, 0)?))
}

/// Locks the account of a valid link.
fn lock_owner(
    transaction: &Transaction<'_>,
    purpose: Purpose,
    link: &LinkDigest,
    now: i64,
) -> Result<AccountId, PostgresError> {
    let id = owner(transaction, purpose, link, now)?;
    accounts::lock(transaction, id).map_err(of_no_account)?;
    // While this waited for the lock, the link may have been used or replaced.
    match owner(transaction, purpose, link, now)? {
        again if again == id => Ok(id),
        _ => Err(StoreError::NoSuchLink.into()),
    }
}

/// The link of an account that was deleted in the meantime is unknown.
fn of_no_account(error: PostgresError) -> PostgresError {
    match error {
        PostgresError::Rule(StoreError::AccountGone) => StoreError::NoSuchLink.into(),
        error => error,
    }
}
