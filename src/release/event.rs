use std::fmt;

use data::SnapshotVersion;

/// An event that the operator should know of. `Display` gives one log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseEvent {
    /// This release is served from now on.
    Serving { version: SnapshotVersion, bundled: bool },
    /// A large release, served since startup, has been verified completely.
    Verified { version: SnapshotVersion },
    /// The release named by `current` cannot be served. `served` continues; `None` if another one is served now.
    Rejected { reason: String, served: Option<SnapshotVersion> },
    /// Files of the served release were changed or removed. Serving does not depend on them.
    FilesChanged { version: SnapshotVersion },
    /// An older release cannot be loaded, so its cursors expire.
    NotLoaded { reason: String },
    /// No release can be served; requests are rejected until one can.
    NotReady { reason: String },
    /// `current` is gone; `served` continues.
    CurrentRemoved { served: SnapshotVersion },
}

impl fmt::Display for ReleaseEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving { version, bundled: false } => write!(f, "serving release {version}"),
            Self::Serving { version, bundled: true } => write!(f, "serving the bundled snapshot {version}"),
            Self::Verified { version } => write!(f, "release {version} is verified"),
            Self::Rejected { reason, served: Some(served) } => write!(f, "rejected: {reason}; still serving {served}"),
            Self::Rejected { reason, served: None } => write!(f, "rejected: {reason}"),
            Self::NotLoaded { reason } => write!(f, "cursors of an older release expire: {reason}"),
            Self::FilesChanged { version } => write!(
                f,
                "files of release {version} were changed or removed; it is served from memory as it was verified, but a restart \
                 may fail: check it with `indexer verify {version}`, and build it again if it is damaged"
            ),
            Self::NotReady { reason } => write!(f, "not ready, waiting for a release: {reason}"),
            Self::CurrentRemoved { served } => write!(f, "the index names no release; still serving {served}"),
        }
    }
}
