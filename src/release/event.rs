//! What the swap tells the operator.

use std::fmt;

use crate::data::SnapshotVersion;

/// Something the operator should know; its `Display` is one log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// This release is served from now on.
    Serving {
        /// Its version.
        version: SnapshotVersion,
        /// True for the snapshot that is part of the program.
        bundled: bool,
    },
    /// What `current` names cannot be served.
    Refused {
        /// Why, with the release's name.
        reason: String,
        /// What is served on; none at start.
        served: Option<SnapshotVersion>,
    },
    /// An older release cannot be kept for the cursors that began there.
    NotKept {
        /// Why, with the release's name.
        reason: String,
    },
    /// `current` is gone.
    Gone {
        /// What is served on.
        served: SnapshotVersion,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving { version, bundled: false } => write!(f, "serving release {version}"),
            Self::Serving { version, bundled: true } => write!(f, "serving the bundled snapshot {version}"),
            Self::Refused { reason, served: Some(served) } => write!(f, "refused: {reason}; still serving {served}"),
            Self::Refused { reason, served: None } => write!(f, "refused: {reason}"),
            Self::NotKept { reason } => write!(f, "cursors of an older release expire: {reason}"),
            Self::Gone { served } => write!(f, "the index names no release any more; still serving {served}"),
        }
    }
}
