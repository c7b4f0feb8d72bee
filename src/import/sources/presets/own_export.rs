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

/// Endings of bulk files that the import does not read.
const NOT_READ: [&str; 2] = [".parquet", ".zst"];

/// Name of the table with these columns; `None` if it is not one of our exports.
pub(crate) fn table_of(headers: &[String]) -> Option<&'static str> {
    let headers: BTreeSet<String> = headers.iter().map(|header| column_name(header)).collect();
    let has = |column: &&str| headers.contains(*column) || headers.contains(&column.replace('.', "_"));
    TABLES.iter().find(|(_, columns, _)| columns.iter().all(|column| has(&column))).map(|(table, ..)| *table)
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
        if let Some(ending) = NOT_READ.iter().find(|ending| member.path.to_lowercase().ends_with(**ending)) {
            problems
                .push(format!("{}: {ending} is not read; take the .csv.gz or .ndjson.gz of the table", member.name));
            continue;
        }
        if member.ending().is_empty() {
            continue;
        }
        let sample = Sample::read(member)?;
        let Some(table) = table_of(&sample.headers) else { continue };
        let others = found.iter().filter(|(known, other)| *known == table && is_json(other) != is_json(member));
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

fn is_json(member: &Member) -> bool {
    ["json", "jsonl", "ndjson"].contains(&member.ending())
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
    if is_json(member) {
        for path in NESTED {
            let column = path.replace('.', "_");
            text = text.replace(&quote(&column), &quote(path));
            text = text.replace(&format!("{{ {column} = "), &format!("{{ {} = ", quote(path)));
        }
        text = text.replace("list(;)", "split(|)").replace("marked_formulas = true\n", "");
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
        let format = InputFormat { has_marked_formulas: !is_json(member), ..format.clone() };
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
