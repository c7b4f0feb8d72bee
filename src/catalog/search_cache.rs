//! Cached rows that match a search text: its pages, filters, orders, groups and explanations share one search.

use std::collections::HashSet;
use std::mem::size_of;
use std::sync::Arc;

use foldhash::fast::RandomState;
use once_cell::sync::OnceCell;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, OptionsBuilder, Weighter};

use crate::Catalog;
use data::Table;
use search::{Hit, MatchClass, SearchResults};

/// Expected number of cached texts; most have few matches.
const EXPECTED: usize = 16_384;
/// Number of rows above which filtering and sorting takes long.
const FEW: usize = 4_096;
/// Number of best matches that decide whether any name has the words as they are written.
const MAX_CLASSIFIED: usize = 5;

pub struct TextMatches {
    /// Rows of the search, best first, then the remaining matches in the default order.
    pub rows: Vec<u32>,
    pub found: SearchResults,
    /// Best class of the first rows, computed when a list needs it.
    best: OnceCell<Option<MatchClass>>,
}

impl TextMatches {
    /// True if no name has all of the words.
    pub(crate) fn is_partial(&self) -> bool {
        self.rows.is_empty() || !self.found.left_out.is_empty()
    }
}

#[derive(PartialEq, Eq, Hash)]
struct OwnedKey(Table, Box<str>);

/// The borrowed form of the key, with the same hash.
#[derive(Hash)]
struct BorrowedSearchKey<'a>(Table, &'a str);

impl Equivalent<OwnedKey> for BorrowedSearchKey<'_> {
    fn equivalent(&self, key: &OwnedKey) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

#[derive(Clone)]
struct MatchesWeighter;

impl Weighter<OwnedKey, Arc<TextMatches>> for MatchesWeighter {
    fn weight(&self, key: &OwnedKey, matches: &Arc<TextMatches>) -> u64 {
        let SearchResults { hits, did_you_mean, left_out, .. } = &matches.found;
        let lists = size_of::<Hit>() * hits.len() + size_of::<u32>() * (matches.rows.len() + did_you_mean.len());
        // Each text is a part of the query, which has few words.
        let texts = key.1.len() * (1 + left_out.len());
        (size_of::<OwnedKey>() + size_of::<TextMatches>() + lists + texts) as u64
    }
}

pub(super) struct SearchCache(Cache<OwnedKey, Arc<TextMatches>, MatchesWeighter, RandomState>);

impl SearchCache {
    /// A cache of matches that take about so many bytes together.
    pub(super) fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new().shards(1).estimated_items_capacity(EXPECTED).weight_capacity(bytes).build();
        let options = options.expect("all capacities are set");
        Self(Cache::with_options(options, MatchesWeighter, RandomState::default(), Default::default()))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.weight()
    }
}

impl Catalog {
    pub fn all_matches(&self, table: Table, text: &str) -> Arc<TextMatches> {
        if let Some(known) = self.cached.searches.0.get(&BorrowedSearchKey(table, text)) {
            return known;
        }
        let matches = Arc::new(self.find_all_matches(table, text));
        self.cached.searches.0.insert(OwnedKey(table, text.into()), Arc::clone(&matches));
        matches
    }

    /// True if the names with all words of `text` are cached and few, so that a page of them takes negligible time.
    pub fn has_names(&self, table: Table, text: &str) -> bool {
        let known = self.cached.searches.0.peek(&BorrowedSearchKey(table, text));
        known.is_some_and(|known| known.rows.len() <= FEW && !known.is_partial())
    }

    pub(super) fn find_all_matches(&self, table: Table, text: &str) -> TextMatches {
        let found = self.search(table, text);
        let mut rows: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        if let Some((index, text)) = self.texts.of(table).zip(found.further.as_deref()) {
            let ranked: HashSet<u32> = rows.iter().copied().collect();
            rows.extend(index.rows_with_words(text).into_iter().filter(|row| !ranked.contains(row)));
        }
        TextMatches { rows, found, best: OnceCell::new() }
    }

    /// Best class of the first ones of some rows that match; `None` without any.
    pub(crate) fn best_class(
        &self,
        table: Table,
        text: &str,
        matches: &TextMatches,
        rows: &[u32],
    ) -> Option<MatchClass> {
        let classify = || self.match_classes(table, text, &rows[..rows.len().min(MAX_CLASSIFIED)]).into_iter().min();
        // Filters leave a part.
        if rows.len() < matches.rows.len() { classify() } else { *matches.best.get_or_init(classify) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled;
    use platform::memory::ReleaseCaches;

    #[test]
    fn caches_of_searches_and_results_stay_within_their_bytes() {
        let caches = ReleaseCaches { searches: 20_000, results: 0, ..ReleaseCaches::default() };
        let catalog = bundled().unwrap().with_caches(caches);
        for number in 0..300 {
            catalog.all_matches(Table::Startups, &format!("alder {number}"));
            assert!(catalog.search_bytes() <= caches.searches, "{number}: {}", catalog.search_bytes());
            catalog.cached.pictures.get_or_insert_with((Table::Firms, number), || Arc::new([]));
            assert_eq!(catalog.cached.pictures.len(), 1, "a cache holds one value at least");
        }
        assert!(catalog.search_bytes() > 0);
        let large = bundled().unwrap().with_caches(ReleaseCaches::default());
        (0..300).for_each(|number| drop(large.all_matches(Table::Startups, &format!("alder {number}"))));
        assert!(large.search_bytes() > caches.searches);
    }
}
