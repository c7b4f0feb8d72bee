//! The indexer: datasets that are checked, imported, resolved and built.

mod import;
mod invalid_datasets;
mod program;
mod real_data;
mod resolve;
mod suppressed;
