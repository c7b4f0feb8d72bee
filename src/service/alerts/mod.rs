//! Saved searches, lists of records, and the alerts that each release creates for them.
//!
//! After a release swap, [`evaluate`] compares each search and list with the release up to which it was evaluated
//! before, and stores the differences as an alert, together with the messages to be sent. The progress of a search and
//! its alert are stored in one transaction, so a crash neither loses nor repeats an alert. [`AlertSender`] sends due
//! messages and stores the outcome; after a crash in between, a message is repeated under the same id.

pub mod save;
pub mod webhook;

mod address;
mod entry;
mod evaluation;
mod sender;

pub use address::AlertSecrets;
pub use entry::{AlertEntry, AlertReason, AlertRecord, WatchKind, WatchRecord, entries, record_name, record_page};
pub use evaluation::evaluate;
pub use sender::AlertSender;

use crate::alerts::webhook::Networks;
use data::vocabulary::{Vocabulary, vocabulary};
use platform::metrics::Counter;

pub struct Alerts {
    pub secrets: AlertSecrets,
    /// Networks allowed for webhooks; `None` if the operator has not turned webhooks on.
    pub networks: Option<Networks>,
    pub counts: AlertCounts,
}

impl Alerts {
    pub fn new(secret: &[u8; 32], networks: Option<Networks>) -> Self {
        Self { secrets: AlertSecrets::new(secret), networks, counts: AlertCounts::default() }
    }
}

#[derive(Debug, Default)]
pub struct AlertCounts {
    pub alerts: Counter,
    /// Delivered messages and failed attempts, by channel.
    messages: [[Counter; 2]; 2],
}

vocabulary! {
    /// Delivery channel of alerts.
    Channel, "channel", {
        Email = "email",
        Webhook = "webhook",
    }
}

impl AlertCounts {
    fn sent(&self, channel: Channel, is_delivered: bool) {
        self.messages[channel as usize][usize::from(!is_delivered)].add(1);
    }

    /// Number of delivered messages and of failed attempts.
    pub fn messages(&self, channel: Channel) -> [u64; 2] {
        self.messages[channel as usize].each_ref().map(Counter::get)
    }
}
