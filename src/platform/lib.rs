//! The clock, counters, caught panics and outgoing TLS.
//!
//! Nothing here knows of venture data, accounts or requests, so that every other crate may use it.
#![warn(unreachable_pub)]

pub mod clock;
pub mod metrics;
pub mod tls;
