//! Headers common to all responses, written in one place: [`CommonHeaders`].

use bytes::Bytes;
use http::header::IntoHeaderName;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, AUTHORIZATION, CACHE_CONTROL,
    CONTENT_SECURITY_POLICY, IF_MATCH, IF_NONE_MATCH, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::RequestId;
use auth::quota::Quota;
use data::SnapshotVersion;

/// Our headers, exposed to scripts of other origins.
const EXPOSED: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, \
                       X-Request-Id, X-Snapshot, X-API-Version, X-Request-Cost, X-Warnings, Retry-After, ETag, Link, \
                       Deprecation, Sunset, Content-Disposition, Content-Range, Accept-Ranges";
/// Request headers that a preflight permits.
const ALLOWED: &str = "Authorization, Content-Type, Accept, If-None-Match, Range, If-Range, X-Request-Id, MCP-Protocol-Version, \
                       Mcp-Method, Mcp-Name, Last-Event-ID";

/// Methods of every readable path.
pub const READS: &str = "GET, HEAD, OPTIONS";

/// Cost of a request in requests of the daily quota.
pub const COST: HeaderName = HeaderName::from_static("x-request-cost");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// Browser features, all disabled: no page uses them.
const NO_PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
const API_VERSION: HeaderName = HeaderName::from_static("x-api-version");
const SNAPSHOT: HeaderName = HeaderName::from_static("x-snapshot");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IETF_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const IETF_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    Never,
    Private,
    Public,
    /// For content that never changes.
    Forever,
    PrivateForever,
    /// Revalidated before each use.
    Revalidated,
}

/// Request headers that the response depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vary {
    Encoding,
    /// Media type and encoding.
    Type,
    /// Encoding and cookie: the color scheme of a page is a cookie.
    Cookie,
}

/// Inputs of the common headers; `None` and `false` leave a header out.
#[derive(Clone, Copy, Default)]
pub struct CommonHeaders<'a> {
    pub id: Option<RequestId>,
    /// The caller's quota and the current time in Unix seconds.
    pub quota: Option<(&'a Quota, i64)>,
    pub snapshot: Option<SnapshotVersion>,
    /// The value of `X-API-Version`.
    pub api_version: Option<&'static str>,
    pub caching: Option<Caching>,
    pub varies: Option<Vary>,
    /// Lets scripts of any origin read the response.
    pub is_cross_origin: bool,
    /// The public URL; with it, the security headers of every response are written. Omit it where they follow later.
    pub public_url: Option<&'a str>,
    pub page_policy: Option<&'static str>,
}

impl CommonHeaders<'_> {
    pub fn write(&self, headers: &mut HeaderMap) {
        if let Some(caching) = self.caching {
            let policy = match caching {
                Caching::Never => "no-store",
                Caching::Private => "private, max-age=60",
                Caching::Public => "public, max-age=300",
                Caching::Forever => "public, max-age=31536000, immutable",
                Caching::PrivateForever => "private, max-age=31536000, immutable",
                Caching::Revalidated => "no-cache",
            };
            headers.insert(CACHE_CONTROL, HeaderValue::from_static(policy));
        }
        if let Some(varies) = self.varies {
            let names = match varies {
                Vary::Encoding => "Accept-Encoding",
                Vary::Type => "Accept, Accept-Encoding",
                Vary::Cookie => "Accept-Encoding, Cookie",
            };
            headers.insert(VARY, HeaderValue::from_static(names));
        }
        if let Some(snapshot) = self.snapshot {
            set(headers, SNAPSHOT, &snapshot.to_string());
        }
        if let Some(version) = self.api_version {
            headers.insert(API_VERSION, HeaderValue::from_static(version));
        }
        if self.is_cross_origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
        if let Some(policy) = self.page_policy {
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
            headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
            headers.insert(PERMISSIONS_POLICY, HeaderValue::from_static(NO_PERMISSIONS));
        }
        if let Some(url) = self.public_url {
            headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            let is_open = self.is_cross_origin || headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN);
            let readers = if is_open { "cross-origin" } else { "same-origin" };
            headers.insert(RESOURCE_POLICY, HeaderValue::from_static(readers));
            if url.starts_with("https://") {
                headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
            }
        }
        if let Some((quota, now)) = self.quota {
            write_quota(headers, quota, now);
        }
        if let Some(id) = self.id {
            headers.insert(REQUEST_ID, id.header_value());
        }
    }
}

/// Sets a header to a value of ours, without control characters. A redirect repeats the URL of its request, in which
/// clients may leave letters unencoded.
pub fn set(headers: &mut HeaderMap, name: impl IntoHeaderName, value: &str) {
    let value = HeaderValue::from_bytes(value.as_bytes());
    headers.insert(name, value.expect("a header value of ours has no control characters"));
}

/// Reserves headers that differ between requests, so that a copy need not reallocate; two more with a limit.
pub fn reserve(headers: &mut HeaderMap, has_limit: bool) {
    let ietf = if has_limit { &[IETF_POLICY, IETF_LIMIT][..] } else { &[] };
    for name in [REQUEST_ID, LIMIT, REMAINING, RESET, COST].iter().chain(ietf) {
        headers.insert(name, HeaderValue::from_static(""));
    }
}

/// Writes a quota: always `X-RateLimit-*` and the cost of the request, and the IETF pair if there is a limit. `now` is in Unix
/// seconds.
pub(crate) fn write_quota(headers: &mut HeaderMap, quota: &Quota, now: i64) {
    let number = |value: Option<u32>| value.map_or(HeaderValue::from_static("unlimited"), HeaderValue::from);
    headers.insert(LIMIT, number(quota.limit));
    headers.insert(REMAINING, number(quota.remaining));
    headers.insert(RESET, HeaderValue::from(quota.resets_at));
    headers.insert(COST, HeaderValue::from(quota.cost));
    if let Some((limit, remaining)) = quota.limit.zip(quota.remaining) {
        set(headers, IETF_POLICY, &format!("\"daily\";q={limit};w=86400"));
        set(headers, IETF_LIMIT, &format!("\"daily\";r={remaining};t={}", quota.seconds_left(now)));
    } else {
        // In reverse order of insertion, so that removing one moves no other.
        headers.remove(IETF_LIMIT);
        headers.remove(IETF_POLICY);
    }
}

pub fn preflight(methods: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(methods));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    CommonHeaders { is_cross_origin: true, ..CommonHeaders::default() }.write(headers);
    response
}

/// The value of `Authorization`; if it is repeated or not text, a value that cannot be a key.
pub fn authorization(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let first = values.next()?;
    let is_one = values.all(|other| other == first);
    Some(if is_one { first.to_str().unwrap_or("not text") } else { "several" })
}

/// The validators in `If-None-Match` without `W/`: they are compared weakly (RFC 9110, 13.1.2); `*` matches any.
pub fn if_none_match(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|tag| {
        let tag = tag.trim();
        tag.strip_prefix("W/").filter(|opaque| opaque.starts_with('"')).unwrap_or(tag)
    })
}

/// True if `If-Match` fails. It compares strongly (RFC 9110, 13.1.1): our weak validators never match, only `*` does.
pub fn fails_if_match(headers: &HeaderMap) -> bool {
    headers.get_all(IF_MATCH).iter().any(|value| value.as_bytes().trim_ascii() != b"*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_repeats_unencoded_letters() {
        let mut headers = HeaderMap::new();
        set(&mut headers, "location", "/vcs/new?q=Größe");
        assert_eq!(headers["location"].as_bytes(), "/vcs/new?q=Größe".as_bytes());
    }

    #[test]
    fn a_quota_without_a_limit_has_no_ietf_headers() {
        let day = "2026-11-21".parse().unwrap();
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, &Quota::new(Some(100), 43, day), 1_795_305_590);
        assert_eq!(headers["x-ratelimit-limit"], "100");
        assert_eq!(headers["x-ratelimit-remaining"], "57");
        assert_eq!(headers["x-ratelimit-reset"], "1795305600");
        assert_eq!(headers["ratelimit-policy"], "\"daily\";q=100;w=86400");
        assert_eq!(headers["ratelimit"], "\"daily\";r=57;t=10");
        assert_eq!(headers["x-request-cost"], "0");
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, &Quota::new(None, 43, day), 0);
        assert_eq!(headers["x-ratelimit-limit"], "unlimited");
        assert!(!headers.contains_key("ratelimit"));
    }
}
