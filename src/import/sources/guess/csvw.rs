//! Metadata of CSV on the Web (CSVW, W3C) as a data package: tables with their columns, formats and dialect.

use serde_json::{Map, Value, json};

/// Ending of the files that describe a table or a group of tables.
pub(super) const ENDING: &str = "-metadata.json";

/// Describes the same tables as `datapackage.json` does.
pub(super) fn package(metadata: &Value) -> Value {
    let one = std::slice::from_ref(metadata);
    let tables = metadata["tables"].as_array().map_or(one, Vec::as_slice);
    let described = |key: &str| ["dc:", "dcterms:", "schema:", ""].map(|prefix| &metadata[format!("{prefix}{key}")]);
    let text = |key: &str| described(key).into_iter().find_map(natural).unwrap_or_default();
    json!({
        "name": "",
        "title": text("title"),
        "homepage": text("url"),
        "licenses": [{ "name": text("license") }],
        "resources": tables.iter().map(|table| resource(metadata, table)).collect::<Vec<_>>(),
    })
}

/// Text of a natural language property: one text, the first of a list, of one language, or of an object with an address.
fn natural(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => values.first().and_then(natural),
        Value::Object(members) => {
            let first = members.get("en").or_else(|| members.get("@id")).or_else(|| members.values().next());
            first.and_then(natural)
        }
        _ => None,
    }
}

fn resource(group: &Value, table: &Value) -> Value {
    // A property of a table takes the place of that of its group.
    let inherited = |key: &str| if table[key].is_null() { &group[key] } else { &table[key] };
    let (schema, dialect) = (inherited("tableSchema"), inherited("dialect"));
    let columns = schema["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = columns.iter().filter(|column| column["virtual"] != true).map(|column| field(column, schema));
    let mut resource = json!({
        "path": table["url"],
        "encoding": dialect["encoding"],
        "schema": { "fields": fields.collect::<Vec<_>>(), "primaryKey": keys(schema, columns) },
        "dialect": dialect.clone(),
    });
    if !dialect["commentPrefix"].is_null() {
        resource["dialect"]["commentChar"] = dialect["commentPrefix"].clone();
    }
    resource
}

/// Header of a column: its first title, otherwise its name.
fn header(column: &Value) -> String {
    natural(&column["titles"]).or_else(|| natural(&column["name"])).unwrap_or_default()
}

/// Headers of the primary key, which names columns by `name`.
fn keys(schema: &Value, columns: &[Value]) -> Vec<String> {
    let names = match &schema["primaryKey"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let column =
        |name: &str| columns.iter().find(|column| column["name"] == name).map_or_else(|| name.to_owned(), header);
    names.into_iter().map(column).collect()
}

fn field(column: &Value, schema: &Value) -> Value {
    let null = if column["null"].is_null() { &schema["null"] } else { &column["null"] };
    let mut field =
        Map::from_iter([("name".to_owned(), header(column).into()), ("missingValues".to_owned(), null.clone())]);
    let datatype = &column["datatype"];
    let base = datatype["base"].as_str().or(datatype.as_str()).unwrap_or_default();
    let format = &datatype["format"];
    if ["date", "datetime", "gYear", "gYearMonth"].contains(&base) {
        field.insert("type".to_owned(), "date".into());
        field.insert("format".to_owned(), format.as_str().map(strftime).into());
    }
    for member in ["decimalChar", "groupChar"] {
        field.insert(member.to_owned(), format[member].clone());
    }
    if let Some(separator) = column["separator"].as_str() {
        field.insert("delimiter".to_owned(), separator.into());
    }
    field.into()
}

/// A date pattern of Unicode (`dd.MM.yyyy`) with the codes of `strftime`.
fn strftime(pattern: &str) -> String {
    let mut text = String::new();
    let chars: Vec<char> = pattern.chars().collect();
    for run in chars.chunk_by(|left, right| left == right) {
        match (run[0], run.len()) {
            ('y', 2) => text.push_str("%y"),
            ('y', _) => text.push_str("%Y"),
            ('M', 3) => text.push_str("%b"),
            ('M', 4..) => text.push_str("%B"),
            ('M', _) => text.push_str("%m"),
            ('d', _) => text.push_str("%d"),
            (char, _) => run.iter().for_each(|_| text.push(char)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_dates_are_those_of_strftime() {
        for (pattern, expected) in
            [("dd.MM.yyyy", "%d.%m.%Y"), ("M/d/yy", "%m/%d/%y"), ("d MMM yyyy", "%d %b %Y"), ("yyyy-MM-dd", "%Y-%m-%d")]
        {
            assert_eq!(strftime(pattern), expected, "{pattern}");
        }
    }
}
