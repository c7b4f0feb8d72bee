//! Accounts and the keys they hold, as the store tells of them.

use std::fmt;
use std::str::FromStr;

use rapidfuzz::distance::damerau_levenshtein;

use crate::auth::{KeyDigest, MaskedKey};
use crate::quota::Tier;

/// An account's number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

/// A key's number in the store, never used twice. Keys that live in one process only have negative numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

/// The number of a daily counter: that of the first key that counted on it.
///
/// A key made on the day that another of its account was revoked counts on where that one stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub i64);

/// An e-mail address in the one form in which accounts are compared: trimmed, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

impl Email {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the `@`.
    fn local(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(local, _)| local)
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The address among `known` that `email` was most likely meant to be: at most three letters away, the nearer before the
/// `@` the likelier.
#[must_use]
pub fn nearest<'a>(email: &Email, known: impl IntoIterator<Item = &'a Email>) -> Option<&'a Email> {
    let letters = |a: &str, b: &str| damerau_levenshtein::distance(a.chars(), b.chars());
    let distance = |known: &'a Email| {
        let whole = letters(&known.0, &email.0);
        (whole <= 3).then(|| (whole + letters(known.local(), email.local()), known))
    };
    known.into_iter().filter_map(distance).min().map(|(_, known)| known)
}

/// The text is not an e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseEmailError;

impl fmt::Display for ParseEmailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an e-mail address: write one such as ada@example.com")
    }
}

impl std::error::Error for ParseEmailError {}

impl FromStr for Email {
    type Err = ParseEmailError;

    fn from_str(text: &str) -> Result<Self, ParseEmailError> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(ParseEmailError)?;
        let label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|char| char.is_alphanumeric() || char == '-')
        };
        let plain = |char: char| !char.is_whitespace() && !char.is_control() && !"@<>()[]\\,;:\"".contains(char);
        let sound = text.len() <= 254
            && !local.is_empty()
            && local.len() <= 64
            && local.chars().all(plain)
            && domain.split('.').all(label);
        if sound { Ok(Self(text.to_lowercase())) } else { Err(ParseEmailError) }
    }
}

/// What an owner calls a key: 1 to 100 characters in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text cannot name a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseKeyNameError;

impl fmt::Display for ParseKeyNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a name for a key: use 1 to 100 characters in one line, and not a key itself")
    }
}

impl std::error::Error for ParseKeyNameError {}

impl FromStr for KeyName {
    type Err = ParseKeyNameError;

    /// A key given by mistake is refused: names are kept in clear.
    fn from_str(text: &str) -> Result<Self, ParseKeyNameError> {
        let name = text.trim();
        let sound = !name.is_empty()
            && name.chars().count() <= 100
            && !name.chars().any(char::is_control)
            && !name.split_whitespace().any(|word| word.parse::<crate::auth::ApiKey>().is_ok());
        if sound { Ok(Self(name.to_owned())) } else { Err(ParseKeyNameError) }
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its number.
    pub id: AccountId,
    /// Its owner's e-mail address.
    pub email: Email,
    /// What the operator has granted it.
    pub tier: Tier,
    /// Unix seconds.
    pub created_at: i64,
    /// Keys that are not revoked.
    pub active_keys: u32,
}

/// A key as its owner may see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its number.
    pub id: KeyId,
    /// The counter it counts on.
    pub counter: CounterId,
    /// The account's number.
    pub account: AccountId,
    /// The account's e-mail address.
    pub email: Email,
    /// The account's tier.
    pub tier: Tier,
    /// What the owner calls it.
    pub name: String,
    /// First 8 and last 4 characters.
    pub shown: MaskedKey,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds; `None` while the key is active.
    pub revoked_at: Option<i64>,
    /// Unix seconds of the last second in which it was used and written down; `None`: never.
    pub last_used_at: Option<i64>,
    /// Requests of the asked day on the key's counter, those of a revoked key it took over included.
    pub used_today: u32,
}

/// How an operator or a page names a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRef {
    /// By number.
    Id(KeyId),
    /// By number, where the key is one of this account.
    Of(AccountId, KeyId),
    /// By its short form, which two keys could share.
    Shown(MaskedKey),
    /// By the whole key.
    Digest(KeyDigest),
}

/// The text names no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseKeyRefError;

impl fmt::Display for ParseKeyRefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names no key: use its number, its short form (vdx_aB3d…9xYz) or the whole key")
    }
}

impl std::error::Error for ParseKeyRefError {}

impl FromStr for KeyRef {
    type Err = ParseKeyRefError;

    fn from_str(text: &str) -> Result<Self, ParseKeyRefError> {
        let text = text.trim();
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(KeyId(id)));
        }
        if let Ok(shown) = text.parse() {
            return Ok(Self::Shown(shown));
        }
        text.parse::<crate::auth::ApiKey>().map(|key| Self::Digest(key.digest())).map_err(|_| ParseKeyRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::ApiKey;

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
    fn the_nearest_address_is_within_three_letters() {
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
    fn a_key_is_never_taken_for_its_name() {
        let key = ApiKey::from_seed(&[1; 32]);
        assert_eq!(key.reveal().parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(format!("old {}", key.reveal()).parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!(" production ".parse::<KeyName>().unwrap().as_str(), "production");
        assert_eq!("two\nlines".parse::<KeyName>(), Err(ParseKeyNameError));
        assert_eq!("".parse::<KeyName>(), Err(ParseKeyNameError));
    }

    #[test]
    fn a_key_is_named_by_number_short_form_or_whole() {
        let key = ApiKey::from_seed(&[1; 32]);
        assert_eq!("12".parse(), Ok(KeyRef::Id(KeyId(12))));
        assert_eq!(key.shown().to_string().parse(), Ok(KeyRef::Shown(key.shown())));
        assert_eq!(key.reveal().parse(), Ok(KeyRef::Digest(key.digest())));
        assert_eq!("vdx_nonsense".parse::<KeyRef>(), Err(ParseKeyRefError));
    }
}
