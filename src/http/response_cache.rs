//! The response cache.
//!
//! A release never changes, and neither does its response to a path and query: the same bytes serve every caller. The cache
//! is bounded by its size in bytes. A response is cached when it is computed for the second time: most requests of a program
//! that walks through the data are never repeated, and would evict those that are.
//!
//! Each thread of the runtime has its own part: shared counters of use would move between processors with every request,
//! which takes longer than the rest of a lookup. What another thread cached is found in its part and then kept in both, so
//! that a response is computed twice at most wherever its requests run.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use bytes::Bytes;
use foldhash::fast::RandomState;
use http::header::ETAG;
use http::{HeaderMap, HeaderValue};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, OptionsBuilder, Weighter};

use crate::catalog::Catalog;
use crate::http::negotiation::{MIN_COMPRESSED_SIZE, gzip};

/// Bytes of all cached responses, approximately.
const CAPACITY: usize = 64 * 1024 * 1024;
/// Expected number of cached responses: a typical list has some ten thousand bytes.
const EXPECTED_RESPONSES: usize = 8_192;
/// Longer responses are not cached, bytes.
const MAX_BODY: usize = 256 * 1024;
/// Parts at most; further threads share them.
const MAX_PARTS: usize = 16;
/// Recent requests that are remembered, so that the second of the same is cached.
const REMEMBERED: usize = 8_192;
/// Memory of a cached response apart from its body, path and query, bytes.
const OVERHEAD: usize = 2_048;

/// A response without the headers that differ between callers.
pub(crate) struct CachedResponse {
    /// Not compressed.
    pub body: Bytes,
    /// The headers that are the same for every caller.
    pub headers: HeaderMap,
    gzipped: OnceLock<Option<Bytes>>,
}

impl CachedResponse {
    pub(crate) fn new(mut body: Vec<u8>, headers: HeaderMap) -> Self {
        body.shrink_to_fit();
        Self { body: body.into(), headers, gzipped: OnceLock::new() }
    }

    /// `None` if the response must not be cached.
    pub(crate) fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// The compressed body, made at the first call; `None` if the body is too short.
    pub(crate) fn gzipped(&self) -> Option<Bytes> {
        let compress = || (self.body.len() >= MIN_COMPRESSED_SIZE).then(|| Bytes::from(gzip(&self.body)));
        self.gzipped.get_or_init(compress).clone()
    }
}

/// A path and query with the release that they were sent to.
#[derive(PartialEq, Eq, Hash)]
struct OwnedCacheKey {
    release: u128,
    path: Box<str>,
    query: Box<str>,
}

/// The same, borrowed; both have the same hash, field by field.
#[derive(Clone, Copy, Hash)]
pub(crate) struct CacheKey<'a> {
    release: u128,
    path: &'a str,
    query: &'a str,
}

impl<'a> CacheKey<'a> {
    /// `path` and `query` as sent.
    pub(crate) fn of(catalog: &Catalog, path: &'a str, query: &'a str) -> Self {
        let version = catalog.version();
        let release = u128::from(catalog.content()) << 64
            | u128::from(version.date.days().cast_unsigned()) << 32
            | u128::from(version.counter);
        Self { release, path, query }
    }
}

impl From<CacheKey<'_>> for OwnedCacheKey {
    fn from(CacheKey { release, path, query }: CacheKey<'_>) -> Self {
        Self { release, path: path.into(), query: query.into() }
    }
}

impl Equivalent<OwnedCacheKey> for CacheKey<'_> {
    fn equivalent(&self, key: &OwnedCacheKey) -> bool {
        // Measured: comparing the bytes of an empty text takes longer than all the rest.
        let same_query = match self.query {
            "" => key.query.is_empty(),
            query => *query == *key.query,
        };
        self.release == key.release && same_query && *self.path == *key.path
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
type Part = Cache<OwnedCacheKey, Arc<CachedResponse>, ByBytes, RandomState>;

/// Cached responses of all loaded releases.
pub struct ResponseCache {
    parts: Box<[Part]>,
    /// Hashes of recent requests, each at the place that it names.
    recent: Box<[AtomicU64]>,
    hasher: RandomState,
}

thread_local! {
    /// The number of this thread, in order of first use.
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

impl ResponseCache {
    fn part_of_this_thread(&self) -> usize {
        THREAD.with(|thread| thread % self.parts.len())
    }

    pub(crate) fn get(&self, key: CacheKey<'_>) -> Option<Arc<CachedResponse>> {
        let own = self.part_of_this_thread();
        if let Some(response) = self.parts[own].get(&key) {
            return Some(response);
        }
        let mut others = self.parts.iter().enumerate().filter(|(part, _)| *part != own);
        let response = others.find_map(|(_, part)| part.peek(&key))?;
        self.parts[own].insert(key.into(), Arc::clone(&response));
        Some(response)
    }

    /// Caches a computed response if its request is repeated.
    pub(crate) fn insert(&self, key: CacheKey<'_>, response: &Arc<CachedResponse>) {
        if response.body.len() <= MAX_BODY && self.is_repeated(key) {
            self.parts[self.part_of_this_thread()].insert(key.into(), Arc::clone(response));
        }
    }

    /// Remembers a request; true if it is among the recent ones.
    fn is_repeated(&self, key: CacheKey<'_>) -> bool {
        let hash = self.hasher.hash_one(key);
        self.recent[hash as usize % REMEMBERED].swap(hash, Ordering::Relaxed) == hash
    }

    /// Bytes of all cached responses, approximately.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Part::weight).sum()
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        let parts = available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_PARTS);
        let hasher = RandomState::default();
        let part = |_| {
            let options = OptionsBuilder::new()
                .shards(1)
                .estimated_items_capacity(EXPECTED_RESPONSES / parts)
                .weight_capacity((CAPACITY / parts) as u64)
                .build();
            let options = options.expect("all capacities are set");
            Cache::with_options(options, ByBytes, hasher.clone(), Default::default())
        };
        let parts = (0..parts).map(part).collect();
        Self { parts, recent: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(), hasher }
    }
}
