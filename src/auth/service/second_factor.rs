//! The second step of a sign-in: a code of an authenticator app, or a recovery code.
//!
//! After the password the browser gets a signed [`PendingSignIn`], which it sends back with the code, so that nothing
//! is stored for a sign-in that is never completed. Codes are limited by account, apart from passwords: only somebody who
//! knows the password can use them up. Recovery codes have a limit of their own, and known browsers have both for
//! themselves, so that whoever found out the password does not keep its owner out.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::account::AccountId;
use crate::audit::{AuditEntry, AuditEvent};
use crate::derived_secret::DerivedSecret;
use crate::password::Secret;
use crate::quota::Client;
use crate::totp::{RECOVERY_CODES, RecoveryCode, RecoveryDigest, SecondFactorCode, TotpSecret};
use crate::{
    AccountError, AccountResult, AuthService, BrowserToken, PasswordVersion, StartedSession, StoreResult, Totp, Visitor,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Seconds for which a code can be entered after the password.
const PENDING_SECONDS: i64 = 600;

/// Proof that the password of an account was entered. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct PendingSignIn(String);

impl PendingSignIn {
    pub(crate) fn sign(account: AccountId, version: PasswordVersion, now: i64, secret: &DerivedSecret) -> Self {
        let mut bytes = Vec::with_capacity(56);
        for number in [account.0, version.0, now.saturating_add(PENDING_SECONDS)] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&secret.tag(&bytes));
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// `None` if it has expired, or was changed.
    fn open(text: &str, now: i64, secret: &DerivedSecret) -> Option<(AccountId, PasswordVersion)> {
        let bytes: [u8; 56] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (signed, tag) = bytes.split_at(24);
        let number = |index: usize| i64::from_be_bytes(signed[index * 8..][..8].try_into().expect("8 bytes"));
        (secret.verify(signed, tag) && number(2) > now).then(|| (AccountId(number(0)), PasswordVersion(number(1))))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

hide_debug!(PendingSignIn);

impl AuthService {
    /// Completes a sign-in with a code.
    /// [`AccountError::WrongCode`], [`AccountError::SignInExpired`], [`AccountError::Throttled`].
    pub async fn sign_in_with_code(
        self: &Arc<Self>,
        pending: &str,
        code: &str,
        browser: Option<BrowserToken>,
        now: i64,
    ) -> AccountResult<StartedSession> {
        let opened = PendingSignIn::open(pending, now, &self.sign_in_secret);
        let (account, version) = opened.ok_or(AccountError::SignInExpired)?;
        let is_known = browser.is_some_and(|browser| browser.is_known(&self.browser_secret, (account, version), now));
        let started = async {
            self.verify_code(account, code, is_known, now).await?;
            // The password may have changed after it was entered.
            self.start_session(account, version, AccountError::SignInExpired, now).await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::SignIn, Some(account)), started)
    }

    /// Accepts a code once. An account without an app has no valid code.
    async fn verify_code(
        self: &Arc<Self>,
        account: AccountId,
        code: &str,
        in_known_browser: bool,
        now: i64,
    ) -> AccountResult<()> {
        let parsed = SecondFactorCode::parse(code);
        let limit = match parsed {
            Some(SecondFactorCode::Recovery(_)) => &self.rate_limits.recovery_codes,
            _ => &self.rate_limits.passwords_of_owner,
        };
        limit.take(self.store.counters(), Client::Codes { account: account.0, in_known_browser }, now)?;
        let accepted = self.blocking(move |service| {
            let Some(Totp { secret, step }) = service.store.totp(account)? else { return Ok(false) };
            match parsed {
                Some(SecondFactorCode::App(code)) => {
                    let step = secret.step_of(code, step, now);
                    step.map_or(Ok(false), |step| service.store.accept_totp_step(account, step))
                }
                Some(SecondFactorCode::Recovery(code)) => service.store.use_recovery_code(account, &code),
                None => Ok(false),
            }
        });
        if !accepted.await? {
            return Err(AccountError::WrongCode);
        }
        if matches!(parsed, Some(SecondFactorCode::Recovery(_))) {
            self.audit(AuditEntry::new(AuditEvent::RecoveryCodeUse, Some(account)), None);
        }
        Ok(())
    }

    /// Requires codes from an app at sign-in from now on, and returns the recovery codes, to be shown once. `code` proves that the
    /// app has the secret. [`AccountError::WrongCode`], [`AccountError::TotpChanged`], [`AccountError::SignedOut`].
    pub async fn enable_totp(
        self: &Arc<Self>,
        account: AccountId,
        secret: TotpSecret,
        code: &str,
        now: i64,
    ) -> AccountResult<Vec<RecoveryCode>> {
        let enabled = async {
            let step = match SecondFactorCode::parse(code) {
                Some(SecondFactorCode::App(code)) => secret.step_of(code, 0, now),
                _ => None,
            };
            // A wrong code during setup is a slip and not a guess: the secret is on the same page.
            let step = step.ok_or(AccountError::WrongCode)?;
            self.blocking(move |service| {
                let (codes, digests) = recovery_codes()?;
                service.store.enable_totp(account, &Totp { secret, step }, &digests, now)?;
                Ok(codes)
            })
            .await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::TotpActivation, Some(account)), enabled)
    }

    /// Replaces the recovery codes, used or not. [`AccountError::TotpChanged`], [`AccountError::SignedOut`].
    pub async fn renew_recovery_codes(self: &Arc<Self>, account: AccountId) -> AccountResult<Vec<RecoveryCode>> {
        let renewed = self.blocking(move |service| {
            let (codes, digests) = recovery_codes()?;
            service.store.renew_recovery_codes(account, &digests)?;
            Ok(codes)
        });
        self.audited(AuditEntry::new(AuditEvent::RecoveryCodeRenewal, Some(account)), renewed.await)
    }

    /// No longer requires codes at sign-in. [`AccountError::WrongPassword`], [`AccountError::WrongCode`],
    /// [`AccountError::SignedOut`], [`AccountError::Throttled`].
    pub async fn disable_totp(
        self: &Arc<Self>,
        visitor: &Visitor,
        password: Secret,
        code: &str,
        now: i64,
    ) -> AccountResult<()> {
        let account = visitor.account.id;
        let disabled = async {
            let version = self.verify_visitor(visitor, password, now).await?.version;
            self.verify_code(account, code, true, now).await?;
            self.blocking(move |service| service.store.disable_totp(account, Some(version))).await.map(|_| ())
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::TotpDeactivation, Some(account)), disabled)
    }
}

fn recovery_codes() -> StoreResult<(Vec<RecoveryCode>, Vec<RecoveryDigest>)> {
    let codes: Vec<RecoveryCode> = (0..RECOVERY_CODES).map(|_| RecoveryCode::generate()).collect::<Result<_, _>>()?;
    let digests = codes.iter().map(RecoveryCode::digest).collect();
    Ok((codes, digests))
}
