//! Authenticator apps and recovery codes of accounts.

use crate::account::AccountId;
use crate::sql::{Sql, SqlError, accounts, params};
use crate::totp::{RecoveryDigest, TotpSecret};
use crate::{PasswordVersion, StoreError, Totp};

pub(crate) fn one(sql: &dyn Sql, account: AccountId) -> Result<Option<Totp>, SqlError> {
    let query = "SELECT totp_secret, totp_step FROM accounts WHERE id = ?1";
    let found = sql.row(query, &params![account.0], |row| {
        let step = row.get(1)?;
        Ok(row.get::<Option<_>>(0)?.map(|secret| Totp { secret: TotpSecret::from_bytes(secret), step }))
    })?;
    Ok(found.ok_or(StoreError::AccountGone)?)
}

pub(crate) fn enable(
    sql: &dyn Sql,
    account: AccountId,
    totp: &Totp,
    codes: &[RecoveryDigest],
    now: i64,
) -> Result<(), SqlError> {
    let changed = sql.execute(
        "UPDATE accounts SET totp_secret = ?1, totp_step = ?2, totp_enabled_at = ?3 \
         WHERE id = ?4 AND totp_secret IS NULL",
        &params![totp.secret.bytes(), totp.step, now, account.0],
    )?;
    if changed == 0 {
        accounts::by_id(sql, account)?;
        return Err(StoreError::TotpEnabled.into());
    }
    set_codes(sql, account, codes)
}

/// False if a code of this step or a later one was accepted before.
pub(crate) fn accept_step(sql: &dyn Sql, account: AccountId, step: i64) -> Result<bool, SqlError> {
    let update = "UPDATE accounts SET totp_step = ?1 WHERE id = ?2 AND totp_secret IS NOT NULL AND totp_step < ?1";
    Ok(sql.execute(update, &params![step, account.0])? > 0)
}

/// False if the account has no such code, or has used it.
pub(crate) fn use_code(sql: &dyn Sql, account: AccountId, code: &RecoveryDigest) -> Result<bool, SqlError> {
    let delete = "DELETE FROM recovery_codes WHERE account = ?1 AND digest = ?2";
    Ok(sql.execute(delete, &params![account.0, code.bytes()])? > 0)
}

pub(crate) fn renew_codes(sql: &dyn Sql, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), SqlError> {
    accounts::lock(sql, account)?;
    match one(sql, account)? {
        Some(_) => set_codes(sql, account, codes),
        None => Err(StoreError::TotpDisabled.into()),
    }
}

fn set_codes(sql: &dyn Sql, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), SqlError> {
    sql.execute("DELETE FROM recovery_codes WHERE account = ?1", &params![account.0])?;
    let insert = "INSERT INTO recovery_codes (account, digest) VALUES (?1, ?2)";
    sql.execute_each(insert, codes.iter().map(|code| params![account.0, code.bytes()]))
}

/// False if it was not enabled.
pub(crate) fn disable(sql: &dyn Sql, account: AccountId, version: Option<PasswordVersion>) -> Result<bool, SqlError> {
    accounts::lock_version(sql, account, version)?;
    sql.execute("DELETE FROM recovery_codes WHERE account = ?1", &params![account.0])?;
    let update = "UPDATE accounts SET totp_secret = NULL, totp_enabled_at = NULL, totp_step = 0 \
                  WHERE id = ?1 AND totp_secret IS NOT NULL";
    Ok(sql.execute(update, &params![account.0])? > 0)
}
