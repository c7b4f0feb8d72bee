//! A lock on the data folder: one server counts the requests of a folder.
//!
//! Each server decides quotas from its own memory, so that two on one folder would admit twice the quota. Commands take no lock:
//! what they change is read by the running server.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::auth::StoreError;
use crate::auth::sqlite::files;

const FILE: &str = "serve.lock";

/// Held by a running server. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataLock {
    /// Locks the folder `data`, which is created if missing.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::File`].
    pub fn acquire(data: &Path) -> Result<Self, StoreError> {
        files::create_folder(data)?;
        let path = data.join(FILE);
        let failed = |source| StoreError::File { path: path.clone(), source };
        let mut file = files::owner_only().read(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // The file holds the process id for this message only; the lock decides.
                let mut process = String::new();
                let _ = file.take(20).read_to_string(&mut process);
                let process = process.trim().parse().ok();
                return Err(StoreError::InUse { data: data.to_owned(), process });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let written = file.set_len(0).and_then(|()| file.rewind());
        // On a full disk the lock still holds.
        let _ = written.and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
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
        assert!(matches!(&refused, StoreError::InUse { process: Some(process), .. } if *process == own), "{refused:?}");
        assert!(refused.to_string().contains(&format!("process {own}")), "{refused}");
        drop(lock);
        DataLock::acquire(&data).unwrap();
    }
}
