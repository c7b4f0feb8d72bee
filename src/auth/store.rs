//! The store behind the keys: what must outlive the process.
//!
//! All calls block and may wait for another process; on a runtime they belong on its blocking threads. Deciding about a
//! request never asks the store: the tables in memory are filled from it and written back behind.

use crate::data::Date;

use crate::auth::account::{Account, AccountId, CounterId, Email, KeyId, KeyName, KeyRecord, KeyRef};
use crate::auth::password::hash::PasswordHash;
use crate::auth::session::{Session, SessionDigest};
use crate::auth::{ApiKey, KeyDigest, MaskedKey, StoreError};
use crate::quota::Tier;

/// Where accounts, keys and usage are kept. Several processes may use one store at the same time.
///
/// Keys are revoked, never removed, so that a revoked key is told from an unknown one. What a call has answered outlives
/// a crash, usage that of the process only.
pub trait Store: Send + Sync {
    /// Makes an account, which can sign in at once where it has a password. `now` is Unix seconds, here and below.
    ///
    /// # Errors
    /// [`StoreError::AccountExists`].
    fn create_account(
        &self,
        email: &Email,
        tier: Tier,
        password: Option<&PasswordHash>,
        now: i64,
    ) -> Result<Account, StoreError>;

    /// The account of an address.
    ///
    /// # Errors
    /// [`StoreError::NoSuchAccount`].
    fn account(&self, email: &Email) -> Result<Account, StoreError>;

    /// All accounts, by address.
    ///
    /// # Errors
    /// Where the store fails.
    fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Changes an account's tier, unless it has more active keys than the new one allows.
    ///
    /// # Errors
    /// [`StoreError::NoSuchAccount`], [`StoreError::TooManyKeys`].
    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, StoreError>;

    /// What the account of an address signs in with.
    ///
    /// # Errors
    /// [`StoreError::NoSuchAccount`].
    fn credentials(&self, email: &Email) -> Result<Credentials, StoreError>;

    /// Sets an account's password and ends all its sessions but `keep`, both or nothing. With `of`, only while that
    /// version is the account's: what was verified against it holds.
    ///
    /// # Errors
    /// [`StoreError::AccountGone`], [`StoreError::PasswordChanged`].
    fn set_password(
        &self,
        account: AccountId,
        of: Option<PasswordVersion>,
        password: &PasswordHash,
        keep: Option<&SessionDigest>,
    ) -> Result<(), StoreError>;

    /// Puts another hash of the same password in the place of the one of version `of`; version and sessions stay.
    ///
    /// # Errors
    /// [`StoreError::AccountGone`], [`StoreError::PasswordChanged`].
    fn rehash_password(
        &self,
        account: AccountId,
        of: PasswordVersion,
        password: &PasswordHash,
    ) -> Result<(), StoreError>;

    /// Deletes an account with its e-mail address, password, sessions and usage. Its keys are revoked and stay as digests
    /// without name or short form. Its address may sign up anew. With `of`, only while that version is the account's.
    ///
    /// # Errors
    /// [`StoreError::AccountGone`], [`StoreError::PasswordChanged`].
    fn delete_account(&self, account: AccountId, of: Option<PasswordVersion>, now: i64) -> Result<(), StoreError>;

    /// Begins a session, which ends at `expires_at`, unless another password was set since `of`.
    ///
    /// # Errors
    /// [`StoreError::AccountGone`], [`StoreError::PasswordChanged`].
    fn add_session(
        &self,
        account: AccountId,
        of: PasswordVersion,
        session: &SessionDigest,
        now: i64,
        expires_at: i64,
    ) -> Result<(), StoreError>;

    /// The session of a token, with its account as it is now; `None` where there is none that lives.
    ///
    /// # Errors
    /// Where the store fails.
    fn session(&self, session: &SessionDigest, now: i64) -> Result<Option<Session>, StoreError>;

    /// Ends a session; false where there was none.
    ///
    /// # Errors
    /// Where the store fails.
    fn end_session(&self, session: &SessionDigest) -> Result<bool, StoreError>;

    /// Forgets the sessions that have expired, and tells how many.
    ///
    /// # Errors
    /// Where the store fails.
    fn end_expired_sessions(&self, now: i64) -> Result<usize, StoreError>;

    /// Adds `key` to an account, unless the tier's number of active keys is reached. Where a key of the account was
    /// revoked on the same day (UTC), the new one takes over its counter.
    ///
    /// # Errors
    /// [`StoreError::AccountGone`], [`StoreError::KeysUsedUp`].
    fn create_key(&self, account: AccountId, name: &KeyName, key: &ApiKey, now: i64) -> Result<KeyRecord, StoreError>;

    /// The keys of an account (`None`: of all), by number, with their usage on `today`.
    ///
    /// # Errors
    /// Where the store fails.
    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key. One that was revoked before stays as it was: its `revoked_at` is then earlier than `now`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchKey`], [`StoreError::AmbiguousKey`].
    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, StoreError>;

    /// The keys that were made, revoked or given another tier after `since` (0: all keys). Cheap where nothing was.
    ///
    /// # Errors
    /// Where the store fails.
    fn changes(&self, since: i64) -> Result<Changes, StoreError>;

    /// The usage of all keys on one day.
    ///
    /// # Errors
    /// Where the store fails.
    fn usage(&self, day: Date) -> Result<Vec<Usage>, StoreError>;

    /// The usage of an account's keys from `first` to `last`, by day and key; where nothing was used, nothing is told.
    ///
    /// # Errors
    /// Where the store fails.
    fn usage_of(&self, account: AccountId, first: Date, last: Date) -> Result<Vec<DayUsage>, StoreError>;

    /// Adds to the usage of keys, all of it or nothing, and notes `now` as their last use. Returns, in the same order,
    /// what is counted then: more than was added here where another process counts too, 0 for a key whose account was
    /// deleted.
    ///
    /// # Errors
    /// Where the store fails; nothing was added then.
    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, StoreError>;

    /// The secret that signs cursors; `fresh` becomes it where there is none.
    ///
    /// # Errors
    /// Where the store fails.
    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], StoreError>;
}

/// What deciding about a key needs to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyState {
    /// Its number.
    pub id: KeyId,
    /// The counter it counts on.
    pub counter: CounterId,
    /// Its account; `None` for a key that lives in this process only, or whose account was deleted.
    pub account: Option<AccountId>,
    /// The account's tier.
    pub tier: Tier,
    /// True once it was revoked.
    pub revoked: bool,
    /// SHA-256 of the key.
    pub digest: KeyDigest,
    /// First 8 and last 4 characters.
    pub shown: MaskedKey,
}

/// What an account signs in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The account.
    pub account: AccountId,
    /// The hash of its password; `None`: it cannot sign in.
    pub password: Option<PasswordHash>,
    /// Which of its passwords this is.
    pub version: PasswordVersion,
}

/// How often an account's password was set, so that what was verified against one is not carried out under another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordVersion(pub i64);

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

/// Requests of one key of an account on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUsage {
    /// The day.
    pub day: Date,
    /// The key.
    pub key: KeyId,
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
