//! Commands of the indexer.

pub mod indexer;
