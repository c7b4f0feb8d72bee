use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::sample::{OTHER_PRIVATE_KEY, PRIVATE_KEY, PUBLIC_KEY, compiled, finish, index, names, version};
use crate::{ReleaseStore, SigningKey};

const FIRST: &str = "2026-11-20.1";
const SECOND: &str = "2026-11-20.2";

struct TestRemote {
    folder: TempDir,
}

impl TestRemote {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn open(&self) -> RemoteStore {
        RemoteStore::open(&PathBuf::from(format!("file://{}", self.folder.path().display())), None).unwrap()
    }

    fn push(&self, releases: &ReleaseStore, pushed: &str, activate_at: i64) -> Pushed {
        let remote = self.open();
        let read = remote.current().unwrap();
        remote.push(releases, version(pushed), None, &read, activate_at, NOW).unwrap()
    }

    fn objects(&self) -> Vec<PathBuf> {
        let mut objects: Vec<_> =
            fs::read_dir(self.folder.path().join("objects")).unwrap().map(|entry| entry.unwrap().path()).collect();
        objects.sort();
        objects
    }
}

/// A time after the creation of all test files, in Unix seconds.
const NOW: i64 = 4_000_000_000;

fn replica(store: &TestRemote, folder: &TempDir) -> Replica {
    Replica::new(store.open(), ReleaseStore::at(folder.path().join("cache")), 3)
}

/// A pointer to a release of one day, which is to be served when it is written.
pub(super) fn pointer(generation: u64, release: u32, written: i64) -> Pointer {
    Pointer {
        format: FORMAT,
        release: version(&format!("2026-11-20.{release}")),
        manifest: Checksum::of(&release.to_be_bytes()),
        epoch: 0,
        generation,
        activate_at: written,
        not_before: Some(written),
        not_after: None,
        push: format!("{generation}-{written}"),
        before: Vec::new(),
    }
}

pub(super) fn current_of(pointer: Option<Pointer>) -> Current {
    Current { pointer, ..Current::default() }
}

fn current(replica: &Replica) -> Option<SnapshotVersion> {
    replica.local.current().unwrap()
}

#[test]
fn a_replica_has_the_files_that_were_pushed_and_switches_at_the_announced_time() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    let replica = replica(&store, &own);
    replica.poll().unwrap();
    replica.activate(NOW - 1).unwrap();
    assert_eq!(current(&replica), Some(version(FIRST)), "a replica without a release waits for nothing");
    let second = store.push(&releases, SECOND, NOW + 10);
    assert_eq!(second.pointer.generation, 2);
    replica.poll().unwrap();
    replica.activate(NOW + 9).unwrap();
    assert_eq!(current(&replica), Some(version(FIRST)));
    assert!(replica.expects(version(SECOND), false) && !replica.expects(version("2026-11-20.3"), false));
    // A signed cursor of an unknown release comes from a replica that is ahead.
    assert!(replica.expects(version("2026-11-20.3"), true) && !replica.expects(version("2026-11-01.1"), true));
    replica.activate(NOW + 10).unwrap();
    assert_eq!(current(&replica), Some(version(SECOND)));
    for pushed in [FIRST, SECOND] {
        let [from, to] = [&releases, &replica.local].map(|releases| releases.release_folder(version(pushed)));
        for file in crate::files(&from).unwrap() {
            assert_eq!(fs::read(from.join(&file)).unwrap(), fs::read(to.join(&file)).unwrap(), "{}", file.display());
        }
    }
    // An empty replica also fetches the release that the patches refer to.
    let other = tempfile::tempdir().unwrap();
    let other = super::tests::replica(&store, &other);
    other.poll().unwrap();
    other.activate(NOW).unwrap();
    assert_eq!(current(&other), Some(version(SECOND)));
    assert!(store.open().packing(second.pointer.pushed()).unwrap().0.base.is_some());
}

#[test]
fn a_replica_without_releases_fetches_those_that_were_current_before() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    // Without its packing, the second release is no patch of the first.
    fs::remove_dir_all(releases.folder().join(".packings")).unwrap();
    store.push(&releases, SECOND, NOW);
    let fresh = replica(&store, &own);
    fresh.poll().unwrap();
    fresh.activate(NOW).unwrap();
    assert_eq!(fresh.local.versions().unwrap().len(), 1, "first it serves");
    assert!(fresh.expects(version(FIRST), false) && fresh.next_to_load(|_| false).is_none());
    fresh.poll().unwrap();
    assert_eq!(fresh.local.versions().unwrap().len(), 2);
    assert!(fresh.expects(version(FIRST), false));
    assert_eq!(fresh.next_to_load(|_| false), Some(version(FIRST)));
    fresh.note_loaded(version(FIRST));
    assert!(!fresh.expects(version(FIRST), false) && fresh.next_to_load(|_| false).is_none());
    let remote = store.open();
    let read = remote.current().unwrap();
    let first = read.pointer.as_ref().unwrap().before[0];
    let back = remote.point(&read, first, NOW).unwrap();
    assert_eq!(back.before.iter().map(|named| named.version).collect::<Vec<_>>(), [version(SECOND)]);
    // A removed release is not needed.
    let manifests = store.folder.path().join("manifests").join(SECOND);
    fs::remove_dir_all(manifests).unwrap();
    let other = tempfile::tempdir().unwrap();
    let fresh = replica(&store, &other);
    for _ in 0..2 {
        fresh.poll().unwrap();
        fresh.activate(NOW).unwrap();
    }
    assert_eq!((current(&fresh), fresh.local.versions().unwrap().len()), (Some(version(FIRST)), 1));
    assert!(!fresh.expects(version(SECOND), false));
}

#[test]
fn a_release_that_was_overtaken_before_its_time_is_fetched_for_its_cursors() {
    const THIRD: &str = "2026-11-20.3";
    let (store, (_folder, releases), own) =
        (TestRemote::new(), index(&[FIRST, SECOND, THIRD]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    let replica = replica(&store, &own);
    replica.poll().unwrap();
    replica.activate(NOW).unwrap();
    // Another replica may serve the second release for a moment.
    store.push(&releases, SECOND, NOW + 2);
    store.push(&releases, THIRD, NOW + 3);
    replica.poll().unwrap();
    assert!(replica.expects(version(SECOND), false) && replica.expects(version(THIRD), false));
    replica.activate(NOW + 3).unwrap();
    assert_eq!(current(&replica), Some(version(THIRD)));
    assert_eq!(replica.next_to_load(|version| version == self::version(FIRST)), Some(version(SECOND)));
}

#[test]
fn a_version_that_was_pushed_with_other_tables_is_taken() {
    let (store, (_folder, releases)) = (TestRemote::new(), index(&[FIRST]));
    store.push(&releases, FIRST, NOW);
    store.push(&releases, FIRST, NOW);
    let other = tempfile::tempdir().unwrap();
    let other = ReleaseStore::at(other.path().join("index"));
    finish(&other.begin().unwrap(), compiled(FIRST, "Berlin", "Paris")).unwrap();
    let remote = store.open();
    let read = remote.current().unwrap();
    let refused = remote.push(&other, version(FIRST), None, &read, NOW, NOW).unwrap_err();
    assert!(matches!(refused, ReleaseError::Taken { free, .. } if free == version(SECOND)), "{refused}");
    assert_eq!(remote.current().unwrap().pointer, read.pointer);
}

#[test]
fn of_two_indexers_one_moves_current_and_the_other_gets_the_winner() {
    let (store, (_folder, releases)) = (TestRemote::new(), index(&[FIRST, SECOND]));
    store.push(&releases, FIRST, NOW);
    let remote = store.open();
    let read = remote.current().unwrap();
    let second = store.push(&releases, SECOND, NOW);
    // Back to the first: the same release, but not the same generation.
    let first = read.pointer.clone().unwrap();
    remote.point(&remote.current().unwrap(), first.pushed(), NOW).unwrap();
    let lost = remote.point(&read, second.pointer.pushed(), NOW).unwrap_err();
    assert!(
        matches!(&lost, ReleaseError::Overtaken { winner, generation: 3, .. } if *winner == version(FIRST)),
        "{lost}"
    );
}

#[test]
fn one_of_sixteen_indexers_wins() {
    let (store, (_folder, releases)) = (TestRemote::new(), index(&[FIRST]));
    let pushed = store.push(&releases, FIRST, NOW).pointer.pushed();
    let remote = store.open();
    for round in 2..52 {
        let read = remote.current().unwrap();
        let wins: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| remote.point(&read, pushed, NOW).is_ok())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(wins.iter().filter(|won| **won).count(), 1, "round {round}");
        assert_eq!(remote.current().unwrap().pointer.unwrap().generation, round);
    }
}

#[test]
fn what_was_forged_is_never_served_and_what_was_fetched_is_not_fetched_again() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    let replica = replica(&store, &own);
    let object = store.objects().into_iter().max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let good = fs::read(&object).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&object, &bad).unwrap();
    let refused = replica.poll().unwrap_err();
    assert!(matches!(refused, ReleaseError::Damaged { .. }), "{refused}");
    replica.activate(NOW).unwrap();
    assert_eq!(current(&replica), None);
    // Half of an object, as after an interrupted upload.
    fs::write(&object, &good[..good.len() / 2]).unwrap();
    assert!(replica.poll().is_err());
    fs::write(&object, &good).unwrap();
    let fetched = fs::read_dir(own.path().join("cache/.fetching-2026-11-20.1")).unwrap().count();
    assert!(fetched > 0, "what was right is kept");
    let refused = own.path().join("cache/.fetching-2026-11-19.1");
    fs::create_dir(&refused).unwrap();
    replica.poll().unwrap();
    replica.activate(NOW).unwrap();
    assert_eq!(current(&replica), Some(version(FIRST)));
    assert!(!refused.exists(), "what a refused release has left over is removed");
}

#[test]
fn an_older_pointer_is_ignored_and_without_the_store_the_release_stays() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    let pointer = store.folder.path().join("current");
    let stale = fs::read(&pointer).unwrap();
    store.push(&releases, SECOND, NOW);
    let first = replica(&store, &own);
    first.poll().unwrap();
    first.activate(NOW).unwrap();
    fs::write(&pointer, stale).unwrap();
    // The same after a restart.
    for replica in [first, replica(&store, &own)] {
        replica.poll().unwrap();
        replica.activate(NOW).unwrap();
        assert_eq!(current(&replica), Some(version(SECOND)));
        assert_eq!((replica.generation(), replica.failures()), (2, 0));
    }
    fs::write(&pointer, b"{").unwrap();
    let replica = replica(&store, &own);
    assert!(replica.poll().is_err());
    assert_eq!((replica.generation(), replica.failures()), (2, 1));
    assert_eq!(current(&replica), Some(version(SECOND)));
    assert!(replica.expects(version("2026-11-20.3"), false), "what is newer may be there by now");
    assert!(!replica.expects(version(FIRST), false));
}

#[test]
fn unsigned_and_wrongly_signed_releases_are_refused() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST]), tempfile::tempdir().unwrap());
    let path = own.path().join("key");
    let [right, wrong] = [PRIVATE_KEY, OTHER_PRIVATE_KEY].map(|key| {
        fs::write(&path, key).unwrap();
        SigningKey::read(&path).unwrap()
    });
    fs::write(&path, PUBLIC_KEY).unwrap();
    let remote = RemoteStore { trusted: Some(TrustedKey::read(&path).unwrap()), ..store.open() };
    for signed in [None, Some(&wrong)] {
        let read = remote.current().unwrap();
        let pushed = remote.push(&releases, version(FIRST), signed, &read, NOW, NOW).unwrap().pointer;
        let refused = remote.packing(pushed.pushed()).unwrap_err();
        assert!(matches!(refused, ReleaseError::Untrusted { .. }), "{refused}");
    }
    let read = remote.current().unwrap();
    let pushed = remote.push(&releases, version(FIRST), Some(&right), &read, NOW, NOW).unwrap().pointer;
    remote.packing(pushed.pushed()).unwrap();
}

#[test]
fn what_no_release_needs_is_removed_after_the_grace_period() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    store.push(&releases, SECOND, NOW);
    let orphan = store.folder.path().join("objects").join("0".repeat(64));
    fs::write(&orphan, b"left over").unwrap();
    let remote = store.open();
    let before = store.objects().len();
    let soon = fs::metadata(&orphan).unwrap().modified().unwrap();
    let soon = soon.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64 + 10;
    let pruned = remote.prune(1, 3_600, soon).unwrap();
    assert_eq!((pruned.objects, pruned.releases.len()), (0, 0));
    let pruned = remote.prune(1, 3_600, NOW).unwrap();
    assert_eq!((pruned.objects, pruned.releases), (1, vec![]), "the second release has patches of the first");
    assert_eq!(store.objects().len(), before - 1);
    let replica = replica(&store, &own);
    replica.poll().unwrap();
}

#[test]
fn a_folder_passes_the_probe() {
    let store = TestRemote::new();
    assert_eq!(store.open().probe().unwrap(), Vec::<&str>::new());
    assert!(names(store.folder.path()).iter().all(|name| name != "current"));
}

#[test]
fn a_release_of_another_place_is_refused_with_what_to_name() {
    for place in ["file://srv", "s3://"] {
        let error = RemoteStore::open(std::path::Path::new(place), None).err().unwrap().to_string();
        assert!(error.contains("such as"), "{error}");
    }
}
