//! Startup, and the watcher of `current` afterwards.
//!
//! `current` is read a few times a second: one small file, on any file system, without a notification service that may be
//! missing there. A rejected release is tried again only after `current` or a file of the release has changed.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::data::SnapshotVersion;
use crate::release::source::{HasVersion, ReleaseSource};
use crate::release::{ActiveRelease, Event, ReleaseError};

pub const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Activates the release that the source names.
pub struct Watcher<S: ReleaseSource> {
    source: Arc<S>,
    active: Arc<ActiveRelease<S::Item>>,
    report: Report,
    /// The state that was last rejected, so that it is reported once.
    rejected: Mutex<Option<RejectedState>>,
}

/// A state of the source that cannot be served.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RejectedState {
    current: Option<SnapshotVersion>,
    stamp: u64,
    /// The stamp at the last poll.
    last: u64,
}

/// Finds the release to serve when the server starts.
pub struct Starting<S: ReleaseSource> {
    source: Arc<S>,
    keep: usize,
    report: Report,
    tries: Arc<Mutex<Tries>>,
}

type Report = Arc<dyn Fn(Event) + Send + Sync>;

impl<S: ReleaseSource> Clone for Starting<S> {
    fn clone(&self) -> Self {
        let Self { source, keep, report, tries } = self;
        Self { source: Arc::clone(source), keep: *keep, report: Arc::clone(report), tries: Arc::clone(tries) }
    }
}

impl<S: ReleaseSource> Starting<S> {
    /// Up to `keep` releases are loaded in addition to the served one.
    pub fn new(source: S, keep: usize, report: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self { source: Arc::new(source), keep, report: Arc::new(report), tries: Arc::default() }
    }

    /// Opens the release that the source names; if that cannot be served, the newest older one that can; if nothing is
    /// published, the bundled snapshot, if the source has it. Then loads the newest other releases for their cursors.
    ///
    /// Reads all of these releases; to be called off the runtime.
    ///
    /// # Errors
    /// [`ReleaseError::NoneActive`] or [`ReleaseError::NothingGood`], which is reported. Somebody publishes here, so that
    /// serving invented data instead would be wrong without notice.
    pub fn start(&self) -> Result<Watcher<S>, ReleaseError> {
        let stamp = self.stamp();
        self.find().inspect_err(|error| {
            self.tries.lock().unwrap_or_else(PoisonError::into_inner).tried = stamp;
            (self.report)(Event::NotReady { reason: error.to_string() });
        })
    }

    fn find(&self) -> Result<Watcher<S>, ReleaseError> {
        let named = self.source.current();
        let current = named.as_ref().map_or(None, |named| *named);
        let stamp = self.source.stamp(current);
        let versions = self.source.versions().unwrap_or_default();
        let mut rejections = Vec::new();
        let candidates: Vec<SnapshotVersion> = match &named {
            Ok(None) => Vec::new(),
            Ok(Some(named)) => {
                std::iter::once(*named).chain(versions.iter().copied().filter(|version| version < named)).collect()
            }
            Err(error) => {
                rejections.push(error.to_string());
                versions.clone()
            }
        };
        let mut served = None;
        for version in candidates {
            match open(&*self.source, version) {
                Ok(item) => {
                    served = Some(item);
                    break;
                }
                Err(reason) => rejections.push(reason),
            }
        }
        let served = match (served, &named) {
            (Some(item), _) => item,
            (None, Ok(None)) => self.source.unpublished(versions.first().copied())?,
            (None, _) => return Err(ReleaseError::NothingGood { reasons: rejections }),
        };
        // What is reported here, or needs no report, is not reported again by the watcher.
        let is_settled = !rejections.is_empty() || current.is_none();
        let rejected = is_settled.then_some(RejectedState { current, stamp, last: stamp });
        let count = rejections.len();
        rejections.into_iter().for_each(|reason| (self.report)(Event::Rejected { reason, served: None }));
        (self.report)(Event::Serving { version: served.version(), bundled: served.is_bundled() });
        let others = self.load_others(&served, &versions);
        let active = Arc::new(ActiveRelease::with(Arc::new(served), others, self.keep));
        (0..count).for_each(|_| active.count_rejection());
        let (source, report) = (Arc::clone(&self.source), Arc::clone(&self.report));
        Ok(Watcher { source, active, report, rejected: Mutex::new(rejected) })
    }

    /// Loads the newest releases in addition to the served one, which is not the bundled snapshot if there are any.
    fn load_others(&self, served: &S::Item, versions: &[SnapshotVersion]) -> Vec<Arc<S::Item>> {
        let mut others = Vec::new();
        for version in versions.iter().copied().filter(|version| *version != served.version()) {
            if others.len() == self.keep {
                break;
            }
            match open(&*self.source, version) {
                Ok(item) => others.push(Arc::new(item)),
                Err(reason) => (self.report)(Event::NotLoaded { reason }),
            }
        }
        others
    }

    /// Starts as soon as a release can be served: tries again when the index has changed, and on SIGHUP. `refused` gets the
    /// reason of each failed try. Ends with the runtime.
    pub async fn wait(self, interval: Duration, refused: impl Fn(&ReleaseError) + Send + Sync + 'static) -> Watcher<S> {
        let requested = Notify::new();
        let poll = move |is_requested| {
            let stamp = self.stamp();
            let is_due = self.tries.lock().unwrap_or_else(PoisonError::into_inner).are_due(stamp);
            if is_due || is_requested { self.start().inspect_err(&refused).ok() } else { None }
        };
        tokio::select! {
            watcher = poll_repeatedly(interval, &requested, poll) => watcher,
            never = notify_on_hangup(&requested) => match never {},
        }
    }

    /// Changes whenever `current` or a file of any release changes.
    fn stamp(&self) -> Vec<u64> {
        let versions = self.source.versions().unwrap_or_default();
        std::iter::once(None).chain(versions.into_iter().map(Some)).map(|version| self.source.stamp(version)).collect()
    }
}

/// The stamps of an index that has no good release.
#[derive(Default)]
struct Tries {
    tried: Vec<u64>,
    last: Vec<u64>,
}

impl Tries {
    /// True if the index has changed since the last try; not while it is changing, because files are being copied.
    fn are_due(&mut self, stamp: Vec<u64>) -> bool {
        let are_due = self.last == stamp && self.tried != stamp;
        self.last = stamp;
        are_due
    }
}

/// Opens a release, or returns why it cannot be opened. A release that causes a panic must not end the server.
fn open<S: ReleaseSource>(source: &S, version: SnapshotVersion) -> Result<S::Item, String> {
    match catch_unwind(AssertUnwindSafe(|| source.open(version))) {
        Ok(opened) => opened.map_err(|error| error.to_string()),
        Err(_) => Err(format!("release {version}: the program panicked while opening it")),
    }
}

impl<S: ReleaseSource> Watcher<S> {
    pub fn active(&self) -> Arc<ActiveRelease<S::Item>> {
        Arc::clone(&self.active)
    }

    /// Polls at this interval, and at once on SIGHUP. Ends with the runtime.
    pub async fn run(self, interval: Duration) {
        let requested = Notify::new();
        tokio::select! {
            () = self.run_until_stopped(interval, &requested) => {}
            never = notify_on_hangup(&requested) => match never {},
        }
    }

    /// Polls at this interval, and at once when `requested`.
    async fn run_until_stopped(self, interval: Duration, requested: &Notify) {
        poll_repeatedly(interval, requested, move |is_requested| {
            self.poll(is_requested);
            None
        })
        .await
    }

    /// Polls once; blocks while a release is opened. If requested by the operator, a rejected release is tried again.
    pub fn poll(&self, is_requested: bool) {
        let named = self.source.current();
        let current = named.as_ref().map_or(None, |named| *named);
        let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(version)) = named
            && self.active.serves(version)
        {
            *rejected = None;
            return;
        }
        let stamp = self.source.stamp(current);
        if let Some(previous) = rejected.as_mut().filter(|previous| previous.current == current && !is_requested) {
            // While the stamp changes, files are being copied or fixed.
            let is_stable = previous.last == stamp;
            previous.last = stamp;
            if previous.stamp == stamp || !is_stable {
                return;
            }
        }
        *rejected = Some(RejectedState { current, stamp, last: stamp });
        match named {
            Ok(Some(version)) => {
                if self.try_activate(version) {
                    *rejected = None;
                }
            }
            Ok(None) => (self.report)(Event::CurrentRemoved { served: self.active.current().version() }),
            Err(error) => self.reject(error.to_string()),
        }
    }

    /// Opens and activates a release. One that is loaded is opened again too: its files may have been damaged since.
    fn try_activate(&self, version: SnapshotVersion) -> bool {
        match open(&*self.source, version) {
            Ok(item) => {
                self.active.replace(Arc::new(item));
                (self.report)(Event::Serving { version, bundled: false });
                true
            }
            Err(reason) => {
                self.reject(reason);
                false
            }
        }
    }

    fn reject(&self, reason: String) {
        self.active.count_rejection();
        (self.report)(Event::Rejected { reason, served: Some(self.active.current().version()) });
    }
}

/// Calls `poll` off the runtime at this interval, and with `true` at once when `requested`, until it returns a value.
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
