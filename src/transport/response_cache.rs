//! The response cache.
//!
//! A release never changes, and neither does its response to a path and query, of the API as of a page: the same bytes serve
//! every caller. The cache
//! is bounded by its size in bytes. A response is cached when it is computed for the second time: most requests of a program
//! that walks through the data are never repeated, and would evict those that are.
//!
//! Each thread of the runtime has its own part: shared counters of use would move between processors with every request,
//! which takes longer than the rest of a lookup. What another thread cached is found in its part and then kept in both, so
//! that a response is computed twice at most wherever its requests run.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use foldhash::fast::RandomState;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, OptionsBuilder, Weighter};

use crate::headers::if_none_match;
use crate::negotiation::{MIN_COMPRESSED_SIZE, accepts_gzip, gzip};
use crate::telemetry::RouteLabel;
use platform::metrics::PerThread;

/// Bytes of all cached responses, approximately.
const CAPACITY: usize = 64 * 1024 * 1024;
/// Expected number of cached responses: a typical list has some ten thousand bytes.
const EXPECTED_RESPONSES: usize = 8_192;
/// Longer responses are not cached, bytes.
const MAX_BODY: usize = 256 * 1024;
/// Recent requests that are remembered, so that the second of the same is cached.
const REMEMBERED: usize = 8_192;
/// Memory of a cached response apart from its body, path and query, bytes.
const OVERHEAD: usize = 2_048;

/// A response without the headers that differ between callers.
pub struct CachedResponse {
    /// Not compressed.
    pub body: Bytes,
    /// The headers that are the same for every caller.
    pub headers: HeaderMap,
    pub route: RouteLabel,
    gzipped: OnceLock<Option<Bytes>>,
}

impl CachedResponse {
    pub fn new(mut body: Vec<u8>, headers: HeaderMap, route: RouteLabel) -> Self {
        body.shrink_to_fit();
        Self { body: body.into(), headers, route, gzipped: OnceLock::new() }
    }

    /// `None` if the response must not be cached.
    pub fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// The compressed body, made at the first call; `None` if the body is too short.
    pub fn gzipped(&self) -> Option<Bytes> {
        let compress = || (self.body.len() >= MIN_COMPRESSED_SIZE).then(|| Bytes::from(gzip(&self.body)));
        self.gzipped.get_or_init(compress).clone()
    }

    /// The response to a request: 304 if the client has it, compressed if the client accepts it.
    pub fn answer(&self, request: &HeaderMap) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.headers_mut() = self.headers.clone();
        let etag = self.etag().and_then(|etag| etag.to_str().ok()).map(|etag| etag.trim_start_matches("W/"));
        if if_none_match(request).any(|known| known == "*" || etag == Some(known)) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().remove(CONTENT_TYPE);
            return response;
        }
        let packed = if accepts_gzip(request) { self.gzipped() } else { None };
        if packed.is_some() {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        *response.body_mut() = packed.unwrap_or_else(|| self.body.clone());
        response
    }
}

/// A path and query with the release that they were sent to.
#[derive(PartialEq, Eq, Hash)]
struct OwnedCacheKey {
    release: u128,
    variant: u8,
    path: Box<str>,
    query: Box<str>,
}

/// The same, borrowed; both have the same hash, field by field.
#[derive(Clone, Copy, Hash)]
pub struct CacheKey<'a> {
    release: u128,
    variant: u8,
    path: &'a str,
    query: &'a str,
}

impl<'a> CacheKey<'a> {
    /// `release` identifies the content of a release; `path` and `query` as sent.
    pub fn of(release: u128, path: &'a str, query: &'a str) -> Self {
        Self { release, variant: 0, path, query }
    }

    /// One of several responses to the same path and query.
    pub fn in_variant(self, variant: u8) -> Self {
        Self { variant, ..self }
    }
}

impl From<CacheKey<'_>> for OwnedCacheKey {
    fn from(CacheKey { release, variant, path, query }: CacheKey<'_>) -> Self {
        Self { release, variant, path: path.into(), query: query.into() }
    }
}

impl Equivalent<OwnedCacheKey> for CacheKey<'_> {
    fn equivalent(&self, key: &OwnedCacheKey) -> bool {
        // Measured: comparing the bytes of an empty text takes longer than all the rest.
        let same_query = match self.query {
            "" => key.query.is_empty(),
            query => *query == *key.query,
        };
        self.release == key.release && self.variant == key.variant && same_query && *self.path == *key.path
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<OwnedCacheKey, Arc<CachedResponse>> for ByBytes {
    fn weight(&self, key: &OwnedCacheKey, response: &Arc<CachedResponse>) -> u64 {
        // The compressed body takes about a quarter more.
        (OVERHEAD + key.path.len() + key.query.len() + response.body.len() * 5 / 4) as u64
    }
}

/// The responses that a thread found or computed.
struct Part {
    responses: Cache<OwnedCacheKey, Arc<CachedResponse>, ByBytes, RandomState>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Cached responses of all loaded releases.
pub struct ResponseCache {
    parts: PerThread<Part>,
    /// Hashes of recent requests, each at the place that it names.
    recent: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl ResponseCache {
    pub fn get(&self, key: CacheKey<'_>) -> Option<Arc<CachedResponse>> {
        let own = self.parts.own();
        if let Some(response) = own.responses.get(&key) {
            own.hits.fetch_add(1, Ordering::Relaxed);
            return Some(response);
        }
        let response = self.parts.others().find_map(|part| part.responses.peek(&key))?;
        own.responses.insert(key.into(), Arc::clone(&response));
        own.hits.fetch_add(1, Ordering::Relaxed);
        Some(response)
    }

    /// Caches a computed response if its request is repeated.
    pub fn insert(&self, key: CacheKey<'_>, response: &Arc<CachedResponse>) {
        let own = self.parts.own();
        own.misses.fetch_add(1, Ordering::Relaxed);
        if response.body.len() <= MAX_BODY && self.is_repeated(key) {
            own.responses.insert(key.into(), Arc::clone(response));
        }
    }

    /// Remembers a request; true if it is among the recent ones.
    fn is_repeated(&self, key: CacheKey<'_>) -> bool {
        let hash = self.hasher.hash_one(key);
        self.recent[hash as usize % REMEMBERED].swap(hash, Ordering::Relaxed) == hash
    }

    /// Bytes of all cached responses, approximately.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.responses.weight()).sum()
    }

    /// Requests whose response was cached.
    pub fn hits(&self) -> u64 {
        self.parts.iter().map(|part| part.hits.load(Ordering::Relaxed)).sum()
    }

    /// Requests whose response was computed and may be cached.
    pub fn misses(&self) -> u64 {
        self.parts.iter().map(|part| part.misses.load(Ordering::Relaxed)).sum()
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        let hasher = RandomState::default();
        let parts = PerThread::new(|parts| {
            let options = OptionsBuilder::new()
                .shards(1)
                .estimated_items_capacity(EXPECTED_RESPONSES / parts)
                .weight_capacity((CAPACITY / parts) as u64)
                .build();
            let options = options.expect("all capacities are set");
            let responses = Cache::with_options(options, ByBytes, hasher.clone(), Default::default());
            Part { responses, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
        });
        Self { parts, recent: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(), hasher }
    }
}
