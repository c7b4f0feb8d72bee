//! E-mail through the operator's SMTP server. Messages wait in the outbox of the store; this module makes single
//! attempts to send them.
//!
//! The log names accounts by number and servers' replies by code, because replies often contain the address.

mod smtp;

use std::borrow::Cow;
use std::fmt;

pub use smtp::{MailTransport, ParseSmtpUrlError, SmtpError, SmtpUrl};

#[derive(Clone, Debug)]
pub struct MailSender {
    pub name: String,
    /// An address in ASCII.
    pub address: String,
}

/// A plain text for one reader. `Debug` hides it.
#[derive(Clone)]
pub struct Mail {
    /// An address in ASCII.
    pub to: String,
    pub account: i64,
    /// A single line.
    pub subject: Cow<'static, str>,
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mail(account {})", self.account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_hidden_from_logs() {
        let (to, subject, text) = ("ada@example.com".to_owned(), "Test".into(), "Text".to_owned());
        assert_eq!(format!("{:?}", Mail { to, account: 7, subject, text }), "Mail(account 7)");
    }
}
