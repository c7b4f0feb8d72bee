//! Accounts and their keys. Times are Unix seconds.

use std::ops::RangeInclusive;
use std::str::FromStr;

pub use crate::email::{Email, ParseEmailError};
use crate::quota::Tier;
pub use crate::quota::{CounterId, KeyId};
use crate::{ApiKey, KeyDigest, MaskedKey};
use data::import::clean::is_hidden;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountRef {
    Id(AccountId),
    Email(Email),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}, or the number of the account from `venturedex account list`")]
pub struct ParseAccountRefError(ParseEmailError);

impl FromStr for AccountRef {
    type Err = ParseAccountRefError;

    fn from_str(text: &str) -> Result<Self, ParseAccountRefError> {
        match text.trim().parse() {
            Ok(id) => Ok(Self::Id(AccountId(id))),
            Err(_) => text.parse().map(Self::Email).map_err(ParseAccountRefError),
        }
    }
}

/// The name that the owner gives a key: 1 to 100 visible characters on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid key name; use 1 to 100 visible characters on one line, and not an API key")]
pub struct ParseKeyNameError;

impl FromStr for KeyName {
    type Err = ParseKeyNameError;

    /// An API key entered by mistake is rejected: names are stored in clear.
    fn from_str(text: &str) -> Result<Self, ParseKeyNameError> {
        let name = text.trim();
        let is_valid = !name.is_empty()
            && name.chars().count() <= 100
            && !name.chars().any(|char| char.is_control() || is_hidden(char))
            && !name.split_whitespace().any(|word| word.parse::<ApiKey>().is_ok());
        if is_valid { Ok(Self(name.to_owned())) } else { Err(ParseKeyNameError) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    pub email: Email,
    pub tier: Tier,
    pub created_at: i64,
    /// Keys that are accepted; a rotated key and its successor count as one.
    pub active_keys: u32,
    /// Unix seconds at which its owner or an operator verified the address; `None` if anybody could have signed up.
    pub verified_at: Option<i64>,
    /// Unix seconds from which codes of an app are required at sign-in; `None` if they are not.
    pub totp_enabled_at: Option<i64>,
    pub recovery_codes: u32,
    /// True if it sees and changes all accounts on the pages below `/admin`.
    pub is_operator: bool,
    /// True if it may review firms where reviews are by invitation (`--reviews invite`).
    pub is_reviewer: bool,
    /// Unix seconds from which nobody can sign in and its keys are rejected; `None` if it is not blocked.
    pub blocked_at: Option<i64>,
}

/// A key as shown to its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub counter: CounterId,
    pub account: AccountId,
    pub email: Email,
    pub tier: Tier,
    /// Empty if it was purged.
    pub name: String,
    pub masked: MaskedKey,
    pub created_at: i64,
    /// Unix seconds; `None` if the key was not revoked.
    pub revoked_at: Option<i64>,
    /// Unix seconds; the first second at which the key is no longer accepted.
    pub expires_at: Option<i64>,
    /// Unix seconds of the last write of its usage; `None` if never used.
    pub last_used_at: Option<i64>,
    /// Today's requests on the key's counter, including those of a revoked key that had the counter before.
    pub used_today: u32,
}

impl KeyRecord {
    pub fn is_active(&self, now: i64) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// Validity in days, rounded up; `None` if the key does not expire.
    pub fn lifetime(&self) -> Option<u32> {
        let seconds = self.expires_at?.saturating_sub(self.created_at);
        u32::try_from(seconds.saturating_add(86_399) / 86_400).ok()
    }
}

pub const KEY_DAYS: RangeInclusive<u32> = 1..=3_650;

/// Hours for which a rotated key can remain valid, by default a day.
pub const OVERLAP_HOURS: RangeInclusive<u32> = 0..=720;
pub const DEFAULT_OVERLAP_HOURS: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Unix seconds until which the rotated key is accepted, unless it expires earlier.
    pub overlap_ends_at: i64,
    /// Unix seconds; `None` if the successor does not expire.
    pub expires_at: Option<i64>,
}

impl Rotation {
    pub fn new(overlap_hours: u32, days: Option<u32>, now: i64) -> Self {
        let overlap_ends_at = now.saturating_add(i64::from(overlap_hours) * 3_600);
        Self { overlap_ends_at, expires_at: expiry(days, now) }
    }
}

/// Expiry (Unix seconds) of a key created at `now` (Unix seconds) for `days` days.
pub fn expiry(days: Option<u32>, now: i64) -> Option<i64> {
    days.map(|days| now.saturating_add(i64::from(days) * 86_400))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRef {
    Id(KeyId),
    /// By number, if the key belongs to this account.
    Of(AccountId, KeyId),
    /// By its short form, which two keys could share.
    Masked(MaskedKey),
    Digest(KeyDigest),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid key reference; use its number, its short form (vdx_aB3d…9xYz) or the full key")]
pub struct ParseKeyRefError;

impl FromStr for KeyRef {
    type Err = ParseKeyRefError;

    fn from_str(text: &str) -> Result<Self, ParseKeyRefError> {
        let text = text.trim();
        let id = text.parse().map(|id| Self::Id(KeyId(id)));
        let id_or_short = id.or_else(|_| text.parse().map(Self::Masked));
        let key = |_| text.parse::<ApiKey>().map(|key| Self::Digest(key.digest()));
        id_or_short.or_else(key).map_err(|_| ParseKeyRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_key_is_rejected_as_a_key_name() {
        let key = ApiKey::from_seed(&[1; 32]);
        assert_eq!(key.reveal().parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(format!("old {}", key.reveal()).parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(" production ".parse::<KeyName>().unwrap().as_str(), "production");
        assert_eq!("two\nlines".parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!("lap\u{202e}top".parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!("".parse::<KeyName>(), Err(ParseKeyNameError));
    }

    #[test]
    fn an_account_is_identified_by_address_or_number() {
        assert_eq!("12".parse(), Ok(AccountRef::Id(AccountId(12))));
        assert_eq!("Ada@example.com".parse(), Ok(AccountRef::Email("ada@example.com".parse().unwrap())));
        let error = "ada".parse::<AccountRef>().unwrap_err().to_string();
        assert!(
            error.ends_with("like ada@example.com, or the number of the account from `venturedex account list`"),
            "{error}"
        );
    }

    #[test]
    fn a_key_is_identified_by_number_short_form_or_full_text() {
        let key = ApiKey::from_seed(&[1; 32]);
        assert_eq!("12".parse(), Ok(KeyRef::Id(KeyId(12))));
        assert_eq!(key.masked().to_string().parse(), Ok(KeyRef::Masked(key.masked())));
        assert_eq!(key.reveal().parse(), Ok(KeyRef::Digest(key.digest())));
        assert_eq!("vdx_nonsense".parse::<KeyRef>(), Err(ParseKeyRefError));
    }
}
