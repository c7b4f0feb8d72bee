//! Daily counters that several servers share.
//!
//! The store knows how many units of a counter are taken. A server takes some ahead, its *lease*, and admits requests from what it
//! holds, so that few of them wait for the store. What it does not use it gives back. So no more than the limit is ever admitted: a
//! server that is killed loses what it holds, which only lowers the number. If nobody is killed the limit is reached exactly.
//!
//! **Size.** Of `left` units that nobody has taken, a lease of one of `n` servers has `left / (8 n)`, at most [`MAX_UNITS`] and at
//! least what is needed at once: large while there is plenty, and single units at the end, so that no server refuses what another
//! one holds. At a quarter of it the next one is taken in the
//! background.
//!
//! **Store away.** Counters that were used in the last [`SEEN`] are served from what is held, and then from a small allowance, see
//! [`allowance`]. It is counted as owed, and taken from the counter as soon as the store is back.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::quota::{CounterId, Quota, Tier};
use data::Date;

/// Units of one lease.
pub(crate) const MAX_UNITS: u32 = 256;
/// A lease is this part of what is left, divided by the number of servers.
pub(crate) const SHARE: u32 = 8;
/// How long a counter that has no unit left is refused without asking the store again: others may give some back.
const REFUSED: Duration = Duration::from_secs(1);
/// How long what is held is kept after the last request.
const IDLE: Duration = Duration::from_secs(2);
/// How long after its last request a counter is served while the store is away.
const SEEN: Duration = Duration::from_secs(600);
/// How long a request waits for a lease that another one takes.
const WAIT: Duration = Duration::from_secs(2);

/// What is counted by all servers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedCounter {
    Key(CounterId),
    /// A client without a key, by its hash of the day.
    Client(u64),
}

/// Asks for units of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub counter: SharedCounter,
    pub day: Date,
    /// Of the day, for all servers together.
    pub limit: u32,
    /// What at least is granted if it is left.
    pub needed: u32,
    /// Units that were used without a lease: taken first, also beyond the limit.
    pub owed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub units: u32,
    /// Units that nobody holds afterwards.
    pub left: u32,
}

/// Units that were not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedUnits {
    pub counter: SharedCounter,
    pub day: Date,
    pub units: u32,
}

/// The store could not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreAway;

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    Exceeded(Quota),
    /// The store is away, and the [`allowance`] of this server is used up.
    Unchecked(Quota),
    /// The store is away, and nothing is known of the counter.
    Unknown(Quota),
}

impl Denied {
    pub fn quota(&self) -> Quota {
        match self {
            Self::Exceeded(quota) | Self::Unchecked(quota) | Self::Unknown(quota) => *quota,
        }
    }

    pub(crate) fn with_quota(self, quota: Quota) -> Self {
        match self {
            Self::Exceeded(_) => Self::Exceeded(quota),
            Self::Unchecked(_) => Self::Unchecked(quota),
            Self::Unknown(_) => Self::Unknown(quota),
        }
    }

    pub(crate) fn with_tier(self, tier: Tier) -> Self {
        self.with_quota(self.quota().with_tier(tier))
    }
}

/// How many requests of a counter one server admits while the store is away, besides those it holds: a hundredth of the limit.
pub(crate) fn allowance(limit: u32) -> u32 {
    (limit / 100).max(1)
}

/// An admitted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) quota: Quota,
    /// Whether [`LeasedCounters::renew`] is to be called.
    pub(crate) renews: bool,
}

#[derive(Debug, Default)]
pub(crate) struct LeasedCounters {
    slots: DashMap<(SharedCounter, Date), Arc<Slot>, RandomState>,
    unleased: AtomicU64,
}

#[derive(Debug)]
struct Slot {
    units: Mutex<Units>,
    renewed: Condvar,
}

#[derive(Debug)]
struct Units {
    /// At the last request.
    limit: u32,
    /// Granted and not used.
    held: u32,
    /// Left at the last call, for everybody.
    left: u32,
    /// The size of the last lease.
    size: u32,
    is_renewing: bool,
    refused_at: Option<Instant>,
    used_at: Instant,
    owed: u32,
    /// Whether the store has granted anything so far.
    is_known: bool,
}

impl Slot {
    fn new(now: Instant) -> Self {
        let units = Units {
            limit: 0,
            held: 0,
            left: 0,
            size: 0,
            is_renewing: false,
            refused_at: None,
            used_at: now,
            owed: 0,
            is_known: false,
        };
        Self { units: Mutex::new(units), renewed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Units> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the store; `units` has `is_renewing` set.
    fn lease(
        &self,
        request: LeaseRequest,
        lease: &impl Fn(LeaseRequest) -> Result<Grant, StoreAway>,
        now: Instant,
    ) -> Result<(), StoreAway> {
        // It is cleared also if the store panics, so that nobody waits for ever.
        let ended = Renewing(self);
        let granted = lease(request);
        let mut units = self.lock();
        if let Ok(grant) = granted {
            units.held += grant.units;
            units.left = grant.left;
            units.size = grant.units;
            units.owed -= request.owed.min(units.owed);
            units.is_known = true;
            units.refused_at = (grant.units < request.needed).then_some(now);
        }
        drop(units);
        drop(ended);
        granted.map(|_| ())
    }
}

/// A call to the store that is under way.
struct Renewing<'a>(&'a Slot);

impl Drop for Renewing<'_> {
    fn drop(&mut self) {
        self.0.lock().is_renewing = false;
        self.0.renewed.notify_all();
    }
}

impl Units {
    fn quota(&self, limit: u32, day: Date) -> Quota {
        let remaining = self.left.saturating_add(self.held).min(limit);
        Quota::of(Some(limit), limit - remaining, day)
    }

    /// Whether it was used lately, so that it is served while the store is away.
    fn is_seen(&self, now: Instant) -> bool {
        self.is_known && now.duration_since(self.used_at) <= SEEN
    }
}

impl LeasedCounters {
    /// Takes `requests` from the quota of `day`: all of them, or none. It waits for the store if less is held.
    pub(crate) fn take(
        &self,
        counter: SharedCounter,
        requests: u32,
        limit: u32,
        day: Date,
        lease: impl Fn(LeaseRequest) -> Result<Grant, StoreAway>,
    ) -> Result<Taken, Denied> {
        let slot = self.slot(counter, day);
        let started = Instant::now();
        let mut units = slot.lock();
        units.limit = limit;
        loop {
            let now = Instant::now();
            if units.held >= requests {
                units.held -= requests;
                units.used_at = now;
                let renews = units.held < units.size / 4 && units.left > 0 && !units.is_renewing;
                units.is_renewing |= renews;
                return Ok(Taken { quota: units.quota(limit, day), renews });
            }
            let is_refused = units.refused_at.is_some_and(|at| now.duration_since(at) < REFUSED);
            if is_refused && units.left.saturating_add(units.held) < requests {
                units.used_at = now;
                return Err(Denied::Exceeded(units.quota(limit, day)));
            }
            if units.is_renewing {
                let left = WAIT.saturating_sub(now.duration_since(started));
                if left.is_zero() {
                    return self.without_store(units, (counter, day), requests, limit);
                }
                units = slot.renewed.wait_timeout(units, left).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            units.is_renewing = true;
            let request = LeaseRequest { counter, day, limit, needed: requests - units.held, owed: units.owed };
            drop(units);
            let asked = slot.lease(request, &lease, now);
            units = slot.lock();
            if asked.is_err() {
                return self.without_store(units, (counter, day), requests, limit);
            }
        }
    }

    fn without_store(
        &self,
        mut units: MutexGuard<'_, Units>,
        (counter, day): (SharedCounter, Date),
        requests: u32,
        limit: u32,
    ) -> Result<Taken, Denied> {
        let now = Instant::now();
        let is_seen = units.is_seen(now) || self.was_seen(counter, day, now);
        let quota = units.quota(limit, day);
        if !is_seen {
            return Err(Denied::Unknown(quota));
        }
        // Nothing was left when the store was asked last.
        if units.is_known && units.left.saturating_add(units.held) < requests {
            return Err(Denied::Exceeded(quota));
        }
        if units.owed.saturating_add(requests) > allowance(limit) {
            return Err(Denied::Unchecked(quota));
        }
        units.is_known = true;
        units.owed += requests;
        self.unleased.fetch_add(requests.into(), Ordering::Relaxed);
        units.used_at = now;
        Ok(Taken { quota: units.quota(limit, day), renews: false })
    }

    /// Whether a counter was used lately on the day before: at midnight nothing is known of the new day.
    fn was_seen(&self, counter: SharedCounter, day: Date, now: Instant) -> bool {
        let before = Date::from_days(day.days() - 1);
        self.slots.get(&(counter, before)).is_some_and(|slot| slot.lock().is_seen(now))
    }

    /// How many requests were admitted while the store was away, without a lease.
    pub(crate) fn unleased(&self) -> u64 {
        self.unleased.load(Ordering::Relaxed)
    }

    /// Takes the next lease of a counter, after [`Taken::renews`].
    pub(crate) fn renew(
        &self,
        (counter, day): (SharedCounter, Date),
        lease: impl Fn(LeaseRequest) -> Result<Grant, StoreAway>,
    ) -> Result<(), StoreAway> {
        let slot = self.slot(counter, day);
        let (limit, owed) = {
            let mut units = slot.lock();
            units.is_renewing = true;
            (units.limit, units.owed)
        };
        slot.lease(LeaseRequest { counter, day, limit, needed: 0, owed }, &lease, Instant::now())
    }

    /// The quota without taking anything. `None` if this server knows nothing of the counter.
    pub(crate) fn peek(&self, counter: SharedCounter, limit: u32, day: Date) -> Option<Quota> {
        let slot = self.slots.get(&(counter, day))?;
        let units = slot.lock();
        units.is_known.then(|| units.quota(limit, day))
    }

    /// Gives back requests that were taken on `day`, and returns the quota after it.
    pub(crate) fn give_back(&self, counter: SharedCounter, requests: u32, limit: u32, day: Date) -> Quota {
        let slot = self.slot(counter, day);
        let mut units = slot.lock();
        // What is owed is settled first: it was taken without a lease.
        let owed = requests.min(units.owed);
        units.owed -= owed;
        units.held += requests - owed;
        units.refused_at = None;
        units.quota(limit, day)
    }

    /// What idle counters hold, and all of other days than `today` and its neighbors; with `all` everything. To be passed to the
    /// store; [`LeasedCounters::hold_again`] takes it back if that fails.
    pub(crate) fn unused(&self, today: Date, all: bool) -> Vec<UnusedUnits> {
        let now = Instant::now();
        let mut unused = Vec::new();
        self.slots.retain(|(counter, day), slot| {
            let mut units = slot.lock();
            let idle = now.duration_since(units.used_at);
            if (all || idle >= IDLE) && !units.is_renewing && units.held > 0 {
                let held = std::mem::take(&mut units.held);
                units.left = units.left.saturating_add(held);
                unused.push(UnusedUnits { counter: *counter, day: *day, units: held });
            }
            let is_over = day.days().abs_diff(today.days()) > 1;
            units.is_renewing || units.owed > 0 || (idle < SEEN && !is_over)
        });
        unused
    }

    /// `unused` could not be given back.
    pub(crate) fn hold_again(&self, unused: &[UnusedUnits]) {
        for UnusedUnits { counter, day, units } in unused {
            let slot = self.slot(*counter, *day);
            let mut held = slot.lock();
            held.held += units;
            held.left = held.left.saturating_sub(*units);
            held.is_known = true;
        }
    }

    /// The counters that owe units; to be renewed as soon as the store answers.
    pub(crate) fn owing(&self) -> Vec<(SharedCounter, Date)> {
        let owing = self.slots.iter().filter(|entry| entry.lock().owed > 0);
        owing.map(|entry| *entry.key()).collect()
    }

    fn slot(&self, counter: SharedCounter, day: Date) -> Arc<Slot> {
        if let Some(slot) = self.slots.get(&(counter, day)) {
            return Arc::clone(&slot);
        }
        Arc::clone(&self.slots.entry((counter, day)).or_insert_with(|| Arc::new(Slot::new(Instant::now()))))
    }
}
