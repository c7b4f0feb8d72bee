//! Releases: indexers publish them into an index folder or an object store; servers verify, open and watch them.
//!
//! A release is written once and never changed. A server reads it into memory, except for the records of a large one.
//! Only the small file `current`, which names the release to serve, is replaced, by an atomic rename. Versions are
//! parsed before they become paths.
#![warn(unreachable_pub)]

mod active;
mod bulk;
mod checksum;
mod copied_dataset;
mod copy;
#[cfg(test)]
mod crash;
mod error;
mod export;
pub mod file_system;
mod lock;
pub mod manifest;
mod open;
mod permissions;
mod publish;
pub mod remote;
#[cfg(test)]
pub(crate) mod sample;
mod signature;
#[cfg(test)]
mod tests;
mod text;
mod watch;
pub use active::{ActiveRelease, Rejection, ReleaseHistory};
pub use checksum::Checksum;
pub use copied_dataset::copy_dataset;
pub use error::ReleaseError;
pub(crate) use error::ReleaseResult;
pub use export::{ExportPlace, ExportedRelease};
pub use manifest::Manifest;
pub use open::{Release, TableChanges};
pub use publish::{Policy, Publication, PublicationOutcome, Publisher};
pub use signature::{KeyError, SigningKey, TrustedKey};
pub use watch::{POLL_INTERVAL, ReleaseEvent, Starting, Watcher};

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{At, existing};
use crate::file_system::{Fs, OsFs};
use data::{Snapshot, SnapshotVersion, Table};
use platform::memory::MemoryBudget;

/// The format of each part of a release. A program opens only its own.
pub const FORMATS: [(&str, u32); 4] = [
    ("release", manifest::FORMAT),
    ("tables", data::archive::FORMAT),
    ("text index", search::FORMAT),
    ("object store", remote::FORMAT),
];

/// File that names the release to serve.
const CURRENT: &str = "current";

/// The next content of `current`. A leftover one names the release that a killed build was about to activate.
const NEXT: &str = ".current.next";

/// Name prefix of a release that is being removed.
const REMOVING: &str = ".removing-";

/// Name prefix of a release that is being built.
const BUILDING: &str = ".building-";

/// The index folder.
#[derive(Clone, Debug)]
pub struct ReleaseStore {
    index: PathBuf,
    /// The object store from which the folder's releases are copied.
    origin: Option<PathBuf>,
    /// Permits the bundled snapshot if there is no release; not in a folder that the operator named: it is invented.
    pub is_optional: bool,
    /// The only accepted signing key; releases without its signature are refused.
    pub trusted: Option<TrustedKey>,
    /// Opens the bulk files of releases, too, to be served.
    pub has_bulk_files: bool,
    /// Refuses to serve data whose license, or that of one of its sources, is not known to be public.
    pub needs_public_license: bool,
    /// Decides what of a release is held in memory, and bounds its caches.
    pub memory: MemoryBudget,
    /// Number of releases that are loaded at once, with the one that replaces the served one.
    pub loaded: usize,
    /// False if records stay on disk whatever the room.
    holds_records: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedReleases {
    /// Each with its size in bytes.
    pub removed: Vec<(SnapshotVersion, u64)>,
    /// For each old release that was kept because of a foreign file in its folder, that file.
    pub foreign: Vec<PathBuf>,
}

impl ReleaseStore {
    /// The releases in the folder `index`, which need not exist.
    pub fn at(index: impl Into<PathBuf>) -> Self {
        Self {
            index: index.into(),
            origin: None,
            is_optional: false,
            trusted: None,
            has_bulk_files: false,
            needs_public_license: false,
            memory: MemoryBudget::default(),
            loaded: 1,
            holds_records: true,
        }
    }

    /// The releases of a folder, or those of an object store, which are copied into the folder `cache`.
    pub fn of_place(place: &Path, cache: &Path) -> Self {
        match remote::is_object_store(place) {
            true => Self { origin: Some(place.to_owned()), ..Self::at(cache) },
            false => Self::at(place),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.index
    }

    pub fn release_folder(&self, version: SnapshotVersion) -> PathBuf {
        self.index.join(version.to_string())
    }

    /// The version named by `current`; `None` if there is no such file.
    pub fn current(&self) -> ReleaseResult<Option<SnapshotVersion>> {
        read_version(&self.index.join(CURRENT))
    }

    /// The published versions, newest first; empty if the index folder does not exist.
    pub fn versions(&self) -> ReleaseResult<Vec<SnapshotVersion>> {
        let Some(entries) = existing(fs::read_dir(&self.index)).at(&self.index)? else { return Ok(Vec::new()) };
        let mut versions = Vec::new();
        for entry in entries {
            let name = entry.at(&self.index)?.file_name();
            let version = name.to_str().and_then(|name| name.parse::<SnapshotVersion>().ok());
            // A date without a counter parses as a version, but is not the name of a release.
            if let Some(version) = version.filter(|version| name == *version.to_string())
                && self.release_folder(version).is_dir()
            {
                versions.push(version);
            }
        }
        versions.sort_unstable_by(|a, b| b.cmp(a));
        Ok(versions)
    }

    /// A part of the index that others may write to: they decide what is served.
    pub fn permission_problem(&self) -> Option<String> {
        let mut paths = vec![self.index.clone(), self.index.join(CURRENT)];
        if let Ok(Some(current)) = self.current() {
            let folder = self.release_folder(current);
            let inner = files(&folder).unwrap_or_default();
            let folders = inner.iter().filter_map(|file| file.parent()).map(|inner| folder.join(inner));
            paths.extend(folders.chain(inner.iter().map(|file| folder.join(file))));
        }
        let path = paths.into_iter().find(|path| permissions::are_writable_by_others(path))?;
        Some(format!(
            "{} is writable by its group or by everybody, who can change what is served: run chmod -R go-w {}",
            path.display(),
            self.index.display()
        ))
    }

    pub fn manifest(&self, version: SnapshotVersion) -> ReleaseResult<Manifest> {
        let folder = self.release_folder(version);
        if !folder.is_dir() {
            return Err(ReleaseError::Missing { version, index: self.index.clone() });
        }
        Manifest::read(&folder, version, self.trusted.as_ref())
    }

    /// Files in the folder of a release that its manifest does not list; they are never read.
    pub fn unlisted(&self, version: SnapshotVersion, manifest: &Manifest) -> ReleaseResult<Vec<PathBuf>> {
        let folder = self.release_folder(version);
        let own = [manifest::FILE, manifest::SIGNATURE];
        let mut found = files(&folder).at(&folder)?;
        found.retain(|path| {
            let listed = manifest.files.iter().map(|file| file.path.as_str()).chain(own);
            !listed.map(Path::new).any(|listed| listed == path)
        });
        Ok(found)
    }

    /// Refuses a release that lost too many records of the current one. Merged ones and these reviews are not lost.
    pub fn check_rows(&self, after: &Snapshot, withdrawn: &[String]) -> ReleaseResult<()> {
        let version = after.version();
        // A damaged release is no reference for the number of rows.
        let manifest = self.current().ok().flatten().and_then(|current| Some((current, self.manifest(current).ok()?)));
        let Some((current, manifest)) = manifest else { return Ok(()) };
        let is_small = |(before, after): (u32, u32)| u64::from(after) * 5 < u64::from(before) * 4;
        let pairs = manifest.counts.by_table().into_iter().zip(after.counts().by_table());
        let fewer = pairs.map(|((table, before), (_, after))| (table, (before, after)));
        let fewer: Vec<_> = fewer.filter(|(_, counts)| is_small(*counts)).collect();
        if fewer.is_empty() {
            return Ok(());
        }
        let before = self.open_tables(current).ok();
        let mut losses = Vec::new();
        for (table, (had, has)) in fewer {
            let lost = before.as_ref().map(|before| LostRecords::find(table, before, after, withdrawn));
            if lost.as_ref().is_some_and(|lost| !is_small((had, had.saturating_sub(lost.count)))) {
                continue;
            }
            let names = lost.map_or_else(String::new, |lost| lost.to_string());
            losses.push(format!("{}: {has} instead of {had}{names}", table.name()));
        }
        if losses.is_empty() { Ok(()) } else { Err(ReleaseError::Shrunk { version, current, losses }) }
    }

    /// A hash of the metadata of all files of the release `version`, or of `current` if no version is given.
    pub(crate) fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        let mut stamp = DefaultHasher::new();
        match version {
            Some(version) => hash_metadata(&self.release_folder(version), 3, &mut stamp),
            None => hash_metadata(&self.index.join(CURRENT), 0, &mut stamp),
        }
        stamp.finish()
    }

    /// Takes the build lock and removes leftovers of killed builds. [`ReleaseError::Busy`] if another build is running.
    pub fn begin(&self) -> ReleaseResult<Publisher<'static>> {
        Publisher::begin(self.clone(), &OsFs)
    }

    /// Verifies a release and makes `current` name it; false if it already did. [`Self::check_rows`], unless forced or if an
    /// earlier release takes the place of the current one: it is known.
    pub fn activate(&self, version: SnapshotVersion, is_forced: bool) -> ReleaseResult<bool> {
        let release = self.open(version)?;
        self.verify_on_disk(&release.manifest)?;
        let is_rollback = self.current().ok().flatten().is_some_and(|current| version < current);
        if !is_forced && !is_rollback {
            self.check_rows(release.catalog.snapshot(), &[])?;
        }
        drop(release);
        let _lock = lock::switch(&self.index)?;
        self.manifest(version)?;
        self.name_current(&OsFs, version)
    }

    /// Removes all releases except the newest `keep` and the current one. A server that has loaded one of them can
    /// still use it. Removes nothing if `current` is invalid, and no folder that contains a foreign file.
    pub fn prune(&self, keep: usize) -> ReleaseResult<PrunedReleases> {
        let publisher = self.begin()?;
        let mut pruned = PrunedReleases::default();
        {
            let _lock = lock::switch(&self.index)?;
            let current = self.current()?;
            for version in self.versions()?.into_iter().skip(keep).filter(|version| Some(*version) != current) {
                let folder = self.release_folder(version);
                if let Some(foreign) = self.foreign_file(version)? {
                    pruned.foreign.push(folder.join(foreign));
                    continue;
                }
                let bytes = size(&folder).at(&folder)?;
                let removing = self.index.join(format!("{REMOVING}{version}"));
                OsFs.rename(&folder, &removing).at(&folder)?;
                pruned.removed.push((version, bytes));
            }
            OsFs.sync_folder(&self.index).at(&self.index)?;
        }
        publisher.clear(REMOVING)?;
        Ok(pruned)
    }

    /// A foreign file in the folder of a release. Without a manifest, all files of the folder are foreign.
    fn foreign_file(&self, version: SnapshotVersion) -> ReleaseResult<Option<PathBuf>> {
        let folder = self.release_folder(version);
        let found = match self.manifest(version) {
            Ok(manifest) => self.unlisted(version, &manifest)?,
            // A damaged release, or one of another format: its files are unknown.
            Err(_) if folder.join(manifest::FILE).exists() => Vec::new(),
            Err(_) => files(&folder).at(&folder)?,
        };
        Ok(found.into_iter().next())
    }

    /// The next version after `version` on its date that is unused in the index folder and elsewhere.
    fn next_free(&self, version: SnapshotVersion, is_used: impl Fn(SnapshotVersion) -> bool) -> SnapshotVersion {
        let mut free = version.next();
        while (self.release_folder(free).symlink_metadata().is_ok() || is_used(free)) && free != free.next() {
            free = free.next();
        }
        free
    }

    /// Removes entries with the name prefix `prefix`, left over from a killed process.
    fn clear(&self, file_system: &dyn Fs, prefix: &str) -> ReleaseResult<()> {
        for entry in fs::read_dir(&self.index).at(&self.index)? {
            let entry = entry.at(&self.index)?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                file_system.remove(&entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Makes `current` name a release. False if it already did. Requires the switch lock.
    fn name_current(&self, file_system: &dyn Fs, version: SnapshotVersion) -> ReleaseResult<bool> {
        if self.current().is_ok_and(|current| current == Some(version)) {
            return Ok(false);
        }
        self.prepare(file_system, version)?;
        self.switch(file_system)?;
        Ok(true)
    }

    /// Gives a draft the name of its release; an earlier one is renamed to be removed. Requires the switch lock.
    fn rename_draft(&self, file_system: &dyn Fs, draft: &Path, version: SnapshotVersion) -> ReleaseResult<()> {
        let folder = self.release_folder(version);
        if folder.symlink_metadata().is_ok() {
            file_system.rename(&folder, &self.index.join(format!("{REMOVING}{version}"))).at(&folder)?;
        }
        file_system.rename(draft, &folder).at(&folder)?;
        file_system.sync_folder(&self.index).at(&self.index)
    }

    /// Writes the next content of `current`. Requires the switch lock.
    fn prepare(&self, file_system: &dyn Fs, version: SnapshotVersion) -> ReleaseResult<()> {
        let next = self.index.join(NEXT);
        file_system.remove(&next).at(&next)?;
        let mut file = file_system.create(&next).at(&next)?;
        io::Write::write_all(&mut file, format!("{version}\n").as_bytes()).at(&next)?;
        file_system.sync_file(&next).at(&next)?;
        file_system.sync_folder(&self.index).at(&self.index)
    }

    /// Replaces `current` by the prepared content.
    fn switch(&self, file_system: &dyn Fs) -> ReleaseResult<()> {
        let current = self.index.join(CURRENT);
        file_system.rename(&self.index.join(NEXT), &current).at(&current)?;
        file_system.sync_folder(&self.index).at(&self.index)
    }
}

/// Records of a release that another one has neither by slug nor as merged ones.
struct LostRecords {
    count: u32,
    first: Vec<String>,
}

impl LostRecords {
    const MAX_NAMED: usize = 10;

    fn find(table: Table, before: &Snapshot, after: &Snapshot, withdrawn: &[String]) -> Self {
        let find = |table: Table, slug: &str| after.find(table, slug).or_else(|| after.merged_into(table, slug));
        // Rounds have no redirects: one that is merged is a round of the same startup and stage.
        let rounds = if table == Table::Rounds { after.rows(table) } else { 0 };
        let rounds: HashSet<_> = (0..rounds).map(|row| (after.round_startup(row), after.round_stage(row))).collect();
        let is_merged = |row: u32| {
            let startup = find(Table::Startups, before.slug(Table::Startups, before.round_startup(row)));
            startup.is_some_and(|startup| rounds.contains(&(startup, before.round_stage(row))))
        };
        let withdrawn: HashSet<&str> =
            if table == Table::Reviews { withdrawn.iter().map(String::as_str).collect() } else { HashSet::new() };
        let mut lost = Self { count: 0, first: Vec::new() };
        for row in before.by_slug(table) {
            let slug = before.slug(table, *row);
            let is_meant = withdrawn.contains(slug) || table == Table::Rounds && is_merged(*row);
            if find(table, slug).is_none() && !is_meant {
                lost.count += 1;
                if lost.first.len() < Self::MAX_NAMED {
                    lost.first.push(slug.to_owned());
                }
            }
        }
        lost
    }
}

impl fmt::Display for LostRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ", without {}", self.first.join(" "))?;
        match self.count as usize - self.first.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn read_version(path: &Path) -> ReleaseResult<Option<SnapshotVersion>> {
    const MAX_BYTES: u64 = 64;
    let bad = |found: String| ReleaseError::BadCurrent { path: path.to_owned(), found };
    let Some(metadata) = existing(fs::metadata(path)).at(path)? else { return Ok(None) };
    if !metadata.is_file() {
        return Err(bad("it is not a file".into()));
    }
    let Some(file) = existing(fs::File::open(path)).at(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).at(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    text.parse().map(Some).map_err(|_| bad(format!("{text:?} is not a version of the form YYYY-MM-DD.N")))
}

/// Hashes the metadata of a path and of everything below it, `depth` folders deep.
fn hash_metadata(path: &Path, depth: u32, stamp: &mut DefaultHasher) {
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
            hash_metadata(&path.join(name), depth - 1, stamp);
        }
    }
}

fn size(folder: &Path) -> io::Result<u64> {
    files(folder)?.iter().map(|file| Ok(fs::metadata(folder.join(file))?.len())).sum()
}

/// The files below a folder, as sorted relative paths.
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
