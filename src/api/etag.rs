//! The weak `ETag` of a response, computed from program version, release, path and query, never from the key.
//!
//! It is known before a request is executed. All spellings of a query have the same `ETag`; a query that is not fully
//! understood counts as it is written.

use http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::Xxh3;

use crate::catalog::parse::is_ignored;
use crate::http::headers::if_none_match;

use crate::api::request::{Canonical, RequestUrl};

#[derive(Clone)]
pub(crate) struct ETag {
    pub value: HeaderValue,
    /// Whether the query was fully understood.
    is_canonical: bool,
}

impl ETag {
    /// The `ETag` of the response to a URL whose query has this canonical form.
    pub(crate) fn new(url: &RequestUrl<'_>, canonical: Option<&Canonical>) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&url.catalog.content().to_le_bytes());
        let snapshot = url.catalog.version();
        hash.update(&snapshot.date.days().to_le_bytes());
        hash.update(&snapshot.counter.to_le_bytes());
        for part in [env!("CARGO_PKG_VERSION"), url.version.number(), &url.path.to_ascii_lowercase()] {
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
        let value = HeaderValue::try_from(format!("W/\"{:032x}\"", hash.digest128())).expect("hexadecimal digits");
        Self { value, is_canonical: canonical.is_some() }
    }

    /// The `ETag` of a cached response.
    pub(crate) fn of_cached(value: HeaderValue) -> Self {
        Self { value, is_canonical: true }
    }

    /// Whether `If-None-Match` names this `ETag`: the client has the response. `*` matches any response to a query that
    /// was fully understood.
    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        let own = self.value.as_bytes().strip_prefix(b"W/").unwrap_or(self.value.as_bytes());
        if_none_match(headers).any(|known| if known == "*" { self.is_canonical } else { known.as_bytes() == own })
    }
}
