//! The text indexes of a release: one folder for each table that has names.

use std::path::Path;

use crate::catalog::Texts;
use crate::data::{ArchiveError, Progress, Snapshot, SnapshotVersion, Table};
use crate::release::error::At;
use crate::release::{ReleaseError, permissions};
use crate::search::{SearchError, TextIndex};

/// Writes the text indexes of `snapshot` to a new folder.
pub(crate) fn create(snapshot: &Snapshot, folder: &Path, progress: &dyn Progress) -> Result<(), ReleaseError> {
    permissions::create_folder(folder, false).at(folder)?;
    for table in Texts::TABLES {
        let names = snapshot.names(table);
        progress.step(&format!("text/{}", table.name()), 0);
        TextIndex::create(&names, &folder.join(table.name()))
            .map_err(|error| ReleaseError::Text { table: table.name(), error })?;
        progress.done();
    }
    Ok(())
}

/// Opens the text indexes of `snapshot` in `folder`.
pub(crate) fn open(snapshot: &Snapshot, folder: &Path) -> Result<Texts, ReleaseError> {
    let of = |table: Table| {
        TextIndex::open(&folder.join(table.name()), &snapshot.names(table))
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
