//! Saved searches and lists of records.

use crate::account::AccountId;
use crate::sql::{FromColumns, Sql, SqlColumns, SqlError, SqlResult, accounts, columns_of, params, webhooks};
use crate::watch::{MAX_LISTED, NewWatch, WATCHED, Watch, WatchChange, WatchId};
use crate::{Store, StoreError, StoreResult};
use data::{SnapshotVersion, Table};

/// Adds a record to a list, unless the list has it.
pub(crate) const ADD_LISTED: &str = "INSERT INTO listed (watch, record) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
pub(crate) const REMOVE_LISTED: &str = "DELETE FROM listed WHERE watch = ?1 AND record = ?2";

const WATCHES: &str = "SELECT watches.id, watches.account, watches.name, watches.records, watches.query, \
     CASE WHEN watches.query IS NULL THEN (SELECT count(*) FROM listed WHERE listed.watch = watches.id) ELSE 0 END, \
     watches.created_at, watches.evaluated, watches.problem, watches.feed, watches.emails, watches.webhook FROM watches";

columns_of! {
    Watch: id, account, name, table, query, listed, created_at, evaluated, problem, feed, emails, webhook
}

impl FromColumns for Table {
    fn from_columns(columns: &mut SqlColumns<'_>) -> SqlResult<Self> {
        let name: String = columns.read()?;
        let unknown = || SqlError::Data(format!("no table `{name}`"));
        WATCHED.into_iter().find(|table| table.name() == name).ok_or_else(unknown)
    }
}

impl dyn Store + '_ {
    /// [`StoreError::AccountGone`], [`StoreError::TooManyWatches`], [`StoreError::TooManyListed`].
    pub fn add_watch(&self, account: AccountId, watch: NewWatch<'_>, now: i64) -> StoreResult<Watch> {
        self.change("save the search", |sql| {
            accounts::lock(sql, account)?;
            let allowed = accounts::by_id(sql, account)?.tier.watches();
            let count = "SELECT count(*) FROM watches WHERE account = ?1";
            if sql.one::<u32>(count, &params![account.0])? >= allowed {
                return Err(StoreError::TooManyWatches { allowed }.into());
            }
            let served = watch.served.to_string();
            let id = sql.one(
                "INSERT INTO watches (account, name, records, query, created_at, evaluated) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
                &params![account.0, watch.name.as_str(), watch.table.name(), watch.query, now, &served],
            )?;
            if watch.query.is_none() {
                add_listed(sql, id, watch.records)?;
            }
            one(sql, id)
        })
    }

    /// The searches and lists of an account, the newest first.
    pub fn watches(&self, account: AccountId) -> StoreResult<Vec<Watch>> {
        self.list("list the saved searches", |sql| {
            let query = format!("{WATCHES} WHERE watches.account = ?1 ORDER BY watches.id DESC");
            sql.rows(&query, &params![account.0])
        })
    }

    /// [`StoreError::NoSuchWatch`].
    pub fn watch(&self, watch: WatchId) -> StoreResult<Watch> {
        self.list("read the saved search", |sql| one(sql, watch))
    }

    /// The records of a list, ascending.
    pub fn listed(&self, watch: WatchId) -> StoreResult<Vec<String>> {
        self.list("read the list", |sql| {
            let query = "SELECT record FROM listed WHERE watch = ?1 ORDER BY record";
            sql.rows(query, &params![watch.0])
        })
    }

    /// [`StoreError::NoSuchWatch`], [`StoreError::NoSuchWebhook`], also for others'; [`StoreError::TooManyListed`].
    pub fn change_watch(&self, account: AccountId, watch: WatchId, change: WatchChange) -> StoreResult<Watch> {
        self.change("change the saved search", |sql| {
            accounts::lock(sql, account)?;
            if one(sql, watch)?.account != account {
                return Err(StoreError::NoSuchWatch.into());
            }
            match &change {
                WatchChange::Name(name) => {
                    sql.execute("UPDATE watches SET name = ?1 WHERE id = ?2", &params![name.as_str(), watch.0])?;
                }
                WatchChange::Notify { emails, webhook } => {
                    if let Some(webhook) = *webhook {
                        webhooks::find_owned(sql, account, webhook)?;
                    }
                    let update = "UPDATE watches SET emails = ?1, webhook = ?2 WHERE id = ?3";
                    sql.execute(update, &params![*emails, webhook.map(|webhook| webhook.0), watch.0])?;
                }
                WatchChange::Add(records) => add_listed(sql, watch, records)?,
                WatchChange::Remove(records) => {
                    sql.execute_each(REMOVE_LISTED, records.iter().map(|record| params![watch.0, record]))?;
                }
                WatchChange::RenewFeed => {
                    sql.execute("UPDATE watches SET feed = feed + 1 WHERE id = ?1", &params![watch.0])?;
                }
            }
            one(sql, watch)
        })
    }

    /// Also deletes its alerts. False if the account has no such search or list.
    pub fn delete_watch(&self, account: AccountId, watch: WatchId) -> StoreResult<bool> {
        self.change("delete the saved search", |sql| {
            accounts::lock(sql, account)?;
            Ok(sql.execute("DELETE FROM watches WHERE id = ?1 AND account = ?2", &params![watch.0, account.0])? > 0)
        })
    }

    /// The searches and lists of the accounts after `after` that were not evaluated up to `version`, by account: all of an
    /// account, and no further account once there are `limit`.
    pub fn unevaluated(&self, after: AccountId, version: SnapshotVersion, limit: usize) -> StoreResult<Vec<Watch>> {
        self.list("list the saved searches to evaluate", |sql| {
            // Ends with the account of the row that reaches the limit, so that no account is split.
            let query = format!(
                "{WATCHES} WHERE watches.account > ?1 AND watches.evaluated <> ?2 AND watches.account <= \
                 coalesce((SELECT account FROM watches WHERE account > ?1 AND evaluated <> ?2 \
                 ORDER BY account LIMIT 1 OFFSET ?3), ?4) ORDER BY watches.account, watches.id"
            );
            let limit = i64::try_from(limit.saturating_sub(1)).unwrap_or(i64::MAX);
            sql.rows(&query, &params![after.0, &version.to_string(), limit, i64::MAX])
        })
    }
}

fn one(sql: &dyn Sql, watch: WatchId) -> SqlResult<Watch> {
    Ok(several(sql, &[watch])?.swap_remove(0).ok_or(StoreError::NoSuchWatch)?)
}

/// The watches with these ids, in the same order; `None` for one that does not exist.
pub(crate) fn several(sql: &dyn Sql, watches: &[WatchId]) -> SqlResult<Vec<Option<Watch>>> {
    let query = format!("{WATCHES} WHERE watches.id = ?1");
    sql.row_each(&query, watches.iter().map(|watch| params![watch.0]))
}

fn add_listed(sql: &dyn Sql, watch: WatchId, records: &[String]) -> SqlResult<()> {
    sql.execute_each(ADD_LISTED, records.iter().map(|record| params![watch.0, record]))?;
    let count: u32 = sql.one("SELECT count(*) FROM listed WHERE watch = ?1", &params![watch.0])?;
    if count > MAX_LISTED { Err(StoreError::TooManyListed.into()) } else { Ok(()) }
}
