use dashmap::DashMap;
use foldhash::fast::RandomState;

use crate::{ApiKey, AuthError, KeyState};

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

    /// `now` is Unix seconds: a key expires without a change in the store.
    pub(crate) fn find(&self, key: &ApiKey, now: i64) -> Result<KeyState, AuthError> {
        let digest = key.digest();
        match self.keys.get(&digest.first_half()) {
            Some(state) if state.digest != digest => Err(AuthError::Invalid),
            Some(state) if state.revoked => Err(AuthError::Revoked),
            Some(state) if state.expires_at.is_some_and(|end| end <= now) => Err(AuthError::Expired),
            Some(state) => Ok(*state),
            None => Err(AuthError::Invalid),
        }
    }
}
