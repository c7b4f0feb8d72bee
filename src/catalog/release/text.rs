//! The text indexes of a release: one folder for each table that has names.

use std::path::Path;

use super::ReleaseError;
use crate::dataset::{Names, Progress, Snapshot, Table};

/// The tables that are searched by name.
pub(super) const TABLES: [Table; 4] = [Table::Firms, Table::Startups, Table::People, Table::Sectors];

/// Writes the text indexes of `snapshot` to `folder`, which is made.
pub(super) fn create(snapshot: &Snapshot, folder: &Path, progress: &dyn Progress) -> Result<(), ReleaseError> {
    let failed = |error: std::io::Error| ReleaseError::Text { reason: error.to_string() };
    std::fs::create_dir(folder).map_err(failed)?;
    for table in TABLES {
        let names = snapshot.names(table);
        progress.step(&format!("text/{}", table.name()), u64::from(names.len()));
        let place = folder.join(table.name());
        std::fs::create_dir(&place).map_err(failed)?;
        std::fs::write(place.join("rows"), names.len().to_string()).map_err(failed)?;
        progress.done();
    }
    Ok(())
}

/// Opens them.
pub(super) fn open(snapshot: &Snapshot, folder: &Path) -> Result<(), String> {
    for table in TABLES {
        let rows =
            std::fs::read_to_string(folder.join(table.name()).join("rows")).map_err(|error| error.to_string())?;
        if rows != snapshot.names(table).len().to_string() {
            return Err(format!("text/{} has other rows than the table", table.name()));
        }
    }
    Ok(())
}
