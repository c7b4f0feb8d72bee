//! Data extension: properties of records, and their values for a list of ids.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::PageRequest;
use catalog::look_up::row_of_id;
use catalog::{Catalog, Item, Resource};
use data::Table;
use data::field::JsonType;
use view::format;

use super::{MAX_BATCH, Refusal, kind, parameter, too_many};

/// Offered fields with objects as values: lists of records or identifiers, and a person's organization.
const OF_OBJECTS: [&str; 3] = ["organization", "investors", "identifiers"];

/// The properties of a table: fields of texts, numbers, records or identifiers.
fn properties(table: Table) -> impl Iterator<Item = &'static str> {
    let is_plain = |json: &JsonType| !matches!(json.item(), JsonType::Object(_) | JsonType::Map(_) | JsonType::Record);
    let fields = table.fields().iter();
    fields.filter(move |field| is_plain(&field.json) || OF_OBJECTS.contains(&field.name)).map(|field| field.name)
}

/// A name in words: `founded_year` → `Founded year`.
pub(super) fn label(name: &str) -> String {
    format::capitalized(&name.replace('_', " "))
}

fn property(name: &str) -> Value {
    json!({ "id": name, "name": label(name) })
}

pub(super) fn proposals(kind: &str) -> Result<Value, Refusal> {
    let tables = Item::tables_of(kind).map_err(|error| Refusal::Invalid(error.detail))?;
    let properties: Vec<Value> = property_names(&tables).into_iter().map(property).collect();
    Ok(json!({ "limit": properties.len(), "type": kind, "properties": properties }))
}

pub(super) fn suggest_properties(request: PageRequest<'_>) -> Value {
    let prefix = parameter(request, "prefix").to_lowercase();
    let is_meant = |name: &&'static str| label(name).to_lowercase().starts_with(&prefix);
    let found = property_names(&Item::TABLES).into_iter().filter(is_meant);
    json!({ "result": found.map(property).collect::<Vec<_>>() })
}

fn property_names(tables: &[Table]) -> Vec<&'static str> {
    let mut seen = HashSet::new();
    tables.iter().flat_map(|table| properties(*table)).filter(|name| seen.insert(*name)).collect()
}

pub(super) struct Extension {
    pub ids: Vec<String>,
    properties: Vec<String>,
}

impl Extension {
    pub(super) fn parse(object: &Map<String, Value>) -> Result<Self, Refusal> {
        let list = |name: &str| object.get(name).and_then(Value::as_array);
        let (Some(ids), Some(properties)) = (list("ids"), list("properties")) else {
            let example = "{\"ids\": [\"vcs/alder-capital\"], \"properties\": [{\"id\": \"city\"}]}";
            return Err(Refusal::Invalid(format!("`extend` has no lists `ids` and `properties`, as in `{example}`")));
        };
        if ids.len() > MAX_BATCH {
            return Err(too_many("ids", ids.len()));
        }
        let known = property_names(&Item::TABLES);
        let mut names: Vec<String> = Vec::new();
        for property in properties {
            let name = property["id"].as_str().or_else(|| property.as_str()).unwrap_or_default();
            if !known.contains(&name) {
                let detail = format!("unknown property `{name}`; accepted are {}", known.join(", "));
                return Err(Refusal::Invalid(detail));
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let ids = ids.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { ids, properties: names })
    }

    pub(super) fn values(&self, catalog: &Catalog, id: &str) -> Value {
        let record = row_of_id(catalog, id);
        let of_record = |name: &String| {
            let values = record.map(|(table, row)| values(catalog, table, row, name)).unwrap_or_default();
            (name.clone(), Value::Array(values))
        };
        Value::Object(self.properties.iter().map(of_record).collect())
    }

    /// The response; `rows` has the values of all records by id.
    pub(super) fn answer(&self, rows: Map<String, Value>) -> Value {
        let mut meta: Vec<Value> = self.properties.iter().map(|name| property(name)).collect();
        if let Some(investors) = self.properties.iter().position(|name| name == "investors") {
            meta[investors]["type"] = kind(Table::Firms.noun());
        }
        json!({ "meta": meta, "rows": rows })
    }
}

/// The values of a record's property; empty if unknown, or if the table has no such property.
pub(super) fn values(catalog: &Catalog, table: Table, row: u32, name: &str) -> Vec<Value> {
    if !properties(table).any(|known| known == name) {
        return Vec::new();
    }
    let record = catalog.snapshot().record(table, row);
    match record.parse(table.field_index(name)).expect("a stored field is JSON") {
        Value::Array(values) => values.iter().filter_map(value).collect(),
        single => value(&single).into_iter().collect(),
    }
}

fn value(value: &Value) -> Option<Value> {
    let text = |name: &str| value[name].as_str();
    Some(match value {
        Value::String(date) if is_day(date) => json!({ "date": format!("{date}T00:00:00Z") }),
        Value::String(text) => json!({ "str": text }),
        Value::Number(number) if number.is_f64() => json!({ "float": number }),
        Value::Number(number) => json!({ "int": number }),
        Value::Bool(flag) => json!({ "str": flag.to_string() }),
        Value::Object(_) => match (text("slug"), text("name"), text("scheme"), text("value")) {
            (Some(slug), Some(name), ..) => {
                let resource = if text("kind") == Some("startup") { Resource::Startups } else { Resource::Firms };
                json!({ "id": format!("{}/{slug}", resource.path()), "name": name })
            }
            (_, _, Some(scheme), Some(value)) => json!({ "str": format!("{scheme}:{value}") }),
            _ => return None,
        },
        Value::Null | Value::Array(_) => return None,
    })
}

/// True for `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

pub(super) fn plain(value: &Value) -> Option<String> {
    let (_, shown) = value.as_object()?.iter().find(|(name, _)| *name != "id")?;
    Some(shown.as_str().map_or_else(|| shown.to_string(), str::to_owned))
}
