//! Tokens in the links of e-mails, and the links that wait to be sent.

use crate::StoreError;
use crate::account::{Account, AccountId, Email};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, number, text};
use crate::postgres::{accounts, alerts};
use crate::watch::{DeliveryId, DueLink};

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
    let links = transaction.execute("DELETE FROM links WHERE expires_at <= $1", &[&now])?;
    Ok(links + transaction.execute("DELETE FROM outbox WHERE expires_at <= $1", &[&now])?)
}

pub(crate) fn add_request(
    transaction: &Transaction<'_>,
    email: &Email,
    purpose: Purpose,
    expires_at: i64,
    now: i64,
) -> Result<(), PostgresError> {
    let sql = "INSERT INTO outbox (link, email, expires_at, due_at) VALUES ($1, $2, $3, $4)";
    transaction.execute(sql, &[&purpose.name(), &text(email.as_str()), &expires_at, &now]).map(drop)
}

/// Of the address of an account that is deleted.
pub(crate) fn delete_requests(transaction: &Transaction<'_>, email: &Email) -> Result<usize, PostgresError> {
    transaction.execute("DELETE FROM outbox WHERE email = $1", &[&text(email.as_str())])
}

pub(crate) fn is_due(connection: &Connection, now: i64) -> Result<bool, PostgresError> {
    get(&connection.one("SELECT EXISTS (SELECT 1 FROM outbox WHERE link IS NOT NULL AND due_at <= $1)", &[&now])?, 0)
}

pub(crate) fn claim(
    transaction: &Transaction<'_>,
    now: i64,
    until: i64,
    limit: u32,
) -> Result<Vec<DueLink>, PostgresError> {
    alerts::lock_claims(transaction)?;
    transaction.execute(
        "DELETE FROM outbox WHERE link IS NOT NULL AND due_at <= $1 AND \
         NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.email = outbox.email)",
        &[&now],
    )?;
    let claimed = transaction.rows(
        "UPDATE outbox SET due_at = $1, claimed = TRUE WHERE due_at <= $2 AND id IN (SELECT id FROM outbox \
         WHERE link IS NOT NULL AND due_at <= $2 ORDER BY due_at, id LIMIT $3 FOR UPDATE) \
         RETURNING id, email, link, attempts, expires_at",
        &[&until, &now, &i64::from(limit)],
    )?;
    let mut due = Vec::with_capacity(claimed.len());
    for row in &claimed {
        let account = match accounts::by_email(transaction, &Email::from_stored(get(row, 1)?)) {
            Ok(account) => account,
            // It was deleted between the statements.
            Err(PostgresError::Rule(StoreError::NoSuchAccount { .. })) => continue,
            Err(error) => return Err(error),
        };
        let purpose = Purpose::from_name(&get::<String>(row, 2)?);
        due.push(DueLink {
            id: DeliveryId(get(row, 0)?),
            account,
            purpose,
            attempts: number(row, 3)?,
            expires_at: get(row, 4)?,
        });
    }
    Ok(due)
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
