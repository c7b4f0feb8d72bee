//! An index folder whose releases are damaged, repaired, removed and named, and panic when they are opened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use data::SnapshotVersion;
use release::{HasVersion, ReleaseError, ReleaseSource};

/// What happens when a release is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    Opens,
    Fails,
    Panics,
}

#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// `Some(None)`: the file `current` is garbage.
    pub current: Option<Option<SnapshotVersion>>,
    pub releases: BTreeMap<SnapshotVersion, Behavior>,
    /// Counts the changes: all, and those of each release, or of `current`.
    pub stamp: u64,
    stamps: BTreeMap<Option<SnapshotVersion>, u64>,
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

pub struct Item {
    version: SnapshotVersion,
    /// The change after which it was opened.
    pub stamp: u64,
}

impl HasVersion for Item {
    fn version(&self) -> SnapshotVersion {
        self.version
    }

    fn is_bundled(&self) -> bool {
        false
    }
}

#[derive(Clone, Default)]
pub struct Source(pub Arc<Mutex<Folder>>);

impl Source {
    pub fn folder(&self) -> Folder {
        self.0.lock().unwrap().clone()
    }

    /// Changes the files of a release, or `current`.
    pub fn change(&self, changed: Option<SnapshotVersion>, change: impl FnOnce(&mut Folder)) {
        let mut folder = self.0.lock().unwrap();
        change(&mut folder);
        folder.stamp += 1;
        *folder.stamps.entry(changed).or_default() += 1;
    }
}

impl ReleaseSource for Source {
    type Item = Item;

    fn current(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        match self.folder().current {
            None => Ok(None),
            Some(Some(version)) => Ok(Some(version)),
            Some(None) => Err(ReleaseError::BadCurrent { path: "index/current".into(), found: "garbage".into() }),
        }
    }

    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError> {
        Ok(self.folder().releases.into_keys().rev().collect())
    }

    fn open(&self, version: SnapshotVersion) -> Result<Item, ReleaseError> {
        let folder = self.folder();
        match folder.releases.get(&version) {
            Some(Behavior::Opens) => Ok(Item { version, stamp: folder.stamp }),
            Some(Behavior::Fails) => Err(ReleaseError::Damaged { version, reason: "tables.bin is missing".into() }),
            Some(Behavior::Panics) => panic!("opened {version}"),
            None => Err(ReleaseError::Missing { version, index: "index".into() }),
        }
    }

    fn unpublished(&self, newest: Option<SnapshotVersion>) -> Result<Item, ReleaseError> {
        Err(ReleaseError::NoneActive { index: "index".into(), newest })
    }

    fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        self.folder().stamps.get(&version).copied().unwrap_or_default()
    }
}
