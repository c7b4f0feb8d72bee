//! A bound on work that costs memory: a few run at once, a few wait, the rest is rejected at once.

use std::sync::Arc;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::task::block_in_place;

use platform::metrics::Counter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

pub(crate) struct WorkQueue {
    /// Number of turns at once, and number of places, reserved ones included.
    capacity: (usize, usize),
    rejected: Counter,
    running: Arc<Semaphore>,
    /// One permit for each caller that runs or waits.
    places: Arc<Semaphore>,
    /// Extra places for callers that [`WorkQueue::reserved_turn`] admits.
    reserved: Arc<Semaphore>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueUsage {
    pub running: usize,
    pub waiting: usize,
    pub rejected: u64,
}

pub(crate) type WorkTurn = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl WorkQueue {
    pub(crate) fn with_reserve(running: usize, waiting: usize, reserved: usize) -> Self {
        let capacity = (running, running + waiting + reserved);
        let [running, places, reserved] =
            [running, running + waiting, reserved].map(|permits| Arc::new(Semaphore::new(permits)));
        Self { capacity, rejected: Counter::default(), running, places, reserved }
    }

    /// Waits for a turn. A caller that is dropped while it waits leaves the queue.
    pub(crate) async fn turn(&self) -> Result<WorkTurn, Overloaded> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        self.wait(place).await
    }

    /// As [`WorkQueue::turn`]; if the queue is full, in one of the reserved places.
    pub(crate) async fn reserved_turn(&self) -> Result<WorkTurn, Overloaded> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        self.wait(place.or_else(|_| Arc::clone(&self.reserved).try_acquire_owned())).await
    }

    async fn wait(&self, place: Result<OwnedSemaphorePermit, TryAcquireError>) -> Result<WorkTurn, Overloaded> {
        let place = place.inspect_err(|_| self.rejected.add(1)).map_err(|_| Overloaded)?;
        let turn = Arc::clone(&self.running).acquire_owned().await.expect("the queue is never closed");
        Ok((turn, place))
    }

    pub(crate) fn usage(&self) -> QueueUsage {
        let (running, places) = self.capacity;
        let running = running - self.running.available_permits();
        let free = [&self.places, &self.reserved].map(|places| places.available_permits());
        let occupied = places - free.iter().sum::<usize>();
        QueueUsage { running, waiting: occupied.saturating_sub(running), rejected: self.rejected.get() }
    }
}

/// Runs work that blocks on this thread; the other tasks of a worker of the runtime continue on another.
pub(crate) fn run_in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    impl WorkQueue {
        /// The number of callers that could enter now.
        pub(crate) fn free_places(&self) -> usize {
            self.places.available_permits()
        }

        /// Fills the queue, except for the reserved places, until the result is dropped.
        pub(crate) fn fill(&self) -> OwnedSemaphorePermit {
            let places = Arc::clone(&self.places);
            let free = u32::try_from(places.available_permits()).unwrap();
            places.try_acquire_many_owned(free).unwrap()
        }
    }

    #[tokio::test]
    async fn reserved_places_are_for_some_callers_only() {
        let queue = WorkQueue::with_reserve(1, 1, 1);
        let running = queue.running.clone().acquire_owned().await.unwrap();
        let mut first = Box::pin(queue.turn());
        let mut second = Box::pin(queue.turn());
        let mut reserved = Box::pin(queue.reserved_turn());
        assert!(
            timeout(Duration::ZERO, &mut first).await.is_err() && timeout(Duration::ZERO, &mut second).await.is_err()
        );
        assert!(queue.turn().await.is_err(), "the queue is full");
        assert!(timeout(Duration::ZERO, &mut reserved).await.is_err(), "it waits");
        assert!(queue.reserved_turn().await.is_err());
        assert_eq!(queue.usage(), QueueUsage { running: 1, waiting: 2, rejected: 2 });
        drop((first, second, running));
        assert!(reserved.await.is_ok());
        assert_eq!(queue.usage(), QueueUsage { running: 0, waiting: 0, rejected: 2 });
    }

    #[tokio::test]
    async fn a_caller_that_leaves_gives_its_place_back() {
        let queue = WorkQueue::with_reserve(1, 1, 0);
        let running = queue.running.acquire().await.unwrap();
        for _ in 0..10 {
            assert!(timeout(Duration::ZERO, queue.turn()).await.is_err());
        }
        drop(running);
        assert!(queue.turn().await.is_ok());
    }
}
