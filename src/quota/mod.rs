//! Daily quotas, rate limits and client identification, all in memory.
//!
//! [`DailyCounter`] counts the requests of API keys by UTC day; `auth` loads and stores its numbers. [`ClientCounter`] does
//! the same for clients without a key, and [`RateLimits`] bounds pages, sign-ups and sign-ins; both use
//! [`window_counter::WindowCounter`]. [`WorkQueue`] bounds the work that runs at a time.

pub(crate) mod client;
pub(crate) mod client_counter;
mod client_hasher;
pub(crate) mod daily_counter;
mod daily_quota;
mod ip_range;
pub(crate) mod lease;
pub(crate) mod rate_limits;
mod tier;
pub(crate) mod window_counter;
mod work_queue;

pub use client::{Client, ClientPool};
pub(crate) use client_counter::ClientCounter;
pub(crate) use client_hasher::ClientHasher;
pub use daily_counter::{AddedUsage, CounterId, KeyId, StoredUsage};
pub(crate) use daily_counter::{CountedKey, DailyCounter};
pub use daily_quota::Quota;
pub(crate) use ip_range::{ClientNetwork, client_networks};
pub use ip_range::{IpRange, ParseIpRangeError, client_address};
pub use lease::{Denied, Grant, LeaseRequest, SharedCounter, StoreAway, UnusedUnits};
pub(crate) use rate_limits::RateLimits;
pub use rate_limits::{RateLimitConfig, RetryAfter};
pub use tier::Tier;
pub use work_queue::{Overloaded, QueueUsage, WorkQueue};
