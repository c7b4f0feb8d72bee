//! The threads that evaluate saved searches after each swap of releases, and send what is in the outbox.
//!
//! Threads of their own: an evaluation computes for up to a minute, and sending waits for others. None takes a place of a request.
//! Links have a thread apart from alerts, so that a person who requests one does not wait for slow webhooks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, park_timeout, sleep, spawn};
use std::time::{Duration, Instant};

use auth::StoreError;
use auth::mail::Transport;
use platform::metrics::panics;
use service::State;
use service::alerts::{Sender, evaluate};

/// Between two looks at what is served, and at what is due.
const INTERVAL: Duration = Duration::from_secs(1);

/// At shutdown, for links to be sent; the others wait for the next start or for another server.
const LAST_LINKS: Duration = Duration::from_secs(10);
/// At shutdown, for all.
const FINISH: Duration = Duration::from_secs(11);

/// The threads; none before the server is ready.
#[derive(Default)]
pub(super) struct Threads {
    handles: Vec<JoinHandle<()>>,
    /// Until when links are sent; set when no more can be requested.
    last_links: Arc<OnceLock<Instant>>,
}

/// Starts them; they end when the server stops.
pub(super) fn start(state: &Arc<State>, mail: Option<Transport>) -> Threads {
    let evaluating = Arc::clone(state);
    let mut evaluated = None;
    let evaluation = repeat(state, "cannot evaluate saved searches", move || {
        let version = evaluating.releases.current().version();
        if evaluated == Some(version) {
            return Ok(());
        }
        let is_stopping = || evaluating.stopping.load(Ordering::Relaxed);
        let alerts =
            evaluate(evaluating.auth.store().watch_store(), &evaluating.releases, evaluating.now(), &is_stopping)?;
        evaluating.alerts.counts.add_alerts(alerts);
        if alerts > 0 {
            tracing::info!("release {version} brought {alerts} alerts");
        }
        evaluated = Some(version);
        Ok(())
    });
    // Of a process that was killed: the lock of the data folder says that there is no other. A shared store releases none.
    let (releasing, is_released) = (Arc::clone(state), Mutex::new(false));
    let release_claims = Arc::new(move || {
        let mut is_released = is_released.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_released {
            releasing.auth.store().watch_store().release_claims(releasing.now())?;
            *is_released = true;
        }
        Ok::<(), StoreError>(())
    });
    let sends_mail = mail.is_some();
    let sender = Sender::new(Arc::clone(&state.alerts), mail, state.public_url.clone(), state.clock);
    let sender = Arc::new(sender);
    let (sending, alert_sender, release) = (Arc::clone(state), Arc::clone(&sender), Arc::clone(&release_claims));
    let alerts = repeat(state, "cannot send alerts", move || {
        release()?;
        let is_stopping = || sending.stopping.load(Ordering::Relaxed);
        alert_sender.send_due(sending.auth.store().watch_store(), &is_stopping).map(|_| ())
    });
    let mut threads = Threads { handles: vec![evaluation, alerts], ..Threads::default() };
    if sends_mail {
        let (sending, last_links) = (Arc::clone(state), Arc::clone(&threads.last_links));
        let links = spawn(move || {
            let is_over = || last_links.get().is_some_and(|end| Instant::now() >= *end);
            let mut work = logged("cannot send links by e-mail", || {
                release_claims()?;
                sender.send_links(sending.auth.store(), &is_over).map(|_| ())
            });
            loop {
                // Read before the work: what was requested by then is in the store.
                let is_last = last_links.get().is_some();
                work();
                if is_last {
                    return;
                }
                park_timeout(INTERVAL);
            }
        });
        state.auth.send_links_by(links.thread().clone());
        threads.handles.push(links);
    }
    threads
}

impl Threads {
    /// Sends the links that wait, and waits for messages that are being sent, so that what came of them is stored, and not for
    /// longer than one takes.
    pub(super) fn finish(&self) {
        let started = Instant::now();
        let _ = self.last_links.set(started + LAST_LINKS);
        self.handles.iter().for_each(|handle| handle.thread().unpark());
        while started.elapsed() < FINISH && !self.handles.iter().all(JoinHandle::is_finished) {
            sleep(Duration::from_millis(20));
        }
    }
}

/// Does `work` on a thread until the server stops.
fn repeat(
    state: &Arc<State>,
    failure: &'static str,
    work: impl FnMut() -> Result<(), StoreError> + Send + 'static,
) -> JoinHandle<()> {
    let state = Arc::clone(state);
    let mut work = logged(failure, work);
    spawn(move || {
        while !state.stopping.load(Ordering::Relaxed) {
            work();
            let slept = Instant::now();
            while slept.elapsed() < INTERVAL && !state.stopping.load(Ordering::Relaxed) {
                sleep(INTERVAL / 20);
            }
        }
    })
}

/// Logs the first of consecutive failures of `work`.
fn logged(failure: &'static str, mut work: impl FnMut() -> Result<(), StoreError>) -> impl FnMut() {
    let mut is_failing = false;
    move || match panics::catch(&mut work) {
        Ok(Ok(())) => is_failing = false,
        Ok(Err(error)) if !is_failing => {
            tracing::error!("{failure}: {error}");
            is_failing = true;
        }
        // A panic has a line of its own.
        _ => {}
    }
}
