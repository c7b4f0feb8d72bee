//! Responses that no route makes: to invalid requests, to connections above the limit, to requests on which a route
//! panicked.
//!
//! They have the shape and headers of every other response. The key is unchecked, so the reported quota is 0.

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
};
use http::{Response, StatusCode};

use crate::headers::{Caching, CommonHeaders};
use crate::negotiation::{names_file, requests_html};
use crate::problem::{Code, Problem};
use crate::{ErrorContext, RequestId};
use auth::quota::Quota;
use data::Date;

/// Reason for a response that no route makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    InternalError,
    /// The request has no `Host` header, several, or one that is not a host.
    MissingHost,
    /// The target is a whole URL, as for a proxy, and not one of the host in the `Host` header.
    OtherAuthority,
    /// The `Host` is not one of ours.
    Misdirected,
    NotHttp,
    /// An HTTP/1.0 client could not tell if a response of unknown length is complete.
    OldHttp,
    UrlTooLong,
    HeadTooLarge,
    /// Too many connections are open, in total or from one address.
    Overloaded,
    NotReady,
}

impl ConnectionError {
    fn problem(self) -> Problem {
        let (code, detail) = match self {
            Self::InternalError => (Code::InternalError, "the request failed; please report it with its request id"),
            Self::MissingHost => (
                Code::InvalidRequest,
                "an HTTP/1.1 request needs exactly one `Host` header, a host with an optional port, such as `Host: \
                 api.example.com`",
            ),
            Self::OtherAuthority => (
                Code::InvalidRequest,
                "the URL in the request line is not an http or https one of the host that the `Host` header names: request \
                 the path alone, such as `GET /api/v3/vcs`",
            ),
            Self::Misdirected => (
                Code::MisdirectedRequest,
                "this service is not known by the `Host` of the request: use its public URL; operators set it with \
                 --public-url",
            ),
            Self::NotHttp => (
                Code::InvalidRequest,
                "this is not an HTTP/1.1 request for a path: check the request line and headers, whose lines end with CR LF, and \
                 percent-encode the URL",
            ),
            Self::OldHttp => (
                Code::InvalidRequest,
                "this response needs HTTP/1.1, in which an incomplete one is noticed: upgrade the client, or the proxy in front \
                 of the service (nginx: proxy_http_version 1.1)",
            ),
            Self::UrlTooLong => {
                (Code::UrlTooLong, "the URL exceeds the limit: request fewer values at a time, or shorten the query")
            }
            Self::HeadTooLarge => {
                (Code::HeadTooLarge, "the URL and headers together exceed the limit: send fewer headers or cookies")
            }
            Self::NotReady => (
                Code::NotReady,
                "the service has no data to serve yet: retry in some seconds; for its operator, /readyz and the log say what is \
                 missing",
            ),
            Self::Overloaded => (
                Code::Overloaded,
                "too many connections are open, in total or from this address; reuse connections, or retry in a second",
            ),
        };
        Problem::new(code, detail)
    }

    pub(crate) fn status(self) -> StatusCode {
        self.problem().code.status()
    }

    /// The response to a request for `path`: a page for browsers, except below the API, otherwise JSON.
    pub fn response_to(
        self,
        path: &str,
        headers: &HeaderMap,
        id: RequestId,
        context: &ErrorContext<'_>,
    ) -> Response<Bytes> {
        let is_api = context.api_version.is_some() || path.starts_with("/api");
        let mut response = self.response(path, id, context);
        if requests_html(headers) && !is_api && !names_file(path) {
            *response.body_mut() = Bytes::from(self.problem().html());
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
        }
        response
    }

    /// The response to a request for `path`, as JSON.
    pub fn response(self, path: &str, id: RequestId, context: &ErrorContext<'_>) -> Response<Bytes> {
        // Do not repeat a path that may fill most of a head.
        let instance = if matches!(self, Self::UrlTooLong | Self::HeadTooLarge) { "/" } else { path };
        let mut response = self.problem().response(context.public_url, instance, id, None, context.now);
        let headers = response.headers_mut();
        if self == Self::NotReady {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        let common = CommonHeaders {
            id: Some(id),
            quota: Some((&Quota::zero(Date::from_unix(context.now)), context.now)),
            snapshot: context.snapshot,
            api_version: context.api_version,
            caching: Some(Caching::Never),
            is_cross_origin: true,
            public_url: Some(context.public_url),
            ..CommonHeaders::default()
        };
        common.write(headers);
        response
    }

    /// The complete response, head and body, for a connection that ends with it.
    pub(crate) fn bytes(self, id: RequestId, context: &ErrorContext<'_>) -> Bytes {
        let mut response = self.response("/", id, context);
        let length = HeaderValue::from(response.body().len());
        response.headers_mut().insert(CONTENT_LENGTH, length);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        let mut bytes = format!("HTTP/1.1 {}\r\n", response.status()).into_bytes();
        for (name, value) in response.headers() {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(response.body());
        Bytes::from(bytes)
    }
}
