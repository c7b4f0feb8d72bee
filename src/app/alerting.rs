//! The threads that evaluate saved searches after each swap of releases, and send what is due.
//!
//! Threads of their own: an evaluation computes for up to a minute, and sending waits for others. Neither takes a place of a
//! request.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use crate::alerts::{Sender, evaluate};
use crate::auth::StoreError;
use crate::http::State;
use crate::mail::Transport;
use crate::metrics::panics;

/// Between two looks at what is served, and at what is due.
const INTERVAL: Duration = Duration::from_secs(1);

/// At shutdown.
const FINISH: Duration = Duration::from_secs(11);

/// Starts both; they end when the server stops.
pub(super) fn start(state: &Arc<State>, mail: Option<Transport>) -> Vec<JoinHandle<()>> {
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
    let sender = Sender::new(Arc::clone(&state.alerts), mail, state.public_url.clone(), state.clock);
    let sending = Arc::clone(state);
    let mut is_first = true;
    let sending = repeat(state, "cannot send alerts", move || {
        if is_first {
            // Of a process that was killed: the lock of the data folder says that there is no other. A shared store releases none.
            sending.auth.store().watch_store().release_claims(sending.now())?;
            is_first = false;
        }
        let is_stopping = || sending.stopping.load(Ordering::Relaxed);
        sender.send_due(sending.auth.store().watch_store(), &is_stopping).map(|_| ())
    });
    vec![evaluation, sending]
}

/// Waits for messages that are being sent, so that what came of them is stored, and not for longer than one takes.
pub(super) fn finish(threads: &[JoinHandle<()>]) {
    let started = Instant::now();
    while started.elapsed() < FINISH && !threads.iter().all(JoinHandle::is_finished) {
        sleep(Duration::from_millis(20));
    }
}

/// Does `work` on a thread until the server stops. Logs the first of consecutive failures.
fn repeat(
    state: &Arc<State>,
    failure: &'static str,
    mut work: impl FnMut() -> Result<(), StoreError> + Send + 'static,
) -> JoinHandle<()> {
    let state = Arc::clone(state);
    spawn(move || {
        let mut is_failing = false;
        while !state.stopping.load(Ordering::Relaxed) {
            match panics::catch(&mut work) {
                Ok(Ok(())) => is_failing = false,
                Ok(Err(error)) if !is_failing => {
                    tracing::error!("{failure}: {error}");
                    is_failing = true;
                }
                // A panic has a line of its own.
                _ => {}
            }
            let slept = Instant::now();
            while slept.elapsed() < INTERVAL && !state.stopping.load(Ordering::Relaxed) {
                sleep(INTERVAL / 20);
            }
        }
    })
}
