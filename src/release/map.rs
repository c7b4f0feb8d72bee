//! The map of a release's tables into memory.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file mapped read-only.
pub(crate) struct Mapped(Mmap);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps the file at `path`.
pub(crate) fn map(path: &Path) -> io::Result<Mapped> {
    let file = File::open(path)?;
    // The one unsafe act of the project. A map is unsafe because another process may change or shorten the file under
    // it. Files of a release are written once: they get their name only when they are complete and synced, the indexer
    // never opens one again for writing, and it removes releases whole, by unlinking, which leaves a map intact.
    #[allow(unsafe_code)]
    let map = unsafe { Mmap::map(&file)? };
    Ok(Mapped(map))
}
