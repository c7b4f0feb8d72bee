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

pub(crate) fn map(path: &Path) -> io::Result<Mapped> {
    let file = File::open(path)?;
    // The only unsafe code of the project. A map is unsafe because another process may change or truncate the file.
    // Files of a release are written once: the release gets its name only when they are complete and synced, the indexer
    // never writes to them afterwards, and it removes releases by unlinking, which leaves a map intact.
    #[allow(unsafe_code)]
    let map = unsafe { Mmap::map(&file)? };
    Ok(Mapped(map))
}
