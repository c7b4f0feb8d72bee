use std::io::{self, Write};
use std::iter;

use bytemuck::{Pod, Zeroable};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::archive::{ALIGN, FORMAT, Frame, HEAD, SectionEntry, TAIL};

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

    /// Writes a section, and returns the offsets of its parts.
    fn write<T: AsRef<[u8]>>(&mut self, name: &str, parts: impl Iterator<Item = T>) -> io::Result<Vec<u64>> {
        self.pad()?;
        let mut entry = SectionEntry { start: self.position, ..SectionEntry::zeroed() };
        entry.name[..name.len()].copy_from_slice(name.as_bytes());
        let (mut hash, mut offsets) = (Sha256::new(), vec![0_u64]);
        for part in parts {
            hash.update(part.as_ref());
            self.out.write_all(part.as_ref())?;
            entry.length += part.as_ref().len() as u64;
            offsets.push(entry.length);
        }
        entry.sha256 = hash.finalize().into();
        self.position += entry.length;
        self.entries.push(entry);
        Ok(offsets)
    }

    pub fn section<T: Pod>(&mut self, name: &str, values: &[T]) -> io::Result<()> {
        self.write(name, iter::once(bytemuck::cast_slice::<T, u8>(values))).map(drop)
    }

    /// Writes a column of texts: the bytes in section `name`, the offsets in `name#`.
    pub(crate) fn texts<T: AsRef<[u8]>>(&mut self, name: &str, texts: impl Iterator<Item = T>) -> io::Result<()> {
        let offsets = self.write(name, texts)?;
        self.section(&format!("{name}#"), &offsets)
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
