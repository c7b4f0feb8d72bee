//! Errors of `auth` and `quota`, and their purposes.
//!
//! - [`AuthError`]: a request's API key is not accepted. It becomes a 401 with a code of the public contract, or a 503.
//! - A quota that is exhausted is no error type: the counters return the [`Quota`](crate::quota::Quota) as `Err`, because the
//!   429 carries the same headers as a success. Rate limits return [`RetryAfter`].
//! - [`AccountError`]: an operation on the account pages failed. Its text is shown to the person, so it reveals neither
//!   the existence of an account nor internal failures.
//! - [`StoreError`]: the store, or a rule that it enforces. Its text is for operators: commands and logs print it.
//! - `Parse…Error` and [`WeakPassword`](crate::password::WeakPassword) are local to one type; they name the accepted
//!   form instead.

use std::io;
use std::path::PathBuf;

use crate::RetryAfter;
use crate::account::{AccountId, Email};
use crate::quota::{KeyId, Tier};
use crate::service::second_factor::PendingSignIn;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("no account has the e-mail `{email}`; {}", suggestion.as_ref().map_or_else(
        || "create it with `venturedex account create`".to_owned(),
        |suggestion| format!("did you mean `{suggestion}`?"),
    ))]
    NoSuchAccount { email: Email, suggestion: Option<Email> },
    #[error("no account has the number {}; list accounts with `venturedex account list`", .0.0)]
    NoSuchAccountId(AccountId),
    #[error("an account with the e-mail `{0}` already exists")]
    AccountExists(Email),
    #[error("the account was deleted")]
    AccountGone,
    #[error("the account is blocked; unblock it with `venturedex account unblock`")]
    AccountBlocked,
    #[error("codes from an authenticator app are already required at sign-in")]
    TotpEnabled,
    #[error("codes from an authenticator app are not required at sign-in")]
    TotpDisabled,
    #[error("the password was changed in the meantime; sign in with the new one")]
    PasswordChanged,
    #[error(
        "`{email}` already has {allowed} active keys, the maximum of the {tier} tier; revoke one with \
         `venturedex key revoke` or raise the tier"
    )]
    KeyLimitReached { email: Email, tier: Tier, allowed: u32 },
    #[error(
        "{allowed} keys of `{email}` were created today, the maximum of the {tier} tier per UTC day; use one of them, or \
         try again after 00:00 UTC"
    )]
    NewKeysUsedUp { email: Email, tier: Tier, allowed: u32 },
    #[error(
        "`{email}` has {active} active keys, but the {tier} tier allows {allowed}; revoke {} first",
        active.saturating_sub(*allowed)
    )]
    TooManyKeys { email: Email, tier: Tier, allowed: u32, active: u32 },
    #[error("the link has expired or was used")]
    NoSuchLink,
    #[error(
        "you have {allowed} saved searches and lists, the maximum of your tier; delete one that you no longer need"
    )]
    TooManyWatches { allowed: u32 },
    #[error("a list has at most {} records; split it into several lists", crate::watch::MAX_LISTED)]
    TooManyListed,
    #[error("you have {} webhooks, the maximum; delete one that you no longer need", crate::watch::MAX_WEBHOOKS)]
    TooManyWebhooks,
    #[error("you have no such saved search or list; your account page lists them")]
    NoSuchWatch,
    #[error("you have no such webhook; your account page lists them")]
    NoSuchWebhook,
    #[error("no such key; list keys with `venturedex key list`")]
    NoSuchKey,
    #[error("the key was revoked or has expired; create another with `venturedex key create`")]
    KeyEnded,
    #[error("the key was rotated, and both keys are still accepted; revoke one of them first")]
    KeyOverlaps,
    #[error("several keys have this short form; use the number of one:{}", .0.iter().map(|id| format!(" {}", id.0)).collect::<String>())]
    AmbiguousKey(Vec<KeyId>),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{}: another `venturedex serve` uses this folder{}; stop it first, or choose another folder with --data",
        data.display(), process.map_or_else(String::new, |process| format!(" (process {process})"))
    )]
    InUse { data: PathBuf, process: Option<u32> },
    /// The file is a database of another program, or no database.
    #[error("{}: not a venturedex database; choose another folder with --data", .0.display())]
    ForeignDatabase(PathBuf),
    #[error(
        "{}: written by a newer venturedex (store version {found}, this one supports {supported}); run the newer one",
        path.display()
    )]
    NewerDatabase { path: PathBuf, found: i64, supported: i64 },
    #[error("{}: the database is damaged ({reason}); stop the server and restore a backup with `venturedex restore`", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("{place}: {reason}")]
    Unreachable { place: String, reason: String },
    #[error("{place}: {reason}")]
    Unusable { place: String, reason: String },
    #[error("the database is locked by another process; try again")]
    Busy,
    /// Data written to the open file is lost once it is closed.
    #[error(
        "{}: the database was deleted or replaced while in use, and nothing more is stored; restore it from a backup, then \
         restart the server",
        .0.display()
    )]
    Replaced(PathBuf),
    #[error("could not {0}: the disk of the data folder is full; free some space")]
    Full(&'static str),
    #[error("could not {operation}: {source}")]
    Database { operation: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the operating system returned no random bytes: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error("could not start a thread: {0}")]
    Thread(io::Error),
    #[error("could not hash the password: {0}")]
    Hashing(String),
}

impl StoreError {
    /// True if the store failed, and did not only refuse.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Busy
                | Self::Replaced(_)
                | Self::Full(_)
                | Self::File { .. }
                | Self::Unreachable { .. }
                | Self::Database { .. }
        )
    }

    /// Summary of the failure for the public, without paths and details.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Busy => "the account database is locked by another process",
            Self::Replaced(_) => "the account database was deleted or replaced",
            Self::Full(_) => "the disk of the account database is full",
            Self::Unreachable { .. } => "the account database cannot be reached",
            _ => "the account database cannot be used",
        }
    }

    /// The code in the commands' `--json` output.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchAccount { .. } | Self::NoSuchAccountId(_) => "no_such_account",
            Self::AccountExists(_) => "account_exists",
            Self::AccountGone => "account_gone",
            Self::AccountBlocked => "account_blocked",
            Self::TotpEnabled => "totp_enabled",
            Self::TotpDisabled => "totp_disabled",
            Self::PasswordChanged => "password_changed",
            Self::KeyLimitReached { .. } => "keys_used_up",
            Self::NewKeysUsedUp { .. } => "new_keys_used_up",
            Self::TooManyKeys { .. } => "too_many_keys",
            Self::NoSuchLink => "no_such_link",
            Self::TooManyWatches { .. } | Self::TooManyListed | Self::TooManyWebhooks => "too_many",
            Self::NoSuchWatch => "no_such_watch",
            Self::NoSuchWebhook => "no_such_webhook",
            Self::NoSuchKey => "no_such_key",
            Self::AmbiguousKey(_) => "ambiguous_key",
            Self::KeyEnded => "key_ended",
            Self::KeyOverlaps => "key_overlaps",
            Self::InUse { .. } => "data_in_use",
            Self::File { .. }
            | Self::ForeignDatabase(_)
            | Self::NewerDatabase { .. }
            | Self::Damaged { .. }
            | Self::Unusable { .. } => "data_unusable",
            Self::Unreachable { .. } => "store_unreachable",
            Self::Busy => "busy",
            Self::Replaced(_) => "data_replaced",
            Self::Full(_) => "disk_full",
            Self::Database { .. } | Self::NoRandomness(_) | Self::Thread(_) | Self::Hashing(_) => "store_failed",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The e-mail address may already have an account.
    #[error(
        "could not create an account with these details; if you already have one, sign in, otherwise use another e-mail \
         address"
    )]
    NotCreated,
    #[error("e-mail address and password do not match; check both and try again")]
    WrongCredentials,
    #[error("this is not your current password; check it and try again")]
    WrongPassword,
    #[error("the new password is your current one; choose another")]
    SamePassword,
    /// The password is right, and a code is needed too.
    #[error("enter a code from your authenticator app")]
    CodeRequired(PendingSignIn),
    #[error("this code is not valid; wait for the next one in your app, or use a recovery code that you have not used")]
    WrongCode,
    #[error("the sign-in took too long; enter your password again")]
    SignInExpired,
    #[error("two-step sign-in was turned on or off in the meantime; check it on your account page")]
    TotpChanged,
    /// The password is right, and the code too if one is needed.
    #[error("this account is blocked; write to the operator of the service to have it unblocked")]
    Blocked,
    #[error("you are signed out; sign in again")]
    SignedOut,
    #[error("all {allowed} keys of the {tier} tier are in use; revoke one that you no longer need")]
    KeyLimitReached { tier: Tier, allowed: u32 },
    #[error("you created {0} keys today, the maximum per day; use one that you have, or try again after 00:00 UTC")]
    NewKeysUsedUp(u32),
    #[error("this link has expired or was used; request another")]
    NoSuchLink,
    #[error("you have no such key; your account page lists your keys")]
    NoSuchKey,
    #[error("this key was rotated, and both keys are still accepted; revoke one of them before you rotate again")]
    KeyOverlaps,
    #[error(transparent)]
    Watch(StoreError),
    #[error("too many attempts: {0}")]
    Throttled(RetryAfter),
    /// Too many passwords wait to be hashed, the database is locked, or the server is shutting down.
    #[error("the service is busy: {0}")]
    Busy(RetryAfter),
    #[error("accounts cannot be used at the moment and nothing was changed: {}", Self::UNAVAILABLE)]
    Unavailable(#[source] StoreError),
    #[error("an internal error occurred and nothing was changed; try again later")]
    Store(#[source] StoreError),
}

impl AccountError {
    const UNAVAILABLE: RetryAfter = RetryAfter { seconds: 60 };

    pub(crate) fn outcome(&self) -> &'static str {
        match self {
            Self::NotCreated => "not_created",
            Self::WrongCredentials => "wrong_credentials",
            Self::WrongPassword => "wrong_password",
            Self::SamePassword => "same_password",
            Self::CodeRequired(_) => "code_required",
            Self::WrongCode => "wrong_code",
            Self::SignInExpired => "sign_in_expired",
            Self::TotpChanged => "totp_changed",
            Self::Blocked => "blocked",
            Self::SignedOut => "signed_out",
            Self::KeyLimitReached { .. } => "key_limit_reached",
            Self::NewKeysUsedUp(_) => "new_keys_used_up",
            Self::NoSuchLink => "no_such_link",
            Self::NoSuchKey => "no_such_key",
            Self::KeyOverlaps => "key_overlaps",
            Self::Watch(error) => error.code(),
            Self::Throttled(_) => "throttled",
            Self::Busy(_) => "busy",
            Self::Unavailable(_) => "unavailable",
            Self::Store(_) => "store_failed",
        }
    }

    pub fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::Throttled(wait) | Self::Busy(wait) => Some(*wait),
            Self::Unavailable(_) => Some(Self::UNAVAILABLE),
            _ => None,
        }
    }
}

impl From<StoreError> for AccountError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::AccountGone | StoreError::PasswordChanged => Self::SignedOut,
            StoreError::AccountBlocked => Self::Blocked,
            StoreError::TotpEnabled | StoreError::TotpDisabled => Self::TotpChanged,
            StoreError::KeyLimitReached { tier, allowed, .. } => Self::KeyLimitReached { tier, allowed },
            StoreError::NewKeysUsedUp { allowed, .. } => Self::NewKeysUsedUp(allowed),
            StoreError::NoSuchLink => Self::NoSuchLink,
            StoreError::NoSuchKey | StoreError::KeyEnded => Self::NoSuchKey,
            StoreError::KeyOverlaps => Self::KeyOverlaps,
            StoreError::TooManyWatches { .. }
            | StoreError::TooManyListed
            | StoreError::TooManyWebhooks
            | StoreError::NoSuchWatch
            | StoreError::NoSuchWebhook => Self::Watch(error),
            StoreError::Busy => Self::Busy(RetryAfter { seconds: 1 }),
            error if error.is_failure() => Self::Unavailable(error),
            error => Self::Store(error),
        }
    }
}

/// The key itself is never part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum AuthError {
    /// No `Authorization` header, or an empty one.
    #[error("this endpoint requires an API key; send `Authorization: Bearer <key>`")]
    Missing,
    /// Another scheme than `Bearer`, or a key with a wrong length or checksum.
    #[error("malformed Authorization header; send `Bearer` and all 40 characters of the API key")]
    Malformed,
    /// Well-formed, but no such key was ever created.
    #[error("unknown API key; check that the key belongs to this service")]
    Invalid,
    #[error("this API key was revoked, or its account is blocked; use another one")]
    Revoked,
    #[error("this API key has expired; create another one on the account page")]
    Expired,
    /// Not in memory, and the store cannot be asked.
    #[error("the API key cannot be checked at the moment; retry in some seconds")]
    StoreAway,
}

impl AuthError {
    /// The problem code of the public contract.
    pub fn code(self) -> &'static str {
        match self {
            Self::Missing => "missing_api_key",
            Self::Malformed => "malformed_api_key",
            Self::Invalid => "invalid_api_key",
            Self::Revoked => "revoked_api_key",
            Self::Expired => "expired_api_key",
            Self::StoreAway => "not_ready",
        }
    }
}
