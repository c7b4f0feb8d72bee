//! A file of lines, to which several processes may append.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, Write};
use std::path::Path;

use crate::private_files;

/// Appends whole lines: on a full disk, a partial line is removed again, so that the next one does not continue it. Lost
/// lines are reported once, until lines can be written again.
pub struct LogFile {
    /// Such as `audit log`.
    name: &'static str,
    output: LogOutput,
    is_failing: bool,
}

enum LogOutput {
    File(File),
    Other(Box<dyn Write + Send>),
}

impl LogFile {
    /// Appends to a file, which is created for its owner only; `-` is standard error.
    pub fn open(name: &'static str, path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::to(name, io::stderr()));
        }
        let file = private_files::owner_only().append(true).create(true).open(path)?;
        Ok(Self { name, output: LogOutput::File(file), is_failing: false })
    }

    pub fn to(name: &'static str, writer: impl Write + Send + 'static) -> Self {
        Self { name, output: LogOutput::Other(Box::new(writer)), is_failing: false }
    }

    /// Writes lines, in one call if there is space, so that lines of several processes do not mix. Returns the number of
    /// lines that are lost.
    pub fn append(&mut self, lines: &[u8]) -> u64 {
        let written = match &mut self.output {
            LogOutput::Other(writer) => writer.write_all(lines).map_err(|error| (error, count(lines))),
            LogOutput::File(file) => append(file, lines),
        };
        let Err((error, lost)) = written else {
            self.is_failing = false;
            return 0;
        };
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::error!("cannot write the {}: {error}; lines are lost until this is fixed", self.name);
        }
        lost
    }
}

/// The cause, and the number of lines that are lost.
type NotWritten = (io::Error, u64);

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
    (error, count(&lines[whole..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Content of a log, and number of lost lines, after the disk was full with `written` bytes of `lines` and another
    /// process wrote `appended`.
    fn cut_log(lines: &str, written: usize, appended: &str) -> (String, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let LogOutput::File(mut file) = LogFile::open("log", &path).unwrap().output else { panic!("no file") };
        append(&mut file, b"before\n").unwrap();
        append(&mut file, &lines.as_bytes()[..written]).unwrap();
        assert_eq!(LogFile::open("log", &path).unwrap().append(appended.as_bytes()), 0);
        let (_, lost) = remove_partial_line(&mut file, lines.as_bytes(), written, ErrorKind::StorageFull.into());
        append(&mut file, b"after\n").unwrap();
        (std::fs::read_to_string(path).unwrap(), lost)
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
        let mut log = LogFile::open("log", Path::new("/dev/full")).unwrap();
        assert_eq!(log.append(b"one\ntwo\n"), 2);
        let LogOutput::File(file) = &mut log.output else { panic!("no file") };
        assert_eq!(append(file, b"one\n").unwrap_err().0.kind(), ErrorKind::StorageFull);
    }
}
