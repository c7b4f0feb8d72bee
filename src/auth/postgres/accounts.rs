//! Accounts and their passwords.

use tokio_postgres::Row;

use crate::account::{Account, AccountId, Email};
use crate::password::hash::PasswordHash;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, number, read_account};
use crate::postgres::{deleted_keys, keys, links, sessions, usage};
use crate::queries::ACCOUNTS;
use crate::quota::Tier;
use crate::session::NewSession;
use crate::{Credentials, PasswordVersion, StoreError, rules};
use data::Date;

/// Keeps other transactions from changing the account, or what belongs to it, until this one ends. Returns the version of the
/// password. [`StoreError::AccountGone`].
pub(crate) fn lock(transaction: &Transaction<'_>, account: AccountId) -> Result<PasswordVersion, PostgresError> {
    let sql = "SELECT password_version FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
    let row = transaction.row(sql, &[&account.0])?.ok_or(StoreError::AccountGone)?;
    Ok(PasswordVersion(get(&row, 0)?))
}

/// As [`lock`], if the password is still that of `version`.
pub(crate) fn lock_version(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
) -> Result<(), PostgresError> {
    Ok(rules::check_version(lock(transaction, account)?, version)?)
}

pub(crate) fn create(
    transaction: &Transaction<'_>,
    email: &Email,
    tier: Tier,
    password: Option<&PasswordHash>,
    now: i64,
) -> Result<Account, PostgresError> {
    let inserted = transaction.execute(
        "INSERT INTO accounts (email, tier, password, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        &[&email.as_str(), &tier.name(), &password.map(PasswordHash::as_str), &now],
    )?;
    if inserted == 0 {
        return Err(StoreError::AccountExists(email.clone()).into());
    }
    by_email(transaction, email)
}

pub(crate) fn by_email(connection: &Connection, email: &Email) -> Result<Account, PostgresError> {
    let found = connection.row(&format!("{ACCOUNTS} WHERE email = $1"), &[&email.as_str()])?;
    read_account(&found.ok_or_else(|| rules::no_such_account(email))?)
}

pub(crate) fn by_id(connection: &Connection, account: AccountId) -> Result<Account, PostgresError> {
    let found = connection.row(&format!("{ACCOUNTS} WHERE accounts.id = $1"), &[&account.0])?;
    read_account(&found.ok_or(StoreError::AccountGone)?)
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<Account>, PostgresError> {
    connection.rows(&format!("{ACCOUNTS} ORDER BY email"), &[])?.iter().map(read_account).collect()
}

pub(crate) fn set_tier(transaction: &Transaction<'_>, email: &Email, tier: Tier) -> Result<Account, PostgresError> {
    let sql = "SELECT id FROM accounts WHERE email = $1 FOR NO KEY UPDATE";
    transaction.row(sql, &[&email.as_str()])?;
    let before = by_email(transaction, email)?;
    rules::check_tier(&before, tier)?;
    transaction.execute("UPDATE accounts SET tier = $1 WHERE id = $2", &[&tier.name(), &before.id.0])?;
    keys::mark_changed(transaction, before.id)?;
    Ok(Account { tier, ..before })
}

pub(crate) fn set_operator(
    transaction: &Transaction<'_>,
    account: AccountId,
    is_operator: bool,
) -> Result<Account, PostgresError> {
    transaction.execute("UPDATE accounts SET operator = $1 WHERE id = $2", &[&is_operator, &account.0])?;
    by_id(transaction, account)
}

pub(crate) fn set_blocked(
    transaction: &Transaction<'_>,
    account: AccountId,
    is_blocked: bool,
    now: i64,
) -> Result<Account, PostgresError> {
    lock(transaction, account)?;
    let sql = "UPDATE accounts SET blocked_at = CASE WHEN $1::boolean THEN coalesce(blocked_at, $2) END WHERE id = $3";
    transaction.execute(sql, &[&is_blocked, &now, &account.0])?;
    if is_blocked {
        sessions::end_all(transaction, account)?;
    }
    keys::mark_changed(transaction, account)?;
    by_id(transaction, account)
}

pub(crate) fn find(
    connection: &Connection,
    part: &str,
    start: u32,
    limit: u32,
) -> Result<(u32, Vec<Account>), PostgresError> {
    const MATCHES: &str = "strpos(accounts.email, $1) > 0";
    // No address contains it, and PostgreSQL accepts no text that does.
    if part.contains('\0') {
        return Ok((0, Vec::new()));
    }
    let total = connection.one(&format!("SELECT count(*) FROM accounts WHERE {MATCHES}"), &[&part])?;
    let page = format!("{ACCOUNTS} WHERE {MATCHES} ORDER BY accounts.email LIMIT $2 OFFSET $3");
    let page = connection.rows(&page, &[&part, &i64::from(limit), &i64::from(start)])?;
    Ok((number(&total, 0)?, page.iter().map(read_account).collect::<Result<_, _>>()?))
}

pub(crate) fn credentials(connection: &Connection, email: &Email) -> Result<Credentials, PostgresError> {
    let sql = "SELECT id, password, password_version FROM accounts WHERE email = $1";
    let read = |row: &Row| {
        Ok(Credentials {
            account: AccountId(get(row, 0)?),
            password: get::<Option<String>>(row, 1)?.map(PasswordHash::from_stored),
            version: PasswordVersion(get(row, 2)?),
        })
    };
    read(&connection.row(sql, &[&email.as_str()])?.ok_or_else(|| rules::no_such_account(email))?)
}

pub(crate) fn set_password(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
    password: &PasswordHash,
    session: Option<&NewSession>,
) -> Result<(), PostgresError> {
    lock_version(transaction, account, version)?;
    transaction.execute(
        "UPDATE accounts SET password = $1, password_version = password_version + 1 WHERE id = $2",
        &[&password.as_str(), &account.0],
    )?;
    sessions::end_all(transaction, account)?;
    session.map_or(Ok(()), |session| sessions::add(transaction, account, session))
}

/// Sets a password that its owner did not choose, ends all sessions, and returns the number of keys that were revoked.
pub(crate) fn reset_password(
    transaction: &Transaction<'_>,
    account: AccountId,
    password: &PasswordHash,
    keeps_keys: bool,
    now: i64,
) -> Result<u32, PostgresError> {
    set_password(transaction, account, None, password, None)?;
    if keeps_keys { Ok(0) } else { keys::revoke_all(transaction, account, now) }
}

pub(crate) fn verify(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<Account, PostgresError> {
    let sql = "UPDATE accounts SET verified_at = coalesce(verified_at, $1) WHERE id = $2";
    transaction.execute(sql, &[&now, &account.0])?;
    by_id(transaction, account)
}

pub(crate) fn rehash_password(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: PasswordVersion,
    password: &PasswordHash,
) -> Result<(), PostgresError> {
    lock_version(transaction, account, Some(version))?;
    transaction.execute("UPDATE accounts SET password = $1 WHERE id = $2", &[&password.as_str(), &account.0])?;
    Ok(())
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
    now: i64,
) -> Result<(), PostgresError> {
    lock_version(transaction, account, version)?;
    let today = Date::from_unix(now);
    let email = by_id(transaction, account)?.email;
    keys::lock_all(transaction, account)?;
    deleted_keys::add(transaction, account, &email, today)?;
    links::delete_requests(transaction, &email)?;
    usage::delete(transaction, account, today)?;
    keys::orphan(transaction, account, now)?;
    // By the foreign keys, its sessions are deleted and its keys remain without account.
    transaction.execute("DELETE FROM accounts WHERE id = $1", &[&account.0])?;
    Ok(())
}

pub(crate) fn add_session(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: PasswordVersion,
    session: &NewSession,
) -> Result<(), PostgresError> {
    lock_version(transaction, account, Some(version))?;
    sessions::add(transaction, account, session)
}
