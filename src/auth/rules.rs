//! The rules that every store enforces within its transactions, apart from how it reads and writes.

use std::collections::HashMap;

use crate::account::{Account, AccountId, CounterId, Email, KeyRecord};
use crate::derived_secret::DerivedSecret;
use crate::quota::{KeyId, Tier};
use crate::watch::{MAX_LISTED, MAX_WEBHOOKS};
use crate::{PasswordVersion, StoreError};

/// The short form of a key whose account was deleted.
pub(crate) const ORPHAN: &str = "vdx_0000…0000";

/// When the deliveries of a stopped webhook are due.
pub(crate) const NEVER: i64 = i64::MAX;

/// Whether the account may have another key.
pub(crate) fn check_new_key(account: &Account) -> Result<(), StoreError> {
    let Account { ref email, tier, active_keys, .. } = *account;
    match tier.keys() {
        Some(allowed) if active_keys >= allowed => {
            Err(StoreError::KeyLimitReached { email: email.clone(), tier, allowed })
        }
        _ => Ok(()),
    }
}

/// Whether another key may be created on a day on which so many were.
pub(crate) fn check_created_keys(email: &Email, tier: Tier, created: u32) -> Result<(), StoreError> {
    match tier.new_keys_per_day() {
        Some(allowed) if created >= allowed => Err(StoreError::NewKeysUsedUp { email: email.clone(), tier, allowed }),
        _ => Ok(()),
    }
}

/// Whether the tier allows the keys that the account has.
pub(crate) fn check_tier(account: &Account, tier: Tier) -> Result<(), StoreError> {
    let Account { ref email, active_keys: active, .. } = *account;
    match tier.keys() {
        Some(allowed) if active > allowed => {
            Err(StoreError::TooManyKeys { email: email.clone(), tier, allowed, active })
        }
        _ => Ok(()),
    }
}

/// Whether the password is still that of `version`; `None` is any.
pub(crate) fn check_version(found: PasswordVersion, version: Option<PasswordVersion>) -> Result<(), StoreError> {
    match version {
        Some(version) if version != found => Err(StoreError::PasswordChanged),
        _ => Ok(()),
    }
}

/// Whether an account with so many searches and lists may have another.
pub(crate) fn check_new_watch(tier: Tier, count: u32) -> Result<(), StoreError> {
    let allowed = tier.watches();
    if count >= allowed { Err(StoreError::TooManyWatches { allowed }) } else { Ok(()) }
}

/// Whether a list may have so many records.
pub(crate) fn check_listed(count: u32) -> Result<(), StoreError> {
    if count > MAX_LISTED { Err(StoreError::TooManyListed) } else { Ok(()) }
}

/// Whether an account may have so many webhooks.
pub(crate) fn check_webhooks(count: usize) -> Result<(), StoreError> {
    if count > MAX_WEBHOOKS as usize { Err(StoreError::TooManyWebhooks) } else { Ok(()) }
}

/// The only key that was found, and its account.
pub(crate) fn only_key(found: &[(i64, AccountId)]) -> Result<(i64, AccountId), StoreError> {
    match found {
        [] => Err(StoreError::NoSuchKey),
        [key] => Ok(*key),
        several => Err(StoreError::AmbiguousKey(several.iter().map(|(id, _)| KeyId(*id)).collect())),
    }
}

pub(crate) fn no_such_account(email: &Email) -> StoreError {
    StoreError::NoSuchAccount { email: email.clone(), suggestion: None }
}

/// What is stored of the address of a deleted account.
pub(crate) fn deleted_owner(secret: &[u8; 32], email: &Email) -> [u8; 32] {
    DerivedSecret::new(secret, "deleted accounts").tag(email.as_str().as_bytes())
}

pub(crate) fn with_usage(key: KeyRecord, used: &HashMap<CounterId, u32>) -> KeyRecord {
    KeyRecord { used_today: used.get(&key.counter).copied().unwrap_or(0), ..key }
}
