//! Batches: work in many pieces. Each piece waits for its turn behind all waiting work, so that a long batch delays
//! others by one piece. Only a few batches of one caller may wait, so that others find places.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;

use crate::quota::{ClientNetwork, KeyId, WorkQueue, client_networks, run_in_place};

pub const MAX_WAITING: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOwner {
    Key(KeyId),
    /// Counted like its rate limits: by its IPv4 /32, or by its IPv6 /64, /56 and /48.
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum BatchGroup {
    Key(KeyId),
    Network(ClientNetwork),
}

impl BatchOwner {
    fn groups(self) -> impl Iterator<Item = (BatchGroup, usize)> {
        let groups = match self {
            Self::Key(key) => [None, None, Some((BatchGroup::Key(key), 1))],
            Self::Address(address) => client_networks(address)
                .map(|network| network.map(|(network, multiple)| (BatchGroup::Network(network), multiple))),
        };
        groups.into_iter().flatten().map(|(group, multiple): (_, u32)| (group, MAX_WAITING * multiple as usize))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BatchRefused {
    #[error("too many look-ups are waiting; retry in a second")]
    Overloaded,
    #[error(
        "{MAX_WAITING} look-ups of this key or address are waiting for their turn, and no more may; send the next one when one of \
         them is answered"
    )]
    TooManyWaiting,
}

#[derive(Debug, Default)]
pub(super) struct WaitingBatches(Mutex<HashMap<BatchGroup, usize>>);

impl WaitingBatches {
    fn counts(&self) -> MutexGuard<'_, HashMap<BatchGroup, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, owner: BatchOwner) -> Option<WaitingBatch<'_>> {
        let mut counts = self.counts();
        let is_full = |(group, most): (BatchGroup, usize)| counts.get(&group).is_some_and(|count| *count >= most);
        if owner.groups().any(is_full) {
            return None;
        }
        Some(self.add(&mut counts, owner))
    }

    fn add(&self, counts: &mut HashMap<BatchGroup, usize>, owner: BatchOwner) -> WaitingBatch<'_> {
        owner.groups().for_each(|(group, _)| *counts.entry(group).or_default() += 1);
        WaitingBatch { batches: self, owner }
    }
}

struct WaitingBatch<'q> {
    batches: &'q WaitingBatches,
    owner: BatchOwner,
}

impl Drop for WaitingBatch<'_> {
    fn drop(&mut self) {
        let mut counts = self.batches.counts();
        self.owner.groups().for_each(|(group, _)| *counts.entry(group).or_default() -= 1);
        counts.retain(|_, count| *count > 0);
    }
}

/// A place in the queue for many pieces of work. Dropping it leaves the queue.
pub struct QueuedBatch<'q> {
    queue: &'q WorkQueue,
    owner: BatchOwner,
    /// `None` while a piece runs.
    waiting: Option<WaitingBatch<'q>>,
    _place: OwnedSemaphorePermit,
}

impl WorkQueue {
    /// Adds a batch. It keeps a place of its own until it is done, so its pieces are never refused.
    pub fn batch(&self, owner: BatchOwner) -> Result<QueuedBatch<'_>, BatchRefused> {
        let waiting = self.waiting_batches.enter(owner).ok_or(BatchRefused::TooManyWaiting)?;
        let place = Arc::clone(&self.batch_places).try_acquire_owned().inspect_err(|_| self.rejected.add(1));
        let place = place.map_err(|_| BatchRefused::Overloaded)?;
        Ok(QueuedBatch { queue: self, owner, waiting: Some(waiting), _place: place })
    }
}

impl QueuedBatch<'_> {
    pub async fn run<T>(&mut self, piece: impl FnOnce() -> T) -> T {
        let turn = self.queue.next_turn().await;
        self.waiting = None;
        let done = run_in_place(piece);
        let batches = &self.queue.waiting_batches;
        self.waiting = Some(batches.add(&mut batches.counts(), self.owner));
        drop(turn);
        done
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use futures_util::future::{join, join_all};
    use tokio::time::timeout;

    use super::*;
    use crate::quota::QueueUsage;

    fn key(number: i64) -> BatchOwner {
        BatchOwner::Key(KeyId(number))
    }

    fn address(text: &str) -> BatchOwner {
        BatchOwner::Address(text.parse().unwrap())
    }

    #[tokio::test]
    async fn a_piece_waits_behind_whatever_waits_already() {
        let queue = WorkQueue::new(1, 8);
        let order = Mutex::new(Vec::new());
        let note = |text: &'static str| order.lock().unwrap().push(text);
        let long = |name: &'static str, number: i64| {
            let queue = &queue;
            async move {
                let mut batch = queue.batch(key(number)).unwrap();
                for _ in 0..3 {
                    batch.run(|| note(name)).await;
                }
            }
        };
        let first = queue.turn().await.unwrap();
        let work = async {
            let search = async { queue.run(|| note("search")).await.unwrap() };
            join(join(long("one", 1), long("two", 2)), search).await;
        };
        let release = async { drop(first) };
        join(work, release).await;
        let expected = ["one", "two", "search", "one", "two", "one", "two"];
        assert_eq!(*order.lock().unwrap(), expected);
        assert_eq!(queue.usage(), QueueUsage::default());
    }

    #[tokio::test]
    async fn of_one_caller_four_batches_wait_and_others_are_not_refused() {
        let queue = WorkQueue::new(1, 32);
        let running = queue.turn().await.unwrap();
        let mut waiting: Vec<QueuedBatch<'_>> = (0..4).map(|_| queue.batch(key(1)).unwrap()).collect();
        assert_eq!(queue.batch(key(1)).err(), Some(BatchRefused::TooManyWaiting));
        let mut other = queue.batch(key(2)).unwrap();
        let mut search = Box::pin(queue.run(|| 7));
        assert!(timeout(Duration::ZERO, &mut search).await.is_err(), "it waits");
        assert_eq!(queue.usage(), QueueUsage { running: 1, waiting: 6, rejected: 0 });
        drop(running);
        assert_eq!((search.await, other.run(|| 8).await), (Ok(7), 8));
        // A batch with more pieces has its place, and counts once.
        join_all(waiting.iter_mut().map(|batch| async { (batch.run(|| 1).await, batch.run(|| 2).await) })).await;
        assert_eq!(queue.batch(key(1)).err(), Some(BatchRefused::TooManyWaiting));
        waiting.pop();
        assert!(queue.batch(key(1)).is_ok());
        drop((waiting, other));
        assert_eq!(queue.usage(), QueueUsage::default());
        assert!(queue.waiting_batches.counts().is_empty());
    }

    #[tokio::test]
    async fn a_batch_does_not_wait_while_a_piece_of_it_runs() {
        let queue = WorkQueue::new(1, 32);
        let mut batch = queue.batch(key(1)).unwrap();
        let admitted = batch.run(|| (0..4).map(|_| queue.batch(key(1))).collect::<Result<Vec<_>, _>>()).await;
        assert_eq!(admitted.unwrap().len(), 4);
    }

    #[tokio::test]
    async fn a_caller_that_leaves_gives_its_place_back() {
        let queue = WorkQueue::new(1, 2);
        let running = queue.turn().await.unwrap();
        for _ in 0..10 {
            let work = async { queue.batch(key(1)).unwrap().run(|| ()).await };
            assert!(timeout(Duration::ZERO, work).await.is_err());
        }
        drop(running);
        assert_eq!(queue.usage(), QueueUsage::default());
        assert!(queue.waiting_batches.counts().is_empty());
    }

    #[test]
    fn batches_leave_places_to_searches() {
        let queue = WorkQueue::new(1, 8);
        let batches: Vec<QueuedBatch<'_>> = (0..4).map(|number| queue.batch(key(number)).unwrap()).collect();
        assert_eq!(queue.batch(key(9)).err(), Some(BatchRefused::Overloaded));
        assert_eq!(queue.free_places(), 9);
        drop(batches);
        assert!(queue.batch(key(9)).is_ok());
    }

    #[test]
    fn addresses_of_a_network_share() {
        let queue = WorkQueue::new(1, 100);
        let fill = |texts: &[&str]| texts.iter().map(|text| queue.batch(address(text)).unwrap()).collect::<Vec<_>>();
        let waiting = fill(&["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"]);
        assert!(queue.batch(address("192.0.2.1")).is_err());
        let others = fill(&["192.0.2.2"]);
        let of_64 = fill(&["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"]);
        assert!(queue.batch(address("2001:db8::5")).is_err());
        let texts: Vec<String> = (0..12).map(|number| format!("2001:db8:0:{}::{number}", 1 + number / 4)).collect();
        let of_56 = fill(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(queue.batch(address("2001:db8:0:7::1")).is_err(), "the /56 has four times the share");
        assert!(queue.batch(address("2001:db8:0:100::1")).is_ok());
        drop((waiting, others, of_64, of_56));
        assert!(queue.waiting_batches.counts().is_empty());
    }
}
