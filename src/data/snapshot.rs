//! An open snapshot: typed views over the archive.
//!
//! Methods that take a row panic if the table does not have it.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::archive::facet_column::{FacetColumn, RowSet, RowValues};
use crate::archive::own_columns::{FirmNumberColumns, RoundColumns};
use crate::archive::records::RecordStore;
use crate::archive::table_columns::{TableColumns, check};
use crate::archive::{Archive, NumberColumn, Sha256Sum, SharedBytes, TextColumn, bounds};
use crate::derive::score::Priors;
use crate::field::model;
use crate::fold::fold;
use crate::import::gone;
use crate::import::meta::SnapshotMeta;
use crate::import::provenance::{Source, SourceStatement};
use crate::model::Organization;
use crate::parallel::in_parallel;
use crate::vocabulary::Vocabulary;
use crate::{
    ArchiveError, Checksums, Country, Date, Facet, Metric, NONE_I32, NONE_U32, NONE_U64, Names, PartialDate,
    RecentPeriod, RecordText, ReviewStatus, SnapshotVersion, Stage, Table,
};

#[derive(Serialize, Deserialize)]
pub(crate) struct MetaSection {
    #[serde(flatten)]
    pub meta: SnapshotMeta,
    pub rows: Vec<u32>,
}

pub struct Snapshot {
    archive: Archive,
    records: RecordStore,
    /// One for each block of the records.
    record_checksums: NumberColumn<Sha256Sum>,
    meta: SnapshotMeta,
    tables: Vec<TableColumns>,
    firms: FirmNumberColumns,
    rounds: RoundColumns,
    sector_parent: NumberColumn<u32>,
    /// In the order of [`Facet::LISTED`].
    terms: Vec<TextColumn>,
    sources: Vec<Source>,
    score_priors: Priors,
    is_checked: AtomicBool,
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
        /// Number of approved and pending reviews.
        pub reviews: u32,
        /// Number of sectors.
        pub sectors: u32,
    }
}

impl Counts {
    pub fn by_table(self) -> [(Table, u32); 6] {
        let Self { firms, startups, funding_rounds, people, reviews, sectors } = self;
        let counts = [firms, startups, funding_rounds, people, reviews, sectors];
        Table::ALL.map(|table| (table, counts[table as usize]))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

impl Snapshot {
    pub fn open(tables: SharedBytes, records: RecordStore, checksums: Checksums) -> Result<Self, ArchiveError> {
        let snapshot = Self::from_archive(Archive::open(tables, checksums)?, records)?;
        snapshot.check(&|_| {})?;
        Ok(snapshot)
    }

    /// Opens tables in a file, with the checksum of their table of contents. Data is read and verified on first use. A
    /// method panics if its data cannot be read or was changed; [`Snapshot::check`] reads all and returns the error.
    pub fn open_file(tables: File, contents: &Sha256Sum, records: RecordStore) -> Result<Self, ArchiveError> {
        Self::from_archive(Archive::open_file(tables, contents)?, records)
    }

    fn from_archive(archive: Archive, records: RecordStore) -> Result<Self, ArchiveError> {
        let damaged = |reason: &str| ArchiveError::Damaged(reason.to_owned());
        let MetaSection { meta, rows } =
            serde_json::from_slice(archive.bytes("meta")?).map_err(|_| damaged("section meta"))?;
        let rows: [u32; 6] = rows.try_into().map_err(|_| damaged("section meta"))?;
        let open = |table| TableColumns::open(&archive, table, rows[table as usize], &rows);
        let tables = Table::ALL.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let record_checksums: NumberColumn<Sha256Sum> = archive.open_column("records/sha256")?;
        check(records.have_blocks(record_checksums.length), "records/sha256")?;
        let [firms, _, rounds, _, _, sectors] = rows.map(|rows| rows as usize);
        let terms = Facet::LISTED.into_iter().map(|facet| archive.open_texts(&format!("{facet}/terms")));
        Ok(Self {
            firms: FirmNumberColumns::open(&archive, firms)?,
            rounds: RoundColumns::open(&archive, rounds)?,
            sector_parent: archive.column("sectors/parent", sectors)?,
            terms: terms.collect::<Result<Vec<_>, _>>()?,
            sources: serde_json::from_slice(archive.bytes("sources")?).map_err(|_| damaged("section sources"))?,
            score_priors: bytemuck::try_pod_read_unaligned(archive.bytes("reviews/priors")?)
                .map_err(|_| damaged("section reviews/priors"))?,
            is_checked: AtomicBool::new(false),
            archive,
            records,
            record_checksums,
            meta,
            tables,
        })
    }

    pub fn is_checked(&self) -> bool {
        self.is_checked.load(Ordering::Acquire)
    }

    pub fn has_records_in_memory(&self) -> bool {
        matches!(self.records, RecordStore::Memory(_))
    }

    /// The parts that are still read from the disk when they are needed, and verified then; none if all are in memory.
    pub fn parts_on_disk(&self) -> impl Iterator<Item = &'static str> {
        let has_records = !self.has_records_in_memory();
        let has_tables = !self.archive.is_in_memory();
        [("records", has_records), ("tables", has_tables)]
            .into_iter()
            .filter_map(|(part, on_disk)| on_disk.then_some(part))
    }

    /// Reads and verifies all data that was not needed yet, and checks all values. `advance` gets the number of bytes
    /// of each part that is read. Blocks while the disk is read.
    pub fn check(&self, advance: &(dyn Fn(u64) + Sync)) -> Result<(), ArchiveError> {
        if self.is_checked() {
            return Ok(());
        }
        let archive = &self.archive;
        archive.read_all(advance)?;
        let checked = in_parallel(Table::ALL, |table| self.table_columns(table).check(archive, table));
        checked.into_iter().collect::<Result<(), _>>()?;
        let mut end = 0;
        for columns in &self.tables {
            let starts = archive.get(&columns.starts);
            check(starts[0] == end, "records")?;
            end = starts[columns.rows as usize];
        }
        check(end == self.records.length(), "records/sha256")?;
        self.firms.check(archive)?;
        let rows = Table::ALL.map(|table| self.rows(table));
        self.rounds.check(archive, &rows)?;
        let known_sector = |sector: &u32| *sector == NONE_U32 || *sector < rows[Table::Sectors as usize];
        check(archive.get(&self.sector_parent).iter().all(known_sector), "sectors/parent")?;
        self.terms.iter().try_for_each(|terms| archive.check_texts(terms))?;
        // Records on disk are verified when they are read.
        if let RecordStore::Memory(_) = &self.records {
            let mut rows = Table::ALL.into_iter().flat_map(|table| (0..self.rows(table)).map(move |row| (table, row)));
            let all = rows.try_for_each(|(table, row)| self.read_record(table, row).map(drop));
            all.map_err(|error| ArchiveError::Damaged(error.to_string()))?;
        }
        self.is_checked.store(true, Ordering::Release);
        Ok(())
    }

    pub fn version(&self) -> SnapshotVersion {
        self.meta.version
    }

    /// A checksum of the content, which distinguishes rebuilds of the same version with other data.
    pub fn content(&self) -> u64 {
        self.archive.content()
    }

    pub fn released_on(&self) -> Date {
        self.meta.released_on
    }

    pub fn title(&self) -> &str {
        &self.meta.title
    }

    pub fn source(&self) -> &str {
        &self.meta.source
    }

    pub fn license(&self) -> &str {
        &self.meta.license
    }

    pub fn is_invented(&self) -> bool {
        self.meta.invented
    }

    /// Names and sizes in bytes of the archive's sections, in no order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, u64)> {
        self.archive.sections()
    }

    pub fn counts(&self) -> Counts {
        let [firms, startups, funding_rounds, people, reviews, sectors] = Table::ALL.map(|table| self.rows(table));
        Counts { firms, startups, funding_rounds, people, reviews, sectors }
    }

    fn table_columns(&self, table: Table) -> &TableColumns {
        &self.tables[table as usize]
    }

    pub fn rows(&self, table: Table) -> u32 {
        self.table_columns(table).rows
    }

    /// The slug of a row; for rounds and reviews the id.
    pub fn slug(&self, table: Table, row: u32) -> &str {
        self.archive.text(&self.table_columns(table).slugs, row)
    }

    /// The name of a row; empty for rounds and reviews, which have no names.
    pub fn name(&self, table: Table, row: u32) -> &str {
        let names = self.table_columns(table).names.as_ref();
        names.map_or("", |columns| self.archive.text(&columns.names, row))
    }

    /// Reads and verifies the tables, if they are in a file.
    pub fn read_all(&self) -> Result<(), ArchiveError> {
        self.archive.read_all(&|_| {})
    }

    /// Reads and verifies the sections behind [`Snapshot::names`], if the tables are in a file.
    pub fn read_names(&self) -> Result<(), ArchiveError> {
        const COLUMNS: [&str; 8] = ["name", "name#", "aliases", "aliases#", "prominence", "main", "starts", "sha256"];
        let is_wanted = |section: &str| section.split_once('/').is_some_and(|(_, column)| COLUMNS.contains(&column));
        self.archive.read_sections(is_wanted, &|_| {})
    }

    pub fn names(&self, table: Table) -> TableNames<'_> {
        TableNames { snapshot: self, table }
    }

    pub fn find(&self, table: Table, slug: &str) -> Option<u32> {
        // Slugs and ids have no spaces; texts that may also be names do.
        if slug.contains(' ') {
            return None;
        }
        let order = self.by_slug(table);
        let slugs = self.archive.text_bytes(&self.table_columns(table).slugs);
        let index = order.binary_search_by(|row| slugs(*row).cmp(slug.as_bytes())).ok()?;
        Some(order[index])
    }

    /// The row of the record that replaces a merged record with this slug.
    pub fn merged_into(&self, table: Table, slug: &str) -> Option<u32> {
        if slug.contains(' ') {
            return None;
        }
        let (slugs, rows) = &self.table_columns(table).merged;
        Some(self.archive.get(rows)[self.find_former(table, slugs, slug)? as usize])
    }

    /// The last name of a record with this slug that is no longer in the data; empty if the name is not kept.
    pub fn gone(&self, table: Table, slug: &str) -> Option<&str> {
        let (slugs, names) = self.table_columns(table).gone.as_ref()?;
        Some(self.archive.text(names, self.find_former(table, slugs, slug)?))
    }

    /// Index of a slug in a sorted column of slugs, of which some may be hashed.
    fn find_former(&self, table: Table, slugs: &TextColumn, slug: &str) -> Option<u32> {
        if slugs.rows() == 0 || slug.starts_with(gone::HASH) {
            return None;
        }
        let hashed = || self.archive.find_text(slugs, &gone::hashed_slug(table, slug));
        self.archive.find_text(slugs, slug).or_else(hashed)
    }

    /// True if the slug leads to a record, or to the sentence that its record is gone.
    pub fn has_address(&self, table: Table, slug: &str) -> bool {
        let known = || self.merged_into(table, slug).is_some() || self.gone(table, slug).is_some();
        self.find(table, slug).is_some() || known()
    }

    pub fn merged_slugs(&self, table: Table, row: u32) -> impl Iterator<Item = &str> {
        let (slugs, rows) = &self.table_columns(table).merged;
        let merged = (0..).zip(self.archive.get(rows)).filter(move |(_, into)| **into == row);
        merged.map(|(index, _)| self.archive.text(slugs, index))
    }

    /// The sources of the data; none if the dataset does not name them.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The sources' statements about a row, each with true if the record has the value.
    pub fn statements(&self, table: Table, row: u32) -> Vec<(SourceStatement, bool)> {
        let texts = self.table_columns(table).statements.as_ref();
        let text = texts.map_or("", |texts| self.archive.text(texts, row));
        // The text is the compiler's own, with a checksum. An empty one is no JSON.
        serde_json::from_str(text).unwrap_or_default()
    }

    pub fn by_slug(&self, table: Table) -> &[u32] {
        self.archive.get(&self.table_columns(table).by_slug)
    }

    /// Each row's index in the order of slugs.
    pub fn slug_ranks(&self, table: Table) -> &[u32] {
        self.archive.get(&self.table_columns(table).slug_rank)
    }

    /// True if a record has an address of its own: every record except reviews that are not approved.
    pub fn is_published(&self, table: Table, row: u32) -> bool {
        let approved = ReviewStatus::Approved.index() as u32;
        table != Table::Reviews || self.facet_rows(table, Facet::Status, approved).contains(row)
    }

    /// The rows of [`Snapshot::is_published`], in the order of their slugs or ids.
    pub fn published(&self, table: Table) -> impl Iterator<Item = u32> {
        self.by_slug(table).iter().copied().filter(move |row| self.is_published(table, *row))
    }

    /// The approved reviews of a firm.
    pub fn reviews_of(&self, firm: u32) -> impl Iterator<Item = u32> {
        let reviews = self.facet_rows(Table::Reviews, Facet::Firm, firm);
        reviews.iter().filter(move |row| self.is_published(Table::Reviews, *row))
    }

    /// As [`Snapshot::read_record`]. Panics if it cannot be read: the request fails instead of returning wrong data.
    pub fn record(&self, table: Table, row: u32) -> RecordText<'_> {
        self.read_record(table, row).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The record of a row. Blocks if it is on disk. Fails, with its name, if it cannot be read or was changed there.
    pub fn read_record(&self, table: Table, row: u32) -> io::Result<RecordText<'_>> {
        let starts = &self.archive.get(&self.table_columns(table).starts)[row as usize..][..2];
        let stored = self.records.read(starts[0]..starts[1], self.archive.get(&self.record_checksums));
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "its text is not that of a record");
        match stored.map(|stored| RecordText::new(stored, table)) {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Err(self.unreadable(table, row, &damaged())),
            Err(error) => Err(self.unreadable(table, row, &error)),
        }
    }

    #[cold]
    fn unreadable(&self, table: Table, row: u32, error: &io::Error) -> io::Error {
        let (version, noun, slug) = (self.version(), table.noun(), self.slug(table, row));
        let reason = format!("release {version}: the record of the {noun} {slug} cannot be read: {error}");
        io::Error::new(error.kind(), reason)
    }

    /// Number of rows with a value of a field, an index in [`Table::fields`]; an empty list is no value.
    pub fn known_values(&self, table: Table, field: usize) -> u32 {
        self.archive.get(&self.table_columns(table).known)[field]
    }

    /// The rows sorted by a key, an index in [`Table::sort_keys`].
    pub fn order(&self, table: Table, key: usize, direction: Direction) -> &[u32] {
        let order = &self.table_columns(table).orders[key];
        match direction {
            Direction::Ascending => self.archive.get(&order.ascending),
            Direction::Descending => self.archive.get(&order.descending),
        }
    }

    /// Each row's rank by a key, an index in [`Table::sort_keys`]; equal values share a rank. [`NONE_U32`]: no value.
    pub fn ranks(&self, table: Table, key: usize) -> &[u32] {
        self.archive.get(&self.table_columns(table).orders[key].ranks)
    }

    /// The distinct values of a key, ascending; a row's value is at its rank. Empty for names. Dates are codes of
    /// [`PartialDate`], ratings of one decimal are tenths, and leaderboard metrics are as in [`Snapshot::leaderboard`].
    pub fn values(&self, table: Table, key: usize) -> &[i64] {
        self.table_columns(table).orders[key].values.as_ref().map_or(&[], |values| self.archive.get(values))
    }

    /// The rows with ranks in a range, in the order of the key.
    pub fn rows_of_ranks(&self, table: Table, key: usize, range: Range<u32>) -> &[u32] {
        let (order, ranks) = (self.order(table, key, Direction::Ascending), self.ranks(table, key));
        let start_of = |rank: u32| order.partition_point(|row| ranks[*row as usize] < rank);
        &order[start_of(range.start)..start_of(range.end)]
    }

    pub fn rows_without(&self, table: Table, key: usize) -> &[u32] {
        let (order, ranks) = (self.order(table, key, Direction::Ascending), self.ranks(table, key));
        &order[order.partition_point(|row| ranks[*row as usize] != NONE_U32)..]
    }

    fn facet(&self, table: Table, facet: Facet) -> Option<&FacetColumn> {
        self.table_columns(table).facets.iter().find(|(known, _)| *known == facet).map(|(_, column)| column)
    }

    pub fn facet_values(&self, table: Table, facet: Facet) -> u32 {
        self.facet(table, facet).map_or(0, |column| column.values as u32)
    }

    pub fn facet_count(&self, table: Table, facet: Facet, value: u32) -> u32 {
        self.facet(table, facet).map_or(0, |column| column.count(&self.archive, value))
    }

    pub fn facet_rows(&self, table: Table, facet: Facet, value: u32) -> RowSet<'_> {
        self.facet(table, facet).map_or(RowSet::EMPTY, |column| column.rows(&self.archive, value, self.rows(table)))
    }

    pub fn row_values(&self, table: Table, facet: Facet) -> RowValues<'_> {
        self.facet(table, facet).map_or(RowValues::EMPTY, |column| column.row_values(&self.archive))
    }

    pub fn known_count(&self, table: Table, facet: Facet) -> u32 {
        self.facet(table, facet).map_or(0, |column| column.known_count(&self.archive))
    }

    pub fn known_rows(&self, table: Table, facet: Facet) -> RowSet<'_> {
        self.facet(table, facet).map_or(RowSet::EMPTY, |column| RowSet::Dense(column.known(&self.archive)))
    }

    /// The values of a facet of [`Facet::LISTED`], ascending: folded cities and titles, hosts.
    pub fn terms(&self, facet: Facet) -> impl Iterator<Item = &str> {
        (0..).map_while(move |value| self.term(facet, value))
    }

    pub fn term(&self, facet: Facet, value: u32) -> Option<&str> {
        let terms = self.term_column(facet)?;
        (value < terms.rows()).then(|| self.archive.text(terms, value))
    }

    pub fn find_term(&self, facet: Facet, text: &str) -> Option<u32> {
        self.archive.find_text(self.term_column(facet)?, text)
    }

    fn term_column(&self, facet: Facet) -> Option<&TextColumn> {
        Some(&self.terms[Facet::LISTED.iter().position(|known| *known == facet)?])
    }

    /// The name of a value of [`Facet::City`], as spelled by its first firm or startup.
    pub fn city_name(&self, city: u32) -> Option<String> {
        let first = |table| Some((table, self.facet_rows(table, Facet::City, city).iter().next()?));
        let (table, row) = first(Table::Firms).or_else(|| first(Table::Startups))?;
        self.record(table, row).parse(table.field_index("city")).ok()
    }

    /// Health scores of the firms; [`NONE_U8`](crate::NONE_U8): none.
    pub fn health_scores(&self) -> &[u8] {
        self.archive.get(&self.firms.health_score)
    }

    /// Ghosting rates of the firms in tenths of a percent; [`NONE_U16`](crate::NONE_U16): none.
    pub fn ghosting_rates(&self) -> &[u16] {
        self.archive.get(&self.firms.ghosting_rate)
    }

    /// Minimum and maximum check sizes of the firms in US dollars; [`NONE_U64`](crate::NONE_U64): unknown.
    pub fn check_sizes(&self) -> (&[u64], &[u64]) {
        (self.archive.get(&self.firms.check_min_usd), self.archive.get(&self.firms.check_max_usd))
    }

    /// Dates of the firms' last investments, codes of [`PartialDate`]; [`NONE_I32`](crate::NONE_I32): none.
    pub fn last_investments(&self) -> &[i32] {
        self.archive.get(&self.firms.last_investment_on)
    }

    pub fn firm_country(&self, row: u32) -> Option<Country> {
        Country::at(usize::from(self.archive.get(&self.firms.country)[row as usize]))
    }

    /// The leaderboard of a metric: rows, best first, and their values (see `score::FirmScore::rank` for the units).
    pub fn leaderboard(&self, metric: Metric) -> (&[u32], &[i32]) {
        let (rows, values) = &self.firms.leaderboards[metric.index()];
        (self.archive.get(rows), self.archive.get(values))
    }

    /// Amounts of the rounds in US dollars; [`NONE_U64`](crate::NONE_U64): unknown or suspect.
    pub fn round_amounts(&self) -> &[u64] {
        self.archive.get(&self.rounds.amount_usd)
    }

    /// The amount of a round in US dollars; `None` if it is unknown or suspect.
    pub fn round_amount(&self, round: u32) -> Option<u64> {
        Some(self.round_amounts()[round as usize]).filter(|usd| *usd != NONE_U64)
    }

    /// Dates of the rounds, codes of [`PartialDate`]; [`NONE_I32`](crate::NONE_I32): unknown.
    pub fn round_dates(&self) -> &[i32] {
        self.archive.get(&self.rounds.announced_on)
    }

    pub fn round_date(&self, row: u32) -> Option<PartialDate> {
        known_date(self.round_dates()[row as usize])
    }

    /// The dates of the first and the last round; `None` if no date is known.
    pub fn round_range(&self) -> Option<(PartialDate, PartialDate)> {
        // Latest first, unknown dates last.
        let dates = self.round_dates();
        let dated = &dates[..dates.partition_point(|date| *date != NONE_I32)];
        Some((PartialDate::from_code(*dated.last()?), PartialDate::from_code(*dated.first()?)))
    }

    /// The period that recent activity is counted in.
    pub fn recent_period(&self) -> RecentPeriod {
        RecentPeriod::new(self.round_dates().iter().copied().filter_map(known_date), self.released_on())
    }

    pub fn round_startup(&self, row: u32) -> u32 {
        self.archive.get(&self.rounds.startup)[row as usize]
    }

    /// The stage of a round; `None` if it is unknown.
    pub fn round_stage(&self, row: u32) -> Option<Stage> {
        Stage::at(usize::from(self.archive.get(&self.rounds.stage)[row as usize]))
    }

    /// The investors of a round: rows of firms, each with true if it led the round.
    pub fn round_investors(&self, row: u32) -> impl Iterator<Item = (u32, bool)> {
        let range = bounds(self.archive.get(&self.rounds.investor_starts), row as usize);
        let investors = &self.archive.get(&self.rounds.investors)[range];
        investors.iter().map(|packed| (packed >> 1, packed & 1 == 1))
    }

    pub fn score_priors(&self) -> &Priors {
        &self.score_priors
    }

    pub fn sector_parent(&self, row: u32) -> Option<u32> {
        let parent = self.archive.get(&self.sector_parent)[row as usize];
        (parent != NONE_U32).then_some(parent)
    }
}

pub fn known_date(code: i32) -> Option<PartialDate> {
    (code != NONE_I32).then(|| PartialDate::from_code(code))
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("version", &self.version()).field("counts", &self.counts()).finish()
    }
}

#[derive(Clone, Copy)]
pub struct TableNames<'a> {
    snapshot: &'a Snapshot,
    table: Table,
}

impl TableNames<'_> {
    /// `None` if the table lacks the field, or its value is null.
    fn value<T: DeserializeOwned>(&self, record: &RecordText<'_>, name: &str) -> Option<T> {
        let field = self.table.fields().iter().position(|field| field.name == name)?;
        record.parse::<Option<T>>(field).ok().flatten()
    }
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

    fn has_surnames(&self) -> bool {
        self.table == Table::People
    }

    fn description(&self, row: u32) -> String {
        self.value(&self.snapshot.record(self.table, row), "description").unwrap_or_default()
    }

    fn context(&self, row: u32) -> String {
        let record = self.snapshot.record(self.table, row);
        let country: Option<String> = self.value(&record, "country");
        let country_name = country.as_deref().and_then(Country::from_alpha2).map(|country| country.name().to_owned());
        let single = [self.value(&record, "city"), country_name, country].into_iter().flatten();
        let sectors: Vec<String> = self.value(&record, "sectors").unwrap_or_default();
        let organization: Option<Organization> = self.value(&record, "organization");
        let organization = organization.map(|organization| organization.name);
        let texts = single.chain(sectors).chain(self.value(&record, "title")).chain(organization);
        texts.map(|text| fold(&text)).collect::<Vec<_>>().join(" ")
    }

    fn prominence(&self, row: u32) -> u32 {
        let names = self.snapshot.table_columns(self.table).names.as_ref();
        names.map_or(0, |columns| self.snapshot.archive.get(&columns.prominence)[row as usize])
    }

    fn main_of(&self, row: u32) -> Option<u32> {
        let names = self.snapshot.table_columns(self.table).names.as_ref()?;
        Some(self.snapshot.archive.get(&names.main)[row as usize]).filter(|main| *main != NONE_U32)
    }
}
