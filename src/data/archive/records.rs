//! The texts of records, `records.bin`: most of a snapshot, stored apart from its tables.
//!
//! Queries read them only to present results, so the records of a large release stay on disk. The tables have the
//! SHA-256 of each block of the file: with verified tables, each block is verified as it is read. A change of the open
//! file never changes a record; the records of a changed block cannot be read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::archive::{Sha256Sum, SharedBytes, changed};
use crate::read_at::read_exact_at;

/// Size in bytes of a block that is verified at once: some ten records. The checksums take 0.4 % of that.
const BLOCK: u64 = 8 << 10;

pub(crate) struct RecordWriter<'w> {
    out: &'w mut (dyn Write + Send),
    length: u64,
    block: Sha256,
    checksums: Vec<Sha256Sum>,
}

impl<'w> RecordWriter<'w> {
    pub(crate) fn new(out: &'w mut (dyn Write + Send)) -> Self {
        Self { out, length: 0, block: Sha256::new(), checksums: Vec::new() }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<()> {
        let mut rest = text;
        while !rest.is_empty() {
            let room = BLOCK - self.length % BLOCK;
            let (part, later) = rest.split_at(rest.len().min(room as usize));
            self.block.update(part);
            self.length += part.len() as u64;
            if self.length.is_multiple_of(BLOCK) {
                self.checksums.push(self.block.finalize_reset().into());
            }
            rest = later;
        }
        self.out.write_all(text)
    }

    pub(crate) fn finish(mut self) -> io::Result<Vec<Sha256Sum>> {
        if !self.length.is_multiple_of(BLOCK) {
            self.checksums.push(self.block.finalize().into());
        }
        self.out.flush()?;
        Ok(self.checksums)
    }
}

pub enum RecordStore {
    /// Embedded, or verified as a whole.
    Memory(SharedBytes),
    File(RecordFile),
}

impl RecordStore {
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => (**bytes).as_ref().len() as u64,
            Self::File(file) => file.length,
        }
    }

    pub(crate) fn have_blocks(&self, blocks: usize) -> bool {
        self.length().div_ceil(BLOCK) == blocks as u64
    }

    /// Reads a range within the length. Blocks while the disk is read. Fails if the file no longer has these checksums.
    pub(crate) fn read(&self, part: Range<u64>, checksums: &[Sha256Sum]) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => Ok((**bytes).as_ref()[part.start as usize..part.end as usize].into()),
            Self::File(file) => file.read(part, checksums).map(Cow::Owned),
        }
    }
}

type KeptBlock = Option<(u64, Arc<[u8]>)>;

pub struct RecordFile {
    file: File,
    length: u64,
    /// Direct-mapped cache of verified blocks.
    kept: Vec<Mutex<KeptBlock>>,
}

impl RecordFile {
    /// Caches blocks of at most `cached` bytes, and at least one.
    pub fn new(file: File, cached: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let blocks = (cached / BLOCK).max(1).min(length.div_ceil(BLOCK));
        let kept = (0..blocks).map(|_| Mutex::default()).collect();
        Ok(Self { file, length, kept })
    }

    fn read(&self, part: Range<u64>, checksums: &[Sha256Sum]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity((part.end - part.start) as usize);
        let mut at = part.start;
        while at < part.end {
            let index = at / BLOCK;
            let block = self.block(index, checksums)?;
            let first = index * BLOCK;
            let end = part.end.min(first + BLOCK);
            bytes.extend_from_slice(&block[(at - first) as usize..(end - first) as usize]);
            at = end;
        }
        Ok(bytes)
    }

    fn block(&self, index: u64, checksums: &[Sha256Sum]) -> io::Result<Arc<[u8]>> {
        let place = &self.kept[(index % self.kept.len() as u64) as usize];
        let lock = || place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, block)) = &*lock()
            && *known == index
        {
            return Ok(block.clone());
        }
        let first = index * BLOCK;
        let mut block = vec![0; BLOCK.min(self.length - first) as usize];
        read_exact_at(&self.file, &mut block, first).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed("records.bin"),
            _ => error,
        })?;
        if Sha256Sum::from(Sha256::digest(&block)) != checksums[index as usize] {
            return Err(changed("records.bin"));
        }
        let block: Arc<[u8]> = block.into();
        *lock() = Some((index, block.clone()));
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom};

    use super::*;

    fn sample(length: usize) -> (Vec<u8>, Vec<Sha256Sum>) {
        let bytes: Vec<u8> = (0..length).map(|place| (place * 31 % 251) as u8).collect();
        let mut written = Vec::new();
        let mut writer = RecordWriter::new(&mut written);
        for part in bytes.chunks(1_777) {
            writer.append(part).unwrap();
        }
        assert_eq!(writer.length(), length as u64);
        let checksums = writer.finish().unwrap();
        assert!(written == bytes);
        (bytes, checksums)
    }

    fn file_of(bytes: &[u8], cached: u64) -> (File, RecordStore) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let records = RecordStore::File(RecordFile::new(file.try_clone().unwrap(), cached).unwrap());
        (file, records)
    }

    #[test]
    fn parts_are_read_from_a_file_as_from_memory() {
        const BLOCKS: usize = BLOCK as usize;
        for length in [0, 1, BLOCKS - 1, BLOCKS, BLOCKS + 1, 3 * BLOCKS + 77] {
            let (bytes, checksums) = sample(length);
            // A cache of one block, and one of all.
            let [(_, file), (_, whole)] = [0, u64::MAX].map(|cached| file_of(&bytes, cached));
            let memory = RecordStore::Memory(Arc::new(bytes.clone()));
            assert!(file.have_blocks(checksums.len()) && memory.have_blocks(checksums.len()));
            for start in (0..=length).step_by(1_001) {
                for end in [start, start + 1, start + 100, start + BLOCKS, length].map(|end| end.clamp(start, length)) {
                    let part = start as u64..end as u64;
                    assert_eq!(*file.read(part.clone(), &checksums).unwrap(), bytes[start..end]);
                    assert_eq!(*whole.read(part.clone(), &checksums).unwrap(), bytes[start..end]);
                    assert_eq!(*memory.read(part, &checksums).unwrap(), bytes[start..end]);
                }
            }
        }
    }

    #[test]
    fn no_byte_of_a_block_that_was_changed_is_read() {
        let (bytes, checksums) = sample(3 * BLOCK as usize + 77);
        let (mut file, records) = file_of(&bytes, u64::MAX);
        let read = |place: u64| records.read(place..place + 1, &checksums).map(|byte| byte[0]);
        assert_eq!(read(5).unwrap(), bytes[5]);
        for block in 0..2 {
            file.seek(SeekFrom::Start(block * BLOCK + 9)).unwrap();
            file.write_all(b"another").unwrap();
        }
        assert_eq!(read(9).unwrap(), bytes[9], "a block that was read stays as it was");
        for place in [BLOCK, BLOCK + 9, 2 * BLOCK - 1] {
            assert_eq!(read(place).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(read(2 * BLOCK).unwrap(), bytes[2 * BLOCK as usize]);
        file.set_len(3 * BLOCK + 1).unwrap();
        let error = read(3 * BLOCK).unwrap_err().to_string();
        assert!(error.contains("`indexer build`"), "{error}");
    }
}
