//! A bound on work that costs processor time or memory: a few run at once, a few wait, the rest is rejected at once.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;

use crate::quota::batch::WaitingBatches;
use platform::metrics::Counter;

/// Pieces of work that may wait for each one that runs: some tens of milliseconds.
const WAITING: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

pub struct WorkQueue {
    /// Number of turns at once, and number of places.
    capacity: (usize, usize),
    pub(super) rejected: Counter,
    running: Arc<Semaphore>,
    /// One permit for each caller that runs or waits.
    places: Arc<Semaphore>,
    /// Extra places for batches: half as many as may wait.
    pub(super) batch_places: Arc<Semaphore>,
    pub(super) waiting_batches: WaitingBatches,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueUsage {
    pub running: usize,
    pub waiting: usize,
    pub rejected: u64,
}

pub(crate) type WorkTurn = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl WorkQueue {
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        let batches = waiting / 2;
        let capacity = (running, running + waiting + batches);
        let [running, places, batch_places] =
            [running, running + waiting, batches].map(|permits| Arc::new(Semaphore::new(permits)));
        let (rejected, waiting_batches) = (Counter::default(), WaitingBatches::default());
        Self { capacity, rejected, running, places, batch_places, waiting_batches }
    }

    /// Waits for a turn. A caller that is dropped while it waits leaves the queue.
    pub(crate) async fn turn(&self) -> Result<WorkTurn, Overloaded> {
        let place = Arc::clone(&self.places).try_acquire_owned().inspect_err(|_| self.rejected.add(1));
        let place = place.map_err(|_| Overloaded)?;
        Ok((self.next_turn().await, place))
    }

    /// Waits until it is the turn of a caller that has a place, behind all who wait already.
    pub(super) async fn next_turn(&self) -> OwnedSemaphorePermit {
        Arc::clone(&self.running).acquire_owned().await.expect("the queue is never closed")
    }

    pub fn usage(&self) -> QueueUsage {
        let (running, places) = self.capacity;
        let running = running - self.running.available_permits();
        let free = [&self.places, &self.batch_places].map(|places| places.available_permits());
        let occupied = places - free.iter().sum::<usize>();
        QueueUsage { running, waiting: occupied.saturating_sub(running), rejected: self.rejected.get() }
    }

    pub async fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, Overloaded> {
        let _turn = self.turn().await?;
        Ok(run_in_place(work))
    }
}

/// Runs work that blocks on this thread; the other tasks of a worker of the runtime continue on another.
pub(crate) fn run_in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}

impl Default for WorkQueue {
    /// Leaves a processor to everything else, if there are several.
    fn default() -> Self {
        let running = available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).max(1);
        Self::new(running, WAITING * running)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    impl WorkQueue {
        /// The number of callers that could enter now.
        pub(crate) fn free_places(&self) -> usize {
            self.places.available_permits()
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_few_run_at_once_some_wait_and_the_rest_is_rejected() {
        let queue = Arc::new(WorkQueue::new(2, 3));
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let tasks: Vec<_> = (0..5)
            .map(|_| {
                let (queue, running, most, released) = (queue.clone(), running.clone(), most.clone(), released.clone());
                tokio::spawn(async move {
                    let work = || {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        released.lock().unwrap().recv().unwrap();
                        running.fetch_sub(1, Ordering::SeqCst);
                    };
                    queue.run(work).await.unwrap();
                })
            })
            .collect();
        while queue.free_places() > 0 || running.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.usage(), QueueUsage { running: 2, waiting: 3, rejected: 0 });
        assert_eq!(queue.run(|| ()).await, Err(Overloaded));
        assert_eq!(queue.usage(), QueueUsage { running: 2, waiting: 3, rejected: 1 });
        tasks.iter().for_each(|_| release.send(()).unwrap());
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!((most.load(Ordering::SeqCst), queue.run(|| 7).await), (2, Ok(7)));
    }

    #[tokio::test]
    async fn a_caller_that_leaves_gives_its_place_back() {
        let queue = WorkQueue::new(1, 1);
        let running = queue.running.acquire().await.unwrap();
        for _ in 0..10 {
            assert!(timeout(Duration::ZERO, queue.run(|| ())).await.is_err());
        }
        drop(running);
        assert_eq!(queue.run(|| 7).await, Ok(7));
    }
}
