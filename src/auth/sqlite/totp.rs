//! Authenticator apps and recovery codes of accounts.

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::account::AccountId;
use crate::sqlite::SqliteError;
use crate::sqlite::accounts::check_version;
use crate::totp::{RecoveryDigest, TotpSecret};
use crate::{PasswordVersion, StoreError, Totp};

pub(crate) fn one(connection: &Connection, account: AccountId) -> Result<Option<Totp>, SqliteError> {
    let mut statement = connection.prepare_cached("SELECT totp_secret, totp_step FROM accounts WHERE id = ?")?;
    let found = statement.query_row([account.0], |row| {
        let secret: Option<[u8; 20]> = row.get(0)?;
        let step = row.get(1)?;
        Ok(secret.map(|secret| Totp { secret: TotpSecret::from_bytes(secret), step }))
    });
    found.optional()?.ok_or(SqliteError::Rule(StoreError::AccountGone))
}

pub(crate) fn enable(
    transaction: &Transaction<'_>,
    account: AccountId,
    totp: &Totp,
    codes: &[RecoveryDigest],
    now: i64,
) -> Result<(), SqliteError> {
    let changed = transaction.execute(
        "UPDATE accounts SET totp_secret = ?, totp_step = ?, totp_enabled_at = ? WHERE id = ? AND totp_secret IS NULL",
        (totp.secret.bytes(), totp.step, now, account.0),
    )?;
    if changed == 0 {
        check_version(transaction, account, None)?;
        return Err(StoreError::TotpEnabled.into());
    }
    set_codes(transaction, account, codes)
}

/// False if a code of this step or a later one was accepted before.
pub(crate) fn accept_step(transaction: &Transaction<'_>, account: AccountId, step: i64) -> Result<bool, SqliteError> {
    let sql = "UPDATE accounts SET totp_step = ?1 WHERE id = ?2 AND totp_secret IS NOT NULL AND totp_step < ?1";
    Ok(transaction.execute(sql, (step, account.0))? > 0)
}

/// False if the account has no such code, or has used it.
pub(crate) fn use_code(
    transaction: &Transaction<'_>,
    account: AccountId,
    code: &RecoveryDigest,
) -> Result<bool, SqliteError> {
    let sql = "DELETE FROM recovery_codes WHERE account = ? AND digest = ?";
    Ok(transaction.execute(sql, (account.0, code.bytes()))? > 0)
}

pub(crate) fn renew_codes(
    transaction: &Transaction<'_>,
    account: AccountId,
    codes: &[RecoveryDigest],
) -> Result<(), SqliteError> {
    match one(transaction, account)? {
        Some(_) => set_codes(transaction, account, codes),
        None => Err(StoreError::TotpDisabled.into()),
    }
}

fn set_codes(transaction: &Transaction<'_>, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), SqliteError> {
    transaction.execute("DELETE FROM recovery_codes WHERE account = ?", [account.0])?;
    let mut insert = transaction.prepare_cached("INSERT INTO recovery_codes (account, digest) VALUES (?, ?)")?;
    for code in codes {
        insert.execute((account.0, code.bytes()))?;
    }
    Ok(())
}

/// False if it was not enabled.
pub(crate) fn disable(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
) -> Result<bool, SqliteError> {
    check_version(transaction, account, version)?;
    transaction.execute("DELETE FROM recovery_codes WHERE account = ?", [account.0])?;
    let sql = "UPDATE accounts SET totp_secret = NULL, totp_enabled_at = NULL, totp_step = 0 WHERE id = ? AND \
               totp_secret IS NOT NULL";
    Ok(transaction.execute(sql, [account.0])? > 0)
}
