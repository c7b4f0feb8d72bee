//! Tables of datasets and files of sources in Parquet.

use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;

use crate::support::harness::bundled_folder;
use crate::support::installation::Installation;
use crate::support::parquet_files::{Kind, write};

/// Columns of datasets that are not text; dates of rounds may be months.
fn kind(column: &str) -> Kind {
    match column {
        "founded_year" | "check_min_usd" | "check_max_usd" | "aum_usd" | "amount_usd" | "rating" | "responsiveness"
        | "fairness" | "value_add" => Kind::Integer,
        "created_on" | "replied_on" | "disputed_on" | "author_since" => Kind::Date,
        "aliases" | "stages" | "sectors" | "lead_investors" | "investors" => Kind::List,
        _ => Kind::Text,
    }
}

fn read_csv(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut csv = csv::Reader::from_path(path).unwrap();
    let header = csv.headers().unwrap().iter().map(str::to_owned).collect();
    (header, csv.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect())
}

/// Copies the bundled dataset with its tables as Parquet, each in `parts` parts, or in one file.
fn copy(to: &Path, parts: Option<usize>) {
    for entry in fs::read_dir(bundled_folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|ending| ending != "csv") || name == "aliases" {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
            continue;
        }
        let (header, rows) = read_csv(&path);
        let columns: Vec<(&str, Kind)> = header.iter().map(|name| (name.as_str(), kind(name))).collect();
        let table = to.join(format!("{name}.parquet"));
        let Some(parts) = parts else {
            write(&table, &columns, &rows, 7);
            continue;
        };
        fs::create_dir(&table).unwrap();
        File::create(table.join("_SUCCESS")).unwrap();
        File::create(table.join(".part-00000.parquet.crc")).unwrap();
        for (index, rows) in rows.chunks(rows.len().div_ceil(parts)).enumerate() {
            // Columns are found by name: the second part has them in another order.
            let order: Vec<usize> =
                if index == 1 { (0..columns.len()).rev().collect() } else { (0..columns.len()).collect() };
            let columns: Vec<_> = order.iter().map(|column| columns[*column]).collect();
            let rows: Vec<Vec<String>> =
                rows.iter().map(|row| order.iter().map(|column| row[*column].clone()).collect()).collect();
            write(&table.join(format!("part-{index:05}.snappy.parquet")), &columns, &rows, 1_000);
        }
    }
}

fn build(installation: &Installation, dataset: &Path, index: &Path) -> Value {
    let words = ["build", "--json", "--dataset", dataset.to_str().unwrap(), "--index", index.to_str().unwrap()];
    serde_json::from_str(&installation.indexer(&words)).unwrap()
}

#[test]
fn tables_in_parquet_make_the_release_that_those_in_csv_make() {
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let mut releases = Vec::new();
    for (name, parts) in [("csv", None), ("file", None), ("parts", Some(3))] {
        let dataset = folder.path().join(name);
        fs::create_dir(&dataset).unwrap();
        let dataset = if name == "csv" {
            bundled_folder()
        } else {
            copy(&dataset, parts);
            assert!(!dataset.join("firms.csv").exists() && dataset.join("firms.parquet").exists());
            dataset
        };
        let index = folder.path().join(format!("{name}-index"));
        let built = build(&installation, &dataset, &index);
        let release = Path::new(built["place"].as_str().unwrap()).to_owned();
        releases.push(["tables.bin", "records.bin"].map(|file| fs::read(release.join(file)).unwrap()));
    }
    assert!(releases[0] == releases[1] && releases[0] == releases[2]);
}

/// The problems of a dataset with these tables, as `indexer check` lists them.
fn problems(installation: &Installation, dataset: &Path) -> Vec<String> {
    let words = ["check", "--dataset", dataset.to_str().unwrap(), "--json", "--verbose"];
    let output = installation.command(env!("CARGO_BIN_EXE_indexer")).args(words).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed = ["errors", "warnings"].map(|name| report[name].as_array().cloned().unwrap_or_default());
    let text = |problem: &Value| {
        let [file, column, message] = ["file", "column", "message"].map(|name| problem[name].as_str().unwrap_or(""));
        format!("{file}:{}:{column}: {message}", problem["line"])
    };
    listed.iter().flatten().map(text).collect()
}

#[test]
fn faults_of_parquet_name_the_part_the_row_and_the_column() {
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let dataset = folder.path();
    let rows = |rows: &[[&str; 4]]| rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect::<Vec<_>>();
    let columns =
        [("slug", Kind::Text), ("name", Kind::Text), ("founded_year", Kind::Integer), ("aliases", Kind::List)];
    let table = dataset.join("firms.parquet");
    fs::create_dir(&table).unwrap();
    let empty = problems(&installation, dataset);
    assert_eq!(empty, ["firms.parquet:null:: is a folder without parts: files that end in .parquet"]);
    let first = [["alder", "Alder Capital", "1999", "Alder|AC"], ["birch", "Birch Capital", "", ""]];
    let second = [["cedar", "Cedar Capital", "20011", ""], ["alder", "Other Capital", "2001", ""]];
    write(&table.join("part-0.parquet"), &columns, &rows(&first), 9);
    write(&table.join("part-1.parquet"), &columns, &rows(&second), 1);
    let expected = [
        "firms.parquet/part-1.parquet:1:founded_year: \"20011\" is not a year from 1 to 9999",
        "firms.parquet/part-1.parquet:2:slug: \"alder\" is already used in row 1 of firms.parquet/part-0.parquet",
    ];
    assert_eq!(problems(&installation, dataset), expected);

    // An unknown column, and one that is missing.
    let others = [("slug", Kind::Text), ("title", Kind::Text), ("founded_year", Kind::Integer), ("x", Kind::Text)];
    fs::remove_file(table.join("part-1.parquet")).unwrap();
    write(&table.join("part-0.parquet"), &others, &rows(&first), 9);
    let found = problems(&installation, dataset);
    assert!(found[0].starts_with("firms.parquet:null:: no column name; required: slug, name"), "{found:?}");
    assert!(found.contains(&"firms.parquet:null:: unknown column \"x\"".to_owned()), "{found:?}");

    // A damaged part, one that is no Parquet, and a table that is there twice.
    write(&table.join("part-0.parquet"), &columns, &rows(&first), 9);
    let mut bytes = fs::read(table.join("part-0.parquet")).unwrap();
    bytes[4..60].fill(0xff);
    fs::write(table.join("part-1.parquet"), bytes).unwrap();
    let found = problems(&installation, dataset);
    assert_eq!(found.len(), 1, "{found:?}");
    let damaged = "firms.parquet/part-1.parquet:1:slug: row group 0 cannot be read from row 1 on: ";
    assert!(found[0].starts_with(damaged), "{found:?}");
    fs::write(table.join("part-1.parquet"), "slug,name\n").unwrap();
    let found = problems(&installation, dataset);
    let no_parquet = "firms.parquet/part-1.parquet:null:: is not a Parquet file, or was not written to its end: ";
    assert!(found.len() == 1 && found[0].starts_with(no_parquet), "{found:?}");
    fs::remove_file(table.join("part-1.parquet")).unwrap();
    fs::create_dir(table.join("country=DE")).unwrap();
    let found = problems(&installation, dataset);
    let partitions =
        "firms.parquet:null:: has a folder country=DE, and partitions are not read; write the table without them";
    assert_eq!(found, [partitions]);
    fs::remove_dir(table.join("country=DE")).unwrap();
    fs::write(dataset.join("firms.csv"), "slug,name\nalder,Alder\n").unwrap();
    let twice = "firms.parquet:null:: the dataset has this table as firms.csv, too; remove one of them";
    assert_eq!(problems(&installation, dataset), [twice]);
    fs::remove_file(dataset.join("firms.csv")).unwrap();
    assert_eq!(problems(&installation, dataset), [""; 0]);
    write(&dataset.join("company.parquet"), &columns, &rows(&first), 9);
    assert_eq!(problems(&installation, dataset), ["company.parquet:null:: is no file of a dataset, and not read"]);
}

#[test]
fn a_source_in_parquet_is_imported_as_the_same_rows_in_csv() {
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let header = ["Investor", "Country", "Founded", "Sectors", "Website"];
    let rows: Vec<Vec<String>> = (0..40)
        .map(|number| {
            let name = ["Alder", "Birch", "Cedar", "Dorn"][number % 4];
            let row = [
                format!("{name} Capital {number}"),
                ["Germany", "France"][number % 2].to_owned(),
                (1990 + number).to_string(),
                if number % 3 == 0 { String::new() } else { "Fintech|Climate".to_owned() },
                format!("https://{}{number}.example", name.to_lowercase()),
            ];
            row.to_vec()
        })
        .collect();
    let mut datasets = Vec::new();
    for ending in ["csv", "parquet"] {
        let file = folder.path().join(format!("investors.{ending}"));
        if ending == "csv" {
            let mut out = csv::Writer::from_path(&file).unwrap();
            out.write_record(header).unwrap();
            rows.iter().for_each(|row| out.write_record(row).unwrap());
            out.flush().unwrap();
        } else {
            let kinds = [Kind::Text, Kind::Text, Kind::Integer, Kind::List, Kind::Text];
            let columns: Vec<(&str, Kind)> = header.into_iter().zip(kinds).collect();
            write(&file, &columns, &rows, 16);
        }
        let file = file.to_str().unwrap();
        let mapping = installation.indexer(&["import", "--guess", file]);
        let place = folder.path().join(format!("{ending}.toml"));
        fs::write(&place, mapping).unwrap();
        let dataset = folder.path().join(ending);
        let words = ["import", "--mapping", place.to_str().unwrap(), file, "--dataset", dataset.to_str().unwrap()];
        installation.indexer(&words);
        datasets.push(fs::read_to_string(dataset.join("firms.csv")).unwrap());
    }
    assert!(datasets[0].lines().count() == 41, "{}", datasets[0]);
    assert_eq!(datasets[0], datasets[1]);
}

#[test]
fn our_own_tables_in_parquet_are_imported_as_those_in_csv() {
    let (installation, folder) = (Installation::new(), tempfile::tempdir().unwrap());
    let words = ["build", "--json", "--bulk", "--dataset", bundled_folder().to_str().unwrap()].map(str::to_owned);
    let built: Value = serde_json::from_str(&installation.indexer(&words.each_ref().map(String::as_str))).unwrap();
    let bulk = Path::new(built["place"].as_str().unwrap()).join("bulk");
    let mut imported = Vec::new();
    for ending in ["csv.gz", "parquet"] {
        let dataset = folder.path().join(ending);
        let files = ["vcs", "startups", "funding-rounds", "people", "sectors"]
            .map(|table| bulk.join(format!("{table}.{ending}")));
        let mut words = vec!["import", "venturedex"];
        words.extend(files.iter().map(|file| file.to_str().unwrap()));
        words.extend(["--dataset", dataset.to_str().unwrap()]);
        installation.indexer(&words);
        let tables = ["firms", "startups", "funding_rounds", "people", "sectors"];
        imported.push(tables.map(|table| fs::read_to_string(dataset.join(format!("{table}.csv"))).unwrap()));
    }
    for (csv, parquet) in imported[0].iter().zip(&imported[1]) {
        assert!(csv.lines().count() > 5, "{csv}");
        assert_eq!(csv, parquet);
    }
}
