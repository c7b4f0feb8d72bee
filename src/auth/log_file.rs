//! A file of lines, to which several processes may append.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, Write};
use std::path::Path;

use crate::private_files;

/// Appends whole lines: on a full disk, a partial line is removed again, so that the next one does not continue it.
pub enum LogFile {
    File(File),
    Other(Box<dyn Write + Send>),
}

impl LogFile {
    /// Appends to a file, which is created for its owner only; `-` is standard error.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Other(Box::new(io::stderr())));
        }
        Ok(Self::File(private_files::owner_only().append(true).create(true).open(path)?))
    }

    /// Writes lines, in one call if there is space, so that lines of several processes do not mix.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), NotWritten> {
        match self {
            Self::Other(writer) => writer.write_all(lines).map_err(|error| NotWritten { error, lines: count(lines) }),
            Self::File(file) => append(file, lines),
        }
    }
}

#[derive(Debug)]
pub struct NotWritten {
    pub error: io::Error,
    pub lines: u64,
}

fn count(lines: &[u8]) -> u64 {
    lines.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn append(file: &mut File, lines: &[u8]) -> Result<(), NotWritten> {
    let mut written = 0;
    while written < lines.len() {
        match file.write(&lines[written..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) => return Err(remove_partial_line(file, lines, written, ErrorKind::WriteZero.into())),
            Ok(bytes) => written += bytes,
            Err(error) => return Err(remove_partial_line(file, lines, written, error)),
        }
    }
    Ok(())
}

/// Removes a partially written line, unless another process has appended to it.
fn remove_partial_line(file: &mut File, lines: &[u8], written: usize, error: io::Error) -> NotWritten {
    let whole = lines[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let part = (written - whole) as u64;
    if part > 0
        && let (Ok(end), Ok(metadata)) = (file.stream_position(), file.metadata())
        && metadata.is_file()
        && metadata.len() == end
    {
        let _ = file.set_len(end - part);
    }
    NotWritten { error, lines: count(&lines[whole..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Content of a log, and number of lost lines, after the disk was full with `written` bytes of `lines` and another
    /// process wrote `appended`.
    fn cut_log(lines: &str, written: usize, appended: &str) -> (String, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let LogFile::File(mut file) = LogFile::open(&path).unwrap() else { panic!("no file") };
        append(&mut file, b"before\n").unwrap();
        append(&mut file, &lines.as_bytes()[..written]).unwrap();
        LogFile::open(&path).unwrap().append(appended.as_bytes()).unwrap();
        let NotWritten { lines, .. } =
            remove_partial_line(&mut file, lines.as_bytes(), written, ErrorKind::StorageFull.into());
        append(&mut file, b"after\n").unwrap();
        (std::fs::read_to_string(path).unwrap(), lines)
    }

    #[test]
    fn what_fits_of_a_line_is_removed_and_whole_lines_remain() {
        assert_eq!(cut_log("one\ntwo\nthree\n", 9, ""), ("before\none\ntwo\nafter\n".to_owned(), 1));
        assert_eq!(cut_log("one\ntwo\nthree\n", 8, ""), ("before\none\ntwo\nafter\n".to_owned(), 1));
        assert_eq!(cut_log("one\ntwo\nthree\n", 2, ""), ("before\nafter\n".to_owned(), 3));
        assert_eq!(cut_log("one\n", 0, ""), ("before\nafter\n".to_owned(), 1));
    }

    #[test]
    fn lines_of_other_processes_are_never_removed() {
        assert_eq!(cut_log("one\ntwo\n", 5, "other\n"), ("before\none\ntother\nafter\n".to_owned(), 1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_that_were_not_written_are_counted() {
        let failure = LogFile::open(Path::new("/dev/full")).unwrap().append(b"one\ntwo\n").unwrap_err();
        assert_eq!((failure.error.kind(), failure.lines), (ErrorKind::StorageFull, 2));
    }
}
