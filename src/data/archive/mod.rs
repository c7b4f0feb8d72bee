//! The archive of a snapshot, `tables.bin`: named sections of plain little-endian numbers and bytes. The texts of records are
//! apart from it ([`records`]).
//!
//! Layout: a head of 64 bytes (magic, format), the sections, each at a multiple of 64 bytes, then the table of contents
//! and a tail of 64 bytes with its position. The same reader over `&[u8]` is used for the embedded snapshot and a file that was
//! read; opening copies nothing, but checks that columns have the expected lengths and texts are UTF-8.

pub(crate) mod column_writer;
pub mod facet_column;
pub mod none;
pub(crate) mod own_columns;
pub mod record_text;
pub mod records;
pub(crate) mod table_columns;
mod writer;

pub(crate) use writer::Writer;

use std::collections::HashMap;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::thread::{self, Builder};

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

#[cfg(target_endian = "big")]
compile_error!("the archive is little-endian and its columns are used in place");

/// The archive's format; readers open only their own format.
pub const FORMAT: u32 = 7;

const ALIGN: usize = 64;
const HEAD: [u8; 8] = *b"VDXTABLE";
const TAIL: [u8; 8] = *b"VDXINDEX";
const NAME: usize = 40;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Entry {
    name: [u8; NAME],
    start: u64,
    length: u64,
    checksum: u64,
}

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
    /// Truncated, changed or inconsistent.
    #[error("archive is damaged: {0}")]
    Damaged(String),
}

/// The bytes an archive is read from: embedded or in memory.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Whether sections are checked against their checksums when an archive is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Read everything once and compare.
    Verify,
    /// For bytes that are part of the program, or of a file that was verified already.
    Trust,
}

pub(crate) struct Archive {
    bytes: Bytes,
    sections: HashMap<String, Range<usize>>,
    content: u64,
}

/// The position of a column of numbers.
#[derive(Debug)]
pub(crate) struct Column<T> {
    range: Range<usize>,
    kind: PhantomData<T>,
}

/// The position of a column of texts.
#[derive(Debug)]
pub(crate) struct Texts {
    heap: Range<usize>,
    offsets: Column<u64>,
}

impl<T: Pod> Column<T> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.range.len() / size_of::<T>()
    }
}

impl Archive {
    pub(crate) fn open(bytes: Bytes, checksums: Checksums) -> Result<Self, ArchiveError> {
        let all: &[u8] = (*bytes).as_ref();
        let frame_size = size_of::<Frame>();
        let head: Frame = frame(all.get(..frame_size).ok_or(ArchiveError::NotAnArchive)?);
        if head.magic != HEAD {
            return Err(ArchiveError::NotAnArchive);
        }
        if head.format != FORMAT {
            return Err(ArchiveError::OtherFormat { found: head.format });
        }
        let damaged = |reason: &str| ArchiveError::Damaged(reason.to_owned());
        if !(all.as_ptr() as usize).is_multiple_of(ALIGN) {
            return Err(damaged("not aligned to 64 bytes"));
        }
        let end = all.len() - frame_size;
        let tail: Frame = frame(&all[end..]);
        let size = (tail.entries as usize).checked_mul(size_of::<Entry>());
        let start = usize::try_from(tail.contents).ok();
        let contents = start.zip(size).and_then(|(start, size)| all.get(start..start.checked_add(size)?));
        let contents = contents.filter(|_| tail.magic == TAIL).ok_or_else(|| damaged("truncated"))?;
        if xxh3_64(contents) != tail.contents_checksum {
            return Err(damaged("table of contents"));
        }
        let mut sections = HashMap::with_capacity(tail.entries as usize);
        for entry in contents.chunks_exact(size_of::<Entry>()) {
            let entry: Entry = bytemuck::pod_read_unaligned(entry);
            let length = entry.name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
            let name = String::from_utf8_lossy(&entry.name[..length]).into_owned();
            let (start, length) = (entry.start as usize, entry.length as usize);
            let range = start..start.checked_add(length).ok_or_else(|| damaged(&name))?;
            let section = all.get(range.clone()).ok_or_else(|| damaged(&name))?;
            if !start.is_multiple_of(ALIGN) || (checksums == Checksums::Verify && xxh3_64(section) != entry.checksum) {
                return Err(damaged(&format!("section {name}")));
            }
            sections.insert(name, range);
        }
        Ok(Self { bytes, sections, content: tail.contents_checksum })
    }

    /// A checksum of the checksums of all sections.
    pub(crate) fn content(&self) -> u64 {
        self.content
    }

    fn all(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, u64)> {
        self.sections.iter().map(|(name, range)| (name.as_str(), range.len() as u64))
    }

    pub(crate) fn slice(&self, range: &Range<usize>) -> &[u8] {
        &self.all()[range.clone()]
    }

    pub(crate) fn range(&self, name: &str) -> Result<Range<usize>, ArchiveError> {
        self.sections.get(name).cloned().ok_or_else(|| ArchiveError::Damaged(format!("section {name} is missing")))
    }

    /// The column of `rows` numbers.
    pub(crate) fn column<T: Pod>(&self, name: &str, rows: usize) -> Result<Column<T>, ArchiveError> {
        let column = self.open_column(name)?;
        if self.get(&column).len() != rows {
            return Err(ArchiveError::Damaged(format!("section {name} does not have {rows} values")));
        }
        Ok(column)
    }

    /// The column of any number of numbers.
    pub(crate) fn open_column<T: Pod>(&self, name: &str) -> Result<Column<T>, ArchiveError> {
        let range = self.range(name)?;
        let column = Column { range, kind: PhantomData };
        if !column.range.len().is_multiple_of(size_of::<T>()) {
            return Err(ArchiveError::Damaged(format!("section {name}: length is not a multiple of the element size")));
        }
        Ok(column)
    }

    /// The column of `rows` texts; checks that its offsets ascend and each text is UTF-8.
    pub(crate) fn texts(&self, name: &str, rows: usize) -> Result<Texts, ArchiveError> {
        let heap = self.range(name)?;
        let offsets: Column<u64> = self.column(&format!("{name}#"), rows + 1)?;
        let ends = self.get(&offsets);
        let damaged = || ArchiveError::Damaged(format!("section {name} is not a list of UTF-8 texts"));
        check_offsets(ends, heap.len()).map_err(|()| damaged())?;
        let text = std::str::from_utf8(self.slice(&heap)).map_err(|_| damaged())?;
        if !ends.iter().all(|end| text.is_char_boundary(*end as usize)) {
            return Err(damaged());
        }
        Ok(Texts { heap, offsets })
    }

    pub(crate) fn get<T: Pod>(&self, column: &Column<T>) -> &[T] {
        bytemuck::try_cast_slice(self.slice(&column.range)).expect("checked at open")
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8], ArchiveError> {
        Ok(self.slice(&self.range(name)?))
    }

    /// The text of a row; panics if the column does not have the row.
    pub(crate) fn text(&self, texts: &Texts, row: u32) -> &str {
        let bytes = &self.slice(&texts.heap)[bounds(self.get(&texts.offsets), row as usize)];
        std::str::from_utf8(bytes).expect("checked at open")
    }
}

impl Archive {
    /// The row with a text, of a column of `rows` texts that ascend.
    pub(crate) fn find_text(&self, texts: &Texts, rows: u32, text: &str) -> Option<u32> {
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text(texts, middle).cmp(text) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// The range of element `index` in a list of offsets; panics if there is no such element.
pub(crate) fn bounds(offsets: &[u64], index: usize) -> Range<usize> {
    offsets[index] as usize..offsets[index + 1] as usize
}

/// Checks that offsets ascend from 0 to `end`.
pub(crate) fn check_offsets(offsets: &[u64], end: usize) -> Result<(), ()> {
    let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    let complete = offsets.first() == Some(&0) && offsets.last() == Some(&(end as u64));
    if ascending && complete { Ok(()) } else { Err(()) }
}

fn frame(bytes: &[u8]) -> Frame {
    bytemuck::pod_read_unaligned(bytes)
}

/// Bytes in memory, aligned to 64 bytes as an archive requires.
pub struct AlignedBytes {
    blocks: Vec<Block>,
    length: usize,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Block([u8; ALIGN]);

impl AlignedBytes {
    pub fn copy(bytes: &[u8]) -> Self {
        let mut blocks = vec![Block([0; ALIGN]); bytes.len().div_ceil(ALIGN)];
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        Self { blocks, length: bytes.len() }
    }

    /// Reads `length` bytes, or fewer if `source` ends before. `each` gets all of them, part by part, in another thread: to
    /// compute their checksum takes longer than to read them.
    pub fn read(source: &mut dyn Read, length: usize, mut each: impl FnMut(&[u8]) + Send) -> io::Result<Self> {
        const PART: usize = 1 << 20;
        // Fails, unlike `vec!`, if there is no such memory, and leaves it untouched.
        let blocks = bytemuck::allocation::try_zeroed_vec(length.div_ceil(ALIGN));
        let mut blocks: Vec<Block> = blocks.map_err(|()| io::ErrorKind::OutOfMemory)?;
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut blocks)[..length];
        let length = thread::scope(|scope| {
            let (sender, parts) = mpsc::channel::<&[u8]>();
            Builder::new().spawn_scoped(scope, move || parts.iter().for_each(&mut each))?;
            let mut total = 0;
            for part in bytes.chunks_mut(PART) {
                let filled = fill(source, part)?;
                let is_last = filled < part.len();
                total += filled;
                // If the other thread has panicked, so does this one at the end of the scope.
                let _ = sender.send(&part[..filled]);
                if is_last {
                    break;
                }
            }
            Ok::<_, io::Error>(total)
        })?;
        Ok(Self { blocks, length })
    }
}

/// Reads until `part` is full or the source ends. Returns the number of bytes.
fn fill(source: &mut dyn Read, part: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < part.len() {
        match source.read(&mut part[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.blocks)[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes at a time, with interruptions.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let end = out.len().min(self.1 * 1_000);
            self.0.read(&mut out[..end])
        }
    }

    #[test]
    fn bytes_are_read_aligned_and_in_parts() {
        for length in [0, 1, 63, 64, 65, (1 << 20) - 1, 1 << 20, (2 << 20) + 77] {
            let bytes: Vec<u8> = (0..length).map(|place| (place * 31 % 251) as u8).collect();
            for wanted in [length, length + 1, length / 2] {
                let mut parts = Vec::new();
                let read =
                    AlignedBytes::read(&mut Slow(&bytes, 0), wanted, |part| parts.extend_from_slice(part)).unwrap();
                let all: &[u8] = read.as_ref();
                assert!(all == &bytes[..wanted.min(length)] && parts == all, "{wanted} of {length}");
                assert!((all.as_ptr() as usize).is_multiple_of(ALIGN));
            }
        }
        assert!(AlignedBytes::read(&mut io::empty(), usize::MAX / 2, |_| {}).is_err(), "more than there is memory");
    }

    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        writer.section("numbers", &[1_u32, 2, 3]).unwrap();
        writer.texts("names", ["", "ä", "bc"].into_iter()).unwrap();
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
            let mut writer = Writer::new(&mut bytes).unwrap();
            writer.section("names", heap).unwrap();
            writer.section("names#", &offsets).unwrap();
            writer.finish().unwrap();
            assert!(matches!(open(&bytes).unwrap().texts("names", 2), Err(ArchiveError::Damaged(_))), "{heap:?}");
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
                let inside = archive.sections.values().any(|range| range.contains(&index));
                assert!(!inside, "byte {index}");
            }
            assert!(open(&bytes[..index]).is_err(), "truncated at {index}");
        }
    }
}
