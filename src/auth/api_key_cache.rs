//! The keys in memory, found by the digest of what a caller sends.

use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::auth::KeyState;
use crate::auth::{ApiKey, AuthError, KeyDigest};

/// All keys that are known, those that were revoked included.
#[derive(Debug, Default)]
pub struct ApiKeyCache {
    /// By the first half of the digest: a prefix of a SHA-256 says nothing about a key that one does not have, and the
    /// whole is compared in constant time.
    keys: DashMap<u128, KeyState, RandomState>,
}

impl ApiKeyCache {
    /// Takes up a key, or its new state.
    pub fn put(&self, state: KeyState) {
        self.keys.insert(state.digest.handle(), state);
    }

    /// The state of a key that is not revoked.
    pub fn find(&self, key: &ApiKey) -> Result<KeyState, AuthError> {
        let digest: KeyDigest = key.digest();
        match self.keys.get(&digest.handle()) {
            Some(state) if state.digest != digest => Err(AuthError::Invalid),
            Some(state) if state.revoked => Err(AuthError::Revoked),
            Some(state) => Ok(*state),
            None => Err(AuthError::Invalid),
        }
    }
}
