//! What a server spent of its leases, in a file that outlives the process.
//!
//! The store knows how many units a server leased under a number, the *record*; the file knows how many of them are spent.
//! So the next server in the same data folder gives back exactly what a killed one held. A unit is noted before its
//! request is admitted: a kill in between counts a request that nobody answered, and never admits one twice.
//!
//! What is written is in the memory of the system, which survives a kill, but no crash of the machine. A journal of an
//! earlier boot is therefore worth nothing, and what it is about stays taken until midnight.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::sqlite::files;

const FOLDER: &str = "leases";
const MAGIC: &[u8; 16] = b"venturedex lease";
/// The magic number, the server and the boot.
const HEADER: usize = 64;
/// A record and the units spent, both as little-endian numbers of 64 bits; 0 and 0 if the place is free.
const ENTRY: usize = 16;

/// The journal of this server.
#[derive(Debug)]
pub(crate) struct LeaseJournal {
    pub(super) file: File,
    places: Mutex<JournalPlaces>,
}

#[derive(Debug, Default)]
struct JournalPlaces {
    free: Vec<u64>,
    /// Places in the file, used and free ones.
    count: u64,
    /// Records are numbered from 1, and never used again.
    last_record: i64,
}

/// A record of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JournalRecord {
    pub(crate) number: i64,
    place: u64,
}

impl LeaseJournal {
    /// Starts a journal below the data folder, which the caller has locked.
    pub(crate) fn create(data: &Path, server: i64, boot: &str) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        files::folder().recursive(true).create(&folder)?;
        let path = folder.join(format!("{:016x}", server.cast_unsigned()));
        let file = files::owner_only().create_new(true).open(path)?;
        write_at(&file, &header(server, boot), 0)?;
        Ok(Self { file, places: Mutex::default() })
    }

    pub(crate) fn add(&self) -> io::Result<JournalRecord> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.free.last().copied().unwrap_or(places.count);
        let record = JournalRecord { number: places.last_record + 1, place };
        self.write(record.place, record.number, 0)?;
        places.last_record = record.number;
        if places.free.pop().is_none() {
            places.count += 1;
        }
        Ok(record)
    }

    pub(crate) fn set_spent(&self, record: JournalRecord, spent: i64) -> io::Result<()> {
        self.write(record.place, record.number, spent)
    }

    /// Frees the place of a record of which the store knows no more. If it cannot be written, the place is left.
    pub(crate) fn remove(&self, record: JournalRecord) {
        if self.write(record.place, 0, 0).is_ok() {
            self.places.lock().unwrap_or_else(PoisonError::into_inner).free.push(record.place);
        }
    }

    /// An entry never crosses a page of memory, so that a kill leaves it as it was or as it becomes.
    fn write(&self, place: u64, record: i64, spent: i64) -> io::Result<()> {
        let mut entry = [0; ENTRY];
        entry[..8].copy_from_slice(&record.to_le_bytes());
        entry[8..].copy_from_slice(&spent.to_le_bytes());
        write_at(&self.file, &entry, HEADER as u64 + place * ENTRY as u64)
    }
}

/// The journal of a server that has used the data folder before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EarlierJournal {
    pub(crate) path: PathBuf,
    pub(crate) server: i64,
    /// Units by record.
    pub(crate) spent: HashMap<i64, i64>,
}

impl EarlierJournal {
    /// Reads the journals of this boot below the data folder, and deletes those of earlier ones.
    pub(crate) fn read_all(data: &Path, boot: &str) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(data.join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut journals = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let bytes = fs::read(&path)?;
            match Self::parse(&bytes, boot) {
                Some((server, spent)) => journals.push(Self { path, server, spent }),
                None => fs::remove_file(&path)?,
            }
        }
        Ok(journals)
    }

    /// `None` if the journal is of another boot, or its server was killed before it wrote the header.
    fn parse(bytes: &[u8], boot: &str) -> Option<(i64, HashMap<i64, i64>)> {
        let (head, entries) = bytes.split_at_checked(HEADER)?;
        let server = i64::from_le_bytes(head[16..24].try_into().ok()?);
        if head != header(server, boot) {
            return None;
        }
        let (entries, _) = entries.as_chunks::<ENTRY>();
        let numbers = entries.iter().map(|entry| {
            let (record, spent) = entry.split_at(8);
            [record, spent].map(|bytes| bytes.try_into().map_or(0, i64::from_le_bytes))
        });
        let spent = numbers.filter(|[record, _]| *record != 0).map(|[record, spent]| (record, spent)).collect();
        Some((server, spent))
    }
}

fn header(server: i64, boot: &str) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..16].copy_from_slice(MAGIC);
    header[16..24].copy_from_slice(&server.to_le_bytes());
    let boot = &boot.as_bytes()[..boot.len().min(HEADER - 24)];
    header[24..24 + boot.len()].copy_from_slice(boot);
    header
}

/// Identifies the time since the start of the machine. `None` if the system does not tell.
pub(crate) fn boot() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned()).filter(|boot| !boot.is_empty())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Only systems that tell their [`boot`] have journals.
#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_tells_what_was_spent_under_its_records_and_one_of_another_boot_tells_nothing() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(EarlierJournal::read_all(data.path(), "a").unwrap(), []);
        let journal = LeaseJournal::create(data.path(), -7, "a").unwrap();
        let [one, two, three] = [(); 3].map(|()| journal.add().unwrap());
        journal.set_spent(one, 5).unwrap();
        journal.set_spent(two, -1).unwrap();
        journal.set_spent(three, 9).unwrap();
        journal.set_spent(one, 250).unwrap();
        journal.remove(three);
        let four = journal.add().unwrap();
        assert_eq!((four.number, four.place), (4, three.place), "the place is used again, the number is not");
        let read = || EarlierJournal::read_all(data.path(), "a").unwrap();
        let found = read();
        assert_eq!(found.iter().map(|found| found.server).collect::<Vec<_>>(), [-7]);
        assert_eq!(found[0].spent, HashMap::from([(1, 250), (2, -1), (4, 0)]));
        // A file that was begun, and one of another boot.
        let folder = data.path().join(FOLDER);
        fs::write(folder.join("0000000000000001"), &MAGIC[..9]).unwrap();
        drop(LeaseJournal::create(data.path(), 2, "b").unwrap());
        assert_eq!(read(), found);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "they are deleted");
        assert_eq!(EarlierJournal::read_all(data.path(), "b").unwrap(), []);
    }
}
