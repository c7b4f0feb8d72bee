//! VentureDex: a venture data service over a versioned, compiled data snapshot.
//!
//! Modules, lowest layer first; each imports only those before it (`tests/it/layers.rs` checks it):
//!
//! | module | responsibility |
//! |---|---|
//! | [`data`] | record model, CSV import with diagnostics, derived values, archive format, [`data::Snapshot`] |
//! | [`datagen`] | invented datasets |
//! | [`metrics`] | counters of each thread, histograms, panics |
//! | [`search`] | text index over names |
//! | [`sources`] | statements of the sources of a dataset, imports of their files |
//! | [`resolve`] | which records of sources are one firm, startup or person |
//! | [`catalog`] | query core: parameters, filters, sorting, pages, facets, leaderboard, matching |
//! | [`release`] | the index folder: publish, verify, open, watch, the active release |
//! | [`quota`] | daily counters, rate limiters, client identification |
//! | `tls` | which servers outgoing requests trust |
//! | [`mail`] | e-mail through the operator's SMTP server |
//! | [`auth`] | accounts, passwords, sessions, API keys and their store |
//! | [`alerts`] | saved searches and lists, and what each release brings them |
//! | [`http`] | accept loop, headers, content negotiation, problem documents, response cache |
//! | [`api`] | REST v1, v2, v3 |
//! | [`openapi`] | the OpenAPI documents |
//! | [`mcp`] | the MCP endpoint and its six tools |
//! | [`site`] | pages, account pages, docs |
//! | [`app`] | settings, router, startup and shutdown |
//! | [`cli`] | commands of the indexer and of the operator |
//!
//! `build.rs` shares [`data`] by path, so that the bundled dataset is checked and compiled by the same code as any other.
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

/// A fifth of the time of a computed response was spent in the allocator of the C library, which also keeps what it freed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod alerts;
pub mod api;
pub mod app;
pub mod auth;
pub mod catalog;
pub mod cli;
pub mod data;
pub mod datagen;
pub mod http;
pub mod mail;
pub mod mcp;
pub mod metrics;
pub mod openapi;
pub mod quota;
pub mod release;
pub mod resolve;
pub mod search;
pub mod site;
pub mod sources;
mod tls;
