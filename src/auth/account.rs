//! Accounts and their keys.

use std::fmt;
use std::str::FromStr;

use rapidfuzz::distance::damerau_levenshtein;

use crate::auth::{ApiKey, KeyDigest, MaskedKey};
use crate::quota::Tier;
pub use crate::quota::{CounterId, KeyId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

/// An e-mail address, trimmed and in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map(|(local, _)| local).expect("an e-mail address contains an `@`")
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The address among `known` that is most similar to `email`: at most three edits away, preferably with a similar part before
/// the `@`.
pub(crate) fn nearest<'a>(email: &Email, known: impl IntoIterator<Item = &'a Email>) -> Option<&'a Email> {
    let edits = |a: &str, b: &str| damerau_levenshtein::distance(a.chars(), b.chars());
    let distance = |known: &'a Email| {
        let total = edits(&known.0, &email.0);
        (total <= 3).then(|| (total + edits(known.local_part(), email.local_part()), known))
    };
    known.into_iter().filter_map(distance).min().map(|(_, known)| known)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid e-mail address; use one like ada@example.com")]
pub struct ParseEmailError;

impl FromStr for Email {
    type Err = ParseEmailError;

    fn from_str(text: &str) -> Result<Self, ParseEmailError> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(ParseEmailError)?;
        let is_label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|char| char.is_alphanumeric() || char == '-')
        };
        let is_plain = |char: char| !char.is_whitespace() && !char.is_control() && !"@<>()[]\\,;:\"".contains(char);
        let is_valid = text.len() <= 254
            && !local.is_empty()
            && local.len() <= 64
            && local.chars().all(is_plain)
            && domain.split('.').all(is_label);
        if is_valid { Ok(Self(text.to_lowercase())) } else { Err(ParseEmailError) }
    }
}

/// The name that the owner gives a key: 1 to 100 characters on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid key name; use 1 to 100 characters on one line, and not an API key")]
pub struct ParseKeyNameError;

impl FromStr for KeyName {
    type Err = ParseKeyNameError;

    /// An API key entered by mistake is rejected: names are stored in clear.
    fn from_str(text: &str) -> Result<Self, ParseKeyNameError> {
        let name = text.trim();
        let is_valid = !name.is_empty()
            && name.chars().count() <= 100
            && !name.chars().any(char::is_control)
            && !name.split_whitespace().any(|word| word.parse::<ApiKey>().is_ok());
        if is_valid { Ok(Self(name.to_owned())) } else { Err(ParseKeyNameError) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    pub email: Email,
    pub tier: Tier,
    /// Unix seconds.
    pub created_at: i64,
    /// Keys that are not revoked.
    pub active_keys: u32,
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
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds; `None` if the key is active.
    pub revoked_at: Option<i64>,
    /// Unix seconds of the last write of its usage; `None` if never used.
    pub last_used_at: Option<i64>,
    /// Requests of the day on the key's counter, including those of a revoked key whose counter it took over.
    pub used_today: u32,
}

/// How an operator or a page identifies a key.
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
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(KeyId(id)));
        }
        if let Ok(masked) = text.parse() {
            return Ok(Self::Masked(masked));
        }
        text.parse::<ApiKey>().map(|key| Self::Digest(key.digest())).map_err(|_| ParseKeyRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_is_compared_trimmed_and_in_lower_case() {
        assert_eq!(" Ada@Example.COM ".parse::<Email>().unwrap().as_str(), "ada@example.com");
        for text in ["ada+vc@example.co.uk", "o'neil@example.com", "ada@localhost", "jürgen@bücher.example"] {
            assert!(text.parse::<Email>().is_ok(), "{text}");
        }
        for text in
            ["", "ada", "@example.com", "ada@", "ada@.com", "ada@a..b", "a b@example.com", "ada@-x.com", "a@b@c"]
        {
            assert_eq!(text.parse::<Email>(), Err(ParseEmailError), "{text}");
        }
        assert_eq!(format!("{}@example.com", "a".repeat(65)).parse::<Email>(), Err(ParseEmailError));
    }

    #[test]
    fn the_nearest_address_is_at_most_three_edits_away() {
        let known: Vec<Email> =
            ["ada@example.com", "adam@example.com", "zoe@example.org"].map(|text| text.parse().unwrap()).into();
        for (text, expected) in [
            ("aad@example.com", Some("ada@example.com")),
            ("adamm@exmaple.com", Some("adam@example.com")),
            ("zoe@example.com", Some("zoe@example.org")),
            ("someone@else.com", None),
        ] {
            let email = text.parse().unwrap();
            assert_eq!(nearest(&email, &known).map(Email::as_str), expected, "{text}");
        }
    }

    #[test]
    fn an_api_key_is_rejected_as_a_key_name() {
        let key = ApiKey::from_seed(&[1; 32]);
        assert_eq!(key.reveal().parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(format!("old {}", key.reveal()).parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(" production ".parse::<KeyName>().unwrap().as_str(), "production");
        assert_eq!("two\nlines".parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!("".parse::<KeyName>(), Err(ParseKeyNameError));
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
