//! Folder and file of the database, accessible to their owner only.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::auth::StoreError;

const FILE: &str = "venturedex.sqlite";

/// Creates `data` (0700) and an empty database file in it (0600) if missing. SQLite gives its auxiliary files the mode of the
/// database. Existing files keep their mode.
pub(crate) fn prepare(data: &Path) -> Result<PathBuf, StoreError> {
    let mut folder = DirBuilder::new();
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    }
    let failed = |path: &Path, source| StoreError::File { path: path.to_owned(), source };
    folder.recursive(true).create(data).map_err(|source| failed(data, source))?;
    let path = data.join(FILE);
    match file.open(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_dir() => Ok(path),
        Err(error) => Err(failed(&path, error)),
    }
}
