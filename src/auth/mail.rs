//! E-mail through the operator's SMTP server: single attempts to send messages, which wait in the outbox of the store.
//!
//! The log names accounts by number and servers' replies by code, because replies often contain the address.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use lettre::address::Envelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, SmtpTransport, Transport as _};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::service::random;
use data::hex;

/// Timeout of each reply of the server.
const TIMEOUT: Duration = Duration::from_secs(30);

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

/// `smtp://[user@]host[:port]`, encrypted with STARTTLS unless the host is loopback, or `smtps://…`, encrypted from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpUrl {
    host: String,
    port: u16,
    pub user: Option<String>,
    security: SmtpSecurity,
    /// A mistake to report: other users of the machine see arguments. No parse error, because those show the text.
    pub has_password: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SmtpSecurity {
    /// Unencrypted, to the same machine.
    None,
    StartTls,
    Tls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an SMTP URL; examples: smtps://user@mail.example.com, smtp://user@mail.example.com:587, smtp://127.0.0.1:25"
)]
pub struct ParseSmtpUrlError;

impl FromStr for SmtpUrl {
    type Err = ParseSmtpUrlError;

    fn from_str(text: &str) -> Result<Self, ParseSmtpUrlError> {
        let malformed = ParseSmtpUrlError;
        let url: Uri = text.trim().trim_end_matches('/').parse().map_err(|_| malformed)?;
        let authority = url.authority().ok_or(malformed)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_loopback = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        let (security, port) = match url.scheme_str() {
            Some("smtps") => (SmtpSecurity::Tls, 465),
            Some("smtp") if is_loopback => (SmtpSecurity::None, 25),
            Some("smtp") => (SmtpSecurity::StartTls, 587),
            _ => return Err(malformed),
        };
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user);
        let has_password = user.is_some_and(|user| user.contains(':'));
        let has_path = !matches!(url.path(), "" | "/") || url.query().is_some();
        if host.is_empty() || has_path || user.is_some_and(str::is_empty) {
            return Err(malformed);
        }
        // Providers use whole addresses as user names.
        let user = user.map(|user| user.replace("%40", "@"));
        Ok(Self { host, port: authority.port_u16().unwrap_or(port), user, security, has_password })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SmtpError {
    reason: String,
    /// True if another attempt has no chance.
    pub is_permanent: bool,
}

impl SmtpError {
    fn from_smtp(error: &lettre::transport::smtp::Error) -> Self {
        let reason = match error.status() {
            Some(code) => format!("the mail server replied with {code}"),
            None if error.is_timeout() => "the mail server did not reply in time".to_owned(),
            None if error.is_tls() => "no encrypted connection to the mail server".to_owned(),
            None if error.is_client() => "the mail server lacks a feature, or rejects the user".to_owned(),
            None => {
                "no connection to the mail server: it does not answer, or its certificate is not trusted".to_owned()
            }
        };
        Self { reason, is_permanent: error.is_permanent() }
    }
}

/// Sends messages one by one; blocks for up to half a minute per reply.
pub struct MailTransport {
    smtp: Result<SmtpTransport, SmtpError>,
    from: MailSender,
}

impl MailTransport {
    pub fn new(server: &SmtpUrl, password: Option<String>, from: MailSender) -> Self {
        let SmtpUrl { host, port, user, security, .. } = server;
        let tls = |wrap: fn(TlsParameters) -> Tls| TlsParameters::new(host.clone()).map(wrap);
        let tls = match security {
            SmtpSecurity::None => Ok(Tls::None),
            SmtpSecurity::StartTls => tls(Tls::Required),
            SmtpSecurity::Tls => tls(Tls::Wrapper),
        };
        let smtp = tls.map_err(|error| SmtpError::from_smtp(&error)).map(|tls| {
            let own = ClientId::Domain(domain(&from.address).to_owned());
            let builder = SmtpTransport::builder_dangerous(host).port(*port).tls(tls).timeout(Some(TIMEOUT));
            let builder = builder.hello_name(own);
            match (user, password) {
                (Some(user), Some(password)) => builder.credentials(Credentials::new(user.clone(), password)).build(),
                _ => builder.build(),
            }
        });
        Self { smtp, from }
    }

    pub fn service(&self) -> &str {
        &self.from.name
    }

    /// Connects to the mail server, signs in and disconnects. Blocks for up to half a minute per reply.
    pub fn check(&self) -> Result<(), SmtpError> {
        let smtp = self.smtp.as_ref().map_err(Clone::clone)?;
        match smtp.test_connection() {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(SmtpError { reason: "the mail server rejects the connection".to_owned(), is_permanent: false })
            }
            Err(error) => Err(SmtpError::from_smtp(&error)),
        }
    }

    /// Fails if the server did not accept the message, as far as is known.
    pub fn send(&self, mail: &Mail) -> Result<(), SmtpError> {
        let smtp = self.smtp.as_ref().map_err(Clone::clone)?;
        let address = |text: &str| {
            let invalid = |_| SmtpError { reason: "the address is not one".to_owned(), is_permanent: true };
            text.parse::<Address>().map_err(invalid)
        };
        let envelope = Envelope::new(Some(address(&self.from.address)?), vec![address(&mail.to)?]);
        let envelope = envelope.map_err(|_| SmtpError { reason: "no recipient".to_owned(), is_permanent: true })?;
        // Empty if the system returns no random bytes: the mail server adds an id then.
        let id = random::<16>().map_or_else(|_| String::new(), |bytes| hex::digits(&bytes));
        let message = message(mail, &self.from, OffsetDateTime::now_utc(), &id);
        smtp.send_raw(&envelope, message.as_bytes()).map(|_| ()).map_err(|error| SmtpError::from_smtp(&error))
    }
}

fn domain(address: &str) -> &str {
    address.rsplit('@').next().unwrap_or(address)
}

/// Bytes in an encoded word of RFC 2047, which has at most 75 characters.
const ENCODED_BYTES: usize = 45;

/// Encodes a text as encoded words of RFC 2047, one per line.
fn encoded(text: &str) -> String {
    let mut parts = vec![String::new()];
    for char in text.chars() {
        if parts.last().is_some_and(|part| part.len() + char.len_utf8() > ENCODED_BYTES) {
            parts.push(String::new());
        }
        parts.last_mut().expect("there is one").push(char);
    }
    let words = parts.iter().map(|part| format!("=?utf-8?B?{}?=", STANDARD.encode(part)));
    words.collect::<Vec<_>>().join("\r\n ")
}

fn phrase(name: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, ' ' | '-' | '_' | '&' | '\'');
    match name {
        _ if !name.is_ascii() => encoded(name),
        _ if name.chars().all(is_plain) => name.to_owned(),
        _ => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Formats a message of RFC 5322. Header values are without line breaks; lines of the text end with `\n`.
fn message(mail: &Mail, from: &MailSender, date: OffsetDateTime, id: &str) -> String {
    let MailSender { name, address } = from;
    let subject = if mail.subject.is_ascii() { mail.subject.to_string() } else { encoded(&mail.subject) };
    let mut message = format!("From: {} <{address}>\r\nTo: <{}>\r\nSubject: {subject}\r\n", phrase(name), mail.to);
    if let Ok(date) = date.format(&Rfc2822) {
        message.push_str(&format!("Date: {date}\r\n"));
    }
    if !id.is_empty() {
        message.push_str(&format!("Message-ID: <{id}@{}>\r\n", domain(address)));
    }
    message.push_str("Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    message.push_str("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n");
    message.push_str(&mail.text.replace('\n', "\r\n"));
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_hidden_from_logs() {
        let (to, subject, text) = ("ada@example.com".to_owned(), "Test".into(), "Text".to_owned());
        assert_eq!(format!("{:?}", Mail { to, account: 7, subject, text }), "Mail(account 7)");
    }

    #[test]
    fn a_url_names_the_server_and_how_it_is_encrypted() {
        let parsed = |text: &str| {
            let SmtpUrl { host, port, user, security, .. } = text.parse().unwrap();
            (host, port, user, security)
        };
        let server =
            |host: &str, port, user: Option<&str>, security| (host.to_owned(), port, user.map(str::to_owned), security);
        for (text, expected) in [
            ("smtps://mail.example.com", server("mail.example.com", 465, None, SmtpSecurity::Tls)),
            ("smtp://ada@mail.example.com/", server("mail.example.com", 587, Some("ada"), SmtpSecurity::StartTls)),
            (
                "smtp://ada%40example.com@mail.example.com:25",
                server("mail.example.com", 25, Some("ada@example.com"), SmtpSecurity::StartTls),
            ),
            ("smtp://127.0.0.1:2525", server("127.0.0.1", 2525, None, SmtpSecurity::None)),
            ("smtp://[::1]", server("::1", 25, None, SmtpSecurity::None)),
            ("smtps://localhost", server("localhost", 465, None, SmtpSecurity::Tls)),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        assert!("smtps://ada:secret@mail.example.com".parse::<SmtpUrl>().unwrap().has_password);
        assert!(!"smtps://ada@mail.example.com".parse::<SmtpUrl>().unwrap().has_password);
        for text in ["", "mail.example.com", "https://mail.example.com", "smtp://", "smtp://@a.example", "smtp://a/b"] {
            assert_eq!(text.parse::<SmtpUrl>(), Err(ParseSmtpUrlError), "{text}");
        }
    }

    #[test]
    fn a_message_has_the_headers_of_the_standard() {
        let mail = Mail { to: "ada@example.com".into(), account: 1, subject: "Hello".into(), text: "a\nb\n".into() };
        let date = OffsetDateTime::from_unix_timestamp(1_795_262_400).unwrap();
        let from = |name: &str| MailSender { name: name.into(), address: "noreply@venturedex.example".into() };
        let text = message(&mail, &from("VentureDex"), date, "00ff");
        let expected = "From: VentureDex <noreply@venturedex.example>\r\nTo: <ada@example.com>\r\nSubject: Hello\r\n\
                        Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nMessage-ID: <00ff@venturedex.example>\r\n\
                        Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n\
                        Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\na\r\nb\r\n";
        assert_eq!(text, expected);
        for (name, expected) in [
            ("Dealflow & Co", "From: Dealflow & Co <"),
            ("Funds, \"rated\"", "From: \"Funds, \\\"rated\\\"\" <"),
            ("Größe", "From: =?utf-8?B?R3LDtsOfZQ==?= <"),
        ] {
            let text = message(&mail, &from(name), date, "");
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn encoded_words_are_short_and_whole() {
        let name = "Größenwahn・データベース・Ąęóśżź ".repeat(3);
        let header = encoded(&name);
        let mut decoded = String::new();
        for word in header.split("\r\n ") {
            assert!(word.len() <= 75, "{word}");
            let text = word.strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap();
            decoded.push_str(&String::from_utf8(STANDARD.decode(text).unwrap()).unwrap());
        }
        assert_eq!(decoded, name);
    }
}
