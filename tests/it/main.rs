//! Behaviour of the whole, in one binary: every test binary would link tantivy and warp again.

mod account;
mod alerts;
mod api;
mod commands;
mod indexer;
mod mcp;
mod pages;
mod releases;
mod repository;
mod reviews;
mod search;
mod server;
mod simulator;
mod support;
