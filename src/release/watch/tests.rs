//! The start and the watch, over a source that can be told what to answer and over a real index folder.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::catalog::Catalog;
use crate::data::{SnapshotVersion, Table};
use crate::release::active::{DEFAULT_KEEP, HasVersion};
use crate::release::sample::{compiled, index, publish, small, version};
use crate::release::{Event, POLL_INTERVAL};
use crate::release::{ReleaseError, ReleaseStore};
use crate::release::{ReleaseSource, Watcher, start};

/// A release that knows its version and which opening it came from.
struct Item {
    version: SnapshotVersion,
    opening: u32,
}

impl HasVersion for Item {
    fn version(&self) -> SnapshotVersion {
        self.version
    }
}

const BUNDLED: &str = "2026-01-01.1";

/// How a release answers when it is opened.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Opens,
    Refuses,
    Panics,
}

#[derive(Default)]
struct Folder {
    current: Option<&'static str>,
    releases: BTreeMap<&'static str, Answer>,
    stamp: u64,
    openings: u32,
    looks: u32,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Folder>>);

impl Fake {
    fn with(current: Option<&'static str>, releases: &[(&'static str, Answer)]) -> Self {
        let folder = Folder { current, releases: releases.iter().copied().collect(), ..Folder::default() };
        Self(Arc::new(Mutex::new(folder)))
    }

    fn change(&self, change: impl FnOnce(&mut Folder)) {
        let mut folder = self.0.lock().unwrap();
        change(&mut folder);
        folder.stamp += 1;
    }

    fn openings(&self) -> u32 {
        self.0.lock().unwrap().openings
    }

    fn looks(&self) -> u32 {
        self.0.lock().unwrap().looks
    }
}

impl ReleaseSource for Fake {
    type Item = Item;

    fn named(&self) -> Result<Option<SnapshotVersion>, ReleaseError> {
        let mut folder = self.0.lock().unwrap();
        folder.looks += 1;
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

    fn open(&self, version: SnapshotVersion) -> Result<Item, ReleaseError> {
        let (answer, opening) = {
            let mut folder = self.0.lock().unwrap();
            folder.openings += 1;
            (folder.releases.get(version.to_string().as_str()).copied(), folder.openings)
        };
        match answer {
            Some(Answer::Opens) => Ok(Item { version, opening }),
            Some(Answer::Refuses) => Err(ReleaseError::Damaged { version, reason: "tables.bin is missing".into() }),
            Some(Answer::Panics) => panic!("opened {version}"),
            None => Err(ReleaseError::Missing { version, index: "index".into() }),
        }
    }

    fn bundled(&self) -> Result<Item, ReleaseError> {
        Ok(Item { version: version(BUNDLED), opening: 0 })
    }

    fn stamp(&self, _version: Option<SnapshotVersion>) -> u64 {
        self.0.lock().unwrap().stamp
    }
}

/// A watcher with the lines it logged.
struct Watched<S: ReleaseSource> {
    watcher: Watcher<S>,
    log: Arc<Mutex<Vec<String>>>,
}

fn watch<S: ReleaseSource>(source: S) -> Watched<S> {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let report = move |event: Event| lines.lock().unwrap().push(event.to_string());
    Watched { watcher: start(source, DEFAULT_KEEP, report).unwrap(), log }
}

impl<S: ReleaseSource> Watched<S> {
    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn all(&self) -> Vec<String> {
        self.watcher.active().all().iter().map(|item| item.version().to_string()).collect()
    }

    fn looks(&self, times: usize) {
        (0..times).for_each(|_| self.watcher.poll(false));
    }
}

use Answer::{Opens, Panics, Refuses};

#[test]
fn without_current_the_bundled_snapshot_is_served_and_that_is_said_once() {
    let watched = watch(Fake::default());
    watched.looks(3);
    assert_eq!(watched.lines(), ["serving the bundled snapshot 2026-01-01.1"]);
    assert_eq!(watched.all(), [BUNDLED]);
    assert_eq!(watched.watcher.active().refusals(), 0);
}

#[test]
fn a_start_reopens_the_newest_others_for_their_cursors() {
    let names = ["2026-11-01.1", "2026-11-02.1", "2026-11-03.1", "2026-11-04.1", "2026-11-05.1"];
    let watched = watch(Fake::with(Some("2026-11-03.1"), &names.map(|name| (name, Opens))));
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-05.1", "2026-11-04.1", "2026-11-02.1"]);
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1"]);
}

#[test]
fn where_there_is_room_the_bundled_snapshot_is_kept_for_its_cursors_too() {
    let watched = watch(Fake::with(Some("2026-11-02.1"), &[("2026-11-01.1", Refuses), ("2026-11-02.1", Opens)]));
    assert_eq!(watched.all(), ["2026-11-02.1", BUNDLED]);
    assert_eq!(
        watched.lines(),
        [
            "serving release 2026-11-02.1",
            "cursors of an older release expire: release 2026-11-01.1 is damaged: tables.bin is missing"
        ]
    );
}

#[test]
fn a_damaged_release_at_start_is_passed_over_for_the_newest_good_one_before_it() {
    let releases =
        [("2026-11-01.1", Opens), ("2026-11-02.1", Panics), ("2026-11-03.1", Refuses), ("2026-11-04.1", Opens)];
    let fake = Fake::with(Some("2026-11-03.1"), &releases);
    let watched = watch(fake.clone());
    watched.looks(3);
    assert_eq!(
        watched.lines(),
        [
            "refused: release 2026-11-03.1 is damaged: tables.bin is missing",
            "refused: release 2026-11-02.1: the program failed while it opened it",
            "serving release 2026-11-01.1",
            "cursors of an older release expire: release 2026-11-03.1 is damaged: tables.bin is missing",
            "cursors of an older release expire: release 2026-11-02.1: the program failed while it opened it",
        ]
    );
    assert_eq!(watched.all(), ["2026-11-01.1", "2026-11-04.1", BUNDLED]);
    assert_eq!(watched.watcher.active().refusals(), 2);
    // Mended, it is taken up as soon as its files have come to rest.
    fake.change(|folder| folder.releases.insert("2026-11-03.1", Opens).map_or((), drop));
    watched.looks(2);
    assert_eq!(watched.all()[0], "2026-11-03.1");
}

#[test]
fn with_nothing_good_the_start_is_refused_and_invented_data_is_not_served() {
    for current in ["2026-11-02.1", "nonsense"] {
        let fake = Fake::with(Some(current), &[("2026-11-01.1", Refuses), ("2026-11-02.1", Refuses)]);
        let started = start(fake, 3, |_| {});
        assert!(matches!(started, Err(ReleaseError::NothingGood { .. })), "{current}");
    }
    let watched = watch(Fake::with(Some("nonsense"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Refuses)]));
    assert_eq!(watched.all(), ["2026-11-01.1", BUNDLED], "an unreadable `current` leaves the newest good release");
}

#[test]
fn a_kept_release_that_was_damaged_meanwhile_is_refused() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.looks(1);
    fake.change(|folder| {
        folder.current = Some("2026-11-01.1");
        folder.releases.insert("2026-11-01.1", Refuses);
    });
    watched.looks(3);
    assert_eq!(watched.watcher.active().current().version(), version("2026-11-02.1"));
    assert_eq!(watched.watcher.active().refusals(), 1);
}

#[test]
fn a_new_release_is_taken_up_at_the_next_look_and_an_older_one_again() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    let live = watched.watcher.active();
    let before = live.current();
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.looks(1);
    assert_eq!((before.version(), live.current().version()), (version("2026-11-01.1"), version("2026-11-02.1")));
    fake.change(|folder| folder.current = Some("2026-11-01.1"));
    watched.looks(5);
    assert_ne!(live.current().opening, before.opening, "what is kept is opened anew, and so checked");
    assert_eq!(live.current().version(), before.version());
    assert_eq!(
        watched.lines(),
        ["serving release 2026-11-01.1", "serving release 2026-11-02.1", "serving release 2026-11-01.1"]
    );
    assert_eq!(live.swaps(), 2);
}

#[test]
fn a_refused_release_is_said_once_and_tried_again_when_its_files_have_changed_and_rest() {
    for bad in [Refuses, Panics] {
        let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", bad)]);
        let watched = watch(fake.clone());
        // It was opened once for keeping; from here on only looks count.
        let kept = fake.openings();
        watched.lines();
        fake.change(|folder| folder.current = Some("2026-11-02.1"));
        watched.looks(10);
        assert_eq!(watched.lines().len(), 1);
        assert_eq!((fake.openings() - kept, watched.watcher.active().refusals()), (1, 1));
        // While it is being copied, each look sees another state.
        for _ in 0..5 {
            fake.change(|_| ());
            watched.looks(1);
        }
        assert_eq!(fake.openings() - kept, 1);
        fake.change(|folder| folder.releases.insert("2026-11-02.1", Opens).map_or((), drop));
        watched.looks(1);
        assert_eq!(fake.openings() - kept, 1);
        watched.looks(1);
        assert_eq!(watched.all()[0], "2026-11-02.1");
        assert_eq!(watched.lines(), ["serving release 2026-11-02.1"]);
    }
}

#[test]
fn an_operator_who_asks_is_answered_each_time() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(fake.clone());
    watched.lines();
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    watched.looks(3);
    watched.watcher.poll(true);
    watched.watcher.poll(true);
    watched.looks(3);
    let missing = "refused: index holds no release 2026-11-02.1: `indexer list` names those there are; \
                   still serving 2026-11-01.1";
    assert_eq!(watched.lines(), [missing, missing, missing]);
    assert_eq!(watched.watcher.active().refusals(), 3);
}

#[test]
fn a_lost_or_garbled_current_changes_nothing_that_is_served() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(fake.clone());
    watched.lines();
    fake.change(|folder| folder.current = None);
    watched.looks(3);
    fake.change(|folder| folder.current = Some("../etc"));
    watched.looks(3);
    fake.change(|folder| folder.current = Some("2026-11-01.1"));
    watched.looks(3);
    assert_eq!(
        watched.lines(),
        [
            "the index names no release any more; still serving 2026-11-01.1",
            "refused: index/current names no release: ../etc; `indexer activate VERSION` mends it; \
             still serving 2026-11-01.1"
        ]
    );
    assert_eq!(watched.watcher.active().swaps(), 0);
}

#[test]
fn a_release_with_the_version_of_the_bundled_snapshot_is_taken_up() {
    let fake = Fake::with(None, &[(BUNDLED, Opens)]);
    let watched = watch(fake.clone());
    fake.change(|folder| folder.current = Some(BUNDLED));
    watched.looks(2);
    let live = watched.watcher.active();
    assert_eq!((live.current().opening, watched.all().len(), live.swaps()), (1, 1, 1));
}

/// What the served catalog calls the startup `mossworks`.
fn name(catalog: &Catalog) -> String {
    let row = catalog.find(Table::Startups, "mossworks").unwrap();
    catalog.snapshot().name(Table::Startups, row).to_owned()
}

#[tokio::test]
async fn a_running_watcher_takes_up_a_real_release_within_a_second_and_refuses_a_damaged_one() {
    let (_folder, releases) = index(&["2026-11-20.1"]);
    let watched = watch(releases.clone());
    let live = watched.watcher.active();
    let log = Arc::clone(&watched.log);
    let running = tokio::spawn(watched.watcher.run(POLL_INTERVAL));
    let begun = live.current();

    publish(&releases, compiled("2026-11-27.1", "Mossworks,Moss", "Mossworks BV,Moss")).unwrap();
    wait(|| live.current().version() == version("2026-11-27.1")).await;
    assert_eq!((name(&begun), name(&live.current())), ("Mossworks".into(), "Mossworks BV".into()));
    assert!(live.loaded(version("2026-11-20.1")).is_some());

    publish_damaged(&releases, "2026-11-28.1");
    wait(|| live.refusals() == 1).await;
    assert_eq!(name(&live.current()), "Mossworks BV");
    let line = log.lock().unwrap().last().cloned().unwrap();
    assert!(line.contains("release 2026-11-28.1 is damaged: tables.bin has the checksum"), "{line}");
    assert!(line.ends_with("still serving 2026-11-27.1"), "{line}");

    publish(&releases, small("2026-11-28.1")).unwrap();
    wait(|| live.current().version() == version("2026-11-28.1")).await;
    releases.activate(version("2026-11-20.1")).unwrap();
    wait(|| live.current().version() == version("2026-11-20.1")).await;
    running.abort();
}

#[test]
fn a_damaged_release_is_refused_once_however_often_it_is_seen_and_left_as_it_is() {
    let (_folder, releases) = index(&["2026-11-20.1"]);
    let watched = watch(releases.clone());
    publish_damaged(&releases, "2026-11-28.1");
    let tables = releases.release_folder(version("2026-11-28.1")).join("tables.bin");
    let damaged = fs::read(&tables).unwrap();
    watched.looks(5);
    assert_eq!(watched.watcher.active().refusals(), 1);
    assert!(fs::read(&tables).unwrap() == damaged);
}

/// Publishes a release whose tables have one flipped bit, as a bad copy would.
fn publish_damaged(releases: &ReleaseStore, name: &str) {
    let (_elsewhere, others) = index(&[name]);
    let (from, to) = (others.release_folder(version(name)), releases.folder().join(".copy"));
    copy(&from, &to);
    let tables = to.join("tables.bin");
    let mut bytes = fs::read(&tables).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&tables, bytes).unwrap();
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

/// Waits until it is so; a machine under load gets far more than the second that is promised.
async fn wait(so: impl Fn() -> bool) {
    for _ in 0..600 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("still not so");
}

#[tokio::test]
async fn a_watcher_that_is_asked_looks_at_once() {
    let fake = Fake::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(fake.clone());
    let live = watched.watcher.active();
    let asked = Arc::new(Notify::new());
    let bell = Arc::clone(&asked);
    let started = fake.looks();
    let running = tokio::spawn(async move { watched.watcher.run_asked(Duration::from_secs(3600), &bell).await });
    wait(|| fake.looks() > started).await;
    fake.change(|folder| folder.current = Some("2026-11-02.1"));
    asked.notify_one();
    wait(|| live.current().version() == version("2026-11-02.1")).await;
    assert_eq!(fake.looks(), started + 2, "once when it begins, and once when it is asked");
    running.abort();
}

#[test]
fn a_restart_holds_what_was_held() {
    let (_folder, releases) = index(&["2026-11-20.1", "2026-11-21.1", "2026-11-22.1"]);
    let first = watch(releases.clone());
    let held = first.all();
    assert_eq!(held[..3], ["2026-11-22.1", "2026-11-21.1", "2026-11-20.1"]);
    drop(first);
    assert_eq!(watch(releases).all(), held);
}
