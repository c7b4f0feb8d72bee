//! API keys, and their changes as reported to running servers.

use crate::account::{Account, AccountId, Email, KeyId, KeyName, KeyRecord, KeyRef, Rotation};
use crate::quota::Tier;
use crate::sql::{Sql, SqlResult, SqlValue, accounts, columns_of, deleted_keys, next_change, params, usage};
use crate::{ApiKey, KeyChanges, KeyState, Store, StoreError, StoreResult};
use data::Date;

/// The short form of a key of a deleted account.
const ORPHAN: &str = "vdx_0000…0000";

/// With 0 for the usage of the day, which is read by counter.
const KEYS: &str = "SELECT keys.id, keys.account, accounts.email, accounts.tier, keys.name, keys.shown, \
     keys.created_at, CASE WHEN keys.revoked_at < coalesce(keys.expires_at, keys.revoked_at + 1) THEN keys.revoked_at END, \
     keys.last_used_at, keys.counter, keys.expires_at, CAST(0 AS BIGINT) \
     FROM keys JOIN accounts ON accounts.id = keys.account";

const STATES: &str = "SELECT keys.id, keys.counter, keys.account, coalesce(accounts.tier, 'free'), \
     accounts.blocked_at IS NOT NULL OR keys.revoked_at IS NOT NULL AND \
     (accounts.id IS NULL OR keys.revoked_at < coalesce(keys.expires_at, keys.revoked_at + 1)), \
     keys.digest, keys.shown, keys.expires_at FROM keys LEFT JOIN accounts ON accounts.id = keys.account";

/// Active keys of account `?1` and those revoked from `?2` on: two ranges of one index, without the earlier ones.
pub(crate) const RECENT: &str = "SELECT id FROM keys WHERE account = ?1 AND revoked_at IS NULL \
     UNION ALL SELECT id FROM keys WHERE account = ?1 AND revoked_at >= ?2";

columns_of! {
    KeyRecord: id, account, email, tier, name, masked, created_at, revoked_at, last_used_at, counter, expires_at,
    used_today
}

columns_of! { KeyState: id, counter, account, tier, revoked, digest, masked, expires_at }

impl dyn Store + '_ {
    /// If a key of the account was revoked or expired on the same day (UTC), or an account with the same address was
    /// deleted on it, the new key takes over a counter: an address never uses more counters a day than its tier allows.
    /// [`StoreError::AccountGone`], [`StoreError::KeyLimitReached`], [`StoreError::NewKeysUsedUp`].
    pub fn create_key(
        &self,
        account: AccountId,
        name: &KeyName,
        key: &ApiKey,
        expires_at: Option<i64>,
        now: i64,
    ) -> StoreResult<KeyRecord> {
        self.change("create the key", |sql| {
            accounts::lock(sql, account)?;
            end_expired_of(sql, account, now)?;
            let Account { email, tier, active_keys, .. } = accounts::by_id(sql, account)?;
            if let Some(allowed) = self.tiers().of(tier).keys
                && active_keys >= allowed
            {
                return Err(StoreError::KeyLimitReached { email, tier, allowed }.into());
            }
            let today = Date::from_unix(now);
            check_new_keys(sql, account, &email, tier, today)?;
            let counter = match free_counter(sql, account, today)? {
                None => deleted_keys::free_counter(sql, account, &email, today)?,
                own => own,
            };
            let key = insert(sql, account, name.as_str(), key, counter, expires_at, now)?;
            record(sql, (key, account), today)
        })
    }

    /// Creates a successor of an active key, with its name and on its counter, so that both together have the quota of one.
    /// The rotated key expires when the overlap ends. Returns the rotated key and its successor. [`StoreError::NoSuchKey`],
    /// [`StoreError::AmbiguousKey`], [`StoreError::KeyEnded`], [`StoreError::KeyOverlaps`], [`StoreError::NewKeysUsedUp`].
    pub fn rotate_key(
        &self,
        key: KeyRef,
        successor: &ApiKey,
        rotation: Rotation,
        now: i64,
    ) -> StoreResult<(KeyRecord, KeyRecord)> {
        self.change("rotate the key", |sql| {
            let (id, account) = lock_owner(sql, key)?;
            end_expired_of(sql, account, now)?;
            let today = Date::from_unix(now);
            let rotated = record(sql, (id, account), today)?;
            if !rotated.is_active(now) {
                return Err(StoreError::KeyEnded.into());
            }
            // At most two active keys share a counter, so repeated rotation does not accumulate valid keys.
            let others = "SELECT EXISTS (SELECT 1 FROM keys \
                          WHERE account = ?1 AND revoked_at IS NULL AND counter = ?2 AND id <> ?3)";
            if sql.one(others, &params![account.0, rotated.counter.0, id])? {
                return Err(StoreError::KeyOverlaps.into());
            }
            check_new_keys(sql, account, &rotated.email, rotated.tier, today)?;
            let Rotation { overlap_ends_at, expires_at } = rotation;
            let counter = Some(rotated.counter.0);
            let new = insert(sql, account, &rotated.name, successor, counter, expires_at, now)?;
            let change = next_change(sql)?;
            sql.execute(
                "UPDATE keys SET expires_at = CASE WHEN expires_at < ?1 THEN expires_at ELSE ?1 END, changed = ?2 \
                 WHERE id = ?3",
                &params![overlap_ends_at, change, id],
            )?;
            end_expired_of(sql, account, now)?;
            Ok((record(sql, (id, account), today)?, record(sql, (new, account), today)?))
        })
    }

    /// Ends expired keys, which are rejected anyway, so that they no longer count as active. Returns their number.
    pub fn end_expired_keys(&self, now: i64) -> StoreResult<usize> {
        self.change("end expired keys", |sql| {
            // Needs no new change number: servers reject a key in memory from its expiry on.
            let update = "UPDATE keys SET revoked_at = expires_at WHERE revoked_at IS NULL AND expires_at <= ?1";
            sql.execute(update, &params![now])
        })
    }

    /// All keys of an account (`None`: of all), by number, with their usage `today`. For operators: it reads every key.
    pub fn keys(&self, account: Option<AccountId>, today: Date) -> StoreResult<Vec<KeyRecord>> {
        self.list("list the keys", |sql| match account {
            Some(id) => select(sql, "WHERE keys.account = ?1", &params![id.0], account, today),
            None => select(sql, "", &[], None, today),
        })
    }

    /// The active keys of an account and at most `max_revoked` of those revoked from `revoked_since` (Unix seconds) on, the last
    /// ones, by number, with their usage on `today`. The cost depends on these only.
    pub fn recent_keys(
        &self,
        account: AccountId,
        revoked_since: i64,
        max_revoked: u32,
        today: Date,
    ) -> StoreResult<Vec<KeyRecord>> {
        self.list("list the keys", |sql| {
            let recent = "WHERE keys.id IN (SELECT id FROM keys WHERE account = ?1 AND revoked_at IS NULL UNION ALL \
                          SELECT * FROM (SELECT id FROM keys WHERE account = ?1 AND revoked_at >= ?2 \
                          ORDER BY revoked_at DESC, id DESC LIMIT ?3) AS revoked)";
            select(sql, recent, &params![account.0, revoked_since, max_revoked], Some(account), today)
        })
    }

    /// [`StoreError::NoSuchKey`], [`StoreError::AmbiguousKey`].
    pub fn key(&self, key: KeyRef, today: Date) -> StoreResult<KeyRecord> {
        self.list("read the key", |sql| record(sql, find(sql, key)?, today))
    }

    /// Without effect on a key that was revoked before `now`. [`StoreError::NoSuchKey`], [`StoreError::AmbiguousKey`].
    pub fn revoke_key(&self, key: KeyRef, now: i64) -> StoreResult<KeyRecord> {
        self.change("revoke the key", |sql| {
            let (id, account) = lock_owner(sql, key)?;
            let update = format!("UPDATE keys SET revoked_at = ?1 WHERE id = ?2 AND {REVOCABLE}");
            if sql.execute(&update, &params![now, id])? > 0 {
                let change = next_change(sql)?;
                sql.execute("UPDATE keys SET changed = ?1 WHERE id = ?2", &params![change, id])?;
            }
            record(sql, (id, account), Date::from_unix(now))
        })
    }
}

/// Adds a key and returns its number. Without a `counter` it gets one of its own.
fn insert(
    sql: &dyn Sql,
    account: AccountId,
    name: &str,
    key: &ApiKey,
    counter: Option<i64>,
    expires_at: Option<i64>,
    now: i64,
) -> SqlResult<i64> {
    let change = next_change(sql)?;
    let (digest, masked) = (key.digest(), key.masked().to_string());
    let id: i64 = sql.one(
        "INSERT INTO keys (account, name, digest, shown, counter, created_at, expires_at, changed) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
        // A new counter has the number of its key, which is set below.
        &params![account.0, name, digest.bytes(), &masked, counter.unwrap_or(0), now, expires_at, change],
    )?;
    if counter.is_none() {
        sql.execute("UPDATE keys SET counter = id WHERE id = ?1", &params![id])?;
    }
    Ok(id)
}

/// Only keys of this account, which the transaction has locked: other transactions may have locked others.
fn end_expired_of(sql: &dyn Sql, account: AccountId, now: i64) -> SqlResult<()> {
    let update =
        "UPDATE keys SET revoked_at = expires_at WHERE account = ?2 AND revoked_at IS NULL AND expires_at <= ?1";
    sql.execute(update, &params![now, account.0]).map(drop)
}

/// Fails if the account may create no more keys `today`. All of them are in [`RECENT`]: none was revoked earlier.
fn check_new_keys(sql: &dyn Sql, account: AccountId, email: &Email, tier: Tier, today: Date) -> SqlResult<()> {
    let query =
        format!("SELECT count(*) FROM keys WHERE id IN ({RECENT}) AND created_at >= ?2 AND created_at < ?2 + 86400");
    let created: u32 = sql.one(&query, &params![account.0, today.unix()])?;
    let reached = tier.new_keys_per_day().filter(|allowed| created >= *allowed);
    reached.map_or(Ok(()), |allowed| Err(StoreError::NewKeysUsedUp { email: email.clone(), tier, allowed }.into()))
}

/// Keys that can be revoked at `?1`, including a key that expired by a fast clock and is accepted again.
const REVOCABLE: &str = "(revoked_at IS NULL OR (revoked_at >= expires_at AND revoked_at > ?1))";

pub(crate) fn revoke_all(sql: &dyn Sql, account: AccountId, now: i64) -> SqlResult<u32> {
    lock_all(sql, account)?;
    let change = next_change(sql)?;
    let revoked = sql.execute(
        &format!("UPDATE keys SET revoked_at = ?1, changed = ?2 WHERE account = ?3 AND {REVOCABLE}"),
        &params![now, change, account.0],
    )?;
    Ok(u32::try_from(revoked).expect("an account has fewer than 2^32 keys"))
}

/// Reports all keys of an account to running servers, because a change of the account applies to them.
pub(crate) fn mark_changed(sql: &dyn Sql, account: AccountId) -> SqlResult<()> {
    lock_all(sql, account)?;
    let change = next_change(sql)?;
    sql.execute("UPDATE keys SET changed = ?1 WHERE account = ?2", &params![change, account.0]).map(drop)
}

/// Revokes all keys of an account and clears all data that identifies it; their digests remain.
pub(crate) fn orphan(sql: &dyn Sql, account: AccountId, now: i64) -> SqlResult<()> {
    let change = next_change(sql)?;
    sql.execute(
        "UPDATE keys SET revoked_at = coalesce(revoked_at, ?1), name = '', shown = ?2, last_used_at = NULL, changed = ?3 \
         WHERE account = ?4",
        &params![now, ORPHAN, change, account.0],
    )
    .map(drop)
}

/// Locks the keys of an account in the order in which `add_usage` does.
pub(crate) fn lock_all(sql: &dyn Sql, account: AccountId) -> SqlResult<()> {
    sql.lock("SELECT id FROM keys WHERE account = ?1 ORDER BY id", &params![account.0])
}

/// Number of the last change, to be read before the keys: a change in between is reported now and again next time.
pub(crate) fn last_change(sql: &dyn Sql) -> SqlResult<i64> {
    sql.one("SELECT change FROM service", &[])
}

/// Keys that changed after `since`; `last` is the number of the last change.
pub(crate) fn changes(sql: &dyn Sql, since: i64, last: i64) -> SqlResult<KeyChanges> {
    if last == since {
        return Ok(KeyChanges { last, keys: Vec::new() });
    }
    // The database was restored from an older copy: all keys are read again.
    let since = if last < since { 0 } else { since };
    let mut keys: Vec<KeyState> = sql.rows(&format!("{STATES} WHERE keys.changed > ?1"), &params![since])?;
    keys.sort_unstable_by_key(|key| key.id);
    Ok(KeyChanges { last, keys })
}

/// The keys that satisfy `condition`, by number. `account` is their account; `None` if they belong to several.
fn select(
    sql: &dyn Sql,
    condition: &str,
    params: &[SqlValue<'_>],
    account: Option<AccountId>,
    today: Date,
) -> SqlResult<Vec<KeyRecord>> {
    let mut keys: Vec<KeyRecord> = sql.rows(&format!("{KEYS} {condition} ORDER BY keys.id"), params)?;
    let used = usage::on_counters(sql, account, today)?;
    for key in &mut keys {
        key.used_today = used.get(&key.counter).copied().unwrap_or(0);
    }
    Ok(keys)
}

fn record(sql: &dyn Sql, (key, account): (i64, AccountId), today: Date) -> SqlResult<KeyRecord> {
    let found = select(sql, "WHERE keys.id = ?1", &params![key], Some(account), today)?;
    Ok(found.into_iter().next().ok_or(StoreError::NoSuchKey)?)
}

fn lock_owner(sql: &dyn Sql, key: KeyRef) -> SqlResult<(i64, AccountId)> {
    let found = find(sql, key)?;
    accounts::lock(sql, found.1)?;
    // While this waited for the lock, another key with the same short form may have become the active one.
    if sql.locks_rows() && find(sql, key)? != found {
        return Err(StoreError::Busy.into());
    }
    Ok(found)
}

/// Finds a key and its account. Keys of deleted accounts are not found.
fn find(sql: &dyn Sql, key: KeyRef) -> SqlResult<(i64, AccountId)> {
    let rows = |condition: &str, params: &[SqlValue<'_>]| {
        sql.rows(&format!("SELECT id, account FROM keys WHERE {condition} AND account IS NOT NULL ORDER BY id"), params)
    };
    let found: Vec<(i64, AccountId)> = match key {
        KeyRef::Id(id) => rows("id = ?1", &params![id.0]),
        KeyRef::Of(account, id) => rows("account = ?1 AND id = ?2", &params![account.0, id.0]),
        // Active keys take precedence over revoked ones with the same short form.
        KeyRef::Masked(masked) => rows(
            "shown = ?1 AND (revoked_at IS NULL OR NOT EXISTS \
             (SELECT 1 FROM keys WHERE shown = ?1 AND revoked_at IS NULL))",
            &params![&masked.to_string()],
        ),
        KeyRef::Digest(digest) => rows("digest = ?1", &params![digest.bytes()]),
    }?;
    match found[..] {
        [] => Err(StoreError::NoSuchKey.into()),
        [key] => Ok(key),
        _ => Err(StoreError::AmbiguousKey(found.iter().map(|(id, _)| KeyId(*id)).collect()).into()),
    }
}

/// Counter that a new key takes over: the one of the key revoked last on `today`, among counters without an active key.
///
/// Only without one does a key get a new counter, so an account has no more of them a day than its tier allows keys.
fn free_counter(sql: &dyn Sql, account: AccountId, today: Date) -> SqlResult<Option<i64>> {
    sql.row(
        "SELECT counter FROM keys WHERE account = ?1 AND revoked_at >= ?2 AND revoked_at < ?3 \
         AND counter NOT IN (SELECT counter FROM keys WHERE account = ?1 AND revoked_at IS NULL) \
         ORDER BY revoked_at DESC, id DESC LIMIT 1",
        &params![account.0, today.unix(), today.unix() + 86_400],
    )
}
