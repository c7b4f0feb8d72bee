//! Links in e-mails: opening one proves that its owner reads the e-mails to the address.

use crate::secret_digest::SecretDigest;
use crate::session::SessionToken;
use data::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    Purpose, "purpose", {
        Verification = "verification",
        Reset = "reset",
        SignIn = "sign-in",
    }
}

impl Purpose {
    /// Seconds for which a link is valid: 24 hours, or 15 minutes if it signs in.
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Self::Verification | Self::Reset => 86_400,
            Self::SignIn => 900,
        }
    }
}

/// Seconds for which an operator's invitation is valid: seven days. It is a link for [`Purpose::Reset`] of an account that has no
/// password yet.
pub const INVITATION_SECONDS: i64 = 7 * 86_400;

/// The secret in a link, made like that of a session; valid in a URL.
pub(crate) type LinkToken = SessionToken;

pub type LinkDigest = SecretDigest;
