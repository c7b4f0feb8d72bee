//! Links in e-mails: opening one proves that its owner reads the e-mails to the address.

use crate::secret_digest::SecretDigest;
use crate::session::SessionToken;

/// Seconds for which a link is valid: 24 hours.
pub(crate) const LINK_SECONDS: i64 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Verification,
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

/// The secret in a link, made like that of a session; valid in a URL.
pub(crate) type LinkToken = SessionToken;

pub type LinkDigest = SecretDigest;
