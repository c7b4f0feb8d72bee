//! Checksums of files.
//!
//! xxh3 detects accidents (a flipped bit, a truncated or mixed-up copy) at the speed of memory. It is not a signature: anyone
//! who can write to the index folder can publish.

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

/// Counts the bytes written to `out` and computes their checksum.
pub(crate) struct HashingWriter<W> {
    out: W,
    hash: Box<Xxh3>,
    bytes: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, hash: Box::new(Xxh3::new()), bytes: 0 }
    }

    pub(crate) fn finish(self) -> (u64, Checksum) {
        (self.bytes, Checksum(self.hash.digest()))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The size and checksum of a file. Calls `advance` with the bytes read so far, about once per megabyte.
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
        hash.update(&buffer[..read]);
        bytes += read as u64;
        advance(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streamed_checksum_equals_that_of_all_bytes() {
        let bytes: Vec<u8> = (0..3 * BUFFER + 7).map(|n| (n * 31 % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut writer = HashingWriter::new(File::create(&path).unwrap());
        for part in bytes.chunks(1000) {
            writer.write_all(part).unwrap();
        }
        let (length, written) = writer.finish();
        let mut reported = Vec::new();
        assert_eq!(of_file(&path, |done| reported.push(done)).unwrap(), (length, written));
        assert_eq!((length, written), (bytes.len() as u64, Checksum::of(&bytes)));
        assert!(reported.is_sorted() && reported.last() == Some(&length));
    }

    #[test]
    fn only_the_written_form_of_a_checksum_is_accepted() {
        let checksum = Checksum(0x00ab_cdef_0123_4567);
        assert_eq!(checksum.to_string(), "00abcdef01234567");
        assert_eq!(Checksum::try_from(checksum.to_string()), Ok(checksum));
        for text in ["", "abcdef01234567", "+0abcdef01234567", "00ABCDEF01234567", "00abcdef0123456g"] {
            assert!(Checksum::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
