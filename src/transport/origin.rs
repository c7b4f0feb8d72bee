//! Origins of web pages, as in the `Origin` header and in `--allowed-origins`.

use std::str::FromStr;

use http::Uri;

/// The origin of a page, or a pattern of origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `*`: any origin.
    Any,
    /// `null`: sandboxed pages, local files.
    Null,
    Page {
        /// In lower case.
        scheme: String,
        /// See [`normal_host`].
        host: String,
        /// `None`: any port.
        port: Option<u16>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not of the form https://host[:port]; a port may be `*`, and `*` alone allows any origin")]
pub struct ParseOriginError;

impl FromStr for Origin {
    type Err = ParseOriginError;

    /// Parses an origin; `*` means any origin, `:*` any port.
    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::Any);
        }
        let (text, any_port) = text.strip_suffix(":*").map_or((text, false), |text| (text, true));
        let origin = Self::from_header(text).ok_or(ParseOriginError)?;
        Ok(match origin {
            Self::Page { scheme, host, .. } if any_port => Self::Page { scheme, host, port: None },
            origin => origin,
        })
    }
}

impl Origin {
    /// Parses an `Origin` header; a missing port means the default port of the scheme.
    pub fn from_header(text: &str) -> Option<Self> {
        if text == "null" {
            return Some(Self::Null);
        }
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || authority.as_str().contains('@') {
            return None;
        }
        let port = authority.port_u16().or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self::Page { scheme, host: normal_host(authority.host()), port })
    }

    pub fn from_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split('/').next()?;
        Self::from_header(&format!("{scheme}://{authority}"))
    }

    /// True if this pattern covers a page with the origin `other`.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Page { scheme, host, port: None }, Self::Page { scheme: other_scheme, host: other_host, .. }) => {
                scheme == other_scheme && host == other_host
            }
            _ => self == other,
        }
    }
}

/// Normalizes a host: lower case, no brackets around an IPv6 address, no trailing dot.
pub(crate) fn normal_host(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schemes_hosts_and_ports_make_an_origin() {
        for text in ["example.com", "https://example.com/path", "https://user@example.com", "", "https://"] {
            assert_eq!(text.parse::<Origin>(), Err(ParseOriginError), "{text}");
        }
        assert_eq!(" * ".parse(), Ok(Origin::Any));
        let origin: Origin = "HTTP://[::1]:*".parse().unwrap();
        assert_eq!(origin, Origin::Page { scheme: "http".into(), host: "::1".into(), port: None });
        let page = Origin::from_header("https://a.example");
        for url in ["https://a.example", "https://A.example:443/venture/dex", "https://a.example/"] {
            assert_eq!(Origin::from_url(url), page, "{url}");
        }
        for url in ["http://a.example", "https://a.example.evil.example", "https://a.example:8443", "a.example"] {
            assert_ne!(Origin::from_url(url), page, "{url}");
        }
    }
}
