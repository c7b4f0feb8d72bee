//! Compiles a checked dataset into the archive of a snapshot.
//!
//! Tables are sorted first, so that everything written afterwards (records, columns, facets, sort orders) uses the final
//! row numbers. The archive is written as a stream, with one record in memory at a time.

mod quality;
mod terms;

pub use quality::DatasetQuality;

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, Builder};

use serde::Serialize;

use crate::archive::column_writer::ColumnWriter;
use crate::archive::record_text::RecordBuffer;
use crate::archive::records::{RecordStore, RecordWriter};
use crate::archive::{AlignedBytes, ArchiveWriter};
use crate::compile::terms::FacetTerms;
use crate::derive::alias_candidates::{self, AliasCandidate};
use crate::derive::near_duplicates::{self, NearDuplicate};
use crate::derive::record::reference;
use crate::derive::row_order::RowOrders;
use crate::derive::{Derived, country_of, each_ancestor};
use crate::import::date_precision;
use crate::import::known_aliases;
use crate::import::redirects::Redirect;
use crate::import::rows::DatasetInvestor;
use crate::import::{Dataset, DatasetInput};
use crate::model::Reference;
use crate::snapshot::MetaSection;
use crate::vocabulary::Vocabulary;
use crate::{
    ArchiveError, Checksums, DiagnosticReport, Facet, FirmKind, Metric, NONE_I32, NONE_U8, NONE_U16, NONE_U32,
    NONE_U64, OrganizationKind, PartialDate, Progress, Role, Snapshot, SnapshotVersion, Stage, Table, import,
};

pub fn check<'a>(input: impl Into<DatasetInput<'a>>, progress: &dyn Progress) -> DiagnosticReport {
    import::read(input, progress).1
}

pub fn compile<'a>(input: impl Into<DatasetInput<'a>>, progress: &dyn Progress) -> Result<Compiled, DiagnosticReport> {
    let (dataset, report) = import::read(input, progress);
    let Some(mut dataset) = dataset else { return Err(report) };
    progress.step("derive", 0);
    let known_aliases = known_aliases::add(&mut dataset);
    let derived = Derived::compute(&dataset);
    let orders = RowOrders::compute(&dataset, &derived);
    progress.done();
    Ok(Compiled { dataset, derived, orders, report, known_aliases })
}

pub struct Compiled {
    dataset: Dataset,
    derived: Derived,
    orders: RowOrders,
    pub report: DiagnosticReport,
    /// Number of well-known aliases added to records, see [`known_aliases`].
    pub known_aliases: usize,
}

impl Compiled {
    pub fn version(&self) -> SnapshotVersion {
        self.dataset.meta.version
    }

    /// True if nobody has set the version, so that the publication numbers it.
    pub fn is_version_free(&self) -> bool {
        self.dataset.is_version_free
    }

    pub fn set_version(&mut self, version: SnapshotVersion) {
        self.dataset.meta.version = version;
    }

    /// Writes the dates of rounds into their file in the dataset's folder, where the file has a day that nobody knew.
    /// Returns how many it changed.
    pub fn write_known_dates(&self, folder: &Path) -> io::Result<usize> {
        let rounds = self.dataset.rounds.iter().filter_map(|round| Some((round.id.as_str(), round.announced_on?)));
        date_precision::write(folder, &rounds.filter(|(_, date)| !date.is_day()).collect())
    }

    pub fn rows(&self, table: Table) -> usize {
        self.orders[table].old.len()
    }

    pub fn near_duplicates(&self, table: Table) -> Vec<NearDuplicateRecord<'_>> {
        let found = near_duplicates::of_table(&self.dataset, &self.derived, &self.orders, table);
        let duplicates = self.orders[table].old.iter().filter_map(|row| Some((*row, found[*row as usize]?)));
        let record = |(row, duplicate): (u32, NearDuplicate)| NearDuplicateRecord {
            record: reference(&self.dataset, table, row),
            main: reference(&self.dataset, table, duplicate.main),
            reason: duplicate.to_string(),
        };
        duplicates.map(record).collect()
    }

    pub fn alias_candidates(&self) -> Vec<AliasCandidate<'_>> {
        alias_candidates::alias_candidates(&self.dataset, &self.derived)
    }

    /// Writes the archive to `tables` and its records to `records`, on two threads.
    pub fn write(&self, tables: &mut dyn Write, records: &mut (dyn Write + Send)) -> io::Result<()> {
        let mut writer = ArchiveWriter::new(tables)?;
        let rows = Table::ALL.map(|table| self.rows(table) as u32).to_vec();
        let section = MetaSection { meta: self.dataset.meta.clone(), rows };
        writer.section("meta", &serde_json::to_vec(&section)?)?;
        writer.section("sources", &serde_json::to_vec(&self.dataset.provenance.sources)?)?;
        let mut records = RecordWriter::new(records);
        let written: io::Result<Vec<_>> = thread::scope(|scope| {
            let write = || Table::ALL.map(|table| self.write_records(&mut records, table));
            let written = Builder::new().spawn_scoped(scope, write)?;
            let terms = FacetTerms::write(&self.dataset, &mut writer)?;
            self.write_firms(&mut writer, &terms)?;
            self.write_startups(&mut writer, &terms)?;
            self.write_rounds(&mut writer, &terms)?;
            self.write_people(&mut writer, &terms)?;
            self.write_reviews(&mut writer)?;
            self.write_sectors(&mut writer)?;
            written.join().unwrap_or_else(|panic| resume_unwind(panic)).into_iter().collect()
        });
        let provenance = &self.dataset.provenance;
        for (table, (starts, known, used)) in Table::ALL.into_iter().zip(written?) {
            let name = table.name();
            writer.section(&format!("{name}/starts"), &starts)?;
            writer.section(&format!("{name}/known"), &known)?;
            let mut used = used.into_iter();
            let covered = self.orders[table].old.iter().filter(|_| provenance.covers(table));
            let statements = covered.map(|row| provenance.stored(table, *row, &mut used));
            writer.texts(&format!("{name}/statements"), statements)?;
            self.write_redirects(&mut writer, table)?;
            self.write_gone(&mut writer, table)?;
        }
        writer.section("records/sha256", &records.finish()?)?;
        writer.finish()
    }

    pub fn snapshot(&self) -> Result<Snapshot, ArchiveError> {
        let (mut tables, mut records) = (Vec::new(), Vec::new());
        self.write(&mut tables, &mut records).expect("memory accepts all");
        let records = RecordStore::Memory(Arc::new(records));
        Snapshot::open(Arc::new(AlignedBytes::copy(&tables)), records, Checksums::Verify)
    }

    /// Writes the records of a table. Returns where each starts, the number of records with a value for each field, and
    /// for each statement about them true if its record has the value.
    fn write_records(&self, out: &mut RecordWriter<'_>, table: Table) -> io::Result<(Vec<u64>, Vec<u32>, Vec<bool>)> {
        let old = &self.orders[table].old;
        let mut record = RecordBuffer::default();
        let mut starts = Vec::with_capacity(old.len() + 1);
        let mut known = vec![0_u32; table.fields().len()];
        let provenance = &self.dataset.provenance;
        let mut used: Vec<bool> = Vec::new();
        for row in old {
            let written = record.write(&self.dataset, &self.derived, table, *row as usize)?;
            starts.push(out.length());
            for (field, known) in known.iter_mut().enumerate() {
                *known += u32::from(written.is_known(field));
            }
            if provenance.covers(table) {
                let statements = provenance.statements(table, *row);
                used.extend(statements.iter().map(|statement| statement.is_used(table, &written)));
            }
            out.append(written.stored())?;
        }
        starts.push(out.length());
        Ok((starts, known, used))
    }

    fn write_redirects(&self, writer: &mut ArchiveWriter<'_>, table: Table) -> io::Result<()> {
        let of_table = self.dataset.redirects.iter().filter(|redirect| redirect.table == table);
        let target = |redirect: &Redirect| self.orders.new_row(table, redirect.target);
        let mut redirects: Vec<_> = of_table.map(|redirect| (redirect.slug.as_str(), target(redirect))).collect();
        redirects.sort_unstable();
        let (slugs, rows): (Vec<&str>, Vec<u32>) = redirects.into_iter().unzip();
        writer.texts(&format!("{}/merged", table.name()), slugs.into_iter())?;
        writer.section(&format!("{}/merged=", table.name()), &rows)
    }

    fn write_gone(&self, writer: &mut ArchiveWriter<'_>, table: Table) -> io::Result<()> {
        let of_table = self.dataset.gone.iter().filter(|gone| gone.table == table);
        let mut gone: Vec<(&str, &str)> = of_table.map(|gone| (gone.slug.as_str(), gone.name.as_str())).collect();
        if gone.is_empty() {
            return Ok(());
        }
        gone.sort_unstable();
        writer.texts(&format!("{}/gone", table.name()), gone.iter().map(|(slug, _)| *slug))?;
        writer.texts(&format!("{}/gone_names", table.name()), gone.iter().map(|(_, name)| *name))
    }

    fn begin<'a, 'w>(&'a self, writer: &'a mut ArchiveWriter<'w>, table: Table) -> io::Result<ColumnWriter<'a, 'w>> {
        let slug = |row: usize| reference(&self.dataset, table, row as u32).slug;
        ColumnWriter::begin(writer, table, &self.orders[table], slug)
    }

    fn write_names<'s>(
        &'s self,
        columns: &mut ColumnWriter<'_, '_>,
        table: Table,
        aliases: impl Fn(usize) -> &'s [String],
        prominence: &[u32],
    ) -> io::Result<()> {
        columns.texts("name", columns.rows().map(|row| reference(&self.dataset, table, row as u32).name))?;
        let aliases: Vec<String> = columns.rows().map(|row| aliases(row).join("|")).collect();
        columns.texts("aliases", aliases.iter().map(String::as_str))?;
        columns.numbers("prominence", |row| prominence[row])?;
        let found = near_duplicates::of_table(&self.dataset, &self.derived, &self.orders, table);
        let main = |duplicate: NearDuplicate| self.orders.new_row(table, duplicate.main);
        columns.numbers("main", |row| found[row].map_or(NONE_U32, main))
    }

    fn write_sector_facet<'s>(
        &self,
        columns: &mut ColumnWriter<'_, '_>,
        sectors: impl Fn(usize) -> &'s [u32],
    ) -> io::Result<()> {
        columns.facet(Facet::Sector, self.dataset.sectors.len(), |row, each| {
            each_ancestor(&self.derived.lineage, sectors(row), |sector| {
                each(self.orders.new_row(Table::Sectors, sector))
            });
        })
    }

    fn write_investor_facet<'s>(
        &self,
        columns: &mut ColumnWriter<'_, '_>,
        investors: impl Fn(usize) -> &'s [DatasetInvestor],
    ) -> io::Result<()> {
        columns.facet(Facet::Investor, self.dataset.firms.len(), |row, each| {
            investors(row).iter().for_each(|investor| each(self.orders.new_row(Table::Firms, investor.firm)));
        })
    }

    fn write_firms(&self, writer: &mut ArchiveWriter<'_>, terms: &FacetTerms) -> io::Result<()> {
        let (firms, stats, assessed) = (&self.dataset.firms, &self.derived.firms, &self.derived.assessments);
        let mut columns = self.begin(writer, Table::Firms)?;
        self.write_names(&mut columns, Table::Firms, |row| &firms[row].aliases, &self.derived.prominence.firms)?;

        columns.numbers("health_score", |row| assessed[row].score.value.unwrap_or(NONE_U8))?;
        columns.numbers("ghosting_rate", |row| assessed[row].ghosting_tenths.unwrap_or(NONE_U16))?;
        columns.numbers("check_min_usd", |row| firms[row].own.check_min_usd.unwrap_or(NONE_U64))?;
        columns.numbers("check_max_usd", |row| firms[row].own.check_max_usd.unwrap_or(NONE_U64))?;
        columns.numbers("last_investment_on", |row| code(stats[row].last_investment_on))?;
        columns.numbers("country", |row| firms[row].country.map_or(NONE_U16, |c| c.index() as u16))?;

        columns.name_order(|row| &firms[row].name)?;
        columns.order("health_score", |row| assessed[row].score.value)?;
        columns.order("ghosting_rate", |row| assessed[row].ghosting_tenths)?;
        columns.order("review_count", |row| Some(assessed[row].score.review_count))?;
        columns.order("portfolio_count", |row| Some(stats[row].portfolio_count))?;
        columns.order("investment_count", |row| Some(stats[row].investment_count))?;
        columns.order("last_investment_on", |row| stats[row].last_investment_on.map(PartialDate::code))?;
        columns.order("check_min_usd", |row| firms[row].own.check_min_usd.map(dollars))?;
        columns.order("founded_year", |row| firms[row].founded_year)?;
        columns.order("check_max_usd", |row| firms[row].own.check_max_usd.map(dollars))?;
        columns.order("aum_usd", |row| firms[row].own.aum_usd.map(dollars))?;
        for metric in [Metric::Responsiveness, Metric::Fairness, Metric::ValueAdd, Metric::Activity] {
            columns.order(metric.name(), |row| self.metric(metric, row))?;
        }

        columns.facet(Facet::Stage, Stage::ALL.len(), |row, each| {
            stats[row].stages.iter().for_each(|stage| each(stage.index() as u32));
        })?;
        self.write_sector_facet(&mut columns, |row| &stats[row].sectors)?;
        columns.country_facet(|row| firms[row].country)?;
        columns.word_facet(Facet::Kind, |row| firms[row].own.kind)?;

        columns.term_facet(Facet::City, &terms.cities[0], |row| row)?;
        columns.term_facet(Facet::Website, &terms.websites[0], |row| row)?;
        terms.write_identifiers(&mut columns, |row| &firms[row].identifiers)?;
        for metric in Metric::ALL {
            self.write_leaderboard(&mut columns, *metric)?;
        }
        Ok(())
    }

    /// The value of a firm's metric, by the firm's row in the dataset; `None` if the firm is not ranked.
    fn metric(&self, metric: Metric, firm: usize) -> Option<i32> {
        let rank = self.derived.assessments[firm].rank;
        let recent = self.derived.firms[firm].recent_investments;
        match metric {
            Metric::Activity => (recent > 0).then_some(recent as i32),
            _ => rank.map(|rank| rank[metric.index()]),
        }
    }

    /// Writes the leaderboard of a metric: the ranked rows, best first, and their values.
    fn write_leaderboard(&self, columns: &mut ColumnWriter<'_, '_>, metric: Metric) -> io::Result<()> {
        let firms = (0..).zip(&self.orders[Table::Firms].old);
        let ranked = firms.filter_map(|(row, old)| Some((self.metric(metric, *old as usize)?, row)));
        let mut leaderboard: Vec<(i32, u32)> = ranked.collect();
        let sign = if metric == Metric::GhostingRate { 1 } else { -1 };
        let slug_rank = |row: u32| columns.slug_ranks[row as usize];
        leaderboard.sort_unstable_by_key(|(value, row)| (sign * i64::from(*value), slug_rank(*row)));
        let (values, rows): (Vec<i32>, Vec<u32>) = leaderboard.into_iter().unzip();
        columns.section(&format!("leaderboard/{metric}"), &rows)?;
        columns.section(&format!("leaderboard/{metric}="), &values)
    }

    fn write_startups(&self, writer: &mut ArchiveWriter<'_>, terms: &FacetTerms) -> io::Result<()> {
        let (startups, stats) = (&self.dataset.startups, &self.derived.startups);
        let mut columns = self.begin(writer, Table::Startups)?;
        let prominence = &self.derived.prominence.startups;
        self.write_names(&mut columns, Table::Startups, |row| &startups[row].aliases, prominence)?;

        columns.name_order(|row| &startups[row].name)?;
        columns.order("total_raised_usd", |row| stats[row].total_raised_usd.map(dollars))?;
        columns.order("round_count", |row| Some(stats[row].round_count))?;
        columns.order("last_round_on", |row| stats[row].last_round_on.map(PartialDate::code))?;
        columns.order("founded_year", |row| startups[row].founded_year)?;

        columns.word_facet(Facet::Stage, |row| startups[row].own.stage)?;
        self.write_sector_facet(&mut columns, |row| &startups[row].sectors)?;
        columns.country_facet(|row| startups[row].country)?;
        columns.word_facet(Facet::Status, |row| startups[row].own.status)?;
        columns.term_facet(Facet::City, &terms.cities[1], |row| row)?;
        columns.term_facet(Facet::Website, &terms.websites[1], |row| row)?;
        terms.write_identifiers(&mut columns, |row| &startups[row].identifiers)?;
        self.write_investor_facet(&mut columns, |row| &stats[row].investors)
    }

    fn write_rounds(&self, writer: &mut ArchiveWriter<'_>, terms: &FacetTerms) -> io::Result<()> {
        let (rounds, startups) = (&self.dataset.rounds, &self.dataset.startups);
        let startup = |row: usize| self.orders.new_row(Table::Startups, rounds[row].startup);
        let mut columns = self.begin(writer, Table::Rounds)?;
        let credible = |row: usize| self.derived.limits.credible(&rounds[row]);
        columns.numbers("amount_usd", |row| credible(row).unwrap_or(NONE_U64))?;
        columns.numbers("announced_on", |row| code(rounds[row].announced_on))?;
        columns.numbers("startup", startup)?;
        columns.numbers("stage", |row| rounds[row].stage.map_or(NONE_U8, |stage| stage.index() as u8))?;
        let mut starts: Vec<u64> = vec![0];
        let mut investors: Vec<u32> = Vec::new();
        let led = |investor: &DatasetInvestor| investor.lead == Some(true);
        let firm = |investor: &DatasetInvestor| self.orders.new_row(Table::Firms, investor.firm);
        for row in &self.orders[Table::Rounds].old {
            let joined = rounds[*row as usize].investors.iter();
            investors.extend(joined.map(|investor| firm(investor) << 1 | u32::from(led(investor))));
            starts.push(investors.len() as u64);
        }
        columns.section("investors", &investors)?;
        columns.section("investors#", &starts)?;

        columns.order("announced_on", |row| rounds[row].announced_on.map(PartialDate::code))?;
        columns.order("amount_usd", |row| credible(row).map(dollars))?;

        columns.word_facet(Facet::Stage, |row| rounds[row].stage)?;
        self.write_sector_facet(&mut columns, |row| &startups[rounds[row].startup as usize].sectors)?;
        columns.country_facet(|row| startups[rounds[row].startup as usize].country)?;
        columns.single_facet(Facet::Startup, startups.len(), |row| Some(startup(row)))?;
        self.write_investor_facet(&mut columns, |row| &rounds[row].investors)?;
        columns.facet(Facet::Lead, self.dataset.firms.len(), |row, each| {
            rounds[row].investors.iter().filter(|investor| led(investor)).map(firm).for_each(each);
        })?;
        columns.term_facet(Facet::City, &terms.cities[1], |row| rounds[row].startup as usize)?;
        columns.facet(Facet::Kind, FirmKind::ALL.len(), |row, each| {
            let kind_of = |investor: &DatasetInvestor| self.dataset.firms[investor.firm as usize].own.kind;
            let kinds = rounds[row].investors.iter().filter_map(kind_of);
            let kinds = kinds.fold(0_u32, |kinds, kind| kinds | 1 << kind.index());
            (0..FirmKind::ALL.len() as u32).filter(|kind| kinds >> kind & 1 == 1).for_each(each);
        })
    }

    fn write_people(&self, writer: &mut ArchiveWriter<'_>, terms: &FacetTerms) -> io::Result<()> {
        let people = &self.dataset.people;
        let mut columns = self.begin(writer, Table::People)?;
        self.write_names(&mut columns, Table::People, |row| &people[row].aliases, &self.derived.prominence.people)?;
        columns.name_order(|row| &people[row].name)?;
        columns.word_facet(Facet::Kind, |row| Some(people[row].organization_kind))?;
        columns.country_facet(|row| country_of(&self.dataset, &people[row]).map(|(country, _)| country))?;
        for (facet, kind, table) in [
            (Facet::Firm, OrganizationKind::Firm, Table::Firms),
            (Facet::Startup, OrganizationKind::Startup, Table::Startups),
        ] {
            columns.single_facet(facet, self.rows(table), |row| {
                let person = &people[row];
                (person.organization_kind == kind).then(|| self.orders.new_row(table, person.organization))
            })?;
        }
        columns.single_facet(Facet::City, terms.cities[0].0, |row| {
            terms.cities[people[row].organization_kind.index()].1[people[row].organization as usize]
        })?;
        columns.facet(Facet::Role, Role::ALL.len(), |row, each| {
            terms.roles(row).iter().for_each(|role| each(role.index() as u32));
        })?;
        columns.term_facet(Facet::Title, &terms.titles, |row| row)?;
        terms.write_identifiers(&mut columns, |row| &people[row].identifiers)
    }

    fn write_reviews(&self, writer: &mut ArchiveWriter<'_>) -> io::Result<()> {
        let reviews = &self.dataset.reviews;
        let content = |row: usize| reviews[row].published();
        let mut columns = self.begin(writer, Table::Reviews)?;
        columns.section("priors", &[self.derived.priors])?;
        columns.order("created_on", |row| Some(reviews[row].published_on().code()))?;
        columns.order("rating", |row| Some(content(row)?.rating))?;
        columns.order("responsiveness", |row| content(row)?.responsiveness)?;
        columns.order("fairness", |row| content(row)?.fairness)?;
        columns.order("value_add", |row| content(row)?.value_add)?;
        columns.single_facet(Facet::Firm, self.dataset.firms.len(), |row| {
            Some(self.orders.new_row(Table::Firms, reviews[row].firm))
        })?;
        columns.word_facet(Facet::Status, |row| reviews[row].listed_status())?;
        columns.word_facet(Facet::Stage, |row| content(row)?.stage)?;
        columns.single_facet(Facet::Ghosted, 2, |row| content(row)?.ghosted.map(u32::from))?;
        columns.single_facet(Facet::Rating, 6, |row| Some(u32::from(content(row)?.rating)))
    }

    fn write_sectors(&self, writer: &mut ArchiveWriter<'_>) -> io::Result<()> {
        let (sectors, stats) = (&self.dataset.sectors, &self.derived.sectors);
        let mut columns = self.begin(writer, Table::Sectors)?;
        self.write_names(&mut columns, Table::Sectors, |_| &[], &self.derived.prominence.sectors)?;
        let parent = |row: usize| Some(self.orders.new_row(Table::Sectors, sectors[row].parent?));
        columns.numbers("parent", |row| parent(row).unwrap_or(NONE_U32))?;
        columns.name_order(|row| &sectors[row].name)?;
        columns.order("vc_count", |row| Some(stats[row].vc_count))?;
        columns.order("startup_count", |row| Some(stats[row].startup_count))?;
        columns.order("average_health_score", |row| stats[row].average_health_tenths)?;
        columns.single_facet(Facet::Parent, sectors.len(), parent)
    }
}

#[derive(Debug, Serialize)]
pub struct NearDuplicateRecord<'a> {
    pub record: Reference<&'a str>,
    pub main: Reference<&'a str>,
    pub reason: String,
}

/// An amount as a sort key; no amount exceeds the range.
fn dollars(usd: u64) -> i64 {
    i64::try_from(usd).unwrap_or(i64::MAX)
}

fn code(date: Option<PartialDate>) -> i32 {
    date.map_or(NONE_I32, PartialDate::code)
}
