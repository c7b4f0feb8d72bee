//! Daily quotas of clients without a key.
//!
//! Each UTC day has its own table and secret of the hashes: the entries of two days cannot be linked.

use std::sync::{Arc, PoisonError, RwLock};

use crate::quota::client_hasher::ClientHasher;
use crate::quota::{Client, Quota, WindowCounter};
use data::Date;

/// 2,097,152 entries. Of a million IPv4 addresses, one in 1,800 is forgotten. An IPv6 address takes three entries if it
/// is the only one of its /48: of 600,000 such addresses, one in 15 is forgotten; of 420,000, one in 250.
const BUCKETS: usize = 1 << 17;

const MAX_BYTES: usize = 28_000_000;

const _: () = assert!(WindowCounter::max_bytes(BUCKETS) <= MAX_BYTES);

type DayCounter = (Date, Arc<WindowCounter>);

pub(crate) struct ClientCounter {
    hasher: ClientHasher,
    /// `None` before the first request. One day only, so that midnight does not double the memory.
    today: RwLock<Option<DayCounter>>,
}

impl ClientCounter {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self { hasher: ClientHasher::new(secret), today: RwLock::default() }
    }

    /// Takes units: all of them, or none. The error has what is left.
    pub(crate) fn take(&self, client: &Client, units: u32, limit: u32, today: Date) -> Result<Quota, Quota> {
        let (day, counter) = self.find_or_insert(today);
        let quota = |used: u32| Quota::new(Some(limit), used, today);
        let taken = counter.take_several(client, units, limit, day.unix());
        taken.map(quota).map_err(|_| quota(counter.peek(client, limit, day.unix())))
    }

    pub(crate) fn peek(&self, client: &Client, limit: u32, today: Date) -> Quota {
        let used = self.find(today).map_or(0, |(day, counter)| counter.peek(client, limit, day.unix()));
        Quota::new(Some(limit), used, today)
    }

    pub(crate) fn give_back(&self, client: &Client, units: u32, limit: u32, day: Date) -> Quota {
        // The table of the day before is gone.
        if let Some((_, counter)) = self.find(day).filter(|(today, _)| *today == day) {
            counter.give_back_several(client, units, day.unix());
        }
        self.peek(client, limit, day)
    }

    fn find(&self, date: Date) -> Option<DayCounter> {
        find(&self.today.read().unwrap_or_else(PoisonError::into_inner), date)
    }

    fn find_or_insert(&self, date: Date) -> DayCounter {
        self.find(date).unwrap_or_else(|| {
            let mut today = self.today.write().unwrap_or_else(PoisonError::into_inner);
            find(&today, date).unwrap_or_else(|| {
                let hasher = self.hasher.derived(&date.days().to_le_bytes());
                today.insert((date, Arc::new(WindowCounter::new(86_400, hasher, BUCKETS)))).clone()
            })
        })
    }
}

/// The table of a date. A thread with a slightly slow clock counts on the new day at midnight.
fn find(today: &Option<DayCounter>, date: Date) -> Option<DayCounter> {
    today.as_ref().filter(|(day, _)| (0..=1).contains(&(day.days() - date.days()))).cloned()
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::quota::Allowance;

    fn address(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    #[test]
    fn an_address_gets_its_limit_and_another_its_own() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        for used in 1..=3 {
            assert_eq!(counter.take(&address("192.0.2.1"), 1, 3, today).unwrap().used, used);
        }
        let rejected = counter.take(&address("192.0.2.1"), 1, 3, today).unwrap_err();
        assert_eq!((rejected.limit, rejected.remaining, rejected.tier), (Some(3), Some(0), None));
        assert!(counter.take(&address("192.0.2.2"), 1, 3, today).is_ok());
        assert_eq!(counter.peek(&address("192.0.2.3"), 3, today).remaining, Some(3));
    }

    #[test]
    fn a_48_gets_sixteen_times_the_limit_and_takes_nothing_from_the_others_of_its_32() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        let take = |text: String| counter.take(&address(&text), 1, 100, today);
        let admitted = (0..4_200).filter(|subnet| take(format!("2001:470:1f00:{subnet:x}::1")).is_ok()).count();
        assert_eq!(admitted, 1_600);
        assert_eq!(take("2001:470:1f00:ffff::1".into()).unwrap_err().remaining, Some(0));
        assert!((0..120).all(|stranger| take(format!("2001:470:{stranger:x}::1")).is_ok()));
    }

    #[test]
    fn a_million_addresses_are_counted_and_no_newcomer_is_refused() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        // Multiples of an odd number differ modulo 2^32.
        let client = |number: u32| Client::Address(IpAddr::from(number.wrapping_mul(0x9e37_79b1).to_be_bytes()));
        for number in 0..1_000_000 {
            assert_eq!(counter.take(&client(number), 1, 1, today).map(|quota| quota.used), Ok(1), "address {number}");
        }
        let remembered =
            (0..1_000_000).step_by(100).filter(|number| counter.take(&client(*number), 1, 1, today).is_err());
        assert!(remembered.count() > 9_980);
        for number in 1_000_000..1_010_000 {
            assert!(counter.take(&client(number), 1, 1, today).is_ok(), "address {number}");
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        assert!(counter.take(&address("192.0.2.1"), 1, 1, today).is_ok());
        assert_eq!(counter.give_back(&address("192.0.2.1"), 1, 1, today).remaining, Some(1));
        assert_eq!(counter.give_back(&address("192.0.2.1"), 1, 1, today).remaining, Some(1));
        assert!(counter.take(&address("192.0.2.1"), 1, 1, today).is_ok());
        assert!(counter.take(&address("192.0.2.1"), 1, 1, today).is_err());
    }

    #[test]
    fn the_addresses_of_a_network_share_twice_the_units_of_one() {
        let counter = ClientCounter::new(&[9; 32]);
        let today = "2026-11-21".parse().unwrap();
        let take = |text: String, units| {
            let client = Client::Anonymous(Allowance::Programs, text.parse().unwrap());
            counter.take(&client, units, 400, today)
        };
        for (network, other) in [("192.0.2.", "192.0.3.1"), ("2001:db8:1:", "2001:db8:2::1")] {
            let host = |number: u32| {
                if network.contains(':') { format!("{network}{number:x}::1") } else { format!("{network}{number}") }
            };
            assert_eq!(take(host(1), 350).map(|quota| quota.remaining), Ok(Some(50)));
            assert_eq!(take(host(1), 51).unwrap_err().remaining, Some(50), "all or none");
            let of_others: u32 =
                (2..100).map(|number| (0..9).filter(|_| take(host(number), 50).is_ok()).count() as u32).sum();
            assert_eq!(350 + 50 * of_others, 800);
            assert_eq!(take(host(1), 1).unwrap_err().remaining, Some(0));
            assert!(take(other.to_owned(), 400).is_ok(), "another network");
        }
        // What pages show is counted apart.
        let reader = Client::Anonymous(Allowance::Rows, "192.0.2.1".parse().unwrap());
        assert!(counter.take(&reader, 400, 400, today).is_ok());
    }

    #[test]
    fn each_day_starts_at_zero_with_other_hashes() {
        let counter = ClientCounter::new(&[9; 32]);
        let days: [Date; 3] = ["2026-11-21", "2026-11-22", "2026-11-23"].map(|day| day.parse().unwrap());
        let client = address("192.0.2.1");
        let hash = |day| counter.find(day).unwrap().1.hasher().client(&client);
        assert!(counter.take(&client, 1, 1, days[0]).is_ok());
        let first = hash(days[0]);
        assert!(counter.take(&client, 1, 1, days[1]).is_ok());
        assert_ne!(hash(days[1]), first);
        assert!(counter.take(&client, 1, 1, days[0]).is_err(), "a clock slightly behind counts on the new day");
        assert_eq!(counter.give_back(&client, 1, 1, days[0]).remaining, Some(0), "which did not count the day before");
        assert!(counter.take(&client, 1, 1, days[2]).is_ok());
        assert!(counter.take(&client, 1, 1, days[0]).is_ok(), "the clock was set back");
    }
}
