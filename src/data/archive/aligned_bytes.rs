use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc;
use std::thread::{self, Builder};

use bytemuck::{Pod, Zeroable};

use crate::archive::ALIGN;
use crate::read_at::read_exact_at;

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

    /// Allocates `length` zeros without touching the memory. Fails if there is not enough memory, unlike `vec!`.
    fn zeroed(length: usize) -> io::Result<Self> {
        let blocks = bytemuck::allocation::try_zeroed_vec(length.div_ceil(ALIGN));
        Ok(Self { blocks: blocks.map_err(|()| io::ErrorKind::OutOfMemory)?, length })
    }

    fn as_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.blocks)[..self.length]
    }

    /// Reads a range of a file. `each` gets the bytes chunk by chunk.
    pub(crate) fn read_at(file: &File, place: Range<usize>, mut each: impl FnMut(&[u8])) -> io::Result<Self> {
        // Chunks fit in the processor's cache.
        const PART: usize = 256 << 10;
        let mut bytes = Self::zeroed(place.len())?;
        for (part, start) in bytes.as_mut().chunks_mut(PART).zip((place.start..).step_by(PART)) {
            read_exact_at(file, part, start as u64)?;
            each(part);
        }
        Ok(bytes)
    }

    /// Reads at most `length` bytes. `each` gets them in chunks on another thread: checksums take longer than reading.
    pub fn read(source: &mut dyn Read, length: usize, mut each: impl FnMut(&[u8]) + Send) -> io::Result<Self> {
        const PART: usize = 1 << 20;
        let mut read = Self::zeroed(length)?;
        let bytes = read.as_mut();
        read.length = thread::scope(|scope| {
            let (sender, parts) = mpsc::channel::<&[u8]>();
            Builder::new().spawn_scoped(scope, move || parts.iter().for_each(&mut each))?;
            let mut total = 0;
            for part in bytes.chunks_mut(PART) {
                let filled = fill(source, part)?;
                total += filled;
                // If the other thread has panicked, so does this one at the end of the scope.
                let _ = sender.send(&part[..filled]);
                // A file that grows meanwhile must leave no gap.
                if filled < PART {
                    break;
                }
            }
            Ok::<_, io::Error>(total)
        })?;
        Ok(read)
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

    /// Ends after a byte, and grows afterwards.
    struct Growing(usize);

    impl Read for Growing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 == 2 {
                return Ok(0);
            }
            out[0] = 1;
            Ok(1)
        }
    }

    #[test]
    fn nothing_is_read_behind_the_end_of_a_source_that_grows() {
        let read = AlignedBytes::read(&mut Growing(0), 2 << 20, |_| {}).unwrap();
        let all: &[u8] = read.as_ref();
        assert_eq!(all, [1]);
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
}
