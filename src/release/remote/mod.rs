//! Releases in an object store: indexers push them, and replicas copy them into their own folder of releases.
//!
//! A release consists of a *packing*, which lists the files of its folder in pieces of 8 MiB, and one object for each
//! piece, named by its SHA-256 and never changed. After an earlier release, a piece is a patch: zstd with the same
//! region of that release as its prefix. Content-defined chunks would not work: with changed rows all over, two
//! releases share almost none, because row numbers and offsets shift. A chain of patches has at most [`MAX_DEPTH`]
//! links.
//!
//! The object `current` names the release to serve, with a generation that each change raises. It is only replaced as
//! it was read, so one of several indexers succeeds. Content that comes back has another generation, and a replica
//! accepts no older one from a store that returns stale content. It can be signed by a key that is named in the object
//! `delegation`, which the key of releases signs.

mod credentials;
mod delegation;
mod fetch;
mod freshness;
pub(crate) mod objects;
mod pointer;
mod probe;
mod push;
mod replica;
#[cfg(test)]
mod tests;

pub use delegation::Delegation;
pub use freshness::{FaultKind, PointerFault};
pub use pointer::{Announcement, Current, MAX_ACTIVATE_IN, Pointer, PointerSigning};
pub use push::{Pruned, Pushed};
pub use replica::{Examination, Replica};

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::{ReleaseError, ReleaseResult, TrustedKey};
use data::SnapshotVersion;
use objects::RemoteObjects;

/// Format of packings and of `current`.
pub(crate) const FORMAT: u32 = 1;

/// Size of a piece of a file in bytes.
pub(crate) const PIECE: u64 = 8 << 20;

/// Bytes before and after its own position with which a piece is compared in the earlier release.
const REACH: u64 = 8 << 20;

/// Maximum number of patches that a replica without any release applies.
const MAX_DEPTH: u32 = 8;

/// Maximum size of a packing in bytes, enough for a release of some terabytes.
const MAX_PACKING: u64 = 64 << 20;

pub(crate) const CONCURRENCY: usize = 8;

const CURRENT: &str = "current";

/// Maximum size of `current` in bytes, and that of an object in its place that a recovery replaces.
const MAX_POINTER: u64 = 1 << 16;
const MAX_RECOVERED: u64 = 1 << 30;

/// Number of releases that `current` names besides the one to serve.
const MAX_BEFORE: usize = 20;

/// True if `--index` names an object store, `s3://bucket/prefix` or `file:///folder`, and not a folder of releases.
pub fn is_object_store(index: &Path) -> bool {
    index.to_str().is_some_and(|index| index.starts_with("s3://") || index.starts_with("file://"))
}

/// The files of a release in pieces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Packing {
    format: u32,
    version: SnapshotVersion,
    /// The release that patches refer to.
    base: Option<PushedRelease>,
    /// Number of earlier releases that a replica without releases fetches before this one.
    depth: u32,
    files: Vec<PackedFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PushedRelease {
    pub version: SnapshotVersion,
    /// SHA-256 of its packing.
    pub manifest: Checksum,
}

#[derive(Debug, Serialize, Deserialize)]
struct PackedFile {
    path: String,
    bytes: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Piece {
    /// SHA-256 of the object, and its name.
    object: Checksum,
    /// Size of the object in bytes.
    stored: u64,
    /// Size in bytes and SHA-256 of the unpacked piece.
    bytes: u64,
    sha256: Checksum,
    /// The part of a file of the base that it patches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patched: Option<FilePart>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FilePart {
    path: String,
    start: u64,
    bytes: u64,
}

pub struct RemoteStore {
    objects: RemoteObjects,
    trusted: Option<TrustedKey>,
}

impl RemoteStore {
    /// Opens the object store at `s3://bucket/prefix`, configured by the usual `AWS_…` variables, or `file:///folder`.
    /// Sends no request. [`ReleaseError::ObjectStore`] if one is invalid.
    pub fn open(place: &Path, trusted: Option<TrustedKey>) -> ReleaseResult<Self> {
        Ok(Self { objects: RemoteObjects::open(&place.to_string_lossy())?, trusted })
    }

    pub fn location(&self) -> &str {
        &self.objects.place
    }

    pub fn current(&self) -> ReleaseResult<Current> {
        let Some(found) = self.objects.get(CURRENT, MAX_POINTER)? else { return Ok(Current::default()) };
        let (pointer, document) = Pointer::parse(&found.bytes).map_err(|error| self.objects.error(CURRENT, error))?;
        Ok(Current { pointer: Some(pointer), document, found: Some(found) })
    }

    /// Like [`RemoteStore::current`]. For a recovery, an object that cannot be read counts as one that names nothing.
    fn current_to_replace(&self, is_recovery: bool) -> ReleaseResult<Current> {
        let found = match self.current() {
            Err(_) if is_recovery => self.objects.get(CURRENT, MAX_RECOVERED)?,
            other => return other,
        };
        Ok(Current { found, ..Current::default() })
    }

    /// The pushed releases, newest first. A version pushed twice with different content is listed twice.
    pub fn versions(&self) -> ReleaseResult<Vec<PushedRelease>> {
        let listed = self.objects.list("manifests")?;
        let mut pushed: Vec<_> = listed.iter().filter_map(|entry| PushedRelease::parse(&entry.name)).collect();
        pushed.sort_by_key(|pushed| std::cmp::Reverse(pushed.version));
        Ok(pushed)
    }

    fn packing(&self, pushed: PushedRelease) -> ReleaseResult<(Packing, Vec<u8>)> {
        let (PushedRelease { version, manifest }, name) = (pushed, pushed.packing_name());
        let damaged = |reason: String| ReleaseError::Damaged { version, reason: format!("{name} {reason}") };
        let found = self.objects.get(&name, MAX_PACKING)?.ok_or_else(|| damaged("is missing".into()))?;
        if Checksum::of(&found.bytes) != manifest {
            return Err(damaged("was changed: its checksum differs".into()));
        }
        if let Some(key) = &self.trusted {
            let signature = self.objects.get(&pushed.signature_name(), 1 << 10)?;
            key.check(version, &found.bytes, signature.as_ref().map(|signature| &*signature.bytes))?;
        }
        let packing: Packing =
            serde_json::from_slice(&found.bytes).map_err(|error| damaged(format!("cannot be read: {error}")))?;
        packing.check(version).map_err(damaged)?;
        Ok((packing, found.bytes))
    }
}

/// The error is the rest of a sentence about an object.
fn check_format(format: u32) -> Result<(), String> {
    if format == FORMAT {
        return Ok(());
    }
    Err(format!("has format {format}, this program reads {FORMAT}: upgrade it"))
}

impl Packing {
    /// Rejects contents that would make a replica write outside of its folder or without bounds.
    fn check(&self, version: SnapshotVersion) -> Result<(), String> {
        check_format(self.format)?;
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
}

impl PushedRelease {
    fn packing_name(self) -> String {
        format!("manifests/{}/{}.json", self.version, self.manifest)
    }

    fn signature_name(self) -> String {
        format!("manifests/{}/{}.sig", self.version, self.manifest)
    }

    fn parse(name: &str) -> Option<Self> {
        let (version, file) = name.strip_prefix("manifests/")?.split_once('/')?;
        let manifest = file.strip_suffix(".json")?.to_owned().try_into().ok()?;
        Some(Self { version: version.parse().ok()?, manifest })
    }
}

fn object_name(object: Checksum) -> String {
    format!("objects/{object}")
}

/// Local copy of the packing of a release, kept by replicas and indexers in their folder.
fn packing_path(folder: &Path, version: SnapshotVersion) -> PathBuf {
    folder.join(".packings").join(version.to_string())
}
