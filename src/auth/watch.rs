//! Saved searches and lists, the alerts that releases bring them, and the outbox. Times are Unix seconds.

use crate::account::{Account, AccountId, Email, KeyName};
use crate::link::Purpose;
use data::{SnapshotVersion, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebhookId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(pub i64);

pub(crate) const ALERT_DAYS: i32 = 90;
pub const MAX_LISTED: u32 = 10_000;
pub const MAX_WEBHOOKS: u32 = 10;

pub const WATCHED: [Table; 4] = [Table::Firms, Table::Startups, Table::Rounds, Table::People];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub id: WatchId,
    pub account: AccountId,
    pub name: KeyName,
    /// One of [`WATCHED`].
    pub table: Table,
    /// The filters of a search in canonical names and values, as the query of a URL; `None` for a list.
    pub query: Option<String>,
    pub listed: u32,
    pub created_at: i64,
    /// The release up to which alerts were made.
    pub evaluated: SnapshotVersion,
    /// Reason that the last release could not be evaluated.
    pub problem: Option<String>,
    /// Number of the current address of its feed.
    pub feed: i64,
    pub emails: bool,
    pub webhook: Option<WebhookId>,
}

#[derive(Clone, Copy, Debug)]
pub struct NewWatch<'a> {
    pub name: &'a KeyName,
    pub table: Table,
    pub query: Option<&'a str>,
    /// The records of a list, by slug or id.
    pub records: &'a [String],
    /// The release that is served: later ones bring alerts.
    pub served: SnapshotVersion,
}

/// `Add` skips records that the list has already. `RenewFeed` gives the feed another address.
#[derive(Clone, Debug)]
pub enum WatchChange {
    Name(KeyName),
    Notify { emails: bool, webhook: Option<WebhookId> },
    Add(Vec<String>),
    Remove(Vec<String>),
    RenewFeed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub id: AlertId,
    pub watch: WatchId,
    /// The release that `version` was compared with.
    pub since: SnapshotVersion,
    pub version: SnapshotVersion,
    pub created_at: i64,
    /// Number of entries. If there are very many, not all are stored.
    pub total: u32,
    /// JSON.
    pub entries: String,
    /// Outcome of the last attempts to send it by e-mail and to a webhook.
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub watch: WatchId,
    /// The `evaluated` of the watch before: the evaluation counts only if nobody else evaluated it in the meantime.
    pub evaluated: SnapshotVersion,
    /// The earlier release of the comparison.
    pub since: SnapshotVersion,
    pub problem: Option<String>,
    /// The number of entries and their JSON; `None` if there is nothing new.
    pub news: Option<(u32, String)>,
    /// Merged records of a list, each with the record that replaces it.
    pub moved: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub account: AccountId,
    pub url: String,
    pub secret: i64,
    /// Unix seconds until which the previous secret is used, too.
    pub previous_until: i64,
    pub created_at: i64,
    pub stopped: Option<String>,
}

/// After `RenewSecret`, the previous secret is used, too, until that time (Unix seconds). `Resume` sends due messages at
/// once, with as many attempts as new ones.
#[derive(Clone, Copy, Debug)]
pub enum WebhookChange<'a> {
    RenewSecret { previous_until: i64 },
    Stop(&'a str),
    Resume { now: i64 },
}

/// Due messages for one receiver, oldest first.
#[derive(Clone, Debug)]
pub struct DueDeliveries {
    pub account: AccountId,
    /// The address for e-mails; `None` if it is not verified.
    pub email: Option<Email>,
    /// `None`: by e-mail.
    pub webhook: Option<Webhook>,
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: DeliveryId,
    pub watch: Watch,
    pub alert: Alert,
    pub attempts: u32,
}

/// A link to be sent to the owner of an account. It is made when it is sent: until then there is no secret.
#[derive(Clone, Debug)]
pub struct DueLink {
    pub id: DeliveryId,
    pub account: Account,
    pub purpose: Purpose,
    pub attempts: u32,
    /// Unix seconds from which it is no longer sent.
    pub expires_at: i64,
}

#[derive(Clone, Debug)]
pub struct DeliveryResult {
    pub id: DeliveryId,
    pub outcome: String,
    /// Unix seconds of the next attempt; `None` if there is none.
    pub due_at: Option<i64>,
}
