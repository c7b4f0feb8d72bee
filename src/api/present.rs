//! Converts outcomes into responses.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, LINK};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use auth::quota::Quota;
use service::State;
use transport::RequestParts;
use transport::body::Payload;
use transport::headers::{Caching, CommonHeaders, preflight, set};
use transport::negotiation::{accepts_gzip, compress};
use transport::problem::{Code, Problem};
use transport::response_cache::CachedResponse;

use crate::{Pipeline, PipelineOutcome, Version, shared_headers};

impl Pipeline<'_> {
    /// The response, with the headers that every response has.
    pub(super) fn present(&self, outcome: Result<PipelineOutcome, Problem>, quota: &Quota) -> Response<Payload> {
        let has_common_headers = matches!(
            &outcome,
            Ok(PipelineOutcome::Found(_) | PipelineOutcome::NotModified(_) | PipelineOutcome::File(_))
        );
        // A path that contains a key is not repeated.
        let may_link = !matches!(&outcome, Err(problem) if problem.code == Code::KeyInUrl);
        let caching = match &outcome {
            Ok(PipelineOutcome::Preflight(_)) => None,
            Ok(_) => Some(Caching::Private),
            Err(_) => Some(Caching::Never),
        };
        let mut response = match outcome {
            Ok(PipelineOutcome::File(response)) => response,
            Ok(PipelineOutcome::Found(cached)) => success(self.request, cached).map(Payload::Whole),
            Ok(PipelineOutcome::NotModified(known)) => {
                let mut headers = known.headers.clone();
                headers.remove(CONTENT_TYPE);
                // The `Link` of the response belongs to the page that the client already has.
                if self.version == Some(Version::V3) {
                    headers.remove(LINK);
                }
                not_modified(headers).map(Payload::Whole)
            }
            Ok(PipelineOutcome::FileNotModified(etag)) => {
                not_modified(HeaderMap::from_iter([(ETAG, etag)])).map(Payload::Whole)
            }
            Ok(PipelineOutcome::Preflight(methods)) => preflight(methods).map(Payload::Whole),
            Ok(PipelineOutcome::Queue) => unreachable!("it has no response yet"),
            Err(problem) => {
                let (base, request) = (&self.state.public_url, self.request);
                let mut response = problem.response(base, request.path, request.id, Some(quota), self.now);
                compress(&mut response, request.headers);
                response.map(Payload::Whole)
            }
        };
        let headers = response.headers_mut();
        let mut common = CommonHeaders::default();
        if !has_common_headers {
            common = shared_headers(self.state, self.version, self.catalog.version(), caching);
            if let Some(version) = self.version.filter(|_| may_link) {
                write_successor(headers, version, self.state, self.path);
            }
        }
        CommonHeaders { id: Some(self.request.id), quota: Some((quota, self.now)), ..common }.write(headers);
        response
    }
}

/// Writes the successor of an older version and, if it is announced, its end.
pub(super) fn write_successor(headers: &mut HeaderMap, version: Version, state: &State, path: &str) {
    if version == Version::V3 {
        return;
    }
    let base = &state.public_url;
    let mut link = format!("<{base}/api/v3/{path}>; rel=\"successor-version\"");
    if let Some(end) = state.operator.version_end(version.segment()) {
        set(headers, "deprecation", &end.deprecation());
        set(headers, "sunset", &end.sunset());
        link +=
            &format!(", <{base}/docs/versions#end>; rel=\"deprecation\", <{base}/docs/versions#end>; rel=\"sunset\"");
    }
    if let Ok(link) = HeaderValue::try_from(link) {
        headers.insert(LINK, link);
    }
}

fn success(request: &RequestParts<'_>, found: Arc<CachedResponse>) -> Response<Bytes> {
    let packed = if accepts_gzip(request.headers) { found.gzipped() } else { None };
    let is_packed = packed.is_some();
    // An uncached response is not shared, so it can be moved.
    let (headers, body) = match Arc::try_unwrap(found) {
        Ok(own) => (own.headers, own.body),
        Err(cached) => (cached.headers.clone(), cached.body.clone()),
    };
    let mut response = Response::new(packed.unwrap_or(body));
    *response.headers_mut() = headers;
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn not_modified(headers: HeaderMap) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.headers_mut() = headers;
    response
}
