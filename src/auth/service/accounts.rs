//! Account operations: sign-up, sign-in, sign-out, and changes to one's own account.
//!
//! The service sends no mail, so an address cannot be verified. Sign-up with an address that already has an account is rejected
//! after as much work as a successful one, and the rate limit of sign-ups bounds how many addresses can be probed. Sign-in
//! has the same result and cost for a wrong password, an unknown address, and an account without a password.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use crate::auth::account::{Account, AccountId, Email};
use crate::auth::audit::{Entry, Event};
use crate::auth::password::{Password, Secret};
use crate::auth::service::random;
use crate::auth::session::{
    ListedSession, NewSession, SESSION_SECONDS, Session, SessionDigest, SessionId, SessionToken,
};
use crate::auth::{AccountError, AuthService, Credentials, StoreError};
use crate::quota::{RetryAfter, Tier};

/// Seconds after which the use of a session is written again.
const USE_IS_WRITTEN_AFTER: i64 = 3_600;

#[derive(Debug)]
pub struct StartedSession {
    /// To be sent to the browser only.
    pub token: SessionToken,
    /// Unix seconds.
    pub expires_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// As it is now.
    pub account: Account,
    pub session: SessionDigest,
    /// Unix seconds of the session's end.
    pub expires_at: i64,
}

impl AuthService {
    /// Creates an account of the free tier and starts its first session. `now` is Unix seconds in all operations; each can fail
    /// with [`AccountError::Busy`].
    ///
    /// # Errors
    /// [`AccountError::NotCreated`], [`AccountError::Throttled`].
    pub async fn sign_up(
        self: &Arc<Self>,
        email: Email,
        password: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<StartedSession, AccountError> {
        let signed_up = self.create_account(email, password, address, now).await;
        let account = signed_up.as_ref().ok().map(|(account, _)| *account);
        self.audit(Entry::new(Event::SignUp, account), signed_up.as_ref().err());
        signed_up.map(|(_, started)| started)
    }

    async fn create_account(
        self: &Arc<Self>,
        email: Email,
        password: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<(AccountId, StartedSession), AccountError> {
        let attempt = self.rate_limits.sign_up(address, now).map_err(AccountError::Throttled)?;
        let hash = self.hasher.hash(password.secret().clone()).await;
        let hash = hash.inspect_err(|_| self.rate_limits.give_back(&attempt))?;
        let (started, session) = new_session(now)?;
        let created = self.blocking(move |service| {
            let account = service.store.create_account(&email, Tier::Free, Some(&hash), now)?;
            let Credentials { version, .. } = service.store.credentials(&email)?;
            service.store.add_session(account.id, version, &session)?;
            Ok(account.id)
        });
        let account = created.await.map_err(|error| match error {
            AccountError::Store(StoreError::AccountExists(_)) => AccountError::NotCreated,
            error => error,
        })?;
        Ok((account, started))
    }

    /// # Errors
    /// [`AccountError::WrongCredentials`], [`AccountError::Throttled`].
    pub async fn sign_in(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<StartedSession, AccountError> {
        let mut account = None;
        let started = self.start_session(email, secret, address, now, &mut account).await;
        self.audit(Entry::new(Event::SignIn, account), started.as_ref().err());
        started
    }

    /// `account` becomes that of the e-mail address, also if the password is wrong.
    async fn start_session(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        now: i64,
        account: &mut Option<AccountId>,
    ) -> Result<StartedSession, AccountError> {
        let found = self.verify(email, secret, address, now, account).await?;
        let credentials = found.ok_or(AccountError::WrongCredentials)?;
        let (started, session) = new_session(now)?;
        self.blocking(move |service| service.store.add_session(credentials.account, credentials.version, &session))
            .await
            .map_err(|error| match error {
                // The password changed after it was verified.
                AccountError::SignedOut => AccountError::WrongCredentials,
                error => error,
            })?;
        Ok(started)
    }

    /// No effect if the session has already ended.
    pub async fn sign_out(self: &Arc<Self>, token: &SessionToken) -> Result<(), AccountError> {
        let session = token.digest();
        self.blocking(move |service| service.store.end_session(&session)).await.map(|_| ())
    }

    /// `None` if the session of the token has ended.
    pub async fn visitor(self: &Arc<Self>, token: &SessionToken, now: i64) -> Result<Option<Visitor>, AccountError> {
        let session = token.digest();
        let found = self.blocking(move |service| {
            let found = service.store.session(&session, now)?;
            // Rarely written, so that a page does not wait for the disk. If it fails, the next page tries again.
            if found.as_ref().is_some_and(|found| found.last_used_at <= now - USE_IS_WRITTEN_AFTER) {
                let _ = service.store.session_used(&session, now);
            }
            Ok(found)
        });
        let found = found.await?;
        Ok(found.map(|Session { account, expires_at, .. }| Visitor { account, session, expires_at }))
    }

    /// The valid sessions of an account, the newest first.
    pub async fn sessions(self: &Arc<Self>, account: AccountId, now: i64) -> Result<Vec<ListedSession>, AccountError> {
        self.blocking(move |service| service.store.sessions(account, now)).await
    }

    /// No effect if the account has no such session.
    pub async fn end_session(self: &Arc<Self>, account: AccountId, session: SessionId) -> Result<(), AccountError> {
        self.blocking(move |service| service.store.end_session_of(account, session)).await.map(|_| ())
    }

    /// Sets another password, ends all sessions, the visitor's included, and starts another one: a copy of the visitor's token
    /// is worthless afterwards.
    ///
    /// # Errors
    /// [`AccountError::WrongPassword`], [`AccountError::SamePassword`], [`AccountError::SignedOut`],
    /// [`AccountError::Throttled`].
    pub async fn change_password(
        self: &Arc<Self>,
        visitor: &Visitor,
        current: Secret,
        new: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<StartedSession, AccountError> {
        let changed = self.replace_password(visitor, current, new, address, now).await;
        self.audit(Entry::new(Event::PasswordChange, Some(visitor.account.id)), changed.as_ref().err());
        changed
    }

    async fn replace_password(
        self: &Arc<Self>,
        visitor: &Visitor,
        current: Secret,
        new: Password,
        address: IpAddr,
        now: i64,
    ) -> Result<StartedSession, AccountError> {
        let same = current == *new.secret();
        let credentials = self.verify_visitor(visitor, current, address, now).await?;
        if same {
            return Err(AccountError::SamePassword);
        }
        let hash = self.hasher.hash(new.secret().clone()).await?;
        let (started, session) = new_session(now)?;
        self.blocking(move |service| {
            service.store.set_password(credentials.account, Some(credentials.version), &hash, Some(&session))
        })
        .await?;
        Ok(started)
    }

    /// Deletes the visitor's account. Its keys are rejected as revoked when this returns.
    ///
    /// # Errors
    /// [`AccountError::WrongPassword`], [`AccountError::SignedOut`], [`AccountError::Throttled`].
    pub async fn delete_account(
        self: &Arc<Self>,
        visitor: &Visitor,
        password: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<(), AccountError> {
        let verified = self.verify_visitor(visitor, password, address, now).await;
        let deleted = match verified {
            Ok(Credentials { account, version, .. }) => {
                self.blocking(move |service| {
                    service.store.delete_account(account, Some(version), now)?;
                    service.refresh().map(|_| ())
                })
                .await
            }
            Err(error) => Err(error),
        };
        self.audit(Entry::new(Event::AccountDeletion, Some(visitor.account.id)), deleted.as_ref().err());
        deleted
    }

    async fn verify_visitor(
        self: &Arc<Self>,
        visitor: &Visitor,
        secret: Secret,
        address: IpAddr,
        now: i64,
    ) -> Result<Credentials, AccountError> {
        let found = self.verify(visitor.account.email.clone(), secret, address, now, &mut None).await?;
        let credentials = found.ok_or(AccountError::WrongPassword)?;
        // The address may belong to another account by now.
        if credentials.account == visitor.account.id { Ok(credentials) } else { Err(AccountError::SignedOut) }
    }

    /// `None` if the address is unknown or the password is wrong. `account` becomes that of the e-mail address.
    async fn verify(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        now: i64,
        account: &mut Option<AccountId>,
    ) -> Result<Option<Credentials>, AccountError> {
        let attempt = self.rate_limits.sign_in(email.as_str(), address, now).map_err(AccountError::Throttled)?;
        let found = self.blocking(move |service| match service.store.credentials(&email) {
            Err(StoreError::NoSuchAccount { .. }) => Ok(None),
            found => found.map(Some),
        });
        // An attempt whose password was not verified does not count as failed.
        let give_back = |_: &AccountError| self.rate_limits.give_back(&attempt);
        let found = found.await.inspect_err(give_back)?;
        *account = found.as_ref().map(|credentials| credentials.account);
        let hash = found.as_ref().and_then(|credentials| credentials.password.clone());
        let outdated = hash.as_ref().is_some_and(|hash| hash.is_outdated());
        let verified = self.hasher.verify(secret.clone(), hash).await;
        if !verified.inspect_err(give_back)? {
            return Ok(None);
        }
        self.rate_limits.give_back(&attempt);
        if let (Some(credentials), true) = (&found, outdated) {
            self.rehash(credentials, secret).await;
        }
        Ok(found)
    }

    /// Replaces a hash with outdated parameters. If this fails, the next sign-in tries again.
    async fn rehash(self: &Arc<Self>, credentials: &Credentials, secret: Secret) {
        let (account, version) = (credentials.account, credentials.version);
        if let Ok(hash) = self.hasher.hash(secret).await {
            let _ = self.blocking(move |service| service.store.rehash_password(account, version, &hash)).await;
        }
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, AccountError> {
        let service = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        // The task fails only if the server is shutting down.
        done.map_err(|_| AccountError::Busy(RetryAfter { seconds: 1 }))?.map_err(AccountError::from)
    }
}

fn new_session(now: i64) -> Result<(StartedSession, NewSession), AccountError> {
    let token = SessionToken::from_seed(random()?);
    let (digest, expires_at) = (token.digest(), now.saturating_add(SESSION_SECONDS));
    Ok((StartedSession { token, expires_at }, NewSession { digest, created_at: now, expires_at }))
}
