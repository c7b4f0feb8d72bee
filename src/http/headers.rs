//! The headers that every answer of the API carries.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, IF_NONE_MATCH,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::quota::Quota;

/// Headers of ours that scripts of other origins may read.
pub const EXPOSED: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, \
                           X-Request-Id, X-Snapshot, X-API-Version, Retry-After, ETag, Link";
/// Headers that a preflight permits.
pub const ALLOWED: &str = "Authorization, Content-Type, Accept, If-None-Match, MCP-Protocol-Version, Mcp-Method, \
                           Mcp-Name, Last-Event-ID";

/// Methods that every path that reads takes.
pub const READS: &str = "GET, HEAD, OPTIONS";

/// The header that names a request.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header that tells the version of the API.
pub const API_VERSION: HeaderName = HeaderName::from_static("x-api-version");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const CSP: HeaderName = HeaderName::from_static("ratelimit-policy");
const LEFT: HeaderName = HeaderName::from_static("ratelimit");

/// Sets a header whose value was made here; one that cannot be a header value is left out.
pub fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Keeps places for what differs between requests, so that a copy of the headers need not grow for it. Callers that are
/// limited have two headers more.
pub fn keep_places(headers: &mut HeaderMap, is_limited: bool) {
    let pair = if is_limited { &[CSP, LEFT][..] } else { &[] };
    for name in [REQUEST_ID, LIMIT, REMAINING, RESET].iter().chain(pair) {
        headers.insert(name, HeaderValue::from_static(""));
    }
}

/// Writes a quota: `X-RateLimit-*` always, the IETF pair where there is a limit. `now` is Unix seconds.
pub fn write_quota(headers: &mut HeaderMap, quota: &Quota, now: i64) {
    let number = |value: Option<u32>| value.map_or(HeaderValue::from_static("unlimited"), HeaderValue::from);
    headers.insert(LIMIT, number(quota.limit));
    headers.insert(REMAINING, number(quota.remaining));
    headers.insert(RESET, HeaderValue::from(quota.resets_at));
    let pair = quota.limit.zip(quota.remaining).and_then(|(limit, remaining)| {
        let policy = format!("\"daily\";q={limit};w=86400");
        let left = format!("\"daily\";r={remaining};t={}", quota.seconds_left(now));
        HeaderValue::try_from(policy).ok().zip(HeaderValue::try_from(left).ok())
    });
    match pair {
        Some((policy, left)) => {
            headers.insert(CSP, policy);
            headers.insert(LEFT, left);
        }
        None => {
            // The last come first, so that nothing else moves.
            headers.remove(LEFT);
            headers.remove(CSP);
        }
    }
}

/// Lets scripts of any origin read the answer.
pub fn write_cors(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

/// What a path that reads answers to `OPTIONS`, beside the origins that may ask.
pub fn write_preflight(headers: &mut HeaderMap) {
    headers.insert(ALLOW, HeaderValue::from_static(READS));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(READS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
}

/// The validators that `If-None-Match` names, without the mark of weak ones: they are compared weakly (RFC 9110, 13.1.2).
/// `*` stands for any.
pub fn if_none_match<'h>(headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
    let given = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let opaque = |known: &'h str| known.strip_prefix("W/").filter(|opaque| opaque.starts_with('"')).unwrap_or(known);
    given.flat_map(|value| value.split(',')).map(str::trim).map(opaque)
}

/// An instant of Unix seconds as RFC 3339 UTC.
#[must_use]
pub fn instant(unix: i64) -> String {
    let date = crate::data::Date::from_unix(unix);
    let second = unix.rem_euclid(86_400);
    format!("{date}T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_rfc_3339() {
        assert_eq!(instant(1_795_305_600), "2026-11-22T00:00:00Z");
        assert_eq!(instant(1_795_305_600 - 1), "2026-11-21T23:59:59Z");
    }

    #[test]
    fn every_quota_has_its_headers() {
        let day = "2026-11-21".parse().unwrap();
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, &Quota::of(Some(100), 43, day), 1_795_305_590);
        assert_eq!(headers["x-ratelimit-limit"], "100");
        assert_eq!(headers["x-ratelimit-remaining"], "57");
        assert_eq!(headers["x-ratelimit-reset"], "1795305600");
        assert_eq!(headers["ratelimit-policy"], "\"daily\";q=100;w=86400");
        assert_eq!(headers["ratelimit"], "\"daily\";r=57;t=10");
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, &Quota::of(None, 43, day), 0);
        assert_eq!(headers["x-ratelimit-limit"], "unlimited");
        assert!(!headers.contains_key("ratelimit"));
    }
}
