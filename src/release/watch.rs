//! Startup, and the watcher of `current` afterwards.
//!
//! `current` is read a few times a second: one small file, on any file system, without a notification service that may be
//! missing there. A rejected release is tried again only after `current` or a file of the release has changed.

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::data::SnapshotVersion;
use crate::release::active::LoadedRelease;
use crate::release::source::{HasVersion, ReleaseSource};
use crate::release::{ActiveRelease, Event, ReleaseError};

pub const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Activates the release that the source names.
pub struct Watcher<S: ReleaseSource> {
    source: S,
    active: Arc<ActiveRelease<S::Item>>,
    report: Box<dyn Fn(Event) + Send + Sync>,
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

/// Opens the release that the source names; if that cannot be served, the newest older one that can; the bundled snapshot
/// if the source names none. Then loads others for their cursors: the newest ones, and the bundled snapshot if fewer than
/// `keep` are loaded.
///
/// Reads all of these releases; to be called off the runtime.
///
/// # Errors
/// [`ReleaseError::NothingGood`] if a release is named, but neither that nor an older one can be served. Somebody has
/// published here, so that serving invented data instead would be wrong without notice.
pub fn start<S: ReleaseSource>(
    source: S,
    keep: usize,
    report: impl Fn(Event) + Send + Sync + 'static,
) -> Result<Watcher<S>, ReleaseError> {
    let named = source.current();
    let current = named.as_ref().map_or(None, |named| *named);
    let stamp = source.stamp(current);
    let versions = source.versions().unwrap_or_default();
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
    let mut first = None;
    for version in candidates {
        match open(&source, version) {
            Ok(item) => {
                first = Some(LoadedRelease { item: Arc::new(item), bundled: false });
                break;
            }
            Err(reason) => rejections.push(reason),
        }
    }
    // What is reported here, or needs no report, is not reported again by the watcher.
    let is_settled = !rejections.is_empty() || current.is_none();
    let rejected = is_settled.then_some(RejectedState { current, stamp, last: stamp });
    if first.is_none() && !matches!(named, Ok(None)) {
        return Err(ReleaseError::NothingGood { reasons: rejections });
    }
    let count = rejections.len();
    rejections.into_iter().for_each(|reason| report(Event::Rejected { reason, served: None }));
    let served = match first {
        Some(loaded) => loaded,
        None => LoadedRelease { item: Arc::new(source.bundled()?), bundled: true },
    };
    report(Event::Serving { version: served.item.version(), bundled: served.bundled });
    let others = load_others(&source, &served, &versions, keep, &report);
    let active = Arc::new(ActiveRelease::with(served, others, keep));
    (0..count).for_each(|_| active.count_rejection());
    Ok(Watcher { source, active, report: Box::new(report), rejected: Mutex::new(rejected) })
}

/// Opens a release, or returns why it cannot be opened. A release that causes a panic must not end the server.
fn open<S: ReleaseSource>(source: &S, version: SnapshotVersion) -> Result<S::Item, String> {
    match catch_unwind(AssertUnwindSafe(|| source.open(version))) {
        Ok(opened) => opened.map_err(|error| error.to_string()),
        Err(_) => Err(format!("release {version}: the program panicked while opening it")),
    }
}

/// Loads up to `keep` releases in addition to the served one.
fn load_others<S: ReleaseSource>(
    source: &S,
    served: &LoadedRelease<S::Item>,
    versions: &[SnapshotVersion],
    keep: usize,
    report: &dyn Fn(Event),
) -> Vec<LoadedRelease<S::Item>> {
    let served_version = served.item.version();
    let mut others: Vec<LoadedRelease<S::Item>> = Vec::new();
    for version in versions.iter().copied().filter(|version| *version != served_version) {
        if others.len() == keep {
            return others;
        }
        match open(source, version) {
            Ok(item) => others.push(LoadedRelease { item: Arc::new(item), bundled: false }),
            Err(reason) => report(Event::NotLoaded { reason }),
        }
    }
    if others.len() < keep && !served.bundled {
        match source.bundled() {
            Ok(item) => {
                let version = item.version();
                if version != served_version && others.iter().all(|other| other.item.version() != version) {
                    others.push(LoadedRelease { item: Arc::new(item), bundled: true });
                }
            }
            Err(error) => report(Event::NotLoaded { reason: error.to_string() }),
        }
    }
    others
}

impl<S: ReleaseSource> Watcher<S> {
    pub fn active(&self) -> Arc<ActiveRelease<S::Item>> {
        Arc::clone(&self.active)
    }

    /// Polls at this interval, and at once on SIGHUP. Ends with the runtime.
    pub async fn run(self, interval: Duration) {
        let requested = Notify::new();
        tokio::select! {
            () = self.poll_repeatedly(interval, &requested) => {}
            () = notify_on_hangup(&requested) => {}
        }
    }

    /// Polls at this interval, and at once when `requested`.
    async fn poll_repeatedly(self, interval: Duration, requested: &Notify) {
        let watcher = Arc::new(self);
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let is_requested = tokio::select! {
                _ = ticks.tick() => false,
                () = requested.notified() => true,
            };
            let watcher = Arc::clone(&watcher);
            // This fails only if the runtime is shutting down.
            if tokio::task::spawn_blocking(move || watcher.poll(is_requested)).await.is_err() {
                return;
            }
        }
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
        match open(&self.source, version) {
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

/// Requests a poll on each SIGHUP. Never returns.
async fn notify_on_hangup(requested: &Notify) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangups) = signal(SignalKind::hangup()) {
            while hangups.recv().await.is_some() {
                requested.notify_one();
            }
        }
    }
    std::future::pending::<()>().await;
}
