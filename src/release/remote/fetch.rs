//! Fetching releases into a folder, and the replica that follows `current`.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::checksum::Checksum;
use crate::error::At;
use crate::file_system::{Fs, OsFs};
use crate::remote::push::{keep_packing, read_part};
use crate::remote::{
    Current, Named, PackedFile, Packing, Piece, Pointer, RemoteStore, in_parallel, kept_packing, object_name,
};
use crate::{Manifest, REMOVING, ReleaseError, ReleaseStore, lock, open, permissions};
use data::{NoProgress, SnapshotVersion};

/// Covers a piece and what it is a patch of.
pub(super) const WINDOW_LOG: u32 = 25;

/// Prefix of a release that is being fetched. What is there and right is not fetched again.
const FETCHING: &str = ".fetching-";

impl RemoteStore {
    /// Copies the release `version` into the folder `local`, unless it is there: fetches it, verifies it and tries it.
    pub fn fetch(
        &self,
        local: &ReleaseStore,
        version: SnapshotVersion,
        manifest: Checksum,
    ) -> Result<(), ReleaseError> {
        self.fetch_below(local, version, manifest, super::MAX_DEPTH + 1)
    }

    /// Brings the release that `current` names into the folder `local`, and makes it current there. Returns `current` as it was
    /// read.
    pub fn sync(&self, local: &ReleaseStore) -> Result<Current, ReleaseError> {
        permissions::create_folder(local.folder(), true).at(local.folder())?;
        let current = self.current()?;
        if let Some(pointer) = &current.pointer {
            self.fetch(local, pointer.release, pointer.manifest)?;
            name_current(local, pointer.release)?;
        }
        Ok(current)
    }

    fn fetch_below(
        &self,
        local: &ReleaseStore,
        version: SnapshotVersion,
        manifest: Checksum,
        depth: u32,
    ) -> Result<(), ReleaseError> {
        let kept = fs::read(kept_packing(local.folder(), version));
        if kept.is_ok_and(|json| Checksum::of(&json) == manifest) && local.manifest(version).is_ok() {
            return Ok(());
        }
        let (packing, json) = self.packing(version, manifest)?;
        if packing.depth >= depth {
            let reason = "its patches refer to releases without end".into();
            return Err(ReleaseError::Damaged { version, reason });
        }
        if let Some(Named { version, manifest }) = packing.base {
            self.fetch_below(local, version, manifest, packing.depth)?;
        }
        let draft = local.folder().join(format!("{FETCHING}{version}"));
        self.fetch_files(local, &packing, &draft)?;
        // A draft that is refused stays: at the next try nothing of it is fetched again.
        try_draft(local, &packing, &draft)?;
        place(local, version, &draft)?;
        keep_packing(local.folder(), version, &json)
    }

    fn fetch_files(&self, local: &ReleaseStore, packing: &Packing, draft: &Path) -> Result<(), ReleaseError> {
        let mut jobs: Vec<(&PackedFile, u64, &Piece)> = Vec::new();
        for file in &packing.files {
            let path = draft.join(&file.path);
            let create = || {
                permissions::create_folder(path.parent().unwrap_or(draft), true)?;
                permissions::file_options().create(true).truncate(false).open(&path)?.set_len(file.bytes)
            };
            create().at(&path)?;
            let mut start = 0;
            for piece in &file.pieces {
                jobs.push((file, start, piece));
                start += piece.bytes;
            }
        }
        in_parallel(&jobs, |(file, start, piece)| {
            let path = draft.join(&file.path);
            if Checksum::of(&read_part(&path, *start, piece.bytes)?) == piece.sha256 {
                return Ok(());
            }
            let content = self.fetch_piece(local, packing, piece)?;
            let write = || {
                let mut out = permissions::file_options().open(&path)?;
                out.seek(SeekFrom::Start(*start))?;
                out.write_all(&content)
            };
            write().at(&path)
        })?;
        for file in &packing.files {
            let path = draft.join(&file.path);
            OsFs.sync_file(&path).at(&path)?;
        }
        Ok(())
    }

    fn fetch_piece(&self, local: &ReleaseStore, packing: &Packing, piece: &Piece) -> Result<Vec<u8>, ReleaseError> {
        let name = object_name(piece.object);
        let damaged = |what: &str| ReleaseError::Damaged { version: packing.version, reason: format!("{name} {what}") };
        let found = self.objects.get(&name, piece.stored)?.ok_or_else(|| damaged("is missing"))?;
        if Checksum::of(&found.bytes) != piece.object {
            return Err(damaged("was changed: its checksum differs"));
        }
        let prefix = match (&piece.patched, &packing.base) {
            (Some(part), Some(base)) => {
                read_part(&local.release_folder(base.version).join(&part.path), part.start, part.bytes)?
            }
            (Some(_), None) => return Err(damaged("is a patch of no release")),
            (None, _) => Vec::new(),
        };
        let content = unpack(&found.bytes, &prefix, piece.bytes).map_err(|error| damaged(&error.to_string()))?;
        if Checksum::of(&content) != piece.sha256 {
            return Err(damaged("unpacks to other bytes than its manifest says"));
        }
        Ok(content)
    }
}

/// Unpacks a piece; reads one byte more than it may have, so that a longer one has another checksum.
fn unpack(stored: &[u8], prefix: &[u8], bytes: u64) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_ref_prefix(stored, prefix)?;
    decoder.window_log_max(WINDOW_LOG)?;
    let mut content = Vec::new();
    decoder.take(bytes + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// Verifies all files of a fetched release, opens it and tries typical queries.
fn try_draft(local: &ReleaseStore, packing: &Packing, draft: &Path) -> Result<(), ReleaseError> {
    let version = packing.version;
    // What an earlier try has left over is no part of it.
    let listed: HashSet<&Path> = packing.files.iter().map(|file| Path::new(&file.path)).collect();
    for path in crate::files(draft).at(draft)? {
        if !listed.contains(path.as_path()) {
            OsFs.remove(&draft.join(&path)).at(&path)?;
        }
    }
    let manifest = Manifest::read(draft, version, local.trusted.as_ref())?;
    let release = open::open(draft, version, manifest, 0, &NoProgress)?;
    open::verify(draft, version, release.manifest.read_in_parts())?;
    release.smoke_test()
}

/// Gives a fetched release its name.
fn place(local: &ReleaseStore, version: SnapshotVersion, draft: &Path) -> Result<(), ReleaseError> {
    for path in crate::files(draft).at(draft)? {
        permissions::make_read_only(&draft.join(path)).at(draft)?;
    }
    let folder = local.release_folder(version);
    let _lock = lock::switch(local.folder())?;
    let removing = local.folder().join(format!("{REMOVING}{version}"));
    if folder.symlink_metadata().is_ok() {
        OsFs.rename(&folder, &removing).at(&folder)?;
    }
    OsFs.rename(draft, &folder).at(&folder)?;
    OsFs.sync_folder(local.folder()).at(local.folder())?;
    OsFs.remove(&removing).at(&removing)
}

/// Makes the folder name a release that it has.
fn name_current(local: &ReleaseStore, version: SnapshotVersion) -> Result<(), ReleaseError> {
    let _lock = lock::switch(local.folder())?;
    if local.current().is_ok_and(|current| current == Some(version)) {
        return Ok(());
    }
    local.prepare(&OsFs, version)?;
    local.switch(&OsFs)
}

/// Follows `current` of an object store: keeps a folder of releases like it, whose watcher serves them.
pub struct Replica {
    remote: RemoteStore,
    pub(super) local: ReleaseStore,
    /// How many releases the folder keeps, besides those that patches refer to.
    keep: usize,
    seen: Mutex<Seen>,
    failures: AtomicU64,
}

#[derive(Default)]
struct Seen {
    /// The newest pointer.
    pointer: Option<Pointer>,
    /// When it was read last.
    read: Option<Instant>,
    /// Whether the folder has its release.
    is_fetched: bool,
    /// The releases before it that are not fetched yet: others may have served them while this replica saw none of them.
    passed_over: VecDeque<Named>,
    /// Those of them that are fetched and not loaded yet.
    to_load: Vec<SnapshotVersion>,
    /// Whether the last attempt failed.
    is_failing: bool,
}

impl Replica {
    /// A replica whose folder of releases is `local`, which must be its own.
    pub fn new(remote: RemoteStore, local: ReleaseStore, keep: usize) -> Self {
        let kept = fs::read(local.folder().join(POINTER)).ok();
        let pointer = kept.and_then(|json| serde_json::from_slice(&json).ok());
        Self { remote, local, keep, seen: Mutex::new(Seen { pointer, ..Seen::default() }), failures: AtomicU64::new(0) }
    }

    /// Reads `current`, and fetches its release if the folder does not have it. To be called off the runtime.
    pub fn poll(&self) -> Result<(), ReleaseError> {
        let polled = self.follow();
        if polled.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.lock().is_failing = polled.is_err();
        polled
    }

    fn follow(&self) -> Result<(), ReleaseError> {
        permissions::create_folder(self.local.folder(), true).at(self.local.folder())?;
        let Some(pointer) = self.remote.current()?.pointer else { return Ok(()) };
        let is_fetched = {
            let mut seen = self.lock();
            seen.read = Some(Instant::now());
            match &seen.pointer {
                // The store has returned old content.
                Some(known) if pointer.generation < known.generation => return Ok(()),
                Some(known) if *known == pointer && seen.is_fetched => true,
                _ => {
                    seen.passed_over = pointer.before.iter().take(self.keep.saturating_sub(1)).cloned().collect();
                    seen.to_load.clear();
                    seen.pointer = Some(pointer.clone());
                    seen.is_fetched = false;
                    false
                }
            }
        };
        if !is_fetched {
            let path = self.local.folder().join(POINTER);
            fs::write(&path, serde_json::to_vec(&pointer).expect("texts and numbers serialize")).at(&path)?;
            self.remote.fetch(&self.local, pointer.release, pointer.manifest)?;
            self.lock().is_fetched = true;
            self.remove_drafts()?;
        }
        // A replica that serves nothing yet does so first.
        match self.local.current() {
            Ok(None) => Ok(()),
            _ => self.fetch_passed_over(),
        }
    }

    fn fetch_passed_over(&self) -> Result<(), ReleaseError> {
        let next = || self.lock().passed_over.front().cloned();
        while let Some(named) = next() {
            let fetched = self.remote.fetch(&self.local, named.version, named.manifest);
            if let Err(error @ ReleaseError::ObjectStore { .. }) = fetched {
                return Err(error);
            }
            let mut seen = self.lock();
            seen.passed_over.pop_front();
            // One that was removed is served by nobody for long.
            if fetched.is_ok() {
                seen.to_load.push(named.version);
            }
        }
        Ok(())
    }

    /// A release to load for its cursors, which others may have given; `is_loaded` tells those that are loaded.
    pub(crate) fn next_to_load(&self, is_loaded: impl Fn(SnapshotVersion) -> bool) -> Option<SnapshotVersion> {
        let mut seen = self.lock();
        seen.to_load.retain(|version| !is_loaded(*version));
        seen.to_load.first().copied()
    }

    /// A release from [`Replica::next_to_load`] was loaded, or cannot be.
    pub(crate) fn note_loaded(&self, version: SnapshotVersion) {
        self.lock().to_load.retain(|other| *other != version);
    }

    /// Removes what is left over of releases that were refused or overtaken.
    fn remove_drafts(&self) -> Result<(), ReleaseError> {
        let folder = self.local.folder();
        for entry in fs::read_dir(folder).at(folder)? {
            let entry = entry.at(folder)?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(FETCHING)) {
                OsFs.remove(&entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Makes the folder name the announced release when its time has come; at once if the folder names none. `now` is in Unix
    /// seconds.
    pub fn activate(&self, now: i64) -> Result<(), ReleaseError> {
        let due = {
            let seen = self.lock();
            seen.pointer.as_ref().filter(|_| seen.is_fetched).cloned()
        };
        let Some(pointer) = due else { return Ok(()) };
        let current = self.local.current().ok().flatten();
        if current == Some(pointer.release) || (current.is_some() && now < pointer.activate_at) {
            return Ok(());
        }
        name_current(&self.local, pointer.release)?;
        // Those that patches refer to are fetched again if they are needed once more.
        self.local.prune(self.keep + super::MAX_DEPTH as usize).map(|_| ())
    }

    /// Whether a release that is not loaded will be, as far as the replica knows: one that is announced or was passed over, or
    /// a newer one while `current` was not read for a moment. Its cursors are not to be refused for good. `is_served`: some
    /// replica serves it or did, as a signed cursor tells, so that a newer one than is known is still to come.
    pub fn expects(&self, version: SnapshotVersion, is_served: bool) -> bool {
        const KNOWN_FOR: Duration = Duration::from_millis(1_500);
        let seen = self.lock();
        let named = |named: &Named| named.version == version;
        let (known, was_before) =
            seen.pointer.as_ref().map_or((None, false), |known| (Some(known.release), known.before.iter().any(named)));
        let is_unsure = seen.read.is_none_or(|read| read.elapsed() > KNOWN_FOR);
        known == Some(version)
            || seen.passed_over.iter().any(named)
            || seen.to_load.contains(&version)
            || (known.is_none_or(|known| version > known) && (is_unsure || (is_served && !was_before)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn place(&self) -> &str {
        self.remote.place()
    }

    /// Whether the store could not be read at the last attempt, or its release not be fetched.
    pub fn is_failing(&self) -> bool {
        self.lock().is_failing
    }

    /// The generation of the newest `current` that was read; 0 before there is one.
    pub fn generation(&self) -> u64 {
        self.lock().pointer.as_ref().map_or(0, |pointer| pointer.generation)
    }

    /// How often `current` could not be read, or its release not be fetched.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// The newest pointer that a replica has read, so that it takes no older one after a restart.
const POINTER: &str = ".pointer";
