use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::Notify;

use crate::sample::{as_if_large, compiled, index, overwrite, publish, small, version};
use crate::watch::guarded;
use crate::{POLL_INTERVAL, ReleaseError, ReleaseEvent, ReleaseStore, Starting, Watcher, files};
use catalog::{Catalog, bundled};
use data::Table;
use platform::memory::MemoryBudget;

/// The files of a release with their paths.
type ReleaseContents = Vec<(PathBuf, Vec<u8>)>;

/// Releases that are published once and written wherever a test needs them.
static PUBLISHED: LazyLock<BTreeMap<String, ReleaseContents>> = LazyLock::new(|| {
    let names = [1, 2, 3, 4, 5].map(|day| format!("2026-11-0{day}.1"));
    let (_folder, releases) = index(&names.each_ref().map(String::as_str));
    let contents = |name: String| {
        let folder = releases.release_folder(version(&name));
        let paths = files(&folder).unwrap().into_iter();
        let contents = paths.map(|path| {
            let bytes = fs::read(folder.join(&path)).unwrap();
            (path, bytes)
        });
        (name, contents.collect::<ReleaseContents>())
    };
    names.into_iter().map(contents).collect()
});

const TABLES: &str = "tables.bin";

/// A byte of the tables that only a complete verification reads.
static UNREAD: LazyLock<usize> = LazyLock::new(|| {
    let (_folder, releases) = index(&["2026-11-01.1"]);
    let (releases, version) = (as_if_large(&releases), version("2026-11-01.1"));
    let path = releases.release_folder(version).join(TABLES);
    let whole = fs::read(&path).unwrap();
    let is_unread = |at: &usize| {
        let mut bytes = whole.clone();
        bytes[*at] ^= 1;
        overwrite(&path, &bytes);
        releases.open_at_once(version, []).is_ok_and(|opened| releases.verify(&opened).is_err())
    };
    (0..whole.len()).step_by(whole.len() / 150).find(is_unread).unwrap()
});

/// What happens when a release is opened.
#[derive(Clone, Copy)]
enum Behavior {
    Opens,
    /// A large release is found damaged when it is verified.
    Damaged,
    Fails,
}

/// An index folder.
struct IndexFolder {
    folder: TempDir,
    releases: ReleaseStore,
}

impl IndexFolder {
    fn with(current: Option<&str>, releases: &[(&str, Behavior)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("index");
        fs::create_dir(&place).unwrap();
        let index = Self { folder, releases: ReleaseStore::at(place) };
        releases.iter().for_each(|(name, behavior)| index.put(name, *behavior));
        index.name(current);
        index
    }

    /// Writes a release, in place of an earlier one of this version.
    fn put(&self, name: &str, behavior: Behavior) {
        let copy = self.folder.path().join("copy");
        for (path, bytes) in &PUBLISHED[name] {
            let mut bytes = bytes.clone();
            if path.as_os_str() == TABLES {
                match behavior {
                    Opens => {}
                    Damaged => bytes[*UNREAD] ^= 1,
                    Fails => continue,
                }
            }
            let place = copy.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, bytes).unwrap();
        }
        let place = self.releases.release_folder(version(name));
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        fs::rename(copy, place).unwrap();
    }

    /// Names the release to serve, or none.
    fn name(&self, current: Option<&str>) {
        let path = self.releases.folder().join("current");
        match current {
            Some(text) => {
                let next = self.folder.path().join("next");
                fs::write(&next, text).unwrap();
                fs::rename(next, path).unwrap();
            }
            None if path.exists() => fs::remove_file(path).unwrap(),
            None => {}
        }
    }

    /// Changes the files of a release.
    fn touch(&self, name: &str) {
        let folder = self.releases.release_folder(version(name));
        let count = files(&folder).unwrap().len();
        fs::write(folder.join(format!("{count}.txt")), "").unwrap();
    }

    /// The folder, as messages name it.
    fn place(&self) -> String {
        self.releases.folder().display().to_string()
    }
}

/// A watcher and its log.
struct Watched {
    watcher: Watcher,
    log: Arc<Mutex<Vec<String>>>,
}

fn watch(releases: &ReleaseStore) -> Watched {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let report = move |event: ReleaseEvent| lines.lock().unwrap().push(event.to_string());
    Watched { watcher: Starting::new(releases.clone(), 3, report).start().unwrap(), log }
}

impl Watched {
    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// The log without the details of damage in tables.
    fn short_lines(&self) -> Vec<String> {
        let lines = self.lines().into_iter();
        lines.map(|line| line.split(": tables.bin: ").next().unwrap().to_owned()).collect()
    }

    fn all(&self) -> Vec<String> {
        self.watcher.active().all().iter().map(|release| release.version().to_string()).collect()
    }

    fn polls(&self, times: usize) {
        (0..times).for_each(|_| self.watcher.poll(false));
    }
}

use Behavior::{Damaged, Fails, Opens};

#[test]
fn without_current_the_bundled_snapshot_is_served_and_reported_once() {
    let index = IndexFolder::with(None, &[]);
    let watched = watch(&ReleaseStore { is_optional: true, ..index.releases.clone() });
    watched.polls(3);
    let bundled = bundled().unwrap().version().to_string();
    assert_eq!(watched.lines(), [format!("serving the bundled snapshot {bundled}")]);
    assert_eq!(watched.all(), [bundled]);
    assert_eq!(watched.watcher.active().history().rejections, 0);
}

#[test]
fn startup_loads_the_newest_other_releases_for_their_cursors() {
    let names = ["2026-11-01.1", "2026-11-02.1", "2026-11-03.1", "2026-11-04.1", "2026-11-05.1"];
    let index = IndexFolder::with(Some("2026-11-03.1"), &names.map(|name| (name, Opens)));
    let watched = watch(&index.releases);
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-05.1", "2026-11-04.1", "2026-11-02.1"]);
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1"]);
}

/// A store with room for so many tenths of a release without its records.
fn with_room(index: &IndexFolder, tenths: u64) -> ReleaseStore {
    let manifest = index.releases.manifest(version("2026-11-01.1")).unwrap();
    let release: u64 = manifest.in_memory(false).map(|file| file.bytes).sum();
    // A share of 44 of 64, rounded down.
    let bytes = (release * tenths / 10).div_ceil(44) * 64;
    ReleaseStore { memory: MemoryBudget::new(bytes), ..index.releases.clone() }
}

#[test]
fn a_release_without_room_is_refused_with_the_memory_that_it_needs() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let refused = Starting::new(with_room(&index, 9), 3, |_| {}).start().err().unwrap();
    assert!(refused.needs_restart());
    let text = "release 2026-11-01.1 does not fit into the memory of the server, 1M: set --memory 64M or more";
    assert!(refused.to_string().contains(text), "{refused}");
    // Next to the served one there is none for the next.
    let watched = watch(&with_room(&index, 15));
    assert_eq!(watched.all(), ["2026-11-01.1"]);
    watched.lines();
    index.name(Some("2026-11-02.1"));
    watched.polls(2);
    let lines = watched.lines().join("\n");
    assert!(lines.contains("does not fit into the memory of the server, 1M with the loaded releases"), "{lines}");
    assert!(lines.ends_with("still serving 2026-11-01.1"), "{lines}");
}

#[test]
fn releases_that_only_serve_cursors_are_loaded_while_there_is_room_and_go_first() {
    let names = ["2026-11-01.1", "2026-11-02.1", "2026-11-03.1", "2026-11-04.1", "2026-11-05.1"];
    let index = IndexFolder::with(Some("2026-11-03.1"), &names.map(|name| (name, Opens)));
    // For the served one, its replacement and another one.
    let watched = watch(&with_room(&index, 35));
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-05.1"]);
    let line =
        "cursors of an older release expire: release 2026-11-04.1 has no room in the memory of the server (--memory)";
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1", line]);
    index.name(Some("2026-11-02.1"));
    watched.polls(1);
    assert_eq!(watched.all(), ["2026-11-02.1", "2026-11-03.1", "2026-11-05.1"]);
    watched.lines();
    index.name(Some("2026-11-04.1"));
    watched.polls(1);
    assert_eq!(watched.all(), ["2026-11-04.1", "2026-11-02.1", "2026-11-03.1"]);
    let line =
        "cursors of an older release expire: release 2026-11-05.1 makes room for release 2026-11-04.1 (--memory)";
    assert_eq!(watched.lines(), [line, "serving release 2026-11-04.1"]);
}

#[test]
fn records_are_held_if_the_next_release_has_room_with_its_own() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    for (tenths, held) in [(19, false), (40, true)] {
        let watched = watch(&with_room(&index, tenths));
        assert_eq!(watched.watcher.active().current().snapshot().has_records_in_memory(), held, "{tenths}");
    }
}

#[test]
fn the_bundled_snapshot_is_not_loaded_with_releases() {
    let index = IndexFolder::with(Some("2026-11-02.1"), &[("2026-11-01.1", Fails), ("2026-11-02.1", Opens)]);
    let watched = watch(&ReleaseStore { is_optional: true, ..index.releases.clone() });
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
    let releases = [("2026-11-01.1", Opens), ("2026-11-02.1", Fails), ("2026-11-03.1", Fails), ("2026-11-04.1", Opens)];
    let index = IndexFolder::with(Some("2026-11-03.1"), &releases);
    let watched = watch(&index.releases);
    watched.polls(3);
    assert_eq!(
        watched.lines(),
        [
            "rejected: release 2026-11-03.1 is damaged: tables.bin is missing",
            "rejected: release 2026-11-02.1 is damaged: tables.bin is missing",
            "serving release 2026-11-01.1",
            "cursors of an older release expire: release 2026-11-03.1 is damaged: tables.bin is missing",
            "cursors of an older release expire: release 2026-11-02.1 is damaged: tables.bin is missing",
        ]
    );
    assert_eq!(watched.all(), ["2026-11-01.1", "2026-11-04.1"]);
    assert_eq!(watched.watcher.active().history().rejections, 2);
    // Once fixed, it is activated as soon as its files no longer change.
    index.put("2026-11-03.1", Opens);
    watched.polls(2);
    assert_eq!(watched.all()[0], "2026-11-03.1");
}

#[test]
fn a_panic_while_a_release_is_read_is_a_reason_not_to_serve_it() {
    let read = guarded(version("2026-11-01.1"), || -> Result<(), ReleaseError> { panic!("planted") });
    assert_eq!(read.unwrap_err(), "release 2026-11-01.1: the program panicked while reading it");
}

#[test]
fn the_newest_older_release_replaces_what_is_found_damaged_after_the_start() {
    let releases =
        [("2026-11-01.1", Opens), ("2026-11-02.1", Fails), ("2026-11-03.1", Damaged), ("2026-11-04.1", Damaged)];
    let index = IndexFolder::with(Some("2026-11-03.1"), &releases);
    let watched = watch(&as_if_large(&index.releases));
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-04.1", "2026-11-01.1"]);
    watched.lines();
    let older = watched.watcher.active().loaded(version("2026-11-01.1")).unwrap();
    watched.watcher.verify_loaded();
    watched.polls(3);
    assert!(Arc::ptr_eq(&older, &watched.watcher.active().current()), "what is loaded is not read again");
    assert_eq!(
        watched.short_lines(),
        [
            "release 2026-11-01.1 is verified",
            "rejected: release 2026-11-03.1 is damaged",
            "serving release 2026-11-01.1",
            "cursors of an older release expire: release 2026-11-04.1 is damaged",
        ]
    );
    assert_eq!(watched.all(), ["2026-11-01.1"]);
    assert_eq!(watched.watcher.active().history().rejections, 1);
    index.put("2026-11-03.1", Opens);
    watched.polls(2);
    assert_eq!(watched.lines(), ["serving release 2026-11-03.1"]);
}

#[test]
fn the_only_release_is_served_though_it_was_found_damaged_until_it_is_repaired() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Damaged)]);
    let watched = watch(&as_if_large(&index.releases));
    watched.watcher.verify_loaded();
    watched.polls(3);
    let lines = watched.lines();
    assert_eq!((lines.len(), lines[0].as_str()), (2, "serving release 2026-11-01.1"));
    assert!(lines[1].starts_with("rejected: release 2026-11-01.1 is damaged: tables.bin: "), "{lines:?}");
    assert!(lines[1].contains("so 2026-11-01.1 is still served: requests that need the damaged part"), "{lines:?}");
    let active = watched.watcher.active();
    assert!(active.is_damaged());
    let damaged = active.current();
    index.put("2026-11-01.1", Opens);
    watched.polls(3);
    assert!(!active.is_damaged() && !Arc::ptr_eq(&active.current(), &damaged));
    let lines = watched.lines();
    assert_eq!(lines.last().map(String::as_str), Some("serving release 2026-11-01.1"), "{lines:?}");
    watched.polls(3);
    assert_eq!(watched.lines(), Vec::<String>::new());
}

#[test]
fn a_release_is_activated_while_the_one_before_is_verified() {
    let before = version("2026-11-02.1");
    let releases = [("2026-11-02.1", Opens), ("2026-11-03.1", Opens)];
    let index = IndexFolder::with(Some("2026-11-02.1"), &releases);
    // The verification continues when the test says so.
    let (verified, is_verified) = channel();
    let (proceed, may_proceed) = channel::<()>();
    let may_proceed = Mutex::new(may_proceed);
    let report = move |event: ReleaseEvent| {
        if event == (ReleaseEvent::Verified { version: before }) {
            verified.send(()).unwrap();
            may_proceed.lock().unwrap().recv().unwrap();
        }
    };
    let watcher = Starting::new(as_if_large(&index.releases), 3, report).start().unwrap();
    let active = watcher.active();
    std::thread::scope(|scope| {
        scope.spawn(|| watcher.verify_loaded());
        is_verified.recv().unwrap();
        index.name(Some("2026-11-03.1"));
        watcher.poll(false);
        let served = active.current().version();
        proceed.send(()).unwrap();
        assert_eq!(served, version("2026-11-03.1"));
    });
    assert!(active.loaded(before).is_some());
    assert_eq!(active.history().rejections, 0);
}

#[test]
fn a_release_that_is_found_damaged_after_another_has_replaced_it_is_dropped() {
    let index = IndexFolder::with(Some("2026-11-02.1"), &[("2026-11-02.1", Damaged), ("2026-11-03.1", Opens)]);
    let watched = watch(&as_if_large(&index.releases));
    index.name(Some("2026-11-03.1"));
    watched.polls(1);
    assert_eq!(watched.all(), ["2026-11-03.1", "2026-11-02.1"]);
    watched.lines();
    watched.watcher.verify_loaded();
    assert_eq!(
        watched.short_lines(),
        ["cursors of an older release expire: release 2026-11-02.1 is damaged"],
        "the one that was activated later was verified then"
    );
    assert_eq!(watched.all(), ["2026-11-03.1"]);
    assert_eq!(watched.watcher.active().history().rejections, 0);
}

#[test]
fn startup_fails_if_no_release_can_be_served() {
    for current in ["2026-11-02.1", "nonsense"] {
        let index = IndexFolder::with(Some(current), &[("2026-11-01.1", Fails), ("2026-11-02.1", Fails)]);
        let started = Starting::new(index.releases.clone(), 3, |_| {}).start();
        assert!(matches!(started, Err(ReleaseError::NothingGood { .. })), "{current}");
    }
    let index = IndexFolder::with(Some("nonsense"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Fails)]);
    let served = watch(&index.releases).all();
    assert_eq!(served, ["2026-11-01.1"], "with an invalid `current` the newest valid release is served");
}

#[test]
fn a_loaded_release_that_is_damaged_later_is_rejected() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(&index.releases);
    index.name(Some("2026-11-02.1"));
    watched.polls(1);
    index.put("2026-11-01.1", Fails);
    index.name(Some("2026-11-01.1"));
    watched.polls(3);
    assert_eq!(watched.watcher.active().current().version(), version("2026-11-02.1"));
    assert_eq!(watched.watcher.active().history().rejections, 1);
    let rejection = watched.watcher.active().history().last_rejection.unwrap();
    assert!(rejection.reason.contains("2026-11-01.1") && rejection.at > 0, "{rejection:?}");
}

#[test]
fn a_new_release_is_activated_at_the_next_poll_and_an_older_one_too() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(&index.releases);
    let active = watched.watcher.active();
    let before = active.current();
    index.name(Some("2026-11-02.1"));
    watched.polls(1);
    assert_eq!((before.version(), active.current().version()), (version("2026-11-01.1"), version("2026-11-02.1")));
    index.name(Some("2026-11-01.1"));
    watched.polls(5);
    assert!(!Arc::ptr_eq(&active.current(), &before), "a loaded release is opened and verified again");
    assert_eq!(active.current().version(), before.version());
    assert_eq!(
        watched.lines(),
        ["serving release 2026-11-01.1", "serving release 2026-11-02.1", "serving release 2026-11-01.1"]
    );
    assert_eq!(active.history().swaps, 2);
}

#[test]
fn a_rejected_release_is_reported_once_and_tried_again_after_its_files_have_changed() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Fails)]);
    let watched = watch(&index.releases);
    let active = watched.watcher.active();
    watched.lines();
    index.name(Some("2026-11-02.1"));
    watched.polls(10);
    assert_eq!((watched.lines().len(), active.history().rejections), (1, 1));
    // While it is being copied, each poll sees another state.
    for _ in 0..5 {
        index.touch("2026-11-02.1");
        watched.polls(1);
    }
    assert_eq!(active.history().rejections, 1, "it is not tried again");
    index.put("2026-11-02.1", Opens);
    watched.polls(1);
    assert_eq!(watched.all()[0], "2026-11-01.1");
    watched.polls(1);
    assert_eq!(watched.all()[0], "2026-11-02.1");
    assert_eq!(watched.lines(), ["serving release 2026-11-02.1"]);
}

#[test]
fn changed_files_of_the_served_release_are_reported_once_for_each_change() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(&index.releases);
    let active = watched.watcher.active();
    watched.polls(3);
    watched.lines();
    let line = "files of release 2026-11-01.1 were changed or removed; it is served from memory as it was verified, but a \
                restart may fail: check it with `indexer verify 2026-11-01.1`, and build it again if it is damaged";
    for change in 1..3 {
        // While they are being copied, each poll sees another state.
        for _ in 0..5 {
            index.touch("2026-11-01.1");
            watched.polls(1);
        }
        assert_eq!(watched.lines(), Vec::<String>::new());
        watched.polls(5);
        assert_eq!((watched.lines(), active.history().file_changes), (vec![line.to_owned()], change));
    }
    index.touch("2026-11-02.1");
    watched.polls(3);
    assert_eq!(watched.lines(), Vec::<String>::new(), "it is not the served one");
    index.name(Some("2026-11-02.1"));
    watched.polls(3);
    index.touch("2026-11-02.1");
    watched.polls(3);
    assert_eq!(watched.lines().len(), 2);
    assert_eq!((active.history().swaps, active.history().file_changes, active.history().rejections), (1, 3, 0));
}

#[test]
fn a_change_of_files_that_are_read_from_the_disk_is_not_called_harmless() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(&as_if_large(&index.releases));
    let line = |parts: &str| {
        format!(
            "files of release 2026-11-01.1 were changed or removed; its {parts} are read from the disk when they are needed: if \
             the change is damage, requests that need a damaged part are answered with 500, never with other data, and a restart \
             may fail: check it with `indexer verify 2026-11-01.1`, and build it again if it is damaged"
        )
    };
    let changed = || {
        watched.lines();
        index.touch("2026-11-01.1");
        watched.polls(3);
        watched.lines()
    };
    assert_eq!(changed(), [line("records and tables")], "the tables are read at the verification at the latest");
    watched.watcher.verify_loaded();
    assert_eq!(changed(), [line("records")]);
}

#[test]
fn each_request_of_the_operator_is_reported() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(&index.releases);
    watched.lines();
    index.name(Some("2026-11-02.1"));
    watched.polls(3);
    watched.watcher.poll(true);
    watched.watcher.poll(true);
    watched.polls(3);
    let missing = format!(
        "rejected: {} holds no release 2026-11-02.1: `indexer list` shows the releases; still serving 2026-11-01.1",
        index.place()
    );
    assert_eq!(watched.lines(), [missing.clone(), missing.clone(), missing]);
    assert_eq!(watched.watcher.active().history().rejections, 3);
}

#[test]
fn a_missing_or_invalid_current_does_not_change_what_is_served() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens)]);
    let watched = watch(&index.releases);
    watched.lines();
    index.name(None);
    watched.polls(3);
    index.name(Some("../etc"));
    watched.polls(3);
    index.name(Some("2026-11-01.1"));
    watched.polls(3);
    let invalid = format!(
        "rejected: {}/current names no release: \"../etc\" is not a version of the form YYYY-MM-DD.N; fix it with \
         `indexer activate VERSION`; still serving 2026-11-01.1",
        index.place()
    );
    assert_eq!(watched.lines(), ["the index names no release; still serving 2026-11-01.1".to_owned(), invalid]);
    assert_eq!(watched.watcher.active().history().swaps, 0);
}

#[test]
fn a_release_with_the_version_of_the_bundled_snapshot_is_activated() {
    let index = IndexFolder::with(None, &[]);
    let watched = watch(&ReleaseStore { is_optional: true, ..index.releases.clone() });
    let active = watched.watcher.active();
    let bundled = active.current().version();
    publish(&index.releases, small(&bundled.to_string())).unwrap();
    watched.polls(2);
    let served = active.current();
    assert_eq!(
        (served.version(), served.is_bundled(), watched.all().len(), active.history().swaps),
        (bundled, false, 1, 1)
    );
}

#[test]
fn the_bundled_snapshot_replaces_no_release_that_is_missing() {
    let reason = |releases: ReleaseStore| Starting::new(releases, 3, |_| {}).start().err().unwrap().to_string();
    let named = IndexFolder::with(None, &[]);
    let place = named.place();
    assert_eq!(
        reason(named.releases.clone()),
        format!("{place} names no release to serve: run `indexer build --dataset DIR --index {place}`"),
        "the operator named the folder"
    );
    let published = IndexFolder::with(None, &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let place = published.place();
    assert_eq!(
        reason(ReleaseStore { is_optional: true, ..published.releases.clone() }),
        format!("{place} names no release to serve: run `indexer activate 2026-11-02.1 --index {place}`"),
        "somebody publishes in the default folder"
    );
}

#[tokio::test]
async fn a_server_without_a_release_waits_for_one() {
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Fails), ("2026-11-02.1", Opens)]);
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let report = move |event: ReleaseEvent| lines.lock().unwrap().push(event.to_string());
    let starting = Starting::new(index.releases.clone(), 3, report);
    assert!(starting.start().is_err());
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let reasons = Arc::clone(&refused);
    let waiting = tokio::spawn(starting.wait(Duration::from_millis(5), move |error: &ReleaseError| {
        reasons.lock().unwrap().push(error.to_string());
    }));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(refused.lock().unwrap().len(), 0, "what was refused is not tried again as it is");

    index.name(None);
    wait(|| refused.lock().unwrap().len() == 1).await;
    index.name(Some("2026-11-02.1"));
    let watcher = waiting.await.unwrap();
    assert_eq!(watcher.active().current().version(), version("2026-11-02.1"));
    let (waiting, place) = ("not ready, waiting for a release: ", index.place());
    assert_eq!(
        log.lock().unwrap()[..3],
        [
            format!(
                "{waiting}no release can be served (release 2026-11-01.1 is damaged: tables.bin is missing): build a \
                 release with `indexer build`, or activate another with `indexer activate VERSION`"
            ),
            format!("{waiting}{place} names no release to serve: run `indexer activate 2026-11-02.1 --index {place}`"),
            "serving release 2026-11-02.1".to_owned(),
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
    let watched = watch(&releases);
    let active = watched.watcher.active();
    let log = Arc::clone(&watched.log);
    let running = tokio::spawn(watched.watcher.run(POLL_INTERVAL));
    let before = active.current();

    publish(&releases, compiled("2026-11-27.1", "Mossworks,Moss", "Mossworks BV,Moss")).unwrap();
    wait(|| active.current().version() == version("2026-11-27.1")).await;
    assert_eq!((name(&before), name(&active.current())), ("Mossworks".into(), "Mossworks BV".into()));
    assert!(active.loaded(version("2026-11-20.1")).is_some());

    publish_damaged(&releases, "2026-11-28.1");
    wait(|| active.history().rejections == 1).await;
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
    let watched = watch(&releases);
    publish_damaged(&releases, "2026-11-28.1");
    let tables = releases.release_folder(version("2026-11-28.1")).join("tables.bin");
    let damaged = fs::read(&tables).unwrap();
    watched.polls(5);
    assert_eq!(watched.watcher.active().history().rejections, 1);
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
    let index = IndexFolder::with(Some("2026-11-01.1"), &[("2026-11-01.1", Opens), ("2026-11-02.1", Opens)]);
    let watched = watch(&index.releases);
    let (active, log) = (watched.watcher.active(), Arc::clone(&watched.log));
    let requested = Arc::new(Notify::new());
    let trigger = Arc::clone(&requested);
    watched.lines();
    index.name(None);
    let running =
        tokio::spawn(async move { watched.watcher.run_until_stopped(Duration::from_secs(3600), &trigger).await });
    wait(|| !log.lock().unwrap().is_empty()).await;
    index.name(Some("2026-11-02.1"));
    requested.notify_one();
    wait(|| active.current().version() == version("2026-11-02.1")).await;
    running.abort();
    assert_eq!(log.lock().unwrap()[0], "the index names no release; still serving 2026-11-01.1", "the first poll");
}

#[test]
fn a_restart_loads_the_same_releases() {
    let (_folder, releases) = index(&["2026-11-20.1", "2026-11-21.1", "2026-11-22.1"]);
    let first = watch(&releases);
    let loaded = first.all();
    assert_eq!(loaded[..3], ["2026-11-22.1", "2026-11-21.1", "2026-11-20.1"]);
    drop(first);
    assert_eq!(watch(&releases).all(), loaded);
}
