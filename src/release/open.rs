use std::path::Path;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::data::{Checksums, NoProgress, Progress, Snapshot, SnapshotVersion, Table};
use crate::release::error::At;
use crate::release::{Manifest, ReleaseError, ReleaseStore, checksum, manifest, map, text};

/// An open release: its tables are mapped, its text indexes loaded.
pub struct Release {
    pub manifest: Manifest,
    pub catalog: Catalog,
}

impl ReleaseStore {
    /// Opens a release after verifying the checksums of all files. Reads every byte; to be called off the runtime.
    pub fn open(&self, version: SnapshotVersion) -> Result<Release, ReleaseError> {
        self.open_with_progress(version, &NoProgress)
    }

    /// As [`ReleaseStore::open`], and reports the bytes read to `progress`.
    pub fn open_with_progress(
        &self,
        version: SnapshotVersion,
        progress: &dyn Progress,
    ) -> Result<Release, ReleaseError> {
        let manifest = self.manifest(version)?;
        let folder = self.release_folder(version);
        verify(&folder, version, &manifest, progress)?;
        open_trusted(&folder, version, manifest)
    }

    /// Opens the tables of a release without verifying checksums, for a comparison.
    pub(crate) fn open_tables(&self, version: SnapshotVersion) -> Result<Snapshot, ReleaseError> {
        self.manifest(version)?;
        tables(&self.release_folder(version), version, Checksums::Trust)
    }
}

/// Checks every file against the manifest.
pub(crate) fn verify(
    folder: &Path,
    version: SnapshotVersion,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<(), ReleaseError> {
    let damaged = |file: &str, what: String| ReleaseError::Damaged { version, reason: format!("{file} {what}") };
    if manifest.file(manifest::TABLES).is_none() {
        return Err(damaged(manifest::TABLES, "is not in the manifest".into()));
    }
    for file in &manifest.files {
        match std::fs::metadata(folder.join(&file.path)) {
            Ok(metadata) if !metadata.is_file() => return Err(damaged(&file.path, "is not a file".into())),
            Ok(metadata) if metadata.len() != file.bytes => {
                let what = format!("has {} bytes instead of {}", metadata.len(), file.bytes);
                return Err(damaged(&file.path, what));
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(damaged(&file.path, "is missing".into()));
            }
            other => other.map(|_| ()).at(&folder.join(&file.path))?,
        }
    }
    progress.step("checksums", manifest.bytes(""));
    let mut verified = 0;
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let (bytes, found) = checksum::of_file(&path, |done| progress.advance(verified + done)).at(&path)?;
        if (bytes, found) != (file.bytes, file.xxh3) {
            return Err(damaged(&file.path, format!("has the checksum {found} instead of {}", file.xxh3)));
        }
        verified += bytes;
    }
    progress.done();
    Ok(())
}

/// Opens a release whose files were just verified or written.
pub(crate) fn open_trusted(
    folder: &Path,
    version: SnapshotVersion,
    manifest: Manifest,
) -> Result<Release, ReleaseError> {
    let snapshot = tables(folder, version, Checksums::Trust)?;
    let (expected, found) = (manifest.counts, snapshot.counts());
    if expected != found {
        let reason = format!("the manifest counts {expected:?}, the tables {found:?}");
        return Err(ReleaseError::Damaged { version, reason });
    }
    let texts = text::open(&snapshot, &folder.join(manifest::TEXT))?;
    Ok(Release { manifest, catalog: Catalog::new(snapshot, texts) })
}

/// Maps the tables of the release in `folder`.
pub(crate) fn tables(folder: &Path, version: SnapshotVersion, checksums: Checksums) -> Result<Snapshot, ReleaseError> {
    let path = folder.join(manifest::TABLES);
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
    /// Checks a sample of rows of each table: that they are found by slug and by name, and that their records are JSON.
    /// Returns the first problem.
    pub fn smoke_test(&self) -> Result<(), String> {
        const SAMPLE: u32 = 40;
        for table in Table::ALL {
            let rows = self.catalog.snapshot().rows(table);
            for row in (0..rows).step_by((rows / SAMPLE).max(1) as usize) {
                self.check_row(table, row)?;
            }
        }
        Ok(())
    }

    fn check_row(&self, table: Table, row: u32) -> Result<(), String> {
        let snapshot = self.catalog.snapshot();
        let (noun, slug) = (table.noun(), snapshot.slug(table, row));
        if snapshot.find(table, slug) != Some(row) {
            return Err(format!("the {noun} {slug:?} is not found by its slug"));
        }
        let mut record = snapshot.record(table, row).whole().to_vec();
        record.push(b'}');
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&record) {
            return Err(format!("the record of the {noun} {slug:?} is not JSON: {error}"));
        }
        let name = snapshot.name(table, row);
        if name.is_empty() || self.catalog.text_index(table).is_none() {
            return Ok(());
        }
        if self.catalog.all_matches(table, name).rows.contains(&row) {
            Ok(())
        } else {
            Err(format!("the {noun} {slug:?} is not found by its name {name:?}"))
        }
    }
}
