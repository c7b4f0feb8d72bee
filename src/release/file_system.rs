//! File system operations on which the crash safety of a publication depends.
//!
//! They go through [`Fs`], so that tests can simulate a crash before each of them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::existing;
use crate::permissions;

pub trait Fs {
    /// Creates a folder in an existing parent.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Creates an empty file, which must not exist.
    fn create(&self, path: &Path) -> io::Result<File>;
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Flushes the entries of a folder to disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a folder with its content; no error if it does not exist.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

pub struct OsFs;

impl Fs for OsFs {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        permissions::create_folder(path, false)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        permissions::file_options().create_new(true).open(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Any handle syncs all content of the file.
        File::options().append(true).open(path)?.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened; the file system's journal covers its entries.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let found = fs::symlink_metadata(path);
        let remove =
            |found: fs::Metadata| if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        existing(found.and_then(remove)).map(drop)
    }
}
