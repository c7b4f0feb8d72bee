//! What can be wrong with the index folder and its releases.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::BundledError;
use crate::data::{ArchiveError, SnapshotVersion};
use crate::search::SearchError;

/// Why a release cannot be published, opened or served.
#[derive(Debug)]
pub enum ReleaseError {
    /// The index holds no release of this version.
    Missing {
        /// The version asked for.
        version: SnapshotVersion,
        /// The index folder.
        index: PathBuf,
    },
    /// The file `current` does not name a release.
    BadCurrent {
        /// Its path.
        path: PathBuf,
        /// What stands in it, quoted and cut.
        found: String,
    },
    /// The release was written by another version of the program.
    OtherFormat {
        /// The release.
        version: SnapshotVersion,
        /// What is of another format.
        reason: String,
    },
    /// A file of the release is missing, cut short or changed.
    Damaged {
        /// The release.
        version: SnapshotVersion,
        /// Which file, and what is wrong with it.
        reason: String,
    },
    /// The version is published already, with other content.
    Taken {
        /// The version.
        version: SnapshotVersion,
        /// The next version of the same date that is free.
        free: SnapshotVersion,
    },
    /// Another indexer works on this index.
    Busy {
        /// The index folder.
        index: PathBuf,
    },
    /// The text index could not be written.
    Text {
        /// Of which table.
        table: &'static str,
        /// Why.
        error: SearchError,
    },
    /// The index names a release, and nothing in it can be served.
    NothingGood {
        /// Why not, one for each release that was tried.
        reasons: Vec<String>,
    },
    /// The snapshot that is part of the program cannot be opened.
    Bundled(BundledError),
    /// The disk refuses.
    Io {
        /// The path that was worked on.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { version, index } => {
                write!(f, "{} holds no release {version}: `indexer list` names those there are", index.display())
            }
            Self::BadCurrent { path, found } => {
                write!(f, "{} names no release: {found}; `indexer activate VERSION` mends it", path.display())
            }
            Self::OtherFormat { version, reason } => write!(f, "release {version} is of another format: {reason}"),
            Self::Damaged { version, reason } => write!(f, "release {version} is damaged: {reason}"),
            Self::Taken { version, free } => write!(
                f,
                "release {version} is published already with other content: set version = \"{free}\" in snapshot.toml"
            ),
            Self::Busy { index } => {
                write!(f, "another indexer is working on {}: wait for its end and try again", index.display())
            }
            Self::Text { table, error } => write!(f, "{table}: {error}"),
            Self::NothingGood { reasons } => write!(
                f,
                "nothing in it can be served ({}): build a release, activate a good one, or remove `current` to serve the \
                 bundled snapshot",
                reasons.join("; ")
            ),
            Self::Bundled(error) => error.fmt(f),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ReleaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Text { error, .. } => Some(error),
            Self::Bundled(error) => Some(error),
            _ => None,
        }
    }
}

impl ReleaseError {
    /// What an archive's refusal means for the release it is part of.
    pub(crate) fn archive(version: SnapshotVersion, error: &ArchiveError) -> Self {
        let reason = format!("tables.bin: {error}");
        match error {
            ArchiveError::OtherFormat { .. } => Self::OtherFormat { version, reason },
            ArchiveError::NotAnArchive | ArchiveError::Damaged(_) => Self::Damaged { version, reason },
        }
    }
}

/// Names the path in an error of the system.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, ReleaseError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, ReleaseError> {
        self.map_err(|error| ReleaseError::Io { path: path.to_owned(), error })
    }
}
