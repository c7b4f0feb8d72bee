//! VentureDex: a venture data service over a versioned, compiled data snapshot.
//!
//! This package has the server ([`app`]) and all commands ([`cli`]). `ARCHITECTURE.md` describes the other crates.
#![warn(unreachable_pub)]

/// A fifth of the time of a computed response was spent in the allocator of the C library, which also keeps what it freed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod app;
pub mod cli;
