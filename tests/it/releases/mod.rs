//! The server and the indexer as processes on one index: what is published is served, and nothing else.

mod damage;
mod freshness;
mod not_ready;
mod overwritten;
mod policy;
mod replica;
mod swap;
mod system_calls;
mod tables;
