//! A dataset as it was on a day: without the rounds from that day on, and without the labels of firms, which sources derive
//! from all of their rounds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use catalog::Catalog;
use data::{Date, PartialDate};
use tempfile::TempDir;

use crate::dataset;

type Row = HashMap<String, String>;

/// A round with what is known of its startup.
#[derive(Clone, Debug)]
pub struct Round {
    pub date: Option<PartialDate>,
    pub stage: String,
    pub amount_usd: Option<u64>,
    pub sectors: Vec<String>,
    pub country: String,
    pub city: String,
    /// Slugs of firms, leads included.
    pub investors: BTreeSet<String>,
}

/// The rounds of a dataset, from its files.
pub fn rounds(folder: &Path) -> Vec<Round> {
    let startups = rows(&folder.join("startups.csv"));
    let startups: HashMap<&str, &Row> = startups.iter().map(|row| (row["slug"].as_str(), row)).collect();
    let round = |row: &Row| {
        let startup = startups.get(row["startup"].as_str())?;
        let listed = |text: &str| -> Vec<String> {
            text.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        Some(Round {
            date: row["announced_on"].parse().ok(),
            stage: row["stage"].clone(),
            amount_usd: row["amount_usd"].parse().ok(),
            sectors: listed(&startup["sectors"]),
            country: startup["country"].clone(),
            city: startup["city"].clone(),
            investors: [&row["investors"], &row["lead_investors"]].into_iter().flat_map(|text| listed(text)).collect(),
        })
    };
    rows(&folder.join("funding_rounds.csv")).iter().filter_map(round).collect()
}

/// The parent of each sector that has one.
pub fn parents(folder: &Path) -> BTreeMap<String, String> {
    let rows = rows(&folder.join("sectors.csv")).into_iter();
    rows.map(|row| (row["slug"].clone(), row["parent"].clone())).filter(|(_, parent)| !parent.is_empty()).collect()
}

fn rows(file: &Path) -> Vec<Row> {
    csv::Reader::from_path(file).expect("a file of a dataset").deserialize().map(|row| row.expect("a row")).collect()
}

/// True if a date was before a day; an unknown one may not have been.
pub fn is_before(date: Option<PartialDate>, day: Date) -> bool {
    date.is_some_and(|date| date.last_day() < day)
}

/// The catalog of the dataset in a folder as it was on a day.
pub fn catalog_before(folder: &Path, day: Date) -> Catalog {
    let copy = TempDir::new().expect("a temporary folder");
    for file in std::fs::read_dir(folder).expect("a dataset") {
        let path = file.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let target = copy.path().join(&name);
        match name.as_str() {
            "funding_rounds.csv" => {
                rewrite(&path, &target, |row| is_before(row["announced_on"].parse().ok(), day).then_some(row))
            }
            "firms.csv" => rewrite(&path, &target, |mut row| {
                for label in ["stages", "sectors"] {
                    row.insert(label.to_owned(), String::new());
                }
                Some(row)
            }),
            // Statements on values that the copy does not have.
            "provenance.csv" | "DIRT.md" | "README.md" => {}
            _ => drop(std::fs::copy(&path, &target).expect("a copy")),
        }
    }
    dataset::catalog(copy.path())
}

fn rewrite(from: &Path, to: &Path, change: impl Fn(Row) -> Option<Row>) {
    let mut reader = csv::Reader::from_path(from).expect("a file of a dataset");
    let headers: Vec<String> = reader.headers().expect("headers").iter().map(str::to_owned).collect();
    let mut writer = csv::Writer::from_path(to).expect("a copy");
    writer.write_record(&headers).expect("a row is written");
    for row in reader.deserialize::<Row>() {
        if let Some(row) = change(row.expect("a row")) {
            writer.write_record(headers.iter().map(|header| &row[header])).expect("a row is written");
        }
    }
    writer.flush().expect("a copy is written");
}
