//! The archive of a snapshot, `tables.bin`: named sections of plain little-endian numbers and bytes.
//!
//! Layout: a head of 64 bytes (magic, format), the sections, each at a multiple of 64 bytes, the table of contents, and
//! a tail of 64 bytes with the position of that table. Sections are in memory (embedded, or read from a file and
//! verified), or in an open file and read on first use. The table of contents has the SHA-256 of each section. If it is
//! verified, each section is verified as it is read, so that a later change of the file is an error and never a wrong
//! value. Opening checks that columns have the expected lengths.

mod aligned_bytes;
pub(crate) mod column_writer;
pub mod facet_column;
pub(crate) mod none;
pub(crate) mod own_columns;
pub(crate) mod record_shape;
pub(crate) mod record_text;
pub(crate) mod records;
pub(crate) mod table_columns;
pub(crate) mod writer;

pub use aligned_bytes::AlignedBytes;
pub use writer::ArchiveWriter;

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytemuck::{Pod, Zeroable};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::parallel::all_in_parallel;
use crate::read_at::read_exact_at;

#[cfg(target_endian = "big")]
compile_error!("the archive is little-endian and its columns are used in place");

pub const FORMAT: u32 = 13;

const ALIGN: usize = 64;
const HEAD: [u8; 8] = *b"VDXTABLE";
const TAIL: [u8; 8] = *b"VDXINDEX";
const NAME: usize = 40;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SectionEntry {
    name: [u8; NAME],
    start: u64,
    length: u64,
    sha256: Sha256Sum,
}

pub type Sha256Sum = [u8; 32];

/// The archive's first or last 64 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Frame {
    magic: [u8; 8],
    format: u32,
    entries: u32,
    contents: u64,
    contents_checksum: u64,
    reserved: [u64; 4],
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("not a snapshot archive")]
    NotAnArchive,
    #[error(
        "archive format {found} was built by another version (this one reads format {FORMAT}); \
         rebuild with `indexer build`"
    )]
    OtherFormat { found: u32 },
    #[error("archive is damaged: {0}")]
    Damaged(String),
    #[error("{reason}")]
    Unreadable { kind: io::ErrorKind, reason: String },
}

impl ArchiveError {
    fn from_io(section: &str, error: &io::Error) -> Self {
        let reason = format!("section {section}: {error}");
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Self::Damaged(reason),
            kind => Self::Unreadable { kind, reason },
        }
    }
}

pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    Verify,
    /// Skip it: the bytes are part of the program, or of a file that was verified already.
    Trust,
}

pub struct Archive {
    source: ArchiveSource,
    sections: Vec<ArchiveSection>,
    by_name: HashMap<String, usize>,
    content: u64,
}

enum ArchiveSource {
    Memory(SharedBytes),
    File(File),
}

struct ArchiveSection {
    name: String,
    place: Range<usize>,
    sha256: Sha256Sum,
    read: OnceLock<AlignedBytes>,
}

#[derive(Debug)]
pub struct NumberColumn<T> {
    section: usize,
    pub(crate) length: usize,
    kind: PhantomData<T>,
}

pub(crate) struct TextColumn {
    heap: usize,
    offsets: NumberColumn<u64>,
}

impl TextColumn {
    pub(crate) fn rows(&self) -> u32 {
        self.offsets.length as u32 - 1
    }
}

impl ArchiveSource {
    fn length(&self) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => Ok((**bytes).as_ref().len()),
            Self::File(file) => usize::try_from(file.metadata()?.len()).map_err(io::Error::other),
        }
    }

    fn read(&self, part: Range<usize>) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => Ok((**bytes).as_ref()[part].into()),
            Self::File(file) => {
                let mut bytes = vec![0; part.len()];
                read_exact_at(file, &mut bytes, part.start as u64)?;
                Ok(bytes.into())
            }
        }
    }
}

impl Archive {
    pub fn open(bytes: SharedBytes, checksums: Checksums) -> Result<Self, ArchiveError> {
        if !((*bytes).as_ref().as_ptr() as usize).is_multiple_of(ALIGN) {
            return Err(ArchiveError::Damaged("not aligned to 64 bytes".into()));
        }
        let (archive, _) = Self::from_source(ArchiveSource::Memory(bytes))?;
        if checksums == Checksums::Verify {
            let is_whole =
                |section: &&ArchiveSection| section.matches(Sha256::new_with_prefix(archive.bytes_of(section)));
            if let Some(section) = archive.sections.iter().find(|section| !is_whole(section)) {
                return Err(ArchiveError::Damaged(format!("section {}", section.name)));
            }
        }
        Ok(archive)
    }

    /// Opens an archive in a file. `contents` is the checksum of its table of contents. Sections are read on first use.
    pub(crate) fn open_file(file: File, contents: &Sha256Sum) -> Result<Self, ArchiveError> {
        let (archive, found) = Self::from_source(ArchiveSource::File(file))?;
        if found == *contents { Ok(archive) } else { Err(ArchiveError::Damaged("table of contents".into())) }
    }

    pub fn contents_sha256(file: File) -> Result<Sha256Sum, ArchiveError> {
        Self::from_source(ArchiveSource::File(file)).map(|(_, contents)| contents)
    }

    fn from_source(source: ArchiveSource) -> Result<(Self, Sha256Sum), ArchiveError> {
        let read = |part| source.read(part).map_err(|error| ArchiveError::from_io("contents", &error));
        let damaged = |reason: &str| ArchiveError::Damaged(reason.to_owned());
        let length = source.length().map_err(|error| ArchiveError::from_io("contents", &error))?;
        let frame_size = size_of::<Frame>();
        let end = length.checked_sub(frame_size).ok_or(ArchiveError::NotAnArchive)?;
        let head: Frame = bytemuck::pod_read_unaligned(&read(0..frame_size)?);
        if head.magic != HEAD {
            return Err(ArchiveError::NotAnArchive);
        }
        if head.format != FORMAT {
            return Err(ArchiveError::OtherFormat { found: head.format });
        }
        let tail: Frame = bytemuck::pod_read_unaligned(&read(end..length)?);
        let size = (tail.entries as usize).checked_mul(size_of::<SectionEntry>());
        let place = usize::try_from(tail.contents).ok().zip(size);
        let place = place.and_then(|(start, size)| Some(start..start.checked_add(size)?));
        let place = place.filter(|place| tail.magic == TAIL && place.end <= end).ok_or_else(|| damaged("truncated"))?;
        let contents = read(place)?;
        if xxh3_64(&contents) != tail.contents_checksum {
            return Err(damaged("table of contents"));
        }
        let sha256 = Sha256Sum::from(Sha256::digest(&contents));
        let mut sections = Vec::with_capacity(tail.entries as usize);
        for entry in contents.chunks_exact(size_of::<SectionEntry>()) {
            let SectionEntry { name, start, length, sha256 } = bytemuck::pod_read_unaligned(entry);
            let name_length = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
            let name = String::from_utf8_lossy(&name[..name_length]).into_owned();
            let (start, length) = (start as usize, length as usize);
            let after = start.checked_add(length).filter(|after| *after <= end && start.is_multiple_of(ALIGN));
            let place = start..after.ok_or_else(|| damaged(&format!("section {name}")))?;
            sections.push(ArchiveSection { name, place, sha256, read: OnceLock::new() });
        }
        let by_name = sections.iter().enumerate().map(|(index, section)| (section.name.clone(), index)).collect();
        drop(contents);
        Ok((Self { source, sections, by_name, content: tail.contents_checksum }, sha256))
    }

    /// A checksum over the checksums of all sections.
    pub fn content(&self) -> u64 {
        self.content
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, u64)> {
        self.sections.iter().map(|section| (section.name.as_str(), section.place.len() as u64))
    }

    /// True if no section is read from the disk any more.
    pub(crate) fn is_in_memory(&self) -> bool {
        let has_read = || self.sections.iter().all(|section| section.read.get().is_some());
        matches!(self.source, ArchiveSource::Memory(_)) || has_read()
    }

    /// Reads and verifies all sections that were not read yet. `advance` gets the size of each.
    pub(crate) fn read_all(&self, advance: &(dyn Fn(u64) + Sync)) -> Result<(), ArchiveError> {
        self.read_sections(|_| true, advance)
    }

    /// The same for the sections whose names are wanted.
    pub(crate) fn read_sections(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<(), ArchiveError> {
        let wanted = self.sections.iter().filter(|section| is_wanted(&section.name));
        let mut largest_first: Vec<&ArchiveSection> = wanted.collect();
        largest_first.sort_by_key(|section| Reverse(section.place.len()));
        let read = all_in_parallel(&largest_first, |section| {
            self.try_bytes_of(section).map_err(|error| ArchiveError::from_io(&section.name, &error))?;
            advance(section.place.len() as u64);
            Ok(())
        });
        read.into_iter().collect()
    }

    fn try_bytes_of<'a>(&'a self, section: &'a ArchiveSection) -> io::Result<&'a [u8]> {
        match &self.source {
            ArchiveSource::Memory(bytes) => Ok(&(**bytes).as_ref()[section.place.clone()]),
            ArchiveSource::File(file) => match section.read.get() {
                Some(bytes) => Ok(bytes.as_ref()),
                None => section.read_now(file),
            },
        }
    }

    /// Panics if the section is in a file that cannot be read or was changed; [`Archive::read_all`] returns the error.
    fn bytes_of<'a>(&'a self, section: &'a ArchiveSection) -> &'a [u8] {
        self.try_bytes_of(section).unwrap_or_else(|error| panic!("section {}: {error}", section.name))
    }

    fn slice(&self, section: usize) -> &[u8] {
        self.bytes_of(&self.sections[section])
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn section(&self, name: &str) -> Result<usize, ArchiveError> {
        self.by_name.get(name).copied().ok_or_else(|| ArchiveError::Damaged(format!("section {name} is missing")))
    }

    pub fn column<T: Pod>(&self, name: &str, rows: usize) -> Result<NumberColumn<T>, ArchiveError> {
        let column = self.open_column(name)?;
        match column.length == rows {
            true => Ok(column),
            false => Err(ArchiveError::Damaged(format!("section {name} does not have {rows} values"))),
        }
    }

    pub fn open_column<T: Pod>(&self, name: &str) -> Result<NumberColumn<T>, ArchiveError> {
        let section = self.section(name)?;
        let size = self.sections[section].place.len();
        if !size.is_multiple_of(size_of::<T>()) {
            return Err(ArchiveError::Damaged(format!("section {name}: length is not a multiple of the element size")));
        }
        Ok(NumberColumn { section, length: size / size_of::<T>(), kind: PhantomData })
    }

    pub(crate) fn texts(&self, name: &str, rows: usize) -> Result<TextColumn, ArchiveError> {
        Ok(TextColumn { heap: self.section(name)?, offsets: self.column(&format!("{name}#"), rows + 1)? })
    }

    pub(crate) fn open_texts(&self, name: &str) -> Result<TextColumn, ArchiveError> {
        let rows = self.open_column::<u64>(&format!("{name}#"))?.length.checked_sub(1);
        self.texts(name, rows.ok_or_else(|| ArchiveError::Damaged(format!("section {name}# is empty")))?)
    }

    /// Checks that the offsets of texts ascend and that each text is UTF-8.
    pub(crate) fn check_texts(&self, texts: &TextColumn) -> Result<(), ArchiveError> {
        let (heap, ends) = (self.slice(texts.heap), self.get(&texts.offsets));
        let is_valid = are_offsets(ends, heap.len())
            && std::str::from_utf8(heap).is_ok_and(|text| ends.iter().all(|end| text.is_char_boundary(*end as usize)));
        let name = &self.sections[texts.heap].name;
        let damaged = || ArchiveError::Damaged(format!("section {name} is not a list of UTF-8 texts"));
        is_valid.then_some(()).ok_or_else(damaged)
    }

    /// Checks that row numbers are below `count`.
    pub(crate) fn check_rows(&self, rows: &NumberColumn<u32>, count: usize, name: &str) -> Result<(), ArchiveError> {
        let damaged = || ArchiveError::Damaged(format!("section {name} refers to rows that do not exist"));
        self.get(rows).iter().all(|row| (*row as usize) < count).then_some(()).ok_or_else(damaged)
    }

    pub fn get<T: Pod>(&self, column: &NumberColumn<T>) -> &[T] {
        bytemuck::try_cast_slice(self.slice(column.section)).expect("checked at open")
    }

    pub fn bytes(&self, name: &str) -> Result<&[u8], ArchiveError> {
        let section = &self.sections[self.section(name)?];
        self.try_bytes_of(section).map_err(|error| ArchiveError::from_io(name, &error))
    }

    /// The text of a row; panics if the column does not have the row.
    pub(crate) fn text(&self, texts: &TextColumn, row: u32) -> &str {
        let bytes = &self.slice(texts.heap)[bounds(self.get(&texts.offsets), row as usize)];
        std::str::from_utf8(bytes).expect("checked, or verified as written")
    }

    /// The texts of rows as bytes, for comparisons. Panics for a row that the column does not have.
    pub(crate) fn text_bytes<'a>(&'a self, texts: &TextColumn) -> impl Fn(u32) -> &'a [u8] + use<'a> {
        let (heap, offsets) = (self.slice(texts.heap), self.get(&texts.offsets));
        move |row| &heap[bounds(offsets, row as usize)]
    }

    /// Finds the row of a text in a column of ascending texts.
    pub(crate) fn find_text(&self, texts: &TextColumn, text: &str) -> Option<u32> {
        let text_of = self.text_bytes(texts);
        let (mut low, mut high) = (0, texts.rows());
        while low < high {
            let middle = low + (high - low) / 2;
            match text_of(middle).cmp(text.as_bytes()) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl ArchiveSection {
    /// Reads and verifies the section. Threads that need it at the same time for the first time may each read it.
    #[cold]
    fn read_now(&self, file: &File) -> io::Result<&[u8]> {
        let mut sha256 = Sha256::new();
        let bytes = AlignedBytes::read_at(file, self.place.clone(), |part| sha256.update(part))?;
        if !self.matches(sha256) {
            return Err(changed("tables.bin"));
        }
        Ok(self.read.get_or_init(|| bytes).as_ref())
    }

    fn matches(&self, hashed: Sha256) -> bool {
        Sha256Sum::from(hashed.finalize()) == self.sha256
    }
}

/// Error for a file of a release that no longer has its known checksums.
pub(crate) fn changed(file: &str) -> io::Error {
    let message = format!(
        "{file} is damaged or was changed: check its release with `indexer verify`, and publish it again with `indexer build`"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The range of element `index` in a list of offsets; panics if there is no such element.
pub(crate) fn bounds(offsets: &[u64], index: usize) -> Range<usize> {
    offsets[index] as usize..offsets[index + 1] as usize
}

pub(crate) fn are_offsets(offsets: &[u64], end: usize) -> bool {
    offsets.is_sorted() && offsets.first() == Some(&0) && offsets.last() == Some(&(end as u64))
}

#[cfg(test)]
mod tests {
    use super::writer::Sections;
    use super::*;

    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ArchiveWriter::new(&mut bytes).unwrap();
        writer.section("numbers", &[1_u32, 2, 3]).unwrap();
        let mut names = Sections::default();
        names.add_texts("names", ["", "ä", "bc"].into_iter());
        writer.append(names).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Archive, ArchiveError> {
        Archive::open(Arc::new(AlignedBytes::copy(bytes)), Checksums::Verify)
    }

    #[test]
    fn written_sections_are_read_back() {
        let archive = open(&sample()).unwrap();
        let numbers = archive.column::<u32>("numbers", 3).unwrap();
        assert_eq!(archive.get(&numbers), [1, 2, 3]);
        let names = archive.texts("names", 3).unwrap();
        assert_eq!([0, 1, 2].map(|row| archive.text(&names, row)), ["", "ä", "bc"]);
        assert!(archive.column::<u32>("numbers", 4).is_err());
        assert!(archive.column::<u32>("letters", 3).is_err());
    }

    #[test]
    fn texts_that_are_not_utf_8_are_rejected_at_open() {
        for (heap, offsets) in [(&b"a\xff"[..], [0_u64, 1, 2]), ("ä".as_bytes(), [0, 1, 2]), (b"ab", [0, 2, 1])] {
            let mut bytes = Vec::new();
            let mut writer = ArchiveWriter::new(&mut bytes).unwrap();
            writer.section("names", heap).unwrap();
            writer.section("names#", &offsets).unwrap();
            writer.finish().unwrap();
            let archive = open(&bytes).unwrap();
            let checked = archive.check_texts(&archive.texts("names", 2).unwrap());
            assert!(matches!(checked, Err(ArchiveError::Damaged(_))), "{heap:?}");
        }
    }

    #[test]
    fn another_format_is_rejected_with_the_way_to_rebuild() {
        let mut bytes = sample();
        bytes[8] = 1;
        let message = open(&bytes).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "archive format 1 was built by another version (this one reads format {FORMAT}); rebuild with `indexer build`"
            )
        );
    }

    #[test]
    fn every_flipped_byte_and_every_truncation_is_detected() {
        let bytes = sample();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 0x10;
            let padding = open(&changed).is_ok();
            if padding {
                // Only bytes outside the sections may differ: the reserved ends of head and tail, and the padding.
                let archive = open(&changed).unwrap();
                let inside = archive.sections.iter().any(|section| section.place.contains(&index));
                assert!(!inside, "byte {index}");
            }
            assert!(open(&bytes[..index]).is_err(), "truncated at {index}");
        }
    }
}
