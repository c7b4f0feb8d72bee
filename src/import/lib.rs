//! Builds datasets from the files of sources.
//!
//! [`parquet_tables`] reads tables of datasets in Parquet.
//! [`sources`] turns files into statements of each source and composes a dataset from them. [`resolve`] decides which
//! records of sources are one firm, startup or person. [`datagen`] invents datasets, such as the bundled one.
#![warn(unreachable_pub)]

pub mod datagen;
pub mod parquet_tables;
pub mod resolve;
pub mod sources;

/// Whether tests take all of their cases, as in `.ci/full`.
#[cfg(test)]
fn takes_all_cases() -> bool {
    std::env::var_os("VENTUREDEX_TEST_ALL").is_some_and(|all| all == "1")
}
