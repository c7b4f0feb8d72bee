//! What happens to the files of the served release does not matter to what is served.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::harness::files_below;
use crate::support::harness::{Client, Dice, rounds};
use crate::support::installation::{Installation, Stop};

const CHANGED: &str = "files of release 2026-11-20.1 were changed or removed";

/// What operators and their tools do to files.
const CHANGES: [&str; 5] = ["copied over", "truncated", "written in place", "rewritten", "deleted"];

fn change(path: &Path, kind: &str, original: &[u8], dice: &mut Dice) {
    #[cfg(unix)]
    if path.exists() {
        // An operator who may do it anyway.
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }
    let mut garbage = || (0..original.len().max(100)).map(|_| dice.upto(256) as u8).collect::<Vec<u8>>();
    match kind {
        // As `cp`: the file is truncated, then written.
        "copied over" => fs::write(path, original).unwrap(),
        "truncated" => fs::File::options().write(true).open(path).unwrap().set_len(original.len() as u64 / 2).unwrap(),
        // As `rsync --inplace`: other bytes at their places, then the length.
        "written in place" => {
            let garbage = garbage();
            let mut file = fs::File::options().write(true).open(path).unwrap();
            for (place, part) in garbage.chunks(4096).enumerate() {
                file.seek(SeekFrom::Start(place as u64 * 4096)).unwrap();
                file.write_all(part).unwrap();
            }
            file.set_len(garbage.len() as u64).unwrap();
        }
        "rewritten" => fs::write(path, &garbage()[..50]).unwrap(),
        _ => fs::remove_file(path).unwrap(),
    }
}

/// Limits that no test reaches.
const UNCOUNTED: &str = "anonymous=requests:100000000,rows:1000000000;free=requests:300000000;pro=requests:300000000";

#[test]
fn files_changed_under_load_change_nothing_that_is_served() {
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let key = installation.key();
    let mut server = installation.serve_with(&["--pages-per-minute", "100000000", "--tiers", UNCOUNTED]);
    let paths = [
        "/api/v3/startups/mossworks",
        "/api/v3/vcs?q=alder&fields=*",
        "/api/v3/startups?sort=name",
        "/api/v3/vcs/facets",
        "/api/v3/people?q=li%20moss",
        "/api/v1/reviews",
        "/api/v3/suggest?q=mos",
        "/vcs",
    ];
    let client = server.client(&key);
    let expected = paths.map(|path| {
        let reply = client.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        reply.text
    });
    let files = files_below(&installation.index().join("2026-11-20.1"));
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut changes = 0;
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for number in 0..2 {
            let (client, stop, answers, expected) = (server.client(&key), &stop, &answers, &expected);
            scope.spawn(move || {
                // A query that is new each time is not answered from the cache.
                for turn in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    for (path, expected) in paths.iter().zip(expected) {
                        assert_eq!(client.get(path).text, *expected, "{path}");
                    }
                    assert_computed(&client, number + 2 * turn);
                    answers.fetch_add(paths.len() as u64 + 1, Ordering::Relaxed);
                }
            });
        }
        let mut dice = Dice(3);
        for _ in 0..rounds(200, 2) {
            let file = &files[dice.upto(files.len() as u64) as usize];
            let original = fs::read(file).unwrap();
            for kind in CHANGES {
                let logged = server.logged(CHANGED);
                change(file, kind, &original, &mut dice);
                server.wait(|| server.logged(CHANGED) > logged);
                changes += 1;
            }
            fs::write(file, &original).unwrap();
        }
    });
    assert!(server.child.try_wait().unwrap().is_none(), "the server runs");
    let (answers, logged) = (answers.into_inner(), server.logged(CHANGED));
    eprintln!("{changes} changes of files, {logged} in the log, {answers} answers, all as before");
    assert!(answers > 0 && logged >= changes);
    assert_eq!(client.get("/readyz").status, 200);

    // All at once, and with the index.
    fs::remove_dir_all(installation.index()).unwrap();
    server.wait(|| server.logged(CHANGED) > logged);
    for (path, expected) in paths.iter().zip(&expected) {
        assert_eq!(client.get(path).text, *expected, "{path}");
    }
}

/// A list that no cache has.
fn assert_computed(client: &Client, turn: u64) {
    let reply = client.get(&format!("/api/v3/startups?q=mossworks&max_raised_usd={}", 900_000_000_000 + turn));
    assert_eq!((reply.status, reply.slugs()), (200, vec!["mossworks".to_owned()]), "{}", reply.text);
}
