//! Password hashing: a hash costs 50 ms and 19 MiB, so only a few run at once, in memory allocated once. Who waits is in the
//! [`line`](crate::password::line).

use std::sync::{Arc, Mutex, PoisonError};

use crate::password::Secret;
use crate::password::hash::{HashMemory, PasswordHash};
use crate::password::line::{EnteredBy, MAX_WAIT, PasswordQueue};
use crate::{AccountError, AccountResult, RetryAfter};
use platform::metrics::Counter;

pub(crate) const CONCURRENT: usize = 2;

pub(crate) struct PasswordHasher {
    pub(crate) queue: Arc<PasswordQueue>,
    memories: Arc<Mutex<Vec<HashMemory>>>,
    verified: Counter,
}

/// The password waited in vain, or the server is shutting down.
fn busy<E>(_: E) -> AccountError {
    AccountError::Busy(RetryAfter { seconds: 2 })
}

impl Default for PasswordHasher {
    fn default() -> Self {
        Self { queue: Arc::new(PasswordQueue::new(CONCURRENT)), memories: Arc::default(), verified: Counter::default() }
    }
}

impl PasswordHasher {
    pub(crate) async fn hash(&self, secret: Secret, by: EnteredBy) -> AccountResult<PasswordHash> {
        self.run(by, move |memory| PasswordHash::compute(&secret, memory)).await?.map_err(AccountError::from)
    }

    /// Without a hash, takes as long and returns false.
    pub(crate) async fn verify(&self, secret: Secret, of: Option<PasswordHash>, by: EnteredBy) -> AccountResult<bool> {
        let is_known = of.is_some();
        let hash = of.unwrap_or_else(PasswordHash::dummy);
        let matches = self.run(by, move |memory| hash.matches(&secret, memory)).await?;
        self.verified.add(1);
        Ok(matches && is_known)
    }

    async fn run<T: Send + 'static>(
        &self,
        by: EnteredBy,
        work: impl FnOnce(&mut HashMemory) -> T + Send + 'static,
    ) -> AccountResult<T> {
        let turn = self.queue.turn(by, MAX_WAIT).await.map_err(busy)?;
        let memories = Arc::clone(&self.memories);
        // The work continues if the caller is gone, and keeps its turn until it is done.
        let work_in_turn = move || {
            let taken = memories.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut memory = taken.unwrap_or_default();
            let result = work(&mut memory);
            memories.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
            drop(turn);
            result
        };
        tokio::task::spawn_blocking(work_in_turn).await.map_err(busy)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::quota::{QueueUsage, sign_in_network};

    impl PasswordHasher {
        /// Number of verifications, including those without a hash.
        pub(crate) fn verified(&self) -> u64 {
            self.verified.get()
        }
    }

    fn secret() -> Secret {
        Secret::new("glacier violin lantern")
    }

    fn stranger(number: u8) -> EnteredBy {
        EnteredBy::Stranger { network: sign_in_network(IpAddr::from([192, 0, number, 1])), arrived_at: 0 }
    }

    #[tokio::test]
    async fn a_password_is_hashed_with_a_fresh_salt_and_verified() {
        let hasher = PasswordHasher::default();
        let hash = hasher.hash(secret(), stranger(1)).await.unwrap();
        assert_ne!(hasher.hash(secret(), stranger(1)).await.unwrap(), hash);
        assert!(hasher.verify(secret(), Some(hash.clone()), stranger(1)).await.unwrap());
        assert!(!hasher.verify(Secret::new("glacier violin lamp"), Some(hash), stranger(1)).await.unwrap());
        assert_eq!(hasher.verified(), 2);
    }

    #[tokio::test]
    async fn without_a_hash_as_much_is_computed() {
        let hasher = PasswordHasher::default();
        assert!(!hasher.verify(secret(), None, stranger(1)).await.unwrap());
        assert_eq!(hasher.verified(), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_few_run_at_once_and_the_rest_waits() {
        const WAITING: usize = 30;
        let hasher = Arc::new(PasswordHasher::default());
        let running = Arc::new(AtomicU64::new(0));
        let max_running = Arc::new(AtomicU64::new(0));
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let tasks: Vec<_> = (0..CONCURRENT + WAITING)
            .map(|number| {
                let (hasher, running, max_running, released) =
                    (hasher.clone(), running.clone(), max_running.clone(), released.clone());
                tokio::spawn(async move {
                    let work = move |_: &mut HashMemory| {
                        max_running.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        released.lock().unwrap().recv().unwrap();
                        running.fetch_sub(1, Ordering::SeqCst);
                    };
                    hasher.run(stranger(number as u8), work).await.unwrap();
                })
            })
            .collect();
        let all = QueueUsage { running: CONCURRENT, waiting: WAITING, rejected: 0 };
        while hasher.queue.usage() != all || running.load(Ordering::SeqCst) < CONCURRENT as u64 {
            tokio::task::yield_now().await;
        }
        for _ in &tasks {
            release.send(()).unwrap();
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(max_running.load(Ordering::SeqCst), CONCURRENT as u64);
        assert!(hasher.verify(secret(), None, stranger(1)).await.is_ok());
    }

    #[tokio::test]
    async fn a_caller_that_leaves_the_queue_returns_its_turn() {
        let hasher = PasswordHasher::default();
        for _ in 0..100 {
            let verify = hasher.verify(secret(), None, stranger(1));
            drop(tokio::time::timeout(std::time::Duration::ZERO, verify).await);
        }
        // Those that had started finish by themselves.
        while hasher.queue.usage().running > 0 {
            tokio::task::yield_now().await;
        }
        assert!(hasher.verify(secret(), None, stranger(1)).await.is_ok());
    }
}
