//! The operations on the disk that decide whether a publication survives a crash.
//!
//! They go through [`Fs`], so that the tests can stop the machine before any of them and look at what is left.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The disk, one operation at a time.
pub(crate) trait Fs {
    /// Makes a folder; its parents are there.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes an empty file, which must not be there.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Brings a file's bytes to the disk.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Brings a folder's names to the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Gives a file or a folder its new name, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a folder with all it holds.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The disk of this machine.
pub(crate) struct OsFs;

impl Fs for OsFs {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Any handle of the file will do: the bytes belong to the file, not to the handle.
        File::options().append(true).open(path)?.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and its names are written by the file system's own journal.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let gone = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match gone {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}
