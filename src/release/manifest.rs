//! `manifest.json`: the contents of a release.

use std::fs;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::error::{At, existing};
use crate::open::damaged;
use crate::signature::TrustedKey;
use crate::{ReleaseError, ReleaseResult};
use data::import::provenance::Source;
use data::{Counts, Snapshot, SnapshotVersion};
use platform::PROGRAM;

/// Format of the release folder. A server only opens its own format.
pub(crate) const FORMAT: u32 = 4;

pub(crate) const FILE: &str = "manifest.json";

/// The signature of the manifest, 64 bytes; absent if the release is not signed.
pub(crate) const SIGNATURE: &str = "manifest.sig";

pub const TABLES: &str = "tables.bin";

/// The texts of the records; the tables have their checksums.
pub const RECORDS: &str = "records.bin";

pub const TEXT: &str = "text";

/// Releases in which each record appeared and changed; absent if there was no earlier release at build time.
pub const HISTORY: &str = "history.bin";

/// The folder of the bulk files; absent if the release was built without them.
pub const BULK: &str = "bulk";

/// Maximum size in bytes; a manifest has a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Path in the release folder, separated by `/`.
    pub path: String,
    pub bytes: u64,
    pub sha256: Checksum,
    /// Only for the tables: checksum of their table of contents, which has the checksum of each section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Checksum>,
}

impl File {
    /// A file without a table of contents.
    pub fn new(path: impl Into<String>, bytes: u64, sha256: Checksum) -> Self {
        Self { path: path.into(), bytes, sha256, contents: None }
    }

    /// True for a bulk file, which a server sends unchanged.
    pub(crate) fn is_bulk(&self) -> bool {
        self.path.strip_prefix(BULK).is_some_and(|rest| rest.starts_with('/'))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub version: SnapshotVersion,
    pub format: u32,
    /// Name and version of the program that built the release.
    pub program: String,
    /// Build time, RFC 3339 in UTC.
    pub built_at: String,
    pub released_on: String,
    pub title: String,
    pub source: String,
    pub license: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    pub counts: Counts,
    /// All files except the manifest and its signature, sorted by path.
    pub files: Vec<File>,
    /// Checksum of the manifest's JSON without this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Checksum>,
}

/// The only field read before the format is known.
#[derive(Deserialize)]
struct FormatHeader {
    format: u32,
}

impl Manifest {
    pub(crate) fn new(snapshot: &Snapshot, built_at: String, mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut manifest = Self {
            version: snapshot.version(),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            built_at,
            released_on: snapshot.released_on().to_string(),
            title: snapshot.title().to_owned(),
            source: snapshot.source().to_owned(),
            license: snapshot.license().to_owned(),
            sources: snapshot.sources().to_vec(),
            counts: snapshot.counts(),
            files,
            sha256: None,
        };
        manifest.seal();
        manifest
    }

    pub(crate) fn seal(&mut self) {
        self.sha256 = Some(self.own_checksum());
    }

    pub(crate) fn json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("texts and numbers serialize");
        json.push(b'\n');
        json
    }

    fn own_checksum(&self) -> Checksum {
        Checksum::of(&Self { sha256: None, ..self.clone() }.json())
    }

    /// Reads and verifies the manifest of a release in `folder`, with its signature if there is a trusted key.
    pub(crate) fn read(folder: &Path, version: SnapshotVersion, trusted: Option<&TrustedKey>) -> ReleaseResult<Self> {
        let damaged = |reason: String| ReleaseError::Damaged { version, reason: format!("{FILE} {reason}") };
        let path = folder.join(FILE);
        let size = match existing(fs::metadata(&path)).at(&path)? {
            Some(metadata) if metadata.is_file() => metadata.len(),
            Some(_) => return Err(damaged("is not a file".into())),
            None => return Err(damaged("is missing".into())),
        };
        if size > MAX_BYTES {
            return Err(damaged(format!("has {size} bytes")));
        }
        let json = fs::read(&path).at(&path)?;
        let unreadable = |error: serde_json::Error| damaged(format!("cannot be read: {error}"));
        let head: FormatHeader = serde_json::from_slice(&json).map_err(unreadable)?;
        if head.format != FORMAT {
            let reason = format!(
                "{FILE} has format {}, this program reads {FORMAT}: build the release again with its indexer",
                head.format
            );
            return Err(ReleaseError::OtherFormat { version, reason });
        }
        if let Some(key) = trusted {
            let path = folder.join(SIGNATURE);
            key.check(version, &json, existing(fs::read(&path)).at(&path)?.as_deref())?;
        }
        let manifest: Self = serde_json::from_slice(&json).map_err(unreadable)?;
        if manifest.sha256 != Some(manifest.own_checksum()) {
            return Err(damaged("was changed: its checksum differs".into()));
        }
        if manifest.version != version {
            return Err(damaged(format!("is that of release {}", manifest.version)));
        }
        if let Some(file) = manifest.files.iter().find(|file| !is_inside(&file.path)) {
            return Err(damaged(format!("names {:?}, a path outside of the release", file.path)));
        }
        Ok(manifest)
    }

    pub fn bulk(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_bulk())
    }

    /// Files that opening a release may not read whole.
    pub(crate) fn read_in_parts(&self) -> impl Iterator<Item = &File> {
        self.bulk().chain(self.file(TABLES)).chain(self.file(RECORDS))
    }

    /// Files that an open release holds in memory: all but bulk files, and records if these stay on disk.
    pub(crate) fn in_memory(&self, has_records: bool) -> impl Iterator<Item = &File> {
        let stays_on_disk = move |file: &&File| file.is_bulk() || (!has_records && file.path == RECORDS);
        self.files.iter().filter(move |file| !stays_on_disk(file))
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// A file without which a release cannot be opened.
    pub(crate) fn needed_file(&self, path: &str) -> ReleaseResult<&File> {
        self.file(path).ok_or_else(|| damaged(self.version, path, "is not in the manifest"))
    }

    /// Total size in bytes of the files with the path prefix `prefix`.
    pub fn bytes(&self, prefix: &str) -> u64 {
        self.files.iter().filter(|file| file.path.starts_with(prefix)).map(|file| file.bytes).sum()
    }
}

/// True if a path is relative and has no `..`.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_release_are_rejected() {
        assert!(is_inside("tables.bin") && is_inside("text/firms/meta.json"));
        for path in ["", "/etc/passwd", "../other", "text/../../x", "./x"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
