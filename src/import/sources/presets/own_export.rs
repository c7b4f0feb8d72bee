//! The mapping of our own exports: lists of the API and bulk files, as they are or corrected in a spreadsheet.
//!
//! The tables are recognized by their columns, whatever the files are called. The mapping has an input for each file.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::sources::guess::quote;
use crate::sources::guess::sample::Sample;
use crate::sources::input::{self, InputFormat, InputRow, Member, RowReceiver, column_name};
use crate::sources::{Result, SourceError};
use data::{NoProgress, identifier};

/// The mapping of all tables as CSV, with this line for the identifiers of a record.
const TEMPLATE: &str = include_str!("venturedex.toml");
const IDENTIFIERS: &str = "# identifiers";

/// Names of the tables in `TEMPLATE`, columns that only they have, and the tables that they refer to. A column of an object in
/// JSON is written with `.`, which is `_` in CSV.
const TABLES: [(&str, &[&str], &[&str]); 6] = [
    ("vcs", &["slug", "name", "health_score", "portfolio_count"], &[]),
    ("startups", &["slug", "name", "round_count", "total_raised_usd", "last_round_on"], &[]),
    ("funding-rounds", &["id", "startup.slug", "stage", "announced_on", "suspect"], &["vcs", "startups"]),
    ("people", &["slug", "name", "organization.kind", "organization.slug"], &["vcs", "startups"]),
    ("reviews", &["id", "vc.slug", "rating", "value_add", "created_on"], &["vcs"]),
    ("sectors", &["slug", "name", "vc_count", "startup_count"], &[]),
];

/// Columns of objects that the template names.
const NESTED: [&str; 4] = ["startup.slug", "vc.slug", "organization.kind", "organization.slug"];

/// Ending of bulk files that the import does not read.
const NOT_READ: &str = ".zst";

/// Name of the table with these columns; `None` if it is not one of our exports.
pub(crate) fn table_of(headers: &[String]) -> Option<&'static str> {
    let headers: BTreeSet<String> = headers.iter().map(|header| column_name(header)).collect();
    let has = |column: &&str| headers.contains(*column) || headers.contains(&column.replace('.', "_"));
    TABLES.iter().find(|(_, columns, _)| columns.iter().all(&has)).map(|(table, ..)| *table)
}

/// The mapping of all tables under their own names.
pub(crate) fn template() -> String {
    expand(TEMPLATE, &BTreeSet::new())
}

/// The mapping of the tables among these files.
pub(super) fn mapping(members: &[Member]) -> Result<String> {
    if members.is_empty() {
        return Ok(template());
    }
    let mut problems = Vec::new();
    let mut found: Vec<(&str, &Member)> = Vec::new();
    let head = TEMPLATE.split("\n[input.").next().unwrap_or_default();
    let mut text = head.to_owned();
    for member in members {
        if member.path.to_lowercase().ends_with(NOT_READ) {
            problems
                .push(format!("{}: {NOT_READ} is not read; take the .csv.gz or .ndjson.gz of the table", member.name));
            continue;
        }
        if member.ending().is_empty() {
            continue;
        }
        let sample = Sample::read(member)?;
        let Some(table) = table_of(&sample.headers) else { continue };
        let others = found.iter().filter(|(known, other)| *known == table && form(other) != form(member));
        problems.extend(others.map(|(_, other)| {
            format!("{} and {} have the same table; give the one that counts", other.name, member.name)
        }));
        text.push_str(&section(&format!("{table}-{}", found.len() + 1), table, member, &sample)?);
        found.push((table, member));
    }
    let has = |table: &str| found.iter().any(|(known, _)| *known == table);
    for (table, _, references) in TABLES.iter().filter(|(table, ..)| has(table)) {
        let missing: Vec<&str> = references.iter().copied().filter(|other| !has(other)).collect();
        if !missing.is_empty() {
            let missing = missing.join(" and ");
            problems.push(format!("{table} refer to {missing}; give {missing} of the same release, too"));
        }
    }
    if found.is_empty() && problems.is_empty() {
        let names: Vec<&str> = TABLES.iter().map(|(table, ..)| *table).collect();
        problems.push(format!(
            "no file has the columns of an export ({}); other files need a mapping: `indexer import --guess FILE`",
            names.join(", ")
        ));
    }
    if problems.is_empty() { Ok(text) } else { Err(SourceError::Problems(problems)) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportForm {
    /// Lists of texts are rows of CSV within a cell, and texts like formulas are marked.
    Csv,
    /// Lists of texts are joined by `|`, objects are members.
    Json,
    /// Lists as in JSON, names as in CSV.
    Parquet,
}

fn form(member: &Member) -> ExportForm {
    match member.ending() {
        "json" | "jsonl" | "ndjson" => ExportForm::Json,
        "parquet" => ExportForm::Parquet,
        _ => ExportForm::Csv,
    }
}

/// The part of the template for a table, with the input `name` and the columns of the file.
pub(crate) fn section(name: &str, table: &str, member: &Member, sample: &Sample) -> Result<String> {
    let schemes = Schemes::read(member, &sample.format)?;
    let start = format!("\n[input.{table}]");
    let part = TEMPLATE.find(&start).and_then(|at| TEMPLATE.get(at + 1..)).unwrap_or_default();
    let part = part.find("\n[input.").map_or(part, |end| &part[..end]);
    let file = quote(&format!("**/{}", member.path.rsplit('/').next().unwrap_or_default()));
    let mut text = part
        .replace(&format!("[input.{table}]"), &format!("[input.{}]", quote(name)))
        .replace(&format!("from = \"{table}\""), &format!("from = {}", quote(name)))
        .replace("may_lack = true\n", "");
    if let Some(line) = text.lines().find(|line| line.starts_with("file = ")).map(str::to_owned) {
        let delimiter = sample.format.delimiter.map(|byte| quote(&char::from(byte).to_string()));
        let delimiter = delimiter.map_or_else(String::new, |delimiter| format!("\ndelimiter = {delimiter}"));
        text = text.replace(&line, &format!("file = {file}{delimiter}"));
    }
    if form(member) == ExportForm::Json {
        for path in NESTED {
            let column = path.replace('.', "_");
            text = text.replace(&quote(&column), &quote(path));
            text = text.replace(&format!("{{ {column} = "), &format!("{{ {} = ", quote(path)));
        }
    }
    if form(member) != ExportForm::Csv {
        text = text.replace("items(;)", "split(|)").replace("marked_formulas = true\n", "");
    }
    Ok(format!("\n{}\n", expand(text.trim_end(), &schemes.found)))
}

/// Writes a line for each scheme of identifiers: the known ones, and those of the file.
fn expand(text: &str, schemes: &BTreeSet<String>) -> String {
    let known = identifier::SCHEMES.iter().map(|scheme| scheme.name);
    let others = schemes.iter().map(String::as_str).filter(|scheme| identifier::scheme(scheme).is_none());
    let line = |scheme: &str| {
        let step = quote(&format!("json(value, scheme={scheme})"));
        format!("id.{} = {{ column = \"identifiers\", do = [{step}] }}", quote(scheme))
    };
    let lines: Vec<String> = known.chain(others).map(line).collect();
    text.replace(IDENTIFIERS, &lines.join("\n"))
}

/// The schemes in the column `identifiers` of a file.
#[derive(Default)]
struct Schemes {
    found: BTreeSet<String>,
}

impl Schemes {
    /// Number of schemes of a file; more are a mistake.
    const MAX: usize = 100;

    fn read(member: &Member, format: &InputFormat) -> Result<Self> {
        let mut schemes = Self::default();
        let format = InputFormat { has_marked_formulas: form(member) == ExportForm::Csv, ..format.clone() };
        input::read_rows(member, &format, &NoProgress, &mut schemes)?;
        Ok(schemes)
    }
}

impl RowReceiver for Schemes {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>> {
        Ok(vec![names.iter().position(|name| column_name(name) == "identifiers")])
    }

    fn row(&mut self, row: &InputRow) -> Result<()> {
        let Ok(list) = serde_json::from_str::<Vec<serde_json::Value>>(row.get(0)) else { return Ok(()) };
        for scheme in list.iter().filter_map(|item| item["scheme"].as_str()) {
            if self.found.len() < Self::MAX && !self.found.contains(scheme) {
                self.found.insert(scheme.to_owned());
            }
        }
        Ok(())
    }

    fn doubt(&mut self, _line: u64, _problem: String) {}

    fn wanted(&self) -> Vec<String> {
        vec!["identifiers".to_owned()]
    }
}

/// Text of a mapping that a preset is, or that is made for the files.
#[derive(Clone, Copy)]
pub(crate) enum PresetMapping {
    Text(&'static str),
    /// Made of the files.
    Made(fn(&[Member]) -> Result<String>),
}

impl PresetMapping {
    pub(crate) fn text(self, members: &[Member]) -> Result<Cow<'static, str>> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::Made(make) => make(members).map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::sources::import::Import;
    use crate::sources::presets::preset;
    use crate::sources::view::{self, Clusters, Detail};
    use crate::sources::{Source, Suppressed};

    const VCS: &str = "slug,name,kind,health_score,portfolio_count,stages,sectors,country,city,website,check_min_usd,aliases,\
                       description,aum_usd,identifiers\n\
        alder-hill,Alder Hill Ventures,vc,,2,seed;series-a,e-commerce,DE,Bremen,https://alder.example,250000,\
        \"\"\"Alder; Co\"\";AH\",\"'=Ports, \"\"ships\"\"\",120000000,\"[{\"\"scheme\"\":\"\"our-id\"\",\"\"value\"\":\"\"7\"\"}]\"\n\
        birch-2,Birch,corporate,,1,,,NA,,,,,,,[]\n";
    const STARTUPS: &str = "slug,name,status,stage,sectors,total_raised_usd,round_count,last_round_on\n\
                            elm,Elm,acquired,,e-commerce,1500000,1,2024-06-01\n";
    const ROUNDS: &str = "id,startup_slug,startup_name,stage,amount_usd,announced_on,announced_on_precision,lead_investors,\
                          investors,suspect\n\
        R/1,elm,Elm,seed,1500000,2024-06-01,month,,\"[{\"\"slug\"\":\"\"birch-2\"\",\"\"name\"\":\"\"Birch\"\"}]\",false\n";
    const SECTORS: &str = "slug,name,parent,description,vc_count,startup_count\ne-commerce,e-Shops,,Shops,1,1\n";
    const REVIEWS: &str = "id,vc_slug,vc_name,status,stage,rating,responsiveness,fairness,value_add,ghosted,title,body,\
                           created_on,created_on_precision,role,contact_month,contact_month_precision,proof,reply,replied_on,\
                           replied_on_precision\n\
        r1,birch-2,Birch,approved,seed,4,4,,3,FALSE,Good,Quick,2026-01-01,month,founder,2025-11-01,month,email,Thanks,\
        2026-02-03,day\n\
        r2,birch-2,Birch,pending,,,,,,,,,2026-02-01,month,,,,,,,\n";

    fn imported(files: &[(&str, &str)]) -> Result<std::collections::BTreeMap<String, String>> {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("in"), folder.path().join("sources"));
        fs::create_dir(&from).unwrap();
        files.iter().for_each(|(name, text)| fs::write(from.join(name), text).unwrap());
        let import = Import::preset(preset("venturedex").unwrap(), vec![from])?;
        import.run(&to, "2026-11-20".parse().unwrap(), &NoProgress)?;
        Ok(dataset(&to))
    }

    fn dataset(sources: &Path) -> std::collections::BTreeMap<String, String> {
        let (list, out) = (Source::list(sources).unwrap(), tempfile::tempdir().unwrap());
        let (clusters, suppressed) = (Clusters::default(), Suppressed::default());
        view::write(sources, &list, &clusters, &suppressed, out.path(), Detail::Tables, &NoProgress).unwrap();
        let paths: Vec<PathBuf> = fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
    }

    const EXPECTED: [(&str, &str); 5] = [
        (
            "firms.csv",
            "alder-hill,Alder Hill Ventures,AH|Alder; Co,vc,https://alder.example,\"=Ports, \"\"ships\"\"\",DE,Bremen,,\
             seed|series-a,e-commerce,250000,,120000000\nbirch-2,Birch,,corporate,,,NA,,,,,,,",
        ),
        ("startups.csv", "elm,Elm,,,,,,,,e-commerce,acquired"),
        ("funding_rounds.csv", "R/1,elm,seed,1500000,2024-06,,birch-2"),
        ("sectors.csv", "e-commerce,e-Shops,,Shops"),
        (
            "reviews.csv",
            "r1,birch-2,seed,4,4,,3,false,Good,Quick,approved,2026-01,founder,2025-11,email,,,Thanks,2026-02-03,,",
        ),
    ];

    #[test]
    fn an_export_that_was_saved_by_a_spreadsheet_becomes_what_it_was() {
        let files = [("a.csv", VCS), ("b.csv", STARTUPS), ("c.csv", ROUNDS), ("d.csv", SECTORS), ("e.csv", REVIEWS)];
        let marked: Vec<String> =
            files.iter().map(|(_, text)| format!("\u{feff}{}", text.replace('\n', "\r\n"))).collect();
        let marked: Vec<(&str, &str)> = files.iter().zip(&marked).map(|((name, _), text)| (*name, &**text)).collect();
        for files in [&files[..], &marked[..]] {
            let made = imported(files).unwrap();
            for (file, expected) in EXPECTED {
                let rows = made[file].split_once('\n').unwrap().1.trim_end();
                assert_eq!(rows, expected, "{file}");
            }
            assert_eq!(made["identifiers.csv"].lines().nth(1), Some("firm,alder-hill,our-id,7"));
        }
    }

    #[test]
    fn lines_of_json_are_the_same_table() {
        let vc = r#"{"slug":"alder","name":"Alder","health_score":null,"portfolio_count":1,"stages":["seed","series-a"],
            "aliases":["A; B","C"],"identifiers":[{"scheme":"lei","value":"529900T8BM49AURSDO55"}]}"#;
        let startup = r#"{"slug":"elm","name":"Elm","round_count":1,"total_raised_usd":null,"last_round_on":null}"#;
        let round = r#"{"id":"r1","startup":{"slug":"elm","name":"Elm"},"stage":"seed","announced_on":"2024-06",
            "lead_investors":[{"slug":"alder","name":"Alder"}],"investors":[{"slug":"alder","name":"Alder"}],"suspect":false}"#;
        let lines: Vec<String> = [vc, startup, round].iter().map(|text| text.replace('\n', "")).collect();
        let made = imported(&[("1.ndjson", &lines[0]), ("2.ndjson", &lines[1]), ("3.ndjson", &lines[2])]).unwrap();
        assert!(made["firms.csv"].contains("alder,Alder,A; B|C,,,,,,,seed|series-a"), "{}", made["firms.csv"]);
        assert!(
            made["funding_rounds.csv"].contains("r1,elm,seed,,2024-06,alder,alder"),
            "{}",
            made["funding_rounds.csv"]
        );
        assert!(made["identifiers.csv"].contains("firm,alder,lei,529900T8BM49AURSDO55"));
    }

    #[test]
    fn a_part_of_an_export_is_refused_with_what_it_lacks() {
        for (files, problem) in [
            (&[("c.csv", ROUNDS)][..], "funding-rounds refer to vcs and startups; give vcs and startups"),
            (&[("a.csv", "Name,City\nAlder,Bonn\n")], "no file has the columns of an export"),
            (&[("vcs.csv", VCS), ("vcs.ndjson.zst", "")], ".zst is not read; take the .csv.gz or .ndjson.gz"),
            (
                &[("vcs.csv", VCS), ("vcs.ndjson", "{\"slug\":1,\"name\":2,\"health_score\":3,\"portfolio_count\":4}")],
                "have the same table",
            ),
        ] {
            let error = imported(files).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
