//! Rate limits of pages, sign-ups and failed sign-ins.
//!
//! Servers that share a store count in it, so that three servers admit no more guesses than one; each server counts
//! pages by itself. If a call of the store fails, nothing is admitted.

use std::fmt;
use std::net::IpAddr;

use crate::quota::{Client, ClientHasher, CountedWindow, WindowCounter, run_in_place};
use crate::{AccountError, AccountResult, CounterStore};
use platform::metrics::Counter;

/// Failed sign-ins of one account, existing or not, from one network (IPv4 /24, IPv6 /48) per [`SIGN_IN_WINDOW`].
///
/// The first of each network and its further ones are classes of their own: 17 networks get their first two, and further
/// ones are enough for two networks. So strangers can guess a password 50 times per window, 4,800 times a day, and those who
/// guess from fewer than 17 networks do not keep an owner from signing in from another one. If they keep the table of
/// attempts full, they get about one more guess per 100,000 attempts.
#[cfg(test)]
pub(crate) const FAILED_SIGN_INS_OF_NETWORK: u32 = FIRST_SIGN_INS_OF_NETWORK + FURTHER_SIGN_INS_OF_NETWORK;
const FIRST_SIGN_INS_OF_NETWORK: u32 = 2;
const FURTHER_SIGN_INS_OF_NETWORK: u32 = 8;

/// Passwords entered in one session, or in all known browsers of an account, per [`SIGN_IN_WINDOW`], right or wrong; and
/// codes of an app, in known browsers and in others. Strangers cannot use up what is for sessions and known browsers. A thief of
/// a session or of the cookie of a known browser gets this many more guesses.
pub(crate) const PASSWORDS_OF_OWNER: u32 = 10;

/// Recovery codes entered for one account, in known browsers and in others, per [`SIGN_IN_WINDOW`]. Nobody guesses one of 80
/// bits; the limit bounds the work.
pub(crate) const RECOVERY_CODES_OF_OWNER: u32 = 5;

/// Failed sign-ins from one client address per [`SIGN_IN_WINDOW`], whatever the accounts.
pub(crate) const FAILED_SIGN_INS_OF_ADDRESS: u32 = 30;

/// E-mails to one account per hour, so that nobody floods its owner.
pub(crate) const MAILS_TO_ACCOUNT: u32 = 3;

/// E-mails requested from one client address per hour.
pub(crate) const MAILS_FOR_ADDRESS: u32 = 20;

/// Reports of reviews from one client address per hour.
pub(crate) const REPORTS_OF_ADDRESS: u32 = 10;

/// Unknown API keys that are looked up for one client address per minute, counted by each server.
pub(crate) const UNKNOWN_KEYS_PER_MINUTE: u32 = 60;

/// Seconds.
pub(crate) const SIGN_IN_WINDOW: u32 = 15 * 60;

/// 131,072 entries for each limit.
const BUCKETS: usize = 1 << 13;

const MAX_BYTES: usize = 1_800_000;

const _: () = assert!(WindowCounter::max_bytes(BUCKETS) <= MAX_BYTES);

/// Limits per client address; an IPv6 /56 and /48 have multiples of them. To be raised if many users share an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitConfig {
    pub pages_per_minute: u32,
    /// Includes sign-ups that create no account.
    pub sign_ups_per_hour: u32,
}

impl Default for RateLimitConfig {
    fn default() -> Self {
        Self { pages_per_minute: 120, sign_ups_per_hour: 5 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// At least 1; the value of a `Retry-After` header.
    pub seconds: u64,
}

impl fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            1 => f.write_str("wait 1 second and try again"),
            seconds @ 2..120 => write!(f, "wait {seconds} seconds and try again"),
            seconds => write!(f, "wait {} minutes and try again", seconds.div_ceil(60)),
        }
    }
}

pub(crate) struct RateLimit {
    pub(crate) limit: u32,
    counter: WindowCounter,
    denied: Counter,
}

/// A counted request, which can be given back; `at` is Unix seconds.
pub(crate) enum CountedRequest {
    Here { client: Client, at: i64 },
    InStore(Vec<CountedWindow>),
}

/// The store that counts, if several servers share it.
type SharedStore<'s> = Option<&'s dyn CounterStore>;

impl RateLimit {
    pub(crate) fn take(&self, store: SharedStore<'_>, client: Client, now: i64) -> AccountResult<CountedRequest> {
        self.try_take(store, client, now)?.map_err(|seconds| AccountError::Throttled(self.deny(seconds)))
    }

    pub(crate) fn take_here(&self, client: Client, now: i64) -> Result<CountedRequest, RetryAfter> {
        self.try_take_here(client, now).map_err(|seconds| self.deny(seconds))
    }

    /// Counts a request, or returns the seconds to the end of its window, which is no refusal yet.
    fn try_take(&self, store: SharedStore<'_>, client: Client, now: i64) -> AccountResult<Result<CountedRequest, u64>> {
        let Some(store) = store else { return Ok(self.try_take_here(client, now)) };
        let windows = self.counter.shared(&client, self.limit);
        let counted = run_in_place(|| store.count(&windows))?;
        Ok(counted.map(CountedRequest::InStore))
    }

    fn try_take_here(&self, client: Client, now: i64) -> Result<CountedRequest, u64> {
        self.counter.take(&client, self.limit, now).map(|_| CountedRequest::Here { client, at: now })
    }

    fn deny(&self, seconds: u64) -> RetryAfter {
        self.denied.add(1);
        RetryAfter { seconds }
    }

    pub(crate) fn give_back(&self, store: SharedStore<'_>, counted: &CountedRequest) {
        match (counted, store) {
            (CountedRequest::Here { client, at }, _) => self.counter.give_back(client, *at),
            // If it fails, the request remains counted until its window ends.
            (CountedRequest::InStore(windows), Some(store)) => drop(run_in_place(|| store.uncount(windows))),
            (CountedRequest::InStore(_), None) => {}
        }
    }
}

pub(crate) struct RateLimits {
    pub(crate) pages: RateLimit,
    pub(crate) sign_ups: RateLimit,
    first_sign_ins_of_account: RateLimit,
    further_sign_ins_of_account: RateLimit,
    sign_ins_of_address: RateLimit,
    /// Passwords entered in a known browser or a session of an account, and codes of its app, from all addresses.
    pub(crate) passwords_of_owner: RateLimit,
    pub(crate) recovery_codes: RateLimit,
    mails_of_account: RateLimit,
    mails_of_address: RateLimit,
    pub(crate) reports: RateLimit,
    pub(crate) unknown_keys: RateLimit,
}

pub(crate) struct Attempt {
    of_account: CountedRequest,
    /// True if it is one of the first of its network.
    is_first: bool,
    of_address: CountedRequest,
}

impl RateLimits {
    /// Servers that share a store use the same secret of the hashes.
    pub(crate) fn new(hasher: &ClientHasher, config: RateLimitConfig) -> Self {
        // In a store, all limits are counted in one table.
        let limit = |name: &str, limit, seconds| {
            let counter = WindowCounter::new(seconds, hasher.derived(name.as_bytes()), BUCKETS);
            RateLimit { limit, counter, denied: Counter::default() }
        };
        Self {
            pages: limit("pages", config.pages_per_minute, 60),
            sign_ups: limit("sign ups", config.sign_ups_per_hour, 3_600),
            first_sign_ins_of_account: limit("first sign ins", FIRST_SIGN_INS_OF_NETWORK, SIGN_IN_WINDOW),
            further_sign_ins_of_account: limit("sign ins of account", FURTHER_SIGN_INS_OF_NETWORK, SIGN_IN_WINDOW),
            sign_ins_of_address: limit("sign ins of address", FAILED_SIGN_INS_OF_ADDRESS, SIGN_IN_WINDOW),
            passwords_of_owner: limit("passwords of owner", PASSWORDS_OF_OWNER, SIGN_IN_WINDOW),
            recovery_codes: limit("recovery codes", RECOVERY_CODES_OF_OWNER, SIGN_IN_WINDOW),
            mails_of_account: limit("mails of account", MAILS_TO_ACCOUNT, 3_600),
            mails_of_address: limit("mails of address", MAILS_FOR_ADDRESS, 3_600),
            reports: limit("reports", REPORTS_OF_ADDRESS, 3_600),
            unknown_keys: limit("unknown keys", UNKNOWN_KEYS_PER_MINUTE, 60),
        }
    }

    /// Counts a sign-in as failed before its password is verified, so that concurrent attempts cannot exceed the limit.
    pub(crate) fn count_sign_in(
        &self,
        store: SharedStore<'_>,
        email: &str,
        address: IpAddr,
        now: i64,
    ) -> AccountResult<Attempt> {
        let of_address = self.sign_ins_of_address.take(store, Client::Address(address), now)?;
        let (first, further) = (&self.first_sign_ins_of_account, &self.further_sign_ins_of_account);
        let wait = match first.try_take(store, Client::FirstSignIn(email.into(), address), now)? {
            Ok(of_account) => return Ok(Attempt { of_account, is_first: true, of_address }),
            Err(wait) => wait,
        };
        match further.try_take(store, Client::FurtherSignIn(email.into(), address), now)? {
            Ok(of_account) => Ok(Attempt { of_account, is_first: false, of_address }),
            Err(seconds) => Err(AccountError::Throttled(further.deny(seconds.min(wait)))),
        }
    }

    pub(crate) fn uncount_sign_in(&self, store: SharedStore<'_>, attempt: &Attempt) {
        self.uncount_unverified(store, attempt);
        self.sign_ins_of_address.give_back(store, &attempt.of_address);
    }

    /// Uncounts a sign-in whose password was not verified for its account; it remains counted for its address.
    pub(crate) fn uncount_unverified(&self, store: SharedStore<'_>, attempt: &Attempt) {
        let limit = match attempt.is_first {
            true => &self.first_sign_ins_of_account,
            false => &self.further_sign_ins_of_account,
        };
        limit.give_back(store, &attempt.of_account);
    }

    pub(crate) fn count_mail(&self, store: SharedStore<'_>, email: &str, from: IpAddr, now: i64) -> AccountResult<()> {
        self.mails_of_address.take(store, Client::Address(from), now)?;
        self.mails_of_account.take(store, Client::Mailbox(email.into()), now).map(drop)
    }

    fn by_kind(&self) -> [(&'static str, Vec<&RateLimit>); 6] {
        [
            ("pages", vec![&self.pages]),
            ("sign_ups", vec![&self.sign_ups]),
            (
                "sign_ins",
                vec![
                    &self.first_sign_ins_of_account,
                    &self.further_sign_ins_of_account,
                    &self.sign_ins_of_address,
                    &self.passwords_of_owner,
                    &self.recovery_codes,
                ],
            ),
            ("mails", vec![&self.mails_of_account, &self.mails_of_address]),
            ("reports", vec![&self.reports]),
            ("unknown_keys", vec![&self.unknown_keys]),
        ]
    }

    pub(crate) fn denied(&self) -> [(&'static str, u64); 6] {
        self.by_kind().map(|(kind, limits)| (kind, limits.iter().map(|limit| limit.denied.get()).sum()))
    }

    pub(crate) fn remove_expired(&self, now: i64) {
        for (_, limits) in self.by_kind() {
            limits.iter().for_each(|limit| limit.counter.remove_expired(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    impl RateLimits {
        fn count_page(&self, address: IpAddr, now: i64) -> Result<(), RetryAfter> {
            self.pages.take_here(Client::Address(address), now).map(drop)
        }

        pub(crate) fn count_sign_up(&self, store: SharedStore<'_>, address: IpAddr, now: i64) -> AccountResult<()> {
            self.sign_ups.take(store, Client::Address(address), now).map(drop)
        }
    }

    fn rate_limits() -> RateLimits {
        RateLimits::new(&ClientHasher::new(&[9; 32]), RateLimitConfig { pages_per_minute: 2, sign_ups_per_hour: 1 })
    }

    #[test]
    fn pages_and_sign_ups_are_counted_separately_by_address() {
        let limits = rate_limits();
        for _ in 0..2 {
            assert!(limits.count_page(ip("192.0.2.1"), NOON).is_ok());
        }
        assert_eq!(limits.count_page(ip("192.0.2.1"), NOON + 20), Err(RetryAfter { seconds: 40 }));
        assert_eq!(limits.count_page(ip("192.0.2.1"), NOON + 59), Err(RetryAfter { seconds: 1 }));
        assert!(limits.count_sign_up(None, ip("192.0.2.1"), NOON).is_ok());
        let refused = limits.count_sign_up(None, ip("192.0.2.1"), NOON).unwrap_err();
        assert_eq!(refused.retry_after(), Some(RetryAfter { seconds: 3_600 }));
        assert!(limits.count_sign_up(None, ip("192.0.2.2"), NOON).is_ok());
    }

    #[test]
    fn one_customer_of_a_provider_does_not_get_unlimited_sign_ups() {
        let limits = rate_limits();
        let signed_up =
            (0..60).filter(|n| limits.count_sign_up(None, ip(&format!("2001:470:1f00:{n:x}00::1")), NOON).is_ok());
        assert_eq!(signed_up.count(), 16);
        assert!(limits.count_sign_up(None, ip("2001:470:1f01::1"), NOON).is_ok(), "another customer");
    }

    #[test]
    fn failed_sign_ins_are_counted_by_account_from_all_addresses_and_by_address_for_all_accounts() {
        let limits = rate_limits();
        let guesses = |network: u8| {
            let address = |host| IpAddr::from([192, 0, network, host]);
            (0..12).filter(|host| limits.count_sign_in(None, "ada@example.com", address(*host), NOON).is_ok()).count()
        };
        let admitted: Vec<usize> = (0..20).map(guesses).collect();
        assert_eq!(admitted[..4], [10, 10, 2, 2], "a network that has not tried yet gets its first attempts");
        assert_eq!((admitted.iter().sum::<usize>(), &admitted[16..]), (50, &[2, 0, 0, 0][..]), "50 from all networks");
        assert!(limits.count_sign_in(None, "ada@example.com", ip("198.51.100.1"), NOON).is_err());
        let others = (1..=30).filter(|number| {
            limits.count_sign_in(None, &format!("user{number}@example.com"), ip("198.51.100.1"), NOON).is_ok()
        });
        assert_eq!(others.count(), 29, "the attempt rejected for its account counts too");
        assert!(
            limits.count_sign_in(None, "ada@example.com", ip("203.0.113.1"), NOON + i64::from(SIGN_IN_WINDOW)).is_ok()
        );
        let of_48 =
            |number: u32| limits.count_sign_in(None, "zoe@example.com", ip(&format!("2001:db8:1:{number:x}::1")), NOON);
        assert_eq!((0..99).filter(|number| of_48(*number).is_ok()).count(), 10, "a /48 is one network");
    }

    #[test]
    fn a_sign_in_that_succeeds_is_not_counted_as_failed() {
        let limits = rate_limits();
        for _ in 0..100 {
            let attempt = limits.count_sign_in(None, "ada@example.com", ip("192.0.2.1"), NOON).unwrap();
            limits.uncount_sign_in(None, &attempt);
        }
    }

    #[test]
    fn a_sign_in_that_was_not_verified_counts_for_its_address_and_not_for_the_account() {
        let limits = rate_limits();
        let refused = (0..100).map_while(|_| limits.count_sign_in(None, "ada@example.com", ip("192.0.2.1"), NOON).ok());
        assert_eq!(refused.map(|attempt| limits.uncount_unverified(None, &attempt)).count(), 30);
        assert!(limits.count_sign_in(None, "ada@example.com", ip("192.0.2.2"), NOON).is_ok());
        let refused_of_48 = (0..2_000).filter(|number| {
            let attempt = limits.count_sign_in(None, "ada@example.com", ip(&format!("2001:db8:1:{number:x}::1")), NOON);
            attempt.map(|attempt| limits.uncount_unverified(None, &attempt)).is_ok()
        });
        assert_eq!(refused_of_48.count(), 480);
    }

    #[test]
    fn waiting_times_are_shown_in_seconds_up_to_two_minutes() {
        for (seconds, expected) in [
            (1, "wait 1 second and try again"),
            (59, "wait 59 seconds and try again"),
            (120, "wait 2 minutes and try again"),
            (841, "wait 15 minutes and try again"),
        ] {
            assert_eq!(RetryAfter { seconds }.to_string(), expected);
        }
    }
}
