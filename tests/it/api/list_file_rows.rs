//! Lists as CSV and NDJSON files have the rows of the JSON list, in its order and with its values: every list, each of its
//! filters and orders, on bundled and real data.

use std::collections::BTreeMap;

use api::openapi::example_of;
use api::{Route, Version, options};
use auth::quota::Tier;
use catalog::{Catalog, Resource};
use data::Table;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::harness::{Client, Reply, Server, cases, code, real_catalog};

const NDJSON: [(&str, &str); 1] = [("accept", "application/x-ndjson")];

/// A page of a JSON list, its records as they are written.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    pagination: Value,
}

/// The first records of a list, page by page; the status and the error code if there is none.
fn walk(client: &Client, path: &str, most: usize) -> Result<Vec<String>, (u16, String)> {
    let mut records = Vec::new();
    let mut reply = client.get(path);
    loop {
        if reply.status != 200 {
            return Err(code(&reply));
        }
        let page: Page<'_> = serde_json::from_str(&reply.text).unwrap();
        records.extend(page.data.iter().map(|record| record.get().to_owned()));
        records.truncate(most);
        let cursor = page.pagination["next_cursor"].as_str().filter(|_| records.len() < most);
        let Some(cursor) = cursor else { return Ok(records) };
        let (list, _) = path.split_once('?').unwrap_or((path, ""));
        reply = client.get(&format!("{list}?cursor={cursor}"));
    }
}

fn lines(reply: &Reply) -> Result<Vec<String>, (u16, String)> {
    match reply.status {
        200 => Ok(reply.text.lines().map(str::to_owned).collect()),
        _ => Err(code(reply)),
    }
}

/// The lists of v3 with their paths; those of a firm for an example and for the first firm.
fn lists(catalog: &Catalog) -> Vec<(&'static Route, String)> {
    let firms = [catalog.example_slug(Table::Firms), catalog.snapshot().slug(Table::Firms, 0).to_owned()];
    let lists = Route::all(Version::V3).filter(|route| route.list().is_some());
    let mut paths: Vec<_> =
        lists.flat_map(|route| firms.iter().map(move |firm| (route, route.path_of(firm)))).collect();
    paths.dedup_by(|one, other| one.1 == other.1);
    paths
}

/// Queries of a list: nothing, then each filter with its example next to each order, until all were used.
fn queries(route: &Route, catalog: &Catalog) -> Vec<String> {
    let resource = route.list().expect("only lists have files");
    let names = route.parameters(Version::V3);
    // Of `match`, every request names the startup that the firms fit.
    let always = if resource == Resource::Match { "stage=seed" } else { "" };
    let window = options::names(Version::V3, route);
    let filters = names.iter().filter(|name| !window.contains(name) && **name != "sort" && !always.starts_with(**name));
    let filters: Vec<(&str, String)> =
        filters.filter_map(|name| Some((*name, example_of(route, name, catalog)?))).collect();
    let keys = if names.contains(&"sort") { resource.table().sort_keys() } else { &[] };
    let orders: Vec<String> = keys.iter().flat_map(|key| [(*key).to_owned(), format!("-{key}")]).collect();
    let fields = ["", "*", resource.table().key()];
    let query = |index: usize| {
        let filter = filters.get(index % filters.len().max(1)).map(|(name, value)| (*name, value.as_str()));
        let order = orders.get(index % orders.len().max(1)).map(|order| ("sort", order.as_str()));
        let fields = Some(("fields", fields[index % fields.len()])).filter(|(_, fields)| !fields.is_empty());
        let mut query = form_urlencoded::Serializer::new(always.to_owned());
        query.extend_pairs(filter.into_iter().chain(order).chain(fields)).finish()
    };
    std::iter::once(always.to_owned()).chain((0..filters.len().max(orders.len())).map(query)).collect()
}

/// Compares the files of every list with the list, up to so many rows.
fn compare(server: &Server, most: usize) -> usize {
    let client = server.client(Tier::Enterprise);
    let catalog = server.state.releases.current();
    let (mut compared, mut rejected, mut asked) = (0, Vec::new(), 0);
    for (route, path) in lists(&catalog) {
        for (index, query) in queries(route, &catalog).into_iter().enumerate() {
            let what = format!("{path}?{query}");
            let expected = walk(&client, &format!("/api/v3/{path}?limit={}&{query}", [1000, 100][index % 2]), most);
            let by_path = client.get(&format!("/api/v3/{path}.ndjson?limit={most}&{query}"));
            let by_header = client.send("GET", &format!("/v3/{path}?limit={most}&{query}"), &NDJSON);
            assert_eq!(lines(&by_path), expected, "{what}");
            assert_eq!(lines(&by_header), expected, "{what}");
            asked += 1;
            let Ok(expected) = expected else {
                rejected.push(what);
                continue;
            };
            compared += expected.len();
            for reply in [&by_path, &by_header] {
                assert_eq!(reply.header("content-type"), "application/x-ndjson");
                assert!(reply.text.is_empty() || reply.text.ends_with('\n'));
                let cost = expected.len().div_ceil(1_000).max(1);
                assert_eq!(reply.header("x-request-cost"), cost.to_string());
                assert_eq!(reply.header("x-snapshot"), catalog.version().to_string());
            }
            let table = client.get(&format!("/api/v3/{path}.csv?limit={most}&{query}"));
            assert_eq!((table.status, table.header("content-type")), (200, "text/csv; charset=utf-8; header=present"));
            assert_same_rows(&table.text, &expected, &what);
        }
    }
    assert!(rejected.len() * 20 < asked, "{rejected:?}");
    compared
}

#[test]
fn a_file_has_the_records_of_the_list_line_by_line() {
    let most = cases(10_000, 60) as usize;
    assert!(compare(&Server::bundled(), most) > 2 * most);
}

#[test]
fn a_file_has_the_records_of_the_list_line_by_line_in_real_data() {
    let Some(catalog) = real_catalog() else { return };
    let most = cases(1_500, 60) as usize;
    assert!(compare(&Server::of(catalog), most) > cases(50_000, 1_800) as usize);
}

/// Compares every cell of CSV with what the records say.
fn assert_same_rows(table: &str, records: &[String], what: &str) {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let columns: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), records.len(), "{what}");
    for (row, record) in rows.iter().zip(records) {
        let record: Value = serde_json::from_str(record).unwrap();
        let mut expected = BTreeMap::new();
        flatten(&record, "", &columns, &mut expected);
        let cells: BTreeMap<String, Value> = columns
            .iter()
            .zip(row)
            .map(|(column, cell)| {
                let is_json = expected.get(column).is_some_and(|value| value.is_array() || value.is_object());
                // A list of texts without any is an empty cell, one of objects is `[]`.
                let is_empty = cell.is_empty() && expected.get(column).is_some_and(|value| *value == json!([]));
                let value = match is_json {
                    true if is_empty => json!([]),
                    true => serde_json::from_str(cell).unwrap(),
                    false => Value::from(cell),
                };
                (column.clone(), value)
            })
            .collect();
        assert_eq!(cells, expected, "{what}");
    }
}

/// The cells of a value by column, by the rules of the documentation: fields of objects are columns of their own, a list of
/// texts is joined by `;`, a date that is not exact is its first day next to its precision, other lists are JSON.
fn flatten(value: &Value, column: &str, columns: &[String], cells: &mut BTreeMap<String, Value>) {
    let below = |name: &str| if column.is_empty() { name.to_owned() } else { format!("{column}_{name}") };
    let is_column = columns.iter().any(|known| known == column);
    let precision = below("precision");
    match value {
        Value::Object(fields) if !is_column => {
            fields.iter().for_each(|(name, value)| flatten(value, &below(name), columns, cells));
        }
        // The columns of an object that is not known.
        Value::Null if !is_column => {
            let unknown = columns.iter().filter(|known| known.starts_with(&below("")));
            cells.extend(unknown.map(|known| (known.clone(), Value::from(""))));
        }
        Value::Null => {
            cells.insert(column.to_owned(), Value::from(""));
            cells.extend(columns.contains(&precision).then(|| (precision, Value::from(""))));
        }
        Value::String(text) if columns.contains(&precision) => {
            let exact = match text.len() {
                4 => "year",
                7 => "month",
                _ => "day",
            };
            cells.insert(precision, Value::from(exact));
            cells.insert(column.to_owned(), Value::from(format!("{text}{}", &"-01-01"[text.len() - 4..])));
        }
        Value::String(text) => drop(cells.insert(column.to_owned(), Value::from(neutral(text.clone())))),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
            let items = items.iter().filter_map(Value::as_str).map(|text| match text {
                "" => "\"\"".to_owned(),
                text if text.contains([';', '"', '\r', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
                text => text.to_owned(),
            });
            cells.insert(column.to_owned(), Value::from(neutral(items.collect::<Vec<_>>().join(";"))));
        }
        Value::Array(_) | Value::Object(_) => drop(cells.insert(column.to_owned(), value.clone())),
        Value::Bool(_) | Value::Number(_) => drop(cells.insert(column.to_owned(), Value::from(value.to_string()))),
    }
}

/// A text that a spreadsheet would take for a formula gets a leading `'`.
fn neutral(text: String) -> String {
    let starts = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.trim_start_matches('\'').starts_with(starts) { format!("'{text}") } else { text }
}
