//! Answers that are kept, so that what was asked before is not made again.
//!
//! A release never changes, and neither does its answer to a path and query: the same bytes serve every caller. What is
//! kept is bounded by its size; an answer that nobody asks for again gives way to others.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::ETAG;
use http::{HeaderMap, HeaderValue};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

use crate::catalog::Catalog;
use crate::web::encoding::gzip;

/// Bytes of answers that are kept, about.
const CAPACITY: u64 = 64 * 1024 * 1024;
/// Longer answers are made anew each time, bytes.
const LONGEST: usize = 256 * 1024;
/// What an answer takes besides its body, bytes.
const BESIDE: usize = 2_048;
/// Bodies from this size on are compressed for those who accept it, bytes.
const COMPRESS_FROM: usize = 1_024;

/// An answer as it goes out, but for what differs between callers.
pub(super) struct Ready {
    /// The body as it is.
    pub body: Bytes,
    /// All headers that are the same for every caller.
    pub headers: HeaderMap,
    packed: OnceLock<Option<Bytes>>,
}

impl Ready {
    pub fn new(body: Vec<u8>, headers: HeaderMap) -> Self {
        Self { body: body.into(), headers, packed: OnceLock::new() }
    }

    /// Its validator; none where nobody may keep the answer.
    pub fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// The body compressed, where that is worth while: made for the first who asks for it.
    pub fn packed(&self) -> Option<Bytes> {
        let pack = || (self.body.len() >= COMPRESS_FROM).then(|| gzip(&self.body).ok().map(Bytes::from)).flatten();
        self.packed.get_or_init(pack).clone()
    }
}

/// What was asked of which release.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    release: u128,
    path: Box<str>,
    query: Box<str>,
}

/// The same, borrowed; both hash alike, field by field.
#[derive(Clone, Copy, Hash)]
pub(super) struct Asking<'a> {
    release: u128,
    path: &'a str,
    query: &'a str,
}

impl<'a> Asking<'a> {
    /// A path and query as they were written.
    pub fn of(catalog: &Catalog, path: &'a str, query: &'a str) -> Self {
        let version = catalog.version();
        let release = u128::from(catalog.snapshot().content()) << 64
            | u128::from(version.date.days().cast_unsigned()) << 32
            | u128::from(version.counter);
        Self { release, path, query }
    }
}

impl Equivalent<Asked> for Asking<'_> {
    fn equivalent(&self, asked: &Asked) -> bool {
        self.release == asked.release && *self.path == *asked.path && *self.query == *asked.query
    }
}

#[derive(Clone)]
struct Bulk;

impl Weighter<Asked, Arc<Ready>> for Bulk {
    fn weight(&self, asked: &Asked, ready: &Arc<Ready>) -> u64 {
        // Compressed it takes about a quarter more.
        (BESIDE + asked.path.len() + asked.query.len() + ready.body.len() * 5 / 4) as u64
    }
}

/// Answers of all releases that are served.
pub struct Kept(Cache<Asked, Arc<Ready>, Bulk>);

impl Kept {
    pub(super) fn get(&self, asking: Asking<'_>) -> Option<Arc<Ready>> {
        self.0.get(&asking)
    }

    pub(super) fn keep(&self, asking: Asking<'_>, ready: &Arc<Ready>) {
        if ready.body.len() <= LONGEST {
            let Asking { release, path, query } = asking;
            self.0.insert(Asked { release, path: path.into(), query: query.into() }, Arc::clone(ready));
        }
    }

    /// Bytes of answers that are kept now, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.weight()
    }
}

impl Default for Kept {
    fn default() -> Self {
        // A list of common length is some ten thousand bytes.
        Self(Cache::with_weighter(8_192, CAPACITY, Bulk))
    }
}
