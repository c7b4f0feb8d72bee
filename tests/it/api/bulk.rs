//! Bulk files have what the API returns: read back with readers of their formats, and compared with the lists of v3.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use auth::quota::Tier;
use data::formula;
use flate2::read::GzDecoder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::records::LISTS;
use crate::support::harness::{Client, Server, bundled_folder, copy_as, copy_with_few_reviews};
use crate::support::installation::{Installation, overwrite, small};

fn build(installation: &Installation, dataset: &Path, arguments: &[&str]) -> Value {
    let words = [&["build", "--json", "--dataset", dataset.to_str().unwrap()], arguments].concat();
    serde_json::from_str(&installation.indexer(&words)).unwrap()
}

/// The folder of bulk files of a release that a build reports.
fn folder(built: &Value) -> PathBuf {
    Path::new(built["place"].as_str().unwrap()).join("bulk")
}

fn read(path: &Path) -> String {
    let file = File::open(path).unwrap();
    let mut text = String::new();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => GzDecoder::new(file).read_to_string(&mut text).unwrap(),
        Some("zst") => zstd::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap(),
        _ => panic!("{} is not compressed", path.display()),
    };
    text
}

/// All records of a table, by key, as the lists of v3 return them.
fn records(client: &Client, table: &str, key: &str) -> BTreeMap<String, Map<String, Value>> {
    let mut records = BTreeMap::new();
    let mut page = client.get(&format!("/api/v3/{table}?limit=100&fields=*")).json();
    loop {
        for record in page["data"].as_array().unwrap() {
            let mut record = record.as_object().unwrap().clone();
            let joined: &[&str] = match table {
                "startups" => &["coverage_until", "rounds", "people"],
                "vcs" => &["coverage_until"],
                _ => &[],
            };
            for field in joined.iter().chain(&["first_seen", "changed_in"]) {
                assert!(record.remove(*field).is_some(), "{table} have no {field}");
            }
            records.insert(record[key].as_str().unwrap().to_owned(), record);
        }
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { return records };
        page = client.list(&format!("/api/v3/{table}"), &[("cursor", cursor)]).json();
    }
}

/// The values of a record by column, by the rules of `/docs/bulk`: objects flattened, dates as days, everything else as it
/// is. `dates` are the columns that are dates.
fn flatten(record: &Map<String, Value>, above: &str, dates: &[String], flat: &mut Map<String, Value>) {
    for (name, value) in record {
        let name = format!("{above}{name}");
        if let Some(object) = value.as_object() {
            flatten(object, &format!("{name}_"), dates, flat);
        } else if dates.contains(&name) {
            let text = value.as_str();
            let day = text.map(|text| format!("{text}{}", &"-01-01"[text.len().saturating_sub(4)..]));
            let precision = text.map(|text| ["year", "month", "day"][(text.len() - 4) / 3]);
            flat.insert(format!("{name}_precision"), json!(precision));
            flat.insert(name, json!(day));
        } else {
            flat.insert(name, value.clone());
        }
    }
}

/// The value of a cell of CSV, by the type that `datapackage.json` gives its column.
fn cell(text: &str, kind: &str) -> Value {
    match kind {
        "list" => {
            let text = formula::restore(text).as_bytes();
            let mut list = csv::ReaderBuilder::new().has_headers(false).delimiter(b';').from_reader(text);
            list.records().next().map_or_else(|| json!([]), |row| json!(row.unwrap().iter().collect::<Vec<_>>()))
        }
        _ if text.is_empty() => Value::Null,
        "integer" | "number" | "boolean" | "array" => serde_json::from_str(text).unwrap(),
        "string" => json!(formula::restore(text)),
        "date" => json!(text),
        other => panic!("unknown type {other}"),
    }
}

/// The value of a cell of Parquet.
fn parquet_value(field: &Field, kind: &str) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => json!(value),
        Field::Long(value) => json!(value),
        Field::Double(value) => json!(value),
        Field::Date(days) => json!(data::Date::from_days(*days).to_string()),
        Field::Str(text) if kind == "array" => serde_json::from_str(text).unwrap(),
        Field::Str(text) => json!(text),
        Field::ListInternal(list) => list.elements().iter().map(|item| parquet_value(item, "string")).collect(),
        other => panic!("unexpected {other:?}"),
    }
}

/// Whether two values are equal; numbers by value, as Parquet has no 3 in a column of 3.5.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

fn assert_same(found: &Map<String, Value>, expected: &Map<String, Value>, context: &str) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{context}");
    for (name, value) in found {
        assert!(same(value, &expected[name]), "{context}: {name}: {value} instead of {}", expected[name]);
    }
}

#[test]
fn every_file_has_the_records_that_the_api_returns() {
    let installation = Installation::new();
    let built = build(&installation, &bundled_folder(), &["--bulk"]);
    let folder = folder(&built);
    let package: Value = serde_json::from_slice(&fs::read(folder.join("datapackage.json")).unwrap()).unwrap();
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let stats = client.get("/api/v3/stats").json();
    for (table, key) in LISTS {
        let records = records(&client, table, key);
        let name = if table == "vcs" { "firms".to_owned() } else { table.replace('-', "_") };
        assert_eq!(json!(records.len()), stats["data"][&name]);
        let lines = read(&folder.join(format!("{table}.ndjson.gz")));
        assert!(lines == read(&folder.join(format!("{table}.ndjson.zst"))), "{table}");
        let found: Vec<Map<String, Value>> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(found.len(), records.len(), "{table}");
        for (line, record) in found.iter().zip(records.values()) {
            assert_eq!(line, record, "{table}: in the order of keys");
        }

        let resource = package["resources"].as_array().unwrap().iter().find(|resource| resource["name"] == table);
        let resource = resource.unwrap();
        assert_eq!(resource["rowCount"], records.len());
        let fields = resource["schema"]["fields"].as_array().unwrap();
        let columns: Vec<(&str, &str)> =
            fields.iter().map(|field| (field["name"].as_str().unwrap(), field["type"].as_str().unwrap())).collect();
        let dates: Vec<String> =
            columns.iter().filter(|(_, kind)| *kind == "date").map(|(name, _)| (*name).to_owned()).collect();
        let flat: Vec<Map<String, Value>> = records
            .values()
            .map(|record| {
                let mut flat = Map::new();
                flatten(record, "", &dates, &mut flat);
                flat
            })
            .collect();

        let text = read(&folder.join(format!("{table}.csv.gz")));
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        assert!(rows.headers().unwrap().iter().eq(columns.iter().map(|(name, _)| *name)), "{table}");
        let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), flat.len(), "{table}");
        for (row, expected) in rows.iter().zip(&flat) {
            let found = columns.iter().zip(row).map(|((name, kind), text)| ((*name).to_owned(), cell(text, kind)));
            assert_same(&found.collect(), expected, table);
        }

        let file = SerializedFileReader::new(File::open(folder.join(format!("{table}.parquet"))).unwrap()).unwrap();
        let kinds: BTreeMap<&str, &str> = columns.iter().copied().collect();
        let rows = file.get_row_iter(None).unwrap().map(Result::unwrap).map(|row| {
            let cells = row.get_column_iter();
            let found = cells.map(|(name, field)| (name.clone(), parquet_value(field, kinds[name.as_str()])));
            found.collect::<Map<String, Value>>()
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), flat.len(), "{table}");
        rows.iter().zip(&flat).for_each(|(found, expected)| assert_same(found, expected, table));
    }
}

#[test]
fn files_are_listed_with_their_checksums_and_two_builds_give_the_same_bytes() {
    let installations = [Installation::new(), Installation::new()];
    let dataset = copy_with_few_reviews("2026-11-20.1");
    let [first, second] = installations.each_ref().map(|index| folder(&build(index, dataset.path(), &["--bulk"])));
    let manifest: Value = serde_json::from_slice(&fs::read(first.with_file_name("manifest.json")).unwrap()).unwrap();
    let package: Value = serde_json::from_slice(&fs::read(first.join("datapackage.json")).unwrap()).unwrap();
    let resources = package["resources"].as_array().unwrap();
    let mut names: Vec<String> =
        fs::read_dir(&first).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 6 * 4 + 4, "{names:?}");
    for name in names {
        let bytes = fs::read(first.join(&name)).unwrap();
        assert!(bytes == fs::read(second.join(&name)).unwrap(), "{name} differs between two builds");
        let sha256 = data::hex::digits(&Sha256::digest(&bytes));
        let listed = manifest["files"].as_array().unwrap().iter().find(|file| file["path"] == format!("bulk/{name}"));
        let listed = listed.unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!((&listed["bytes"], &listed["sha256"]), (&json!(bytes.len()), &json!(sha256)), "{name}");
        if let Some(resource) = resources.iter().find(|resource| resource["path"] == name) {
            let hash = format!("sha256:{sha256}");
            assert_eq!((&resource["bytes"], &resource["hash"]), (&json!(bytes.len()), &json!(hash)), "{name}");
        }
        assert!(fs::metadata(first.join(&name)).unwrap().permissions().readonly(), "{name}");
    }
    let paths: Vec<&str> = resources.iter().map(|resource| resource["path"].as_str().unwrap()).collect();
    assert_eq!(paths, LISTS.map(|(table, _)| format!("{table}.csv.gz")));
}

#[test]
fn a_release_without_bulk_files_gets_them_and_keeps_them() {
    let installation = Installation::new();
    let plain = build(&installation, &small(), &[]);
    assert_eq!((&plain["outcome"], &plain["bytes"]["bulk"]), (&json!("published"), &json!(0)));
    let completed = build(&installation, &small(), &["--bulk"]);
    assert_eq!(completed["outcome"], "completed");
    assert!(completed["bytes"]["bulk"].as_u64().unwrap() > 1_000);
    assert_eq!(build(&installation, &small(), &["--bulk"])["outcome"], "unchanged");
    assert_eq!(build(&installation, &small(), &[])["outcome"], "unchanged");

    let file = folder(&completed).join("startups.parquet");
    let good = fs::read(&file).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    overwrite(&file, &bad);
    let verify = installation.command(env!("CARGO_BIN_EXE_indexer")).arg("verify").output().unwrap();
    let text = String::from_utf8(verify.stdout).unwrap();
    assert!(verify.status.code() == Some(1) && text.contains("bulk/startups.parquet has the checksum"), "{text}");
    assert_eq!(build(&installation, &small(), &[])["outcome"], "repaired");
    assert!(fs::read(&file).unwrap() == good);
    installation.indexer(&["verify"]);
}

#[test]
fn a_name_like_a_formula_is_marked_in_csv_and_exact_elsewhere() {
    let installation = Installation::new();
    let dataset = copy_as(&small(), "2026-11-20.1");
    let startups = dataset.path().join("startups.csv");
    let text = fs::read_to_string(&startups).unwrap();
    let named = text.replace("mossworks,Mossworks,", "mossworks,=HYPERLINK(1),");
    assert_ne!(named, text);
    fs::write(&startups, named).unwrap();
    let folder = folder(&build(&installation, dataset.path(), &["--bulk"]));
    let csv = read(&folder.join("startups.csv.gz"));
    assert!(csv.contains(",'=HYPERLINK(1),") && !csv.contains(",=HYPERLINK"), "{csv}");
    assert!(read(&folder.join("startups.ndjson.gz")).contains("\"=HYPERLINK(1)\""));
    let package: Value = serde_json::from_slice(&fs::read(folder.join("datapackage.json")).unwrap()).unwrap();
    let resources = package["resources"].as_array().unwrap();
    assert!(resources.iter().all(|resource| resource[formula::MARKED_FORMULAS] == true), "{package}");
}
