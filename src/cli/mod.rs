//! Commands of the indexer and of the operator.

pub mod admin;
pub mod doctor;
pub mod indexer;
pub mod query;
mod table;
pub(crate) mod version;
pub(crate) mod wrong_turn;
