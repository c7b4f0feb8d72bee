//! An open snapshot: typed views over the archive.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::RecordText;
use crate::data::archive::facet_column::{FacetColumn, RowSet};
use crate::data::archive::table_columns::{TableColumns, in_range};
use crate::data::archive::unknown;
use crate::data::archive::{Archive, Bytes, Column, Texts};
use crate::data::field::model;
use crate::data::vocabulary::Vocabulary;
use crate::data::{ArchiveError, Checksums};
use crate::data::{Country, Date, Facet, Metric, Names, SnapshotVersion, Stage, Table};

/// The `meta` section.
#[derive(Serialize, Deserialize)]
pub(crate) struct MetaSection {
    pub version: String,
    pub released_on: String,
    pub title: String,
    pub source: String,
    pub license: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invented: bool,
    pub rows: Vec<u32>,
    pub rejected_reviews: u32,
}

/// A compiled, versioned release of the data.
pub struct Snapshot {
    archive: Archive,
    version: SnapshotVersion,
    released_on: Date,
    title: String,
    source: String,
    license: String,
    invented: bool,
    tables: [TableColumns; 6],
    firms: FirmColumns,
    startups: StartupColumns,
    rounds: RoundColumns,
    sector_parent: Column<u32>,
}

struct FirmColumns {
    health_score: Column<u8>,
    ghosting_rate: Column<u16>,
    review_count: Column<u32>,
    check_min_usd: Column<u64>,
    check_max_usd: Column<u64>,
    last_investment_on: Column<i32>,
    country: Column<u16>,
    cities: Texts,
    city_count: usize,
    boards: Vec<(Column<u32>, Column<i32>)>,
}

struct StartupColumns {
    total_raised_usd: Column<u64>,
    last_round_on: Column<i32>,
}

struct RoundColumns {
    amount_usd: Column<u64>,
    announced_on: Column<i32>,
    startup: Column<u32>,
    stage: Column<u8>,
    investors: Column<u32>,
    investor_starts: Column<u64>,
}

model! {
    /// Number of rows of each table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Counts {
        /// Number of firms.
        pub firms: u32,
        /// Number of startups.
        pub startups: u32,
        /// Number of funding rounds.
        pub funding_rounds: u32,
        /// Number of people.
        pub people: u32,
        /// Number of reviews.
        pub reviews: u32,
        /// Number of sectors.
        pub sectors: u32,
    }
}

/// A place in a direction of sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl Snapshot {
    /// Opens an archive.
    ///
    /// # Errors
    /// [`ArchiveError`] where it is of another format or damaged.
    pub fn open(bytes: Bytes, checksums: Checksums) -> Result<Self, ArchiveError> {
        let archive = Archive::open(bytes, checksums)?;
        let damaged = |place: &str| ArchiveError::Damaged(place.to_owned());
        let meta: MetaSection = serde_json::from_slice(archive.bytes("meta")?).map_err(|_| damaged("section meta"))?;
        let rows: [u32; 6] = meta.rows.try_into().map_err(|_| damaged("section meta"))?;
        let mut tables = Vec::with_capacity(Table::ALL.len());
        for (table, count) in Table::ALL.into_iter().zip(rows) {
            tables.push(TableColumns::open(&archive, table, count, &rows)?);
        }
        let tables: [TableColumns; 6] = tables.try_into().map_err(|_| damaged("tables"))?;
        let [firms, startups, rounds, _, _, sectors] = rows.map(|rows| rows as usize);
        let mut boards = Vec::with_capacity(Metric::ALL.len());
        for metric in Metric::ALL {
            let name = format!("firms/board/{}", metric.name());
            let ranked: Column<u32> = archive.open_column(&name)?;
            let values = archive.column(&format!("{name}="), archive.get(&ranked).len())?;
            in_range(&archive, &ranked, firms, &name)?;
            boards.push((ranked, values));
        }
        let city_count = archive.open_column::<u64>("firms/cities#").map(|places| archive.get(&places).len())?;
        let city_count = city_count.saturating_sub(1);
        let firms = FirmColumns {
            health_score: archive.column("firms/health_score", firms)?,
            ghosting_rate: archive.column("firms/ghosting_rate", firms)?,
            review_count: archive.column("firms/review_count", firms)?,
            check_min_usd: archive.column("firms/check_min_usd", firms)?,
            check_max_usd: archive.column("firms/check_max_usd", firms)?,
            last_investment_on: archive.column("firms/last_investment_on", firms)?,
            country: archive.column("firms/country", firms)?,
            cities: archive.texts("firms/cities", city_count)?,
            city_count,
            boards,
        };
        let startups = StartupColumns {
            total_raised_usd: archive.column("startups/total_raised_usd", startups)?,
            last_round_on: archive.column("startups/last_round_on", startups)?,
        };
        let rounds = RoundColumns {
            amount_usd: archive.column("funding_rounds/amount_usd", rounds)?,
            announced_on: archive.column("funding_rounds/announced_on", rounds)?,
            startup: archive.column("funding_rounds/startup", rounds)?,
            stage: archive.column("funding_rounds/stage", rounds)?,
            investors: archive.open_column("funding_rounds/investors")?,
            investor_starts: archive.column("funding_rounds/investors#", rounds + 1)?,
        };
        let sector_parent = archive.column("sectors/parent", sectors)?;
        Ok(Self {
            version: meta.version.parse().map_err(|_| damaged("section meta: version"))?,
            released_on: meta.released_on.parse().map_err(|_| damaged("section meta: released_on"))?,
            title: meta.title,
            source: meta.source,
            license: meta.license,
            invented: meta.invented,
            archive,
            tables,
            firms,
            startups,
            rounds,
            sector_parent,
        })
    }

    /// The snapshot's id.
    #[must_use]
    pub fn version(&self) -> SnapshotVersion {
        self.version
    }

    /// A checksum of the content: equal for equal data, so that a version that was built anew is told apart.
    #[must_use]
    pub fn content(&self) -> u64 {
        self.archive.content()
    }

    /// The date of release.
    #[must_use]
    pub fn released_on(&self) -> Date {
        self.released_on
    }

    /// What the data is.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the data comes from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The terms under which the data may be used.
    #[must_use]
    pub fn license(&self) -> &str {
        &self.license
    }

    /// Whether its firms, people and reviews are made up.
    #[must_use]
    pub fn is_invented(&self) -> bool {
        self.invented
    }

    /// The archive's sections by name with their sizes in bytes, in no order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, u64)> {
        self.archive.sections()
    }

    /// Number of rows of each table.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let [firms, startups, funding_rounds, people, reviews, sectors] = Table::ALL.map(|table| self.rows(table));
        Counts { firms, startups, funding_rounds, people, reviews, sectors }
    }

    fn table_columns(&self, table: Table) -> &TableColumns {
        &self.tables[table as usize]
    }

    /// Number of rows of a table.
    #[must_use]
    pub fn rows(&self, table: Table) -> u32 {
        self.table_columns(table).rows
    }

    /// The slug of a row; of rounds and reviews the id. Empty for a row that is not there.
    #[must_use]
    pub fn slug(&self, table: Table, row: u32) -> &str {
        self.archive.text(&self.table_columns(table).slugs, row)
    }

    /// The name of a row; of rounds and reviews, which have none, empty.
    #[must_use]
    pub fn name(&self, table: Table, row: u32) -> &str {
        let names = self.table_columns(table).names.as_ref();
        names.map_or("", |columns| self.archive.text(&columns.names, row))
    }

    /// The names of a table as the text index reads them.
    #[must_use]
    pub fn names(&self, table: Table) -> TableNames<'_> {
        TableNames { snapshot: self, table }
    }

    /// The row with this slug or id, exactly as it is written.
    #[must_use]
    pub fn find(&self, table: Table, slug: &str) -> Option<u32> {
        let order = self.archive.get(&self.table_columns(table).by_slug);
        let place = order.binary_search_by(|row| self.slug(table, *row).cmp(slug)).ok()?;
        order.get(place).copied()
    }

    /// The rows in order of their slugs.
    #[must_use]
    pub fn by_slug(&self, table: Table) -> &[u32] {
        self.archive.get(&self.table_columns(table).by_slug)
    }

    /// Each row's place in the order of slugs.
    #[must_use]
    pub fn slug_ranks(&self, table: Table) -> &[u32] {
        self.archive.get(&self.table_columns(table).slug_rank)
    }

    /// The record of a row.
    #[must_use]
    pub fn record(&self, table: Table, row: u32) -> RecordText<'_> {
        let columns = self.table_columns(table);
        let (row, fields) = (row as usize, table.fields().len());
        let starts = self.archive.get(&columns.starts);
        let all = self.archive.slice(&columns.text);
        let bounds = starts.get(row).zip(starts.get(row + 1));
        let text = bounds.and_then(|(start, end)| all.get(*start as usize..*end as usize)).unwrap_or(b"{");
        let ends = self.archive.get(&columns.ends).get(row * fields..(row + 1) * fields).unwrap_or(&[]);
        RecordText { text, ends }
    }

    /// The rows sorted by a key of [`Table::sort_keys`].
    #[must_use]
    pub fn order(&self, table: Table, key: usize, direction: Direction) -> &[u32] {
        let Some(order) = self.table_columns(table).orders.get(key) else { return &[] };
        match direction {
            Direction::Ascending => self.archive.get(&order.ascending),
            Direction::Descending => self.archive.get(&order.descending),
        }
    }

    /// Each row's rank by a key of [`Table::sort_keys`], equal values sharing one; `u32::MAX` where it has no value.
    #[must_use]
    pub fn ranks(&self, table: Table, key: usize) -> &[u32] {
        self.table_columns(table).orders.get(key).map_or(&[], |order| self.archive.get(&order.ranks))
    }

    fn facet(&self, table: Table, facet: Facet) -> Option<&FacetColumn> {
        self.table_columns(table).facets.iter().find(|(known, _)| *known == facet).map(|(_, column)| column)
    }

    /// Number of values of a facet.
    #[must_use]
    pub fn facet_values(&self, table: Table, facet: Facet) -> u32 {
        self.facet(table, facet).map_or(0, |column| column.values() as u32)
    }

    /// How many rows have a value of a facet.
    #[must_use]
    pub fn facet_count(&self, table: Table, facet: Facet, value: u32) -> u32 {
        self.facet(table, facet).map_or(0, |column| column.count(&self.archive, value))
    }

    /// The rows that have a value of a facet.
    #[must_use]
    pub fn facet_rows(&self, table: Table, facet: Facet, value: u32) -> RowSet<'_> {
        self.facet(table, facet).map_or(RowSet::EMPTY, |column| column.rows(&self.archive, value, self.rows(table)))
    }

    /// The value of [`Facet::City`] for a folded city name.
    #[must_use]
    pub fn city(&self, folded: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.firms.city_count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.archive.text(&self.firms.cities, middle as u32).cmp(folded) {
                std::cmp::Ordering::Equal => return Some(middle as u32),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The folded city names, in order.
    pub fn cities(&self) -> impl Iterator<Item = &str> {
        (0..self.firms.city_count as u32).map(|city| self.archive.text(&self.firms.cities, city))
    }

    /// The name of a value of [`Facet::City`] as it is answered: that of its first firm, where they write it differently.
    #[must_use]
    pub fn city_name(&self, city: u32) -> Option<String> {
        let row = self.facet_rows(Table::Firms, Facet::City, city).iter().next()?;
        let field = Table::Firms.field_index("city");
        serde_json::from_slice(self.record(Table::Firms, row).value(Table::Firms, field)).ok()
    }

    /// Health scores of the firms; 255: none.
    #[must_use]
    pub fn health_scores(&self) -> &[u8] {
        self.archive.get(&self.firms.health_score)
    }

    /// Ghosting rates of the firms, in tenths of a per cent; 65535: none.
    #[must_use]
    pub fn ghosting_rates(&self) -> &[u16] {
        self.archive.get(&self.firms.ghosting_rate)
    }

    /// Approved reviews of the firms.
    #[must_use]
    pub fn review_counts(&self) -> &[u32] {
        self.archive.get(&self.firms.review_count)
    }

    /// Smallest and largest cheques of the firms, US dollars; `u64::MAX`: not known.
    #[must_use]
    pub fn checks(&self) -> (&[u64], &[u64]) {
        (self.archive.get(&self.firms.check_min_usd), self.archive.get(&self.firms.check_max_usd))
    }

    /// Dates of the firms' last investments, in days; `i32::MIN`: none.
    #[must_use]
    pub fn last_investments(&self) -> &[i32] {
        self.archive.get(&self.firms.last_investment_on)
    }

    /// The country of a firm.
    #[must_use]
    pub fn firm_country(&self, row: u32) -> Option<Country> {
        let index = *self.archive.get(&self.firms.country).get(row as usize)?;
        Country::at(usize::from(index))
    }

    /// The leaderboard of a metric: rows, best first, and their values (see `score::ScoreRank` for the units).
    #[must_use]
    pub fn board(&self, metric: Metric) -> (&[u32], &[i32]) {
        self.firms
            .boards
            .get(metric.index())
            .map_or((&[], &[]), |(rows, values)| (self.archive.get(rows), self.archive.get(values)))
    }

    /// Money raised by the startups, US dollars; `u64::MAX`: not known.
    #[must_use]
    pub fn totals_raised(&self) -> &[u64] {
        self.archive.get(&self.startups.total_raised_usd)
    }

    /// Dates of the startups' last rounds, in days; `i32::MIN`: none.
    #[must_use]
    pub fn last_rounds(&self) -> &[i32] {
        self.archive.get(&self.startups.last_round_on)
    }

    /// Amounts of the rounds, US dollars; `u64::MAX`: not known.
    #[must_use]
    pub fn round_amounts(&self) -> &[u64] {
        self.archive.get(&self.rounds.amount_usd)
    }

    /// Dates of the rounds, in days; `i32::MIN`: not known.
    #[must_use]
    pub fn round_dates(&self) -> &[i32] {
        self.archive.get(&self.rounds.announced_on)
    }

    /// The startup that raised a round.
    #[must_use]
    pub fn round_startup(&self, row: u32) -> Option<u32> {
        self.archive.get(&self.rounds.startup).get(row as usize).copied()
    }

    /// The stage of a round.
    #[must_use]
    pub fn round_stage(&self, row: u32) -> Option<Stage> {
        Stage::at(usize::from(*self.archive.get(&self.rounds.stage).get(row as usize)?))
    }

    /// The investors of a round: rows of firms, and whether each led it.
    pub fn round_investors(&self, row: u32) -> impl Iterator<Item = (u32, bool)> {
        let starts = self.archive.get(&self.rounds.investor_starts);
        let bounds = starts.get(row as usize).zip(starts.get(row as usize + 1));
        let all = self.archive.get(&self.rounds.investors);
        let investors = bounds.and_then(|(start, end)| all.get(*start as usize..*end as usize)).unwrap_or(&[]);
        investors.iter().map(|packed| (packed >> 1, packed & 1 == 1))
    }

    /// The sector that a sector is part of.
    #[must_use]
    pub fn sector_parent(&self, row: u32) -> Option<u32> {
        let parent = *self.archive.get(&self.sector_parent).get(row as usize)?;
        (parent != unknown::U32).then_some(parent)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("version", &self.version).field("counts", &self.counts()).finish()
    }
}

/// The names of one table.
#[derive(Clone, Copy)]
pub struct TableNames<'a> {
    snapshot: &'a Snapshot,
    table: Table,
}

impl Names for TableNames<'_> {
    fn len(&self) -> u32 {
        self.snapshot.rows(self.table)
    }

    fn name(&self, row: u32) -> &str {
        self.snapshot.name(self.table, row)
    }

    fn aliases(&self, row: u32) -> &str {
        let names = self.snapshot.table_columns(self.table).names.as_ref();
        names.map_or("", |columns| self.snapshot.archive.text(&columns.aliases, row))
    }

    fn prominence(&self, row: u32) -> u32 {
        let names = self.snapshot.table_columns(self.table).names.as_ref();
        names.and_then(|columns| self.snapshot.archive.get(&columns.prominence).get(row as usize).copied()).unwrap_or(0)
    }
}
