//! The bundled snapshot, compiled into the program by `build.rs`.

use std::sync::Arc;

use data::{ArchiveError, Checksums, Date, RecordStore, Snapshot};
use search::SearchError;

use crate::{Catalog, TextIndexes};

/// The archive, aligned so that its columns can be read in place.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static ARCHIVE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/bundled.bin")));

static RECORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bundled_records.bin"));

/// The bundled snapshot cannot be opened, because of a bug in the build.
#[derive(Debug, thiserror::Error)]
pub enum BundledError {
    #[error("bundled snapshot: {0}")]
    Archive(#[from] ArchiveError),
    #[error("bundled snapshot: {0}")]
    Search(#[from] SearchError),
}

fn open() -> Result<Snapshot, ArchiveError> {
    Snapshot::open(Arc::new(&ARCHIVE.0), RecordStore::Memory(Arc::new(RECORDS)), Checksums::Trust)
}

/// The day of the bundled snapshot. Builds no text indexes, which take much longer.
pub fn bundled_released_on() -> Result<Date, BundledError> {
    Ok(open()?.released_on())
}

pub fn bundled() -> Result<Catalog, BundledError> {
    let snapshot = open()?;
    let texts = TextIndexes::in_memory(&snapshot)?;
    Ok(Catalog { is_bundled: true, ..Catalog::new(snapshot, texts) })
}
