//! Tickets of sign-ins that waited in vain: they keep a place in the [line](crate::password::line) for the next request.
//!
//! A ticket is signed and not stored. Each is valid once, for [`TICKET_SECONDS`]; only the used ones of that time are
//! remembered, by each server for itself.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::StoreResult;
use crate::derived_secret::DerivedSecret;
use crate::service::random;

/// Seconds to enter the password again.
const TICKET_SECONDS: i64 = 300;

/// First arrival, end and a random number, 8 bytes each.
const CONTENT_LEN: usize = 24;
/// As long as that of a known browser.
const TAG_LEN: usize = 16;

/// `Debug` hides it: whoever has it takes the place.
#[derive(Clone, PartialEq, Eq)]
pub struct SignInTicket(String);

hide_debug!(SignInTicket);

impl SignInTicket {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

pub(crate) struct SignInTickets {
    secret: DerivedSecret,
    used: Mutex<UsedTickets>,
}

/// Numbers of used tickets: those of the last [`TICKET_SECONDS`], and of as long before.
#[derive(Default)]
struct UsedTickets {
    since: i64,
    last: HashSet<u64>,
    before: HashSet<u64>,
}

impl SignInTickets {
    /// Servers that share a store use the same secret.
    pub(crate) fn new(secret: DerivedSecret) -> Self {
        Self { secret, used: Mutex::default() }
    }

    /// A ticket for somebody who came at `arrived_at` and has waited until `now` (Unix seconds).
    pub(crate) fn issue(&self, arrived_at: i64, now: i64) -> StoreResult<SignInTicket> {
        let mut bytes = Vec::with_capacity(CONTENT_LEN + TAG_LEN);
        for number in [arrived_at, now.saturating_add(TICKET_SECONDS), i64::from_be_bytes(random()?)] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let tag = self.secret.tag(&bytes);
        bytes.extend_from_slice(&tag[..TAG_LEN]);
        Ok(SignInTicket(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The time of the first arrival in Unix seconds, not after `now`. `None` if the ticket was used or changed, or has expired.
    pub(crate) fn redeem(&self, ticket: &str, now: i64) -> Option<i64> {
        let bytes: [u8; CONTENT_LEN + TAG_LEN] = URL_SAFE_NO_PAD.decode(ticket).ok()?.try_into().ok()?;
        let (content, tag) = bytes.split_at(CONTENT_LEN);
        let number = |index: usize| i64::from_be_bytes(content[index * 8..][..8].try_into().expect("8 bytes"));
        let (arrived_at, ends_at) = (number(0), number(1));
        if !self.secret.verify(content, tag) || now >= ends_at || ends_at.saturating_sub(now) > TICKET_SECONDS {
            return None;
        }
        let is_new = self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(number(2).cast_unsigned(), now);
        is_new.then_some(arrived_at.min(now))
    }
}

impl UsedTickets {
    /// False if the number is there already.
    fn insert(&mut self, number: u64, now: i64) -> bool {
        if now.abs_diff(self.since) >= TICKET_SECONDS.unsigned_abs() {
            self.before = std::mem::take(&mut self.last);
            self.since = now;
        }
        !self.before.contains(&number) && self.last.insert(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400;

    fn tickets(secret: u8) -> SignInTickets {
        SignInTickets::new(DerivedSecret::new(&[secret; 32], "places of sign-ins"))
    }

    #[test]
    fn a_ticket_is_valid_once_and_for_five_minutes() {
        let tickets = tickets(7);
        let issue = || tickets.issue(NOON - 60, NOON).unwrap();
        let ticket = issue();
        assert_eq!(tickets.redeem(ticket.reveal(), NOON + 1), Some(NOON - 60));
        for second in [1, 2, 150, 299, 300] {
            assert_eq!(tickets.redeem(ticket.reveal(), NOON + second), None, "{second}");
        }
        assert_eq!(tickets.redeem(issue().reveal(), NOON + 299), Some(NOON - 60));
        assert_eq!(tickets.redeem(issue().reveal(), NOON + 300), None);
        assert_eq!(tickets.redeem(issue().reveal(), NOON - 1), None, "it is issued later");
        assert_eq!(format!("{ticket:?}"), "SignInTicket(…)");
        // Tickets used at the end of one period are known in the next.
        let late = tickets.issue(NOON, NOON + 100_000).unwrap();
        assert!(tickets.redeem(late.reveal(), NOON + 100_000).is_some());
        let other = tickets.issue(NOON, NOON + 100_299).unwrap();
        assert!(tickets.redeem(other.reveal(), NOON + 100_299).is_some());
        assert!(tickets.redeem(tickets.issue(NOON, NOON + 100_300).unwrap().reveal(), NOON + 100_300).is_some());
        assert_eq!(tickets.redeem(other.reveal(), NOON + 100_301), None);
    }

    #[test]
    fn a_changed_or_foreign_ticket_is_invalid() {
        let tickets = tickets(7);
        let ticket = tickets.issue(NOON, NOON).unwrap();
        assert_eq!(super::tests::tickets(8).redeem(ticket.reveal(), NOON), None);
        for index in 0..CONTENT_LEN + TAG_LEN {
            let mut bytes = URL_SAFE_NO_PAD.decode(ticket.reveal()).unwrap();
            bytes[index] ^= 1;
            assert_eq!(tickets.redeem(&URL_SAFE_NO_PAD.encode(bytes), NOON), None, "byte {index}");
        }
        for text in ["", "é", "AAAA", &ticket.reveal().repeat(2)] {
            assert_eq!(tickets.redeem(text, NOON), None, "{text}");
        }
        assert!(tickets.redeem(ticket.reveal(), NOON).is_some());
    }
}
