//! Startup, and the watcher of `current` afterwards.
//!
//! At startup, a large release is served before it is fully verified; the watcher verifies it alongside its polls. A
//! release that replaces another one is verified first.
//!
//! `current` is read a few times a second: one small file, on any file system, without a notification service that may
//! be missing there. A rejected release is only retried after `current` or a file of the release has changed.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::iter::once;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::{ActiveRelease, ReleaseError, ReleaseResult, ReleaseStore};
use catalog::Catalog;
use data::SnapshotVersion;
use platform::metrics::panics;

pub const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Activates the release named by the index.
pub struct Watcher {
    releases: ReleaseStore,
    active: Arc<ActiveRelease>,
    report: EventReporter,
    reported: Mutex<ReportedState>,
}

/// Reported states, so that each is reported once.
struct ReportedState {
    rejected: Option<RejectedState>,
    /// The files of the served release; `None` for the bundled snapshot.
    served: Option<Stamps<u64>>,
}

struct RejectedState {
    current: Option<SnapshotVersion>,
    stamps: Stamps<[u64; 2]>,
}

/// Tells a state that is still changing from one that has changed.
#[derive(Default)]
struct Stamps<T> {
    /// The state already handled.
    known: T,
    /// The state at the last poll.
    last: T,
}

impl<T: Clone + PartialEq> Stamps<T> {
    fn new(known: T) -> Self {
        Self { last: known.clone(), known }
    }

    /// True if the state is new and did not change since the last poll: while it changes, files are being copied.
    fn has_changed(&mut self, stamp: T) -> bool {
        let has_changed = self.known != stamp && self.last == stamp;
        self.last = stamp;
        has_changed
    }
}

#[derive(Clone)]
pub struct Starting {
    releases: ReleaseStore,
    keep: usize,
    report: EventReporter,
    tried: Arc<Mutex<Stamps<Vec<u64>>>>,
}

type EventReporter = Arc<dyn Fn(ReleaseEvent) + Send + Sync>;

impl Starting {
    /// Creates a starter that loads up to `keep` releases besides the served one.
    pub fn new(releases: ReleaseStore, keep: usize, report: impl Fn(ReleaseEvent) + Send + Sync + 'static) -> Self {
        Self { releases, keep, report: Arc::new(report), tried: Arc::default() }
    }

    /// Opens the release named by the index, or the newest older one that can be served, or, if nothing is published
    /// and the index permits it, the bundled snapshot; then the newest others, for their cursors. The watcher completes
    /// the verification. Call it off the runtime. [`ReleaseError::NoneActive`] or [`ReleaseError::NothingGood`], which
    /// is reported: to serve invented data instead would be wrong without notice.
    pub fn start(&self) -> ReleaseResult<Watcher> {
        let stamp = self.stamp();
        self.find().inspect_err(|error| {
            self.tried.lock().unwrap_or_else(PoisonError::into_inner).known = stamp;
            (self.report)(ReleaseEvent::NotReady { reason: error.to_string() });
        })
    }

    fn find(&self) -> ReleaseResult<Watcher> {
        let named = self.releases.current();
        let current = named.as_ref().map_or(None, |named| *named);
        let stamps = stamps(&self.releases, current);
        let versions = self.releases.versions().unwrap_or_default();
        let (mut rejections, mut is_exhausted) = (Vec::new(), false);
        // An older release in its place would hide that the setting is wrong.
        if let Some(manifest) = current.and_then(|current| self.releases.manifest(current).ok()) {
            self.releases.check_license(&manifest)?;
        }
        let candidates: Vec<SnapshotVersion> = match &named {
            Ok(None) => Vec::new(),
            Ok(Some(named)) => once(*named).chain(versions.iter().copied().filter(|version| version < named)).collect(),
            Err(error) => {
                rejections.push(error.to_string());
                versions.clone()
            }
        };
        let served = candidates.into_iter().find_map(|version| {
            let stamp = self.releases.stamp(Some(version));
            let open = || {
                let opened = self.releases.open_at_once(version, []);
                opened.inspect_err(|error| is_exhausted |= error.is_exhausted())
            };
            match guarded(version, open) {
                Ok(item) => Some((item, Some(Stamps::new(stamp)))),
                Err(reason) => {
                    rejections.push(reason);
                    None
                }
            }
        });
        let (served, files) = match (served, &named) {
            (Some(served), _) => served,
            (None, Ok(None)) => (self.releases.unpublished(versions.first().copied())?, None),
            (None, _) => return Err(ReleaseError::NothingGood { reasons: rejections, is_exhausted }),
        };
        // The watcher does not repeat anything reported here or not worth a report.
        let is_settled = !rejections.is_empty() || current.is_none();
        let rejected = is_settled.then(|| RejectedState { current, stamps: Stamps::new(stamps) });
        for reason in &rejections {
            (self.report)(ReleaseEvent::Rejected { reason: reason.clone(), served: None });
        }
        (self.report)(ReleaseEvent::Serving { version: served.version(), bundled: served.is_bundled() });
        let others = self.load_others(&served, &versions);
        let active = Arc::new(ActiveRelease::with(Arc::new(served), others, self.keep));
        rejections.into_iter().for_each(|reason| active.note_rejection(reason));
        let reported = ReportedState { rejected, served: files };
        let (releases, report) = (self.releases.clone(), Arc::clone(&self.report));
        Ok(Watcher { releases, active, report, reported: Mutex::new(reported) })
    }

    /// Loads the newest releases besides the served one, which is not the bundled snapshot if there are any.
    fn load_others(&self, served: &Catalog, versions: &[SnapshotVersion]) -> Vec<Arc<Catalog>> {
        let mut loaded: Vec<Arc<Catalog>> = Vec::new();
        for version in versions.iter().copied().filter(|version| *version != served.version()) {
            if loaded.len() == self.keep {
                break;
            }
            // The release that replaces the served one must have room, too.
            let all = || [served, served].into_iter().chain(loaded.iter().map(|loaded| &**loaded));
            if !self.releases.has_room(version, all()) {
                let reason = format!("release {version} has no room in the memory of the server (--memory)");
                (self.report)(ReleaseEvent::NotLoaded { reason });
                break;
            }
            match guarded(version, || self.releases.open_at_once(version, all())) {
                Ok(opened) => loaded.push(Arc::new(opened)),
                Err(reason) => (self.report)(ReleaseEvent::NotLoaded { reason }),
            }
        }
        loaded
    }

    /// Starts when a release can be served: retries when the index changes and on SIGHUP. `refused` gets each failure.
    pub async fn wait(self, interval: Duration, refused: impl Fn(&ReleaseError) + Send + Sync + 'static) -> Watcher {
        let requested = Notify::new();
        let poll = move |is_requested| {
            let stamp = self.stamp();
            let has_changed = self.tried.lock().unwrap_or_else(PoisonError::into_inner).has_changed(stamp);
            if has_changed || is_requested { self.start().inspect_err(&refused).ok() } else { None }
        };
        tokio::select! {
            watcher = poll_repeatedly(interval, &requested, poll) => watcher,
            never = notify_on_hangup(&requested) => match never {},
        }
    }

    /// Stamps that change with `current` and with any file of any release.
    fn stamp(&self) -> Vec<u64> {
        let versions = self.releases.versions().unwrap_or_default();
        once(None).chain(versions.into_iter().map(Some)).map(|version| self.releases.stamp(version)).collect()
    }
}

fn stamps(releases: &ReleaseStore, current: Option<SnapshotVersion>) -> [u64; 2] {
    [releases.stamp(None), current.map_or(0, |version| releases.stamp(Some(version)))]
}

/// Opens a release next to loaded ones.
fn open(releases: &ReleaseStore, version: SnapshotVersion, loaded: &[Arc<Catalog>]) -> Result<Catalog, String> {
    guarded(version, || releases.open_catalog(version, loaded.iter().map(|loaded| &**loaded)))
}

/// Runs `work` on a release and describes its failure. A release that causes a panic must not end the server.
fn guarded<T>(version: SnapshotVersion, work: impl FnOnce() -> ReleaseResult<T>) -> Result<T, String> {
    match panics::catch(work) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err(format!("release {version}: the program panicked while reading it")),
    }
}

impl Watcher {
    pub fn active(&self) -> Arc<ActiveRelease> {
        Arc::clone(&self.active)
    }

    /// Polls at this interval and on SIGHUP, and verifies the releases loaded at startup. Ends with the runtime.
    pub async fn run(self, interval: Duration) {
        let requested = Notify::new();
        tokio::select! {
            () = self.run_until_stopped(interval, &requested) => {}
            never = notify_on_hangup(&requested) => match never {},
        }
    }

    /// Like [`Watcher::run`], but polls at once when `requested`.
    async fn run_until_stopped(self, interval: Duration, requested: &Notify) {
        let watcher = Arc::new(self);
        let verifying = Arc::clone(&watcher);
        tokio::task::spawn_blocking(move || verifying.verify_loaded());
        poll_repeatedly(interval, requested, move |is_requested| {
            watcher.poll(is_requested);
            None
        })
        .await
    }

    /// Polls once; blocks while a release is opened. If the operator requested the poll, a rejected release is retried.
    pub fn poll(&self, is_requested: bool) {
        let named = self.releases.current();
        let current = named.as_ref().map_or(None, |named| *named);
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        self.watch_files(&mut reported);
        if let Ok(Some(version)) = named
            && self.active.serves(version)
        {
            reported.rejected = None;
            self.load_passed_over();
            return;
        }
        let stamps = stamps(&self.releases, current);
        let previous = reported.rejected.as_mut().filter(|previous| previous.current == current && !is_requested);
        if previous.is_some_and(|previous| !previous.stamps.has_changed(stamps)) {
            return;
        }
        reported.rejected = Some(RejectedState { current, stamps: Stamps::new(stamps) });
        match named {
            // A loaded release is opened again, too: its files may have been damaged since.
            Ok(Some(version)) => match open(&self.releases, version, &self.make_room(version)) {
                Ok(item) => {
                    self.active.replace(Arc::new(item));
                    (self.report)(ReleaseEvent::Serving { version, bundled: false });
                    *reported = ReportedState { rejected: None, served: Some(Stamps::new(stamps[1])) };
                }
                Err(reason) => self.reject(reason),
            },
            Ok(None) => (self.report)(ReleaseEvent::CurrentRemoved { served: self.active.current().version() }),
            Err(error) => self.reject(error.to_string()),
        }
    }

    /// Drops releases that only serve cursors, those served longest ago first, until another one has room. Returns the rest.
    fn make_room(&self, version: SnapshotVersion) -> Vec<Arc<Catalog>> {
        loop {
            let loaded = self.active.all();
            match loaded.as_slice() {
                [_, .., oldest] if !self.releases.has_room(version, loaded.iter().map(|loaded| &**loaded)) => {
                    self.active.drop_loaded(oldest);
                    let reason = format!("release {} makes room for release {version} (--memory)", oldest.version());
                    (self.report)(ReleaseEvent::NotLoaded { reason });
                }
                _ => return loaded,
            }
        }
    }

    /// Verifies the releases loaded at startup; blocks. A damaged one is replaced by the newest older whole one.
    fn verify_loaded(&self) {
        for loaded in self.active.all() {
            let Err(reason) = self.verify(&loaded) else { continue };
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&loaded, &self.active.current()) {
                self.fall_back(loaded.version(), reason, &mut reported);
            } else if self.active.drop_loaded(&loaded) {
                (self.report)(ReleaseEvent::NotLoaded { reason });
            }
        }
    }

    /// Verifies a loaded release; the error is the reason why it cannot be served.
    fn verify(&self, loaded: &Catalog) -> Result<(), String> {
        let version = loaded.version();
        if guarded(version, || self.releases.verify(loaded))? {
            (self.report)(ReleaseEvent::Verified { version });
        }
        Ok(())
    }

    /// Serves the newest release older than a damaged one; if there is none, the damaged one.
    fn fall_back(&self, damaged: SnapshotVersion, reason: String, reported: &mut ReportedState) {
        let current = self.releases.current().unwrap_or_default();
        if current == Some(damaged) {
            reported.rejected = Some(RejectedState { current, stamps: Stamps::new(stamps(&self.releases, current)) });
        }
        let versions = self.releases.versions().unwrap_or_default();
        let mut older = versions.into_iter().filter(|version| *version < damaged);
        let whole = older.find_map(|version| {
            let stamp = self.releases.stamp(Some(version));
            let opened = match self.active.loaded(version) {
                Some(loaded) => self.verify(&loaded).map(|()| loaded),
                None => open(&self.releases, version, &self.make_room(version)).map(Arc::new),
            };
            Some((opened.ok()?, stamp))
        });
        let Some((whole, stamp)) = whole else {
            self.active.note_damage();
            self.active.note_rejection(reason.clone());
            return (self.report)(ReleaseEvent::ServedDamaged { version: damaged, reason });
        };
        self.active.note_rejection(reason.clone());
        (self.report)(ReleaseEvent::Rejected { reason, served: None });
        (self.report)(ReleaseEvent::Serving { version: whole.version(), bundled: false });
        let damaged = self.active.current();
        self.active.replace(whole);
        self.active.drop_loaded(&damaged);
        reported.served = Some(Stamps::new(stamp));
    }

    fn watch_files(&self, reported: &mut ReportedState) {
        let Some(files) = &mut reported.served else { return };
        let version = self.active.current().version();
        let stamp = self.releases.stamp(Some(version));
        if files.has_changed(stamp) {
            files.known = stamp;
            self.active.count_file_change();
            let on_disk = parts_on_disk(&self.active.current());
            (self.report)(ReleaseEvent::FilesChanged { version, on_disk });
        }
    }

    /// Loads a release that other replicas have served and this one has not.
    fn load_passed_over(&self) {
        let Some(replica) = self.active.replica() else { return };
        let is_loaded = |version| self.active.loaded(version).is_some();
        let Some(version) = replica.next_to_load(is_loaded) else { return };
        // The release that replaces the served one must have room, too.
        let loaded: Vec<Arc<Catalog>> = self.active.all().into_iter().chain([self.active.current()]).collect();
        match open(&self.releases, version, &loaded) {
            Ok(item) => self.active.add(&Arc::new(item)),
            Err(reason) => (self.report)(ReleaseEvent::NotLoaded { reason }),
        }
        replica.note_loaded(version);
    }

    fn reject(&self, reason: String) {
        self.active.note_rejection(reason.clone());
        (self.report)(ReleaseEvent::Rejected { reason, served: Some(self.active.current().version()) });
    }
}

/// The parts of an open release that are read from the disk when they are needed.
fn parts_on_disk(loaded: &Catalog) -> Vec<&'static str> {
    let bulk_files = (!loaded.bulk_files().is_empty()).then_some("bulk files");
    loaded.snapshot().parts_on_disk().chain(bulk_files).collect()
}

/// Calls `poll` off the runtime at this interval, and at once with `true` when `requested`, until it returns a value.
async fn poll_repeatedly<T: Send + 'static>(
    interval: Duration,
    requested: &Notify,
    poll: impl Fn(bool) -> Option<T> + Send + Sync + 'static,
) -> T {
    let poll = Arc::new(poll);
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let is_requested = tokio::select! {
            _ = ticks.tick() => false,
            () = requested.notified() => true,
        };
        let poll = Arc::clone(&poll);
        match tokio::task::spawn_blocking(move || poll(is_requested)).await {
            Ok(Some(value)) => return value,
            Ok(None) => {}
            // The runtime is shutting down.
            Err(_) => return std::future::pending().await,
        }
    }
}

/// Requests a poll on each SIGHUP. Never returns.
async fn notify_on_hangup(requested: &Notify) -> Infallible {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangups) = signal(SignalKind::hangup()) {
            while hangups.recv().await.is_some() {
                requested.notify_one();
            }
        }
    }
    std::future::pending().await
}

/// An event that the operator should know of. `Display` gives one log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseEvent {
    Serving {
        version: SnapshotVersion,
        bundled: bool,
    },
    Verified {
        version: SnapshotVersion,
    },
    /// The release named by `current` cannot be served. `served` continues; `None` if another is served from now on.
    Rejected {
        reason: String,
        served: Option<SnapshotVersion>,
    },
    /// The served release was found damaged, and there is no whole one to replace it.
    ServedDamaged {
        version: SnapshotVersion,
        reason: String,
    },
    /// Files of the served release were changed or removed. Serving depends only on those `on_disk`: parts that are not
    /// held in memory, which are verified each time they are read.
    FilesChanged {
        version: SnapshotVersion,
        on_disk: Vec<&'static str>,
    },
    NotLoaded {
        reason: String,
    },
    NotReady {
        reason: String,
    },
    CurrentRemoved {
        served: SnapshotVersion,
    },
}

impl fmt::Display for ReleaseEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving { version, bundled: false } => write!(f, "serving release {version}"),
            Self::Serving { version, bundled: true } => write!(f, "serving the bundled snapshot {version}"),
            Self::Verified { version } => write!(f, "release {version} is verified"),
            Self::Rejected { reason, served: Some(served) } => write!(f, "rejected: {reason}; still serving {served}"),
            Self::Rejected { reason, served: None } => write!(f, "rejected: {reason}"),
            Self::NotLoaded { reason } => write!(f, "cursors of an older release expire: {reason}"),
            Self::ServedDamaged { version, reason } => write!(
                f,
                "rejected: {reason}; no older release is whole, so {version} is still served: requests that need the damaged \
                 part are answered with 500 until it is built again or another release is activated"
            ),
            Self::FilesChanged { version, on_disk } => {
                write!(f, "files of release {version} were changed or removed; ")?;
                match on_disk.as_slice() {
                    [] => f.write_str("it is served from memory as it was verified, but a restart may fail")?,
                    parts => {
                        let parts = parts.join(" and ");
                        write!(
                            f,
                            "its {parts} are read from the disk when they are needed: if the change is damage, requests that \
                             need a damaged part are answered with 500, never with other data, and a restart may fail"
                        )?;
                    }
                }
                write!(f, ": check it with `indexer verify {version}`, and build it again if it is damaged")
            }
            Self::NotReady { reason } => write!(f, "not ready, waiting for a release: {reason}"),
            Self::CurrentRemoved { served } => write!(f, "the index names no release; still serving {served}"),
        }
    }
}
