//! Daily counters of API keys: in memory, exact under concurrency.
//!
//! The counters decide; the store is written afterwards. Each counter knows its stored and its unwritten requests, so
//! that a failed write is retried and a successful one is never counted twice.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::quota::Quota;
use data::Date;

/// A key's number in the store, never reused. Keys of one process only (demo keys) have negative numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

/// Number of a daily counter: the number of the first key that counted on it.
///
/// A key created on the day that another key of its account was revoked takes over that key's counter, also if the account was
/// deleted and created again on that day. So an account never has more counters than its tier allows keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredUsage {
    pub key: KeyId,
    pub counter: CounterId,
    pub requests: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedUsage {
    pub key: KeyId,
    pub counter: CounterId,
    pub day: Date,
    /// Negative if more were given back than taken.
    pub requests: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedKey {
    pub(crate) key: KeyId,
    pub(crate) counter: CounterId,
}

#[derive(Default)]
pub(crate) struct DailyCounter {
    counts: DashMap<(CounterId, Date), DayCount, RandomState>,
    unwritten: Mutex<Vec<(CounterId, Date)>>,
}

/// One counter on one day. It has several parts if a key took over the counter of a revoked one.
#[derive(Default)]
struct DayCount {
    parts: Vec<CounterPart>,
    queued: bool,
}

struct CounterPart {
    key: KeyId,
    written: u32,
    unwritten: i64,
}

impl CounterPart {
    fn total(&self) -> u32 {
        let total = i64::from(self.written).saturating_add(self.unwritten);
        u32::try_from(total.max(0)).unwrap_or(u32::MAX)
    }
}

impl DayCount {
    fn total(&self) -> u32 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.total()))
    }

    fn part(&mut self, key: KeyId) -> &mut CounterPart {
        let index = self.parts.iter().position(|part| part.key == key).unwrap_or(self.parts.len());
        if index == self.parts.len() {
            self.parts.push(CounterPart { key, written: 0, unwritten: 0 });
        }
        &mut self.parts[index]
    }
}

impl DailyCounter {
    /// Takes `requests` from the quota of `today`: all of them, or none and an error. Without a limit all are admitted.
    pub(crate) fn take(
        &self,
        counted: CountedKey,
        requests: u32,
        limit: Option<u32>,
        today: Date,
    ) -> Result<Quota, Quota> {
        let id = (counted.counter, today);
        let mut count = self.counts.entry(id).or_default();
        let used = count.total();
        let after = used.saturating_add(requests);
        if limit.is_some_and(|limit| after > limit) {
            return Err(Quota::new(limit, used, today));
        }
        count.part(counted.key).unwritten += i64::from(requests);
        self.queue(id, &mut count);
        Ok(Quota::new(limit, after, today))
    }

    pub(crate) fn peek(&self, counter: CounterId, limit: Option<u32>, today: Date) -> Quota {
        let used = self.counts.get(&(counter, today)).map_or(0, |count| count.total());
        Quota::new(limit, used, today)
    }

    /// Requests of one key on its counter; 0 if the day is no longer in memory.
    pub(crate) fn used_by(&self, counter: CounterId, key: KeyId, day: Date) -> u32 {
        let count = self.counts.get(&(counter, day));
        count.and_then(|count| count.parts.iter().find(|part| part.key == key).map(CounterPart::total)).unwrap_or(0)
    }

    pub(crate) fn give_back(&self, counted: CountedKey, requests: u32, limit: Option<u32>, day: Date) -> Quota {
        let id = (counted.counter, day);
        let Some(mut count) = self.counts.get_mut(&id) else { return Quota::new(limit, 0, day) };
        let part = count.part(counted.key);
        if part.total() > 0 {
            part.unwritten -= i64::from(requests.min(part.total()));
            self.queue(id, &mut count);
        }
        Quota::new(limit, count.total(), day)
    }

    /// Sets the stored requests of one day; unwritten ones count in addition.
    pub(crate) fn load(&self, day: Date, usage: impl IntoIterator<Item = StoredUsage>) {
        for usage in usage {
            let mut count = self.counts.entry((usage.counter, day)).or_default();
            count.part(usage.key).written = usage.requests;
        }
    }

    /// The unwritten requests. Call [`DailyCounter::written`] or [`DailyCounter::not_written`] before the next call.
    pub(crate) fn to_write(&self) -> Vec<AddedUsage> {
        let ids = std::mem::take(&mut *self.unwritten.lock().unwrap_or_else(PoisonError::into_inner));
        let mut added = Vec::with_capacity(ids.len());
        for (counter, day) in ids {
            let Some(mut count) = self.counts.get_mut(&(counter, day)) else { continue };
            count.queued = false;
            let parts = count.parts.iter().filter(|part| part.unwritten != 0);
            added.extend(parts.map(|part| AddedUsage { key: part.key, counter, day, requests: part.unwritten }));
        }
        added
    }

    pub(crate) fn written(&self, added: &[AddedUsage], totals: &[u32]) {
        for (added, total) in added.iter().zip(totals) {
            if let Some(mut count) = self.counts.get_mut(&(added.counter, added.day)) {
                let part = count.part(added.key);
                part.written = *total;
                part.unwritten -= added.requests;
            }
        }
    }

    /// `added` could not be written and is queued again.
    pub(crate) fn not_written(&self, added: &[AddedUsage]) {
        for added in added {
            let id = (added.counter, added.day);
            if let Some(mut count) = self.counts.get_mut(&id) {
                self.queue(id, &mut count);
            }
        }
    }

    /// Drops counters without unwritten requests, except of `today` and, as clocks and requests lag, of its neighbors.
    pub(crate) fn drop_old(&self, today: Date) {
        self.counts.retain(|(_, day), count| {
            day.days().abs_diff(today.days()) <= 1 || count.parts.iter().any(|part| part.unwritten != 0)
        });
    }

    /// As [`DailyCounter::drop_old`], for counts that are never written.
    pub(crate) fn forget_old(&self, today: Date) {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.counts.retain(|(_, day), _| day.days().abs_diff(today.days()) <= 1);
    }

    /// Queues a counter for writing; `count` is its locked entry. Demo keys are never written.
    fn queue(&self, id: (CounterId, Date), count: &mut DayCount) {
        if !count.queued && id.0.0 >= 0 {
            count.queued = true;
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        }
    }
}
