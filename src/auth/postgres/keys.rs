//! Keys, and their changes for running servers.

use crate::account::{Account, AccountId, KeyName, KeyRecord, KeyRef, Rotation};
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{RECENT_KEYS, get, number, read_key, read_state};
use crate::postgres::{LOOK_UP_LIMIT, accounts, deleted_keys, next_change, usage};
use crate::queries::{KEY_STATES, KEYS};
use crate::rules::{self, ORPHAN, with_usage};
use crate::{ApiKey, Changes, RevokedKeys, StoreError};
use data::Date;

pub(crate) fn create(
    transaction: &Transaction<'_>,
    account: AccountId,
    name: &KeyName,
    key: &ApiKey,
    expires_at: Option<i64>,
    now: i64,
) -> Result<KeyRecord, PostgresError> {
    accounts::lock(transaction, account)?;
    end_expired_of(transaction, account, now)?;
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
) -> Result<i64, PostgresError> {
    let change = next_change(transaction)?;
    let row = transaction.one(
        "INSERT INTO keys (id, account, name, digest, shown, counter, created_at, expires_at, changed) \
         SELECT id, $1, $2, $3, $4, coalesce($5, id), $6, $7, $8 \
         FROM nextval(pg_get_serial_sequence('keys', 'id')) AS id RETURNING id",
        &[
            &account.0,
            &name,
            &key.digest().bytes().as_slice(),
            &key.masked().to_string(),
            &counter,
            &now,
            &expires_at,
            &change,
        ],
    )?;
    get(&row, 0)
}

/// Creates a successor on the counter of the key. As a counter is never shared by more than two active keys, rotating again
/// and again does not collect valid keys.
pub(crate) fn rotate(
    transaction: &Transaction<'_>,
    key: KeyRef,
    successor: &ApiKey,
    rotation: Rotation,
    now: i64,
) -> Result<(KeyRecord, KeyRecord), PostgresError> {
    let (id, account) = lock_owner(transaction, key)?;
    end_expired_of(transaction, account, now)?;
    let today = Date::from_unix(now);
    let rotated = record(transaction, id, today)?;
    if !rotated.is_active(now) {
        return Err(StoreError::KeyEnded.into());
    }
    let overlaps = transaction.one(
        "SELECT EXISTS (SELECT 1 FROM keys WHERE account = $1 AND revoked_at IS NULL AND counter = $2 AND id <> $3)",
        &[&account.0, &rotated.counter.0, &id],
    )?;
    if get(&overlaps, 0)? {
        return Err(StoreError::KeyOverlaps.into());
    }
    rules::check_created_keys(&rotated.email, rotated.tier, created_on(transaction, account, today)?)?;
    let Rotation { overlap_ends_at, expires_at } = rotation;
    let counter = Some(rotated.counter.0);
    let new = insert(transaction, account, &rotated.name, successor, counter, expires_at, now)?;
    let change = next_change(transaction)?;
    transaction.execute(
        "UPDATE keys SET expires_at = least(coalesce(expires_at, $1), $1), changed = $2 WHERE id = $3",
        &[&overlap_ends_at, &change, &id],
    )?;
    end_expired_of(transaction, account, now)?;
    Ok((record(transaction, id, today)?, record(transaction, new, today)?))
}

/// Needs no new change: a key in memory is rejected from its expiry on.
pub(crate) fn end_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, PostgresError> {
    let sql = "UPDATE keys SET revoked_at = expires_at WHERE revoked_at IS NULL AND expires_at <= $1";
    transaction.execute(sql, &[&now])
}

/// Only those of the account, which the transaction has locked: others may be locked by other transactions.
fn end_expired_of(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<(), PostgresError> {
    let sql = "UPDATE keys SET revoked_at = expires_at WHERE account = $2 AND revoked_at IS NULL AND expires_at <= $1";
    transaction.execute(sql, &[&now, &account.0])?;
    Ok(())
}

pub(crate) fn all(
    connection: &Connection,
    account: Option<AccountId>,
    today: Date,
) -> Result<Vec<KeyRecord>, PostgresError> {
    let rows = match account {
        Some(account) => connection.rows(&format!("{KEYS} WHERE keys.account = $1 ORDER BY keys.id"), &[&account.0]),
        None => connection.rows(&format!("{KEYS} ORDER BY keys.id"), &[]),
    }?;
    let used = usage::on_counters(connection, account, today)?;
    rows.iter().map(|row| Ok(with_usage(read_key(row)?, &used))).collect()
}

pub(crate) fn recent(
    connection: &Connection,
    account: AccountId,
    revoked: RevokedKeys,
    today: Date,
) -> Result<Vec<KeyRecord>, PostgresError> {
    let sql = format!(
        "{KEYS} WHERE keys.id IN (SELECT id FROM keys WHERE account = $1 AND revoked_at IS NULL UNION ALL \
         (SELECT id FROM keys WHERE account = $1 AND revoked_at >= $2 ORDER BY revoked_at DESC, id DESC LIMIT $3)) \
         ORDER BY keys.id"
    );
    let rows = connection.rows(&sql, &[&account.0, &revoked.since, &i64::from(revoked.max)])?;
    let used = usage::on_counters(connection, Some(account), today)?;
    rows.iter().map(|row| Ok(with_usage(read_key(row)?, &used))).collect()
}

pub(crate) fn one(connection: &Connection, key: KeyRef, today: Date) -> Result<KeyRecord, PostgresError> {
    record(connection, find(connection, key)?, today)
}

/// The keys of an account that were created on a day. A key that was revoked was revoked on that day or later.
fn created_on(connection: &Connection, account: AccountId, day: Date) -> Result<u32, PostgresError> {
    let sql = format!(
        "SELECT count(*) FROM keys WHERE id IN ({RECENT_KEYS}) AND created_at >= $2 AND created_at < $2 + 86400"
    );
    number(&connection.one(&sql, &[&account.0, &day.unix()])?, 0)
}

/// Clears the names of keys revoked before `before` (Unix seconds).
pub(crate) fn clear_names(transaction: &Transaction<'_>, before: i64) -> Result<usize, PostgresError> {
    transaction.execute("UPDATE keys SET name = '' WHERE revoked_at < $1 AND name <> ''", &[&before])
}

/// The keys that can be revoked at `$1`: also one that has expired by a clock that was ahead, and is accepted again.
const REVOCABLE: &str = "(revoked_at IS NULL OR (revoked_at >= expires_at AND revoked_at > $1))";

pub(crate) fn revoke(transaction: &Transaction<'_>, key: KeyRef, now: i64) -> Result<KeyRecord, PostgresError> {
    let (id, _) = lock_owner(transaction, key)?;
    let revoked =
        transaction.execute(&format!("UPDATE keys SET revoked_at = $1 WHERE id = $2 AND {REVOCABLE}"), &[&now, &id])?;
    if revoked > 0 {
        let change = next_change(transaction)?;
        transaction.execute("UPDATE keys SET changed = $1 WHERE id = $2", &[&change, &id])?;
    }
    record(transaction, id, Date::from_unix(now))
}

/// Revokes all active keys of an account and returns their number.
pub(crate) fn revoke_all(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<u32, PostgresError> {
    lock_all(transaction, account)?;
    let change = next_change(transaction)?;
    let revoked = transaction.execute(
        &format!("UPDATE keys SET revoked_at = $1, changed = $2 WHERE account = $3 AND {REVOCABLE}"),
        &[&now, &change, &account.0],
    )?;
    Ok(u32::try_from(revoked).expect("an account has fewer than 2^32 keys"))
}

/// Reports all keys of an account to running servers: what holds for the account holds for them.
pub(crate) fn mark_changed(transaction: &Transaction<'_>, account: AccountId) -> Result<(), PostgresError> {
    lock_all(transaction, account)?;
    let change = next_change(transaction)?;
    transaction.execute("UPDATE keys SET changed = $1 WHERE account = $2", &[&change, &account.0])?;
    Ok(())
}

/// Revokes all keys of an account and clears what identifies it; their digests remain.
pub(crate) fn orphan(transaction: &Transaction<'_>, account: AccountId, now: i64) -> Result<(), PostgresError> {
    let change = next_change(transaction)?;
    transaction.execute(
        "UPDATE keys SET revoked_at = coalesce(revoked_at, $1), name = '', shown = $2, last_used_at = NULL, changed = $3 \
         WHERE account = $4",
        &[&now, &ORPHAN, &change, &account.0],
    )?;
    Ok(())
}

/// Locks the keys of an account in the order in which [`usage::add`] does.
pub(crate) fn lock_all(transaction: &Transaction<'_>, account: AccountId) -> Result<(), PostgresError> {
    let sql = "SELECT id FROM keys WHERE account = $1 ORDER BY id FOR NO KEY UPDATE";
    transaction.rows(sql, &[&account.0]).map(|_| ())
}

pub(crate) fn changes(connection: &Connection, since: i64) -> Result<Changes, PostgresError> {
    // Read first: what commits until the keys are read is reported now, and again next time.
    let last = connection.within(LOOK_UP_LIMIT, || connection.one("SELECT change FROM service", &[]))?;
    let last: i64 = get(&last, 0)?;
    if last == since {
        return Ok(Changes { last, keys: Vec::new() });
    }
    // The database was restored from an older copy: all keys are read again.
    let since = if last < since { 0 } else { since };
    let keys = connection.rows(&format!("{KEY_STATES} WHERE keys.changed > $1 ORDER BY keys.id"), &[&since])?;
    Ok(Changes { last, keys: keys.iter().map(read_state).collect::<Result<_, _>>()? })
}

fn record(connection: &Connection, key: i64, today: Date) -> Result<KeyRecord, PostgresError> {
    let row = connection.row(&format!("{KEYS} WHERE keys.id = $1"), &[&key])?.ok_or(StoreError::NoSuchKey)?;
    let key = read_key(&row)?;
    let used = usage::on_counters(connection, Some(key.account), today)?;
    Ok(with_usage(key, &used))
}

/// Finds a key and locks its account.
fn lock_owner(transaction: &Transaction<'_>, key: KeyRef) -> Result<(i64, AccountId), PostgresError> {
    let id = find(transaction, key)?;
    let owner = transaction.row("SELECT account FROM keys WHERE id = $1", &[&id])?.ok_or(StoreError::NoSuchKey)?;
    let account = AccountId(get::<Option<i64>>(&owner, 0)?.ok_or(StoreError::NoSuchKey)?);
    accounts::lock(transaction, account).map_err(|error| match error {
        PostgresError::Rule(StoreError::AccountGone) => StoreError::NoSuchKey.into(),
        error => error,
    })?;
    // While this waited for the lock, another key of the short form may have become the active one.
    match find(transaction, key)? {
        again if again == id => Ok((id, account)),
        _ => Err(StoreError::Busy.into()),
    }
}

/// Keys whose account was deleted are not found.
fn find(connection: &Connection, key: KeyRef) -> Result<i64, PostgresError> {
    let rows = match key {
        KeyRef::Id(id) => connection.rows("SELECT id FROM keys WHERE id = $1 AND account IS NOT NULL", &[&id.0]),
        KeyRef::Of(account, id) => {
            connection.rows("SELECT id FROM keys WHERE account = $1 AND id = $2", &[&account.0, &id.0])
        }
        KeyRef::Masked(masked) => {
            // Active keys take precedence over revoked ones with the same short form.
            let sql = "SELECT id FROM keys WHERE shown = $1 AND account IS NOT NULL AND (revoked_at IS NULL OR \
                       NOT EXISTS (SELECT 1 FROM keys WHERE shown = $1 AND revoked_at IS NULL)) ORDER BY id";
            connection.rows(sql, &[&masked.to_string()])
        }
        KeyRef::Digest(digest) => {
            let sql = "SELECT id FROM keys WHERE digest = $1 AND account IS NOT NULL";
            connection.rows(sql, &[&digest.bytes().as_slice()])
        }
    }?;
    let found: Vec<i64> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(rules::only_key(&found)?)
}

/// The counter that a new key takes over: that of the key revoked last on `today` whose counter no active key uses.
///
/// A key gets a new counter only if there is no such counter, so that an account never uses more counters per day than its
/// tier allows keys.
fn free_counter(connection: &Connection, account: AccountId, today: Date) -> Result<Option<i64>, PostgresError> {
    let found = connection.row(
        "SELECT counter FROM keys WHERE account = $1 AND revoked_at >= $2 AND revoked_at < $3 \
         AND counter NOT IN (SELECT counter FROM keys WHERE account = $1 AND revoked_at IS NULL) \
         ORDER BY revoked_at DESC, id DESC LIMIT 1",
        &[&account.0, &today.unix(), &(today.unix() + 86_400)],
    )?;
    found.map(|row| get(&row, 0)).transpose()
}
