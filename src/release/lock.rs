//! Locks of the index folder, held by open files: the system releases those of a killed process.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::At;
use crate::{ReleaseError, ReleaseResult, permissions};

/// Locked during a build or prune.
const BUILD: &str = ".build.lock";

/// Locked while `current` is switched or releases are renamed: briefly, so that a rollback never waits for a build.
const SWITCH: &str = ".switch.lock";

/// Takes the build lock; [`ReleaseError::Busy`] if it is taken.
pub(crate) fn build(index: &Path) -> ReleaseResult<File> {
    let path = index.join(BUILD);
    let file = open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ReleaseError::Busy { index: index.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error).at(&path),
    }
}

/// Waits for the switch lock.
pub(crate) fn switch(index: &Path) -> ReleaseResult<File> {
    let path = index.join(SWITCH);
    let file = open(&path)?;
    file.lock().at(&path)?;
    Ok(file)
}

fn open(path: &Path) -> ReleaseResult<File> {
    permissions::file_options().create(true).truncate(false).open(path).at(path)
}
