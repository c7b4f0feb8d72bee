//! Opens ordinary files, and nothing else: a pipe or a device can wait for ever or never end.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::sources::SourceError;
use crate::sources::input::unpacked::SliceReader;

/// A file of the inputs.
#[derive(Debug)]
pub(super) struct InputFile {
    pub path: PathBuf,
    /// The unpacked archive, if the file is packed as a whole.
    content: Option<File>,
}

impl InputFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), content: None }
    }

    pub(super) fn with_content(self, content: File) -> Self {
        Self { content: Some(content), ..self }
    }

    /// Opens the file as it is on disk.
    pub(super) fn open(&self) -> Result<File, SourceError> {
        open(&self.path)
    }

    /// A reader with a position of its own, and the length of the unpacked content or else of the file.
    pub(super) fn reader(&self) -> Result<(FileReader<'_>, u64), SourceError> {
        match &self.content {
            Some(file) => {
                let end = self.length(file)?;
                Ok((FileReader::Content(SliceReader { file, at: 0, end }), end))
            }
            None => {
                let file = self.open()?;
                let length = self.length(&file)?;
                Ok((FileReader::Disk(file), length))
            }
        }
    }

    /// Calls `read` with the unpacked content, or else the file.
    pub(super) fn with<T>(&self, read: impl FnOnce(&File) -> Result<T, SourceError>) -> Result<T, SourceError> {
        match &self.content {
            Some(content) => read(content),
            None => read(&self.open()?),
        }
    }

    pub(super) fn length(&self, file: &File) -> Result<u64, SourceError> {
        file.metadata().map(|metadata| metadata.len()).map_err(|error| SourceError::io(&self.path, error))
    }
}

pub(super) enum FileReader<'f> {
    Disk(File),
    Content(SliceReader<'f>),
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.read(buffer),
            Self::Content(content) => content.read(buffer),
        }
    }
}

impl Seek for FileReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Disk(file) => file.seek(to),
            Self::Content(content) => content.seek(to),
        }
    }
}

/// True for a folder, false for an ordinary file; the target of a link counts, since the caller names it.
pub(super) fn is_folder(path: &Path) -> Result<bool, SourceError> {
    let kind = fs::metadata(path).map_err(|error| SourceError::io(path, error))?.file_type();
    if kind.is_dir() {
        return Ok(true);
    }
    check(path, kind)?;
    Ok(false)
}

/// The ordinary file that a link in a folder leads to. It must be in the folder `root`, which is a real path.
pub(super) fn target_of_link(root: &Path, link: &Path) -> Result<PathBuf, SourceError> {
    let invalid = |problem: &str| SourceError::invalid(link, problem);
    let target = fs::canonicalize(link)
        .map_err(|error| invalid(&format!("is a link that leads to no file ({error}); remove it")))?;
    if !target.starts_with(root) {
        return Err(invalid("is a link that leads out of the folder; copy the file into it, or name it as an input"));
    }
    let kind = fs::metadata(&target).map_err(|error| SourceError::io(link, error))?.file_type();
    if kind.is_dir() {
        return Err(invalid("is a link to a folder, whose files would be read twice; remove it"));
    }
    check(link, kind)?;
    Ok(target)
}

fn check(path: &Path, kind: FileType) -> Result<(), SourceError> {
    match kind.is_file() {
        true => Ok(()),
        false => {
            let problem = format!("is {}, not an ordinary file; write its content to a file", describe(kind));
            Err(SourceError::invalid(path, problem))
        }
    }
}

/// Opens a file that was ordinary a moment ago. If it is something else by now, opening does not wait.
fn open(path: &Path) -> Result<File, SourceError> {
    let unreadable = |error| SourceError::io(path, error);
    check(path, fs::metadata(path).map_err(unreadable)?.file_type())?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path).map_err(unreadable)?;
    check(path, file.metadata().map_err(unreadable)?.file_type())?;
    Ok(file)
}

#[cfg(unix)]
fn describe(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a folder or a special file"
    }
}

#[cfg(not(unix))]
fn describe(_kind: FileType) -> &'static str {
    "a folder or a special file"
}
