//! What is sent by e-mail if the operator has set it up: links that verify an address or reset a password.

use std::net::IpAddr;
use std::sync::Arc;

use crate::auth::account::{Account, Email};
use crate::auth::audit::{self, Entry, Event};
use crate::auth::link::{LINK_SECONDS, LinkToken, Purpose};
use crate::auth::password::Password;
use crate::auth::password::hasher::EnteredBy;
use crate::auth::{AccountError, AuthService, RetryAfter, StoreError};
use crate::mail::{Mail, Mailer};

/// How messages are sent, and where their links lead.
pub(crate) struct MailSettings {
    mailer: Mailer,
    /// Without a slash at its end.
    public_url: String,
}

impl AuthService {
    /// Sends e-mails from now on; no effect if they are sent already.
    pub fn mail_with(&self, mailer: Mailer, public_url: String) {
        let _ = self.mail.set(MailSettings { mailer, public_url });
    }

    /// Whether the operator has set up e-mail. Without it the other operations here do nothing.
    pub(crate) fn sends_mail(&self) -> bool {
        self.mail.get().is_some()
    }

    /// Sends the link that verifies the address of an account.
    ///
    /// # Errors
    /// [`AccountError::Throttled`], [`AccountError::Busy`].
    pub async fn send_verification(
        self: &Arc<Self>,
        account: &Account,
        address: IpAddr,
        now: i64,
    ) -> Result<(), AccountError> {
        if !self.sends_mail() || account.verified_at.is_some() {
            return Ok(());
        }
        self.rate_limits.mail(self.store.counters(), account.email.as_str(), address, now)?;
        self.send_link(account.clone(), Purpose::Verification, now).await
    }

    /// As [`AuthService::send_verification`], after sign-up.
    pub(crate) async fn welcome(self: &Arc<Self>, email: Email, address: IpAddr, now: i64) {
        if self.sends_mail()
            && let Ok(account) = self.blocking(move |service| service.store.account(&email)).await
        {
            // The account exists regardless; its page sends the link again.
            let _ = self.send_verification(&account, address, now).await;
        }
    }

    async fn send_link(self: &Arc<Self>, account: Account, purpose: Purpose, now: i64) -> Result<(), AccountError> {
        let token = LinkToken::generate()?;
        let (id, link) = (account.id, token.digest());
        let expires_at = now.saturating_add(LINK_SECONDS);
        self.blocking(move |service| service.store.add_link(id, purpose, &link, expires_at)).await?;
        let Some(MailSettings { mailer, public_url }) = self.mail.get() else { return Ok(()) };
        let (subject, text) = words(purpose, mailer.service(), public_url, &token);
        let mail = Mail { to: account.email.as_str().to_owned(), account: id.0, subject: subject.into(), text };
        mailer.send(mail).map_err(|_| AccountError::Busy(RetryAfter { seconds: 60 }))
    }

    /// Marks the account of a link as verified.
    ///
    /// # Errors
    /// [`AccountError::NoSuchLink`].
    pub async fn verify_by_link(self: &Arc<Self>, token: &str, now: i64) -> Result<Account, AccountError> {
        let verified = match token.parse::<LinkToken>() {
            Ok(token) => {
                let link = token.digest();
                self.blocking(move |service| service.store.verify_by_link(&link, now)).await
            }
            Err(_) => Err(AccountError::NoSuchLink),
        };
        let account = verified.as_ref().ok().map(|account| account.id);
        self.audit(Entry::new(Event::AddressVerification, account), verified.as_ref().err());
        verified
    }

    /// Sends a link to set a new password if the address has an account. Neither the result nor its duration says whether it has:
    /// the account is looked up in the background.
    ///
    /// # Errors
    /// [`AccountError::Throttled`].
    pub fn request_reset(self: &Arc<Self>, email: Email, address: IpAddr, now: i64) -> Result<(), AccountError> {
        if !self.sends_mail() {
            return Ok(());
        }
        self.rate_limits.mail(self.store.counters(), email.as_str(), address, now)?;
        let service = Arc::clone(self);
        let origin = audit::origin();
        let work = async move {
            let found = service.blocking(move |service| match service.store.account(&email) {
                Err(StoreError::NoSuchAccount { .. }) => Ok(None),
                found => found.map(Some),
            });
            let (account, sent) = match found.await {
                Ok(Some(account)) => (Some(account.id), service.send_link(account, Purpose::Reset, now).await),
                Ok(None) => (None, Err(AccountError::WrongCredentials)),
                Err(error) => (None, Err(error)),
            };
            service.audit(Entry::new(Event::PasswordResetRequest, account), sent.as_ref().err());
            if let Err(error @ (AccountError::Store(_) | AccountError::Unavailable(_) | AccountError::Busy(_))) = sent {
                tracing::error!("a link to reset a password was not sent: {error}");
            }
        };
        match origin {
            Some(origin) => drop(tokio::spawn(audit::scope(origin, work))),
            None => drop(tokio::spawn(work)),
        }
        Ok(())
    }

    /// The account whose password a link resets.
    ///
    /// # Errors
    /// [`AccountError::NoSuchLink`].
    pub async fn account_of_reset(self: &Arc<Self>, token: &str, now: i64) -> Result<Account, AccountError> {
        let link = token.parse::<LinkToken>().map_err(|_| AccountError::NoSuchLink)?.digest();
        self.blocking(move |service| service.store.account_of_link(Purpose::Reset, &link, now)).await
    }

    /// Sets the password of a link's account, ends all its sessions and, unless it `keeps_keys`, revokes its keys. The account is
    /// verified then: its owner has read the e-mail.
    ///
    /// # Errors
    /// [`AccountError::NoSuchLink`].
    pub async fn reset_by_link(
        self: &Arc<Self>,
        token: &str,
        new: Password,
        keeps_keys: bool,
        now: i64,
    ) -> Result<Account, AccountError> {
        let reset = self.set_password_by_link(token, new, keeps_keys, now).await;
        let account = reset.as_ref().ok().map(|account| account.id);
        self.audit(Entry::new(Event::PasswordReset, account), reset.as_ref().err());
        reset
    }

    async fn set_password_by_link(
        self: &Arc<Self>,
        token: &str,
        new: Password,
        keeps_keys: bool,
        now: i64,
    ) -> Result<Account, AccountError> {
        let link = token.parse::<LinkToken>().map_err(|_| AccountError::NoSuchLink)?.digest();
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
}

fn words(purpose: Purpose, service: &str, public_url: &str, token: &LinkToken) -> (&'static str, String) {
    let token = token.reveal();
    match purpose {
        Purpose::Verification => (
            "Verify your e-mail address",
            format!(
                "Hello,\n\nsomebody signed up for {service} with this address. If it was you, open this link within 24 \
                 hours to verify the address:\n\n{public_url}/verify?token={token}\n\nIf it was not you, ignore this \
                 message: the account stays unverified.\n"
            ),
        ),
        Purpose::Reset => (
            "Set a new password",
            format!(
                "Hello,\n\nsomebody asked to set a new password for the {service} account of this address. If it was \
                 you, open this link within 24 hours:\n\n{public_url}/reset/password?token={token}\n\nIf it was not you, \
                 ignore this message: nothing has changed.\n"
            ),
        ),
    }
}
