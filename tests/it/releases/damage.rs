//! Releases that were damaged at random: none of them is opened.

use std::fs;
use std::path::{Path, PathBuf};

use release::ReleaseStore;

use crate::support::harness::files_below;
use crate::support::harness::{Dice, rounds};
use crate::support::installation::{Installation, overwrite};

/// Two releases of different data.
struct Pair {
    installation: Installation,
    /// The files of the first with their bytes.
    files: Vec<(PathBuf, Vec<u8>)>,
}

const FIRST: &str = "2026-11-20.1";
const SECOND: &str = "2026-11-21.1";

impl Pair {
    fn new() -> Self {
        let installation = Installation::new();
        installation.publish(FIRST);
        installation.publish(SECOND);
        let files = files_below(&installation.index().join(FIRST));
        let files = files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        Self { installation, files }
    }

    fn store(&self) -> ReleaseStore {
        ReleaseStore::at(self.installation.index())
    }

    /// Checks that the first release is refused, and restores one of its files.
    #[track_caller]
    fn assert_refused(&self, damage: &str, file: usize) {
        let opened = self.store().open(FIRST.parse().unwrap());
        let error = opened.err().unwrap_or_else(|| panic!("opened after {damage}")).to_string();
        let is_named = error.contains("is damaged") || error.contains("has another format");
        assert!(is_named && error.starts_with("release 2026-11-20.1 "), "{damage}: {error}");
        let (path, bytes) = &self.files[file];
        overwrite(path, bytes);
    }
}

#[test]
fn no_flipped_bit_is_opened() {
    let pair = Pair::new();
    let mut dice = Dice(1);
    let total: usize = pair.files.iter().map(|(_, bytes)| bytes.len()).sum();
    for _ in 0..rounds(10_000, 120) {
        let mut at = dice.upto(total as u64) as usize;
        let file = pair.files.iter().position(|(_, bytes)| match at.checked_sub(bytes.len()) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        });
        let file = file.unwrap();
        let (path, bytes) = &pair.files[file];
        let mut flipped = bytes.clone();
        let bit = dice.upto(8);
        flipped[at] ^= 1 << bit;
        overwrite(path, &flipped);
        pair.assert_refused(&format!("bit {bit} of byte {at} of {}", path.display()), file);
    }
    pair.store().open(FIRST.parse().unwrap()).unwrap();
}

#[test]
fn no_cut_extended_deleted_or_exchanged_file_is_opened() {
    let pair = Pair::new();
    let mut dice = Dice(2);
    for round in 0..rounds(200, 8) {
        // Not an empty one, which cannot be cut.
        let file = loop {
            let file = dice.upto(pair.files.len() as u64) as usize;
            if !pair.files[file].1.is_empty() {
                break file;
            }
        };
        let (path, bytes) = &pair.files[file];
        let damaged = |what: &str| format!("{what}, round {round}, {}", path.display());
        overwrite(path, &bytes[..dice.upto(bytes.len() as u64) as usize]);
        pair.assert_refused(&damaged("a cut"), file);
        overwrite(path, &[bytes.as_slice(), &[dice.upto(256) as u8]].concat());
        pair.assert_refused(&damaged("an extension"), file);
        fs::remove_file(path).unwrap();
        pair.assert_refused(&damaged("a deletion"), file);

        let other = (file + 1 + dice.upto(pair.files.len() as u64 - 1) as usize) % pair.files.len();
        let (other_path, other_bytes) = &pair.files[other];
        // Small files of different tables may be equal.
        if other_bytes != bytes {
            overwrite(path, other_bytes);
            overwrite(other_path, bytes);
            let exchanged = format!("an exchange with {}", other_path.display());
            pair.assert_refused(&damaged(&exchanged), file);
            overwrite(other_path, other_bytes);
        }
        if let Some(foreign) = pair.same_file_of_the_other(path).filter(|foreign| foreign != bytes) {
            overwrite(path, &foreign);
            pair.assert_refused(&damaged("the file of another release"), file);
        }
    }
    pair.store().open(FIRST.parse().unwrap()).unwrap();
}

impl Pair {
    /// The file of the second release in the place of this one; segments of tantivy have names of their own.
    fn same_file_of_the_other(&self, path: &Path) -> Option<Vec<u8>> {
        let index = self.installation.index();
        let inner = path.strip_prefix(index.join(FIRST)).unwrap();
        let place = index.join(SECOND).join(inner);
        let ending = |path: &Path| path.extension().map(|ending| ending.to_owned());
        let mut candidates = fs::read_dir(place.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let found = candidates.find(|other| {
            *other == place || (ending(other).is_some() && ending(other) == ending(path) && other.is_file())
        });
        fs::read(found?).ok()
    }
}
