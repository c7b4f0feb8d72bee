//! Files of a view. Each is created with its first line.

use std::io;
use std::path::{Path, PathBuf};

use crate::sources::view::record::ViewStatement;
use crate::sources::view::{Detail, is_described};
use crate::sources::{EntityKind, Source, SourceError};
pub(super) use data::import::csv_table::TableRow;
use data::import::csv_writer::TableWriter;
use data::import::identifiers::RecordIdentifier;
use data::import::redirects::Redirect;
use data::import::{provenance, rows};
use data::vocabulary::Vocabulary as _;

pub(super) struct Files {
    folder: PathBuf,
    detail: Detail,
    sources: Vec<Source>,
    /// Tables by kind.
    tables: [Option<CsvFile>; 5],
    identifiers: Option<CsvFile>,
    provenance: Option<CsvFile>,
}

impl Files {
    pub(super) fn new(folder: &Path, sources: &[Source], detail: Detail) -> Self {
        let (folder, sources) = (folder.to_owned(), sources.to_vec());
        Self { folder, detail, sources, tables: Default::default(), identifiers: None, provenance: None }
    }

    pub(super) fn write_row(&mut self, kind: EntityKind, fields: &[String]) -> Result<(), SourceError> {
        let (file, folder) = (&mut self.tables[kind.index()], &self.folder);
        let file = match kind {
            EntityKind::Firm => CsvFile::open::<rows::DatasetFirm>(file, folder),
            EntityKind::Person => CsvFile::open::<rows::DatasetPerson>(file, folder),
            EntityKind::Round => CsvFile::open::<rows::DatasetRound>(file, folder),
            EntityKind::Sector => CsvFile::open::<rows::DatasetSector>(file, folder),
            EntityKind::Startup => CsvFile::open::<rows::DatasetStartup>(file, folder),
        };
        file?.line(fields)
    }

    pub(super) fn write_identifier(
        &mut self,
        kind: EntityKind,
        slug: &str,
        scheme: &str,
        value: &str,
    ) -> Result<(), SourceError> {
        let file = CsvFile::open::<RecordIdentifier>(&mut self.identifiers, &self.folder)?;
        file.line(&[kind.name(), slug, scheme, value])
    }

    pub(super) fn write_provenance(
        &mut self,
        kind: EntityKind,
        slug: &str,
        statement: &ViewStatement,
        value: &str,
        original: &str,
    ) -> Result<(), SourceError> {
        if self.detail == Detail::Tables || !is_described(kind) {
            return Ok(());
        }
        let (first_seen, last_seen) = (statement.first_seen.to_string(), statement.last_seen.to_string());
        let source = &*self.sources[usize::from(statement.source)].id;
        let original = if original == value { "" } else { original };
        CsvFile::open::<provenance::SourceStatement>(&mut self.provenance, &self.folder)?.line(&[
            kind.name(),
            slug,
            &statement.field,
            value,
            original,
            source,
            &statement.source_key,
            &first_seen,
            &last_seen,
        ])
    }

    pub(super) fn write_redirects(&mut self, redirects: Vec<(EntityKind, &str, &str)>) -> Result<(), SourceError> {
        let mut file = None;
        for (kind, slug, target) in redirects {
            CsvFile::open::<Redirect>(&mut file, &self.folder)?.line(&[kind.name(), slug, target])?;
        }
        file.map_or(Ok(()), CsvFile::finish)
    }

    /// Writes the sources and flushes all files.
    pub(super) fn finish(self) -> Result<(), SourceError> {
        let mut file = None;
        for source in self.sources.iter().filter(|_| self.detail == Detail::Provenance) {
            let (priority, imported_on) = (source.priority.to_string(), source.imported_on.to_string());
            let line = [&source.id, &source.title, &source.license, &source.url, &priority, &imported_on];
            CsvFile::open::<provenance::Source>(&mut file, &self.folder)?.line(&line)?;
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
    /// Opens a file; creates it with its header on the first call.
    fn open<'a, T: TableRow>(file: &'a mut Option<Self>, folder: &Path) -> Result<&'a mut Self, SourceError> {
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
