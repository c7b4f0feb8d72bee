use std::io::{self, Write};

use bytemuck::{Pod, Zeroable};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::archive::{ALIGN, FORMAT, Frame, HEAD, SectionEntry, Sha256Sum, TAIL};

pub struct ArchiveWriter<'w> {
    out: &'w mut dyn Write,
    position: u64,
    entries: Vec<SectionEntry>,
}

impl<'w> ArchiveWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        let head = Frame { magic: HEAD, format: FORMAT, ..Frame::zeroed() };
        out.write_all(bytemuck::bytes_of(&head))?;
        Ok(Self { out, position: size_of::<Frame>() as u64, entries: Vec::new() })
    }

    fn pad(&mut self) -> io::Result<()> {
        let rest = self.position as usize % ALIGN;
        if rest > 0 {
            self.position += (ALIGN - rest) as u64;
            self.out.write_all(&[0; ALIGN][rest..])?;
        }
        Ok(())
    }

    fn write(&mut self, name: &str, bytes: &[u8], sha256: Sha256Sum) -> io::Result<()> {
        self.pad()?;
        let (start, length) = (self.position, bytes.len() as u64);
        let mut entry = SectionEntry { start, length, sha256, ..SectionEntry::zeroed() };
        entry.name[..name.len()].copy_from_slice(name.as_bytes());
        self.out.write_all(bytes)?;
        self.position += length;
        self.entries.push(entry);
        Ok(())
    }

    pub fn section<T: Pod>(&mut self, name: &str, values: &[T]) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.write(name, bytes, Sha256::digest(bytes).into())
    }

    pub(crate) fn append(&mut self, sections: Sections) -> io::Result<()> {
        sections.0.into_iter().try_for_each(|(name, bytes, sha256)| self.write(&name, &bytes, sha256))
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.pad()?;
        let contents: &[u8] = bytemuck::cast_slice(&self.entries);
        self.out.write_all(contents)?;
        let tail = Frame {
            magic: TAIL,
            format: FORMAT,
            entries: self.entries.len() as u32,
            contents: self.position,
            contents_checksum: xxh3_64(contents),
            reserved: [0; 4],
        };
        self.out.write_all(bytemuck::bytes_of(&tail))?;
        self.out.flush()
    }
}

/// Consecutive sections in memory, computed by any thread: their names, bytes and checksums.
#[derive(Default)]
pub(crate) struct Sections(Vec<(String, Vec<u8>, Sha256Sum)>);

impl Sections {
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    fn push(&mut self, name: &str, bytes: Vec<u8>) {
        let sha256 = Sha256::digest(&bytes).into();
        self.0.push((name.to_owned(), bytes, sha256));
    }

    pub(crate) fn add<T: Pod>(&mut self, name: &str, values: &[T]) {
        self.push(name, bytemuck::cast_slice(values).to_vec());
    }

    /// Adds a column of texts: the bytes in section `name`, the offsets in `name#`.
    pub(crate) fn add_texts<T: AsRef<[u8]>>(&mut self, name: &str, texts: impl Iterator<Item = T>) {
        let (mut bytes, mut offsets) = (Vec::new(), vec![0_u64]);
        for text in texts {
            bytes.extend_from_slice(text.as_ref());
            offsets.push(bytes.len() as u64);
        }
        self.push(name, bytes);
        self.add(&format!("{name}#"), &offsets);
    }
}
