//! Simulates a crash at every point of a publication: the index must then contain the old or the new release.
//!
//! There are two kinds of crash. If the process is killed, all operations so far are done. After a power failure,
//! unsynced files are truncated, and renames in unsynced folders may be undone.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::file_system::{Fs, OsFs};
use crate::sample::{Copies, Unsynced, compiled, finish, index, names, publish, small, version};
use crate::{Policy, PublicationOutcome, Publisher};
use crate::{ReleaseStore, files};

#[derive(Clone, Debug, PartialEq, Eq)]
enum DiskOperation {
    CreateFolder(PathBuf),
    Create(PathBuf),
    SyncFile(PathBuf),
    SyncFolder(PathBuf),
    /// With the content of the replaced file, if any.
    Rename(PathBuf, PathBuf, Option<Vec<u8>>),
    Remove(PathBuf),
}

/// A file system that fails before operation number `last` and records the others.
struct FaultyFs {
    last: usize,
    operations: RefCell<Vec<DiskOperation>>,
}

impl FaultyFs {
    fn after(last: usize) -> Self {
        Self { last, operations: RefCell::default() }
    }

    fn operation(&self, operation: DiskOperation) -> io::Result<()> {
        let mut operations = self.operations.borrow_mut();
        if operations.len() >= self.last {
            return Err(io::Error::other("simulated crash"));
        }
        operations.push(operation);
        Ok(())
    }

    /// Truncates unsynced files, and undoes the unsynced renames at the set bits of `undone`. False if `undone` has
    /// more bits than there are such renames.
    fn lose_power(&self, undone: u32) -> bool {
        let operations = self.operations.borrow();
        let mut unsynced_renames = Vec::new();
        let mut unsynced_files: Vec<PathBuf> = Vec::new();
        for operation in operations.iter() {
            match operation {
                DiskOperation::Create(path) => unsynced_files.push(path.clone()),
                DiskOperation::SyncFile(path) => unsynced_files.retain(|file| file != path),
                DiskOperation::SyncFolder(folder) => {
                    unsynced_renames.retain(|(_, to, _): &(PathBuf, PathBuf, _)| to.parent() != Some(folder));
                }
                DiskOperation::Rename(from, to, replaced) => {
                    unsynced_renames.push((from.clone(), to.clone(), replaced.clone()));
                }
                DiskOperation::CreateFolder(_) | DiskOperation::Remove(_) => {}
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
        self.operation(DiskOperation::CreateFolder(path.to_owned()))?;
        OsFs.create_folder(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        self.operation(DiskOperation::Create(path.to_owned()))?;
        OsFs.create(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.operation(DiskOperation::SyncFile(path.to_owned()))?;
        Unsynced.sync_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.operation(DiskOperation::SyncFolder(path.to_owned()))?;
        Unsynced.sync_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(DiskOperation::Rename(from.to_owned(), to.to_owned(), fs::read(to).ok()))?;
        OsFs.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operation(DiskOperation::Remove(path.to_owned()))?;
        OsFs.remove(path)
    }
}

const OLD: &str = "2026-11-20.1";
const NEW: &str = "2026-11-27.1";

/// Publishes [`NEW`] on a faulty file system; true if it succeeds.
fn publish_on(file_system: &FaultyFs, releases: &ReleaseStore) -> bool {
    let policy = Policy { has_bulk: true, ..Policy::default() };
    Publisher::begin(releases.clone(), file_system)
        .and_then(|publisher| finish(&publisher.with(policy), small(NEW)))
        .is_ok()
}

/// The crash points: before every operation, except that of a run of text or bulk files only the first is cut off before
/// it is created and before it is synced, and of those before anything gets its name one of three, which one by `turn`, unless
/// `VENTUREDEX_TEST_ALL=1`. The last point is the end.
fn crash_points(copies: &Copies, turn: usize) -> Vec<usize> {
    let (_folder, releases) = copies.next();
    let file_system = FaultyFs::after(usize::MAX);
    assert!(publish_on(&file_system, &releases));
    let operations = file_system.operations.borrow();
    let is_one_of_many = |operation: &DiskOperation| match operation {
        DiskOperation::Create(path) | DiskOperation::SyncFile(path) => {
            path.components().any(|part| ["text", "bulk"].map(OsStr::new).contains(&part.as_os_str()))
        }
        _ => false,
    };
    let is_alike = |at: usize| {
        let run = at.checked_sub(2).and_then(|start| operations.get(start..=at));
        run.is_some_and(|run| run.iter().all(is_one_of_many))
    };
    let takes_all = std::env::var_os("VENTUREDEX_TEST_ALL").is_some_and(|all| all == "1");
    if takes_all {
        return (0..=operations.len()).collect();
    }
    let named = operations.iter().position(|operation| matches!(operation, DiskOperation::Rename(..))).unwrap();
    let before = (0..named).filter(|at| !is_alike(*at)).skip(turn).step_by(3);
    before.chain((named..=operations.len()).filter(|at| !is_alike(*at))).collect()
}

/// Asserts that the index contains one of the two releases, and that the next build succeeds and leaves no extra files.
fn assert_recovers(releases: &ReleaseStore, context: &str) {
    let current = releases.current().unwrap().unwrap();
    assert!([version(OLD), version(NEW)].contains(&current), "{context}: {current}");
    let release = releases.open(current).unwrap_or_else(|error| panic!("{context}: {error}"));
    release.smoke_test().unwrap_or_else(|error| panic!("{context}: {error}"));
    releases.verify_on_disk(&release.manifest).unwrap_or_else(|error| panic!("{context}: {error}"));
    drop(release);
    let publication = publish(releases, small(NEW)).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(publication.current, Some(version(NEW)), "{context}");
    assert_eq!(releases.current().unwrap(), Some(version(NEW)), "{context}");
    assert_eq!(names(releases.folder()), [OLD, NEW, "current"], "{context}");
    releases.open(version(NEW)).unwrap();
    releases.open(version(OLD)).unwrap();
}

/// Asserts [`assert_recovers`] of a build that is killed after each of these numbers of operations.
fn assert_kills_are_recovered_from(copies: &Copies, stops: Vec<usize>) {
    for last in stops {
        let (_folder, releases) = copies.next();
        let file_system = FaultyFs::after(last);
        publish_on(&file_system, &releases);
        let context = format!("killed after {last} operations, {:?}", file_system.operations.borrow().last());
        assert_recovers(&releases, &context);
    }
}

#[test]
fn a_build_killed_at_any_point_leaves_the_old_or_the_new_release() {
    let copies = Copies::new(index(&[OLD]));
    let stops = crash_points(&copies, 0);
    assert!(stops.len() > 8, "{stops:?}");
    assert_kills_are_recovered_from(&copies, stops);
}

#[test]
fn a_power_failure_at_any_point_leaves_the_old_or_the_new_release() {
    let copies = Copies::new(index(&[OLD]));
    let mut undone_renames = 0;
    for last in crash_points(&copies, 1) {
        for undone in 0.. {
            let (_folder, releases) = copies.next();
            let file_system = FaultyFs::after(last);
            publish_on(&file_system, &releases);
            if !file_system.lose_power(undone) {
                break;
            }
            undone_renames += undone;
            assert_recovers(
                &releases,
                &format!(
                    "power failure after {last} operations, {undone:b} undone, {:?}",
                    file_system.operations.borrow().last()
                ),
            );
        }
    }
    assert!(undone_renames > 1, "both renames are undone in some runs");
}

#[test]
fn a_first_build_killed_at_any_point_leaves_no_or_a_complete_release() {
    let empty = Copies::new(index(&[]));
    fs::create_dir_all(empty.made.folder()).unwrap();
    for last in crash_points(&empty, 2) {
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
fn the_repair_of_a_damaged_release_can_be_killed_too() {
    let copies = Copies::new(index(&[OLD, NEW]));
    copies.made.activate(version(OLD), false).unwrap();
    fs::write(copies.made.release_folder(version(NEW)).join("tables.bin"), "torn").unwrap();
    let stops = crash_points(&copies, 2);
    assert_kills_are_recovered_from(&copies, stops);
}

#[test]
fn everything_is_synced_before_the_release_gets_its_name_and_that_before_current_changes() {
    let (_folder, releases) = index(&[OLD]);
    let file_system = FaultyFs::after(usize::MAX);
    assert!(publish_on(&file_system, &releases));
    let operations = file_system.operations.borrow();
    let renames: Vec<usize> =
        (0..operations.len()).filter(|at| matches!(operations[*at], DiskOperation::Rename(..))).collect();
    let [named, switched] = renames[..] else { panic!("{renames:?}") };
    let DiskOperation::Rename(draft, place, _) = &operations[named] else { unreachable!() };
    assert_eq!(*place, releases.release_folder(version(NEW)));
    for file in files(place).unwrap() {
        let synced =
            operations[..named].iter().position(|operation| *operation == DiskOperation::SyncFile(draft.join(&file)));
        assert!(synced.is_some(), "{}", file.display());
        for folder in file.ancestors().skip(1) {
            let folder = operations[..named]
                .iter()
                .rposition(|operation| *operation == DiskOperation::SyncFolder(draft.join(folder)));
            let folder = folder.or_else(|| {
                operations[..named].iter().rposition(|operation| *operation == DiskOperation::SyncFolder(draft.clone()))
            });
            assert!(folder > synced, "{}", file.display());
        }
    }
    let index = DiskOperation::SyncFolder(releases.folder().to_owned());
    assert!(operations[named..switched].contains(&index) && operations[switched..].contains(&index));
}

#[test]
fn a_failed_build_removes_its_draft() {
    let (_folder, releases) = index(&[OLD]);
    let published = publish(&releases, compiled(OLD, "Birch Lane Capital", "Birch Lane"));
    assert!(published.is_err());
    assert_eq!(names(releases.folder()), [OLD, "current"]);
}

#[test]
fn a_rollback_is_not_undone_by_the_same_build_again() {
    let (_folder, releases) = index(&[OLD, NEW]);
    releases.activate(version(OLD), false).unwrap();
    let publication = publish(&releases, small(NEW)).unwrap();
    assert_eq!((publication.outcome, publication.current), (PublicationOutcome::Unchanged, Some(version(OLD))));
}
