//! Files of imports, a target for each format. A file is read, or refused with a sentence that names it.

use std::fs;
use std::sync::{Mutex, OnceLock, PoisonError};

use import::sources::guess;
use tempfile::TempDir;

/// Reads the bytes as a file with this ending, as far as a guess of its columns needs.
fn read(ending: &str, bytes: &[u8]) {
    static FOLDER: OnceLock<Mutex<TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| Mutex::new(tempfile::tempdir().expect("a folder")));
    let folder = folder.lock().unwrap_or_else(PoisonError::into_inner);
    let file = folder.path().join(format!("input.{ending}"));
    fs::write(&file, bytes).expect("a file");
    let guessed = guess::mapping(std::slice::from_ref(&file));
    fs::remove_file(&file).expect("the file");
    if let Err(error) = guessed {
        let text = error.to_string();
        assert!(text.contains("input."), "{text}");
    }
}

pub fn import_csv(bytes: &[u8]) {
    read("csv", bytes);
}

pub fn import_json(bytes: &[u8]) {
    read("json", bytes);
}

pub fn import_gzip(bytes: &[u8]) {
    read("csv.gz", bytes);
}

pub fn import_zip(bytes: &[u8]) {
    read("zip", bytes);
}

pub fn import_tar(bytes: &[u8]) {
    read("tar", bytes);
}

pub fn import_tar_gz(bytes: &[u8]) {
    read("tar.gz", bytes);
}

pub fn import_xlsx(bytes: &[u8]) {
    read("xlsx", bytes);
}

pub fn import_xlsb(bytes: &[u8]) {
    read("xlsb", bytes);
}

pub fn import_xls(bytes: &[u8]) {
    read("xls", bytes);
}

pub fn import_ods(bytes: &[u8]) {
    read("ods", bytes);
}
