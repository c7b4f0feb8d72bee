//! Daily quotas of clients without a key.
//!
//! Each UTC day has a counter of its own, whose hashes use a secret of the day: the entries of two days cannot be linked.

use std::sync::{Arc, PoisonError, RwLock};

use crate::data::Date;
use crate::quota::client_hasher::ClientHasher;
use crate::quota::window_counter::{TableSize, Window, WindowCounter};
use crate::quota::{Client, Quota};

/// About 20 MB per day if full.
const SIZE: TableSize = TableSize { entries: 1 << 18, network_share: 1 << 12, networks: 1 << 13 };

#[derive(Debug)]
pub(crate) struct ClientCounter {
    hasher: ClientHasher,
    /// At most two, the newer first: the last requests of the day before may still arrive.
    days: RwLock<Vec<(Date, Arc<WindowCounter>)>>,
}

impl ClientCounter {
    /// `secret` is random.
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self { hasher: ClientHasher::new(secret), days: RwLock::default() }
    }

    /// Takes one request of `client` from its `limit` of `today`; an error if none is left.
    pub(crate) fn take(&self, client: &Client, limit: u32, today: Date) -> Result<Quota, Quota> {
        let quota = |window: Window| Quota::of(Some(limit), window.count, today);
        self.find_or_insert(today).take(client, limit, today.unix()).map(quota).map_err(quota)
    }

    pub(crate) fn peek(&self, client: &Client, limit: u32, today: Date) -> Quota {
        let used = self.find(today).map_or(0, |counter| counter.peek(client, today.unix()));
        Quota::of(Some(limit), used, today)
    }

    /// Gives back one request that was taken on `day`, and returns the quota after it.
    pub(crate) fn give_back(&self, client: &Client, limit: u32, day: Date) -> Quota {
        if let Some(counter) = self.find(day) {
            counter.give_back(client, day.unix());
        }
        self.peek(client, limit, day)
    }

    fn find(&self, date: Date) -> Option<Arc<WindowCounter>> {
        find(&self.days.read().unwrap_or_else(PoisonError::into_inner), date)
    }

    fn find_or_insert(&self, date: Date) -> Arc<WindowCounter> {
        if let Some(counter) = self.find(date) {
            return counter;
        }
        let mut days = self.days.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = find(&days, date) {
            return counter;
        }
        let hasher = self.hasher.derived(&date.days().to_le_bytes());
        let counter = Arc::new(WindowCounter::new(86_400, hasher, SIZE));
        // If the clock was set by more than a day, all counts are dropped.
        days.retain(|(day, _)| day.days().abs_diff(date.days()) == 1);
        days.truncate(1);
        days.insert(0, (date, counter.clone()));
        counter
    }
}

fn find(days: &[(Date, Arc<WindowCounter>)], date: Date) -> Option<Arc<WindowCounter>> {
    days.iter().find(|(day, _)| *day == date).map(|(_, counter)| counter.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    #[test]
    fn an_address_gets_its_limit_and_another_its_own() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        for used in 1..=3 {
            assert_eq!(counter.take(&address("192.0.2.1"), 3, today).unwrap().used, used);
        }
        let rejected = counter.take(&address("192.0.2.1"), 3, today).unwrap_err();
        assert_eq!((rejected.limit, rejected.remaining, rejected.tier), (Some(3), Some(0), None));
        assert!(counter.take(&address("192.0.2.2"), 3, today).is_ok());
        assert_eq!(counter.peek(&address("192.0.2.3"), 3, today).remaining, Some(3));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        assert!(counter.take(&address("192.0.2.1"), 1, today).is_ok());
        assert_eq!(counter.give_back(&address("192.0.2.1"), 1, today).remaining, Some(1));
        assert_eq!(counter.give_back(&address("192.0.2.1"), 1, today).remaining, Some(1));
        assert!(counter.take(&address("192.0.2.1"), 1, today).is_ok());
        assert!(counter.take(&address("192.0.2.1"), 1, today).is_err());
    }

    #[test]
    fn each_day_starts_at_zero_with_other_hashes_and_only_the_day_before_is_kept() {
        let counter = ClientCounter::new(&[9; 32]);
        let days = ["2026-11-21", "2026-11-22", "2026-11-23"].map(|day| day.parse().unwrap());
        let client = address("192.0.2.1");
        assert!(counter.take(&client, 1, days[0]).is_ok());
        assert!(counter.take(&client, 1, days[1]).is_ok());
        let hash = |day| counter.find(day).unwrap().hasher().client(&client);
        assert_ne!(hash(days[0]), hash(days[1]));
        assert!(counter.take(&client, 1, days[0]).is_err(), "a clock slightly behind finds the day before");
        assert!(counter.take(&client, 1, days[2]).is_ok());
        assert!(counter.find(days[0]).is_none());
    }
}
