//! The bundled dataset is what the generator makes, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use venturedex::generator::{Plan, generate};

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| name.ends_with(".csv") || name.ends_with(".toml"))
        .collect()
}

/// `VENTUREDEX_BLESS=1 cargo test --test it bundled` makes the folder anew.
#[test]
fn the_bundled_dataset_is_what_the_generator_makes() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset");
    if std::env::var_os("VENTUREDEX_BLESS").is_some() {
        generate(&Plan::bundled(), &bundled).unwrap();
    }
    let made = tempfile::tempdir().unwrap();
    generate(&Plan::bundled(), made.path()).unwrap();
    let (made, bundled) = (files(made.path()), files(&bundled));
    assert_eq!(made.keys().collect::<Vec<_>>(), bundled.keys().collect::<Vec<_>>());
    for (name, bytes) in &made {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .zip(bundled[name].split(|byte| *byte == b'\n'))
            .position(|(a, b)| a != b);
        assert!(
            *bytes == bundled[name],
            "dataset/{name} differs from line {line:?} on: make it anew with VENTUREDEX_BLESS=1"
        );
    }
}
