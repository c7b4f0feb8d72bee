//! The indexer.
fn main() {}
