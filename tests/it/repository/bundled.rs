//! The bundled dataset equals the generated one, byte for byte.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use data::fold::fold;
use import::datagen::{GenConfig, generate};

use crate::support::harness::real_data;

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| name.ends_with(".csv") || name.ends_with(".toml"))
        .collect()
}

/// `VENTUREDEX_BLESS=1 cargo test --test it bundled` regenerates the folder.
#[test]
fn the_bundled_dataset_equals_the_generated_one() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset");
    if std::env::var_os("VENTUREDEX_BLESS").is_some() {
        generate(&GenConfig::bundled(), &bundled).unwrap();
    }
    let generated = tempfile::tempdir().unwrap();
    generate(&GenConfig::bundled(), generated.path()).unwrap();
    let (generated, bundled) = (files(generated.path()), files(&bundled));
    assert_eq!(generated.keys().collect::<Vec<_>>(), bundled.keys().collect::<Vec<_>>());
    for (name, bytes) in &generated {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .zip(bundled[name].split(|byte| *byte == b'\n'))
            .position(|(a, b)| a != b);
        assert!(
            *bytes == bundled[name],
            "dataset/{name} differs from line {line:?}; regenerate it with VENTUREDEX_BLESS=1"
        );
    }
}

/// Folded names and long aliases of a file, without spaces.
fn names(folder: &Path, file: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    let columns = reader.headers().unwrap().clone();
    let index = |column: &str| columns.iter().position(|name| name == column);
    let (name, aliases) = (index("name").unwrap(), index("aliases"));
    let mut names = Vec::new();
    for row in reader.records() {
        let row = row.unwrap();
        names.push(row[name].to_owned());
        let aliases = aliases.map_or_else(String::new, |index| row[index].to_owned());
        names.extend(aliases.split('|').filter(|alias| alias.chars().count() > 4).map(str::to_owned));
    }
    names.into_iter().map(|name| fold(&name).replace(' ', "")).filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_bundled_name_is_that_of_a_real_firm_startup_or_person() {
    let Some(real) = real_data() else { return };
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset");
    let organizations: HashSet<_> = names(&real, "firms.csv").into_iter().chain(names(&real, "startups.csv")).collect();
    let people: HashSet<_> = names(&real, "people.csv").into_iter().collect();
    assert!(organizations.len() > 1_000, "{} contains no real data", real.display());
    for file in ["firms.csv", "startups.csv"] {
        let matches: Vec<_> = names(&bundled, file).into_iter().filter(|name| organizations.contains(name)).collect();
        assert!(matches.is_empty(), "{file}: {matches:?}");
    }
    let matches: Vec<_> = names(&bundled, "people.csv").into_iter().filter(|name| people.contains(name)).collect();
    assert!(matches.is_empty(), "people.csv: {matches:?}");
}
