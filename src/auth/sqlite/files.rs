//! Folder and file of the database, accessible to their owner only.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::{StoreError, StoreResult};

const FILE: &str = "venturedex.sqlite";

pub fn database_path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// The log of changes not in the database file yet; exists while the database is open, and after a crash.
pub fn log_path(database: &Path) -> PathBuf {
    with_suffix(database, "-wal")
}

/// The database file and the auxiliary files that SQLite creates for it.
pub(crate) fn all_paths(database: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|suffix| with_suffix(database, suffix))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Creates `data` (0700) and an empty database file (0600), whose mode SQLite's files get. Existing ones keep theirs.
pub(crate) fn prepare_database(data: &Path) -> StoreResult<PathBuf> {
    create_folder(data)?;
    let path = database_path(data);
    match owner_only().create_new(true).open(&path) {
        Ok(_) => {
            // A wrong --data, or a folder that is not mounted, starts an empty service.
            tracing::warn!("{}: created an empty account database", path.display());
            Ok(path)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_dir() => Ok(path),
        Err(source) => Err(StoreError::File { path, source }),
    }
}

/// Identity of a file, which distinguishes it from another one at the same path.
#[cfg(unix)]
pub(crate) type FileId = (u64, u64);
#[cfg(not(unix))]
pub(crate) type FileId = ();

pub(crate) fn file_id(path: &Path) -> io::Result<FileId> {
    let metadata = std::fs::metadata(path)?;
    #[cfg(unix)]
    return Ok((std::os::unix::fs::MetadataExt::dev(&metadata), std::os::unix::fs::MetadataExt::ino(&metadata)));
    #[cfg(not(unix))]
    Ok(drop(metadata))
}

pub fn create_folder(data: &Path) -> StoreResult<()> {
    folder().recursive(true).create(data).map_err(StoreError::file(data))
}

pub fn folder() -> DirBuilder {
    let mut folder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder
}

pub fn sync_folder(path: &Path) -> io::Result<()> {
    // On other systems a folder cannot be opened; the file system's journal covers its entries.
    if cfg!(unix) { std::fs::File::open(path)?.sync_all() } else { Ok(()) }
}

pub fn owner_only() -> OpenOptions {
    let mut file = OpenOptions::new();
    file.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}
