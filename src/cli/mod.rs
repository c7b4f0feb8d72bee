//! Commands of the indexer and of the operator, and what packages have next to them.

pub mod admin;
pub mod doctor;
pub mod indexer;
pub mod package_files;
pub mod query;
mod reviews;
mod table;
pub(crate) mod version;
pub(crate) mod wrong_turn;
