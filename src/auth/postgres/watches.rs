//! Saved searches and lists of records.

use std::borrow::Cow;

use tokio_postgres::Row;

use crate::account::AccountId;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, number, parsed, text};
use crate::postgres::{accounts, webhooks};
use crate::queries::WATCHES;
use crate::watch::{NewWatch, WATCHED, Watch, WatchChange, WatchId, WebhookId};
use crate::{StoreError, rules};
use data::{SnapshotVersion, Table};

fn read_watch(row: &Row) -> Result<Watch, PostgresError> {
    Ok(Watch {
        id: WatchId(get(row, 0)?),
        account: AccountId(get(row, 1)?),
        name: parsed(row, 2)?,
        table: table(get(row, 3)?)?,
        query: get(row, 4)?,
        listed: number(row, 5)?,
        created_at: get(row, 6)?,
        evaluated: parsed(row, 7)?,
        problem: get(row, 8)?,
        feed: get(row, 9)?,
        emails: get(row, 10)?,
        webhook: get::<Option<i64>>(row, 11)?.map(WebhookId),
    })
}

fn table(name: &str) -> Result<Table, PostgresError> {
    let unknown = || PostgresError::Data(format!("no table `{name}`"));
    WATCHED.into_iter().find(|table| table.name() == name).ok_or_else(unknown)
}

pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    watch: &NewWatch<'_>,
    now: i64,
) -> Result<Watch, PostgresError> {
    accounts::lock(transaction, account)?;
    let tier = accounts::by_id(transaction, account)?.tier;
    let count = transaction.one("SELECT count(*) FROM watches WHERE account = $1", &[&account.0])?;
    rules::check_new_watch(tier, number(&count, 0)?)?;
    let row = transaction.one(
        "INSERT INTO watches (account, name, records, query, created_at, evaluated) \
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
        &[
            &account.0,
            &watch.name.as_str(),
            &watch.table.name(),
            &watch.query.map(text),
            &now,
            &watch.served.to_string(),
        ],
    )?;
    let id = WatchId(get(&row, 0)?);
    if watch.query.is_none() {
        add_listed(transaction, id, watch.records)?;
    }
    one(transaction, id)
}

pub(crate) fn of_account(connection: &Connection, account: AccountId) -> Result<Vec<Watch>, PostgresError> {
    let sql = format!("{WATCHES} WHERE watches.account = $1 ORDER BY watches.id DESC");
    connection.rows(&sql, &[&account.0])?.iter().map(read_watch).collect()
}

pub(crate) fn one(connection: &Connection, watch: WatchId) -> Result<Watch, PostgresError> {
    let found = connection.row(&format!("{WATCHES} WHERE watches.id = $1"), &[&watch.0])?;
    read_watch(&found.ok_or(StoreError::NoSuchWatch)?)
}

/// Those of several, in any order.
pub(crate) fn several(connection: &Connection, watches: &[i64]) -> Result<Vec<Watch>, PostgresError> {
    connection.rows(&format!("{WATCHES} WHERE watches.id = ANY($1)"), &[&watches])?.iter().map(read_watch).collect()
}

pub(crate) fn listed(connection: &Connection, watch: WatchId) -> Result<Vec<String>, PostgresError> {
    let rows = connection.rows("SELECT record FROM listed WHERE watch = $1 ORDER BY record", &[&watch.0])?;
    rows.iter().map(|row| get(row, 0)).collect()
}

pub(crate) fn change(
    transaction: &Transaction<'_>,
    account: AccountId,
    watch: WatchId,
    change: WatchChange<'_>,
) -> Result<Watch, PostgresError> {
    accounts::lock(transaction, account).map_err(|error| match error {
        PostgresError::Rule(StoreError::AccountGone) => StoreError::NoSuchWatch.into(),
        error => error,
    })?;
    if one(transaction, watch)?.account != account {
        return Err(StoreError::NoSuchWatch.into());
    }
    match change {
        WatchChange::Name(name) => {
            transaction.execute("UPDATE watches SET name = $1 WHERE id = $2", &[&name.as_str(), &watch.0])?;
        }
        WatchChange::Notify { emails, webhook } => {
            if let Some(webhook) = webhook {
                webhooks::of(transaction, account, webhook)?;
            }
            let sql = "UPDATE watches SET emails = $1, webhook = $2 WHERE id = $3";
            transaction.execute(sql, &[&emails, &webhook.map(|webhook| webhook.0), &watch.0])?;
        }
        WatchChange::Add(records) => add_listed(transaction, watch, records)?,
        WatchChange::Remove(records) => {
            let sql = "DELETE FROM listed WHERE watch = $1 AND record = ANY($2)";
            transaction.execute(sql, &[&watch.0, &texts(records)])?;
        }
        WatchChange::RenewFeed => {
            transaction.execute("UPDATE watches SET feed = feed + 1 WHERE id = $1", &[&watch.0])?;
        }
    }
    one(transaction, watch)
}

fn texts(records: &[String]) -> Vec<Cow<'_, str>> {
    records.iter().map(|record| text(record)).collect()
}

fn add_listed(transaction: &Transaction<'_>, watch: WatchId, records: &[String]) -> Result<(), PostgresError> {
    transaction.execute(
        "INSERT INTO listed (watch, record) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING",
        &[&watch.0, &texts(records)],
    )?;
    let count = transaction.one("SELECT count(*) FROM listed WHERE watch = $1", &[&watch.0])?;
    Ok(rules::check_listed(number(&count, 0)?)?)
}

pub(crate) fn delete(transaction: &Transaction<'_>, account: AccountId, watch: WatchId) -> Result<bool, PostgresError> {
    let sql = "SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
    transaction.row(sql, &[&account.0])?;
    let sql = "DELETE FROM watches WHERE id = $1 AND account = $2";
    Ok(transaction.execute(sql, &[&watch.0, &account.0])? > 0)
}

pub(crate) fn unevaluated(
    connection: &Connection,
    after: AccountId,
    version: SnapshotVersion,
    limit: usize,
) -> Result<Vec<Watch>, PostgresError> {
    // Up to the account with the row that reaches the limit.
    let sql = format!(
        "{WATCHES} WHERE watches.account > $1 AND watches.evaluated <> $2 AND watches.account <= coalesce((SELECT account \
         FROM watches WHERE account > $1 AND evaluated <> $2 ORDER BY account OFFSET $3 LIMIT 1), $4) \
         ORDER BY watches.account, watches.id"
    );
    let limit = i64::try_from(limit.saturating_sub(1)).unwrap_or(i64::MAX);
    connection.rows(&sql, &[&after.0, &version.to_string(), &limit, &i64::MAX])?.iter().map(read_watch).collect()
}
