//! The response cache, bounded by its size in bytes.
//!
//! A release never changes, nor does the response of the API or of a page to a given path and query, so the same bytes
//! serve every caller. A response is cached when it is computed for the second time: most requests of a program that
//! walks through the data are never repeated, and would evict those that are.
//!
//! Each runtime thread has its own shard. Shared usage counters would move between processors with every request, which
//! takes longer than the rest of a look-up. A response found in another thread's shard is then kept in both. So a
//! response is computed at most twice, whichever threads its requests run on.

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
use platform::metrics::{Counter, PerThread};

/// Expected number of cached responses; a typical list takes about ten thousand bytes.
const EXPECTED_RESPONSES: usize = 8_192;
const MAX_BODY: usize = 256 * 1024;
/// Number of recent requests remembered, so that the second identical one is cached.
const REMEMBERED: usize = 8_192;
/// Estimated memory per cached response beyond its body, path and query, in bytes.
const OVERHEAD: usize = 2_048;

/// A response without its per-caller headers.
pub struct CachedResponse {
    /// Uncompressed.
    pub body: Bytes,
    /// Headers that are the same for every caller.
    pub headers: HeaderMap,
    pub route: RouteLabel,
    pub(crate) gzipped: OnceLock<Option<Bytes>>,
}

impl CachedResponse {
    pub fn new(body: Vec<u8>, headers: HeaderMap, route: RouteLabel) -> Self {
        Self { body: body.into(), headers, route, gzipped: OnceLock::new() }
    }

    /// The same in no more memory than it needs.
    fn compact(&self) -> Self {
        let (body, headers) = (Bytes::copy_from_slice(&self.body), self.headers.clone());
        Self { body, headers, route: self.route, gzipped: OnceLock::new() }
    }

    /// `None` if the response must not be cached.
    pub fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// The compressed body, created on first use; `None` if the body is too short.
    pub fn gzipped(&self) -> Option<Bytes> {
        let compress = || (self.body.len() >= MIN_COMPRESSED_SIZE).then(|| Bytes::from(gzip(&self.body)));
        self.gzipped.get_or_init(compress).clone()
    }

    /// Builds the response to a request: 304 if the client has it, compressed if the client accepts that.
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

/// Release, path and query of a request. Borrowed and owned texts hash alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyParts<S> {
    release: u128,
    variant: u8,
    path: S,
    query: S,
}

pub type CacheKey<'a> = KeyParts<&'a str>;
type OwnedCacheKey = KeyParts<Box<str>>;

impl<'a> CacheKey<'a> {
    /// Creates a key. `release` identifies the content of a release; `path` and `query` are as sent.
    pub fn new(release: u128, path: &'a str, query: &'a str) -> Self {
        Self { release, variant: 0, path, query }
    }

    /// Selects one of several responses to the same path and query.
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
        // Measured: comparing the bytes of an empty text takes longer than everything else here.
        let same_query = match self.query {
            "" => key.query.is_empty(),
            query => *query == *key.query,
        };
        self.release == key.release && self.variant == key.variant && same_query && *self.path == *key.path
    }
}

#[derive(Clone)]
struct ResponseWeighter;

impl Weighter<OwnedCacheKey, Arc<CachedResponse>> for ResponseWeighter {
    fn weight(&self, key: &OwnedCacheKey, response: &Arc<CachedResponse>) -> u64 {
        // The compressed body takes about a quarter more.
        (OVERHEAD + key.path.len() + key.query.len() + response.body.len() * 5 / 4) as u64
    }
}

struct CacheShard {
    responses: Cache<OwnedCacheKey, Arc<CachedResponse>, ResponseWeighter, RandomState>,
    hits: Counter,
    misses: Counter,
}

pub struct ResponseCache {
    shards: PerThread<CacheShard>,
    /// Hashes of recent requests, each in the slot given by its value.
    recent: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl ResponseCache {
    pub fn get(&self, key: CacheKey<'_>) -> Option<Arc<CachedResponse>> {
        let own = self.shards.own();
        if let Some(response) = own.responses.get(&key) {
            own.hits.add(1);
            return Some(response);
        }
        let response = self.shards.others().find_map(|shard| shard.responses.peek(&key))?;
        own.responses.insert(key.into(), Arc::clone(&response));
        own.hits.add(1);
        Some(response)
    }

    /// Caches a computed response if its request has been repeated.
    pub fn insert(&self, key: CacheKey<'_>, response: &Arc<CachedResponse>) {
        let own = self.shards.own();
        own.misses.add(1);
        if response.body.len() <= MAX_BODY && self.is_repeated(key) {
            own.responses.insert(key.into(), Arc::new(response.compact()));
        }
    }

    /// Remembers a request; true if it is among the recent ones.
    fn is_repeated(&self, key: CacheKey<'_>) -> bool {
        let hash = self.hasher.hash_one(key);
        self.recent[hash as usize % REMEMBERED].swap(hash, Ordering::Relaxed) == hash
    }

    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.responses.weight()).sum()
    }

    pub fn hits(&self) -> u64 {
        self.shards.iter().map(|shard| shard.hits.get()).sum()
    }

    pub fn misses(&self) -> u64 {
        self.shards.iter().map(|shard| shard.misses.get()).sum()
    }
}

impl ResponseCache {
    /// A cache of responses that take about so many bytes together.
    pub fn new(bytes: u64) -> Self {
        let hasher = RandomState::default();
        let shards = PerThread::new(|shards| {
            let options = OptionsBuilder::new()
                .shards(1)
                .estimated_items_capacity(EXPECTED_RESPONSES / shards)
                .weight_capacity(bytes / shards as u64)
                .build();
            let options = options.expect("all capacities are set");
            let responses = Cache::with_options(options, ResponseWeighter, hasher.clone(), Default::default());
            CacheShard { responses, hits: Counter::default(), misses: Counter::default() }
        });
        Self { shards, recent: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(), hasher }
    }
}
