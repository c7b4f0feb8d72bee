//! Bodies that are the same for every caller: generated, hashed and compressed once.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use xxhash_rust::xxh3::xxh3_128;

use crate::headers::{Caching, CommonHeaders, READS, Vary, if_none_match, preflight, set};
use crate::negotiation::{accepts_gzip, gzip};

/// A body that is the same for every caller.
pub struct StaticAsset {
    content_type: &'static str,
    body: Bytes,
    gzipped: Option<Bytes>,
    etag: String,
}

impl StaticAsset {
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let gzipped = Some(gzip(&body)).filter(|gzipped| gzipped.len() < body.len()).map(Bytes::from);
        let etag = format!("W/\"{:032x}\"", xxh3_128(&body));
        Self { content_type, body, gzipped, etag }
    }

    /// Responds to a request; `None` if the method is not GET, HEAD or OPTIONS.
    pub fn answer(&self, method: &Method, request: &HeaderMap) -> Option<Response<Bytes>> {
        match *method {
            Method::OPTIONS => return Some(preflight(READS)),
            Method::GET | Method::HEAD => {}
            _ => return None,
        }
        let mut response = Response::new(Bytes::new());
        if self.is_cached_by(request) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            let gzipped = self.gzipped.as_ref().filter(|_| accepts_gzip(request));
            if gzipped.is_some() {
                response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
            *response.body_mut() = gzipped.unwrap_or(&self.body).clone();
        }
        set(response.headers_mut(), ETAG, &self.etag);
        let common =
            CommonHeaders { caching: Some(Caching::Public), varies: Some(Vary::Encoding), ..Default::default() };
        common.write(response.headers_mut());
        Some(response)
    }

    fn is_cached_by(&self, request: &HeaderMap) -> bool {
        let own = self.etag.trim_start_matches("W/");
        if_none_match(request).any(|known| known == "*" || known == own)
    }
}

#[cfg(test)]
mod tests {
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
        assert_ne!(StaticAsset::new("text/plain", "b").etag, asset.etag);
    }
}
