//! An index folder whose releases are damaged, repaired, removed and named, and what a server must make of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use data::{NoProgress, SnapshotVersion, compile};
use release::ReleaseStore;
use time::OffsetDateTime;

use crate::support::harness::{copy_as, files_below, root};

/// Number of releases that there may be.
pub const RELEASES: u64 = 5;

/// What happens when a release is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    Opens,
    Fails,
}

/// What the index folder has.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// `Some(None)`: the file `current` is garbage.
    pub current: Option<Option<SnapshotVersion>>,
    pub releases: BTreeMap<SnapshotVersion, Behavior>,
    /// Counts the changes.
    pub stamp: u64,
}

impl Folder {
    /// Whether the release can be served.
    pub fn opens(&self, version: SnapshotVersion) -> bool {
        self.releases.get(&version) == Some(&Behavior::Opens)
    }

    /// What a start serves: the named release, otherwise the newest older one that opens; without a valid name the newest.
    pub fn served_at_start(&self) -> Option<SnapshotVersion> {
        let named = self.current?;
        let is_candidate = |version: &SnapshotVersion| named.is_none_or(|named| *version <= named);
        self.releases.keys().rev().copied().filter(is_candidate).find(|version| self.opens(*version))
    }
}

pub fn version(number: u64) -> SnapshotVersion {
    format!("2026-11-20.{number}").parse().unwrap()
}

/// The files of a release with their paths.
type PublishedFiles = Vec<(PathBuf, Vec<u8>)>;

/// Releases of the small dataset, published once and written into the folders of all seeds.
fn published() -> &'static BTreeMap<SnapshotVersion, PublishedFiles> {
    static PUBLISHED: OnceLock<BTreeMap<SnapshotVersion, PublishedFiles>> = OnceLock::new();
    PUBLISHED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let releases = ReleaseStore::at(folder.path());
        let publish = |number: u64| {
            let version = version(number);
            let dataset = copy_as(&root().join("tests/fixtures/small"), &version.to_string());
            let Ok(compiled) = compile(dataset.path(), &NoProgress) else { panic!("the small dataset has a fault") };
            let publisher = releases.begin().unwrap();
            publisher.publish(compiled, OffsetDateTime::UNIX_EPOCH, &NoProgress).unwrap();
            let release = releases.release_folder(version);
            let relative = |path: &Path| path.strip_prefix(&release).unwrap().to_owned();
            let contents = files_below(&release).into_iter().map(|path| (relative(&path), fs::read(path).unwrap()));
            (version, contents.collect::<PublishedFiles>())
        };
        (1..=RELEASES).map(publish).collect()
    })
}

/// An index folder and what it has.
pub struct SimulatedIndex {
    pub releases: ReleaseStore,
    folder: Folder,
}

impl SimulatedIndex {
    /// Serves one release in a new folder.
    pub fn at(place: &Path) -> Self {
        fs::create_dir(place).unwrap();
        let mut index = Self { releases: ReleaseStore::at(place), folder: Folder::default() };
        index.put(version(1), Behavior::Opens);
        index.name(Some(Some(version(1))));
        index
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Names a release, nothing, or garbage.
    pub fn name(&mut self, current: Option<Option<SnapshotVersion>>) {
        let path = self.releases.folder().join("current");
        match current {
            Some(Some(version)) => fs::write(path, version.to_string()).unwrap(),
            Some(None) => fs::write(path, "garbage").unwrap(),
            None if path.exists() => fs::remove_file(path).unwrap(),
            None => {}
        }
        self.folder.current = current;
        self.folder.stamp += 1;
    }

    /// Writes a release, in place of an earlier one of this version.
    pub fn put(&mut self, version: SnapshotVersion, behavior: Behavior) {
        self.remove(version);
        let release = self.releases.release_folder(version);
        for (path, bytes) in &published()[&version] {
            if behavior == Behavior::Fails && path.as_path() == Path::new("tables.bin") {
                continue;
            }
            let place = release.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, bytes).unwrap();
        }
        self.folder.releases.insert(version, behavior);
    }

    pub fn remove(&mut self, version: SnapshotVersion) {
        if self.folder.releases.remove(&version).is_some() {
            fs::remove_dir_all(self.releases.release_folder(version)).unwrap();
        }
        self.folder.stamp += 1;
    }
}
