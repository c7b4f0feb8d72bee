//! Sources of releases: the index folder, or a fake in the tests of the watcher.

use crate::{Release, ReleaseError, ReleaseStore, open};
use catalog::{Catalog, bundled};
use data::SnapshotVersion;

pub trait HasVersion {
    fn version(&self) -> SnapshotVersion;

    /// True for the bundled snapshot; a release of the index may have the same version.
    fn is_bundled(&self) -> bool;
}

pub trait ReleaseSource: Send + Sync + 'static {
    type Item: HasVersion + Send + Sync + 'static;

    /// The release to serve; `None` if none is named.
    fn current(&self) -> Result<Option<SnapshotVersion>, ReleaseError>;

    /// All releases, newest first.
    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError>;

    /// Verifies and opens a release and runs typical queries on it. May take seconds: call it off the runtime.
    fn open(&self, version: SnapshotVersion) -> Result<Self::Item, ReleaseError>;

    /// Like [`ReleaseSource::open`], for a server that serves nothing yet: slow verification is left to
    /// [`ReleaseSource::verify`].
    fn open_at_once(&self, version: SnapshotVersion) -> Result<Self::Item, ReleaseError> {
        self.open(version)
    }

    /// Completes the verification left by [`ReleaseSource::open_at_once`], and runs typical queries. False if nothing
    /// was left.
    fn verify(&self, _opened: &Self::Item) -> Result<bool, ReleaseError> {
        Ok(false)
    }

    /// The release to serve if none is named; `newest` is the newest one available.
    fn unpublished(&self, newest: Option<SnapshotVersion>) -> Result<Self::Item, ReleaseError>;

    /// A hash that changes with anything that [`ReleaseSource::open`] reads for a version, or with
    /// [`ReleaseSource::current`] if none is given.
    fn stamp(&self, version: Option<SnapshotVersion>) -> u64;
}

impl ReleaseSource for ReleaseStore {
    type Item = Catalog;

    fn current(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        Self::current(self)
    }

    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError> {
        Self::versions(self)
    }

    fn open(&self, version: SnapshotVersion) -> Result<Catalog, ReleaseError> {
        let release = Self::open(self, version)?;
        release.smoke_test()?;
        self.with_files(release)
    }

    fn open_at_once(&self, version: SnapshotVersion) -> Result<Catalog, ReleaseError> {
        let release = self.open_unchecked(version)?;
        if release.catalog.snapshot().is_checked() {
            release.smoke_test()?;
        }
        self.with_files(release)
    }

    fn verify(&self, catalog: &Catalog) -> Result<bool, ReleaseError> {
        let snapshot = catalog.snapshot();
        if snapshot.is_checked() {
            return Ok(false);
        }
        snapshot.check(&|_| {}).map_err(|error| ReleaseError::archive(catalog.version(), &error))?;
        open::smoke_test(catalog).map(|()| true)
    }

    fn unpublished(&self, newest: Option<SnapshotVersion>) -> Result<Catalog, ReleaseError> {
        match newest {
            None if self.is_optional => Ok(bundled()?),
            _ => Err(ReleaseError::NoneActive { index: self.location().to_owned(), newest }),
        }
    }

    fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        Self::stamp(self, version)
    }
}

impl ReleaseStore {
    /// The catalog of a release, with its bulk files if they are served.
    fn with_files(&self, release: Release) -> Result<Catalog, ReleaseError> {
        if !self.has_bulk_files {
            return Ok(release.catalog);
        }
        let version = release.manifest.version;
        let files = open::bulk_files(&self.release_folder(version), version, &release.manifest)?;
        Ok(release.catalog.with_bulk_files(files))
    }
}

impl HasVersion for Catalog {
    fn version(&self) -> SnapshotVersion {
        self.snapshot().version()
    }

    fn is_bundled(&self) -> bool {
        Self::is_bundled(self)
    }
}
