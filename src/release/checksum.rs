//! Checksums of files, computed while they stream by.
//!
//! xxh3 finds accidents (a flipped bit, a cut, a mixed-up copy) at the speed of memory. It is no signature: whoever may
//! write to the index folder may publish.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const BUFFER: usize = 1 << 20;

/// The xxh3 of a file's bytes, written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Checksum(u64);

impl Checksum {
    /// The checksum of bytes in memory.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_64(bytes))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.to_string()
    }
}

impl TryFrom<String> for Checksum {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let value = u64::from_str_radix(&text, 16).ok().filter(|_| plain);
        value.map(Self).ok_or_else(|| format!("{text:?} is not a checksum of 16 hexadecimal digits"))
    }
}

/// Writes through to `out` and keeps the count and the checksum of what went by.
pub(crate) struct HashingWriter<W> {
    out: W,
    hash: Box<Xxh3>,
    bytes: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, hash: Box::new(Xxh3::new()), bytes: 0 }
    }

    /// What was written to, with the number of bytes and their checksum.
    pub(crate) fn finish(self) -> (W, u64, Checksum) {
        (self.out, self.bytes, Checksum(self.hash.digest()))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or(bytes));
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a file once, a megabyte at a time, and tells `advance` after each how many bytes are done.
pub(crate) fn of_file(path: &Path, mut advance: impl FnMut(u64)) -> io::Result<(u64, Checksum)> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER];
    let mut hash = Box::new(Xxh3::new());
    let mut bytes = 0;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, Checksum(hash.digest()))),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(buffer.get(..read).unwrap_or(&buffer));
        bytes += read as u64;
        advance(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streamed_checksum_is_that_of_the_whole() {
        let bytes: Vec<u8> = (0..3 * BUFFER + 7).map(|n| (n * 31 % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut writer = HashingWriter::new(File::create(&path).unwrap());
        for part in bytes.chunks(1000) {
            writer.write_all(part).unwrap();
        }
        let (_, length, written) = writer.finish();
        let mut told = Vec::new();
        assert_eq!(of_file(&path, |done| told.push(done)).unwrap(), (length, written));
        assert_eq!((length, written), (bytes.len() as u64, Checksum::of(&bytes)));
        assert!(told.is_sorted() && told.last() == Some(&length));
    }

    #[test]
    fn a_checksum_is_read_as_it_is_written_and_in_no_other_form() {
        let checksum = Checksum(0x00ab_cdef_0123_4567);
        assert_eq!(checksum.to_string(), "00abcdef01234567");
        assert_eq!(Checksum::try_from(checksum.to_string()), Ok(checksum));
        for text in ["", "abcdef01234567", "+0abcdef01234567", "00ABCDEF01234567", "00abcdef0123456g"] {
            assert!(Checksum::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
