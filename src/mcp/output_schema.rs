//! JSON Schemas of the tools' results, generated from the declared types.
//!
//! Typed clients drop fields that an object with declared fields does not declare, and models read the schemas with
//! every list of tools. So the result and its items declare all of their fields, without descriptions; objects below
//! them declare none, and clients keep them whole. Of the fields that every result has, the main ones are required.

use serde_json::{Map, Value, json};

use crate::Tool;
use crate::list_call::item_fields;
use catalog::Totals;
use data::Table;
use data::field::{Field, JsonType, Model};

impl Tool {
    pub fn output_schema(self) -> Value {
        match self.resource() {
            Some(resource) => search(resource.table()),
            None if self == Self::GetVcProfile => profile(),
            None => {
                let mut totals = object(Totals::DEFINITION.fields);
                totals["properties"]["notes"] = list(kind("string", false));
                totals
            }
        }
    }
}

fn search(table: Table) -> Value {
    let mut properties = match table {
        Table::Rounds => json!({ "sum_usd": kind("integer", true), "amounts": kind("object", false) }),
        _ => json!({}),
    };
    for (name, schema) in [
        ("total", kind("integer", false)),
        ("items", list(object(item_fields(table).iter()))),
        ("groups", list(kind("object", false))),
        ("notes", list(kind("string", false))),
        ("next_cursor", kind("string", false)),
        ("snapshot", kind("string", false)),
        ("invented", kind("boolean", false)),
        ("truncated", kind("boolean", false)),
    ] {
        properties[name] = schema;
    }
    // Rounds have no names.
    if table != Table::Rounds {
        properties["did_you_mean"] = list(kind("string", false));
        properties["question"] = kind("object", false);
    }
    json!({ "type": "object", "properties": properties, "required": ["total", "items"] })
}

fn profile() -> Value {
    let object = |is_nullable| kind("object", is_nullable);
    let properties = json!({
        "profile": object(true),
        "score": object(false),
        "ghosting": object(false),
        "reviews_by_rating": object(false),
        "reviews": list(object(false)),
        "portfolio": list(object(false)),
        "people": list(object(false)),
        "candidates": list(object(false)),
        "notes": list(kind("string", false)),
        "third_party_text": kind("string", false),
        "snapshot": kind("string", false),
        "truncated": kind("boolean", false),
        "invented": kind("boolean", false),
    });
    json!({ "type": "object", "properties": properties, "required": ["profile"] })
}

fn object(fields: impl IntoIterator<Item = &'static Field>) -> Value {
    let property = |field: &Field| (field.name.to_owned(), value(field.json, field.is_nullable));
    let properties: Map<String, Value> = fields.into_iter().map(property).collect();
    json!({ "type": "object", "properties": properties })
}

fn value(json: JsonType, is_nullable: bool) -> Value {
    let name = match json {
        JsonType::Text | JsonType::Date | JsonType::PartialDate => "string",
        JsonType::Integer | JsonType::Long | JsonType::Signed => "integer",
        JsonType::Number => "number",
        JsonType::Boolean => "boolean",
        JsonType::List(_) => "array",
        JsonType::Object(_) | JsonType::Map(_) | JsonType::Record => "object",
    };
    let mut schema = match json {
        JsonType::List(item) => list(value(*item, false)),
        _ => kind(name, false),
    };
    if is_nullable {
        schema["type"] = json!([name, "null"]);
    }
    schema
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn kind(name: &str, is_nullable: bool) -> Value {
    if is_nullable { json!({ "type": [name, "null"] }) } else { json!({ "type": name }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_schema_with_its_snapshot() {
        for tool in Tool::ALL {
            let schema = tool.output_schema();
            assert_eq!(schema["properties"]["snapshot"], json!({ "type": "string" }), "{tool:?}");
            assert!(!schema.to_string().contains(r#"{"type":"array"}"#), "{tool:?} has lists without items");
        }
    }
}
