//! VentureDex: a venture data service over a versioned, compiled data snapshot.
//!
//! The way through the house, from the ground up; imports run only downwards:
//!
//! | room | holds | knows |
//! |---|---|---|
//! | [`dataset`] | CSV rows, vocabularies, checks, the peer score, the [`dataset::Snapshot`] and its archive | nothing here |
//! | [`search`] | the text index over names; the only user of tantivy | `dataset` |
//! | [`catalog`] | the one query core, the release folder, the live swap | `search`, `dataset` |
//! | [`access`] | accounts, keys, tiers, the meter of daily quotas, their store | `dataset` |
//! | [`web`] | REST v1, v2, v3, MCP; the only user of warp | all above |
//! | [`server`], [`config`] | accept loop, settings | all above |
//!
//! `build.rs` shares [`dataset`] by path, so that the bundled dataset is checked and compiled by the same code as
//! any other.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod access;
pub mod catalog;
pub mod config;
pub mod dataset;
pub mod generator;
pub mod indexer;
pub mod search;
pub mod server;
pub mod web;
