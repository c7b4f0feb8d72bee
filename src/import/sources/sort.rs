//! Sorts more records than fit into memory: writes sorted runs to temporary files and merges them on reading.
//!
//! Existing crates serialize values one by one, which takes about four times as long as one buffer of bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Bytes of records in memory before they are written as a run.
const BUDGET: usize = 48 << 20;

/// Runs that are read at the same time. If there are more, the earliest are merged first.
const MAX_RUNS: usize = 64;

/// Collects records of a key and a value, and sorts them by key. The sort is stable.
pub(crate) struct Sorter {
    folder: PathBuf,
    budget: usize,
    bytes: Vec<u8>,
    records: Vec<SortRecord>,
    runs: Vec<File>,
}

pub(crate) struct SortRecord {
    /// Eight bytes of the key, by which it is compared with keys that are equal before them.
    part: u64,
    start: u32,
    key: u32,
    value: u32,
}

impl Sorter {
    /// Creates a sorter with temporary files in `folder`. They are unnamed and vanish with the sorter.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), budget: BUDGET, bytes: Vec::new(), records: Vec::new(), runs: Vec::new() }
    }

    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let size = key.len() + value.len() + size_of::<SortRecord>();
        let used = self.bytes.len() + self.records.len() * size_of::<SortRecord>();
        if used + size > self.budget && !self.records.is_empty() {
            self.spill()?;
        }
        let length = |length: usize| u32::try_from(length).map_err(|_| io::Error::other("a record of more than 4 GiB"));
        self.records.push(SortRecord {
            part: part_of(key, 0),
            start: length(self.bytes.len())?,
            key: length(key.len())?,
            value: length(value.len())?,
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<SortedRecords> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(SortedRecords::Memory { bytes: self.bytes, records: self.records, next: 0 });
        }
        self.spill()?;
        // Free the buffer before the runs are merged.
        let (folder, mut runs) = (self.folder, self.runs);
        drop((self.bytes, self.records));
        while runs.len() > MAX_RUNS {
            let rest = runs.split_off(MAX_RUNS);
            let mut merge = Merge::new(runs)?;
            let mut out = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(&folder)?);
            while let Some((key, value)) = merge.next()? {
                write_record(&mut out, key, value)?;
            }
            // The merged run holds the earliest records, so that it comes first.
            runs = vec![out.into_inner().map_err(io::IntoInnerError::into_error)?];
            runs.extend(rest);
        }
        Ok(SortedRecords::Merge(Merge::new(runs)?))
    }

    fn sort(&mut self) {
        sort_by_part(&self.bytes, &mut self.records, 0);
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut out = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(&self.folder)?);
        for record in &self.records {
            let (key, value) = split_record(&self.bytes, record);
            write_record(&mut out, key, value)?;
        }
        self.runs.push(out.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.bytes.clear();
        self.records.clear();
        Ok(())
    }
}

/// Eight bytes of a key from `start` on, as a number that sorts like them. Behind its end are zeros.
fn part_of(key: &[u8], start: usize) -> u64 {
    let mut part = [0; PART];
    let rest = key.get(start..).unwrap_or_default();
    let known = rest.len().min(PART);
    part[..known].copy_from_slice(&rest[..known]);
    u64::from_be_bytes(part)
}

const PART: usize = 8;

/// Fewest records with an equal part for which it is worth reading the next part of each key.
const MANY: usize = 16;

/// Bytes of keys that are compared by parts. What follows is compared as a whole, so that long keys nest no deeper.
const BY_PARTS: usize = 64;

/// Sorts records whose keys are equal before `start`, by the part there, and those with an equal part by what follows. Most
/// keys begin alike, and a look at each key is slow.
fn sort_by_part(bytes: &[u8], records: &mut [SortRecord], start: usize) {
    let key = |record: &SortRecord| &bytes[record.start as usize..][..record.key as usize];
    records.sort_by_key(|record| record.part);
    let next = start + PART;
    for equal in records.chunk_by_mut(|left, right| left.part == right.part).filter(|equal| equal.len() > 1) {
        // A zero may be a byte of a key, or its end.
        if equal.len() < MANY || next >= BY_PARTS || equal.iter().any(|record| (record.key as usize) <= next) {
            equal.sort_by(|left, right| key(left)[start..].cmp(&key(right)[start..]));
            continue;
        }
        equal.iter_mut().for_each(|record| record.part = part_of(key(record), next));
        sort_by_part(bytes, equal, next);
    }
}

fn split_record<'a>(bytes: &'a [u8], record: &SortRecord) -> (&'a [u8], &'a [u8]) {
    bytes[record.start as usize..][..(record.key + record.value) as usize].split_at(record.key as usize)
}

fn write_record(out: &mut impl Write, key: &[u8], value: &[u8]) -> io::Result<()> {
    out.write_all(&(key.len() as u32).to_le_bytes())?;
    out.write_all(&(value.len() as u32).to_le_bytes())?;
    out.write_all(key)?;
    out.write_all(value)
}

/// Adds a text, after its length.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// Takes the first text; `None` at the end.
pub(crate) fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

pub(crate) enum SortedRecords {
    Memory { bytes: Vec<u8>, records: Vec<SortRecord>, next: usize },
    Merge(Merge),
}

impl SortedRecords {
    pub(crate) fn next(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        match self {
            Self::Memory { bytes, records, next } => {
                let record = records.get(*next);
                *next += 1;
                Ok(record.map(|record| split_record(bytes, record)))
            }
            Self::Merge(merge) => merge.next(),
        }
    }
}

pub(crate) struct Merge {
    runs: Vec<Run>,
    /// Next key of each run that has a record left, and the run. An earlier run has the earlier records.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// True if the first record was returned.
    is_taken: bool,
}

struct Run {
    file: BufReader<File>,
    value: Vec<u8>,
}

impl Run {
    /// Reads the next record; `false` at the end.
    fn advance(&mut self, key: &mut Vec<u8>) -> io::Result<bool> {
        let mut lengths = [0; 8];
        match self.file.read(&mut lengths[..1])? {
            0 => return Ok(false),
            _ => self.file.read_exact(&mut lengths[1..])?,
        }
        let [a, b, c, d, e, f, g, h] = lengths;
        key.resize(u32::from_le_bytes([a, b, c, d]) as usize, 0);
        self.value.resize(u32::from_le_bytes([e, f, g, h]) as usize, 0);
        self.file.read_exact(key)?;
        self.file.read_exact(&mut self.value)?;
        Ok(true)
    }
}

impl Merge {
    fn new(files: Vec<File>) -> io::Result<Self> {
        let mut merge = Self { runs: Vec::with_capacity(files.len()), heap: BinaryHeap::new(), is_taken: false };
        for mut file in files {
            file.rewind()?;
            let mut run = Run { file: BufReader::with_capacity(1 << 16, file), value: Vec::new() };
            let mut key = Vec::new();
            if run.advance(&mut key)? {
                merge.heap.push(Reverse((key, merge.runs.len())));
                merge.runs.push(run);
            }
        }
        Ok(merge)
    }

    fn next(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        if self.is_taken
            && let Some(mut first) = self.heap.peek_mut()
        {
            let Reverse((key, run)) = &mut *first;
            if !self.runs[*run].advance(key)? {
                PeekMut::pop(first);
            }
        }
        self.is_taken = true;
        Ok(self.heap.peek().map(|Reverse((key, run))| (&**key, &*self.runs[*run].value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_keys_that_begin_alike_are_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path());
        let long = "x".repeat(1 << 20);
        for number in (0..20).rev() {
            sorter.push(format!("{long}{number:02}").as_bytes(), &[number]).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        for number in 0..20 {
            assert_eq!(sorted.next().unwrap().map(|(_, value)| value), Some(&[number][..]));
        }
    }

    proptest! {
        #[test]
        fn records_are_sorted_by_key_and_keep_their_order(
            records in proptest::collection::vec(("(one:two:|one:two:three:)?[ab\u{0}]{0,10}", ".{0,9}"), 0..300),
            budget in 1_usize..4_000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter { budget, ..Sorter::new(folder.path()) };
            for (key, value) in &records {
                sorter.push(key.as_bytes(), value.as_bytes()).unwrap();
            }
            let mut expected = records.clone();
            expected.sort_by(|left, right| left.0.cmp(&right.0));
            let mut sorted = sorter.finish().unwrap();
            for (key, value) in &expected {
                let next = sorted.next().unwrap();
                prop_assert_eq!(next, Some((key.as_bytes(), value.as_bytes())));
            }
            prop_assert_eq!(sorted.next().unwrap(), None);
            prop_assert_eq!(sorted.next().unwrap(), None);
        }
    }
}
