use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use crate::quota::daily_counter::*;

const LIMIT: u32 = 100;

fn counted(key: i64, counter: i64) -> CountedKey {
    CountedKey { key: KeyId(key), counter: CounterId(counter) }
}

fn day(number: i32) -> Date {
    Date::from_days(20_000 + number)
}

#[test]
fn exactly_the_limit_is_admitted_and_both_results_hold_the_quota() {
    let counter = DailyCounter::default();
    for used in 1..=LIMIT {
        let quota = counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).unwrap();
        assert_eq!((quota.used, quota.remaining), (used, Some(LIMIT - used)));
    }
    let rejected = counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).unwrap_err();
    assert_eq!((rejected.used, rejected.remaining, rejected.resets_at), (LIMIT, Some(0), day(1).unix()));
    assert_eq!(counter.peek(CounterId(1), Some(LIMIT), day(0)), rejected);
    assert!(counter.take(counted(2, 2), 1, Some(LIMIT), day(0)).is_ok(), "another key has its own counter");
    assert_eq!(counter.take(counted(1, 1), 1, Some(LIMIT), day(1)).unwrap().used, 1, "a new day starts at zero");
    assert!(counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).is_err(), "a late request counts on its own day");
}

#[test]
fn without_a_limit_every_request_is_counted_and_admitted() {
    let counter = DailyCounter::default();
    let quotas = (0..10_000).map(|_| counter.take(counted(1, 1), 1, None, day(0)).unwrap());
    assert_eq!(quotas.last().unwrap().used, 10_000);
    assert_eq!(counter.peek(CounterId(1), None, day(0)).remaining, None);
}

#[test]
fn sixty_four_clients_at_once_get_exactly_the_limit_on_each_day() {
    for _ in 0..20 {
        let counter = DailyCounter::default();
        let admitted = [const { AtomicU32::new(0) }; 3];
        let given_back = [const { AtomicU32::new(0) }; 3];
        // The clients' clocks pass midnight at different requests, and some requests are late; two keys share the counter;
        // the writer runs at the same time, some of its writes fail, and it drops old counters.
        std::thread::scope(|scope| {
            for client in 0..64_usize {
                let (counter, admitted, given_back) = (&counter, &admitted, &given_back);
                scope.spawn(move || {
                    for request in 0..18 {
                        let today = ((request + client % 5) / 6).min(2);
                        let counted_key = counted((client % 2) as i64, 1);
                        if counter.take(counted_key, 1, Some(LIMIT), day(today as i32)).is_ok() {
                            admitted[today].fetch_add(1, Ordering::SeqCst);
                            if client == 7 {
                                counter.give_back(counted_key, 1, Some(LIMIT), day(today as i32));
                                given_back[today].fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    }
                });
            }
            scope.spawn(|| {
                let mut store = HashMap::new();
                for round in 0..50 {
                    let added = counter.to_write();
                    if round % 3 == 0 {
                        counter.not_written(&added);
                    } else {
                        counter.written(&added, &write(&mut store, &added));
                    }
                    counter.drop_old(day(1));
                }
            });
        });
        for (today, (admitted, given_back)) in admitted.iter().zip(&given_back).enumerate() {
            let (admitted, given_back) = (admitted.load(Ordering::SeqCst), given_back.load(Ordering::SeqCst));
            let used = counter.peek(CounterId(1), Some(LIMIT), day(today as i32)).used;
            assert_eq!(admitted - given_back, used, "day {today}");
            assert!(used <= LIMIT && used + given_back >= LIMIT, "day {today}: {used}, {given_back} given back");
        }
    }
}

/// Adds to `store` like a real store.
fn write(store: &mut HashMap<(KeyId, Date), u32>, added: &[AddedUsage]) -> Vec<u32> {
    let mut write = |added: &AddedUsage| {
        let count = store.entry((added.key, added.day)).or_default();
        *count = u32::try_from((i64::from(*count) + added.requests).max(0)).unwrap();
        *count
    };
    added.iter().map(&mut write).collect()
}

#[test]
fn requests_taken_during_a_write_are_written_by_the_next() {
    let counter = DailyCounter::default();
    let mut store = HashMap::new();
    counter.take(counted(1, 1), 1, None, day(0)).unwrap();
    let first = counter.to_write();
    assert_eq!(first.len(), 1);
    counter.take(counted(1, 1), 1, None, day(0)).unwrap();
    counter.written(&first, &write(&mut store, &first));
    let second = counter.to_write();
    assert_eq!(second.iter().map(|added| added.requests).collect::<Vec<_>>(), [1]);
    counter.written(&second, &write(&mut store, &second));
    assert_eq!(counter.peek(CounterId(1), None, day(0)).used, 2);
    assert_eq!(store[&(KeyId(1), day(0))], 2);
    assert!(counter.to_write().is_empty());
}

#[test]
fn counts_of_another_process_are_loaded_with_the_result_of_a_write() {
    let counter = DailyCounter::default();
    counter.load(day(0), [StoredUsage { key: KeyId(1), counter: CounterId(1), requests: 40 }]);
    counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).unwrap();
    let added = counter.to_write();
    counter.written(&added, &[99]);
    assert!(counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).is_ok());
    assert!(counter.take(counted(1, 1), 1, Some(LIMIT), day(0)).is_err());
}

#[test]
fn demo_keys_are_never_written() {
    let counter = DailyCounter::default();
    counter.take(counted(-1, -1), 1, Some(LIMIT), day(0)).unwrap();
    assert!(counter.to_write().is_empty());
}

#[derive(Clone, Debug)]
enum CounterStep {
    Take(i64, i32),
    GiveBack(i64, i32),
    Write,
    FailToWrite,
    DropOld(i32),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<CounterStep>> {
    let step = prop_oneof![
        8 => (0..4_i64, 0..3_i32).prop_map(|(key, day)| CounterStep::Take(key, day)),
        2 => (0..4_i64, 0..3_i32).prop_map(|(key, day)| CounterStep::GiveBack(key, day)),
        2 => Just(CounterStep::Write),
        1 => Just(CounterStep::FailToWrite),
        1 => (1..2_i32).prop_map(CounterStep::DropOld),
        1 => Just(CounterStep::Restart),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// Compares with a plain list of the requests that each key took on each day. Keys 0 and 1 share a counter, as do 2
    /// and 3.
    #[test]
    fn the_counter_and_its_store_agree_with_a_plain_list(steps in steps()) {
        const LIMIT: u32 = 5;
        let mut counter = DailyCounter::default();
        let mut store = HashMap::new();
        let mut list: HashMap<(i64, i32), u32> = HashMap::new();
        let total = |list: &HashMap<(i64, i32), u32>, key: i64, day: i32| -> u32 {
            [key / 2 * 2, key / 2 * 2 + 1].iter().filter_map(|key| list.get(&(*key, day))).sum()
        };
        for step in steps {
            match step {
                CounterStep::Take(key, today) => {
                    let before = total(&list, key, today);
                    let taken = counter.take(counted(key, key / 2), 1, Some(LIMIT), day(today));
                    prop_assert_eq!(taken.is_ok(), before < LIMIT);
                    if let Ok(quota) = taken {
                        *list.entry((key, today)).or_default() += 1;
                        prop_assert_eq!(quota.used, before + 1);
                    }
                }
                CounterStep::GiveBack(key, today) => {
                    counter.give_back(counted(key, key / 2), 1, Some(LIMIT), day(today));
                    let count = list.entry((key, today)).or_default();
                    *count = count.saturating_sub(1);
                }
                CounterStep::Write | CounterStep::Restart => {
                    let added = counter.to_write();
                    counter.written(&added, &write(&mut store, &added));
                    for ((key, day), count) in &store {
                        prop_assert_eq!(list.get(&(key.0, day.days() - 20_000)).copied().unwrap_or(0), *count);
                    }
                    if matches!(step, CounterStep::Restart) {
                        counter = DailyCounter::default();
                        for today in 0..3 {
                            let usage = store.iter().filter(|((_, on), _)| *on == day(today));
                            let usage = usage.map(|((key, _), requests)| {
                                StoredUsage { key: *key, counter: CounterId(key.0 / 2), requests: *requests }
                            });
                            counter.load(day(today), usage);
                        }
                    }
                }
                CounterStep::FailToWrite => {
                    let added = counter.to_write();
                    counter.not_written(&added);
                }
                CounterStep::DropOld(today) => counter.drop_old(day(today)),
            }
            for key in [0, 2] {
                for today in 0..3 {
                    let used = counter.peek(CounterId(key / 2), Some(LIMIT), day(today)).used;
                    prop_assert_eq!(used, total(&list, key, today));
                }
            }
        }
    }
}

#[test]
fn counters_of_past_days_are_dropped_once_written() {
    let counter = DailyCounter::default();
    let mut store = HashMap::new();
    for today in 0..5 {
        counter.take(counted(1, 1), 1, None, day(today)).unwrap();
    }
    counter.drop_old(day(9));
    assert_eq!(counter.len(), 5, "nothing is written yet");
    let added = counter.to_write();
    counter.written(&added, &write(&mut store, &added));
    counter.drop_old(day(3));
    assert_eq!(counter.len(), 3, "the day, the day before and the day after stay");
}

impl DailyCounter {
    fn len(&self) -> usize {
        self.counts.len()
    }
}
