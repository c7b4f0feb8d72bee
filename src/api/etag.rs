//! The weak `ETag` of a response: a hash of its content, stable across releases as long as the response stays the same.
//!
//! `meta.snapshot` does not count: a 304 names the release in `X-Snapshot`. `next_cursor` does count, although it names
//! the release of its page: a client with a cached page would follow its cursor into a release that is no longer
//! loaded, start again, and get the cached page again. So a page with a next page changes with each release; records,
//! short lists, facets and counts do not.
//!
//! The `ETag` of a file hashes release and query, because its rows are not known before it is sent.

use std::ops::Range;

use http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::Xxh3;

use catalog::parse::is_ignored;
use transport::headers::if_none_match;

use crate::request::{Canonical, RequestUrl};

/// Computes the `ETag` of a body, without the bytes in `release`, which name its release.
pub(crate) fn of_body(body: &[u8], release: Range<usize>) -> HeaderValue {
    let mut hash = Xxh3::new();
    hash.update(&body[..release.start]);
    hash.update(&body[release.end..]);
    header(&hash)
}

/// True if `If-None-Match` names an `ETag`; `*` matches if its response `exists`.
pub(crate) fn matches(etag: &HeaderValue, headers: &HeaderMap, exists: bool) -> bool {
    let own = etag.as_bytes().strip_prefix(b"W/").unwrap_or(etag.as_bytes());
    if_none_match(headers).any(|known| if known == "*" { exists } else { known.as_bytes() == own })
}

/// The `ETag` of a file, known before the file is written.
pub(crate) struct FileETag {
    pub value: HeaderValue,
    is_canonical: bool,
}

impl FileETag {
    /// `canonical` is the canonical form of the query of `url`; one that is not fully understood is hashed as written.
    pub(crate) fn new(url: &RequestUrl<'_>, canonical: Option<&Canonical>) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&url.catalog.content().to_le_bytes());
        let snapshot = url.catalog.version();
        hash.update(&snapshot.date.days().to_le_bytes());
        hash.update(&snapshot.counter.to_le_bytes());
        for part in [env!("CARGO_PKG_VERSION"), &url.path.to_ascii_lowercase()] {
            hash.update(part.as_bytes());
            hash.update(&[0]);
        }
        let mut pair = |name: &str, value: &str| {
            for part in [name, value] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        };
        match canonical {
            Some(canonical) => canonical.iter().for_each(|(name, value)| pair(name, value)),
            None => {
                pair("as written", "");
                let values = url.values.iter().filter(|(name, _)| !is_ignored(name));
                values.for_each(|(name, value)| pair(name, value));
            }
        }
        Self { value: header(&hash), is_canonical: canonical.is_some() }
    }

    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        matches(&self.value, headers, self.is_canonical)
    }
}

fn header(hash: &Xxh3) -> HeaderValue {
    let mut text = *b"W/\"00000000000000000000000000000000\"";
    let mut rest = hash.digest128();
    for digit in text[3..35].iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest % 16) as usize];
        rest /= 16;
    }
    HeaderValue::from_bytes(&text).expect("hexadecimal digits")
}
