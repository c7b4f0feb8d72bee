//! Saved searches and lists of records, and what each release brings them.
//!
//! After a swap of releases, [`evaluate`] compares each search and list with the release up to which it was evaluated before, and
//! stores what is new as an alert, together with what is to be sent. The comparison of a search and its alert are one transaction,
//! so that a crash loses nothing and nothing is stored twice. [`Sender`] sends what is due and stores what came of it: a crash in
//! between repeats a message under the same id.

pub mod save;
pub mod webhook;

mod address;
mod entry;
mod evaluation;
mod sender;

pub use address::AlertSecrets;
pub use entry::{AlertEntry, AlertReason, AlertRecord, WatchKind, WatchRecord, entries, record_name, record_page};
pub use evaluation::evaluate;
pub use sender::Sender;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::alerts::webhook::Networks;

/// What front ends and background work share.
pub struct Alerts {
    pub secrets: AlertSecrets,
    /// Where webhooks may lead; `None` if the operator has not turned them on.
    pub networks: Option<Networks>,
    pub counts: AlertCounts,
}

impl Alerts {
    /// `secret` is that of the store.
    pub fn new(secret: &[u8; 32], networks: Option<Networks>) -> Self {
        Self { secrets: AlertSecrets::new(secret), networks, counts: AlertCounts::default() }
    }
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct AlertCounts {
    alerts: AtomicU64,
    delivered: [AtomicU64; 2],
    failed: [AtomicU64; 2],
}

/// How alerts are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Email,
    Webhook,
}

impl Channel {
    pub const ALL: [Self; 2] = [Self::Email, Self::Webhook];

    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Webhook => "webhook",
        }
    }
}

impl AlertCounts {
    pub fn add_alerts(&self, count: usize) {
        self.alerts.fetch_add(count as u64, Ordering::Relaxed);
    }

    fn sent(&self, channel: Channel, is_delivered: bool) {
        let counts = if is_delivered { &self.delivered } else { &self.failed };
        counts[channel as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub fn alerts(&self) -> u64 {
        self.alerts.load(Ordering::Relaxed)
    }

    /// Messages that were delivered, and attempts that failed.
    pub fn messages(&self, channel: Channel) -> [u64; 2] {
        [&self.delivered, &self.failed].map(|counts| counts[channel as usize].load(Ordering::Relaxed))
    }
}
