//! Links in e-mails: opening one proves that its owner reads the e-mails to the address.

use crate::secret_digest::SecretDigest;
use crate::session::SessionToken;
use data::vocabulary::{Vocabulary, vocabulary};

/// Seconds for which a link is valid: 24 hours.
pub(crate) const LINK_SECONDS: i64 = 86_400;

vocabulary! {
    Purpose, "purpose", {
        Verification = "verification",
        Reset = "reset",
    }
}

/// The secret in a link, made like that of a session; valid in a URL.
pub(crate) type LinkToken = SessionToken;

pub type LinkDigest = SecretDigest;
