//! Daily counters, rate limiters, client identification and address ranges.

pub mod client_counter;
pub mod client_hasher;
pub mod client_pool;
pub mod daily_counter;
pub mod ip_net;
pub mod rate_limiter;
pub mod rate_limits;
pub mod standing;
pub mod tier;

pub use client_counter::ClientCounter;
pub use daily_counter::{DailyCounter, KeyTally};
pub use rate_limiter::RetryAfter;
pub use rate_limits::{FAILED_SIGN_INS_OF_ACCOUNT, FAILED_SIGN_INS_OF_ADDRESS, RateLimitConfig, SIGN_IN_WINDOW};
pub use standing::Quota;
pub use tier::{ParseTierError, Tier};
