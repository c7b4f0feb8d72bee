//! Errors of `auth` and `quota`, and their purposes.
//!
//! - [`AuthError`]: a request's API key is not accepted. It becomes a 401 with a code of the public contract, or a 503.
//! - A quota that is exhausted is no error type: the counters return the [`Quota`](crate::quota::Quota) as `Err`, because the
//!   429 carries the same headers as a success. Rate limits return [`RetryAfter`].
//! - [`AccountError`]: an operation on the account pages failed. Its text is shown to the person, so it reveals neither
//!   the existence of an account nor internal failures.
//! - [`StoreError`]: the store, or a rule that it enforces. Its text is for operators: commands and logs print it.
//! - `Parse…Error` and [`WeakPassword`](crate::password::WeakPassword) belong to one type and name the accepted form.

use std::io;
use std::path::{Path, PathBuf};

use crate::account::{AccountId, Email};
use crate::quota::{KeyId, Tier};
use crate::service::second_factor::PendingSignIn;
use crate::{RetryAfter, SignInTicket};

pub type StoreResult<T> = Result<T, StoreError>;
pub(crate) type AccountResult<T> = Result<T, AccountError>;

coded! {
    /// The code in the commands' `--json` output.
    pub fn code;

    #[derive(Debug, thiserror::Error)]
    pub enum StoreError {
        #[error("no account has the e-mail `{email}`; {}", suggestion.as_ref().map_or_else(
            || "create it with `venturedex account create`".to_owned(),
            |suggestion| format!("did you mean `{suggestion}`?"),
        ))]
        NoSuchAccount { email: Email, suggestion: Option<Email> } => "no_such_account",
        #[error("no account has the number {}; list accounts with `venturedex account list`", .0.0)]
        NoSuchAccountId(AccountId) => "no_such_account",
        #[error("an account with the e-mail `{0}` already exists")]
        AccountExists(Email) => "account_exists",
        #[error("the account was deleted")]
        AccountGone => "account_gone",
        #[error("the account is blocked; unblock it with `venturedex account unblock`")]
        AccountBlocked => "account_blocked",
        #[error("codes from an authenticator app are already required at sign-in")]
        TotpEnabled => "totp_enabled",
        #[error("codes from an authenticator app are not required at sign-in")]
        TotpDisabled => "totp_disabled",
        #[error("the password was changed in the meantime; sign in with the new one")]
        PasswordChanged => "password_changed",
        #[error(
            "`{email}` already has {allowed} active keys, the maximum of the {tier} tier; revoke one with \
             `venturedex key revoke` or raise the tier"
        )]
        KeyLimitReached { email: Email, tier: Tier, allowed: u32 } => "keys_used_up",
        #[error(
            "{allowed} keys of `{email}` were created today, the maximum of the {tier} tier per UTC day; use one of them, or \
             try again after 00:00 UTC"
        )]
        NewKeysUsedUp { email: Email, tier: Tier, allowed: u32 } => "new_keys_used_up",
        #[error(
            "`{email}` has {active} active keys, but the {tier} tier allows {allowed}; revoke {} first",
            active.saturating_sub(*allowed)
        )]
        TooManyKeys { email: Email, tier: Tier, allowed: u32, active: u32 } => "too_many_keys",
        #[error("the link has expired or was used")]
        NoSuchLink => "no_such_link",
        #[error(
            "you have {allowed} saved searches and lists, the maximum of your tier; delete one that you no longer need"
        )]
        TooManyWatches { allowed: u32 } => "too_many",
        #[error("a list has at most {} records; split it into several lists", crate::watch::MAX_LISTED)]
        TooManyListed => "too_many",
        #[error("you have {} webhooks, the maximum; delete one that you no longer need", crate::watch::MAX_WEBHOOKS)]
        TooManyWebhooks => "too_many",
        #[error("you have no such saved search or list; your account page lists them")]
        NoSuchWatch => "no_such_watch",
        #[error("you have no such webhook; your account page lists them")]
        NoSuchWebhook => "no_such_webhook",
        #[error("verify the e-mail address of your account first; your account page sends the link")]
        AccountUnverified => "account_unverified",
        #[error("there is no such review among yours; your account page lists them")]
        NoSuchReview => "no_such_review",
        #[error("the review can no longer be changed; withdraw or delete it")]
        ReviewFixed => "review_fixed",
        #[error("the review was changed or decided in the meantime; look at it again")]
        ReviewChanged => "review_changed",
        #[error("you have reviewed this firm in the last twelve months; change, withdraw or delete that review")]
        ReviewedAlready => "reviewed_already",
        #[error("the firm has answered this review; remove that answer before you write another")]
        RepliedAlready => "replied_already",
        #[error("claim the profile of the firm first")]
        NoSuchClaim => "no_such_claim",
        #[error("you have claimed {} firms, the maximum", crate::firm::MAX_CLAIMS)]
        TooManyClaims => "too_many_claims",
        #[error("{} of your corrections wait for the operator, the maximum", crate::firm::MAX_PROPOSED)]
        TooManyProposed => "too_many_corrections",
        #[error("there is no such correction, or it was decided in the meantime")]
        NoSuchCorrection => "no_such_correction",
        #[error("you wrote the review, so another operator must decide on it")]
        OwnReview => "own_review",
        #[error("you have submitted {} reviews in 24 hours, the maximum; save a draft and submit it tomorrow", crate::review::REVIEWS_PER_DAY)]
        TooManyReviews => "too_many_reviews",
        #[error("you have {} drafts, the maximum; submit or delete one", crate::review::MAX_DRAFTS)]
        TooManyDrafts => "too_many_reviews",
        #[error("no such key; list keys with `venturedex key list`")]
        NoSuchKey => "no_such_key",
        #[error("the key was revoked or has expired; create another with `venturedex key create`")]
        KeyEnded => "key_ended",
        #[error("the key was rotated, and both keys are still accepted; revoke one of them first")]
        KeyOverlaps => "key_overlaps",
        #[error(
            "several keys have this short form; use the number of one:{}",
            .0.iter().map(|id| format!(" {}", id.0)).collect::<String>()
        )]
        AmbiguousKey(Vec<KeyId>) => "ambiguous_key",
        #[error("{}: {source}", path.display())]
        File { path: PathBuf, source: io::Error } => "data_unusable",
        #[error(
            "{}: another `venturedex serve` uses this folder{}; stop it first, or choose another folder with --data",
            data.display(), process.map_or_else(String::new, |process| format!(" (process {process})"))
        )]
        InUse { data: PathBuf, process: Option<u32> } => "data_in_use",
        #[error("{}: not a venturedex database; choose another folder with --data", .0.display())]
        ForeignDatabase(PathBuf) => "data_unusable",
        #[error(
            "{}: written by a newer venturedex (store version {found}, this one supports {supported}); run the newer one",
            path.display()
        )]
        NewerDatabase { path: PathBuf, found: i64, supported: i64 } => "data_unusable",
        #[error("{}: the database is damaged ({reason}); stop the server and restore a backup with `venturedex restore`", path.display())]
        Damaged { path: PathBuf, reason: String } => "data_unusable",
        #[error("{place}: {reason}")]
        Unreachable { place: String, reason: String } => "store_unreachable",
        #[error("{place}: {reason}")]
        Unusable { place: String, reason: String } => "data_unusable",
        #[error("the database is locked by another process; try again")]
        Busy => "busy",
        /// Data written to the open file is lost once it is closed.
        #[error(
            "{}: the database was deleted or replaced while in use, and nothing more is stored; restore it from a backup, then \
             restart the server",
            .0.display()
        )]
        Replaced(PathBuf) => "data_replaced",
        #[error("could not {0}: the disk of the data folder is full; free some space")]
        Full(&'static str) => "disk_full",
        #[error("could not {operation}: {source}")]
        Database { operation: &'static str, source: Box<dyn std::error::Error + Send + Sync> } => "store_failed",
        #[error("the operating system returned no random bytes: {0}")]
        NoRandomness(#[from] getrandom::Error) => "store_failed",
        #[error("could not start a thread: {0}")]
        Thread(io::Error) => "store_failed",
        #[error("could not hash the password: {0}")]
        Hashing(String) => "store_failed",
    }
}

impl StoreError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

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
}

coded! {
    fn code;

    #[derive(Debug, thiserror::Error)]
    pub enum AccountError {
        /// The e-mail address may already have an account.
        #[error(
            "could not create an account with these details; if you already have one, sign in, otherwise use another e-mail \
             address"
        )]
        NotCreated => "not_created",
        #[error("e-mail address and password do not match; check both and try again")]
        WrongCredentials => "wrong_credentials",
        #[error("this is not your current password; check it and try again")]
        WrongPassword => "wrong_password",
        #[error("the new password is your current one; choose another")]
        SamePassword => "same_password",
        /// The password is right, and a code is needed too.
        #[error("enter a code from your authenticator app")]
        CodeRequired(PendingSignIn) => "code_required",
        #[error("this code is not valid; wait for the next one in your app, or use a recovery code that you have not used")]
        WrongCode => "wrong_code",
        #[error("the sign-in took too long; enter your password again")]
        SignInExpired => "sign_in_expired",
        #[error("two-step sign-in was turned on or off in the meantime; check it on your account page")]
        TotpChanged => "totp_changed",
        /// The password is right, and the code too if one is needed.
        #[error("this account is blocked; write to the operator of the service to have it unblocked")]
        Blocked => "blocked",
        #[error("you are signed out; sign in again")]
        SignedOut => "signed_out",
        #[error("all {allowed} keys of the {tier} tier are in use; revoke one that you no longer need")]
        KeyLimitReached { tier: Tier, allowed: u32 } => "key_limit_reached",
        #[error("you created {0} keys today, the maximum per day; use one that you have, or try again after 00:00 UTC")]
        NewKeysUsedUp(u32) => "new_keys_used_up",
        #[error("this link has expired or was used; request another")]
        NoSuchLink => "no_such_link",
        #[error("you have no such key; your account page lists your keys")]
        NoSuchKey => "no_such_key",
        #[error("this key was rotated, and both keys are still accepted; revoke one of them before you rotate again")]
        KeyOverlaps => "key_overlaps",
        #[error(transparent)]
        Watch(StoreError) => "watch",
        #[error(transparent)]
        Review(StoreError) => "review",
        #[error("too many attempts: {0}")]
        Throttled(RetryAfter) => "throttled",
        /// The sign-in has waited in vain, and its next attempt has the place of this one.
        #[error("many people are signing in at the moment; your place in the line is kept: enter your password again")]
        InLine(SignInTicket) => "in_line",
        /// Too many passwords wait to be hashed, the database is locked, or the server is shutting down.
        #[error("the service is busy: {0}")]
        Busy(RetryAfter) => "busy",
        #[error("accounts cannot be used at the moment and nothing was changed: {}", Self::UNAVAILABLE)]
        Unavailable(#[source] StoreError) => "unavailable",
        #[error("an internal error occurred and nothing was changed; try again later")]
        Store(#[source] StoreError) => "store_failed",
    }
}

impl AccountError {
    const UNAVAILABLE: RetryAfter = RetryAfter { seconds: 60 };

    /// The outcome in the audit log.
    pub(crate) fn outcome(&self) -> &'static str {
        if let Self::Watch(error) | Self::Review(error) = self { error.code() } else { self.code() }
    }

    pub fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::Throttled(wait) | Self::Busy(wait) => Some(*wait),
            Self::Unavailable(_) => Some(Self::UNAVAILABLE),
            Self::InLine(_) => Some(RetryAfter { seconds: 1 }),
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
            StoreError::AccountUnverified
            | StoreError::NoSuchReview
            | StoreError::ReviewFixed
            | StoreError::ReviewChanged
            | StoreError::ReviewedAlready
            | StoreError::RepliedAlready
            | StoreError::NoSuchClaim
            | StoreError::TooManyClaims
            | StoreError::TooManyProposed
            | StoreError::NoSuchCorrection
            | StoreError::OwnReview
            | StoreError::TooManyReviews
            | StoreError::TooManyDrafts => Self::Review(error),
            StoreError::Busy => Self::Busy(RetryAfter { seconds: 1 }),
            error if error.is_failure() => Self::Unavailable(error),
            error => Self::Store(error),
        }
    }
}

coded! {
    /// The problem code of the public contract.
    pub fn code;

    /// The key itself is never part of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
    pub enum AuthError {
        /// No `Authorization` header, or an empty one.
        #[error("this endpoint requires an API key; send `Authorization: Bearer <key>`")]
        Missing => "missing_api_key",
        /// Another scheme than `Bearer`, or a key with a wrong length or checksum.
        #[error("malformed Authorization header; send `Bearer` and all 40 characters of the API key")]
        Malformed => "malformed_api_key",
        /// Well-formed, but no such key was ever created.
        #[error("unknown API key; check that the key belongs to this service")]
        Invalid => "invalid_api_key",
        #[error("this API key was revoked, or its account is blocked; use another one")]
        Revoked => "revoked_api_key",
        #[error("this API key has expired; create another one on the account page")]
        Expired => "expired_api_key",
        /// Not in memory, and the store cannot be asked.
        #[error("the API key cannot be checked at the moment; retry in some seconds")]
        StoreAway => "not_ready",
    }
}
