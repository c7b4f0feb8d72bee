//! The one query core: REST, MCP and pages ask it alike.
//!
//! A [`Catalog`] is one open release: its snapshot and the text indexes over its names. It never changes; a new release
//! is a new catalog.

pub mod bundled;
pub mod canonical;
pub mod co_investors;
pub mod facets;
pub mod history;
pub mod leaderboard;
pub mod list;
pub mod matching;
pub mod param_error;
pub mod param_schema;
pub mod params;
pub mod parse;
pub mod query;
pub mod reviews;
pub mod row_filter;
pub mod sort;
pub mod stats;
pub mod suggest;

pub use bundled::{BundledError, bundled};
pub use co_investors::{CoInvestor, CoInvestorPage};
pub use facets::{FacetCounts, ValueCount};
pub use history::History;
pub use leaderboard::{LeaderboardPage, LeaderboardQuery, RankedRow};
pub use matching::{FirmMatch, MatchPage, MatchQuery};
pub use param_error::ParameterError;
pub use params::Resource;
pub use parse::{ParseOptions, ParsedRequest, Request};
pub use query::{Filter, ListPosition, Order, Page, Query};
pub use row_filter::RowFilter;
pub use stats::Totals;

use std::collections::HashMap;
use std::sync::RwLock;

use once_cell::sync::OnceCell;

use crate::data::fold::fold;
use crate::data::{Snapshot, SnapshotVersion, Table};
use crate::search::{SearchError, SearchResults, TextIndex};

/// Counts, and sums, that are remembered before the memory is cleared.
const REMEMBERED: usize = 4_096;

/// The text indexes over the tables that have names.
pub struct Texts {
    /// Over the firms.
    pub firms: TextIndex,
    /// Over the startups.
    pub startups: TextIndex,
    /// Over the people.
    pub people: TextIndex,
    /// Over the sectors.
    pub sectors: TextIndex,
}

impl Texts {
    /// The tables that have names, in the order of a release's `text/` folders.
    pub const TABLES: [Table; 4] = [Table::Firms, Table::Startups, Table::People, Table::Sectors];

    /// Builds the indexes in memory, as the bundled snapshot needs them.
    ///
    /// # Errors
    /// What the text index says.
    pub fn in_memory(snapshot: &Snapshot) -> Result<Self, SearchError> {
        Ok(Self {
            firms: TextIndex::in_memory(&snapshot.names(Table::Firms))?,
            startups: TextIndex::in_memory(&snapshot.names(Table::Startups))?,
            people: TextIndex::in_memory(&snapshot.names(Table::People))?,
            sectors: TextIndex::in_memory(&snapshot.names(Table::Sectors))?,
        })
    }

    /// The index over a table's names; `None` for rounds and reviews, which have none.
    #[must_use]
    pub fn of(&self, table: Table) -> Option<&TextIndex> {
        match table {
            Table::Firms => Some(&self.firms),
            Table::Startups => Some(&self.startups),
            Table::People => Some(&self.people),
            Table::Sectors => Some(&self.sectors),
            Table::Rounds | Table::Reviews => None,
        }
    }
}

/// One open release.
pub struct Catalog {
    snapshot: Snapshot,
    texts: Texts,
    counts: RwLock<HashMap<(Table, Vec<Filter>), u64>>,
    sums: RwLock<HashMap<Vec<Filter>, Option<u64>>>,
    totals: OnceCell<Totals>,
}

impl Catalog {
    /// A catalog over a snapshot and the indexes of its names.
    #[must_use]
    pub fn new(snapshot: Snapshot, texts: Texts) -> Self {
        Self { snapshot, texts, counts: RwLock::default(), sums: RwLock::default(), totals: OnceCell::new() }
    }

    /// The release's id.
    #[must_use]
    pub fn version(&self) -> SnapshotVersion {
        self.snapshot.version()
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The row with this slug, in any letter case.
    #[must_use]
    pub fn find(&self, table: Table, slug: &str) -> Option<u32> {
        self.snapshot.find(table, slug).or_else(|| self.snapshot.find(table, &slug.to_ascii_lowercase()))
    }

    /// The row whose name is `name` but for letter case, diacritics and punctuation, where exactly one is.
    #[must_use]
    pub fn named(&self, table: Table, name: &str) -> Option<u32> {
        let folded = fold(name);
        let found = self.search(table, name, &|_| true);
        let named = |row: u32| {
            if folded.is_empty() {
                self.snapshot.name(table, row) == name
            } else {
                fold(self.snapshot.name(table, row)) == folded
            }
        };
        let mut namesakes = found.hits.iter().map(|hit| hit.row).filter(|row| named(*row));
        namesakes.next().filter(|_| namesakes.next().is_none())
    }

    /// All rows whose names match `text` and that `passes`, best first.
    #[must_use]
    pub fn search(&self, table: Table, text: &str, passes: &dyn Fn(u32) -> bool) -> SearchResults {
        match self.texts.of(table) {
            Some(index) => index.search(&self.snapshot.names(table), text, passes),
            None => SearchResults::default(),
        }
    }

    /// The names over all tables that `text`, being typed, may become: table, row and score, the best first.
    #[must_use]
    pub fn suggest(&self, text: &str, limit: usize) -> Vec<(Table, u32, f32)> {
        let mut suggested = Vec::new();
        for table in Texts::TABLES {
            let Some(index) = self.texts.of(table) else { continue };
            let results = index.search(&self.snapshot.names(table), text, &|_| true);
            suggested.extend(results.hits.iter().take(limit).map(|hit| (table, hit.row, hit.score)));
        }
        // Sorting keeps equal ones in the order of tables, and within a table in that of the search.
        suggested.sort_by(|a, b| b.2.total_cmp(&a.2));
        suggested.truncate(limit);
        suggested
    }

    /// The text index over a table's names.
    #[must_use]
    pub fn text_index(&self, table: Table) -> Option<&TextIndex> {
        self.texts.of(table)
    }

    /// How many rows fulfil `clauses`; remembered for the life of the release.
    fn count(&self, table: Table, clauses: &[Filter], selection: &RowFilter<'_>) -> u64 {
        if selection.is_everything() {
            return u64::from(self.snapshot.rows(table));
        }
        let key = (table, clauses.to_vec());
        // A poisoned lock means that a thread died while it held it; the counts are still only counts.
        let known = self.counts.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(&key).copied();
        if let Some(count) = known {
            return count;
        }
        let count = selection.count();
        let mut counts = self.counts.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if counts.len() >= REMEMBERED {
            counts.clear();
        }
        counts.insert(key, count);
        count
    }
}
