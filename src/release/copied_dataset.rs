//! Copies of datasets in an object store.

use std::io::Write;
use std::path::Path;

use crate::error::At;
use crate::file_system::{Fs, OsFs};
use crate::remote::objects::{ListedObject, RemoteObjects};
use crate::remote::{CONCURRENCY, PIECE};
use crate::{ReleaseError, ReleaseResult, permissions};
use data::Progress;
use data::parallel::{AfterFailure, try_in_parallel};

/// Copies the files of a dataset from `s3://bucket/prefix` or `file:///folder`: those at the place, and parts of tables in
/// folders there. Files whose names begin with `_` or `.` are left out. An error if there are none.
pub fn copy_dataset(place: &Path, folder: &Path, progress: &dyn Progress) -> ReleaseResult<()> {
    let objects = RemoteObjects::open(&place.to_string_lossy())?;
    let mut listed = objects.list("")?;
    listed.retain(|object| is_file_of_dataset(&object.name));
    if listed.is_empty() {
        let error = "has no file of a dataset, such as firms.csv or firms.parquet".to_owned();
        return Err(ReleaseError::ObjectStore { place: objects.place.clone(), error });
    }
    progress.step("copy", 0);
    try_in_parallel(CONCURRENCY, &listed, AfterFailure::Stop, |object| copy(&objects, object, folder))?;
    progress.done();
    Ok(())
}

fn copy(objects: &RemoteObjects, ListedObject { name, bytes, .. }: &ListedObject, folder: &Path) -> ReleaseResult<()> {
    let path = folder.join(name);
    if let Some(table) = path.parent() {
        permissions::create_folder(table, true).at(table)?;
    }
    let mut file = OsFs.create(&path).at(&path)?;
    let mut start = 0;
    while start < *bytes {
        let end = bytes.min(&(start + PIECE)).to_owned();
        file.write_all(&objects.get_part(name, start..end)?).at(&path)?;
        start = end;
    }
    Ok(())
}

/// True for a file at the place or in a folder there, whose name is no path of its own.
fn is_file_of_dataset(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    parts.len() <= 2
        && parts.iter().all(|part| !part.is_empty() && !part.starts_with(['_', '.']) && !part.contains('\\'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use data::NoProgress;

    #[test]
    fn the_files_of_a_dataset_and_the_parts_of_its_tables_are_copied() {
        let (store, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = format!("file://{}", store.path().display());
        let error = copy_dataset(Path::new(&place), copy.path(), &NoProgress).unwrap_err().to_string();
        assert_eq!(error, format!("{place}: has no file of a dataset, such as firms.csv or firms.parquet"));
        let large: Vec<u8> = (0..PIECE * 2 + 5).map(|index| (index % 251) as u8).collect();
        let files: [(&str, &[u8]); 6] = [
            ("snapshot.toml", b"title = 1"),
            ("firms.csv", b""),
            ("rounds.parquet/part-0.parquet", &large),
            ("rounds.parquet/_SUCCESS", b""),
            ("rounds.parquet/.part-0.parquet.crc", b"crc"),
            ("a/b/c.csv", b"deep"),
        ];
        for (name, bytes) in files {
            let path = store.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        copy_dataset(Path::new(&place), copy.path(), &NoProgress).unwrap();
        let mut copied = crate::files(copy.path()).unwrap();
        copied.sort();
        assert_eq!(
            copied,
            ["firms.csv", "rounds.parquet/part-0.parquet", "snapshot.toml"].map(std::path::PathBuf::from)
        );
        assert!(fs::read(copy.path().join("rounds.parquet/part-0.parquet")).unwrap() == large);
        for name in ["../x.csv", "a/../x.csv", "/x.csv", "x\\y.csv", "a//b.csv", ""] {
            assert!(!is_file_of_dataset(name), "{name}");
        }
    }
}
