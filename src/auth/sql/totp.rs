//! Authenticator apps and recovery codes of accounts.

use crate::account::AccountId;
use crate::sql::{Sql, SqlResult, accounts, params};
use crate::totp::{RecoveryDigest, TotpSecret};
use crate::{PasswordVersion, Store, StoreError, StoreResult, Totp};

pub(crate) fn one(sql: &dyn Sql, account: AccountId) -> SqlResult<Option<Totp>> {
    let query = "SELECT totp_secret, totp_step FROM accounts WHERE id = ?1";
    let found: Option<(Option<TotpSecret>, i64)> = sql.row(query, &params![account.0])?;
    let (secret, step) = found.ok_or(StoreError::AccountGone)?;
    Ok(secret.map(|secret| Totp { secret, step }))
}

impl dyn Store + '_ {
    /// The authenticator app of an account; `None` if codes are not required at sign-in. [`StoreError::AccountGone`].
    pub fn totp(&self, account: AccountId) -> StoreResult<Option<Totp>> {
        self.look_up("read the second factor", |sql| one(sql, account))
    }

    /// Requires codes from an app at sign-in from now on. [`StoreError::AccountGone`], [`StoreError::TotpEnabled`].
    pub fn enable_totp(&self, account: AccountId, totp: &Totp, codes: &[RecoveryDigest], now: i64) -> StoreResult<()> {
        self.change("enable the second factor", |sql| {
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
        })
    }

    /// Accepts a code of a time step. False if one of this step or a later one was accepted before.
    pub fn accept_totp_step(&self, account: AccountId, step: i64) -> StoreResult<bool> {
        self.change("accept the code", |sql| {
            let update = "UPDATE accounts SET totp_step = ?1 \
                          WHERE id = ?2 AND totp_secret IS NOT NULL AND totp_step < ?1";
            Ok(sql.execute(update, &params![step, account.0])? > 0)
        })
    }

    /// False if the account has no such code, or used it before.
    pub fn use_recovery_code(&self, account: AccountId, code: &RecoveryDigest) -> StoreResult<bool> {
        self.change("use the recovery code", |sql| {
            let delete = "DELETE FROM recovery_codes WHERE account = ?1 AND digest = ?2";
            Ok(sql.execute(delete, &params![account.0, code.bytes()])? > 0)
        })
    }

    /// Replaces all recovery codes. [`StoreError::AccountGone`], [`StoreError::TotpDisabled`].
    pub fn renew_recovery_codes(&self, account: AccountId, codes: &[RecoveryDigest]) -> StoreResult<()> {
        self.change("renew the recovery codes", |sql| {
            accounts::lock(sql, account)?;
            match one(sql, account)? {
                Some(_) => set_codes(sql, account, codes),
                None => Err(StoreError::TotpDisabled.into()),
            }
        })
    }

    /// Deletes the secret of the app and the recovery codes. False if there were none. [`StoreError::AccountGone`].
    pub fn disable_totp(&self, account: AccountId, version: Option<PasswordVersion>) -> StoreResult<bool> {
        let disabled = self.change("disable the second factor", |sql| {
            accounts::lock_version(sql, account, version)?;
            sql.execute("DELETE FROM recovery_codes WHERE account = ?1", &params![account.0])?;
            let update = "UPDATE accounts SET totp_secret = NULL, totp_enabled_at = NULL, totp_step = 0 \
                          WHERE id = ?1 AND totp_secret IS NOT NULL";
            Ok(sql.execute(update, &params![account.0])? > 0)
        })?;
        self.erase_deleted();
        Ok(disabled)
    }
}

fn set_codes(sql: &dyn Sql, account: AccountId, codes: &[RecoveryDigest]) -> SqlResult<()> {
    sql.execute("DELETE FROM recovery_codes WHERE account = ?1", &params![account.0])?;
    let insert = "INSERT INTO recovery_codes (account, digest) VALUES (?1, ?2)";
    sql.execute_each(insert, codes.iter().map(|code| params![account.0, code.bytes()]))
}
