//! Bodies that are the same for every caller: made once, with a validator, and compressed once.

use http::{HeaderMap, Method, Response, StatusCode};
use xxhash_rust::xxh3::xxh3_128;

use crate::http::headers;
use crate::http::headers::set;
use crate::http::negotiation::{accepts_gzip, gzip};

/// A body that is the same for every caller.
pub struct StaticAsset {
    kind: &'static str,
    body: Vec<u8>,
    packed: Option<Vec<u8>>,
    etag: String,
}

impl StaticAsset {
    /// A body of a content type.
    #[must_use]
    pub fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let packed = gzip(&body).ok().filter(|packed| packed.len() < body.len());
        let etag = format!("W/\"{:032x}\"", xxh3_128(&body));
        Self { kind, body, packed, etag }
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or("")
    }

    /// Answers a request for it; `None` where the method neither reads nor asks what is allowed.
    #[must_use]
    pub fn answer(&self, method: &Method, asked: &HeaderMap) -> Option<Response<Vec<u8>>> {
        let mut response = Response::new(Vec::new());
        if *method == Method::OPTIONS {
            *response.status_mut() = StatusCode::NO_CONTENT;
            let headers = response.headers_mut();
            headers::write_preflight(headers);
            set(headers, "access-control-allow-origin", "*");
            return Some(response);
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            return None;
        }
        if self.is_known(asked) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else if let Some(packed) = self.packed.as_ref().filter(|_| accepts_gzip(asked)) {
            packed.clone_into(response.body_mut());
            set(response.headers_mut(), "content-encoding", "gzip");
            set(response.headers_mut(), "content-type", self.kind);
        } else {
            self.body.clone_into(response.body_mut());
            set(response.headers_mut(), "content-type", self.kind);
        }
        let headers = response.headers_mut();
        set(headers, "etag", &self.etag);
        set(headers, "cache-control", "public, max-age=300");
        set(headers, "vary", "Accept-Encoding");
        set(headers, "x-content-type-options", "nosniff");
        Some(response)
    }

    /// Whether the caller already has it.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let own = self.etag.trim_start_matches("W/");
        headers::if_none_match(asked).any(|known| known == "*" || known == own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        set(&mut headers, name, value);
        headers
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        let fixed = StaticAsset::new("text/plain", "a".repeat(2_000));
        let first = fixed.answer(&Method::GET, &HeaderMap::new()).unwrap();
        assert_eq!((first.status(), first.body().len()), (StatusCode::OK, 2_000));
        let etag = first.headers()["etag"].to_str().unwrap();
        for known in [etag, &etag[2..], "*", &format!("\"x\", {etag}")] {
            let again = fixed.answer(&Method::HEAD, &asked("if-none-match", known)).unwrap();
            assert_eq!((again.status(), again.body().len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
        }
        assert_eq!(fixed.answer(&Method::GET, &asked("if-none-match", "\"x\"")).unwrap().status(), StatusCode::OK);
        let packed = fixed.answer(&Method::GET, &asked("accept-encoding", "gzip")).unwrap();
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        assert!(packed.body().len() < 100);
        assert!(fixed.answer(&Method::POST, &HeaderMap::new()).is_none());
        assert_ne!(StaticAsset::new("text/plain", "b").etag, fixed.etag);
    }
}
