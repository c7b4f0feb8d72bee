//! Publishing a release: everything is written and synced beside its place, then two renames make it public.
//!
//! The order is what counts. The release gets its name only when all its bytes and names are on the disk; `current`
//! names it only when its own name is. What `current` will be is written before the first rename: left behind by a build
//! that was killed between the two, it tells the next build of the same dataset to finish the switch.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::data::{Checksums, Compiled, Progress, SnapshotVersion};
use crate::release::checksum;
use crate::release::checksum::HashingWriter;
use crate::release::error::At;
use crate::release::file_system::Fs;
use crate::release::lock;
use crate::release::lock::Lock;
use crate::release::manifest::File;
use crate::release::{BUILDING, NEXT, REMOVING, ReleaseError, ReleaseStore, files, open, read_version, text};
use crate::release::{Manifest, manifest};

/// A build at work. It holds the lock of the index until it is dropped.
pub struct Publisher<'d> {
    releases: ReleaseStore,
    disk: &'d dyn Fs,
    /// The release that a killed build was about to switch to.
    interrupted: Option<SnapshotVersion>,
    _lock: Lock,
}

/// What became of a build.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The release.
    pub manifest: Manifest,
    /// Whether it is new.
    pub outcome: Outcome,
    /// The release that `current` named before.
    pub before: Option<SnapshotVersion>,
    /// The release that `current` names now.
    pub current: Option<SnapshotVersion>,
}

/// Whether a build published something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The release is new.
    Published,
    /// The release was there, with the same content but damaged; it was replaced.
    Repaired,
    /// The release was there, with the same content.
    Unchanged,
}

/// How the version that is to be published stands in the index.
enum ExistingState {
    Free,
    Same(Box<Manifest>),
    Damaged,
}

impl<'d> Publisher<'d> {
    pub(crate) fn begin(releases: ReleaseStore, disk: &'d dyn Fs) -> Result<Self, ReleaseError> {
        let index = releases.folder();
        if !index.is_dir() {
            fs::create_dir_all(index).at(index)?;
            if let Some(above) = index.canonicalize().at(index)?.parent() {
                disk.sync_folder(above).at(above)?;
            }
        }
        let lock = lock::build(index)?;
        let interrupted = read_version(&index.join(NEXT)).ok().flatten();
        let building = Self { releases, disk, interrupted, _lock: lock };
        building.clear(BUILDING)?;
        building.clear(REMOVING)?;
        Ok(building)
    }

    /// Removes what killed builds left over: entries whose names begin with `prefix`.
    pub(crate) fn clear(&self, prefix: &str) -> Result<(), ReleaseError> {
        let index = self.releases.folder();
        for entry in fs::read_dir(index).at(index)? {
            let entry = entry.at(index)?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                self.disk.remove(&entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Publishes a compiled dataset and makes `current` name it. `built_at` stands in the manifest.
    ///
    /// The same version again ends well where its content is the same; `current` then stays as it is, unless it names
    /// nothing or the build that published the release was killed before it could switch.
    ///
    /// # Errors
    /// [`ReleaseError::Taken`] where the version is published with other content; [`ReleaseError::Text`],
    /// [`ReleaseError::Io`]. What was served before goes on.
    pub fn publish(
        &self,
        compiled: Compiled,
        built_at: OffsetDateTime,
        progress: &dyn Progress,
    ) -> Result<Publication, ReleaseError> {
        let draft = self.releases.folder().join(format!("{BUILDING}{}", compiled.version()));
        let publication = self.publish_by(&draft, compiled, built_at, progress);
        // After a publication there is nothing left at this place. What cannot be removed now, the next build removes.
        let removed = self.disk.remove(&draft);
        let publication = publication?;
        removed.at(&draft)?;
        Ok(publication)
    }

    fn publish_by(
        &self,
        draft: &Path,
        compiled: Compiled,
        built_at: OffsetDateTime,
        progress: &dyn Progress,
    ) -> Result<Publication, ReleaseError> {
        let version = compiled.version();
        self.disk.create_folder(draft).at(draft)?;
        progress.step(manifest::TABLES, 0);
        let tables = self.write_tables(draft, &compiled)?;
        drop(compiled);
        progress.done();
        let outcome = match self.standing(version, &tables)? {
            ExistingState::Same(manifest) => return self.leave(version, *manifest),
            ExistingState::Damaged => Outcome::Repaired,
            ExistingState::Free => Outcome::Published,
        };
        let snapshot = open::tables(draft, version, Checksums::Verify)?;
        text::create(&snapshot, &draft.join(manifest::TEXT), progress)?;
        progress.step("sync", 0);
        let mut listed = self.sync_text(draft)?;
        listed.push(tables);
        let built_at = built_at.replace_nanosecond(0).unwrap_or(built_at).format(&Rfc3339).unwrap_or_default();
        let manifest = Manifest::of(&snapshot, built_at, listed);
        self.write_manifest(draft, &manifest)?;
        self.disk.sync_folder(draft).at(draft)?;
        progress.done();
        drop(snapshot);
        progress.step("trial", 0);
        let release = open::open_trusted(draft, version, manifest)?;
        release.smoke_test().map_err(|reason| ReleaseError::Damaged { version, reason })?;
        progress.done();
        progress.step("publish", 0);
        let manifest = release.manifest.clone();
        drop(release);
        let before = self.make_public(draft, version)?;
        self.clear(REMOVING)?;
        progress.done();
        Ok(Publication { manifest, outcome, before, current: Some(version) })
    }

    fn write_tables(&self, draft: &Path, compiled: &Compiled) -> Result<File, ReleaseError> {
        let path = draft.join(manifest::TABLES);
        let file = self.disk.create(&path).at(&path)?;
        let mut out = HashingWriter::new(BufWriter::with_capacity(1 << 20, file));
        compiled.write(&mut out).and_then(|()| out.flush()).at(&path)?;
        let (_, bytes, xxh3) = out.finish();
        self.disk.sync_file(&path).at(&path)?;
        Ok(File { path: manifest::TABLES.into(), bytes, xxh3 })
    }

    /// Whether the version is free, and if not, how what is published compares to these tables.
    fn standing(&self, version: SnapshotVersion, tables: &File) -> Result<ExistingState, ReleaseError> {
        let manifest = match self.releases.manifest(version) {
            Ok(manifest) => manifest,
            Err(ReleaseError::Missing { .. }) => return Ok(ExistingState::Free),
            Err(ReleaseError::Damaged { .. }) => return Ok(ExistingState::Damaged),
            Err(ReleaseError::OtherFormat { .. }) => return Err(self.taken(version)),
            Err(other) => return Err(other),
        };
        // The tables hold everything that the dataset says and all that follows from it.
        if manifest.file(manifest::TABLES) != Some(tables) {
            return Err(self.taken(version));
        }
        match self.releases.open(version) {
            Ok(release) => Ok(ExistingState::Same(Box::new(release.manifest))),
            Err(ReleaseError::Damaged { .. } | ReleaseError::OtherFormat { .. }) => Ok(ExistingState::Damaged),
            Err(other) => Err(other),
        }
    }

    fn taken(&self, version: SnapshotVersion) -> ReleaseError {
        ReleaseError::Taken { version, free: self.releases.next_free(version) }
    }

    /// Ends a build that found its release published already.
    fn leave(&self, version: SnapshotVersion, manifest: Manifest) -> Result<Publication, ReleaseError> {
        let _lock = lock::switch(self.releases.folder())?;
        let before = self.releases.current().ok().flatten();
        let unfinished = self.interrupted == Some(version) || before.is_none();
        let switches = unfinished && before != Some(version);
        if switches {
            self.releases.prepare(self.disk, version)?;
            self.releases.switch(self.disk)?;
        }
        let current = if switches { Some(version) } else { before };
        Ok(Publication { manifest, outcome: Outcome::Unchanged, before, current })
    }

    /// Syncs the files and folders of the text indexes and lists the files with their checksums.
    fn sync_text(&self, draft: &Path) -> Result<Vec<File>, ReleaseError> {
        let folder = draft.join(manifest::TEXT);
        // Some of these files were made for their owner only; whoever may read the tables may read them too.
        let tables = draft.join(manifest::TABLES);
        let permissions = fs::metadata(&tables).at(&tables)?.permissions();
        let mut listed = Vec::new();
        let mut folders = vec![folder.clone()];
        for inner in files(&folder).at(&folder)? {
            let path = folder.join(&inner);
            let (bytes, xxh3) = checksum::of_file(&path, |_| {}).at(&path)?;
            fs::set_permissions(&path, permissions.clone()).at(&path)?;
            self.disk.sync_file(&path).at(&path)?;
            let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
            listed.push(File { path: format!("{}/{}", manifest::TEXT, parts.join("/")), bytes, xxh3 });
            folders.extend(path.ancestors().skip(1).take_while(|above| *above != folder).map(PathBuf::from));
        }
        folders.sort_unstable();
        folders.dedup();
        for folder in folders.iter().rev() {
            self.disk.sync_folder(folder).at(folder)?;
        }
        Ok(listed)
    }

    fn write_manifest(&self, draft: &Path, manifest: &Manifest) -> Result<(), ReleaseError> {
        let path = draft.join(manifest::FILE);
        let mut file = self.disk.create(&path).at(&path)?;
        file.write_all(&manifest.json()).at(&path)?;
        self.disk.sync_file(&path).at(&path)
    }

    /// Gives the draft its name and makes `current` name it; answers what `current` named before.
    fn make_public(&self, draft: &Path, version: SnapshotVersion) -> Result<Option<SnapshotVersion>, ReleaseError> {
        let index = self.releases.folder();
        let place = self.releases.release_folder(version);
        let _lock = lock::switch(index)?;
        let before = self.releases.current().ok().flatten();
        self.releases.prepare(self.disk, version)?;
        if place.symlink_metadata().is_ok() {
            let aside = index.join(format!("{REMOVING}{version}"));
            self.disk.rename(&place, &aside).at(&place)?;
        }
        self.disk.rename(draft, &place).at(&place)?;
        self.disk.sync_folder(index).at(index)?;
        self.releases.switch(self.disk)?;
        Ok(before)
    }
}
