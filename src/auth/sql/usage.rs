//! Requests by key and day.

use std::collections::HashMap;

use crate::DayUsage;
use crate::account::AccountId;
use crate::quota::{AddedUsage, CounterId, KeyId, StoredUsage};
use crate::sql::keys::RECENT;
use crate::sql::{Row, Sql, SqlError, params};
use data::Date;

/// The keys whose ids the query `keys` returns, with each day on which they can have usage, from `first` to `last`: from the
/// creation to the last use, and one more on both sides, as clocks may differ. In a table ordered by day, usage is looked up by day
/// and key, so that its cost does not depend on other accounts. Only SQLite runs it, where `max` and `min` compare two numbers.
fn days_of_keys(keys: &str, first: &str, last: &str) -> String {
    format!(
        "WITH RECURSIVE key_days (key, day, last) AS \
         (SELECT id, max({first}, created_at / 86400 - 1), min({last}, last_used_at / 86400 + 1) FROM keys \
          WHERE id IN ({keys}) AND last_used_at >= ({first} - 1) * 86400 AND created_at < ({last} + 2) * 86400 \
          UNION ALL SELECT key, day + 1, last FROM key_days WHERE day < last)"
    )
}

/// The requests of `today` by counter, of an account (`None`: of all).
///
/// The keys of a counter belong to one account. A key revoked before has no usage today; one more day, as clocks may differ.
pub(crate) fn on_counters(
    sql: &dyn Sql,
    account: Option<AccountId>,
    today: Date,
) -> Result<HashMap<CounterId, u32>, SqlError> {
    let read = |row: &dyn Row| Ok((CounterId(row.get(0)?), row.get(1)?));
    let used = match account {
        None => sql.rows(
            "SELECT keys.counter, CAST(sum(usage.requests) AS BIGINT) FROM usage CROSS JOIN keys \
             WHERE usage.day = ?1 AND keys.id = usage.key GROUP BY keys.counter",
            &params![today.days()],
            read,
        ),
        Some(account) => sql.rows(
            &format!(
                "SELECT keys.counter, CAST(sum(usage.requests) AS BIGINT) FROM keys CROSS JOIN usage \
                 WHERE usage.day = ?3 AND usage.key = keys.id AND keys.id IN ({RECENT}) GROUP BY keys.counter"
            ),
            &params![account.0, today.unix() - 86_400, today.days()],
            read,
        ),
    }?;
    Ok(used.into_iter().collect())
}

pub(crate) fn of_day(sql: &dyn Sql, day: Date) -> Result<Vec<StoredUsage>, SqlError> {
    let query = "SELECT usage.key, keys.counter, usage.requests FROM usage JOIN keys ON keys.id = usage.key \
                 WHERE usage.day = ?1";
    sql.rows(query, &params![day.days()], |row| {
        Ok(StoredUsage { key: KeyId(row.get(0)?), counter: CounterId(row.get(1)?), requests: row.get(2)? })
    })
}

pub(crate) fn of_account(
    sql: &dyn Sql,
    account: AccountId,
    first: Date,
    last: Date,
) -> Result<Vec<DayUsage>, SqlError> {
    let query = if sql.orders_usage_by_day() {
        format!(
            "{} SELECT usage.day, usage.key, usage.requests FROM key_days CROSS JOIN usage \
             ON usage.day = key_days.day AND usage.key = key_days.key \
             WHERE key_days.day <= key_days.last ORDER BY usage.day, usage.key",
            days_of_keys(RECENT, "?3", "?4")
        )
    } else {
        format!(
            "SELECT day, key, requests FROM usage WHERE key IN ({RECENT}) AND day BETWEEN ?3 AND ?4 ORDER BY day, key"
        )
    };
    sql.rows(&query, &params![account.0, first.unix() - 86_400, first.days(), last.days()], |row| {
        Ok(DayUsage { day: Date::from_days(row.get(0)?), key: KeyId(row.get(1)?), requests: row.get(2)? })
    })
}

pub(crate) fn by_day(sql: &dyn Sql, first: Date, last: Date) -> Result<Vec<(Date, u64)>, SqlError> {
    let query = "SELECT day, CAST(sum(requests) AS BIGINT) FROM usage WHERE day BETWEEN ?1 AND ?2 \
                 GROUP BY day ORDER BY day";
    let params = params![first.days(), last.days()];
    sql.rows(query, &params, |row| Ok((Date::from_days(row.get(0)?), row.get(1)?)))
}

pub(crate) fn by_account(sql: &dyn Sql, first: Date, last: Date) -> Result<Vec<(AccountId, u64)>, SqlError> {
    let query = "SELECT keys.account, CAST(sum(usage.requests) AS BIGINT) AS total FROM usage CROSS JOIN keys \
                 WHERE usage.day BETWEEN ?1 AND ?2 AND keys.id = usage.key AND keys.account IS NOT NULL \
                 GROUP BY keys.account HAVING sum(usage.requests) > 0 ORDER BY total DESC, keys.account";
    sql.rows(query, &params![first.days(), last.days()], |row| Ok((AccountId(row.get(0)?), row.get(1)?)))
}

pub(crate) fn add(sql: &dyn Sql, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, SqlError> {
    // In one order, so that servers do not wait for each other in a circle.
    let mut order: Vec<usize> = (0..added.len()).collect();
    order.sort_by_key(|index| (added[*index].key, added[*index].day));
    // The keys are locked before their accounts are looked at, so that nothing is stored of an account that is being deleted. The
    // update locks those that were used.
    if added.iter().any(|added| added.requests <= 0) {
        let ids: Vec<i64> = added.iter().map(|added| added.key.0).collect();
        sql.lock_several("SELECT id FROM keys WHERE id = ANY($1) ORDER BY id", &ids)?;
    }
    let used = order.iter().map(|index| added[*index]).filter(|added| added.requests > 0);
    sql.execute_each(
        "UPDATE keys SET last_used_at = ?1 WHERE id = ?2 AND account IS NOT NULL",
        used.map(|added| params![now, added.key.0]),
    )?;
    let stored = sql.row_each(
        // The usage of a key whose account was deleted is only stored on the day of the deletion, for an account that returns.
        "INSERT INTO usage (day, key, requests) SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(?3 AS BIGINT) \
         WHERE NOT EXISTS (SELECT 1 FROM keys WHERE keys.id = ?2 AND keys.account IS NULL) \
         OR EXISTS (SELECT 1 FROM deleted_keys WHERE deleted_keys.day = ?1 AND deleted_keys.key = ?2) \
         ON CONFLICT (day, key) DO UPDATE SET requests = \
         CASE WHEN usage.requests + ?4 > 0 THEN usage.requests + ?4 ELSE 0 END RETURNING requests",
        order.iter().map(|index| {
            let AddedUsage { day, key, requests, .. } = added[*index];
            params![day.days(), key.0, requests.max(0), requests]
        }),
        |row| row.get(0),
    )?;
    let mut totals = vec![0; added.len()];
    for (index, total) in order.into_iter().zip(stored) {
        totals[index] = total.unwrap_or(0);
    }
    Ok(totals)
}

/// Deletes the usage of an account, except for that of `today`.
pub(crate) fn delete(sql: &dyn Sql, account: AccountId, today: Date) -> Result<(), SqlError> {
    let keys = "SELECT id FROM keys WHERE account = ?1";
    let of_account = if sql.orders_usage_by_day() {
        let days = days_of_keys(keys, &i32::MIN.to_string(), &i32::MAX.to_string());
        format!("(day, key) IN ({days} SELECT day, key FROM key_days)")
    } else {
        format!("key IN ({keys})")
    };
    let delete = format!("DELETE FROM usage WHERE {of_account} AND day <> ?2");
    sql.execute(&delete, &params![account.0, today.days()])?;
    Ok(())
}

pub(crate) fn delete_before(sql: &dyn Sql, day: Date) -> Result<usize, SqlError> {
    sql.execute("DELETE FROM usage WHERE day < ?1", &params![day.days()])
}
