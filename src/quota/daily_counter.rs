//! The meter: one counter for each key and day, in memory, exact under any concurrency.
//!
//! The counter decides; the store is written behind. Each counter knows what the store knows of it and what is not yet
//! written, so that a write that fails is tried again and one that succeeds is never counted twice.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::data::Date;

use crate::auth::account::{CounterId, KeyId};
use crate::auth::{AddedUsage, Usage};
use crate::quota::Quota;

/// Who counts where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTally {
    /// The key that a request came with.
    pub key: KeyId,
    /// The counter that decides about it.
    pub counter: CounterId,
}

/// Daily counters of all keys.
#[derive(Debug, Default)]
pub struct DailyCounter {
    counts: DashMap<(CounterId, Date), Count, RandomState>,
    /// Counters with something to write, each at most once.
    unwritten: Mutex<Vec<(CounterId, Date)>>,
}

/// One counter on one day. Nearly always of one key; of several where a key took over a revoked one's count.
#[derive(Debug, Default)]
struct Count {
    parts: Vec<CounterPart>,
    queued: bool,
}

#[derive(Debug)]
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

impl Count {
    fn total(&self) -> u32 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.total()))
    }

    fn part(&mut self, key: KeyId) -> &mut CounterPart {
        let place = self.parts.iter().position(|part| part.key == key).unwrap_or(self.parts.len());
        if place == self.parts.len() {
            self.parts.push(CounterPart { key, written: 0, unwritten: 0 });
        }
        &mut self.parts[place]
    }
}

impl DailyCounter {
    /// Takes one request from the quota of `today`. With `limit` `None` it is counted and always admitted.
    ///
    /// # Errors
    /// The quota as it stands, where it is used up.
    pub fn take(&self, tally: KeyTally, limit: Option<u32>, today: Date) -> Result<Quota, Quota> {
        let place = (tally.counter, today);
        let mut count = self.counts.entry(place).or_default();
        let used = count.total();
        if limit.is_some_and(|limit| used >= limit) {
            return Err(Quota::of(limit, used, today));
        }
        count.part(tally.key).unwritten += 1;
        self.queue(place, &mut count);
        Ok(Quota::of(limit, used.saturating_add(1), today))
    }

    /// The quota of `today` as it stands; takes nothing.
    #[must_use]
    pub fn peek(&self, counter: CounterId, limit: Option<u32>, today: Date) -> Quota {
        let used = self.counts.get(&(counter, today)).map_or(0, |count| count.total());
        Quota::of(limit, used, today)
    }

    /// What one key has used of its counter on a day that is still held here; 0 on others.
    #[must_use]
    pub fn used_by(&self, counter: CounterId, key: KeyId, day: Date) -> u32 {
        let count = self.counts.get(&(counter, day));
        count.and_then(|count| count.parts.iter().find(|part| part.key == key).map(CounterPart::total)).unwrap_or(0)
    }

    /// Gives back one request that was taken on `day`, and says how the quota stands then.
    pub fn give_back(&self, tally: KeyTally, limit: Option<u32>, day: Date) -> Quota {
        let place = (tally.counter, day);
        let Some(mut count) = self.counts.get_mut(&place) else { return Quota::of(limit, 0, day) };
        let part = count.part(tally.key);
        if part.total() > 0 {
            part.unwritten -= 1;
            self.queue(place, &mut count);
        }
        Quota::of(limit, count.total(), day)
    }

    /// Takes up what the store knows of one day; what is not yet written here stays on top.
    pub(crate) fn load(&self, day: Date, usage: impl IntoIterator<Item = Usage>) {
        for usage in usage {
            let mut count = self.counts.entry((usage.counter, day)).or_default();
            count.part(usage.key).written = usage.requests;
        }
    }

    /// What is to be written. Each answer must come back through [`DailyCounter::written`] or [`DailyCounter::not_written`] before the
    /// next is asked for.
    pub(crate) fn to_write(&self) -> Vec<AddedUsage> {
        let places = std::mem::take(&mut *self.unwritten.lock().unwrap_or_else(PoisonError::into_inner));
        let mut added = Vec::with_capacity(places.len());
        for (counter, day) in places {
            let Some(mut count) = self.counts.get_mut(&(counter, day)) else { continue };
            count.queued = false;
            let parts = count.parts.iter().filter(|part| part.unwritten != 0);
            added.extend(parts.map(|part| AddedUsage { key: part.key, counter, day, requests: part.unwritten }));
        }
        added
    }

    /// `added` is in the store now, which counts `totals`.
    pub(crate) fn written(&self, added: &[AddedUsage], totals: &[u32]) {
        for (added, total) in added.iter().zip(totals) {
            if let Some(mut count) = self.counts.get_mut(&(added.counter, added.day)) {
                let part = count.part(added.key);
                part.written = *total;
                part.unwritten -= added.requests;
            }
        }
    }

    /// `added` could not be written, and stays to be.
    pub(crate) fn not_written(&self, added: &[AddedUsage]) {
        for added in added {
            let place = (added.counter, added.day);
            if let Some(mut count) = self.counts.get_mut(&place) {
                self.queue(place, &mut count);
            }
        }
    }

    /// Drops the counters of all days but `today`, the one before it (its last requests may still run) and the one
    /// after it (this thread's clock may be behind), save what is not yet written.
    pub(crate) fn drop_old(&self, today: Date) {
        self.counts.retain(|(_, day), count| {
            day.days().abs_diff(today.days()) <= 1 || count.parts.iter().any(|part| part.unwritten != 0)
        });
    }

    /// Number of counters held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True where nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Notes, under the counter's lock, that it has something to write. Keys of this process only are never written.
    fn queue(&self, place: (CounterId, Date), count: &mut Count) {
        if !count.queued && place.0.0 >= 0 {
            count.queued = true;
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).push(place);
        }
    }
}
