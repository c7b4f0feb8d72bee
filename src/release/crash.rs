//! The machine stops at every instant of a publication, and the index must serve what it served or the new release.
//!
//! Two ways to stop: the process is killed, then all that was done stays; the power goes, then every file that was not
//! synced is cut, and of the renames whose folder was not synced any may be undone.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::release::file_system::{Fs, OsFs};
use crate::release::sample::{Copies, Unsynced, compiled, finish, index, names, publish, small, version};
use crate::release::{Outcome, Publisher};
use crate::release::{ReleaseStore, files};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    CreateFolder(PathBuf),
    Create(PathBuf),
    SyncFile(PathBuf),
    SyncFolder(PathBuf),
    /// With the bytes of the file that was replaced, where there was one.
    Rename(PathBuf, PathBuf, Option<Vec<u8>>),
    Remove(PathBuf),
}

/// A disk that stops before its act number `last`, and remembers what was done.
struct FaultyFs {
    last: usize,
    acts: RefCell<Vec<Act>>,
}

impl FaultyFs {
    fn after(last: usize) -> Self {
        Self { last, acts: RefCell::default() }
    }

    fn act(&self, act: Act) -> io::Result<()> {
        let mut acts = self.acts.borrow_mut();
        if acts.len() >= self.last {
            return Err(io::Error::other("the machine stopped"));
        }
        acts.push(act);
        Ok(())
    }

    /// Cuts what was not synced, and undoes the unsynced renames whose bits are set in `undone`. False where there are
    /// fewer such renames than bits.
    fn lose_power(&self, undone: u32) -> bool {
        let acts = self.acts.borrow();
        let mut unsynced_renames = Vec::new();
        let mut unsynced_files: Vec<PathBuf> = Vec::new();
        for act in acts.iter() {
            match act {
                Act::Create(path) => unsynced_files.push(path.clone()),
                Act::SyncFile(path) => unsynced_files.retain(|file| file != path),
                Act::SyncFolder(folder) => {
                    unsynced_renames.retain(|(_, to, _): &(PathBuf, PathBuf, _)| to.parent() != Some(folder));
                }
                Act::Rename(from, to, replaced) => {
                    unsynced_renames.push((from.clone(), to.clone(), replaced.clone()));
                }
                Act::CreateFolder(_) | Act::Remove(_) => {}
            }
        }
        if undone >> unsynced_renames.len() != 0 {
            return false;
        }
        for file in unsynced_files.iter().filter(|file| file.exists()) {
            File::options().write(true).open(file).unwrap().set_len(3).unwrap();
        }
        for (place, (from, to, replaced)) in unsynced_renames.iter().enumerate().rev() {
            if undone >> place & 1 == 1 && !from.exists() && to.exists() {
                fs::rename(to, from).unwrap();
                if let Some(bytes) = replaced {
                    fs::write(to, bytes).unwrap();
                }
            }
        }
        true
    }
}

impl Fs for FaultyFs {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.act(Act::CreateFolder(path.to_owned()))?;
        OsFs.create_folder(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        self.act(Act::Create(path.to_owned()))?;
        OsFs.create(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.act(Act::SyncFile(path.to_owned()))?;
        Unsynced.sync_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.act(Act::SyncFolder(path.to_owned()))?;
        Unsynced.sync_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.act(Act::Rename(from.to_owned(), to.to_owned(), fs::read(to).ok()))?;
        OsFs.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.act(Act::Remove(path.to_owned()))?;
        OsFs.remove(path)
    }
}

const OLD: &str = "2026-11-20.1";
const NEW: &str = "2026-11-27.1";

/// Publishes [`NEW`] on a machine that stops as `disk` does; true where it came to its end.
fn publish_on(disk: &FaultyFs, releases: &ReleaseStore) -> bool {
    Publisher::begin(releases.clone(), disk).and_then(|building| finish(&building, small(NEW))).is_ok()
}

/// How many acts are done at each instant worth stopping at: before every act, but of the many text files that are
/// synced one after the other before the first only. The last is the end.
fn instants(copies: &Copies) -> Vec<usize> {
    let (_folder, releases) = copies.next();
    let disk = FaultyFs::after(usize::MAX);
    assert!(publish_on(&disk, &releases));
    let acts = disk.acts.borrow();
    let text =
        |act: &Act| matches!(act, Act::SyncFile(path) if path.components().any(|part| part.as_os_str() == "text"));
    let alike = |at: usize| at > 0 && acts.get(at).is_some_and(text) && text(&acts[at - 1]);
    (0..=acts.len()).filter(|at| !alike(*at)).collect()
}

/// The index must serve one of both releases whole, and the next build must end well and leave nothing lying about.
fn recovers(releases: &ReleaseStore, place: &str) {
    let current = releases.current().unwrap().unwrap();
    assert!([version(OLD), version(NEW)].contains(&current), "{place}: {current}");
    let release = releases.open(current).unwrap_or_else(|error| panic!("{place}: {error}"));
    release.smoke_test().unwrap_or_else(|error| panic!("{place}: {error}"));
    drop(release);
    let publication = publish(releases, small(NEW)).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(publication.current, Some(version(NEW)), "{place}");
    assert_eq!(releases.current().unwrap(), Some(version(NEW)), "{place}");
    assert_eq!(names(releases.folder()), [OLD, NEW, "current"], "{place}");
    releases.open(version(NEW)).unwrap();
    releases.open(version(OLD)).unwrap();
}

#[test]
fn a_build_killed_before_any_of_its_acts_leaves_the_old_release_or_the_new() {
    let copies = Copies::of(index(&[OLD]));
    let stops = instants(&copies);
    assert!(stops.len() > 15, "{stops:?}");
    for last in stops {
        let (_folder, releases) = copies.next();
        let disk = FaultyFs::after(last);
        publish_on(&disk, &releases);
        recovers(&releases, &format!("killed after {last} acts, {:?}", disk.acts.borrow().last()));
    }
}

#[test]
fn a_power_cut_at_any_of_its_acts_leaves_the_old_release_or_the_new() {
    let copies = Copies::of(index(&[OLD]));
    let mut undoings = 0;
    for last in instants(&copies) {
        for undone in 0.. {
            let (_folder, releases) = copies.next();
            let disk = FaultyFs::after(last);
            publish_on(&disk, &releases);
            if !disk.lose_power(undone) {
                break;
            }
            undoings += undone;
            recovers(&releases, &format!("cut after {last} acts, {undone:b} undone, {:?}", disk.acts.borrow().last()));
        }
    }
    assert!(undoings > 1, "both renames can be lost");
}

#[test]
fn a_first_build_killed_anywhere_leaves_no_release_or_the_whole() {
    let empty = Copies::of(index(&[]));
    fs::create_dir_all(empty.made.folder()).unwrap();
    for last in instants(&empty) {
        let (_folder, releases) = empty.next();
        publish_on(&FaultyFs::after(last), &releases);
        if let Some(current) = releases.current().unwrap() {
            releases.open(current).unwrap().smoke_test().unwrap();
        }
        assert_eq!(publish(&releases, small(NEW)).unwrap().current, Some(version(NEW)));
        assert_eq!(names(releases.folder()), [NEW, "current"], "{last}");
    }
}

#[test]
fn the_repair_of_a_damaged_release_may_be_killed_too() {
    let copies = Copies::of(index(&[OLD, NEW]));
    copies.made.activate(version(OLD)).unwrap();
    fs::write(copies.made.release_folder(version(NEW)).join("tables.bin"), "torn").unwrap();
    for last in instants(&copies) {
        let (_folder, releases) = copies.next();
        let disk = FaultyFs::after(last);
        publish_on(&disk, &releases);
        recovers(&releases, &format!("killed after {last} acts, {:?}", disk.acts.borrow().last()));
    }
}

#[test]
fn every_file_and_folder_is_synced_before_the_release_gets_its_name_and_that_before_current_does() {
    let (_folder, releases) = index(&[OLD]);
    let disk = FaultyFs::after(usize::MAX);
    assert!(publish_on(&disk, &releases));
    let acts = disk.acts.borrow();
    let renames: Vec<usize> = (0..acts.len()).filter(|at| matches!(acts[*at], Act::Rename(..))).collect();
    let [named, switched] = renames[..] else { panic!("{renames:?}") };
    let Act::Rename(draft, place, _) = &acts[named] else { unreachable!() };
    assert_eq!(*place, releases.release_folder(version(NEW)));
    for file in files(place).unwrap() {
        let synced = acts[..named].iter().position(|act| *act == Act::SyncFile(draft.join(&file)));
        assert!(synced.is_some(), "{}", file.display());
        for folder in file.ancestors().skip(1) {
            let folder = acts[..named].iter().rposition(|act| *act == Act::SyncFolder(draft.join(folder)));
            let folder =
                folder.or_else(|| acts[..named].iter().rposition(|act| *act == Act::SyncFolder(draft.clone())));
            assert!(folder > synced, "{}", file.display());
        }
    }
    let index = Act::SyncFolder(releases.folder().to_owned());
    assert!(acts[named..switched].contains(&index) && acts[switched..].contains(&index));
}

#[test]
fn a_failed_build_removes_its_draft() {
    let (_folder, releases) = index(&[OLD]);
    let refused = publish(&releases, compiled(OLD, "Birch Lane Capital", "Birch Lane"));
    assert!(refused.is_err());
    assert_eq!(names(releases.folder()), [OLD, "current"]);
}

#[test]
fn a_rollback_is_not_undone_by_the_same_build_again() {
    let (_folder, releases) = index(&[OLD, NEW]);
    releases.activate(version(OLD)).unwrap();
    let publication = publish(&releases, small(NEW)).unwrap();
    assert_eq!((publication.outcome, publication.current), (Outcome::Unchanged, Some(version(OLD))));
}
