//! The query core of REST, MCP and pages: parameters, filters, orders, cursors, records as JSON. A [`Catalog`] is one
//! open release: its snapshot and the text indexes of its names. It is immutable; a new release is a new catalog.
#![warn(unreachable_pub)]

mod address;
pub mod aggregate;
mod amount_notes;
mod amounts;
mod answer;
pub mod ask;
mod bulk_file;
mod bundled;
pub mod changes;
mod city_names;
mod co_investors;
pub mod comparison;
mod completion;
pub mod coverage;
pub mod cursor;
mod facets;
pub mod flat;
mod groups;
mod history;
pub mod json;
mod leaderboard;
mod list;
pub mod look_up;
pub mod matching;
mod namesakes;
mod near_names;
pub mod param_error;
pub mod params;
pub mod parse;
pub mod provenance;
mod query;
mod ranked;
mod reading;
pub mod record_history;
pub mod relaxation;
mod reviews;
mod roles;
pub mod round_years;
mod row_filter;
mod search_cache;
mod sector_names;
pub mod similar;
pub mod snippet;
mod sort;
mod staff;
mod stats;
mod suggest;

pub use aggregate::{Aggregate, AggregateOptions};
pub use amounts::Amounts;
pub use answer::{ComputedRows, ListAnswer, ListParts, ListRows, WantedPage};
pub use ask::{Interpretation, ReadPart};
pub use bulk_file::BulkFile;
pub use bundled::{BundledError, bundled, bundled_released_on};
pub use changes::{ChangeCounts, ChangeFilter, ChangePage, RowChange, row_changes};
pub use comparison::{RecordChange, ReleaseComparison};
pub use completion::Suggestion;
pub use coverage::Coverage;
pub use cursor::{Cursor, CursorFault};
pub use facets::ValueCount;
pub use groups::MatchedRows;
pub use history::{History, StageCounts};
pub use leaderboard::{LeaderboardQuery, RankChange, RankedRow};
pub use look_up::{Item, ItemTexts, LookUpAnswer, LookedUp};
pub use matching::{FirmMatch, MatchPage, MatchQuery, ReasonPoints};
pub use namesakes::NameMatch;
pub use param_error::{Issue, Issues, ParameterError};
pub use params::Resource;
pub use parse::{ParseOptions, ParsedRequest, Request};
pub use query::{Filter, ListPosition, Order, Page, Property, Query, Ranking};
pub use ranked::Ranked;
pub use reading::{ReadingKind, SearchReading};
pub use record_history::{RecordHistory, record_history};
pub use relaxation::{Relaxable, Relaxation};
pub use roles::RelatedRoles;
pub use row_filter::RowFilter;
pub use similar::Similar;
pub use stats::Totals;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use once_cell::sync::OnceCell;

use crate::address::SearchAddress;
use crate::ask::association::DescribedSectors;
use crate::ask::lexicon::Lexicon;
use crate::changes::AllChanges;
use crate::matching::counts::FirmCounts;
use crate::param_error::shortened;
use crate::row_filter::ordered_bits::OrderedBits;
use crate::search_cache::SearchCache;
use crate::sector_names::SectorNames;
use data::coverage::RoundCoverage;
use data::fold::{fold, fold_into};
use data::{Direction, Facet, PartialDate, Snapshot, SnapshotVersion, Table};
use platform::memory::ReleaseCaches;
use search::{Explanation, FoldedCandidates, MatchClass, SearchError, SearchResults, TextIndex, texts};

/// Bytes of a cached number with its filters, with room for long lists of values.
const NUMBER_BYTES: u64 = 1 << 10;
/// Bytes of cached notes on coverage.
const NOTES_BYTES: u64 = 4 << 10;
/// Bytes of a large ranking or aggregate.
const RANKING_BYTES: u64 = 200 << 10;
/// Bytes of the counts of investments for each firm that has any.
const INVESTMENTS_BYTES: u64 = 12;
/// Bytes of a picture of a record.
const PICTURE_BYTES: u64 = 20 << 10;
/// Bytes of a row that differs from another release.
const CHANGE_BYTES: u64 = 16;

/// Values of a facet of [`Facet::LISTED`], with their texts.
type FrequentTerms = (Vec<u32>, FoldedCandidates);

/// The text indexes of [`Self::TABLES`].
pub struct TextIndexes(pub [TextIndex; 4]);

impl TextIndexes {
    /// The tables that have names, in the order of a release's `text/` folders.
    pub const TABLES: [Table; 4] = [Table::Firms, Table::Startups, Table::People, Table::Sectors];

    /// Builds the indexes in memory, for the bundled snapshot.
    pub fn in_memory(snapshot: &Snapshot) -> Result<Self, SearchError> {
        let index = |table: Table| TextIndex::in_memory(&snapshot.names(table));
        let [firms, startups, people, sectors] = Self::TABLES.map(index);
        Ok(Self([firms?, startups?, people?, sectors?]))
    }

    /// `None` for rounds and reviews, which have no names.
    pub(crate) fn of(&self, table: Table) -> Option<&TextIndex> {
        Self::TABLES.iter().zip(&self.0).find(|(known, _)| **known == table).map(|(_, index)| index)
    }
}

pub struct Catalog {
    snapshot: Snapshot,
    is_bundled: bool,
    texts: TextIndexes,
    /// Files of the release that are offered as downloads, by name.
    bulk_files: Vec<Arc<BulkFile>>,
    /// `None` if the release was not compared with an earlier one.
    record_history: Option<RecordHistory>,
    cached: Cached,
}

/// A request in canonical names and values.
type CanonicalValues = Vec<(&'static str, String)>;

/// Values that are computed when first needed. Those of requests are bounded by [`ReleaseCaches`], the others by the release.
struct Cached {
    counts: Cache<(Table, Vec<Filter>), u64>,
    amounts: Cache<Vec<Filter>, Amounts>,
    /// Notes on coverage, by the conditions and the order of a list.
    notes: Cache<(Resource, CanonicalValues), Arc<[ParameterError]>>,
    /// Bits of the first rows in the order of a sort key, an index in [`Table::sort_keys`].
    ordered_bits: Cache<(Table, usize), Arc<OrderedBits>>,
    searches: SearchCache,
    rankings: Cache<(Table, Ranking), Arc<Ranked>>,
    aggregates: Cache<(Query, AggregateOptions), Arc<Aggregate>>,
    investments: Cache<Vec<Filter>, Arc<FirmCounts>>,
    /// Rows that differ from earlier releases, keyed by version and content.
    changes: Cache<(SnapshotVersion, u64), Arc<AllChanges>>,
    pictures: Cache<(Table, u32), Arc<[u8]>>,
    totals: OnceCell<Totals>,
    round_coverage: OnceCell<RoundCoverage>,
    /// Of startups by founding year.
    founding_coverage: OnceCell<RoundCoverage>,
    /// Date up to which investors are known.
    investors_until: OnceCell<Option<PartialDate>>,
    /// The rounds of suspect amounts, with these, the largest first.
    suspect_rounds: OnceCell<Vec<(u64, u32)>>,
    /// Groups of rounds that are equal in startup, date, stage and amount.
    equal_rounds: OnceCell<Vec<Vec<u32>>>,
    /// Firms that joined a round of a year, ascending.
    active_firms: OnceCell<BTreeMap<i32, Vec<u32>>>,
    /// Slugs of sectors, to compare mistyped ones with.
    sectors: OnceCell<FoldedCandidates>,
    sector_names: OnceCell<SectorNames>,
    described_sectors: OnceCell<DescribedSectors>,
    /// How much a common sector of two records tells, by table and sector.
    sector_weights: [OnceCell<Vec<f32>>; Table::ALL.len()],
    lexicon: OnceCell<Lexicon>,
    /// The startups and the firms with known people.
    with_people: OnceCell<[Vec<u32>; 2]>,
    /// By table and facet of [`Facet::LISTED`]: the values, most frequent first, to compare mistyped ones with.
    terms: [[OnceCell<FrequentTerms>; Facet::LISTED.len()]; Table::ALL.len()],
    /// The most frequent one of these, as an example.
    example_terms: [[OnceCell<String>; Facet::LISTED.len()]; Table::ALL.len()],
}

impl Cached {
    fn new(snapshot: &Snapshot, caches: ReleaseCaches) -> Self {
        let ReleaseCaches { searches, results, .. } = caches;
        let sixteenths = |number: u64| results / 16 * number;
        let rows = |table| u64::from(snapshot.rows(table));
        let all_rows: u64 = Table::ALL.into_iter().map(rows).sum();
        let most_rows = Table::ALL.into_iter().map(rows).max().unwrap_or(0);
        Self {
            counts: Cache::new(sixteenths(1), NUMBER_BYTES),
            amounts: Cache::new(sixteenths(1), NUMBER_BYTES),
            notes: Cache::new(sixteenths(2), NOTES_BYTES),
            ordered_bits: Cache::new(sixteenths(4), OrderedBits::bytes(most_rows)),
            searches: SearchCache::new(searches),
            rankings: Cache::new(sixteenths(2), RANKING_BYTES),
            aggregates: Cache::new(sixteenths(2), RANKING_BYTES),
            investments: Cache::new(sixteenths(2), INVESTMENTS_BYTES * rows(Table::Firms)),
            changes: Cache::new(sixteenths(1), CHANGE_BYTES * all_rows / 16),
            pictures: Cache::new(sixteenths(1), PICTURE_BYTES),
            totals: OnceCell::default(),
            round_coverage: OnceCell::default(),
            founding_coverage: OnceCell::default(),
            investors_until: OnceCell::default(),
            suspect_rounds: OnceCell::default(),
            equal_rounds: OnceCell::default(),
            active_firms: OnceCell::default(),
            sectors: OnceCell::default(),
            sector_names: OnceCell::default(),
            described_sectors: OnceCell::default(),
            sector_weights: Default::default(),
            lexicon: OnceCell::default(),
            with_people: OnceCell::default(),
            terms: Default::default(),
            example_terms: Default::default(),
        }
    }
}

impl Catalog {
    pub fn new(snapshot: Snapshot, texts: TextIndexes) -> Self {
        let (bulk_files, record_history) = (Vec::new(), None);
        let cached = Cached::new(&snapshot, ReleaseCaches::default());
        Self { snapshot, is_bundled: false, texts, bulk_files, record_history, cached }
    }

    /// Bounds the caches, which are empty then.
    #[must_use]
    pub fn with_caches(self, caches: ReleaseCaches) -> Self {
        Self { cached: Cached::new(&self.snapshot, caches), ..self }
    }

    /// Number of bytes of cached searches.
    pub fn search_bytes(&self) -> u64 {
        self.cached.searches.bytes()
    }

    #[must_use]
    pub fn with_bulk_files(self, mut bulk_files: Vec<BulkFile>) -> Self {
        bulk_files.sort_by(|a, b| a.name.cmp(&b.name));
        Self { bulk_files: bulk_files.into_iter().map(Arc::new).collect(), ..self }
    }

    /// Adds the releases in which the records appeared and changed.
    #[must_use]
    pub fn with_record_history(self, record_history: Option<RecordHistory>) -> Self {
        Self { record_history, ..self }
    }

    pub fn bulk_files(&self) -> &[Arc<BulkFile>] {
        &self.bulk_files
    }

    pub fn version(&self) -> SnapshotVersion {
        self.snapshot.version()
    }

    pub fn is_bundled(&self) -> bool {
        self.is_bundled
    }

    /// Identifies, together with the version, the data that responses are computed from.
    pub fn content(&self) -> u64 {
        // A release may have the same rows as the bundled snapshot, but responses state which one is served.
        let history = self.record_history.as_ref().map_or(0, RecordHistory::content);
        self.snapshot.content() ^ history ^ u64::from(self.is_bundled)
    }

    /// Identifies the release and the data that responses are computed from; key of cached responses.
    pub fn identity(&self) -> u128 {
        let version = self.version();
        u128::from(self.content()) << 64
            | u128::from(version.date.days().cast_unsigned()) << 32
            | u128::from(version.counter)
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// In any letter case. The slug of a merged record leads to the record it was merged into.
    pub fn find(&self, table: Table, slug: &str) -> Option<u32> {
        let own = self.snapshot.find(table, slug).or_else(|| self.snapshot.find(table, &lower_case(slug)?));
        own.or_else(|| self.merged_into(table, slug))
    }

    /// Current slug of a row that was found by the slug of a merged record.
    pub fn moved_to(&self, table: Table, row: u32, slug: &str) -> Option<&str> {
        let own = self.snapshot.slug(table, row);
        // Nearly every request uses the record's own slug.
        let is_moved = !own.eq_ignore_ascii_case(slug) && self.merged_into(table, slug) == Some(row);
        is_moved.then_some(own)
    }

    pub fn moved_note(&self, table: Table, row: u32, slug: &str) -> Option<String> {
        let target = self.moved_to(table, row, slug)?;
        Some(format!("`{}` was merged into `{target}`; use this slug", shortened(slug)))
    }

    /// A sentence about a record that is no longer in the data, with its last name.
    pub fn gone(&self, table: Table, slug: &str) -> Option<String> {
        let name = self.snapshot.gone(table, slug).or_else(|| self.snapshot.gone(table, &lower_case(slug)?))?;
        let name = if name.is_empty() { String::new() } else { format!(", {name},") };
        let (noun, slug) = (table.noun(), shortened(slug));
        Some(format!("the {noun} `{slug}`{name} is no longer in the data; its slug is not given to another record"))
    }

    fn merged_into(&self, table: Table, slug: &str) -> Option<u32> {
        self.snapshot.merged_into(table, slug).or_else(|| self.snapshot.merged_into(table, &lower_case(slug)?))
    }

    /// The rows with this name but for case, diacritics and punctuation; one without letters and digits literally.
    pub fn rows_named(&self, table: Table, name: &str) -> Vec<u32> {
        let folded = fold(name);
        let name_of = |row: u32| self.snapshot.name(table, row);
        let rows = self.names_from(table, &folded).iter().copied().take_while(|row| fold(name_of(*row)) == folded);
        rows.filter(|row| !folded.is_empty() || name_of(*row) == name).collect()
    }

    /// True if a name of a table begins with a folded text.
    pub(crate) fn begins_name(&self, table: Table, folded: &str) -> bool {
        let first = self.names_from(table, folded).first();
        first.is_some_and(|row| fold(self.snapshot.name(table, *row)).starts_with(folded))
    }

    /// The rows of a table in the order by name, from the first folded name not less than a text.
    pub(crate) fn names_from(&self, table: Table, folded: &str) -> &[u32] {
        let Some(key) = table.sort_keys().iter().position(|key| *key == "name") else { return &[] };
        let order = self.snapshot.order(table, key, Direction::Ascending);
        let mut name = String::new();
        let start = order.partition_point(|row| {
            fold_into(self.snapshot.name(table, *row), &mut name);
            name.as_str() < folded
        });
        &order[start..]
    }

    /// True if a row has this name or alias, compared as in [`Catalog::rows_named`].
    pub fn is_named(&self, table: Table, row: u32, name: &str) -> bool {
        let folded = fold(name);
        texts(&self.snapshot.names(table), row).any(|text| fold(text) == folded && (!folded.is_empty() || text == name))
    }

    /// The best rows by name, or by website if the text is an address; [`Catalog::all_matches`] has the others.
    pub fn search(&self, table: Table, text: &str) -> SearchResults {
        match self.address(table, text) {
            Some(address) => self.search_address(table, &address),
            None => self.search_names(table, text),
        }
    }

    /// Explains the score of a row for a search text, even if the row is not a match; `None` if the table has no names.
    pub fn explain(&self, table: Table, text: &str, row: u32) -> Option<Explanation> {
        match self.address(table, text) {
            Some(address) => self.explain_address(table, &address, row),
            None => self.explain_name(table, text, row),
        }
    }

    /// Parses a search text as an address, unless it is the name of a record, such as `Booking.com`.
    fn address(&self, table: Table, text: &str) -> Option<SearchAddress> {
        SearchAddress::parse(text).filter(|_| self.rows_named(table, text).is_empty())
    }

    fn search_names(&self, table: Table, text: &str) -> SearchResults {
        let Some(index) = self.texts.of(table) else { return SearchResults::default() };
        let mut found = index.search(&self.snapshot.names(table), text);
        if table == Table::People && found.hits.is_empty() {
            found.hits = self.staff(text);
            found.is_loose = !found.hits.is_empty();
        }
        found
    }

    pub fn match_classes(&self, table: Table, text: &str, rows: &[u32]) -> Vec<MatchClass> {
        match self.address(table, text) {
            Some(address) => self.classes_of_address(table, &address, rows),
            None => self.match_classes_of_name(table, text, rows),
        }
    }

    fn match_classes_of_name(&self, table: Table, text: &str, rows: &[u32]) -> Vec<MatchClass> {
        let index = self.texts.of(table);
        index.map(|index| index.match_classes(&self.snapshot.names(table), text, rows)).unwrap_or_default()
    }

    fn explain_name(&self, table: Table, text: &str, row: u32) -> Option<Explanation> {
        let explanation = self.texts.of(table)?.explain(&self.snapshot.names(table), text, row);
        let is_staff = || table == Table::People && self.all_matches(table, text).rows.contains(&row);
        Some(if !explanation.matches && is_staff() { self.explain_staff(row) } else { explanation })
    }

    pub fn text_index(&self, table: Table) -> Option<&TextIndex> {
        self.texts.of(table)
    }

    pub fn picture<E>(
        &self,
        table: Table,
        row: u32,
        draw: impl FnOnce() -> Result<Arc<[u8]>, E>,
    ) -> Result<Arc<[u8]>, E> {
        self.cached.pictures.get_or_try_insert_with((table, row), draw)
    }

    /// Number of rows that match all filters; cached for the life of the release.
    fn count(&self, table: Table, filters: &[Filter], row_filter: &RowFilter<'_>) -> u64 {
        if row_filter.is_everything() {
            return u64::from(self.snapshot.rows(table));
        }
        self.cached.counts.get_or_insert_with((table, filters.to_vec()), || row_filter.count())
    }
}

fn lower_case(slug: &str) -> Option<String> {
    slug.bytes().any(|byte| byte.is_ascii_uppercase()).then(|| slug.to_ascii_lowercase())
}

/// Cache of computed values; cleared when full.
struct Cache<K, V> {
    values: RwLock<HashMap<K, V>>,
    /// Maximum number of values.
    max: usize,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// A cache of so many bytes, of which a large value takes `each`. It holds one value at least.
    fn new(bytes: u64, each: u64) -> Self {
        let max = usize::try_from(bytes / each.max(1)).unwrap_or(usize::MAX).max(1);
        Self { values: RwLock::default(), max }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.values.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn contains(&self, key: &K) -> bool {
        self.values.read().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    fn get_or_insert_with(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let Ok(value) = self.get_or_try_insert_with(key, || Ok::<V, Infallible>(compute()));
        value
    }

    fn get_or_try_insert_with<E>(&self, key: K, compute: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        // A poisoned lock means that a thread panicked while holding it; the values are still valid.
        let known = self.values.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let value = compute()?;
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= self.max {
            values.clear();
        }
        values.insert(key, value.clone());
        Ok(value)
    }
}
