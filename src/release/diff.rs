use std::collections::BTreeMap;

use crate::error::At;
use crate::{ReleaseError, ReleaseStore};
use catalog::{ChangeCounts, row_changes};
use data::{SnapshotVersion, Table};

impl ReleaseStore {
    /// Counts the records of each table that differ between two releases. Reads the records of both.
    pub fn difference(
        &self,
        before: SnapshotVersion,
        after: SnapshotVersion,
    ) -> Result<BTreeMap<Table, ChangeCounts>, ReleaseError> {
        let (before, after) = (self.open_tables(before)?, self.open_tables(after)?);
        let count = |table: Table| {
            let changes = row_changes(table, &before, &after).at(self.folder())?;
            Ok((table, ChangeCounts::from_changes(&changes)))
        };
        Table::ALL.into_iter().map(count).collect()
    }
}
