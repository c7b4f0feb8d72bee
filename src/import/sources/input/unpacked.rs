//! Readers of packed content, which count what they read.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use zip::read::ZipFile;

use crate::sources::input::limits::{self, LimitExceeded};
use data::read_at::read_exact_at;

/// Unpacked content of a file or member, checked against the limits while it is read.
pub(super) struct UnpackReader<R> {
    from: R,
    packed: u64,
    /// Bytes that the archive states; `None` if it states none.
    size: Option<u64>,
    done: u64,
}

impl<R> UnpackReader<R> {
    pub(super) fn new(from: R, packed: u64) -> Self {
        Self { from, packed, size: None, done: 0 }
    }
}

impl<'z, R: Read> UnpackReader<ZipFile<'z, R>> {
    /// A member whose archive states its unpacked size.
    pub(super) fn of_member(from: ZipFile<'z, R>) -> Self {
        Self { packed: from.compressed_size(), size: Some(from.size()), done: 0, from }
    }
}

/// Checks a number of unpacked bytes.
pub(super) fn check_unpacked(unpacked: u64, packed: u64) -> Result<(), LimitExceeded> {
    limits::UNPACKED.check(unpacked)?;
    match unpacked > limits::RATIO_FROM {
        true => limits::RATIO.check(unpacked / packed.max(1)),
        false => Ok(()),
    }
}

impl<R: Read> Read for UnpackReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.done += read as u64;
        check_unpacked(self.done, self.packed)?;
        if self.size.is_some_and(|size| self.done > size) {
            return Err(io::Error::other("the member has more bytes than the archive states"));
        }
        Ok(read)
    }
}

/// Unpacks into a temporary file without a name. The position is at its beginning.
pub(super) fn unpack(from: &mut dyn Read) -> io::Result<File> {
    let mut file = io::BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
    io::copy(from, &mut file)?;
    let mut file = file.into_inner()?;
    file.rewind()?;
    Ok(file)
}

/// Part of a file. Reading does not use the position of the file, which others share.
pub(super) struct SliceReader<'f> {
    pub file: &'f File,
    pub at: u64,
    pub end: u64,
}

impl Read for SliceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = buffer.len().min(usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX));
        read_exact_at(self.file, &mut buffer[..read], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for SliceReader<'_> {
    /// Positions are those of the file.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::other("the archive names a place before its beginning"))?;
        Ok(self.at)
    }
}

/// A tar archive of which only the headers of members are read. The names of a member are read whole, so they are limited.
pub(super) struct HeaderReader {
    from: File,
    /// Bytes since the last member.
    count: Rc<Cell<u64>>,
}

impl HeaderReader {
    pub(super) fn new(from: File) -> Self {
        Self { from, count: Rc::default() }
    }

    /// The count, which the caller resets after each member.
    pub(super) fn count(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.count)
    }
}

impl Read for HeaderReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        limits::MEMBER_HEADER.check(self.count.get())?;
        Ok(read)
    }
}

impl Seek for HeaderReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.from.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn outcome(from: impl Read, packed: u64, size: Option<u64>) -> String {
        let mut reader = UnpackReader { from, packed, size, done: 0 };
        io::copy(&mut reader, &mut io::sink()).map_or_else(|error| error.to_string(), |read| read.to_string())
    }

    #[test]
    fn content_that_unpacks_to_too_much_is_refused_while_it_is_read() {
        let endless = || io::repeat(b'x');
        let bomb = limits::RATIO.exceeded().to_string();
        assert_eq!(outcome(endless(), 1_000, None), bomb);
        let few = limits::RATIO_FROM;
        assert_eq!(outcome(endless().take(few), 1_000, None), few.to_string());
        assert_eq!(outcome(endless().take(few + 1), 1_000, None), bomb);
        assert_eq!(outcome(endless().take(2 * few), 1 << 20, None), (2 * few).to_string());
        assert!(outcome(endless(), 1_000, Some(10)).contains("more bytes than the archive states"));
    }

    #[test]
    fn a_slice_ends_where_its_member_ends() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut text = String::new();
        SliceReader { file: &file, at: 3, end: 7 }.read_to_string(&mut text).unwrap();
        assert_eq!(text, "3456");
        assert!(SliceReader { file: &file, at: 3, end: 11 }.read_to_string(&mut text).is_err());
    }
}
