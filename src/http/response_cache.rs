//! Answers that are kept, so that what was asked before is not made again.
//!
//! A release never changes, and neither does its answer to a path and query: the same bytes serve every caller. What is
//! kept is bounded by its size; an answer that nobody asks for again gives way to others.
//!
//! Each thread of the runtime keeps its own: to count together who reads what would send each count from one processor to
//! the other with every request, which takes longer than the rest of finding an answer.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use bytes::Bytes;
use foldhash::fast::RandomState;
use http::header::ETAG;
use http::{HeaderMap, HeaderValue};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, OptionsBuilder, Weighter};

use crate::catalog::Catalog;
use crate::http::negotiation::{COMPRESS_FROM, gzip};

/// Bytes of answers that are kept, about, by all threads together.
const CAPACITY: usize = 64 * 1024 * 1024;
/// Bytes that a thread keeps at least, however many there are.
const LEAST_CAPACITY: usize = 4 * 1024 * 1024;
/// Answers that are kept, about: a list of common length is some ten thousand bytes.
const ANSWERS: usize = 8_192;
/// Longer answers are made anew each time, bytes.
const LONGEST: usize = 256 * 1024;
/// What an answer takes besides its body, bytes.
const BESIDE: usize = 2_048;

/// An answer as it goes out, but for what differs between callers.
pub(crate) struct CachedResponse {
    /// The body as it is.
    pub body: Bytes,
    /// All headers that are the same for every caller.
    pub headers: HeaderMap,
    packed: OnceLock<Option<Bytes>>,
}

impl CachedResponse {
    pub fn new(mut body: Vec<u8>, headers: HeaderMap) -> Self {
        // It may stay for long.
        body.shrink_to_fit();
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
struct OwnedCacheKey {
    release: u128,
    path: Box<str>,
    query: Box<str>,
}

/// The same, borrowed; both hash alike, field by field.
#[derive(Clone, Copy, Hash)]
pub(crate) struct CacheKey<'a> {
    release: u128,
    path: &'a str,
    query: &'a str,
}

impl<'a> CacheKey<'a> {
    /// A path and query as they were written.
    pub fn of(catalog: &Catalog, path: &'a str, query: &'a str) -> Self {
        let version = catalog.version();
        let release = u128::from(catalog.snapshot().content()) << 64
            | u128::from(version.date.days().cast_unsigned()) << 32
            | u128::from(version.counter);
        Self { release, path, query }
    }
}

impl Equivalent<OwnedCacheKey> for CacheKey<'_> {
    fn equivalent(&self, asked: &OwnedCacheKey) -> bool {
        // Looking at the bytes of an empty text, which has no address, takes the processor longer than all the rest.
        let same_query = match self.query {
            "" => asked.query.is_empty(),
            query => *query == *asked.query,
        };
        self.release == asked.release && same_query && *self.path == *asked.path
    }
}

#[derive(Clone)]
struct Bulk;

impl Weighter<OwnedCacheKey, Arc<CachedResponse>> for Bulk {
    fn weight(&self, asked: &OwnedCacheKey, ready: &Arc<CachedResponse>) -> u64 {
        // Compressed it takes about a quarter more.
        (BESIDE + asked.path.len() + asked.query.len() + ready.body.len() * 5 / 4) as u64
    }
}

type Answers = Cache<OwnedCacheKey, Arc<CachedResponse>, Bulk, RandomState>;

/// Answers of all releases that are served.
pub struct ResponseCache {
    /// Each for one thread, or several where there are more.
    by_thread: Box<[Answers]>,
}

thread_local! {
    /// Threads are numbered as they come.
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

impl ResponseCache {
    fn of_this_thread(&self) -> Option<&Answers> {
        THREAD.with(|thread| self.by_thread.get(thread.checked_rem(self.by_thread.len())?))
    }

    pub(crate) fn get(&self, asking: CacheKey<'_>) -> Option<Arc<CachedResponse>> {
        self.of_this_thread()?.get(&asking)
    }

    pub(crate) fn keep(&self, asking: CacheKey<'_>, ready: &Arc<CachedResponse>) {
        if let Some(answers) = self.of_this_thread().filter(|_| ready.body.len() <= LONGEST) {
            let CacheKey { release, path, query } = asking;
            answers.insert(OwnedCacheKey { release, path: path.into(), query: query.into() }, Arc::clone(ready));
        }
    }

    /// Bytes of answers that are kept now, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.by_thread.iter().map(Cache::weight).sum()
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, NonZeroUsize::get);
        let capacity = (CAPACITY / threads).max(LEAST_CAPACITY) as u64;
        let answers = |_| {
            let options = OptionsBuilder::new()
                .shards(1)
                .estimated_items_capacity((ANSWERS / threads).max(ANSWERS / 16))
                .weight_capacity(capacity)
                .build();
            options.ok().map(|options| Cache::with_options(options, Bulk, RandomState::default(), Default::default()))
        };
        Self { by_thread: (0..threads).filter_map(answers).collect() }
    }
}
