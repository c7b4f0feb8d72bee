//! Pushes a release, moves `current`, and removes unneeded objects.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::error::At;
use crate::remote::{
    Announcement, CONCURRENCY, CURRENT, Current, FORMAT, FilePart, MAX_BEFORE, MAX_DEPTH, PIECE, PackedFile, Packing,
    Piece, Pointer, PointerSigning, PushedRelease, REACH, RemoteStore, object_name, packing_path,
};
use crate::{ReleaseError, ReleaseResult, ReleaseStore, SigningKey, files, manifest, permissions};
use data::parallel::{AfterFailure, try_in_parallel};
use data::{SnapshotVersion, hex};

/// zstd's own default.
const LEVEL: i32 = 3;

/// Maximum age in seconds of an existing object that is reused; older ones are written again, because an unneeded
/// object may be removed at any time. Must be below the shortest grace period.
const FRESH: i64 = 3_600;

#[derive(Clone, Debug, Serialize)]
pub struct Pushed {
    pub pointer: Pointer,
    /// Number of objects uploaded, and their total size in bytes.
    pub objects: usize,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Pruned {
    pub releases: Vec<SnapshotVersion>,
    pub objects: usize,
    pub bytes: u64,
}

impl RemoteStore {
    /// Uploads the missing parts of a release of `local` and makes `current` name it. `now` is in Unix seconds.
    /// [`ReleaseError::Overtaken`] if `current` has changed since it was `read`.
    pub fn push(
        &self,
        local: &ReleaseStore,
        version: SnapshotVersion,
        key: Option<&SigningKey>,
        read: &Current,
        announcement: &Announcement,
        now: i64,
    ) -> ReleaseResult<Pushed> {
        local.manifest(version)?;
        self.check_taken(local, version)?;
        // The release named by `current` is the base of patches, if the folder has it as it was pushed. The store may have
        // lost parts of it if it was restored.
        let base = read.pointer.as_ref().filter(|_| !announcement.is_recovery).and_then(|pointer| {
            let json = fs::read(packing_path(local.folder(), pointer.release)).ok()?;
            let packing: Packing = serde_json::from_slice(&json).ok()?;
            let is_same = Checksum::of(&json) == pointer.manifest && packing.version != version;
            let is_usable = is_same && packing.depth < MAX_DEPTH && local.manifest(pointer.release).is_ok();
            is_usable.then(|| (pointer.pushed(), packing))
        });
        let folder = local.release_folder(version);
        let paths = files(&folder).at(&folder)?;
        let mut jobs = Vec::new();
        let mut packed = Vec::new();
        for path in paths {
            let bytes = fs::metadata(folder.join(&path)).at(&folder)?.len();
            let path = path.to_string_lossy().replace('\\', "/");
            let source = base.as_ref().and_then(|(_, packing)| counterpart(packing, &path));
            jobs.extend(
                (0..bytes.div_ceil(PIECE)).map(|place| (packed.len(), path.clone(), bytes, place * PIECE, source)),
            );
            packed.push(PackedFile { path, bytes, pieces: Vec::new() });
        }
        let done = try_in_parallel(CONCURRENCY, &jobs, AfterFailure::Stop, |(_, path, bytes, start, source)| {
            let content = read_part(&folder.join(path), *start, PIECE.min(bytes - start))?;
            self.put_piece(local, &content, *start, *bytes, base.as_ref().map(|(base, _)| base).zip(*source), now)
        })?;
        let (mut objects, mut uploaded) = (0, 0);
        for ((file, ..), (piece, is_new)) in jobs.iter().zip(done) {
            if is_new {
                objects += 1;
                uploaded += piece.stored;
            }
            packed[*file].pieces.push(piece);
        }
        let is_patched = packed.iter().flat_map(|file| &file.pieces).any(|piece| piece.patched.is_some());
        let base = base.filter(|_| is_patched);
        let depth = base.as_ref().map_or(0, |(_, packing)| packing.depth + 1);
        let base = base.map(|(base, _)| base);
        let packing = Packing { format: FORMAT, version, base, depth, files: packed };
        let json = serde_json::to_vec(&packing).expect("texts and numbers serialize");
        let pushed = PushedRelease { version, manifest: Checksum::of(&json) };
        if let Some(key) = key {
            self.objects.put(&pushed.signature_name(), key.sign(&json))?;
        }
        uploaded += json.len() as u64;
        store_packing(local.folder(), version, &json)?;
        self.objects.put(&pushed.packing_name(), json)?;
        let pointer = self.point(local, read, pushed, announcement, now)?;
        Ok(Pushed { pointer, objects, bytes: uploaded })
    }

    /// Fails if [`RemoteStore::point`] would fail, or if replicas would ignore the pointer because a later one was pushed
    /// from the folder `local`: [`ReleaseError::Restored`]. Call it after `current` was read, before long work.
    pub fn check(
        &self,
        local: &ReleaseStore,
        read: &Current,
        announcement: &Announcement,
        now: i64,
    ) -> ReleaseResult<()> {
        let found = read.pointer.as_ref();
        if let Some(found) = found {
            self.next_rank(read, found.release, announcement, now)?;
        }
        let pushed = Memory::read(local).filter(|memory| memory.place == self.location());
        if let Some(Memory { pointer: pushed, .. }) = pushed.filter(|_| !announcement.is_recovery)
            && found.is_none_or(|found| found.rank() < pushed.rank())
        {
            let (place, found) = (self.location().to_owned(), found.map(|found| found.generation));
            return Err(ReleaseError::Restored { place, found, pushed: pushed.generation });
        }
        match &announcement.signing {
            Some(signing) => self.check_delegated(signing, now).map(drop),
            None if self.delegation()?.is_some() => Err(ReleaseError::NotSigned { place: self.location().to_owned() }),
            None => Ok(()),
        }
    }

    fn next_rank(
        &self,
        read: &Current,
        release: SnapshotVersion,
        announcement: &Announcement,
        now: i64,
    ) -> ReleaseResult<(i64, u64)> {
        let rank = read.next_rank(release, announcement.is_recovery, now);
        rank.map_err(|reason| self.unfollowable(reason))
    }

    /// Makes `current` name a pushed release, and notes in the folder `local` that it did. Errors are those of
    /// [`RemoteStore::push`]; [`ReleaseError::Unfollowable`] if there is no next generation,
    /// [`ReleaseError::NotDelegated`] if replicas would refuse the signature.
    pub fn point(
        &self,
        local: &ReleaseStore,
        read: &Current,
        pushed: PushedRelease,
        announcement: &Announcement,
        now: i64,
    ) -> ReleaseResult<Pointer> {
        let PushedRelease { version: release, manifest } = pushed;
        let (epoch, generation) = self.next_rank(read, release, announcement, now)?;
        if let Some(signing) = &announcement.signing {
            self.check_delegated(signing, now)?;
        }
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| self.objects.error(CURRENT, error))?;
        let push = hex::digits(&random);
        let replaced = read.pointer.iter();
        let replaced = replaced.flat_map(|pointer| iter::once(pointer.pushed()).chain(pointer.before.iter().copied()));
        let mut before: Vec<PushedRelease> = Vec::new();
        for named in replaced.filter(|named| named.version != release) {
            if before.iter().all(|known| known.version != named.version) && before.len() < MAX_BEFORE {
                before.push(named);
            }
        }
        let activate_at = now.saturating_add(announcement.activate_in.into());
        let signing = announcement.signing.as_ref();
        let pointer = Pointer {
            format: FORMAT,
            release,
            manifest,
            epoch,
            generation,
            activate_at,
            not_before: None,
            not_after: None,
            push,
            before,
        };
        let pointer = self.replace_current(read, pointer.renewed(signing, now), signing)?;
        let memory = Memory { place: self.location().to_owned(), pointer };
        memory.store(local)?;
        Ok(memory.pointer)
    }

    /// Signs `current` once more, to be valid for a time from `now` on. It must be signed already, by the same key or by
    /// another one that the delegation names, so that nothing gets a signature that somebody else has written.
    pub fn renew(&self, signing: &PointerSigning, now: i64) -> ReleaseResult<Pointer> {
        let delegation = self.check_delegated(signing, now)?;
        let read = self.current()?;
        let Some(pointer) = &read.pointer else {
            return Err(self
                .objects
                .error(CURRENT, "does not exist: publish a release with `indexer build --pointer-key`"));
        };
        if let Some(reason) = pointer.implausibility(now) {
            return Err(self.unfollowable(reason));
        }
        // Without a trusted key, the delegation may be anybody's.
        let is_own = read.signer().is_some_and(|key| {
            *key == signing.key.public() || (self.trusted.is_some() && delegation.refusal(key, now).is_none())
        });
        if !is_own {
            let reason = match &read.document {
                None => "is not signed".into(),
                Some(_) => format!("is not signed with the key {}", signing.key.public()),
            };
            return Err(self.unfollowable(reason));
        }
        self.replace_current(&read, pointer.renewed(Some(signing), now), Some(signing))
    }

    fn unfollowable(&self, reason: String) -> ReleaseError {
        ReleaseError::Unfollowable { place: self.location().to_owned(), reason }
    }

    fn replace_current(
        &self,
        read: &Current,
        pointer: Pointer,
        signing: Option<&PointerSigning>,
    ) -> ReleaseResult<Pointer> {
        if self.objects.replace(CURRENT, pointer.encode(signing), read.found.as_ref())? {
            return Ok(pointer);
        }
        match self.current()?.pointer {
            // The request was retried because the response to the first attempt was lost.
            Some(winner) if winner == pointer => Ok(pointer),
            Some(winner) => Err(ReleaseError::Overtaken {
                place: self.location().to_owned(),
                release: pointer.release,
                winner: winner.release,
                generation: winner.generation,
            }),
            None => Err(self.objects.error(CURRENT, "was removed by somebody else")),
        }
    }

    /// Refuses a version that was pushed with other tables; everything else is derived from them.
    fn check_taken(&self, local: &ReleaseStore, version: SnapshotVersion) -> ReleaseResult<()> {
        let all = self.versions()?;
        for pushed in all.iter().filter(|pushed| pushed.version == version) {
            let packing = match self.packing(*pushed) {
                // A packing that no replica accepts does not occupy the version.
                Err(ReleaseError::Untrusted { .. } | ReleaseError::Damaged { .. }) => continue,
                other => other?.0,
            };
            let Some(tables) = packing.files.iter().find(|file| file.path == manifest::TABLES) else { continue };
            let path = local.release_folder(version).join(manifest::TABLES);
            let bytes = fs::metadata(&path).at(&path)?.len();
            let mut start = 0;
            for piece in &tables.pieces {
                let is_same =
                    bytes == tables.bytes && Checksum::of(&read_part(&path, start, piece.bytes)?) == piece.sha256;
                if !is_same {
                    let is_pushed = |free| all.iter().any(|pushed| pushed.version == free);
                    return Err(ReleaseError::Taken { version, free: local.next_free(version, is_pushed) });
                }
                start += piece.bytes;
            }
        }
        Ok(())
    }

    /// Uploads a piece unless it exists. The flag is true if it was uploaded. `start` is its place in a file of `of` bytes.
    fn put_piece(
        &self,
        local: &ReleaseStore,
        content: &[u8],
        start: u64,
        of: u64,
        base: Option<(&PushedRelease, &PackedFile)>,
        now: i64,
    ) -> ReleaseResult<(Piece, bool)> {
        let sha256 = Checksum::of(content);
        if let Some(same) = base
            .and_then(|(_, file)| file.pieces.iter().find(|piece| piece.sha256 == sha256 && piece.patched.is_none()))
        {
            return Ok((same.clone(), false));
        }
        let (patched, prefix) = match base {
            Some((base, file)) => {
                let part = similar_part(file, start, of);
                let prefix = read_part(&local.release_folder(base.version).join(&file.path), part.start, part.bytes)?;
                (Some(part), prefix)
            }
            None => (None, Vec::new()),
        };
        let stored = pack(content, &prefix).map_err(|error| self.objects.error("objects", error))?;
        let piece = Piece {
            object: Checksum::of(&stored),
            stored: stored.len() as u64,
            bytes: content.len() as u64,
            sha256,
            patched,
        };
        let name = object_name(piece.object);
        if self.objects.modified_at(&name)?.is_some_and(|written| written > now - FRESH) {
            return Ok((piece, false));
        }
        self.objects.put(&name, stored)?;
        Ok((piece, true))
    }

    /// Removes all releases except the newest `keep`, the one named by `current` and those that their patches refer to,
    /// and all objects that none of these needs. Nothing written less than `grace` seconds ago is removed: it may
    /// belong to an unfinished push, or to a release that a replica is still fetching.
    pub fn prune(&self, keep: usize, grace: i64, now: i64) -> ReleaseResult<Pruned> {
        let current = self.current()?.pointer;
        let mut packings: BTreeMap<PushedRelease, i64> = BTreeMap::new();
        for entry in self.objects.list("manifests")? {
            packings.extend(PushedRelease::parse(&entry.name).map(|pushed| (pushed, entry.modified_at)));
        }
        let mut versions: Vec<SnapshotVersion> = packings.keys().map(|pushed| pushed.version).collect();
        versions.dedup();
        let newest = &versions[versions.len().saturating_sub(keep)..];
        let is_wanted =
            |pushed: &PushedRelease, written: i64| newest.contains(&pushed.version) || written > now - grace;
        let wanted = packings.iter().filter(|(pushed, written)| is_wanted(pushed, **written));
        let mut wanted: Vec<PushedRelease> = wanted.map(|(pushed, _)| *pushed).collect();
        wanted.extend(current.map(|pointer| pointer.pushed()));
        let (mut kept, mut objects) = (HashSet::new(), HashSet::new());
        while let Some(pushed) = wanted.pop() {
            if !kept.insert(pushed) {
                continue;
            }
            // If a packing cannot be read, the objects that it needs are unknown, so nothing is removed.
            let (packing, _) = self.packing(pushed)?;
            objects.extend(packing.files.iter().flat_map(|file| &file.pieces).map(|piece| object_name(piece.object)));
            wanted.extend(packing.base);
        }
        let mut pruned = Pruned::default();
        for removed in packings.into_keys().filter(|pushed| !kept.contains(pushed)) {
            self.objects.remove(&removed.packing_name())?;
            self.objects.remove(&removed.signature_name())?;
            pruned.releases.push(removed.version);
        }
        for entry in self.objects.list("objects")? {
            if entry.modified_at <= now - grace && !objects.contains(&entry.name) {
                self.objects.remove(&entry.name)?;
                pruned.objects += 1;
                pruned.bytes += entry.bytes;
            }
        }
        Ok(pruned)
    }
}

/// The part of the earlier file most similar to the piece at `start` of `of` bytes, if the file has grown evenly.
fn similar_part(file: &PackedFile, start: u64, of: u64) -> FilePart {
    let scaled = u128::from(start) * u128::from(file.bytes) / u128::from(of.max(1));
    let start = (scaled as u64).saturating_sub(REACH);
    let end = (scaled as u64 + PIECE + REACH).min(file.bytes);
    FilePart { path: file.path.clone(), start, bytes: end - start }
}

/// The file of the earlier release for this path: the files of text indexes get new names in each build.
fn counterpart<'p>(packing: &'p Packing, path: &str) -> Option<&'p PackedFile> {
    let kind = |path: &str| {
        let path = Path::new(path);
        (path.parent().map(Path::to_owned), path.extension().map(ToOwned::to_owned))
    };
    let files = &packing.files;
    files.iter().find(|file| file.path == path).or_else(|| files.iter().find(|file| kind(&file.path) == kind(path)))
}

fn pack(content: &[u8], prefix: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::with_ref_prefix(Vec::new(), LEVEL, prefix)?;
    if !prefix.is_empty() {
        encoder.window_log(super::fetch::WINDOW_LOG)?;
        encoder.long_distance_matching(true)?;
    }
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.write_all(content)?;
    encoder.finish()
}

pub(super) fn read_part(path: &Path, start: u64, bytes: u64) -> ReleaseResult<Vec<u8>> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut part = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
        file.read_exact(&mut part)?;
        Ok(part)
    };
    read().at(path)
}

pub(super) fn store_packing(folder: &Path, version: SnapshotVersion, json: &[u8]) -> ReleaseResult<()> {
    replace_file(&packing_path(folder, version), json)
}

/// Replaces a file at once: a killed process leaves the old one or the new one. Creates its folder.
pub(super) fn replace_file(path: &Path, bytes: &[u8]) -> ReleaseResult<()> {
    let above = path.parent().expect("it is in a folder");
    let write = || {
        permissions::create_folder(above, true)?;
        let mut file = tempfile::NamedTempFile::new_in(above)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().at(path)
}

/// The last pointer that was pushed from a folder, by which a restored bucket is recognized.
#[derive(Serialize, Deserialize)]
struct Memory {
    place: String,
    pointer: Pointer,
}

impl Memory {
    const FILE: &'static str = ".pushed";

    fn read(local: &ReleaseStore) -> Option<Self> {
        let json = fs::read(local.folder().join(Self::FILE)).ok()?;
        serde_json::from_slice(&json).ok()
    }

    fn store(&self, local: &ReleaseStore) -> ReleaseResult<()> {
        let json = serde_json::to_vec(self).expect("texts and numbers serialize");
        replace_file(&local.folder().join(Self::FILE), &json)
    }
}
