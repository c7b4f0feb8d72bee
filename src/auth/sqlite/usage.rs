//! Requests by key and day.

use rusqlite::{Connection, Row, Transaction, named_params};

use crate::auth::DayUsage;
use crate::auth::account::AccountId;
use crate::auth::sqlite::SqliteError;
use crate::data::Date;
use crate::quota::{AddedUsage, CounterId, KeyId, StoredUsage};

/// The days from `:first` to `:last`. The table is ordered by day: the usage of an account is looked up by day and key, so
/// that its cost does not depend on other accounts.
const DAYS: &str = "WITH RECURSIVE days (day) AS \
    (SELECT :first UNION ALL SELECT day + 1 FROM days WHERE day < :last)";

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
        "{DAYS} SELECT days.day, keys.id, usage.requests FROM days CROSS JOIN keys CROSS JOIN usage \
         ON usage.day = days.day AND usage.key = keys.id \
         WHERE keys.account = :account AND days.day <= :last ORDER BY days.day, keys.id"
    ))?;
    let usage = |row: &Row<'_>| {
        Ok(DayUsage { day: Date::from_days(row.get(0)?), key: KeyId(row.get(1)?), requests: row.get(2)? })
    };
    let params = named_params! { ":first": first.days(), ":last": last.days(), ":account": account.0 };
    Ok(statement.query_map(params, usage)?.collect::<Result<_, _>>()?)
}

pub(crate) fn add(transaction: &Transaction<'_>, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, SqliteError> {
    // The usage of a key whose account was deleted is not stored.
    let mut add = transaction.prepare_cached(
        "INSERT INTO usage (day, key, requests) SELECT :day, :key, max(0, :requests) \
         WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = :key AND account IS NULL) \
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

pub(crate) fn delete(transaction: &Transaction<'_>, account: AccountId) -> Result<(), SqliteError> {
    // One more day on both sides, as clocks may differ.
    let span: (Option<i64>, Option<i64>) = transaction.query_row(
        "SELECT min(created_at) / 86400 - 1, max(coalesce(last_used_at, created_at)) / 86400 + 1 \
         FROM keys WHERE account = ?",
        [account.0],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if let (Some(first), Some(last)) = span {
        transaction.execute(
            &format!(
                "DELETE FROM usage WHERE (day, key) IN ({DAYS} SELECT days.day, keys.id FROM days CROSS JOIN keys \
                 WHERE keys.account = :account)"
            ),
            named_params! { ":first": first, ":last": last, ":account": account.0 },
        )?;
    }
    Ok(())
}
