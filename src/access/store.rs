//! The store behind the keys: what must outlive the process.
//!
//! All calls block and may wait for another process; on a runtime they belong on its blocking threads. Deciding about a
//! request never asks the store: the tables in memory are filled from it and written back behind.

use crate::dataset::Date;

use super::account::{Account, AccountId, CounterId, Email, KeyId, KeyName, KeyRecord, KeyRef};
use super::{AccessError, ApiKey, KeyDigest, ShownKey, Tier};

/// Where accounts, keys and usage are kept. Several processes may use one store at the same time.
///
/// Keys are revoked, never removed, so that a revoked key is told from an unknown one.
pub trait Store: Send + Sync {
    /// Makes an account. `now` is Unix seconds, here and below.
    ///
    /// # Errors
    /// [`AccessError::AccountExists`].
    fn create_account(&self, email: &Email, tier: Tier, now: i64) -> Result<Account, AccessError>;

    /// The account of an address.
    ///
    /// # Errors
    /// [`AccessError::NoSuchAccount`].
    fn account(&self, email: &Email) -> Result<Account, AccessError>;

    /// All accounts, by address.
    ///
    /// # Errors
    /// Where the store fails.
    fn accounts(&self) -> Result<Vec<Account>, AccessError>;

    /// Changes an account's tier, unless it has more active keys than the new one allows.
    ///
    /// # Errors
    /// [`AccessError::NoSuchAccount`], [`AccessError::TooManyKeys`].
    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, AccessError>;

    /// Adds `key` to an account, unless the tier's number of active keys is reached. Where a key of the account was
    /// revoked on the same day (UTC), the new one takes over its counter.
    ///
    /// # Errors
    /// [`AccessError::NoSuchAccount`], [`AccessError::KeysUsedUp`].
    fn create_key(&self, email: &Email, name: &KeyName, key: &ApiKey, now: i64) -> Result<KeyRecord, AccessError>;

    /// The keys of an account (`None`: of all), by number, with their usage on `today`.
    ///
    /// # Errors
    /// Where the store fails.
    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, AccessError>;

    /// Revokes a key. One that was revoked before stays as it was: its `revoked_at` is then earlier than `now`.
    ///
    /// # Errors
    /// [`AccessError::NoSuchKey`], [`AccessError::AmbiguousKey`].
    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, AccessError>;

    /// The keys that were made, revoked or given another tier after `since` (0: all keys). Cheap where nothing was.
    ///
    /// # Errors
    /// Where the store fails.
    fn changes(&self, since: i64) -> Result<Changes, AccessError>;

    /// The usage of all keys on one day.
    ///
    /// # Errors
    /// Where the store fails.
    fn usage(&self, day: Date) -> Result<Vec<Usage>, AccessError>;

    /// Adds to the usage of keys, all of it or nothing, and notes `now` as their last use. Returns, in the same order,
    /// what is counted then: more than was added here where another process counts too.
    ///
    /// # Errors
    /// Where the store fails; nothing was added then.
    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, AccessError>;

    /// The secret that signs cursors; `fresh` becomes it where there is none.
    ///
    /// # Errors
    /// Where the store fails.
    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], AccessError>;
}

/// What deciding about a key needs to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyState {
    /// Its number.
    pub id: KeyId,
    /// The counter it counts on.
    pub counter: CounterId,
    /// Its account; `None` for a key that lives in this process only.
    pub account: Option<AccountId>,
    /// The account's tier.
    pub tier: Tier,
    /// True once it was revoked.
    pub revoked: bool,
    /// SHA-256 of the key.
    pub digest: KeyDigest,
    /// First 8 and last 4 characters.
    pub shown: ShownKey,
}

/// What [`Store::changes`] answers.
#[derive(Debug)]
pub struct Changes {
    /// To be given as `since` the next time.
    pub mark: i64,
    /// The keys that changed, as they are now.
    pub keys: Vec<KeyState>,
}

/// Requests of one key on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The key.
    pub key: KeyId,
    /// The counter it counts on.
    pub counter: CounterId,
    /// How many were counted.
    pub requests: u32,
}

/// What is to be added to a key's usage on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedUsage {
    /// The key.
    pub key: KeyId,
    /// The counter it counts on.
    pub counter: CounterId,
    /// The day.
    pub day: Date,
    /// How many; negative where more were given back than taken.
    pub requests: i64,
}
