//! Folders that a command fills repeatedly: it replaces its own files that nobody has changed since, and no others.
//!
//! A list in the folder has the checksum of each file, during a replacement of old and new ones. So a command that was
//! killed knows its own when it runs again, and until then the unfinished dataset is refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::indexer::IndexerExit;
use data::import::{FileList, UNFINISHED, meta};
use release::Checksum;
pub(super) use release::file_system::{Fs, OsFs};

/// Name prefix of the folders to which files are written first.
const SCRATCH: &str = ".unfinished-";

#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    #[error("{}: is not empty, and `{command}` did not fill it; choose a new or empty folder", folder.display())]
    Occupied { folder: PathBuf, command: &'static str },
    #[error(
        "{}: an earlier version wrote it, without checksums by which changes are recognized; remove it together with the files \
         that `{command}` wrote, or choose a new folder",
        list.display()
    )]
    NoChecksums { list: PathBuf, command: &'static str },
    /// Files that would be replaced, each with the remedy.
    #[error("{}", .0.join("\n"))]
    Changed(Vec<String>),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl FolderError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path: path.clone(), error }
    }

    pub(crate) fn code(&self) -> (IndexerExit, &'static str) {
        match self {
            Self::Occupied { .. } | Self::NoChecksums { .. } => (IndexerExit::Rejected, "occupied"),
            Self::Changed(_) => (IndexerExit::Rejected, "changed"),
            Self::Io { .. } => (IndexerExit::Disk, "io"),
        }
    }
}

pub(crate) struct OwnFiles<'f> {
    file_system: &'f dyn Fs,
    folder: PathBuf,
    list: FileList,
    /// Checksums by file name; both the old and the new one if the command did not finish.
    known: BTreeMap<String, Vec<Checksum>>,
}

impl OwnFiles<'_> {
    /// Opens a folder that is new, empty or has the list.
    pub(crate) fn open(folder: &Path, list: FileList) -> Result<Self, FolderError> {
        fs::create_dir_all(folder).map_err(FolderError::io(folder))?;
        let (path, command) = (folder.join(list.file), list.command);
        let mut own = Self { file_system: &OsFs, folder: folder.to_owned(), list, known: BTreeMap::new() };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && own.is_empty()? => return Ok(own),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FolderError::Occupied { folder: own.folder, command });
            }
            Err(error) => return Err(FolderError::Io { path, error }),
        };
        for line in text.lines() {
            let Some((checksum, name)) = line.split_once("  ") else { continue };
            // Whatever else the list names, only files of this folder are replaced.
            if let Ok(checksum) = Checksum::try_from(checksum.to_owned())
                && Path::new(name).file_name().is_some_and(|file| file == name)
            {
                own.known.entry(name.to_owned()).or_default().push(checksum);
            }
        }
        if own.known.is_empty() { Err(FolderError::NoChecksums { list: path, command }) } else { Ok(own) }
    }

    /// True if the folder has nothing but leftovers of a killed command.
    fn is_empty(&self) -> Result<bool, FolderError> {
        let io = FolderError::io(&self.folder);
        for entry in fs::read_dir(&self.folder).map_err(&io)? {
            if !entry.map_err(&io)?.file_name().to_string_lossy().starts_with(SCRATCH) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A folder on the same disk for the files that will replace the known ones.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, FolderError> {
        tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&self.folder).map_err(FolderError::io(&self.folder))
    }

    /// Replaces the known files by those in `made`, on the same disk; nothing if one was changed or belongs to others.
    pub(crate) fn replace(&self, made: &Path) -> Result<(), FolderError> {
        let file_system = self.file_system;
        let new = checksums(made)?;
        self.check(&new)?;
        let mut listed = self.known.clone();
        for (name, checksum) in &new {
            listed.entry(name.clone()).or_default().push(*checksum);
        }
        self.write_list(UNFINISHED, &listed)?;
        for name in new.keys() {
            let (from, to) = (made.join(name), self.folder.join(name));
            file_system.sync_file(&from).map_err(FolderError::io(&from))?;
            file_system.rename(&from, &to).map_err(FolderError::io(&to))?;
        }
        for name in self.known.keys().filter(|name| !new.contains_key(*name)) {
            let path = self.folder.join(name);
            file_system.remove(&path).map_err(FolderError::io(&path))?;
        }
        file_system.sync_folder(&self.folder).map_err(FolderError::io(&self.folder))?;
        let note = format!(
            "`{}` wrote these files. Run again, it replaces them, unless one of them was changed since. All other files of this \
             folder stay as they are.\n",
            self.list.command
        );
        let listed = new.into_iter().map(|(name, checksum)| (name, vec![checksum]));
        self.write_list(&note, &listed.collect())
    }

    /// Reports files that would be replaced or removed, but differ from what the command wrote.
    fn check(&self, new: &BTreeMap<String, Checksum>) -> Result<(), FolderError> {
        let mut problems = Vec::new();
        let names = self.known.keys().chain(new.keys().filter(|name| !self.known.contains_key(*name)));
        for name in names {
            let path = self.folder.join(name);
            let found = match Checksum::of_file(&path) {
                Ok((_, found)) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(FolderError::Io { path, error }),
            };
            let known = self.known.get(name);
            if new.get(name) == Some(&found) || known.is_some_and(|known| known.contains(&found)) {
                continue;
            }
            let (path, command) = (path.display(), self.list.command);
            let problem = match known {
                Some(_) => format!("{path}: was changed since `{command}` wrote it, and would be replaced"),
                None => format!("{path}: was not written by `{command}`, and would be replaced"),
            };
            let hint = match name.as_str() {
                meta::FILE => "; what it says can be said by options of `indexer build` instead, such as --title",
                _ => "",
            };
            problems.push(format!("{problem}; move it away, or choose another folder{hint}"));
        }
        if problems.is_empty() { Ok(()) } else { Err(FolderError::Changed(problems)) }
    }

    fn write_list(&self, note: &str, files: &BTreeMap<String, Vec<Checksum>>) -> Result<(), FolderError> {
        let file_system = self.file_system;
        let path = self.folder.join(self.list.file);
        let next = self.folder.join(format!("{SCRATCH}{}", self.list.file));
        let mut text = note.to_owned();
        for (name, checksums) in files {
            for checksum in checksums {
                text.push_str(&format!("{checksum}  {name}\n"));
            }
        }
        let write = || {
            file_system.remove(&next)?;
            file_system.create(&next)?.write_all(text.as_bytes())?;
            file_system.sync_file(&next)?;
            file_system.rename(&next, &path)?;
            file_system.sync_folder(&self.folder)
        };
        write().map_err(FolderError::io(&path))
    }
}

fn checksums(folder: &Path) -> Result<BTreeMap<String, Checksum>, FolderError> {
    let io = FolderError::io(folder);
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(&io)? {
        let entry = entry.map_err(&io)?;
        let (_, checksum) = Checksum::of_file(&entry.path()).map_err(FolderError::io(&entry.path()))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), checksum);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::File;

    use super::*;

    const LIST: FileList = FileList { file: "imported.txt", command: "indexer import --dataset" };

    /// The files of a folder by name, except the list.
    fn content(folder: &Path) -> BTreeMap<String, String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.path().is_file() && entry.file_name() != LIST.file);
        files
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
            .collect()
    }

    fn fill(folder: &Path, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    fn write_on(file_system: &dyn Fs, folder: &Path, files: &[(&str, &str)]) -> Result<(), FolderError> {
        let own = OwnFiles { file_system, ..OwnFiles::open(folder, LIST)? };
        let scratch = own.scratch()?;
        fill(scratch.path(), files);
        own.replace(scratch.path())
    }

    fn write(folder: &Path, files: &[(&str, &str)]) -> Result<(), FolderError> {
        write_on(&OsFs, folder, files)
    }

    fn map(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    const OLD: [(&str, &str); 3] = [("firms.csv", "old"), ("sectors.csv", "old"), ("snapshot.toml", "old")];
    const NEW: [(&str, &str); 3] = [("firms.csv", "new"), ("people.csv", "new"), ("snapshot.toml", "new")];
    const FOREIGN: [(&str, &str); 2] = [("NOTES.txt", "mine"), ("reviews.csv", "mine")];

    #[test]
    fn files_of_others_stay_and_own_ones_are_replaced_or_removed() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("new");
        write(&folder, &OLD).unwrap();
        fill(&folder, &FOREIGN);
        fs::create_dir(folder.join("drafts")).unwrap();
        write(&folder, &NEW).unwrap();
        assert_eq!(content(&folder), map(&[&NEW[..], &FOREIGN].concat()));
        assert!(folder.join("drafts").exists());
        // An own file that somebody removed is written again.
        fs::remove_file(folder.join("firms.csv")).unwrap();
        write(&folder, &OLD).unwrap();
        assert_eq!(content(&folder), map(&[&OLD[..], &FOREIGN].concat()));
    }

    #[test]
    fn a_changed_file_and_one_of_another_origin_stop_the_command_before_it_changes_anything() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, &OLD).unwrap();
        for (changed, problem) in [
            (&[("snapshot.toml", "mine")][..], "snapshot.toml: was changed since `indexer import --dataset` wrote it"),
            // A file that would only be removed.
            (&[("sectors.csv", "mine")], "sectors.csv: was changed since"),
            (&[("people.csv", "mine")], "people.csv: was not written by `indexer import --dataset`"),
            (&[("firms.csv", "mine"), ("people.csv", "mine")], "people.csv: was not written by"),
        ] {
            let before = content(folder);
            fill(folder, changed);
            let found = content(folder);
            let error = write(folder, &NEW).unwrap_err();
            assert_eq!(error.code(), (IndexerExit::Rejected, "changed"));
            let message = error.to_string();
            assert!(message.contains(problem) && message.contains("; move it away"), "{message}");
            assert_eq!(message.lines().count(), changed.len(), "{message}");
            assert_eq!(content(folder), found);
            changed.iter().for_each(|(name, _)| fs::remove_file(folder.join(name)).unwrap());
            before.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
        }
        // A file that already has its new content is no loss to anybody.
        fill(folder, &NEW);
        write(folder, &NEW).unwrap();
    }

    #[test]
    fn a_folder_without_list_or_checksums_and_paths_out_of_it_are_left_alone() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("dataset");
        fs::create_dir(&folder).unwrap();
        fill(&folder, &FOREIGN);
        assert!(matches!(write(&folder, &NEW), Err(FolderError::Occupied { .. })));
        fill(&folder, &[(LIST.file, "The files of this folder are replaced.\n")]);
        assert!(matches!(write(&folder, &NEW), Err(FolderError::NoChecksums { .. })));
        fill(above.path(), &[("outside.csv", "mine")]);
        let list = format!("{0}  ../outside.csv\n{0}  NOTES.txt\n", Checksum::of(b"mine"));
        fill(&folder, &[(LIST.file, &list)]);
        write(&folder, &NEW).unwrap();
        assert!(above.path().join("outside.csv").exists() && folder.join("reviews.csv").exists());
    }

    /// A file system that fails from an operation on.
    struct Killed {
        after: usize,
        operations: Cell<usize>,
    }

    impl Killed {
        fn count(&self) -> io::Result<()> {
            self.operations.set(self.operations.get() + 1);
            if self.operations.get() > self.after { Err(io::Error::other("killed")) } else { Ok(()) }
        }
    }

    impl Fs for Killed {
        fn create_folder(&self, path: &Path) -> io::Result<()> {
            self.count().and_then(|()| OsFs.create_folder(path))
        }

        fn create(&self, path: &Path) -> io::Result<File> {
            self.count().and_then(|()| OsFs.create(path))
        }

        fn sync_file(&self, path: &Path) -> io::Result<()> {
            self.count().and_then(|()| OsFs.sync_file(path))
        }

        fn sync_folder(&self, path: &Path) -> io::Result<()> {
            self.count().and_then(|()| OsFs.sync_folder(path))
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.count().and_then(|()| OsFs.rename(from, to))
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            self.count().and_then(|()| OsFs.remove(path))
        }
    }

    #[test]
    fn a_command_that_is_killed_anywhere_loses_nothing_and_is_finished_by_the_next() {
        let mut unfinished = 0;
        for after in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            write(folder, &OLD).unwrap();
            fill(folder, &FOREIGN);
            let file_system = Killed { after, operations: Cell::default() };
            let is_done = write_on(&file_system, folder, &NEW).is_ok();
            let mut found = content(folder);
            found.retain(|name, _| !name.starts_with(SCRATCH));
            for (name, text) in FOREIGN {
                assert_eq!(found.remove(name).as_deref(), Some(text), "after {after}");
            }
            // A partly new dataset is marked as such.
            if fs::read_to_string(folder.join(LIST.file)).unwrap().starts_with(UNFINISHED) {
                unfinished += 1;
            } else {
                assert!([map(&OLD), map(&NEW)].contains(&found), "after {after}: {found:?}");
            }
            write(folder, &NEW).unwrap_or_else(|error| panic!("after {after}: {error}"));
            assert_eq!(content(folder), map(&[&NEW[..], &FOREIGN].concat()), "after {after}");
            if is_done {
                break;
            }
        }
        assert!(unfinished > 8, "{unfinished}");
    }
}
