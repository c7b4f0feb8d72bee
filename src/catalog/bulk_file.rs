//! Bulk files of a release, too large for memory. Clients must get the original even if a file is changed or removed:
//! it stays open, and each chunk that is read must have the checksum it had when the whole file was verified.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN, digest};

use data::hex;
use data::read_at::read_exact_at;

type Sha256Digest = [u8; SHA256_OUTPUT_LEN];

pub struct BulkFile {
    pub name: String,
    pub bytes: u64,
    pub sha256: Sha256Digest,
    file: File,
    /// SHA-256 of each chunk of [`BulkFile::CHUNK`] bytes; the last chunk may be shorter.
    chunks: Vec<Sha256Digest>,
}

impl BulkFile {
    /// Number of bytes read and verified at a time.
    pub const CHUNK: u64 = 256 * 1024;

    /// Opens a file, reads all of it and computes its checksums, which the caller compares with the expected ones.
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

    /// Reads from `start` to the end of its chunk, at most to `end`. Blocks; fails if the file has changed since.
    pub fn read_chunk(&self, start: u64, end: u64) -> io::Result<Bytes> {
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
        Ok(Bytes::from(chunk).slice((start - first) as usize..(end.min(last) - first) as usize))
    }

    fn changed(&self, how: &str) -> io::Error {
        let message = format!("bulk/{} {how} since its release was opened: check it with `indexer verify`", self.name);
        io::Error::new(io::ErrorKind::InvalidData, message)
    }

    pub fn checksum(&self) -> String {
        hex::digits(&self.sha256)
    }
}

fn checksum(bytes: &[u8]) -> Sha256Digest {
    bytes_of(&digest(&SHA256, bytes))
}

fn bytes_of(digest: &ring::digest::Digest) -> Sha256Digest {
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
            let part = file.read_chunk(start, end).unwrap();
            assert!(!part.is_empty() && part == bytes[start as usize..start as usize + part.len()]);
            assert!(start + part.len() as u64 <= end);
        }
        assert!(file.read_chunk(LENGTH, LENGTH + 1).is_err() && file.read_chunk(3, 3).is_err());
        fs::remove_file(&path).unwrap();
        assert!(file.read_chunk(0, LENGTH).is_ok(), "a removed file is still open");
    }

    #[test]
    fn what_has_changed_is_not_read() {
        let (_folder, path, file, _) = opened();
        let mut changed = File::options().write(true).open(&path).unwrap();
        changed.seek(SeekFrom::Start(BulkFile::CHUNK + 9)).unwrap();
        changed.write_all(b"another").unwrap();
        assert!(file.read_chunk(0, LENGTH).is_ok());
        let error = file.read_chunk(BulkFile::CHUNK, LENGTH).unwrap_err().to_string();
        assert!(error.starts_with("bulk/vcs.parquet was changed"), "{error}");
        changed.set_len(2 * BulkFile::CHUNK).unwrap();
        let error = file.read_chunk(2 * BulkFile::CHUNK, LENGTH).unwrap_err().to_string();
        assert!(error.starts_with("bulk/vcs.parquet was truncated"), "{error}");
    }
}
