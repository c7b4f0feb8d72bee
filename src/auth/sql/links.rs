//! Tokens of e-mail links, and links waiting to be sent.

use crate::account::{Account, AccountId, Email};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::sql::{Sql, SqlError, SqlResult, accounts, params};
use crate::watch::{DeliveryId, DueLink};
use crate::{PasswordVersion, Store, StoreError, StoreResult};
use data::vocabulary::Vocabulary;

impl dyn Store + '_ {
    /// Stores the link of an e-mail, in place of an earlier one for the same purpose. [`StoreError::AccountGone`].
    pub fn add_link(&self, account: AccountId, purpose: Purpose, link: &LinkDigest, until: i64) -> StoreResult<()> {
        self.change("store the link", |sql| {
            accounts::lock_version(sql, account, None)?;
            let delete = "DELETE FROM links WHERE account = ?1 AND purpose = ?2 OR digest = ?3";
            sql.execute(delete, &params![account.0, purpose.name(), link.bytes()])?;
            sql.execute(
                "INSERT INTO links (account, purpose, digest, expires_at) VALUES (?1, ?2, ?3, ?4)",
                &params![account.0, purpose.name(), link.bytes(), until],
            )
            .map(drop)
        })
    }

    /// The account of a valid link. [`StoreError::NoSuchLink`].
    pub fn account_of_link(&self, purpose: Purpose, link: &LinkDigest, now: i64) -> StoreResult<Account> {
        self.look_up("read the link", |sql| {
            accounts::by_id(sql, find_owner(sql, purpose, link, now)?).map_err(|error| match error {
                // The account was deleted in the meantime.
                SqlError::Rule(StoreError::AccountGone) => StoreError::NoSuchLink.into(),
                error => error,
            })
        })
    }

    /// Uses a link up and marks its account as verified, atomically. [`StoreError::NoSuchLink`].
    pub fn verify_by_link(&self, link: &LinkDigest, now: i64) -> StoreResult<Account> {
        self.change("verify the account", |sql| {
            let id = lock_owner(sql, Purpose::Verification, link, now)?;
            sql.execute("DELETE FROM links WHERE digest = ?1", &params![link.bytes()])?;
            accounts::verify(sql, id, now)
        })
    }

    /// Uses a link up, sets the password and verifies the account, atomically. [`StoreError::NoSuchLink`].
    pub fn reset_by_link(
        &self,
        link: &LinkDigest,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> StoreResult<Account> {
        self.change("set the password", |sql| {
            let id = lock_owner(sql, Purpose::Reset, link, now)?;
            sql.execute("DELETE FROM links WHERE account = ?1", &params![id.0])?;
            accounts::reset_password(sql, id, password, keeps_keys, now)?;
            accounts::verify(sql, id, now)
        })
    }

    /// Uses a link up that signs in. The account and the version of its password. [`StoreError::NoSuchLink`].
    pub fn use_sign_in_link(&self, link: &LinkDigest, now: i64) -> StoreResult<(AccountId, PasswordVersion)> {
        self.change("use the link", |sql| {
            let id = lock_owner(sql, Purpose::SignIn, link, now)?;
            sql.execute("DELETE FROM links WHERE digest = ?1", &params![link.bytes()])?;
            Ok((id, sql.one("SELECT password_version FROM accounts WHERE id = ?1", &params![id.0])?))
        })
    }

    /// Stores a request for a link until `expires_at` (Unix seconds), in the same time with and without an account.
    pub fn request_link(&self, email: &Email, purpose: Purpose, expires_at: i64, now: i64) -> StoreResult<()> {
        self.change("store that a link is to be sent", |sql| {
            sql.execute(
                "INSERT INTO outbox (link, email, expires_at, due_at) VALUES (?1, ?2, ?3, ?4)",
                &params![purpose.name(), email.as_str(), expires_at, now],
            )
            .map(drop)
        })
    }

    /// Claims up to `limit` due links until `until` (Unix seconds), oldest first; those without an account are deleted.
    pub fn claim_links(&self, now: i64, until: i64, limit: u32) -> StoreResult<Vec<DueLink>> {
        if !self.has_due("link", now)? {
            return Ok(Vec::new());
        }
        self.change_quickly("read what is to be sent", |sql| {
            sql.lock_claims()?;
            sql.execute(
                "DELETE FROM outbox WHERE link IS NOT NULL AND due_at <= ?1 AND \
                 NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.email = outbox.email)",
                &params![now],
            )?;
            let claim = format!(
                "UPDATE outbox SET due_at = ?1, claimed = TRUE WHERE due_at <= ?2 AND id IN (SELECT id FROM outbox \
                 WHERE link IS NOT NULL AND due_at <= ?2 ORDER BY due_at, id LIMIT ?3{}) \
                 RETURNING id, email, link, attempts, expires_at",
                sql.for_update()
            );
            let claimed: Vec<(DeliveryId, Email, Purpose, u32, i64)> = sql.rows(&claim, &params![until, now, limit])?;
            let due = claimed.into_iter().map(|(id, email, purpose, attempts, expires_at)| {
                let account = accounts::by_email(sql, &email)?;
                Ok::<_, SqlError>(DueLink { id, account, purpose, attempts, expires_at })
            });
            // An account may have been deleted between the statements.
            due.filter(|link| !matches!(link, Err(SqlError::Rule(StoreError::NoSuchAccount { .. })))).collect()
        })
    }
}

fn find_owner(sql: &dyn Sql, purpose: Purpose, link: &LinkDigest, now: i64) -> SqlResult<AccountId> {
    let query = "SELECT account FROM links WHERE digest = ?1 AND purpose = ?2 AND expires_at > ?3";
    Ok(sql.row(query, &params![link.bytes(), purpose.name(), now])?.ok_or(StoreError::NoSuchLink)?)
}

fn lock_owner(sql: &dyn Sql, purpose: Purpose, link: &LinkDigest, now: i64) -> SqlResult<AccountId> {
    let owner = find_owner(sql, purpose, link, now)?;
    accounts::lock(sql, owner)?;
    // While this waited for the lock, the link may have been used or replaced.
    if sql.locks_rows() && find_owner(sql, purpose, link, now)? != owner {
        return Err(StoreError::NoSuchLink.into());
    }
    Ok(owner)
}
