//! Allowed hosts and origins.
//!
//! A foreign web page can make a browser call a server on the loopback interface under the page's own name (DNS
//! rebinding). So every request must name one of our hosts, and a browser must send an allowed origin.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

use crate::origin::{Origin, normal_host};

/// Hosts under which clients reach the service: the host of the public URL, and loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The host of the public URL, in lower case.
    pub public: String,
    /// Accept any IP address: a web page cannot make a browser use an address in place of its name.
    any_address: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--public-url: `{0}` is not of the form https://host[:port]")]
pub struct PublicUrlError(String);

impl Hosts {
    /// The hosts of a service at `public_url`; with `any_address`, also all of its IP addresses.
    pub fn new(public_url: &str, any_address: bool) -> Result<Self, PublicUrlError> {
        let url = public_url.parse::<Uri>().ok().filter(|url| url.scheme().is_some());
        let host = url.as_ref().and_then(Uri::host).ok_or_else(|| PublicUrlError(public_url.to_owned()))?;
        Ok(Self { public: normal_host(host), any_address })
    }

    pub(crate) fn contains(&self, host: &str) -> bool {
        let is_address = |address: IpAddr| self.any_address || address.is_loopback();
        host == self.public || host == "localhost" || host.parse().is_ok_and(is_address)
    }

    pub fn admit(&self, headers: &HeaderMap) -> Result<(), OriginRejected> {
        let host = headers.get(HOST).ok_or(OriginRejected::NoHost)?;
        // Fast path: the usual `Host` needs no parsing.
        if host.as_bytes() == self.public.as_bytes() {
            return Ok(());
        }
        let host = Authority::try_from(host.as_bytes()).ok();
        let host = host.filter(|host| !host.as_str().contains('@') && !host.host().is_empty());
        let host = host.map(|host| normal_host(host.host())).ok_or(OriginRejected::NoHost)?;
        if self.contains(&host) { Ok(()) } else { Err(OriginRejected::Host(host)) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPolicy {
    hosts: Hosts,
    /// Origins of pages that may call; `None`: those of our hosts. A request without `Origin` comes from no page.
    origins: Option<Vec<Origin>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginRejected {
    #[error("the `Host` header is missing or invalid")]
    NoHost,
    #[error("the host `{0}` is not allowed; the operator sets it with --public-url")]
    Host(String),
    #[error("pages of this origin are not allowed; the operator allows origins with --allowed-origins")]
    Origin,
}

impl OriginPolicy {
    /// Without `allowed`: the origins of our hosts if the server only listens on loopback, and any origin otherwise.
    pub fn new(hosts: Hosts, on_loopback: bool, allowed: Option<&[Origin]>) -> Self {
        let origins = match allowed {
            Some(allowed) => Some(allowed.to_vec()),
            None if on_loopback => None,
            None => Some(vec![Origin::Any]),
        };
        Self { hosts, origins }
    }

    pub fn admit(&self, headers: &HeaderMap) -> Result<(), OriginRejected> {
        self.hosts.admit(headers)?;
        match headers.get(ORIGIN) {
            Some(origin) if !self.is_allowed(origin) => Err(OriginRejected::Origin),
            _ => Ok(()),
        }
    }

    fn is_allowed(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(Origin::from_header);
        match (&self.origins, origin) {
            (Some(listed), _) if listed.contains(&Origin::Any) => true,
            (_, None) => false,
            (None, Some(origin)) => matches!(origin, Origin::Page { host, .. } if self.hosts.contains(&host)),
            (Some(listed), Some(origin)) => listed.iter().any(|listed| listed.covers(&origin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(public_url: &str) -> Hosts {
        Hosts::new(public_url, false).unwrap()
    }

    fn status(policy: &OriginPolicy, host: &str, origin: Option<&str>) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        match policy.admit(&headers) {
            Ok(()) => 200,
            Err(OriginRejected::NoHost) => 400,
            Err(OriginRejected::Host(_) | OriginRejected::Origin) => 403,
        }
    }

    #[test]
    fn the_public_host_and_loopback_are_allowed() {
        let policy = OriginPolicy::new(hosts("https://API.example.com:8443"), false, None);
        for (host, expected) in [
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
            assert_eq!(status(&policy, host, None), expected, "{host}");
        }
        assert_eq!(policy.admit(&HeaderMap::new()), Err(OriginRejected::NoHost));
    }

    #[test]
    fn without_a_public_url_any_address_is_ours() {
        let policy = OriginPolicy::new(Hosts::new("http://0.0.0.0:8080", true).unwrap(), false, None);
        for (host, expected) in [("192.0.2.7:8080", 200), ("[2001:db8::1]:8080", 200), ("a.example.com:8080", 403)] {
            assert_eq!(status(&policy, host, None), expected, "{host}");
        }
    }

    #[test]
    fn on_loopback_only_our_hosts_are_allowed_as_origins() {
        let local = OriginPolicy::new(hosts("http://127.0.0.1:8080"), true, None);
        let public = OriginPolicy::new(hosts("https://api.example.com"), false, None);
        for (origin, on_loopback) in [
            ("http://localhost:6274", 200),
            ("http://127.0.0.1:8080", 200),
            ("https://evil.test", 403),
            ("http://localhost.evil.test", 403),
            ("null", 403),
            ("garbage", 403),
        ] {
            assert_eq!(status(&local, "localhost", Some(origin)), on_loopback, "{origin}");
            assert_eq!(status(&public, "localhost", Some(origin)), 200, "{origin}");
        }
    }

    #[test]
    fn only_listed_origins_are_allowed() {
        let listed = ["https://app.example.com", "http://localhost:*", "null"].map(|origin| origin.parse().unwrap());
        let policy = OriginPolicy::new(hosts("http://127.0.0.1:8080"), true, Some(&listed));
        for (origin, expected) in [
            ("https://app.example.com", 200),
            ("https://app.example.com:443", 200),
            ("https://APP.example.com", 200),
            ("https://app.example.com:8443", 403),
            ("http://app.example.com", 403),
            ("http://localhost:1", 200),
            ("http://127.0.0.1:8080", 403),
            ("null", 200),
        ] {
            assert_eq!(status(&policy, "localhost", Some(origin)), expected, "{origin}");
        }
        let any = OriginPolicy::new(hosts("http://127.0.0.1:8080"), true, Some(&[Origin::Any]));
        assert_eq!(status(&any, "localhost", Some("https://evil.test")), 200);
    }

    #[test]
    fn an_invalid_setting_is_reported() {
        for url in ["", "api.example.com", "/api", "https://"] {
            assert_eq!(Hosts::new(url, true), Err(PublicUrlError(url.to_owned())), "{url}");
        }
    }
}
