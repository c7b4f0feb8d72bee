//! Answers that no route makes: of requests that are none, of connections above the cap, of a route that panicked.
//!
//! They have the shape and the headers of every other answer, as far as these can be known here: nobody has looked at the
//! key, so that there is no quota to tell.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response};
use http_body_util::{Either, Full};

use crate::api::Version;
use crate::app::router::FastPath;
use crate::data::Date;
use crate::http::RequestId;
use crate::http::headers::{API_VERSION, REQUEST_ID, set, write_cors, write_quota};
use crate::http::problem::{Code, Problem};
use crate::http::server::connection::AnswerBody;
use crate::quota::Quota;

/// Why a request gets an answer that no route makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionError {
    /// The route panicked.
    InternalError,
    /// The request names no host, or several.
    MissingHost,
    /// The bytes are no request.
    NoRequest,
    /// The address is above the limit.
    UrlTooLong,
    /// The head is above the limit.
    HeadTooLarge,
    /// Too many connections are open.
    Overloaded,
}

impl ConnectionError {
    /// The error, as every other is told.
    fn problem(self) -> Problem {
        let (code, detail) = match self {
            Self::InternalError => {
                (Code::InternalError, "the request could not be answered; please report it with its request id")
            }
            Self::MissingHost => (Code::InvalidRequest, "a request of HTTP/1.1 needs exactly one `Host` header"),
            Self::NoRequest => (
                Code::InvalidRequest,
                "this is no HTTP/1.1 request for a path: check its first line and headers, and percent-encode the address",
            ),
            Self::UrlTooLong => (
                Code::UrlTooLong,
                "the request's address is above the limit: ask for fewer values at a time, or shorten the query",
            ),
            Self::HeadTooLarge => (
                Code::HeadTooLarge,
                "the request's address and headers are above the limit together: send fewer headers or cookies",
            ),
            Self::Overloaded => (Code::Overloaded, "too many connections are open; try again in a second"),
        };
        Problem::new(code, detail)
    }

    /// The answer to a request for `path`.
    pub(crate) fn answer(self, path: &str, id: RequestId, entrance: &FastPath) -> Response<AnswerBody> {
        let mut answer = Response::new(Either::Left(Full::new(Bytes::from(self.body(path, id, entrance)))));
        *answer.status_mut() = self.problem().code.status();
        *answer.headers_mut() = self.headers(path, id, entrance);
        answer
    }

    /// The whole answer, head and body, for a connection that ends with it. Of `path` only the version is looked at.
    pub(crate) fn whole(self, path: &str, id: RequestId, entrance: &FastPath) -> Bytes {
        let body = self.body("/", id, entrance);
        let mut headers = self.headers(path, id, entrance);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        let mut whole = format!("HTTP/1.1 {}\r\n", self.problem().code.status()).into_bytes();
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

    fn body(self, path: &str, id: RequestId, entrance: &FastPath) -> Vec<u8> {
        // A path that may be most of a head is not said again.
        let instance = if matches!(self, Self::UrlTooLong | Self::HeadTooLarge) { "/" } else { path };
        self.problem().body(entrance.public_url(), instance, &id.to_string())
    }

    fn headers(self, path: &str, id: RequestId, entrance: &FastPath) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self == Self::Overloaded {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        headers.insert(REQUEST_ID, id.value());
        if let Some(snapshot) = entrance.snapshot() {
            set(&mut headers, "x-snapshot", &snapshot.to_string());
        }
        if let Some(version) = Version::of_path(path) {
            headers.insert(API_VERSION, HeaderValue::from_static(version.number()));
        }
        let now = entrance.now();
        write_quota(&mut headers, &Quota::none(Date::from_unix(now)), now);
        write_cors(&mut headers);
        headers
    }
}
