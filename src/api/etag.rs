//! The weak `ETag` of a response: a hash of what it says, so that it stays the same from release to release as long as the
//! response does.
//!
//! `meta.snapshot` does not count: a 304 names the release in `X-Snapshot`. `next_cursor` does, although it names the release
//! of its page: a client that kept it would follow it into a release that is held no longer, start again, and get the kept
//! page again. So a page that another follows is new with each release; records, short lists, facets and counts are not.
//!
//! A file is hashed by release and query: its rows are not known before it is sent.

use std::ops::Range;

use http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::Xxh3;

use catalog::parse::is_ignored;
use transport::headers::if_none_match;

use crate::request::{Canonical, RequestUrl};

/// The `ETag` of a body; the bytes in `release` name its release.
pub(crate) fn of_body(body: &[u8], release: Range<usize>) -> HeaderValue {
    let mut hash = Xxh3::new();
    hash.update(&body[..release.start]);
    hash.update(&body[release.end..]);
    header(&hash)
}

/// Whether `If-None-Match` names an `ETag`; `*` matches it if its response `exists`.
pub(crate) fn matches(etag: &HeaderValue, headers: &HeaderMap, exists: bool) -> bool {
    let own = etag.as_bytes().strip_prefix(b"W/").unwrap_or(etag.as_bytes());
    if_none_match(headers).any(|known| if known == "*" { exists } else { known.as_bytes() == own })
}

/// The `ETag` of a file, known before it is made.
pub(crate) struct FileETag {
    pub value: HeaderValue,
    /// Whether the query was fully understood.
    is_canonical: bool,
}

impl FileETag {
    /// The `ETag` of the file at a URL whose query has this canonical form. A query that is not fully understood counts as it
    /// is written.
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

    /// Whether `If-None-Match` names it: the client has the file.
    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        matches(&self.value, headers, self.is_canonical)
    }
}

fn header(hash: &Xxh3) -> HeaderValue {
    HeaderValue::try_from(format!("W/\"{:032x}\"", hash.digest128())).expect("hexadecimal digits")
}
