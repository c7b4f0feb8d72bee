//! Turns for work that costs processor time. Few pieces run at once, and the turns go round the callers: whoever has
//! used the least gets the next one, so that no caller delays another by more than a piece or two. Work that takes longer
//! gives its turn back at its [pauses](platform::pause) and waits for the next one.
//!
//! Each caller has a virtual time, which grows by the measured processor time of its pieces, divided by the weight of
//! its class (start-time fair queueing). A caller that has not used its share for a while starts at the time of the queue, so
//! that nobody saves up turns; one that is ahead of the queue waits until the others have caught up. If all places are
//! taken, the caller that occupies most of them loses its newest one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use thiserror::Error;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::block_in_place;

use crate::quota::{ClientNetwork, KeyId, Tier, WorkMeter, client_networks};
use platform::clock::thread_time;
use platform::metrics::{Counter, Histogram, Observations};
use platform::pause::with_pauses;

/// Pieces that may wait for each one that runs: some tens of milliseconds.
const WAITING: usize = 32;

/// Batches at a time: each holds its items and answers, some megabytes at most.
const BATCHES: usize = 64;

/// Batches from which on only callers without any may add one.
const SHARED_BATCHES: usize = 48;

/// Batches of one key or address at a time.
pub const BATCHES_OF_CALLER: usize = 4;

/// A caller is never further ahead of the queue than this processor time, divided by its weight.
const MAX_LEAD: Duration = Duration::from_secs(1);

/// Callers without work that are remembered before those that the queue has caught up with are forgotten.
const REMEMBERED: usize = 4_096;

/// Work that can pause gives its turn back after this processor time.
const PIECE: Duration = Duration::from_millis(1);

/// Whoever asks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkCaller {
    Key(KeyId, Tier),
    /// Without a key; shares its turns like its rate limits, by its IPv4 /32, or by its IPv6 /64, /56 and /48.
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CallerGroup {
    Key(KeyId),
    Network(ClientNetwork),
}

impl WorkCaller {
    /// Share of its class: a caller of weight 2 gets twice as much processor time as one of weight 1 if both have work.
    fn weight(self) -> u32 {
        match self {
            Self::Address(_) => 1,
            Self::Key(_, Tier::Free) => 2,
            Self::Key(_, Tier::Pro) => 4,
            Self::Key(_, Tier::Enterprise) => 8,
        }
    }

    /// Groups in which the caller is counted, with the multiple of a caller's share that each has.
    fn groups(self) -> impl Iterator<Item = (CallerGroup, u32)> {
        let groups = match self {
            Self::Key(key, _) => [None, None, Some((CallerGroup::Key(key), 1))],
            Self::Address(address) => client_networks(address)
                .map(|network| network.map(|(network, multiple)| (CallerGroup::Network(network), multiple))),
        };
        groups.into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BatchRefused {
    #[error("too many look-ups are under way; retry in a second")]
    Overloaded,
    #[error(
        "{BATCHES_OF_CALLER} look-ups of this key or address are under way, and no more may be; send the next one when one of \
         them is answered"
    )]
    TooManyOfCaller,
}

/// A piece that found no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueUsage {
    pub running: usize,
    pub waiting: usize,
    pub rejected: u64,
}

/// Runs work that blocks on this thread; the other tasks of a worker of the runtime continue on another.
pub(crate) fn run_in_place<T>(work: impl FnOnce() -> T) -> T {
    if runtime_of_several_threads().is_some() { block_in_place(work) } else { work() }
}

/// The runtime of this thread, if other threads can run its tasks while this one waits.
fn runtime_of_several_threads() -> Option<Handle> {
    Handle::try_current().ok().filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

pub struct FairQueue(Arc<Shared>);

struct Shared {
    /// Turns at once.
    capacity: usize,
    /// Single pieces that may wait.
    places: usize,
    turns: Mutex<Turns>,
    rejected: Counter,
    /// Processor time of pieces.
    pieces: Histogram,
}

struct Turns {
    free: usize,
    /// In the order of arrival.
    waiting: Vec<WaitingPiece>,
    groups: HashMap<CallerGroup, GroupState>,
    batches: usize,
    /// Virtual time of the queue in nanoseconds.
    now: u64,
    /// Pieces that wait or run.
    active: usize,
    last_number: u64,
    /// Size of `groups` at which idle ones are forgotten.
    sweep_at: usize,
}

#[derive(Default)]
struct GroupState {
    /// Virtual time in nanoseconds.
    time: u64,
    /// Pieces that wait or run.
    active: usize,
    waiting: usize,
    batches: usize,
}

impl GroupState {
    fn is_idle(&self) -> bool {
        self.active == 0 && self.batches == 0
    }
}

struct WaitingPiece {
    number: u64,
    caller: WorkCaller,
    /// Pieces of a batch have their place already and are never refused.
    is_refusable: bool,
    turn: oneshot::Sender<Result<FairTurn, Overloaded>>,
}

/// The right to run one piece. Dropping it passes it on.
struct FairTurn {
    queue: Arc<Shared>,
    caller: WorkCaller,
    cost: Duration,
}

/// Work that runs, with the turn of its current piece.
struct RunningWork {
    turn: Option<FairTurn>,
    /// Processor time of the thread at the start of the piece.
    start: Duration,
    pieces: WorkMeter,
}

impl RunningWork {
    /// Ends the piece and passes the turn on.
    fn end_piece(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        turn.cost = thread_time().saturating_sub(self.start);
        self.pieces.add(turn.cost);
        turn.queue.pieces.observe(turn.cost);
    }
}

impl Drop for FairTurn {
    fn drop(&mut self) {
        self.queue.end(self.caller, self.cost);
    }
}

/// A piece that waits; leaves the queue when it is dropped.
struct PlaceInQueue<'q> {
    queue: &'q Arc<Shared>,
    number: u64,
    turn: oneshot::Receiver<Result<FairTurn, Overloaded>>,
}

impl Drop for PlaceInQueue<'_> {
    fn drop(&mut self) {
        self.queue.leave(self.number);
        // A turn that was granted in the meantime is dropped with the receiver.
    }
}

impl Turns {
    fn enter(&mut self, caller: WorkCaller) {
        let now = self.now;
        for (group, _) in caller.groups() {
            let state = self.groups.entry(group).or_default();
            if state.active == 0 {
                state.time = state.time.max(now);
            }
            state.active += 1;
        }
        self.active += 1;
    }

    /// Ends a piece of a caller and adds its processor time to the caller's virtual time.
    fn end(&mut self, caller: WorkCaller, cost: Duration) {
        let cost = u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX);
        // As if each active caller had had its share of the time.
        self.now = self.now.saturating_add(cost / self.active.max(1) as u64);
        self.active -= 1;
        for (group, multiple) in caller.groups() {
            let Some(state) = self.groups.get_mut(&group) else { continue };
            let share = u64::from(caller.weight() * multiple);
            let latest = self.now.saturating_add(MAX_LEAD.as_nanos() as u64 / share);
            state.time = state.time.saturating_add(cost / share).min(latest);
            state.active -= 1;
        }
        self.forget(caller);
    }

    /// Forgets a caller without work that is not ahead of the queue, and from time to time all of them.
    fn forget(&mut self, caller: WorkCaller) {
        let now = self.now;
        for (group, _) in caller.groups() {
            if self.groups.get(&group).is_some_and(|state| state.is_idle() && state.time <= now) {
                self.groups.remove(&group);
            }
        }
        if self.groups.len() > self.sweep_at {
            self.groups.retain(|_, state| !state.is_idle() || state.time > now);
            self.sweep_at = REMEMBERED.max(2 * self.groups.len());
        }
    }

    /// The greatest value that a caller has in one of its groups.
    fn most(&self, caller: WorkCaller, value: impl Fn(&GroupState, u64) -> u64) -> u64 {
        let groups = caller.groups();
        let values = groups.filter_map(|(group, multiple)| Some(value(self.groups.get(&group)?, u64::from(multiple))));
        values.max().unwrap_or_default()
    }

    fn time(&self, caller: WorkCaller) -> u64 {
        self.most(caller, |state, _| state.time)
    }

    fn add_waiting(&mut self, caller: WorkCaller) {
        for (group, _) in caller.groups() {
            self.groups.entry(group).or_default().waiting += 1;
        }
    }

    fn remove_waiting(&mut self, position: usize) -> WaitingPiece {
        let piece = self.waiting.remove(position);
        for (group, _) in piece.caller.groups() {
            if let Some(state) = self.groups.get_mut(&group) {
                state.waiting -= 1;
            }
        }
        piece
    }

    /// Removes a piece that will not run.
    fn leave(&mut self, position: usize) -> WaitingPiece {
        let piece = self.remove_waiting(position);
        self.end(piece.caller, Duration::ZERO);
        piece
    }

    /// The piece that runs next.
    fn next(&self) -> Option<usize> {
        let order = |position: &usize| {
            let piece = &self.waiting[*position];
            (self.time(piece.caller), self.most(piece.caller, |state, _| state.active as u64), piece.number)
        };
        (0..self.waiting.len()).min_by_key(order)
    }

    /// The piece that is refused if there are too many: the newest one of the caller with most places.
    fn most_refusable(&self) -> Option<usize> {
        let order = |position: &usize| {
            let piece = &self.waiting[*position];
            // In hundredths of the share of a group.
            let places = self.most(piece.caller, |state, multiple| 100 * state.waiting as u64 / multiple);
            (places / u64::from(piece.caller.weight()), self.time(piece.caller), piece.number)
        };
        (0..self.waiting.len()).filter(|position| self.waiting[*position].is_refusable).max_by_key(order)
    }
}

impl Shared {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(self: &Arc<Self>, caller: WorkCaller, is_refusable: bool) -> PlaceInQueue<'_> {
        let (sender, turn) = oneshot::channel();
        let mut turns = self.turns();
        turns.last_number += 1;
        let number = turns.last_number;
        turns.enter(caller);
        turns.add_waiting(caller);
        turns.waiting.push(WaitingPiece { number, caller, is_refusable, turn: sender });
        let is_full = turns.free == 0
            && is_refusable
            && turns.waiting.iter().filter(|piece| piece.is_refusable).count() > self.places;
        let refused = is_full.then(|| turns.most_refusable()).flatten().map(|position| turns.leave(position));
        self.pass_on(turns);
        if let Some(piece) = refused {
            self.rejected.add(1);
            let _ = piece.turn.send(Err(Overloaded));
        }
        PlaceInQueue { queue: self, number, turn }
    }

    async fn turn(self: &Arc<Self>, caller: WorkCaller, is_refusable: bool) -> Result<FairTurn, Overloaded> {
        let mut place = self.wait(caller, is_refusable);
        (&mut place.turn).await.unwrap_or(Err(Overloaded))
    }

    /// Grants free turns to those who wait.
    fn pass_on(self: &Arc<Self>, mut turns: MutexGuard<'_, Turns>) {
        let mut unclaimed = Vec::new();
        while turns.free > 0
            && let Some(position) = turns.next()
        {
            let piece = turns.remove_waiting(position);
            turns.now = turns.now.max(turns.time(piece.caller));
            turns.free -= 1;
            let turn = FairTurn { queue: Arc::clone(self), caller: piece.caller, cost: Duration::ZERO };
            unclaimed.extend(piece.turn.send(Ok(turn)).err());
        }
        drop(turns);
        // Dropped without the lock, because each passes its turn on.
        drop(unclaimed);
    }

    fn end(self: &Arc<Self>, caller: WorkCaller, cost: Duration) {
        let mut turns = self.turns();
        turns.end(caller, cost);
        turns.free += 1;
        self.pass_on(turns);
    }

    /// Removes a piece whose caller does not wait any more.
    fn leave(&self, number: u64) {
        let mut turns = self.turns();
        if let Some(position) = turns.waiting.iter().position(|piece| piece.number == number) {
            turns.leave(position);
        }
    }
}

impl FairQueue {
    fn new(capacity: usize, places: usize) -> Self {
        let turns = Turns {
            free: capacity,
            waiting: Vec::new(),
            groups: HashMap::new(),
            batches: 0,
            now: 0,
            active: 0,
            last_number: 0,
            sweep_at: REMEMBERED,
        };
        let (turns, rejected, pieces) = (Mutex::new(turns), Counter::default(), Histogram::new());
        Self(Arc::new(Shared { capacity, places, turns, rejected, pieces }))
    }

    /// Runs a piece of work when it is the caller's turn, and adds its processor time to `meter`. A caller that is dropped
    /// while it waits leaves the queue.
    pub async fn run<T>(
        &self,
        caller: WorkCaller,
        meter: &WorkMeter,
        work: impl FnOnce() -> T,
    ) -> Result<T, Overloaded> {
        Ok(self.run_in(self.turn(caller, true).await?, meter, work))
    }

    async fn turn(&self, caller: WorkCaller, is_refusable: bool) -> Result<FairTurn, Overloaded> {
        self.0.turn(caller, is_refusable).await
    }

    /// Runs work in pieces: at its [pauses](platform::pause::point), it waits for another turn.
    fn run_in<T>(&self, turn: FairTurn, meter: &WorkMeter, work: impl FnOnce() -> T) -> T {
        let (queue, caller, runtime) = (Arc::clone(&turn.queue), turn.caller, runtime_of_several_threads());
        let (result, running) = run_in_place(|| {
            let running = RunningWork { turn: Some(turn), start: thread_time(), pieces: WorkMeter::default() };
            let running = Rc::new(RefCell::new(running));
            let shared = Rc::clone(&running);
            let pause = move || {
                let mut running = shared.borrow_mut();
                if let Some(runtime) = &runtime
                    && thread_time().saturating_sub(running.start) >= PIECE
                {
                    running.end_piece();
                    running.turn = runtime.block_on(queue.turn(caller, false)).ok();
                    running.start = thread_time();
                }
            };
            let result = with_pauses(Rc::new(pause), work);
            running.borrow_mut().end_piece();
            (result, running)
        });
        meter.add_pieces(&running.borrow().pieces);
        result
    }

    /// Adds a batch: work in many pieces, of which each waits for its turn. It keeps its place until it is dropped, so its
    /// pieces are never refused.
    pub fn batch<'q>(&'q self, caller: WorkCaller, meter: &'q WorkMeter) -> Result<QueuedBatch<'q>, BatchRefused> {
        let mut turns = self.0.turns();
        let own = turns.most(caller, |state, _| state.batches as u64);
        let is_full = turns.most(caller, |state, multiple| state.batches as u64 / multiple) >= BATCHES_OF_CALLER as u64;
        if is_full {
            return Err(BatchRefused::TooManyOfCaller);
        }
        if turns.batches >= if own > 0 { SHARED_BATCHES } else { BATCHES } {
            self.0.rejected.add(1);
            return Err(BatchRefused::Overloaded);
        }
        turns.batches += 1;
        for (group, _) in caller.groups() {
            turns.groups.entry(group).or_default().batches += 1;
        }
        Ok(QueuedBatch { queue: self, caller, meter })
    }

    pub fn usage(&self) -> QueueUsage {
        let turns = self.0.turns();
        QueueUsage {
            running: self.0.capacity - turns.free,
            waiting: turns.waiting.len(),
            rejected: self.0.rejected.get(),
        }
    }

    /// Processor time of the pieces that ran.
    pub fn pieces(&self) -> Observations {
        self.0.pieces.observations()
    }
}

impl Default for FairQueue {
    /// Leaves a processor to everything else, if there are several.
    fn default() -> Self {
        let capacity = available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).max(1);
        Self::new(capacity, WAITING * capacity)
    }
}

/// A place in the queue for many pieces of work. Dropping it leaves the queue.
pub struct QueuedBatch<'q> {
    queue: &'q FairQueue,
    caller: WorkCaller,
    meter: &'q WorkMeter,
}

impl QueuedBatch<'_> {
    pub async fn run<T>(&mut self, piece: impl FnOnce() -> T) -> T {
        let turn = self.queue.turn(self.caller, false).await.expect("a piece of a batch is never refused");
        self.queue.run_in(turn, self.meter, piece)
    }
}

impl Drop for QueuedBatch<'_> {
    fn drop(&mut self) {
        let mut turns = self.queue.0.turns();
        turns.batches -= 1;
        for (group, _) in self.caller.groups() {
            if let Some(state) = turns.groups.get_mut(&group) {
                state.batches -= 1;
            }
        }
        turns.forget(self.caller);
    }
}

#[cfg(test)]
mod tests;
