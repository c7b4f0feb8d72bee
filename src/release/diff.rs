use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::{Snapshot, SnapshotVersion, Table};
use crate::release::{ReleaseError, ReleaseStore};

/// The number of rows of a table that differ between two releases. Rows are identified by slug or id; a row is changed if
/// its published record is, derived fields included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    pub added: u64,
    pub removed: u64,
    pub changed: u64,
}

impl Changes {
    pub(crate) fn of(table: Table, before: &Snapshot, after: &Snapshot) -> Self {
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
    /// The changes of each table from one release to another. Reads the records of both.
    pub fn difference(
        &self,
        before: SnapshotVersion,
        after: SnapshotVersion,
    ) -> Result<BTreeMap<Table, Changes>, ReleaseError> {
        let (before, after) = (self.open_tables(before)?, self.open_tables(after)?);
        Ok(Table::ALL.into_iter().map(|table| (table, Changes::of(table, &before, &after))).collect())
    }
}
