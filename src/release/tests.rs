use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::Manifest;
use crate::PublicationOutcome;
use crate::sample::{Copies, as_if_large, compiled, index, names, overwrite, publish, small, version};
use crate::{ReleaseError, ReleaseStore, files};
use catalog::ChangeCounts;
use data::{Direction, Snapshot, Table};
use platform::metrics::panics;

const FIRST: &str = "2026-11-20.1";
const SECOND: &str = "2026-11-27.1";

#[test]
fn a_published_release_is_current_and_can_be_searched() {
    let (_folder, releases) = index(&[FIRST]);
    assert_eq!(releases.current().unwrap(), Some(version(FIRST)));
    let release = releases.open(version(FIRST)).unwrap();
    release.smoke_test().unwrap();
    let found = release.catalog.search(Table::Firms, "zoe angls");
    assert_eq!(release.catalog.snapshot().slug(Table::Firms, found.hits[0].row), "zoe-angels");
    let manifest = release.manifest;
    assert_eq!((manifest.counts.firms, manifest.counts.reviews), (3, 4));
    assert_eq!(manifest.built_at, "1970-01-01T00:00:00Z");
    let listed: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let mut found: Vec<String> = files(&releases.release_folder(version(FIRST)))
        .unwrap()
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    found.retain(|path| path != "manifest.json");
    assert_eq!(listed, found);
}

#[test]
fn a_version_can_be_published_again_only_with_the_same_content() {
    let (_folder, releases) = index(&[FIRST, "2026-11-20.2"]);
    let again = publish(&releases, small("2026-11-20.2")).unwrap();
    assert_eq!((again.outcome, again.current), (PublicationOutcome::Unchanged, Some(version("2026-11-20.2"))));
    let error = publish(&releases, compiled(FIRST, "Mossworks", "Mossworks BV")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "release 2026-11-20.1 is published already with other content: pass --release 2026-11-20.3, or remove `version` from snapshot.toml to \
         take the next free number"
    );
    assert_eq!(releases.current().unwrap(), Some(version("2026-11-20.2")));
}

#[test]
fn a_damaged_release_is_replaced_by_the_same_content() {
    for file in ["tables.bin", "manifest.json", "text/people/meta.json"] {
        let (_folder, releases) = index(&[FIRST]);
        let path = releases.release_folder(version(FIRST)).join(file);
        overwrite(&path, b"torn");
        assert!(releases.open(version(FIRST)).is_err(), "{file}");
        let repaired = publish(&releases, small(FIRST)).unwrap();
        assert_eq!(repaired.outcome, PublicationOutcome::Repaired, "{file}");
        releases.open(version(FIRST)).unwrap().smoke_test().unwrap();
        assert_eq!(names(releases.folder()), [FIRST, "current"], "{file}");
    }
}

/// The error of opening a release copy with this damage.
fn error_of(copies: &Copies, damage: impl FnOnce(&Path)) -> String {
    let (_folder, releases) = copies.next();
    damage(&releases.release_folder(version(FIRST)));
    match releases.open(version(FIRST)) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    }
}

fn error_after(damage: impl FnOnce(&Path)) -> String {
    error_of(&Copies::new(index(&[FIRST])), damage)
}

#[test]
fn every_changed_truncated_extended_or_missing_file_is_detected() {
    let copies = Copies::new(index(&[FIRST]));
    for path in files(&copies.made.release_folder(version(FIRST))).unwrap() {
        let name = path.display();
        let bytes = fs::read(copies.made.release_folder(version(FIRST)).join(&path)).unwrap();
        let rewritten = |bytes: &[u8]| error_of(&copies, |place| overwrite(&place.join(&path), bytes));
        // The files of a table without messages are empty.
        let places: &[usize] = if bytes.is_empty() { &[] } else { &[0, bytes.len() / 2, bytes.len() - 1] };
        for at in places.iter().copied() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let message = rewritten(&changed);
            assert!(message.contains("is damaged") || message.contains("has another format"), "{name}: {message}");
        }
        if !bytes.is_empty() {
            let message = rewritten(&bytes[..bytes.len() / 2]);
            assert!(message.contains("is damaged"), "{name}: {message}");
        }
        let message = rewritten(&[&bytes[..], b"x"].concat());
        assert!(message.contains("is damaged"), "{name}: {message}");
        let message = error_of(&copies, |place| fs::remove_file(place.join(&path)).unwrap());
        assert!(message.ends_with("is missing"), "{name}: {message}");
    }
}

#[test]
fn another_format_is_distinguished_from_damage() {
    let message = error_after(|place| {
        let path = place.join("manifest.json");
        let json = fs::read_to_string(&path).unwrap().replace("\"format\": 4", "\"format\": 5");
        overwrite(&path, json.as_bytes());
    });
    assert_eq!(
        message,
        "release 2026-11-20.1 has another format: manifest.json has format 5, this program reads 4: \
         build the release again with its indexer"
    );
}

/// Writes a changed manifest with a valid checksum.
fn forge(place: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = Manifest::read(place, version(FIRST), None).unwrap();
    change(&mut manifest);
    manifest.seal();
    overwrite(&place.join("manifest.json"), &manifest.json());
}

#[test]
fn a_manifest_with_other_paths_versions_or_counts_is_rejected() {
    let outside = error_after(|place| forge(place, |manifest| manifest.files[0].path = "../../current".into()));
    assert!(outside.contains("a path outside of the release"), "{outside}");
    let other = error_after(|place| forge(place, |manifest| manifest.version = version(SECOND)));
    assert!(other.contains("manifest.json is that of release 2026-11-27.1"), "{other}");
    let counts = error_after(|place| forge(place, |manifest| manifest.counts.firms = 4));
    assert!(counts.contains("the manifest counts"), "{counts}");
    let without = error_after(|place| forge(place, |manifest| manifest.files.retain(|file| file.path != "tables.bin")));
    assert!(without.contains("tables.bin is not in the manifest"), "{without}");
}

#[test]
fn records_on_disk_are_those_of_the_release_or_cannot_be_read() {
    let (_folder, releases) = index(&[FIRST]);
    let path = releases.release_folder(version(FIRST)).join("records.bin");
    let on_disk = as_if_large(&releases);
    let opened = on_disk.open(version(FIRST)).unwrap();
    opened.smoke_test().unwrap();
    let (in_memory, on_disk_snapshot) = (releases.open(version(FIRST)).unwrap(), opened.catalog.snapshot());
    for table in Table::ALL {
        for row in 0..on_disk_snapshot.rows(table) {
            let expected = in_memory.catalog.snapshot().record(table, row);
            assert_eq!(on_disk_snapshot.record(table, row).stored(), expected.stored());
        }
    }

    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    overwrite(&path, &bytes);
    assert!(matches!(releases.open(version(FIRST)), Err(ReleaseError::Damaged { .. })));
    let damaged = on_disk.open(version(FIRST)).unwrap();
    let error = on_disk.verify_on_disk(&damaged.manifest).unwrap_err().to_string();
    assert!(error.contains("records.bin has the checksum"), "{error}");
    let error = damaged.smoke_test().unwrap_err().to_string();
    assert!(error.contains("records.bin is damaged or was changed"), "{error}");
    let damaged = damaged.catalog.snapshot();
    let rows = |table| (0..on_disk_snapshot.rows(table)).map(move |row| (table, row));
    let mut unreadable = 0;
    for (table, row) in Table::ALL.into_iter().flat_map(rows) {
        match damaged.read_record(table, row) {
            Ok(record) => assert_eq!(record.stored(), on_disk_snapshot.record(table, row).stored()),
            Err(_) => unreadable += 1,
        }
    }
    assert!(unreadable > 0);
}

/// The contents of all rows of all tables, except records.
fn contents(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for table in Table::ALL {
        for row in 0..snapshot.rows(table) {
            let values = table.facets().iter().map(|facet| snapshot.row_values(table, *facet).of(row));
            let values: Vec<_> = values.collect();
            writeln!(text, "{} {} {values:?}", snapshot.slug(table, row), snapshot.name(table, row)).unwrap();
        }
        for key in 0..table.sort_keys().len() {
            writeln!(text, "{:?}", snapshot.order(table, key, Direction::Descending)).unwrap();
        }
    }
    text
}

#[test]
fn tables_of_a_large_release_are_read_when_they_are_needed_and_never_otherwise_than_written() {
    let (_folder, releases) = index(&[FIRST]);
    let path = releases.release_folder(version(FIRST)).join("tables.bin");
    let large = as_if_large(&releases);
    let expected = contents(releases.open(version(FIRST)).unwrap().catalog.snapshot());
    let open = || large.open_at_once(version(FIRST), []).unwrap();
    let opened = open();
    assert!(!opened.snapshot().is_checked());
    assert_eq!(contents(opened.snapshot()), expected);
    assert!(large.verify(&opened).unwrap() && opened.snapshot().is_checked());
    assert!(!large.verify(&opened).unwrap(), "nothing is left to verify");

    // No matter if the file changes before or after opening, the served content is as it was written.
    let whole = fs::read(&path).unwrap();
    overwrite(&path, &whole);
    let (mut refused, mut unreadable) = (0, 0);
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &whole).unwrap();
        let before = open();
        // The same file, held open by `before`.
        fs::write(&path, &bytes).unwrap();
        let Ok(after) = large.open_at_once(version(FIRST), []) else {
            refused += 1;
            continue;
        };
        for opened in [before, after] {
            match panics::catch(|| contents(opened.snapshot())) {
                Ok(shown) => assert!(shown == expected, "byte {at}"),
                Err(_) => unreadable += 1,
            }
            match large.verify(&opened) {
                Ok(_) => assert!(contents(opened.snapshot()) == expected, "byte {at}"),
                Err(error) => assert!(error.to_string().contains("is damaged or was changed"), "byte {at}: {error}"),
            }
        }
    }
    assert!(refused > 0 && unreadable > 0, "{refused} {unreadable}");
}

#[test]
fn a_renamed_release_is_rejected() {
    let (_folder, releases) = index(&[FIRST]);
    fs::rename(releases.release_folder(version(FIRST)), releases.release_folder(version(SECOND))).unwrap();
    assert!(matches!(releases.open(version(SECOND)), Err(ReleaseError::Damaged { .. })));
    assert!(matches!(releases.open(version(FIRST)), Err(ReleaseError::Missing { .. })));
}

#[test]
fn current_contains_only_a_version() {
    let (_folder, releases) = index(&[FIRST]);
    let current = releases.folder().join("current");
    for good in ["2026-11-20.1", " 2026-11-20.1\r\n", "2026-11-20"] {
        fs::write(&current, good).unwrap();
        assert_eq!(releases.current().unwrap(), Some(version(FIRST)), "{good:?}");
    }
    for bad in ["", "../2026-11-20.1", "2026-11-20.1/../../x", "2026-11-20.1\n2026-11-27.1", "\u{ff}", "latest"] {
        fs::write(&current, bad).unwrap();
        assert!(matches!(releases.current(), Err(ReleaseError::BadCurrent { .. })), "{bad:?}");
    }
    fs::write(&current, vec![b' '; 1 << 20]).unwrap();
    assert!(matches!(releases.current(), Err(ReleaseError::BadCurrent { .. })));
    fs::remove_file(&current).unwrap();
    assert_eq!(releases.current().unwrap(), None);
    fs::create_dir(&current).unwrap();
    assert!(matches!(releases.current(), Err(ReleaseError::BadCurrent { .. })));
}

#[test]
fn only_releases_are_listed_newest_first() {
    let (_folder, releases) = index(&["2026-11-20.2", SECOND, "2026-11-20.10"]);
    fs::create_dir(releases.folder().join("2026-11-28")).unwrap();
    fs::create_dir(releases.folder().join("backup")).unwrap();
    fs::write(releases.folder().join("2026-11-29.1"), "").unwrap();
    let listed: Vec<String> = releases.versions().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(listed, [SECOND, "2026-11-20.10", "2026-11-20.2"]);
    assert_eq!(ReleaseStore::at("/nonexistent/index").versions().unwrap(), []);
}

#[test]
fn only_valid_releases_can_be_activated() {
    let (_folder, releases) = index(&[FIRST, SECOND]);
    assert!(releases.activate(version(FIRST), false).unwrap());
    assert!(!releases.activate(version(FIRST), false).unwrap());
    assert_eq!(releases.current().unwrap(), Some(version(FIRST)));
    assert!(matches!(releases.activate(version("2026-12-04.1"), false), Err(ReleaseError::Missing { .. })));
    overwrite(&releases.release_folder(version(SECOND)).join("tables.bin"), b"torn");
    assert!(matches!(releases.activate(version(SECOND), false), Err(ReleaseError::Damaged { .. })));
    assert_eq!(releases.current().unwrap(), Some(version(FIRST)));
    assert_eq!(names(releases.folder()), [FIRST, SECOND, "current"]);
}

#[test]
fn pruning_keeps_the_newest_and_the_current_and_open_releases_stay_readable() {
    let (_folder, releases) = index(&["2026-11-01.1", "2026-11-02.1", "2026-11-03.1", "2026-11-04.1"]);
    let open = releases.open(version("2026-11-02.1")).unwrap();
    releases.activate(version("2026-11-01.1"), false).unwrap();
    // Foreign files are not removed.
    let notes = ["2026-11-03.1/notes.txt", "2026-10-01.1/notes.txt"].map(|path| releases.folder().join(path));
    for note in &notes {
        fs::create_dir_all(note.parent().unwrap()).unwrap();
        fs::write(note, "mine").unwrap();
    }
    let pruned = releases.prune(1).unwrap();
    assert_eq!(pruned.foreign, notes);
    assert_eq!(pruned.removed.iter().map(|(version, _)| *version).collect::<Vec<_>>(), [version("2026-11-02.1")]);
    notes.iter().for_each(|note| fs::remove_file(note).unwrap());
    overwrite(&releases.folder().join("2026-11-03.1/manifest.json"), b"of another format");
    let removed = [pruned.removed, releases.prune(1).unwrap().removed].concat();
    let versions: Vec<String> = removed.iter().map(|(version, _)| version.to_string()).collect();
    assert_eq!(versions, ["2026-11-02.1", "2026-11-03.1", "2026-10-01.1"]);
    assert!(removed[..2].iter().all(|(_, bytes)| *bytes > open.manifest.bytes("")));
    assert_eq!(names(releases.folder()), ["2026-11-01.1", "2026-11-04.1", "current"]);
    open.smoke_test().unwrap();
    fs::write(releases.folder().join("current"), "?").unwrap();
    assert!(releases.prune(0).is_err(), "nothing is removed if `current` is invalid");
    assert_eq!(releases.versions().unwrap().len(), 2);
}

#[test]
fn a_second_build_is_rejected_and_a_rollback_does_not_wait() {
    let (_folder, releases) = index(&[FIRST, SECOND]);
    let publisher = releases.begin().unwrap();
    assert!(matches!(releases.begin(), Err(ReleaseError::Busy { .. })));
    assert!(matches!(releases.prune(1), Err(ReleaseError::Busy { .. })));
    assert!(releases.activate(version(FIRST), false).unwrap());
    drop(publisher);
    releases.begin().unwrap();
}

#[test]
fn the_difference_counts_rows_by_slug() {
    let (_folder, releases) = index(&[FIRST]);
    let before = publish(&releases, compiled(SECOND, "li-na-moss,Li Na Moss,Founder", "li-moss,Li Moss,Founder"));
    assert_eq!(before.unwrap().before, Some(version(FIRST)));
    let difference = releases.difference(version(FIRST), version(SECOND)).unwrap();
    let of = |table| difference[&table];
    assert_eq!(of(Table::People), ChangeCounts { added: 1, removed: 1, changed: 0 });
    assert_eq!(of(Table::Firms), ChangeCounts::default());
    publish(&releases, compiled("2026-12-04.1", "Mossworks,Moss", "Mossworks BV,Moss")).unwrap();
    let difference = releases.difference(version(FIRST), version("2026-12-04.1")).unwrap();
    let changed: Vec<(&str, u64)> = difference.iter().map(|(table, changes)| (table.name(), changes.changed)).collect();
    // A startup's name is part of its rounds and people, too.
    assert_eq!(
        changed,
        [("firms", 0), ("startups", 1), ("funding_rounds", 1), ("people", 1), ("reviews", 0), ("sectors", 0)]
    );
}

#[test]
fn the_stamps_change_with_current_and_with_any_file_of_the_release() {
    let (_folder, releases) = index(&[FIRST]);
    let stamp = || releases.stamp(Some(version(FIRST)));
    let before = stamp();
    assert_eq!(stamp(), before);
    releases.open(version(FIRST)).unwrap();
    assert_eq!(stamp(), before, "opening a release changes nothing in it");
    for file in ["manifest.json", "tables.bin", "text/firms/meta.json"] {
        let before = stamp();
        let path = releases.release_folder(version(FIRST)).join(file);
        let bytes = fs::read(&path).unwrap();
        overwrite(&path, &[&bytes[..], b" "].concat());
        assert_ne!(stamp(), before, "{file}");
    }
    let (before, named) = (stamp(), releases.stamp(None));
    fs::write(releases.folder().join("current"), "2026-11-20").unwrap();
    assert_ne!(releases.stamp(None), named);
    assert_eq!(stamp(), before);
}
