//! Allowed hosts and origins.
//!
//! A foreign web page can make a browser call a server on the loopback interface under the page's own name (DNS
//! rebinding). So a request must name one of our hosts, and a browser must send an allowed origin.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

use crate::http::origin::{Origin, normal_host};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPolicy {
    host: String,
    origins: Origins,
}

/// Origins whose pages may call. Requests without `Origin` do not come from a page and are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origins {
    OurHosts,
    Listed(Vec<Origin>),
}

/// The public address is not a URL with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--public-url: `{0}` is not of the form https://host[:port]")]
pub struct OriginPolicyError(String);

/// Why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OriginRejected {
    #[error("the `Host` header is missing or invalid")]
    NoHost,
    #[error("the host `{0}` is not allowed; the operator sets it with --public-url")]
    Host(String),
    #[error("pages of this origin are not allowed; the operator allows origins with --allowed-origins")]
    Origin,
}

impl OriginPolicy {
    /// Allows the host of `public_url` and loopback. Allows the origins in `allowed`; without that list, the same hosts
    /// if the server listens on loopback only, otherwise any.
    ///
    /// # Errors
    /// If `public_url` has no host.
    pub fn new(public_url: &str, on_loopback: bool, allowed: Option<&[Origin]>) -> Result<Self, OriginPolicyError> {
        let url: Uri = public_url.parse().map_err(|_| OriginPolicyError(public_url.to_owned()))?;
        let host = url.host().filter(|_| url.scheme().is_some());
        let host = normal_host(host.ok_or_else(|| OriginPolicyError(public_url.to_owned()))?);
        let origins = match allowed {
            Some(allowed) => Origins::Listed(allowed.to_vec()),
            None if on_loopback => Origins::OurHosts,
            None => Origins::Listed(vec![Origin::Any]),
        };
        Ok(Self { host, origins })
    }

    /// The public host, in lower case.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Checks the `Host` and `Origin` of a request.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), OriginRejected> {
        let host = headers.get(HOST).and_then(authority).map(|authority| normal_host(authority.host()));
        let host = host.ok_or(OriginRejected::NoHost)?;
        if !self.is_ours(&host) {
            return Err(OriginRejected::Host(host));
        }
        match headers.get(ORIGIN) {
            Some(origin) if !self.is_allowed(origin) => Err(OriginRejected::Origin),
            _ => Ok(()),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        host == self.host || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn is_allowed(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(Origin::of_header);
        match (&self.origins, origin) {
            (Origins::Listed(listed), _) if listed.contains(&Origin::Any) => true,
            (_, None) => false,
            (Origins::OurHosts, Some(origin)) => matches!(origin, Origin::Page { host, .. } if self.is_ours(&host)),
            (Origins::Listed(listed), Some(origin)) => listed.iter().any(|listed| listed.covers(&origin)),
        }
    }
}

fn authority(host: &HeaderValue) -> Option<Authority> {
    let authority = Authority::try_from(host.as_bytes()).ok()?;
    (!authority.as_str().contains('@') && !authority.host().is_empty()).then_some(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let policy = OriginPolicy::new("https://API.example.com:8443", false, None).unwrap();
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
    fn on_loopback_only_our_hosts_are_allowed_as_origins() {
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
            assert_eq!(status(&local, "localhost", Some(origin)), on_loopback, "{origin}");
            assert_eq!(status(&public, "localhost", Some(origin)), 200, "{origin}");
        }
    }

    #[test]
    fn only_listed_origins_are_allowed() {
        let listed = ["https://app.example.com", "http://localhost:*", "null"].map(|origin| origin.parse().unwrap());
        let policy = OriginPolicy::new("http://127.0.0.1:8080", true, Some(&listed)).unwrap();
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
        let any = OriginPolicy::new("http://127.0.0.1:8080", true, Some(&[Origin::Any])).unwrap();
        assert_eq!(status(&any, "localhost", Some("https://evil.test")), 200);
    }

    #[test]
    fn an_invalid_setting_is_reported() {
        for url in ["", "api.example.com", "/api", "https://"] {
            assert_eq!(OriginPolicy::new(url, true, None), Err(OriginPolicyError(url.to_owned())), "{url}");
        }
    }
}
