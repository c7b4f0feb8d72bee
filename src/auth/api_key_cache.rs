use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::auth::{ApiKey, AuthError, KeyState};

/// All keys in memory, revoked ones included.
#[derive(Debug, Default)]
pub(crate) struct ApiKeyCache {
    /// By the first half of the digest. Half of a SHA-256 reveals nothing about an unknown key; the full digest is compared
    /// in constant time.
    keys: DashMap<u128, KeyState, RandomState>,
}

impl ApiKeyCache {
    /// Returns the earlier state of the key.
    pub(crate) fn put(&self, state: KeyState) -> Option<KeyState> {
        self.keys.insert(state.digest.first_half(), state)
    }

    pub(crate) fn find(&self, key: &ApiKey) -> Result<KeyState, AuthError> {
        let digest = key.digest();
        match self.keys.get(&digest.first_half()) {
            Some(state) if state.digest != digest => Err(AuthError::Invalid),
            Some(state) if state.revoked => Err(AuthError::Revoked),
            Some(state) => Ok(*state),
            None => Err(AuthError::Invalid),
        }
    }
}
