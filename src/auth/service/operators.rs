//! Operations on the pages below `/admin`. Each change is logged with the operator's account.

use std::sync::Arc;

use crate::account::{Account, AccountId};
use crate::audit::{AuditEntry, AuditEvent};
use crate::quota::Tier;
use crate::service::first_of_days;
use crate::{AccountResult, AuthService, StoreError};
use data::Date;

/// Requests of all accounts, without those not yet written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUsage {
    /// The oldest first, today last.
    pub days: Vec<(Date, u64)>,
    pub accounts: Vec<(AccountId, u64)>,
}

impl AuthService {
    /// Accounts by a part of their address: their number, and at most `limit` after the first `start`, by address.
    pub async fn find_accounts(
        self: &Arc<Self>,
        text: &str,
        start: u32,
        limit: u32,
    ) -> AccountResult<(u32, Vec<Account>)> {
        let part = text.trim().to_lowercase();
        self.blocking(move |service| service.store.find_accounts(&part, start, limit)).await
    }

    pub async fn find_account(self: &Arc<Self>, account: AccountId) -> AccountResult<Option<Account>> {
        self.blocking(move |service| match service.store.account_by_id(account) {
            Err(StoreError::AccountGone) => Ok(None),
            found => found.map(Some),
        })
        .await
    }

    pub async fn service_usage(self: &Arc<Self>, days: u16, now: i64) -> AccountResult<ServiceUsage> {
        let today = Date::from_unix(now);
        let first = first_of_days(today, days);
        self.blocking(move |service| {
            let known = service.store.usage_by_day(first, today)?;
            let of_day = |day: Date| known.iter().find(|(known, _)| *known == day).map_or(0, |(_, requests)| *requests);
            let days = (first.days()..=today.days()).map(Date::from_days).map(|day| (day, of_day(day))).collect();
            Ok(ServiceUsage { days, accounts: service.store.usage_by_account(first, today)? })
        })
        .await
    }

    /// Moves an account and its keys to a tier. [`AccountError::Store`](crate::AccountError::Store) of `TooManyKeys`.
    pub async fn set_tier_for(self: &Arc<Self>, by: AccountId, account: &Account, tier: Tier) -> AccountResult<()> {
        let email = account.email.clone();
        let changed = self.blocking(move |service| {
            service.store.set_tier(&email, tier)?;
            service.refresh().map(|_| ())
        });
        let entry = AuditEntry { tier: Some(tier), ..operator_entry(by, AuditEvent::TierChange, account.id) };
        self.audited(entry, changed.await)
    }

    pub async fn verify_for(self: &Arc<Self>, operator: AccountId, account: AccountId, now: i64) -> AccountResult<()> {
        let verified = self.blocking(move |service| service.store.verify_account(account, now).map(|_| ())).await;
        self.audited(operator_entry(operator, AuditEvent::AccountVerification, account), verified)
    }

    /// Lets an account review firms where that is by invitation, or no longer.
    pub async fn set_reviewer_for(
        self: &Arc<Self>,
        operator: AccountId,
        account: AccountId,
        is_reviewer: bool,
    ) -> AccountResult<()> {
        let changed = self.blocking(move |service| service.store.set_reviewer(account, is_reviewer).map(|_| ()));
        let event = if is_reviewer { AuditEvent::ReviewerGrant } else { AuditEvent::ReviewerRevocation };
        self.audited(operator_entry(operator, event, account), changed.await)
    }

    /// Blocks an account (no sign-in, its keys are rejected) or unblocks it; applies when this returns.
    pub async fn set_blocked_for(
        self: &Arc<Self>,
        operator: AccountId,
        account: AccountId,
        is_blocked: bool,
        now: i64,
    ) -> AccountResult<()> {
        let changed = self.blocking(move |service| {
            service.store.set_blocked(account, is_blocked, now)?;
            service.refresh().map(|_| ())
        });
        let event = if is_blocked { AuditEvent::AccountBlock } else { AuditEvent::AccountUnblock };
        self.audited(operator_entry(operator, event, account), changed.await)
    }
}

fn operator_entry(operator: AccountId, event: AuditEvent, account: AccountId) -> AuditEntry {
    AuditEntry { operator: Some(operator), ..AuditEntry::new(event, Some(account)) }
}
