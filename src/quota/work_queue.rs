//! A bound on work that costs processor time or memory: a few run at once, a few wait, the rest is rejected at once.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;

/// Work that may wait for each that runs: some tens of milliseconds.
const WAITING: usize = 32;

/// Too much work waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

pub struct WorkQueue {
    running: Arc<Semaphore>,
    /// One permit for each that runs or waits.
    places: Arc<Semaphore>,
}

/// The right to work, until it is dropped.
pub(crate) struct Turn {
    _running: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl WorkQueue {
    pub(crate) fn new(running: usize, waiting: usize) -> Self {
        Self { running: Arc::new(Semaphore::new(running)), places: Arc::new(Semaphore::new(running + waiting)) }
    }

    /// Waits for a turn. A caller that is dropped while it waits leaves the queue.
    pub(crate) async fn turn(&self) -> Result<Turn, Overloaded> {
        let _place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Overloaded)?;
        let _running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| Overloaded)?;
        Ok(Turn { _running, _place })
    }

    /// The number of callers that could enter now.
    #[cfg(test)]
    pub(crate) fn free_places(&self) -> usize {
        self.places.available_permits()
    }

    /// Runs `work` when it is its turn.
    pub async fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, Overloaded> {
        let _turn = self.turn().await?;
        Ok(match Handle::current().runtime_flavor() {
            // The other tasks of this worker continue on another thread.
            RuntimeFlavor::MultiThread => block_in_place(work),
            _ => work(),
        })
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

    use super::*;

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
        assert_eq!(queue.run(|| ()).await, Err(Overloaded));
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
            assert!(tokio::time::timeout(std::time::Duration::ZERO, queue.run(|| ())).await.is_err());
        }
        drop(running);
        assert_eq!(queue.run(|| 7).await, Ok(7));
    }
}
