//! Describes the bulk files of a release, also as a Data Package (Frictionless, version 2).

use serde_json::{Value, json};

use crate::bulk::{BulkFormat, table_name};
use crate::checksum::Checksum;
use catalog::flat::{ColumnType, FlatColumn, PRECISIONS, table_columns};
use data::formula::MARKED_FORMULAS;
use data::vocabulary::values_of;
use data::{Snapshot, Table};

/// The bulk files of a snapshot, for all descriptions. Paths are relative to their folder, without a server address.
pub(super) struct Package<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) files: Vec<TableFile>,
}

pub(super) struct TableFile {
    pub(super) table: Table,
    pub(super) format: BulkFormat,
    pub(super) bytes: u64,
    pub(super) sha256: Checksum,
}

impl TableFile {
    pub(super) fn path(&self) -> String {
        self.format.file_name(self.table)
    }
}

/// The address of a license that may be an SPDX identifier with a version, such as `CC-BY-4.0`; `None` for other texts.
pub(super) fn license_url(license: &str) -> Option<String> {
    let is_plain = license.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.+".contains(&byte));
    let is_spdx = is_plain && license.contains('-') && !license.starts_with("LicenseRef-");
    is_spdx.then(|| format!("https://spdx.org/licenses/{license}.html"))
}

/// Columns of a table that are keys of another table.
pub(super) fn foreign_keys(table: Table) -> &'static [(&'static str, Table)] {
    match table {
        Table::Rounds => &[("startup_slug", Table::Startups)],
        Table::Reviews => &[("vc_slug", Table::Firms)],
        Table::Sectors => &[("parent", Table::Sectors)],
        // The organization of a person is a firm or a startup, so it has no single target.
        Table::Firms | Table::Startups | Table::People => &[],
    }
}

pub(super) fn table_description(table: Table) -> String {
    table.model().doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

impl Package<'_> {
    /// `datapackage.json`: the tables as CSV, which every data package program reads.
    pub(super) fn data_package(&self) -> Vec<u8> {
        let snapshot = self.snapshot;
        let sources = snapshot.sources().iter().map(|source| {
            let title = source.title.as_deref().unwrap_or(&source.id);
            let mut json = json!({ "title": title, "license": source.license });
            if let Some(url) = &source.url {
                json["path"] = url.as_str().into();
            }
            json
        });
        let sources: Vec<Value> = match snapshot.sources() {
            [] => vec![json!({ "title": snapshot.source() })],
            _ => sources.collect(),
        };
        let license = match license_url(snapshot.license()) {
            Some(url) => json!({ "name": snapshot.license(), "path": url }),
            None => json!({ "name": "LicenseRef-venturedex", "title": snapshot.license() }),
        };
        let tables = self.files.iter().filter(|file| file.format == BulkFormat::CsvGzip);
        pretty(&json!({
            "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
            "name": "venturedex",
            "title": snapshot.title(),
            "description": snapshot.source(),
            "version": snapshot.version().to_string(),
            "created": format!("{}T00:00:00Z", snapshot.released_on()),
            "licenses": [license],
            "sources": sources,
            "resources": tables.map(|file| self.resource(file)).collect::<Vec<_>>(),
        }))
    }

    fn resource(&self, file: &TableFile) -> Value {
        json!({
            "name": table_name(file.table),
            "path": file.path(),
            "description": table_description(file.table),
            "type": "table",
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "utf-8",
            MARKED_FORMULAS: true,
            "compression": "gz",
            "bytes": file.bytes,
            "hash": format!("sha256:{}", file.sha256),
            "rowCount": self.snapshot.published(file.table).count(),
            "schema": table_schema(file.table),
        })
    }
}

fn table_schema(table: Table) -> Value {
    let fields: Vec<Value> = table_columns(table).iter().map(|column| field(column, table)).collect();
    let mut schema = json!({ "fields": fields, "primaryKey": [table.key()] });
    let keys: Vec<Value> = foreign_keys(table)
        .iter()
        .map(|(column, other)| {
            // An empty name refers to the table itself.
            let resource = if *other == table { "" } else { table_name(*other) };
            json!({ "fields": [column], "reference": { "resource": resource, "fields": [other.key()] } })
        })
        .collect();
    if !keys.is_empty() {
        schema["foreignKeys"] = keys.into();
    }
    schema
}

fn field(column: &FlatColumn, table: Table) -> Value {
    let kind = match column.kind {
        ColumnType::Text | ColumnType::Precision => "string",
        ColumnType::Integer => "integer",
        ColumnType::Number => "number",
        ColumnType::Boolean => "boolean",
        ColumnType::Date => "date",
        ColumnType::Texts => "list",
        ColumnType::Json => "array",
    };
    let mut json = json!({ "name": column.name, "type": kind, "description": column.description });
    if kind == "list" {
        json["delimiter"] = ";".into();
        json["itemType"] = "string".into();
    }
    let mut constrain = |name: &str, value: Value| json["constraints"][name] = value;
    // An empty list is an empty CSV cell.
    if !column.is_nullable && column.kind != ColumnType::Texts {
        constrain("required", true.into());
    }
    if column.name == table.key() {
        constrain("unique", true.into());
    }
    let field = column.field;
    match column.kind {
        ColumnType::Text => {
            let values = field.vocabulary.map(|name| values_of(name).expect("records have known vocabularies"));
            values.into_iter().for_each(|values| constrain("enum", values.into()));
            field.pattern.into_iter().for_each(|pattern| constrain("pattern", pattern.into()));
        }
        ColumnType::Precision => constrain("enum", PRECISIONS.into()),
        ColumnType::Integer | ColumnType::Number => {
            field.min.into_iter().for_each(|min| constrain("minimum", min.into()));
            field.max.into_iter().for_each(|max| constrain("maximum", max.into()));
        }
        ColumnType::Boolean | ColumnType::Date | ColumnType::Texts | ColumnType::Json => {}
    }
    json
}

pub(super) fn pretty(json: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(json).expect("JSON has a text");
    text.push(b'\n');
    text
}
