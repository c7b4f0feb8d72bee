//! Requests by key and day.

use std::collections::HashMap;

use rusqlite::{Connection, Row, Transaction, named_params};

use crate::DayUsage;
use crate::account::AccountId;
use crate::quota::{AddedUsage, CounterId, KeyId, StoredUsage};
use crate::sqlite::SqliteError;
use crate::sqlite::rows::RECENT_KEYS;
use data::Date;

/// The keys whose ids the query `{keys}` returns, with each day on which they can have usage, from `:first` to `:last`: from the
/// creation to the last use, and one more on both sides, as clocks may differ. The table is ordered by day: usage is looked up by
/// day and key, so that its cost does not depend on other accounts.
fn days_of_keys(keys: &str) -> String {
    format!(
        "WITH RECURSIVE key_days (key, day, last) AS \
         (SELECT id, max(:first, created_at / 86400 - 1), min(:last, last_used_at / 86400 + 1) FROM keys \
          WHERE id IN ({keys}) AND last_used_at >= (:first - 1) * 86400 AND created_at < (:last + 2) * 86400 \
          UNION ALL SELECT key, day + 1, last FROM key_days WHERE day < last)"
    )
}

/// The requests of `today` by counter, of an account (`None`: of all).
///
/// The keys of a counter belong to one account. A key revoked before has no usage today; one more day, as clocks may differ.
pub(crate) fn on_counters(
    connection: &Connection,
    account: Option<AccountId>,
    today: Date,
) -> Result<HashMap<CounterId, u32>, SqliteError> {
    let counter = |row: &Row<'_>| Ok((CounterId(row.get(0)?), row.get(1)?));
    let Some(account) = account else {
        let mut statement = connection.prepare_cached(
            "SELECT keys.counter, sum(usage.requests) FROM usage CROSS JOIN keys ON keys.id = usage.key \
             WHERE usage.day = ? GROUP BY keys.counter",
        )?;
        return Ok(statement.query_map([today.days()], counter)?.collect::<Result<_, _>>()?);
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT keys.counter, sum(usage.requests) FROM keys CROSS JOIN usage ON usage.day = :today AND usage.key = keys.id \
         WHERE keys.id IN ({RECENT_KEYS}) GROUP BY keys.counter"
    ))?;
    let since = today.unix() - 86_400;
    let params = named_params! { ":today": today.days(), ":account": account.0, ":since": since };
    Ok(statement.query_map(params, counter)?.collect::<Result<_, _>>()?)
}

pub(crate) fn of_day(connection: &Connection, day: Date) -> Result<Vec<StoredUsage>, SqliteError> {
    let mut statement = connection.prepare_cached(
        "SELECT usage.key, keys.counter, usage.requests FROM usage JOIN keys ON keys.id = usage.key \
         WHERE usage.day = ?",
    )?;
    let usage = |row: &Row<'_>| {
        Ok(StoredUsage { key: KeyId(row.get(0)?), counter: CounterId(row.get(1)?), requests: row.get(2)? })
    };
    Ok(statement.query_map([day.days()], usage)?.collect::<Result<_, _>>()?)
}

pub(crate) fn of_account(
    connection: &Connection,
    account: AccountId,
    first: Date,
    last: Date,
) -> Result<Vec<DayUsage>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "{} SELECT usage.day, usage.key, usage.requests FROM key_days CROSS JOIN usage \
         ON usage.day = key_days.day AND usage.key = key_days.key \
         WHERE key_days.day <= key_days.last ORDER BY usage.day, usage.key",
        days_of_keys(RECENT_KEYS)
    ))?;
    let usage = |row: &Row<'_>| {
        Ok(DayUsage { day: Date::from_days(row.get(0)?), key: KeyId(row.get(1)?), requests: row.get(2)? })
    };
    let params = named_params! {
        ":first": first.days(), ":last": last.days(), ":account": account.0, ":since": first.unix() - 86_400,
    };
    Ok(statement.query_map(params, usage)?.collect::<Result<_, _>>()?)
}

pub(crate) fn by_day(connection: &Connection, first: Date, last: Date) -> Result<Vec<(Date, u64)>, SqliteError> {
    let mut statement = connection
        .prepare_cached("SELECT day, sum(requests) FROM usage WHERE day BETWEEN ? AND ? GROUP BY day ORDER BY day")?;
    let usage = |row: &Row<'_>| Ok((Date::from_days(row.get(0)?), sum(row, 1)?));
    Ok(statement.query_map((first.days(), last.days()), usage)?.collect::<Result<_, _>>()?)
}

pub(crate) fn by_account(
    connection: &Connection,
    first: Date,
    last: Date,
) -> Result<Vec<(AccountId, u64)>, SqliteError> {
    let mut statement = connection.prepare_cached(
        "SELECT keys.account, sum(usage.requests) AS total FROM usage CROSS JOIN keys ON keys.id = usage.key \
         WHERE usage.day BETWEEN ? AND ? AND keys.account IS NOT NULL \
         GROUP BY keys.account HAVING total > 0 ORDER BY total DESC, keys.account",
    )?;
    let usage = |row: &Row<'_>| Ok((AccountId(row.get(0)?), sum(row, 1)?));
    Ok(statement.query_map((first.days(), last.days()), usage)?.collect::<Result<_, _>>()?)
}

/// A sum of requests, which are never negative.
fn sum(row: &Row<'_>, column: usize) -> Result<u64, rusqlite::Error> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

pub(crate) fn add(transaction: &Transaction<'_>, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, SqliteError> {
    // The usage of a key whose account was deleted is only stored on the day of the deletion, for an account that returns.
    let mut add = transaction.prepare_cached(
        "INSERT INTO usage (day, key, requests) SELECT :day, :key, max(0, :requests) \
         WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = :key AND account IS NULL) \
         OR EXISTS (SELECT 1 FROM deleted_keys WHERE day = :day AND key = :key) \
         ON CONFLICT DO UPDATE SET requests = max(0, requests + :requests) RETURNING requests",
    )?;
    let mut used =
        transaction.prepare_cached("UPDATE keys SET last_used_at = ? WHERE id = ? AND account IS NOT NULL")?;
    let mut totals = Vec::with_capacity(added.len());
    for added in added {
        let params = named_params! {
            ":day": added.day.days(), ":key": added.key.0, ":requests": added.requests,
        };
        let total = rusqlite::OptionalExtension::optional(add.query_row(params, |row| row.get(0)))?;
        totals.push(total.unwrap_or(0));
        if added.requests > 0 {
            used.execute((now, added.key.0))?;
        }
    }
    Ok(totals)
}

/// Deletes the usage of an account, except for that of `today`.
pub(crate) fn delete(transaction: &Transaction<'_>, account: AccountId, today: Date) -> Result<(), SqliteError> {
    transaction.execute(
        &format!(
            "DELETE FROM usage WHERE (day, key) IN ({} SELECT day, key FROM key_days WHERE day <> :today)",
            days_of_keys("SELECT id FROM keys WHERE account = :account")
        ),
        named_params! { ":first": i32::MIN, ":last": i32::MAX, ":account": account.0, ":today": today.days() },
    )?;
    Ok(())
}

pub(crate) fn delete_before(transaction: &Transaction<'_>, day: Date) -> Result<usize, SqliteError> {
    Ok(transaction.execute("DELETE FROM usage WHERE day < ?", [day.days()])?)
}
