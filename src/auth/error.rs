//! What can go wrong in this room.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::auth::account::{Email, KeyId};
use crate::quota::RetryAfter;
use crate::quota::Tier;

/// Why the store, or what stands before it, could not do as asked.
#[derive(Debug)]
pub enum StoreError {
    /// No account has this address.
    NoSuchAccount {
        /// The address asked for.
        email: Email,
        /// The account with the most similar address, where one is near.
        nearest: Option<Email>,
    },
    /// There is an account of this address already.
    AccountExists(Email),
    /// The account was deleted.
    AccountGone,
    /// The password that was looked at is not the account's any more.
    PasswordChanged,
    /// The tier's number of active keys is reached.
    KeysUsedUp {
        /// The account's address.
        email: Email,
        /// Its tier.
        tier: Tier,
        /// Active keys the tier allows.
        allowed: u32,
    },
    /// The account has more active keys than the new tier allows.
    TooManyKeys {
        /// The account's address.
        email: Email,
        /// The tier asked for.
        tier: Tier,
        /// Active keys the tier allows.
        allowed: u32,
        /// Active keys the account has.
        active: u32,
    },
    /// No key is named so.
    NoSuchKey,
    /// Several keys have this short form.
    AmbiguousKey(Vec<KeyId>),
    /// A file or folder of the data could not be made, opened or read.
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is a database of another program.
    NotOurs(PathBuf),
    /// The database was written by a later version of this program.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that is known here.
        known: i64,
    },
    /// Another process held the database for too long.
    Busy,
    /// The database reported an error.
    Database {
        /// What was being done.
        doing: &'static str,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The system gave no randomness.
    NoRandomness(io::Error),
    /// A password could not be hashed, for this reason.
    Hashing(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchAccount { email, nearest: Some(nearest) } => {
                write!(f, "no account has the e-mail `{email}`: did you mean `{nearest}`?")
            }
            Self::NoSuchAccount { email, nearest: None } => {
                write!(f, "no account has the e-mail `{email}`: make it with `venturedex account create`")
            }
            Self::AccountExists(email) => write!(f, "there is an account with the e-mail `{email}` already"),
            Self::AccountGone => f.write_str("there is no such account any more: it was deleted"),
            Self::PasswordChanged => f.write_str("the password was changed meanwhile: sign in with the new one"),
            Self::KeysUsedUp { email, tier, allowed } => write!(
                f,
                "`{email}` has all {allowed} active keys of the {tier} tier: revoke one with `venturedex key revoke` or \
                 raise the tier"
            ),
            Self::TooManyKeys { email, tier, allowed, active } => write!(
                f,
                "`{email}` has {active} active keys, and the {tier} tier allows {allowed}: revoke {} first",
                active.saturating_sub(*allowed)
            ),
            Self::NoSuchKey => f.write_str("there is no such key: `venturedex key list` shows all"),
            Self::AmbiguousKey(ids) => {
                f.write_str("several keys have this short form, name one by its number:")?;
                ids.iter().try_for_each(|id| write!(f, " {}", id.0))
            }
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::NotOurs(path) => {
                write!(f, "{}: not a database of venturedex: choose another folder with --data", path.display())
            }
            Self::Newer { path, found, known } => write!(
                f,
                "{}: written by a later venturedex (store version {found}, this one knows {known}): run that one",
                path.display()
            ),
            Self::Busy => f.write_str("the database is held by another process for too long: try again"),
            Self::Database { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::NoRandomness(source) => write!(f, "the system gives no randomness: {source}"),
            Self::Hashing(reason) => write!(f, "the password could not be hashed: {reason}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } | Self::NoRandomness(source) => Some(source),
            Self::Database { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl StoreError {
    /// A stable word for machines, such as `no_such_account`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchAccount { .. } => "no_such_account",
            Self::AccountExists(_) => "account_exists",
            Self::AccountGone => "account_gone",
            Self::PasswordChanged => "password_changed",
            Self::KeysUsedUp { .. } => "keys_used_up",
            Self::TooManyKeys { .. } => "too_many_keys",
            Self::NoSuchKey => "no_such_key",
            Self::AmbiguousKey(_) => "ambiguous_key",
            Self::File { .. } | Self::NotOurs(_) | Self::Newer { .. } => "data_unusable",
            Self::Busy => "busy",
            Self::Database { .. } | Self::NoRandomness(_) | Self::Hashing(_) => "store_failed",
        }
    }
}

/// Why a person's wish about their account was not carried out; told to them as it is.
#[derive(Debug)]
pub enum AccountError {
    /// No account was made: its address may have one already.
    NotCreated,
    /// Address and password are not those of an account.
    WrongCredentials,
    /// The password is not that of the account.
    WrongPassword,
    /// The new password is the current one.
    SamePassword,
    /// The session is over, or the account was deleted.
    SignedOut,
    /// The tier's number of active keys is reached.
    KeysUsedUp {
        /// The account's tier.
        tier: Tier,
        /// Active keys the tier allows.
        allowed: u32,
    },
    /// The account has no such key.
    NoSuchKey,
    /// Too many of these came from the address, or for the account.
    Throttled(RetryAfter),
    /// The server is asked for too much just now.
    Busy(RetryAfter),
    /// The store fails: nothing that the person could mend, and nothing of it is theirs to read.
    Store(StoreError),
}

impl fmt::Display for AccountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCreated => f.write_str(
                "could not create an account with these details: if you have one already, sign in, else use another e-mail \
                 address",
            ),
            Self::WrongCredentials => f.write_str("e-mail address and password do not match: check both and try again"),
            Self::WrongPassword => f.write_str("this is not your current password: check it and try again"),
            Self::SamePassword => f.write_str("the new password is your current one: choose another"),
            Self::SignedOut => f.write_str("you are signed out: sign in again"),
            Self::KeysUsedUp { tier, allowed } => {
                write!(f, "all {allowed} keys of the {tier} tier are in use: revoke one that you no longer need")
            }
            Self::NoSuchKey => f.write_str("you have no such key: your account page lists those that you have"),
            Self::Throttled(wait) => write!(f, "too many attempts: {wait}"),
            Self::Busy(wait) => write!(f, "the service is busy: {wait}"),
            Self::Store(_) => f.write_str("something went wrong here, and nothing was changed: try again later"),
        }
    }
}

impl std::error::Error for AccountError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(source) => Some(source),
            _ => None,
        }
    }
}

impl AccountError {
    /// A stable word for machines, such as `wrong_credentials`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotCreated => "not_created",
            Self::WrongCredentials => "wrong_credentials",
            Self::WrongPassword => "wrong_password",
            Self::SamePassword => "same_password",
            Self::SignedOut => "signed_out",
            Self::KeysUsedUp { .. } => "keys_used_up",
            Self::NoSuchKey => "no_such_key",
            Self::Throttled(_) => "throttled",
            Self::Busy(_) => "busy",
            Self::Store(error) => error.code(),
        }
    }

    /// When to come again, where waiting helps: the value of `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::Throttled(wait) | Self::Busy(wait) => Some(*wait),
            _ => None,
        }
    }
}

impl From<StoreError> for AccountError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::AccountGone | StoreError::PasswordChanged => Self::SignedOut,
            StoreError::KeysUsedUp { tier, allowed, .. } => Self::KeysUsedUp { tier, allowed },
            StoreError::NoSuchKey => Self::NoSuchKey,
            StoreError::Busy => Self::Busy(RetryAfter { seconds: 1 }),
            error => Self::Store(error),
        }
    }
}

/// Why a request was not admitted as a caller. The key itself is never part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthError {
    /// No `Authorization` header, or an empty one.
    Missing,
    /// Not `Bearer` and a well-formed key: mistyped or cut off.
    Malformed,
    /// Well-formed, but no such key was ever made.
    Invalid,
    /// The key was revoked.
    Revoked,
}

impl AuthError {
    /// The problem code of the contract, such as `missing_api_key`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Missing => "missing_api_key",
            Self::Malformed => "malformed_api_key",
            Self::Invalid => "invalid_api_key",
            Self::Revoked => "revoked_api_key",
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "this address needs an API key: send `Authorization: Bearer <key>`",
            Self::Malformed => {
                "the Authorization header is not `Bearer` and a well-formed key: copy the key again, all 40 characters"
            }
            Self::Invalid => "no such API key was made here: check that the key belongs to this service",
            Self::Revoked => "this API key was revoked: use another one",
        })
    }
}

impl std::error::Error for AuthError {}
