//! Keys at the desk: what an account's owner does with them, and how they were used.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::data::Date;

use crate::auth::AuthService;
use crate::auth::account::{AccountId, KeyId, KeyName, KeyRecord, KeyRef};
use crate::auth::service::random;
use crate::auth::{AccountError, ApiKey};
use crate::quota::Quota;

/// A key that was just made.
#[derive(Debug)]
pub struct NewKey {
    /// The whole key, to be shown this once.
    pub key: ApiKey,
    /// What is kept of it.
    pub record: KeyRecord,
}

/// How an account's keys were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountUsage {
    /// The days, the oldest first, today last.
    pub days: Vec<Date>,
    /// Its keys by number: all that are active, and those that were used on one of the days.
    pub keys: Vec<KeyUsage>,
}

/// How one key was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUsage {
    /// The key.
    pub key: KeyRecord,
    /// Its own requests on each of the days.
    pub requests: Vec<u32>,
    /// Its quota of today; what a revoked key left that it took over is counted too.
    pub today: Quota,
}

impl AccountUsage {
    /// The requests of all keys on each of the days.
    #[must_use]
    pub fn totals(&self) -> Vec<u64> {
        let on =
            |place: usize| self.keys.iter().filter_map(|key| key.requests.get(place)).copied().map(u64::from).sum();
        (0..self.days.len()).map(on).collect()
    }
}

impl AuthService {
    /// Makes a key of an account; it is admitted here when this returns. `now` is Unix seconds, here and below.
    ///
    /// # Errors
    /// [`AccountError::KeysUsedUp`], [`AccountError::SignedOut`], [`AccountError::Busy`].
    pub async fn create_key(
        self: &Arc<Self>,
        account: AccountId,
        name: KeyName,
        now: i64,
    ) -> Result<NewKey, AccountError> {
        self.off_runtime(move |access| {
            let key = ApiKey::from_seed(&random()?);
            let record = access.store.create_key(account, &name, &key, now)?;
            // Nobody could show the key again: it is told also where it cannot be read back just now, and found when used.
            let _ = access.refresh();
            Ok(NewKey { key, record })
        })
        .await
    }

    /// Revokes a key of an account; it is refused here when this returns. A key of another account is as unknown as one
    /// that never was.
    ///
    /// # Errors
    /// [`AccountError::NoSuchKey`], [`AccountError::Busy`].
    pub async fn revoke_key(
        self: &Arc<Self>,
        account: AccountId,
        key: KeyId,
        now: i64,
    ) -> Result<KeyRecord, AccountError> {
        self.off_runtime(move |access| {
            let record = access.store.revoke_key(KeyRef::Of(account, key), now)?;
            access.refresh()?;
            Ok(record)
        })
        .await
    }

    /// The keys of an account by number, those that were revoked included, with what they have used today.
    ///
    /// # Errors
    /// [`AccountError::Busy`], or where the store fails.
    pub async fn keys(self: &Arc<Self>, account: AccountId, now: i64) -> Result<Vec<KeyRecord>, AccountError> {
        let today = Date::from_unix(now);
        let keys = self.off_runtime(move |access| access.store.keys(Some(account), today)).await?;
        Ok(keys.into_iter().map(|key| self.up_to_date(key, today)).collect())
    }

    /// How the keys of an account were used on the last `days` days, today included; up to the request last answered.
    ///
    /// # Errors
    /// [`AccountError::Busy`], or where the store fails.
    pub async fn usage(
        self: &Arc<Self>,
        account: AccountId,
        days: u16,
        now: i64,
    ) -> Result<AccountUsage, AccountError> {
        let today = Date::from_unix(now);
        let first = Date::from_days(today.days() - i32::from(days.max(1)) + 1);
        let (keys, usage) = self
            .off_runtime(move |access| {
                let keys = access.store.keys(Some(account), today)?;
                Ok((keys, access.store.usage_of(account, first, today)?))
            })
            .await?;
        let days: Vec<Date> = (first.days()..=today.days()).map(Date::from_days).collect();
        let of_key = |key: KeyRecord| {
            let key = self.up_to_date(key, today);
            let written = |day: Date| {
                usage
                    .binary_search_by_key(&(day, key.id), |usage| (usage.day, usage.key))
                    .ok()
                    .map(|place| usage[place])
            };
            let requests: Vec<u32> = days
                .iter()
                .map(|day| {
                    let written = written(*day).map_or(0, |usage| usage.requests);
                    written.max(self.meter.used_by(key.counter, key.id, *day))
                })
                .collect();
            let used = key.used_today;
            let today = Quota::of(key.tier.daily_limit(), used, today).with_tier(key.tier);
            KeyUsage { key, requests, today }
        };
        let shown = |key: &KeyUsage| key.key.revoked_at.is_none() || key.requests.iter().any(|count| *count > 0);
        let keys = keys.into_iter().map(of_key).filter(shown).collect();
        Ok(AccountUsage { days, keys })
    }

    /// What the store tells of a key, with what is counted here and not yet written.
    fn up_to_date(&self, key: KeyRecord, today: Date) -> KeyRecord {
        let counted = self.meter.peek(key.counter, None, today).used;
        KeyRecord { used_today: key.used_today.max(counted), ..key }
    }
}
