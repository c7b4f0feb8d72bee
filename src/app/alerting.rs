//! Threads that evaluate saved searches after each release swap, and send the messages of the outbox.
//!
//! Separate threads: an evaluation computes for up to a minute, and sending waits for other servers. Links have another
//! thread than alerts, so that a person who requests one does not wait for slow webhooks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, park_timeout, sleep, spawn};
use std::time::{Duration, Instant};

use auth::StoreError;
use auth::mail::MailTransport;
use platform::metrics::panics;
use service::State;
use service::alerts::{AlertSender, evaluate};

/// Interval between checks for a new release and for due messages.
const INTERVAL: Duration = Duration::from_secs(1);

/// Longest time for sending links at shutdown; other messages wait for the next start or for another server.
const LAST_LINKS: Duration = Duration::from_secs(10);
/// Time after that for all threads to finish.
const FINISH: Duration = Duration::from_secs(1);

pub(super) struct Threads {
    handles: Vec<JoinHandle<()>>,
    /// Deadline for sending links; set once no more can be requested.
    last_links: Arc<OnceLock<Instant>>,
}

/// Starts the threads; they end when the server stops.
pub(super) fn start(state: &Arc<State>, mail: Option<MailTransport>) -> Threads {
    let mut evaluated = None;
    let evaluation = repeat_until_stopped(state, "cannot evaluate saved searches", move |state| {
        let version = state.releases.current().version();
        if evaluated == Some(version) {
            return Ok(());
        }
        let is_stopping = || state.stopping.load(Ordering::Relaxed);
        let alerts = evaluate(state.auth.store(), &state.releases, state.now(), &is_stopping)?;
        state.alerts.counts.alerts.add(alerts as u64);
        if alerts > 0 {
            tracing::info!("release {version} brought {alerts} alerts");
        }
        evaluated = Some(version);
        Ok(())
    });
    // Claims of a killed process: the lock of the data folder proves that no other runs. A shared store releases none.
    let (releasing, is_released) = (Arc::clone(state), Mutex::new(false));
    let release_claims = Arc::new(move || {
        let mut is_released = is_released.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_released {
            releasing.auth.store().release_claims(releasing.now())?;
            *is_released = true;
        }
        Ok::<(), StoreError>(())
    });
    let sends_mail = mail.is_some();
    let time = Arc::clone(state);
    let sender = AlertSender::new(Arc::clone(&state.alerts), mail, state.public_url.clone(), move || time.now());
    let sender = Arc::new(sender);
    let (alert_sender, release) = (Arc::clone(&sender), Arc::clone(&release_claims));
    let alerts = repeat_until_stopped(state, "cannot send alerts", move |state| {
        release()?;
        let is_stopping = || state.stopping.load(Ordering::Relaxed);
        alert_sender.send_due(state.auth.store(), &is_stopping)?;
        alert_sender.send_review_notices(state.auth.store(), &is_stopping).map(|_| ())
    });
    let mut threads = Threads { handles: vec![evaluation, alerts], last_links: Arc::default() };
    if sends_mail {
        let (sending, last_links) = (Arc::clone(state), Arc::clone(&threads.last_links));
        let links = spawn(move || {
            let is_over = || last_links.get().is_some_and(|end| Instant::now() >= *end);
            let mut work = log_failures("cannot send links by e-mail", || {
                release_claims()?;
                sender.send_links(sending.auth.store(), &is_over).map(|_| ())
            });
            loop {
                // Read before the work: any link requested by then is in the store.
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
    /// Sends the waiting links, for no longer than requests had for finishing (`drain`), and waits for the outcome of those in
    /// transit.
    pub(super) fn finish(&self, drain: Duration) {
        let end = Instant::now() + LAST_LINKS.min(drain);
        let _ = self.last_links.set(end);
        self.handles.iter().for_each(|handle| handle.thread().unpark());
        while Instant::now() < end + FINISH && !self.handles.iter().all(JoinHandle::is_finished) {
            sleep(Duration::from_millis(20));
        }
    }
}

fn repeat_until_stopped(
    state: &Arc<State>,
    failure: &'static str,
    mut work: impl FnMut(&State) -> Result<(), StoreError> + Send + 'static,
) -> JoinHandle<()> {
    let state = Arc::clone(state);
    spawn(move || {
        let mut work = log_failures(failure, || work(&state));
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
pub(super) fn log_failures(failure: &'static str, mut work: impl FnMut() -> Result<(), StoreError>) -> impl FnMut() {
    let mut is_failing = false;
    move || match panics::catch(&mut work) {
        Ok(Ok(())) => is_failing = false,
        Ok(Err(error)) if !is_failing => {
            tracing::error!("{failure}: {error}");
            is_failing = true;
        }
        // A panic is logged elsewhere.
        _ => {}
    }
}
