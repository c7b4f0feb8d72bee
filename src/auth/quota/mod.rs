//! Daily quotas, windows of rate limits and client identification, all in memory.
//!
//! [`DailyCounter`] counts the requests of API keys by UTC day; `auth` loads and stores its numbers. [`ClientCounter`] does
//! the same for clients without a key, with [`WindowCounter`], as the rate limits of `auth` do. [`lease`] takes units of counters
//! that several servers share. [`FairQueue`] gives turns to work that costs processor time, and [`WorkMeter`] measures it.

pub(crate) mod client;
pub(crate) mod client_counter;
mod client_hasher;
pub(crate) mod daily_counter;
mod daily_quota;
mod fair_queue;
mod ip_range;
pub(crate) mod lease;
mod tier;
mod window_counter;
mod work_meter;

pub use client::{Allowance, Client, ClientPool};
pub(crate) use client_counter::ClientCounter;
pub(crate) use client_hasher::ClientHasher;
pub use daily_counter::{AddedUsage, CounterId, KeyId, StoredUsage};
pub(crate) use daily_counter::{CountedKey, DailyCounter};
pub use daily_quota::Quota;
pub(crate) use fair_queue::run_in_place;
pub use fair_queue::{BATCHES_OF_CALLER, BatchRefused, FairQueue, Overloaded, QueueUsage, QueuedBatch, WorkCaller};
pub(crate) use ip_range::sign_in_network;
pub use ip_range::{ClientNetwork, IpRange, ParseIpRangeError, client_address, client_networks};
pub use lease::{Denied, FinishedLease, Grant, LeaseRequest, SharedCounter, UnusedUnits};
pub use tier::{
    AnonymousLimits, HUNDREDTHS, LimitChoice, NETWORK_MULTIPLE, ROWS_OF_REQUEST, Tier, TierLimits, TierOrderError,
    Tiers,
};
pub(crate) use window_counter::WindowCounter;
pub use window_counter::{CountedWindow, SharedWindow};
pub use work_meter::{WorkMeter, WorkPrice};
