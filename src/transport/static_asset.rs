//! Bodies that are the same for every caller: generated, hashed and compressed once.

use std::sync::OnceLock;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Method, Response};
use xxhash_rust::xxh3::xxh3_128;

use crate::headers::{Caching, CommonHeaders, READS, Vary, preflight, set};
use crate::negotiation::gzip;
use crate::response_cache::CachedResponse;
use crate::telemetry::RouteLabel;

/// A body that is the same for every caller.
pub struct StaticAsset(CachedResponse);

impl StaticAsset {
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let gzipped = Some(gzip(&body)).filter(|gzipped| gzipped.len() < body.len()).map(Bytes::from);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        set(&mut headers, ETAG, &format!("W/\"{:032x}\"", xxh3_128(&body)));
        let common =
            CommonHeaders { caching: Some(Caching::Public), varies: Some(Vary::Encoding), ..Default::default() };
        common.write(&mut headers);
        Self(CachedResponse { body, headers, route: RouteLabel::UNKNOWN, gzipped: OnceLock::from(gzipped) })
    }

    /// Responds to a request; `None` if the method is not GET, HEAD or OPTIONS.
    pub fn answer(&self, method: &Method, request: &HeaderMap) -> Option<Response<Bytes>> {
        match *method {
            Method::OPTIONS => Some(preflight(READS)),
            Method::GET | Method::HEAD => Some(self.0.answer(request)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn request(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        set(&mut headers, name, value);
        headers
    }

    #[test]
    fn a_cached_body_is_not_sent_again() {
        let asset = StaticAsset::new("text/plain", "a".repeat(2_000));
        let first = asset.answer(&Method::GET, &HeaderMap::new()).unwrap();
        assert_eq!((first.status(), first.body().len()), (StatusCode::OK, 2_000));
        let etag = first.headers()["etag"].to_str().unwrap();
        for known in [etag, &etag[2..], "*", &format!("\"x\", {etag}")] {
            let again = asset.answer(&Method::HEAD, &request("if-none-match", known)).unwrap();
            assert_eq!((again.status(), again.body().len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
        }
        assert_eq!(asset.answer(&Method::GET, &request("if-none-match", "\"x\"")).unwrap().status(), StatusCode::OK);
        let gzipped = asset.answer(&Method::GET, &request("accept-encoding", "gzip")).unwrap();
        assert_eq!(gzipped.headers()["content-encoding"], "gzip");
        assert!(gzipped.body().len() < 100);
        assert!(asset.answer(&Method::POST, &HeaderMap::new()).is_none());
        assert_ne!(StaticAsset::new("text/plain", "b").0.etag(), asset.0.etag());
    }
}
