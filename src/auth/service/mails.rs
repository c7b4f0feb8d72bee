//! Links by e-mail, if set up: they verify an address, reset a password or sign in, and are made when they are sent.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread::Thread;

use crate::account::{Account, AccountId, Email};
use crate::audit::{self, AuditEntry, AuditEvent};
use crate::link::{INVITATION_SECONDS, LinkDigest, LinkToken, Purpose};
use crate::mail::Mail;
use crate::password::Password;
use crate::password::line::EnteredBy;
use crate::quota::Tier;
use crate::service::second_factor::PendingSignIn;
use crate::watch::DueLink;
use crate::{AccountError, AccountResult, AuthService, StartedSession, Store, StoreError, StoreResult};

impl AuthService {
    /// Sets the thread that sends links, which is unparked when one is requested; no effect if there is one already.
    pub fn send_links_by(&self, sender: Thread) {
        let _ = self.link_sender.set(sender);
    }

    /// True if the operator has set up e-mail. Without it the other operations here do nothing.
    pub fn sends_mail(&self) -> bool {
        self.link_sender.get().is_some()
    }

    /// Sends the link that verifies the address of an account. [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn send_verification(self: &Arc<Self>, email: Email, address: IpAddr, now: i64) -> AccountResult<()> {
        if self.sends_mail() { self.request_link(email, Purpose::Verification, address, now).await } else { Ok(()) }
    }

    /// Stores a request and wakes the thread that sends the link, where all that depends on the address happens.
    async fn request_link(self: &Arc<Self>, to: Email, purpose: Purpose, from: IpAddr, now: i64) -> AccountResult<()> {
        self.rate_limits.count_mail(self.store.counters(), to.as_str(), from, now)?;
        let expires_at = now.saturating_add(purpose.seconds());
        self.blocking(move |service| {
            service.store.request_link(&to, purpose, expires_at, now)?;
            service.link_sender.get().into_iter().for_each(Thread::unpark);
            Ok(())
        })
        .await
    }

    /// Marks the account of a link as verified. [`AccountError::NoSuchLink`].
    pub async fn verify_by_link(self: &Arc<Self>, token: &str, now: i64) -> AccountResult<Account> {
        let verified = match parse_link(token) {
            Ok(link) => self.blocking(move |service| service.store.verify_by_link(&link, now)).await,
            Err(error) => Err(error),
        };
        let account = verified.as_ref().ok().map(|account| account.id);
        self.audited(AuditEntry::new(AuditEvent::AddressVerification, account), verified)
    }

    /// Sends a link to set a new password if the address has an account. Neither the result nor its duration reveals
    /// that: the account is looked up in the background. [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn request_reset(self: &Arc<Self>, email: Email, address: IpAddr, now: i64) -> AccountResult<()> {
        self.request_as_stranger(email, Purpose::Reset, AuditEvent::PasswordResetRequest, address, now).await
    }

    /// As [`Self::request_reset`], for a link that signs in: strangers who have used up the wrong passwords of an account, or
    /// overload the server, do not keep its owner out.
    pub async fn request_sign_in_link(self: &Arc<Self>, email: Email, address: IpAddr, now: i64) -> AccountResult<()> {
        self.request_as_stranger(email, Purpose::SignIn, AuditEvent::SignInLinkRequest, address, now).await
    }

    async fn request_as_stranger(
        self: &Arc<Self>,
        email: Email,
        purpose: Purpose,
        event: AuditEvent,
        address: IpAddr,
        now: i64,
    ) -> AccountResult<()> {
        if !self.sends_mail() {
            return Ok(());
        }
        let requested = self.request_link(email.clone(), purpose, address, now).await;
        if let Err(error) = &requested
            && !matches!(error, AccountError::Throttled(_))
        {
            self.audit(AuditEntry::new(event, None), Some(error));
        }
        requested?;
        let service = Arc::clone(self);
        let origin = audit::origin();
        let work = async move {
            let found = service.blocking(move |service| service.store.account(&email)).await;
            let (account, refusal) = match found {
                Ok(account) => (Some(account.id), None),
                Err(AccountError::Store(StoreError::NoSuchAccount { .. })) => {
                    (None, Some(AccountError::WrongCredentials))
                }
                Err(error) => (None, Some(error)),
            };
            service.audit(AuditEntry::new(event, account), refusal.as_ref());
        };
        match origin {
            Some(origin) => drop(tokio::spawn(audit::scope(origin, work))),
            None => drop(tokio::spawn(work)),
        }
        Ok(())
    }

    /// Signs in by a link, which is used up then. Two-step sign-in still asks for a code.
    /// [`AccountError::NoSuchLink`], [`AccountError::CodeRequired`], [`AccountError::Blocked`].
    pub async fn sign_in_by_link(self: &Arc<Self>, token: &str, now: i64) -> AccountResult<StartedSession> {
        let mut account = None;
        let started = async {
            let link = parse_link(token)?;
            let used = self.blocking(move |service| {
                let (id, version) = service.store.use_sign_in_link(&link, now)?;
                Ok((id, version, service.store.totp(id)?.is_some()))
            });
            let (id, version, needs_code) = used.await?;
            account = Some(id);
            if needs_code {
                return Err(AccountError::CodeRequired(PendingSignIn::sign(id, version, now, &self.sign_in_secret)));
            }
            // The password may have changed after the link was used.
            self.start_session(id, version, AccountError::NoSuchLink, now).await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::SignIn, account), started)
    }

    /// Account of a link that resets its password. [`AccountError::NoSuchLink`].
    pub async fn account_of_reset(self: &Arc<Self>, token: &str, now: i64) -> AccountResult<Account> {
        let link = parse_link(token)?;
        self.blocking(move |service| service.store.account_of_link(Purpose::Reset, &link, now)).await
    }

    /// Sets the password of a link's account, ends all its sessions and, unless it `keeps_keys`, revokes its keys. The account is
    /// verified then: its owner has got the link. [`AccountError::NoSuchLink`].
    pub async fn reset_by_link(
        self: &Arc<Self>,
        token: &str,
        new: Password,
        keeps_keys: bool,
        now: i64,
    ) -> AccountResult<Account> {
        let reset = async {
            let link = parse_link(token)?;
            // Before the costly hash.
            self.blocking(move |service| service.store.account_of_link(Purpose::Reset, &link, now)).await?;
            let hash = self.hasher.hash(new.secret().clone(), EnteredBy::Owner).await?;
            self.blocking(move |service| {
                let account = service.store.reset_by_link(&link, &hash, keeps_keys, now)?;
                service.refresh()?;
                Ok(account)
            })
            .await
        }
        .await;
        let account = reset.as_ref().ok().map(|account| account.id);
        self.audited(AuditEntry::new(AuditEvent::PasswordReset, account), reset)
    }
}

fn parse_link(token: &str) -> AccountResult<LinkDigest> {
    token.parse::<LinkToken>().map(|token| token.digest()).map_err(|_| AccountError::NoSuchLink)
}

/// The account to invite: a new one, or one of the address that never had a password. It may review firms.
/// [`StoreError::AccountExists`].
pub fn invited_account(store: &dyn Store, email: &Email, tier: Tier, now: i64) -> StoreResult<Account> {
    let account = match store.create_account(email, tier, None, now) {
        Err(StoreError::AccountExists(_)) if is_invited(store, email)? => store.account(email),
        created => created,
    }?;
    store.set_reviewer(account.id, true)
}

fn is_invited(store: &dyn Store, email: &Email) -> StoreResult<bool> {
    Ok(store.credentials(email)?.password.is_none())
}

/// Makes an invitation in place of an earlier one, and returns its address below `url`.
pub fn invitation(store: &dyn Store, account: AccountId, url: &str, now: i64) -> StoreResult<String> {
    let token = LinkToken::generate()?;
    store.add_link(account, Purpose::Reset, &token.digest(), now.saturating_add(INVITATION_SECONDS))?;
    Ok(format!("{url}/invitation?token={}", token.reveal()))
}

/// Lets a server send the invitation by e-mail.
pub fn request_invitation(store: &dyn Store, email: &Email, now: i64) -> StoreResult<()> {
    store.request_link(email, Purpose::Reset, now.saturating_add(INVITATION_SECONDS), now)
}

/// Makes the due link, in place of an earlier one, and its e-mail. `None` if it is no longer needed.
pub fn link_mail(store: &dyn Store, due: &DueLink, service: &str, url: &str, now: i64) -> StoreResult<Option<Mail>> {
    let DueLink { ref account, purpose, .. } = *due;
    if purpose == Purpose::Verification && account.verified_at.is_some() {
        return Ok(None);
    }
    let is_invitation = purpose == Purpose::Reset && is_invited(store, &account.email)?;
    let seconds = if is_invitation { INVITATION_SECONDS } else { purpose.seconds() };
    let token = LinkToken::generate()?;
    match store.add_link(account.id, purpose, &token.digest(), now.saturating_add(seconds)) {
        Err(StoreError::AccountGone) => return Ok(None),
        added => added?,
    }
    let (to, token) = (account.email.as_str().to_owned(), token.reveal());
    let (subject, text) = match purpose {
        Purpose::Verification => (
            "Verify your e-mail address",
            format!(
                "Hello,\n\nsomebody signed up for {service} with this address. If it was you, open this link within 24 \
                 hours to verify the address:\n\n{url}/verify?token={token}\n\nIf it was not you, ignore this \
                 message: the account stays unverified.\n"
            ),
        ),
        Purpose::Reset if is_invitation => (
            "Your account",
            format!(
                "Hello,\n\nthe operator of {service} has created an account for this address. Open this link within seven days to \
                 choose its password:\n\n{url}/invitation?token={token}\n\nIf you do not want the account, ignore this message: \
                 without a password nobody can sign in.\n"
            ),
        ),
        Purpose::Reset => (
            "Set a new password",
            format!(
                "Hello,\n\nsomebody asked to set a new password for the {service} account of this address. If it was \
                 you, open this link within 24 hours:\n\n{url}/reset/password?token={token}\n\nIf it was not you, \
                 ignore this message: nothing has changed.\n"
            ),
        ),
        Purpose::SignIn => (
            "Sign in",
            format!(
                "Hello,\n\nsomebody requested a link to sign in to the {service} account of this address. If it was you, \
                 open this link within 15 minutes, in the browser in which you want to sign \
                 in:\n\n{url}/signin/open?token={token}\n\nIf it was not you, ignore this message, and give the link to \
                 nobody: who opens it is signed in.\n"
            ),
        ),
    };
    Ok(Some(Mail { to, account: account.id.0, subject: subject.into(), text }))
}
