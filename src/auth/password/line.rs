//! The line of those who wait for their password to be hashed.
//!
//! A hash takes 50 ms on purpose, so a flood of sign-ins, each from another address, must find the line long rather than
//! full: while refusals cost nothing, a client that is refused tries again a thousand times a second, and a person who
//! tries twice never finds a place. So nobody is refused for load. Everybody waits, with the request open, and a flood is
//! as fast as its open connections allow, which the server limits anyway: behind 50 connections a new browser waits for a
//! second.
//!
//! - Owners (a session, a known browser, the link of an e-mail) come first; their own limits bound how many there are.
//! - The others take turns by network, an IPv4 /24 or an IPv6 /48: of several who wait in one network, the second comes
//!   after the first of each other network. Within a round, whoever came first is first.
//! - Whoever has waited for [`MAX_WAIT`] gets a ticket with the time of the first arrival
//!   ([`SignInTicket`](crate::service::sign_in_ticket::SignInTicket)), and with it the old place. A ticket costs that wait
//!   and is valid once, so a client gets no more of them than it has connections.
//!
//! Weighed against it: a proof of work needs a script, which these pages work without, and costs a telephone more than
//! the machines of an attacker; tickets that are given at once can be collected in any number; a mailed link needs a mail
//! server, and is offered in addition to the line.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::quota::{ClientNetwork, QueueUsage};
use platform::metrics::Counter;

/// Time for which a request waits for its turn: below the timeouts of proxies, and as long as a stopping server waits.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(20);

/// Strangers who may wait; twice the connections that a server accepts by default.
pub(crate) const PLACES: usize = 8_192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnteredBy {
    /// A live session, a known browser of the account, or the link of an e-mail to its owner.
    Owner,
    Stranger {
        network: ClientNetwork,
        /// Unix seconds of the first attempt.
        arrived_at: i64,
    },
}

/// Places in the order of their turns: owners are in round 0, strangers in later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlaceInLine {
    round: u64,
    arrived_at: i64,
    number: u64,
}

/// Who waits, each with a `W`, and who is next. It knows neither threads nor time.
pub(super) struct Line<W> {
    waiting: BTreeMap<PlaceInLine, (Option<ClientNetwork>, W)>,
    networks: HashMap<ClientNetwork, WaitingNetwork>,
    /// The round of the stranger who was served last, at least 1.
    round: u64,
    next_number: u64,
    strangers: usize,
    /// Strangers who may wait.
    places: usize,
}

struct WaitingNetwork {
    last_round: u64,
    waiting: usize,
}

impl<W> Line<W> {
    pub(super) fn new(places: usize) -> Self {
        Self { waiting: BTreeMap::new(), networks: HashMap::new(), round: 1, next_number: 0, strangers: 0, places }
    }

    /// `None` if too many strangers wait.
    pub(super) fn join(&mut self, by: EnteredBy, waiter: W) -> Option<PlaceInLine> {
        let number = self.next_number;
        let (place, network) = match by {
            EnteredBy::Owner => (PlaceInLine { round: 0, arrived_at: 0, number }, None),
            EnteredBy::Stranger { .. } if self.strangers >= self.places => return None,
            EnteredBy::Stranger { network, arrived_at } => {
                let known = self.networks.entry(network);
                let of_network = known.or_insert(WaitingNetwork { last_round: 0, waiting: 0 });
                of_network.last_round = self.round.max(of_network.last_round + 1);
                of_network.waiting += 1;
                self.strangers += 1;
                (PlaceInLine { round: of_network.last_round, arrived_at, number }, Some(network))
            }
        };
        self.next_number += 1;
        self.waiting.insert(place, (network, waiter));
        Some(place)
    }

    /// Takes the waiter whose turn it is.
    pub(super) fn take_next(&mut self) -> Option<W> {
        let place = *self.waiting.first_key_value()?.0;
        self.round = self.round.max(place.round);
        self.leave(place)
    }

    /// `None` if the place was given up before, or had its turn.
    pub(super) fn leave(&mut self, place: PlaceInLine) -> Option<W> {
        let (network, waiter) = self.waiting.remove(&place)?;
        if let Some(network) = network {
            self.strangers -= 1;
            if let Some(known) = self.networks.get_mut(&network) {
                known.waiting -= 1;
                if known.waiting == 0 {
                    self.networks.remove(&network);
                }
            }
        }
        Some(waiter)
    }
}

/// A few turns at a time, and the line of those who wait for one.
pub(crate) struct PasswordQueue {
    state: Mutex<QueueState>,
    turns: usize,
    rejected: Counter,
}

struct QueueState {
    running: usize,
    line: Line<oneshot::Sender<PasswordTurn>>,
}

/// Too many strangers wait, or the turn did not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitedInVain;

/// A turn, which passes to the next in line when it is dropped.
pub(crate) struct PasswordTurn(Arc<PasswordQueue>);

impl Drop for PasswordTurn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.line.take_next();
            if next.is_none() {
                state.running -= 1;
            }
            next
        };
        if let Some(waiter) = next {
            // If the waiter has left just now, the turn that comes back passes on in the same way.
            drop(waiter.send(Self(Arc::clone(&self.0))));
        }
    }
}

/// Gives up a place in the line when its request is dropped.
struct PlaceGuard<'q> {
    queue: &'q PasswordQueue,
    place: PlaceInLine,
}

impl Drop for PlaceGuard<'_> {
    fn drop(&mut self) {
        let left = self.queue.state().line.leave(self.place);
        drop(left);
    }
}

impl PasswordQueue {
    pub(crate) fn new(turns: usize) -> Self {
        let state = QueueState { running: 0, line: Line::new(PLACES) };
        Self { state: Mutex::new(state), turns, rejected: Counter::default() }
    }

    /// Waits for a turn, at most `max_wait`. A caller that is dropped while it waits leaves the line.
    pub(crate) async fn turn(
        self: &Arc<Self>,
        by: EnteredBy,
        max_wait: Duration,
    ) -> Result<PasswordTurn, WaitedInVain> {
        let (receiver, guard) = {
            let mut state = self.state();
            // If a turn is free, nobody waits.
            if state.running < self.turns {
                state.running += 1;
                return Ok(PasswordTurn(Arc::clone(self)));
            }
            let (waiter, receiver) = oneshot::channel();
            let Some(place) = state.line.join(by, waiter) else {
                self.rejected.add(1);
                return Err(WaitedInVain);
            };
            (receiver, PlaceGuard { queue: self, place })
        };
        let turn = timeout(max_wait, receiver).await;
        drop(guard);
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            self.rejected.add(1);
            WaitedInVain
        })
    }

    pub(crate) fn usage(&self) -> QueueUsage {
        let state = self.state();
        QueueUsage { running: state.running, waiting: state.line.waiting.len(), rejected: self.rejected.get() }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
