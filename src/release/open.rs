//! An open release.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::data::{Checksums, NoProgress, Progress, Snapshot, SnapshotVersion, Table};
use crate::release::error::At;
use crate::release::{Manifest, manifest};
use crate::release::{ReleaseError, ReleaseStore, checksum, map, text};

/// A release that can be served: its tables are mapped, its text indexes open.
pub struct Release {
    /// What it consists of.
    pub manifest: Manifest,
    /// What it answers.
    pub catalog: Catalog,
}

impl ReleaseStore {
    /// Opens a release after all its files were held against their checksums.
    ///
    /// Reads every byte once; to be called off the runtime.
    ///
    /// # Errors
    /// [`ReleaseError`] where there is no such release, or it is of another format or damaged.
    pub fn open(&self, version: SnapshotVersion) -> Result<Release, ReleaseError> {
        self.open_with_progress(version, &NoProgress)
    }

    /// Opens a release as [`ReleaseStore::open`] does, and tells `progress` of the bytes read.
    ///
    /// # Errors
    /// As [`ReleaseStore::open`].
    pub fn open_with_progress(
        &self,
        version: SnapshotVersion,
        progress: &dyn Progress,
    ) -> Result<Release, ReleaseError> {
        let manifest = self.manifest(version)?;
        let place = self.release_folder(version);
        verify(&place, version, &manifest, progress)?;
        open_trusted(&place, version, manifest)
    }

    /// Opens the tables of a release without reading them through, for a comparison.
    pub(crate) fn open_tables(&self, version: SnapshotVersion) -> Result<Snapshot, ReleaseError> {
        self.manifest(version)?;
        tables(&self.release_folder(version), version, Checksums::Trust)
    }
}

/// Holds every file against the manifest.
fn verify(
    place: &Path,
    version: SnapshotVersion,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<(), ReleaseError> {
    let damaged = |file: &str, what: String| ReleaseError::Damaged { version, reason: format!("{file} {what}") };
    if manifest.file(manifest::TABLES).is_none() {
        return Err(damaged(manifest::TABLES, "is not in the manifest".into()));
    }
    for file in &manifest.files {
        match std::fs::metadata(place.join(&file.path)) {
            Ok(metadata) if !metadata.is_file() => return Err(damaged(&file.path, "is not a file".into())),
            Ok(metadata) if metadata.len() != file.bytes => {
                let what = format!("has {} bytes, {} were published", metadata.len(), file.bytes);
                return Err(damaged(&file.path, what));
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(damaged(&file.path, "is missing".into()));
            }
            other => other.map(|_| ()).at(&place.join(&file.path))?,
        }
    }
    progress.step("checksums", manifest.bytes(""));
    let mut before = 0;
    for file in &manifest.files {
        let path = place.join(&file.path);
        let (bytes, found) = checksum::of_file(&path, |done| progress.advance(before + done)).at(&path)?;
        if (bytes, found) != (file.bytes, file.xxh3) {
            return Err(damaged(&file.path, format!("has the checksum {found}, published was {}", file.xxh3)));
        }
        before += bytes;
    }
    progress.done();
    Ok(())
}

/// Opens a release whose bytes were just checked or just written.
pub(crate) fn open_trusted(
    place: &Path,
    version: SnapshotVersion,
    manifest: Manifest,
) -> Result<Release, ReleaseError> {
    let snapshot = tables(place, version, Checksums::Trust)?;
    let (told, found) = (manifest.counts, snapshot.counts());
    if told != found {
        let reason = format!("the manifest counts {told:?}, the tables {found:?}");
        return Err(ReleaseError::Damaged { version, reason });
    }
    let texts = text::open(&snapshot, &place.join(manifest::TEXT))?;
    Ok(Release { manifest, catalog: Catalog::new(snapshot, texts) })
}

/// Maps the tables in the folder `place`.
pub(crate) fn tables(place: &Path, version: SnapshotVersion, checksums: Checksums) -> Result<Snapshot, ReleaseError> {
    let path = place.join(manifest::TABLES);
    let bytes = map::map(&path).at(&path)?;
    let snapshot =
        Snapshot::open(Arc::new(bytes), checksums).map_err(|error| ReleaseError::archive(version, &error))?;
    if snapshot.version() != version {
        let reason = format!("{} is that of release {}", manifest::TABLES, snapshot.version());
        return Err(ReleaseError::Damaged { version, reason });
    }
    Ok(snapshot)
}

impl Release {
    /// Asks the release what a reader would ask: rows spread over each table are found by their slug, have a record that
    /// is JSON, and are found by their name.
    ///
    /// # Errors
    /// What went wrong first.
    pub fn smoke_test(&self) -> Result<(), String> {
        const SAMPLE: u32 = 40;
        for table in Table::ALL {
            let rows = self.catalog.snapshot().rows(table);
            for row in (0..rows).step_by((rows / SAMPLE).max(1) as usize) {
                self.try_row(table, row)?;
            }
        }
        Ok(())
    }

    fn try_row(&self, table: Table, row: u32) -> Result<(), String> {
        let snapshot = self.catalog.snapshot();
        let (noun, slug) = (table.noun(), snapshot.slug(table, row));
        if snapshot.find(table, slug) != Some(row) {
            return Err(format!("the {noun} {slug:?} is not found by its slug"));
        }
        let mut record = snapshot.record(table, row).whole().to_vec();
        record.push(b'}');
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&record) {
            return Err(format!("the record of the {noun} {slug:?} is no JSON: {error}"));
        }
        let name = snapshot.name(table, row);
        if name.is_empty() || self.catalog.text_index(table).is_none() {
            return Ok(());
        }
        // Asked for this row alone, so that a crowd of namesakes cannot hide it.
        let found = self.catalog.search(table, name, &|found| found == row);
        if found.hits.iter().any(|hit| hit.row == row) {
            Ok(())
        } else {
            Err(format!("the {noun} {slug:?} is not found by its name {name:?}"))
        }
    }
}
