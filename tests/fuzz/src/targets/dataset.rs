//! Rows of CSV files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use data::{NoProgress, Severity, check, compile};
use tempfile::TempDir;

use super::split;

const FILES: [&str; 8] = [
    "firms.csv",
    "startups.csv",
    "funding_rounds.csv",
    "people.csv",
    "reviews.csv",
    "sectors.csv",
    "aliases.csv",
    "snapshot.toml",
];

/// A small dataset of the repository.
pub(super) fn small() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = root.join("tests/fixtures/small");
    if here.is_dir() { here } else { root.join("../fixtures/small") }
}

/// The first byte chooses a file of a small dataset, and whether the others replace it or are rows added to it. It is either
/// compiled into a snapshot that opens, or refused with a problem that names a file of the dataset.
pub fn dataset(bytes: &[u8]) {
    static FOLDER: OnceLock<Mutex<TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        for entry in fs::read_dir(small()).expect("a folder") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
        }
        Mutex::new(folder)
    });
    let folder = folder.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, rest) = split(bytes);
    let name = FILES[place % FILES.len()];
    let file = folder.path().join(name);
    let original = fs::read(small().join(name)).unwrap_or_default();
    let is_added = (place / FILES.len()).is_multiple_of(2);
    let content = if is_added { [original.as_slice(), rest].concat() } else { rest.to_vec() };
    fs::write(&file, content).expect("a file");
    let report = check(folder.path(), &NoProgress);
    let is_valid = report.errors().count() == 0;
    match compile(folder.path(), &NoProgress) {
        Ok(compiled) => {
            assert!(is_valid, "`check` finds problems that `compile` does not: {:?}", report.problems);
            compiled.snapshot().expect("what was compiled opens");
        }
        Err(report) => {
            assert!(!is_valid, "`compile` finds problems that `check` does not: {:?}", report.problems);
            let errors = report.problems.iter().filter(|problem| problem.severity == Severity::Error);
            for problem in errors {
                let text = problem.to_string();
                assert!(FILES.iter().any(|file| text.starts_with(file)), "{text}");
            }
        }
    }
    if original.is_empty() {
        let _ = fs::remove_file(&file);
    } else {
        fs::write(&file, original).expect("a file");
    }
}
