//! A build whose system calls fail, one at a time, and one whose disk is full: the old or the new release is served, and the
//! next build succeeds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use release::ReleaseStore;
use tempfile::TempDir;

use crate::support::harness::files_below;
use crate::support::harness::{Dice, copy_as, rounds, runs, wants_rounds};
use crate::support::installation::small;

const OLD: &str = "2026-11-20.1";
const NEW: &str = "2026-11-27.1";

/// What happens to a call.
const FAULTS: [&str; 5] = ["error=EIO", "error=ENOSPC", "error=EMFILE", "error=EACCES", "signal=SIGKILL"];

/// Calls on files and descriptors.
const CALLS: &str = "trace=%file,%desc";

struct Setup {
    /// An index with the old release.
    template: TempDir,
    dataset: TempDir,
}

impl Setup {
    fn new() -> Self {
        let setup = Self { template: tempfile::tempdir().unwrap(), dataset: copy_as(&small(), NEW) };
        let old = copy_as(&small(), OLD);
        assert!(indexer(old.path(), setup.template.path()).status().unwrap().success());
        setup
    }

    fn index(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        for path in files_below(self.template.path()) {
            let place = copy.path().join(path.strip_prefix(self.template.path()).unwrap());
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(path, place).unwrap();
        }
        copy
    }

    /// Runs a build with bulk files under strace and returns its exit code, `None` if it was killed.
    fn build(&self, index: &Path, options: &[&str]) -> (Option<i32>, String) {
        let build = indexer(self.dataset.path(), index);
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o"]).arg(index.with_extension("trace")).args(options);
        traced.arg(build.get_program()).args(build.get_args()).arg("--bulk");
        let output = traced.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn indexer(dataset: &Path, index: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.arg("build").arg("--dataset").arg(dataset).arg("--index").arg(index);
    command
}

/// Checks that one of both releases is current and good, and that the next build leaves both and nothing else.
fn assert_recovers(index: &Path, dataset: &Path, context: &str) -> bool {
    let releases = ReleaseStore::at(index);
    let current = releases.current().unwrap_or_else(|error| panic!("{context}: {error}")).expect(context);
    assert!([OLD, NEW].contains(&current.to_string().as_str()), "{context}: {current}");
    let release = releases.open(current).unwrap_or_else(|error| panic!("{context}: {error}"));
    release.smoke_test().unwrap_or_else(|error| panic!("{context}: {error}"));
    releases.verify_on_disk(&release.manifest).unwrap_or_else(|error| panic!("{context}: {error}"));
    let next = indexer(dataset, index).output().unwrap();
    assert!(next.status.success(), "{context}: {}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(releases.current().unwrap(), Some(NEW.parse().unwrap()), "{context}");
    let mut names: Vec<String> =
        fs::read_dir(index).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".lock"));
    names.sort();
    assert_eq!(names, [OLD, NEW, "current"], "{context}");
    current.to_string() == NEW
}

/// For each call its greatest number in one thread: strace counts by thread.
fn calls(trace: &str) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
        if call.chars().all(|char| char.is_ascii_alphanumeric() || char == '_') {
            *counts.entry((thread, call)).or_default() += 1;
        }
    }
    let mut greatest: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, call), count) in counts {
        let known = greatest.entry(call.to_owned()).or_default();
        *known = (*known).max(count);
    }
    greatest
}

#[test]
fn each_system_call_of_a_build_may_fail() {
    if !runs("strace", &["-qq", "true"]) {
        return;
    }
    let setup = Setup::new();
    let index = setup.index();
    assert_eq!(setup.build(index.path(), &["-e", CALLS]).0, Some(0));
    let calls = calls(&fs::read_to_string(index.path().with_extension("trace")).unwrap());
    let mut points: Vec<(String, usize, &str)> = Vec::new();
    for (call, count) in &calls {
        points.extend((1..=*count).flat_map(|number| FAULTS.map(|fault| (call.clone(), number, fault))));
    }
    let (all, mut dice) = (points.len(), Dice(5));
    if !wants_rounds() {
        let few = (0..24).map(|_| points[dice.upto(all as u64) as usize].clone()).collect();
        points = few;
    }
    let (next, failed, advanced) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let unusual: Mutex<BTreeMap<String, usize>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((call, number, fault)) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let context = format!("{call} number {number}, {fault}");
                    let index = setup.index();
                    let inject = format!("inject={call}:{fault}:when={number}");
                    let (code, errors) = setup.build(index.path(), &["-e", &format!("trace={call}"), "-e", &inject]);
                    // Rust's own code panics, which no program can prevent, without memory for the stack of a thread, and if the
                    // handle of a folder cannot be closed.
                    let is_of_rust = call == "mmap" && errors.contains("stack_overflow.rs")
                        || call == "close" && errors.contains("unexpected error during closedir");
                    let panicked = errors.contains("panicked") || code == Some(101);
                    assert!(is_of_rust || !panicked, "{context}: {errors}");
                    failed.fetch_add(usize::from(code != Some(0)), Ordering::Relaxed);
                    if !matches!(code, None | Some(0..=4)) {
                        *unusual
                            .lock()
                            .unwrap()
                            .entry(format!("{code:?} {}", errors.lines().next().unwrap_or("")))
                            .or_default() += 1;
                    }
                    let is_new = assert_recovers(index.path(), setup.dataset.path(), &context);
                    advanced.fetch_add(usize::from(is_new), Ordering::Relaxed);
                    let _ = fs::remove_file(index.path().with_extension("trace"));
                }
            });
        }
    });
    eprintln!(
        "{} of {all} faults in {} calls: {} builds failed, {} had switched; unusual exit codes: {:?}",
        points.len(),
        calls.len(),
        failed.into_inner(),
        advanced.into_inner(),
        unusual.into_inner().unwrap()
    );
}

#[test]
fn a_full_disk_leaves_the_old_release_and_the_next_build_succeeds() {
    let mount = "mount -t tmpfs -o size=1m tmpfs /mnt";
    if !runs("unshare", &["-rm", "sh", "-c", mount]) {
        return;
    }
    let setup = Setup::new();
    let index = setup.index();
    assert!(indexer(setup.dataset.path(), index.path()).status().unwrap().success());
    let size = |folder: &Path| {
        files_below(folder).iter().map(|file| fs::metadata(file).unwrap().len() / 4096 + 1).sum::<u64>()
    };
    let (old, both) = (size(setup.template.path()), size(index.path()));
    let levels = rounds(20, 4) as u64;
    let (mut refused, mut fitted) = (0, 0);
    for level in 1..=levels {
        // Pages of 4 KB, from what the old release takes to a little more than both.
        let pages = old + (both - old + 8) * level / levels;
        let script = r#"
            mount -t tmpfs -o size=$4k tmpfs /mnt && cp -r "$3"/. /mnt || exit 90
            "$1" build --dataset "$2" --index /mnt >/dev/null 2>&1; code=$?
            printf '%s ' "$code" $(cat /mnt/current)
            "$1" verify --index /mnt >/dev/null 2>&1 || exit 91
            mount -o remount,size=64m tmpfs /mnt || exit 92
            "$1" build --dataset "$2" --index /mnt >/dev/null 2>&1 || exit 93
            cat /mnt/current; ls -A /mnt
        "#;
        let mut shell = Command::new("unshare");
        shell.args(["-rm", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_indexer")]);
        shell.arg(setup.dataset.path()).arg(setup.template.path()).arg((pages * 4).to_string());
        let output = shell.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{pages} pages: {:?} {text}", output.status);
        let words: Vec<&str> = text.split_whitespace().filter(|word| !word.ends_with(".lock")).collect();
        match words[0] {
            "3" => {
                refused += 1;
                assert_eq!(words, ["3", OLD, NEW, OLD, NEW, "current"], "{pages} pages");
            }
            _ => {
                fitted += 1;
                assert_eq!(words, ["0", NEW, NEW, OLD, NEW, "current"], "{pages} pages");
            }
        }
    }
    eprintln!("{levels} levels of free space: {refused} builds were refused, {fitted} fitted");
    assert!(refused > 0 && fitted > 0);
}
