//! The indexer: datasets that are checked, imported, resolved and built.

mod hostile_files;
mod hostile_formats;
mod import;
mod import_page;
mod invalid_datasets;
mod mutated_files;
mod parquet;
mod program;
mod real_data;
mod resolve;
mod stored_reviews;
mod suppressed;
mod weekly;
mod wrong_turns;
