//! The folder and file of the database: made for their owner alone.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::auth::StoreError;

const FILE: &str = "venturedex.sqlite";

/// Makes `data` (0700) and an empty database file in it (0600) where they are missing. SQLite gives its side files the
/// mode of the main one. What is there already keeps the mode that the operator gave it.
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
