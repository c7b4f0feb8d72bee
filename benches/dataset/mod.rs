//! The data of a benchmark: a dataset, compiled and indexed in memory.

use std::path::Path;

use catalog::{Catalog, TextIndexes};
use data::{NoProgress, compile};

/// Compiles the dataset in a folder and indexes its names.
pub fn catalog(folder: &Path) -> Catalog {
    let compiled = compile(folder, &NoProgress).unwrap_or_else(|report| {
        panic!("{}", report.errors().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    });
    let snapshot = compiled.snapshot().expect("a snapshot");
    drop(compiled);
    let texts = TextIndexes::in_memory(&snapshot).expect("text indexes");
    Catalog::new(snapshot, texts)
}
