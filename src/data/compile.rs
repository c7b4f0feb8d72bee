//! Compiles a checked dataset into the archive of a snapshot.
//!
//! Tables are sorted first, so that everything written afterwards (records, columns, facets, sort orders) uses the final
//! row numbers. Records and columns are computed on all processors and written in order as a stream, with some in memory at a
//! time.

mod columns;
mod quality;
mod terms;

pub use quality::DatasetQuality;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::archive::column_writer::SectionTask;
use crate::archive::record_text::RecordBuffer;
use crate::archive::records::{RecordStore, RecordWriter};
use crate::archive::writer::Sections;
use crate::archive::{AlignedBytes, ArchiveWriter};
use crate::compile::terms::FacetTerms;
use crate::derive::Derived;
use crate::derive::alias_candidates::{self, AliasCandidate};
use crate::derive::near_duplicates::{self, NearDuplicate};
use crate::derive::record::reference;
use crate::derive::row_order::RowOrders;
use crate::import::date_precision;
use crate::import::known_aliases;
use crate::import::redirects::Redirect;
use crate::import::{Dataset, DatasetInput};
use crate::model::Reference;
use crate::parallel::{both, compute_in_order, processors};
use crate::snapshot::MetaSection;
use crate::{
    ArchiveError, Checksums, DiagnosticReport, NoProgress, Progress, Snapshot, SnapshotVersion, Table, import,
};

/// Number of records that a thread serializes at a time: few, since some have long texts.
const RECORDS_AT_A_TIME: usize = 32;

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

    /// The number of records of all tables.
    pub fn records(&self) -> u64 {
        Table::ALL.into_iter().map(|table| self.rows(table) as u64).sum()
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

    /// Writes the archive to `tables` and its records to `records`, both at once and each on all processors. The bytes do not
    /// depend on the number of threads.
    pub fn write(
        &self,
        tables: &mut dyn Write,
        records: &mut (dyn Write + Send),
        progress: &dyn Progress,
    ) -> io::Result<()> {
        let mut writer = ArchiveWriter::new(tables)?;
        let rows = Table::ALL.map(|table| self.rows(table) as u32).to_vec();
        let section = MetaSection { meta: self.dataset.meta.clone(), rows };
        writer.section("meta", &serde_json::to_vec(&section)?)?;
        writer.section("sources", &serde_json::to_vec(&self.dataset.provenance.sources)?)?;
        let mut records = RecordWriter::new(records);
        let mut done = 0;
        let mut advance = |written: usize| {
            done += written as u64;
            progress.advance(done);
        };
        let write_records =
            || Table::ALL.into_iter().map(|table| self.write_records(&mut records, table, &mut advance)).collect();
        let write_columns = || {
            let (terms, sections) = FacetTerms::compute(&self.dataset);
            writer.append(sections)?;
            let mut tasks = Vec::new();
            self.write_firms(&mut tasks, &terms);
            self.write_startups(&mut tasks, &terms);
            self.write_rounds(&mut tasks, &terms);
            self.write_people(&mut tasks, &terms);
            self.write_reviews(&mut tasks);
            self.write_sectors(&mut tasks);
            write_sections(&mut writer, tasks)
        };
        let (written, columns): (io::Result<Vec<WrittenRecords>>, _) = both(write_records, write_columns);
        columns?;
        let mut tasks = Vec::new();
        for (table, written) in Table::ALL.into_iter().zip(written?) {
            self.write_record_columns(&mut tasks, table, written);
        }
        write_sections(&mut writer, tasks)?;
        writer.section("records/sha256", &records.finish()?)?;
        writer.finish()
    }

    pub fn snapshot(&self) -> Result<Snapshot, ArchiveError> {
        let (mut tables, mut records) = (Vec::new(), Vec::new());
        self.write(&mut tables, &mut records, &NoProgress).expect("memory accepts all");
        let records = RecordStore::Memory(Arc::new(records));
        Snapshot::open(Arc::new(AlignedBytes::copy(&tables)), records, Checksums::Verify)
    }

    /// Writes the records of a table, some of them at once. `advance` gets the number of those that were written.
    fn write_records(
        &self,
        out: &mut RecordWriter<'_>,
        table: Table,
        advance: &mut dyn FnMut(usize),
    ) -> io::Result<WrittenRecords> {
        let old = &self.orders[table].old;
        let mut written = WrittenRecords {
            starts: Vec::with_capacity(old.len() + 1),
            known: vec![0; table.fields().len()],
            used: Vec::new(),
        };
        let serialize = |rows: &[u32]| self.serialize_records(table, rows);
        let append = |chunk: io::Result<RecordChunk>| {
            let chunk = chunk?;
            let start = out.length();
            written.starts.extend(chunk.starts.iter().map(|place| start + place));
            written.known.iter_mut().zip(chunk.known).for_each(|(known, more)| *known += more);
            written.used.extend(chunk.used);
            out.append(&chunk.text)?;
            advance(chunk.starts.len());
            Ok::<_, io::Error>(())
        };
        compute_in_order(processors(), old.chunks(RECORDS_AT_A_TIME), serialize, append)?;
        written.starts.push(out.length());
        Ok(written)
    }

    fn serialize_records(&self, table: Table, rows: &[u32]) -> io::Result<RecordChunk> {
        let provenance = &self.dataset.provenance;
        let mut record = RecordBuffer::default();
        let mut chunk = RecordChunk { known: vec![0; table.fields().len()], ..RecordChunk::default() };
        for row in rows {
            chunk.starts.push(chunk.text.len() as u64);
            let written = record.write(&mut chunk.text, &self.dataset, &self.derived, table, *row as usize)?;
            for (field, known) in chunk.known.iter_mut().enumerate() {
                *known += u32::from(written.is_known(field));
            }
            if provenance.covers(table) {
                let statements = provenance.statements(table, *row);
                chunk.used.extend(statements.iter().map(|statement| statement.is_used(table, &written)));
            }
        }
        Ok(chunk)
    }

    /// Writes what the other sections say of the records of a table, and its slugs without a record.
    fn write_record_columns<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>, table: Table, written: WrittenRecords) {
        let (name, provenance) = (table.name(), &self.dataset.provenance);
        let WrittenRecords { starts, known, used } = written;
        tasks.push(Box::new(move |out| {
            out.add(&format!("{name}/starts"), &starts);
            out.add(&format!("{name}/known"), &known);
            let mut used = used.into_iter();
            let covered = self.orders[table].old.iter().filter(|_| provenance.covers(table));
            let statements = covered.map(|row| provenance.stored(table, *row, &mut used));
            out.add_texts(&format!("{name}/statements"), statements);
            self.add_redirects(out, table);
            self.add_gone(out, table);
            Ok(())
        }));
    }

    fn add_redirects(&self, out: &mut Sections, table: Table) {
        let of_table = self.dataset.redirects.iter().filter(|redirect| redirect.table == table);
        let target = |redirect: &Redirect| self.orders.new_row(table, redirect.target);
        let mut redirects: Vec<_> = of_table.map(|redirect| (redirect.slug.as_str(), target(redirect))).collect();
        redirects.sort_unstable();
        let (slugs, rows): (Vec<&str>, Vec<u32>) = redirects.into_iter().unzip();
        out.add_texts(&format!("{}/merged", table.name()), slugs.into_iter());
        out.add(&format!("{}/merged=", table.name()), &rows);
    }

    fn add_gone(&self, out: &mut Sections, table: Table) {
        let of_table = self.dataset.gone.iter().filter(|gone| gone.table == table);
        let mut gone: Vec<(&str, &str)> = of_table.map(|gone| (gone.slug.as_str(), gone.name.as_str())).collect();
        if gone.is_empty() {
            return;
        }
        gone.sort_unstable();
        out.add_texts(&format!("{}/gone", table.name()), gone.iter().map(|(slug, _)| *slug));
        out.add_texts(&format!("{}/gone_names", table.name()), gone.iter().map(|(_, name)| *name));
    }
}

/// What was written of the records of a table.
struct WrittenRecords {
    /// Where each record starts, and the last ends.
    starts: Vec<u64>,
    /// The number of records with a value for each field.
    known: Vec<u32>,
    /// For each statement about them true if its record has the value.
    used: Vec<bool>,
}

/// Some records of a table as they are stored.
#[derive(Default)]
struct RecordChunk {
    text: Vec<u8>,
    /// Where each record starts in the text.
    starts: Vec<u64>,
    known: Vec<u32>,
    used: Vec<bool>,
}

/// Computes sections on all processors, and writes them in the order of their tasks.
fn write_sections(writer: &mut ArchiveWriter<'_>, tasks: Vec<SectionTask<'_>>) -> io::Result<()> {
    let compute = |task: SectionTask<'_>| {
        let mut sections = Sections::default();
        task(&mut sections).map(|()| sections)
    };
    compute_in_order(processors(), tasks.into_iter(), compute, |sections| writer.append(sections?))
}

#[derive(Debug, Serialize)]
pub struct NearDuplicateRecord<'a> {
    pub record: Reference<&'a str>,
    pub main: Reference<&'a str>,
    pub reason: String,
}
