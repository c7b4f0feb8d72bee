//! Answers that no route makes: of requests that are none, of connections above the cap, of a route that panicked.
//!
//! They have the shape and the headers of every other answer, as far as these can be known here: without a key there is
//! no quota, and which release would have answered is the routes' affair.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde::Serialize;

use super::request::{AnswerBody, REQUEST_ID};
use crate::access::Quota;
use crate::dataset::Date;
use crate::web::arrival::RequestId;
use crate::web::headers::{write_cors, write_quota};

/// Why a request gets an answer that no route makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    /// The route panicked.
    InternalError,
    /// The request names no host, or several.
    MissingHost,
    /// The bytes are no request.
    NoRequest,
    /// The head is above the limit.
    HeadTooLarge,
    /// Too many connections are open.
    Overloaded,
}

/// An error of the server itself, in the shape of every other error (RFC 9457).
#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'static str,
    instance: &'a str,
    code: &'static str,
    request_id: String,
}

impl Bare {
    /// Code, status, title and detail.
    fn facts(self) -> (&'static str, StatusCode, &'static str, &'static str) {
        match self {
            Self::InternalError => (
                "internal_error",
                StatusCode::INTERNAL_SERVER_ERROR,
                "Internal error",
                "the request could not be answered; please report it with its request id",
            ),
            Self::MissingHost => (
                "invalid_request",
                StatusCode::BAD_REQUEST,
                "Invalid request",
                "a request of HTTP/1.1 needs exactly one `Host` header",
            ),
            Self::NoRequest => (
                "invalid_request",
                StatusCode::BAD_REQUEST,
                "Invalid request",
                "these bytes are no HTTP/1.1 request: check its first line and headers, and percent-encode the address",
            ),
            Self::HeadTooLarge => (
                "head_too_large",
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "Request head too large",
                "the request's address and headers are above the limit together: shorten the query, or send fewer cookies",
            ),
            Self::Overloaded => (
                "overloaded",
                StatusCode::SERVICE_UNAVAILABLE,
                "Overloaded",
                "too many connections are open; try again in a second",
            ),
        }
    }

    /// The answer to a request for `path`.
    pub(super) fn answer(self, path: &str, id: RequestId) -> Response<AnswerBody> {
        let mut answer = Response::new(Full::new(Bytes::from(self.body(path, id))).map_err(Into::into).boxed());
        *answer.status_mut() = self.facts().1;
        *answer.headers_mut() = self.headers(path, id);
        answer
    }

    /// The whole answer, head and body, for a connection that ends with it.
    pub(super) fn whole(self, id: RequestId) -> Bytes {
        let body = self.body("/", id);
        let mut headers = self.headers("/", id);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        let mut whole = format!("HTTP/1.1 {}\r\n", self.facts().1).into_bytes();
        for (name, value) in &headers {
            whole.extend_from_slice(name.as_str().as_bytes());
            whole.extend_from_slice(b": ");
            whole.extend_from_slice(value.as_bytes());
            whole.extend_from_slice(b"\r\n");
        }
        whole.extend_from_slice(b"\r\n");
        whole.extend_from_slice(&body);
        Bytes::from(whole)
    }

    fn body(self, path: &str, id: RequestId) -> Vec<u8> {
        let (code, status, title, detail) = self.facts();
        let problem = Problem {
            r#type: format!("/docs/errors#{code}"),
            title,
            status: status.as_u16(),
            detail,
            // A path that may be most of a head is not said again.
            instance: if self == Self::HeadTooLarge { "/" } else { path },
            code,
            request_id: id.to_string(),
        };
        serde_json::to_vec(&problem).unwrap_or_default()
    }

    fn headers(self, path: &str, id: RequestId) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self == Self::Overloaded {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Ok(id) = HeaderValue::try_from(id.to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        let version = path.strip_prefix("/api").unwrap_or(path).split('/').nth(1).and_then(|segment| match segment {
            "v1" => Some("1"),
            "v2" => Some("2"),
            "v3" => Some("3"),
            _ => None,
        });
        if let Some(version) = version {
            headers.insert(HeaderName::from_static("x-api-version"), HeaderValue::from_static(version));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        write_quota(&mut headers, &Quota::none(Date::from_unix(now)), now);
        write_cors(&mut headers);
        headers
    }
}
