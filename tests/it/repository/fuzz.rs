//! The fuzz targets: their corpora and random mutations of them. `.ci/full fuzz` runs the same targets under libFuzzer.

#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::support::harness::{Numbers, cases};
use targets::{TARGETS, Target};

/// The inputs that the repository keeps for a target.
fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target.name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<_> = files
        .map(|file| file.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    inputs.sort();
    inputs
}

/// One to four changes: a bit, a byte, a piece removed, doubled, or taken from another input.
fn mutated(inputs: &[(String, Vec<u8>)], numbers: &mut Numbers) -> Vec<u8> {
    const PIECES: [&[u8]; 12] =
        [b"", b"\0", b"\xff", b",", b"&", b"=", b"%", b"-1", b"18446744073709551616", b"\xe2\x80\xae", b"\"", b"{"];
    let mut bytes = inputs[numbers.below(inputs.len())].1.clone();
    for _ in 0..=numbers.below(4) {
        let start = numbers.below(bytes.len() + 1);
        let end = start + numbers.below((bytes.len() - start).min(16) + 1);
        match numbers.below(6) {
            0 if start < bytes.len() => bytes[start] ^= 1 << numbers.below(8),
            1 if start < bytes.len() => bytes[start] = numbers.below(256) as u8,
            2 => drop(bytes.drain(start..end)),
            3 => bytes.extend_from_within(start..end),
            4 => drop(bytes.splice(start..end, PIECES[numbers.below(PIECES.len())].iter().copied())),
            _ => {
                let other = &inputs[numbers.below(inputs.len())].1;
                let from = numbers.below(other.len() + 1);
                bytes.splice(start..end, other[from..].iter().take(64).copied());
            }
        }
    }
    bytes
}

fn replay(name: &str) {
    let target = TARGETS.into_iter().find(|target| target.name == name).unwrap();
    let inputs = corpus(&target);
    for (path, bytes) in &inputs {
        assert!(catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_ok(), "{path} fails");
    }
    let seed = std::env::var("VENTUREDEX_FUZZ_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let mut numbers = Numbers(seed);
    for _ in 0..cases(target.mutations, target.mutations / 2) {
        let bytes = mutated(&inputs, &mut numbers);
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))).is_err() {
            panic!("fails; keep it in tests/fuzz/corpus/{name}: {}", bytes.escape_ascii());
        }
    }
}

macro_rules! replayed {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn every_target_is_replayed() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

replayed!(
    cursor key forwarded parameters json_rpc form resolve_json resolve_csv reconcile dataset archive text_index
    import_csv import_json import_gzip import_zip import_tar import_tar_gz import_xlsx import_xlsb import_xls import_ods
);
