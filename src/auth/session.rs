//! Sessions: who is signed in, known by a token that only the browser has.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::auth::account::Account;

/// Seconds that a session lives, used or not: 30 days.
pub const SESSION_LIFE: i64 = 30 * 86_400;

/// What a browser shows to be known again, a secret of 32 random bytes. `Debug` does not show it; only
/// [`SessionToken::reveal`] does, for the cookie.
#[derive(Clone)]
pub struct SessionToken([u8; 32]);

impl SessionToken {
    /// The token of `seed`, 32 bytes of the system's randomness.
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    /// The whole token, 43 characters that may stand in a cookie.
    #[must_use]
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// What the store keeps instead of the token.
    #[must_use]
    pub fn digest(&self) -> SessionDigest {
        SessionDigest(Sha256::digest(self.0).into())
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(…)")
    }
}

/// The text is not a session's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTokenError;

impl fmt::Display for ParseTokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a session: sign in again")
    }
}

impl std::error::Error for ParseTokenError {}

impl FromStr for SessionToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let mut token = [0; 32];
        // Each token has one spelling.
        match URL_SAFE_NO_PAD.decode_slice(text, &mut token) {
            Ok(32) if text.len() == 43 => Ok(Self(token)),
            _ => Err(ParseTokenError),
        }
    }
}

/// SHA-256 of a session's token; a session is found by it. The token is random, so that how long looking takes tells
/// nothing of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionDigest([u8; 32]);

impl SessionDigest {
    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SessionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionDigest(…)")
    }
}

/// A session as the store tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose it is, as the account is now.
    pub account: Account,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds; from then on there is no such session.
    pub expires_at: i64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_prints_a_token() {
        let token = SessionToken::from_seed([7; 32]);
        assert_eq!(format!("{token:?} {:?}", token.digest()), "SessionToken(…) SessionDigest(…)");
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let token = SessionToken::from_seed([7; 32]).reveal();
        for text in ["", "x", &token[1..], &format!("{token}="), &format!("{token}A"), &"é".repeat(22)] {
            assert_eq!(text.parse::<SessionToken>().err(), Some(ParseTokenError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_token_is_read_again_and_has_one_spelling(seed: [u8; 32], place in 0_usize..43, letter in "[A-Za-z0-9_-]") {
            let token = SessionToken::from_seed(seed);
            let text = token.reveal();
            prop_assert_eq!(text.len(), 43);
            prop_assert_eq!(text.parse::<SessionToken>().unwrap().digest(), token.digest());
            let mut other = text.clone();
            other.replace_range(place..=place, &letter);
            if other != text {
                prop_assert!(other.parse::<SessionToken>().is_ok_and(|other| other.digest() != token.digest())
                    || other.parse::<SessionToken>().is_err());
            }
        }
    }
}
