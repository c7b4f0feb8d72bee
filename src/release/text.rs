//! The text indexes of a release: the files of each table that has names are below the name of the table.

use std::mem;

use crate::catalog::Texts;
use crate::data::{ArchiveError, Progress, Snapshot, SnapshotVersion, Table};
use crate::release::ReleaseError;
use crate::search::{IndexFiles, SearchError, TextIndex};

/// Builds the text indexes of `snapshot`.
pub(crate) fn create(snapshot: &Snapshot, progress: &dyn Progress) -> Result<IndexFiles, ReleaseError> {
    let mut files = IndexFiles::new();
    for table in Texts::TABLES {
        let name = table.name();
        progress.step(&format!("text/{name}"), 0);
        let index = TextIndex::create(&snapshot.names(table));
        let index = index.map_err(|error| ReleaseError::Text { table: name, error })?;
        files.extend(index.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        progress.done();
    }
    Ok(files)
}

/// Opens the text indexes of `snapshot`.
pub(crate) fn open(snapshot: &Snapshot, mut files: IndexFiles) -> Result<Texts, ReleaseError> {
    let mut of = |table: Table| {
        let prefix = format!("{}/", table.name());
        let of_table = files.iter_mut().filter_map(|(path, bytes)| {
            let file = path.strip_prefix(&prefix)?;
            Some((file.to_owned(), mem::take(bytes)))
        });
        let of_table = of_table.collect();
        TextIndex::open(of_table, &snapshot.names(table))
            .map_err(|error| release_error(snapshot.version(), table, &error))
    };
    Ok(Texts {
        firms: of(Table::Firms)?,
        startups: of(Table::Startups)?,
        people: of(Table::People)?,
        sectors: of(Table::Sectors)?,
    })
}

/// The error of a release whose text index cannot be opened.
fn release_error(version: SnapshotVersion, table: Table, error: &SearchError) -> ReleaseError {
    let reason = format!("text/{}: {error}", table.name());
    match error {
        SearchError::Format { .. } | SearchError::Tables(ArchiveError::OtherFormat { .. }) => {
            ReleaseError::OtherFormat { version, reason }
        }
        _ => ReleaseError::Damaged { version, reason },
    }
}
