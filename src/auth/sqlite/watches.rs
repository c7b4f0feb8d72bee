//! Saved searches and lists of records.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use crate::account::AccountId;
use crate::queries::WATCHES;
use crate::sqlite::rows::parsed;
use crate::sqlite::{SqliteError, accounts, webhooks};
use crate::watch::{NewWatch, WATCHED, Watch, WatchChange, WatchId, WebhookId};
use crate::{StoreError, rules};
use data::{SnapshotVersion, Table};

pub(super) fn read_watch(row: &Row<'_>) -> Result<Watch, rusqlite::Error> {
    Ok(Watch {
        id: WatchId(row.get(0)?),
        account: AccountId(row.get(1)?),
        name: parsed(row, 2)?,
        table: table(row.get(3)?)?,
        query: row.get(4)?,
        listed: row.get(5)?,
        created_at: row.get(6)?,
        evaluated: parsed(row, 7)?,
        problem: row.get(8)?,
        feed: row.get(9)?,
        emails: row.get(10)?,
        webhook: row.get::<_, Option<i64>>(11)?.map(WebhookId),
    })
}

fn table(name: String) -> Result<Table, rusqlite::Error> {
    let unknown = || rusqlite::Error::FromSqlConversionFailure(3, Type::Text, format!("no table `{name}`").into());
    WATCHED.into_iter().find(|table| table.name() == name).ok_or_else(unknown)
}

pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    watch: &NewWatch<'_>,
    now: i64,
) -> Result<Watch, SqliteError> {
    let tier = accounts::by_id(transaction, account)?.tier;
    let count: u32 =
        transaction.query_row("SELECT count(*) FROM watches WHERE account = ?", [account.0], |row| row.get(0))?;
    rules::check_new_watch(tier, count)?;
    let id: i64 = transaction
        .prepare_cached(
            "INSERT INTO watches (account, name, records, query, created_at, evaluated) \
             VALUES (:account, :name, :records, :query, :now, :served) RETURNING id",
        )?
        .query_row(
            named_params! {
                ":account": account.0,
                ":name": watch.name.as_str(),
                ":records": watch.table.name(),
                ":query": watch.query,
                ":now": now,
                ":served": watch.served.to_string(),
            },
            |row| row.get(0),
        )?;
    let id = WatchId(id);
    if watch.query.is_none() {
        add_listed(transaction, id, watch.records)?;
    }
    one(transaction, id)
}

pub(crate) fn of_account(connection: &Connection, account: AccountId) -> Result<Vec<Watch>, SqliteError> {
    let mut statement =
        connection.prepare_cached(&format!("{WATCHES} WHERE watches.account = ? ORDER BY watches.id DESC"))?;
    Ok(statement.query_map([account.0], read_watch)?.collect::<Result<_, _>>()?)
}

pub(crate) fn one(connection: &Connection, watch: WatchId) -> Result<Watch, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{WATCHES} WHERE watches.id = ?"))?;
    let found = statement.query_row([watch.0], read_watch).optional()?;
    found.ok_or(SqliteError::Rule(StoreError::NoSuchWatch))
}

pub(crate) fn listed(connection: &Connection, watch: WatchId) -> Result<Vec<String>, SqliteError> {
    let mut statement = connection.prepare_cached("SELECT record FROM listed WHERE watch = ? ORDER BY record")?;
    Ok(statement.query_map([watch.0], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

pub(crate) fn change(
    transaction: &Transaction<'_>,
    account: AccountId,
    watch: WatchId,
    change: WatchChange<'_>,
) -> Result<Watch, SqliteError> {
    if one(transaction, watch)?.account != account {
        return Err(StoreError::NoSuchWatch.into());
    }
    match change {
        WatchChange::Name(name) => {
            transaction.execute("UPDATE watches SET name = ? WHERE id = ?", (name.as_str(), watch.0))?;
        }
        WatchChange::Notify { emails, webhook } => {
            if let Some(webhook) = webhook {
                webhooks::of(transaction, account, webhook)?;
            }
            let sql = "UPDATE watches SET emails = ?, webhook = ? WHERE id = ?";
            transaction.execute(sql, (emails, webhook.map(|webhook| webhook.0), watch.0))?;
        }
        WatchChange::Add(records) => add_listed(transaction, watch, records)?,
        WatchChange::Remove(records) => {
            let mut delete = transaction.prepare_cached("DELETE FROM listed WHERE watch = ? AND record = ?")?;
            for record in records {
                delete.execute((watch.0, record))?;
            }
        }
        WatchChange::RenewFeed => {
            transaction.execute("UPDATE watches SET feed = feed + 1 WHERE id = ?", [watch.0])?;
        }
    }
    one(transaction, watch)
}

pub(super) fn add_listed(transaction: &Transaction<'_>, watch: WatchId, records: &[String]) -> Result<(), SqliteError> {
    let mut insert =
        transaction.prepare_cached("INSERT INTO listed (watch, record) VALUES (?, ?) ON CONFLICT DO NOTHING")?;
    for record in records {
        insert.execute((watch.0, record))?;
    }
    let count: u32 =
        transaction.query_row("SELECT count(*) FROM listed WHERE watch = ?", [watch.0], |row| row.get(0))?;
    Ok(rules::check_listed(count)?)
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    account: AccountId,
    watch: WatchId,
) -> Result<bool, rusqlite::Error> {
    Ok(transaction.execute("DELETE FROM watches WHERE id = ? AND account = ?", (watch.0, account.0))? > 0)
}

pub(crate) fn unevaluated(
    connection: &Connection,
    after: AccountId,
    version: SnapshotVersion,
    limit: usize,
) -> Result<Vec<Watch>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "{WATCHES} WHERE watches.account > ? AND watches.evaluated <> ? ORDER BY watches.account, watches.id"
    ))?;
    let mut watches: Vec<Watch> = Vec::new();
    let mut rows = statement.query((after.0, version.to_string()))?;
    while let Some(row) = rows.next()? {
        let watch = read_watch(row)?;
        if watches.len() >= limit && watches.last().is_some_and(|last| last.account != watch.account) {
            break;
        }
        watches.push(watch);
    }
    Ok(watches)
}
