//! The files of a view, each of which is created when it gets its first line.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::data::import::csv_table::TableRow;
use crate::data::import::rows;
use crate::data::vocabulary::Vocabulary as _;
use crate::sources::view::record::Said;
use crate::sources::view::{Detail, is_described};
use crate::sources::{EntityKind, Source, SourceError};

pub(super) struct Files {
    folder: PathBuf,
    detail: Detail,
    sources: Vec<Source>,
    /// By kind.
    tables: [Option<CsvFile>; 5],
    identifiers: Option<CsvFile>,
    provenance: Option<CsvFile>,
}

const IDENTIFIERS: (&str, &str) = ("identifiers.csv", "kind,slug,scheme,value");
const SOURCES: (&str, &str) = ("sources.csv", "id,title,license,url,priority,imported_on");
const PROVENANCE: (&str, &str) =
    ("provenance.csv", "kind,slug,field,value,original,source,source_key,first_seen,last_seen");
const REDIRECTS: (&str, &str) = ("redirects.csv", "kind,slug,target");

/// The file of a kind's records and its header.
fn table(kind: EntityKind) -> (&'static str, &'static str) {
    match kind {
        EntityKind::Firm => (rows::Firm::FILE, rows::Firm::HEADER),
        EntityKind::Person => (rows::Person::FILE, rows::Person::HEADER),
        EntityKind::Round => (rows::Round::FILE, rows::Round::HEADER),
        EntityKind::Sector => (rows::Sector::FILE, rows::Sector::HEADER),
        EntityKind::Startup => (rows::Startup::FILE, rows::Startup::HEADER),
    }
}

impl Files {
    pub(super) fn new(folder: &Path, sources: &[Source], detail: Detail) -> Self {
        let (folder, sources) = (folder.to_owned(), sources.to_vec());
        Self { folder, detail, sources, tables: Default::default(), identifiers: None, provenance: None }
    }

    /// Adds a record.
    pub(super) fn row(&mut self, kind: EntityKind, fields: &[String]) -> Result<(), SourceError> {
        CsvFile::of(&mut self.tables[kind.index()], &self.folder, table(kind))?.line(fields)
    }

    pub(super) fn identifier(
        &mut self,
        kind: EntityKind,
        slug: &str,
        scheme: &str,
        value: &str,
    ) -> Result<(), SourceError> {
        CsvFile::of(&mut self.identifiers, &self.folder, IDENTIFIERS)?.line(&[kind.name(), slug, scheme, value])
    }

    pub(super) fn provenance(
        &mut self,
        kind: EntityKind,
        slug: &str,
        said: &Said,
        value: &str,
        original: &str,
    ) -> Result<(), SourceError> {
        if self.detail == Detail::Tables || !is_described(kind) {
            return Ok(());
        }
        let (first_seen, last_seen) = (said.first_seen.to_string(), said.last_seen.to_string());
        let source = &*self.sources[usize::from(said.source)].id;
        let original = if original == value { "" } else { original };
        CsvFile::of(&mut self.provenance, &self.folder, PROVENANCE)?.line(&[
            kind.name(),
            slug,
            &said.field,
            value,
            original,
            source,
            &said.source_key,
            &first_seen,
            &last_seen,
        ])
    }

    pub(super) fn redirects(&mut self, redirects: Vec<(EntityKind, &str, &str)>) -> Result<(), SourceError> {
        let mut file = None;
        for (kind, slug, target) in redirects {
            CsvFile::of(&mut file, &self.folder, REDIRECTS)?.line(&[kind.name(), slug, target])?;
        }
        file.map_or(Ok(()), CsvFile::finish)
    }

    /// Writes the sources and what is still in memory.
    pub(super) fn finish(self) -> Result<(), SourceError> {
        let mut file = None;
        for source in self.sources.iter().filter(|_| self.detail == Detail::Provenance) {
            let (priority, imported_on) = (source.priority.to_string(), source.imported_on.to_string());
            let line = [&source.id, &source.title, &source.license, &source.url, &priority, &imported_on];
            CsvFile::of(&mut file, &self.folder, SOURCES)?.line(&line)?;
        }
        let files = self.tables.into_iter().chain([self.identifiers, self.provenance, file]);
        files.flatten().try_for_each(CsvFile::finish)
    }
}

struct CsvFile {
    path: PathBuf,
    csv: csv::Writer<BufWriter<File>>,
}

impl CsvFile {
    /// The file, created with its header if it has no line yet.
    fn of<'a>(
        file: &'a mut Option<Self>,
        folder: &Path,
        (name, header): (&str, &str),
    ) -> Result<&'a mut Self, SourceError> {
        let created = if file.is_none() {
            let path = folder.join(name);
            let out = File::create(&path).map_err(|error| SourceError::io(&path, error))?;
            let out = BufWriter::with_capacity(1 << 16, out);
            let csv = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(out);
            let mut created = Self { path, csv };
            created.line(&header.split(',').collect::<Vec<_>>())?;
            Some(created)
        } else {
            None
        };
        match created {
            Some(created) => Ok(file.insert(created)),
            None => file.as_mut().ok_or_else(|| SourceError::io(folder, io::Error::other("no file"))),
        }
    }

    fn line<F: AsRef<str>>(&mut self, fields: &[F]) -> Result<(), SourceError> {
        let written = self.csv.write_record(fields.iter().map(AsRef::as_ref));
        written.map_err(|error| SourceError::io(&self.path, error.into()))
    }

    fn finish(mut self) -> Result<(), SourceError> {
        self.csv.flush().map_err(|error| SourceError::io(&self.path, error))
    }
}
