//! Accounts and their passwords.

use crate::account::{Account, AccountId, Email};
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::session::NewSession;
use crate::sql::{Sql, SqlError, SqlRow, deleted_keys, keys, links, params, sessions, usage};
use crate::{Credentials, PasswordVersion, StoreError, rules};
use data::Date;

/// The columns that [`read_account`] reads.
pub(crate) const COLUMNS: &str = "accounts.id, accounts.email, accounts.tier, accounts.created_at, \
     (SELECT count(DISTINCT counter) FROM keys WHERE keys.account = accounts.id AND keys.revoked_at IS NULL) AS active_keys, \
     accounts.verified_at, accounts.totp_enabled_at, \
     (SELECT count(*) FROM recovery_codes WHERE recovery_codes.account = accounts.id) AS recovery_codes, \
     accounts.operator, accounts.blocked_at";

pub(crate) fn read_account(row: &dyn SqlRow) -> Result<Account, SqlError> {
    Ok(Account {
        id: AccountId(row.get(0)?),
        email: Email::from_stored(row.get(1)?),
        tier: row.parsed(2)?,
        created_at: row.get(3)?,
        active_keys: row.get(4)?,
        verified_at: row.get(5)?,
        totp_enabled_at: row.get(6)?,
        recovery_codes: row.get(7)?,
        is_operator: row.get(8)?,
        blocked_at: row.get(9)?,
    })
}

/// Keeps other transactions from changing the account, or anything that belongs to it, until this one ends. The account
/// may be gone.
pub(crate) fn lock(sql: &dyn Sql, account: AccountId) -> Result<(), SqlError> {
    sql.lock("SELECT id FROM accounts WHERE id = ?1", &params![account.0])
}

/// Like [`lock`]; fails unless the password still has this version (`None`: any). [`StoreError::AccountGone`].
pub(crate) fn lock_version(
    sql: &dyn Sql,
    account: AccountId,
    version: Option<PasswordVersion>,
) -> Result<(), SqlError> {
    let found =
        sql.lock_row("SELECT password_version FROM accounts WHERE id = ?1", &params![account.0], |row| row.get(0))?;
    Ok(rules::check_version(PasswordVersion(found.ok_or(StoreError::AccountGone)?), version)?)
}

pub(crate) fn create(
    sql: &dyn Sql,
    email: &Email,
    tier: Tier,
    password: Option<&PasswordHash>,
    now: i64,
) -> Result<Account, SqlError> {
    let inserted = sql.execute(
        "INSERT INTO accounts (email, tier, password, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        &params![email.as_str(), tier.name(), password.map(PasswordHash::as_str), now],
    )?;
    if inserted == 0 {
        return Err(StoreError::AccountExists(email.clone()).into());
    }
    by_email(sql, email)
}

pub(crate) fn by_email(sql: &dyn Sql, email: &Email) -> Result<Account, SqlError> {
    let query = format!("SELECT {COLUMNS} FROM accounts WHERE email = ?1");
    Ok(sql.row(&query, &params![email.as_str()], read_account)?.ok_or_else(|| rules::no_such_account(email))?)
}

pub(crate) fn by_id(sql: &dyn Sql, account: AccountId) -> Result<Account, SqlError> {
    let query = format!("SELECT {COLUMNS} FROM accounts WHERE accounts.id = ?1");
    Ok(sql.row(&query, &params![account.0], read_account)?.ok_or(StoreError::AccountGone)?)
}

pub(crate) fn all(sql: &dyn Sql) -> Result<Vec<Account>, SqlError> {
    sql.rows(&format!("SELECT {COLUMNS} FROM accounts ORDER BY email"), &[], read_account)
}

pub(crate) fn set_tier(sql: &dyn Sql, email: &Email, tier: Tier) -> Result<Account, SqlError> {
    sql.lock("SELECT id FROM accounts WHERE email = ?1", &params![email.as_str()])?;
    let before = by_email(sql, email)?;
    rules::check_tier(&before, tier)?;
    sql.execute("UPDATE accounts SET tier = ?1 WHERE id = ?2", &params![tier.name(), before.id.0])?;
    keys::mark_changed(sql, before.id)?;
    Ok(Account { tier, ..before })
}

pub(crate) fn set_operator(sql: &dyn Sql, account: AccountId, is_operator: bool) -> Result<Account, SqlError> {
    sql.execute("UPDATE accounts SET operator = ?1 WHERE id = ?2", &params![is_operator, account.0])?;
    by_id(sql, account)
}

pub(crate) fn set_blocked(sql: &dyn Sql, account: AccountId, is_blocked: bool, now: i64) -> Result<Account, SqlError> {
    lock(sql, account)?;
    if is_blocked {
        let update = "UPDATE accounts SET blocked_at = coalesce(blocked_at, ?1) WHERE id = ?2";
        sql.execute(update, &params![now, account.0])?;
        sessions::end_all(sql, account)?;
    } else {
        sql.execute("UPDATE accounts SET blocked_at = NULL WHERE id = ?1", &params![account.0])?;
    }
    keys::mark_changed(sql, account)?;
    by_id(sql, account)
}

pub(crate) fn find(sql: &dyn Sql, part: &str, start: u32, limit: u32) -> Result<(u32, Vec<Account>), SqlError> {
    // Removal of a part is the only search that is case-sensitive in both databases.
    const MATCHES: &str = "(replace(accounts.email, ?1, '') <> accounts.email OR ?1 = '')";
    let count = format!("SELECT count(*) FROM accounts WHERE {MATCHES}");
    let total = sql.one(&count, &params![part], |row| row.get(0))?;
    let page = format!("SELECT {COLUMNS} FROM accounts WHERE {MATCHES} ORDER BY accounts.email LIMIT ?2 OFFSET ?3");
    Ok((total, sql.rows(&page, &params![part, limit, start], read_account)?))
}

pub(crate) fn credentials(sql: &dyn Sql, email: &Email) -> Result<Credentials, SqlError> {
    let query = "SELECT id, password, password_version FROM accounts WHERE email = ?1";
    let found = sql.row(query, &params![email.as_str()], |row| {
        Ok(Credentials {
            account: AccountId(row.get(0)?),
            password: row.get::<Option<String>>(1)?.map(PasswordHash::from_stored),
            version: PasswordVersion(row.get(2)?),
        })
    })?;
    Ok(found.ok_or_else(|| rules::no_such_account(email))?)
}

pub(crate) fn set_password(
    sql: &dyn Sql,
    account: AccountId,
    version: Option<PasswordVersion>,
    password: &PasswordHash,
    session: Option<&NewSession>,
) -> Result<(), SqlError> {
    lock_version(sql, account, version)?;
    sql.execute(
        "UPDATE accounts SET password = ?1, password_version = password_version + 1 WHERE id = ?2",
        &params![password.as_str(), account.0],
    )?;
    sessions::end_all(sql, account)?;
    session.map_or(Ok(()), |session| sessions::add(sql, account, session))
}

/// Sets a password without knowledge of the old one, ends all sessions, and returns the number of revoked keys.
pub(crate) fn reset_password(
    sql: &dyn Sql,
    account: AccountId,
    password: &PasswordHash,
    keeps_keys: bool,
    now: i64,
) -> Result<u32, SqlError> {
    set_password(sql, account, None, password, None)?;
    if keeps_keys { Ok(0) } else { keys::revoke_all(sql, account, now) }
}

pub(crate) fn verify(sql: &dyn Sql, account: AccountId, now: i64) -> Result<Account, SqlError> {
    let update = "UPDATE accounts SET verified_at = coalesce(verified_at, ?1) WHERE id = ?2";
    sql.execute(update, &params![now, account.0])?;
    by_id(sql, account)
}

pub(crate) fn rehash_password(
    sql: &dyn Sql,
    account: AccountId,
    version: PasswordVersion,
    password: &PasswordHash,
) -> Result<(), SqlError> {
    lock_version(sql, account, Some(version))?;
    sql.execute("UPDATE accounts SET password = ?1 WHERE id = ?2", &params![password.as_str(), account.0])?;
    Ok(())
}

pub(crate) fn delete(
    sql: &dyn Sql,
    account: AccountId,
    version: Option<PasswordVersion>,
    now: i64,
) -> Result<(), SqlError> {
    lock_version(sql, account, version)?;
    let today = Date::from_unix(now);
    let email = by_id(sql, account)?.email;
    keys::lock_all(sql, account)?;
    deleted_keys::add(sql, account, &email, today)?;
    links::delete_requests(sql, &email)?;
    usage::delete(sql, account, today)?;
    keys::orphan(sql, account, now)?;
    // Foreign keys delete its sessions, and clear the account of its keys, which remain.
    sql.execute("DELETE FROM accounts WHERE id = ?1", &params![account.0])?;
    Ok(())
}

pub(crate) fn add_session(
    sql: &dyn Sql,
    account: AccountId,
    version: PasswordVersion,
    session: &NewSession,
) -> Result<(), SqlError> {
    lock_version(sql, account, Some(version))?;
    sessions::add(sql, account, session)
}
