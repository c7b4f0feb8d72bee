//! Rules that every store enforces within its transactions, independent of its way to read and write.

use std::collections::HashMap;

use crate::account::{Account, AccountId, CounterId, Email, KeyRecord};
use crate::derived_secret::DerivedSecret;
use crate::quota::{KeyId, Tier};
use crate::watch::{MAX_LISTED, MAX_WEBHOOKS};
use crate::{PasswordVersion, StoreError};

/// The short form of a key of a deleted account.
pub(crate) const ORPHAN: &str = "vdx_0000…0000";

/// Due time of the deliveries of a stopped webhook.
pub(crate) const NEVER: i64 = i64::MAX;

/// Fails if the account may not have another key.
pub(crate) fn check_new_key(account: &Account) -> Result<(), StoreError> {
    let Account { ref email, tier, active_keys, .. } = *account;
    match tier.keys() {
        Some(allowed) if active_keys >= allowed => {
            Err(StoreError::KeyLimitReached { email: email.clone(), tier, allowed })
        }
        _ => Ok(()),
    }
}

/// Fails if no further key may be created on a day with `created` new keys.
pub(crate) fn check_created_keys(email: &Email, tier: Tier, created: u32) -> Result<(), StoreError> {
    match tier.new_keys_per_day() {
        Some(allowed) if created >= allowed => Err(StoreError::NewKeysUsedUp { email: email.clone(), tier, allowed }),
        _ => Ok(()),
    }
}

/// Fails if the account has more keys than the tier allows.
pub(crate) fn check_tier(account: &Account, tier: Tier) -> Result<(), StoreError> {
    let Account { ref email, active_keys: active, .. } = *account;
    match tier.keys() {
        Some(allowed) if active > allowed => {
            Err(StoreError::TooManyKeys { email: email.clone(), tier, allowed, active })
        }
        _ => Ok(()),
    }
}

/// Fails unless the password still has this version; `None` is any.
pub(crate) fn check_version(found: PasswordVersion, version: Option<PasswordVersion>) -> Result<(), StoreError> {
    match version {
        Some(version) if version != found => Err(StoreError::PasswordChanged),
        _ => Ok(()),
    }
}

/// Fails if an account with `count` searches and lists may not have another.
pub(crate) fn check_new_watch(tier: Tier, count: u32) -> Result<(), StoreError> {
    let allowed = tier.watches();
    if count >= allowed { Err(StoreError::TooManyWatches { allowed }) } else { Ok(()) }
}

/// Fails if a list may not have `count` records.
pub(crate) fn check_listed(count: u32) -> Result<(), StoreError> {
    if count > MAX_LISTED { Err(StoreError::TooManyListed) } else { Ok(()) }
}

/// Fails if an account may not have `count` webhooks.
pub(crate) fn check_webhooks(count: usize) -> Result<(), StoreError> {
    if count > MAX_WEBHOOKS as usize { Err(StoreError::TooManyWebhooks) } else { Ok(()) }
}

/// The only key found, and its account.
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

/// HMAC of the address of a deleted account, which is stored in its place.
pub(crate) fn deleted_owner(secret: &[u8; 32], email: &Email) -> [u8; 32] {
    DerivedSecret::new(secret, "deleted accounts").tag(email.as_str().as_bytes())
}

pub(crate) fn with_usage(key: KeyRecord, used: &HashMap<CounterId, u32>) -> KeyRecord {
    KeyRecord { used_today: used.get(&key.counter).copied().unwrap_or(0), ..key }
}
