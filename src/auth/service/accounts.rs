//! People at the desk: sign-up, sign-in, sign-out, and what they do to their own account.
//!
//! There is no mail, so that an address cannot be proved. Sign-up with an address that has an account is refused in the
//! words of any refusal, after as much work as one that succeeds, and few are let by from one client address: who wants to
//! know which addresses have accounts learns five an hour. Sign-in says and costs the same for a wrong password, an unknown
//! address, and an account that has no password.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use crate::auth::AuthService;
use crate::auth::Credentials;
use crate::auth::account::{Account, Email};
use crate::auth::password::hasher::HashError;
use crate::auth::password::{Password, Secret};
use crate::auth::service::random;
use crate::auth::session::{SESSION_LIFE, Session, SessionDigest, SessionToken};
use crate::auth::{AccountError, StoreError};
use crate::quota::RetryAfter;
use crate::quota::Tier;

/// A session that was just begun.
#[derive(Debug)]
pub struct NewSession {
    /// What the browser gets, and nobody else.
    pub token: SessionToken,
    /// Unix seconds.
    pub expires_at: i64,
}

/// Who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The account as it is now.
    pub account: Account,
    /// The session.
    pub session: SessionDigest,
    /// Unix seconds of the session's end.
    pub expires_at: i64,
}

impl AuthService {
    /// Makes an account of the free tier and begins its first session; `now` is Unix seconds, here and below.
    ///
    /// # Errors
    /// [`AccountError::NotCreated`], [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn sign_up(
        self: &Arc<Self>,
        email: Email,
        password: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<NewSession, AccountError> {
        let attempt = self.admission.sign_up(address, now).map_err(AccountError::Throttled)?;
        let hash =
            self.hasher.hash(password.secret().clone()).await.inspect_err(|_| self.admission.settle(&attempt))?;
        let (token, expires_at) = fresh_session(now)?;
        let session = token.digest();
        self.off_runtime(move |access| {
            let account = access.store.create_account(&email, Tier::Free, Some(&hash), now)?;
            let Credentials { version, .. } = access.store.credentials(&email)?;
            access.store.add_session(account.id, version, &session, now, expires_at)
        })
        .await
        .map_err(|error| match error {
            AccountError::Store(StoreError::AccountExists(_)) => AccountError::NotCreated,
            error => error,
        })?;
        Ok(NewSession { token, expires_at })
    }

    /// Begins a session of the account of `email`.
    ///
    /// # Errors
    /// [`AccountError::WrongCredentials`], [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn sign_in(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<NewSession, AccountError> {
        let credentials = self.verified(email, secret, address, now).await?.ok_or(AccountError::WrongCredentials)?;
        let (token, expires_at) = fresh_session(now)?;
        let session = token.digest();
        self.off_runtime(move |access| {
            access.store.add_session(credentials.account, credentials.version, &session, now, expires_at)
        })
        .await
        .map_err(|error| match error {
            // What was right a moment ago is wrong now.
            AccountError::SignedOut => AccountError::WrongCredentials,
            error => error,
        })?;
        Ok(NewSession { token, expires_at })
    }

    /// Ends a session; one that is over already stays so.
    ///
    /// # Errors
    /// [`AccountError::Busy`], or where the store fails.
    pub async fn sign_out(self: &Arc<Self>, token: &SessionToken) -> Result<(), AccountError> {
        let session = token.digest();
        self.off_runtime(move |access| access.store.end_session(&session)).await.map(|_| ())
    }

    /// Who shows this token; `None` where its session is over.
    ///
    /// # Errors
    /// [`AccountError::Busy`], or where the store fails.
    pub async fn visitor(self: &Arc<Self>, token: &SessionToken, now: i64) -> Result<Option<Visitor>, AccountError> {
        let session = token.digest();
        let found = self.off_runtime(move |access| access.store.session(&session, now)).await?;
        Ok(found.map(|Session { account, expires_at, .. }| Visitor { account, session, expires_at }))
    }

    /// Sets another password, and ends all sessions but the visitor's.
    ///
    /// # Errors
    /// [`AccountError::WrongPassword`], [`AccountError::SamePassword`], [`AccountError::SignedOut`],
    /// [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn change_password(
        self: &Arc<Self>,
        visitor: &Visitor,
        current: Secret,
        new: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<(), AccountError> {
        let same = current == *new.secret();
        let credentials = self.verified_again(visitor, current, address, now).await?;
        if same {
            return Err(AccountError::SamePassword);
        }
        let hash = self.hasher.hash(new.secret().clone()).await?;
        let session = visitor.session;
        self.off_runtime(move |access| {
            access.store.set_password(credentials.account, Some(credentials.version), &hash, Some(&session))
        })
        .await
    }

    /// Deletes the visitor's account. Its keys are refused, here and at once, as revoked.
    ///
    /// # Errors
    /// [`AccountError::WrongPassword`], [`AccountError::SignedOut`], [`AccountError::Throttled`],
    /// [`AccountError::Busy`].
    pub async fn delete_account(
        self: &Arc<Self>,
        visitor: &Visitor,
        password: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<(), AccountError> {
        let credentials = self.verified_again(visitor, password, address, now).await?;
        self.off_runtime(move |access| {
            access.store.delete_account(credentials.account, Some(credentials.version), now)?;
            access.refresh().map(|_| ())
        })
        .await
    }

    /// The credentials of the visitor, whose password this is.
    async fn verified_again(
        self: &Arc<Self>,
        visitor: &Visitor,
        secret: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<Credentials, AccountError> {
        let found = self.verified(visitor.account.email.clone(), secret, address, now).await?;
        let credentials = found.ok_or(AccountError::WrongPassword)?;
        // The address can be that of another account by now.
        if credentials.account == visitor.account.id { Ok(credentials) } else { Err(AccountError::SignedOut) }
    }

    /// The credentials of the account whose address and password these are.
    async fn verified(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<Option<Credentials>, AccountError> {
        let attempt = self.admission.sign_in(&email, address, now).map_err(AccountError::Throttled)?;
        let found = self.off_runtime(move |access| match access.store.credentials(&email) {
            Err(StoreError::NoSuchAccount { .. }) => Ok(None),
            found => found.map(Some),
        });
        let unseen = |_: &AccountError| self.admission.settle(&attempt);
        let found = found.await.inspect_err(unseen)?;
        let hash = found.as_ref().and_then(|credentials| credentials.password.clone());
        let outdated = hash.as_ref().is_some_and(|hash| hash.is_outdated());
        let verified = self.hasher.verify(secret.clone(), hash).await.map_err(AccountError::from);
        if !verified.inspect_err(unseen)? {
            return Ok(None);
        }
        self.admission.settle(&attempt);
        if let (Some(credentials), true) = (&found, outdated) {
            self.renew_hash(credentials, secret).await;
        }
        Ok(found)
    }

    /// Hashes a password anew that was hashed with the parameters of another time; where it cannot, the next sign-in does.
    async fn renew_hash(self: &Arc<Self>, credentials: &Credentials, secret: Secret) {
        let (account, version) = (credentials.account, credentials.version);
        if let Ok(hash) = self.hasher.hash(secret).await {
            let _ = self.off_runtime(move |access| access.store.rehash_password(account, version, &hash)).await;
        }
    }

    /// Runs what blocks on a thread that may.
    pub(crate) async fn off_runtime<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, AccountError> {
        let access = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&access)).await;
        // It can only be that the server is ending.
        done.map_err(|_| AccountError::Busy(RetryAfter { seconds: 1 }))?.map_err(AccountError::from)
    }
}

fn fresh_session(now: i64) -> Result<(SessionToken, i64), AccountError> {
    Ok((SessionToken::from_seed(random()?), now.saturating_add(SESSION_LIFE)))
}

impl From<HashError> for AccountError {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Busy | HashError::Ending => Self::Busy(RetryAfter { seconds: 2 }),
            HashError::Failed(error) => Self::from(error),
        }
    }
}
