//! Keys, and their changes for running servers.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use crate::account::{Account, AccountId, KeyName, KeyRecord, KeyRef, Rotation};
use crate::queries::{KEY_STATES, KEYS};
use crate::rules::{self, ORPHAN, with_usage};
use crate::sqlite::rows::{RECENT_KEYS, read_key, read_state};
use crate::sqlite::{SqliteError, accounts, deleted_keys, next_change, usage};
use crate::{ApiKey, Changes, RevokedKeys, StoreError};
use data::Date;

pub(crate) fn create(
    transaction: &Transaction<'_>,
    account: AccountId,
    name: &KeyName,
    key: &ApiKey,
    expires_at: Option<i64>,
    now: i64,
) -> Result<KeyRecord, SqliteError> {
    end_expired(transaction, now)?;
    let found = accounts::by_id(transaction, account)?;
    rules::check_new_key(&found)?;
    let Account { email, tier, .. } = found;
    let today = Date::from_unix(now);
    rules::check_created_keys(&email, tier, created_on(transaction, account, today)?)?;
    let counter = match free_counter(transaction, account, today)? {
        None => deleted_keys::free_counter(transaction, account, &email, today)?,
        own => own,
    };
    let key = insert(transaction, account, name.as_str(), key, counter, expires_at, now)?;
    record(transaction, key, today)
}

/// Adds a key on a counter, on its own by default, and returns its number.
fn insert(
    transaction: &Transaction<'_>,
    account: AccountId,
    name: &str,
    key: &ApiKey,
    counter: Option<i64>,
    expires_at: Option<i64>,
    now: i64,
) -> Result<i64, SqliteError> {
    let change = next_change(transaction)?;
    let key: i64 = transaction
        .prepare_cached(
            "INSERT INTO keys (account, name, digest, shown, counter, created_at, expires_at, changed)
             VALUES (:account, :name, :digest, :shown, :counter, :now, :expires_at, :changed) RETURNING id",
        )?
        .query_row(
            named_params! {
                ":account": account.0,
                ":name": name,
                ":digest": key.digest().bytes(),
                ":shown": key.masked().to_string(),
                // A new counter has the number of the key, which is set below.
                ":counter": counter.unwrap_or(0),
                ":now": now,
                ":expires_at": expires_at,
                ":changed": change,
            },
            |row| row.get(0),
        )?;
    if counter.is_none() {
        transaction.execute("UPDATE keys SET counter = id WHERE id = ?", [key])?;
    }
    Ok(key)
}

/// Creates a successor on the counter of the key. As a counter is never shared by more than two active keys, rotating again
/// and again does not collect valid keys.
pub(crate) fn rotate(
    transaction: &Transaction<'_>,
    key: KeyRef,
    successor: &ApiKey,
    rotation: Rotation,
    now: i64,
) -> Result<(KeyRecord, KeyRecord), SqliteError> {
    end_expired(transaction, now)?;
    let today = Date::from_unix(now);
    let id = find(transaction, key)?;
    let rotated = record(transaction, id, today)?;
    if !rotated.is_active(now) {
        return Err(StoreError::KeyEnded.into());
    }
    let overlaps: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM keys WHERE account = ? AND revoked_at IS NULL AND counter = ? AND id <> ?)",
        (rotated.account.0, rotated.counter.0, id),
        |row| row.get(0),
    )?;
    if overlaps {
        return Err(StoreError::KeyOverlaps.into());
    }
    rules::check_created_keys(&rotated.email, rotated.tier, created_on(transaction, rotated.account, today)?)?;
    let Rotation { overlap_ends_at, expires_at } = rotation;
    let (account, counter) = (rotated.account, Some(rotated.counter.0));
    let new = insert(transaction, account, &rotated.name, successor, counter, expires_at, now)?;
    let change = next_change(transaction)?;
    transaction.execute(
        "UPDATE keys SET expires_at = min(coalesce(expires_at, ?1), ?1), changed = ?2 WHERE id = ?3",
        (overlap_ends_at, change, id),
    )?;
    end_expired(transaction, now)?;
    Ok((record(transaction, id, today)?, record(transaction, new, today)?))
}

/// Needs no new change: a key in memory is rejected from its expiry on.
pub(crate) fn end_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, rusqlite::Error> {
    transaction.execute("UPDATE keys SET revoked_at = expires_at WHERE revoked_at IS NULL AND expires_at <= ?", [now])
}

pub(crate) fn all(
    connection: &Connection,
    account: Option<AccountId>,
    today: Date,
) -> Result<Vec<KeyRecord>, SqliteError> {
    let condition = if account.is_some() { "keys.account = :id" } else { ":id IS NULL" };
    let mut statement = connection.prepare_cached(&format!("{KEYS} WHERE {condition} ORDER BY keys.id"))?;
    let id = account.map(|account| account.0);
    let rows = statement.query_map(named_params! {":id": id}, read_key)?;
    let used = usage::on_counters(connection, account, today)?;
    rows.map(|key| Ok(with_usage(key?, &used))).collect()
}

pub(crate) fn recent(
    connection: &Connection,
    account: AccountId,
    revoked: RevokedKeys,
    today: Date,
) -> Result<Vec<KeyRecord>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "{KEYS} WHERE keys.id IN (SELECT id FROM keys WHERE account = :account AND revoked_at IS NULL UNION ALL \
         SELECT * FROM (SELECT id FROM keys WHERE account = :account AND revoked_at >= :since \
         ORDER BY revoked_at DESC, id DESC LIMIT :max)) ORDER BY keys.id"
    ))?;
    let params = named_params! { ":account": account.0, ":since": revoked.since, ":max": revoked.max };
    let rows = statement.query_map(params, read_key)?;
    let used = usage::on_counters(connection, Some(account), today)?;
    rows.map(|key| Ok(with_usage(key?, &used))).collect()
}

pub(crate) fn one(connection: &Connection, key: KeyRef, today: Date) -> Result<KeyRecord, SqliteError> {
    record(connection, find(connection, key)?, today)
}

/// The keys of an account that were created on a day. A key that was revoked was revoked on that day or later.
fn created_on(connection: &Connection, account: AccountId, day: Date) -> Result<u32, rusqlite::Error> {
    connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM keys WHERE id IN ({RECENT_KEYS}) AND created_at >= :since AND created_at < :since + 86400"
        ))?
        .query_row(named_params! { ":account": account.0, ":since": day.unix() }, |row| row.get(0))
}

/// Clears the names of keys revoked before `before` (Unix seconds).
pub(crate) fn clear_names(transaction: &Transaction<'_>, before: i64) -> Result<usize, SqliteError> {
    Ok(transaction.execute("UPDATE keys SET name = '' WHERE revoked_at < ? AND name <> ''", [before])?)
}

/// The keys that can be revoked at `:now`: also one that has expired by a clock that was ahead, and is accepted again.
const REVOCABLE: &str = "(revoked_at IS NULL OR (revoked_at >= expires_at AND revoked_at > :now))";

pub(crate) fn revoke(transaction: &Transaction<'_>, key: KeyRef, now: i64) -> Result<KeyRecord, SqliteError> {
    let id = find(transaction, key)?;
    let sql = format!("UPDATE keys SET revoked_at = :now WHERE id = :id AND {REVOCABLE}");
    let revoked = transaction.execute(&sql, named_params! { ":now": now, ":id": id })?;
    if revoked > 0 {
        let change = next_change(transaction)?;
        transaction.execute("UPDATE keys SET changed = ? WHERE id = ?", (change, id))?;
    }
    record(transaction, id, Date::from_unix(now))
}

/// Revokes all active keys of an account and returns their number.
pub(crate) fn revoke_all(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<u32, SqliteError> {
    let change = next_change(transaction)?;
    let revoked = transaction.execute(
        &format!("UPDATE keys SET revoked_at = :now, changed = :change WHERE account = :account AND {REVOCABLE}"),
        named_params! { ":now": now, ":change": change, ":account": account.0 },
    )?;
    Ok(u32::try_from(revoked).expect("an account has fewer than 2^32 keys"))
}

/// Reports all keys of an account to running servers: what holds for the account holds for them.
pub(crate) fn mark_changed(transaction: &Transaction<'_>, account: AccountId) -> Result<(), rusqlite::Error> {
    let change = next_change(transaction)?;
    transaction.execute("UPDATE keys SET changed = ? WHERE account = ?", (change, account.0))?;
    Ok(())
}

/// Revokes all keys of an account and clears what identifies it; their digests remain.
pub(crate) fn orphan(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<(), SqliteError> {
    let change = next_change(transaction)?;
    transaction.execute(
        "UPDATE keys SET revoked_at = coalesce(revoked_at, :now), name = '', shown = :shown, last_used_at = NULL, \
         changed = :change WHERE account = :account",
        named_params! { ":now": now, ":shown": ORPHAN, ":change": change, ":account": account.0 },
    )?;
    Ok(())
}

pub(crate) fn changes(connection: &Connection, since: i64) -> Result<Changes, rusqlite::Error> {
    let last = connection.prepare_cached("SELECT change FROM service")?.query_row([], |row| row.get::<_, i64>(0))?;
    if last == since {
        return Ok(Changes { last, keys: Vec::new() });
    }
    // The database was restored from an older copy: all keys are read again.
    let since = if last < since { 0 } else { since };
    let mut statement = connection.prepare_cached(&format!("{KEY_STATES} WHERE keys.changed > ?"))?;
    let keys = statement.query_map([since], read_state)?.collect::<Result<_, _>>()?;
    Ok(Changes { last, keys })
}

fn record(connection: &Connection, key: i64, today: Date) -> Result<KeyRecord, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{KEYS} WHERE keys.id = :id"))?;
    let key = statement.query_row(named_params! {":id": key}, read_key)?;
    let used = usage::on_counters(connection, Some(key.account), today)?;
    Ok(with_usage(key, &used))
}

/// Keys whose account was deleted are not found.
fn find(connection: &Connection, key: KeyRef) -> Result<i64, SqliteError> {
    let found: Vec<i64> = match key {
        KeyRef::Id(id) => ids(connection, "SELECT id FROM keys WHERE id = ? AND account IS NOT NULL", [id.0]),
        KeyRef::Of(account, id) => {
            ids(connection, "SELECT id FROM keys WHERE account = ? AND id = ?", [account.0, id.0])
        }
        KeyRef::Masked(masked) => {
            // Active keys take precedence over revoked ones with the same short form.
            let sql = "SELECT id FROM keys WHERE shown = ?1 AND account IS NOT NULL AND (revoked_at IS NULL OR \
                       NOT EXISTS (SELECT 1 FROM keys WHERE shown = ?1 AND revoked_at IS NULL)) ORDER BY id";
            ids(connection, sql, [masked.to_string()])
        }
        KeyRef::Digest(digest) => {
            ids(connection, "SELECT id FROM keys WHERE digest = ? AND account IS NOT NULL", [*digest.bytes()])
        }
    }?;
    Ok(rules::only_key(&found)?)
}

fn ids(connection: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<Vec<i64>, rusqlite::Error> {
    connection.prepare_cached(sql)?.query_map(params, |row| row.get(0))?.collect()
}

/// The counter that a new key takes over: that of the key revoked last on `today` whose counter no active key uses.
///
/// A key gets a new counter only if there is no such counter, so that an account never uses more counters per day than its
/// tier allows keys.
fn free_counter(connection: &Connection, account: AccountId, today: Date) -> Result<Option<i64>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT counter FROM keys WHERE account = :account AND revoked_at >= :start AND revoked_at < :end \
             AND counter NOT IN (SELECT counter FROM keys WHERE account = :account AND revoked_at IS NULL) \
             ORDER BY revoked_at DESC, id DESC LIMIT 1",
        )?
        .query_row(
            named_params! {":account": account.0, ":start": today.unix(), ":end": today.unix() + 86_400},
            |row| row.get(0),
        )
        .optional()
}
