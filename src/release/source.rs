//! The catalogs that a server opens from the index folder.

use crate::error::At;
use crate::manifest::File;
use crate::{Release, ReleaseError, ReleaseStore, open};
use catalog::{BulkFile, Catalog, bundled};
use data::SnapshotVersion;

impl ReleaseStore {
    /// Verifies and opens a release and runs typical queries on it. May take seconds: call it off the runtime.
    pub(crate) fn open_catalog(&self, version: SnapshotVersion) -> Result<Catalog, ReleaseError> {
        let release = self.open(version)?;
        release.smoke_test()?;
        self.with_files(release)
    }

    /// Like [`Self::open_catalog`], for a server that serves nothing yet: slow checks are left to [`Self::verify`].
    pub(crate) fn open_at_once(&self, version: SnapshotVersion) -> Result<Catalog, ReleaseError> {
        let release = self.open_unchecked(version)?;
        if release.catalog.snapshot().is_checked() {
            release.smoke_test()?;
        }
        self.with_files(release)
    }

    /// Completes what [`Self::open_at_once`] left, and runs typical queries. False if nothing was left.
    pub(crate) fn verify(&self, catalog: &Catalog) -> Result<bool, ReleaseError> {
        let snapshot = catalog.snapshot();
        if snapshot.is_checked() {
            return Ok(false);
        }
        snapshot.check(&|_| {}).map_err(|error| ReleaseError::archive(catalog.version(), &error))?;
        open::smoke_test(catalog).map(|()| true)
    }

    /// The catalog to serve if no release is named; `newest` is the newest one available.
    pub(crate) fn unpublished(&self, newest: Option<SnapshotVersion>) -> Result<Catalog, ReleaseError> {
        match newest {
            None if self.is_optional => Ok(bundled()?),
            _ => Err(ReleaseError::NoneActive { index: self.location().to_owned(), newest }),
        }
    }

    /// The catalog of a release; if bulk files are served with them, verified without holding them in memory.
    fn with_files(&self, release: Release) -> Result<Catalog, ReleaseError> {
        let Release { manifest, catalog } = release;
        if !self.has_bulk_files {
            return Ok(catalog);
        }
        let open_file = |file: &File| {
            let path = self.release_folder(manifest.version).join(&file.path);
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            let opened = BulkFile::open(&path, name).at(&path)?;
            open::check_sum(manifest.version, file, opened.sha256.into())?;
            Ok::<_, ReleaseError>(opened)
        };
        let files = manifest.bulk().map(open_file).collect::<Result<Vec<_>, _>>()?;
        Ok(catalog.with_bulk_files(files))
    }
}
