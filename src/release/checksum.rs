//! SHA-256 checksums of files, so that a signature of the manifest covers every byte of a release.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use ring::digest::{Context, Digest, SHA256, SHA256_OUTPUT_LEN, digest};
use serde::{Deserialize, Serialize};

use data::hex;

/// The SHA-256 of a file's bytes, displayed as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Checksum(pub [u8; SHA256_OUTPUT_LEN]);

impl Checksum {
    pub fn of(bytes: &[u8]) -> Self {
        digest(&SHA256, bytes).into()
    }

    /// Size of a file in bytes, and its checksum.
    pub fn of_file(path: &Path) -> io::Result<(u64, Self)> {
        let mut hashed = HashingWriter::new(io::sink());
        io::copy(&mut File::open(path)?, &mut hashed)?;
        Ok(hashed.finish())
    }
}

impl From<Digest> for Checksum {
    fn from(digest: Digest) -> Self {
        Self(digest.as_ref().try_into().expect("it is a SHA-256"))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::digits(&self.0))
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
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        let is_plain =
            text.len() == 2 * bytes.len() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_plain {
            return Err(format!("{text:?} is not a checksum of 64 hexadecimal digits"));
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).expect("these are digits");
        }
        Ok(Self(bytes))
    }
}

/// Counts the bytes written to `out` and computes their checksum.
pub(crate) struct HashingWriter<W> {
    out: W,
    hasher: Context,
    bytes: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, hasher: Context::new(&SHA256), bytes: 0 }
    }

    pub(crate) fn finish(self) -> (u64, Checksum) {
        (self.bytes, self.hasher.finish().into())
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_sha_256_of_all_bytes() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Checksum::of(b"abc").to_string(), known, "FIPS 180-2, B.1");
        let mut writer = HashingWriter::new(Vec::new());
        for part in [&b"a"[..], b"", b"bc"] {
            writer.write_all(part).unwrap();
        }
        assert_eq!(writer.finish(), (3, Checksum::try_from(known.to_owned()).unwrap()));
    }

    #[test]
    fn only_the_written_form_of_a_checksum_is_accepted() {
        let checksum = Checksum::of(b"");
        let text = checksum.to_string();
        assert_eq!(Checksum::try_from(text.clone()), Ok(checksum));
        for text in [text[1..].to_owned(), format!("+{}", &text[1..]), text.to_uppercase(), format!("g{}", &text[1..])]
        {
            assert!(Checksum::try_from(text.clone()).is_err(), "{text}");
        }
    }
}
