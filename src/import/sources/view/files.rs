//! Files of a view. Each is created with its first line.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use crate::sources::view::Detail;
use crate::sources::view::record::ViewStatement;
use crate::sources::{EntityKind, Source, SourceError};
use data::import::csv_table::TableRow;
use data::import::csv_writer::TableWriter;
use data::import::{provenance, rows};
use data::vocabulary::Vocabulary as _;

pub(super) struct Files<'a> {
    folder: &'a Path,
    detail: Detail<'a>,
    sources: &'a [Source],
    /// By the name of the file.
    tables: BTreeMap<&'static str, TableWriter>,
}

impl<'a> Files<'a> {
    pub(super) fn new(folder: &'a Path, sources: &'a [Source], detail: Detail<'a>) -> Self {
        Self { folder, detail, sources, tables: BTreeMap::new() }
    }

    pub(super) fn line<T: TableRow>(&mut self, fields: &[impl AsRef<[u8]>]) -> Result<(), SourceError> {
        let folder = self.folder;
        let io = |error| SourceError::io(&folder.join(T::FILE), error);
        let table = match self.tables.entry(T::FILE) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(TableWriter::create::<T>(folder).map_err(io)?),
        };
        table.row(fields).map_err(io)
    }

    pub(super) fn write_row(&mut self, kind: EntityKind, fields: &[String]) -> Result<(), SourceError> {
        match kind {
            EntityKind::Firm => self.line::<rows::DatasetFirm>(fields),
            EntityKind::Person => self.line::<rows::DatasetPerson>(fields),
            EntityKind::Review => self.line::<rows::DatasetReview>(fields),
            EntityKind::Round => self.line::<rows::DatasetRound>(fields),
            EntityKind::Sector => self.line::<rows::DatasetSector>(fields),
            EntityKind::Startup => self.line::<rows::DatasetStartup>(fields),
        }
    }

    pub(super) fn write_provenance(
        &mut self,
        kind: EntityKind,
        slug: &str,
        statement: &ViewStatement,
        value: &str,
        original: &str,
    ) -> Result<(), SourceError> {
        if matches!(self.detail, Detail::Tables) || matches!(kind, EntityKind::Review | EntityKind::Sector) {
            return Ok(());
        }
        let (first_seen, last_seen) = (statement.first_seen.to_string(), statement.last_seen.to_string());
        let source = &*self.sources[usize::from(statement.source)].id;
        let original = if original == value { "" } else { original };
        let ViewStatement { field, source_key, .. } = statement;
        let fields = [kind.name(), slug, field, value, original, source, source_key, &first_seen, &last_seen];
        self.line::<provenance::SourceStatement>(&fields)
    }

    pub(super) fn finish(mut self) -> Result<(), SourceError> {
        let sources = if matches!(self.detail, Detail::Tables) { &[] } else { self.sources };
        let detail = self.detail;
        for source in sources.iter().filter(|source| detail.has_source(source)) {
            let (priority, imported_on) = (source.priority.to_string(), source.imported_on.to_string());
            let fields = [&source.id, &source.title, &source.license, &source.url, &priority, &imported_on];
            self.line::<provenance::Source>(&fields)?;
        }
        let folder = self.folder;
        let mut tables = self.tables.into_iter();
        tables.try_for_each(|(file, table)| table.finish().map_err(|error| SourceError::io(&folder.join(file), error)))
    }
}
