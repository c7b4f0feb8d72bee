//! Fetches releases into a folder.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::checksum::Checksum;
use crate::error::At;
use crate::file_system::{Fs, OsFs};
use crate::remote::push::{read_part, store_packing};
use crate::remote::{
    CONCURRENCY, Current, PackedFile, Packing, Piece, PushedRelease, RemoteStore, object_name, packing_path,
};
use crate::{Manifest, REMOVING, ReleaseError, ReleaseResult, ReleaseStore, lock, open, permissions};
use data::parallel::{AfterFailure, try_in_parallel};
use data::{NoProgress, SnapshotVersion};

/// Window that covers a piece together with the prefix that it patches.
pub(super) const WINDOW_LOG: u32 = 25;

/// Name prefix of a release that is being fetched. Its valid content is not fetched again.
pub(super) const FETCHING: &str = ".fetching-";

impl RemoteStore {
    /// Copies a release into the folder `local` unless it is there: fetches, verifies and tests it.
    pub fn fetch(&self, local: &ReleaseStore, pushed: PushedRelease) -> ReleaseResult<()> {
        self.fetch_below(local, pushed, super::MAX_DEPTH + 1)
    }

    /// Copies the release named by `current`, which is returned as read, into the folder `local`, and makes it current.
    /// A recovery does without a `current` that cannot be read, and without a release of which parts are missing.
    pub fn sync(&self, local: &ReleaseStore, is_recovery: bool) -> ReleaseResult<Current> {
        permissions::create_folder(local.folder(), true).at(local.folder())?;
        let current = self.current_to_replace(is_recovery)?;
        if let Some(pointer) = &current.pointer {
            match self.fetch(local, pointer.pushed()) {
                Ok(()) => name_current(local, pointer.release)?,
                Err(ref error) if is_recovery && !matches!(error, ReleaseError::ObjectStore { .. }) => {}
                Err(error) => return Err(error),
            }
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
    let release = open::open(draft, manifest, open::Holding::default(), &NoProgress)?;
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

pub(super) fn name_current(local: &ReleaseStore, version: SnapshotVersion) -> ReleaseResult<()> {
    let _lock = lock::switch(local.folder())?;
    local.name_current(&OsFs, version).map(drop)
}
