//! The snapshot that the program carries, compiled by `build.rs`.

use std::fmt;
use std::sync::Arc;

use crate::data::{ArchiveError, Checksums, Snapshot};
use crate::search::SearchError;

use crate::catalog::{Catalog, Texts};

/// The archive, at a place that its columns can be used in.
#[repr(C, align(64))]
struct Carried<B: ?Sized>(B);

static CARRIED: &Carried<[u8]> = &Carried(*include_bytes!(concat!(env!("OUT_DIR"), "/bundled.bin")));

struct Bytes;

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &CARRIED.0
    }
}

/// Why the carried snapshot cannot be served; it would be a fault of the build.
#[derive(Debug)]
pub enum BundledError {
    /// The archive is not as it was written.
    Archive(ArchiveError),
    /// The text index could not be made.
    Search(SearchError),
}

impl fmt::Display for BundledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(error) => write!(f, "bundled snapshot: {error}"),
            Self::Search(error) => write!(f, "bundled snapshot: {error}"),
        }
    }
}

impl std::error::Error for BundledError {}

/// Opens the bundled snapshot and makes its text indexes in memory.
///
/// # Errors
/// [`BundledError`] where the program was built wrongly.
pub fn bundled() -> Result<Catalog, BundledError> {
    let snapshot = Snapshot::open(Arc::new(Bytes), Checksums::Trust).map_err(BundledError::Archive)?;
    let texts = Texts::in_memory(&snapshot).map_err(BundledError::Search)?;
    Ok(Catalog::new(snapshot, texts))
}
