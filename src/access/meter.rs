//! The meter: one counter for each key and day, in memory, exact under any concurrency.
//!
//! The counter decides; the store is written behind. Each counter knows what the store knows of it and what is not yet
//! written, so that a write that fails is tried again and one that succeeds is never counted twice.

use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;

use crate::dataset::Date;

use super::account::{CounterId, KeyId};
use super::quota::Quota;
use super::store::{AddedUsage, Usage};

/// Who counts where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The key that a request came with.
    pub key: KeyId,
    /// The counter that decides about it.
    pub counter: CounterId,
}

/// Daily counters of all keys.
#[derive(Debug, Default)]
pub struct Meter {
    counts: DashMap<(CounterId, Date), Count>,
    /// Counters with something to write, each at most once.
    unwritten: Mutex<Vec<(CounterId, Date)>>,
}

/// One counter on one day. Nearly always of one key; of several where a key took over a revoked one's count.
#[derive(Debug, Default)]
struct Count {
    parts: Vec<Part>,
    queued: bool,
}

#[derive(Debug)]
struct Part {
    key: KeyId,
    written: u32,
    unwritten: i64,
}

impl Part {
    fn total(&self) -> u32 {
        let total = i64::from(self.written).saturating_add(self.unwritten);
        u32::try_from(total.max(0)).unwrap_or(u32::MAX)
    }
}

impl Count {
    fn total(&self) -> u32 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.total()))
    }

    fn part(&mut self, key: KeyId) -> &mut Part {
        let place = self.parts.iter().position(|part| part.key == key).unwrap_or(self.parts.len());
        if place == self.parts.len() {
            self.parts.push(Part { key, written: 0, unwritten: 0 });
        }
        &mut self.parts[place]
    }
}

impl Meter {
    /// Takes one request from the quota of `today`. With `limit` `None` it is counted and always admitted.
    ///
    /// # Errors
    /// The quota as it stands, where it is used up.
    pub fn take(&self, tally: Tally, limit: Option<u32>, today: Date) -> Result<Quota, Quota> {
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

    /// Gives back one request that was taken on `day`, and says how the quota stands then.
    pub fn give_back(&self, tally: Tally, limit: Option<u32>, day: Date) -> Quota {
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
    pub(super) fn load(&self, day: Date, usage: impl IntoIterator<Item = Usage>) {
        for usage in usage {
            let mut count = self.counts.entry((usage.counter, day)).or_default();
            count.part(usage.key).written = usage.requests;
        }
    }

    /// What is to be written. Each answer must come back through [`Meter::written`] or [`Meter::not_written`] before the
    /// next is asked for.
    pub(super) fn to_write(&self) -> Vec<AddedUsage> {
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
    pub(super) fn written(&self, added: &[AddedUsage], totals: &[u32]) {
        for (added, total) in added.iter().zip(totals) {
            if let Some(mut count) = self.counts.get_mut(&(added.counter, added.day)) {
                let part = count.part(added.key);
                part.written = *total;
                part.unwritten -= added.requests;
            }
        }
    }

    /// `added` could not be written, and stays to be.
    pub(super) fn not_written(&self, added: &[AddedUsage]) {
        for added in added {
            let place = (added.counter, added.day);
            if let Some(mut count) = self.counts.get_mut(&place) {
                self.queue(place, &mut count);
            }
        }
    }

    /// Drops the counters of all days but `today`, the one before it (its last requests may still run) and the one
    /// after it (this thread's clock may be behind), save what is not yet written.
    pub(super) fn drop_old(&self, today: Date) {
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicU32, Ordering};

    use proptest::prelude::*;

    use super::*;

    const LIMIT: u32 = 100;

    fn tally(key: i64, counter: i64) -> Tally {
        Tally { key: KeyId(key), counter: CounterId(counter) }
    }

    fn day(number: i32) -> Date {
        Date::from_days(20_000 + number)
    }

    #[test]
    fn exactly_the_limit_is_admitted_and_both_outcomes_tell_the_quota() {
        let meter = Meter::default();
        for used in 1..=LIMIT {
            let quota = meter.take(tally(1, 1), Some(LIMIT), day(0)).unwrap();
            assert_eq!((quota.used, quota.remaining), (used, Some(LIMIT - used)));
        }
        let refused = meter.take(tally(1, 1), Some(LIMIT), day(0)).unwrap_err();
        assert_eq!((refused.used, refused.remaining, refused.resets_at), (LIMIT, Some(0), day(1).unix()));
        assert_eq!(meter.peek(CounterId(1), Some(LIMIT), day(0)), refused);
        assert!(meter.take(tally(2, 2), Some(LIMIT), day(0)).is_ok(), "another key has its own");
        assert_eq!(meter.take(tally(1, 1), Some(LIMIT), day(1)).unwrap().used, 1, "a new day begins anew");
        assert!(meter.take(tally(1, 1), Some(LIMIT), day(0)).is_err(), "a late request counts on its own day");
    }

    #[test]
    fn without_a_limit_all_is_counted_and_admitted() {
        let meter = Meter::default();
        let quotas = (0..10_000).map(|_| meter.take(tally(1, 1), None, day(0)).unwrap());
        assert_eq!(quotas.last().unwrap().used, 10_000);
        assert_eq!(meter.peek(CounterId(1), None, day(0)).remaining, None);
    }

    #[test]
    fn sixty_four_clients_at_once_get_exactly_the_limit_on_each_day() {
        for _ in 0..20 {
            let meter = Meter::default();
            let admitted = [const { AtomicU32::new(0) }; 3];
            let given_back = [const { AtomicU32::new(0) }; 3];
            // The clients' clocks pass midnight at different requests, and some come late; two keys share the counter;
            // the writer runs all the while, its writes failing now and then, and drops what is old.
            std::thread::scope(|scope| {
                for client in 0..64_usize {
                    let (meter, admitted, given_back) = (&meter, &admitted, &given_back);
                    scope.spawn(move || {
                        for request in 0..18 {
                            let today = ((request + client % 5) / 6).min(2);
                            let tally = tally((client % 2) as i64, 1);
                            if meter.take(tally, Some(LIMIT), day(today as i32)).is_ok() {
                                admitted[today].fetch_add(1, Ordering::SeqCst);
                                if client == 7 {
                                    meter.give_back(tally, Some(LIMIT), day(today as i32));
                                    given_back[today].fetch_add(1, Ordering::SeqCst);
                                }
                            }
                        }
                    });
                }
                scope.spawn(|| {
                    let mut store = HashMap::new();
                    for round in 0..50 {
                        let added = meter.to_write();
                        if round % 3 == 0 {
                            meter.not_written(&added);
                        } else {
                            meter.written(&added, &write(&mut store, &added));
                        }
                        meter.drop_old(day(1));
                    }
                });
            });
            for (today, (admitted, given_back)) in admitted.iter().zip(&given_back).enumerate() {
                let (admitted, given_back) = (admitted.load(Ordering::SeqCst), given_back.load(Ordering::SeqCst));
                let used = meter.peek(CounterId(1), Some(LIMIT), day(today as i32)).used;
                assert_eq!(admitted - given_back, used, "day {today}");
                assert!(used <= LIMIT && used + given_back >= LIMIT, "day {today}: {used}, {given_back} given back");
            }
        }
    }

    /// What a store does with `added`.
    fn write(store: &mut HashMap<(KeyId, Date), u32>, added: &[AddedUsage]) -> Vec<u32> {
        let mut write = |added: &AddedUsage| {
            let count = store.entry((added.key, added.day)).or_default();
            *count = u32::try_from((i64::from(*count) + added.requests).max(0)).unwrap();
            *count
        };
        added.iter().map(&mut write).collect()
    }

    #[test]
    fn what_is_taken_while_a_write_runs_is_written_by_the_next() {
        let meter = Meter::default();
        let mut store = HashMap::new();
        meter.take(tally(1, 1), None, day(0)).unwrap();
        let first = meter.to_write();
        assert_eq!(first.len(), 1);
        meter.take(tally(1, 1), None, day(0)).unwrap();
        meter.written(&first, &write(&mut store, &first));
        let second = meter.to_write();
        assert_eq!(second.iter().map(|added| added.requests).collect::<Vec<_>>(), [1]);
        meter.written(&second, &write(&mut store, &second));
        assert_eq!(meter.peek(CounterId(1), None, day(0)).used, 2);
        assert_eq!(store[&(KeyId(1), day(0))], 2);
        assert!(meter.to_write().is_empty());
    }

    #[test]
    fn counts_of_another_process_are_taken_up_with_the_answer_of_a_write() {
        let meter = Meter::default();
        meter.load(day(0), [Usage { key: KeyId(1), counter: CounterId(1), requests: 40 }]);
        meter.take(tally(1, 1), Some(LIMIT), day(0)).unwrap();
        let added = meter.to_write();
        meter.written(&added, &[99]);
        assert!(meter.take(tally(1, 1), Some(LIMIT), day(0)).is_ok());
        assert!(meter.take(tally(1, 1), Some(LIMIT), day(0)).is_err());
    }

    #[test]
    fn keys_of_this_process_only_are_never_written() {
        let meter = Meter::default();
        meter.take(tally(-1, -1), Some(LIMIT), day(0)).unwrap();
        assert!(meter.to_write().is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take(i64, i32),
        GiveBack(i64, i32),
        Write,
        FailToWrite,
        DropOld(i32),
        Restart,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => (0..4_i64, 0..3_i32).prop_map(|(key, day)| Step::Take(key, day)),
            2 => (0..4_i64, 0..3_i32).prop_map(|(key, day)| Step::GiveBack(key, day)),
            2 => Just(Step::Write),
            1 => Just(Step::FailToWrite),
            1 => (1..2_i32).prop_map(Step::DropOld),
            1 => Just(Step::Restart),
        ];
        proptest::collection::vec(step, 0..120)
    }

    proptest! {
        /// Against a plain list of what each key took on each day. Keys 0 and 1 share a counter, as do 2 and 3.
        #[test]
        fn the_meter_and_its_store_agree_with_a_plain_list(steps in steps()) {
            const LIMIT: u32 = 5;
            let mut meter = Meter::default();
            let mut store = HashMap::new();
            let mut list: HashMap<(i64, i32), u32> = HashMap::new();
            let total = |list: &HashMap<(i64, i32), u32>, key: i64, day: i32| -> u32 {
                [key / 2 * 2, key / 2 * 2 + 1].iter().filter_map(|key| list.get(&(*key, day))).sum()
            };
            for step in steps {
                match step {
                    Step::Take(key, today) => {
                        let before = total(&list, key, today);
                        let taken = meter.take(tally(key, key / 2), Some(LIMIT), day(today));
                        prop_assert_eq!(taken.is_ok(), before < LIMIT);
                        if let Ok(quota) = taken {
                            *list.entry((key, today)).or_default() += 1;
                            prop_assert_eq!(quota.used, before + 1);
                        }
                    }
                    Step::GiveBack(key, today) => {
                        meter.give_back(tally(key, key / 2), Some(LIMIT), day(today));
                        let count = list.entry((key, today)).or_default();
                        *count = count.saturating_sub(1);
                    }
                    Step::Write | Step::Restart => {
                        let added = meter.to_write();
                        meter.written(&added, &write(&mut store, &added));
                        for ((key, day), count) in &store {
                            prop_assert_eq!(list.get(&(key.0, day.days() - 20_000)).copied().unwrap_or(0), *count);
                        }
                        if matches!(step, Step::Restart) {
                            meter = Meter::default();
                            for today in 0..3 {
                                let usage = store.iter().filter(|((_, on), _)| *on == day(today));
                                let usage = usage.map(|((key, _), requests)| {
                                    Usage { key: *key, counter: CounterId(key.0 / 2), requests: *requests }
                                });
                                meter.load(day(today), usage);
                            }
                        }
                    }
                    Step::FailToWrite => {
                        let added = meter.to_write();
                        meter.not_written(&added);
                    }
                    Step::DropOld(today) => meter.drop_old(day(today)),
                }
                for key in [0, 2] {
                    for today in 0..3 {
                        let used = meter.peek(CounterId(key / 2), Some(LIMIT), day(today)).used;
                        prop_assert_eq!(used, total(&list, key, today));
                    }
                }
            }
        }
    }

    #[test]
    fn counters_of_days_past_are_dropped_once_written() {
        let meter = Meter::default();
        let mut store = HashMap::new();
        for today in 0..5 {
            meter.take(tally(1, 1), None, day(today)).unwrap();
        }
        meter.drop_old(day(9));
        assert_eq!(meter.len(), 5, "nothing is written yet");
        let added = meter.to_write();
        meter.written(&added, &write(&mut store, &added));
        meter.drop_old(day(3));
        assert_eq!(meter.len(), 3, "the day, the one before and the one after stay");
    }
}
