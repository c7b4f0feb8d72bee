//! A lock on the data folder: one server counts the requests of a folder.
//!
//! Servers decide from their own memory: two on one folder would admit twice the quota. Commands take no lock.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use crate::sqlite::files;
use crate::{StoreError, StoreResult};

const FILE: &str = "serve.lock";

/// Held by a running server. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataLock {
    /// The server that holds the lock of `data`, if any. [`StoreError::File`] if the lock file cannot be read.
    pub fn holder(data: &Path) -> StoreResult<Option<LockHolder>> {
        let path = data.join(FILE);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(StoreError::file(&path))?,
        };
        // If it succeeds, it is released with the file a moment later.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(LockHolder { process: read_process_id(file) })),
            Err(TryLockError::Error(source)) => Err(StoreError::File { path, source }),
        }
    }

    /// Locks the folder `data`, which is created if missing. [`StoreError::InUse`], [`StoreError::File`].
    pub fn acquire(data: &Path) -> StoreResult<Self> {
        files::create_folder(data)?;
        let path = data.join(FILE);
        let opened = files::owner_only().read(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(StoreError::file(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse { data: data.to_owned(), process: read_process_id(file) });
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::File { path, source }),
        }
        let written = file.set_len(0).and_then(|()| file.rewind());
        // On a full disk the lock still holds.
        let _ = written.and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Reads the process id in a lock file. It is for messages and checks only; the lock decides.
fn read_process_id(file: File) -> Option<u32> {
    let mut process = String::new();
    let _ = file.take(20).read_to_string(&mut process);
    process.trim().parse().ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockHolder {
    pub process: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_until_the_lock_is_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        let lock = DataLock::acquire(&data).unwrap();
        let refused = DataLock::acquire(&data).unwrap_err();
        let own = std::process::id();
        assert_eq!(DataLock::holder(&data).unwrap(), Some(LockHolder { process: Some(own) }));
        assert!(matches!(&refused, StoreError::InUse { process: Some(process), .. } if *process == own), "{refused:?}");
        assert!(refused.to_string().contains(&format!("process {own}")), "{refused}");
        drop(lock);
        assert_eq!(DataLock::holder(&data).unwrap(), None);
        DataLock::acquire(&data).unwrap();
    }
}
