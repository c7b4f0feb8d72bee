//! Browsers in which an account's password was entered: strangers who guess it do not keep its owner from signing in there.
//!
//! The token is not stored. It is authenticated by the service's secret, and valid until the password changes or it expires.
//! It replaces neither password nor session: it only selects the limit that an attempt counts towards.

use std::str::FromStr;

use crate::PasswordVersion;
use crate::account::AccountId;
use crate::derived_secret::DerivedSecret;
use crate::session::ParseTokenError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Seconds for which a browser is known after a sign-in: 180 days.
pub const KNOWN_BROWSER_SECONDS: i64 = 180 * 86_400;

/// Account, password version and end, 8 bytes each.
const CONTENT_LEN: usize = 24;
/// HMAC-SHA-256 truncated to half, as RFC 2104 allows.
const TAG_LEN: usize = 16;

/// Content of the cookie of a known browser; nothing in it is secret, or verified before [`BrowserToken::is_known`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrowserToken([u8; CONTENT_LEN + TAG_LEN]);

impl FromStr for BrowserToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let mut bytes = [0; CONTENT_LEN + TAG_LEN];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(length) if length == bytes.len() => Ok(Self(bytes)),
            _ => Err(ParseTokenError),
        }
    }
}

impl BrowserToken {
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// A token for the browser in which the password of this version was entered at `now` (Unix seconds).
    pub(crate) fn issue(secret: &DerivedSecret, account: AccountId, version: PasswordVersion, now: i64) -> Self {
        let mut token = [0; CONTENT_LEN + TAG_LEN];
        let end = now.saturating_add(KNOWN_BROWSER_SECONDS);
        for (part, number) in token.chunks_exact_mut(8).zip([account.0, version.0, end]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        let (content, tag) = token.split_at_mut(CONTENT_LEN);
        tag.copy_from_slice(&secret.tag(content)[..TAG_LEN]);
        Self(token)
    }

    /// True if the token was issued for an account and the password of this version, and has not expired.
    pub(crate) fn is_known(&self, secret: &DerivedSecret, owner: (AccountId, PasswordVersion), now: i64) -> bool {
        let (content, tag) = self.0.split_at(CONTENT_LEN);
        let number = |index: usize| i64::from_le_bytes(content[index * 8..][..8].try_into().expect("8 bytes"));
        let is_current = number(0) == owner.0.0 && number(1) == owner.1.0;
        secret.verify(content, tag) && is_current && now < number(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400;

    fn owner(account: i64, version: i64) -> (AccountId, PasswordVersion) {
        (AccountId(account), PasswordVersion(version))
    }

    #[test]
    fn a_token_is_valid_for_its_account_password_secret_and_time() {
        let secret = DerivedSecret::new(&[7; 32], "known browsers");
        let token = BrowserToken::issue(&secret, AccountId(3), PasswordVersion(2), NOON);
        let token: BrowserToken = token.reveal().parse().unwrap();
        let last = NOON + KNOWN_BROWSER_SECONDS - 1;
        assert!(token.is_known(&secret, owner(3, 2), NOON) && token.is_known(&secret, owner(3, 2), last));
        assert!(!token.is_known(&secret, owner(3, 2), last + 1));
        assert!(!token.is_known(&secret, owner(4, 2), NOON));
        assert!(!token.is_known(&secret, owner(3, 3), NOON), "the password changed");
        let other = DerivedSecret::new(&[8; 32], "known browsers");
        assert!(!token.is_known(&other, owner(3, 2), NOON));
    }

    #[test]
    fn every_modification_is_rejected() {
        let secret = DerivedSecret::new(&[7; 32], "known browsers");
        let token = BrowserToken::issue(&secret, AccountId(3), PasswordVersion(2), NOON);
        for index in 0..token.0.len() {
            let mut changed = token;
            changed.0[index] ^= 1;
            let found = i64::from_le_bytes(changed.0[..8].try_into().unwrap());
            let version = i64::from_le_bytes(changed.0[8..16].try_into().unwrap());
            assert!(!changed.is_known(&secret, owner(found, version), NOON), "byte {index}");
        }
        for text in ["", "x", &token.reveal()[1..], &format!("{}A", token.reveal()), &"é".repeat(27)] {
            assert_eq!(text.parse::<BrowserToken>(), Err(ParseTokenError), "{text}");
        }
    }
}
