//! Small datasets and releases for tests.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;
use time::OffsetDateTime;

use crate::file_system::{Fs, OsFs};
use crate::{Publication, Publisher};
use crate::{ReleaseError, ReleaseStore, files};
use data::{Compiled, NoProgress, SnapshotVersion};

// Created by `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`.
pub(crate) const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEpFkdDn1L6uo8kUJ/53dBSW50LXHcPaNdJ+G+tPJe9q\n-----END PRIVATE KEY-----\n";
pub(crate) const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAWQscedaba58nm7jCh/+UVrI7YIRY8nOPErZXEkiZRNM=\n-----END PUBLIC KEY-----\n";
/// A private key that does not belong to [`PUBLIC_KEY`].
pub(crate) const OTHER_PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC\n-----END PRIVATE KEY-----\n";

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/small");

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
    match data::compile(folder.path(), &NoProgress) {
        Ok(compiled) => compiled,
        Err(report) => panic!("{:?}", report.problems),
    }
}

/// Compiles the small dataset as another version.
pub(crate) fn small(version: &str) -> Compiled {
    compiled(version, "\0", "\0")
}

/// A file system without syncs, which only matter for power failures.
pub(crate) struct Unsynced;

impl Fs for Unsynced {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        OsFs.create_folder(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OsFs.create(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // The file must exist.
        fs::metadata(path).map(|_| ())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        fs::metadata(path).map(|_| ())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsFs.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsFs.remove(path)
    }
}

/// An index folder with the small dataset in these versions; the last one is current.
pub(crate) fn index(versions: &[&str]) -> (TempDir, ReleaseStore) {
    let folder = tempfile::tempdir().unwrap();
    let releases = ReleaseStore::at(folder.path().join("index"));
    for version in versions {
        publish(&releases, small(version)).unwrap();
    }
    (folder, releases)
}

/// Treats releases as large ones, whose records stay on disk and whose tables are verified later.
pub(crate) fn as_if_large(releases: &ReleaseStore) -> ReleaseStore {
    ReleaseStore { holds_records: false, ..releases.clone() }
}

pub(crate) fn publish(releases: &ReleaseStore, compiled: Compiled) -> Result<Publication, ReleaseError> {
    finish(&Publisher::begin(releases.clone(), &Unsynced)?, compiled)
}

pub(crate) fn finish(publisher: &Publisher<'_>, compiled: Compiled) -> Result<Publication, ReleaseError> {
    publisher.publish(compiled, OffsetDateTime::UNIX_EPOCH, &NoProgress)
}

/// Makes copies of an index folder.
pub(crate) struct Copies {
    pub made: ReleaseStore,
    folder: TempDir,
}

impl Copies {
    pub(crate) fn new((folder, made): (TempDir, ReleaseStore)) -> Self {
        Self { made, folder }
    }

    pub(crate) fn next(&self) -> (TempDir, ReleaseStore) {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        for file in files(self.made.folder()).unwrap() {
            let place = folder.path().join(&file);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(self.made.folder().join(&file), place).unwrap();
        }
        let releases = ReleaseStore::at(folder.path());
        (folder, releases)
    }
}

/// Replaces a file, even if it is read-only.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

/// The entries of a folder except locks.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}
