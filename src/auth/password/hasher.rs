//! The queue before the hashing: it costs 50 ms and 19 MB each time, so that only a few run at once, off the runtime.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;

use crate::auth::StoreError;
use crate::auth::password::Secret;
use crate::auth::password::hash::PasswordHash;

/// Passwords that are hashed at once.
pub const AT_ONCE: usize = 2;
/// Passwords that may wait, about a second's worth; more are turned away.
pub const QUEUE: usize = 32;

/// Hashes and verifies passwords.
#[derive(Debug)]
pub struct Hasher {
    /// One permit for each that runs or waits.
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    verified: AtomicU64,
}

/// Why nothing was hashed.
#[derive(Debug)]
pub enum HashError {
    /// Too many wait already.
    Busy,
    /// The server is ending.
    Ending,
    /// The system gave no randomness, or the hashing reported an error.
    Failed(StoreError),
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many passwords are looked at: try again in some seconds"),
            Self::Ending => f.write_str("the server is ending: try again in some seconds"),
            Self::Failed(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for HashError {}

impl Default for Hasher {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(AT_ONCE + QUEUE)),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            verified: AtomicU64::new(0),
        }
    }
}

impl Hasher {
    /// Hashes a secret that is a password.
    ///
    /// # Errors
    /// [`HashError`].
    pub async fn hash(&self, secret: Secret) -> Result<PasswordHash, HashError> {
        self.run(move || PasswordHash::of(&secret)).await?.map_err(HashError::Failed)
    }

    /// Whether a secret is the password that `hash` was made from. Without one it takes as long and is wrong.
    ///
    /// # Errors
    /// [`HashError`].
    pub async fn verify(&self, secret: Secret, hash: Option<PasswordHash>) -> Result<bool, HashError> {
        let fits = self.run(move || match hash {
            Some(hash) => hash.fits(&secret),
            None => {
                PasswordHash::of_nobody().fits(&secret);
                false
            }
        });
        let fits = fits.await?;
        self.verified.fetch_add(1, Ordering::Relaxed);
        Ok(fits)
    }

    /// How often a secret was verified, also where there was nothing to verify it against.
    #[must_use]
    pub fn verified(&self) -> u64 {
        self.verified.load(Ordering::Relaxed)
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| HashError::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| HashError::Ending)?;
        // The work goes on where the caller is gone, and keeps its turn and place until it is done.
        let held = move || {
            let done = work();
            drop((turn, place));
            done
        };
        tokio::task::spawn_blocking(held).await.map_err(|_| HashError::Ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::given("glacier violin lantern")
    }

    #[tokio::test]
    async fn a_password_is_hashed_with_a_fresh_salt_and_verified() {
        let hasher = Hasher::default();
        let hash = hasher.hash(secret()).await.unwrap();
        assert_ne!(hasher.hash(secret()).await.unwrap(), hash);
        assert!(hasher.verify(secret(), Some(hash.clone())).await.unwrap());
        assert!(!hasher.verify(Secret::given("glacier violin lamp"), Some(hash)).await.unwrap());
        assert_eq!(hasher.verified(), 2);
    }

    #[tokio::test]
    async fn where_there_is_no_hash_as_much_is_computed() {
        let hasher = Hasher::default();
        assert!(!hasher.verify(secret(), None).await.unwrap());
        assert_eq!(hasher.verified(), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_few_run_at_once_some_wait_and_the_rest_is_turned_away() {
        let hasher = Arc::new(Hasher::default());
        let running = Arc::new(AtomicU64::new(0));
        let most = Arc::new(AtomicU64::new(0));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        let tasks: Vec<_> = (0..AT_ONCE + QUEUE)
            .map(|_| {
                let (hasher, running, most, held) = (hasher.clone(), running.clone(), most.clone(), held.clone());
                tokio::spawn(async move {
                    let work = move || {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        held.lock().unwrap().recv().unwrap();
                        running.fetch_sub(1, Ordering::SeqCst);
                    };
                    hasher.run(work).await.unwrap();
                })
            })
            .collect();
        while hasher.places.available_permits() > 0 || running.load(Ordering::SeqCst) < AT_ONCE as u64 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(hasher.hash(secret()).await, Err(HashError::Busy)));
        assert!(matches!(hasher.verify(secret(), None).await, Err(HashError::Busy)));
        assert_eq!(hasher.verified(), 0);
        for _ in &tasks {
            release.send(()).unwrap();
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), AT_ONCE as u64);
        assert!(hasher.verify(secret(), None).await.is_ok());
    }

    #[tokio::test]
    async fn who_leaves_the_queue_gives_the_place_back() {
        let hasher = Hasher::default();
        for _ in 0..3 * QUEUE {
            let verify = hasher.verify(secret(), None);
            drop(tokio::time::timeout(std::time::Duration::ZERO, verify).await);
        }
        // Those that had begun end by themselves.
        while hasher.places.available_permits() < AT_ONCE + QUEUE {
            tokio::task::yield_now().await;
        }
        assert!(hasher.verify(secret(), None).await.is_ok());
    }
}
