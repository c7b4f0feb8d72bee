//! Requests by key and day.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;

use crate::DayUsage;
use crate::account::AccountId;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{RECENT_KEYS, get, number};
use crate::quota::{AddedUsage, CounterId, KeyId, StoredUsage};
use data::Date;

/// The requests of `today` by counter, of an account (`None`: of all).
///
/// The keys of a counter belong to one account. A key revoked before has no usage today; one more day, as clocks may differ.
pub(crate) fn on_counters(
    connection: &Connection,
    account: Option<AccountId>,
    today: Date,
) -> Result<HashMap<CounterId, u32>, PostgresError> {
    let day = i64::from(today.days());
    let rows = match account {
        None => connection.rows(
            "SELECT keys.counter, sum(usage.requests)::bigint FROM usage JOIN keys ON keys.id = usage.key \
             WHERE usage.day = $1 GROUP BY keys.counter",
            &[&day],
        ),
        Some(account) => connection.rows(
            &format!(
                "SELECT keys.counter, sum(usage.requests)::bigint FROM keys JOIN usage ON usage.key = keys.id AND usage.day = $3 \
                 WHERE keys.id IN ({RECENT_KEYS}) GROUP BY keys.counter"
            ),
            &[&account.0, &(today.unix() - 86_400), &day],
        ),
    }?;
    rows.iter().map(|row| Ok((CounterId(get(row, 0)?), number(row, 1)?))).collect()
}

pub(crate) fn of_day(connection: &Connection, day: Date) -> Result<Vec<StoredUsage>, PostgresError> {
    let sql = "SELECT usage.key, keys.counter, usage.requests FROM usage JOIN keys ON keys.id = usage.key \
               WHERE usage.day = $1";
    let usage = |row: &Row| {
        Ok(StoredUsage { key: KeyId(get(row, 0)?), counter: CounterId(get(row, 1)?), requests: number(row, 2)? })
    };
    connection.rows(sql, &[&i64::from(day.days())])?.iter().map(usage).collect()
}

pub(crate) fn of_account(
    connection: &Connection,
    account: AccountId,
    first: Date,
    last: Date,
) -> Result<Vec<DayUsage>, PostgresError> {
    let sql = format!(
        "SELECT day, key, requests FROM usage WHERE key IN ({RECENT_KEYS}) AND day BETWEEN $3 AND $4 ORDER BY day, key"
    );
    let usage = |row: &Row| {
        Ok(DayUsage { day: Date::from_days(number(row, 0)?), key: KeyId(get(row, 1)?), requests: number(row, 2)? })
    };
    let (since, first, last) = (first.unix() - 86_400, i64::from(first.days()), i64::from(last.days()));
    connection.rows(&sql, &[&account.0, &since, &first, &last])?.iter().map(usage).collect()
}

pub(crate) fn by_day(connection: &Connection, first: Date, last: Date) -> Result<Vec<(Date, u64)>, PostgresError> {
    let sql = "SELECT day, sum(requests)::bigint FROM usage WHERE day BETWEEN $1 AND $2 GROUP BY day ORDER BY day";
    let usage = |row: &Row| Ok((Date::from_days(number(row, 0)?), number(row, 1)?));
    connection.rows(sql, &[&i64::from(first.days()), &i64::from(last.days())])?.iter().map(usage).collect()
}

pub(crate) fn by_account(
    connection: &Connection,
    first: Date,
    last: Date,
) -> Result<Vec<(AccountId, u64)>, PostgresError> {
    let sql = "SELECT keys.account, sum(usage.requests)::bigint AS total FROM usage JOIN keys ON keys.id = usage.key \
         WHERE usage.day BETWEEN $1 AND $2 AND keys.account IS NOT NULL \
         GROUP BY keys.account HAVING sum(usage.requests) > 0 ORDER BY total DESC, keys.account";
    let usage = |row: &Row| Ok((AccountId(get(row, 0)?), number(row, 1)?));
    connection.rows(sql, &[&i64::from(first.days()), &i64::from(last.days())])?.iter().map(usage).collect()
}

pub(crate) fn add(transaction: &Transaction<'_>, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, PostgresError> {
    let (mut all, mut used): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for added in added {
        all.push(added.key.0);
        if added.requests > 0 {
            used.push(added.key.0);
        }
    }
    // The keys are locked in one order, so that servers do not wait for each other in a circle, and before their accounts are
    // looked at, so that nothing is stored of an account that is being deleted.
    transaction.execute(
        "WITH locked AS (SELECT id FROM keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE) \
         UPDATE keys SET last_used_at = CASE WHEN keys.account IS NOT NULL AND keys.id = ANY($3) THEN $2 ELSE last_used_at END \
         FROM locked WHERE keys.id = locked.id",
        &[&all, &now, &used],
    )?;
    let mut totals = vec![0; added.len()];
    // One statement changes a row once; a second round is only needed if a key and day are there twice.
    let mut left: Vec<usize> = (0..added.len()).collect();
    while !left.is_empty() {
        let mut seen = HashSet::new();
        let (round, later): (Vec<usize>, Vec<usize>) =
            left.into_iter().partition(|index| seen.insert((added[*index].key, added[*index].day)));
        add_once(transaction, added, &round, &mut totals)?;
        left = later;
    }
    Ok(totals)
}

/// Adds the usage at some indexes, which are of different keys or days.
fn add_once(
    transaction: &Transaction<'_>,
    added: &[AddedUsage],
    indexes: &[usize],
    totals: &mut [u32],
) -> Result<(), PostgresError> {
    let columns = |indexes: &[usize]| -> [Vec<i64>; 3] {
        let column = |value: fn(&AddedUsage) -> i64| indexes.iter().map(|index| value(&added[*index])).collect();
        [column(|added| added.key.0), column(|added| i64::from(added.day.days())), column(|added| added.requests)]
    };
    let index_of: HashMap<(i64, i64), usize> =
        indexes.iter().map(|index| ((added[*index].key.0, i64::from(added[*index].day.days())), *index)).collect();
    let mut store = |sql: &str, indexes: &[usize]| {
        let [keys, days, requests] = columns(indexes);
        for row in transaction.rows(sql, &[&keys, &days, &requests])? {
            if let Some(index) = index_of.get(&(get(&row, 0)?, get(&row, 1)?)) {
                totals[*index] = number(&row, 2)?;
            }
        }
        Ok::<_, PostgresError>(())
    };
    // The usage of a key whose account was deleted is only stored on the day of the deletion, for an account that returns.
    store(
        "INSERT INTO usage (key, day, requests) SELECT added.key, added.day, greatest(added.requests, 0) \
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS added (key, day, requests) \
         WHERE NOT EXISTS (SELECT 1 FROM keys WHERE keys.id = added.key AND keys.account IS NULL) \
         OR EXISTS (SELECT 1 FROM deleted_keys WHERE deleted_keys.day = added.day AND deleted_keys.key = added.key) \
         ORDER BY added.key, added.day \
         ON CONFLICT (key, day) DO UPDATE SET requests = usage.requests + excluded.requests RETURNING key, day, requests",
        indexes,
    )?;
    let given_back: Vec<usize> = indexes.iter().copied().filter(|index| added[*index].requests < 0).collect();
    if given_back.is_empty() {
        return Ok(());
    }
    store(
        "UPDATE usage SET requests = greatest(usage.requests + added.requests, 0) \
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS added (key, day, requests) \
         WHERE usage.key = added.key AND usage.day = added.day RETURNING usage.key, usage.day, usage.requests",
        &given_back,
    )
}

/// Deletes the usage of an account, except for that of `today`.
pub(crate) fn delete(transaction: &Transaction<'_>, account: AccountId, today: Date) -> Result<(), PostgresError> {
    let sql = "DELETE FROM usage WHERE key IN (SELECT id FROM keys WHERE account = $1) AND day <> $2";
    transaction.execute(sql, &[&account.0, &i64::from(today.days())])?;
    Ok(())
}

pub(crate) fn delete_before(transaction: &Transaction<'_>, day: Date) -> Result<usize, PostgresError> {
    transaction.execute("DELETE FROM usage WHERE day < $1", &[&i64::from(day.days())])
}
