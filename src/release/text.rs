//! The text indexes of a release: the files of each table with names are in a folder named after the table.

use std::mem;
use std::sync::{Mutex, PoisonError};

use crate::{ReleaseError, ReleaseResult, manifest};
use catalog::TextIndexes;
use data::parallel::in_parallel;
use data::{ArchiveError, Progress, Snapshot, Table};
use search::{IndexFiles, IndexPart, SearchError, TextIndex};

/// Parts of the indexes, ordered by typical build time, slowest first.
const PARTS: [(Table, IndexPart); 8] = [
    (Table::Startups, IndexPart::Descriptions),
    (Table::Startups, IndexPart::Names),
    (Table::People, IndexPart::Names),
    (Table::People, IndexPart::Descriptions),
    (Table::Firms, IndexPart::Descriptions),
    (Table::Firms, IndexPart::Names),
    (Table::Sectors, IndexPart::Descriptions),
    (Table::Sectors, IndexPart::Names),
];

pub(crate) fn create(snapshot: &Snapshot, progress: &dyn Progress) -> ReleaseResult<IndexFiles> {
    progress.step(manifest::TEXT, 0);
    let parts = in_parallel(PARTS, |(table, part)| TextIndex::create(&snapshot.names(table), part));
    let mut files = IndexFiles::new();
    for ((table, _), part) in PARTS.into_iter().zip(parts) {
        let name = table.name();
        let part = part.map_err(|error| ReleaseError::Text { table: name, error })?;
        files.extend(part.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
    }
    progress.done();
    Ok(files)
}

pub(crate) fn open(snapshot: &Snapshot, files: IndexFiles) -> ReleaseResult<TextIndexes> {
    let files = Mutex::new(files);
    let [firms, startups, people, sectors] = in_parallel(TextIndexes::TABLES, |table| {
        let prefix = format!("{}/", table.name());
        let take = |(path, bytes): (&String, &mut Vec<u8>)| {
            let file = path.strip_prefix(&prefix)?;
            Some((file.to_owned(), mem::take(bytes)))
        };
        let files: IndexFiles =
            files.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().filter_map(take).collect();
        TextIndex::open(files, &snapshot.names(table)).map_err(|error| {
            let (version, reason) = (snapshot.version(), format!("text/{}: {error}", table.name()));
            match error {
                SearchError::Format { .. } | SearchError::Tables(ArchiveError::OtherFormat { .. }) => {
                    ReleaseError::OtherFormat { version, reason }
                }
                _ => ReleaseError::Damaged { version, reason },
            }
        })
    });
    Ok(TextIndexes([firms?, startups?, people?, sectors?]))
}
