//! Bulk files of a release: held open, and verified again when they are read.
//!
//! They are too large for memory, so what is sent is read from the disk. Whoever writes to a file, truncates or removes it after
//! the release was opened must not change what clients get: the file stays open, and each chunk that is read has the checksum
//! that it had when the whole file was verified.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN, digest};

use data::hex;
use data::read_at::read_exact_at;

type Checksum = [u8; SHA256_OUTPUT_LEN];

/// A file that is offered as a download.
pub struct BulkFile {
    pub name: String,
    pub bytes: u64,
    /// SHA-256 of the whole.
    pub sha256: Checksum,
    file: File,
    /// SHA-256 of each chunk of [`BulkFile::CHUNK`] bytes; the last may be shorter.
    chunks: Vec<Checksum>,
}

impl BulkFile {
    /// Bytes that are read and verified at a time.
    pub const CHUNK: u64 = 256 * 1024;

    /// Opens a file and computes its checksums; reads all of it.
    ///
    /// # Errors
    /// If the file cannot be read. Whether its checksum is the expected one, the caller compares.
    pub fn open(path: &Path, name: &str) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut whole, mut chunks, mut bytes) = (Context::new(&SHA256), Vec::new(), 0);
        let mut chunk = Vec::with_capacity(Self::CHUNK as usize);
        loop {
            chunk.clear();
            (&mut file).take(Self::CHUNK).read_to_end(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            whole.update(&chunk);
            chunks.push(checksum(&chunk));
            bytes += chunk.len() as u64;
        }
        Ok(Self { name: name.to_owned(), bytes, sha256: bytes_of(&whole.finish()), file, chunks })
    }

    /// The bytes from `start` to the end of the chunk that contains it, at most to `end`. Blocks while the disk is read.
    ///
    /// # Errors
    /// If the file cannot be read, or is not the one any more that was opened.
    pub fn read(&self, start: u64, end: u64) -> io::Result<Bytes> {
        let index = start / Self::CHUNK;
        let first = index * Self::CHUNK;
        let last = self.bytes.min(first + Self::CHUNK);
        let known = usize::try_from(index).ok().and_then(|index| self.chunks.get(index));
        let (Some(known), true) = (known, start < last && start < end) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut chunk = vec![0; (last - first) as usize];
        read_exact_at(&self.file, &mut chunk, first).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed("was truncated"),
            _ => error,
        })?;
        if checksum(&chunk) != *known {
            return Err(self.changed("was changed"));
        }
        let chunk = Bytes::from(chunk);
        Ok(chunk.slice((start - first) as usize..(end.min(last) - first) as usize))
    }

    fn changed(&self, how: &str) -> io::Error {
        let message = format!("bulk/{} {how} since its release was opened: check it with `indexer verify`", self.name);
        io::Error::new(io::ErrorKind::InvalidData, message)
    }

    /// The checksum in hexadecimal digits.
    pub fn checksum(&self) -> String {
        hex::digits(&self.sha256)
    }
}

fn checksum(bytes: &[u8]) -> Checksum {
    bytes_of(&digest(&SHA256, bytes))
}

fn bytes_of(digest: &ring::digest::Digest) -> Checksum {
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    const LENGTH: u64 = 2 * BulkFile::CHUNK + 77;

    fn opened() -> (tempfile::TempDir, std::path::PathBuf, BulkFile, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vcs.parquet");
        let bytes: Vec<u8> = (0..LENGTH).map(|index| (index % 251) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let file = BulkFile::open(&path, "vcs.parquet").unwrap();
        (folder, path, file, bytes)
    }

    #[test]
    fn what_is_read_is_what_was_verified() {
        let (_folder, path, file, bytes) = opened();
        assert_eq!((file.bytes, file.sha256), (LENGTH, checksum(&bytes)));
        for (start, end) in [(0, 1), (5, LENGTH), (BulkFile::CHUNK - 1, BulkFile::CHUNK + 1), (LENGTH - 1, LENGTH)] {
            let part = file.read(start, end).unwrap();
            assert!(!part.is_empty() && part == bytes[start as usize..start as usize + part.len()]);
            assert!(start + part.len() as u64 <= end);
        }
        assert!(file.read(LENGTH, LENGTH + 1).is_err() && file.read(3, 3).is_err());
        fs::remove_file(&path).unwrap();
        assert!(file.read(0, LENGTH).is_ok(), "a removed file is still open");
    }

    #[test]
    fn what_has_changed_is_not_read() {
        let (_folder, path, file, _) = opened();
        let mut changed = File::options().write(true).open(&path).unwrap();
        changed.seek(SeekFrom::Start(BulkFile::CHUNK + 9)).unwrap();
        changed.write_all(b"another").unwrap();
        assert!(file.read(0, LENGTH).is_ok());
        let error = file.read(BulkFile::CHUNK, LENGTH).unwrap_err().to_string();
        assert!(error.starts_with("bulk/vcs.parquet was changed"), "{error}");
        changed.set_len(2 * BulkFile::CHUNK).unwrap();
        let error = file.read(2 * BulkFile::CHUNK, LENGTH).unwrap_err().to_string();
        assert!(error.starts_with("bulk/vcs.parquet was truncated"), "{error}");
    }
}
