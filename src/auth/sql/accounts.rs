//! Accounts and their passwords.

use crate::account::{Account, AccountId, Email};
use crate::link::Purpose;
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::session::NewSession;
use crate::sql::{Sql, SqlResult, columns_of, deleted_keys, keys, params, reviews, sessions, usage};
use crate::{Credentials, PasswordVersion, Store, StoreError, StoreResult};
use data::Date;
use data::vocabulary::Vocabulary;

pub(crate) const COLUMNS: &str = "accounts.id, accounts.email, accounts.tier, accounts.created_at, \
     (SELECT count(DISTINCT counter) FROM keys WHERE keys.account = accounts.id AND keys.revoked_at IS NULL) AS active_keys, \
     accounts.verified_at, accounts.totp_enabled_at, \
     (SELECT count(*) FROM recovery_codes WHERE recovery_codes.account = accounts.id) AS recovery_codes, \
     accounts.operator, accounts.reviewer, accounts.blocked_at";

columns_of! {
    Account: id, email, tier, created_at, active_keys, verified_at, totp_enabled_at, recovery_codes, is_operator,
    is_reviewer, blocked_at
}

columns_of! { Credentials: account, password, version }

/// Keeps others from changing the account, which may be gone, and what belongs to it, until this transaction ends.
pub(crate) fn lock(sql: &dyn Sql, account: AccountId) -> SqlResult<()> {
    sql.lock("SELECT id FROM accounts WHERE id = ?1", &params![account.0])
}

/// Like [`lock`]; fails unless the password still has this version (`None`: any). [`StoreError::AccountGone`].
pub(crate) fn lock_version(sql: &dyn Sql, account: AccountId, version: Option<PasswordVersion>) -> SqlResult<()> {
    let found = sql.lock_row("SELECT password_version FROM accounts WHERE id = ?1", &params![account.0])?;
    let found: PasswordVersion = found.ok_or(StoreError::AccountGone)?;
    if version.is_some_and(|version| version != found) {
        return Err(StoreError::PasswordChanged.into());
    }
    Ok(())
}

impl dyn Store + '_ {
    /// The account is unverified. Without a password it cannot sign in. [`StoreError::AccountExists`].
    pub fn create_account(
        &self,
        email: &Email,
        tier: Tier,
        password: Option<&PasswordHash>,
        now: i64,
    ) -> StoreResult<Account> {
        self.change("create the account", |sql| {
            let inserted = sql.execute(
                "INSERT INTO accounts (email, tier, password, created_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT DO NOTHING",
                &params![email.as_str(), tier.name(), password.map(PasswordHash::as_str), now],
            )?;
            if inserted == 0 {
                return Err(StoreError::AccountExists(email.clone()).into());
            }
            by_email(sql, email)
        })
    }

    /// [`StoreError::NoSuchAccount`].
    pub fn account(&self, email: &Email) -> StoreResult<Account> {
        self.look_up("read the account", |sql| by_email(sql, email))
    }

    /// [`StoreError::AccountGone`].
    pub fn account_by_id(&self, account: AccountId) -> StoreResult<Account> {
        self.look_up("read the account", |sql| by_id(sql, account))
    }

    /// Marks an account as verified; one that already is stays unchanged. [`StoreError::AccountGone`].
    pub fn verify_account(&self, account: AccountId, now: i64) -> StoreResult<Account> {
        self.change("verify the account", |sql| verify(sql, account, now))
    }

    pub fn accounts(&self) -> StoreResult<Vec<Account>> {
        self.list("list the accounts", |sql| sql.rows(&format!("SELECT {COLUMNS} FROM accounts ORDER BY email"), &[]))
    }

    /// [`StoreError::NoSuchAccount`], [`StoreError::TooManyKeys`].
    pub fn set_tier(&self, email: &Email, tier: Tier) -> StoreResult<Account> {
        self.change("set the tier", |sql| {
            sql.lock("SELECT id FROM accounts WHERE email = ?1", &params![email.as_str()])?;
            let before = by_email(sql, email)?;
            let active = before.active_keys;
            if let Some(allowed) = self.tiers().of(tier).keys
                && active > allowed
            {
                return Err(StoreError::TooManyKeys { email: before.email, tier, allowed, active }.into());
            }
            sql.execute("UPDATE accounts SET tier = ?1 WHERE id = ?2", &params![tier.name(), before.id.0])?;
            keys::mark_changed(sql, before.id)?;
            Ok(Account { tier, ..before })
        })
    }

    /// Makes an account an operator, or revokes that. [`StoreError::AccountGone`].
    pub fn set_operator(&self, account: AccountId, is_operator: bool) -> StoreResult<Account> {
        self.change("change the operators", |sql| {
            sql.execute("UPDATE accounts SET operator = ?1 WHERE id = ?2", &params![is_operator, account.0])?;
            by_id(sql, account)
        })
    }

    /// Lets an account review firms where that is by invitation, or no longer. [`StoreError::AccountGone`].
    pub fn set_reviewer(&self, account: AccountId, is_reviewer: bool) -> StoreResult<Account> {
        self.change("change who writes reviews", |sql| {
            sql.execute("UPDATE accounts SET reviewer = ?1 WHERE id = ?2", &params![is_reviewer, account.0])?;
            by_id(sql, account)
        })
    }

    /// Blocks or unblocks an account. Blocking ends its sessions. Until it is unblocked, no session can be added and
    /// its keys are reported as revoked by [`Store::changes`]; they are accepted again then. An account that is already
    /// blocked is unchanged: its `blocked_at` is earlier than `now`. [`StoreError::AccountGone`].
    pub fn set_blocked(&self, account: AccountId, is_blocked: bool, now: i64) -> StoreResult<Account> {
        self.change("block the account", |sql| {
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
        })
    }

    /// Accounts by a part of their address, in lower case: their number, and at most `limit` after the first `start`.
    pub fn find_accounts(&self, part: &str, start: u32, limit: u32) -> StoreResult<(u32, Vec<Account>)> {
        self.list("list the accounts", |sql| {
            // Removal of a part is the only search that is case-sensitive in both databases.
            const MATCHES: &str = "(replace(accounts.email, ?1, '') <> accounts.email OR ?1 = '')";
            let count = format!("SELECT count(*) FROM accounts WHERE {MATCHES}");
            let total = sql.one(&count, &params![part])?;
            let page =
                format!("SELECT {COLUMNS} FROM accounts WHERE {MATCHES} ORDER BY accounts.email LIMIT ?2 OFFSET ?3");
            Ok((total, sql.rows(&page, &params![part, limit, start])?))
        })
    }

    /// [`StoreError::NoSuchAccount`].
    pub fn credentials(&self, email: &Email) -> StoreResult<Credentials> {
        self.look_up("read the password", |sql| {
            let query = "SELECT id, password, password_version FROM accounts WHERE email = ?1";
            Ok(sql.row(query, &params![email.as_str()])?.ok_or_else(|| no_such_account(email))?)
        })
    }

    /// Sets an account's password, ends all its sessions and starts `session`, atomically. [`StoreError::AccountGone`],
    /// [`StoreError::AccountBlocked`] if there is a `session`.
    pub fn set_password(
        &self,
        account: AccountId,
        version: Option<PasswordVersion>,
        password: &PasswordHash,
        session: Option<&NewSession>,
    ) -> StoreResult<()> {
        self.change("set the password", |sql| set_password(sql, account, version, password, session))
    }

    /// Sets a password for an operator: ends all sessions and, unless it `keeps_keys`, revokes all keys, atomically. Returns the
    /// number of revoked keys. [`StoreError::AccountGone`].
    pub fn reset_password(
        &self,
        account: AccountId,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> StoreResult<u32> {
        self.change("set the password", |sql| reset_password(sql, account, password, keeps_keys, now))
    }

    /// Replaces the hash of the same password; version and sessions stay. [`StoreError::AccountGone`].
    pub fn rehash(&self, account: AccountId, version: PasswordVersion, password: &PasswordHash) -> StoreResult<()> {
        self.change("rehash the password", |sql| {
            lock_version(sql, account, Some(version))?;
            let update = "UPDATE accounts SET password = ?1 WHERE id = ?2";
            sql.execute(update, &params![password.as_str(), account.0]).map(drop)
        })
    }

    /// Deletes an account with its e-mail address, password, sessions, usage, saved searches, lists, webhooks and reviews. Its
    /// keys are revoked and remain as digests without name or short form; their usage of the day of `now` remains until
    /// the day is over. The address may sign up again. [`StoreError::AccountGone`].
    pub fn delete_account(&self, account: AccountId, version: Option<PasswordVersion>, now: i64) -> StoreResult<()> {
        self.change("delete the account", |sql| {
            lock_version(sql, account, version)?;
            let today = Date::from_unix(now);
            let email = by_id(sql, account)?.email;
            keys::lock_all(sql, account)?;
            deleted_keys::add(sql, account, &email, today)?;
            sql.execute("DELETE FROM outbox WHERE email = ?1", &params![email.as_str()])?;
            usage::delete(sql, account, today)?;
            keys::orphan(sql, account, now)?;
            reviews::erase_all(sql, account, now)?;
            // Foreign keys delete its sessions, and clear the account of its keys, which remain.
            sql.execute("DELETE FROM accounts WHERE id = ?1", &params![account.0]).map(drop)
        })?;
        self.erase_deleted();
        Ok(())
    }

    /// Ends the oldest sessions beyond `MAX_SESSIONS`. [`StoreError::AccountGone`], [`StoreError::AccountBlocked`].
    pub fn add_session(&self, account: AccountId, version: PasswordVersion, session: &NewSession) -> StoreResult<()> {
        self.change("start the session", |sql| {
            lock_version(sql, account, Some(version))?;
            sessions::add(sql, account, session)
        })
    }
}

pub(crate) fn by_email(sql: &dyn Sql, email: &Email) -> SqlResult<Account> {
    let query = format!("SELECT {COLUMNS} FROM accounts WHERE email = ?1");
    Ok(sql.row(&query, &params![email.as_str()])?.ok_or_else(|| no_such_account(email))?)
}

fn no_such_account(email: &Email) -> StoreError {
    StoreError::NoSuchAccount { email: email.clone(), suggestion: None }
}

pub(crate) fn by_id(sql: &dyn Sql, account: AccountId) -> SqlResult<Account> {
    let query = format!("SELECT {COLUMNS} FROM accounts WHERE accounts.id = ?1");
    Ok(sql.row(&query, &params![account.0])?.ok_or(StoreError::AccountGone)?)
}

fn set_password(
    sql: &dyn Sql,
    account: AccountId,
    version: Option<PasswordVersion>,
    password: &PasswordHash,
    session: Option<&NewSession>,
) -> SqlResult<()> {
    lock_version(sql, account, version)?;
    sql.execute(
        "UPDATE accounts SET password = ?1, password_version = password_version + 1 WHERE id = ?2",
        &params![password.as_str(), account.0],
    )?;
    let sign_in_links = "DELETE FROM links WHERE account = ?1 AND purpose = ?2";
    sql.execute(sign_in_links, &params![account.0, Purpose::SignIn.name()])?;
    sessions::end_all(sql, account)?;
    session.map_or(Ok(()), |session| sessions::add(sql, account, session))
}

pub(crate) fn reset_password(
    sql: &dyn Sql,
    account: AccountId,
    password: &PasswordHash,
    keeps_keys: bool,
    now: i64,
) -> SqlResult<u32> {
    set_password(sql, account, None, password, None)?;
    if keeps_keys { Ok(0) } else { keys::revoke_all(sql, account, now) }
}

pub(crate) fn verify(sql: &dyn Sql, account: AccountId, now: i64) -> SqlResult<Account> {
    let update = "UPDATE accounts SET verified_at = coalesce(verified_at, ?1) WHERE id = ?2";
    sql.execute(update, &params![now, account.0])?;
    by_id(sql, account)
}
