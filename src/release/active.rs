//! What is served: the one pointer that is swapped when a release is.
//!
//! A request takes `current()` once, at its start, and keeps it to its end, so that no answer mixes two releases. The
//! releases served before stay for the cursors that began there.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, Guard};

use crate::data::SnapshotVersion;

/// How many releases are kept beside the one that is served, unless the settings say otherwise.
pub const DEFAULT_KEEP: usize = 3;

/// What has a snapshot's version.
pub trait HasVersion {
    /// The version.
    fn version(&self) -> SnapshotVersion;
}

/// The release that is served, and those kept for cursors.
pub struct ActiveRelease<T> {
    served: ArcSwap<Served<T>>,
    keep: usize,
    swaps: AtomicU64,
    refusals: AtomicU64,
}

struct Served<T> {
    current: LoadedRelease<T>,
    /// The others, the last served first.
    held: Vec<LoadedRelease<T>>,
}

pub(crate) struct LoadedRelease<T> {
    pub(crate) item: Arc<T>,
    /// The snapshot that is part of the program; a release of the index may have the same version.
    pub(crate) bundled: bool,
}

/// The release that was served when it was asked for. A thread has room for a few of these.
pub struct Serving<T>(Guard<Arc<Served<T>>>);

impl<T> Deref for Serving<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.0.current.item
    }
}

impl<T> Clone for LoadedRelease<T> {
    fn clone(&self) -> Self {
        Self { item: Arc::clone(&self.item), bundled: self.bundled }
    }
}

impl<T: HasVersion> ActiveRelease<T> {
    /// Serves `current`, and keeps up to `keep` of the releases served before it.
    #[must_use]
    pub fn new(current: Arc<T>, keep: usize) -> Self {
        Self::with(LoadedRelease { item: current, bundled: false }, Vec::new(), keep)
    }

    pub(crate) fn with(current: LoadedRelease<T>, mut held: Vec<LoadedRelease<T>>, keep: usize) -> Self {
        held.truncate(keep);
        let served = ArcSwap::from_pointee(Served { current, held });
        Self { served, keep, swaps: AtomicU64::new(0), refusals: AtomicU64::new(0) }
    }

    /// What is served now.
    #[must_use]
    pub fn current(&self) -> Arc<T> {
        Arc::clone(&self.serving())
    }

    /// The same, for what does not wait: counting its holders, all of them together, costs more than to read from it.
    #[must_use]
    pub fn serving(&self) -> Serving<T> {
        Serving(self.served.load())
    }

    /// The release of this version, where it is served or kept.
    #[must_use]
    pub fn loaded(&self, version: SnapshotVersion) -> Option<Arc<T>> {
        let served = self.served.load();
        let mut all = std::iter::once(&served.current).chain(&served.held);
        all.find(|held| held.item.version() == version).map(|held| Arc::clone(&held.item))
    }

    /// All that can be asked: the release that is served, then those kept, the last served first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<T>> {
        let served = self.served.load();
        std::iter::once(&served.current).chain(&served.held).map(|held| Arc::clone(&held.item)).collect()
    }

    /// Serves `next` from now on. What was served is kept; the one kept longest goes when there are too many.
    pub fn replace(&self, next: Arc<T>) {
        let next = LoadedRelease { item: next, bundled: false };
        self.served.rcu(|served| {
            let version = next.item.version();
            let others = std::iter::once(&served.current).chain(&served.held);
            let held = others.filter(|held| held.item.version() != version).take(self.keep).cloned().collect();
            Served { current: next.clone(), held }
        });
        self.swaps.fetch_add(1, Ordering::Relaxed);
    }

    /// How often another release was taken up since the start.
    #[must_use]
    pub fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }

    /// How often a release was refused since the start.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    pub(crate) fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// True where a release of the index, and not the bundled snapshot, of this version is served.
    pub(crate) fn serves(&self, version: SnapshotVersion) -> bool {
        let served = self.served.load();
        !served.current.bundled && served.current.item.version() == version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct GenerationId(u32);

    impl HasVersion for GenerationId {
        fn version(&self) -> SnapshotVersion {
            version(self.0)
        }
    }

    fn version(counter: u32) -> SnapshotVersion {
        format!("2026-11-20.{counter}").parse().unwrap()
    }

    fn numbers(live: &ActiveRelease<GenerationId>) -> Vec<u32> {
        live.all().iter().map(|item| item.0).collect()
    }

    #[test]
    fn the_last_three_stay_for_their_cursors() {
        let live = ActiveRelease::new(Arc::new(GenerationId(1)), DEFAULT_KEEP);
        for counter in 2..=5 {
            live.replace(Arc::new(GenerationId(counter)));
        }
        assert_eq!(numbers(&live), [5, 4, 3, 2]);
        assert!(
            live.loaded(version(1)).is_none() && live.loaded(version(2)).is_some() && live.loaded(version(5)).is_some()
        );
        assert_eq!(live.swaps(), 4);
    }

    #[test]
    fn switching_back_keeps_what_was_served_and_holds_nothing_twice() {
        let live = ActiveRelease::new(Arc::new(GenerationId(1)), 2);
        for counter in [2, 1, 2, 2, 3, 1] {
            live.replace(Arc::new(GenerationId(counter)));
        }
        assert_eq!(numbers(&live), [1, 3, 2]);
    }

    #[test]
    fn a_request_keeps_what_it_took_through_a_swap() {
        let live = ActiveRelease::new(Arc::new(GenerationId(1)), 0);
        let taken = live.current();
        live.replace(Arc::new(GenerationId(2)));
        assert_eq!((taken.0, live.current().0), (1, 2));
        assert!(live.loaded(version(1)).is_none());
    }

    #[test]
    fn readers_never_see_a_release_missing_while_it_is_swapped() {
        let live = ActiveRelease::new(Arc::new(GenerationId(1)), 1);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                for _ in 0..20_000 {
                    // Two releases take turns, and one is kept: both can always be asked.
                    assert!(live.loaded(version(1)).is_some());
                    let all = live.all();
                    assert!(all.len() == 1 || all[0].0 != all[1].0);
                }
            });
            for turn in 0..2_000 {
                live.replace(Arc::new(GenerationId(2 - turn % 2)));
            }
            reader.join().unwrap();
        });
    }
}
