//! SQL statements of the stores, shared by SQLite and PostgreSQL.
//!
//! In SQLite one transaction writes at a time, and nothing is locked. PostgreSQL transactions are READ COMMITTED: one
//! that changes an account, or what belongs to it, first locks its row, so that later reads still hold when it commits,
//! then keys, usage, and last the change counter. Writes of usage and of uses of sessions lock their own rows only.

pub(crate) mod accounts;
mod alerts;
mod connection;
mod deleted_keys;
mod error;
pub(crate) mod firms;
pub(crate) mod keys;
mod links;
mod reviews;
mod sessions;
mod totp;
mod usage;
mod value;
mod watches;
mod webhooks;

pub(crate) use connection::{EachResult, Sql};
pub(crate) use error::{Failure, SqlError, SqlResult};
pub(crate) use value::{FromColumns, SqlColumns, SqlRow, SqlValue, columns_of, params};

use crate::firm::{NOTICE_DAYS, REJECTED_DAYS};
use crate::review::REVIEW_REMAINS_DAYS;
use crate::service::steady_time::TimeToStore;
use crate::watch::ALERT_DAYS;
use crate::{ClockJump, REVOKED_NAME_DAYS, Store, StoreCounts, StoreResult, USAGE_DAYS};
use data::Date;

impl dyn Store + '_ {
    /// The secret that signs cursors; set to `fresh` on the first call.
    pub fn cursor_secret(&self, fresh: [u8; 32]) -> StoreResult<[u8; 32]> {
        self.change("store the cursor secret", |sql| service_secret(sql, fresh))
    }

    /// The time of purges that a server stored last. If none did, the newest time of an event in the store, but not after
    /// `now`: a server has run until then.
    pub(crate) fn steady_time(&self, now: i64) -> StoreResult<i64> {
        self.list("read the time of the store", |sql| match sql.one::<i64>("SELECT steady_time FROM service", &[])? {
            0 => Ok(inspect(sql)?.1.unwrap_or(now).min(now)),
            stored => Ok(stored),
        })
    }

    /// Stores the time of purges, unless another server has stored a later one, and the last jump of the clock, if any.
    pub(crate) fn store_steady_time(&self, time: TimeToStore) -> StoreResult<()> {
        let TimeToStore { purge_time, jump } = time;
        self.change_quickly("store the time", |sql| {
            sql.execute("UPDATE service SET steady_time = ?1 WHERE steady_time < ?1", &params![purge_time])?;
            if let Some(ClockJump { at, seconds }) = jump {
                let update = "UPDATE service SET clock_jumped_at = ?1, clock_jump = ?2";
                sql.execute(update, &params![at, seconds])?;
            }
            Ok(())
        })
    }

    /// Deletes usage older than [`USAGE_DAYS`], alerts older than [`ALERT_DAYS`], the names of keys revoked more than
    /// [`REVOKED_NAME_DAYS`] ago, links of e-mails that expired before `today`, the remains of accounts that were
    /// deleted before it, and those of reviews and settled reports after [`REVIEW_REMAINS_DAYS`], and rejected
    /// corrections after [`REJECTED_DAYS`]; returns the number of rows that changed.
    pub fn purge(&self, today: Date) -> StoreResult<usize> {
        let before = |age: i32| Date::from_days(today.days() - age);
        let statements = [
            ("DELETE FROM usage WHERE day < ?1", i64::from(before(USAGE_DAYS).days())),
            (
                "DELETE FROM usage WHERE (day, key) IN (SELECT day, key FROM deleted_keys WHERE day < ?1)",
                today.days().into(),
            ),
            ("DELETE FROM deleted_keys WHERE day < ?1", today.days().into()),
            ("DELETE FROM links WHERE expires_at <= ?1", today.unix()),
            ("DELETE FROM outbox WHERE expires_at <= ?1", today.unix()),
            ("DELETE FROM alerts WHERE created_at < ?1", before(ALERT_DAYS).unix()),
            ("DELETE FROM reviews WHERE account IS NULL AND changed_at < ?1", before(REVIEW_REMAINS_DAYS).unix()),
            ("DELETE FROM review_notices WHERE due_at < ?1", before(NOTICE_DAYS).unix()),
            ("DELETE FROM review_reports WHERE settled_at < ?1", before(REVIEW_REMAINS_DAYS).unix()),
            ("DELETE FROM corrections WHERE state = 'rejected' AND decided_at < ?1", before(REJECTED_DAYS).unix()),
            ("DELETE FROM review_submissions WHERE submitted_at < ?1", before(1).unix()),
            ("UPDATE keys SET name = '' WHERE revoked_at < ?1 AND name <> ''", before(REVOKED_NAME_DAYS).unix()),
        ];
        self.change_quickly("delete old usage", |sql| {
            self.purge_counters(sql, today)?;
            let purge = |(statement, time): (&str, i64)| sql.execute(statement, &params![time]);
            statements.into_iter().map(purge).sum()
        })
    }
}

/// Row counts, and the latest time of a past event in Unix seconds; `None` without accounts.
pub(crate) fn inspect(sql: &dyn Sql) -> SqlResult<(StoreCounts, Option<i64>)> {
    sql.one(
        "SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM keys), (SELECT max(time) FROM \
         (SELECT created_at AS time FROM accounts UNION ALL SELECT created_at FROM keys \
         UNION ALL SELECT last_used_at FROM keys UNION ALL SELECT day * 86400 FROM usage) AS times)",
        &[],
    )
}

columns_of! { StoreCounts: accounts, keys }

/// The last jump of a server's clock that was stored.
pub(crate) fn last_clock_jump(sql: &dyn Sql) -> SqlResult<Option<ClockJump>> {
    let (at, seconds): (Option<i64>, Option<i64>) = sql.one("SELECT clock_jumped_at, clock_jump FROM service", &[])?;
    Ok(at.zip(seconds).map(|(at, seconds)| ClockJump { at, seconds }))
}

/// Number of the next change. Locks the row of the counter, always as the last lock of a transaction.
pub(crate) fn next_change(sql: &dyn Sql) -> SqlResult<i64> {
    sql.one("UPDATE service SET change = change + 1 RETURNING change", &[])
}

/// The stored secret; stores `fresh` if there is none.
fn service_secret(sql: &dyn Sql, fresh: [u8; 32]) -> SqlResult<[u8; 32]> {
    let stored = || sql.one::<Option<[u8; 32]>>("SELECT cursor_secret FROM service", &[]);
    // Writes nothing if a secret is stored: a server must start on a full disk, too.
    if let Some(known) = stored()? {
        return Ok(known);
    }
    sql.execute("UPDATE service SET cursor_secret = ?1 WHERE cursor_secret IS NULL", &params![&fresh])?;
    // Another server may have been first.
    stored()?.ok_or_else(|| SqlError::Data("the cursor secret is missing".to_owned()))
}
