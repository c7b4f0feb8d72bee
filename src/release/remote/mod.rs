//! Releases in an object store: what indexers push, and replicas copy into a folder of releases of their own.
//!
//! A release is a *packing*, which lists the files of its folder in pieces of 8 MiB, and one object for each piece. Objects are
//! named by their SHA-256, so that they are never changed. A piece is a patch (zstd, with the same place of an earlier release
//! as its prefix) if there is an earlier release: cut into chunks by content, a release whose changed rows lie everywhere shares
//! almost no chunk with the one before, and its row numbers and offsets shift in all of them. A chain of patches has at most
//! [`MAX_DEPTH`] links, and a packing that ends one is whole.
//!
//! The object `current` names the release to serve with a generation number, which each change raises. It is replaced only as
//! it was read: of several indexers one succeeds. Content that comes back has another generation, so that no indexer takes it
//! for unchanged, and a replica takes no older generation from a store that returns old content.

mod credentials;
mod fetch;
mod objects;
mod probe;
mod push;
#[cfg(test)]
mod tests;

pub use fetch::Replica;
pub use push::{Pruned, Pushed};

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::{ReleaseError, TrustedKey};
use data::SnapshotVersion;
use objects::Objects;

/// The format of packings and of `current`.
const FORMAT: u32 = 1;

/// Bytes of a piece of a file.
const PIECE: u64 = 8 << 20;

/// How far before and after its own place a piece is compared with the earlier release.
const REACH: u64 = 8 << 20;

/// The most patches that a replica without any release applies.
const MAX_DEPTH: u32 = 8;

/// The maximum size in bytes of a packing: that of a release of some terabytes.
const MAX_PACKING: u64 = 64 << 20;

/// Requests at a time.
const CONCURRENCY: usize = 8;

const CURRENT: &str = "current";

/// How many releases `current` names besides the one to serve.
const MAX_BEFORE: usize = 20;

/// What `--index` names: `s3://bucket/prefix` or `file:///folder` is an object store, all else a folder of releases.
pub fn is_object_store(index: &Path) -> bool {
    index.to_str().is_some_and(|index| index.starts_with("s3://") || index.starts_with("file://"))
}

/// The object `current`: the release to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    pub format: u32,
    pub release: SnapshotVersion,
    /// The SHA-256 of its packing.
    pub manifest: Checksum,
    /// One more than that of the pointer before.
    pub generation: u64,
    /// Unix seconds from which on it is served; before, replicas fetch and try it.
    pub activate_at: i64,
    /// Random, so that an indexer recognizes its own pointer if the response to its request was lost.
    pub push: String,
    /// The releases that were current before, the latest first: a replica without any fetches them for cursors, which others
    /// still serve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Named>,
}

/// `current` as it was read, to be replaced if it is still the same.
#[derive(Clone, Debug)]
pub struct Current {
    pub pointer: Option<Pointer>,
    found: Option<objects::Found>,
}

/// The files of a release in pieces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Packing {
    format: u32,
    version: SnapshotVersion,
    /// The release that patches refer to.
    base: Option<Named>,
    /// How many releases a replica without any fetches before this one.
    depth: u32,
    files: Vec<PackedFile>,
}

/// A release as it was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Named {
    version: SnapshotVersion,
    manifest: Checksum,
}

#[derive(Debug, Serialize, Deserialize)]
struct PackedFile {
    path: String,
    bytes: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Piece {
    /// The SHA-256 of the object, and its name.
    object: Checksum,
    /// The size of the object in bytes.
    stored: u64,
    /// The size in bytes and the SHA-256 of what it unpacks to.
    bytes: u64,
    sha256: Checksum,
    /// The part of a file of the base that it is a patch of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patched: Option<Part>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Part {
    path: String,
    start: u64,
    bytes: u64,
}

/// The releases of an object store.
pub struct RemoteStore {
    objects: Objects,
    trusted: Option<TrustedKey>,
}

impl RemoteStore {
    /// The object store at `s3://bucket/prefix`, with endpoint, region and credentials of the usual variables (`AWS_…`,
    /// `AWS_SHARED_CREDENTIALS_FILE`), or at `file:///folder`.
    ///
    /// # Errors
    /// [`ReleaseError::ObjectStore`] if the place or a variable is invalid. Sends no request.
    pub fn open(place: &Path, trusted: Option<TrustedKey>) -> Result<Self, ReleaseError> {
        Ok(Self { objects: Objects::open(&place.to_string_lossy())?, trusted })
    }

    pub fn place(&self) -> &str {
        self.objects.place()
    }

    /// Reads `current`.
    pub fn current(&self) -> Result<Current, ReleaseError> {
        let found = self.objects.get(CURRENT, 1 << 16)?;
        let pointer = found.as_ref().map(|found| {
            let pointer: Pointer = serde_json::from_slice(&found.bytes)
                .map_err(|error| self.objects.error(CURRENT, format!("cannot be read: {error}")))?;
            if pointer.format == FORMAT {
                return Ok(pointer);
            }
            let reason = format!("has format {}, this program reads {FORMAT}: upgrade it", pointer.format);
            Err(self.objects.error(CURRENT, reason))
        });
        Ok(Current { pointer: pointer.transpose()?, found })
    }

    /// The pushed releases, newest first. A version that was pushed twice with different content is there twice.
    pub fn versions(&self) -> Result<Vec<(SnapshotVersion, Checksum)>, ReleaseError> {
        let mut versions: Vec<_> =
            self.objects.list("manifests")?.iter().filter_map(|entry| parse_name(&entry.name)).collect();
        versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        Ok(versions)
    }

    /// Reads a packing; verifies its checksum, and its signature if there is a trusted key.
    fn packing(&self, version: SnapshotVersion, manifest: Checksum) -> Result<(Packing, Vec<u8>), ReleaseError> {
        let name = packing_name(version, manifest);
        let damaged = |reason: String| ReleaseError::Damaged { version, reason: format!("{name} {reason}") };
        let found = self.objects.get(&name, MAX_PACKING)?.ok_or_else(|| damaged("is missing".into()))?;
        if Checksum::of(&found.bytes) != manifest {
            return Err(damaged("was changed: its checksum differs".into()));
        }
        if let Some(key) = &self.trusted {
            let signature = self.objects.get(&signature_name(version, manifest), 1 << 10)?;
            let untrusted = |reason| ReleaseError::Untrusted { version, reason };
            let signature = signature.ok_or_else(|| untrusted("is not signed"))?;
            if !key.has_signed(&found.bytes, &signature.bytes) {
                return Err(untrusted("is not signed with the trusted key, or its manifest was changed"));
            }
        }
        let packing: Packing =
            serde_json::from_slice(&found.bytes).map_err(|error| damaged(format!("cannot be read: {error}")))?;
        packing.check(version).map_err(damaged)?;
        Ok((packing, found.bytes))
    }
}

impl Packing {
    /// Checks what would make a replica write outside of its folder or without bounds.
    fn check(&self, version: SnapshotVersion) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("has format {}, this program reads {FORMAT}", self.format));
        }
        if self.version != version {
            return Err(format!("is that of release {}", self.version));
        }
        if self.depth > MAX_DEPTH || (self.depth == 0) != self.base.is_none() {
            return Err(format!("has {} releases before it", self.depth));
        }
        for file in &self.files {
            let paths = file.pieces.iter().filter_map(|piece| Some(&piece.patched.as_ref()?.path));
            if let Some(path) = std::iter::once(&file.path).chain(paths).find(|path| !crate::manifest::is_inside(path))
            {
                return Err(format!("names {path:?}, a path outside of the release"));
            }
            let fits = |piece: &Piece| {
                let prefix = piece.patched.as_ref().map_or(0, |part| part.bytes);
                piece.bytes <= PIECE && piece.stored <= 2 * PIECE && prefix <= PIECE + 2 * REACH
            };
            let bytes: u64 = file.pieces.iter().map(|piece| piece.bytes.min(PIECE)).sum();
            if bytes != file.bytes || !file.pieces.iter().all(fits) {
                return Err(format!("has pieces of {:?} that do not fit", file.path));
            }
        }
        Ok(())
    }

    fn objects(&self) -> impl Iterator<Item = Checksum> {
        self.files.iter().flat_map(|file| &file.pieces).map(|piece| piece.object)
    }
}

fn packing_name(version: SnapshotVersion, manifest: Checksum) -> String {
    format!("manifests/{version}/{manifest}.json")
}

fn signature_name(version: SnapshotVersion, manifest: Checksum) -> String {
    format!("manifests/{version}/{manifest}.sig")
}

fn object_name(object: Checksum) -> String {
    format!("objects/{object}")
}

/// The release and checksum of a packing with this name.
fn parse_name(name: &str) -> Option<(SnapshotVersion, Checksum)> {
    let (version, file) = name.strip_prefix("manifests/")?.split_once('/')?;
    Some((version.parse().ok()?, file.strip_suffix(".json")?.to_owned().try_into().ok()?))
}

/// Where a replica and an indexer keep the packings of the releases in their folder.
fn kept_packing(folder: &Path, version: SnapshotVersion) -> PathBuf {
    folder.join(".packings").join(version.to_string())
}

/// Does the work of each of `jobs` in a few threads, until one fails.
fn in_parallel<T: Sync, R: Send>(
    jobs: &[T],
    work: impl Fn(&T) -> Result<R, ReleaseError> + Sync,
) -> Result<Vec<R>, ReleaseError> {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { break };
            match work(job) {
                Ok(result) => done.push((index, result)),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONCURRENCY.min(jobs.len())).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_fold(Vec::new(), |mut all, thread| {
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            Ok::<_, ReleaseError>(all)
        })
    })?;
    all.sort_unstable_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}
