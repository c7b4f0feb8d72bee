//! The releases in which each record appeared and changed: a release is compared with the previous one when built. The
//! file extends the previous one and is not part of the tables: a release is the same whatever it was compared with.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::Catalog;
use crate::changes::{RowChange, row_changes};
use data::archive::{AlignedBytes, Archive, ArchiveWriter, NumberColumn};
use data::import::gone::slug_hash;
use data::{ArchiveError, Checksums, Snapshot, SnapshotVersion, Table};

/// `first_seen` and `changed_in` of a record, as positions in the list of releases, from 1; 0 if unknown.
type SeenReleases = [u32; 2];

pub struct RecordHistory {
    archive: Archive,
    /// Releases that were compared with a previous one, ascending.
    releases: Vec<SnapshotVersion>,
    seen: [NumberColumn<SeenReleases>; Table::ALL.len()],
    former: Vec<FormerColumns>,
}

/// Hashes of the slugs of records that are gone, ascending, and the positions of the releases that they appeared in.
type FormerColumns = (NumberColumn<u64>, NumberColumn<u32>);

/// Tables whose records are as old as before when they come back. Nobody keeps track of people.
const KEPT: [Table; 3] = [Table::Firms, Table::Startups, Table::Rounds];

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
        let former = |table: Table| {
            let hashes = archive.open_column::<u64>(&former_section(table))?;
            let seen = archive.column::<u32>(&format!("{}=", former_section(table)), archive.get(&hashes).len())?;
            let is_valid = archive.get(&seen).iter().all(|release| *release as usize <= releases.len());
            if is_valid { Ok((hashes, seen)) } else { Err(damaged(&former_section(table))) }
        };
        let has_former = archive.has(&former_section(KEPT[0]));
        let former = KEPT.into_iter().filter(|_| has_former).map(former).collect::<Result<_, _>>()?;
        Ok(Self { archive, releases, seen, former })
    }

    pub(crate) fn content(&self) -> u64 {
        self.archive.content()
    }

    fn release(&self, table: Table, row: u32, place: usize) -> Option<SnapshotVersion> {
        self.releases.get(self.seen(table)[row as usize][place].checked_sub(1)? as usize).copied()
    }

    /// Hash and release of each record of a table that is gone.
    fn former(&self, table: Table) -> impl Iterator<Item = (u64, u32)> {
        let columns = KEPT.iter().position(|kept| *kept == table).and_then(|index| self.former.get(index));
        let columns = columns.map(|(hashes, seen)| (self.archive.get(hashes), self.archive.get(seen)));
        columns.into_iter().flat_map(|(hashes, seen)| hashes.iter().copied().zip(seen.iter().copied()))
    }

    fn seen(&self, table: Table) -> &[SeenReleases] {
        self.archive.get(&self.seen[table as usize])
    }
}

const RELEASES: &str = "releases";

fn former_section(table: Table) -> String {
    format!("{}/former", table.name())
}

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
        let mut former: BTreeMap<u64, u32> = earlier.into_iter().flat_map(|earlier| earlier.former(table)).collect();
        for change in row_changes(table, before, after)? {
            match change {
                RowChange::Added { after: row } => {
                    let first = former.remove(&slug_hash(table, after.slug(table, row)));
                    seen[row as usize] = [first.unwrap_or(own), own];
                }
                RowChange::Changed { after, .. } => seen[after as usize][1] = own,
                RowChange::Merged { before, into } => merged.push((before, into)),
                RowChange::Removed { .. } => {}
            }
            if KEPT.contains(&table)
                && let RowChange::Removed { before: row } | RowChange::Merged { before: row, .. } = change
            {
                former.insert(slug_hash(table, before.slug(table, row)), known(row)[0]);
            }
        }
        // A record is as old as the oldest record merged into it.
        for (old, into) in merged {
            let first = &mut seen[into as usize][0];
            *first = (*first).min(known(old)[0]);
        }
        writer.section(table.name(), &seen)?;
        if KEPT.contains(&table) {
            let (hashes, seen): (Vec<u64>, Vec<u32>) = former.into_iter().unzip();
            writer.section(&former_section(table), &hashes)?;
            writer.section(&format!("{}=", former_section(table)), &seen)?;
        }
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
        let releases = self.compared_releases();
        let is_within = releases.first().is_some_and(|first| *first < version) && version < self.version();
        !is_within || releases.contains(&version)
    }

    /// The releases that were compared with a previous one, ascending, down to this one.
    pub fn compared_releases(&self) -> &[SnapshotVersion] {
        self.record_history.as_ref().map_or(&[][..], |history| &history.releases)
    }

    /// The records of a table that a release added, ascending.
    pub fn first_seen_in(&self, table: Table, release: SnapshotVersion) -> impl Iterator<Item = u32> {
        // Positions begin with 1.
        let place = self.compared_releases().binary_search(&release).map_or(0, |place| place as u32 + 1);
        let history = self.record_history.as_ref().filter(|_| place > 0);
        let seen = history.map_or(&[][..], |history| history.seen(table));
        (0..).zip(seen).filter(move |(_, seen)| seen[0] == place).map(|(row, _)| row)
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
