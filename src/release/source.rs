//! The index folder as the source of what is served.

use crate::catalog::{Catalog, bundled};
use crate::data::SnapshotVersion;
use crate::release::ReleaseSource;
use crate::release::active::HasVersion;
use crate::release::{ReleaseError, ReleaseStore};

impl ReleaseSource for ReleaseStore {
    type Item = Catalog;

    fn named(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        self.current()
    }

    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError> {
        Self::versions(self)
    }

    fn open(&self, version: SnapshotVersion) -> Result<Catalog, ReleaseError> {
        Self::open(self, version).map(|release| release.catalog)
    }

    fn bundled(&self) -> Result<Catalog, ReleaseError> {
        bundled().map_err(ReleaseError::Bundled)
    }

    fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        Self::stamp(self, version)
    }
}

impl HasVersion for Catalog {
    fn version(&self) -> SnapshotVersion {
        self.snapshot().version()
    }
}
