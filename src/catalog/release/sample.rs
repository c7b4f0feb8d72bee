//! Small datasets and their releases, for the tests of this room.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use time::OffsetDateTime;

use super::publish::{Building, Publication};
use super::{ReleaseError, Releases};
use crate::dataset::{self, Compiled, Quiet, SnapshotVersion};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/small");

pub(crate) fn version(text: &str) -> SnapshotVersion {
    text.parse().unwrap()
}

/// Compiles the small dataset as another version, with `from` replaced by `to` in all its files.
pub(crate) fn compiled(version: &str, from: &str, to: &str) -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(SMALL).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("2026-11-20.1", version).replace(from, to);
        fs::write(folder.path().join(path.file_name().unwrap()), text).unwrap();
    }
    match dataset::compile(folder.path(), &Quiet) {
        Ok(compiled) => compiled,
        Err(report) => panic!("{:?}", report.problems),
    }
}

/// The small dataset as another version.
pub(crate) fn small(version: &str) -> Compiled {
    compiled(version, "\0", "\0")
}

/// An index folder with the small dataset as these versions, the last of them current.
pub(crate) fn index(versions: &[&str]) -> (TempDir, Releases) {
    let folder = tempfile::tempdir().unwrap();
    let releases = Releases::at(folder.path().join("index"));
    for version in versions {
        publish(&releases, small(version)).unwrap();
    }
    (folder, releases)
}

pub(crate) fn publish(releases: &Releases, compiled: Compiled) -> Result<Publication, ReleaseError> {
    finish(&releases.begin()?, compiled)
}

pub(crate) fn finish(building: &Building<'_>, compiled: Compiled) -> Result<Publication, ReleaseError> {
    building.publish(compiled, OffsetDateTime::UNIX_EPOCH, &Quiet)
}

/// What lies in a folder, but for locks.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}
