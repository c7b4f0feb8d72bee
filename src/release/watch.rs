//! The start, and the watch over `current` afterwards.
//!
//! `current` is read a few times a second: one small file, on any file system, without a notification service that may
//! be missing there. What was refused is not looked at again before `current` or a file of the release changes.

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::data::SnapshotVersion;
use crate::release::ReleaseError;
use crate::release::active::{HasVersion, LoadedRelease};
use crate::release::{ActiveRelease, Event};

/// How often `current` is read.
pub const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Where releases come from.
pub trait ReleaseSource: Send + Sync + 'static {
    /// An open release, ready to be asked.
    type Item: HasVersion + Send + Sync + 'static;

    /// The release to serve; `None`: the bundled snapshot.
    ///
    /// # Errors
    /// Where it is not known which.
    fn named(&self) -> Result<Option<SnapshotVersion>, ReleaseError>;

    /// All releases there are, newest first.
    ///
    /// # Errors
    /// Where they cannot be listed.
    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError>;

    /// Opens a release after checking it. May take seconds; called off the runtime.
    ///
    /// # Errors
    /// Where it cannot be served.
    fn open(&self, version: SnapshotVersion) -> Result<Self::Item, ReleaseError>;

    /// Opens the snapshot that is part of the program.
    ///
    /// # Errors
    /// Where it cannot be served.
    fn bundled(&self) -> Result<Self::Item, ReleaseError>;

    /// Changes whenever something changes that [`ReleaseSource::named`] or [`ReleaseSource::open`] read.
    fn stamp(&self, version: Option<SnapshotVersion>) -> u64;
}

/// Watches over what is to be served.
pub struct Watcher<S: ReleaseSource> {
    source: S,
    live: Arc<ActiveRelease<S::Item>>,
    report: Box<dyn Fn(Event) + Send + Sync>,
    /// What was not taken up, so that it is told once.
    passed: Mutex<Option<SeenRefusal>>,
}

/// A state of the source that was not taken up.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SeenRefusal {
    named: Option<SnapshotVersion>,
    /// The stamp it had then.
    stamp: u64,
    /// The stamp at the last look.
    last: u64,
}

/// Opens what is to be served: what the source names; if that cannot be served, the newest before it that can; the bundled
/// snapshot where the source names nothing. Then opens those kept beside it: the newest others, and the bundled snapshot where there is room.
///
/// Takes as long as checking these releases takes; to be called before the runtime serves, or off it.
///
/// # Errors
/// [`ReleaseError::NothingGood`] where a release is named, but neither it nor one before it can be served; else where not
/// even the bundled snapshot opens.
pub fn start<S: ReleaseSource>(
    source: S,
    keep: usize,
    report: impl Fn(Event) + Send + Sync + 'static,
) -> Result<Watcher<S>, ReleaseError> {
    let named = source.named();
    let sight = named.as_ref().map_or(None, |named| *named);
    let stamp = source.stamp(sight);
    let versions = source.versions().unwrap_or_default();
    let mut refused = Vec::new();
    let mut first = None;
    let candidates: Vec<SnapshotVersion> = match &named {
        Ok(None) => Vec::new(),
        Ok(Some(named)) => {
            std::iter::once(*named).chain(versions.iter().copied().filter(|version| version < named)).collect()
        }
        Err(error) => {
            refused.push(error.to_string());
            versions.clone()
        }
    };
    for version in candidates {
        match open(&source, version) {
            Ok(item) => {
                first = Some(LoadedRelease { item: Arc::new(item), bundled: false });
                break;
            }
            Err(reason) => refused.push(reason),
        }
    }
    // What was just said, or need not be said, is not for the watcher to say again.
    let settled = !refused.is_empty() || sight.is_none();
    let passed = settled.then_some(SeenRefusal { named: sight, stamp, last: stamp });
    if first.is_none() && !matches!(named, Ok(None)) {
        // Somebody published something here: invented data in its place would be a silent wrong answer.
        return Err(ReleaseError::NothingGood { reasons: refused });
    }
    let refusals = refused.len();
    refused.into_iter().for_each(|reason| report(Event::Refused { reason, served: None }));
    let current = match first {
        Some(held) => held,
        None => LoadedRelease { item: Arc::new(source.bundled()?), bundled: true },
    };
    report(Event::Serving { version: current.item.version(), bundled: current.bundled });
    let held = others(&source, &current, &versions, keep, &report);
    let live = Arc::new(ActiveRelease::with(current, held, keep));
    (0..refusals).for_each(|_| live.count_refusal());
    Ok(Watcher { source, live, report: Box::new(report), passed: Mutex::new(passed) })
}

/// Opens a release, or says why not. A release that makes the program panic must not end what is served.
fn open<S: ReleaseSource>(source: &S, version: SnapshotVersion) -> Result<S::Item, String> {
    match catch_unwind(AssertUnwindSafe(|| source.open(version))) {
        Ok(opened) => opened.map_err(|error| error.to_string()),
        Err(_) => Err(format!("release {version}: the program failed while it opened it")),
    }
}

/// Opens the releases that are kept beside `current`.
fn others<S: ReleaseSource>(
    source: &S,
    current: &LoadedRelease<S::Item>,
    versions: &[SnapshotVersion],
    keep: usize,
    report: &dyn Fn(Event),
) -> Vec<LoadedRelease<S::Item>> {
    let served = current.item.version();
    let mut held: Vec<LoadedRelease<S::Item>> = Vec::new();
    for version in versions.iter().copied().filter(|version| *version != served) {
        if held.len() == keep {
            return held;
        }
        match open(source, version) {
            Ok(item) => held.push(LoadedRelease { item: Arc::new(item), bundled: false }),
            Err(reason) => report(Event::NotKept { reason }),
        }
    }
    if held.len() < keep && !current.bundled {
        match source.bundled() {
            Ok(item) => {
                let version = item.version();
                if version != served && held.iter().all(|other| other.item.version() != version) {
                    held.push(LoadedRelease { item: Arc::new(item), bundled: true });
                }
            }
            Err(error) => report(Event::NotKept { reason: error.to_string() }),
        }
    }
    held
}

impl<S: ReleaseSource> Watcher<S> {
    /// What is served, for those who answer from it.
    #[must_use]
    pub fn active(&self) -> Arc<ActiveRelease<S::Item>> {
        Arc::clone(&self.live)
    }

    /// Looks every `every` for another release and takes it up, and at once on SIGHUP. Ends with the runtime.
    pub async fn run(self, every: Duration) {
        let asked = Notify::new();
        tokio::select! {
            () = self.run_asked(every, &asked) => {}
            () = hear(&asked) => {}
        }
    }

    /// Looks every `every`, and at once where it is `asked` to.
    async fn run_asked(self, every: Duration, asked: &Notify) {
        let watcher = Arc::new(self);
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let asked = tokio::select! {
                _ = ticks.tick() => false,
                () = asked.notified() => true,
            };
            let looking = Arc::clone(&watcher);
            // A look that fails to run at all means that the runtime is ending.
            if tokio::task::spawn_blocking(move || looking.poll(asked)).await.is_err() {
                return;
            }
        }
    }

    /// Looks once; blocks while a release is opened. `asked`: also at what was refused before.
    pub fn poll(&self, asked: bool) {
        let named = self.source.named();
        let sight = named.as_ref().map_or(None, |named| *named);
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(version)) = named
            && self.live.serves(version)
        {
            *passed = None;
            return;
        }
        let stamp = self.source.stamp(sight);
        if let Some(before) = passed.as_mut().filter(|before| before.named == sight && !asked) {
            // What changes is being copied or mended: it is looked at when it has come to rest.
            let rests = before.last == stamp;
            before.last = stamp;
            if before.stamp == stamp || !rests {
                return;
            }
        }
        *passed = Some(SeenRefusal { named: sight, stamp, last: stamp });
        match named {
            Ok(Some(version)) => {
                if self.try_activate(version) {
                    *passed = None;
                }
            }
            Ok(None) => (self.report)(Event::Gone { served: self.live.current().version() }),
            Err(error) => self.refuse(error.to_string()),
        }
    }

    fn try_activate(&self, version: SnapshotVersion) -> bool {
        // One that is kept is opened anew too: its files may have been damaged since.
        match open(&self.source, version) {
            Ok(item) => {
                self.serve(Arc::new(item));
                true
            }
            Err(reason) => {
                self.refuse(reason);
                false
            }
        }
    }

    fn serve(&self, item: Arc<S::Item>) {
        let version = item.version();
        self.live.replace(item);
        (self.report)(Event::Serving { version, bundled: false });
    }

    fn refuse(&self, reason: String) {
        self.live.count_refusal();
        (self.report)(Event::Refused { reason, served: Some(self.live.current().version()) });
    }
}

/// Passes on the operator's wish to look again, which is a SIGHUP. Never ends.
async fn hear(asked: &Notify) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangups) = signal(SignalKind::hangup()) {
            while hangups.recv().await.is_some() {
                asked.notify_one();
            }
        }
    }
    std::future::pending::<()>().await;
}
