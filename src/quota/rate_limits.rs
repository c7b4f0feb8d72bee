//! Who may come how often to the pages, to sign-up and to sign-in.

use std::net::IpAddr;

use crate::auth::account::Email;
use crate::quota::RetryAfter;
use crate::quota::client_hasher::ClientHasher;
use crate::quota::rate_limiter::{Counted, RateLimiter, Taken};

/// Failed sign-ins of one account in a [`SIGN_IN_WINDOW`]. Whether there is such an account makes no difference.
pub const FAILED_SIGN_INS_OF_ACCOUNT: u32 = 10;

/// Failed sign-ins from one client address in a [`SIGN_IN_WINDOW`], whatever the accounts.
pub const FAILED_SIGN_INS_OF_ADDRESS: u32 = 30;

/// Seconds in which failed sign-ins are counted together.
pub const SIGN_IN_WINDOW: u32 = 15 * 60;

/// How often one client address may come; operators whose users share one raise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitConfig {
    /// Pages in a minute.
    pub pages_per_minute: u32,
    /// Sign-ups in an hour, those that make no account included.
    pub sign_ups_per_hour: u32,
}

impl Default for RateLimitConfig {
    fn default() -> Self {
        Self { pages_per_minute: 120, sign_ups_per_hour: 5 }
    }
}

/// The throttles of the pages.
#[derive(Debug)]
pub struct RateLimits {
    names: ClientHasher,
    pages: RateLimiter,
    sign_ups: RateLimiter,
    account: RateLimiter,
    address: RateLimiter,
}

/// A sign-up or sign-in that was counted, until it is [settled](Admission::settle).
#[derive(Debug)]
pub enum Attempt {
    /// By address.
    SignUp((Counted, Taken)),
    /// By account and by address.
    SignIn((Counted, Taken), (Counted, Taken)),
}

impl RateLimits {
    /// Nobody was counted; `secret` is 32 bytes of the system's randomness.
    pub fn new(secret: &[u8; 32], allowances: RateLimitConfig) -> Self {
        Self {
            names: ClientHasher::under(secret),
            pages: RateLimiter::new(allowances.pages_per_minute, 60),
            sign_ups: RateLimiter::new(allowances.sign_ups_per_hour, 3_600),
            account: RateLimiter::new(FAILED_SIGN_INS_OF_ACCOUNT, SIGN_IN_WINDOW),
            address: RateLimiter::new(FAILED_SIGN_INS_OF_ADDRESS, SIGN_IN_WINDOW),
        }
    }

    /// Counts a page.
    pub fn page(&self, address: IpAddr, now: i64) -> Result<(), RetryAfter> {
        self.pages.take(Counted::address(&self.names, address), now).map(|_| ())
    }

    /// Counts a sign-up, whether or not it makes an account.
    pub fn sign_up(&self, address: IpAddr, now: i64) -> Result<Attempt, RetryAfter> {
        let client = Counted::address(&self.names, address);
        self.sign_ups.take(client, now).map(|taken| Attempt::SignUp((client, taken)))
    }

    /// Counts a sign-in as failed before its password is looked at: of many at once no more are tried than may fail.
    pub fn sign_in(&self, email: &Email, address: IpAddr, now: i64) -> Result<Attempt, RetryAfter> {
        let client = Counted::address(&self.names, address);
        let account = Counted::text(&self.names, email.as_str());
        let by_address = self.address.take(client, now)?;
        let by_account = self.account.take(account, now)?;
        Ok(Attempt::SignIn((account, by_account), (client, by_address)))
    }

    /// Counts an attempt no longer: a sign-in that did not fail, or whose password was never looked at.
    pub fn settle(&self, attempt: &Attempt) {
        match *attempt {
            Attempt::SignUp((client, taken)) => self.sign_ups.give_back(client, taken),
            Attempt::SignIn((account, by_account), (client, by_address)) => {
                self.account.give_back(account, by_account);
                self.address.give_back(client, by_address);
            }
        }
    }

    /// Drops what no longer counts.
    pub fn forget(&self, now: i64) {
        for throttle in [&self.pages, &self.sign_ups, &self.account, &self.address] {
            throttle.forget(now);
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

    fn admission() -> RateLimits {
        RateLimits::new(&[9; 32], RateLimitConfig { pages_per_minute: 2, sign_ups_per_hour: 1 })
    }

    #[test]
    fn pages_and_sign_ups_are_counted_apart_by_address() {
        let admission = admission();
        for _ in 0..2 {
            assert!(admission.page(ip("192.0.2.1"), NOON).is_ok());
        }
        assert_eq!(admission.page(ip("192.0.2.1"), NOON + 20), Err(RetryAfter { seconds: 40 }));
        assert!(admission.sign_up(ip("192.0.2.1"), NOON).is_ok());
        assert_eq!(admission.sign_up(ip("192.0.2.1"), NOON).unwrap_err(), RetryAfter { seconds: 3_600 });
        assert!(admission.sign_up(ip("192.0.2.2"), NOON).is_ok());
    }

    #[test]
    fn failed_sign_ins_are_counted_by_account_from_all_addresses_and_by_address_for_all_accounts() {
        let admission = admission();
        let ada: Email = "ada@example.com".parse().unwrap();
        for host in 0..10 {
            assert!(admission.sign_in(&ada, IpAddr::from([192, 0, 2, host]), NOON).is_ok());
        }
        assert!(admission.sign_in(&ada, ip("198.51.100.1"), NOON).is_err());
        let others = (1..=30).filter(|number| {
            let email = format!("user{number}@example.com").parse().unwrap();
            admission.sign_in(&email, ip("198.51.100.1"), NOON).is_ok()
        });
        assert_eq!(others.count(), 29, "the one that its account refused counts too");
        assert!(admission.sign_in(&ada, ip("203.0.113.1"), NOON + i64::from(SIGN_IN_WINDOW)).is_ok());
    }

    #[test]
    fn a_sign_in_that_succeeds_is_not_counted_as_failed() {
        let admission = admission();
        let ada: Email = "ada@example.com".parse().unwrap();
        for _ in 0..100 {
            let attempt = admission.sign_in(&ada, ip("192.0.2.1"), NOON).unwrap();
            admission.settle(&attempt);
        }
    }
}
