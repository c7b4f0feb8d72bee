//! Persistent accounts, keys, sessions and usage.

use crate::account::{Account, AccountId, Email, KeyName, KeyRecord, KeyRef, Rotation};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::quota::{
    AddedUsage, CountedWindow, CounterId, Grant, KeyId, LeaseRequest, SharedWindow, StoredUsage, Tier, UnusedUnits,
};
use crate::session::{ListedSession, NewSession, Session, SessionDigest, SessionId};
use crate::totp::{RecoveryDigest, TotpSecret};
use crate::watch::WatchStore;
use crate::{ApiKey, KeyDigest, MaskedKey, StoreError};
use data::Date;
use platform::metrics::Observations;

/// Several processes may use one store at the same time. All calls block.
///
/// Keys are revoked, never deleted, so that a revoked key can be distinguished from an unknown one. Changes survive a crash of
/// the machine once the call returned; usage survives a crash of the process.
///
/// `now` is Unix seconds. Every call can fail with [`StoreError::Busy`] or [`StoreError::Database`]; other errors are
/// named. A `password` version restricts a change to an account that still has the password of this version, so that a
/// verification of it still holds. The change fails with [`StoreError::PasswordChanged`] otherwise.
pub trait Store: Send + Sync {
    /// Saved searches, lists and their alerts.
    fn watch_store(&self) -> &dyn WatchStore;

    /// The account is unverified. Without a password it cannot sign in. [`StoreError::AccountExists`].
    fn create_account(
        &self,
        email: &Email,
        tier: Tier,
        password: Option<&PasswordHash>,
        now: i64,
    ) -> Result<Account, StoreError>;

    /// [`StoreError::NoSuchAccount`].
    fn account(&self, email: &Email) -> Result<Account, StoreError>;

    /// [`StoreError::AccountGone`].
    fn account_by_id(&self, account: AccountId) -> Result<Account, StoreError>;

    /// Marks an account as verified; one that already is stays unchanged. [`StoreError::AccountGone`].
    fn verify_account(&self, account: AccountId, now: i64) -> Result<Account, StoreError>;

    /// All accounts, by e-mail address.
    fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// [`StoreError::NoSuchAccount`], [`StoreError::TooManyKeys`].
    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, StoreError>;

    /// Makes an account an operator, or revokes that. [`StoreError::AccountGone`].
    fn set_operator(&self, account: AccountId, is_operator: bool) -> Result<Account, StoreError>;

    /// Blocks or unblocks an account. Blocking ends its sessions. Until it is unblocked, no session can be added and
    /// its keys are reported as revoked by [`Store::changes`]; they are accepted again then. An account that is already
    /// blocked is unchanged: its `blocked_at` is earlier than `now`. [`StoreError::AccountGone`].
    fn set_blocked(&self, account: AccountId, is_blocked: bool, now: i64) -> Result<Account, StoreError>;

    /// Finds accounts by a part of their address, in lower case. Returns their number, and at most `limit` of them
    /// after the first `start`, by address.
    fn find_accounts(&self, part: &str, start: u32, limit: u32) -> Result<(u32, Vec<Account>), StoreError>;

    /// [`StoreError::NoSuchAccount`].
    fn credentials(&self, email: &Email) -> Result<Credentials, StoreError>;

    /// Sets an account's password, ends all its sessions and starts `session`, atomically. [`StoreError::AccountGone`],
    /// [`StoreError::AccountBlocked`] if there is a `session`.
    fn set_password(
        &self,
        account: AccountId,
        version: Option<PasswordVersion>,
        password: &PasswordHash,
        session: Option<&NewSession>,
    ) -> Result<(), StoreError>;

    /// Sets a password for an operator: ends all sessions and, unless it `keeps_keys`, revokes all keys, atomically. Returns the
    /// number of revoked keys. [`StoreError::AccountGone`].
    fn reset_password(
        &self,
        account: AccountId,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<u32, StoreError>;

    /// Replaces the hash by another hash of the same password; version and sessions are unchanged.
    /// [`StoreError::AccountGone`].
    fn rehash_password(
        &self,
        account: AccountId,
        version: PasswordVersion,
        password: &PasswordHash,
    ) -> Result<(), StoreError>;

    /// Deletes an account with its e-mail address, password, sessions, usage, saved searches, lists and webhooks. Its
    /// keys are revoked and remain as digests without name or short form; their usage of the day of `now` remains until
    /// the day is over. The address may sign up again. [`StoreError::AccountGone`].
    fn delete_account(&self, account: AccountId, version: Option<PasswordVersion>, now: i64) -> Result<(), StoreError>;

    /// Ends the oldest sessions beyond [`MAX_SESSIONS`](crate::session::MAX_SESSIONS). [`StoreError::AccountGone`],
    /// [`StoreError::AccountBlocked`].
    fn add_session(&self, account: AccountId, version: PasswordVersion, session: &NewSession)
    -> Result<(), StoreError>;

    /// `None` if the session is unknown, has expired, or was not used for
    /// [`IDLE_SECONDS`](crate::session::IDLE_SECONDS).
    fn session(&self, session: &SessionDigest, now: i64) -> Result<Option<Session>, StoreError>;

    /// The valid sessions of an account, the newest first.
    fn sessions(&self, account: AccountId, now: i64) -> Result<Vec<ListedSession>, StoreError>;

    /// Sets `now` as the last use of a session.
    fn session_used(&self, session: &SessionDigest, now: i64) -> Result<(), StoreError>;

    /// Sets `now` as the time at which the password was last entered in a session. False if there was no such session: a new
    /// password ended it.
    fn session_authenticated(&self, session: &SessionDigest, now: i64) -> Result<bool, StoreError>;

    /// False if there was no such session.
    fn end_session(&self, session: &SessionDigest) -> Result<bool, StoreError>;

    /// False if the account has no such session.
    fn end_session_of(&self, account: AccountId, session: SessionId) -> Result<bool, StoreError>;

    /// Deletes sessions that are no longer valid and returns their number.
    fn end_expired_sessions(&self, now: i64) -> Result<usize, StoreError>;

    /// Stores the link of an e-mail; an earlier one of the account for the same purpose is no longer valid.
    /// [`StoreError::AccountGone`].
    fn add_link(
        &self,
        account: AccountId,
        purpose: Purpose,
        link: &LinkDigest,
        expires_at: i64,
    ) -> Result<(), StoreError>;

    /// The account of a valid link. [`StoreError::NoSuchLink`].
    fn account_of_link(&self, purpose: Purpose, link: &LinkDigest, now: i64) -> Result<Account, StoreError>;

    /// Uses a link up and marks its account as verified, atomically. [`StoreError::NoSuchLink`].
    fn verify_by_link(&self, link: &LinkDigest, now: i64) -> Result<Account, StoreError>;

    /// Uses a link up and sets the password as [`Store::reset_password`] does, atomically; the account is verified then.
    /// [`StoreError::NoSuchLink`].
    fn reset_by_link(
        &self,
        link: &LinkDigest,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<Account, StoreError>;

    /// The authenticator app of an account; `None` if codes are not required at sign-in. [`StoreError::AccountGone`].
    fn totp(&self, account: AccountId) -> Result<Option<Totp>, StoreError>;

    /// Requires codes from an app at sign-in from now on. [`StoreError::AccountGone`], [`StoreError::TotpEnabled`].
    fn enable_totp(
        &self,
        account: AccountId,
        totp: &Totp,
        codes: &[RecoveryDigest],
        now: i64,
    ) -> Result<(), StoreError>;

    /// Accepts a code of a time step. False if one of this step or a later one was accepted before.
    fn accept_totp_step(&self, account: AccountId, step: i64) -> Result<bool, StoreError>;

    /// False if the account has no such code, or used it before.
    fn use_recovery_code(&self, account: AccountId, code: &RecoveryDigest) -> Result<bool, StoreError>;

    /// Replaces all recovery codes. [`StoreError::AccountGone`], [`StoreError::TotpDisabled`].
    fn renew_recovery_codes(&self, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), StoreError>;

    /// Deletes the secret of the app and the recovery codes. False if there were none. [`StoreError::AccountGone`].
    fn disable_totp(&self, account: AccountId, version: Option<PasswordVersion>) -> Result<bool, StoreError>;

    /// If a key of the account was revoked or expired on the same day (UTC), or an account with the same address was
    /// deleted on it, the new key takes over a counter: on no day do the accounts of an address use more counters than
    /// the tier allows keys. [`StoreError::AccountGone`], [`StoreError::KeyLimitReached`],
    /// [`StoreError::NewKeysUsedUp`].
    fn create_key(
        &self,
        account: AccountId,
        name: &KeyName,
        key: &ApiKey,
        expires_at: Option<i64>,
        now: i64,
    ) -> Result<KeyRecord, StoreError>;

    /// Creates a successor of an active key, with its name and on its counter, so that both together have the quota of one.
    /// The rotated key expires when the overlap ends. Returns the rotated key and its successor. [`StoreError::NoSuchKey`],
    /// [`StoreError::AmbiguousKey`], [`StoreError::KeyEnded`], [`StoreError::KeyOverlaps`], [`StoreError::NewKeysUsedUp`].
    fn rotate_key(
        &self,
        key: KeyRef,
        successor: &ApiKey,
        rotation: Rotation,
        now: i64,
    ) -> Result<(KeyRecord, KeyRecord), StoreError>;

    /// Ends keys that have expired, so that they no longer count as active, and returns their number. They are rejected from
    /// their expiry on regardless.
    fn end_expired_keys(&self, now: i64) -> Result<usize, StoreError>;

    /// All keys of an account (`None`: of all accounts), by number, with their usage on `today`. For operators: it reads every
    /// key ever created.
    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, StoreError>;

    /// The active keys of an account and some of its revoked ones, by number, with their usage on `today`. The cost depends on
    /// these only.
    fn recent_keys(&self, account: AccountId, revoked: RevokedKeys, today: Date) -> Result<Vec<KeyRecord>, StoreError>;

    /// [`StoreError::NoSuchKey`], [`StoreError::AmbiguousKey`].
    fn key(&self, key: KeyRef, today: Date) -> Result<KeyRecord, StoreError>;

    /// A key that is already revoked is unchanged: its `revoked_at` is earlier than `now`.
    /// [`StoreError::NoSuchKey`], [`StoreError::AmbiguousKey`].
    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, StoreError>;

    /// [`StoreError::Replaced`] if the next start would open another store than this one. Every write checks this.
    fn check(&self) -> Result<(), StoreError>;

    /// The keys that were created, revoked, blocked, unblocked or moved to another tier after change `since` (0: all
    /// keys). Cheap if nothing changed. [`StoreError::Replaced`].
    fn changes(&self, since: i64) -> Result<KeyChanges, StoreError>;

    /// The usage of all keys on one day.
    fn usage(&self, day: Date) -> Result<Vec<StoredUsage>, StoreError>;

    /// The usage of an account's keys from `first` to `last`, by day and key. Days without usage are left out. The cost depends
    /// on the days on which keys of the account existed, not on other accounts.
    fn usage_of(&self, account: AccountId, first: Date, last: Date) -> Result<Vec<DayUsage>, StoreError>;

    /// The requests of all keys from `first` to `last`, by day. Days without usage are left out. For operators, as the next: it
    /// reads the usage of every key.
    fn usage_by_day(&self, first: Date, last: Date) -> Result<Vec<(Date, u64)>, StoreError>;

    /// The requests of each account from `first` to `last`, most first. Accounts without usage are left out.
    fn usage_by_account(&self, first: Date, last: Date) -> Result<Vec<(AccountId, u64)>, StoreError>;

    /// Deletes usage older than [`USAGE_DAYS`], alerts older than [`ALERT_DAYS`](crate::watch::ALERT_DAYS), the names
    /// of keys revoked more than [`REVOKED_NAME_DAYS`] ago, links of e-mails that expired before `today`, and the
    /// remains of accounts that were deleted before it; returns the number of rows that changed.
    fn purge(&self, today: Date) -> Result<usize, StoreError>;

    /// Adds to the usage of keys, atomically, and sets `now` as their last use. Returns the new totals in the same
    /// order: other processes may have added too. The total is 0 for a key of an account deleted on another day.
    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, StoreError>;

    /// Counters that several servers share; `None` if one server uses the store, and counts in memory.
    fn counters(&self) -> Option<&dyn CounterStore> {
        None
    }

    /// Durations and failures of calls; empty if the store does not measure them.
    fn measurements(&self) -> StoreMeasurements {
        StoreMeasurements::default()
    }

    /// The secret that signs cursors; set to `fresh` on the first call.
    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], StoreError>;
}

/// Counters that several servers share: daily ones, see [`lease`](crate::quota::lease), and windows of rate limits. All
/// calls block.
pub trait CounterStore: Send + Sync {
    /// Takes units of a counter: the needed number, more if many are left, or fewer if fewer are left. Apart from units
    /// given back, no more than the limit of a day is ever granted, whatever is killed. It fails within a second.
    fn lease(&self, request: LeaseRequest) -> Result<Grant, StoreError>;

    /// Gives units back.
    fn end_leases(&self, unused: &[UnusedUnits]) -> Result<(), StoreError>;

    /// Counts a request in each of these windows, largest range first, or in none if one has reached its limit: then it returns
    /// the seconds until that window ends. A window begins with its first request, by the store's clock.
    fn count(&self, windows: &[SharedWindow]) -> Result<Result<Vec<CountedWindow>, u64>, StoreError>;

    /// Uncounts a request; no effect in windows that are over.
    fn uncount(&self, counted: &[CountedWindow]) -> Result<(), StoreError>;

    /// Reports that this server runs, because leases are divided by the number of running servers, and removes some
    /// windows that are over. Returns the store's clock in Unix milliseconds: it decides which day it is.
    fn report_running(&self) -> Result<i64, StoreError>;
}

/// Measurements of a store's calls so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StoreMeasurements {
    /// Includes the time that they waited for others.
    pub durations: Observations,
    /// Calls that failed other than by a rule.
    pub failures: u64,
}

/// Days for which usage is stored: a year can be compared with the one before.
pub const USAGE_DAYS: i32 = 400;

/// Days after which the name of a revoked key is deleted; its digest remains.
pub(crate) const REVOKED_NAME_DAYS: i32 = 90;

/// Selection of the revoked keys that an account is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevokedKeys {
    /// Unix seconds of the earliest revocation.
    pub since: i64,
    /// Maximum number of keys; those revoked last are preferred.
    pub max: u32,
}

/// State of a key for authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyState {
    pub id: KeyId,
    pub counter: CounterId,
    /// `None` for a demo key, or if the account was deleted.
    pub account: Option<AccountId>,
    pub tier: Tier,
    /// Also true if its account is blocked.
    pub revoked: bool,
    /// Unix seconds; the first second at which the key is no longer accepted.
    pub expires_at: Option<i64>,
    pub digest: KeyDigest,
    pub masked: MaskedKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub account: AccountId,
    /// `None` if the account cannot sign in.
    pub password: Option<PasswordHash>,
    pub version: PasswordVersion,
}

/// An account's authenticator app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    pub secret: TotpSecret,
    /// Last time step with an accepted code.
    pub step: i64,
}

/// Number of times that an account's password was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordVersion(pub i64);

#[derive(Debug)]
pub struct KeyChanges {
    /// The number of the last change, to be passed as `since` next time.
    pub last: i64,
    pub keys: Vec<KeyState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUsage {
    pub day: Date,
    pub key: KeyId,
    pub requests: u32,
}
