//! Releases as Parquet tables for other engines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::harness::{bundled_folder, copy_as, files_below, root, runs, wants_all};
use crate::support::installation::Installation;

fn build(installation: &Installation, dataset: &Path, arguments: &[&str]) -> Value {
    let words = [&["build", "--json", "--dataset", dataset.to_str().unwrap()], arguments].concat();
    serde_json::from_str(&installation.indexer(&words)).unwrap()
}

fn export(installation: &Installation, words: &[&str]) -> Value {
    serde_json::from_str(&installation.indexer(&[&["export", "--json"], words].concat())).unwrap()
}

fn manifest(place: &Path, version: &str) -> Value {
    serde_json::from_slice(&fs::read(place.join(format!("release={version}/_manifest.json"))).unwrap()).unwrap()
}

/// All files below a folder with their SHA-256, except hidden ones.
fn checksums(place: &Path) -> BTreeMap<PathBuf, String> {
    let files =
        files_below(place).into_iter().filter(|path| !path.file_name().unwrap().to_str().unwrap().starts_with('.'));
    let checksum = |path: PathBuf| {
        let sum = Sha256::digest(fs::read(&path).unwrap());
        (path.strip_prefix(place).unwrap().to_owned(), sum.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    files.map(checksum).collect()
}

#[test]
fn a_release_is_written_once_with_sorted_keys_and_statistics_and_its_manifest_lists_all() {
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let place = folder.path().join("tables");
    let text = place.to_str().unwrap();
    let built = build(&installation, &bundled_folder(), &["--tables", text]);
    let version = built["version"].as_str().unwrap().to_owned();
    assert_eq!(
        (built["tables"]["version"].as_str(), built["tables"]["is_new"].as_bool()),
        (Some(&*version), Some(true))
    );

    let manifest = manifest(&place, &version);
    let checksums_before = checksums(&place);
    let mut listed = 1;
    for table in manifest["tables"].as_array().unwrap() {
        let (name, key) = (table["name"].as_str().unwrap(), table["key"].as_str().unwrap());
        let columns: Vec<&str> =
            table["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert!(!columns.contains(&"release") && !columns.contains(&"table"), "{name}: they are partitions");
        assert_eq!(columns[0], key, "{name}");
        let (mut rows, mut last) = (0, String::new());
        for file in table["files"].as_array().unwrap() {
            listed += 1;
            let path = file["path"].as_str().unwrap();
            assert!(path.starts_with(&format!("table={name}/part-0")) && path.ends_with(".parquet"), "{path}");
            let path = Path::new(&format!("release={version}")).join(path);
            assert_eq!(checksums_before[&path], file["sha256"].as_str().unwrap());
            let reader = SerializedFileReader::new(fs::File::open(place.join(&path)).unwrap()).unwrap();
            let schema = reader.metadata().file_metadata().schema_descr_ptr();
            let roots: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
            assert_eq!(roots, columns, "{name}");
            for group in reader.metadata().row_groups() {
                let statistics = group.column(0).statistics().unwrap();
                assert!(statistics.min_bytes_opt().is_some() && statistics.max_bytes_opt().is_some(), "{name}");
                assert_eq!(group.sorting_columns().unwrap()[0].column_idx, 0);
            }
            for row in reader.get_row_iter(None).unwrap() {
                rows += 1;
                let row = row.unwrap();
                let Some((_, Field::Str(found))) = row.get_column_iter().next() else { continue };
                assert!(*found > last, "{name}: {found} after {last}");
                last.clone_from(found);
            }
        }
        assert_eq!(rows, table["rows"].as_u64().unwrap(), "{name}");
    }
    assert_eq!(checksums_before.len(), listed);
    let people = built["counts"]["people"].as_u64();
    let table = manifest["tables"].as_array().unwrap().iter().find(|table| table["name"] == "people").unwrap();
    assert_eq!(table["rows"].as_u64(), people);

    // Again, and elsewhere: the same bytes.
    assert_eq!(export(&installation, &[text])["releases"][0]["is_new"], false);
    assert_eq!(checksums(&place), checksums_before);
    let other = folder.path().join("other");
    let address = format!("file://{}", other.display());
    assert_eq!(export(&installation, &[&address, &version])["releases"][0]["is_new"], true);
    assert_eq!(checksums(&other), checksums_before);
    // A release that was begun and has no manifest is written again, and so is what a killed export left.
    fs::remove_file(place.join(format!("release={version}/_manifest.json"))).unwrap();
    fs::create_dir_all(place.join(format!(".writing-{version}/table=vcs"))).unwrap();
    assert_eq!(export(&installation, &[text])["releases"][0]["is_new"], true);
    assert_eq!(checksums(&place), checksums_before);
    assert!(!place.join(format!(".writing-{version}")).exists());
    // Another release of the same version is not written over it.
    let mut changed = self::manifest(&place, &version);
    changed["content"] = "0".repeat(64).into();
    fs::write(place.join(format!("release={version}/_manifest.json")), changed.to_string()).unwrap();
    let words = ["export", "--json", text];
    let refused = installation.command(env!("CARGO_BIN_EXE_indexer")).args(words).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let refused = String::from_utf8(refused.stdout).unwrap();
    assert!(refused.contains("\"exported_before\"") && refused.contains("has other content"), "{refused}");
}

#[test]
fn engines_find_the_same_in_all_releases() {
    // Spark starts a cluster, which takes a minute.
    let engines: Vec<&str> = [("duckdb", "duckdb"), ("chdb", "clickhouse"), ("pyspark", "spark")]
        .into_iter()
        .filter(|(_, engine)| *engine != "spark" || wants_all())
        .filter(|(module, _)| runs("python3", &["-c", &format!("import {module}")]))
        .map(|(_, engine)| engine)
        .collect();
    if engines.is_empty() {
        eprintln!("skipped: Python has none of duckdb and chdb");
        return;
    }
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let place = folder.path().to_str().unwrap();
    build(&installation, &bundled_folder(), &[]);
    // The tenth of a day is after the ninth, though its text is before.
    for version in ["2026-11-27.9", "2026-11-27.10"] {
        build(&installation, copy_as(&bundled_folder(), version).path(), &[]);
    }
    assert_eq!(export(&installation, &[place])["releases"].as_array().unwrap().len(), 3);
    let check = root().join("tests/tables/check.py");
    let ended = Command::new("python3").arg(check).arg(place).args(engines).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}
