//! Values owned by each runtime thread.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// Maximum number of parts; further threads share them.
const MAX_PARTS: usize = 16;

/// One `T` per runtime thread. State changed by all threads would move between processors with every request.
pub struct PerThread<T>(Box<[Padded<T>]>);

/// Two cache lines, because processors fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Padded<T>(T);

thread_local! {
    /// Number of this thread, in order of first use.
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

impl<T> PerThread<T> {
    /// Creates the parts; `part` gets their number.
    pub fn new(part: impl Fn(usize) -> T) -> Self {
        let parts = available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_PARTS);
        Self((0..parts).map(|_| Padded(part(parts))).collect())
    }

    pub fn own(&self) -> &T {
        &self.0[self.own_position()].0
    }

    pub fn others(&self) -> impl Iterator<Item = &T> {
        let own = self.own_position();
        self.0.iter().enumerate().filter(move |(position, _)| *position != own).map(|(_, part)| &part.0)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|part| &part.0)
    }

    fn own_position(&self) -> usize {
        THREAD.with(|thread| thread % self.0.len())
    }
}

impl<T: Default> Default for PerThread<T> {
    fn default() -> Self {
        Self::new(|_| T::default())
    }
}
