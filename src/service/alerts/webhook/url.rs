use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use url::{Host, Url};

use crate::alerts::webhook::Networks;

/// Maximum length in bytes, both as entered and percent-encoded.
const MAX_LENGTH: usize = 2_000;
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Suffixes of names that only a local network knows: RFC 6761, RFC 6762 (appendix G), RFC 8375, ICANN's `.internal`.
const LOCAL_NAMES: [&str; 10] =
    ["localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa"];

/// An `https` URL that has a public DNS name or an allowed address as its host, normalized by the WHATWG URL standard:
/// `https://HOOKS.example.com:443/a b` becomes `https://hooks.example.com/a%20b`, and `https://3221226219/` becomes
/// `https://192.0.2.235/`.
///
/// `Debug` only shows the host: the path of a receiver is often its password.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    text: String,
    pub(super) uri: Uri,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookUrlError {
    #[error("not a URL; use one like https://hooks.example.com/alerts")]
    Malformed,
    #[error("the URL is longer than {MAX_LENGTH} characters; use a shorter one, like https://hooks.example.com/alerts")]
    TooLong,
    #[error("only https is accepted; use a URL like https://hooks.example.com/alerts")]
    Scheme,
    #[error(
        "user names and passwords are not accepted; put a secret into the path, like https://hooks.example.com/alerts/SECRET, \
         or check the signature of each message"
    )]
    UserInfo,
    #[error("a part after `#` is not accepted, as it is never sent; use a URL like https://hooks.example.com/alerts")]
    Fragment,
    #[error(
        "only port 443 and ports from 1024 to 65535 are accepted; use a URL like https://hooks.example.com:8443/alerts"
    )]
    Port,
    #[error(
        "invalid host; use the full name of a public server, without a dot at its end, like https://hooks.example.com/alerts"
    )]
    Host,
    #[error(
        "the name of the host is known only in a local network; use the full name of a public server, like \
         https://hooks.example.com/alerts"
    )]
    LocalName,
    #[error(
        "{0} is not a public address; use the name or address of a server on the Internet, like \
         https://hooks.example.com/alerts"
    )]
    Address(IpAddr),
}

impl WebhookUrl {
    /// Parses and checks a URL of at most 2,000 bytes: `https`, a host with a dot or an address allowed by `networks`,
    /// port 443 or at least 1024 (lower ones belong to other services, such as mail), a path, a query. The name is not
    /// looked up.
    pub fn parse(text: &str, networks: &Networks) -> Result<Self, WebhookUrlError> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return Err(WebhookUrlError::TooLong);
        }
        let (scheme, rest) = text.split_once("://").ok_or(WebhookUrlError::Malformed)?;
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(WebhookUrlError::Scheme);
        }
        // Browsers ignore tabs and extra slashes and read `\` as `/`: they would see another host than a person does.
        if rest.starts_with('/') || text.contains(|char: char| char.is_control() || char == '\\') {
            return Err(WebhookUrlError::Malformed);
        }
        if rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
            return Err(WebhookUrlError::UserInfo);
        }
        let url = Url::parse(text).map_err(|error| match error {
            url::ParseError::InvalidPort => WebhookUrlError::Port,
            _ => WebhookUrlError::Host,
        })?;
        if url.fragment().is_some() {
            return Err(WebhookUrlError::Fragment);
        }
        if url.port().is_some_and(|port| port < 1024) {
            return Err(WebhookUrlError::Port);
        }
        match url.host().ok_or(WebhookUrlError::Host)? {
            Host::Domain(name) => check_name(name)?,
            Host::Ipv4(address) => check_address(address.into(), networks)?,
            Host::Ipv6(address) => check_address(address.into(), networks)?,
        }
        let text = String::from(url);
        if text.len() > MAX_LENGTH {
            return Err(WebhookUrlError::TooLong);
        }
        // The client has another parser: both must see the same host.
        let uri: Uri = text.parse().map_err(|_| WebhookUrlError::Malformed)?;
        let authority = text.strip_prefix("https://").and_then(|rest| rest.split(['/', '?']).next());
        if uri.scheme() != Some(&Scheme::HTTPS) || uri.authority().map(|seen| seen.as_str()) != authority {
            return Err(WebhookUrlError::Malformed);
        }
        Ok(Self { text, uri })
    }

    /// The whole URL, for its owner and the store. Not for logs.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name or address, for pages and logs; an IPv6 address is in brackets.
    pub(crate) fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookUrl({})", self.host())
    }
}

/// Checks a name, which must be lower-case ASCII.
fn check_name(name: &str) -> Result<(), WebhookUrlError> {
    let is_label = |label: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(is_part)
    };
    // No domain has a numeric top-level label: the system's look-up might read a number that browsers do not.
    let is_number = name.rsplit('.').next().is_some_and(|top| top.starts_with(|char: char| char.is_ascii_digit()));
    if name.len() > MAX_NAME || is_number || !name.split('.').all(is_label) {
        return Err(WebhookUrlError::Host);
    }
    let is_in = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if !name.contains('.') || LOCAL_NAMES.iter().any(|domain| is_in(domain)) {
        return Err(WebhookUrlError::LocalName);
    }
    Ok(())
}

fn check_address(address: IpAddr, networks: &Networks) -> Result<(), WebhookUrlError> {
    if networks.allow(address) { Ok(()) } else { Err(WebhookUrlError::Address(address)) }
}
