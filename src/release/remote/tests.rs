use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::sample::{OTHER_PRIVATE_KEY, PRIVATE_KEY, PUBLIC_KEY, compiled, finish, index, names, version};
use crate::{ReleaseStore, SigningKey};
use data::vocabulary::Vocabulary;

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
        remote.push(releases, version(pushed), None, &read, &announced(activate_at), NOW).unwrap()
    }

    fn objects(&self) -> Vec<PathBuf> {
        let mut objects: Vec<_> =
            fs::read_dir(self.folder.path().join("objects")).unwrap().map(|entry| entry.unwrap().path()).collect();
        objects.sort();
        objects
    }
}

/// Announces an unsigned release at [`NOW`].
fn announced(activate_at: i64) -> Announcement {
    Announcement { activate_in: (activate_at - NOW).try_into().unwrap(), ..Announcement::default() }
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
    replica.poll(NOW).unwrap();
    replica.activate(NOW - 1).unwrap();
    assert_eq!(current(&replica), Some(version(FIRST)), "a replica without a release waits for nothing");
    let second = store.push(&releases, SECOND, NOW + 10);
    assert_eq!(second.pointer.generation, 2);
    replica.poll(NOW).unwrap();
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
    other.poll(NOW).unwrap();
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
    fresh.poll(NOW).unwrap();
    fresh.activate(NOW).unwrap();
    assert_eq!(fresh.local.versions().unwrap().len(), 1, "first it serves");
    assert!(fresh.expects(version(FIRST), false) && fresh.next_to_load(|_| false).is_none());
    fresh.poll(NOW).unwrap();
    assert_eq!(fresh.local.versions().unwrap().len(), 2);
    assert!(fresh.expects(version(FIRST), false));
    assert_eq!(fresh.next_to_load(|_| false), Some(version(FIRST)));
    fresh.note_loaded(version(FIRST));
    assert!(!fresh.expects(version(FIRST), false) && fresh.next_to_load(|_| false).is_none());
    let remote = store.open();
    let read = remote.current().unwrap();
    let first = read.pointer.as_ref().unwrap().before[0];
    let back = remote.point(&releases, &read, first, &announced(NOW), NOW).unwrap();
    assert_eq!(back.before.iter().map(|named| named.version).collect::<Vec<_>>(), [version(SECOND)]);
    // A removed release is not needed.
    let manifests = store.folder.path().join("manifests").join(SECOND);
    fs::remove_dir_all(manifests).unwrap();
    let other = tempfile::tempdir().unwrap();
    let fresh = replica(&store, &other);
    for _ in 0..2 {
        fresh.poll(NOW).unwrap();
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
    replica.poll(NOW).unwrap();
    replica.activate(NOW).unwrap();
    // Another replica may serve the second release for a moment.
    store.push(&releases, SECOND, NOW + 2);
    store.push(&releases, THIRD, NOW + 3);
    replica.poll(NOW).unwrap();
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
    let refused = remote.push(&other, version(FIRST), None, &read, &announced(NOW), NOW).unwrap_err();
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
    let point = |read: &Current, pushed| remote.point(&releases, read, pushed, &announced(NOW), NOW);
    point(&remote.current().unwrap(), first.pushed()).unwrap();
    let lost = point(&read, second.pointer.pushed()).unwrap_err();
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
            let point = || remote.point(&releases, &read, pushed, &announced(NOW), NOW).is_ok();
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(point)).collect();
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
    let refused = replica.poll(NOW).unwrap_err();
    assert!(matches!(refused, ReleaseError::Damaged { .. }), "{refused}");
    replica.activate(NOW).unwrap();
    assert_eq!(current(&replica), None);
    // Half of an object, as after an interrupted upload.
    fs::write(&object, &good[..good.len() / 2]).unwrap();
    assert!(replica.poll(NOW).is_err());
    fs::write(&object, &good).unwrap();
    let fetched = fs::read_dir(own.path().join("cache/.fetching-2026-11-20.1")).unwrap().count();
    assert!(fetched > 0, "what was right is kept");
    let refused = own.path().join("cache/.fetching-2026-11-19.1");
    fs::create_dir(&refused).unwrap();
    replica.poll(NOW).unwrap();
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
    first.poll(NOW).unwrap();
    first.activate(NOW).unwrap();
    fs::write(&pointer, stale).unwrap();
    // The same after a restart.
    for replica in [first, replica(&store, &own)] {
        replica.poll(NOW).unwrap();
        replica.activate(NOW).unwrap();
        assert_eq!(current(&replica), Some(version(SECOND)));
        assert_eq!((replica.generation(), replica.failures()), (2, 0));
    }
    fs::write(&pointer, b"{").unwrap();
    let replica = replica(&store, &own);
    assert!(replica.poll(NOW).is_err());
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
        let pushed = remote.push(&releases, version(FIRST), signed, &read, &announced(NOW), NOW).unwrap().pointer;
        let refused = remote.packing(pushed.pushed()).unwrap_err();
        assert!(matches!(refused, ReleaseError::Untrusted { .. }), "{refused}");
    }
    let read = remote.current().unwrap();
    let pushed = remote.push(&releases, version(FIRST), Some(&right), &read, &announced(NOW), NOW).unwrap().pointer;
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
    replica.poll(NOW).unwrap();
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

/// A store with a delegation: the key of releases lets another one sign pointers for a thousand seconds.
struct SignedRemote {
    store: TestRemote,
    root: SigningKey,
    signing: PointerSigning,
}

/// A key from its text.
fn signing_key(pem: &str) -> SigningKey {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), pem).unwrap();
    SigningKey::read(file.path()).unwrap()
}

impl SignedRemote {
    fn new() -> Self {
        let (root, key) = (signing_key(PRIVATE_KEY), signing_key(OTHER_PRIVATE_KEY));
        let signed = Self { store: TestRemote::new(), root, signing: PointerSigning { key, valid_for: 100 } };
        signed.delegate(1_000, NOW);
        signed
    }

    fn delegate(&self, valid_for: i64, now: i64) {
        self.store.open().delegate(vec![self.signing.key.public()], &self.root, valid_for, now).unwrap();
    }

    fn open(&self) -> RemoteStore {
        RemoteStore { trusted: Some(self.root.public()), ..self.store.open() }
    }

    fn push(&self, releases: &ReleaseStore, pushed: &str, now: i64, is_recovery: bool) -> ReleaseResult<Pushed> {
        let remote = self.open();
        let signing = PointerSigning { key: signing_key(OTHER_PRIVATE_KEY), valid_for: 100 };
        let announcement = Announcement { activate_in: 0, signing: Some(signing), is_recovery };
        let read = remote.current_to_replace(is_recovery)?;
        remote.check(releases, &read, &announcement, now)?;
        remote.push(releases, version(pushed), Some(&self.root), &read, &announcement, now)
    }

    fn replica(&self, folder: &TempDir) -> Replica {
        Replica::new(self.open(), ReleaseStore::at(folder.path().join("cache")), 3)
    }

    fn object(&self, name: &str) -> PathBuf {
        self.store.folder.path().join(name)
    }
}

/// Polls until what is wrong is reported, and activates what is followed. The kind of the fault.
fn follow(replica: &Replica, now: i64) -> Option<FaultKind> {
    for _ in 0..6 {
        replica.poll(now).unwrap();
        replica.activate(now).unwrap();
    }
    replica.fault().map(|fault| fault.kind)
}

#[test]
fn pointers_are_followed_only_with_a_delegated_signature_once_there_was_a_delegation() {
    let (signed, (_folder, releases), own) =
        (SignedRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    signed.push(&releases, FIRST, NOW, false).unwrap();
    let replica = signed.replica(&own);
    assert_eq!(follow(&replica, NOW), None);
    assert_eq!((current(&replica), replica.not_after()), (Some(version(FIRST)), Some(NOW + 100)));
    assert!(!replica.accepts_unsigned());

    // Unsigned, changed, and signed with a key that nobody has named.
    let good = fs::read(signed.object("current")).unwrap();
    // Its release has a signature, the pointer has none.
    let (remote, read) = (signed.open(), signed.open().current().unwrap());
    remote.push(&releases, version(SECOND), Some(&signed.root), &read, &announced(NOW), NOW).unwrap();
    let unsigned = fs::read(signed.object("current")).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    let changed = text.replace("\"generation\":1,", "\"generation\":2,").into_bytes();
    assert_ne!(changed, good);
    let pointer: Pointer = serde_json::from_slice(&unsigned).unwrap();
    let foreign = pointer.encode(Some(&PointerSigning { key: signing_key(PRIVATE_KEY), valid_for: 100 }));
    for forged in [&unsigned, &changed, &foreign] {
        fs::write(signed.object("current"), forged).unwrap();
        assert_eq!(follow(&replica, NOW), Some(FaultKind::Untrusted), "{}", String::from_utf8_lossy(forged));
        assert_eq!((current(&replica), replica.generation()), (Some(version(FIRST)), 1));
        // Nothing gets a signature because it is there.
        let refused = signed.open().renew(&signed.signing, NOW).unwrap_err();
        assert!(matches!(refused, ReleaseError::Unfollowable { .. }), "{refused}");
    }
    assert!(replica.fault_counts()[FaultKind::Untrusted.index()] > 0);

    // Without the delegation: those who have seen it, also after a restart, still know the key.
    fs::remove_file(signed.object("delegation")).unwrap();
    for replica in [replica, signed.replica(&own)] {
        fs::write(signed.object("current"), &unsigned).unwrap();
        assert_eq!(follow(&replica, NOW), Some(FaultKind::Untrusted));
        fs::write(signed.object("current"), &good).unwrap();
        assert_eq!(follow(&replica, NOW), None);
    }
    fs::write(signed.object("current"), &unsigned).unwrap();
    let refused = signed.push(&releases, SECOND, NOW, false).unwrap_err();
    assert!(matches!(refused, ReleaseError::NotDelegated { .. }), "{refused}");

    // Who has never seen one goes on without signatures.
    let other = tempfile::tempdir().unwrap();
    let other = signed.replica(&other);
    fs::write(signed.object("current"), &good).unwrap();
    assert_eq!(follow(&other, NOW), Some(FaultKind::Untrusted), "signed by whom?");
    fs::write(signed.object("current"), &unsigned).unwrap();
    assert_eq!(follow(&other, NOW), None);
    assert!(other.accepts_unsigned());
    // A delegation by somebody else is not believed.
    let stranger = &signed.signing.key;
    signed.store.open().delegate(vec![stranger.public()], stranger, 1_000, NOW).unwrap();
    fs::write(signed.object("current"), &good).unwrap();
    assert_eq!(follow(&other, NOW), Some(FaultKind::Untrusted));
}

#[test]
fn without_a_trusted_key_signed_pointers_are_followed_too() {
    let (signed, (_folder, releases), own) =
        (SignedRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    let replica = Replica::new(signed.store.open(), ReleaseStore::at(own.path().join("cache")), 3);
    for pushed in [FIRST, SECOND] {
        signed.push(&releases, pushed, NOW, false).unwrap();
        assert_eq!((follow(&replica, NOW), current(&replica)), (None, Some(version(pushed))));
    }
}

#[test]
fn a_delegation_that_could_not_be_kept_is_kept_later() {
    let (signed, (_folder, releases), own) = (SignedRemote::new(), index(&[FIRST]), tempfile::tempdir().unwrap());
    signed.push(&releases, FIRST, NOW, false).unwrap();
    let replica = signed.replica(&own);
    let kept = own.path().join("cache/.delegation");
    // A folder in its place, as a disk that takes no file.
    fs::create_dir_all(&kept).unwrap();
    assert!(replica.poll(NOW).is_err());
    fs::remove_dir(&kept).unwrap();
    assert_eq!(follow(&replica, NOW), None);
    assert!(kept.is_file());
}

#[test]
fn a_pointer_that_is_not_renewed_is_reported_as_frozen_until_it_is() {
    let (signed, (_folder, releases), own) =
        (SignedRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    signed.push(&releases, FIRST, NOW, false).unwrap();
    let first = fs::read(signed.object("current")).unwrap();
    let replica = signed.replica(&own);
    assert_eq!(follow(&replica, NOW + 100), None);
    assert_eq!(follow(&replica, NOW + 101), Some(FaultKind::Frozen));
    assert_eq!(current(&replica), Some(version(FIRST)), "it is served on");
    let renewed = signed.open().renew(&signed.signing, NOW + 101).unwrap();
    assert_eq!((renewed.generation, renewed.not_after), (1, Some(NOW + 201)));
    assert_eq!(follow(&replica, NOW + 101), None);
    // The pointer as it was before the renewal is stale.
    let second = fs::read(signed.object("current")).unwrap();
    fs::write(signed.object("current"), &first).unwrap();
    assert_eq!(follow(&replica, NOW + 101), Some(FaultKind::Lower));
    fs::write(signed.object("current"), &second).unwrap();
    assert_eq!(follow(&replica, NOW + 101), None);
    // A new one that is out of date is not followed, except by a replica that has nothing else.
    signed.push(&releases, SECOND, NOW + 110, false).unwrap();
    assert_eq!(follow(&replica, NOW + 300), Some(FaultKind::Expired));
    assert_eq!(current(&replica), Some(version(FIRST)));
    let empty = tempfile::tempdir().unwrap();
    let empty = signed.replica(&empty);
    assert_eq!(follow(&empty, NOW + 300), Some(FaultKind::Frozen));
    assert_eq!(current(&empty), Some(version(SECOND)));
    // The delegation ends, too.
    signed.open().renew(&signed.signing, NOW + 950).unwrap();
    assert_eq!(follow(&replica, NOW + 1_000), None);
    assert_eq!(follow(&replica, NOW + 1_001), Some(FaultKind::Frozen));
    let refused = signed.open().renew(&signed.signing, NOW + 1_001).unwrap_err();
    assert!(matches!(refused, ReleaseError::NotDelegated { .. }), "{refused}");
    signed.delegate(1_000, NOW + 1_001);
    assert_eq!(follow(&replica, NOW + 1_001), None);
}

#[test]
fn a_restored_or_emptied_bucket_is_noticed_by_replicas_and_publishers_and_recovered_by_one_publication() {
    let (signed, (_folder, releases), own) =
        (SignedRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    signed.push(&releases, FIRST, NOW, false).unwrap();
    let backup = fs::read(signed.object("current")).unwrap();
    for _ in 0..3 {
        signed.push(&releases, SECOND, NOW, false).unwrap();
    }
    let replica = signed.replica(&own);
    assert_eq!((follow(&replica, NOW), replica.generation()), (None, 4));
    let restore: [(&dyn Fn(), FaultKind); 3] = [
        (&|| fs::write(signed.object("current"), &backup).unwrap(), FaultKind::Lower),
        (&|| fs::remove_file(signed.object("current")).unwrap(), FaultKind::Missing),
        (&|| fs::remove_dir_all(signed.object("manifests")).unwrap(), FaultKind::Lower),
    ];
    for (turn, (damage, kind)) in restore.into_iter().enumerate() {
        let now = NOW + 10 + turn as i64;
        damage();
        if kind == FaultKind::Lower {
            fs::write(signed.object("current"), &backup).unwrap();
        }
        assert_eq!(follow(&replica, now), Some(kind), "{turn}");
        assert_eq!(current(&replica), Some(version(SECOND)));
        let refused = signed.push(&releases, SECOND, now, false).unwrap_err();
        assert!(matches!(refused, ReleaseError::Restored { .. }), "{refused}");
        // A publisher without memory does not know, but what it pushes is not ignored in silence.
        fs::remove_file(releases.folder().join(".pushed")).unwrap();
        signed.push(&releases, SECOND, now, false).unwrap();
        assert_eq!(follow(&replica, now), Some(FaultKind::Lower), "{turn}");
        let recovered = signed.push(&releases, SECOND, now, true).unwrap().pointer;
        assert_eq!(recovered.epoch, now);
        assert_eq!((follow(&replica, now), replica.generation()), (None, recovered.generation), "{turn}");
        assert_eq!(current(&replica), Some(version(SECOND)));
    }
    // Later pushes are of the same epoch.
    let next = signed.push(&releases, SECOND, NOW + 20, false).unwrap().pointer;
    assert_eq!((next.epoch, follow(&replica, NOW + 20)), (NOW + 12, None));
}

#[test]
fn a_generation_at_the_end_of_numbers_freezes_nobody() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    store.push(&releases, FIRST, NOW);
    let replica = replica(&store, &own);
    assert_eq!(follow(&replica, NOW), None);
    let remote = store.open();
    let forged = Pointer { generation: u64::MAX, ..remote.current().unwrap().pointer.unwrap() };
    fs::write(store.folder.path().join("current"), forged.encode(None)).unwrap();
    assert_eq!(follow(&replica, NOW), Some(FaultKind::Implausible));
    assert_eq!(replica.generation(), 1);
    let other = tempfile::tempdir().unwrap();
    let fresh = super::tests::replica(&store, &other);
    assert_eq!((follow(&fresh, NOW), current(&fresh)), (Some(FaultKind::Implausible), None));
    let push = |is_recovery| {
        let announcement = Announcement { is_recovery, ..announced(NOW) };
        let read = remote.current_to_replace(is_recovery).unwrap();
        remote.push(&releases, version(SECOND), None, &read, &announcement, NOW)
    };
    let refused = push(false).unwrap_err().to_string();
    assert!(refused.contains("has generation 18446744073709551615") && refused.contains("--recover"), "{refused}");
    push(true).unwrap();
    assert_eq!((follow(&replica, NOW), current(&replica)), (None, Some(version(SECOND))));
    // Also over an object that is no pointer at all.
    fs::write(store.folder.path().join("current"), b"{").unwrap();
    assert!(remote.current_to_replace(false).is_err());
    push(true).unwrap();
    assert_eq!(follow(&replica, NOW + 1), None);
}

#[test]
fn an_older_release_is_followed_only_if_its_publisher_went_back_on_purpose() {
    let (store, (_folder, releases), own) = (TestRemote::new(), index(&[FIRST, SECOND]), tempfile::tempdir().unwrap());
    let first = store.push(&releases, FIRST, NOW).pointer;
    store.push(&releases, SECOND, NOW);
    let replica = replica(&store, &own);
    assert_eq!(follow(&replica, NOW), None);
    let forged = Pointer { generation: 99, ..first.clone() };
    let good = fs::read(store.folder.path().join("current")).unwrap();
    fs::write(store.folder.path().join("current"), forged.encode(None)).unwrap();
    assert_eq!(follow(&replica, NOW), Some(FaultKind::Older));
    assert_eq!(current(&replica), Some(version(SECOND)));
    fs::write(store.folder.path().join("current"), good).unwrap();
    let remote = store.open();
    let back = remote.point(&releases, &remote.current().unwrap(), first.pushed(), &announced(NOW), NOW).unwrap();
    assert_eq!((back.epoch, back.generation), (NOW, 3));
    assert_eq!((follow(&replica, NOW), current(&replica)), (None, Some(version(FIRST))));
    store.push(&releases, SECOND, NOW);
    assert_eq!((follow(&replica, NOW), current(&replica)), (None, Some(version(SECOND))));
}
