use std::io::{self, Write};

use bytemuck::{Pod, Zeroable};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::archive::{ALIGN, FORMAT, Frame, HEAD, SectionEntry, TAIL};

pub struct ArchiveWriter<'w> {
    out: &'w mut dyn Write,
    position: u64,
    entries: Vec<SectionEntry>,
    open: Option<(SectionEntry, Sha256)>,
}

impl<'w> ArchiveWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        let head = Frame { magic: HEAD, format: FORMAT, ..Frame::zeroed() };
        out.write_all(bytemuck::bytes_of(&head))?;
        Ok(Self { out, position: size_of::<Frame>() as u64, entries: Vec::new(), open: None })
    }

    fn begin(&mut self, name: &str) -> io::Result<()> {
        self.end()?;
        let mut entry = SectionEntry { start: self.position, ..SectionEntry::zeroed() };
        entry.name[..name.len()].copy_from_slice(name.as_bytes());
        self.open = Some((entry, Sha256::new()));
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some((_, hash)) = &mut self.open {
            hash.update(bytes);
        }
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some((mut entry, hash)) = self.open.take() {
            entry.length = self.position - entry.start;
            entry.sha256 = hash.finalize().into();
            self.entries.push(entry);
        }
        let rest = self.position as usize % ALIGN;
        if rest > 0 {
            self.position += (ALIGN - rest) as u64;
            self.out.write_all(&[0; ALIGN][rest..])?;
        }
        Ok(())
    }

    pub fn section<T: Pod>(&mut self, name: &str, values: &[T]) -> io::Result<()> {
        self.begin(name)?;
        self.append(bytemuck::cast_slice(values))
    }

    /// Writes a column of texts: the bytes in section `name`, the offsets in `name#`.
    pub(crate) fn texts<T: AsRef<[u8]>>(&mut self, name: &str, texts: impl Iterator<Item = T>) -> io::Result<()> {
        self.begin(name)?;
        let (start, mut offsets) = (self.position, vec![0_u64]);
        for text in texts {
            self.append(text.as_ref())?;
            offsets.push(self.position - start);
        }
        self.section(&format!("{name}#"), &offsets)
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.end()?;
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
