//! Accounts and their passwords.

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::account::{Account, AccountId, Email};
use crate::password::hash::PasswordHash;
use crate::queries::ACCOUNTS;
use crate::quota::Tier;
use crate::session::NewSession;
use crate::sqlite::rows::read_account;
use crate::sqlite::{SqliteError, deleted_keys, keys, links, sessions, usage};
use crate::{Credentials, PasswordVersion, StoreError, rules};
use data::Date;

pub(crate) fn create(
    transaction: &Transaction<'_>,
    email: &Email,
    tier: Tier,
    password: Option<&PasswordHash>,
    now: i64,
) -> Result<Account, SqliteError> {
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO accounts (email, tier, password, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )?
        .execute((email.as_str(), tier.name(), password.map(PasswordHash::as_str), now))?;
    if inserted == 0 {
        return Err(StoreError::AccountExists(email.clone()).into());
    }
    by_email(transaction, email)
}

pub(crate) fn by_email(connection: &Connection, email: &Email) -> Result<Account, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} WHERE email = ?"))?;
    let found = statement.query_row([email.as_str()], read_account).optional()?;
    found.ok_or_else(|| rules::no_such_account(email).into())
}

pub(crate) fn by_id(connection: &Connection, account: AccountId) -> Result<Account, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} WHERE accounts.id = ?"))?;
    let found = statement.query_row([account.0], read_account).optional()?;
    found.ok_or(SqliteError::Rule(StoreError::AccountGone))
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<Account>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} ORDER BY email"))?;
    Ok(statement.query_map([], read_account)?.collect::<Result<_, _>>()?)
}

pub(crate) fn set_tier(transaction: &Transaction<'_>, email: &Email, tier: Tier) -> Result<Account, SqliteError> {
    let before = by_email(transaction, email)?;
    rules::check_tier(&before, tier)?;
    transaction.execute("UPDATE accounts SET tier = ? WHERE id = ?", (tier.name(), before.id.0))?;
    keys::mark_changed(transaction, before.id)?;
    Ok(Account { tier, ..before })
}

pub(crate) fn set_operator(
    transaction: &Transaction<'_>,
    account: AccountId,
    is_operator: bool,
) -> Result<Account, SqliteError> {
    transaction.execute("UPDATE accounts SET operator = ? WHERE id = ?", (is_operator, account.0))?;
    by_id(transaction, account)
}

pub(crate) fn set_blocked(
    transaction: &Transaction<'_>,
    account: AccountId,
    is_blocked: bool,
    now: i64,
) -> Result<Account, SqliteError> {
    let sql = "UPDATE accounts SET blocked_at = CASE WHEN ?1 THEN coalesce(blocked_at, ?2) END WHERE id = ?3";
    transaction.execute(sql, (is_blocked, now, account.0))?;
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
) -> Result<(u32, Vec<Account>), SqliteError> {
    const MATCHES: &str = "instr(accounts.email, ?) > 0";
    let mut count = connection.prepare_cached(&format!("SELECT count(*) FROM accounts WHERE {MATCHES}"))?;
    let total = count.query_row([part], |row| row.get(0))?;
    let page = format!("{ACCOUNTS} WHERE {MATCHES} ORDER BY accounts.email LIMIT ? OFFSET ?");
    let mut page = connection.prepare_cached(&page)?;
    let found = page.query_map((part, limit, start), read_account)?;
    Ok((total, found.collect::<Result<_, _>>()?))
}

pub(crate) fn credentials(connection: &Connection, email: &Email) -> Result<Credentials, SqliteError> {
    let mut statement =
        connection.prepare_cached("SELECT id, password, password_version FROM accounts WHERE email = ?")?;
    let found = statement.query_row([email.as_str()], |row| {
        Ok(Credentials {
            account: AccountId(row.get(0)?),
            password: row.get::<_, Option<String>>(1)?.map(PasswordHash::from_stored),
            version: PasswordVersion(row.get(2)?),
        })
    });
    found.optional()?.ok_or_else(|| rules::no_such_account(email).into())
}

pub(crate) fn set_password(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
    password: &PasswordHash,
    session: Option<&NewSession>,
) -> Result<(), SqliteError> {
    check_version(transaction, account, version)?;
    transaction.execute(
        "UPDATE accounts SET password = ?, password_version = password_version + 1 WHERE id = ?",
        (password.as_str(), account.0),
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
) -> Result<u32, SqliteError> {
    set_password(transaction, account, None, password, None)?;
    if keeps_keys { Ok(0) } else { keys::revoke_all(transaction, account, now) }
}

pub(crate) fn verify(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<Account, SqliteError> {
    let sql = "UPDATE accounts SET verified_at = coalesce(verified_at, ?) WHERE id = ?";
    transaction.execute(sql, (now, account.0))?;
    by_id(transaction, account)
}

pub(crate) fn rehash_password(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: PasswordVersion,
    password: &PasswordHash,
) -> Result<(), SqliteError> {
    check_version(transaction, account, Some(version))?;
    transaction.execute("UPDATE accounts SET password = ? WHERE id = ?", (password.as_str(), account.0))?;
    Ok(())
}

pub(crate) fn check_version(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
) -> Result<(), SqliteError> {
    let mut statement = transaction.prepare_cached("SELECT password_version FROM accounts WHERE id = ?")?;
    let found = statement.query_row([account.0], |row| row.get(0)).optional()?;
    let found = PasswordVersion(found.ok_or(SqliteError::Rule(StoreError::AccountGone))?);
    Ok(rules::check_version(found, version)?)
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
    now: i64,
) -> Result<(), SqliteError> {
    check_version(transaction, account, version)?;
    let today = Date::from_unix(now);
    let email = by_id(transaction, account)?.email;
    deleted_keys::add(transaction, account, &email, today)?;
    links::delete_requests(transaction, &email)?;
    usage::delete(transaction, account, today)?;
    keys::orphan(transaction, account, now)?;
    // By the foreign keys, its sessions are deleted and its keys remain without account.
    transaction.execute("DELETE FROM accounts WHERE id = ?", [account.0])?;
    Ok(())
}

pub(crate) fn add_session(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: PasswordVersion,
    session: &NewSession,
) -> Result<(), SqliteError> {
    check_version(transaction, account, Some(version))?;
    sessions::add(transaction, account, session)
}
