//! Opens a release: reads its files into memory and verifies the bytes that were read.
//!
//! Mapping the files would be cheaper, but a program that writes to them would change what is served, or kill the
//! server by a signal if it truncates them. Bulk files, and the records of a release for which the [`MemoryBudget`] has no
//! room, stay on disk: only their sizes are checked here. The tables of such a release are read section by section, so that
//! a server starts at once. What is read in parts is verified then: a change causes an error.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter::once;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::digest::{Context, SHA256};

use crate::checksum::Checksum;
use crate::error::At;
use crate::{Manifest, ReleaseError, ReleaseResult, ReleaseStore, manifest, text};
use catalog::{
    BulkFile, Catalog, ChangeCounts, Filter, ListPosition, Order, Query, RecordHistory, ValueCount, bundled,
    row_changes,
};
use data::archive::AlignedBytes;
use data::import::provenance::Source;
use data::license::is_public;
use data::parallel::all_in_parallel;
use data::vocabulary::Vocabulary;
use data::{
    ArchiveError, Checksums, Direction, NoProgress, Progress, RecordFile, RecordStore, Snapshot, SnapshotVersion, Table,
};
use platform::memory::{MemoryBudget, MemoryPart, ReleaseCaches};
use search::IndexFiles;

pub type TableChanges = BTreeMap<Table, ChangeCounts>;

pub struct Release {
    pub manifest: Manifest,
    pub catalog: Catalog,
}

impl ReleaseStore {
    /// Reads a release and verifies the checksums of everything held in memory. Blocks: call it off the runtime.
    pub fn open(&self, version: SnapshotVersion) -> ReleaseResult<Release> {
        self.open_with_progress(version, &NoProgress)
    }

    pub fn open_with_progress(&self, version: SnapshotVersion, progress: &dyn Progress) -> ReleaseResult<Release> {
        let manifest = self.manifest(version)?;
        let holding = self.holding(&manifest, 0);
        open(&self.release_folder(version), manifest, holding, progress)
    }

    /// What of a release is held in memory next to `others` bytes of other releases: its records only if it has room with
    /// them, and together with a release of the same size, which is to replace it.
    fn holding(&self, manifest: &Manifest, others: u64) -> Holding {
        let with_records = manifest.in_memory(true).map(|file| file.bytes).sum::<u64>();
        let has_room = with_records + others.max(with_records) <= self.memory.part(MemoryPart::Releases);
        Holding { has_records: self.holds_records && has_room, caches: self.memory.caches_of_release(self.loaded) }
    }

    /// As `holding`; [`ReleaseError::TooLarge`] if there is no room without the records either.
    fn admit(&self, manifest: &Manifest, others: u64) -> ReleaseResult<Holding> {
        let needed = others + manifest.in_memory(false).map(|file| file.bytes).sum::<u64>();
        if needed > self.memory.part(MemoryPart::Releases) {
            let (version, budget, needed) = (manifest.version, self.memory, MemoryBudget::with_releases(needed));
            return Err(ReleaseError::TooLarge { version, others, budget, needed });
        }
        Ok(self.holding(manifest, others))
    }

    /// False if a release does not fit next to loaded ones.
    pub(crate) fn has_room<'c>(&self, version: SnapshotVersion, loaded: impl IntoIterator<Item = &'c Catalog>) -> bool {
        // A release that cannot be read is refused for that reason.
        self.manifest(version).map_or(true, |manifest| self.admit(&manifest, self.held_bytes(loaded)).is_ok())
    }

    /// Number of bytes of releases that are held for loaded catalogs.
    pub fn held_bytes<'c>(&self, loaded: impl IntoIterator<Item = &'c Catalog>) -> u64 {
        let published = loaded.into_iter().filter(|catalog| !catalog.is_bundled());
        let held = published.filter_map(|catalog| {
            let has_records = catalog.snapshot().has_records_in_memory();
            Some(self.manifest(catalog.version()).ok()?.in_memory(has_records).map(|file| file.bytes).sum::<u64>())
        });
        held.sum()
    }

    /// The smallest budget with which a release can be replaced by one of its size.
    pub fn needed_memory(&self, manifest: &Manifest) -> MemoryBudget {
        MemoryBudget::with_releases(2 * manifest.in_memory(false).map(|file| file.bytes).sum::<u64>())
    }

    /// Verifies the checksums of the files that opening may not read whole, without holding them in memory.
    pub fn verify_on_disk(&self, manifest: &Manifest) -> ReleaseResult<()> {
        verify(&self.release_folder(manifest.version), manifest.version, manifest.read_in_parts())
    }

    /// Number of bytes of releases that a server holds in memory which loads the current one and the newest `keep` others, as
    /// far as there is room. Releases that cannot be read count as nothing.
    pub fn bytes_to_load(&self, keep: usize) -> u64 {
        let current = self.current().unwrap_or_default();
        let others = self.versions().unwrap_or_default().into_iter().filter(|version| Some(*version) != current);
        let manifests = current.into_iter().chain(others.take(keep)).filter_map(|version| self.manifest(version).ok());
        manifests.fold(0, |others, manifest| {
            let Ok(holding) = self.admit(&manifest, others) else { return others };
            others + manifest.in_memory(holding.has_records).map(|file| file.bytes).sum::<u64>()
        })
    }

    /// Opens only the tables and records of a release, for a comparison. The records stay on disk.
    pub(crate) fn open_tables(&self, version: SnapshotVersion) -> ReleaseResult<Snapshot> {
        let manifest = self.manifest(version)?;
        let folder = self.release_folder(version);
        verify(&folder, version, [manifest.needed_file(manifest::RECORDS)?])?;
        let bytes = read_file(&folder, version, manifest.needed_file(manifest::TABLES)?, |_| {})?;
        tables_from_bytes(version, bytes, records_on_disk(&folder, ReleaseCaches::default().records)?)
    }

    /// The tables of the current release; `None` if there is none.
    pub fn served_tables(&self) -> ReleaseResult<Option<Snapshot>> {
        self.current()?.map(|current| self.open_tables(current)).transpose()
    }

    pub(crate) fn read_history(&self, version: SnapshotVersion) -> ReleaseResult<Option<AlignedBytes>> {
        let manifest = self.manifest(version)?;
        let file = manifest.file(manifest::HISTORY);
        file.map(|file| read_file(&self.release_folder(version), version, file, |_| {})).transpose()
    }

    /// Counts the records of each table that differ between two releases. Reads the records of both.
    pub fn difference(&self, from: SnapshotVersion, to: SnapshotVersion) -> ReleaseResult<TableChanges> {
        let (before, after) = (self.open_tables(from)?, self.open_tables(to)?);
        let count = |table: Table| {
            let changes = row_changes(table, &before, &after).at(self.folder())?;
            Ok((table, ChangeCounts::from_changes(&changes)))
        };
        Table::ALL.into_iter().map(count).collect()
    }

    /// Verifies and opens a release next to loaded ones, and runs typical queries on it. May take seconds: call it off the
    /// runtime.
    pub(crate) fn open_catalog<'c>(
        &self,
        version: SnapshotVersion,
        loaded: impl IntoIterator<Item = &'c Catalog>,
    ) -> ReleaseResult<Catalog> {
        let manifest = self.manifest(version)?;
        self.check_license(&manifest)?;
        let holding = self.admit(&manifest, self.held_bytes(loaded))?;
        let release = open(&self.release_folder(version), manifest, holding, &NoProgress)?;
        release.smoke_test()?;
        self.with_files(release)
    }

    /// Like [`Self::open_catalog`], for a server that serves nothing yet: slow checks are left to [`Self::verify`].
    pub(crate) fn open_at_once<'c>(
        &self,
        version: SnapshotVersion,
        loaded: impl IntoIterator<Item = &'c Catalog>,
    ) -> ReleaseResult<Catalog> {
        let (folder, manifest) = (self.release_folder(version), self.manifest(version)?);
        self.check_license(&manifest)?;
        let holding = self.admit(&manifest, self.held_bytes(loaded))?;
        let release = open_unchecked(&folder, manifest, holding, &|_| {})?;
        if release.catalog.snapshot().is_checked() {
            release.smoke_test()?;
        }
        self.with_files(release)
    }

    /// Completes what [`Self::open_at_once`] left, and runs typical queries. False if nothing was left.
    pub(crate) fn verify(&self, catalog: &Catalog) -> ReleaseResult<bool> {
        let snapshot = catalog.snapshot();
        if snapshot.is_checked() {
            return Ok(false);
        }
        snapshot.check(&|_| {}).map_err(|error| ReleaseError::archive(catalog.version(), &error))?;
        smoke_test(catalog).map(|()| true)
    }

    /// The catalog to serve if no release is named; `newest` is the newest one available.
    pub(crate) fn unpublished(&self, newest: Option<SnapshotVersion>) -> ReleaseResult<Catalog> {
        match newest {
            None if self.is_optional => {
                let catalog = bundled()?;
                self.check_licenses(catalog.version(), catalog.snapshot().license(), catalog.snapshot().sources())?;
                Ok(catalog)
            }
            // Where the releases are published.
            _ => Err(ReleaseError::NoneActive { index: self.origin.as_ref().unwrap_or(&self.index).clone(), newest }),
        }
    }

    /// [`ReleaseError::NotPublic`] if the data must be public and its license is not known to be.
    pub fn check_license(&self, manifest: &Manifest) -> ReleaseResult<()> {
        self.check_licenses(manifest.version, &manifest.license, &manifest.sources)
    }

    fn check_licenses(&self, version: SnapshotVersion, license: &str, sources: &[Source]) -> ReleaseResult<()> {
        let mut all = once(license).chain(sources.iter().map(|source| source.license.as_str()));
        match all.find(|license| self.needs_public_license && !is_public(license)) {
            Some(license) => Err(ReleaseError::NotPublic { version, license: license.to_owned() }),
            None => Ok(()),
        }
    }

    /// The catalog of a release; if bulk files are served with them, verified without holding them in memory.
    fn with_files(&self, release: Release) -> ReleaseResult<Catalog> {
        let Release { manifest, catalog } = release;
        if !self.has_bulk_files {
            return Ok(catalog);
        }
        let open_file = |file: &manifest::File| {
            let path = self.release_folder(manifest.version).join(&file.path);
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            let opened = BulkFile::open(&path, name).at(&path)?;
            check_sum(manifest.version, file, Checksum(opened.sha256))?;
            Ok::<_, ReleaseError>(opened)
        };
        let files = manifest.bulk().map(open_file).collect::<Result<Vec<_>, _>>()?;
        Ok(catalog.with_bulk_files(files))
    }
}

pub(crate) fn record_history(
    version: SnapshotVersion,
    bytes: AlignedBytes,
    snapshot: &Snapshot,
) -> ReleaseResult<RecordHistory> {
    RecordHistory::open(bytes, snapshot).map_err(|error| ReleaseError::archive(version, &error))
}

/// What of a release is held in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holding {
    /// False if they stay on disk.
    has_records: bool,
    caches: ReleaseCaches,
}

/// Opens the release in `folder`.
pub(crate) fn open(
    folder: &Path,
    manifest: Manifest,
    holding: Holding,
    progress: &dyn Progress,
) -> ReleaseResult<Release> {
    progress.step("checksums", manifest.in_memory(holding.has_records).map(|file| file.bytes).sum());
    let read = AtomicU64::new(0);
    let advance = |part| progress.advance(read.fetch_add(part, Ordering::Relaxed) + part);
    let release = open_unchecked(folder, manifest, holding, &advance)?;
    let checked = release.catalog.snapshot().check(&advance);
    checked.map_err(|error| ReleaseError::archive(release.manifest.version, &error))?;
    progress.done();
    Ok(release)
}

/// Like [`open`], but does not check the tables of a large release. `advance` gets the size of each chunk in bytes.
fn open_unchecked(
    folder: &Path,
    manifest: Manifest,
    holding: Holding,
    advance: &(dyn Fn(u64) + Sync),
) -> ReleaseResult<Release> {
    let version = manifest.version;
    let tables = manifest.needed_file(manifest::TABLES)?;
    manifest.needed_file(manifest::RECORDS)?;
    // Find missing and truncated files before reading anything.
    manifest.files.iter().try_for_each(|file| check_size(folder, version, file))?;
    let Holding { has_records, caches } = holding;
    let mut whole: Vec<&manifest::File> = manifest.in_memory(has_records).collect();
    whole.retain(|file| has_records || file.path != manifest::TABLES);
    whole.sort_by_key(|file| Reverse(file.bytes));
    // Computing checksums takes longest: do it in parallel.
    let read = all_in_parallel(&whole, |file| read_file(folder, version, file, advance));
    let (mut table_bytes, mut records, mut history) = (None, None, None);
    let mut indexes = IndexFiles::new();
    for (file, bytes) in whole.into_iter().zip(read) {
        let bytes = bytes?;
        match file.path.as_str() {
            manifest::TABLES => table_bytes = Some(bytes),
            manifest::RECORDS => records = Some(RecordStore::Memory(Arc::new(bytes))),
            manifest::HISTORY => history = Some(bytes),
            path => {
                let of_text = path.strip_prefix(manifest::TEXT).and_then(|path| path.strip_prefix('/'));
                indexes.extend(of_text.map(|path| (path.to_owned(), bytes.as_ref().to_vec())));
            }
        }
    }
    let records = records.map_or_else(|| records_on_disk(folder, caches.records), Ok)?;
    let snapshot = match table_bytes {
        Some(bytes) => tables_from_bytes(version, bytes, records)?,
        None => tables_on_disk(folder, version, tables, records)?,
    };
    let (expected, found) = (manifest.counts, snapshot.counts());
    if expected != found {
        let reason = format!("the manifest counts {expected:?}, the tables {found:?}");
        return Err(ReleaseError::Damaged { version, reason });
    }
    let texts = text::open(&snapshot, indexes)?;
    let history = history.map(|bytes| record_history(version, bytes, &snapshot)).transpose()?;
    let catalog = Catalog::new(snapshot, texts).with_caches(caches).with_record_history(history);
    Ok(Release { manifest, catalog })
}

pub(crate) fn damaged(version: SnapshotVersion, file: &str, what: impl AsRef<str>) -> ReleaseError {
    ReleaseError::Damaged { version, reason: format!("{file} {}", what.as_ref()) }
}

fn check_size(folder: &Path, version: SnapshotVersion, file: &manifest::File) -> ReleaseResult<()> {
    let path = folder.join(&file.path);
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => Err(damaged(version, &file.path, "is not a file")),
        Ok(metadata) if metadata.len() != file.bytes => {
            Err(damaged(version, &file.path, format!("has {} bytes instead of {}", metadata.len(), file.bytes)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(damaged(version, &file.path, "is missing")),
        other => other.map(|_| ()).at(&path),
    }
}

/// Checks files of the release in `folder`, without holding them in memory.
pub(crate) fn verify<'m>(
    folder: &Path,
    version: SnapshotVersion,
    files: impl IntoIterator<Item = &'m manifest::File>,
) -> ReleaseResult<()> {
    for file in files {
        check_size(folder, version, file)?;
        let path = folder.join(&file.path);
        let (_, found) = Checksum::of_file(&path).at(&path)?;
        check_sum(version, file, found)?;
    }
    Ok(())
}

fn check_sum(version: SnapshotVersion, file: &manifest::File, found: Checksum) -> ReleaseResult<()> {
    if found == file.sha256 {
        return Ok(());
    }
    Err(damaged(version, &file.path, format!("has the checksum {found} instead of {}", file.sha256)))
}

/// Reads a file and checks the bytes against the manifest. `advance` gets the number of bytes of each chunk.
pub(crate) fn read_file(
    folder: &Path,
    version: SnapshotVersion,
    file: &manifest::File,
    mut advance: impl FnMut(u64) + Send,
) -> ReleaseResult<AlignedBytes> {
    let path = folder.join(&file.path);
    let length = usize::try_from(file.bytes).map_err(io::Error::other).at(&path)?;
    let mut source = File::open(&path).at(&path)?;
    let mut hasher = Context::new(&SHA256);
    let bytes = AlignedBytes::read(&mut source, length, |part| {
        hasher.update(part);
        advance(part.len() as u64);
    })
    .at(&path)?;
    // A file that has grown since its size was checked is not the listed one.
    let mut rest = Vec::new();
    source.take(1).read_to_end(&mut rest).at(&path)?;
    hasher.update(&rest);
    check_sum(version, file, hasher.finish().into())?;
    Ok(bytes)
}

/// Opens the records of the release in `folder`, with each block verified when it is read, and this many bytes of them cached.
pub(crate) fn records_on_disk(folder: &Path, cached: u64) -> ReleaseResult<RecordStore> {
    let path = folder.join(manifest::RECORDS);
    File::open(&path).and_then(|file| RecordFile::new(file, cached)).map(RecordStore::File).at(&path)
}

pub(crate) fn tables_from_bytes(
    version: SnapshotVersion,
    bytes: AlignedBytes,
    records: RecordStore,
) -> ReleaseResult<Snapshot> {
    check_version(version, Snapshot::open(Arc::new(bytes), records, Checksums::Trust))
}

/// Opens tables of which each section is verified when it is first used.
pub(crate) fn tables_on_disk(
    folder: &Path,
    version: SnapshotVersion,
    tables: &manifest::File,
    records: RecordStore,
) -> ReleaseResult<Snapshot> {
    let (path, no_contents) = (folder.join(&tables.path), "has no checksum of its contents");
    let contents = tables.contents.ok_or_else(|| damaged(version, &tables.path, no_contents))?;
    check_version(version, Snapshot::open_file(File::open(&path).at(&path)?, &contents.0, records))
}

fn check_version(version: SnapshotVersion, opened: Result<Snapshot, ArchiveError>) -> ReleaseResult<Snapshot> {
    let snapshot = opened.map_err(|error| ReleaseError::archive(version, &error))?;
    if snapshot.version() != version {
        return Err(damaged(version, manifest::TABLES, format!("is that of release {}", snapshot.version())));
    }
    Ok(snapshot)
}

impl Release {
    pub fn smoke_test(&self) -> ReleaseResult<()> {
        smoke_test(&self.catalog)
    }
}

/// Runs typical queries and returns the first problem. Covers lists in every order, facet counts with the lists that
/// they promise, and for a sample of rows the look-up by slug and by name and the JSON of the record.
pub(crate) fn smoke_test(catalog: &Catalog) -> ReleaseResult<()> {
    let version = catalog.version();
    Table::ALL
        .into_iter()
        .try_for_each(|table| check_table(catalog, table))
        .map_err(|reason| ReleaseError::Damaged { version, reason })
}

fn check_table(catalog: &Catalog, table: Table) -> Result<(), String> {
    const SAMPLE: u32 = 40;
    check_lists(catalog, table)?;
    check_facets(catalog, table)?;
    let rows = catalog.snapshot().rows(table);
    (0..rows).step_by((rows / SAMPLE).max(1) as usize).try_for_each(|row| check_row(catalog, table, row))
}

fn check_lists(catalog: &Catalog, table: Table) -> Result<(), String> {
    const PAGE: usize = 20;
    let rows = catalog.snapshot().rows(table);
    let keys = (0..table.sort_keys().len()).flat_map(|key| {
        [Direction::Ascending, Direction::Descending].map(|direction| Order::Keys(vec![(key, direction)]))
    });
    for order in std::iter::once(Order::Natural).chain(keys) {
        let query = Query { order, ..Query::all(table) };
        let mut page = catalog.list(&query, ListPosition::default(), PAGE);
        let listed = page.rows.len();
        page.rows.sort_unstable();
        page.rows.dedup();
        let expected = PAGE.min(rows as usize);
        if (page.total, page.rows.len(), listed) != (u64::from(rows), expected, expected) {
            let order = &query.order;
            return Err(format!("{} in the order {order:?}: {listed} of {} rows are listed", table.name(), page.total));
        }
    }
    Ok(())
}

fn check_facets(catalog: &Catalog, table: Table) -> Result<(), String> {
    const VALUES: usize = 3;
    let counts = catalog.counts_by(&Query::all(table), table.facets());
    for (facet, counts) in table.facets().iter().zip(counts) {
        for ValueCount { value, count } in counts.into_iter().take(VALUES) {
            let filters = vec![Filter::AnyOf(*facet, vec![value])];
            let page = catalog.list(&Query { filters, ..Query::all(table) }, ListPosition::default(), 1);
            if page.total != count || page.rows.is_empty() {
                let (table, facet, total) = (table.name(), facet.name(), page.total);
                return Err(format!("{table}: {count} rows have value {value} of {facet}, and {total} are listed"));
            }
        }
    }
    Ok(())
}

fn check_row(catalog: &Catalog, table: Table, row: u32) -> Result<(), String> {
    let snapshot = catalog.snapshot();
    let (noun, slug) = (table.noun(), snapshot.slug(table, row));
    if snapshot.find(table, slug) != Some(row) {
        return Err(format!("the {noun} {slug:?} is not found by its slug"));
    }
    let record = snapshot.read_record(table, row).map_err(|error| error.to_string())?.json();
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&record) {
        return Err(format!("the record of the {noun} {slug:?} is not JSON: {error}"));
    }
    let name = snapshot.name(table, row);
    if name.is_empty() || catalog.text_index(table).is_none() {
        return Ok(());
    }
    if catalog.all_matches(table, name).rows.contains(&row) {
        Ok(())
    } else {
        Err(format!("the {noun} {slug:?} is not found by its name {name:?}"))
    }
}
