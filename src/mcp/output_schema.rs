//! JSON Schemas of the tools' results, generated from the declared types.
//!
//! Clients check results against them, and models read them with every list of tools. So they are short: they have the
//! fields that matter, without descriptions, and require only what every result has.

use serde_json::{Map, Value, json};

use crate::catalog::{Amounts, Totals};
use crate::data::Table;
use crate::data::field::{Definition, Field, JsonType, Model};
use crate::data::model::{Firm, Score};
use crate::mcp::Tool;

const FIRM: &[&str] = &[
    "slug",
    "name",
    "health_score",
    "ghosting_rate",
    "review_count",
    "stages",
    "sectors",
    "country",
    "check_min_usd",
    "check_max_usd",
    "portfolio_count",
    "last_investment_on",
];
const PROFILE: &[&str] =
    &["slug", "name", "health_score", "ghosting_rate", "description", "ratings", "top_co_investors"];
const STARTUP: &[&str] =
    &["slug", "name", "status", "stage", "sectors", "country", "total_raised_usd", "last_round_on", "investors"];
const ROUND: &[&str] = &["startup", "stage", "amount_usd", "announced_on", "lead_investors", "investors", "sectors"];
const PERSON: &[&str] = &["slug", "name", "title", "organization", "country", "country_source"];
const SCORE: &[&str] = &["value", "low", "high", "status", "components"];
const TOTALS: &[&str] = &[
    "firms",
    "startups",
    "reviews",
    "funding_rounds",
    "people",
    "sectors",
    "countries",
    "snapshot",
    "coverage",
    "invented",
];

/// The schema of a tool's result.
pub(crate) fn of(tool: Tool) -> Value {
    match tool {
        Tool::SearchVcs => search(Table::Firms, FIRM, json!({})),
        Tool::SearchStartups => search(Table::Startups, STARTUP, json!({})),
        Tool::GetFundingRounds => {
            search(Table::Rounds, ROUND, json!({ "sum_usd": kind("integer", true), "amounts": amounts() }))
        }
        Tool::SearchPeople => search(Table::People, PERSON, json!({})),
        Tool::GetVcProfile => {
            let mut properties = lists(&["reviews", "portfolio", "candidates", "people", "notes"]);
            properties.insert("profile".to_owned(), record(<Firm>::DEFINITION, PROFILE, true));
            properties.insert("score".to_owned(), record(<Score>::DEFINITION, SCORE, true));
            properties.insert("ghosting".to_owned(), kind("object", false));
            properties.insert("reviews_by_rating".to_owned(), kind("object", false));
            properties.insert("snapshot".to_owned(), kind("string", false));
            properties.insert("invented".to_owned(), kind("boolean", false));
            properties.insert("third_party_text".to_owned(), kind("string", false));
            properties.insert("truncated".to_owned(), kind("boolean", false));
            json!({ "type": "object", "properties": properties, "required": ["profile", "snapshot"] })
        }
        Tool::GetPlatformStats => {
            let mut totals = record(Totals::DEFINITION, TOTALS, false);
            totals["required"] = names(&totals["properties"]).into();
            totals
        }
    }
}

/// The schema of a search: items with the fields `names`, and `extra` properties that every result has.
fn search(table: Table, item_fields: &[&str], extra: Value) -> Value {
    let mut properties = json!({ "total": kind("integer", false), "snapshot": kind("string", false) });
    for (name, schema) in extra.as_object().into_iter().flatten() {
        properties[name] = schema.clone();
    }
    let mut required = names(&properties);
    required.push("items".to_owned());
    properties["items"] = json!({ "type": "array", "items": record(table.model(), item_fields, false) });
    for (name, schema) in lists(&["groups", "did_you_mean", "notes"]) {
        properties[name] = schema;
    }
    properties["truncated"] = kind("boolean", false);
    properties["invented"] = kind("boolean", false);
    json!({ "type": "object", "properties": properties, "required": required })
}

fn amounts() -> Value {
    let names: Vec<&str> = Amounts::DEFINITION.fields.iter().map(|field| field.name).collect();
    record(Amounts::DEFINITION, &names, false)
}

/// An object with some fields of a type.
fn record(definition: &Definition, names: &[&str], is_nullable: bool) -> Value {
    let properties: Map<String, Value> = names
        .iter()
        .map(|name| {
            let field = definition.fields.iter().find(|field| field.name == *name);
            let field = field.unwrap_or_else(|| panic!("{} has no field `{name}`", definition.name));
            (field.name.to_owned(), property(field))
        })
        .collect();
    let mut schema = kind("object", is_nullable);
    schema["properties"] = properties.into();
    schema
}

fn property(field: &Field) -> Value {
    let name = match field.json {
        JsonType::Text | JsonType::Date => "string",
        JsonType::Integer | JsonType::Long => "integer",
        JsonType::Number => "number",
        JsonType::Boolean => "boolean",
        JsonType::List(_) => "array",
        JsonType::Object(_) | JsonType::Map(_) => "object",
    };
    kind(name, field.is_nullable)
}

fn kind(name: &str, is_nullable: bool) -> Value {
    if is_nullable { json!({ "type": [name, "null"] }) } else { json!({ "type": name }) }
}

fn lists(names: &[&str]) -> Map<String, Value> {
    names.iter().map(|name| ((*name).to_owned(), kind("array", false))).collect()
}

fn names(properties: &Value) -> Vec<String> {
    properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_schema_with_its_snapshot() {
        for tool in Tool::ALL {
            let text = of(tool).to_string();
            assert!(text.contains("\"snapshot\":{\"type\":\"string\"}"), "{text}");
        }
        assert_eq!(of(Tool::SearchVcs)["properties"]["items"]["items"]["properties"].as_object().unwrap().len(), 12);
        assert_eq!(of(Tool::GetFundingRounds)["required"], json!(["amounts", "snapshot", "sum_usd", "total", "items"]));
    }
}
