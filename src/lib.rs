//! VentureDex: a venture data service over a versioned, compiled data snapshot.
//!
//! This package has the server's settings, router, start and stop ([`app`]) and all commands ([`cli`]). The other crates
//! are in the folders below; `ARCHITECTURE.md` describes them.
#![warn(unreachable_pub)]

/// A fifth of the time of a computed response was spent in the allocator of the C library, which also keeps what it freed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod app;
pub mod cli;
