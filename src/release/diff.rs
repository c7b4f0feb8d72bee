//! What changed from one release to another.

use std::cmp::Ordering;

use serde::Serialize;

use crate::data::{Snapshot, SnapshotVersion, Table};
use crate::release::{ReleaseError, ReleaseStore};

/// How many rows of a table came, went and changed. A row is the same row while it has the same slug or id; it changed
/// where its published record did, derived fields included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Rows that are new.
    pub added: u64,
    /// Rows that are gone.
    pub removed: u64,
    /// Rows that are in both, with other records.
    pub changed: u64,
}

impl Changes {
    /// What changed in one table.
    #[must_use]
    pub fn of(table: Table, before: &Snapshot, after: &Snapshot) -> Self {
        let mut changes = Self::default();
        let mut olds = before.by_slug(table).iter().copied().peekable();
        let mut news = after.by_slug(table).iter().copied().peekable();
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => return changes,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => before.slug(table, *old).cmp(after.slug(table, *new)),
            };
            let old = if order.is_le() { olds.next() } else { None };
            let new = if order.is_ge() { news.next() } else { None };
            match old.zip(new) {
                Some((old, new)) => {
                    let same = before.record(table, old).whole() == after.record(table, new).whole();
                    changes.changed += u64::from(!same);
                }
                None if order.is_lt() => changes.removed += 1,
                None => changes.added += 1,
            }
        }
    }
}

impl ReleaseStore {
    /// What changed in each table from one release to another. Reads the records of both through their maps.
    ///
    /// # Errors
    /// [`ReleaseError`] where one of them cannot be opened.
    pub fn difference(
        &self,
        before: SnapshotVersion,
        after: SnapshotVersion,
    ) -> Result<Vec<(Table, Changes)>, ReleaseError> {
        let (before, after) = (self.open_tables(before)?, self.open_tables(after)?);
        Ok(Table::ALL.into_iter().map(|table| (table, Changes::of(table, &before, &after))).collect())
    }
}
