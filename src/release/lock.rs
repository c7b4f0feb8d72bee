//! Locks of the index folder, held by open files: a killed holder holds nothing.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::release::ReleaseError;
use crate::release::error::At;

/// Held by whoever builds or prunes, for as long as that takes.
const BUILD: &str = ".build.lock";

/// Held while `current` is switched or releases are renamed: moments only, so that a switch back never waits for a
/// build.
const SWITCH: &str = ".switch.lock";

/// A lock that is given back when it is dropped.
pub(crate) struct Lock {
    _file: File,
}

/// Takes the lock of builds, or says that another one is at work.
pub(crate) fn build(index: &Path) -> Result<Lock, ReleaseError> {
    let path = index.join(BUILD);
    let file = open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(ReleaseError::Busy { index: index.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error).at(&path),
    }
}

/// Waits for the lock of switches.
pub(crate) fn switch(index: &Path) -> Result<Lock, ReleaseError> {
    let path = index.join(SWITCH);
    let file = open(&path)?;
    file.lock().at(&path)?;
    Ok(Lock { _file: file })
}

fn open(path: &Path) -> Result<File, ReleaseError> {
    File::options().create(true).truncate(false).write(true).open(path).at(path)
}
