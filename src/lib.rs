//! VentureDex: a venture data service over a versioned, compiled data snapshot. `ARCHITECTURE.md` describes the crates.
#![warn(unreachable_pub)]

/// A fifth of the time of a computed response was spent in the allocator of the C library, which also keeps what it freed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod app;
pub mod cli;
