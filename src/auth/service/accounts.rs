//! Account operations: sign-up, sign-in, sign-out, and changes to one's own account.
//!
//! Sign-up with an address that already has an account is rejected after as much work as a successful one, and the rate
//! limit of sign-ups bounds how many addresses can be probed. Sign-in has the same result and cost for a wrong
//! password, an unknown address, and an account without a password.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use crate::account::{Account, AccountId, Email};
use crate::audit::{AuditEntry, AuditEvent};
use crate::password::line::EnteredBy;
use crate::password::{Password, Secret};
use crate::quota::{Client, Tier, sign_in_network};
use crate::service::second_factor::PendingSignIn;
use crate::session::{
    CONFIRMED_SECONDS, NewSession, OPERATOR_SECONDS, SESSION_SECONDS, SessionDigest, SessionId, SessionToken,
};
use crate::{
    AccountError, AccountResult, AuthService, BrowserToken, Credentials, PasswordVersion, RetryAfter, StoreError,
    StoreResult,
};

const USE_IS_WRITTEN_AFTER: i64 = 3_600;

#[derive(Debug)]
pub struct StartedSession {
    pub token: SessionToken,
    /// Unix seconds.
    pub expires_at: i64,
    pub browser: BrowserToken,
}

/// A signed-in owner and the session. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    pub account: Account,
    pub session: SessionDigest,
    pub created_at: i64,
    /// Written at most once an hour.
    pub last_used_at: i64,
    /// Time at which the password was last entered in the session.
    pub authenticated_at: i64,
    /// The first second at which the session is no longer valid, used or not.
    pub expires_at: i64,
}

impl Visitor {
    /// True if the password was entered recently enough for a sensitive change at `now` (Unix seconds).
    pub fn is_confirmed(&self, now: i64) -> bool {
        self.authenticated_at > now - CONFIRMED_SECONDS
    }

    /// True if the password was entered recently enough to see all accounts at `now` (Unix seconds).
    pub fn may_operate(&self, now: i64) -> bool {
        self.account.is_operator && self.authenticated_at > now - OPERATOR_SECONDS
    }
}

impl AuthService {
    /// Creates an account of the free tier and starts its first session. `now` is Unix seconds in all operations; each can fail
    /// with [`AccountError::Busy`]. [`AccountError::NotCreated`], [`AccountError::Throttled`].
    pub async fn sign_up(
        self: &Arc<Self>,
        email: Email,
        password: Password,
        address: IpAddr,
        now: i64,
    ) -> AccountResult<StartedSession> {
        let signed_up = async {
            self.rate_limits.sign_ups.take(self.store.counters(), Client::Address(address), now)?;
            let stranger = EnteredBy::Stranger { network: sign_in_network(address), arrived_at: now };
            let hash = self.hasher.hash(password.secret().clone(), stranger).await?;
            let (token, session) = new_session(now)?;
            let created = self.blocking(move |service| {
                service.store.create_account(&email, Tier::Free, Some(&hash), now)?;
                let credentials = service.store.credentials(&email)?;
                service.store.add_session(credentials.account, credentials.version, &session)?;
                Ok(credentials)
            });
            let Credentials { account, version, .. } = created.await.map_err(|error| match error {
                AccountError::Store(StoreError::AccountExists(_)) => AccountError::NotCreated,
                error => error,
            })?;
            Ok::<_, AccountError>((account, self.started(token, &session, account, version)))
        }
        .await;
        let account = signed_up.as_ref().ok().map(|(account, _)| *account);
        self.audited(AuditEntry::new(AuditEvent::SignUp, account), signed_up).map(|(_, started)| started)
    }

    /// `browser` is the token that the browser presents, for this account or for another, valid or not; `ticket` is that of an
    /// attempt that waited in vain, if there was one. [`AccountError::WrongCredentials`], [`AccountError::CodeRequired`],
    /// [`AccountError::InLine`], [`AccountError::Throttled`].
    pub async fn sign_in(
        self: &Arc<Self>,
        email: Email,
        secret: Secret,
        address: IpAddr,
        browser: Option<BrowserToken>,
        ticket: Option<&str>,
        now: i64,
    ) -> AccountResult<StartedSession> {
        // That of the e-mail address, also if the password is wrong.
        let mut account = None;
        let started = async {
            let found = self.credentials(email.clone()).await?;
            account = found.as_ref().map(|found| found.account);
            // A known browser that has used up its own limit is counted like any other.
            let is_known = found.as_ref().zip(browser).is_some_and(|(found, browser)| {
                let browsers = Client::KnownBrowsers(found.account.0);
                browser.is_known(&self.browser_secret, (found.account, found.version), now)
                    && self.rate_limits.passwords_of_owner.take(self.store.counters(), browsers, now).is_ok()
            });
            let matches = if is_known {
                self.matches(found.as_ref(), secret, EnteredBy::Owner).await?
            } else {
                let (limits, store) = (&self.rate_limits, self.store.counters());
                let attempt = limits.count_sign_in(store, email.as_str(), address, now)?;
                let arrived_at = ticket.and_then(|ticket| self.sign_in_tickets.redeem(ticket, now)).unwrap_or(now);
                let stranger = EnteredBy::Stranger { network: sign_in_network(address), arrived_at };
                let matches = match self.matches(found.as_ref(), secret, stranger).await {
                    Err(AccountError::Busy(_)) => Err(match self.sign_in_tickets.issue(arrived_at, now) {
                        Ok(ticket) => AccountError::InLine(ticket),
                        Err(error) => error.into(),
                    }),
                    matches => matches,
                };
                // Without a verification it guessed nothing of the account. It remains counted for its address: a client that
                // overloads the server must wait like one that guesses.
                let matches = matches.inspect_err(|_| limits.uncount_unverified(store, &attempt))?;
                if matches {
                    limits.uncount_sign_in(store, &attempt);
                }
                matches
            };
            let Credentials { account, version, .. } =
                found.filter(|_| matches).ok_or(AccountError::WrongCredentials)?;
            if self.blocking(move |service| service.store.totp(account)).await?.is_some() {
                let pending = PendingSignIn::sign(account, version, now, &self.sign_in_secret);
                return Err(AccountError::CodeRequired(pending));
            }
            // The password may have changed after it was verified.
            self.start_session(account, version, AccountError::WrongCredentials, now).await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::SignIn, account), started)
    }

    /// Starts a session of an account whose password still has this version; `changed` is the error if not.
    pub(crate) async fn start_session(
        self: &Arc<Self>,
        account: AccountId,
        version: PasswordVersion,
        changed: AccountError,
        now: i64,
    ) -> AccountResult<StartedSession> {
        let (token, session) = new_session(now)?;
        match self.blocking(move |service| service.store.add_session(account, version, &session)).await {
            Ok(()) => Ok(self.started(token, &session, account, version)),
            Err(AccountError::SignedOut) => Err(changed),
            Err(error) => Err(error),
        }
    }

    /// No effect if the session has already ended.
    pub async fn sign_out(self: &Arc<Self>, token: &SessionToken, now: i64) -> AccountResult<()> {
        let session = token.digest();
        let ended = self.blocking(move |service| {
            let found = service.store.session(&session, now)?;
            service.store.end_session(&session)?;
            Ok(found)
        });
        if let Some(session) = ended.await? {
            self.audit(AuditEntry::new(AuditEvent::SessionEnd, Some(session.account.id)), None);
        }
        Ok(())
    }

    /// `None` if the session of the token has ended.
    pub async fn visitor(self: &Arc<Self>, token: &SessionToken, now: i64) -> AccountResult<Option<Visitor>> {
        let session = token.digest();
        self.blocking(move |service| {
            let found = service.store.session(&session, now)?;
            // Rarely written, so that a page does not wait for the disk. If it fails, the next page tries again.
            if found.as_ref().is_some_and(|found| found.last_used_at <= now - USE_IS_WRITTEN_AFTER) {
                let _ = service.store.session_used(&session, now);
            }
            Ok(found)
        })
        .await
    }

    /// No effect if the account has no such session.
    pub async fn end_session(self: &Arc<Self>, account: AccountId, session: SessionId) -> AccountResult<()> {
        if self.blocking(move |service| service.store.end_session_of(account, session)).await? {
            self.audit(AuditEntry::new(AuditEvent::SessionEnd, Some(account)), None);
        }
        Ok(())
    }

    /// Verifies the visitor's password before a sensitive change; the session is confirmed for some hours then.
    /// [`AccountError::WrongPassword`], [`AccountError::SignedOut`], [`AccountError::Throttled`].
    pub async fn confirm(self: &Arc<Self>, visitor: &Visitor, password: Secret, now: i64) -> AccountResult<()> {
        let session = visitor.session;
        let confirmed = match self.verify_visitor(visitor, password, now).await {
            Ok(_) => self.blocking(move |service| service.store.session_authenticated(&session, now)).await,
            Err(error) => Err(error),
        };
        let confirmed = confirmed.and_then(|exists| if exists { Ok(()) } else { Err(AccountError::SignedOut) });
        self.audited(AuditEntry::new(AuditEvent::PasswordConfirmation, Some(visitor.account.id)), confirmed)
    }

    /// Sets another password, ends all sessions and starts another one: a copy of the visitor's token is worthless
    /// afterwards, and only this browser remains known. [`AccountError::WrongPassword`],
    /// [`AccountError::SamePassword`], [`AccountError::SignedOut`], [`AccountError::Throttled`].
    pub async fn change_password(
        self: &Arc<Self>,
        visitor: &Visitor,
        current: Secret,
        new: Password,
        now: i64,
    ) -> AccountResult<StartedSession> {
        let changed = async {
            let same = current == *new.secret();
            let Credentials { account, version, .. } = self.verify_visitor(visitor, current, now).await?;
            if same {
                return Err(AccountError::SamePassword);
            }
            let hash = self.hasher.hash(new.secret().clone(), EnteredBy::Owner).await?;
            let (token, session) = new_session(now)?;
            let set = move |service: &Self| service.store.set_password(account, Some(version), &hash, Some(&session));
            self.blocking(set).await?;
            Ok(self.started(token, &session, account, PasswordVersion(version.0 + 1)))
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::PasswordChange, Some(visitor.account.id)), changed)
    }

    /// Deletes the visitor's account. Its keys are rejected as revoked when this returns.
    /// [`AccountError::WrongPassword`], [`AccountError::SignedOut`], [`AccountError::Throttled`].
    pub async fn delete_account(self: &Arc<Self>, visitor: &Visitor, password: Secret, now: i64) -> AccountResult<()> {
        let deleted = async {
            let Credentials { account, version, .. } = self.verify_visitor(visitor, password, now).await?;
            let delete = move |service: &Self| {
                service.store.delete_account(account, Some(version), now)?;
                service.refresh().map(|_| ())
            };
            self.blocking(delete).await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::AccountDeletion, Some(visitor.account.id)), deleted)
    }

    /// Verifies the password, counted by session, so that strangers who guess do not hinder a signed-in owner.
    pub(crate) async fn verify_visitor(
        self: &Arc<Self>,
        visitor: &Visitor,
        secret: Secret,
        now: i64,
    ) -> AccountResult<Credentials> {
        let session = Client::Session(*visitor.session.bytes());
        self.rate_limits.passwords_of_owner.take(self.store.counters(), session, now)?;
        let found = self.credentials(visitor.account.email.clone()).await?;
        // The address may belong to another account by now.
        let own = found.filter(|found| found.account == visitor.account.id).ok_or(AccountError::SignedOut)?;
        let matches = self.matches(Some(&own), secret, EnteredBy::Owner).await?;
        matches.then_some(own).ok_or(AccountError::WrongPassword)
    }

    async fn credentials(self: &Arc<Self>, email: Email) -> AccountResult<Option<Credentials>> {
        self.blocking(move |service| match service.store.credentials(&email) {
            Err(StoreError::NoSuchAccount { .. }) => Ok(None),
            found => found.map(Some),
        })
        .await
    }

    /// True if the password is that of the account. Without an account it takes as long.
    async fn matches(self: &Arc<Self>, of: Option<&Credentials>, secret: Secret, by: EnteredBy) -> AccountResult<bool> {
        let hash = of.and_then(|of| of.password.clone());
        let outdated = hash.as_ref().is_some_and(|hash| hash.is_outdated());
        let matches = self.hasher.verify(secret.clone(), hash, by).await?;
        // A hash with outdated parameters is replaced. If this fails, the next sign-in tries again.
        if let Some(Credentials { account, version, .. }) = of.filter(|_| matches && outdated)
            && let Ok(hash) = self.hasher.hash(secret, EnteredBy::Owner).await
        {
            let (account, version) = (*account, *version);
            let _ = self.blocking(move |service| service.store.rehash(account, version, &hash)).await;
        }
        Ok(matches)
    }

    fn started(
        &self,
        token: SessionToken,
        session: &NewSession,
        account: AccountId,
        version: PasswordVersion,
    ) -> StartedSession {
        let browser = BrowserToken::issue(&self.browser_secret, account, version, session.created_at);
        StartedSession { token, expires_at: session.expires_at, browser }
    }

    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> StoreResult<T> + Send + 'static,
    ) -> AccountResult<T> {
        let service = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        // The task fails only if the server is shutting down.
        done.map_err(|_| AccountError::Busy(RetryAfter { seconds: 1 }))?.map_err(AccountError::from)
    }
}

fn new_session(now: i64) -> AccountResult<(SessionToken, NewSession)> {
    let token = SessionToken::generate()?;
    let (digest, expires_at) = (token.digest(), now.saturating_add(SESSION_SECONDS));
    Ok((token, NewSession { digest, created_at: now, expires_at }))
}
