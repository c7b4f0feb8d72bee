use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::sample::{compiled, index, overwrite, publish, small, version};
use crate::{HasVersion, POLL_INTERVAL, ReleaseError, ReleaseEvent, ReleaseSource, ReleaseStore, Starting, Watcher};
use catalog::Catalog;
use data::{SnapshotVersion, Table};

/// A release, with the number of the call that opened it.
struct FakeRelease {
    version: SnapshotVersion,
    opening: u32,
}

impl HasVersion for FakeRelease {
    fn version(&self) -> SnapshotVersion {
        self.version
    }

    fn is_bundled(&self) -> bool {
        self.opening == 0
    }
}

const BUNDLED: &str = "2026-01-01.1";

/// Effect of opening a release.
#[derive(Clone, Copy, PartialEq)]
enum Behavior {
    Opens,
    /// Found damaged on verification.
    Damaged,
    Fails,
    Panics,
}

#[derive(Default)]
struct Folder {
    /// True if the operator named the folder.
    is_named: bool,
    current: Option<&'static str>,
    releases: BTreeMap<&'static str, Behavior>,
    stamp: u64,
    /// Stamps of changed releases.
    stamps: BTreeMap<&'static str, u64>,
    /// Verification of this release blocks until it is replaced by another one.
    slow: Option<SnapshotVersion>,
    openings: u32,
    polls: u32,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Folder>>);

impl Fake {
    fn with(current: Option<&'static str>, releases: &[(&'static str, Behavior)]) -> Self {
        let folder = Folder { current, releases: releases.iter().copied().collect(), ..Folder::default() };
        Self(Arc::new(Mutex::new(folder)))
    }

    fn change(&self, change: impl FnOnce(&mut Folder)) {
        let mut folder = self.0.lock().unwrap();
        let before = folder.releases.clone();
        change(&mut folder);
        folder.stamp += 1;
        let changed: Vec<_> = folder.releases.iter().filter(|(name, now)| before.get(*name) != Some(*now)).collect();
        let changed: Vec<_> = changed.into_iter().map(|(name, _)| *name).collect();
        changed.into_iter().for_each(|name| *folder.stamps.entry(name).or_default() += 1);
    }

    /// Changes the files of a release.
    fn touch(&self, name: &'static str) {
        *self.0.lock().unwrap().stamps.entry(name).or_default() += 1;
    }

    fn openings(&self) -> u32 {
        self.0.lock().unwrap().openings
    }

    fn polls(&self) -> u32 {
        self.0.lock().unwrap().polls
    }
}

impl ReleaseSource for Fake {
    type Item = FakeRelease;

    fn current(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        let mut folder = self.0.lock().unwrap();
        folder.polls += 1;
        match folder.current {
            Some(text) => match text.parse() {
                Ok(version) => Ok(Some(version)),
                Err(_) => Err(ReleaseError::BadCurrent { path: "index/current".into(), found: text.into() }),
            },
            None => Ok(None),
        }
    }

    fn versions(&self) -> Result<Vec<SnapshotVersion>, ReleaseError> {
        let mut versions: Vec<_> = self.0.lock().unwrap().releases.keys().map(|name| version(name)).collect();
        versions.sort_by(|a, b| b.cmp(a));
        Ok(versions)
    }

    fn open(&self, version: SnapshotVersion) -> Result<FakeRelease, ReleaseError> {
        let item = self.open_at_once(version)?;
        self.verify(&item).map(|_| item)
    }

    fn open_at_once(&self, version: SnapshotVersion) -> Result<FakeRelease, ReleaseError> {
        let (behavior, opening) = {
            let mut folder = self.0.lock().unwrap();
            folder.openings += 1;
            (folder.releases.get(version.to_string().as_str()).copied(), folder.openings)
        };
        match behavior {
            Some(Behavior::Opens | Behavior::Damaged) => Ok(FakeRelease { version, opening }),
            Some(Behavior::Fails) => Err(ReleaseError::Damaged { version, reason: "tables.bin is missing".into() }),
            Some(Behavior::Panics) => panic!("opened {version}"),
            None => Err(ReleaseError::Missing { version, index: "index".into() }),
        }
    }

    fn verify(&self, item: &FakeRelease) -> Result<bool, ReleaseError> {
        let version = item.version;
        while self.0.lock().unwrap().slow == Some(version) {
            std::thread::sleep(Duration::from_millis(1));
        }
        match self.0.lock().unwrap().releases.get(version.to_string().as_str()) {
            Some(Behavior::Damaged) => Err(ReleaseError::Damaged { version, reason: "tables.bin was changed".into() }),
            _ => Ok(false),
        }
    }

    fn unpublished(&self, newest: Option<SnapshotVersion>) -> Result<FakeRelease, ReleaseError> {
        match newest {
            None if !self.0.lock().unwrap().is_named => Ok(FakeRelease { version: version(BUNDLED), opening: 0 }),
            _ => Err(ReleaseError::NoneActive { index: "index".into(), newest }),
        }
    }

    fn stamp(&self, version: Option<SnapshotVersion>) -> u64 {
        let folder = self.0.lock().unwrap();
        match version {
            Some(version) => folder.stamps.get(version.to_string().as_str()).copied().unwrap_or_default(),
            None => folder.stamp,
        }
    }
}

/// A watcher and its log.
struct Watched<S: ReleaseSource> {
    watcher: Watcher<S>,
    log: Arc<Mutex<Vec<String>>>,
}

fn watch<S: ReleaseSource>(source: S) -> Watched<S> {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let report = move |event: ReleaseEvent| lines.lock().unwrap().push(event.to_string());
    Watched { watcher: Starting::new(source, 3, report).start().unwrap(), log }
}

impl<S: ReleaseSource> Watched<S> {
    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn all(&self) -> Vec<String> {
        self.watcher.active().all().iter().map(|item| item.version().to_string()).collect()
    }

    fn polls(&self, times: usize) {
        (0..times).for_each(|_| self.watcher.poll(false));
    }
}

use Behavior::{Damaged, Fails, Opens, Panics};

#[test]
fn without_current_the_bundled_snapshot_is_served_and_reported_once() {
    let watched = watch(Fake::default());
    watched.polls(3);
    assert_eq!(watched.lines(), ["serving the bundled snapshot 2026-01-01.1"]);
    assert_eq!(watched.all(), [BUNDLED]);
    assert_eq!(watched.watcher.active().rejections(), 0);
}

#[test]
fn startup_loads_the_newest_other_releases_for_their_cursors() {
    let names = ["2026-11-01.1", "2026-11-02.1", "2026-11-03.1", "2026-11-04.1", "2026-11-05.1"];
    let watched = watch(Fake::with(Some("2026-11-03.1"), &names.map(|name| (name, Opens))));
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-05.1", "2026-11-04.1", "2026-11-02.1"]);
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1"]);
}

#[test]
fn the_bundled_snapshot_is_not_loaded_with_releases() {
    let watched = watch(Fake::with(Some("2026-11-02.1"), &[("2026-11-01.1", Fails), ("2026-11-02.1", Opens)]));
    assert_eq!(watched.all(), ["2026-11-02.1"]);
    assert_eq!(
        watched.lines(),
        [
            "serving release 2026-11-02.1",
            "cursors of an older release expire: release 2026-11-01.1 is damaged: tables.bin is missing"
        ]
    );
}

#[test]
fn if_the_release_is_damaged_at_startup_the_newest_older_one_is_served() {
    let releases =
        [("2026-11-01.1", Opens), ("2026-11-02.1", Panics), ("2026-11-03.1", Fails), ("2026-11-04.1", Opens)];
    let fake = Fake::with(Some("2026-11-03.1"), &releases);
    let watched = watch(fake.clone());
    watched.polls(3);
    assert_eq!(
        watched.lines(),
        [
            "rejected: release 2026-11-03.1 is damaged: tables.bin is missing",
            "rejected: release 2026-11-02.1: the program panicked while reading it",
            "serving release 2026-11-01.1",
            "cursors of an older release expire: release 2026-11-03.1 is damaged: tables.bin is missing",
            "cursors of an older release expire: release 2026-11-02.1: the program panicked while reading it",
        ]
    );
    assert_eq!(watched.all(), ["2026-11-01.1", "2026-11-04.1"]);
    assert_eq!(watched.watcher.active().rejections(), 2);
    // Once fixed, it is activated as soon as its files no longer change.
    fake.change(|folder| folder.releases.insert("2026-11-03.1", Opens).map_or((), drop));
    watched.polls(2);
    assert_eq!(watched.all()[0], "2026-11-03.1");
}

#[test]
fn the_newest_older_release_replaces_what_is_found_damaged_after_the_start() {
    let releases =
        [("2026-11-01.1", Opens), ("2026-11-02.1", Fails), ("2026-11-03.1", Damaged), ("2026-11-04.1", Damaged)];
    let fake = Fake::with(Some("2026-11-03.1"), &releases);
    let watched = watch(fake.clone());
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-04.1", "2026-11-01.1"]);
    watched.lines();
    let (older, openings) = (watched.watcher.active().loaded(version("2026-11-01.1")).unwrap(), fake.openings());
    watched.watcher.verify_loaded();
    watched.polls(3);
    assert!(Arc::ptr_eq(&older, &watched.watcher.active().current()), "what is loaded is not read again");
    assert_eq!(fake.openings(), openings + 1, "2026-11-02.1 is tried");
    assert_eq!(
        watched.lines(),
        [
            "rejected: release 2026-11-03.1 is damaged: tables.bin was changed",
            "serving release 2026-11-01.1",
            "cursors of an older release expire: release 2026-11-04.1 is damaged: tables.bin was changed",
        ]
    );
    assert_eq!(watched.all(), ["2026-11-01.1"]);
    assert_eq!(watched.watcher.active().rejections(), 1);
    fake.change(|folder| folder.releases.insert("2026-11-03.1", Opens).map_or((), drop));
    watched.polls(2);
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1"]);
}

#[test]
fn the_only_release_is_served_though_it_was_found_damaged_until_it_is_repaired() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Damaged)]);
    let watched = watch(fake.clone());
    watched.watcher.verify_loaded();
    watched.polls(3);
    let rejected = "rejected: release 2026-11-01.1 is damaged: tables.bin was changed; still serving 2026-11-01.1";
    assert_eq!(watched.lines(), ["serving release 2026-11-01.1", rejected]);
    let active = watched.watcher.active();
    assert!(active.is_damaged());
    let damaged = active.current().opening;
    fake.change(|folder| folder.releases.insert("2026-11-01.1", Opens).map_or((), drop));
    watched.polls(3);
    assert!(!active.is_damaged() && active.current().opening != damaged);
    let lines = watched.lines();
    assert_eq!(lines.last().map(String::as_str), Some("serving release 2026-11-01.1"), "{lines:?}");
    watched.polls(3);
    assert_eq!(watched.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_release_is_activated_while_the_one_before_is_verified() {
    for (before, is_kept) in [(Opens, true), (Damaged, false)] {
        let slow = version("2026-11-02.1");
        let releases = [("2026-11-01.1", Opens), ("2026-11-02.1", before), ("2026-11-03.1", Opens)];
        let fake = Fake::with(Some("2026-11-02.1"), &releases);
        fake.change(|folder| folder.slow = Some(slow));
        let watched = watch(fake.clone());
        let (active, log) = (watched.watcher.active(), Arc::clone(&watched.log));
        let running = tokio::spawn(watched.watcher.run(Duration::from_millis(5)));
        fake.change(|folder| folder.current = Some("2026-11-03.1"));
        wait(|| active.current().version() == version("2026-11-03.1")).await;
        assert!(active.loaded(slow).is_some());
        fake.change(|folder| folder.slow = None);
        wait(|| log.lock().unwrap().len() == if is_kept { 2 } else { 3 }).await;
        let polls = fake.polls();
        wait(|| fake.polls() > polls + 2).await;
        assert_eq!((active.current().version(), active.loaded(slow).is_some()), (version("2026-11-03.1"), is_kept));
        assert_eq!(active.rejections(), 0);
        running.abort();
    }
}

#[test]
fn startup_fails_if_no_release_can_be_served() {
    for current in ["2026-11-02.1", "nonsense"] {
        let fake = Fake::with(Some(current), &[("2026-11-01.1", Fails), ("2026-11-02.1", Fails)]);
        let started = Starting::new(fake, 3, |_| {}).start();
        assert!(matches!(started, Err(ReleaseError::NothingGood { .. })), "{current}");
    }
    let watched = watch(Fake::with(Some("nonsense"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Fails)]));
    assert_eq!(watched.all(), ["2026-11-01.1"], "with an invalid `current` the newest valid release is served");
}

#[test]
fn a_loaded_release_that_is_damaged_later_is_rejected() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.polls(1);
    fake.change(|folder| {
        folder.current = Some("2026-11-01.1");
        folder.releases.insert("2026-11-01.1", Fails);
    });
    watched.polls(3);
    assert_eq!(watched.watcher.active().current().version(), version("2026-11-02.1"));
    assert_eq!(watched.watcher.active().rejections(), 1);
    let rejection = watched.watcher.active().last_rejection().unwrap();
    assert!(rejection.reason.contains("2026-11-01.1") && rejection.at > 0, "{rejection:?}");
}

#[test]
fn a_new_release_is_activated_at_the_next_poll_and_an_older_one_too() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    let active = watched.watcher.active();
    let before = active.current();
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.polls(1);
    assert_eq!((before.version(), active.current().version()), (version("2026-11-01.1"), version("2026-11-02.1")));
    fake.change(|folder| folder.current = Some("2026-11-01.1"));
    watched.polls(5);
    assert_ne!(active.current().opening, before.opening, "a loaded release is opened and verified again");
    assert_eq!(active.current().version(), before.version());
    assert_eq!(
        watched.lines(),
        ["serving release 2026-11-01.1", "serving release 2026-11-02.1", "serving release 2026-11-01.1"]
    );
    assert_eq!(active.swaps(), 2);
}

#[test]
fn a_rejected_release_is_reported_once_and_tried_again_after_its_files_have_changed() {
    for bad in [Fails, Panics] {
        let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", bad)]);
        let watched = watch(fake.clone());
        // Startup has opened it once.
        let at_startup = fake.openings();
        watched.lines();
        fake.change(|folder| folder.current = Some("2026-11-02.1"));
        watched.polls(10);
        assert_eq!(watched.lines().len(), 1);
        assert_eq!((fake.openings() - at_startup, watched.watcher.active().rejections()), (1, 1));
        // While it is being copied, each poll sees another state.
        for _ in 0..5 {
            fake.touch("2026-11-02.1");
            watched.polls(1);
        }
        assert_eq!(fake.openings() - at_startup, 1);
        fake.change(|folder| folder.releases.insert("2026-11-02.1", Opens).map_or((), drop));
        watched.polls(1);
        assert_eq!(fake.openings() - at_startup, 1);
        watched.polls(1);
        assert_eq!(watched.all()[0], "2026-11-02.1");
        assert_eq!(watched.lines(), ["serving release 2026-11-02.1"]);
    }
}

#[test]
fn changed_files_of_the_served_release_are_reported_once_for_each_change() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    let active = watched.watcher.active();
    watched.polls(3);
    watched.lines();
    let line = "files of release 2026-11-01.1 were changed or removed; it is served from memory as it was verified, but a \
                restart may fail: check it with `indexer verify 2026-11-01.1`, and build it again if it is damaged";
    for change in 1..3 {
        // While they are being copied, each poll sees another state.
        for _ in 0..5 {
            fake.touch("2026-11-01.1");
            watched.polls(1);
        }
        assert_eq!(watched.lines(), Vec::<String>::new());
        watched.polls(5);
        assert_eq!((watched.lines(), active.file_changes()), (vec![line.to_owned()], change));
    }
    fake.touch("2026-11-02.1");
    watched.polls(3);
    assert_eq!(watched.lines(), Vec::<String>::new(), "it is not the served one");
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.polls(3);
    fake.touch("2026-11-02.1");
    watched.polls(3);
    assert_eq!(watched.lines().len(), 2);
    assert_eq!((active.swaps(), active.file_changes(), active.rejections()), (1, 3, 0));
}

#[test]
fn each_request_of_the_operator_is_reported() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(fake.clone());
    watched.lines();
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.polls(3);
    watched.watcher.poll(true);
    watched.watcher.poll(true);
    watched.polls(3);
    let missing = "rejected: index holds no release 2026-11-02.1: `indexer list` shows the releases; \
                   still serving 2026-11-01.1";
    assert_eq!(watched.lines(), [missing, missing, missing]);
    assert_eq!(watched.watcher.active().rejections(), 3);
}

#[test]
fn a_missing_or_invalid_current_does_not_change_what_is_served() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(fake.clone());
    watched.lines();
    fake.change(|folder| folder.current = None);
    watched.polls(3);
    fake.change(|folder| folder.current = Some("../etc"));
    watched.polls(3);
    fake.change(|folder| folder.current = Some("2026-11-01.1"));
    watched.polls(3);
    assert_eq!(
        watched.lines(),
        [
            "the index names no release; still serving 2026-11-01.1",
            "rejected: index/current names no release: ../etc; fix it with `indexer activate VERSION`; \
             still serving 2026-11-01.1"
        ]
    );
    assert_eq!(watched.watcher.active().swaps(), 0);
}

#[test]
fn a_release_with_the_version_of_the_bundled_snapshot_is_activated() {
    let fake = Fake::default();
    let watched = watch(fake.clone());
    fake.change(|folder| {
        folder.releases.insert(BUNDLED, Opens);
        folder.current = Some(BUNDLED);
    });
    watched.polls(2);
    let active = watched.watcher.active();
    assert_eq!((active.current().opening, watched.all().len(), active.swaps()), (1, 1, 1));
}

#[test]
fn the_bundled_snapshot_replaces_no_release_that_is_missing() {
    let reason = |fake: Fake| Starting::new(fake, 3, |_| {}).start().err().unwrap().to_string();
    let named = Fake::default();
    named.change(|folder| folder.is_named = true);
    assert_eq!(
        reason(named),
        "index names no release to serve: run `indexer build --dataset DIR --index index`",
        "the operator named the folder"
    );
    assert_eq!(
        reason(Fake::with(None, &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)])),
        "index names no release to serve: run `indexer activate 2026-11-02.1 --index index`",
        "somebody publishes in the default folder"
    );
}

#[tokio::test]
async fn a_server_without_a_release_waits_for_one() {
    let fake = Fake::with(Some("2026-11-02.1"), &[("2026-11-02.1", Fails)]);
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let starting =
        Starting::new(fake.clone(), 3, move |event: ReleaseEvent| lines.lock().unwrap().push(event.to_string()));
    assert!(starting.start().is_err());
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let reasons = Arc::clone(&refused);
    let waiting = tokio::spawn(starting.wait(Duration::from_millis(5), move |error: &ReleaseError| {
        reasons.lock().unwrap().push(error.to_string());
    }));
    let polled = fake.polls();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!((fake.polls(), fake.openings()), (polled, 1), "what was refused is not tried again as it is");

    fake.change(|folder| folder.current = None);
    wait(|| refused.lock().unwrap().len() == 1).await;
    fake.change(|folder| {
        folder.current = Some("2026-11-01.1");
        folder.releases.insert("2026-11-01.1", Opens);
    });
    let watcher = waiting.await.unwrap();
    assert_eq!(watcher.active().current().version(), version("2026-11-01.1"));
    let waiting = "not ready, waiting for a release: ";
    assert_eq!(
        log.lock().unwrap()[..3],
        [
            format!(
                "{waiting}no release can be served (release 2026-11-02.1 is damaged: tables.bin is missing): build a \
                 release with `indexer build`, or activate another with `indexer activate VERSION`"
            ),
            format!("{waiting}index names no release to serve: run `indexer activate 2026-11-02.1 --index index`"),
            "serving release 2026-11-01.1".to_owned(),
        ]
    );
}

/// The name of the startup `mossworks`.
fn name(catalog: &Catalog) -> String {
    let row = catalog.find(Table::Startups, "mossworks").unwrap();
    catalog.snapshot().name(Table::Startups, row).to_owned()
}

#[tokio::test]
async fn a_running_watcher_activates_a_release_and_rejects_a_damaged_one() {
    let (_folder, releases) = index(&["2026-11-20.1"]);
    let watched = watch(releases.clone());
    let active = watched.watcher.active();
    let log = Arc::clone(&watched.log);
    let running = tokio::spawn(watched.watcher.run(POLL_INTERVAL));
    let before = active.current();

    publish(&releases, compiled("2026-11-27.1", "Mossworks,Moss", "Mossworks BV,Moss")).unwrap();
    wait(|| active.current().version() == version("2026-11-27.1")).await;
    assert_eq!((name(&before), name(&active.current())), ("Mossworks".into(), "Mossworks BV".into()));
    assert!(active.loaded(version("2026-11-20.1")).is_some());

    publish_damaged(&releases, "2026-11-28.1");
    wait(|| active.rejections() == 1).await;
    assert_eq!(name(&active.current()), "Mossworks BV");
    let line = log.lock().unwrap().last().cloned().unwrap();
    assert!(line.contains("release 2026-11-28.1 is damaged: tables.bin has the checksum"), "{line}");
    assert!(line.ends_with("still serving 2026-11-27.1"), "{line}");

    publish(&releases, small("2026-11-28.1")).unwrap();
    wait(|| active.current().version() == version("2026-11-28.1")).await;
    releases.activate(version("2026-11-20.1"), false).unwrap();
    wait(|| active.current().version() == version("2026-11-20.1")).await;
    running.abort();
}

#[test]
fn a_damaged_release_is_rejected_once_and_not_changed() {
    let (_folder, releases) = index(&["2026-11-20.1"]);
    let watched = watch(releases.clone());
    publish_damaged(&releases, "2026-11-28.1");
    let tables = releases.release_folder(version("2026-11-28.1")).join("tables.bin");
    let damaged = fs::read(&tables).unwrap();
    watched.polls(5);
    assert_eq!(watched.watcher.active().rejections(), 1);
    assert!(fs::read(&tables).unwrap() == damaged);
}

/// Publishes a release with one flipped bit in its tables.
fn publish_damaged(releases: &ReleaseStore, name: &str) {
    let (_elsewhere, others) = index(&[name]);
    let (from, to) = (others.release_folder(version(name)), releases.folder().join(".copy"));
    copy(&from, &to);
    let tables = to.join("tables.bin");
    let mut bytes = fs::read(&tables).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    overwrite(&tables, &bytes);
    fs::rename(&to, releases.release_folder(version(name))).unwrap();
    fs::write(releases.folder().join("current"), name).unwrap();
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &place) } else { assert!(fs::copy(entry.path(), place).is_ok()) }
    }
}

/// Waits until the condition is true, for much longer than the promised second, because machines may be under load.
async fn wait(condition: impl Fn() -> bool) {
    for _ in 0..600 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("timeout");
}

#[tokio::test]
async fn a_requested_poll_runs_at_once() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    let active = watched.watcher.active();
    let requested = Arc::new(Notify::new());
    let trigger = Arc::clone(&requested);
    let started = fake.polls();
    let running =
        tokio::spawn(async move { watched.watcher.run_until_stopped(Duration::from_secs(3600), &trigger).await });
    wait(|| fake.polls() > started).await;
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    requested.notify_one();
    wait(|| active.current().version() == version("2026-11-02.1")).await;
    assert_eq!(fake.polls(), started + 2, "once at the beginning and once when requested");
    running.abort();
}

#[test]
fn a_restart_loads_the_same_releases() {
    let (_folder, releases) = index(&["2026-11-20.1", "2026-11-21.1", "2026-11-22.1"]);
    let first = watch(releases.clone());
    let loaded = first.all();
    assert_eq!(loaded[..3], ["2026-11-22.1", "2026-11-21.1", "2026-11-20.1"]);
    drop(first);
    assert_eq!(watch(releases).all(), loaded);
}
