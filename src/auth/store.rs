//! Persistent accounts, keys, sessions and usage.

use std::collections::HashMap;

use crate::account::AccountId;
use crate::password::hash::PasswordHash;
use crate::quota::{
    CountedWindow, CounterId, FinishedLease, Grant, KeyId, LeaseRequest, SharedWindow, Tier, Tiers, UnusedUnits,
};
use crate::sql::{Sql, SqlResult};
use crate::totp::TotpSecret;
use crate::{KeyDigest, MaskedKey, StoreResult};
use data::Date;
use platform::metrics::Observations;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// Finds a row by an index; visitors wait for it.
    LookUp,
    /// Reads any number of rows.
    List,
}

/// Crashes that a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine.
    Full,
    /// A crash of the process only; does not wait for the disk.
    Normal,
}

/// The statements of one call. They may run again from the start after a rollback.
pub type Statements<'s> = &'s mut dyn FnMut(&dyn Sql) -> SqlResult<()>;

/// A database with accounts, keys, sessions, usage, saved searches and the outbox. `crate::sql` has its operations: each
/// is one read or one transaction. Several processes may use one store at the same time. All calls block.
///
/// Keys are revoked, never deleted, so that a revoked key can be distinguished from an unknown one. Changes survive a crash of
/// the machine once the call returned; usage survives a crash of the process.
///
/// `now` is Unix seconds. Every call can fail with `StoreError::Busy` or `StoreError::Database`; other errors are
/// named. A `password` version restricts a change to an account that still has the password of this version, so that a
/// verification of it still holds. The change fails with `StoreError::PasswordChanged` otherwise.
pub trait Store: Send + Sync {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> StoreResult<()>;

    /// Runs `change` in one transaction.
    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> StoreResult<()>;

    /// `StoreError::Replaced` if the next start would open another store than this one. Every write checks this.
    fn check(&self) -> StoreResult<()>;

    /// The keys that were created, revoked, blocked, unblocked or moved to another tier after change `since` (0: all
    /// keys). Cheap if nothing changed. `StoreError::Replaced`.
    fn changes(&self, since: i64) -> StoreResult<KeyChanges>;

    fn measurements(&self) -> StoreMeasurements;

    /// The limits of the tiers.
    fn tiers(&self) -> &Tiers;

    /// Counters that several servers share; `None` if one server uses the store, and counts in memory.
    fn counters(&self) -> Option<&dyn CounterStore> {
        None
    }

    fn purge_counters(&self, _sql: &dyn Sql, _today: Date) -> SqlResult<()> {
        Ok(())
    }

    /// Overwrites deleted data where it may remain readable.
    fn erase_deleted(&self) {}
}

impl dyn Store + '_ {
    pub(crate) fn look_up<T>(&self, name: &'static str, read: impl Fn(&dyn Sql) -> SqlResult<T>) -> StoreResult<T> {
        returned(|statements| self.read(ReadKind::LookUp, name, statements), read)
    }

    pub(crate) fn list<T>(&self, name: &'static str, read: impl Fn(&dyn Sql) -> SqlResult<T>) -> StoreResult<T> {
        returned(|statements| self.read(ReadKind::List, name, statements), read)
    }

    /// Runs `change` in one transaction, which is on the disk when this returns.
    pub(crate) fn change<T>(&self, name: &'static str, change: impl Fn(&dyn Sql) -> SqlResult<T>) -> StoreResult<T> {
        returned(|statements| self.write(Durability::Full, name, statements), change)
    }

    /// Runs `change` in one transaction, which a crash of the machine may undo.
    pub(crate) fn change_quickly<T>(
        &self,
        operation: &'static str,
        change: impl Fn(&dyn Sql) -> SqlResult<T>,
    ) -> StoreResult<T> {
        returned(|statements| self.write(Durability::Normal, operation, statements), change)
    }
}

/// Returns the result of the last run of the statements.
fn returned<T>(
    call: impl FnOnce(Statements<'_>) -> StoreResult<()>,
    statements: impl Fn(&dyn Sql) -> SqlResult<T>,
) -> StoreResult<T> {
    let mut result = None;
    call(&mut |sql| {
        result = Some(statements(sql)?);
        Ok(())
    })?;
    Ok(result.expect("a call that succeeds has run its statements"))
}

/// Counters that several servers share, daily ones (see [`lease`](crate::quota::lease)) and windows. All calls block.
pub trait CounterStore: Send + Sync {
    /// Takes units of a counter: the needed number, more if many are left, or fewer if fewer are left. Apart from units
    /// given back, no more than the limit of a day is ever granted, whatever is killed. It fails within a second.
    fn lease(&self, request: LeaseRequest) -> StoreResult<Grant>;

    /// Gives back unused units, and those of finished records that were not spent. Gives them back once if it is called again
    /// with the same finished records.
    fn end_leases(&self, unused: &[UnusedUnits], finished: &[FinishedLease]) -> StoreResult<()>;

    /// The number of this server, another one after each start.
    fn server(&self) -> i64;

    /// Time of the last report of a server that it runs, by the store's clock in Unix milliseconds; `None` if there is none.
    fn last_report(&self, server: i64) -> StoreResult<Option<i64>>;

    /// Gives back what a server that runs no more leased and did not spend, and returns the number of units. `spent` is from
    /// its journal, by record.
    fn settle(&self, server: i64, spent: &HashMap<i64, i64>) -> StoreResult<u64>;

    /// Counts a request in each of these windows, largest range first, or in none if one has reached its limit: then it returns
    /// the seconds until that window ends. A window begins with its first request, by the store's clock.
    fn count(&self, windows: &[SharedWindow]) -> StoreResult<Result<Vec<CountedWindow>, u64>>;

    /// Uncounts a request; no effect in windows that are over.
    fn uncount(&self, counted: &[CountedWindow]) -> StoreResult<()>;

    /// Reports that this server runs, because leases are divided by the number of running servers, and removes some
    /// windows that are over. Returns the store's clock in Unix milliseconds: it decides which day it is.
    fn report_running(&self) -> StoreResult<i64>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StoreMeasurements {
    /// Includes the time that they waited for others.
    pub durations: Observations,
    /// Calls that failed other than by a rule.
    pub failures: u64,
}

/// Days for which usage is stored: a year can be compared with the one before.
pub const USAGE_DAYS: i32 = 400;

/// Days after which the name of a revoked key is deleted; its digest remains.
pub(crate) const REVOKED_NAME_DAYS: i32 = 90;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyState {
    pub id: KeyId,
    pub counter: CounterId,
    /// `None` for a demo key, or if the account was deleted.
    pub account: Option<AccountId>,
    pub tier: Tier,
    /// Also true if its account is blocked.
    pub revoked: bool,
    /// Unix seconds; the first second at which the key is no longer accepted.
    pub expires_at: Option<i64>,
    pub digest: KeyDigest,
    pub masked: MaskedKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub account: AccountId,
    /// `None` if the account cannot sign in.
    pub password: Option<PasswordHash>,
    pub version: PasswordVersion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    pub secret: TotpSecret,
    /// Last time step with an accepted code.
    pub step: i64,
}

/// Number of times that an account's password was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordVersion(pub i64);

#[derive(Debug)]
pub struct KeyChanges {
    /// The number of the last change, to be passed as `since` next time.
    pub last: i64,
    pub keys: Vec<KeyState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUsage {
    pub day: Date,
    pub key: KeyId,
    pub requests: u32,
}
