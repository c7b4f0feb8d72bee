//! Requests by key and day.

use std::collections::{HashMap, HashSet};

use crate::account::AccountId;
use crate::quota::{AddedUsage, CounterId, StoredUsage};
use crate::sql::keys::RECENT;
use crate::sql::{Sql, SqlResult, columns_of, params};
use crate::{DayUsage, Store, StoreResult};
use data::Date;

columns_of! { StoredUsage: key, counter, requests }

columns_of! { DayUsage: day, key, requests }

/// The keys selected by the query `keys`, with each day from `first` to `last` on which they can have usage: from
/// creation to last use, and one day more on both sides, because clocks may differ. Usage ordered by day is looked up
/// by day and key, without that of other accounts. Only for SQLite, where `max` and `min` compare two numbers.
fn days_of_keys(keys: &str, first: &str, last: &str) -> String {
    format!(
        "WITH RECURSIVE key_days (key, day, last) AS \
         (SELECT id, max({first}, created_at / 86400 - 1), min({last}, last_used_at / 86400 + 1) FROM keys \
          WHERE id IN ({keys}) AND last_used_at >= ({first} - 1) * 86400 AND created_at < ({last} + 2) * 86400 \
          UNION ALL SELECT key, day + 1, last FROM key_days WHERE day < last)"
    )
}

/// The requests of `today` by counter, for one account (`None`: for all).
///
/// The keys of a counter have one account. Keys revoked before the day before today (clocks may differ) have no usage.
pub(crate) fn on_counters(sql: &dyn Sql, owner: Option<AccountId>, today: Date) -> SqlResult<HashMap<CounterId, u32>> {
    let used: Vec<(CounterId, u32)> = match owner {
        None => sql.rows(
            "SELECT keys.counter, CAST(sum(usage.requests) AS BIGINT) FROM usage CROSS JOIN keys \
             WHERE usage.day = ?1 AND keys.id = usage.key GROUP BY keys.counter",
            &params![today.days()],
        ),
        Some(owner) => sql.rows(
            &format!(
                "SELECT keys.counter, CAST(sum(usage.requests) AS BIGINT) FROM keys CROSS JOIN usage \
                 WHERE usage.day = ?3 AND usage.key = keys.id AND keys.id IN ({RECENT}) GROUP BY keys.counter"
            ),
            &params![owner.0, today.unix() - 86_400, today.days()],
        ),
    }?;
    Ok(used.into_iter().collect())
}

impl dyn Store + '_ {
    pub fn usage(&self, day: Date) -> StoreResult<Vec<StoredUsage>> {
        self.list("read the usage", |sql| {
            let query = "SELECT usage.key, keys.counter, usage.requests FROM usage JOIN keys ON keys.id = usage.key \
                         WHERE usage.day = ?1";
            sql.rows(query, &params![day.days()])
        })
    }

    /// The usage of an account's keys from `first` to `last`, by day and key. The cost depends on its own keys only.
    pub fn usage_of(&self, account: AccountId, first: Date, last: Date) -> StoreResult<Vec<DayUsage>> {
        self.list("read the usage", |sql| {
            let query = if sql.orders_usage_by_day() {
                format!(
                    "{} SELECT usage.day, usage.key, usage.requests FROM key_days CROSS JOIN usage \
                     ON usage.day = key_days.day AND usage.key = key_days.key \
                     WHERE key_days.day <= key_days.last ORDER BY usage.day, usage.key",
                    days_of_keys(RECENT, "?3", "?4")
                )
            } else {
                format!(
                    "SELECT day, key, requests FROM usage WHERE key IN ({RECENT}) AND day BETWEEN ?3 AND ?4 \
                     ORDER BY day, key"
                )
            };
            sql.rows(&query, &params![account.0, first.unix() - 86_400, first.days(), last.days()])
        })
    }

    /// The requests of all keys from `first` to `last`, by day with usage. For operators, as the next: reads all usage.
    pub fn usage_by_day(&self, first: Date, last: Date) -> StoreResult<Vec<(Date, u64)>> {
        self.list("read the usage", |sql| {
            let query = "SELECT day, CAST(sum(requests) AS BIGINT) FROM usage WHERE day BETWEEN ?1 AND ?2 \
                         GROUP BY day ORDER BY day";
            sql.rows(query, &params![first.days(), last.days()])
        })
    }

    /// The requests of each account from `first` to `last`, most first. Accounts without usage are left out.
    pub fn usage_by_account(&self, first: Date, last: Date) -> StoreResult<Vec<(AccountId, u64)>> {
        self.list("read the usage", |sql| {
            let query = "SELECT keys.account, CAST(sum(usage.requests) AS BIGINT) AS total FROM usage CROSS JOIN keys \
                         WHERE usage.day BETWEEN ?1 AND ?2 AND keys.id = usage.key AND keys.account IS NOT NULL \
                         GROUP BY keys.account HAVING sum(usage.requests) > 0 ORDER BY total DESC, keys.account";
            sql.rows(query, &params![first.days(), last.days()])
        })
    }

    /// Adds to the usage of keys, atomically, and sets `now` as their last use. Returns the new totals in the same
    /// order: other processes may have added too. The total is 0 for a key of an account deleted on another day.
    pub fn add_usage(&self, added: &[AddedUsage], now: i64) -> StoreResult<Vec<u32>> {
        self.change_quickly("write the usage", |sql| {
            mark_used(sql, added, now)?;
            let rows = added_rows(sql);
            let update = format!(
                "UPDATE usage SET requests = CASE WHEN requests + added.n > 0 THEN requests + added.n ELSE 0 END \
                 FROM {rows} WHERE key = added.k AND day = added.d RETURNING key, day, requests"
            );
            // Of a deleted account, usage is stored only on the day of the deletion, in case the account returns.
            let insert = format!(
                "INSERT INTO usage (key, day, requests) SELECT added.k, added.d, \
                 CASE WHEN added.n > 0 THEN added.n ELSE 0 END FROM {rows} \
                 WHERE NOT EXISTS (SELECT 1 FROM keys WHERE keys.id = added.k AND keys.account IS NULL) \
                 OR EXISTS (SELECT 1 FROM deleted_keys WHERE deleted_keys.day = added.d AND deleted_keys.key = added.k) \
                 ORDER BY added.k, added.d ON CONFLICT (key, day) \
                 DO UPDATE SET requests = usage.requests + excluded.requests RETURNING key, day, requests"
            );
            let mut totals = vec![None; added.len()];
            // One statement changes a row only once; a second round is needed only if a key and day occur twice.
            let mut left: Vec<usize> = (0..added.len()).collect();
            while !left.is_empty() {
                let mut seen = HashSet::new();
                let (round, later): (Vec<usize>, Vec<usize>) =
                    left.into_iter().partition(|index| seen.insert((added[*index].key, added[*index].day)));
                store(sql, &update, added, &round, &mut totals)?;
                let new: Vec<usize> = round.into_iter().filter(|index| totals[*index].is_none()).collect();
                store(sql, &insert, added, &new, &mut totals)?;
                left = later;
            }
            Ok(totals.into_iter().map(|total| total.unwrap_or(0)).collect())
        })
    }
}

/// Sets `now` as the last use of the used keys. Locks all keys in one order, so that servers do not deadlock, and
/// before reading their accounts, so that nothing is stored for an account that is being deleted.
fn mark_used(sql: &dyn Sql, added: &[AddedUsage], now: i64) -> SqlResult<()> {
    let rows = as_json(added.iter());
    let keys = added_rows(sql);
    let update = format!(
        "WITH locked AS (SELECT id FROM keys WHERE id IN (SELECT k FROM {keys}) ORDER BY id{}) \
         UPDATE keys SET last_used_at = CASE WHEN keys.account IS NOT NULL \
         AND keys.id IN (SELECT k FROM {keys} WHERE n > 0) THEN ?2 ELSE last_used_at END \
         FROM locked WHERE keys.id = locked.id",
        sql.for_no_key_update()
    );
    sql.execute(&update, &params![&rows, now]).map(drop)
}

/// Runs a statement for the usage at `indexes`, of distinct keys or days, and records the totals that it returns.
fn store(
    sql: &dyn Sql,
    statement: &str,
    added: &[AddedUsage],
    indexes: &[usize],
    totals: &mut [Option<u32>],
) -> SqlResult<()> {
    if indexes.is_empty() {
        return Ok(());
    }
    let index_of: HashMap<(i64, i32), usize> =
        indexes.iter().map(|index| ((added[*index].key.0, added[*index].day.days()), *index)).collect();
    let rows = as_json(indexes.iter().map(|index| &added[*index]));
    for (place, total) in sql.rows::<((i64, i32), u32)>(statement, &params![&rows])? {
        if let Some(index) = index_of.get(&place) {
            totals[*index] = Some(total);
        }
    }
    Ok(())
}

/// Rows with columns `k` (key), `d` (day) and `n` (requests), as one JSON parameter.
fn as_json<'a>(added: impl Iterator<Item = &'a AddedUsage>) -> String {
    let rows = added.map(|added| format!("[{},{},{}]", added.key.0, added.day.days(), added.requests));
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

fn added_rows(sql: &dyn Sql) -> String {
    format!(
        "(SELECT CAST(value ->> 0 AS BIGINT) AS k, CAST(value ->> 1 AS BIGINT) AS d, CAST(value ->> 2 AS BIGINT) AS n \
         FROM {}(?1)) AS added",
        sql.json_elements()
    )
}

/// Deletes the usage of an account, except for that of `today`.
pub(crate) fn delete(sql: &dyn Sql, account: AccountId, today: Date) -> SqlResult<()> {
    let keys = "SELECT id FROM keys WHERE account = ?1";
    let of_account = if sql.orders_usage_by_day() {
        let days = days_of_keys(keys, &i32::MIN.to_string(), &i32::MAX.to_string());
        format!("(day, key) IN ({days} SELECT day, key FROM key_days)")
    } else {
        format!("key IN ({keys})")
    };
    let delete = format!("DELETE FROM usage WHERE {of_account} AND day <> ?2");
    sql.execute(&delete, &params![account.0, today.days()]).map(drop)
}
