use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use catalog::BundledError;
use data::{ArchiveError, SnapshotVersion};
use platform::limits::{explain, remedy};
use platform::memory::MemoryBudget;
use search::SearchError;

pub(crate) type ReleaseResult<T> = Result<T, ReleaseError>;

/// Reason why a release cannot be published, opened or served.
#[derive(Debug, Error)]
pub enum ReleaseError {
    #[error("{} holds no release {version}: `indexer list` shows the releases", index.display())]
    Missing { version: SnapshotVersion, index: PathBuf },
    #[error("{} names no release: {found}; fix it with `indexer activate VERSION`", path.display())]
    BadCurrent { path: PathBuf, found: String },
    #[error("release {version} has another format: {reason}")]
    OtherFormat { version: SnapshotVersion, reason: String },
    #[error("release {version} is damaged: {reason}")]
    Damaged { version: SnapshotVersion, reason: String },
    /// `free` is the next unpublished version of the same date.
    #[error(
        "release {version} is published already with other content: pass --release {free}, or remove `version` from \
         snapshot.toml to take the next free number"
    )]
    Taken { version: SnapshotVersion, free: SnapshotVersion },
    /// Most likely a source was incomplete.
    #[error(
        "release {version} lost more than a fifth of what the current release {current} has ({}): check the dataset, or pass \
         --force if it is right",
        losses.join("; ")
    )]
    Shrunk { version: SnapshotVersion, current: SnapshotVersion, losses: Vec<String> },
    #[error(
        "release {version} {reason}: build it again with `indexer build --sign-key FILE`, or name the key that belongs to its \
         signature with --trust-key"
    )]
    Untrusted { version: SnapshotVersion, reason: &'static str },
    #[error(
        "release {version} has the license `{license}`, which is not known to permit that everybody sees the data, and --listen lets \
         other machines connect: restrict who may see it with --access accounts, or set --may-publish on if you may publish it"
    )]
    NotPublic { version: SnapshotVersion, license: String },
    #[error(
        "release {version} does not fit into the memory of the server, {budget}{}: set --memory {needed} or more, or hold fewer \
         releases (--keep-releases 0)",
        if *others > 0 { " with the loaded releases" } else { "" }
    )]
    TooLarge { version: SnapshotVersion, others: u64, budget: MemoryBudget, needed: MemoryBudget },
    #[error("another indexer is working on {}: try again when it has finished", index.display())]
    Busy { index: PathBuf },
    #[error("{table}: {error}")]
    Text { table: &'static str, error: SearchError },
    #[error("{} names no release to serve: {}", index.display(), activation(index, *newest))]
    NoneActive { index: PathBuf, newest: Option<SnapshotVersion> },
    #[error(
        "no release can be served ({}): build a release with `indexer build`, or activate another with `indexer activate \
         VERSION`",
        reasons.join("; ")
    )]
    NothingGood {
        reasons: Vec<String>,
        /// True if a release could not be read because the process has reached a limit of the system.
        is_exhausted: bool,
    },
    #[error(
        "release {release} is not current: another indexer has made {winner} current in {place} meanwhile (generation \
         {generation}); run the command again if {release} is still wanted"
    )]
    Overtaken { place: String, release: SnapshotVersion, winner: SnapshotVersion, generation: u64 },
    /// `reason` is the rest of a sentence.
    #[error(
        "`current` in {place} {reason}: check the clock of this machine and who writes to the bucket, then publish with \
         `indexer build --recover`, which replaces it"
    )]
    Unfollowable { place: String, reason: String },
    #[error(
        "{}, although generation {pushed} was pushed to {place} from here: the bucket was restored, moved or emptied, and \
         replicas ignore what comes again; publish with --recover",
        lower(*found)
    )]
    Restored { place: String, found: Option<u64>, pushed: u64 },
    /// `reason` is the rest of a sentence.
    #[error(
        "{place} {reason}: name the public key of --pointer-key with `indexer delegate --sign-key FILE --key PUBLIC_FILE`"
    )]
    NotDelegated { place: String, reason: String },
    #[error(
        "{place} has a delegation, so that replicas refuse a `current` that is not signed: pass --pointer-key FILE"
    )]
    NotSigned { place: String },
    #[error(
        "{place}/release={version} has other content than release {version} of the index: remove it, and export the release again"
    )]
    ExportedBefore { place: String, version: SnapshotVersion },
    #[error("{place}: {error}")]
    ObjectStore { place: String, error: String },
    #[error(transparent)]
    Bundled(#[from] BundledError),
    #[error("{}: {}", path.display(), explain(error))]
    Io { path: PathBuf, error: io::Error },
}

impl ReleaseError {
    /// True if the process has reached a limit of the system or of its settings, such as open files or memory.
    pub(crate) fn is_exhausted(&self) -> bool {
        match self {
            Self::TooLarge { .. } => true,
            Self::Io { error, .. } => remedy(error).is_some(),
            _ => false,
        }
    }

    /// True if waiting for another release would not help: the process must be started with other limits or settings.
    pub fn needs_restart(&self) -> bool {
        matches!(self, Self::Bundled(_) | Self::NotPublic { .. } | Self::NothingGood { is_exhausted: true, .. })
            || self.is_exhausted()
    }

    /// The error for a release with an archive that cannot be opened.
    pub(crate) fn archive(version: SnapshotVersion, error: &ArchiveError) -> Self {
        let reason = format!("tables.bin: {error}");
        match error {
            ArchiveError::OtherFormat { .. } => Self::OtherFormat { version, reason },
            ArchiveError::NotAnArchive | ArchiveError::Damaged(_) => Self::Damaged { version, reason },
            ArchiveError::Unreadable { kind, reason } => {
                Self::Io { path: format!("{version}/tables.bin").into(), error: io::Error::new(*kind, reason.as_str()) }
            }
        }
    }
}

/// The pointer that was found in place of a later one.
fn lower(found: Option<u64>) -> String {
    found.map_or_else(|| "`current` is gone".into(), |generation| format!("`current` has generation {generation}"))
}

/// The command that makes an index name a release; `newest` is the newest one that it has.
fn activation(index: &Path, newest: Option<SnapshotVersion>) -> String {
    let command = newest.map_or_else(|| "build --dataset DIR".into(), |newest| format!("activate {newest}"));
    format!("run `indexer {command} --index {}`", index.display())
}

pub(crate) trait At<T> {
    fn at(self, path: &Path) -> ReleaseResult<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> ReleaseResult<T> {
        self.map_err(|error| ReleaseError::Io { path: path.to_owned(), error })
    }
}

/// The result of opening a file or folder; `None` if it does not exist.
pub(crate) fn existing<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_a_limit_keeps_from_being_read_names_it_and_is_not_waited_for() {
        let io =
            |code| ReleaseError::Io { path: "index/a/tables.bin".into(), error: io::Error::from_raw_os_error(code) };
        for (code, part) in [(24, "limit of open files"), (12, "raise the limit of memory")] {
            let error = io(code);
            assert!(error.needs_restart() && error.to_string().contains(part), "{error}");
        }
        let missing = io(2);
        assert!(!missing.needs_restart() && !missing.to_string().contains("limit"), "{missing}");
        let reasons = vec![missing.to_string()];
        let damaged = |is_exhausted| ReleaseError::NothingGood { reasons: reasons.clone(), is_exhausted };
        assert!(damaged(true).needs_restart() && !damaged(false).needs_restart());
    }
}
