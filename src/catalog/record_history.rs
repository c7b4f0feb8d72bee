//! The releases in which each record appeared and changed: a release is compared with the previous one when built. The
//! file extends the previous one and is not part of the tables: a release is the same whatever it was compared with.

use std::io;
use std::sync::Arc;

use crate::Catalog;
use crate::changes::{RowChange, row_changes};
use data::archive::{AlignedBytes, Archive, ArchiveWriter, NumberColumn};
use data::{ArchiveError, Checksums, Snapshot, SnapshotVersion, Table};

/// `first_seen` and `changed_in` of a record, as positions in the list of releases, from 1; 0 if unknown.
type SeenReleases = [u32; 2];

pub struct RecordHistory {
    archive: Archive,
    /// Releases that were compared with a previous one, ascending.
    releases: Vec<SnapshotVersion>,
    seen: [NumberColumn<SeenReleases>; Table::ALL.len()],
}

impl RecordHistory {
    /// Opens the history of the records of a snapshot; its bytes must be verified.
    pub fn open(bytes: AlignedBytes, snapshot: &Snapshot) -> Result<Self, ArchiveError> {
        let archive = Archive::open(Arc::new(bytes), Checksums::Trust)?;
        let damaged = |section: &str| ArchiveError::Damaged(format!("section {section}"));
        let releases: Vec<SnapshotVersion> =
            serde_json::from_slice(archive.bytes(RELEASES)?).map_err(|_| damaged(RELEASES))?;
        let mut seen = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            let column: NumberColumn<SeenReleases> = archive.column(table.name(), snapshot.rows(table) as usize)?;
            let is_known = |seen: &SeenReleases| seen.iter().all(|release| *release as usize <= releases.len());
            if !archive.get(&column).iter().all(is_known) {
                return Err(damaged(table.name()));
            }
            seen.push(column);
        }
        let seen = seen.try_into().expect("a column for each table");
        Ok(Self { archive, releases, seen })
    }

    pub(crate) fn content(&self) -> u64 {
        self.archive.content()
    }

    fn release(&self, table: Table, row: u32, place: usize) -> Option<SnapshotVersion> {
        self.releases.get(self.seen(table)[row as usize][place].checked_sub(1)? as usize).copied()
    }

    fn seen(&self, table: Table) -> &[SeenReleases] {
        self.archive.get(&self.seen[table as usize])
    }
}

const RELEASES: &str = "releases";

/// Builds the file: compares a snapshot with an earlier one and continues that one's history. The bytes are reproducible.
pub fn record_history(before: &Snapshot, earlier: Option<&RecordHistory>, after: &Snapshot) -> io::Result<Vec<u8>> {
    let mut releases = earlier.map_or_else(Vec::new, |earlier| earlier.releases.clone());
    releases.push(after.version());
    let mut bytes = Vec::new();
    let mut writer = ArchiveWriter::new(&mut bytes)?;
    writer.section(RELEASES, &serde_json::to_vec(&releases)?)?;
    let own = releases.len() as u32;
    for table in Table::ALL {
        let known = |row: u32| earlier.map_or([0; 2], |earlier| earlier.seen(table)[row as usize]);
        let mut seen: Vec<SeenReleases> = vec![[0; 2]; after.rows(table) as usize];
        let kept = after.published(table).filter_map(|row| Some((row, before.find(table, after.slug(table, row))?)));
        kept.for_each(|(row, old)| seen[row as usize] = known(old));
        let mut merged = Vec::new();
        for change in row_changes(table, before, after)? {
            match change {
                RowChange::Added { after } => seen[after as usize] = [own; 2],
                RowChange::Changed { after, .. } => seen[after as usize][1] = own,
                RowChange::Merged { before, into } => merged.push((before, into)),
                RowChange::Removed { .. } => {}
            }
        }
        // A record is as old as the oldest record merged into it.
        for (old, into) in merged {
            let first = &mut seen[into as usize][0];
            *first = (*first).min(known(old)[0]);
        }
        writer.section(table.name(), &seen)?;
    }
    writer.finish()?;
    Ok(bytes)
}

impl Catalog {
    pub fn has_record_history(&self) -> bool {
        self.record_history.is_some()
    }

    /// False if an earlier release is known not to be among those that this one was built on: it was withdrawn before.
    pub fn was_built_on(&self, version: SnapshotVersion) -> bool {
        let releases = self.record_history.as_ref().map_or(&[][..], |history| &history.releases);
        let is_within = releases.first().is_some_and(|first| *first < version) && version < self.version();
        !is_within || releases.contains(&version)
    }

    /// Release in which a record appeared; `None` if it is older than the compared releases.
    pub fn first_seen(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.record_history.as_ref()?.release(table, row, 0)
    }

    /// Last release that added or changed a record; `None` if no compared release did.
    pub fn changed_in(&self, table: Table, row: u32) -> Option<SnapshotVersion> {
        self.record_history.as_ref()?.release(table, row, 1)
    }
}
