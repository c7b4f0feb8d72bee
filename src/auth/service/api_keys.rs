//! Operations of an account's owner on API keys, and their usage.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::account::{AccountId, KeyId, KeyName, KeyRecord, KeyRef, Rotation};
use crate::audit::{AuditEntry, AuditEvent};
use crate::quota::Quota;
use crate::service::first_of_days;
use crate::{AccountError, AccountResult, ApiKey, AuthService};
use data::Date;

/// Number of revoked keys considered for an account page.
const LISTED_REVOKED: u32 = 20;

#[derive(Debug)]
pub struct NewKey {
    pub key: ApiKey,
    pub record: KeyRecord,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountUsage {
    /// The oldest first, today last.
    pub days: Vec<Date>,
    /// By number: active keys, and those of the last [`LISTED_REVOKED`] ended ones that were used on one of the days.
    pub keys: Vec<KeyUsage>,
    pub others: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUsage {
    pub key: KeyRecord,
    /// The key's own requests on each of the days.
    pub requests: Vec<u32>,
    /// Includes the requests of a revoked key that had the counter before.
    pub today: Quota,
}

impl AccountUsage {
    pub fn first_day(&self, key: KeyId) -> Option<Date> {
        let usage = self.keys.iter().find(|usage| usage.key.id == key)?;
        self.days.iter().zip(&usage.requests).find(|(_, requests)| **requests > 0).map(|(day, _)| *day)
    }

    pub fn totals(&self) -> Vec<u64> {
        let listed = |day: usize| self.keys.iter().map(|key| u64::from(key.requests[day])).sum::<u64>();
        self.others.iter().enumerate().map(|(day, others)| listed(day) + others).collect()
    }
}

impl AuthService {
    /// Creates a key, which is accepted when this returns, until `expires_at` (Unix seconds).
    /// [`AccountError::KeyLimitReached`], [`AccountError::NewKeysUsedUp`], [`AccountError::SignedOut`].
    pub async fn create_key(
        self: &Arc<Self>,
        account: AccountId,
        name: KeyName,
        expires_at: Option<i64>,
        now: i64,
    ) -> AccountResult<NewKey> {
        let created = self.blocking(move |service| {
            let key = ApiKey::generate()?;
            let record = service.store.create_key(account, &name, &key, expires_at, now)?;
            // The key cannot be shown again, so it is returned even if the refresh fails; it is looked up when it is used.
            let _ = service.refresh();
            Ok(NewKey { key, record })
        });
        let created = created.await;
        let key = created.as_ref().ok().map(|new| new.record.id);
        self.audited(AuditEntry { key, ..AuditEntry::new(AuditEvent::KeyCreation, Some(account)) }, created)
    }

    /// Creates a successor of a key, and returns it with the rotated key, which is accepted until the overlap ends.
    /// [`AccountError::NoSuchKey`], also for a key of another account and one that is not active,
    /// [`AccountError::KeyOverlaps`], [`AccountError::NewKeysUsedUp`].
    pub async fn rotate_key(
        self: &Arc<Self>,
        account: AccountId,
        key: KeyId,
        rotation: Rotation,
        now: i64,
    ) -> AccountResult<(KeyRecord, NewKey)> {
        let rotated = self.blocking(move |service| {
            let key_ref = KeyRef::Of(account, key);
            let key = ApiKey::generate()?;
            let (rotated, record) = service.store.rotate_key(key_ref, &key, rotation, now)?;
            // As above; a rotated key without overlap then ends with the next periodic refresh.
            let _ = service.refresh();
            Ok((rotated, NewKey { key, record }))
        });
        let entry = AuditEntry { key: Some(key), ..AuditEntry::new(AuditEvent::KeyRotation, Some(account)) };
        self.audited(entry, rotated.await)
    }

    /// Revokes a key, which is rejected when this returns. `operator` is the account of the acting operator; `None` if
    /// the owner acts. [`AccountError::NoSuchKey`], also for a key of another account.
    pub async fn revoke_key(
        self: &Arc<Self>,
        account: AccountId,
        key: KeyId,
        operator: Option<AccountId>,
        now: i64,
    ) -> AccountResult<KeyRecord> {
        let revoked = self.blocking(move |service| {
            let record = service.store.revoke_key(KeyRef::Of(account, key), now)?;
            service.refresh()?;
            Ok(record)
        });
        let entry =
            AuditEntry { key: Some(key), operator, ..AuditEntry::new(AuditEvent::KeyRevocation, Some(account)) };
        self.audited(entry, revoked.await)
    }

    /// An active key of an account.
    /// [`AccountError::NoSuchKey`], also for a key of another account and for one that was revoked or has expired.
    pub async fn active_key(self: &Arc<Self>, account: AccountId, key: KeyId, now: i64) -> AccountResult<KeyRecord> {
        let today = Date::from_unix(now);
        let key = self.blocking(move |service| service.store.key(KeyRef::Of(account, key), today)).await?;
        if key.is_active(now) { Ok(self.up_to_date(key, today)) } else { Err(AccountError::NoSuchKey) }
    }

    /// The usage of an account's keys on the last `days` days including today, up to the last request.
    pub async fn usage(self: &Arc<Self>, account: AccountId, days: u16, now: i64) -> AccountResult<AccountUsage> {
        let today = Date::from_unix(now);
        let first = first_of_days(today, days);
        let (keys, usage) = self
            .blocking(move |service| {
                let keys = service.store.recent_keys(account, first.unix(), LISTED_REVOKED, today)?;
                Ok((keys, service.store.usage_of(account, first, today)?))
            })
            .await?;
        let mut others = vec![0; usize::from(days.max(1))];
        for usage in &usage {
            if keys.binary_search_by_key(&usage.key, |key| key.id).is_err() {
                others[(usage.day.days() - first.days()) as usize] += u64::from(usage.requests);
            }
        }
        let days: Vec<Date> = (first.days()..=today.days()).map(Date::from_days).collect();
        let of_key = |key: KeyRecord| {
            let key = self.up_to_date(key, today);
            let written = |day: Date| usage.binary_search_by_key(&(day, key.id), |usage| (usage.day, usage.key));
            let requests = |day: &Date| {
                let written = written(*day).map_or(0, |index| usage[index].requests);
                written.max(self.key_counter.used_by(key.counter, key.id, *day))
            };
            let requests = days.iter().map(requests).collect();
            let today = Quota::new(self.daily_limit(key.tier), key.used_today, today).with_tier(key.tier);
            KeyUsage { key, requests, today }
        };
        let is_shown = |key: &KeyUsage| key.key.is_active(now) || key.requests.iter().any(|count| *count > 0);
        let keys = keys.into_iter().map(of_key).filter(is_shown).collect();
        Ok(AccountUsage { days, keys, others })
    }

    fn up_to_date(&self, key: KeyRecord, today: Date) -> KeyRecord {
        let counted = self.key_counter.peek(key.counter, None, today).used;
        KeyRecord { used_today: key.used_today.max(counted), ..key }
    }
}
