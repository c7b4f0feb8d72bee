//! The descriptions and reviews of a dataset, apart from its rows: the memory of a build does not grow with them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;

use crate::read_at::read_exact_at;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredText {
    start: u64,
    length: NonZeroU32,
}

pub struct TextStore {
    place: TextStorage,
    end: u64,
    /// The first failed write; since then texts are missing.
    failed: Option<io::Error>,
}

enum TextStorage {
    Memory(Vec<u8>),
    File(BufWriter<File>),
}

impl TextStore {
    /// Stores texts in a file that is empty and has no other writer; without one in memory.
    pub(crate) fn new(file: Option<File>) -> Self {
        let place = match file {
            Some(file) => TextStorage::File(BufWriter::with_capacity(1 << 16, file)),
            None => TextStorage::Memory(Vec::new()),
        };
        Self { place, end: 0, failed: None }
    }

    /// Adds a text; `None` if it is empty. After a failed write, no text can be read.
    pub(crate) fn add(&mut self, text: &str) -> Option<StoredText> {
        let length = NonZeroU32::new(u32::try_from(text.len()).ok()?)?;
        let written = match &mut self.place {
            TextStorage::Memory(bytes) => bytes.write_all(text.as_bytes()),
            TextStorage::File(file) => file.write_all(text.as_bytes()),
        };
        self.failed = self.failed.take().or(written.err());
        let start = self.end;
        self.end += u64::from(length.get());
        Some(StoredText { start, length })
    }

    pub(crate) fn finish(&mut self) {
        if let TextStorage::File(file) = &mut self.place {
            self.failed = self.failed.take().or(file.flush().err());
        }
    }

    /// Reads a text. Call it after [`TextStore::finish`]. Fails if the file could not be written or cannot be read.
    pub(crate) fn read(&self, text: StoredText) -> io::Result<Cow<'_, str>> {
        if let Some(error) = &self.failed {
            return Err(io::Error::new(error.kind(), format!("descriptions and reviews cannot be kept: {error}")));
        }
        let length = text.length.get() as usize;
        match &self.place {
            TextStorage::Memory(bytes) => {
                let bytes = &bytes[text.start as usize..][..length];
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(io::Error::other)
            }
            TextStorage::File(file) => {
                let mut bytes = vec![0; length];
                read_exact_at(file.get_ref(), &mut bytes, text.start)?;
                String::from_utf8(bytes).map(Cow::Owned).map_err(io::Error::other)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn texts_are_read_back_from_memory_and_from_a_file() {
        let long = "ä".repeat(100_000);
        for mut store in [TextStore::new(None), TextStore::new(Some(tempfile::tempfile().unwrap()))] {
            assert_eq!(store.add(""), None);
            let stored = ["a", &long, "b c"].map(|text| (text, store.add(text).unwrap()));
            store.finish();
            for (text, stored) in stored.into_iter().rev() {
                assert_eq!(store.read(stored).unwrap(), text);
            }
        }
    }

    #[test]
    fn no_text_is_read_if_one_could_not_be_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read_only = OpenOptions::new().read(true).open(file.path()).unwrap();
        let mut store = TextStore::new(Some(read_only));
        let stored = [&"a".repeat(1 << 17), "b"].map(|text| store.add(text).unwrap());
        store.finish();
        assert!(stored.into_iter().all(|text| store.read(text).is_err()));
    }
}
