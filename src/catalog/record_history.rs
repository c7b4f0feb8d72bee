//! In which releases each record appeared and changed: `first_seen` and `changed_in`.
//!
//! A release is compared with the one before it when it is built; the result is a file of the release, to which the next
//! comparison adds. It is no part of the tables: a release is the same whatever it was compared with.

use std::io;
use std::sync::Arc;

use crate::Catalog;
use crate::changes::{RowChange, row_changes};
use data::archive::{AlignedBytes, Archive, ArchiveWriter, NumberColumn};
use data::{ArchiveError, Checksums, Snapshot, SnapshotVersion, Table};

/// `first_seen` and `changed_in` of a record: positions in the list of releases, from 1; 0 if unknown.
type Seen = [u32; 2];

/// The releases of the records of a snapshot.
pub struct RecordHistory {
    archive: Archive,
    /// The releases that were compared with one before, ascending.
    releases: Vec<SnapshotVersion>,
    /// For each row of a table.
    seen: [NumberColumn<Seen>; Table::ALL.len()],
}

impl RecordHistory {
    /// Opens the history of the records of a snapshot, whose bytes were verified.
    ///
    /// # Errors
    /// If it is not one, or that of other tables.
    pub fn open(bytes: AlignedBytes, snapshot: &Snapshot) -> Result<Self, ArchiveError> {
        let archive = Archive::open(Arc::new(bytes), Checksums::Trust)?;
        let damaged = |section: &str| ArchiveError::Damaged(format!("section {section}"));
        let releases: Vec<SnapshotVersion> =
            serde_json::from_slice(archive.bytes(RELEASES)?).map_err(|_| damaged(RELEASES))?;
        let mut seen = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            let column: NumberColumn<Seen> = archive.column(table.name(), snapshot.rows(table) as usize)?;
            let is_known = |seen: &Seen| seen.iter().all(|release| *release as usize <= releases.len());
            if !archive.get(&column).iter().all(is_known) {
                return Err(damaged(table.name()));
            }
            seen.push(column);
        }
        let seen = seen.try_into().expect("a column for each table");
        Ok(Self { archive, releases, seen })
    }

    /// A checksum of the content.
    pub(crate) fn content(&self) -> u64 {
        self.archive.content()
    }

    fn first_seen(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.release(self.seen(table)[row as usize][0])
    }

    fn changed_in(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.release(self.seen(table)[row as usize][1])
    }

    fn release(&self, position: u32) -> Option<SnapshotVersion> {
        self.releases.get(position.checked_sub(1)? as usize).copied()
    }

    fn seen(&self, table: Table) -> &[Seen] {
        self.archive.get(&self.seen[table as usize])
    }
}

const RELEASES: &str = "releases";

/// The file of [`RecordHistory`] of a snapshot, compared with an earlier one and continuing the history of that. The same
/// releases give the same bytes.
pub fn record_history(before: &Snapshot, earlier: Option<&RecordHistory>, after: &Snapshot) -> io::Result<Vec<u8>> {
    let mut releases = earlier.map_or_else(Vec::new, |earlier| earlier.releases.clone());
    releases.push(after.version());
    let mut bytes = Vec::new();
    let mut writer = ArchiveWriter::new(&mut bytes)?;
    writer.begin(RELEASES)?;
    writer.append(&serde_json::to_vec(&releases)?)?;
    for table in Table::ALL {
        writer.section(table.name(), &seen(table, before, earlier, after, releases.len() as u32)?)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// The history of each row of a table; `own` is the position of the release itself.
fn seen(
    table: Table,
    before: &Snapshot,
    earlier: Option<&RecordHistory>,
    after: &Snapshot,
    own: u32,
) -> io::Result<Vec<Seen>> {
    let known = |row: u32| earlier.map_or([0; 2], |earlier| earlier.seen(table)[row as usize]);
    let mut seen = vec![[0; 2]; after.rows(table) as usize];
    for row in after.published(table) {
        if let Some(old) = before.find(table, after.slug(table, row)) {
            seen[row as usize] = known(old);
        }
    }
    let mut merged = Vec::new();
    for change in row_changes(table, before, after)? {
        match change {
            RowChange::Added { after } => seen[after as usize] = [own; 2],
            RowChange::Changed { after, .. } => seen[after as usize][1] = own,
            RowChange::Merged { before, into } => merged.push((before, into)),
            RowChange::Removed { .. } => {}
        }
    }
    // A record is as old as the oldest of those that were merged into it.
    for (old, into) in merged {
        let first = &mut seen[into as usize][0];
        *first = (*first).min(known(old)[0]);
    }
    Ok(seen)
}

impl Catalog {
    /// Whether the release was compared with an earlier one.
    pub fn has_record_history(&self) -> bool {
        self.record_history.is_some()
    }

    /// The release in which a record appeared; `None` if it is older than what was compared.
    pub fn first_seen(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.record_history.as_ref()?.first_seen(table, row)
    }

    /// The last release that added or changed a record; `None` if none did of those that were compared.
    pub fn changed_in(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.record_history.as_ref()?.changed_in(table, row)
    }
}
