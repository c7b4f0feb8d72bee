//! Fetches releases into a folder, and the replica that follows `current`.

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
use crate::remote::push::{read_part, store_packing};
use crate::remote::{
    CONCURRENCY, Current, PackedFile, Packing, Piece, Pointer, PushedRelease, RemoteStore, object_name, packing_path,
};
use crate::{Manifest, REMOVING, ReleaseError, ReleaseResult, ReleaseStore, lock, open, permissions};
use data::parallel::{AfterFailure, try_in_parallel};
use data::{NoProgress, SnapshotVersion};

/// Window that covers a piece together with the prefix that it patches.
pub(super) const WINDOW_LOG: u32 = 25;

/// Name prefix of a release that is being fetched. Its valid content is not fetched again.
const FETCHING: &str = ".fetching-";

impl RemoteStore {
    /// Copies a release into the folder `local` unless it is there: fetches, verifies and tests it.
    pub fn fetch(&self, local: &ReleaseStore, pushed: PushedRelease) -> ReleaseResult<()> {
        self.fetch_below(local, pushed, super::MAX_DEPTH + 1)
    }

    /// Copies the release named by `current`, which is returned as read, into the folder `local`, and makes it current.
    pub fn sync(&self, local: &ReleaseStore) -> ReleaseResult<Current> {
        permissions::create_folder(local.folder(), true).at(local.folder())?;
        let current = self.current()?;
        if let Some(pointer) = &current.pointer {
            self.fetch(local, pointer.pushed())?;
            name_current(local, pointer.release)?;
        }
        Ok(current)
    }

    fn fetch_below(&self, local: &ReleaseStore, pushed: PushedRelease, depth: u32) -> ReleaseResult<()> {
        let PushedRelease { version, manifest } = pushed;
        let kept = fs::read(packing_path(local.folder(), version));
        if kept.is_ok_and(|json| Checksum::of(&json) == manifest) && local.manifest(version).is_ok() {
            return Ok(());
        }
        let (packing, json) = self.packing(pushed)?;
        if packing.depth >= depth {
            let reason = "its patches refer to releases without end".into();
            return Err(ReleaseError::Damaged { version, reason });
        }
        if let Some(base) = packing.base {
            self.fetch_below(local, base, packing.depth)?;
        }
        let draft = local.folder().join(format!("{FETCHING}{version}"));
        self.fetch_files(local, &packing, &draft)?;
        // Keep a refused draft: the next attempt does not fetch its content again.
        try_draft(local, &packing, &draft)?;
        rename_draft(local, version, &draft)?;
        store_packing(local.folder(), version, &json)
    }

    fn fetch_files(&self, local: &ReleaseStore, packing: &Packing, draft: &Path) -> ReleaseResult<()> {
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
        try_in_parallel(CONCURRENCY, &jobs, AfterFailure::Stop, |(file, start, piece)| {
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

    fn fetch_piece(&self, local: &ReleaseStore, packing: &Packing, piece: &Piece) -> ReleaseResult<Vec<u8>> {
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

/// Unpacks a piece. Reads one byte more than expected, so that a longer piece has a wrong checksum.
fn unpack(stored: &[u8], prefix: &[u8], bytes: u64) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_ref_prefix(stored, prefix)?;
    decoder.window_log_max(WINDOW_LOG)?;
    let mut content = Vec::new();
    decoder.take(bytes + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// Verifies all files of a fetched release, opens it and runs typical queries.
fn try_draft(local: &ReleaseStore, packing: &Packing, draft: &Path) -> ReleaseResult<()> {
    let version = packing.version;
    // Remove leftovers of earlier attempts.
    let listed: HashSet<&Path> = packing.files.iter().map(|file| Path::new(&file.path)).collect();
    for path in crate::files(draft).at(draft)? {
        if !listed.contains(path.as_path()) {
            OsFs.remove(&draft.join(&path)).at(&path)?;
        }
    }
    let manifest = Manifest::read(draft, version, local.trusted.as_ref())?;
    let release = open::open(draft, manifest, 0, &NoProgress)?;
    open::verify(draft, version, release.manifest.read_in_parts())?;
    release.smoke_test()
}

fn rename_draft(local: &ReleaseStore, version: SnapshotVersion, draft: &Path) -> ReleaseResult<()> {
    for path in crate::files(draft).at(draft)? {
        permissions::make_read_only(&draft.join(path)).at(draft)?;
    }
    let _lock = lock::switch(local.folder())?;
    local.rename_draft(&OsFs, draft, version)?;
    let removing = local.folder().join(format!("{REMOVING}{version}"));
    OsFs.remove(&removing).at(&removing)
}

fn name_current(local: &ReleaseStore, version: SnapshotVersion) -> ReleaseResult<()> {
    let _lock = lock::switch(local.folder())?;
    local.name_current(&OsFs, version).map(drop)
}

/// Follows `current` of an object store and mirrors it into a folder of releases, from which a watcher serves them.
pub struct Replica {
    remote: RemoteStore,
    pub(super) local: ReleaseStore,
    /// Number of releases kept in the folder, besides those that patches refer to.
    keep: usize,
    state: Mutex<ReplicaState>,
    failures: AtomicU64,
}

#[derive(Default)]
struct ReplicaState {
    pointer: Option<Pointer>,
    read: Option<Instant>,
    is_fetched: bool,
    /// Releases before it that are not fetched yet: others may have served them while this replica saw none of them.
    passed_over: VecDeque<PushedRelease>,
    /// Passed-over releases that are fetched but not yet loaded.
    to_load: Vec<SnapshotVersion>,
    is_failing: bool,
}

impl Replica {
    /// Creates a replica with the folder of releases `local`, which no other process may write to.
    pub fn new(remote: RemoteStore, local: ReleaseStore, keep: usize) -> Self {
        let kept = fs::read(local.folder().join(POINTER)).ok();
        let pointer = kept.and_then(|json| serde_json::from_slice(&json).ok());
        Self {
            remote,
            local,
            keep,
            state: Mutex::new(ReplicaState { pointer, ..ReplicaState::default() }),
            failures: AtomicU64::new(0),
        }
    }

    /// Reads `current`, and fetches its release if the folder lacks it. Blocks: call it off the runtime.
    pub fn poll(&self) -> ReleaseResult<()> {
        let polled = self.follow();
        if polled.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.lock().is_failing = polled.is_err();
        polled
    }

    fn follow(&self) -> ReleaseResult<()> {
        permissions::create_folder(self.local.folder(), true).at(self.local.folder())?;
        let Some(pointer) = self.remote.current()?.pointer else { return Ok(()) };
        let is_fetched = {
            let mut state = self.lock();
            state.read = Some(Instant::now());
            match &state.pointer {
                // The store returned stale content.
                Some(known) if pointer.generation < known.generation => return Ok(()),
                Some(known) if *known == pointer && state.is_fetched => true,
                _ => {
                    state.passed_over = pointer.before.iter().take(self.keep.saturating_sub(1)).copied().collect();
                    state.to_load.clear();
                    state.pointer = Some(pointer.clone());
                    state.is_fetched = false;
                    false
                }
            }
        };
        if !is_fetched {
            let path = self.local.folder().join(POINTER);
            fs::write(&path, serde_json::to_vec(&pointer).expect("texts and numbers serialize")).at(&path)?;
            self.remote.fetch(&self.local, pointer.pushed())?;
            self.lock().is_fetched = true;
            // Drafts of releases that were refused or overtaken.
            self.local.clear(&OsFs, FETCHING)?;
        }
        // A replica that serves nothing yet first gets a release to serve.
        match self.local.current() {
            Ok(None) => Ok(()),
            _ => self.fetch_passed_over(),
        }
    }

    fn fetch_passed_over(&self) -> ReleaseResult<()> {
        let next = || self.lock().passed_over.front().copied();
        while let Some(named) = next() {
            let fetched = self.remote.fetch(&self.local, named);
            if let Err(error @ ReleaseError::ObjectStore { .. }) = fetched {
                return Err(error);
            }
            let mut state = self.lock();
            state.passed_over.pop_front();
            // A removed release is not served by anyone for long.
            if fetched.is_ok() {
                state.to_load.push(named.version);
            }
        }
        Ok(())
    }

    /// The next release to load for cursors that other replicas may have issued.
    pub(crate) fn next_to_load(&self, is_loaded: impl Fn(SnapshotVersion) -> bool) -> Option<SnapshotVersion> {
        let mut state = self.lock();
        state.to_load.retain(|version| !is_loaded(*version));
        state.to_load.first().copied()
    }

    /// Notes that a release from [`Replica::next_to_load`] was loaded or cannot be.
    pub(crate) fn note_loaded(&self, version: SnapshotVersion) {
        self.lock().to_load.retain(|other| *other != version);
    }

    /// Makes the announced release current in the folder once it is due, or at once if none is. `now`: Unix seconds.
    pub fn activate(&self, now: i64) -> ReleaseResult<()> {
        let due = {
            let state = self.lock();
            state.pointer.as_ref().filter(|_| state.is_fetched).cloned()
        };
        let Some(pointer) = due else { return Ok(()) };
        let current = self.local.current().ok().flatten();
        if current == Some(pointer.release) || (current.is_some() && now < pointer.activate_at) {
            return Ok(());
        }
        name_current(&self.local, pointer.release)?;
        // Releases that patches refer to are fetched again if they are needed once more.
        self.local.prune(self.keep + super::MAX_DEPTH as usize).map(|_| ())
    }

    /// True if a release that is not loaded is expected, as far as is known, so that its cursors must not be refused
    /// for good: it is announced or was passed over, or it is newer and `current` was not read for a moment.
    /// `is_served`: a signed cursor shows that a replica serves it or did, so one newer than the known one is to come.
    pub(crate) fn expects(&self, version: SnapshotVersion, is_served: bool) -> bool {
        const KNOWN_FOR: Duration = Duration::from_millis(1_500);
        let state = self.lock();
        let named = |named: &PushedRelease| named.version == version;
        let (known, was_before) =
            state.pointer.as_ref().map_or((None, false), |known| (Some(known.release), known.before.iter().any(named)));
        let is_unsure = state.read.is_none_or(|read| read.elapsed() > KNOWN_FOR);
        known == Some(version)
            || state.passed_over.iter().any(named)
            || state.to_load.contains(&version)
            || (known.is_none_or(|known| version > known) && (is_unsure || (is_served && !was_before)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ReplicaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn location(&self) -> &str {
        self.remote.location()
    }

    /// True if the last attempt failed to read the store or to fetch its release.
    pub fn is_failing(&self) -> bool {
        self.lock().is_failing
    }

    /// Generation of the newest `current` read; 0 before the first.
    pub fn generation(&self) -> u64 {
        self.lock().pointer.as_ref().map_or(0, |pointer| pointer.generation)
    }

    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// File with the newest pointer read, so that a replica accepts no older one after a restart.
const POINTER: &str = ".pointer";
