//! `sources.csv` and `provenance.csv`: the sources of a dataset, and their statements about its records.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::field::model;
use crate::import::csv_row::CsvRow;
use crate::import::csv_table::{CsvFolder, CsvTable, TableRow};
use crate::import::referable::{self, Referable};
use crate::{Date, RecordText, Table, identifier};

model! {
    /// A source of the data.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Source {
        /// The source's id.
        pub id: String,
        /// What it is.
        pub title: Option<String>,
        /// Its license: an SPDX identifier, or `LicenseRef-…`.
        pub license: String,
        /// Its address on the web.
        pub url: Option<String> [uri],
        /// Of sources that disagree, the one with the highest priority counts; `null` if none is given.
        pub priority: Option<u32>,
        /// When it was last read.
        pub imported_on: Option<Date>,
    }
}

impl TableRow for Source {
    const NOUN: &'static str = "source";
    const FILE: &'static str = "sources.csv";
    const HEADER: &'static str = "id,title,license,url,priority,imported_on";
    const REQUIRED: &'static str = "id,license";
}

/// A source's statement about a field of a record. It is stored as a JSON array of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SourceStatement {
    pub field: String,
    pub value: String,
    /// The value as written in the source, if that differs.
    pub original: Option<String>,
    pub source: u32,
    /// The record's key in the source.
    pub source_key: Option<String>,
    pub first_seen: Option<Date>,
    pub last_seen: Option<Date>,
}

impl TableRow for SourceStatement {
    const NOUN: &'static str = "statement";
    const FILE: &'static str = "provenance.csv";
    const HEADER: &'static str = "kind,slug,field,value,original,source,source_key,first_seen,last_seen";
    const REQUIRED: &'static str = "kind,slug,field,value,source";
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    pub sources: Vec<Source>,
    /// For each table with statements, by row.
    statements: HashMap<Table, RowTexts>,
}

/// A few texts for each of many rows of a table, in one piece of memory: there may be tens of millions of statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RowTexts {
    text: Vec<u8>,
    /// The row of each text, and the end of the text.
    ends: Vec<(u32, u64)>,
    /// The indexes of the texts, sorted by row.
    by_row: Vec<u32>,
}

impl RowTexts {
    fn add(&mut self, row: u32, statement: &SourceStatement) {
        statement.json(&mut self.text);
        self.ends.push((row, self.text.len() as u64));
    }

    fn sort(&mut self) {
        self.by_row = (0..self.ends.len() as u32).collect();
        self.by_row.sort_by_key(|index| (self.ends[*index as usize].0, *index));
    }

    fn of_row(&self, row: u32) -> impl Iterator<Item = &[u8]> {
        let start = self.by_row.partition_point(|index| self.ends[*index as usize].0 < row);
        let indexes = self.by_row[start..].iter().map(|index| *index as usize);
        indexes.take_while(move |index| self.ends[*index].0 == row).map(|index| {
            let begin = index.checked_sub(1).map_or(0, |before| self.ends[before].1);
            &self.text[begin as usize..self.ends[index].1 as usize]
        })
    }
}

impl Provenance {
    pub(crate) fn covers(&self, table: Table) -> bool {
        self.statements.contains_key(&table)
    }

    /// The statements about a row as the archive has them, each with a flag that is true if the record has the value.
    pub(crate) fn stored(&self, table: Table, row: u32, used: &mut impl Iterator<Item = bool>) -> Vec<u8> {
        let mut text = Vec::new();
        for statement in self.texts(table, row) {
            text.extend_from_slice(if text.is_empty() { b"[[" } else { b",[" });
            text.extend_from_slice(statement);
            text.extend_from_slice(if used.next() == Some(true) { b",true]" } else { b",false]" });
        }
        if !text.is_empty() {
            text.push(b']');
        }
        text
    }

    /// The statements about a row of the dataset, in the order of the file.
    pub(crate) fn statements(&self, table: Table, row: u32) -> Vec<SourceStatement> {
        self.texts(table, row).filter_map(|text| serde_json::from_slice(text).ok()).collect()
    }

    fn texts(&self, table: Table, row: u32) -> impl Iterator<Item = &[u8]> {
        self.statements.get(&table).into_iter().flat_map(move |texts| texts.of_row(row))
    }
}

pub(crate) fn read(files: &mut CsvFolder<'_>, records: &Referable<'_>) -> Provenance {
    let sources = files.read(Source::read);
    let mut statements: HashMap<Table, RowTexts> = HashMap::new();
    // Rows are kept as texts by table; the table of rows itself stays empty.
    files.read::<SourceStatement>(|row| {
        let (table, at, statement) = SourceStatement::read(row, records, &sources)?;
        statements.entry(table).or_default().add(at, &statement);
        None
    });
    statements.values_mut().for_each(RowTexts::sort);
    Provenance { sources: sources.rows, statements }
}

impl Source {
    fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        let id = row.slug("id");
        let (title, url) = (row.phrase("title"), row.website("url"));
        let (priority, imported_on) = (row.integer("priority"), row.day("imported_on"));
        let license = row.required("license", CsvRow::phrase)?;
        Some(Self { id, title, license, url, priority, imported_on })
    }
}

impl SourceStatement {
    /// True if the record has the value; a field may have several.
    pub(crate) fn is_used(&self, table: Table, record: &RecordText<'_>) -> bool {
        let (field, part) = match self.field.as_str() {
            "organization_kind" => ("organization", "kind"),
            field if field.starts_with(identifier::FIELD) => ("identifiers", "value"),
            field => (field, "slug"),
        };
        let Some(index) = table.fields().iter().position(|known| known.name == field) else { return false };
        let value = record.parse::<Value>(index).unwrap_or_default();
        let items = if let Value::Array(items) = &value { items.as_slice() } else { std::slice::from_ref(&value) };
        let scheme = self.field.strip_prefix(identifier::FIELD);
        items.iter().any(|item| match item {
            Value::String(text) => *text == self.value,
            Value::Number(number) => number.to_string() == self.value,
            Value::Object(parts) => {
                parts.get("scheme").is_none_or(|known| known.as_str() == scheme)
                    && parts.get(part).is_some_and(|value| *value == self.value)
            }
            _ => false,
        })
    }

    fn json(&self, out: &mut Vec<u8>) {
        let Self { field, value, original, source, source_key, first_seen, last_seen } = self;
        let fields = (field, value, original, source, source_key, first_seen, last_seen);
        serde_json::to_writer(out, &fields).expect("texts, numbers and dates have a JSON form");
    }

    /// Reads a statement and the record that it is about. Reports an invalid one, and returns `None`.
    fn read(row: &mut CsvRow<'_, '_>, known: &Referable<'_>, sources: &CsvTable<Source>) -> Option<(Table, u32, Self)> {
        let table = referable::kind(row, &referable::TABLES_WITH_ROUNDS);
        let source = sources.reference(row, "source");
        let (field, value) = (row.required("field", CsvRow::phrase), row.text("value"));
        let (original, source_key) = (row.text("original"), row.phrase("source_key"));
        let (first_seen, last_seen) = (row.day("first_seen"), row.day("last_seen"));
        let table = table?;
        let at = known.row(row, table, "slug")?;
        let value = value.unwrap_or_default();
        Some((table, at, Self { field: field?, value, original, source: source?, source_key, first_seen, last_seen }))
    }
}
