//! Sessions of signed-in browsers, identified by a random token. Times are Unix seconds.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::StoreResult;
use crate::secret_digest::SecretDigest;
use crate::service::random;

/// Seconds from sign-in to the end of a session, used or not: 30 days.
pub const SESSION_SECONDS: i64 = 30 * 86_400;

/// Seconds without use after which a session ends: 7 days.
pub(crate) const IDLE_SECONDS: i64 = 7 * 86_400;

/// Seconds after which the password is required again before a sensitive change: 4 hours.
pub(crate) const CONFIRMED_SECONDS: i64 = 4 * 3_600;

/// Seconds after which an operator must enter the password again: 12 hours.
pub(crate) const OPERATOR_SECONDS: i64 = 12 * 3_600;

/// Sessions of an account; a further one ends the oldest.
pub(crate) const MAX_SESSIONS: u32 = 20;

/// A secret of 32 random bytes. `Debug` hides it and its memory is cleared; only [`SessionToken::reveal`] returns it, for the cookie.
#[derive(Clone)]
pub struct SessionToken(Zeroizing<[u8; 32]>);

impl SessionToken {
    pub(crate) fn generate() -> StoreResult<Self> {
        Ok(Self::from_seed(random()?))
    }

    pub(crate) fn from_seed(seed: [u8; 32]) -> Self {
        Self(Zeroizing::new(seed))
    }

    /// The token as 43 characters that are valid in a cookie.
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(*self.0)
    }

    pub fn digest(&self) -> SessionDigest {
        SessionDigest::of(self.0.as_slice())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid session token; sign in again")]
pub struct ParseTokenError;

impl FromStr for SessionToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let mut token = Zeroizing::new([0; 32]);
        // The length check rejects other spellings of the same token.
        match URL_SAFE_NO_PAD.decode_slice(text, token.as_mut_slice()) {
            Ok(32) if text.len() == 43 => Ok(Self(token)),
            _ => Err(ParseTokenError),
        }
    }
}

pub type SessionDigest = SecretDigest;

hide_debug!(SessionToken);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSession {
    pub digest: SessionDigest,
    pub created_at: i64,
    pub expires_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSession {
    pub id: SessionId,
    pub digest: SessionDigest,
    pub created_at: i64,
    pub last_used_at: i64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn debug_output_hides_the_token() {
        let token = SessionToken::from_seed([7; 32]);
        assert_eq!(format!("{token:?} {:?}", token.digest()), "SessionToken(…) SecretDigest(…)");
    }

    #[test]
    fn an_invalid_token_is_rejected() {
        let token = SessionToken::from_seed([7; 32]).reveal();
        for text in ["", "x", &token[1..], &format!("{token}="), &format!("{token}A"), &"é".repeat(22)] {
            assert_eq!(text.parse::<SessionToken>().err(), Some(ParseTokenError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_token_is_parsed_from_its_text_and_has_one_spelling(seed: [u8; 32], index in 0_usize..43, letter in "[A-Za-z0-9_-]") {
            let token = SessionToken::from_seed(seed);
            let text = token.reveal();
            prop_assert_eq!(text.len(), 43);
            prop_assert_eq!(text.parse::<SessionToken>().unwrap().digest(), token.digest());
            let mut other = text.clone();
            other.replace_range(index..=index, &letter);
            if other != text {
                prop_assert!(other.parse::<SessionToken>().is_ok_and(|other| other.digest() != token.digest())
                    || other.parse::<SessionToken>().is_err());
            }
        }
    }
}
