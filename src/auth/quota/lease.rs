//! Daily counters that several servers share.
//!
//! A server takes some units of a counter in advance, its *lease*, and admits requests from it, so that few of them
//! wait for the store. It gives unused units back. So the limit is never exceeded, and reached exactly.
//!
//! **Killed servers.** A server notes each unit of a key that it spends in its [`journal`], and the store notes what it
//! leased to the server. From both, the next server in the same data folder gives back what was not spent. Without it, as
//! after a crash of the machine, these units stay taken until midnight, as do units of clients without a key: nobody can
//! know how many were spent.
//!
//! **Size.** If `left` units are not taken, one of `n` servers leases `left / (8 n)`, at most [`MAX_UNITS`] and at
//! least the number needed at once: single units at the end, so that no server refuses a request while another has
//! units. When a quarter of a lease is left, the next one is taken in the background.
//!
//! **Store away.** Counters used in the last [`RECENT_USE`] are served from unused units, and then from an
//! [`allowance`]. It is counted as owed, and taken from the counter as soon as the store is back.

pub(crate) mod journal;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::quota::lease::journal::{JournalRecord, LeaseJournal};
use crate::quota::{CounterId, Quota};
use data::Date;
use platform::metrics::Counter;

pub(crate) const MAX_UNITS: u32 = 256;
/// A lease is one part in this many of the units left, divided by the number of servers.
pub(crate) const SHARE: u32 = 8;
/// Time for which a counter without units is refused before the store is asked again: others may give some back.
const REFUSED: Duration = Duration::from_secs(1);
/// Idle time before unused units are returned.
const IDLE: Duration = Duration::from_secs(2);
/// Time after its last request for which a counter is served while the store is away.
const RECENT_USE: Duration = Duration::from_secs(600);
/// Timeout of a request that waits for a lease that another one takes.
const WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedCounter {
    Key(CounterId),
    /// A client without a key, by its hash of the day.
    Client(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub counter: SharedCounter,
    pub day: Date,
    /// Limit of the day, for all servers together.
    pub limit: u32,
    /// Units to grant at least, if so many are left.
    pub needed: u32,
    /// Units that were used without a lease: taken first, also beyond the limit.
    pub owed: u32,
    /// Number under which the store notes what this server leased; `None` if no journal says what it spends.
    pub record: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub units: u32,
    /// Units that no server has taken afterwards.
    pub left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedUnits {
    pub counter: SharedCounter,
    pub day: Date,
    pub units: u32,
    /// Number under which they were leased.
    pub record: Option<i64>,
}

/// A record under which nothing is leased or spent any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedLease {
    pub(crate) record: JournalRecord,
    /// Units that were spent in all.
    pub(crate) spent: i64,
}

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
        let (Self::Exceeded(quota) | Self::Unchecked(quota) | Self::Unknown(quota)) = *self;
        quota
    }

    pub(crate) fn with_quota(mut self, quota: Quota) -> Self {
        let (Self::Exceeded(own) | Self::Unchecked(own) | Self::Unknown(own)) = &mut self;
        *own = quota;
        self
    }
}

/// A tenth of the limit: what one server admits of a counter while the store is away, beyond its leased units. The quota of
/// a day protects the service from lasting overuse; exceeding it for one outage costs less than refusing paying callers.
pub(crate) fn allowance(limit: u32) -> u32 {
    (limit / 10).max(1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AdmittedRequest {
    pub(crate) quota: Quota,
    /// True if the caller has to call [`LeasedCounters::renew`].
    pub(crate) renews: bool,
}

#[derive(Default)]
pub(crate) struct LeasedCounters {
    slots: DashMap<(SharedCounter, Date), Arc<CounterSlot>, RandomState>,
    /// Empty if nothing is noted for the next server.
    journal: OnceLock<LeaseJournal>,
    finished: Mutex<Vec<FinishedLease>>,
    pub(crate) unleased: Counter,
}

struct CounterSlot {
    /// Only of keys.
    record: Option<JournalRecord>,
    units: Mutex<LeasedUnits>,
    renewed: Condvar,
}

struct LeasedUnits {
    limit: u32,
    unused: u32,
    /// Units left for all servers at the last call.
    left: u32,
    size: u32,
    is_renewing: bool,
    refused_at: Option<Instant>,
    used_at: Instant,
    owed: u32,
    /// False until the store has granted units or admissions began without it.
    is_known: bool,
    /// Units spent of those that were leased under the record.
    spent: i64,
    /// Whether units are leased under the record; false from the first failure of the journal on.
    is_recorded: bool,
}

impl CounterSlot {
    fn new(record: Option<JournalRecord>, now: Instant) -> Self {
        let units = LeasedUnits {
            limit: 0,
            unused: 0,
            left: 0,
            size: 0,
            is_renewing: false,
            refused_at: None,
            used_at: now,
            owed: 0,
            is_known: false,
            spent: 0,
            is_recorded: record.is_some(),
        };
        Self { record, units: Mutex::new(units), renewed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, LeasedUnits> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number under which units are leased at the moment.
    fn record(&self, units: &LeasedUnits) -> Option<i64> {
        self.record.filter(|_| units.is_recorded).map(|record| record.number)
    }

    /// Asks the store; false if it is away. `units` has `is_renewing` set.
    fn lease(&self, request: LeaseRequest, lease: &impl Fn(LeaseRequest) -> Option<Grant>, now: Instant) -> bool {
        // `is_renewing` is cleared even if the store panics, so that nobody waits for ever.
        let _ended = RenewalGuard(self);
        let Some(grant) = lease(request) else { return false };
        let mut units = self.lock();
        // Units under a record that can no longer be written stay unspent.
        if request.record == self.record(&units) {
            units.unused += grant.units;
        }
        units.left = grant.left;
        units.size = grant.units;
        units.owed -= request.owed.min(units.owed);
        units.is_known = true;
        units.refused_at = (grant.units < request.needed).then_some(now);
        true
    }
}

struct RenewalGuard<'a>(&'a CounterSlot);

impl Drop for RenewalGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().is_renewing = false;
        self.0.renewed.notify_all();
    }
}

impl LeasedUnits {
    fn quota(&self, limit: u32, day: Date) -> Quota {
        let remaining = self.left.saturating_add(self.unused).min(limit);
        Quota::new(Some(limit), limit - remaining, day)
    }

    fn was_used_recently(&self, now: Instant) -> bool {
        self.is_known && now.duration_since(self.used_at) <= RECENT_USE
    }
}

impl LeasedCounters {
    /// From now on what is spent of keys is noted in `journal`; no effect if it is already.
    pub(crate) fn note_in(&self, journal: LeaseJournal) {
        let _ = self.journal.set(journal);
    }

    /// Takes all `requests` from the quota of `day`, or none. Waits for the store if there are not enough leased units.
    pub(crate) fn take(
        &self,
        counter: SharedCounter,
        requests: u32,
        limit: u32,
        day: Date,
        lease: impl Fn(LeaseRequest) -> Option<Grant>,
    ) -> Result<AdmittedRequest, Denied> {
        let slot = self.slot(counter, day);
        let started = Instant::now();
        let mut units = slot.lock();
        units.limit = limit;
        loop {
            let now = Instant::now();
            if units.unused >= requests {
                if !self.note_spent(&slot, &mut units, requests.into()) {
                    continue;
                }
                units.unused -= requests;
                units.used_at = now;
                let renews = units.unused < units.size / 4 && units.left > 0 && !units.is_renewing;
                units.is_renewing |= renews;
                return Ok(AdmittedRequest { quota: units.quota(limit, day), renews });
            }
            let is_refused = units.refused_at.is_some_and(|at| now.duration_since(at) < REFUSED);
            if is_refused && units.left.saturating_add(units.unused) < requests {
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
            let (needed, record) = (requests - units.unused, slot.record(&units));
            let request = LeaseRequest { counter, day, limit, needed, owed: units.owed, record };
            drop(units);
            let is_away = !slot.lease(request, &lease, now);
            units = slot.lock();
            if is_away {
                return self.without_store(units, (counter, day), requests, limit);
            }
        }
    }

    /// Notes that `requests` more units are spent, or fewer if it is negative. If the journal cannot be written, units of the
    /// record are not spent any more, because the next server would give them back; then it returns false.
    fn note_spent(&self, slot: &CounterSlot, units: &mut LeasedUnits, requests: i64) -> bool {
        let (Some(journal), Some(record), true) = (self.journal.get(), slot.record, units.is_recorded) else {
            return true;
        };
        let spent = units.spent + requests;
        match journal.set_spent(record, spent) {
            Ok(()) => units.spent = spent,
            Err(_) => (units.is_recorded, units.unused) = (false, 0),
        }
        units.is_recorded
    }

    fn without_store(
        &self,
        mut units: MutexGuard<'_, LeasedUnits>,
        (counter, day): (SharedCounter, Date),
        requests: u32,
        limit: u32,
    ) -> Result<AdmittedRequest, Denied> {
        let now = Instant::now();
        // At midnight nothing is known of the new day.
        let before = (counter, Date::from_days(day.days() - 1));
        let was_used = units.was_used_recently(now)
            || self.slots.get(&before).is_some_and(|slot| slot.lock().was_used_recently(now));
        let quota = units.quota(limit, day);
        if !was_used {
            return Err(Denied::Unknown(quota));
        }
        // Nothing was left when the store was asked last.
        if units.is_known && units.left.saturating_add(units.unused) < requests {
            return Err(Denied::Exceeded(quota));
        }
        if units.owed.saturating_add(requests) > allowance(limit) {
            return Err(Denied::Unchecked(quota));
        }
        units.is_known = true;
        units.owed += requests;
        self.unleased.add(requests.into());
        units.used_at = now;
        Ok(AdmittedRequest { quota: units.quota(limit, day), renews: false })
    }

    pub(crate) fn renew(&self, (counter, day): (SharedCounter, Date), lease: impl Fn(LeaseRequest) -> Option<Grant>) {
        let slot = self.slot(counter, day);
        let (limit, owed, record) = {
            let mut units = slot.lock();
            units.is_renewing = true;
            (units.limit, units.owed, slot.record(&units))
        };
        slot.lease(LeaseRequest { counter, day, limit, needed: 0, owed, record }, &lease, Instant::now());
    }

    /// The quota without taking anything. `None` if this server knows nothing of the counter.
    pub(crate) fn peek(&self, counter: SharedCounter, limit: u32, day: Date) -> Option<Quota> {
        let slot = self.slots.get(&(counter, day))?;
        let units = slot.lock();
        units.is_known.then(|| units.quota(limit, day))
    }

    pub(crate) fn give_back(&self, counter: SharedCounter, requests: u32, limit: u32, day: Date) -> Quota {
        let slot = self.slot(counter, day);
        let mut units = slot.lock();
        // Owed units are settled first: they were taken without a lease.
        let owed = requests.min(units.owed);
        units.owed -= owed;
        units.unused += requests - owed;
        self.note_spent(&slot, &mut units, -i64::from(requests - owed));
        units.refused_at = None;
        units.quota(limit, day)
    }

    /// Takes the unused units of idle counters, or with `all` of every counter, for the store;
    /// [`LeasedCounters::take_back`] restores them. Forgets counters without any that nobody uses, and those of other days than
    /// `today` and its neighbors.
    pub(crate) fn unused(&self, today: Date, all: bool) -> Vec<UnusedUnits> {
        let now = Instant::now();
        let mut unused = Vec::new();
        self.slots.retain(|(counter, day), slot| {
            let mut units = slot.lock();
            let idle = now.duration_since(units.used_at);
            if (all || idle >= IDLE) && !units.is_renewing && units.unused > 0 {
                let count = std::mem::take(&mut units.unused);
                units.left = units.left.saturating_add(count);
                unused.push(UnusedUnits { counter: *counter, day: *day, units: count, record: slot.record(&units) });
                return true;
            }
            let is_over = day.days().abs_diff(today.days()) > 1;
            // Nobody else can get hold of it while the map is locked.
            let is_in_use = units.is_renewing || units.owed > 0 || Arc::strong_count(slot) > 1;
            let is_kept = is_in_use || (idle < RECENT_USE && !is_over);
            if let Some(record) = slot.record.filter(|_| !is_kept) {
                self.lock_finished().push(FinishedLease { record, spent: units.spent });
            }
            is_kept
        });
        unused
    }

    /// Takes the finished records, for the store; then call [`LeasedCounters::forget`], or if the store is away
    /// [`LeasedCounters::keep_finished`].
    pub(crate) fn finished(&self) -> Vec<FinishedLease> {
        std::mem::take(&mut *self.lock_finished())
    }

    pub(crate) fn keep_finished(&self, finished: Vec<FinishedLease>) {
        self.lock_finished().extend(finished);
    }

    pub(crate) fn forget(&self, finished: &[FinishedLease]) {
        if let Some(journal) = self.journal.get() {
            finished.iter().for_each(|finished| journal.remove(finished.record));
        }
    }

    fn lock_finished(&self) -> MutexGuard<'_, Vec<FinishedLease>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_back(&self, unused: &[UnusedUnits]) {
        for UnusedUnits { counter, day, units, record } in unused {
            let slot = self.slot(*counter, *day);
            let mut leased = slot.lock();
            // Otherwise they are given back when the record is finished.
            if *record != slot.record(&leased) {
                continue;
            }
            leased.unused += units;
            leased.left = leased.left.saturating_sub(*units);
            leased.is_known = true;
        }
    }

    pub(crate) fn owing(&self) -> Vec<(SharedCounter, Date)> {
        let owing = self.slots.iter().filter(|entry| entry.lock().owed > 0);
        owing.map(|entry| *entry.key()).collect()
    }

    fn slot(&self, counter: SharedCounter, day: Date) -> Arc<CounterSlot> {
        if let Some(slot) = self.slots.get(&(counter, day)) {
            return Arc::clone(&slot);
        }
        let create = || {
            let journal = self.journal.get().filter(|_| matches!(counter, SharedCounter::Key(_)));
            let record = journal.and_then(|journal| journal.add().ok());
            Arc::new(CounterSlot::new(record, Instant::now()))
        };
        Arc::clone(&self.slots.entry((counter, day)).or_insert_with(create))
    }
}
