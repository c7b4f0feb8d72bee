//! Which hosts the endpoint may be called by, and from pages of which origins.
//!
//! A page of a stranger can make a browser call a server on the loopback interface under a name of its own (DNS
//! rebinding); so a request must name a host that is ours, and from a browser an origin that is allowed.

use std::fmt;
use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::mcp::JsonRpcError;
use crate::mcp::error::INVALID_REQUEST;

/// The hosts and origins that are let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPolicy {
    host: String,
    origins: Origins,
}

/// Origins that may call from a browser; a request without `Origin` comes from none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origins {
    Any,
    OurHosts,
    Listed(Vec<Origin>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// `null`: sandboxed pages, local files.
    Null,
    Page {
        scheme: String,
        host: String,
        port: Port,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Any,
    Is(u16),
}

/// A setting that names no host or no origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPolicyError {
    /// The public address is not a URL with a host.
    PublicUrl(String),
    /// Not an origin.
    Origin(String),
}

impl fmt::Display for OriginPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicUrl(url) => write!(f, "public-url: `{url}` is not of the form https://host[:port]"),
            Self::Origin(origin) => write!(
                f,
                "allowed-origins: `{origin}` is not of the form https://host[:port]; a port may be `*`, and `*` alone \
                 allows any origin"
            ),
        }
    }
}

impl std::error::Error for OriginPolicyError {}

impl OriginPolicy {
    /// Lets in the host of `public_url` and the loopback ones. Origins: those of `allowed`, else the same hosts while
    /// the server listens on loopback only, else any.
    ///
    /// # Errors
    /// Where `public_url` has no host or an entry of `allowed` is no origin.
    pub fn new(public_url: &str, on_loopback: bool, allowed: Option<&[String]>) -> Result<Self, OriginPolicyError> {
        let url: Uri = public_url.parse().map_err(|_| OriginPolicyError::PublicUrl(public_url.to_owned()))?;
        let host = url.host().filter(|_| url.scheme().is_some());
        let host = bare(host.ok_or_else(|| OriginPolicyError::PublicUrl(public_url.to_owned()))?);
        let origins = match allowed {
            Some(allowed) if allowed.iter().any(|origin| origin.trim() == "*") => Origins::Any,
            Some(allowed) => Origins::Listed(allowed.iter().map(|text| listed(text)).collect::<Result<_, _>>()?),
            None if on_loopback => Origins::OurHosts,
            None => Origins::Any,
        };
        Ok(Self { host, origins })
    }

    /// The public host, in lower case.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Lets a request in.
    ///
    /// # Errors
    /// 400 without a readable host, 403 where the host or the origin is not allowed.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), JsonRpcError> {
        let host = headers.get(HOST).and_then(authority).map(|authority| bare(authority.host()));
        let Some(host) = host else {
            return Err(JsonRpcError::invalid("the `Host` header is missing or not a host"));
        };
        if !self.is_ours(&host) {
            let message = format!("the host `{host}` is not served here; the operator can set it as --public-url");
            return Err(
                JsonRpcError::new(StatusCode::FORBIDDEN, INVALID_REQUEST, message).with_code("host_not_allowed")
            );
        }
        match headers.get(ORIGIN) {
            Some(origin) if !self.is_allowed(origin) => {
                let message = "pages of this origin may not call this endpoint; the operator can name it in \
                               --allowed-origins";
                Err(JsonRpcError::new(StatusCode::FORBIDDEN, INVALID_REQUEST, message).with_code("origin_not_allowed"))
            }
            _ => Ok(()),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        host == self.host || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn is_allowed(&self, origin: &HeaderValue) -> bool {
        if self.origins == Origins::Any {
            return true;
        }
        let Some(origin) = origin.to_str().ok().and_then(|text| read(text, default_port)) else {
            return false;
        };
        match &self.origins {
            Origins::Any => true,
            Origins::OurHosts => matches!(&origin, Origin::Page { host, .. } if self.is_ours(host)),
            Origins::Listed(listed) => listed.iter().any(|listed| listed.covers(&origin)),
        }
    }
}

impl Origin {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (
                Self::Page { scheme, host, port },
                Self::Page { scheme: other_scheme, host: other_host, port: other_port },
            ) => scheme == other_scheme && host == other_host && (*port == Port::Any || port == other_port),
            _ => false,
        }
    }
}

fn listed(text: &str) -> Result<Origin, OriginPolicyError> {
    let text = text.trim();
    let origin = match text.strip_suffix(":*") {
        Some(rest) => read(rest, |_| Some(Port::Any)),
        None => read(text, default_port),
    };
    origin.ok_or_else(|| OriginPolicyError::Origin(text.to_owned()))
}

/// Reads an origin; where it names no port, `port` of its scheme decides.
fn read(text: &str, port: fn(&str) -> Option<Port>) -> Option<Origin> {
    if text == "null" {
        return Some(Origin::Null);
    }
    let uri: Uri = text.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let authority = uri.authority()?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() || authority.as_str().contains('@') {
        return None;
    }
    let port = match authority.port_u16() {
        Some(port) => Port::Is(port),
        None => port(&scheme)?,
    };
    Some(Origin::Page { scheme, host: bare(authority.host()), port })
}

fn default_port(scheme: &str) -> Option<Port> {
    match scheme {
        "http" => Some(Port::Is(80)),
        "https" => Some(Port::Is(443)),
        _ => Some(Port::Any),
    }
}

fn authority(host: &HeaderValue) -> Option<Authority> {
    let authority = Authority::try_from(host.as_bytes()).ok()?;
    (!authority.as_str().contains('@') && !authority.host().is_empty()).then_some(authority)
}

/// A host in lower case, an IPv6 address without its brackets, a name without its final dot.
fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(doors: &OriginPolicy, host: &str, origin: Option<&str>) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        doors.admit(&headers).map_or_else(|fault| fault.status.as_u16(), |()| 200)
    }

    #[test]
    fn our_hosts_are_the_public_one_and_loopback() {
        let doors = OriginPolicy::new("https://API.example.com:8443", false, None).unwrap();
        for (host, status) in [
            ("api.example.com", 200),
            ("API.EXAMPLE.COM:443", 200),
            ("api.example.com.", 200),
            ("localhost:8080", 200),
            ("127.0.0.1", 200),
            ("127.8.0.1:80", 200),
            ("[::1]:8080", 200),
            ("example.com", 403),
            ("api.example.com.evil.test", 403),
            ("localhost.evil.test", 403),
            ("user@localhost", 400),
            ("a b", 400),
            ("", 400),
        ] {
            assert_eq!(admitted(&doors, host, None), status, "{host}");
        }
        assert_eq!(doors.admit(&HeaderMap::new()).unwrap_err().status, 400);
    }

    #[test]
    fn origins_are_our_hosts_on_loopback_and_any_elsewhere() {
        let local = OriginPolicy::new("http://127.0.0.1:8080", true, None).unwrap();
        let public = OriginPolicy::new("https://api.example.com", false, None).unwrap();
        for (origin, on_loopback) in [
            ("http://localhost:6274", 200),
            ("http://127.0.0.1:8080", 200),
            ("https://evil.test", 403),
            ("http://localhost.evil.test", 403),
            ("null", 403),
            ("garbage", 403),
        ] {
            assert_eq!(admitted(&local, "localhost", Some(origin)), on_loopback, "{origin}");
            assert_eq!(admitted(&public, "localhost", Some(origin)), 200, "{origin}");
        }
    }

    #[test]
    fn listed_origins_are_the_only_ones() {
        let listed = ["https://app.example.com", "http://localhost:*", "null"].map(str::to_owned);
        let doors = OriginPolicy::new("http://127.0.0.1:8080", true, Some(&listed)).unwrap();
        for (origin, status) in [
            ("https://app.example.com", 200),
            ("https://app.example.com:443", 200),
            ("https://APP.example.com", 200),
            ("https://app.example.com:8443", 403),
            ("http://app.example.com", 403),
            ("http://localhost:1", 200),
            ("http://127.0.0.1:8080", 403),
            ("null", 200),
        ] {
            assert_eq!(admitted(&doors, "localhost", Some(origin)), status, "{origin}");
        }
        let any = OriginPolicy::new("http://127.0.0.1:8080", true, Some(&["*".to_owned()])).unwrap();
        assert_eq!(admitted(&any, "localhost", Some("https://evil.test")), 200);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for url in ["", "api.example.com", "/api", "https://"] {
            assert_eq!(OriginPolicy::new(url, true, None), Err(OriginPolicyError::PublicUrl(url.to_owned())), "{url}");
        }
        for origin in ["example.com", "https://example.com/path", "https://user@example.com"] {
            let refused = OriginPolicy::new("http://localhost", true, Some(&[origin.to_owned()]));
            assert_eq!(refused, Err(OriginPolicyError::Origin(origin.to_owned())), "{origin}");
        }
    }
}
