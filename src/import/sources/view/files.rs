//! The files of a view, each of which is created when it gets its first line.

use std::io;
use std::path::{Path, PathBuf};

use crate::sources::view::record::Said;
use crate::sources::view::{Detail, is_described};
use crate::sources::{EntityKind, Source, SourceError};
pub(super) use data::import::csv_table::TableRow;
use data::import::csv_writer::TableWriter;
use data::import::identifiers::Carried;
use data::import::redirects::Redirect;
use data::import::{provenance, rows};
use data::vocabulary::Vocabulary as _;

pub(super) struct Files {
    folder: PathBuf,
    detail: Detail,
    sources: Vec<Source>,
    /// By kind.
    tables: [Option<CsvFile>; 5],
    identifiers: Option<CsvFile>,
    provenance: Option<CsvFile>,
}

impl Files {
    pub(super) fn new(folder: &Path, sources: &[Source], detail: Detail) -> Self {
        let (folder, sources) = (folder.to_owned(), sources.to_vec());
        Self { folder, detail, sources, tables: Default::default(), identifiers: None, provenance: None }
    }

    /// Adds a record.
    pub(super) fn row(&mut self, kind: EntityKind, fields: &[String]) -> Result<(), SourceError> {
        let (file, folder) = (&mut self.tables[kind.index()], &self.folder);
        let file = match kind {
            EntityKind::Firm => CsvFile::of::<rows::Firm>(file, folder),
            EntityKind::Person => CsvFile::of::<rows::Person>(file, folder),
            EntityKind::Round => CsvFile::of::<rows::Round>(file, folder),
            EntityKind::Sector => CsvFile::of::<rows::Sector>(file, folder),
            EntityKind::Startup => CsvFile::of::<rows::Startup>(file, folder),
        };
        file?.line(fields)
    }

    pub(super) fn identifier(
        &mut self,
        kind: EntityKind,
        slug: &str,
        scheme: &str,
        value: &str,
    ) -> Result<(), SourceError> {
        CsvFile::of::<Carried>(&mut self.identifiers, &self.folder)?.line(&[kind.name(), slug, scheme, value])
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
        CsvFile::of::<provenance::Statement>(&mut self.provenance, &self.folder)?.line(&[
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
            CsvFile::of::<Redirect>(&mut file, &self.folder)?.line(&[kind.name(), slug, target])?;
        }
        file.map_or(Ok(()), CsvFile::finish)
    }

    /// Writes the sources and what is still in memory.
    pub(super) fn finish(self) -> Result<(), SourceError> {
        let mut file = None;
        for source in self.sources.iter().filter(|_| self.detail == Detail::Provenance) {
            let (priority, imported_on) = (source.priority.to_string(), source.imported_on.to_string());
            let line = [&source.id, &source.title, &source.license, &source.url, &priority, &imported_on];
            CsvFile::of::<provenance::Source>(&mut file, &self.folder)?.line(&line)?;
        }
        let files = self.tables.into_iter().chain([self.identifiers, self.provenance, file]);
        files.flatten().try_for_each(CsvFile::finish)
    }
}

struct CsvFile {
    path: PathBuf,
    table: TableWriter,
}

impl CsvFile {
    /// The file, created with its header if it has no line yet.
    fn of<'a, T: TableRow>(file: &'a mut Option<Self>, folder: &Path) -> Result<&'a mut Self, SourceError> {
        if file.is_none() {
            let path = folder.join(T::FILE);
            let table = TableWriter::create::<T>(folder).map_err(|error| SourceError::io(&path, error))?;
            *file = Some(Self { path, table });
        }
        file.as_mut().ok_or_else(|| SourceError::io(folder, io::Error::other("no file")))
    }

    fn line<F: AsRef<[u8]>>(&mut self, fields: &[F]) -> Result<(), SourceError> {
        self.table.row(fields).map_err(|error| SourceError::io(&self.path, error))
    }

    fn finish(self) -> Result<(), SourceError> {
        self.table.finish().map_err(|error| SourceError::io(&self.path, error))
    }
}
