//! The served release: a single pointer, swapped by [`ActiveRelease::replace`].
//!
//! A request takes `current()` once, so that no response mixes two releases. Earlier ones stay loaded for cursors.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::{ArcSwap, Guard};

use crate::remote::Replica;
use catalog::Catalog;
use data::{Date, SnapshotVersion};
use platform::clock::now;

pub struct ActiveRelease {
    served: ArcSwap<Served>,
    keep: usize,
    history: Mutex<ReleaseHistory>,
    is_damaged: AtomicBool,
    replica: OnceLock<Arc<Replica>>,
}

/// Events since the start.
#[derive(Clone, Debug, Default)]
pub struct ReleaseHistory {
    pub swaps: u64,
    pub rejections: u64,
    /// Number of times that files of the served release were changed or removed.
    pub file_changes: u64,
    pub last_rejection: Option<Rejection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Unix seconds.
    pub at: i64,
    pub reason: String,
}

struct Served {
    current: Arc<Catalog>,
    /// Start of serving, in Unix seconds.
    since: i64,
    /// Most recently served first.
    others: Vec<Arc<Catalog>>,
}

/// The release served at the time of the call. A thread should hold only a few of these at a time: more are slower.
pub struct Serving(Guard<Arc<Served>>);

impl Deref for Serving {
    type Target = Arc<Catalog>;

    fn deref(&self) -> &Arc<Catalog> {
        &self.0.current
    }
}

impl ActiveRelease {
    /// Serves `current`; up to `keep` previously served releases stay loaded.
    pub fn new(current: Arc<Catalog>, keep: usize) -> Self {
        Self::with(current, Vec::new(), keep)
    }

    pub(crate) fn with(current: Arc<Catalog>, mut others: Vec<Arc<Catalog>>, keep: usize) -> Self {
        others.truncate(keep);
        let served = ArcSwap::from_pointee(Served { current, since: now(), others });
        let history = Mutex::default();
        Self { served, keep, history, is_damaged: AtomicBool::new(false), replica: OnceLock::new() }
    }

    pub fn current(&self) -> Arc<Catalog> {
        Arc::clone(&self.serving())
    }

    /// Like [`ActiveRelease::current`], for code that does not wait: cheaper, because it changes no shared counter.
    pub fn serving(&self) -> Serving {
        Serving(self.served.load())
    }

    pub fn loaded(&self, version: SnapshotVersion) -> Option<Arc<Catalog>> {
        let served = self.served.load();
        let mut all = std::iter::once(&served.current).chain(&served.others);
        all.find(|loaded| loaded.version() == version).map(Arc::clone)
    }

    /// Follows an object store through `replica`, from which the releases come; no effect if there is a replica.
    pub fn follow(&self, replica: Arc<Replica>) {
        let _ = self.replica.set(replica);
    }

    pub fn replica(&self) -> Option<&Replica> {
        self.replica.get().map(Arc::as_ref)
    }

    /// The release of this version if it is loaded, and true if a missing one is still expected, because other replicas
    /// may serve it. With `is_served`, one of them serves it now or did.
    pub fn look_up(&self, version: SnapshotVersion, is_served: bool) -> (Option<Arc<Catalog>>, bool) {
        // In this order: a release no longer expected is loaded by now, or never will be.
        let is_expected = self.replica().is_some_and(|replica| replica.expects(version, is_served));
        (self.loaded(version), is_expected)
    }

    /// All loaded releases, most recently served first.
    pub fn all(&self) -> Vec<Arc<Catalog>> {
        let served = self.served.load();
        std::iter::once(&served.current).chain(&served.others).map(Arc::clone).collect()
    }

    /// The newest loaded release older than a version.
    pub fn before(&self, version: SnapshotVersion) -> Option<Arc<Catalog>> {
        let older = self.all().into_iter().filter(|loaded| loaded.version() < version && !loaded.is_bundled());
        older.max_by_key(|loaded| loaded.version())
    }

    /// The newest loaded release of a day or before. A release that was withdrawn is left out: an older one was served
    /// after it, or the served one was not built on it.
    pub fn as_of(&self, day: Date) -> Option<Arc<Catalog>> {
        let served = self.current();
        let mut lowest = None;
        let kept = self.all().into_iter().filter(|catalog| {
            let is_kept = lowest.is_none_or(|lowest| catalog.version() < lowest);
            lowest = if is_kept { Some(catalog.version()) } else { lowest };
            is_kept && served.was_built_on(catalog.version())
        });
        let until = kept.filter(|catalog| catalog.snapshot().released_on() <= day);
        until.max_by_key(|catalog| (catalog.snapshot().released_on(), catalog.version()))
    }

    /// Serves `next` from now on. If too many others are loaded, the one served longest ago is dropped. The bundled
    /// snapshot does not stay loaded: invented data is not listed with published data.
    pub fn replace(&self, next: Arc<Catalog>) {
        self.served.rcu(|served| {
            let version = next.version();
            let loaded = std::iter::once(&served.current).chain(&served.others);
            let others = loaded.filter(|other| other.version() != version && !other.is_bundled());
            Served { current: Arc::clone(&next), since: now(), others: others.take(self.keep).cloned().collect() }
        });
        self.lock_history().swaps += 1;
        self.is_damaged.store(false, Ordering::Relaxed);
    }

    /// Loads a release for its cursors, as if it had been served here after all older ones.
    pub(crate) fn add(&self, loaded: &Arc<Catalog>) {
        let version = loaded.version();
        self.served.rcu(|served| {
            let mut others = served.others.clone();
            if served.current.version() != version && others.iter().all(|other| other.version() != version) {
                let place = others.iter().position(|other| other.version() < version).unwrap_or(others.len());
                others.insert(place, Arc::clone(loaded));
                others.truncate(self.keep);
            }
            Served { current: Arc::clone(&served.current), since: served.since, others }
        });
    }

    /// Drops a release other than the served one. False if it is no longer loaded.
    pub(crate) fn drop_loaded(&self, dropped: &Arc<Catalog>) -> bool {
        let before = self.served.rcu(|served| {
            let others = served.others.iter().filter(|other| !Arc::ptr_eq(other, dropped)).cloned().collect();
            Served { current: Arc::clone(&served.current), since: served.since, others }
        });
        before.others.iter().any(|other| Arc::ptr_eq(other, dropped))
    }

    /// Start of serving the current release, in Unix seconds.
    pub fn served_since(&self) -> i64 {
        self.served.load().since
    }

    pub fn history(&self) -> ReleaseHistory {
        self.lock_history().clone()
    }

    fn lock_history(&self) -> MutexGuard<'_, ReleaseHistory> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_file_change(&self) {
        self.lock_history().file_changes += 1;
    }

    pub(crate) fn note_rejection(&self, reason: String) {
        let mut history = self.lock_history();
        history.rejections += 1;
        history.last_rejection = Some(Rejection { at: now(), reason });
    }

    /// True if the served release was found damaged and there is no other: requests that need the damaged part fail.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    pub(crate) fn note_damage(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// True if a release of the index with this version is served, and neither the bundled snapshot nor damaged.
    pub(crate) fn serves(&self, version: SnapshotVersion) -> bool {
        let served = self.served.load();
        !served.current.is_bundled() && served.current.version() == version && !self.is_damaged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::small;
    use catalog::{TextIndexes, bundled};

    fn version(counter: u32) -> SnapshotVersion {
        format!("2026-11-01.{counter}").parse().unwrap()
    }

    /// One of six releases, which all tests share.
    fn release(counter: u32) -> Arc<Catalog> {
        static RELEASES: OnceLock<Vec<Arc<Catalog>>> = OnceLock::new();
        let open = |counter: u32| {
            let snapshot = small(&version(counter).to_string()).snapshot().unwrap();
            let texts = TextIndexes::in_memory(&snapshot).unwrap();
            Arc::new(Catalog::new(snapshot, texts))
        };
        Arc::clone(&RELEASES.get_or_init(|| (1..=6).map(open).collect())[counter as usize - 1])
    }

    fn counters(active: &ActiveRelease) -> Vec<u32> {
        active.all().iter().map(|release| release.version().counter).collect()
    }

    #[test]
    fn the_last_three_remain_loaded() {
        let active = ActiveRelease::new(release(1), 3);
        for counter in 2..=5 {
            active.replace(release(counter));
        }
        assert_eq!(counters(&active), [5, 4, 3, 2]);
        assert!(
            active.loaded(version(1)).is_none()
                && active.loaded(version(2)).is_some()
                && active.loaded(version(5)).is_some()
        );
        assert_eq!(active.history().swaps, 4);
    }

    #[test]
    fn the_release_before_is_the_next_older_one_whatever_was_served_last() {
        let active = ActiveRelease::new(release(2), 3);
        for counter in [5, 1, 4] {
            active.replace(release(counter));
        }
        let before = |counter| active.before(version(counter)).map(|release| release.version().counter);
        assert_eq!([5, 4, 3, 2, 1].map(before), [Some(4), Some(2), Some(2), Some(1), None]);
    }

    #[test]
    fn switching_back_loads_no_release_twice() {
        let active = ActiveRelease::new(release(1), 2);
        for counter in [2, 1, 2, 2, 3, 1] {
            active.replace(release(counter));
        }
        assert_eq!(counters(&active), [1, 3, 2]);
    }

    #[test]
    fn a_release_that_is_added_is_among_the_others_by_its_version() {
        let active = ActiveRelease::new(release(1), 3);
        [3, 6].into_iter().for_each(|counter| active.replace(release(counter)));
        for (added, all) in
            [(2, [6, 3, 2, 1]), (2, [6, 3, 2, 1]), (6, [6, 3, 2, 1]), (5, [6, 5, 3, 2]), (1, [6, 5, 3, 2])]
        {
            active.add(&release(added));
            assert_eq!(counters(&active), all, "{added}");
        }
        assert_eq!(active.history().swaps, 2);
    }

    #[test]
    fn the_bundled_snapshot_does_not_remain_loaded_and_is_not_the_release_before() {
        let invented = Arc::new(bundled().unwrap());
        let version_of_bundled = invented.version();
        let active = ActiveRelease::new(invented, 2);
        assert!(!active.serves(version_of_bundled));
        assert!(active.before("2027-01-01.1".parse().unwrap()).is_none());
        active.replace(release(1));
        assert_eq!(counters(&active), [1]);
        assert!(active.loaded(version_of_bundled).is_none());
        assert!(active.before(version_of_bundled).is_some_and(|before| before.version() == version(1)));
    }

    #[test]
    fn a_request_keeps_its_release_through_a_swap() {
        let active = ActiveRelease::new(release(1), 0);
        let request = active.current();
        active.replace(release(2));
        assert_eq!((request.version(), active.current().version()), (version(1), version(2)));
        assert!(active.loaded(version(1)).is_none());
    }

    #[test]
    fn loaded_releases_are_available_during_a_swap() {
        let active = ActiveRelease::new(release(1), 1);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                for _ in 0..20_000 {
                    // Two releases alternate and one other stays loaded: both are always available.
                    assert!(active.loaded(version(1)).is_some());
                    let all = counters(&active);
                    assert!(all.len() == 1 || all[0] != all[1]);
                }
            });
            for turn in 0..2_000 {
                active.replace(release(2 - turn % 2));
            }
            reader.join().unwrap();
        });
    }
}
