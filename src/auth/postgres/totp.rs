//! Authenticator apps and recovery codes of accounts.

use crate::account::AccountId;
use crate::postgres::accounts::{by_id, lock, lock_version};
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, opt_bytes};
use crate::totp::{RecoveryDigest, TotpSecret};
use crate::{PasswordVersion, StoreError, Totp};

pub(crate) fn one(connection: &Connection, account: AccountId) -> Result<Option<Totp>, PostgresError> {
    let found = connection.row("SELECT totp_secret, totp_step FROM accounts WHERE id = $1", &[&account.0])?;
    let row = found.ok_or(StoreError::AccountGone)?;
    let step = get(&row, 1)?;
    Ok(opt_bytes(&row, 0)?.map(|secret| Totp { secret: TotpSecret::from_bytes(secret), step }))
}

pub(crate) fn enable(
    transaction: &Transaction<'_>,
    account: AccountId,
    totp: &Totp,
    codes: &[RecoveryDigest],
    now: i64,
) -> Result<(), PostgresError> {
    let changed = transaction.execute(
        "UPDATE accounts SET totp_secret = $1, totp_step = $2, totp_enabled_at = $3 WHERE id = $4 AND totp_secret IS NULL",
        &[&totp.secret.bytes().as_slice(), &totp.step, &now, &account.0],
    )?;
    if changed == 0 {
        by_id(transaction, account)?;
        return Err(StoreError::TotpEnabled.into());
    }
    set_codes(transaction, account, codes)
}

/// False if a code of this step or a later one was accepted before.
pub(crate) fn accept_step(transaction: &Transaction<'_>, account: AccountId, step: i64) -> Result<bool, PostgresError> {
    let sql = "UPDATE accounts SET totp_step = $1 WHERE id = $2 AND totp_secret IS NOT NULL AND totp_step < $1";
    Ok(transaction.execute(sql, &[&step, &account.0])? > 0)
}

/// False if the account has no such code, or has used it.
pub(crate) fn use_code(
    transaction: &Transaction<'_>,
    account: AccountId,
    code: &RecoveryDigest,
) -> Result<bool, PostgresError> {
    let sql = "DELETE FROM recovery_codes WHERE account = $1 AND digest = $2";
    Ok(transaction.execute(sql, &[&account.0, &code.bytes().as_slice()])? > 0)
}

pub(crate) fn renew_codes(
    transaction: &Transaction<'_>,
    account: AccountId,
    codes: &[RecoveryDigest],
) -> Result<(), PostgresError> {
    lock(transaction, account)?;
    match one(transaction, account)? {
        Some(_) => set_codes(transaction, account, codes),
        None => Err(StoreError::TotpDisabled.into()),
    }
}

fn set_codes(transaction: &Transaction<'_>, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), PostgresError> {
    transaction.execute("DELETE FROM recovery_codes WHERE account = $1", &[&account.0])?;
    let digests: Vec<&[u8]> = codes.iter().map(|code| code.bytes().as_slice()).collect();
    let sql = "INSERT INTO recovery_codes (account, digest) SELECT $1, unnest($2::bytea[])";
    transaction.execute(sql, &[&account.0, &digests])?;
    Ok(())
}

/// False if it was not enabled.
pub(crate) fn disable(
    transaction: &Transaction<'_>,
    account: AccountId,
    version: Option<PasswordVersion>,
) -> Result<bool, PostgresError> {
    lock_version(transaction, account, version)?;
    transaction.execute("DELETE FROM recovery_codes WHERE account = $1", &[&account.0])?;
    let sql = "UPDATE accounts SET totp_secret = NULL, totp_enabled_at = NULL, totp_step = 0 WHERE id = $1 AND \
               totp_secret IS NOT NULL";
    Ok(transaction.execute(sql, &[&account.0])? > 0)
}
