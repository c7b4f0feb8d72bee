//! The clock, counters, caught panics, limits of the process, its memory and outgoing TLS.
//!
//! Nothing here knows of venture data, accounts or requests, so that every other crate may use it.
#![warn(unreachable_pub)]

pub mod clock;
pub mod limits;
pub mod memory;
pub mod metrics;
pub mod pause;
pub mod tls;

/// Name and version of the program, in what it writes.
pub const PROGRAM: &str = concat!("venturedex ", env!("CARGO_PKG_VERSION"));

/// `User-Agent` of the requests that the server makes.
pub const USER_AGENT: &str = concat!("VentureDex/", env!("CARGO_PKG_VERSION"));
