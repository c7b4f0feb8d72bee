//! Publishes a release: everything is written to a draft folder and synced, then two renames make it public.
//!
//! The order matters. The release gets its name only when all its files and folder entries are on disk, and `current`
//! names it only when that name is on disk. The next content of `current` is written before the first rename: if a
//! build is killed between the two, the next build of the same dataset finds it and finishes the switch.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::checksum::{Checksum, HashingWriter};
use crate::error::At;
use crate::file_system::Fs;
use crate::manifest::{self, File, Manifest};
use crate::open::Holding;
use crate::signature::SigningKey;
use crate::{
    BUILDING, NEXT, REMOVING, ReleaseError, ReleaseResult, ReleaseStore, bulk, lock, open, permissions, read_version,
    text,
};
use catalog::record_history;
use data::archive::Archive;
use data::parallel::in_parallel;
use data::{Compiled, NoProgress, Progress, Snapshot, SnapshotVersion};
use platform::memory::ReleaseCaches;
use search::IndexFiles;

/// Number of earlier releases for which change files are written.
const CHANGES_SINCE: usize = 10;

/// A running build. It holds the build lock of the index until it is dropped.
pub struct Publisher<'f> {
    releases: ReleaseStore,
    file_system: &'f dyn Fs,
    policy: Policy,
    /// The release that a killed build was about to activate.
    interrupted: Option<SnapshotVersion>,
    _lock: fs::File,
}

#[derive(Default)]
pub struct Policy {
    pub is_forced: bool,
    pub signing_key: Option<SigningKey>,
    pub has_bulk: bool,
    /// Ids of reviews that their authors or the operator have withdrawn: their loss is meant.
    pub withdrawn_reviews: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Publication {
    pub manifest: Manifest,
    pub outcome: PublicationOutcome,
    /// The release that `current` named before.
    pub before: Option<SnapshotVersion>,
    pub current: Option<SnapshotVersion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PublicationOutcome {
    Published,
    /// A damaged release with the same content was replaced.
    Repaired,
    /// The release existed with the same content, but without a signature by the key.
    Signed,
    /// The release existed with the same content, but without bulk files.
    Completed,
    Unchanged,
}

impl<'f> Publisher<'f> {
    pub(crate) fn begin(releases: ReleaseStore, file_system: &'f dyn Fs) -> ReleaseResult<Self> {
        let index = releases.folder();
        if !index.is_dir() {
            permissions::create_folder(index, true).at(index)?;
            if let Some(above) = index.canonicalize().at(index)?.parent() {
                file_system.sync_folder(above).at(above)?;
            }
        }
        let lock = lock::build(index)?;
        let interrupted = read_version(&index.join(NEXT)).ok().flatten();
        let publisher = Self { releases, file_system, policy: Policy::default(), interrupted, _lock: lock };
        publisher.clear(BUILDING)?;
        publisher.clear(REMOVING)?;
        Ok(publisher)
    }

    #[must_use]
    pub fn with(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    pub fn end(self) -> Policy {
        self.policy
    }

    /// An empty file on the disk of the index, removed when it is closed.
    pub fn scratch_file(&self) -> ReleaseResult<fs::File> {
        let index = self.releases.folder();
        tempfile::tempfile_in(index).at(index)
    }

    pub(crate) fn clear(&self, prefix: &str) -> ReleaseResult<()> {
        self.releases.clear(self.file_system, prefix)
    }

    /// Publishes a compiled dataset and makes `current` name it. `built_at` is recorded in the manifest. The same
    /// content again is no error; `current` then only changes if it names nothing, or if the build was killed before
    /// the switch. Other content under the version is [`ReleaseError::Taken`], much less than the current release has
    /// is [`ReleaseError::Shrunk`]. After an error, `current` is unchanged.
    pub fn publish(
        &self,
        compiled: Compiled,
        built_at: OffsetDateTime,
        progress: &dyn Progress,
    ) -> ReleaseResult<Publication> {
        let draft = self.releases.folder().join(format!("{BUILDING}{}", compiled.version()));
        let publication = self.publish_draft(&draft, compiled, built_at, progress);
        // A successful build has renamed it. If it cannot be removed now, the next build will.
        let removed = self.file_system.remove(&draft);
        let publication = publication?;
        removed.at(&draft)?;
        Ok(publication)
    }

    fn publish_draft(
        &self,
        draft: &Path,
        compiled: Compiled,
        built_at: OffsetDateTime,
        progress: &dyn Progress,
    ) -> ReleaseResult<Publication> {
        self.file_system.create_folder(draft).at(draft)?;
        let public = permissions::close(draft).at(draft)?;
        let (version, [tables, records], outcome) = self.write_numbered(draft, compiled, progress)?;
        progress.done();
        if outcome == PublicationOutcome::Unchanged {
            return self.finish_unchanged(version);
        }
        let snapshot = open::tables_on_disk(
            draft,
            version,
            &tables,
            open::records_on_disk(draft, ReleaseCaches::default().records)?,
        )?;
        // A release published with bulk files keeps them when it is only signed or repaired.
        let had_bulk = || self.releases.manifest(version).is_ok_and(|manifest| manifest.bulk().next().is_some());
        let has_bulk = self.policy.has_bulk || had_bulk();
        // Names are enough unless the release is compared with others.
        let is_compared = has_bulk || !self.earlier_versions(version)?.is_empty();
        let read = if is_compared { snapshot.read_all() } else { snapshot.read_names() };
        read.map_err(|error| ReleaseError::archive(version, &error))?;
        if !self.policy.is_forced {
            self.releases.check_rows(&snapshot, &self.policy.withdrawn_reviews)?;
        }
        let indexes = text::create(&snapshot, progress)?;
        progress.step("sync", 0);
        let mut listed = self.write_text(draft, indexes)?;
        listed.extend([tables, records]);
        progress.step("history", 0);
        listed.extend(self.write_history(draft, &snapshot)?);
        if has_bulk {
            listed.extend(self.write_bulk(draft, &snapshot, progress)?);
            progress.step("sync", 0);
        }
        let built_at =
            built_at.replace_nanosecond(0).unwrap_or(built_at).format(&Rfc3339).expect("the year has four digits");
        let manifest = Manifest::new(&snapshot, built_at, listed);
        let json = manifest.json();
        self.write(&draft.join(manifest::FILE), &json)?;
        if let Some(key) = &self.policy.signing_key {
            self.write(&draft.join(manifest::SIGNATURE), &key.sign(&json))?;
        }
        fs::set_permissions(draft, public).at(draft)?;
        self.file_system.sync_folder(draft).at(draft)?;
        progress.done();
        drop(snapshot);
        progress.step("smoke test", 0);
        let opens = [true, false];
        let tested = in_parallel(opens, |opens| match opens {
            true => open::open(draft, manifest.clone(), Holding::default(), &NoProgress)?.smoke_test(),
            false => open::verify(draft, version, manifest.read_in_parts()),
        });
        tested.into_iter().collect::<Result<(), _>>()?;
        progress.step("publish", 0);
        let before = self.make_public(draft, version)?;
        self.clear(REMOVING)?;
        progress.done();
        Ok(Publication { manifest, outcome, before, current: Some(version) })
    }

    /// Writes the tables. A version that nobody has set is that of the newest release if the content is the same, otherwise
    /// the next one that is free.
    fn write_numbered(
        &self,
        draft: &Path,
        mut compiled: Compiled,
        progress: &dyn Progress,
    ) -> ReleaseResult<(SnapshotVersion, [File; 2], PublicationOutcome)> {
        if !compiled.is_version_free() {
            let version = compiled.version();
            let files = self.write_tables(draft, &compiled, progress)?;
            drop(compiled);
            let outcome = self.outcome(version, &files[0])?;
            return Ok((version, files, outcome));
        }
        let newest = self.releases.versions()?.into_iter().next();
        // Versions ascend, even if the data is older than that of the newest release.
        if let Some(newest) = newest.filter(|newest| newest.date >= compiled.version().date) {
            let is_readable = self.releases.manifest(newest).is_ok();
            compiled.set_version(if is_readable { newest } else { self.next_free(newest) });
        }
        let files = self.write_tables(draft, &compiled, progress)?;
        match self.outcome(compiled.version(), &files[0]) {
            Err(ReleaseError::Taken { free, .. }) => {
                compiled.set_version(free);
                for file in &files {
                    let path = draft.join(&file.path);
                    self.file_system.remove(&path).at(&path)?;
                }
                Ok((free, self.write_tables(draft, &compiled, progress)?, PublicationOutcome::Published))
            }
            outcome => Ok((compiled.version(), files, outcome?)),
        }
    }

    fn next_free(&self, version: SnapshotVersion) -> SnapshotVersion {
        self.releases.next_free(version, |_| false)
    }

    fn write_tables(&self, draft: &Path, compiled: &Compiled, progress: &dyn Progress) -> ReleaseResult<[File; 2]> {
        progress.step_of_rows(manifest::TABLES, compiled.records());
        let create = |name: &str| {
            let path = draft.join(name);
            let file = self.file_system.create(&path).at(&path)?;
            Ok::<_, ReleaseError>(HashingWriter::new(BufWriter::with_capacity(1 << 20, file)))
        };
        let (mut tables, mut records) = (create(manifest::TABLES)?, create(manifest::RECORDS)?);
        compiled.write(&mut tables, &mut records, progress).and_then(|()| tables.flush()).at(draft)?;
        let mut files = [(manifest::TABLES, tables), (manifest::RECORDS, records)].map(|(path, written)| {
            let (bytes, sha256) = written.finish();
            File::new(path, bytes, sha256)
        });
        files.iter().try_for_each(|file| self.finish(&draft.join(&file.path)))?;
        let path = draft.join(manifest::TABLES);
        let contents = Archive::contents_sha256(fs::File::open(&path).at(&path)?);
        let contents = contents.map_err(|error| ReleaseError::archive(compiled.version(), &error))?;
        files[0].contents = Some(Checksum(contents));
        Ok(files)
    }

    /// Writes the text indexes, syncs them and their folders, and lists them with their checksums.
    fn write_text(&self, draft: &Path, indexes: IndexFiles) -> ReleaseResult<Vec<File>> {
        let text = draft.join(manifest::TEXT);
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut listed = Vec::new();
        for (name, bytes) in indexes {
            let path = text.join(&name);
            let above = path.ancestors().skip(1).take_while(|above| *above != draft).map(Path::to_owned);
            let mut missing: Vec<PathBuf> = above.filter(|above| !folders.contains(above)).collect();
            while let Some(folder) = missing.pop() {
                self.file_system.create_folder(&folder).at(&folder)?;
                folders.push(folder);
            }
            self.write(&path, &bytes)?;
            let path = format!("{}/{name}", manifest::TEXT);
            listed.push(File::new(path, bytes.len() as u64, Checksum::of(&bytes)));
        }
        folders.iter().rev().try_for_each(|folder| self.file_system.sync_folder(folder).at(folder))?;
        Ok(listed)
    }

    /// Compares the records with those of the previous release and writes their history; nothing for a first release. A
    /// rewritten release keeps its history, because the release that it was compared with may be gone.
    fn write_history(&self, draft: &Path, snapshot: &Snapshot) -> ReleaseResult<Option<File>> {
        let known = self.releases.read_history(snapshot.version()).ok().flatten();
        let bytes = match known {
            Some(known) => Some(known.as_ref().to_vec()),
            None => self.compare(snapshot)?,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        self.write(&draft.join(manifest::HISTORY), &bytes)?;
        Ok(Some(File::new(manifest::HISTORY, bytes.len() as u64, Checksum::of(&bytes))))
    }

    /// The record history, from a comparison with the newest readable earlier release.
    fn compare(&self, snapshot: &Snapshot) -> ReleaseResult<Option<Vec<u8>>> {
        for version in self.earlier_versions(snapshot.version())? {
            let Ok(before) = self.releases.open_tables(version) else { continue };
            let Ok(history) = self.releases.read_history(version) else { continue };
            let history = history.map(|bytes| open::record_history(version, bytes, &before)).transpose();
            let Ok(history) = history else { continue };
            let history = record_history(&before, history.as_ref(), snapshot);
            return history.map(Some).at(self.releases.folder());
        }
        Ok(None)
    }

    /// Writes the bulk files, syncs them and their folder, and lists them with their checksums.
    fn write_bulk(&self, draft: &Path, snapshot: &Snapshot, progress: &dyn Progress) -> ReleaseResult<Vec<File>> {
        let folder = draft.join(manifest::BULK);
        self.file_system.create_folder(&folder).at(&folder)?;
        let create = |name: &str| self.file_system.create(&folder.join(name));
        let mut listed = bulk::write(snapshot, create, progress).at(&folder)?;
        progress.step("bulk/changes", 0);
        for before in self.earlier_versions(snapshot.version())? {
            // Skip releases that cannot be read.
            let Ok(before) = self.releases.open_tables(before) else { continue };
            listed.push(bulk::write_changes(&before, snapshot, create).at(&folder)?);
        }
        progress.done();
        listed.iter().try_for_each(|file| self.finish(&draft.join(&file.path)))?;
        self.file_system.sync_folder(&folder).at(&folder)?;
        Ok(listed)
    }

    /// The most recent releases before a version, newest first.
    fn earlier_versions(&self, version: SnapshotVersion) -> ReleaseResult<Vec<SnapshotVersion>> {
        let mut earlier = self.releases.versions()?;
        earlier.retain(|other| *other < version);
        earlier.truncate(CHANGES_SINCE);
        Ok(earlier)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> ReleaseResult<()> {
        self.file_system.create(path).and_then(|mut file| file.write_all(bytes)).at(path)?;
        self.finish(path)
    }

    /// Syncs a finished file and makes it read-only.
    fn finish(&self, path: &Path) -> ReleaseResult<()> {
        self.file_system.sync_file(path).and_then(|()| permissions::make_read_only(path)).at(path)
    }

    /// Compares the published release of this version, if any, with these tables.
    fn outcome(&self, version: SnapshotVersion, tables: &File) -> ReleaseResult<PublicationOutcome> {
        let manifest = match self.releases.manifest(version) {
            Ok(manifest) => manifest,
            Err(ReleaseError::Missing { .. }) => return Ok(PublicationOutcome::Published),
            Err(ReleaseError::Damaged { .. }) => return Ok(PublicationOutcome::Repaired),
            Err(ReleaseError::OtherFormat { .. }) => return Err(self.taken(version)),
            Err(other) => return Err(other),
        };
        // Everything else is derived from the tables.
        if manifest.file(manifest::TABLES) != Some(tables) {
            return Err(self.taken(version));
        }
        match self.releases.open(version).and_then(|release| self.releases.verify_on_disk(&release.manifest)) {
            Ok(()) if !self.is_signed(version) => Ok(PublicationOutcome::Signed),
            Ok(()) if self.policy.has_bulk && manifest.bulk().next().is_none() => Ok(PublicationOutcome::Completed),
            Ok(()) => Ok(PublicationOutcome::Unchanged),
            Err(ReleaseError::Damaged { .. } | ReleaseError::OtherFormat { .. }) => Ok(PublicationOutcome::Repaired),
            Err(other) => Err(other),
        }
    }

    /// True if the release is signed with the key of this build, or there is no key.
    fn is_signed(&self, version: SnapshotVersion) -> bool {
        let trusted = self.policy.signing_key.as_ref().map(SigningKey::public);
        trusted.is_none() || ReleaseStore { trusted, ..self.releases.clone() }.manifest(version).is_ok()
    }

    fn taken(&self, version: SnapshotVersion) -> ReleaseError {
        ReleaseError::Taken { version, free: self.next_free(version) }
    }

    fn finish_unchanged(&self, version: SnapshotVersion) -> ReleaseResult<Publication> {
        let _lock = lock::switch(self.releases.folder())?;
        let manifest = self.releases.manifest(version)?;
        let before = self.releases.current().ok().flatten();
        let unfinished = self.interrupted == Some(version) || before.is_none();
        let switches = unfinished && self.releases.name_current(self.file_system, version)?;
        let current = if switches { Some(version) } else { before };
        Ok(Publication { manifest, outcome: PublicationOutcome::Unchanged, before, current })
    }

    /// Renames the draft and makes `current` name it. Returns the previous content of `current`.
    pub(crate) fn make_public(&self, draft: &Path, version: SnapshotVersion) -> ReleaseResult<Option<SnapshotVersion>> {
        let _lock = lock::switch(self.releases.folder())?;
        let before = self.releases.current().ok().flatten();
        self.releases.prepare(self.file_system, version)?;
        self.releases.rename_draft(self.file_system, draft, version)?;
        self.releases.switch(self.file_system)?;
        Ok(before)
    }
}
