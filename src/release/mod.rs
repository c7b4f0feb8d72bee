//! The index folder: releases that the indexer publishes and the server opens.
//!
//! A release is written once and never changed, so that it can be mapped. All that ever changes is the small file
//! `current`, which names the release to serve, and it changes by an atomic rename. Versions are types on their way in,
//! so that no text from a file or a command line becomes a path.

pub mod active;
pub mod checksum;
#[cfg(test)]
mod crash;
pub mod diff;
pub mod error;
pub mod event;
pub mod file_system;
pub mod lock;
pub mod manifest;
pub mod map;
pub mod open;
pub mod publish;
#[cfg(test)]
pub(crate) mod sample;
pub mod source;
#[cfg(test)]
mod tests;
pub mod text;
pub mod watch;
pub use active::ActiveRelease;
pub use error::ReleaseError;
pub use event::Event;
pub use manifest::Manifest;
pub use open::Release;
pub use publish::{Outcome, Publication, Publisher};
pub use watch::{POLL_INTERVAL, ReleaseSource, Watcher, start};

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::data::SnapshotVersion;
use crate::release::error::At;
use crate::release::file_system::{Fs, OsFs};

/// Names the release to serve.
const CURRENT: &str = "current";

/// What `current` will be; left behind, it names the release that a killed build was about to switch to.
const NEXT: &str = ".current.next";

/// Begins the name of a release that is being removed.
const REMOVING: &str = ".removing-";

/// Begins the name of a release that is being built.
const BUILDING: &str = ".building-";

/// The index folder.
#[derive(Clone, Debug)]
pub struct ReleaseStore {
    index: PathBuf,
}

/// A release that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its version.
    pub version: SnapshotVersion,
    /// The bytes that its removal freed.
    pub bytes: u64,
}

impl ReleaseStore {
    /// The releases in the folder `index`, which need not be there yet.
    #[must_use]
    pub fn at(index: impl Into<PathBuf>) -> Self {
        Self { index: index.into() }
    }

    /// The index folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.index
    }

    /// Where the release of this version lies.
    #[must_use]
    pub fn release_folder(&self, version: SnapshotVersion) -> PathBuf {
        self.index.join(version.to_string())
    }

    /// The version that `current` names; `None` where there is no `current`.
    ///
    /// # Errors
    /// [`ReleaseError::BadCurrent`] where it names no version, [`ReleaseError::Io`] where it cannot be read.
    pub fn current(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        read_version(&self.index.join(CURRENT))
    }

    /// The versions that are published, newest first; none where the index folder is not there.
    ///
    /// # Errors
    /// [`ReleaseError::Io`] where the folder cannot be read.
    pub fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError> {
        let entries = match fs::read_dir(&self.index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.at(&self.index)?,
        };
        let mut versions = Vec::new();
        for entry in entries {
            let name = entry.at(&self.index)?.file_name();
            let version = name.to_str().and_then(|name| name.parse::<SnapshotVersion>().ok());
            // A bare date reads as a version too, but no release is called so.
            if let Some(version) = version.filter(|version| name == *version.to_string())
                && self.release_folder(version).is_dir()
            {
                versions.push(version);
            }
        }
        versions.sort_unstable_by(|a, b| b.cmp(a));
        Ok(versions)
    }

    /// The manifest of a release.
    ///
    /// # Errors
    /// [`ReleaseError`] where there is no such release, or its manifest is of another format or damaged.
    pub fn manifest(&self, version: SnapshotVersion) -> Result<Manifest, ReleaseError> {
        let place = self.release_folder(version);
        if !place.is_dir() {
            return Err(ReleaseError::Missing { version, index: self.index.clone() });
        }
        Manifest::read(&place, version)
    }

    /// Changes whenever `current` or a file of the release `version` changes: what was refused may be good now.
    ///
    /// Costs a look at each file's size and time, none at their bytes.
    #[must_use]
    pub fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        let mut stamp = DefaultHasher::new();
        look_at(&self.index.join(CURRENT), 0, &mut stamp);
        if let Some(version) = version {
            look_at(&self.release_folder(version), 3, &mut stamp);
        }
        stamp.finish()
    }

    /// Begins a build: takes the lock of the index and clears what killed builds left over.
    ///
    /// # Errors
    /// [`ReleaseError::Busy`] where another build is at work, [`ReleaseError::Io`].
    pub fn begin(&self) -> Result<Publisher<'static>, ReleaseError> {
        Publisher::begin(self.clone(), &OsFs)
    }

    /// Makes `current` name the release `version`, newer or older, after it was checked. False where it did already.
    ///
    /// # Errors
    /// [`ReleaseError`] where there is no such release or it cannot be served; `current` stays as it is.
    pub fn activate(&self, version: SnapshotVersion) -> Result<bool, ReleaseError> {
        self.open(version)?;
        let _lock = lock::switch(&self.index)?;
        self.manifest(version)?;
        if self.current().is_ok_and(|current| current == Some(version)) {
            return Ok(false);
        }
        self.prepare(&OsFs, version)?;
        self.switch(&OsFs)?;
        Ok(true)
    }

    /// Removes all releases but the newest `keep` and the one that `current` names. A server that serves or holds one
    /// of them keeps it until it lets go.
    ///
    /// # Errors
    /// [`ReleaseError::Busy`] where a build is at work, [`ReleaseError::BadCurrent`] where it is not known which release
    /// is served, [`ReleaseError::Io`].
    pub fn prune(&self, keep: usize) -> Result<Vec<Removed>, ReleaseError> {
        let building = self.begin()?;
        let mut removed = Vec::new();
        {
            let _lock = lock::switch(&self.index)?;
            let current = self.current()?;
            for version in self.versions()?.into_iter().skip(keep).filter(|version| Some(*version) != current) {
                let place = self.release_folder(version);
                let bytes = size(&place).at(&place)?;
                let aside = self.index.join(format!("{REMOVING}{version}"));
                OsFs.rename(&place, &aside).at(&place)?;
                removed.push(Removed { version, bytes });
            }
            OsFs.sync_folder(&self.index).at(&self.index)?;
        }
        building.clear(REMOVING)?;
        Ok(removed)
    }

    /// The next version after `version` on its date that nothing in the index is called by.
    #[must_use]
    pub fn next_free(&self, version: SnapshotVersion) -> SnapshotVersion {
        let mut free = version.next();
        while self.release_folder(free).symlink_metadata().is_ok() && free != free.next() {
            free = free.next();
        }
        free
    }

    /// Writes what `current` is to become. To be called under the lock of switches.
    fn prepare(&self, disk: &dyn Fs, version: SnapshotVersion) -> Result<(), ReleaseError> {
        let next = self.index.join(NEXT);
        disk.remove(&next).at(&next)?;
        let mut file = disk.create(&next).at(&next)?;
        io::Write::write_all(&mut file, format!("{version}\n").as_bytes()).at(&next)?;
        disk.sync_file(&next).at(&next)?;
        disk.sync_folder(&self.index).at(&self.index)
    }

    /// Makes what was prepared the `current`.
    fn switch(&self, disk: &dyn Fs) -> Result<(), ReleaseError> {
        let current = self.index.join(CURRENT);
        disk.rename(&self.index.join(NEXT), &current).at(&current)?;
        disk.sync_folder(&self.index).at(&self.index)
    }
}

/// Reads a file that names a version.
fn read_version(path: &Path) -> Result<Option<SnapshotVersion>, ReleaseError> {
    const LONGEST: u64 = 64;
    let bad = |found: String| ReleaseError::BadCurrent { path: path.to_owned(), found };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at(path),
        Ok(metadata) if !metadata.is_file() => return Err(bad("it is not a file".into())),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)).at(path)?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    text.parse().map(Some).map_err(|_| bad(format!("{text:?} is not a version of the form YYYY-MM-DD.N")))
}

/// Adds to `stamp` what the file system says of a path and of all below it, `depth` folders deep.
fn look_at(path: &Path, depth: u32, stamp: &mut DefaultHasher) {
    let Ok(metadata) = fs::metadata(path) else { return path.hash(stamp) };
    metadata.len().hash(stamp);
    metadata.modified().ok().hash(stamp);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()).hash(stamp);
    }
    if metadata.is_dir()
        && depth > 0
        && let Ok(entries) = fs::read_dir(path)
    {
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        for name in names {
            name.hash(stamp);
            look_at(&path.join(name), depth - 1, stamp);
        }
    }
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for file in files(folder)? {
        bytes += fs::metadata(folder.join(file))?.len();
    }
    Ok(bytes)
}

/// The files in a folder and its folders, as paths inside it, sorted.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort_unstable();
    Ok(found)
}
