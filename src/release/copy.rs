//! Copies releases to other index folders, for backup and restore.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::At;
use crate::file_system::{Fs, OsFs};
use crate::{BUILDING, REMOVING, ReleaseError, ReleaseResult, ReleaseStore, files, manifest, open, permissions};
use data::SnapshotVersion;

impl ReleaseStore {
    /// Copies a release with all its files into the index folder `to`, verifies it and makes it current there. Returns
    /// its size in bytes. [`ReleaseError::Taken`] if `to` has the version with other content.
    pub fn copy(&self, version: SnapshotVersion, to: &Self) -> ReleaseResult<u64> {
        let manifest = self.manifest(version)?;
        let bytes = manifest.bytes("");
        let publisher = to.begin()?;
        if to.release_folder(version).symlink_metadata().is_ok() {
            let existing = to.manifest(version)?;
            // Everything else is derived from the tables, and is named differently in each build.
            if existing.file(manifest::TABLES) != manifest.file(manifest::TABLES) {
                return Err(ReleaseError::Taken { version, free: to.next_free(version, |_| false) });
            }
            if existing.files == manifest.files {
                drop(publisher);
                // Copying a release into an index is intentional, however small the release is.
                to.activate(version, true)?;
                return Ok(bytes);
            }
        }
        let draft = to.folder().join(format!("{BUILDING}{version}"));
        let copied = self.copy_files(version, &draft).and_then(|()| {
            open::verify(&draft, version, &manifest.files)?;
            publisher.make_public(&draft, version)
        });
        // Anything that cannot be removed now is removed by the next build.
        let removed = publisher.clear(BUILDING).and_then(|()| publisher.clear(REMOVING));
        copied?;
        removed?;
        Ok(bytes)
    }

    fn copy_files(&self, version: SnapshotVersion, draft: &Path) -> ReleaseResult<()> {
        let from = self.release_folder(version);
        let mut folders = vec![draft.to_owned()];
        for file in files(&from).at(&from)? {
            let path = draft.join(&file);
            let folder = path.parent().expect("a file is in a folder").to_owned();
            permissions::create_folder(&folder, true).at(&folder)?;
            let copied = || {
                let mut copy = permissions::file_options().create_new(true).open(&path)?;
                io::copy(&mut File::open(from.join(&file))?, &mut copy)?;
                copy.sync_all()?;
                permissions::make_read_only(&path)
            };
            copied().at(&path)?;
            folders.push(folder);
        }
        folders.iter().try_for_each(|folder| OsFs.sync_folder(folder).at(folder))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Policy;
    use crate::sample::{finish, index, names, overwrite, small, version};

    const VERSION: &str = "2026-11-20.1";

    #[test]
    fn a_copy_is_current_and_has_the_same_files() {
        let (folder, releases) = index(&[VERSION]);
        let copy = ReleaseStore::at(folder.path().join("copy"));
        for _ in 0..2 {
            let bytes = releases.copy(version(VERSION), &copy).unwrap();
            assert_eq!(bytes, releases.manifest(version(VERSION)).unwrap().bytes(""));
            assert_eq!(names(copy.folder()), [VERSION, "current"]);
        }
        assert_eq!(copy.current().unwrap(), Some(version(VERSION)));
        copy.open(version(VERSION)).unwrap();
        let [from, to] = [&releases, &copy].map(|releases| releases.release_folder(version(VERSION)));
        for file in files(&from).unwrap() {
            assert_eq!(fs::read(from.join(&file)).unwrap(), fs::read(to.join(&file)).unwrap(), "{}", file.display());
        }
    }

    #[test]
    fn a_copy_without_bulk_files_gets_them() {
        let (folder, releases) = index(&[VERSION]);
        let copy = ReleaseStore::at(folder.path().join("copy"));
        releases.copy(version(VERSION), &copy).unwrap();
        let publisher = releases.begin().unwrap().with(Policy { has_bulk: true, ..Policy::default() });
        finish(&publisher, small(VERSION)).unwrap();
        drop(publisher);
        releases.copy(version(VERSION), &copy).unwrap();
        let manifest = copy.manifest(version(VERSION)).unwrap();
        assert_eq!(manifest.files, releases.manifest(version(VERSION)).unwrap().files);
        assert!(manifest.bulk().next().is_some());
        copy.verify_on_disk(&manifest).unwrap();
        assert_eq!(names(copy.folder()), [VERSION, "current"]);
    }

    #[test]
    fn a_damaged_release_is_not_copied_and_an_existing_one_is_not_replaced() {
        let (folder, releases) = index(&[VERSION]);
        let copy = ReleaseStore::at(folder.path().join("copy"));
        let tables = releases.release_folder(version(VERSION)).join("tables.bin");
        let good = fs::read(&tables).unwrap();
        let mut bad = good.clone();
        bad[good.len() / 2] ^= 1;
        overwrite(&tables, &bad);
        assert!(matches!(releases.copy(version(VERSION), &copy), Err(ReleaseError::Damaged { .. })));
        assert!(names(copy.folder()).is_empty());
        overwrite(&tables, &good);
        releases.copy(version(VERSION), &copy).unwrap();

        let place = copy.release_folder(version(VERSION)).join("manifest.json");
        let mut other = copy.manifest(version(VERSION)).unwrap();
        other.files.retain(|file| file.path != manifest::TABLES);
        other.seal();
        overwrite(&place, &other.json());
        assert!(matches!(releases.copy(version(VERSION), &copy), Err(ReleaseError::Taken { .. })));
        assert_eq!(fs::read(&place).unwrap(), other.json());
    }
}
