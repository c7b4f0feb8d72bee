//! The replica: follows `current` of an object store.

use std::collections::VecDeque;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::At;
use crate::file_system::OsFs;
use crate::remote::delegation::{Delegated, Delegation, Proof};
use crate::remote::fetch::{FETCHING, name_current};
use crate::remote::freshness::{FaultKind, FaultWatch, Judgment, Known, PointerFault};
use crate::remote::push::replace_file;
use crate::remote::{Current, MAX_DEPTH, Pointer, PushedRelease, RemoteStore};
use crate::{ReleaseError, ReleaseResult, ReleaseStore, permissions};
use data::SnapshotVersion;
use data::vocabulary::Vocabulary;

/// File with the newest pointer read, so that a replica accepts no older one after a restart.
const POINTER: &str = ".pointer";

/// File with the newest delegation read, so that a replica never goes back to unsigned pointers.
const DELEGATION: &str = ".delegation";

/// Interval at which the delegation is read. It is also read with each new pointer.
const DELEGATION_INTERVAL: Duration = Duration::from_secs(30);

/// Follows `current` of an object store and mirrors it into a folder of releases, from which a watcher serves them.
pub struct Replica {
    remote: RemoteStore,
    pub(super) local: ReleaseStore,
    /// Number of releases kept in the folder, besides those that patches refer to.
    keep: usize,
    state: Mutex<ReplicaState>,
    failures: AtomicU64,
}

#[derive(Default)]
struct ReplicaState {
    /// The last pointer that was followed.
    pointer: Option<Pointer>,
    read: Option<Instant>,
    is_fetched: bool,
    delegated: Delegated,
    delegation_read: Option<Instant>,
    /// A delegation to be written to the folder.
    unwritten: Option<Vec<u8>>,
    watch: FaultWatch,
    /// Releases before it that are not fetched yet: others may have served them while this replica saw none of them.
    passed_over: VecDeque<PushedRelease>,
    /// Passed-over releases that are fetched but not yet loaded.
    to_load: Vec<SnapshotVersion>,
    is_failing: bool,
}

/// The object store as a replica finds it.
pub struct Examination {
    pub pointer: Option<Pointer>,
    pub fault: Option<PointerFault>,
    /// The delegation that is in force.
    pub delegation: Option<Delegation>,
    follows: bool,
}

impl Replica {
    /// Creates a replica with the folder of releases `local`, which no other process may write to.
    pub fn new(remote: RemoteStore, local: ReleaseStore, keep: usize) -> Self {
        let kept = |name: &str| fs::read(local.folder().join(name)).ok();
        let pointer = kept(POINTER).and_then(|json| serde_json::from_slice(&json).ok());
        let delegation = kept(DELEGATION)
            .zip(remote.trusted.as_ref())
            .and_then(|(json, key)| Delegation::parse(&json, Some(key)).ok());
        let delegated = delegation.map_or(Delegated::Nobody, Delegated::To);
        let state = Mutex::new(ReplicaState { pointer, delegated, ..ReplicaState::default() });
        Self { remote, local, keep, state, failures: AtomicU64::new(0) }
    }

    /// Reads `current`, and fetches its release if the folder lacks it. `now` is in Unix seconds. Blocks: call it off the
    /// runtime. A `current` that is not believed is no error, but a [`Replica::fault`].
    pub fn poll(&self, now: i64) -> ReleaseResult<()> {
        let polled = self.follow(now);
        if polled.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.lock().is_failing = polled.is_err();
        polled
    }

    fn follow(&self, now: i64) -> ReleaseResult<()> {
        permissions::create_folder(self.local.folder(), true).at(self.local.folder())?;
        let Examination { pointer: found, fault, follows, .. } = self.examine(now)?;
        let unwritten = {
            let mut state = self.lock();
            state.watch.note(fault);
            state.unwritten.clone()
        };
        if let Some(json) = unwritten {
            replace_file(&self.local.folder().join(DELEGATION), &json)?;
            self.lock().unwritten = None;
        }
        let (pointer, is_fetched, is_new) = {
            let mut state = self.lock();
            state.read = Some(Instant::now());
            // Without a pointer to follow, it goes on with the one that it has.
            let Some(pointer) = found.filter(|_| follows).or_else(|| state.pointer.clone()) else { return Ok(()) };
            let is_known = state.pointer.as_ref().is_some_and(|known| pointer.is_publication_of(known));
            if !is_known || !state.is_fetched {
                state.passed_over = pointer.before.iter().take(self.keep.saturating_sub(1)).copied().collect();
                state.to_load.clear();
                state.is_fetched = false;
            }
            let is_new = state.pointer.as_ref() != Some(&pointer);
            (pointer, state.is_fetched, is_new)
        };
        if is_new {
            let json = serde_json::to_vec(&pointer).expect("texts and numbers serialize");
            replace_file(&self.local.folder().join(POINTER), &json)?;
            self.lock().pointer = Some(pointer.clone());
        }
        if !is_fetched {
            self.remote.fetch(&self.local, pointer.pushed())?;
            self.lock().is_fetched = true;
            // Drafts of releases that were refused or overtaken.
            self.local.clear(&OsFs, FETCHING)?;
        }
        // A replica that serves nothing yet first gets a release to serve.
        match self.local.current() {
            Ok(None) => Ok(()),
            _ => self.fetch_passed_over(),
        }
    }

    /// Reads `current` and judges it. Writes nothing and fetches no release.
    pub fn examine(&self, now: i64) -> ReleaseResult<Examination> {
        let read = self.remote.current()?;
        let delegated = self.delegated(&read)?;
        // Without a trusted key, nobody can be told from a publisher: a signature means nothing.
        let proof = match &self.remote.trusted {
            Some(_) => delegated.prove(&read),
            None => Proof::Accepted { until: None },
        };
        let served = self.local.current().ok().flatten();
        let Judgment { follows, fault } = {
            let state = self.lock();
            let known = Known { pointer: state.pointer.as_ref(), served };
            match &read.pointer {
                Some(found) => Judgment::of(known, found, &proof, now),
                None => Judgment::of_missing(known),
            }
        };
        let delegation = delegated.delegation().cloned();
        Ok(Examination { pointer: read.pointer, fault, delegation, follows })
    }

    /// Who may sign pointers, read again from time to time and when `current` has changed. A delegation stays in force
    /// until a later one is found, also if the object is removed.
    fn delegated(&self, read: &Current) -> ReleaseResult<Delegated> {
        let Some(trusted) = &self.remote.trusted else { return Ok(Delegated::Nobody) };
        {
            let state = self.lock();
            let is_recent = state.delegation_read.is_some_and(|read| read.elapsed() < DELEGATION_INTERVAL);
            if is_recent && state.pointer == read.pointer && !state.watch.has_fault() {
                return Ok(state.delegated.clone());
            }
        }
        let bytes = self.remote.delegation()?;
        let found = bytes.as_deref().map(|bytes| Delegation::parse(bytes, Some(trusted)));
        let mut state = self.lock();
        state.delegation_read = Some(Instant::now());
        let known = state.delegated.delegation();
        match found {
            Some(Ok(found)) if known.is_none_or(|known| found.not_before >= known.not_before) => {
                if known != Some(&found) {
                    state.unwritten = bytes;
                }
                state.delegated = Delegated::To(found);
            }
            Some(Err(reason)) if known.is_none() => state.delegated = Delegated::Refused(reason),
            None if known.is_none() => state.delegated = Delegated::Nobody,
            _ => {}
        }
        Ok(state.delegated.clone())
    }

    fn fetch_passed_over(&self) -> ReleaseResult<()> {
        let next = || self.lock().passed_over.front().copied();
        while let Some(named) = next() {
            let fetched = self.remote.fetch(&self.local, named);
            if let Err(error @ ReleaseError::ObjectStore { .. }) = fetched {
                return Err(error);
            }
            let mut state = self.lock();
            state.passed_over.pop_front();
            // A removed release is not served by anyone for long.
            if fetched.is_ok() {
                state.to_load.push(named.version);
            }
        }
        Ok(())
    }

    /// The next release to load for cursors that other replicas may have issued.
    pub(crate) fn next_to_load(&self, is_loaded: impl Fn(SnapshotVersion) -> bool) -> Option<SnapshotVersion> {
        let mut state = self.lock();
        state.to_load.retain(|version| !is_loaded(*version));
        state.to_load.first().copied()
    }

    /// Notes that a release from [`Replica::next_to_load`] was loaded or cannot be.
    pub(crate) fn note_loaded(&self, version: SnapshotVersion) {
        self.lock().to_load.retain(|other| *other != version);
    }

    /// Makes the announced release current in the folder once it is due, or at once if none is. `now`: Unix seconds.
    pub fn activate(&self, now: i64) -> ReleaseResult<()> {
        let due = {
            let state = self.lock();
            state.pointer.as_ref().filter(|_| state.is_fetched).cloned()
        };
        let Some(pointer) = due else { return Ok(()) };
        let current = self.local.current().ok().flatten();
        if current == Some(pointer.release) || (current.is_some() && now < pointer.activate_at) {
            return Ok(());
        }
        name_current(&self.local, pointer.release)?;
        // Releases that patches refer to are fetched again if they are needed once more.
        self.local.prune(self.keep + MAX_DEPTH as usize).map(|_| ())
    }

    /// True if a release that is not loaded is expected, as far as is known, so that its cursors must not be refused
    /// for good: it is announced or was passed over, or it is newer and `current` was not read for a moment.
    /// `is_served`: a signed cursor shows that a replica serves it or did, so one newer than the known one is to come.
    pub(crate) fn expects(&self, version: SnapshotVersion, is_served: bool) -> bool {
        const KNOWN_FOR: Duration = Duration::from_millis(1_500);
        let state = self.lock();
        let named = |named: &PushedRelease| named.version == version;
        let (known, was_before) =
            state.pointer.as_ref().map_or((None, false), |known| (Some(known.release), known.before.iter().any(named)));
        let is_unsure = state.read.is_none_or(|read| read.elapsed() > KNOWN_FOR);
        known == Some(version)
            || state.passed_over.iter().any(named)
            || state.to_load.contains(&version)
            || (known.is_none_or(|known| version > known) && (is_unsure || (is_served && !was_before)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ReplicaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn location(&self) -> &str {
        self.remote.location()
    }

    /// True if the last attempt failed to read the store or to fetch its release.
    pub fn is_failing(&self) -> bool {
        self.lock().is_failing
    }

    /// Generation of the newest `current` that was followed; 0 before the first.
    pub fn generation(&self) -> u64 {
        self.lock().pointer.as_ref().map_or(0, |pointer| pointer.generation)
    }

    /// Unix seconds after which the pointer that is followed is out of date; `None` if it has no such time.
    pub fn not_after(&self) -> Option<i64> {
        let state = self.lock();
        let pointer = state.pointer.as_ref()?.not_after;
        let delegation = state.delegated.delegation().map(|delegation| delegation.not_after);
        pointer.into_iter().chain(delegation).min()
    }

    /// True if there is a trusted key, but pointers are followed without a signature, because none was ever required.
    pub fn accepts_unsigned(&self) -> bool {
        let state = self.lock();
        self.remote.trusted.is_some() && state.delegated == Delegated::Nobody && state.pointer.is_some()
    }

    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The fault of `current`, once it has lasted for some polls.
    pub fn fault(&self) -> Option<PointerFault> {
        self.lock().watch.reported().cloned()
    }

    /// Number of polls with such a fault since the start, in the order of [`FaultKind::ALL`].
    pub fn fault_counts(&self) -> [u64; FaultKind::ALL.len()] {
        self.lock().watch.counts()
    }
}
