//! Links in e-mails: opening one proves that its owner reads the e-mails to the address.

use std::fmt;
use std::str::FromStr;

use crate::StoreError;
use crate::service::random;
use crate::session::{ParseTokenError, SessionToken};

/// Seconds for which a link is valid: 24 hours.
pub(crate) const LINK_SECONDS: i64 = 86_400;

/// Purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To prove that the address belongs to the account's owner.
    Verification,
    /// To set a password without the old one.
    Reset,
}

impl Purpose {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Reset => "reset",
        }
    }

    /// The purpose with this name in the store, which has no others.
    pub(crate) fn from_name(name: &str) -> Self {
        if name == Self::Verification.name() { Self::Verification } else { Self::Reset }
    }
}

/// The secret in a link, made like that of a session. `Debug` hides it.
#[derive(Clone)]
pub(crate) struct LinkToken(SessionToken);

impl LinkToken {
    pub(crate) fn generate() -> Result<Self, StoreError> {
        Ok(Self(SessionToken::from_seed(random()?)))
    }

    /// Valid in a URL.
    pub(crate) fn reveal(&self) -> String {
        self.0.reveal()
    }

    pub(crate) fn digest(&self) -> LinkDigest {
        LinkDigest(*self.0.digest().bytes())
    }
}

impl FromStr for LinkToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        text.parse().map(Self)
    }
}

impl fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkToken(…)")
    }
}

/// SHA-256 of a token, by which the store finds it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LinkDigest([u8; 32]);

impl LinkDigest {
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for LinkDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkDigest(…)")
    }
}
