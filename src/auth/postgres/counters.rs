//! Daily counters and rate-limit windows that servers share.

use std::collections::HashMap;
use std::time::Duration;

use once_cell::sync::Lazy;

use crate::postgres::{LOOK_UP_LIMIT, PostgresStore};
use crate::quota::lease::{MAX_UNITS, SHARE};
use crate::quota::{CountedWindow, FinishedLease, Grant, LeaseRequest, SharedCounter, SharedWindow, UnusedUnits};
use crate::sql::{Sql, SqlResult, columns_of, params};
use crate::{CounterStore, Durability, ReadKind, StoreResult};
use data::Date;

/// Timeout of a lease, from waiting for a connection to the commit: a request waits for it.
const LEASE_LIMIT: Duration = Duration::from_millis(250);
/// Time after its last report in which a server counts as running.
const RUNNING: &str = "10 seconds";

/// Takes `?5` owed units, and grants others, at least `?6` if so many are left; the limit is `?4`. One statement, which
/// locks the row of the counter for servers that lease at the same time. Notes what server `?9` got under record `?10`.
static LEASE: Lazy<String> = Lazy::new(|| {
    let units = |left: &str| {
        let size = format!("least(?7::bigint, ({left}) / (?8::bigint * (SELECT servers FROM running)))");
        format!("greatest(least({left}, greatest(?6::bigint, {size})), 0)")
    };
    let (first, next) = (units("?4::bigint - ?5::bigint"), units("?4::bigint - ?5::bigint - lease.taken"));
    format!(
        "WITH running AS (SELECT greatest(count(*), 1) AS servers FROM servers WHERE seen_at > now() - interval '{RUNNING}'), \
         leased AS (INSERT INTO leases AS lease (kind, counter, day, taken, granted) \
         VALUES (?1::bigint, ?2::bigint, ?3::bigint, ?5::bigint + {first}, {first}) \
         ON CONFLICT (day, kind, counter) DO UPDATE SET taken = lease.taken + ?5::bigint + {next}, granted = {next} \
         RETURNING granted, greatest(?4::bigint - taken, 0) AS rest), \
         noted AS (INSERT INTO held_units AS held (server, record, kind, counter, day, units) \
         SELECT ?9::bigint, ?10::bigint, ?1::bigint, ?2::bigint, ?3::bigint, granted FROM leased \
         WHERE granted > 0 AND ?10::bigint IS NOT NULL \
         ON CONFLICT (server, record) DO UPDATE SET units = held.units + excluded.units) \
         SELECT granted, rest FROM leased"
    )
});

/// Counts a request in a window, a new one of `?2` seconds if the last is over or the clock was set back by more.
static COUNT: Lazy<String> = Lazy::new(|| {
    let now = "floor(extract(epoch FROM clock_timestamp()))::bigint";
    let lasts = "known.ends_at > excluded.started_at AND known.started_at < excluded.ends_at";
    let set = |column: &str, lasting: &str, begun: &str| {
        format!("{column} = CASE WHEN {lasts} THEN {lasting} ELSE {begun} END")
    };
    format!(
        "INSERT INTO windows AS known (counter, started_at, ends_at, count) VALUES (?1, {now}, {now} + ?2::bigint, 1) \
         ON CONFLICT (counter) DO UPDATE SET {}, {}, {} RETURNING count, started_at, ends_at - {now}",
        set("count", "known.count + 1", "1"),
        set("started_at", "known.started_at", "excluded.started_at"),
        set("ends_at", "known.ends_at", "excluded.ends_at"),
    )
});

/// Deletes some windows that are over, but none that another server is about to begin again.
const END_WINDOWS: &str = "DELETE FROM windows WHERE counter IN (SELECT counter FROM windows \
     WHERE ends_at <= extract(epoch FROM now()) ORDER BY ends_at LIMIT 1000 FOR UPDATE SKIP LOCKED)";

const GIVE_BACK: &str =
    "UPDATE leases SET taken = greatest(taken - ?4, 0) WHERE kind = ?1 AND counter = ?2 AND day = ?3";

/// Record, kind, counter, day and units.
type HeldUnits = (i64, i64, i64, i64, i64);

fn kind_and_number(counter: SharedCounter) -> (i64, i64) {
    match counter {
        SharedCounter::Key(counter) => (0, counter.0),
        SharedCounter::Client(hash) => (1, hash.cast_signed()),
    }
}

columns_of! { Grant: units, left }

impl CounterStore for PostgresStore {
    fn lease(&self, request: LeaseRequest) -> StoreResult<Grant> {
        let LeaseRequest { counter, day, limit, needed, owed, record } = request;
        let (kind, counter) = kind_and_number(counter);
        let lease = || -> SqlResult<Grant> {
            let connection = self.pool.take_by(ReadKind::LookUp, LEASE_LIMIT, LEASE_LIMIT)?;
            let sql: &dyn Sql = &*connection;
            let own = self.server;
            let params = params![kind, counter, day.days(), limit, owed, needed, MAX_UNITS, SHARE, own, record];
            connection.with_limit(LEASE_LIMIT, || sql.one(&LEASE, &params))
        };
        // Units leased by a lost connection are lost, too, until their record is finished.
        self.calls.measure(|| self.retry(lease).map_err(|error| error.into_store_error("lease a quota")))
    }

    fn end_leases(&self, unused: &[UnusedUnits], finished: &[FinishedLease]) -> StoreResult<()> {
        // In one order, so that servers do not deadlock.
        let mut unused = unused.to_vec();
        unused.sort_unstable_by_key(|unused| (unused.day, kind_and_number(unused.counter)));
        self.transact(Durability::Normal, "give back quotas", |transaction| {
            let sql: &dyn Sql = transaction;
            sql.execute_each(
                GIVE_BACK,
                unused.iter().map(|UnusedUnits { counter, day, units, .. }| {
                    let (kind, counter) = kind_and_number(*counter);
                    params![kind, counter, day.days(), i64::from(*units)]
                }),
            )?;
            let recorded = unused.iter().filter_map(|unused| unused.record.zip(Some(unused.units)));
            sql.execute_each(
                "UPDATE held_units SET units = units - ?3 WHERE server = ?1 AND record = ?2",
                recorded.map(|(record, units)| params![self.server, record, units]),
            )?;
            let ended = sql.row_each(
                "DELETE FROM held_units WHERE server = ?1 AND record = ?2 RETURNING record, kind, counter, day, units",
                finished.iter().map(|finished| params![self.server, finished.record.number]),
            )?;
            let spent = finished.iter().map(|finished| (finished.record.number, finished.spent)).collect();
            give_back_unspent(sql, ended.into_iter().flatten().collect(), &spent).map(drop)
        })
    }

    fn server(&self) -> i64 {
        self.server
    }

    fn last_report(&self, server: i64) -> StoreResult<Option<i64>> {
        self.call("read the report of a server", || {
            let connection = self.pool.take(ReadKind::LookUp)?;
            let sql: &dyn Sql = &*connection;
            let query = "SELECT (extract(epoch FROM seen_at) * 1000)::bigint FROM servers WHERE id = ?1";
            connection.with_limit(LOOK_UP_LIMIT, || sql.row(query, &params![server]))
        })
    }

    fn settle(&self, server: i64, spent: &HashMap<i64, i64>) -> StoreResult<u64> {
        self.transact(Durability::Normal, "give back the quotas of a killed server", |transaction| {
            let sql: &dyn Sql = transaction;
            let delete = "DELETE FROM held_units WHERE server = ?1 RETURNING record, kind, counter, day, units";
            give_back_unspent(sql, sql.rows(delete, &params![server])?, spent)
        })
    }

    fn count(&self, windows: &[SharedWindow]) -> StoreResult<Result<Vec<CountedWindow>, u64>> {
        let count = |sql: &dyn Sql| {
            let mut counted = Vec::with_capacity(windows.len());
            // Always the larger range first, so that servers do not deadlock.
            for SharedWindow { counter, seconds, limit } in windows {
                let (count, started_at, left): (i64, i64, i64) =
                    sql.one(&COUNT, &params![counter.cast_signed(), *seconds])?;
                counted.push(CountedWindow { counter: *counter, started_at });
                if count > i64::from(*limit) {
                    uncount(sql, &counted)?;
                    return Ok(Err(left.max(1).cast_unsigned()));
                }
            }
            Ok(Ok(counted))
        };
        self.transact(Durability::Normal, "count a sign-in, sign-up or e-mail", |transaction| {
            transaction.with_limit(LOOK_UP_LIMIT, || count(transaction))
        })
    }

    fn uncount(&self, counted: &[CountedWindow]) -> StoreResult<()> {
        self.transact(Durability::Normal, "uncount a sign-in", |transaction| uncount(transaction, counted))
    }

    fn report_running(&self) -> StoreResult<i64> {
        self.transact(Durability::Normal, "report a running server", |transaction| {
            let sql: &dyn Sql = transaction;
            sql.execute(END_WINDOWS, &[])?;
            sql.one(
                "INSERT INTO servers (id, seen_at) VALUES (?1, clock_timestamp()) \
                 ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at \
                 RETURNING (extract(epoch FROM seen_at) * 1000)::bigint",
                &params![self.server],
            )
        })
    }
}

/// Gives back the units of deleted records that were not spent, and returns their number. A record that is not in `spent` was
/// leased by a call whose server never learned of it.
fn give_back_unspent(sql: &dyn Sql, held: Vec<HeldUnits>, spent: &HashMap<i64, i64>) -> SqlResult<u64> {
    let unspent = held.into_iter().map(|(record, kind, counter, day, units)| {
        let spent = spent.get(&record).copied().unwrap_or(0);
        (day, kind, counter, (units - spent).max(0))
    });
    let mut unspent: Vec<_> = unspent.filter(|(.., units)| *units > 0).collect();
    // In one order, so that servers do not deadlock.
    unspent.sort_unstable();
    let params = unspent.iter().map(|(day, kind, counter, units)| params![*kind, *counter, *day, *units]);
    sql.execute_each(GIVE_BACK, params)?;
    Ok(unspent.iter().map(|(.., units)| units.unsigned_abs()).sum())
}

fn uncount(sql: &dyn Sql, counted: &[CountedWindow]) -> SqlResult<()> {
    let update = "UPDATE windows SET count = count - 1 WHERE counter = ?1 AND started_at = ?2 AND count > 0";
    sql.execute_each(update, counted.iter().map(|window| params![window.counter.cast_signed(), window.started_at]))
}

pub(crate) fn purge(sql: &dyn Sql, today: Date) -> SqlResult<()> {
    sql.execute("DELETE FROM servers WHERE seen_at < now() - interval '1 day'", &[])?;
    sql.execute("DELETE FROM held_units WHERE day < ?1", &params![today.days() - 1])?;
    sql.execute("DELETE FROM leases WHERE day < ?1", &params![today.days() - 1]).map(drop)
}
